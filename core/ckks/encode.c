// SPDX-License-Identifier: Apache-2.0
// hx_encode: checks, then slots to integers to residues to the ntt domain.
#include "core/ckks/encode.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/ckks/encode_round.h"

void hx_plaintext_type(const hx_params_t *params, uint32_t depth, uint32_t slots, const hx_scale_t *scale,
                       hx_type_t *out) {
  hx_type_init(out, HX_TYPE_PLAINTEXT);
  out->known = HX_KNOWN_CIPHERTEXT;  // every part that a plaintext has
  out->basis = HX_BASIS_Q;
  out->domain = HX_NTT;
  out->repr = HX_STANDARD;
  out->components = 1;
  out->depth = depth;
  out->slots = slots;
  out->primes = hx_ring_active(hx_params_ring(params), depth);
  hx_scale_copy(&out->scale, scale);
}

static hx_status_t check_packing(const hx_params_t *params, uint32_t slots, uint32_t depth, hx_report_t *report) {
  const uint32_t most = (uint32_t)1 << (hx_params_log_n(params) - 1);
  if (slots == 0 || slots > most || (slots & (slots - 1)) != 0)
    return hx_report_fail(report, HX_CODE_SLOTS, "slots is %u; it must be a power of two from 1 to N/2 = %u", slots,
                          most);
  if (depth > hx_params_max_depth(params))
    return hx_report_fail(report, HX_CODE_NO_DEPTH, "depth is %u; these parameters have depths 0 to %u", depth,
                          hx_params_max_depth(params));
  return HX_STATUS_OK;
}

// "value 3", or "the imaginary part of value 3".
static const char *part_name(size_t index, bool is_complex) {
  if (!is_complex) return "value";
  return index % 2 == 0 ? "the real part of value" : "the imaginary part of value";
}

hx_status_t hx_encode_check_finite(const double *values, size_t count, bool is_complex, hx_report_t *report) {
  const size_t numbers = is_complex ? 2 * count : count;
  for (size_t i = 0; i < numbers; ++i) {
    if (isfinite(values[i])) continue;
    const char *found = isnan(values[i]) ? "NaN" : values[i] > 0 ? "+infinity" : "-infinity";
    return hx_report_fail(report, HX_CODE_VALUE, "%s %zu is %s; values must be finite", part_name(i, is_complex),
                          is_complex ? i / 2 : i, found);
  }
  return HX_STATUS_OK;
}

// The shortest text that reads back as the number.
static const char *number_text(double number, char text[32]) {
  for (int digits = 15; digits <= 17; ++digits) {
    snprintf(text, 32, "%.*g", digits, number);
    if (strtod(text, NULL) == number) break;
  }
  return text;
}

// |M| <= floor((Q_d - 1) / 2 / 2^shift) for every coefficient, which says |M * 2^shift| <= (Q_d - 1) / 2.
static hx_status_t check_size(const hx_params_t *params, const hx_type_t *type, size_t slots, const hx_i128 *integers,
                              uint32_t shift, const hx_encode_message_t *message, hx_report_t *report) {
  const double *values = message->values;
  const size_t count = message->count;
  const bool is_complex = message->is_complex;
  hx_product_t modulus;
  const hx_primes_t active = hx_ring_active(hx_params_ring(params), type->depth);  // without P, also for weights
  hx_product_set_primes(&modulus, hx_params_ring(params), &active);
  // (Q_d - 1) / 2 is floor(Q_d / 2), as Q_d is odd.
  const hx_i128 limit = (hx_i128)hx_product_quotient(&modulus, shift + 1);
  hx_i128 outside = 0;  // negative as soon as one coefficient is
  for (size_t k = 0; k < 2 * slots; ++k) outside |= (limit - integers[k]) | (limit + integers[k]);
  if (outside >= 0) return HX_STATUS_OK;

  size_t largest = 0, coefficient = 0;
  for (size_t i = 1; i < (is_complex ? 2 * count : count); ++i)
    if (fabs(values[i]) > fabs(values[largest])) largest = i;
  while (limit - integers[coefficient] >= 0 && limit + integers[coefficient] >= 0) ++coefficient;
  char text[32];
  const double log2_coefficient = log2(fabs((double)integers[coefficient])) + shift;
  return hx_report_fail(report, HX_CODE_VALUE,
                        "%s %zu is %s, too large: at scale 2^%.2f coefficient %zu of the message is 2^%.2f, above "
                        "(Q_d - 1) / 2 = 2^%.2f at depth %u; give smaller values, a smaller scale or a smaller depth",
                        part_name(largest, is_complex), is_complex ? largest / 2 : largest,
                        number_text(values[largest], text), hx_scale_log2(&type->scale, hx_params_ring(params)),
                        coefficient * ((size_t)1 << (hx_params_log_n(params) - 1)) / slots, log2_coefficient,
                        hx_product_log2(&modulus) - 1.0, type->depth);
}

