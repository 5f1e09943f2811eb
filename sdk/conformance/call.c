// SPDX-License-Identifier: Apache-2.0
// One operation through the plugin's tables, as a host runs it, and the same through the reference.
#include <stdlib.h>
#include <string.h>

#include "sdk/conformance/suite.h"

#define VALUES_MAX (2 * OPERANDS_MAX)
#define GROWTH_MAX 64u

hx_attr attr_i64(const char *name, const int64_t *values, uint32_t count) {
  return (hx_attr){
      .struct_size = HX_END_OF(hx_attr, data), .kind = HX_ATTR_I64, .count = count, .name = name, .data = values};
}

hx_attr attr_u64(const char *name, const uint64_t *values, uint32_t count) {
  return (hx_attr){
      .struct_size = HX_END_OF(hx_attr, data), .kind = HX_ATTR_U64, .count = count, .name = name, .data = values};
}

hx_attr attr_text(const char *name, const char *text) {
  return (hx_attr){.struct_size = HX_END_OF(hx_attr, data),
                   .kind = HX_ATTR_TEXT,
                   .count = (uint32_t)strlen(text),
                   .name = name,
                   .data = text};
}

// ------------------------------------------------------------------ regions

// A struct with room behind it for what a newer host would have appended.
#define GROWING(type_)                        \
  union {                                     \
    type_ head;                               \
    uint8_t room[sizeof(type_) + GROWTH_MAX]; \
  }

struct region {
  GROWING(hx_region) region;
  GROWING(hx_op) op;
  GROWING(hx_ring) ring;
  const tensor_t *tensors[VALUES_MAX];
  void *data[VALUES_MAX];
  uint32_t operands[OPERANDS_MAX], results[OPERANDS_MAX], inputs[OPERANDS_MAX], outputs[OPERANDS_MAX];
  uint32_t value_count, input_count;
  uint32_t value_stride, attr_stride, resource_stride;
  uint8_t *values, *attrs, *resources;
  uint32_t resource_ids[8];
};

static uint32_t stride_of(uint32_t size) { return (size + 7u) & ~7u; }

// An operand given twice is one value.
static uint32_t add_value(region_t *r, const tensor_t *t, bool result) {
  uint32_t id = 0;
  while (id < r->value_count && (result || r->tensors[id] != t)) ++id;
  if (id < r->value_count) return id;
  r->tensors[id] = t;
  r->data[id] = t->base + t->offset;
  ++r->value_count;
  if (!result) r->inputs[r->input_count++] = id;
  return id;
}

// Which operand a resource is packed from: its index, or HX_NONE.
static uint32_t resource_operand(const call_t *call, const char *name) {
  const hx_op_info_t *op = hx_op_info(hx_op_find(hx_str(call->op)));
  char have[HX_NAME_MAX];
  for (uint32_t i = 0; name != NULL && i < call->operand_count; ++i) {
    const hx_op_operand_t *row = hx_op_operand_at(op, i, call->operand_count);
    if (row == NULL) continue;
    if (strcmp(row->name, name) == 0 || strcmp(hx_op_operand_name(op, i, call->operand_count, have), name) == 0)
      return i;
  }
  return HX_NONE;
}

static void fill_arrays(const call_t *call, region_t *r) {
  for (uint32_t id = 0; id < r->value_count; ++id) {
    hx_tensor_desc *desc = region_value(r, id);
    *desc = r->tensors[id]->desc;
    desc->struct_size += call->growth;
  }
  for (uint32_t i = 0; i < call->attr_count; ++i) {
    hx_attr *attr = (hx_attr *)(void *)(r->attrs + (size_t)i * r->attr_stride);
    *attr = call->attrs[i];
    attr->struct_size += call->growth;
  }
  for (uint32_t i = 0; i < call->row->resource_count && i < 8; ++i) {
    hx_resource *resource = (hx_resource *)(void *)(r->resources + (size_t)i * r->resource_stride);
    const uint32_t operand = resource_operand(call, call->row->resources[i].operand);
    *resource = (hx_resource){.struct_size = HX_END_OF(hx_resource, kind) + call->growth,
                              .source = operand == HX_NONE ? HX_NONE : r->operands[operand],
                              .kind = call->row->resources[i].kind};
    r->resource_ids[i] = i;
  }
}

