// SPDX-License-Identifier: Apache-2.0
// Double-double arithmetic: a number is hi + lo with |lo| <= ulp(hi) / 2, about 106 bits. Only IEEE additions and
// multiplications in a fixed order (the library is built with -ffp-contract=off), so results have the same bits
// with every compiler. No branch depends on a number. u is 2^-53 throughout.
//
// The algorithms are those of [JMP17]: AccurateDWPlusDW is replaced by its sloppy form, whose error is at most
// 4 u^2 (|a| + |b|): all bounds here are relative to sums of magnitudes, never to a cancelled result.
#ifndef HELIOX_CORE_CKKS_FFT_DD_H
#define HELIOX_CORE_CKKS_FFT_DD_H

#include <stdint.h>
#include <string.h>

typedef struct hx_dd {
  double hi, lo;
} hx_dd_t;

// 2^exponent, -1022 <= exponent <= 1023.
static inline double hx_exp2_exact(int32_t exponent) {
  const uint64_t bits = (uint64_t)(exponent + 1023) << 52;
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

// a + b exactly, |a| >= |b| or a == 0.
static inline hx_dd_t hx_dd_fast_sum(double a, double b) {
  const double sum = a + b;
  return (hx_dd_t){sum, b - (sum - a)};
}

// a + b exactly.
static inline hx_dd_t hx_dd_sum(double a, double b) {
  const double sum = a + b;
  const double part = sum - a;
  return (hx_dd_t){sum, (a - (sum - part)) + (b - part)};
}

// a * b exactly, |a| and |b| below 2^996 and the product's low bits above the subnormal range.
static inline hx_dd_t hx_dd_product(double a, double b) {
  const double a_scaled = 134217729.0 * a;  // 2^27 + 1
  const double a_high = a_scaled - (a_scaled - a);
  const double a_low = a - a_high;
  const double b_scaled = 134217729.0 * b;
  const double b_high = b_scaled - (b_scaled - b);
  const double b_low = b - b_high;
  const double product = a * b;
  const double error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
  return (hx_dd_t){product, error};
}

// Error at most 4 u^2 (|a| + |b|).
static inline hx_dd_t hx_dd_add(hx_dd_t a, hx_dd_t b) {
  const hx_dd_t sum = hx_dd_sum(a.hi, b.hi);
  return hx_dd_fast_sum(sum.hi, sum.lo + (a.lo + b.lo));
}

static inline hx_dd_t hx_dd_sub(hx_dd_t a, hx_dd_t b) { return hx_dd_add(a, (hx_dd_t){-b.hi, -b.lo}); }

// Error at most 5 u^2 |a b|.
static inline hx_dd_t hx_dd_mul(hx_dd_t a, hx_dd_t b) {
  const hx_dd_t product = hx_dd_product(a.hi, b.hi);
  return hx_dd_fast_sum(product.hi, product.lo + (a.hi * b.lo + a.lo * b.hi));
}

// Error at most 3 u^2 |a b|.
static inline hx_dd_t hx_dd_mul_double(hx_dd_t a, double b) {
  const hx_dd_t product = hx_dd_product(a.hi, b);
  return hx_dd_fast_sum(product.hi, product.lo + a.lo * b);
}

// Error at most 4 u^2 |a / b|: one correction of the quotient of doubles.
static inline hx_dd_t hx_dd_div_double(hx_dd_t a, double b) {
  const double quotient = a.hi / b;
  const hx_dd_t product = hx_dd_product(quotient, b);
  const double rest = ((a.hi - product.hi) - product.lo) + a.lo;
  return hx_dd_fast_sum(quotient, rest / b);
}

// 1 / b, error at most 10 u^2 / |b|: two corrections.
static inline hx_dd_t hx_dd_reciprocal(hx_dd_t b) {
  const double first = 1.0 / b.hi;
  const hx_dd_t rest = hx_dd_sub((hx_dd_t){1.0, 0.0}, hx_dd_mul_double(b, first));
  return hx_dd_add((hx_dd_t){first, 0.0}, hx_dd_mul_double(rest, first));
}

#endif