bool hx_encode_is_small(const hx_params_t *params, const hx_type_t *type, double mean) {
  hx_product_t modulus;
  const hx_primes_t active = hx_ring_active(hx_params_ring(params), type->depth);
  hx_product_set_primes(&modulus, hx_params_ring(params), &active);
  // One bit less than (Q_d - 1) / 2: for what logarithms and the rounding of coefficients lose.
  return isfinite(mean) && (!(mean > 0) || log2(mean) + hx_scale_log2(&type->scale, hx_params_ring(params)) <
                                               hx_product_log2(&modulus) - 2.0);
}

// Coefficients in two signed rows: M = high * 2^60 + low, |high| < 2^60, 0 <= low < 2^60; or low alone.
typedef struct words {
  hx_row_t low, high, scratch;
  bool is_wide;
  uint32_t shift;
} words_t;

// The residues of one prime.
static void fill_row(hx_row_session_t *session, const hx_ref_ring *ring, uint32_t id, const words_t *words,
                     hx_row_t row) {
  hx_row_lift_signed(session, id, words->low, row);
  if (words->is_wide) {
    hx_row_lift_signed(session, id, words->high, words->scratch);
    hx_row_mul_scalar(session, id, words->scratch, hx_ref_word_power(ring, id, 2, 60), words->scratch);
    hx_row_add(session, id, row, words->scratch, row);
    if (words->shift > 0) hx_row_mul_scalar(session, id, row, hx_ref_word_power(ring, id, 2, words->shift), row);
  }
  hx_row_forward(session, id, row, row);
}

static hx_status_t no_plaintext(hx_report_t *report) {
  return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for a plaintext");
}

// A plaintext from rows of words; ends the session.
static hx_status_t fill_plaintext(const hx_rows_t *rows, hx_row_session_t *session, const words_t *words,
                                  const hx_type_t *type, bool secret, hx_value_t **out, hx_report_t *report) {
  hx_value_t *value = NULL;
  if (hx_value_create_unset(rows->params, type, secret, &value) != HX_STATUS_OK) {
    (void)hx_rows_close(session);
    return no_plaintext(report);
  }
  uint32_t ids[HX_PRIMES_MAX];
  const uint32_t limbs = hx_primes_list(&type->primes, ids);
  for (uint32_t l = 0; l < limbs; ++l)
    fill_row(session, rows->reference, ids[l], words, hx_row_of(value->tensor, 0, 0, 0, l));
  const hx_status_t status = hx_rows_close(session);
  if (status != HX_STATUS_OK) {
    hx_value_release(value);
    return status == HX_STATUS_OUT_OF_MEMORY
               ? no_plaintext(report)
               : hx_report_fail(report, HX_CODE_PLUGIN_CALL,
                                "the backend ended the reduction of a plaintext with status %s",
                                hx_status_name(status));
  }
  hx_tensor_touch(value->tensor);
  *out = value;
  return HX_STATUS_OK;
}

static hx_status_t from_wide(const hx_rows_t *rows, const hx_type_t *type, size_t slots, const hx_i128 *integers,
                             uint32_t shift, bool secret, hx_value_t **out, hx_report_t *report) {
  const size_t n = (size_t)1 << hx_params_log_n(rows->params), gap = n / 2 / slots;
  hx_row_session_t *session = hx_rows_open(rows, 3);
  if (session == NULL) return no_plaintext(report);
  const words_t words = {.low = hx_row_scratch(session, 0),
                         .high = hx_row_scratch(session, 1),
                         .scratch = hx_row_scratch(session, 2),
                         .is_wide = true,
                         .shift = shift};
  int64_t *low = hx_row_address(words.low), *high = hx_row_address(words.high);
  memset(low, 0, n * sizeof *low);
  memset(high, 0, n * sizeof *high);
  for (size_t k = 0; k < 2 * slots; ++k) {
    low[k * gap] = (int64_t)(integers[k] & (((hx_i128)1 << 60) - 1));
    high[k * gap] = (int64_t)(integers[k] >> 60);  // arithmetic: rounds down
  }
  return fill_plaintext(rows, session, &words, type, secret, out, report);
}

