// SPDX-License-Identifier: Apache-2.0
// Twiddles for transforms on 52-bit products, in the order in which they are read.
//
// values[2i], values[2i+1] = root^brv(i) and floor(root^brv(i) * 2^52 / q) for the nodes i in [0, n/8). Then, from
// word n/4 on, 112 words for each 64 coefficients, the last three stages of four blocks of 16 = two blocks a, b of 8:
//   [4p]      a, b, and their quotients        nodes of length 8
//   [16 + 8p] a0, b0, a1, b1, and quotients    nodes of length 4
//   [48 + 16p] a0, b0, a2, b2, a1, b1, a3, b3, and quotients    nodes of length 2
// All reads of a vector are aligned; those of the first two kinds are broadcasts from memory.
//
// Of the inverse, with w_k = psi^(-2n/k), for its steps (ntt_ifma_inverse.h); every eight values are followed by their
// quotients, every single one by its own:
//   [0], [16]          1 1 1 1 w4 w4 w4 w4; 1 1 w8 w8 w8^2 w8^2 w8^3 w8^3    the second and third stage in vectors
//   [16 + 16s]         w64^(brv(s) l), l = 0..7, for s = 1..7
//   [144 + 48b]        group b, t = psi^-(2 brv(b) + 1): t^l / n; the same times the root of node n/64 + b; the roots
//   of
//                      the four nodes of length 16, of the two of length 32; four words of padding
//   [144 + 48n/64]     for h = 1, 2, 4 .. n/128 from pair h on: w_(2h)^j, j < h
//   after these n/32   psi^(-64 j), j < n/64
#ifndef HX_CPU_KERNELS_NTT_IFMA_H
#define HX_CPU_KERNELS_NTT_IFMA_H

#include <stdbool.h>

#include "heliox/support/modular.h"

// The largest primes and the rings that the tables are made for.
#define HX_CPU_IFMA_BITS 50u
#define HX_CPU_IFMA_LOG_N_MIN 8u

#define HX_CPU_IFMA_COMMON 144u  // words that all groups of the inverse share

#define HX_CPU_IFMA_LIFTS 18u      // multiples of q that are free
#define HX_CPU_IFMA_CONSTANTS 37u  // rows of eight equal words

// Words of one direction.
static inline size_t hx_cpu_ifma_words(uint32_t log_n) { return (size_t)2 << log_n; }
static inline size_t hx_cpu_ifma_inverse_words(uint32_t log_n) {
  return HX_CPU_IFMA_COMMON + (size_t)52 * ((size_t)1 << (log_n - 6));
}

// Whether a prime of the ring has such tables.
static inline bool hx_cpu_ifma_fits(const hxs_modulus *m, uint32_t log_n) {
  return m->word == 64 && m->bits <= HX_CPU_IFMA_BITS && log_n >= HX_CPU_IFMA_LOG_N_MIN;
}

// Of primes that are larger, or of smaller rings, the last three stages in the same order, with whole quotients, where
// they are 1 mod 2^12.
#define HX_CPU_IFMA_LARGE_LOG_N_MIN 6u

static inline bool hx_cpu_ifma_fits_large(const hxs_modulus *m, uint32_t log_n) {
  return m->word == 64 && m->q % 4096 == 1 && log_n >= HX_CPU_IFMA_LARGE_LOG_N_MIN && !hx_cpu_ifma_fits(m, log_n);
}
static inline size_t hx_cpu_ifma_tail_words(uint32_t log_n) { return (size_t)112 << (log_n - 6); }
void hx_cpu_ifma_arrange_tail(const uint64_t *roots, const uint64_t *quotients, uint32_t log_n, uint64_t *out);

// From rows of u64 in bit-reversed order with quotients floor(c * 2^64 / q): of the forward transform, and of the
// inverse, whose roots are psi^-brv(i).
void hx_cpu_ifma_arrange(const uint64_t *roots, const uint64_t *quotients, uint32_t log_n, uint64_t *out);
void hx_cpu_ifma_arrange_inverse(const hxs_modulus *m, const uint64_t *roots, const uint64_t *quotients, uint32_t log_n,
                                 uint64_t *out);

// The constants of both, HX_CPU_IFMA_CONSTANTS rows of eight equal words: q, 2q, 2^52 - q, floor(2^52 / q), 2^52 - 1;
// k q for k < 8; 8, 16, 32, 64 times q; -k for k < HX_CPU_IFMA_LIFTS; 1; 34 q.
void hx_cpu_ifma_constants(uint64_t q, uint64_t *out);

#endif
