// SPDX-License-Identifier: Apache-2.0
// Double-double arithmetic for encoding: a number is hi + lo, |lo| <= ulp(hi) / 2, about 106 bits. For the device and
// for the host, which makes the tables with it. Operations and bounds are those of M. Joldes, J.-M. Muller, V. Popescu,
// Tight and rigorous error bounds for basic building blocks of double-word arithmetic, 2017; u is 2^-53. No branch
// depends on a number.
#ifndef HX_CUDA_KERNELS_DD_H
#define HX_CUDA_KERNELS_DD_H

#include "arith.h"

typedef struct hx_cuda_dd {
  double hi, lo;
} hx_cuda_dd_t;

typedef struct hx_cuda_complex {
  hx_cuda_dd_t re, im;
} hx_cuda_complex_t;

// Not contracted with a sum that follows.
HX_CUDA_FN double dd_rounded(double a, double b) {
#ifdef __CUDACC__
  return __dmul_rn(a, b);
#else
  return a * b;
#endif
}

HX_CUDA_FN hx_cuda_dd_t dd_make(double hi, double lo) {
  hx_cuda_dd_t out;
  out.hi = hi;
  out.lo = lo;
  return out;
}

// a + b exactly, |a| >= |b| or a == 0.
HX_CUDA_FN hx_cuda_dd_t dd_fast_sum(double a, double b) {
  const double sum = a + b;
  return dd_make(sum, b - (sum - a));
}

// a + b exactly.
HX_CUDA_FN hx_cuda_dd_t dd_sum(double a, double b) {
  const double sum = a + b, part = sum - a;
  return dd_make(sum, (a - (sum - part)) + (b - part));
}

// Error at most 4 u^2 (|a| + |b|).
HX_CUDA_FN hx_cuda_dd_t dd_add(hx_cuda_dd_t a, hx_cuda_dd_t b) {
  const hx_cuda_dd_t sum = dd_sum(a.hi, b.hi);
  return dd_fast_sum(sum.hi, sum.lo + (a.lo + b.lo));
}

HX_CUDA_FN hx_cuda_dd_t dd_negative(hx_cuda_dd_t a) { return dd_make(-a.hi, -a.lo); }
HX_CUDA_FN hx_cuda_dd_t dd_subtract(hx_cuda_dd_t a, hx_cuda_dd_t b) { return dd_add(a, dd_negative(b)); }

// Error at most 6 u^2 |a b|.
HX_CUDA_FN hx_cuda_dd_t dd_multiply(hx_cuda_dd_t a, hx_cuda_dd_t b) {
  const double product = dd_rounded(a.hi, b.hi);
  const double rest = real_fma(a.hi, b.hi, -product);
  return dd_fast_sum(product, rest + real_fma(a.hi, b.lo, dd_rounded(a.lo, b.hi)));
}

HX_CUDA_FN hx_cuda_dd_t dd_scaled(hx_cuda_dd_t a, double power_of_two) {
  return dd_make(dd_rounded(a.hi, power_of_two), dd_rounded(a.lo, power_of_two));
}

HX_CUDA_FN hx_cuda_complex_t complex_add(hx_cuda_complex_t a, hx_cuda_complex_t b) {
  hx_cuda_complex_t out;
  out.re = dd_add(a.re, b.re);
  out.im = dd_add(a.im, b.im);
  return out;
}

HX_CUDA_FN hx_cuda_complex_t complex_subtract(hx_cuda_complex_t a, hx_cuda_complex_t b) {
  hx_cuda_complex_t out;
  out.re = dd_subtract(a.re, b.re);
  out.im = dd_subtract(a.im, b.im);
  return out;
}

HX_CUDA_FN hx_cuda_complex_t complex_multiply(hx_cuda_complex_t a, hx_cuda_complex_t b) {
  hx_cuda_complex_t out;
  out.re = dd_subtract(dd_multiply(a.re, b.re), dd_multiply(a.im, b.im));
  out.im = dd_add(dd_multiply(a.re, b.im), dd_multiply(a.im, b.re));
  return out;
}

HX_CUDA_FN hx_cuda_complex_t complex_conjugate(hx_cuda_complex_t a) {
  a.im = dd_negative(a.im);
  return a;
}

// The nearest integer to v, |v| < 2^96, as the sum of two doubles that are integers, the second below 2^44.
HX_CUDA_FN hx_cuda_dd_t dd_nearest(hx_cuda_dd_t v) {
  const double high = rint(v.hi);
  const hx_cuda_dd_t left = dd_sum(v.hi - high, v.lo);
  const double low = rint(left.hi), rest = left.hi - low;  // exact; at a half the low part decides
  const double up = (rest - 0.5) + left.lo > 0 ? 1.0 : 0.0, down = (rest + 0.5) + left.lo < 0 ? 1.0 : 0.0;
  return dd_make(high, low + (up - down));
}

// x mod q of an integer |x| < 2^63.
HX_CUDA_FN uint64_t mod_signed(int64_t x, const hx_cuda_prime_t *p) {
  const uint64_t word = (uint64_t)x, sign = 0 - (word >> 63), size = (word ^ sign) - sign;
  const uint64_t r = mod_once(mod_word(size, p->ratio, p->q), p->q), negative = mod_once(p->q - r, p->q);
  return (r & ~sign) | (negative & sign);
}

// The residue of such a sum: hi is split at 2^48 into exact parts, both below 2^48.
HX_CUDA_FN uint64_t mod_integer(hx_cuda_dd_t v, const hx_cuda_prime_t *p) {
  const double upper = floor(v.hi * 0x1p-48), lower = real_fma(upper, -0x1p48, v.hi);
  const uint64_t radix = mod_once(mod_word((uint64_t)1 << 48, p->ratio, p->q), p->q);
  const uint64_t high = mod_mul(mod_signed((int64_t)upper, p), radix, p);
  return mod_once(high + mod_signed((int64_t)(lower + v.lo), p), p->q);
}

#endif