region_t *region_create(const call_t *call) {
  region_t *r = suite_alloc(sizeof *r);
  memset(r, 0, sizeof *r);
  for (uint32_t i = 0; i < call->operand_count; ++i) r->operands[i] = add_value(r, call->operands[i], false);
  for (uint32_t i = 0; i < call->result_count; ++i)
    r->results[i] = r->outputs[i] = add_value(r, call->results[i], true);
  const uint32_t growth = call->growth, resources = (uint32_t)call->row->resource_count;
  r->value_stride = stride_of(HX_END_OF(hx_tensor_desc, rows) + growth);
  r->attr_stride = stride_of(HX_END_OF(hx_attr, data) + growth);
  r->resource_stride = stride_of(HX_END_OF(hx_resource, kind) + growth);
  r->values = suite_alloc((size_t)(r->value_count + 1) * r->value_stride);
  r->attrs = suite_alloc((size_t)(call->attr_count + 1) * r->attr_stride);
  r->resources = suite_alloc((size_t)(resources + 1) * r->resource_stride);
  memset(r->values, 0xff, (size_t)(r->value_count + 1) * r->value_stride);
  memset(r->attrs, 0xff, (size_t)(call->attr_count + 1) * r->attr_stride);
  fill_arrays(call, r);
  r->ring.head = call->ring->ring;
  r->ring.head.struct_size += growth;
  r->op.head = (hx_op){.struct_size = HX_END_OF(hx_op, resources) + growth,
                       .signature = call->row->signature,
                       .attr_count = call->attr_count,
                       .operand_count = call->operand_count,
                       .result_count = call->result_count,
                       .resource_count = resources,
                       .name = call->op,
                       .attrs = (const hx_attr *)(void *)r->attrs,
                       .operands = r->operands,
                       .results = r->results,
                       .resources = r->resource_ids};
  r->region.head = (hx_region){.struct_size = HX_END_OF(hx_region, variant) + growth,
                               .value_count = r->value_count,
                               .op_count = 1,
                               .resource_count = resources,
                               .input_count = r->input_count,
                               .output_count = call->result_count,
                               .ring = &r->ring.head,
                               .tables = call->ring->tables,
                               .values = (const hx_tensor_desc *)(void *)r->values,
                               .ops = &r->op.head,
                               .resources = (const hx_resource *)(void *)r->resources,
                               .inputs = r->inputs,
                               .outputs = r->outputs};
  return r;
}

void region_release(region_t *r) {
  if (r == NULL) return;
  free(r->values);
  free(r->attrs);
  free(r->resources);
  free(r);
}

hx_region *region_get(region_t *r) { return &r->region.head; }
hx_op *region_op(region_t *r) { return &r->op.head; }
hx_tensor_desc *region_value(region_t *r, uint32_t id) {
  return (hx_tensor_desc *)(void *)(r->values + (size_t)id * r->value_stride);
}

// ------------------------------------------------------------------ memory of the device

int32_t suite_move(suite_t *suite, hx_queue *queue, hx_buffer *buffer, uint8_t *memory, uint64_t bytes, bool up,
                   hx_error *error) {
  const hx_memory_ops *ops = suite->table->memory;
  uint8_t *address = ops->address(buffer);
  if (address != NULL) {
    memcpy(up ? address : memory, up ? memory : address, bytes);
    return HX_OK;
  }
  hx_buffer *staging = NULL;
  int32_t code = ops->alloc(suite->device, HX_SPACE_PINNED, bytes, &staging, error);
  if (code != HX_OK) return code;
  address = ops->address(staging);
  if (address == NULL) {
    code = HX_INTERNAL;  // pinned memory is host memory
  } else {
    if (up) memcpy(address, memory, bytes);
    const hx_span host = {staging, 0}, device = {buffer, 0};
    code = suite->table->queue->copy(queue, up ? device : host, up ? host : device, bytes, error);
    if (code == HX_OK) code = suite->table->queue->sync(queue, error);
    if (code == HX_OK && !up) memcpy(memory, address, bytes);
  }
  ops->free(staging);
  return code;
}

