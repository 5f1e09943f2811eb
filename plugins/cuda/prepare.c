// SPDX-License-Identifier: Apache-2.0
#include "prepare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuse.h"
#include "step.h"

#define MANDATORY(type_, field_, value_, what_)                                           \
  if ((value_) == NULL || (value_)->struct_size < HX_END_OF(type_, field_))               \
  return hx_cuda_fail(error, HX_ARGS_SIZE, what_ " has %u bytes, at least %u are needed", \
                      (value_) == NULL ? 0 : (value_)->struct_size, HX_END_OF(type_, field_))

// Element `index` of an array of structs that a newer host may have made longer: each says its own size, and all of
// them end in a pointer, so that sizes are multiples of its alignment.
static const void *element(const void *array, uint32_t struct_size, uint32_t index) {
  return (const char *)array + (size_t)((struct_size + 7u) & ~7u) * index;
}

static int32_t check_region(const hx_device *device, const hx_region *region, hx_error *error) {
  MANDATORY(hx_region, variant, region, "hx_region");
  if (region->op_count == 0 || region->ops == NULL) {
    return hx_cuda_fail(error, HX_INVALID, "the region has no operation");
  }
  MANDATORY(hx_op, resources, region->ops, "hx_op");
  MANDATORY(hx_ring, digest, region->ring, "hx_ring");
  if (region->ops->name == NULL || region->values == NULL || region->value_count == 0) {
    return hx_cuda_fail(error, HX_INVALID, "the region has an operation without a name, or no values");
  }
  if (region->tables == NULL || region->tables->device != device || !hx_cuda_tables_fit(region->tables, region->ring)) {
    return hx_cuda_fail(error, HX_INVALID, "%s: the region's tables are missing, or of another ring or device",
                        region->ops->name);
  }
  return HX_OK;
}

// The operation's name, in memory that lasts.
static const char *lasting_name(const char *name) {
  for (uint32_t i = 0; i < hx_cuda_impl_count; i++) {
    if (strcmp(hx_cuda_impls[i]->op, name) == 0) {
      return hx_cuda_impls[i]->op;
    }
  }
  return "an unknown operation";
}

static const hx_cuda_impl_row_t *find_row(const hx_op *op, hx_error *error) {
  for (uint32_t i = 0; i < hx_cuda_impl_count; i++) {
    if (strcmp(hx_cuda_impls[i]->op, op->name) == 0) {
      if (hx_cuda_impls[i]->signature == op->signature) {
        return &hx_cuda_impl_rows[i];
      }
      hx_cuda_fail(error, HX_UNSUPPORTED, "%s: signature %u is asked for, cuda has %u", op->name, op->signature,
                   hx_cuda_impls[i]->signature);
      return NULL;
    }
  }
  hx_cuda_fail(error, HX_UNSUPPORTED, "%.64s is not an operation of cuda", op->name);
  return NULL;
}

// Whether the list ("digit ids ") has the word.
static bool list_has(const char *list, const char *word) {
  size_t length = strlen(word);
  for (; *list != 0; list += strcspn(list, " ") + 1) {
    if (strncmp(list, word, length) == 0 && list[length] == ' ') {
      return true;
    }
  }
  return false;
}

// Attributes of the host's own (heliox.*) are nothing to an implementation; any other must be known, since leaving it
// out could change the meaning.
static int32_t check_attributes(const hx_op *op, const hx_cuda_impl_row_t *row, hx_error *error) {
  if (op->attr_count > 0 && op->attrs == NULL) {
    return hx_cuda_fail(error, HX_INVALID, "%s: attributes are missing", op->name);
  }
  for (uint32_t i = 0; i < op->attr_count; i++) {
    const hx_attr *attr = element(op->attrs, op->attrs->struct_size, i);
    MANDATORY(hx_attr, data, attr, "hx_attr");
    if (attr->name == NULL) {
      return hx_cuda_fail(error, HX_INVALID, "%s: attribute %u has no name", op->name, i);
    }
    if (strncmp(attr->name, "heliox.", 7) != 0 && !list_has(row->attributes, attr->name)) {
      return hx_cuda_fail(error, HX_INVALID, "%s: attribute %.64s is unknown; the operation has: %s", op->name,
                          attr->name, row->attributes[0] != 0 ? row->attributes : "none");
    }
  }
  return HX_OK;
}

static uint32_t position(const uint32_t *ids, uint32_t count, uint32_t id) {
  for (uint32_t i = 0; ids != NULL && i < count; i++) {
    if (ids[i] == id) {
      return i;
    }
  }
  return HX_NONE;
}

