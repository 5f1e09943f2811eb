// SPDX-License-Identifier: Apache-2.0
// Bounds of coefficients from the exact modulus, beside the products of core/ckks/primes.h. For public numbers.
#ifndef HELIOX_CORE_CKKS_ENCODE_BIG_H
#define HELIOX_CORE_CKKS_ENCODE_BIG_H

#include "core/ckks/primes.h"
#include "core/ops/type.h"

__extension__ typedef unsigned __int128 hx_u128;
__extension__ typedef __int128 hx_i128;

// The product of these primes of a ring.
static inline void hx_product_set_primes(hx_product_t *out, const hx_ring *ring, const hx_primes_t *primes) {
  uint32_t ids[HX_PRIMES_MAX];
  const uint32_t count = hx_primes_list(primes, ids);
  hx_product_set_one(out);
  for (uint32_t i = 0; i < count; ++i) hx_product_multiply(out, ring->primes[ids[i]]);
}

// 64 bits of floor(x / 2^first).
static inline uint64_t hx_product_bits_at(const hx_product_t *x, uint32_t first) {
  const uint32_t word = first / 64, shift = first % 64;
  const uint64_t low = word < x->words ? x->word[word] >> shift : 0;
  const uint64_t high = word + 1 < x->words ? x->word[word + 1] : 0;
  return shift == 0 ? low : low | high << (64 - shift);
}

// floor(x / 2^shift), or 2^126 if that is less.
static inline hx_u128 hx_product_quotient(const hx_product_t *x, uint32_t shift) {
  if (hx_product_bits(x) > shift + 126) return (hx_u128)1 << 126;
  return (hx_u128)hx_product_bits_at(x, shift + 64) << 64 | hx_product_bits_at(x, shift);
}

#endif
