// SPDX-License-Identifier: Apache-2.0
// hx_decode: exact coefficients to double-double, evaluation at the slots' roots, division by the scale.
//
// Coefficients may have any size, so they are brought to numbers below 1 first: with 2^B above the largest of those in
// the packing, the transform runs on m / 2^B cut to 120 bits, and 2^B comes back at the end. The cut costs at most
// 2 n 2^-120 of the largest coefficient, which is at most the largest slot times the scale. Messages below half the
// first prime, which is what encryption is used for, need no integers of many words.
#include <math.h>

#include "core/ckks/constant_time.h"
#include "core/ckks/encode.h"
#include "core/ckks/encode_kernels.h"

hx_status_t hx_decode_check_state(const hx_value_t *plaintext, hx_report_t *report) {
  const hx_type_t *type = &plaintext->type;
  if (type->kind != HX_TYPE_PLAINTEXT)
    return hx_report_fail(report, HX_CODE_TYPE,
                          "decode takes a plaintext; this value is a ciphertext: decrypt it first");
  if (type->repr != HX_STANDARD)
    return hx_report_fail(report, HX_CODE_DOMAIN, "decode takes standard residues; this plaintext is %s",
                          type->repr == HX_LAZY ? "lazy: reduce it first" : "in montgomery form: take it out first");
  if (type->basis != HX_BASIS_Q)
    return hx_report_fail(
        report, HX_CODE_PRIMES,
        "decode takes a plaintext on primes of Q; this one lies on P too (prepared for a weighted sum)");
  return HX_STATUS_OK;
}

hx_status_t hx_decode_check(const hx_value_t *plaintext, hx_report_t *report) {
  HX_TRY(hx_decode_check_state(plaintext, report));
  if (plaintext->type.batch_rank != 0)
    return hx_report_fail(report, HX_CODE_SHAPE, "decode takes one plaintext; this one is a batch: decode its items");
  if (plaintext->tensor->storage->address == NULL)
    return hx_report_fail(report, HX_CODE_DEVICE_MIX,
                          "decode reads host memory; transfer the plaintext first, or decode on the device "
                          "(hx_engine_decode_device)");
  return HX_STATUS_OK;
}

// Bits of the largest coefficient in the packing; without branches on the coefficients.
static uint32_t largest_bits(const hx_coefficients_t *m, size_t gap) {
  uint64_t bits = 0;
  for (uint32_t w = 0; w < m->words; ++w) {
    uint64_t any = 0;
    for (size_t k = 0; k < m->count; k += gap) any |= m->magnitude[(size_t)w * m->count + k];
    const uint64_t here = 64 * w + 64 - (uint64_t)__builtin_clzll(any | 1);
    bits = hx_select(hx_mask_equal(any, 0), bits, here);
  }
  return (uint32_t)bits;
}

// floor(magnitude / 2^shift), below 2^120, of coefficient k: every word is read, whatever the shift.
static hx_u128 window(const hx_coefficients_t *m, size_t k, uint32_t shift) {
  const uint32_t first = shift / 64, bits = shift % 64;
  uint64_t words[3] = {0};
  for (uint32_t w = 0; w < m->words; ++w) {
    const uint64_t word = m->magnitude[(size_t)w * m->count + k];
    for (uint32_t i = 0; i < 3; ++i) words[i] |= word & hx_mask_equal(w, first + i);
  }
  const uint32_t back = (64 - bits) & 63;
  const uint64_t crossing = ~hx_mask_equal(bits, 0);
  const uint64_t low = words[0] >> bits | (words[1] << back & crossing);
  const uint64_t high = words[1] >> bits | (words[2] << back & crossing);
  return (hx_u128)high << 64 | low;
}

// x / 2^120 with its sign; x below 2^120 as three exact places of 40 bits.
static hx_dd_t to_unit(hx_u128 x, uint64_t negative) {
  const uint64_t place = ((uint64_t)1 << 40) - 1;
  const double sign = 1.0 - 2.0 * (double)(int64_t)(negative & 1);
  const double high = sign * (double)(int64_t)((uint64_t)(x >> 80) & place) * 0x1p-40;
  const double middle = sign * (double)(int64_t)((uint64_t)(x >> 40) & place) * 0x1p-80;
  const double low = sign * (double)(int64_t)((uint64_t)x & place) * 0x1p-120;
  return hx_dd_add(hx_dd_fast_sum(high, middle), (hx_dd_t){low, 0.0});
}

// Coefficients k and k + n in one complex number; returns the exponent taken out.
static int32_t fold(const hx_coefficients_t *m, size_t slots, hx_fft_vector_t to) {
  const size_t gap = m->count / (2 * slots);
  const uint32_t bits = largest_bits(m, gap);
  const uint32_t shift = (bits - 120) & (uint32_t)hx_mask_less(120, bits);
  for (size_t k = 0; k < slots; ++k) {
    const size_t first = k * gap, second = (k + slots) * gap;
    const hx_dd_t re = to_unit(window(m, first, shift), m->negative[first]);
    const hx_dd_t im = to_unit(window(m, second, shift), m->negative[second]);
    to.re[k] = re.hi, to.re_low[k] = re.lo;
    to.im[k] = im.hi, to.im_low[k] = im.lo;
  }
  return (int32_t)shift + 120;
}

