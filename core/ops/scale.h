// SPDX-License-Identifier: Apache-2.0
// Exact scales: m * 2^e times chain primes to integer powers, in canonical form (CKKS.md, "A scale is exact").
// The canonical form needs the primes only where a number enters (hx_scale_set_number): products and
// quotients of canonical scales are canonical. Equality of scales is equality of these structs' used parts.
#ifndef HELIOX_CORE_OPS_SCALE_H
#define HELIOX_CORE_OPS_SCALE_H

#include "core/base/limits.h"
#include "heliox/base.h"
#include "heliox/plugin.h"

#define HX_SCALE_TEXT_MAX 6144  // bytes of the longest canonical text with its NUL

typedef struct hx_scale_term {
  uint32_t id;
  int32_t exponent;  // never 0
} hx_scale_term_t;

typedef struct hx_scale {
  uint64_t m[4];  // odd, little-endian words, below 2^256
  int64_t e;      // |e| < 2^31
  uint32_t term_count;
  hx_scale_term_t terms[HX_PRIMES_MAX];  // ids ascending
} hx_scale_t;

// Where a text stands in a larger one, for faults: place of its first byte, both 1-based. line 0: no place known.
typedef struct hx_place {
  const char *source;  // may be NULL
  uint32_t line, column;
} hx_place_t;

// 2^0.
void hx_scale_set_one(hx_scale_t *scale);
// Copies only what is used.
void hx_scale_copy(hx_scale_t *to, const hx_scale_t *from);
bool hx_scale_equal(const hx_scale_t *a, const hx_scale_t *b);
// out = a * b; out may be a or b. Refused (scale-range): m at or above 2^256, |exponent| at or above 2^31.
hx_status_t hx_scale_multiply(const hx_scale_t *a, const hx_scale_t *b, hx_scale_t *out, hx_report_t *report);
// scale times prime `id` to the power `exponent`.
hx_status_t hx_scale_multiply_prime(hx_scale_t *scale, uint32_t id, int32_t exponent, hx_report_t *report);
// Canonical form with respect to the primes of Q: moves prime factors of m into terms. ring may be NULL
// (open programs): then only factors of two move. m is not 0. A factor whose exponent would leave its range stays in m.
void hx_scale_canonicalize(hx_scale_t *scale, const hx_ring *ring);
// The lowest id of a prime of Q that divides m, or of a term that is no prime of Q; HX_PRIMES_MAX if the form is
// canonical under the ring.
uint32_t hx_scale_find_foreign(const hx_scale_t *scale, const hx_ring *ring);
// From a finite positive double, exactly. Refused (scale-range) otherwise.
hx_status_t hx_scale_set_number(hx_scale_t *scale, double number, const hx_ring *ring, hx_report_t *report);
// Reads canonical text ("2^40", "3*2^38", "2^80*q5^-1"). Anything else is refused with line and column: another order,
// leading zeros, zero exponents and an even m (syntax), numbers out of range (scale-range), and, where a ring is given,
// m divisible by a prime of Q (syntax) or an id that is not one of Q's (scale-range). out is untouched then.
hx_status_t hx_scale_parse(hx_str_t text, const hx_ring *ring, hx_scale_t *out, hx_report_t *report);
// The same for a piece of a larger text.
hx_status_t hx_scale_parse_at(hx_str_t text, const hx_ring *ring, hx_place_t place, hx_scale_t *out,
                              hx_report_t *report);
// Writes the canonical text; returns its length without NUL.
size_t hx_scale_print(const hx_scale_t *scale, char text[HX_SCALE_TEXT_MAX]);
// log2 for display and estimates; ring NULL: terms count as 0 bits.
double hx_scale_log2(const hx_scale_t *scale, const hx_ring *ring);
// The nearest double-double: hi nearest double to the exact value, lo the double nearest to the rest (ties to even).
// lo is +0 where nothing remains. Refused (scale-range): hi would not be finite or would be 0, a term is no prime of
// Q (or ring is NULL). Values of more than HX_SCALE_VALUE_BITS above or below the fraction line (long chains of
// squarings) are bounded from both sides to 2^-446 and refused where the bounds round differently.
// No allocation; 64 KiB of stack.
#define HX_SCALE_VALUE_BITS 65536
hx_status_t hx_scale_value(const hx_scale_t *scale, const hx_ring *ring, double *out_hi, double *out_lo,
                           hx_report_t *report);

#endif
