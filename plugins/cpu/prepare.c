// SPDX-License-Identifier: Apache-2.0
#include "prepare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "run.h"

#define MANDATORY(type_, field_, value_, what_)                                          \
  if ((value_) == NULL || (value_)->struct_size < HX_END_OF(type_, field_))              \
  return hx_cpu_fail(error, HX_ARGS_SIZE, what_ " has %u bytes, at least %u are needed", \
                     (value_) == NULL ? 0 : (value_)->struct_size, HX_END_OF(type_, field_))

// Element `index` of an array of structs that a newer host may have made longer: each says its own size, and all of
// them end in a pointer, so that sizes are multiples of its alignment.
static const void *element(const void *array, uint32_t struct_size, uint32_t index) {
  return (const char *)array + (size_t)((struct_size + 7u) & ~7u) * index;
}

static int32_t check_region(const hx_device *device, const hx_region *region, hx_error *error) {
  MANDATORY(hx_region, variant, region, "hx_region");
  if (region->op_count != 1 || region->ops == NULL) {
    return hx_cpu_fail(error, HX_UNSUPPORTED, "the region has %u operations; cpu prepares one at a time",
                       region->op_count);
  }
  MANDATORY(hx_op, resources, region->ops, "hx_op");
  MANDATORY(hx_ring, digest, region->ring, "hx_ring");
  if (region->ops->name == NULL || region->values == NULL || region->value_count == 0) {
    return hx_cpu_fail(error, HX_INVALID, "the region has an operation without a name, or no values");
  }
  if (region->tables == NULL || region->tables->device != device || !hx_cpu_tables_fit(region->tables, region->ring)) {
    return hx_cpu_fail(error, HX_INVALID, "%s: the region's tables are missing, or of another ring or device",
                       region->ops->name);
  }
  return HX_OK;
}

