// SPDX-License-Identifier: Apache-2.0
// Inside of encoding: slots to integers. Values become integers M * 2^shift, |M| < 2^120; shift is 0 unless scale
// times the largest value reaches 2^117, so in practice always.
//
// What depends on the values: arithmetic only, and two numbers that may show: `shift`, and whether the integers are
// narrow (below 2^61), which says no more than the order of magnitude of scale times the largest value. No other
// branch, no address.
#ifndef HELIOX_CORE_CKKS_ENCODE_ROUND_H
#define HELIOX_CORE_CKKS_ENCODE_ROUND_H

#include "core/ckks/encode_big.h"
#include "core/ckks/fft.h"

// Scale and packing of one message. scale_hi is positive and finite.
typedef struct hx_packing {
  uint32_t log_slots;
  double scale_hi, scale_lo;
} hx_packing_t;

// out_integers: [2 * slots], coefficient k * gap is out_integers[k] * 2^*out_shift, each within
// 1/2 + scale * max|z| * 2^-47 of the exact value (2^-96 where scale is above 2^52).
// values: count doubles, or count pairs (re, im); finite, 1 <= count <= slots.
hx_status_t hx_encode_integers(const hx_packing_t *packing, const double *values, size_t count, bool is_complex,
                               hx_i128 *out_integers, uint32_t *out_shift);

// Values interpolated, not yet rounded: coefficient k is c[k] times scale and a power of two.
typedef struct hx_interpolation {
  const hx_packing_t *packing;  // borrowed
  size_t slots;
  double *numbers;  // behind c; wiped
  hx_fft_vector_t c;
  int32_t exponent;  // taken out of the values
  int32_t spread;    // log2 of what the coefficients are still to be divided by
  int32_t bits;      // all coefficients stay below 2^bits
  bool is_narrow;    // all coefficients stay below 2^61
} hx_interpolation_t;

// values as in hx_encode_integers, which is the three calls below.
hx_status_t hx_encode_interpolate(const hx_packing_t *packing, const double *values, size_t count, bool is_complex,
                                  hx_interpolation_t *out);
// The values themselves as coefficients k and k + slots, k < slots; real, 1 <= count <= 2 * slots.
hx_status_t hx_encode_take(const hx_packing_t *packing, const double *values, size_t count, hx_interpolation_t *out);
void hx_interpolation_deinit(hx_interpolation_t *interpolation);
void hx_encode_wide(const hx_interpolation_t *interpolation, hx_i128 *out_integers, uint32_t *out_shift);
// The same integers as words; where is_narrow. out_words: [2 * slots]
void hx_encode_narrow(const hx_interpolation_t *interpolation, int64_t *out_words);

// Nearest integer to v, ties to even, |v| < 2^120, |v.lo| <= 2^-53 |v.hi|.
hx_i128 hx_encode_nearest(hx_dd_t v);

#endif