static int32_t upload(suite_t *suite, hx_queue *queue, const uint8_t *memory, uint64_t bytes, hx_buffer **out,
                      hx_error *error) {
  const int32_t code = suite->table->memory->alloc(suite->device, HX_SPACE_DEVICE, bytes, out, error);
  return code != HX_OK ? code : suite_move(suite, queue, *out, (uint8_t *)(uintptr_t)memory, bytes, true, error);
}

// ------------------------------------------------------------------ prepare

static int32_t pack(suite_t *suite, const call_t *call, region_t *r, running_t *out, hx_error *error) {
  const hx_materializer_ops *ops = suite->table->materializer;
  for (uint32_t i = 0; i < call->row->resource_count && i < 8; ++i) {
    const uint32_t operand = resource_operand(call, call->row->resources[i].operand);
    if (operand == HX_NONE || ops == NULL) return HX_UNSUPPORTED;
    const tensor_t *t = call->operands[operand];
    hx_buffer *buffer = NULL;
    int32_t code = upload(suite, suite->queue, t->base, t->bytes, &buffer, error);
    if (code == HX_OK) {
      code = ops->pack(suite->device, call->ring->tables, call->row->resources[i].kind,
                       region_value(r, r->operands[operand]), (hx_span){buffer, t->offset}, suite->queue,
                       &out->packed[i], error);
    }
    if (code == HX_OK) {
      ++out->packed_count;
      code = suite->table->queue->sync(suite->queue, error);
    }
    if (buffer != NULL) suite->table->memory->free(buffer);
    if (code != HX_OK) return code;
  }
  return HX_OK;
}

int32_t call_prepare(suite_t *suite, const call_t *call, region_t *r, running_t *out, hx_error *error) {
  GROWING(hx_plan) plan;
  memset(&plan, 0, sizeof plan);
  memset(out, 0, sizeof *out);
  memset(out->alias, 0xff, sizeof out->alias);
  plan.head = (hx_plan){.struct_size = HX_END_OF(hx_plan, cost_ns) + call->growth,
                        .alias_count = call->result_count,
                        .may_alias = out->alias};
  *error = error_init();
  const int32_t code = call->impl->prepare(suite->device, &r->region.head, &plan.head, &out->prepared, error);
  if (code != HX_OK) return code;
  out->scratch_host = plan.head.scratch_host;
  out->scratch_device = plan.head.scratch_device;
  return pack(suite, call, r, out, error);
}

void call_destroy(suite_t *suite, const call_t *call, running_t *running) {
  if (running->prepared != NULL) call->impl->destroy(running->prepared);
  for (uint32_t i = 0; i < running->packed_count; ++i) suite->table->materializer->release(running->packed[i]);
  *running = (running_t){0};
}

// ------------------------------------------------------------------ execute

typedef struct memory {
  hx_span inputs[OPERANDS_MAX], outputs[OPERANDS_MAX];
  hx_buffer *buffers[VALUES_MAX + 2];
  uint32_t buffer_count;
  hx_span scratch_host, scratch_device;
} memory_t;

static int32_t scratch(suite_t *suite, memory_t *m, uint32_t space, uint64_t bytes, hx_span *out, hx_error *error) {
  if (bytes == 0) return HX_OK;
  const int32_t code = suite->table->memory->alloc(suite->device, space, bytes, &out->buffer, error);
  if (code == HX_OK) m->buffers[m->buffer_count++] = out->buffer;
  return code;
}

static int32_t make_memory(suite_t *suite, const call_t *call, const region_t *r, const running_t *running,
                           hx_queue *queue, int32_t in_place, memory_t *m, hx_error *error) {
  for (uint32_t i = 0; i < r->input_count + call->result_count; ++i) {
    const bool result = i >= r->input_count;
    const uint32_t index = result ? i - r->input_count : i;
    const tensor_t *t = result ? call->results[index] : r->tensors[r->inputs[index]];
    hx_span *span = result ? &m->outputs[index] : &m->inputs[index];
    if (result && index == 0 && in_place >= 0) {
      *span = m->inputs[in_place];
      continue;
    }
    span->offset = t->offset;
    const int32_t code = upload(suite, queue, t->base, t->bytes, &span->buffer, error);
    if (span->buffer != NULL) m->buffers[m->buffer_count++] = span->buffer;
    if (code != HX_OK) return code;
  }
  const int32_t code = scratch(suite, m, HX_SPACE_PINNED, running->scratch_host, &m->scratch_host, error);
  return code != HX_OK ? code : scratch(suite, m, HX_SPACE_DEVICE, running->scratch_device, &m->scratch_device, error);
}

