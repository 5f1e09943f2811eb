// SPDX-License-Identifier: Apache-2.0
// Operations with compact plaintexts: expanded for the call, and gone after it.
#include "core/eager/methods.h"

static hx_status_t with_compact(hx_engine_t *engine, hx_op_id_t id, const hx_value_t *a, const hx_compact_t *plaintext,
                                hx_value_t **out, hx_report_t *report) {
  if (plaintext == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "%s: the compact plaintext is NULL", hx_op_info(id)->name);
  hx_value_t *expanded = NULL;
  HX_TRY(hx_compact_expand(plaintext, &expanded, report));
  const hx_value_t *const operands[] = {a, expanded};
  const hx_engine_call_t call = {.id = id, .operands = operands, .operand_count = 2, .result_count = 1};
  const hx_status_t status = hx_engine_run(engine, &call, out, report);
  hx_value_release(expanded);
  return status;
}

hx_status_t hx_engine_add_compact(hx_engine_t *engine, const hx_value_t *a, const hx_compact_t *plaintext,
                                  hx_value_t **out, hx_report_t *report) {
  return with_compact(engine, HX_OP_CKKS_ADD_PLAIN, a, plaintext, out, report);
}

hx_status_t hx_engine_sub_compact(hx_engine_t *engine, const hx_value_t *a, const hx_compact_t *plaintext,
                                  hx_value_t **out, hx_report_t *report) {
  return with_compact(engine, HX_OP_CKKS_SUB_PLAIN, a, plaintext, out, report);
}

hx_status_t hx_engine_mul_compact(hx_engine_t *engine, const hx_value_t *a, const hx_compact_t *plaintext,
                                  hx_value_t **out, hx_report_t *report) {
  return with_compact(engine, HX_OP_CKKS_MUL_PLAIN, a, plaintext, out, report);
}