hx_status_t hx_plaintext_from_integers(const hx_params_t *params, const hx_type_t *type, const hx_i128 *integers,
                                       uint32_t shift, bool secret, hx_value_t **out, hx_report_t *report) {
  if (type->slots == 0) return hx_report_fail(report, HX_CODE_SLOTS, "a plaintext of no slots");
  hx_rows_t rows;
  HX_TRY(hx_rows_init(&rows, params, NULL, report));
  const hx_status_t status = from_wide(&rows, type, type->slots, integers, shift, secret, out, report);
  hx_rows_deinit(&rows);
  return status;
}

static hx_status_t encode_wide(const hx_rows_t *rows, const hx_type_t *type, const hx_interpolation_t *interpolation,
                               const hx_encode_message_t *message, hx_value_t **out, hx_report_t *report) {
  const size_t slots = interpolation->slots, bytes = 2 * slots * sizeof(hx_i128);
  hx_i128 *integers = hx_alloc(bytes);
  if (integers == NULL) return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for encoding");
  uint32_t shift = 0;
  hx_encode_wide(interpolation, integers, &shift);
  hx_status_t status = check_size(rows->params, type, slots, integers, shift, message, report);
  if (status == HX_STATUS_OK) status = from_wide(rows, type, slots, integers, shift, message->secret, out, report);
  hx_wipe(integers, bytes);
  hx_free(integers);
  return status;
}

// Whether all words are within (Q_d - 1) / 2.
static bool are_within(const hx_params_t *params, const hx_type_t *type, const int64_t *words, size_t count) {
  hx_product_t modulus;
  const hx_primes_t active = hx_ring_active(hx_params_ring(params), type->depth);
  hx_product_set_primes(&modulus, hx_params_ring(params), &active);
  const hx_u128 half = hx_product_quotient(&modulus, 1);
  if (half >= (hx_u128)1 << 61) return true;  // narrow words are below
  int64_t outside = 0;
  for (size_t k = 0; k < count; ++k) outside |= ((int64_t)half - words[k]) | ((int64_t)half + words[k]);
  return outside >= 0;
}

// Coefficients that fit words.
static hx_status_t encode_narrow(const hx_rows_t *rows, const hx_type_t *type, const hx_interpolation_t *interpolation,
                                 const hx_encode_message_t *message, hx_value_t **out, hx_report_t *report) {
  const size_t count = 2 * interpolation->slots, n = (size_t)1 << hx_params_log_n(rows->params), gap = n / count;
  hx_row_session_t *session = hx_rows_open(rows, 2);
  if (session == NULL) return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for encoding");
  const words_t words = {.low = hx_row_scratch(session, gap == 1 ? 0 : 1)};
  int64_t *packed = hx_row_address(hx_row_scratch(session, 0)), *spread = hx_row_address(words.low);
  hx_encode_narrow(interpolation, packed);
  if (!are_within(rows->params, type, packed, count)) {
    (void)hx_rows_close(session);
    return encode_wide(rows, type, interpolation, message, out, report);  // which says what is wrong
  }
  if (gap > 1) {
    memset(spread, 0, n * sizeof *spread);
    for (size_t k = 0; k < count; ++k) spread[k * gap] = packed[k];
  }
  return fill_plaintext(rows, session, &words, type, message->secret, out, report);
}

hx_status_t hx_encode_rounded(const hx_rows_t *rows, const hx_type_t *type, const hx_interpolation_t *interpolation,
                              const hx_encode_message_t *message, hx_value_t **out, hx_report_t *report) {
  hx_value_t *value = NULL;
  if (interpolation->is_narrow) {
    HX_TRY(encode_narrow(rows, type, interpolation, message, &value, report));
  } else {
    HX_TRY(encode_wide(rows, type, interpolation, message, &value, report));
  }
  value->count = message->count;
  value->is_complex = message->is_complex;
  *out = value;
  return HX_STATUS_OK;
}

hx_status_t hx_encode_packing(const hx_params_t *params, const hx_type_t *type, uint32_t slots, hx_packing_t *out,
                              hx_report_t *report) {
  out->log_slots = (uint32_t)__builtin_ctz(slots);
  return hx_scale_value(&type->scale, hx_params_ring(params), &out->scale_hi, &out->scale_lo, report);
}

