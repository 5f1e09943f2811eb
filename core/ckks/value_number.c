// SPDX-License-Identifier: Apache-2.0
// Public numbers as values: one word of host memory.
#include <string.h>

#include "core/ckks/value.h"

int64_t hx_value_word(const hx_value_t *number) {
  int64_t word = 0;
  const void *row = hx_tensor_row(number->tensor, 0, 0, 0, 0);
  if (row != NULL) memcpy(&word, row, sizeof word);
  return word;
}

void hx_value_set_word(hx_value_t *number, int64_t word) {
  void *row = hx_tensor_row(number->tensor, 0, 0, 0, 0);
  if (row != NULL) memcpy(row, &word, sizeof word);
}

static hx_status_t make(const hx_params_t *params, const hx_type_t *type, int64_t word, hx_value_t **out,
                        hx_report_t *report) {
  hx_value_t *value;
  if (hx_value_create(params, type, false, &value) != HX_STATUS_OK)
    return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for a number");
  hx_value_set_word(value, word);
  *out = value;
  return HX_STATUS_OK;
}

// Whether a word is what a register of the type may hold. An i1 is 0 or 1 to people and 0 or -1 as a signless word.
static bool fits(const hx_type_t *type, int64_t *number) {
  if (type->kind != HX_TYPE_INTEGER || type->bits >= 64) return true;
  const int64_t half = (int64_t)1 << (type->bits - 1);
  if (type->signedness == HX_UNSIGNED) return *number >= 0 && *number < 2 * half;
  if (type->bits == 1 && type->signedness == HX_SIGNLESS && *number == 1) *number = -1;
  return *number >= -half && *number < half;
}

hx_status_t hx_value_integer(const hx_params_t *params, const char *type_text, int64_t number, hx_value_t **out,
                             hx_report_t *report) {
  if (params == NULL || type_text == NULL || out == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_value_integer: an argument is NULL");
  hx_type_t type;
  HX_TRY(hx_type_parse(hx_str(type_text), NULL, &type, report));
  if (type.kind != HX_TYPE_INTEGER && type.kind != HX_TYPE_INDEX)
    return hx_report_fail(report, HX_CODE_TYPE, "%.60s is no type of integers: those are index, i64, si32, ui8, i1",
                          type_text);
  int64_t word = number;
  if (!fits(&type, &word))
    return hx_report_fail(report, HX_CODE_VALUE, "%lld is out of the range of %.60s", (long long)number, type_text);
  return make(params, &type, word, out, report);
}

hx_status_t hx_value_real(const hx_params_t *params, double number, hx_value_t **out, hx_report_t *report) {
  if (params == NULL || out == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_value_real: an argument is NULL");
  hx_type_t type;
  hx_type_init(&type, HX_TYPE_F64);
  int64_t word;
  memcpy(&word, &number, sizeof word);
  return make(params, &type, word, out, report);
}

int64_t hx_value_get_integer(const hx_value_t *value) {
  if (value->type.kind != HX_TYPE_INTEGER && value->type.kind != HX_TYPE_INDEX) return 0;
  const int64_t word = hx_value_word(value);
  return value->type.bits == 1 && value->type.signedness == HX_SIGNLESS ? word & 1 : word;
}

double hx_value_get_real(const hx_value_t *value) {
  double number = 0;
  if (value->type.kind != HX_TYPE_F64) return number;
  const int64_t word = hx_value_word(value);
  memcpy(&number, &word, sizeof number);
  return number;
}
