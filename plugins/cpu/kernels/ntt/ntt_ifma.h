// SPDX-License-Identifier: Apache-2.0
// Twiddles for transforms on 52-bit products, in the order in which they are read.
//
// values[2i], values[2i+1] = root^brv(i) and floor(root^brv(i) * 2^52 / q) for the nodes i in [0, n/8). Then, from
// word n/4 on, 112 words for each 64 coefficients, the last three stages of four blocks of 16 = two blocks a, b of 8:
//   [4p]      a, b, and their quotients        nodes of length 8
//   [16 + 8p] a0, b0, a1, b1, and quotients    nodes of length 4
//   [48 + 16p] a0, b0, a2, b2, a1, b1, a3, b3, and quotients    nodes of length 2
// All reads of a vector are aligned; those of the first two kinds are broadcasts from memory.
#ifndef HX_CPU_KERNELS_NTT_IFMA_H
#define HX_CPU_KERNELS_NTT_IFMA_H

#include <stdbool.h>

#include "heliox/support/modular.h"

// The largest primes and the rings that the tables are made for.
#define HX_CPU_IFMA_BITS 50u
#define HX_CPU_IFMA_LOG_N_MIN 8u

// Words of one direction.
static inline size_t hx_cpu_ifma_words(uint32_t log_n) { return (size_t)2 << log_n; }

// Whether a prime of the ring has such tables.
static inline bool hx_cpu_ifma_fits(const hxs_modulus *m, uint32_t log_n) {
  return m->word == 64 && m->bits <= HX_CPU_IFMA_BITS && log_n >= HX_CPU_IFMA_LOG_N_MIN;
}

// From rows of u64 in bit-reversed order with quotients floor(c * 2^64 / q).
void hx_cpu_ifma_arrange(const uint64_t *roots, const uint64_t *quotients, uint32_t log_n, uint64_t *out);

#endif
