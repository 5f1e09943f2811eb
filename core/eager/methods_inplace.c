// SPDX-License-Identifier: Apache-2.0
// Methods whose result replaces their first operand, and rotations composed of those that have keys.
#include "core/eager/methods.h"

// *value becomes the result; its own reference goes.
static hx_status_t replace(hx_engine_t *engine, hx_op_id_t id, hx_value_t **value, const hx_value_t *other,
                           const hx_named_attr_t *attrs, size_t attr_count, hx_report_t *report) {
  if (value == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "%s: the value is NULL", hx_op_info(id)->name);
  const hx_value_t *const operands[] = {*value, other};
  const hx_engine_call_t call = {.id = id,
                                 .attrs = attrs,
                                 .attr_count = attr_count,
                                 .operands = operands,
                                 .operand_count = other == NULL ? 1 : 2,
                                 .result_count = 1,
                                 .in_place = true};
  hx_value_t *result = NULL;
  HX_TRY(hx_engine_run(engine, &call, &result, report));
  if (result == *value) return HX_STATUS_OK;
  hx_value_release(*value);
  *value = result;
  return HX_STATUS_OK;
}

static hx_status_t replace_binary(hx_engine_t *engine, hx_op_id_t id, hx_value_t **value, const hx_value_t *other,
                                  hx_report_t *report) {
  if (other == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "%s: the second operand is NULL", hx_op_info(id)->name);
  return replace(engine, id, value, other, NULL, 0, report);
}

hx_status_t hx_engine_add_inplace(hx_engine_t *engine, hx_value_t **value, const hx_value_t *b, hx_report_t *report) {
  return replace_binary(engine, HX_OP_CKKS_ADD, value, b, report);
}

hx_status_t hx_engine_sub_inplace(hx_engine_t *engine, hx_value_t **value, const hx_value_t *b, hx_report_t *report) {
  return replace_binary(engine, HX_OP_CKKS_SUB, value, b, report);
}

hx_status_t hx_engine_neg_inplace(hx_engine_t *engine, hx_value_t **value, hx_report_t *report) {
  return replace(engine, HX_OP_CKKS_NEG, value, NULL, NULL, 0, report);
}

hx_status_t hx_engine_add_plain_inplace(hx_engine_t *engine, hx_value_t **value, const hx_value_t *plaintext,
                                        hx_report_t *report) {
  return replace_binary(engine, HX_OP_CKKS_ADD_PLAIN, value, plaintext, report);
}

hx_status_t hx_engine_sub_plain_inplace(hx_engine_t *engine, hx_value_t **value, const hx_value_t *plaintext,
                                        hx_report_t *report) {
  return replace_binary(engine, HX_OP_CKKS_SUB_PLAIN, value, plaintext, report);
}

hx_status_t hx_engine_mul_plain_inplace(hx_engine_t *engine, hx_value_t **value, const hx_value_t *plaintext,
                                        hx_report_t *report) {
  return replace_binary(engine, HX_OP_CKKS_MUL_PLAIN, value, plaintext, report);
}

hx_status_t hx_engine_add_scalar_inplace(hx_engine_t *engine, hx_value_t **value, double re, double im,
                                         hx_report_t *report) {
  hx_attribute_t parts[2];
  const hx_named_attr_t attrs[] = {{.name = hx_str("value"), .value = hx_constant_attribute(re, im, parts)}};
  return replace(engine, HX_OP_CKKS_ADD_SCALAR, value, NULL, attrs, 1, report);
}

hx_status_t hx_engine_mul_scalar_inplace(hx_engine_t *engine, hx_value_t **value, double re, double im,
                                         const char *scale, hx_report_t *report) {
  if (scale == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "%s: scale is NULL",
                          hx_op_info(HX_OP_CKKS_MUL_SCALAR)->name);
  hx_attribute_t parts[2];
  const hx_named_attr_t attrs[] = {{.name = hx_str("scale"), .value = hx_text_attribute(scale)},
                                   {.name = hx_str("value"), .value = hx_constant_attribute(re, im, parts)}};
  return replace(engine, HX_OP_CKKS_MUL_SCALAR, value, NULL, attrs, 2, report);
}

hx_status_t hx_engine_mul_integer_inplace(hx_engine_t *engine, hx_value_t **value, int64_t integer,
                                          hx_report_t *report) {
  const hx_named_attr_t attrs[] = {{.name = hx_str("integer"), .value = hx_integer_attribute(integer)}};
  return replace(engine, HX_OP_CKKS_MUL_INTEGER, value, NULL, attrs, 1, report);
}

// ------------------------------------------------------------------ composed rotations

hx_status_t hx_engine_rotate_composed(hx_engine_t *engine, const hx_value_t *a, int64_t step, hx_value_t **out,
                                      hx_report_t *report) {
  if (engine == NULL || a == NULL || out == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_engine_rotate_composed: an argument is NULL");
  if (engine->keys == NULL)
    return hx_report_fail(report, HX_CODE_MISSING_KEY,
                          "hx_engine_rotate_composed: the engine was made without keys, so there is no rotation to "
                          "compose of");
  if (a->type.kind != HX_TYPE_CIPHERTEXT)
    return hx_report_fail(report, HX_CODE_TYPE, "hx_engine_rotate_composed: operand a is no ciphertext");
  size_t count = 0;
  HX_TRY(hx_keys_rotation_plan(engine->keys, a->type.slots, step, NULL, 0, &count, report));
  if (count <= 1) return hx_engine_rotate(engine, a, step, out, report);
  int64_t *steps = hx_zalloc(count, sizeof *steps);
  if (steps == NULL) return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for a composed rotation");
  hx_status_t status = hx_keys_rotation_plan(engine->keys, a->type.slots, step, steps, count, &count, report);
  hx_value_t *value = hx_value_retain(a);
  for (size_t i = 0; i < count && status == HX_STATUS_OK; ++i) {
    hx_value_t *next = NULL;
    status = hx_engine_rotate(engine, value, steps[i], &next, report);
    if (status != HX_STATUS_OK) break;
    hx_value_release(value);
    value = next;
  }
  hx_free(steps);
  if (status != HX_STATUS_OK) {
    hx_value_release(value);
    return status;
  }
  *out = value;
  return HX_STATUS_OK;
}
