// SPDX-License-Identifier: Apache-2.0
// What switch.c and switch_end.c share.
#ifndef HX_CUDA_SWITCH_END_H
#define HX_CUDA_SWITCH_END_H

#include "switch.h"

// What the end of a switch works on: polynomials are [items][2].
typedef struct hx_cuda_ending {
  hx_cuda_switch_t *s;
  uint32_t polynomials, special, kept, dropped;  // rows of P; kept of Q_d; dropped with P: 0 or 1
  uint64_t *inverse;                             // [active]: P^-1
} hx_cuda_ending_t;

int32_t hx_cuda_switch_begin_ending(hxs_build *build, hx_cuda_switch_t *s, hx_cuda_ending_t *e);
// Place of a polynomial's row in acc; and in `gone`, HX_NONE where it stays.
uint32_t hx_cuda_switch_acc_index(const hx_cuda_ending_t *e, uint32_t polynomial, uint32_t row);
uint32_t hx_cuda_switch_gone_index(const hx_cuda_ending_t *e, uint32_t polynomial, uint32_t row);

// Whether all its rows take the real path.
bool hx_cuda_switch_is_real(const hxs_build *build, const hx_cuda_switch_t *s);
// Rows of scratch memory that all switches of the operation share: steps run in order.
int32_t hx_cuda_switch_scratch(const hxs_build *build, uint32_t count, hx_cuda_rows_t *rows);
// Ids first .. first + count - 1 of a digit or of P, but one, multiplied mod a prime.
uint64_t hx_cuda_switch_product_but(const hxs_build *build, const uint32_t *ids, uint32_t count, uint32_t but,
                                    const hxs_modulus *m);
// One target of a conversion from `ids`: weights (D/d) times `scale`, and what the centring offsets add taken off.
void hx_cuda_switch_target(const hxs_build *build, const uint32_t *ids, uint32_t count, uint32_t prime, uint64_t scale,
                           hx_cuda_target_t *target, uint64_t *weights);

static inline uint64_t hx_cuda_half_of(const hxs_build *build, uint32_t id) {
  return (hx_cuda_modulus_of(build, id)->q - 1) / 2;
}

#endif