// The message fills `slots` slots, and again and again all those of the type.
static hx_status_t encode_type(const hx_rows_t *rows, const hx_type_t *type, uint32_t slots,
                               const hx_encode_message_t *message, hx_value_t **out, hx_report_t *report) {
  hx_packing_t packing;
  HX_TRY(hx_encode_packing(rows->params, type, slots, &packing, report));
  hx_interpolation_t interpolation;
  if (hx_encode_interpolate(&packing, message->values, message->count, message->is_complex, &interpolation) !=
      HX_STATUS_OK)
    return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for encoding");
  const hx_status_t status = hx_encode_rounded(rows, type, &interpolation, message, out, report);
  hx_interpolation_deinit(&interpolation);
  return status;
}

// Q and P.
static hx_status_t extend_type(const hx_params_t *params, hx_type_t *type, hx_report_t *report) {
  if (hx_params_p_count(params) == 0)
    return hx_report_fail(report, HX_CODE_PRIMES,
                          "weights lie on Q and P, and these parameters have no special primes; leave `weighted` out");
  const hx_primes_t special = hx_ring_special(hx_params_ring(params));
  for (size_t i = 0; i < HX_COUNT_OF(special.bits); ++i) type->primes.bits[i] |= special.bits[i];
  type->basis = HX_BASIS_QP;
  return HX_STATUS_OK;
}

hx_status_t hx_encode_type(const hx_params_t *params, const hx_encode_options_t *options, hx_type_t *out,
                           hx_report_t *report) {
  const uint32_t most = (uint32_t)1 << (hx_params_log_n(params) - 1);
  const uint32_t slots = options->slots != 0 ? options->slots : most;
  HX_TRY(check_packing(params, slots, options->depth, report));
  hx_scale_t scale;
  if (options->scale == NULL) {
    hx_scale_copy(&scale, hx_params_default_scale(params));
  } else {
    HX_TRY(hx_scale_parse(hx_str(options->scale), hx_params_ring(params), &scale, report));
  }
  hx_plaintext_type(params, options->depth, slots, &scale, out);
  return options->weighted ? extend_type(params, out, report) : HX_STATUS_OK;
}

hx_status_t hx_encode_check_period(const hx_encode_options_t *options, uint32_t slots, size_t count, uint32_t *out,
                                   hx_report_t *report) {
  const uint32_t period = options->period != 0 ? options->period : slots;
  if ((period & (period - 1)) != 0 || period > slots)
    return hx_report_fail(report, HX_CODE_SLOTS, "the period is %u; it must be a power of two from 1 to the slots, %u",
                          period, slots);
  if (count == 0)
    return hx_report_fail(report, HX_CODE_LENGTH, "there are no values; encoding takes 1 to %u (the %s)", period,
                          options->period != 0 ? "period" : "slots");
  if (count > period)
    return hx_report_fail(report, HX_CODE_LENGTH, "there are %zu values for %u slots%s; give at most %u", count, period,
                          options->period != 0 ? " of a period" : "", period);
  *out = period;
  return HX_STATUS_OK;
}

hx_status_t hx_encode_on(const hx_rows_t *rows, const double *values, size_t count, bool complex_values,
                         const hx_encode_options_t *options, hx_value_t **out, hx_report_t *report) {
  static const hx_encode_options_t defaults = {0};
  if (options == NULL) options = &defaults;
  hx_type_t type;
  uint32_t period = 0;
  HX_TRY(hx_encode_type(rows->params, options, &type, report));
  HX_TRY(hx_encode_check_period(options, type.slots, count, &period, report));
  HX_TRY(hx_encode_check_finite(values, count, complex_values, report));
  const hx_encode_message_t message = {
      .values = values, .count = count, .is_complex = complex_values, .secret = options->secret};
  HX_TRY(encode_type(rows, &type, period, &message, out, report));
  hx_value_note_message(*out, values, count, complex_values, period, options->magnitude);
  if (options->period != 0) (*out)->count = type.slots;  // every slot has a value of the message
  return HX_STATUS_OK;
}

hx_status_t hx_encode(const hx_params_t *params, const double *values, size_t count, bool complex_values,
                      const hx_encode_options_t *options, hx_value_t **out, hx_report_t *report) {
  hx_rows_t rows;
  HX_TRY(hx_rows_init(&rows, params, NULL, report));
  const hx_status_t status = hx_encode_on(&rows, values, count, complex_values, options, out, report);
  hx_rows_deinit(&rows);
  return status;
}
