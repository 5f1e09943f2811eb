// SPDX-License-Identifier: Apache-2.0
// What the tests of the reference share: numbers made without it (128-bit arithmetic, primes, roots, big integers) and
// rings.
#ifndef HELIOX_TESTS_KERNELS_TEST_REFERENCE_H
#define HELIOX_TESTS_KERNELS_TEST_REFERENCE_H

// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on
#include <stdlib.h>
#include <string.h>

#include "reference/reference.h"

__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 i128;

#define COUNT_OF(array_) (sizeof(array_) / sizeof *(array_))

// Deterministic numbers: a counter through a 64-bit mixer.
static inline uint64_t random_word(uint64_t *state) {
  uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static inline uint64_t random_below(uint64_t *state, uint64_t limit) {
  const u128 high = random_word(state);
  return (uint64_t)((high << 64 | random_word(state)) % limit);
}

static inline uint64_t mul_by(uint64_t a, uint64_t b, uint64_t q) { return (uint64_t)((u128)a * b % q); }

static inline uint64_t power_by(uint64_t a, uint64_t e, uint64_t q) {
  uint64_t r = 1;
  for (a %= q; e != 0; e >>= 1, a = mul_by(a, a, q))
    if ((e & 1) != 0) r = mul_by(r, a, q);
  return r;
}

// Miller-Rabin with the first twelve primes as bases: certain below 2^64.
static inline int is_prime(uint64_t n) {
  static const uint64_t bases[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};
  uint64_t odd = n - 1;
  uint32_t twos = 0;
  for (size_t i = 0; i < COUNT_OF(bases); ++i)
    if (n % bases[i] == 0) return n == bases[i];
  for (; odd % 2 == 0; odd /= 2) ++twos;
  for (size_t i = 0; i < COUNT_OF(bases); ++i) {
    uint64_t x = power_by(bases[i], odd, n);
    int witness = x != 1 && x != n - 1;
    for (uint32_t k = 1; witness && k < twos; ++k) {
      x = mul_by(x, x, n);
      witness = x != n - 1;
    }
    if (witness) return 0;
  }
  return n > 1;
}

// The largest prime 1 mod 2n with exactly `bits` bits that is not among the first `count` of `taken`; 0: none.
static inline uint64_t find_prime(uint32_t log_n, uint32_t bits, const uint64_t *taken, uint32_t count) {
  const uint64_t step = (uint64_t)2 << log_n;
  for (uint64_t q = ((uint64_t)1 << bits) - step + 1; q >> (bits - 1) != 0 && q > step; q -= step) {
    uint32_t i = 0;
    while (i < count && taken[i] != q) ++i;
    if (i == count && is_prime(q)) return q;
  }
  return 0;
}

// The smallest primitive 2n-th root of unity: all are odd powers of one.
static inline uint64_t find_psi(uint64_t q, uint32_t log_n) {
  const uint64_t n = (uint64_t)1 << log_n;
  uint64_t root = 0;
  for (uint64_t x = 2; root == 0; ++x) {
    const uint64_t candidate = power_by(x, (q - 1) / (2 * n), q);
    if (power_by(candidate, n, q) == q - 1) root = candidate;
  }
  const uint64_t square = mul_by(root, root, q);
  uint64_t best = root;
  for (uint64_t i = 0; i < n; ++i, root = mul_by(root, square, q))
    if (root < best) best = root;
  return best;
}

#define TEST_PRIMES_MAX 16

// A ring with its own copies of what hx_ring points to. Every prime of Q is a group.
typedef struct {
  uint64_t primes[TEST_PRIMES_MAX], psi[TEST_PRIMES_MAX];
  uint32_t group_sizes[TEST_PRIMES_MAX];
  hx_ring desc;
  hx_ref_ring *ring;
  uint32_t n;
} test_ring;

// bits: of Q's primes, then P's.
static inline void ring_describe(test_ring *t, uint32_t log_n, uint32_t word, const uint32_t *bits, uint32_t q_count,
                                 uint32_t p_count, uint32_t digit_run) {
  memset(t, 0, sizeof *t);
  t->n = (uint32_t)1 << log_n;
  for (uint32_t i = 0; i < q_count + p_count; ++i) {
    t->primes[i] = find_prime(log_n, bits[i], t->primes, i);
    assert_true(t->primes[i] != 0);
    t->psi[i] = find_psi(t->primes[i], log_n);
    t->group_sizes[i] = 1;
  }
  t->desc = (hx_ring){.struct_size = HX_END_OF(hx_ring, digest),
                      .log_n = log_n,
                      .word = word,
                      .q_count = q_count,
                      .p_count = p_count,
                      .digit_run = digit_run,
                      .group_count = q_count,
                      .primes = t->primes,
                      .psi = t->psi,
                      .group_sizes = t->group_sizes};
}

static inline void ring_open(test_ring *t) {
  hx_error error = {.struct_size = HX_END_OF(hx_error, message)};
  if (hx_ref_ring_create(&t->desc, &t->ring, &error) != HX_OK) fail_msg("%s", error.message);
}

static inline void ring_make(test_ring *t, uint32_t log_n, uint32_t word, const uint32_t *bits, uint32_t q_count,
                             uint32_t p_count, uint32_t digit_run) {
  ring_describe(t, log_n, word, bits, q_count, p_count, digit_run);
  ring_open(t);
}

static inline void ring_free(test_ring *t) { hx_ref_ring_destroy(t->ring); }

static inline uint64_t *row_make(uint64_t n) {
  uint64_t *row = calloc(n, sizeof *row);
  assert_non_null(row);
  return row;
}

// Residues with every edge among them: 0, 1, q-1, both sides of the middle.
static inline void fill_edges(uint64_t *row, uint32_t n, uint64_t q, uint64_t *state) {
  const uint64_t edges[] = {0, 1, q - 1, (q - 1) / 2, (q + 1) / 2, q - 2};
  for (uint32_t i = 0; i < n; ++i)
    row[i] = i < COUNT_OF(edges)           ? edges[i]
             : random_word(state) % 3 == 0 ? edges[random_word(state) % COUNT_OF(edges)]
                                           : random_below(state, q);
}

static inline void assert_rows_equal(const uint64_t *a, const uint64_t *b, uint64_t n) {
  for (uint64_t i = 0; i < n; ++i)
    if (a[i] != b[i])
      fail_msg("element %llu: %llu, must be %llu", (unsigned long long)i, (unsigned long long)a[i],
               (unsigned long long)b[i]);
}

// Integers of 768 bits, two's complement.
#define BIG_WORDS 12
typedef struct {
  uint64_t w[BIG_WORDS];
} big;

static inline big big_from(uint64_t x) { return (big){{x}}; }

static inline big big_add(big a, big b) {
  u128 carry = 0;
  for (int i = 0; i < BIG_WORDS; ++i) {
    carry += (u128)a.w[i] + b.w[i];
    a.w[i] = (uint64_t)carry;
    carry >>= 64;
  }
  return a;
}

static inline big big_neg(big a) {
  for (int i = 0; i < BIG_WORDS; ++i) a.w[i] = ~a.w[i];
  return big_add(a, big_from(1));
}

static inline big big_sub(big a, big b) { return big_add(a, big_neg(b)); }

static inline big big_mul(big a, uint64_t b) {
  u128 carry = 0;
  for (int i = 0; i < BIG_WORDS; ++i) {
    carry += (u128)a.w[i] * b;
    a.w[i] = (uint64_t)carry;
    carry >>= 64;
  }
  return a;
}

static inline int big_is_negative(big a) { return (a.w[BIG_WORDS - 1] >> 63) != 0; }

static inline int big_equal(big a, big b) { return memcmp(&a, &b, sizeof a) == 0; }

static inline int big_less(big a, big b) { return big_is_negative(big_sub(a, b)); }

static inline big big_abs(big a) { return big_is_negative(a) ? big_neg(a) : a; }

// floor(a / d), and the remainder in [0, d).
static inline big big_div(big a, uint64_t d, uint64_t *out_rest) {
  const int negative = big_is_negative(a);
  if (negative) a = big_neg(a);
  uint64_t rest = 0;
  for (int i = BIG_WORDS; i-- > 0;) {
    const u128 part = (u128)rest << 64 | a.w[i];
    a.w[i] = (uint64_t)(part / d);
    rest = (uint64_t)(part % d);
  }
  if (negative) {
    a = big_neg(a);
    if (rest != 0) {
      a = big_sub(a, big_from(1));
      rest = d - rest;
    }
  }
  *out_rest = rest;
  return a;
}

static inline uint64_t big_mod(big a, uint64_t d) {
  uint64_t rest;
  big_div(a, d, &rest);
  return rest;
}

#endif
