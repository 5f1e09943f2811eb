// SPDX-License-Identifier: Apache-2.0
// Messages as coefficients: no transform, the same rounding and reduction.
#include <math.h>

#include "core/ckks/encode.h"
#include "core/ckks/noise.h"

static hx_status_t check(const hx_encode_options_t *options, size_t count, uint32_t slots, hx_report_t *report) {
  if (options->period != 0)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT,
                          "a period is of slots; coefficients repeat by packing fewer of them (slots)");
  if (count == 0) return hx_report_fail(report, HX_CODE_LENGTH, "there are no coefficients; give 1 to %u", 2 * slots);
  if (count > 2 * (size_t)slots)
    return hx_report_fail(report, HX_CODE_LENGTH, "there are %zu coefficients for %u slots; give at most %u", count,
                          slots, 2 * slots);
  return HX_STATUS_OK;
}

// Mean power of a slot is the sum of squares, its peak at most the square of the sum of magnitudes.
static void note(hx_value_t *value, const double *values, size_t count, double magnitude) {
  double power = 0.0, sum = 0.0;
  for (size_t k = 0; k < count && !value->secret; ++k) {
    power += values[k] * values[k];
    sum += fabs(values[k]);
  }
  if (value->secret) power = magnitude > 0 && isfinite(magnitude) ? magnitude * magnitude : 1.0;
  hx_noise_of_encoding(value->params, value->type.slots, exp2(hx_value_scale_log2(value)), power,
                       value->secret ? power : sum * sum, value->tensor->storage->id, &value->noise);
}

static hx_status_t encode(const hx_rows_t *rows, const hx_encode_message_t *message, const hx_type_t *type,
                          hx_value_t **out, hx_report_t *report) {
  hx_packing_t packing;
  HX_TRY(hx_encode_packing(rows->params, type, type->slots, &packing, report));
  hx_interpolation_t interpolation;
  if (hx_encode_take(&packing, message->values, message->count, &interpolation) != HX_STATUS_OK)
    return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for encoding");
  const hx_status_t status = hx_encode_rounded(rows, type, &interpolation, message, out, report);
  hx_interpolation_deinit(&interpolation);
  return status;
}

hx_status_t hx_encode_coefficients(const hx_params_t *params, const double *values, size_t count,
                                   const hx_encode_options_t *options, hx_value_t **out, hx_report_t *report) {
  static const hx_encode_options_t defaults = {0};
  if (options == NULL) options = &defaults;
  hx_type_t type;
  HX_TRY(hx_encode_type(params, options, &type, report));
  HX_TRY(check(options, count, type.slots, report));
  HX_TRY(hx_encode_check_finite(values, count, false, report));
  hx_rows_t rows;
  HX_TRY(hx_rows_init(&rows, params, NULL, report));
  const hx_encode_message_t message = {.values = values, .count = count, .secret = options->secret};
  const hx_status_t status = encode(&rows, &message, &type, out, report);
  hx_rows_deinit(&rows);
  if (status != HX_STATUS_OK) return status;
  (*out)->count = type.slots;  // all slots carry something
  (*out)->is_complex = true;
  note(*out, values, count, options->magnitude);
  return HX_STATUS_OK;
}

static hx_status_t decode(const hx_rows_t *rows, const hx_value_t *plaintext, double *out_values, hx_report_t *report) {
  const size_t slots = plaintext->type.slots;
  hx_dd_t scale;
  HX_TRY(hx_scale_value(&plaintext->type.scale, hx_params_ring(plaintext->params), &scale.hi, &scale.lo, report));
  double *numbers = hx_alloc(6 * slots * sizeof *numbers);
  if (numbers == NULL) return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for decoding");
  const hx_fft_vector_t vector = {numbers, numbers + slots, numbers + 2 * slots, numbers + 3 * slots};
  double *pairs = numbers + 4 * slots;
  int32_t exponent = 0;
  hx_status_t status = hx_decode_fold(rows, plaintext, vector, &exponent, report);
  if (status == HX_STATUS_OK && !hx_decode_unfold(vector, slots, NULL, scale, exponent, pairs))
    status = hx_report_fail(report, HX_CODE_VALUE,
                            "a coefficient is too large for a double: the message is wrong, or its scale");
  for (size_t k = 0; k < slots && status == HX_STATUS_OK; ++k) {
    out_values[k] = pairs[2 * k];
    out_values[k + slots] = pairs[2 * k + 1];
  }
  hx_wipe(numbers, 6 * slots * sizeof *numbers);
  hx_free(numbers);
  return status;
}

hx_status_t hx_decode_coefficients(const hx_value_t *plaintext, double *out_values, hx_report_t *report) {
  HX_TRY(hx_value_want_data(plaintext, "ckks.decode gives numbers to the host", report));
  HX_TRY(hx_decode_check(plaintext, report));
  hx_rows_t rows;
  HX_TRY(hx_rows_init(&rows, plaintext->params, NULL, report));
  const hx_status_t status = decode(&rows, plaintext, out_values, report);
  hx_rows_deinit(&rows);
  return status;
}
