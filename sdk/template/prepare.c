/* SPDX-License-Identifier: Apache-2.0 */
/* The three entries of every implementation. prepare reads a region and refuses what it cannot do, so that execute has
 * nothing left to check but memory. Nothing of the region is kept but copies. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin.h"

/* ------------------------------------------------------------------ reading */

/* Element `index` of an array of structs. A newer host may have made them longer: each says its own size, and all of
 * them end on a multiple of 8. */
static const void *element(const void *array, uint32_t struct_size, uint32_t index) {
  return (const char *)array + (size_t)((struct_size + 7u) & ~7u) * index;
}

static uint32_t position(const uint32_t *ids, uint32_t count, uint32_t id) {
  uint32_t i;
  for (i = 0; ids != NULL && i < count; ++i) {
    if (ids[i] == id) return i;
  }
  return HX_NONE;
}

/* Whether a list of words, each followed by a blank, has this one. */
static int list_has(const char *list, const char *word) {
  const size_t size = strlen(word);
  for (; *list != '\0'; list += strcspn(list, " ") + 1) {
    if (strncmp(list, word, size) == 0 && list[size] == ' ') return 1;
  }
  return 0;
}

/* An attribute that is left out of account could change the meaning: unknown ones are refused, but for the host's own.
 */
static int32_t check_attributes(const build *b) {
  hx_error *error = b->error;
  uint32_t i;
  if (b->op->attr_count != 0 && b->op->attrs == NULL)
    return fail(error, HX_INVALID, "%s: its attributes are missing", b->op->name);
  for (i = 0; i < b->op->attr_count; ++i) {
    const hx_attr *attr = (const hx_attr *)element(b->op->attrs, b->op->attrs->struct_size, i);
    NEED(hx_attr, data, attr);
    if (attr->name == NULL ||
        (strncmp(attr->name, "heliox.", 7) != 0 && !list_has(b->prepared->op->attributes, attr->name)))
      return fail(error, HX_INVALID, "%s: attribute %.64s is unknown; it takes: %s", b->op->name,
                  attr->name == NULL ? "without a name" : attr->name, b->prepared->op->attributes);
  }
  return HX_OK;
}

static uint32_t word_bytes(uint32_t dtype) {
  switch (dtype) {
    case HX_U64:
    case HX_I64:
      return 8;
    case HX_U32:
      return 4;
    case HX_U8:
      return 1;
    default:
      return 0;
  }
}

static int32_t read_shape(const build *b, tensor *t, const hx_tensor_desc *desc, const char *what) {
  uint32_t axis;
  t->dtype = desc->dtype;
  t->word_bytes = word_bytes(desc->dtype);
  t->log_n = desc->log_n;
  t->digits = desc->digits;
  t->components = desc->components;
  t->component_stride = desc->component_stride;
  t->limbs = desc->limbs;
  t->batch_rank = desc->batch_rank;
  t->items = 1;
  if (t->word_bytes == 0)
    return fail(b->error, HX_UNSUPPORTED, "%s: %s has dtype %u", b->op->name, what, (unsigned)desc->dtype);
  if ((desc->flags & HX_SECRET) != 0)
    return fail(b->error, HX_UNSUPPORTED, "%s: %s is secret; this plugin is not constant-time", b->op->name, what);
  if (desc->reserved != 0 || (desc->flags & ~(uint32_t)HX_IMMUTABLE) != 0)
    return fail(b->error, HX_INVALID, "%s: %s has unknown flags", b->op->name, what);
  if (desc->log_n > LOG_N_MAX || desc->components == 0 || desc->limbs == 0 || desc->limbs > PRIMES_MAX ||
      desc->digits != 0)
    return fail(b->error, HX_INVALID, "%s: %s has log_n %u, %u digits, %u components, %u rows", b->op->name, what,
                (unsigned)desc->log_n, (unsigned)desc->digits, (unsigned)desc->components, (unsigned)desc->limbs);
  if (desc->batch_rank > BATCH_RANK_MAX)
    return fail(b->error, HX_UNSUPPORTED, "%s: %s has %u batch axes, at most %u are taken", b->op->name, what,
                (unsigned)desc->batch_rank, BATCH_RANK_MAX);
  if (desc->batch_rank != 0 && (desc->batch_shape == NULL || desc->batch_strides == NULL))
    return fail(b->error, HX_INVALID, "%s: %s has batch axes without shape or strides", b->op->name, what);
  for (axis = 0; axis < desc->batch_rank; ++axis) {
    const uint64_t size = desc->batch_shape[axis];
    if (size == 0 || size > ((uint64_t)1 << 40) / t->items)
      return fail(b->error, HX_INVALID, "%s: %s has %llu items on batch axis %u", b->op->name, what,
                  (unsigned long long)size, (unsigned)axis);
    t->items *= size;
    t->batch_shape[axis] = size;
    t->batch_strides[axis] = desc->batch_strides[axis];
  }
  return HX_OK;
}

