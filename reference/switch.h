// SPDX-License-Identifier: Apache-2.0
// Key switching on scratch rows: what relinearization, rotations and sums of them are made of. Private to reference/.
#ifndef HELIOX_REFERENCE_SWITCH_H
#define HELIOX_REFERENCE_SWITCH_H

#include "reference/chain.h"

// Scratch rows of one key switch. "extended" is Q_d and P. rows are named by what they hold while a switch runs.
typedef struct {
  uint32_t active, extended;
  uint32_t ids[HX_REF_PRIMES_MAX];        // extended; the active ones come first
  uint64_t *x[HX_REF_PRIMES_MAX];         // [active]: the polynomial, coefficients
  uint64_t *raised[HX_REF_PRIMES_MAX];    // [extended]: one digit
  uint64_t *acc[2][HX_REF_PRIMES_MAX];    // [extended]: the two components
  uint64_t *total[2][HX_REF_PRIMES_MAX];  // [extended]: sums of them, where asked for
  uint64_t *row[2];
} hx_ref_workspace;

uint64_t hx_ref_workspace_rows(const hx_ref_ring *ring, uint32_t active, int with_total);
// Points into the call's scratch rows; w->total only where check asked for it.
void hx_ref_workspace_init(const hx_ref_call *call, uint32_t active, int with_total, hx_ref_workspace *w);

// Operand `operand` as a switching key for ciphertexts with that many active primes.
int32_t hx_ref_check_switch_key(const hx_ref_call *call, uint32_t operand, uint32_t active);
// Operand 0 as a ciphertext on Q_d with that many components (shape), every result as one with two, in the domain of
// the attribute output_domain. Sets the batch.
int32_t hx_ref_check_switched(hx_ref_call *call, uint32_t components, hx_ref_shape *shape);

// acc = sum over the digits of mod_up_j(x) times key digit j, ntt domain, extended; x is component `component` of `c`.
void hx_ref_key_sum(const hx_ref_call *call, hx_ref_place c, uint64_t item, uint32_t component, hx_ref_place key,
                    hx_ref_workspace *w);
// One component, extended and in ntt domain, to coefficients of its quotient by P, nearest: the first active rows.
void hx_ref_leave_special(const hx_ref_call *call, const hx_ref_workspace *w, uint64_t *const *rows);
// acc = keyswitch of a component: hx_ref_key_sum, then hx_ref_leave_special of both: coefficients, active.
void hx_ref_switch_component(const hx_ref_call *call, hx_ref_place c, uint64_t item, uint32_t component,
                             hx_ref_place key, hx_ref_workspace *w);
// Adds component `component` of `c`, as coefficients, to acc[component], active.
void hx_ref_add_component(const hx_ref_call *call, hx_ref_place c, uint64_t item, uint32_t component,
                          hx_ref_workspace *w);

#endif
