// SPDX-License-Identifier: Apache-2.0
// Key switching as steps, ntt domain to ntt domain: what relinearizations and rotations are made of.
//
//   y       = the digits' coefficients, times (D_j/d)^-1 and centred      one inverse transform
//   raised  = their conversion to all other primes, in ntt domain         conversion, forward transform
//   acc     = sum over digits of raised (or own) rows times the key       one kernel
//   result  = acc / P, nearest, plus what is added                        inverse of P's rows, conversion, forward
//
// With a depth group of one prime dropped at once (`rescaled`) the group's row leaves ntt domain with P's, the
// conversion takes both off, and each kept row is transformed once.
#ifndef HX_CUDA_SWITCH_H
#define HX_CUDA_SWITCH_H

#include "step.h"

typedef struct hx_cuda_switch {
  uint32_t items, active, extended, digits;
  bool rescaled;  // the last active row is dropped too
  uint32_t *ids;  // [extended]: Q_d, P
  const hxs_view *key;
  hx_cuda_rows_t x;    // [items][active]: the polynomial that is switched
  hx_cuda_rows_t add;  // [items][2][active]: what is added; HX_CUDA_NO_ROW: nothing
  hx_cuda_rows_t out;  // [items][2][kept]
  uint32_t element;    // Galois element of the result, 1: none
} hx_cuda_switch_t;

// Reads `operand` as a switching key for a polynomial on the first `active` primes, and fills in all but the rows.
int32_t hx_cuda_switch_begin(hxs_build *build, const hxs_view *key, uint64_t items, uint32_t active,
                             hx_cuda_switch_t *out);
int32_t hx_cuda_switch_steps(hxs_build *build, const hx_cuda_switch_t *s);

#endif
