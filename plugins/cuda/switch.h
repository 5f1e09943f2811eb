// SPDX-License-Identifier: Apache-2.0
// Key switching as steps, ntt domain to ntt domain: what relinearizations and rotations are made of.
//
//   y       = the digits' coefficients, times (D_j/d)^-1 and centred      one inverse transform
//   raised  = their conversion to all other primes, in ntt domain         conversion, forward transform
//   acc     = sum over digits of raised (or own) rows times the key       one kernel
//   result  = acc / P, nearest, plus what is added                        inverse of P's rows, conversion, forward
//
// Where all primes take the real path, conversions are done by the kernels that transform columns, and the kernel of
// the key products transforms rows before and, for rows that leave ntt domain, after them: seven launches.
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
  bool whole;     // raised rows are transformed to the end, since they meet several keys
  const hxs_view *key;
  uint32_t *key_limbs;   // [extended]
  hx_cuda_rows_t x;      // [items][active]: the polynomial that is switched
  hx_cuda_addend_t add;  // [items][2][active]: what is added
  // x is still to be made, as the products of these (count 0: it is there). Real path alone, one switch.
  hx_cuda_rows_t x_of[2];
  hx_cuda_rows_t out;  // [items][2][kept]
  uint32_t element;    // Galois element of the result, 1: none
  // In scratch memory, made when first used; what follows uses them again.
  hx_cuda_rows_t y;       // [items][active], coefficients
  hx_cuda_rows_t raised;  // [items][digits][extended]; a digit's own rows are not written
  hx_cuda_rows_t acc;     // [items][extended][2]
  hx_cuda_rows_t gone;    // [items][2][P, and the dropped row], coefficients
  hx_cuda_rows_t taken;   // [items][2][kept], coefficients, or on the real path what the columns leave
  bool begun;             // the key kernel has begun to take `gone` out of ntt domain
} hx_cuda_switch_t;

// For polynomials on the first `active` primes; fills in all but key and rows. Refuses a ring without P.
int32_t hx_cuda_switch_begin(hxs_build *build, uint64_t items, uint32_t active, hx_cuda_switch_t *out);
// Reads an operand as a switching key for it.
int32_t hx_cuda_switch_key(hxs_build *build, hx_cuda_switch_t *s, uint32_t operand);
// The parts: raised from x, acc from raised and the key, out from acc. Then all three.
int32_t hx_cuda_switch_raise(hxs_build *build, hx_cuda_switch_t *s);
int32_t hx_cuda_switch_products(hxs_build *build, hx_cuda_switch_t *s);
int32_t hx_cuda_switch_lower(hxs_build *build, hx_cuda_switch_t *s);
int32_t hx_cuda_switch_steps(hxs_build *build, hx_cuda_switch_t *s);

// For kernels of key products, by launch row [items][extended]: the key's rows [row][digits][2]; the rows of x, for P's
// any, and raised ones [row][digits]. HX_UNSUPPORTED where a row begins at an odd place.
int32_t hx_cuda_switch_key_rows(const hxs_build *build, const hx_cuda_switch_t *s, hx_cuda_rows_t *out);
int32_t hx_cuda_switch_digit_rows(hxs_build *build, const hx_cuda_switch_t *s, hx_cuda_rows_t *own,
                                  hx_cuda_rows_t *values);
// Such kernels take neighbours in pairs.
int32_t hx_cuda_switch_even(const hxs_build *build, const hx_cuda_rows_t *rows);
// P mod the prime of a row.
uint64_t hx_cuda_switch_special(const hxs_build *build, const hx_cuda_switch_t *s, uint32_t row);

#endif