// One operand or result: where it is among the region's inputs or outputs, and its descriptor.
static int32_t read_view(hx_cuda_build_t *build, const hx_region *region, const hx_cuda_impl_row_t *row, bool result,
                         uint32_t index) {
  hx_error *error = build->error;
  const hx_op *op = build->op;
  hx_cuda_view_t *view = result ? &build->prepared->results[index] : &build->prepared->operands[index];
  uint32_t id = result ? op->results[index] : op->operands[index];
  view->side = result ? "result" : "operand";
  view->index = index;
  view->slot =
      result ? position(region->outputs, region->output_count, id) : position(region->inputs, region->input_count, id);
  if (id >= region->value_count || view->slot == HX_NONE) {
    return hx_cuda_fail(error, HX_INVALID, "%s: %s %u is value %u, which is not among the region's %s", op->name,
                        view->side, index, id, result ? "outputs" : "inputs");
  }
  const hx_tensor_desc *desc = element(region->values, region->values->struct_size, id);
  uint32_t limbs = hx_cuda_view_limbs(view, desc, op->name, error);
  if (limbs == 0) {
    return error != NULL && error->struct_size >= HX_END_OF(hx_error, code) ? error->code : HX_INVALID;
  }
  HX_CUDA_TRY(hx_cuda_keep_or_fail(build, limbs, sizeof *view->limb_offsets, &view->limb_offsets));
  HX_CUDA_TRY(hx_cuda_keep_or_fail(build, limbs, sizeof *view->ids, &view->ids));
  HX_CUDA_TRY(hx_cuda_view_read(view, desc, build->tables, op->name, error));
  if (view->domain != 0 && (row->domains >> view->domain & 1) == 0) {
    return hx_cuda_fail(error, HX_INVALID, "%s: %s %u is in %s domain, which the operation does not take", op->name,
                        view->side, index, view->domain == HX_NTT ? "ntt" : "coefficient");
  }
  return HX_OK;
}

static int32_t read_views(hx_cuda_build_t *build, const hx_region *region, const hx_cuda_impl_row_t *row) {
  const hx_op *op = build->op;
  hx_prepared *prepared = build->prepared;
  const uint32_t limit = 1u << 20;
  if ((op->operand_count > 0 && op->operands == NULL) || op->result_count == 0 || op->results == NULL ||
      op->operand_count > limit || op->result_count > limit) {
    return hx_cuda_fail(build->error, HX_INVALID,
                        "%s: has %u operands and %u results; at least one result and at most %u of each are taken",
                        op->name, op->operand_count, op->result_count, limit);
  }
  if (op->resource_count != 0) {
    return hx_cuda_fail(build->error, HX_UNSUPPORTED, "%s: %u resources are asked for; cuda takes none", op->name,
                        op->resource_count);
  }
  prepared->operand_count = op->operand_count;
  prepared->result_count = op->result_count;
  HX_CUDA_TRY(hx_cuda_keep_or_fail(build, op->operand_count + 1, sizeof(hx_cuda_view_t), &prepared->operands));
  HX_CUDA_TRY(hx_cuda_keep_or_fail(build, op->result_count, sizeof(hx_cuda_view_t), &prepared->results));
  for (uint32_t i = 0; i < op->operand_count; i++) {
    HX_CUDA_TRY(read_view(build, region, row, false, i));
  }
  for (uint32_t i = 0; i < op->result_count; i++) {
    HX_CUDA_TRY(read_view(build, region, row, true, i));
    if (position(op->results, i, op->results[i]) != HX_NONE) {
      return hx_cuda_fail(build->error, HX_INVALID, "%s: result %u is the same value as another result", op->name, i);
    }
  }
  return HX_OK;
}

// "integer" and "real" pin the path of transforms; real leaves integers to primes that are too large for it.
static int32_t choose_variant(hx_prepared *prepared, const char *variant, hx_error *error) {
  prepared->real = prepared->device->real;
  if (variant == NULL) {
    return HX_OK;
  }
  if (strcmp(variant, "real") != 0 && strcmp(variant, "integer") != 0) {
    return hx_cuda_fail(error, HX_UNSUPPORTED, "variant %.32s is unknown; cuda has integer and real", variant);
  }
  prepared->real = variant[0] == 'r';
  return HX_OK;
}

static int32_t prepare_into(hx_cuda_build_t *build, const hx_region *region, hx_plan *plan) {
  hx_prepared *prepared = build->prepared;
  const hx_cuda_impl_row_t *row = find_row(build->op, build->error);
  if (row == NULL) {
    return HX_UNSUPPORTED;
  }
  HX_CUDA_TRY(check_attributes(build->op, row, build->error));
  HX_CUDA_TRY(read_views(build, region, row));
  HX_CUDA_TRY(choose_variant(prepared, region->variant, build->error));
  HX_CUDA_TRY(row->build(build));
  HX_CUDA_TRY(hx_cuda_steps_finish(build));
  plan->scratch_host = 0;
  plan->scratch_device = prepared->scratch_bytes;
  if (plan->struct_size >= HX_END_OF(hx_plan, cost_ns)) {
    plan->cost_ns = 0;
  }
  return HX_OK;
}

