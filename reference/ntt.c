// SPDX-License-Identifier: Apache-2.0
// The negacyclic transform of one row: A[i] = a(psi^(2*brv(i)+1)), in place, and its exact inverse.
//
// a mod (X^(2h) - r^2) splits into a mod (X^h - r) and a mod (X^h + r). From X^n + 1 = X^n - psi^n down, block b of the
// `blocks` at one stage splits by r = psi^brv(blocks + b) = roots[blocks + b]; after the last stage the n remainders
// are the values, in bit-reversed order. Every intermediate is a standard residue.
#include "reference/modulus.h"

void hx_ref_ntt_forward(const hx_ref_ring *ring, uint32_t prime_id, uint64_t *row) {
  const hx_ref_prime *p = prime_of(ring, prime_id);
  const uint64_t q = p->q;
  for (uint32_t blocks = 1, half = ring->n / 2; half != 0; blocks *= 2, half /= 2) {
    for (uint32_t b = 0; b < blocks; ++b) {
      const hx_ref_factor root = p->roots[blocks + b];
      uint64_t *low = row + (size_t)2 * b * half, *high = low + half;
      for (uint32_t k = 0; k < half; ++k) {
        const uint64_t u = low[k], v = mod_mul_factor(high[k], root, q);
        low[k] = mod_add(u, v, q);
        high[k] = mod_sub(u, v, q);
      }
    }
  }
}

// Undoes the stages from the last to the first, each but for a factor 2: n in all, taken out at the end.
// No table of inverse roots: with blocks = 2^k, brv(blocks + b) = n / (2 * blocks) * (1 + 2 * brv_k(b)), and
// brv_k(blocks - 1 - b) is the complement of brv_k(b), so brv(2 * blocks - 1 - b) = n - brv(blocks + b). As psi^n = -1,
// the inverse of roots[blocks + b] is -roots[2 * blocks - 1 - b]: (u - v) / r is (v - u) times that root.
void hx_ref_ntt_inverse(const hx_ref_ring *ring, uint32_t prime_id, uint64_t *row) {
  const hx_ref_prime *p = prime_of(ring, prime_id);
  const uint64_t q = p->q;
  for (uint32_t blocks = ring->n / 2, half = 1; blocks != 0; blocks /= 2, half *= 2) {
    for (uint32_t b = 0; b < blocks; ++b) {
      const hx_ref_factor root = p->roots[2 * blocks - 1 - b];
      uint64_t *low = row + (size_t)2 * b * half, *high = low + half;
      for (uint32_t k = 0; k < half; ++k) {
        const uint64_t u = low[k], v = high[k];
        low[k] = mod_add(u, v, q);
        high[k] = mod_mul_factor(mod_sub(v, u, q), root, q);
      }
    }
  }
  for (uint32_t i = 0; i < ring->n; ++i) row[i] = mod_mul_factor(row[i], p->n_inverse, q);
}
