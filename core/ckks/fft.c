// SPDX-License-Identifier: Apache-2.0
// Halving transforms modulo X^n - i, in doubles and in double-double.
#include "core/ckks/encode_kernels.h"
#include "core/ckks/fft_roots.h"

void hx_fft_slot_positions(uint32_t log_slots, uint32_t *out_positions) {
  const uint32_t slots = (uint32_t)1 << log_slots;
  uint32_t exponent = 1;  // 5^j mod 4n, always 1 mod 4
  for (uint32_t j = 0; j < slots; ++j) {
    out_positions[j] = hx_reverse_bits(exponent / 4, log_slots);
    exponent = exponent * 5 & (4 * slots - 1);
  }
}

void hx_fft_evaluate_double(uint32_t log_slots, hx_fft_vector_t values) {
  hx_encode_kernels()->evaluate_double(log_slots, values);
}

void hx_fft_interpolate_double(uint32_t log_slots, hx_fft_vector_t values) {
  hx_encode_kernels()->interpolate_double(log_slots, values);
}

void hx_fft_evaluate(uint32_t log_slots, hx_fft_vector_t values) { hx_encode_kernels()->evaluate(log_slots, values); }

void hx_fft_interpolate(uint32_t log_slots, hx_fft_vector_t values) {
  hx_encode_kernels()->interpolate(log_slots, values);
}

// ------------------------------------------------------------------ double-double, number by number

typedef struct block {
  double *restrict re, *restrict im, *restrict re_low, *restrict im_low;
} block_t;

static block_t block_at(hx_fft_vector_t values, size_t first) {
  return (block_t){values.re + first, values.im + first, values.re_low + first, values.im_low + first};
}

void hx_fft_evaluate_small(uint32_t log_slots, hx_fft_vector_t values) {
  for (uint32_t log_blocks = 0; log_blocks < log_slots; ++log_blocks) {
    const hx_fft_level_t *roots = hx_fft_level(log_blocks);
    const uint32_t half = (uint32_t)1 << (log_slots - log_blocks - 1);
    for (uint32_t b = 0; b < (uint32_t)1 << log_blocks; ++b) {
      const block_t low = block_at(values, 2 * (size_t)b * half), high = block_at(values, (2 * (size_t)b + 1) * half);
      const hx_dd_t c = {roots->re[b], roots->re_low[b]}, s = {roots->im[b], roots->im_low[b]};
      for (uint32_t k = 0; k < half; ++k) {
        const hx_dd_t re = {high.re[k], high.re_low[k]}, im = {high.im[k], high.im_low[k]};
        const hx_dd_t first_re = {low.re[k], low.re_low[k]}, first_im = {low.im[k], low.im_low[k]};
        const hx_dd_t x = hx_dd_sub(hx_dd_mul(re, c), hx_dd_mul(im, s));
        const hx_dd_t y = hx_dd_add(hx_dd_mul(re, s), hx_dd_mul(im, c));
        const hx_dd_t sum_re = hx_dd_add(first_re, x), sum_im = hx_dd_add(first_im, y);
        const hx_dd_t rest_re = hx_dd_sub(first_re, x), rest_im = hx_dd_sub(first_im, y);
        low.re[k] = sum_re.hi, low.re_low[k] = sum_re.lo;
        low.im[k] = sum_im.hi, low.im_low[k] = sum_im.lo;
        high.re[k] = rest_re.hi, high.re_low[k] = rest_re.lo;
        high.im[k] = rest_im.hi, high.im_low[k] = rest_im.lo;
      }
    }
  }
}

void hx_fft_interpolate_small(uint32_t log_slots, hx_fft_vector_t values) {
  for (uint32_t log_blocks = log_slots; log_blocks-- > 0;) {
    const hx_fft_level_t *roots = hx_fft_level(log_blocks);
    const uint32_t half = (uint32_t)1 << (log_slots - log_blocks - 1);
    for (uint32_t b = 0; b < (uint32_t)1 << log_blocks; ++b) {
      const block_t low = block_at(values, 2 * (size_t)b * half), high = block_at(values, (2 * (size_t)b + 1) * half);
      const hx_dd_t c = {roots->re[b], roots->re_low[b]}, s = {roots->im[b], roots->im_low[b]};
      for (uint32_t k = 0; k < half; ++k) {
        const hx_dd_t re = {high.re[k], high.re_low[k]}, im = {high.im[k], high.im_low[k]};
        const hx_dd_t first_re = {low.re[k], low.re_low[k]}, first_im = {low.im[k], low.im_low[k]};
        const hx_dd_t sum_re = hx_dd_add(first_re, re), sum_im = hx_dd_add(first_im, im);
        const hx_dd_t x = hx_dd_sub(first_re, re), y = hx_dd_sub(first_im, im);
        const hx_dd_t rest_re = hx_dd_add(hx_dd_mul(x, c), hx_dd_mul(y, s));  // times the conjugate
        const hx_dd_t rest_im = hx_dd_sub(hx_dd_mul(y, c), hx_dd_mul(x, s));
        low.re[k] = sum_re.hi, low.re_low[k] = sum_re.lo;
        low.im[k] = sum_im.hi, low.im_low[k] = sum_im.lo;
        high.re[k] = rest_re.hi, high.re_low[k] = rest_re.lo;
        high.im[k] = rest_im.hi, high.im_low[k] = rest_im.lo;
      }
    }
  }
}