int32_t hx_cuda_prepare(hx_device *device, const hx_region *region, hx_plan *plan, hx_prepared **out, hx_error *error) {
  if (device == NULL || out == NULL) {
    return hx_cuda_fail(error, HX_INVALID, "prepare: device or result is missing");
  }
  HX_CUDA_TRY(check_region(device, region, error));
  MANDATORY(hx_plan, may_alias, plan, "hx_plan");
  if (plan->alias_count != region->output_count || plan->may_alias == NULL) {
    return hx_cuda_fail(error, HX_INVALID, "%s: hx_plan has room for %u aliases, the region has %u outputs",
                        region->ops->name, plan->may_alias == NULL ? 0 : plan->alias_count, region->output_count);
  }
  const hx_op *op = region->ops;
  hx_cuda_chain_t chain;
  if (region->op_count > 1) {
    HX_CUDA_TRY(hx_cuda_fuse(region, &chain, error));
    op = &chain.op;
  }
  hx_prepared *prepared = calloc(1, sizeof *prepared);
  if (prepared == NULL) {
    return hx_cuda_fail(error, HX_OUT_OF_MEMORY, "%s: no memory to prepare", region->ops->name);
  }
  prepared->device = device;
  prepared->tables = region->tables;
  prepared->log_n = region->tables->log_n;
  prepared->n = (size_t)1 << prepared->log_n;
  prepared->name = lasting_name(op->name);
  hx_cuda_build_t build = {.prepared = prepared, .tables = region->tables, .op = op, .plan = plan, .error = error};
  int32_t code = prepare_into(&build, region, plan);
  free(build.constants);
  if (code != HX_OK) {
    hx_cuda_destroy(prepared);
    for (uint32_t i = 0; i < plan->alias_count; i++) {
      plan->may_alias[i] = -1;
    }
    if (error != NULL && error->struct_size >= HX_END_OF(hx_error, op)) {
      error->op = 0;
    }
    return code;
  }
  *out = prepared;
  return HX_OK;
}

// Every span of the call holds its tensor, aligned to pairs of words.
static int32_t check_spans(const hx_prepared *prepared, const hx_call *call, uint64_t *out_scratch, hx_error *error) {
  char what[32];
  uint64_t address = 0;
  if ((prepared->operand_count > 0 && call->inputs == NULL) || call->outputs == NULL) {
    return hx_cuda_fail(error, HX_INVALID, "the call has no inputs or no outputs");
  }
  for (uint32_t i = 0; i < prepared->operand_count + prepared->result_count; i++) {
    const bool result = i >= prepared->operand_count;
    const hx_cuda_view_t *view = result ? &prepared->results[i - prepared->operand_count] : &prepared->operands[i];
    snprintf(what, sizeof what, "%s %u", view->side, view->index);
    HX_CUDA_TRY(hx_cuda_span_address(prepared->device, result ? call->outputs[view->slot] : call->inputs[view->slot],
                                     view->bytes, 2 * view->element_bytes, true, what, &address, error));
  }
  *out_scratch = 0;
  if (prepared->scratch_bytes > 0) {
    HX_CUDA_TRY(hx_cuda_span_address(prepared->device, call->scratch_device, prepared->scratch_bytes, sizeof(uint64_t),
                                     true, "scratch_device", out_scratch, error));
  }
  return HX_OK;
}

int32_t hx_cuda_execute(hx_prepared *prepared, const hx_call *call, hx_error *error) {
  MANDATORY(hx_call, outputs, call, "hx_call");
  if (prepared == NULL || call->queue == NULL) {
    return hx_cuda_fail(error, HX_INVALID, "execute: the prepared operation or the queue is missing");
  }
  if (call->queue->device != prepared->device) {
    return hx_cuda_fail(error, HX_INVALID, "execute: the queue is of another device");
  }
  uint64_t scratch = 0;
  HX_CUDA_TRY(check_spans(prepared, call, &scratch, error));
  HX_CUDA_TRY(hx_cuda_queue_enter(call->queue, error));
  call->queue->calls++;
  call->queue->last_name = prepared->name;
  const int32_t code = hx_cuda_steps_run(prepared, call, scratch, error);
  if (code != HX_OK) {
    hx_cuda_queue_poison(call->queue, code, "a kernel of the operation could not be launched");
  }
  hx_cuda_queue_leave(call->queue);
  return code;
}
