// SPDX-License-Identifier: Apache-2.0
// Single steps, and what circuits ask of their operands.
#include "core/circuits/target.h"

#include "core/base/memory.h"

static hx_status_t run_one(const hx_target_t *target, const hx_step_t *step, hx_node_t **out, hx_report_t *report) {
  return target->table->run(target, step, out, report);
}

static hx_status_t with_attribute(const hx_target_t *target, hx_op_id_t id, hx_node_t *a, const char *name,
                                  hx_attribute_t value, hx_node_t **out, hx_report_t *report) {
  const hx_named_attr_t attr = {.name = hx_str(name), .value = value};
  const hx_step_t step = {
      .id = id, .attrs = &attr, .attr_count = 1, .operands = &a, .operand_count = 1, .result_count = 1};
  return run_one(target, &step, out, report);
}

hx_status_t hx_emit_unary(const hx_target_t *target, hx_op_id_t id, hx_node_t *a, hx_node_t **out,
                          hx_report_t *report) {
  const hx_step_t step = {.id = id, .operands = &a, .operand_count = 1, .result_count = 1};
  return run_one(target, &step, out, report);
}

hx_status_t hx_emit_binary(const hx_target_t *target, hx_op_id_t id, hx_node_t *a, hx_node_t *b, hx_node_t **out,
                           hx_report_t *report) {
  hx_node_t *const operands[] = {a, b};
  const hx_step_t step = {.id = id, .operands = operands, .operand_count = 2, .result_count = 1};
  return run_one(target, &step, out, report);
}

hx_status_t hx_emit_integer(const hx_target_t *target, hx_op_id_t id, hx_node_t *a, const char *name, int64_t value,
                            hx_node_t **out, hx_report_t *report) {
  const hx_attribute_t integer = {.kind = HX_ATTRIBUTE_INTEGER, .integer = value};
  return with_attribute(target, id, a, name, integer, out, report);
}

hx_status_t hx_emit_at_depth(const hx_target_t *target, hx_node_t *a, uint32_t depth, hx_node_t **out,
                             hx_report_t *report) {
  if (hx_node_type(target, a)->depth == depth) {
    *out = target->table->retain(a);
    return HX_STATUS_OK;
  }
  return hx_emit_integer(target, HX_OP_CKKS_LEVEL_DROP, a, "depth", depth, out, report);
}

hx_status_t hx_emit_add_scalar(const hx_target_t *target, hx_node_t *a, double value, hx_node_t **out,
                               hx_report_t *report) {
  const hx_attribute_t number = {.kind = HX_ATTRIBUTE_FLOAT, .number = value};
  return with_attribute(target, HX_OP_CKKS_ADD_SCALAR, a, "value", number, out, report);
}

static hx_status_t no_memory(hx_report_t *report) {
  return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for a step of a circuit");
}

hx_status_t hx_emit_mul_scalar(const hx_target_t *target, hx_node_t *a, double value, const hx_scale_t *scale,
                               hx_node_t **out, hx_report_t *report) {
  char *text = hx_alloc(HX_SCALE_TEXT_MAX);
  if (text == NULL) return no_memory(report);
  (void)hx_scale_print(scale, text);
  const hx_named_attr_t attrs[] = {
      {.name = hx_str("scale"), .value = {.kind = HX_ATTRIBUTE_TEXT, .text = hx_str(text)}},
      {.name = hx_str("value"), .value = {.kind = HX_ATTRIBUTE_FLOAT, .number = value}}};
  const hx_step_t step = {.id = HX_OP_CKKS_MUL_SCALAR,
                          .attrs = attrs,
                          .attr_count = HX_COUNT_OF(attrs),
                          .operands = &a,
                          .operand_count = 1,
                          .result_count = 1};
  const hx_status_t status = run_one(target, &step, out, report);
  hx_free(text);
  return status;
}

hx_status_t hx_emit_reinterpret(const hx_target_t *target, hx_node_t *a, const hx_scale_t *scale, hx_node_t **out,
                                hx_report_t *report) {
  char *text = hx_alloc(HX_SCALE_TEXT_MAX);
  if (text == NULL) return no_memory(report);
  (void)hx_scale_print(scale, text);
  const hx_attribute_t value = {.kind = HX_ATTRIBUTE_TEXT, .text = hx_str(text)};
  const hx_status_t status = with_attribute(target, HX_OP_CKKS_REINTERPRET_SCALE, a, "scale", value, out, report);
  hx_free(text);
  return status;
}

void hx_emit_replace(const hx_target_t *target, hx_node_t **node, hx_node_t *next) {
  target->table->release(*node);
  *node = next;
}

hx_status_t hx_emit_accumulate(const hx_target_t *target, hx_node_t **sum, hx_node_t *term, hx_report_t *report) {
  if (*sum == NULL) {
    *sum = term;
    return HX_STATUS_OK;
  }
  hx_node_t *next = NULL;
  const hx_status_t status = hx_emit_binary(target, HX_OP_CKKS_ADD, *sum, term, &next, report);
  target->table->release(term);
  if (status == HX_STATUS_OK) hx_emit_replace(target, sum, next);
  return status;
}

hx_status_t hx_emit_check_operand(const hx_target_t *target, const hx_node_t *node, const char *what,
                                  hx_report_t *report) {
  if (node == NULL) return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "%s: the operand is NULL", what);
  const hx_type_t *type = hx_node_type(target, node);
  if (type->kind != HX_TYPE_CIPHERTEXT)
    return hx_report_fail(report, HX_CODE_TYPE, "%s takes a ciphertext, not a %s", what, hx_type_kind_name(type->kind));
  if (!hx_type_is_complete(type))
    return hx_report_fail(report, HX_CODE_TYPE, "%s takes an operand whose state is known; part of it is open", what);
  if (type->components != 2)
    return hx_report_fail(report, HX_CODE_COMPONENTS, "%s takes 2 components, not %u; relinearize first", what,
                          type->components);
  if (type->domain != HX_NTT || type->repr != HX_STANDARD)
    return hx_report_fail(report, HX_CODE_DOMAIN,
                          "%s takes standard residues in ntt domain; convert the operand with to_ntt or reduce", what);
  return HX_STATUS_OK;
}

hx_status_t hx_emit_check_depth(const hx_target_t *target, const hx_node_t *node, uint32_t needed, const char *what,
                                hx_report_t *report) {
  const uint32_t most = hx_ring_max_depth(hx_params_ring(target->params));
  const uint32_t depth = hx_node_type(target, node)->depth;
  if (needed <= most - depth) return HX_STATUS_OK;
  return hx_report_fail(
      report, HX_CODE_NO_DEPTH,
      "%s takes %u depths, and the operand at depth %u of %u has %u left; choose parameters with more "
      "depths, or evaluate earlier",
      what, needed, depth, most, most - depth);
}