bool hx_decode_unfold(hx_fft_vector_t values, size_t count, const uint32_t *positions, hx_dd_t scale, int32_t exponent,
                      double *out_values) {
  const hx_encode_kernels_t *kernels = hx_encode_kernels();
  int scale_exponent;
  const double unit_hi = frexp(scale.hi, &scale_exponent);
  const hx_dd_t inverse = hx_dd_reciprocal((hx_dd_t){unit_hi, ldexp(scale.lo, -scale_exponent)});
  kernels->scale(values.re, values.re_low, count, inverse);
  kernels->scale(values.im, values.im_low, count, inverse);
  // Beyond these every number is 0 or infinite anyway.
  const int32_t wanted = exponent - scale_exponent, most = 4000;
  const int32_t power = wanted > most ? most : wanted, quarter = power / 4;
  const double part = hx_exp2_exact(quarter), last = hx_exp2_exact(power - 3 * quarter);
  double worst = 0.0;  // 0 * x is 0 for finite x, else NaN
  for (size_t j = 0; j < count; ++j) {
    const size_t p = positions != NULL ? positions[j] : j;
    out_values[2 * j] = values.re[p] * part * part * part * last;
    out_values[2 * j + 1] = values.im[p] * part * part * part * last;
    worst += 0.0 * out_values[2 * j] + 0.0 * out_values[2 * j + 1];
  }
  return !isnan(worst);
}

static hx_status_t refuse_overflow(const double *values, size_t slots, hx_report_t *report) {
  size_t index = 0;
  while (index < 2 * slots - 1 && isfinite(values[index])) ++index;
  return hx_report_fail(report, HX_CODE_VALUE, "slot %zu is too large for a double: the message is wrong, or its scale",
                        index / 2);
}

// The folded message of a plaintext of any size.
static hx_status_t fold_wide(const hx_rows_t *rows, const hx_value_t *plaintext, hx_fft_vector_t to,
                             int32_t *out_exponent, hx_report_t *report) {
  hx_coefficients_t coefficients;
  HX_TRY(hx_plaintext_coefficients_on(rows, plaintext, &coefficients, report));
  *out_exponent = fold(&coefficients, plaintext->type.slots, to);
  hx_coefficients_deinit(&coefficients);
  return HX_STATUS_OK;
}

// The folded message where it is narrow.
static void fold_narrow(const int64_t *words, uint32_t n, size_t slots, hx_fft_vector_t to, int32_t *out_exponent) {
  const hx_encode_kernels_t *kernels = hx_encode_kernels();
  const size_t gap = n / (2 * slots);
  kernels->widen(words, slots, gap, to.re, to.re_low);
  kernels->widen(words + slots * gap, slots, gap, to.im, to.im_low);
  *out_exponent = 62;
}

hx_status_t hx_decode_fold(const hx_rows_t *rows, const hx_value_t *plaintext, hx_fft_vector_t to,
                           int32_t *out_exponent, hx_report_t *report) {
  const uint32_t n = (uint32_t)1 << hx_params_log_n(plaintext->params);
  hx_row_session_t *session = hx_rows_open(rows, 2);
  if (session == NULL) return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for decoding");
  const bool is_narrow = hx_plaintext_words(session, plaintext);
  if (is_narrow) fold_narrow(hx_row_address(hx_row_scratch(session, 0)), n, plaintext->type.slots, to, out_exponent);
  if (hx_rows_close(session) != HX_STATUS_OK)
    return hx_report_fail(report, HX_CODE_PLUGIN_CALL, "decoding failed in arithmetic on its rows");
  return is_narrow ? HX_STATUS_OK : fold_wide(rows, plaintext, to, out_exponent, report);
}

hx_status_t hx_decode_on(const hx_rows_t *rows, const hx_value_t *plaintext, double *out_values, hx_report_t *report) {
  HX_TRY(hx_value_want_data(plaintext, "ckks.decode gives numbers to the host", report));
  HX_TRY(hx_decode_check(plaintext, report));
  const size_t slots = plaintext->type.slots;
  const uint32_t log_slots = (uint32_t)__builtin_ctz(plaintext->type.slots);
  hx_dd_t scale;
  HX_TRY(hx_scale_value(&plaintext->type.scale, hx_params_ring(plaintext->params), &scale.hi, &scale.lo, report));
  double *numbers = hx_alloc(4 * slots * sizeof *numbers);
  if (numbers == NULL || hx_fft_prepare(log_slots) != HX_STATUS_OK) {
    hx_free(numbers);
    return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for decoding");
  }
  const hx_fft_vector_t vector = {numbers, numbers + slots, numbers + 2 * slots, numbers + 3 * slots};
  int32_t exponent = 0;
  hx_status_t status = hx_decode_fold(rows, plaintext, vector, &exponent, report);
  if (status == HX_STATUS_OK) {
    hx_fft_evaluate(log_slots, vector);
    if (!hx_decode_unfold(vector, slots, hx_fft_positions(log_slots), scale, exponent, out_values)) {
      status = refuse_overflow(out_values, slots, report);
      hx_wipe(out_values, 2 * slots * sizeof *out_values);
    }
  }
  hx_wipe(numbers, 4 * slots * sizeof *numbers);
  hx_free(numbers);
  return status;
}

hx_status_t hx_decode(const hx_value_t *plaintext, double *out_values, hx_report_t *report) {
  hx_rows_t rows;
  HX_TRY(hx_rows_init(&rows, plaintext->params, NULL, report));
  const hx_status_t status = hx_decode_on(&rows, plaintext, out_values, report);
  hx_rows_deinit(&rows);
  return status;
}