static const hx_cpu_impl_row_t *find_row(const hx_op *op, hx_error *error) {
  for (uint32_t i = 0; i < hx_cpu_impl_count; i++) {
    if (strcmp(hx_cpu_impls[i]->op, op->name) == 0) {
      if (hx_cpu_impls[i]->signature == op->signature) {
        return &hx_cpu_impl_rows[i];
      }
      hx_cpu_fail(error, HX_UNSUPPORTED, "%s: signature %u is asked for, cpu has %u", op->name, op->signature,
                  hx_cpu_impls[i]->signature);
      return NULL;
    }
  }
  hx_cpu_fail(error, HX_UNSUPPORTED, "%.64s is not an operation of cpu", op->name);
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
static int32_t check_attributes(const hx_op *op, const hx_cpu_impl_row_t *row, hx_error *error) {
  if (op->attr_count > 0 && op->attrs == NULL) {
    return hx_cpu_fail(error, HX_INVALID, "%s: attributes are missing", op->name);
  }
  for (uint32_t i = 0; i < op->attr_count; i++) {
    const hx_attr *attr = element(op->attrs, op->attrs->struct_size, i);
    MANDATORY(hx_attr, data, attr, "hx_attr");
    if (attr->name == NULL) {
      return hx_cpu_fail(error, HX_INVALID, "%s: attribute %u has no name", op->name, i);
    }
    if (strncmp(attr->name, "heliox.", 7) != 0 && !list_has(row->attributes, attr->name)) {
      return hx_cpu_fail(error, HX_INVALID, "%s: attribute %.64s is unknown; the operation has: %s", op->name,
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
static int32_t read_view(hx_cpu_build_t *build, const hx_region *region, const hx_cpu_impl_row_t *row, bool result,
                         uint32_t index) {
  hx_error *error = build->error;
  const hx_op *op = build->op;
  hx_cpu_view_t *view = result ? &build->prepared->results[index] : &build->prepared->operands[index];
  uint32_t id = result ? op->results[index] : op->operands[index];
  view->side = result ? "result" : "operand";
  view->index = index;
  view->slot =
      result ? position(region->outputs, region->output_count, id) : position(region->inputs, region->input_count, id);
  if (id >= region->value_count || view->slot == HX_NONE) {
    return hx_cpu_fail(error, HX_INVALID, "%s: %s %u is value %u, which is not among the region's %s", op->name,
                       view->side, index, id, result ? "outputs" : "inputs");
  }
  const hx_tensor_desc *desc = element(region->values, region->values->struct_size, id);
  uint32_t limbs = hx_cpu_view_limbs(view, desc, op->name, error);
  if (limbs == 0) {
    return error != NULL && error->struct_size >= HX_END_OF(hx_error, code) ? error->code : HX_INVALID;
  }
  HX_CPU_TRY(hx_cpu_keep_or_fail(build, limbs, sizeof *view->limb_offsets, &view->limb_offsets));
  HX_CPU_TRY(hx_cpu_keep_or_fail(build, limbs, sizeof *view->ids, &view->ids));
  HX_CPU_TRY(hx_cpu_view_read(view, desc, build->tables, op->name, error));
  if (view->domain != 0 && (row->domains >> view->domain & 1) == 0) {
    return hx_cpu_fail(error, HX_INVALID, "%s: %s %u is in %s domain, which the operation does not take", op->name,
                       view->side, index, view->domain == HX_NTT ? "ntt" : "coefficient");
  }
  return HX_OK;
}

static int32_t read_views(hx_cpu_build_t *build, const hx_region *region, const hx_cpu_impl_row_t *row) {
  const hx_op *op = build->op;
  hx_prepared *prepared = build->prepared;
  const uint32_t limit = 1u << 20;
  if ((op->operand_count > 0 && op->operands == NULL) || op->result_count == 0 || op->results == NULL ||
      op->operand_count > limit || op->result_count > limit) {
    return hx_cpu_fail(build->error, HX_INVALID,
                       "%s: has %u operands and %u results; at least one result and at most %u of each are taken",
                       op->name, op->operand_count, op->result_count, limit);
  }
  if (op->resource_count != 0) {
    return hx_cpu_fail(build->error, HX_UNSUPPORTED, "%s: %u resources are asked for; cpu takes none", op->name,
                       op->resource_count);
  }
  prepared->operand_count = op->operand_count;
  prepared->result_count = op->result_count;
  HX_CPU_TRY(hx_cpu_keep_or_fail(build, op->operand_count + 1, sizeof(hx_cpu_view_t), &prepared->operands));
  HX_CPU_TRY(hx_cpu_keep_or_fail(build, op->result_count, sizeof(hx_cpu_view_t), &prepared->results));
  for (uint32_t i = 0; i < op->operand_count; i++) {
    HX_CPU_TRY(read_view(build, region, row, false, i));
  }
  for (uint32_t i = 0; i < op->result_count; i++) {
    HX_CPU_TRY(read_view(build, region, row, true, i));
    if (position(op->results, i, op->results[i]) != HX_NONE) {
      return hx_cpu_fail(build->error, HX_INVALID, "%s: result %u is the same value as another result", op->name, i);
    }
  }
  return HX_OK;
}

static int32_t prepare_into(hx_cpu_build_t *build, const hx_region *region, hx_plan *plan) {
  hx_prepared *prepared = build->prepared;
  const hx_cpu_impl_row_t *row = find_row(build->op, build->error);
  if (row == NULL) {
    return HX_UNSUPPORTED;
  }
  HX_CPU_TRY(check_attributes(build->op, row, build->error));
  HX_CPU_TRY(read_views(build, region, row));
  HX_CPU_TRY(hx_cpu_kernels_select(prepared->device->mask, region->variant, build->tables->word, build->tables->bits,
                                   &prepared->kernels, build->error));
  HX_CPU_TRY(row->build(build));
  plan->scratch_host = 0;
  plan->scratch_device = prepared->scratch_bytes;
  if (plan->struct_size >= HX_END_OF(hx_plan, cost_ns)) {
    plan->cost_ns = prepared->cost;
  }
  return HX_OK;
}

int32_t hx_cpu_prepare(hx_device *device, const hx_region *region, hx_plan *plan, hx_prepared **out, hx_error *error) {
  if (device == NULL || out == NULL) {
    return hx_cpu_fail(error, HX_INVALID, "prepare: device or result is missing");
  }
  HX_CPU_TRY(check_region(device, region, error));
  MANDATORY(hx_plan, may_alias, plan, "hx_plan");
  if (plan->alias_count != region->output_count || plan->may_alias == NULL) {
    return hx_cpu_fail(error, HX_INVALID, "%s: hx_plan has room for %u aliases, the region has %u outputs",
                       region->ops->name, plan->may_alias == NULL ? 0 : plan->alias_count, region->output_count);
  }
  hx_prepared *prepared = calloc(1, sizeof *prepared);
  if (prepared == NULL) {
    return hx_cpu_fail(error, HX_OUT_OF_MEMORY, "%s: no memory to prepare", region->ops->name);
  }
  prepared->device = device;
  prepared->tables = region->tables;
  prepared->log_n = region->tables->log_n;
  prepared->n = (size_t)1 << prepared->log_n;
  hx_cpu_build_t build = {prepared, region->tables, region->ops, plan, error};
  int32_t code = prepare_into(&build, region, plan);
  if (code != HX_OK) {
    hx_cpu_destroy(prepared);
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

// Every span of the call holds its tensor.
static int32_t check_spans(const hx_prepared *prepared, const hx_call *call, void **out_scratch, hx_error *error) {
  char what[32];
  void *address = NULL;
  if ((prepared->operand_count > 0 && call->inputs == NULL) || call->outputs == NULL) {
    return hx_cpu_fail(error, HX_INVALID, "the call has no inputs or no outputs");
  }
  for (uint32_t i = 0; i < prepared->operand_count + prepared->result_count; i++) {
    bool result = i >= prepared->operand_count;
    const hx_cpu_view_t *view = result ? &prepared->results[i - prepared->operand_count] : &prepared->operands[i];
    snprintf(what, sizeof what, "%s %u", view->side, view->index);
    HX_CPU_TRY(hx_cpu_span_address(prepared->device, result ? call->outputs[view->slot] : call->inputs[view->slot],
                                   view->bytes, view->element_bytes, what, &address, error));
  }
  *out_scratch = NULL;
  if (prepared->scratch_bytes > 0) {
    HX_CPU_TRY(hx_cpu_span_address(prepared->device, call->scratch_device, prepared->scratch_bytes, sizeof(uint64_t),
                                   "scratch_device", out_scratch, error));
  }
  return HX_OK;
}

int32_t hx_cpu_execute(hx_prepared *prepared, const hx_call *call, hx_error *error) {
  MANDATORY(hx_call, outputs, call, "hx_call");
  if (prepared == NULL || call->queue == NULL) {
    return hx_cpu_fail(error, HX_INVALID, "execute: the prepared operation or the queue is missing");
  }
  if (call->queue->device != prepared->device) {
    return hx_cpu_fail(error, HX_INVALID, "execute: the queue is of another device");
  }
  void *scratch = NULL;
  HX_CPU_TRY(check_spans(prepared, call, &scratch, error));
  HX_CPU_TRY(hx_cpu_queue_enter(call->queue, error));
  call->queue->calls++;
  hx_cpu_run_t run = {.prepared = prepared, .call = call, .scratch = scratch};
  int32_t code = prepared->run(&run);
  if (code == HX_CANCELLED) {
    hx_cpu_fail(error, code, "the host cancelled; the results of this call are not defined");
  } else if (code != HX_OK) {
    hx_cpu_fail(error, code, "the operation failed while it ran");
    hx_cpu_queue_poison(call->queue, code, "the operation failed while it ran");
  }
  hx_cpu_queue_leave(call->queue);
  return code;
}