static int32_t read_state(const build *b, tensor *t, const hx_tensor_desc *desc, const char *what) {
  const hx_tables *tables = b->prepared->tables;
  uint32_t limb;
  if (t->dtype != HX_U64 && t->dtype != HX_U32) return HX_OK;
  if (t->word_bytes * 8 != tables->word || desc->log_n != tables->log_n || desc->prime_ids == NULL)
    return fail(b->error, HX_INVALID, "%s: %s has dtype %u, log_n %u; the ring has words of %u bits, log_n %u",
                b->op->name, what, (unsigned)desc->dtype, (unsigned)desc->log_n, (unsigned)tables->word,
                (unsigned)tables->log_n);
  if (desc->domain < HX_COEFFICIENT || desc->domain > HX_NTT || desc->repr < HX_STANDARD || desc->repr > HX_MONTGOMERY)
    return fail(b->error, HX_INVALID, "%s: %s has the unknown domain %u or representation %u", b->op->name, what,
                (unsigned)desc->domain, (unsigned)desc->repr);
  for (limb = 0; limb < desc->limbs; ++limb) {
    t->ids[limb] = desc->prime_ids[limb];
    if (t->ids[limb] >= tables->q_count + tables->p_count || (limb > 0 && t->ids[limb] <= t->ids[limb - 1]))
      return fail(b->error, HX_INVALID, "%s: row %u of %s is of prime %u; ids ascend and the ring has %u primes",
                  b->op->name, (unsigned)limb, what, (unsigned)t->ids[limb],
                  (unsigned)(tables->q_count + tables->p_count));
  }
  t->domain = desc->domain;
  t->repr = desc->repr;
  return HX_OK;
}

/* Grows an extent by an axis. A result must not be written twice in one place. */
static int32_t add_axis(const build *b, wide *extent, uint64_t size, uint64_t stride, uint64_t n, int is_result,
                        const char *what) {
  if (size > 1 && is_result && stride < n)
    return fail(b->error, HX_INVALID, "%s: %s has an axis of stride %llu, so rows would lie on each other", b->op->name,
                what, (unsigned long long)stride);
  *extent += (wide)(size - 1) * stride;
  return *extent >> 56 == 0 ? HX_OK
                            : fail(b->error, HX_INVALID, "%s: %s reaches beyond 2^56 elements", b->op->name, what);
}

/* Where its rows lie, and how far it reaches. */
static int32_t read_extent(const build *b, tensor *t, const hx_tensor_desc *desc, int is_result, const char *what) {
  const uint64_t n = (uint64_t)1 << desc->log_n;
  wide extent = n;
  uint64_t rows = 1;
  uint32_t i;
  for (i = 0; i < desc->limbs; ++i) {
    const uint64_t row = desc->rows != NULL ? desc->rows[i] : i;
    if (row >= rows) rows = row + 1;
    t->limb_offsets[i] = row * desc->limb_stride; /* checked below: the whole reach is */
  }
  TRY(add_axis(b, &extent, rows, desc->limb_stride, n, is_result, what));
  TRY(add_axis(b, &extent, desc->components, desc->component_stride, n, is_result, what));
  for (i = 0; i < desc->batch_rank; ++i)
    TRY(add_axis(b, &extent, desc->batch_shape[i], desc->batch_strides[i], n, is_result, what));
  t->bytes = (uint64_t)extent * t->word_bytes;
  return HX_OK;
}

static int32_t read_tensor(const build *b, const hx_region *region, uint32_t id, int is_result, uint32_t index,
                           tensor *t) {
  hx_error *error = b->error;
  const hx_tensor_desc *desc;
  char what[32];
  snprintf(what, sizeof what, "%s %u", is_result ? "result" : "operand", (unsigned)index);
  t->slot = is_result ? position(region->outputs, region->output_count, id)
                      : position(region->inputs, region->input_count, id);
  if (id >= region->value_count || t->slot == HX_NONE)
    return fail(error, HX_INVALID, "%s: %s is value %u, which is no %s of the region", b->op->name, what, (unsigned)id,
                is_result ? "output" : "input");
  desc = (const hx_tensor_desc *)element(region->values, region->values->struct_size, id);
  NEED(hx_tensor_desc, rows, desc);
  TRY(read_shape(b, t, desc, what));
  TRY(read_state(b, t, desc, what));
  return read_extent(b, t, desc, is_result, what);
}

