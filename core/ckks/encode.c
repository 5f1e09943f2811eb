// SPDX-License-Identifier: Apache-2.0
// hx_encode: checks, then slots to integers to residues to the ntt domain.
#include "core/ckks/encode.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/ckks/encode_round.h"
#include "core/ckks/ring_host.h"

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

static hx_status_t check_packing(const hx_params_t *params, size_t count, uint32_t slots, uint32_t depth,
                                 hx_report_t *report) {
  const uint32_t most = (uint32_t)1 << (hx_params_log_n(params) - 1);
  if (slots == 0 || slots > most || (slots & (slots - 1)) != 0)
    return hx_report_fail(report, HX_CODE_SLOTS, "slots is %u; it must be a power of two from 1 to N/2 = %u", slots,
                          most);
  if (depth > hx_params_max_depth(params))
    return hx_report_fail(report, HX_CODE_NO_DEPTH, "depth is %u; these parameters have depths 0 to %u", depth,
                          hx_params_max_depth(params));
  if (count == 0)
    return hx_report_fail(report, HX_CODE_LENGTH, "there are no values; encoding takes 1 to %u (the slots)", slots);
  if (count > slots)
    return hx_report_fail(report, HX_CODE_LENGTH, "there are %zu values for %u slots; give at most %u", count, slots,
                          slots);
  return HX_STATUS_OK;
}

// "value 3", or "the imaginary part of value 3".
static const char *part_name(size_t index, bool is_complex) {
  if (!is_complex) return "value";
  return index % 2 == 0 ? "the real part of value" : "the imaginary part of value";
}

static hx_status_t check_finite(const double *values, size_t count, bool is_complex, hx_report_t *report) {
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
static hx_status_t check_size(const hx_params_t *params, const hx_type_t *type, const hx_i128 *integers, uint32_t shift,
                              const double *values, size_t count, bool is_complex, hx_report_t *report) {
  hx_product_t modulus;
  const hx_primes_t active = hx_ring_active(hx_params_ring(params), type->depth);  // without P, also for weights
  hx_product_set_primes(&modulus, hx_params_ring(params), &active);
  // (Q_d - 1) / 2 is floor(Q_d / 2), as Q_d is odd.
  const hx_i128 limit = (hx_i128)hx_product_quotient(&modulus, shift + 1);
  hx_i128 outside = 0;  // negative as soon as one coefficient is
  for (size_t k = 0; k < 2 * (size_t)type->slots; ++k) outside |= (limit - integers[k]) | (limit + integers[k]);
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
                        coefficient * ((size_t)1 << (hx_params_log_n(params) - 1)) / type->slots, log2_coefficient,
                        hx_product_log2(&modulus) - 1.0, type->depth);
}

// The residues of one prime: M = high * 2^60 + low, |high| < 2^60, 0 <= low < 2^60.
static void fill_row(const hx_ref_ring *ring, uint32_t prime_id, const int64_t *low, const int64_t *high,
                     uint32_t shift, uint64_t *scratch, uint64_t *row) {
  hx_ref_row_center_lift_signed(ring, prime_id, high, scratch);
  hx_ref_row_mul_scalar(ring, prime_id, scratch, hx_ref_word_power(ring, prime_id, 2, 60), scratch);
  hx_ref_row_center_lift_signed(ring, prime_id, low, row);
  hx_ref_row_add(ring, prime_id, row, scratch, row);
  if (shift > 0) {
    const uint64_t factor = hx_ref_word_power(ring, prime_id, 2, shift);
    hx_ref_row_mul_scalar(ring, prime_id, row, factor, row);
  }
  hx_ref_ntt_forward(ring, prime_id, row);
}

