// SPDX-License-Identifier: Apache-2.0
// Batches of messages: the single encoding and decoding, item by item.
#include <stdio.h>

#include "core/ckks/encode.h"

void hx_encode_tell_item(const hx_report_t *inner, size_t item, hx_report_t *report) {
  for (size_t i = 0; i < hx_report_count(inner); ++i) {
    const hx_fault_t *fault = hx_report_get(inner, i);
    (void)hx_report_fail(report, fault->code, "item %zu of the batch: %s", item, fault->text);
  }
}

// The item's faults, told as that item's.
static hx_status_t encode_item(const hx_params_t *params, const double *values, size_t item, size_t count,
                               bool complex_values, const hx_encode_options_t *options, hx_value_t **out,
                               hx_report_t *report) {
  hx_report_t *inner = hx_report_create();
  const hx_status_t status =
      hx_encode(params, values + item * count * (complex_values ? 2 : 1), count, complex_values, options, out, inner);
  hx_encode_tell_item(inner, item, report);
  hx_report_release(inner);
  return status;
}

hx_status_t hx_encode_batch(const hx_params_t *params, const double *values, size_t items, size_t count,
                            bool complex_values, const hx_encode_options_t *options, hx_value_t **out,
                            hx_report_t *report) {
  if (values == NULL || out == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_encode_batch: an argument is NULL");
  if (items == 0) return hx_report_fail(report, HX_CODE_LENGTH, "a batch of no messages; give at least one");
  hx_value_t **each = hx_zalloc(items, sizeof *each);
  if (each == NULL) return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for a batch");
  hx_status_t status = HX_STATUS_OK;
  for (size_t i = 0; i < items && status == HX_STATUS_OK; ++i)
    status = encode_item(params, values, i, count, complex_values, options, &each[i], report);
  if (status == HX_STATUS_OK) status = hx_value_stack((const hx_value_t *const *)each, items, out, report);
  for (size_t i = 0; i < items; ++i) hx_value_release(each[i]);
  hx_free((void *)each);
  return status;
}

static hx_status_t decode_items(const hx_value_t *value, double **next, hx_report_t *report) {
  if (value->type.batch_rank == 0) {
    HX_TRY(hx_decode(value, *next, report));
    *next += 2 * (size_t)value->type.slots;
    return HX_STATUS_OK;
  }
  for (uint64_t i = 0; i < value->type.batch_shape[0]; ++i) {
    hx_value_t *item = NULL;
    HX_TRY(hx_value_select(value, 0, i, &item, report));
    const hx_status_t status = decode_items(item, next, report);  // at most four deep
    hx_value_release(item);
    HX_TRY(status);
  }
  return HX_STATUS_OK;
}

hx_status_t hx_decode_batch(const hx_value_t *plaintext, double *out_values, hx_report_t *report) {
  if (plaintext == NULL || out_values == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_decode_batch: an argument is NULL");
  return decode_items(plaintext, &out_values, report);
}