/* Operands have the batch of the result, or none. */
static int32_t check_batch(const build *b) {
  const tensor *result = &b->prepared->result;
  uint32_t i;
  for (i = 0; i < b->prepared->operand_count; ++i) {
    const tensor *a = &b->prepared->operands[i];
    if (a->batch_rank != 0 &&
        (a->batch_rank != result->batch_rank ||
         memcmp(a->batch_shape, result->batch_shape, result->batch_rank * sizeof *a->batch_shape) != 0))
      return fail(b->error, HX_INVALID, "%s: operand %u and the result differ in their batch axes", b->op->name,
                  (unsigned)i);
  }
  return HX_OK;
}

static int32_t check_region(const hx_device *device, const hx_region *region, hx_error *error) {
  NEED(hx_region, variant, region);
  if (region->op_count != 1 || region->ops == NULL)
    return fail(error, HX_UNSUPPORTED, "the region has %u operations; one at a time is taken",
                (unsigned)region->op_count);
  NEED(hx_op, resources, region->ops);
  NEED(hx_ring, digest, region->ring);
  if (region->ops->name == NULL || region->values == NULL || region->ops->operands == NULL ||
      region->ops->results == NULL)
    return fail(error, HX_INVALID, "the region has no values, or an operation without name, operands or results");
  if (region->tables == NULL || region->tables->device != device ||
      memcmp(region->tables->digest, region->ring->digest, sizeof region->tables->digest) != 0)
    return fail(error, HX_INVALID, "%s: the tables are missing, or of another device or ring", region->ops->name);
  if (region->variant != NULL)
    return fail(error, HX_UNSUPPORTED, "%s: variant %.64s is asked for, there are none", region->ops->name,
                region->variant);
  return HX_OK;
}

static const row_op *find_op(const char *name) {
  uint32_t i;
  for (i = 0; i < row_op_count; ++i) {
    if (strcmp(row_ops[i].name, name) == 0) return &row_ops[i];
  }
  return NULL;
}

/* ------------------------------------------------------------------ prepare */

static int same_layout(const tensor *a, const tensor *b) {
  uint32_t axis;
  if (a->dtype != b->dtype || a->components != b->components || a->limbs != b->limbs ||
      a->batch_rank != b->batch_rank || (a->components > 1 && a->component_stride != b->component_stride))
    return 0;
  for (axis = 0; axis < a->batch_rank; ++axis) {
    if (a->batch_shape[axis] > 1 && a->batch_strides[axis] != b->batch_strides[axis]) return 0;
  }
  return memcmp(a->limb_offsets, b->limb_offsets, a->limbs * sizeof *a->limb_offsets) == 0;
}

static int32_t fill(build *b, const hx_region *region, hx_plan *plan) {
  hx_prepared *prepared = b->prepared;
  const hx_op *op = b->op;
  uint32_t i;
  prepared->op = find_op(op->name);
  if (prepared->op == NULL || op->signature != 1)
    return fail(b->error, HX_UNSUPPORTED, "%.64s, signature %u, is not an operation of this plugin", op->name,
                (unsigned)op->signature);
  if (op->operand_count != prepared->op->operand_count || op->result_count != 1 || op->resource_count != 0)
    return fail(b->error, HX_INVALID, "%s: %u operands, %u results, %u resources; it has %u operands and one result",
                op->name, (unsigned)op->operand_count, (unsigned)op->result_count, (unsigned)op->resource_count,
                (unsigned)prepared->op->operand_count);
  TRY(check_attributes(b));
  prepared->operand_count = op->operand_count;
  for (i = 0; i < op->operand_count; ++i) TRY(read_tensor(b, region, op->operands[i], 0, i, &prepared->operands[i]));
  TRY(read_tensor(b, region, op->results[0], 1, 0, &prepared->result));
  TRY(check_batch(b));
  TRY(prepared->op->check(b));
  plan->scratch_host = 0;
  plan->scratch_device = (uint64_t)prepared->scratch_rows * prepared->tables->n * sizeof(uint64_t);
  if (prepared->op->in_place && same_layout(&prepared->operands[0], &prepared->result))
    plan->may_alias[prepared->result.slot] = (int32_t)prepared->operands[0].slot;
  return HX_OK;
}

int32_t prepare(hx_device *device, const hx_region *region, hx_plan *plan, hx_prepared **out, hx_error *error) {
  build b;
  int32_t code;
  if (device == NULL || out == NULL)
    return fail(error, HX_INVALID, "prepare: the device or the place for the result is missing");
  TRY(check_region(device, region, error));
  NEED(hx_plan, may_alias, plan);
  if (plan->alias_count != region->output_count || plan->may_alias == NULL)
    return fail(error, HX_INVALID, "the plan has room for %u aliases, the region has %u outputs",
                plan->may_alias == NULL ? 0u : (unsigned)plan->alias_count, (unsigned)region->output_count);
  b.op = region->ops;
  b.error = error;
  b.prepared = (hx_prepared *)calloc(1, sizeof *b.prepared);
  if (b.prepared == NULL) return fail(error, HX_OUT_OF_MEMORY, "%s: no memory to prepare it", b.op->name);
  b.prepared->device = device;
  b.prepared->tables = region->tables;
  code = fill(&b, region, plan);
  if (code != HX_OK) {
    if (error != NULL && error->struct_size >= HX_END_OF(hx_error, op)) error->op = 0;
    destroy(b.prepared);
    return code;
  }
  *out = b.prepared;
  return HX_OK;
}

