/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic modulo one prime q < 2^61. Every function takes and returns standard residues, in [0, q), unless its line
 * says otherwise. */
#ifndef PLUGIN_MODULAR_H
#define PLUGIN_MODULAR_H

#include <stdint.h>

__extension__ typedef unsigned __int128 wide;

/* a, b in [0, m), m < 2^62: the sum stays below 2^63. */
static inline uint64_t mod_add(uint64_t a, uint64_t b, uint64_t m) {
  const uint64_t sum = a + b;
  return sum >= m ? sum - m : sum;
}

static inline uint64_t mod_sub(uint64_t a, uint64_t b, uint64_t m) { return a >= b ? a - b : a + (m - b); }

static inline uint64_t mod_neg(uint64_t a, uint64_t m) { return a == 0 ? 0 : m - a; }

static inline uint64_t mod_mul(uint64_t a, uint64_t b, uint64_t q) { return (uint64_t)((wide)a * b % q); }

static inline uint64_t mod_power(uint64_t a, uint64_t exponent, uint64_t q) {
  uint64_t result = 1;
  for (; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) result = mod_mul(result, a, q);
    a = mod_mul(a, a, q);
  }
  return result;
}

/* Fermat: a^(q-2) is the inverse of a nonzero a. */
static inline uint64_t mod_inverse(uint64_t a, uint64_t q) { return mod_power(a, q - 2, q); }

/* A constant w below q with floor(w * 2^64 / q): multiplying by it needs no division (Shoup). */
typedef struct {
  uint64_t value;
  uint64_t quotient;
} factor;

static inline factor factor_of(uint64_t value, uint64_t q) {
  factor f;
  f.value = value;
  f.quotient = (uint64_t)(((wide)value << 64) / q);
  return f;
}

/* x is any word. t = floor(x * quotient / 2^64) is floor(x * value / q) or one less, so the rest is below 2q < 2^62. */
static inline uint64_t mod_mul_factor(uint64_t x, factor f, uint64_t q) {
  const uint64_t t = (uint64_t)(((wide)x * f.quotient) >> 64);
  const uint64_t rest = x * f.value - t * q;
  return rest >= q ? rest - q : rest;
}

/* A signed word of any size. -2^63 has no positive counterpart, so its size is formed as an unsigned word. */
static inline uint64_t mod_signed(int64_t x, uint64_t q) {
  return x < 0 ? mod_neg((0 - (uint64_t)x) % q, q) : (uint64_t)x % q;
}

/* x in [0, from) stands for x or, above (from - 1) / 2, for x - from: that number mod `to`. */
static inline uint64_t mod_centered(uint64_t x, uint64_t from, uint64_t to) {
  return x > (from - 1) / 2 ? mod_neg((from - x) % to, to) : x % to;
}

#endif
