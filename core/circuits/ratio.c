// SPDX-License-Identifier: Apache-2.0
// Quotients of exact scales.
#include <string.h>

#include "core/base/memory.h"
#include "core/circuits/target.h"

__extension__ typedef unsigned __int128 u128;

enum { WORDS = 4 };

// out = a * b mod 2^256.
static void multiply_low(const uint64_t a[WORDS], const uint64_t b[WORDS], uint64_t out[WORDS]) {
  uint64_t product[WORDS] = {0};
  for (int i = 0; i < WORDS; ++i) {
    uint64_t carry = 0;
    for (int j = 0; i + j < WORDS; ++j) {
      const u128 sum = (u128)a[i] * b[j] + product[i + j] + carry;  // below 2^128
      product[i + j] = (uint64_t)sum;
      carry = (uint64_t)(sum >> 64);
    }
  }
  memcpy(out, product, sizeof product);
}

// The inverse of an odd m mod 2^256, by Newton: m itself is right to three bits, and each step doubles them.
static void invert(const uint64_t m[WORDS], uint64_t out[WORDS]) {
  uint64_t x[WORDS];
  memcpy(x, m, sizeof x);
  for (int bits = 3; bits < 256; bits *= 2) {
    uint64_t rest[WORDS];
    multiply_low(m, x, rest);
    uint64_t borrow = 0;  // 2 - m x
    for (int i = 0; i < WORDS; ++i) {
      const u128 difference = (u128)(i == 0 ? 2 : 0) - rest[i] - borrow;
      rest[i] = (uint64_t)difference;
      borrow = (uint64_t)(difference >> 64) & 1;
    }
    multiply_low(x, rest, x);
  }
  memcpy(out, x, sizeof x);
}

hx_status_t hx_scale_ratio(const hx_scale_t *a, const hx_scale_t *b, hx_scale_t *out, hx_report_t *report) {
  hx_scale_t inverse, quotient, whole;
  hx_scale_set_one(&inverse);
  inverse.e = -b->e;
  for (uint32_t i = 0; i < b->term_count; ++i)
    HX_TRY(hx_scale_multiply_prime(&inverse, b->terms[i].id, -b->terms[i].exponent, report));
  // The odd factors divide if the quotient mod 2^256 times b is a without leaving 256 bits.
  hx_scale_set_one(&quotient);
  invert(b->m, quotient.m);
  multiply_low(quotient.m, a->m, quotient.m);
  hx_scale_set_one(&whole);
  memcpy(whole.m, b->m, sizeof whole.m);
  if (hx_scale_multiply(&whole, &quotient, &whole, NULL) != HX_STATUS_OK) {
    return hx_report_fail(
        report, HX_CODE_SCALE_RANGE,
        "the odd factor of a scale (2^%.2f) does not divide that of the scale to be reached (2^%.2f); "
        "use operands whose scale is a power of two times primes of the chain",
        hx_scale_log2(b, NULL), hx_scale_log2(a, NULL));
  }
  memcpy(inverse.m, quotient.m, sizeof inverse.m);
  hx_scale_set_one(&whole);  // a without its odd factor
  hx_scale_copy(&whole, a);
  memset(whole.m, 0, sizeof whole.m);
  whole.m[0] = 1;
  return hx_scale_multiply(&whole, &inverse, out, report);
}

hx_status_t hx_scale_before_rescale(const hx_scale_t *scale, const hx_ring *ring, uint32_t depth, hx_scale_t *out,
                                    hx_report_t *report) {
  const hx_primes_t before = hx_ring_active(ring, depth), after = hx_ring_active(ring, depth + 1);
  hx_scale_copy(out, scale);
  for (uint32_t id = hx_primes_count(&after); id < hx_primes_count(&before); ++id)
    HX_TRY(hx_scale_multiply_prime(out, id, 1, report));
  return HX_STATUS_OK;
}