void destroy(hx_prepared *prepared) { free(prepared); }

/* ------------------------------------------------------------------ execute */

static int32_t check_memory(const hx_prepared *prepared, const hx_call *call, job *j, hx_error *error) {
  unsigned char *scratch = NULL;
  uint32_t i;
  if (call->inputs == NULL || call->outputs == NULL)
    return fail(error, HX_INVALID, "the call has no inputs or no outputs");
  for (i = 0; i < prepared->operand_count; ++i) {
    const tensor *a = &prepared->operands[i];
    char what[32];
    snprintf(what, sizeof what, "operand %u", (unsigned)i);
    TRY(span_address(prepared->device, call->inputs[a->slot], a->bytes, a->word_bytes, what, &j->operands[i], error));
  }
  TRY(span_address(prepared->device, call->outputs[prepared->result.slot], prepared->result.bytes,
                   prepared->result.word_bytes, "the result", &j->result, error));
  TRY(span_address(prepared->device, call->scratch_device,
                   (uint64_t)prepared->scratch_rows * prepared->tables->n * sizeof(uint64_t), sizeof(uint64_t),
                   "device scratch", &scratch, error));
  j->scratch = (uint64_t *)(void *)scratch;
  return HX_OK;
}

/* Every batch item, every component of the result. */
static int32_t run_all(const hx_prepared *prepared, job *j) {
  for (j->item = 0; j->item < prepared->result.items; ++j->item) {
    for (j->component = 0; j->component < prepared->result.components; ++j->component) {
      if (host_cancelled()) return HX_CANCELLED;
      prepared->op->run(j);
    }
  }
  return HX_OK;
}

int32_t execute(hx_prepared *prepared, const hx_call *call, hx_error *error) {
  job j;
  int32_t code;
  NEED(hx_call, outputs, call);
  if (prepared == NULL || call->queue == NULL || call->queue->device != prepared->device)
    return fail(error, HX_INVALID, "execute: the prepared call or its queue is missing, or they differ in device");
  memset(&j, 0, sizeof j);
  j.prepared = prepared;
  TRY(check_memory(prepared, call, &j, error));
  TRY(queue_enter(call->queue, error));
  code = run_all(prepared, &j);
  queue_leave(call->queue);
  if (code == HX_CANCELLED) return fail(error, code, "the host asked to stop; the result of this call is not defined");
  return code;
}

/* ------------------------------------------------------------------ rows of a job */

static uint64_t row_offset(const job *j, const tensor *t, uint32_t limb) {
  uint64_t item = j->item, offset = t->limb_offsets[limb];
  uint32_t axis;
  if (t->components > 1) offset += j->component * t->component_stride;
  for (axis = t->batch_rank; axis-- > 0; item /= t->batch_shape[axis])
    offset += item % t->batch_shape[axis] * t->batch_strides[axis];
  return offset * t->word_bytes;
}

uint64_t *job_row(const job *j, uint32_t index) { return j->scratch + (size_t)index * j->prepared->tables->n; }

const unsigned char *job_bytes(const job *j, uint32_t operand) {
  return j->operands[operand] + row_offset(j, &j->prepared->operands[operand], 0);
}

void job_load(const job *j, uint32_t operand, uint32_t limb, uint64_t *row) {
  const tensor *t = &j->prepared->operands[operand];
  const unsigned char *from = j->operands[operand] + row_offset(j, t, limb);
  const uint32_t n = j->prepared->tables->n;
  uint32_t k;
  if (t->word_bytes == 8) {
    memcpy(row, from, n * sizeof *row);
  } else {
    const uint32_t *words = (const uint32_t *)(const void *)from;
    for (k = 0; k < n; ++k) row[k] = words[k];
  }
}

void job_store(const job *j, uint32_t limb, const uint64_t *row) {
  const tensor *t = &j->prepared->result;
  unsigned char *to = j->result + row_offset(j, t, limb);
  const uint32_t n = j->prepared->tables->n;
  uint32_t k;
  if (t->word_bytes == 8) {
    memcpy(to, row, n * sizeof *row);
  } else {
    uint32_t *words = (uint32_t *)(void *)to;
    for (k = 0; k < n; ++k) words[k] = (uint32_t)row[k];
  }
}

uint32_t limb_of(const tensor *t, uint32_t id) { return position(t->ids, t->limbs, id); }