// Results to the caller; inputs must be as they were.
static int32_t fetch(suite_t *suite, const call_t *call, const region_t *r, hx_queue *queue, int32_t in_place,
                     const memory_t *m, uint8_t *const *results, hx_error *error) {
  for (uint32_t i = 0; i < call->result_count; ++i) {
    const int32_t code =
        suite_move(suite, queue, m->outputs[i].buffer, results[i], call->results[i]->bytes, false, error);
    if (code != HX_OK) return code;
  }
  for (uint32_t i = 0; i < r->input_count; ++i) {
    if ((int32_t)i == in_place) continue;
    const tensor_t *t = r->tensors[r->inputs[i]];
    uint8_t *now = suite_alloc(t->bytes);
    const int32_t code = suite_move(suite, queue, m->inputs[i].buffer, now, t->bytes, false, error);
    const bool same = memcmp(now, t->base, t->bytes) == 0;
    free(now);
    if (code != HX_OK) return code;
    if (!same) case_fail(suite, "%s: execute wrote into input %u, or the bytes around it", call->op, i);
  }
  return HX_OK;
}

int32_t call_execute(suite_t *suite, const call_t *call, const running_t *running, hx_queue *queue, int32_t in_place,
                     uint8_t *const *results, hx_error *error) {
  region_t *r = region_create(call);
  memory_t *m = suite_alloc(sizeof *m);
  memset(m, 0, sizeof *m);
  GROWING(hx_call) given;
  memset(&given, 0, sizeof given);
  *error = error_init();
  int32_t code = make_memory(suite, call, r, running, queue, in_place, m, error);
  if (code == HX_OK) {
    given.head = (hx_call){.struct_size = HX_END_OF(hx_call, outputs) + call->growth,
                           .queue = queue,
                           .scratch_host = m->scratch_host,
                           .scratch_device = m->scratch_device,
                           .resources = (void *const *)(const void *)running->packed,
                           .inputs = m->inputs,
                           .outputs = m->outputs};
    code = call->impl->execute(running->prepared, &given.head, error);
    const int32_t late = suite->table->queue->sync(queue, code == HX_OK ? error : NULL);
    if (code == HX_OK) code = late;
    if (code == HX_OK) code = fetch(suite, call, r, queue, in_place, m, results, error);
  }
  while (m->buffer_count > 0) suite->table->memory->free(m->buffers[--m->buffer_count]);
  free(m);
  region_release(r);
  return code;
}

// ------------------------------------------------------------------ comparing

static uint8_t *copy_of(const tensor_t *t) {
  uint8_t *copy = suite_alloc(t->bytes);
  memcpy(copy, t->base, t->bytes);
  return copy;
}

bool call_expect(suite_t *suite, const call_t *call, uint8_t **expected) {
  call_t plain = *call;
  plain.growth = 0;
  region_t *r = region_create(&plain);
  for (uint32_t i = 0; i < call->result_count; ++i) {
    expected[i] = copy_of(call->results[i]);
    r->data[r->results[i]] = expected[i] + call->results[i]->offset;
  }
  hx_error error = error_init();
  const int32_t code = hx_reference_execute(call->ring->reference, &r->op.head,
                                            (const hx_tensor_desc *)(void *)r->values, r->data, &error);
  region_release(r);
  return code == HX_OK || case_fail(suite, "the reference refuses %s: %s", call->op, error.message);
}

static uint64_t word_at(const uint8_t *memory, uint32_t dtype, uint64_t at) {
  if (dtype == HX_U32) return ((const uint32_t *)(const void *)memory)[at];
  return ((const uint64_t *)(const void *)memory)[at];
}

