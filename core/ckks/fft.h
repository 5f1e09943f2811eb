// SPDX-License-Identifier: Apache-2.0
// The transform behind encoding [CKKS17, section 3]. With n slots and w = exp(i pi / 2n), the slots of a packed
// polynomial m are its values at w^(5^j). Since w^n to any power 1 mod 4 is i, the 2n real coefficients fold into
// n complex ones, u_k = m_k + i m_(k+n), and the slots are the values of u mod (X^n - i) there: n points, n log n
// steps, by the same halving as the number-theoretic transform.
//
// Position p of a transformed vector belongs to the root w^(1 + 4 brv(p)), brv the reversal of log2(n) bits.
#ifndef HELIOX_CORE_CKKS_FFT_H
#define HELIOX_CORE_CKKS_FFT_H

#include "core/ckks/fft_dd.h"
#include "heliox/base.h"

#define HX_FFT_LOG_SLOTS_MAX 16

// n complex numbers by parts. The low halves are used by the double-double forms alone; NULL for the others.
typedef struct hx_fft_vector {
  double *re, *im;
  double *re_low, *im_low;
} hx_fft_vector_t;

// Makes roots and positions for 2^log_slots slots, once for the process (at most 2.5 MiB for all sizes; never freed,
// read-only after). Call before the functions below. Any thread. log_slots <= HX_FFT_LOG_SLOTS_MAX.
hx_status_t hx_fft_prepare(uint32_t log_slots);

// Position of slot j, j = 0 .. n-1, into out_positions.
void hx_fft_slot_positions(uint32_t log_slots, uint32_t *out_positions);

// The same as a table that lives as long as the process; after hx_fft_prepare.
const uint32_t *hx_fft_positions(uint32_t log_slots);

// In place, u_k in order to values by position, and back: interpolate leaves out the division by n.
// Every operation is fixed, so the bits depend on the input alone; no branch or address depends on it.
// Errors, relative to the sum of the magnitudes of all inputs (so of the largest input, after the division by n):
// below 4 u log2(n) in doubles (the bound of [BPZ07] for a product, sqrt(5) u, an addition, and roots rounded
// to nearest) and below 26 u^2 log2(n) in double-double.
void hx_fft_evaluate_double(uint32_t log_slots, hx_fft_vector_t values);
void hx_fft_interpolate_double(uint32_t log_slots, hx_fft_vector_t values);
void hx_fft_evaluate(uint32_t log_slots, hx_fft_vector_t values);
void hx_fft_interpolate(uint32_t log_slots, hx_fft_vector_t values);

// The double-double forms number by number: for few slots, and what the fast ones are tested against.
void hx_fft_evaluate_small(uint32_t log_slots, hx_fft_vector_t values);
void hx_fft_interpolate_small(uint32_t log_slots, hx_fft_vector_t values);

// exp(i pi numerator / 2^log_denominator) for an odd numerator in (0, 2^log_denominator), within 6 u^2.
void hx_fft_root(uint32_t numerator, uint32_t log_denominator, hx_dd_t *out_cosine, hx_dd_t *out_sine);

#endif
