// SPDX-License-Identifier: Apache-2.0
// Arithmetic modulo one prime q < 2^61, constant-time in the data, and the tables of a ring. Private to reference/.
#ifndef HELIOX_REFERENCE_MODULUS_H
#define HELIOX_REFERENCE_MODULUS_H

#include <assert.h>

#include "reference/reference.h"

__extension__ typedef unsigned __int128 hx_ref_u128;

// A constant below q and floor(value * 2^64 / q): multiplication by it needs no division.
typedef struct {
  uint64_t value;
  uint64_t quotient;
} hx_ref_factor;

typedef struct {
  uint64_t q;
  uint32_t bits;           // 2^(bits-1) < q < 2^bits
  uint64_t word_ratio;     // floor(2^64 / q)
  uint64_t product_ratio;  // floor(2^(2*bits) / q), below 2^(bits+1)
  hx_ref_factor n_inverse;
  hx_ref_factor to_montgomery;    // 2^w
  hx_ref_factor from_montgomery;  // 2^-w
  hx_ref_factor *roots;           // [n]: psi^brv(i)
} hx_ref_prime;

struct hx_ref_ring {
  uint32_t log_n;
  uint32_t n;
  uint32_t word;
  uint32_t q_count;
  uint32_t p_count;
  uint32_t digit_run;
  uint32_t group_count;
  uint32_t group_sizes[HX_REF_PRIMES_MAX];
  hx_ref_factor *roots;  // one block for all primes
  hx_ref_prime primes[HX_REF_PRIMES_MAX];
};

static inline const hx_ref_prime *prime_of(const hx_ref_ring *ring, uint32_t prime_id) {
  assert(prime_id < ring->q_count + ring->p_count);
  return &ring->primes[prime_id];
}

// x in [0, 2m), m < 2^62: x mod m.
static inline uint64_t fold(uint64_t x, uint64_t m) {
  const uint64_t d = x - m;  // in [-m, m), so the top bit is its sign
  return d + (m & (0 - (d >> 63)));
}

// a, b in [0, m), m < 2^62.
static inline uint64_t mod_add(uint64_t a, uint64_t b, uint64_t m) { return fold(a + b, m); }

static inline uint64_t mod_sub(uint64_t a, uint64_t b, uint64_t m) {
  const uint64_t d = a - b;  // in (-m, m)
  return d + (m & (0 - (d >> 63)));
}

// -0 is 0: m - a would be m, which fold takes back.
static inline uint64_t mod_neg(uint64_t a, uint64_t m) { return fold(m - a, m); }

// Any word. With r = floor(2^64 / q), t = floor(x * r / 2^64) is floor(x / q) or one less: 2^64 / q - r < 1, so x * r /
// 2^64 is less than 1 below x / q.
static inline uint64_t mod_reduce(uint64_t x, const hx_ref_prime *p) {
  const uint64_t t = (uint64_t)(((hx_ref_u128)x * p->word_ratio) >> 64);
  return fold(x - t * p->q, p->q);
}

// Any signed word: -2^63 is 2^63 in size, so the size is reduced and the sign put back.
static inline uint64_t mod_reduce_signed(int64_t x, const hx_ref_prime *p) {
  const uint64_t sign = 0 - ((uint64_t)x >> 63);  // all ones where negative
  const uint64_t size = mod_reduce(((uint64_t)x ^ sign) - sign, p);
  return (size & ~sign) | (mod_neg(size, p->q) & sign);
}

// Barrett: z = a * b < q^2 < 2^(2L), L = bits. t = floor(floor(z / 2^(L-1)) * floor(2^(2L) / q) / 2^(L+1)) is at most 2
// below floor(z / q), so the remainder is in [0, 3q), 3q < 2^63. Inner product: below 2^(L+1) * 2^(L+1) <= 2^124.
static inline uint64_t mod_mul(uint64_t a, uint64_t b, const hx_ref_prime *p) {
  const hx_ref_u128 z = (hx_ref_u128)a * b;
  const uint64_t high = (uint64_t)(z >> (p->bits - 1));
  const uint64_t t = (uint64_t)(((hx_ref_u128)high * p->product_ratio) >> (p->bits + 1));
  const uint64_t r = (uint64_t)z - t * p->q;  // [0, 3q)
  const uint64_t d = r - p->q;                // [-q, 2q)
  return fold(d + (p->q & (0 - (d >> 63))), p->q);
}

// Shoup: any word x. t = floor(x * quotient / 2^64) is floor(x * value / q) or one less.
static inline uint64_t mod_mul_factor(uint64_t x, hx_ref_factor f, uint64_t q) {
  const uint64_t t = (uint64_t)(((hx_ref_u128)x * f.quotient) >> 64);
  return fold(x * f.value - t * q, q);
}

// Divides: for public constants only.
static inline hx_ref_factor factor_of(uint64_t value, uint64_t q) {
  const hx_ref_factor f = {value, (uint64_t)(((hx_ref_u128)value << 64) / q)};
  return f;
}

// x in [0, from), taken centred, to [0, to): x mod to, less from mod to where x is above (from - 1) / 2.
static inline uint64_t mod_center_lift(uint64_t x, uint64_t from, uint64_t from_in_to, const hx_ref_prime *to) {
  const uint64_t above = 0 - (((from - 1) / 2 - x) >> 63);  // all ones where x > (from - 1) / 2
  return mod_sub(mod_reduce(x, to), from_in_to & above, to->q);
}

// Reversal of the `bits` low bits of i.
static inline uint32_t bit_reverse(uint32_t i, uint32_t bits) {
  uint32_t out = 0;
  for (uint32_t k = 0; k < bits; ++k) out |= ((i >> k) & 1u) << (bits - 1 - k);
  return out;
}

#endif