// The first word of a row that differs.
static bool report_row(suite_t *suite, const call_t *call, uint32_t index, const uint8_t *found,
                       const uint8_t *expected, const char *how, uint64_t item, uint32_t row) {
  const tensor_t *t = call->results[index];
  const uint32_t limb = row % t->desc.limbs, component = row / t->desc.limbs;
  const size_t at = (size_t)((const uint8_t *)tensor_row(t, item, 0, component, limb) - t->base);
  const uint64_t n = (uint64_t)1 << t->desc.log_n;
  for (uint64_t i = 0; i < n; ++i) {
    const uint64_t f = word_at(found + at, t->desc.dtype, i), e = word_at(expected + at, t->desc.dtype, i);
    if (f == e) continue;
    case_fail(
        suite,
        "%s%s, result %u: item %llu, component %u, limb %u (prime %u, %llu), index %llu: expected %llu, found %llu",
        call->op, how, index, (unsigned long long)item, component, limb, t->ids[limb],
        (unsigned long long)call->ring->primes[t->ids[limb]], (unsigned long long)i, (unsigned long long)e,
        (unsigned long long)f);
    return true;
  }
  return false;
}

bool compare_result(suite_t *suite, const call_t *call, uint32_t index, const uint8_t *found, const uint8_t *expected,
                    const char *how) {
  const tensor_t *t = call->results[index];
  ++suite->record->checks;
  if (memcmp(found, expected, t->bytes) == 0) return true;
  uint64_t items = 1;
  for (uint32_t axis = 0; axis < t->desc.batch_rank; ++axis) items *= t->batch[axis];
  for (uint64_t item = 0; item < items; ++item) {
    for (uint32_t row = 0; row < t->desc.components * t->desc.limbs; ++row) {
      if (report_row(suite, call, index, found, expected, how, item, row)) return false;
    }
  }
  return case_fail(suite, "%s%s, result %u: bytes outside its rows were written", call->op, how, index);
}

static bool run_once(suite_t *suite, const call_t *call, const running_t *running, int32_t in_place,
                     uint8_t *const *expected, const char *how) {
  uint8_t *found[OPERANDS_MAX];
  hx_error error;
  for (uint32_t i = 0; i < call->result_count; ++i) found[i] = suite_alloc(call->results[i]->bytes);
  const int32_t code = call_execute(suite, call, running, suite->queue, in_place, found, &error);
  if (code != HX_OK) {
    case_fail(suite, "%s%s: execute: %s: %s", call->op, how, result_word(code), error.message);
  } else {
    ++suite->results->operation_runs;
    for (uint32_t i = 0; i < call->result_count; ++i) compare_result(suite, call, i, found[i], expected[i], how);
  }
  for (uint32_t i = 0; i < call->result_count; ++i) free(found[i]);
  return code == HX_OK;
}

bool call_check(suite_t *suite, const call_t *call) {
  uint8_t *expected[OPERANDS_MAX] = {NULL};
  running_t running = {0};
  hx_error error;
  bool aliased = false;
  if (call_expect(suite, call, expected)) {
    region_t *r = region_create(call);
    const int32_t code = call_prepare(suite, call, r, &running, &error);
    if (code != HX_OK) {
      case_fail(suite, "%s: prepare: %s: %s", call->op, result_word(code), error.message);
    } else if (run_once(suite, call, &running, -1, expected, "")) {
      const int32_t alias = running.alias[0];
      if (alias >= 0 && !call->row->in_place) {
        case_fail(suite, "%s: the plan shares memory, which the manifest does not declare (in_place)", call->op);
      } else if (alias >= 0 && (uint32_t)alias >= r->input_count) {
        case_fail(suite, "%s: the plan shares the memory of input %d, and there are %u", call->op, alias,
                  r->input_count);
      } else if (alias >= 0 && r->tensors[r->inputs[alias]]->bytes == call->results[0]->bytes) {
        aliased = run_once(suite, call, &running, alias, expected, " in place");
      }
    }
    region_release(r);
    call_destroy(suite, call, &running);
  }
  for (uint32_t i = 0; i < call->result_count; ++i) free(expected[i]);
  return aliased;
}
