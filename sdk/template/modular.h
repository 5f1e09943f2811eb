/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic modulo one prime q < 2^61. Every function takes and returns standard residues, in [0, q), unless its line
 * says otherwise. heliox/support/modular.h has the same without branches, for constant time. */
#ifndef PLUGIN_MODULAR_H
#define PLUGIN_MODULAR_H

#include "heliox/plugin_support.h"

/* a, b in [0, m), m < 2^62: the sum stays below 2^63. */
static inline uint64_t mod_add(uint64_t a, uint64_t b, uint64_t m) {
  const uint64_t sum = a + b;
  return sum >= m ? sum - m : sum;
}

static inline uint64_t mod_sub(uint64_t a, uint64_t b, uint64_t m) { return a >= b ? a - b : a + (m - b); }

static inline uint64_t mod_neg(uint64_t a, uint64_t m) { return a == 0 ? 0 : m - a; }

/* a * b + c */
static inline uint64_t mod_mul_add(uint64_t a, uint64_t b, uint64_t c, const hxs_modulus *m) {
  return hxs_mod_mul_add(a, b, c, m, 64);
}

/* x * f for any word x: without a division, by the constant's quotient (Shoup). */
static inline uint64_t mod_mul_factor(uint64_t x, hxs_factor f, uint64_t q) {
  return hxs_mod_once(hxs_mod_shoup_lazy(x, f, q, 64), q);
}

/* A signed word of any size. -2^63 has no positive counterpart, so its size is formed as an unsigned word. */
static inline uint64_t mod_signed(int64_t x, uint64_t q) {
  return x < 0 ? mod_neg((0 - (uint64_t)x) % q, q) : (uint64_t)x % q;
}

#endif
