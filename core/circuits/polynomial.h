// SPDX-License-Identifier: Apache-2.0
// Splitting of polynomials, shared by counting and evaluation.
//
// The powers y_i (y^i, or T_i(y)) that are small or powers of two are computed once; y_i lies ceil(log2 i) depths below
// y. A polynomial whose value is wanted `level` + 1 depths below y is a sum of constants times powers, taken at level
// `level` and rescaled, where its degree allows; else it splits at the largest power of two k up to its degree,
// p = q y_k + r with q and r of degree below k, and q is wanted at `level` [PS73]. A polynomial of degree below
// 2^(level + 1) always fits, so the depth is ceil(log2(degree + 1)).
#ifndef HELIOX_CORE_CIRCUITS_POLYNOMIAL_H
#define HELIOX_CORE_CIRCUITS_POLYNOMIAL_H

#include "heliox/circuits.h"

// Coefficients [0 .. degree], borrowed; degree 0 also for the zero polynomial.
typedef struct hx_poly {
  const double *c;
  uint32_t degree;
  bool is_chebyshev;
} hx_poly_t;

// What is computed: powers wanted, and how many of them are small enough for sums of constants.
typedef struct hx_poly_plan {
  uint32_t degree, level;  // level of the whole: ceil(log2(degree + 1)) - 1; degree is not 0
  uint32_t log_small;      // sums of constants use powers below 2^log_small
  bool *wanted;            // [degree + 1]
  uint32_t products, constants;
} hx_poly_plan_t;

static inline uint32_t hx_log2_ceil(uint32_t x) { return x <= 1 ? 0 : 32 - (uint32_t)__builtin_clz(x - 1); }
static inline uint32_t hx_power_below(uint32_t x) { return (uint32_t)1 << (31 - __builtin_clz(x)); }  // <= x, x > 0

// Degree without zeros at the end.
hx_poly_t hx_poly_of(const double *c, uint32_t count, bool is_chebyshev);
// True if p is a sum of constants times powers that exist at `level`.
bool hx_poly_is_leaf(const hx_poly_plan_t *plan, const hx_poly_t *p, uint32_t level);
// p = q y_k + r, k the largest power of two up to p's degree: q of p->degree - k + 1 coefficients, r of k. `room` holds
// p->degree + 1.
void hx_poly_split(const hx_poly_t *p, double *room, uint32_t *out_k, hx_poly_t *q, hx_poly_t *r);
// Powers that y_i is made of: y_a y_b, and T_(a-b) for Chebyshev where a != b.
void hx_power_parts(uint32_t i, uint32_t *out_a, uint32_t *out_b);

// The plan with fewest products. Freed by hx_poly_plan_deinit.
hx_status_t hx_poly_plan_init(const hx_poly_t *p, hx_poly_plan_t *out);
void hx_poly_plan_deinit(hx_poly_plan_t *plan);

#endif
