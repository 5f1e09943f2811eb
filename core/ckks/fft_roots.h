// SPDX-License-Identifier: Apache-2.0
// Inside of the encoding transform: its roots, level by level.
#ifndef HELIOX_CORE_CKKS_FFT_ROOTS_H
#define HELIOX_CORE_CKKS_FFT_ROOTS_H

#include "core/ckks/fft.h"

// Level with B blocks: block b, which is a polynomial modulo X^h - r^2, splits by r = exp(i pi (1 + 4 brv(b)) / 4B).
// It does not depend on n: a transform of n points uses the levels B = 1, 2, .. n/2.
typedef struct hx_fft_level {
  double *re, *im, *re_low, *im_low;  // [B] each, in numbers
  double numbers[];
} hx_fft_level_t;

// NULL before hx_fft_prepare.
const hx_fft_level_t *hx_fft_level(uint32_t log_blocks);

// Reversal of the low `bits` bits of x, bits <= 32.
static inline uint32_t hx_reverse_bits(uint32_t x, uint32_t bits) {
  if (bits == 0) return 0;
  x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
  x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
  x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
  return __builtin_bswap32(x) >> (32 - bits);
}

#endif
