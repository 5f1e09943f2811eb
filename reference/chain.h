// SPDX-License-Identifier: Apache-2.0
// The prime chain: active primes, digits, raising a digit. Private to reference/.
#ifndef HELIOX_REFERENCE_CHAIN_H
#define HELIOX_REFERENCE_CHAIN_H

#include "reference/call.h"

// Standard residues on Q_d: the ids 0..k-1 of Q, any k. *out is the place's shape.
int32_t hx_ref_check_active(const hx_ref_call *call, hx_ref_place place, hx_ref_shape *out);
// Ids 0..active-1 and all of P; returns how many. out has room for HX_REF_PRIMES_MAX.
uint32_t hx_ref_extended_ids(const hx_ref_ring *ring, uint32_t active, uint32_t *out);
// Key-switching digits that have a prime among ids 0..active-1.
uint32_t hx_ref_digit_count(const hx_ref_ring *ring, uint32_t active);

// mod_up of one digit in place, coefficients. rows: of the extended ids; the digit's own rows are read and kept, all
// others are written.
void hx_ref_raise_digit(const hx_ref_ring *ring, uint32_t digit, uint32_t active, const hx_ref_rows *rows);

#endif
