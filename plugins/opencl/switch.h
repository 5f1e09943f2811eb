// SPDX-License-Identifier: Apache-2.0
// Key switching as steps, ntt domain to ntt domain: what relinearizations and rotations are made of.
//
//   y       = the digits' coefficients, times (D_j/d)^-1 and centred      one inverse transform
//   raised  = their conversion to all other primes, in ntt domain         conversion, forward transform
//   acc     = sum over digits of raised (or own) rows times the key       one kernel
//   result  = acc / P, nearest, plus what is added                        inverse of P's rows, conversion, forward
//
// Where raised rows are used once and all primes take the real path, the kernel of the products does their last pass.
// A rescale that follows is part of the last step: P's rows and the dropped one leave ntt domain together, and each
// kept row is transformed once.
//
// A queue runs steps in order, so the scratch rows of one switch serve those that follow.
#ifndef HX_OPENCL_SWITCH_H
#define HX_OPENCL_SWITCH_H

#include "base.h"

typedef struct hx_opencl_switch {
  uint32_t items, active, extended, digits, run;
  uint32_t *ids;            // [extended]: Q_d, P
  hxs_base *raise;          // [digits]
  hxs_base lower;           // division by P
  hx_opencl_rows_t y;       // [items][active]
  hx_opencl_rows_t raised;  // [items][digits][extended]; a digit's own rows are not written
  hx_opencl_rows_t acc;     // [items][extended][2]
  bool last_pass;           // raised rows still lack the last pass of their transforms
} hx_opencl_switch_t;

// Constants and scratch rows for polynomials on the first `active` primes; refuses a ring without P.
int32_t hx_opencl_switch_begin(hxs_build *build, uint64_t items, uint32_t active, hx_opencl_switch_t *out);
// Refuses what is no key for it.
int32_t hx_opencl_switch_key(const hxs_build *build, const hx_opencl_switch_t *s, const hxs_view *key);
// Fills y and raised from rows x, [items][active]. once: one call of hx_opencl_switch_products follows, not several.
int32_t hx_opencl_switch_raise(const hxs_build *build, hx_opencl_switch_t *s, const hx_opencl_rows_t *x, bool once);
// Fills acc from raised, the same x, and a key.
int32_t hx_opencl_switch_products(const hxs_build *build, const hx_opencl_switch_t *s, const hx_opencl_rows_t *x,
                                  const hxs_view *key);
// The rows of `acc`-like rows of one component, or of both, of the first `active` or of all rows:
// [items][component][row].
int32_t hx_opencl_switch_pick(const hxs_build *build, const hx_opencl_switch_t *s, const hx_opencl_rows_t *acc,
                              uint32_t first_row, uint32_t rows, uint32_t components, hx_opencl_rows_t *out);
// out, [items][2][active]: acc / P plus add (NULL: nothing; rows may be HX_OPENCL_NO_ROW), under X -> X^element.
int32_t hx_opencl_switch_lower(const hxs_build *build, const hx_opencl_switch_t *s, const hx_opencl_rows_t *acc,
                               const hx_opencl_rows_t *add, uint32_t element, const hx_opencl_rows_t *out);
// The same and then a division by the last active row, nearest, which is a depth group of its own: add has a row
// everywhere, out is [items][2][active - 1].
int32_t hx_opencl_switch_lower_rescaled(const hxs_build *build, const hx_opencl_switch_t *s,
                                        const hx_opencl_rows_t *add, const hx_opencl_rows_t *out);

#endif