hx_status_t hx_plaintext_from_integers(const hx_params_t *params, const hx_type_t *type, const hx_i128 *integers,
                                       uint32_t shift, bool secret, hx_value_t **out, hx_report_t *report) {
  const hx_ref_ring *ring = NULL;
  HX_TRY(hx_params_reference(params, &ring, report));
  const size_t slots = type->slots;
  if (slots == 0) return hx_report_fail(report, HX_CODE_SLOTS, "a plaintext of no slots");
  const uint32_t n = hx_ref_ring_degree(ring);
  uint64_t *block = hx_ring_rows_alloc(ring, 4);
  hx_value_t *value = NULL;
  if (block == NULL || hx_value_create(params, type, secret, &value) != HX_STATUS_OK) {
    hx_ring_rows_free(ring, block, 4);
    return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for a plaintext");
  }
  int64_t *low = (int64_t *)block, *high = low + n;
  uint64_t *scratch = block + 2 * (size_t)n, *row = scratch + n;
  const size_t gap = n / 2 / slots;
  for (size_t k = 0; k < 2 * slots; ++k) {
    low[k * gap] = (int64_t)(integers[k] & (((hx_i128)1 << 60) - 1));
    high[k * gap] = (int64_t)(integers[k] >> 60);  // arithmetic: rounds down
  }
  uint32_t ids[HX_PRIMES_MAX];
  const uint32_t limbs = hx_primes_list(&type->primes, ids);
  for (uint32_t l = 0; l < limbs; ++l) {
    fill_row(ring, ids[l], low, high, shift, scratch, row);
    hx_ring_store(ring, row, value->tensor, 0, 0, 0, l);
  }
  hx_ring_rows_free(ring, block, 4);
  hx_tensor_touch(value->tensor);
  *out = value;
  return HX_STATUS_OK;
}

static uint32_t log2_of(uint32_t power) { return (uint32_t)__builtin_ctz(power); }

static hx_status_t encode_type(const hx_params_t *params, const hx_type_t *type, const double *values, size_t count,
                               bool is_complex, bool secret, hx_value_t **out, hx_report_t *report) {
  hx_packing_t packing = {.log_slots = log2_of(type->slots)};
  HX_TRY(hx_scale_value(&type->scale, hx_params_ring(params), &packing.scale_hi, &packing.scale_lo, report));
  const size_t bytes = 2 * (size_t)type->slots * sizeof(hx_i128);
  hx_i128 *integers = hx_alloc(bytes);
  if (integers == NULL) return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for encoding");
  uint32_t shift = 0;
  hx_value_t *value = NULL;
  hx_status_t status = hx_encode_integers(&packing, values, count, is_complex, integers, &shift);
  if (status != HX_STATUS_OK) {
    status = hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for encoding");
  } else {
    status = check_size(params, type, integers, shift, values, count, is_complex, report);
  }
  if (status == HX_STATUS_OK)
    status = hx_plaintext_from_integers(params, type, integers, shift, secret, &value, report);
  hx_wipe(integers, bytes);
  hx_free(integers);
  if (status != HX_STATUS_OK) return status;
  value->count = count;
  value->is_complex = is_complex;
  *out = value;
  return HX_STATUS_OK;
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

hx_status_t hx_encode(const hx_params_t *params, const double *values, size_t count, bool complex_values,
                      const hx_encode_options_t *options, hx_value_t **out, hx_report_t *report) {
  const hx_encode_options_t defaults = {0};
  if (options == NULL) options = &defaults;
  const uint32_t slots = options->slots != 0 ? options->slots : (uint32_t)1 << (hx_params_log_n(params) - 1);
  HX_TRY(check_packing(params, count, slots, options->depth, report));
  HX_TRY(check_finite(values, count, complex_values, report));
  hx_scale_t scale;
  if (options->scale == NULL) {
    hx_scale_copy(&scale, hx_params_default_scale(params));
  } else {
    HX_TRY(hx_scale_parse(hx_str(options->scale), hx_params_ring(params), &scale, report));
  }
  hx_type_t type;
  hx_plaintext_type(params, options->depth, slots, &scale, &type);
  if (options->weighted) HX_TRY(extend_type(params, &type, report));
  HX_TRY(encode_type(params, &type, values, count, complex_values, options->secret, out, report));
  hx_value_note_message(*out, values, count, complex_values, options->magnitude);
  return HX_STATUS_OK;
}
