// SPDX-License-Identifier: Apache-2.0
// Butterflies of u64 rows with 52-bit products (AVX-512 IFMA), q < 2^50: what both directions share.
//
// A value is the low 52 bits of its lane: the products read no others, so nothing is masked before the end. Quotients
// are counted up from a constant that the first product finds in its accumulator, so a multiple of q that is added or
// taken off costs nothing. A forward butterfly's product is in [-q, q) that way: a first operand with r stages to come
// that is at least r * q needs no more. Four depths of laziness, by 2^52 / q:
//   wide   q <= 2^45    forward: no reduction at all. Products stay in [0, 2q), which saves reading a constant; the
//   first
//                       operands of the first pass are lifted by 34q, what descends from them is below 70q
//   eight, seven        2^52/q at least 7 7/8 or 7; forward: one reduction of the first operand every three stages.
//   With
//                       2^52/q = 7 + f at worst, a reduced value is below q(1 + f); lifted by 3q, with three times q
//                       more it is below 2^52
//   tight  q < 2^50     forward: a reduction before every butterfly: with 2^52/q = 4 + f at worst below q(1 + f), then
//                       lifted by q, then below 3q + fq < 2^52
// The inverse keeps the bounds of every register as constants of the unrolled code (ntt_ifma_span.h).
//
// Passes of two or three stages go depth first over blocks until one fits in L1; the last six stages of 64
// coefficients (in the inverse the first six) stay in registers.
#ifndef HX_CPU_KERNELS_NTT_IFMA_BUTTERFLY_H
#define HX_CPU_KERNELS_NTT_IFMA_BUTTERFLY_H

#include <stdbool.h>

#include "kernels/ifma.h"
#include "kernels/ntt/ntt.h"
#include "kernels/ntt/ntt_ifma.h"
#include "kernels/unroll.h"

#define BLOCK_LOG_N 12u  // 32 KiB
// Twiddles of the last three stages are asked for so many groups ahead (beyond the end that does nothing), in rows
// whose twiddles are not in L2 for sure.
#define AHEAD 4u
#define FAR_LOG_N 14u

typedef enum depth { WIDE, EIGHT, SEVEN, TIGHT } depth_t;

// Constants of a prime, as hx_cpu_ifma_constants writes them: each eight times, so that a copy costs a load alone.
typedef struct constants {
  ifma_modulus_t m;
  hx_vec bound[8];                  // k * q
  hx_vec large[4];                  // 8, 16, 32, 64 times q, where wide
  hx_vec minus[HX_CPU_IFMA_LIFTS];  // -k: the start of a quotient whose rest is to be k * q more
  hx_vec one;                       // of one whose rest is to be q less
  hx_vec first;                     // what lifts the first operands of a row, where wide
} constants_t;

_Static_assert(sizeof(constants_t) == HX_CPU_IFMA_CONSTANTS * sizeof(hx_vec), "constants are rows of eight words");

// Places of what goes to one of a pair of registers. Read from memory each time: an exchange overwrites either them or
// a register that the other half of the exchange needs.
typedef struct places {
  uint64_t at[8];
} places_t;

#define PLACES static const _Alignas(64) places_t

static const constants_t *constants_of(const uint64_t *words) { return (const constants_t *)(const void *)words; }

static depth_t depth_of(uint64_t q) {
  return 128 * q <= HX_CPU_IFMA_LIMIT      ? WIDE
         : 63 * q <= 8 * HX_CPU_IFMA_LIMIT ? EIGHT
         : 7 * q <= HX_CPU_IFMA_LIMIT      ? SEVEN
                                           : TIGHT;
}

// Where a quotient starts whose rest is to be lift * q more.
HXS_INLINE hx_vec lifted(int lift, const constants_t *c) { return lift == 0 ? fresh_zero() : fresh(&c->minus[lift]); }

// As ifma_reduce, and lift * q more.
HXS_INLINE hx_vec reduce_lifted(hx_vec x, int lift, const constants_t *c) {
  return low_add(x, high_add(lifted(lift, c), x, c->m.mu), c->m.minus_q);
}

// The roots of a pass with their quotients by their place in its tree: w[2] of the first stage, w[4] and w[6] of the
// next. They are read before any value is written, so that they stay where they are.
HXS_INLINE void pass_roots(hx_vec *w, const uint64_t *roots, size_t node, int stages) {
  UNROLL for (int s = 0; s < stages; s++) {
    UNROLL for (int i = 0; i < 1 << s; i++) {
      w[2 * ((1 << s) + i)] = splat(roots[2 * ((node << s) + (size_t)i)]);
      w[2 * ((1 << s) + i) + 1] = splat(roots[2 * ((node << s) + (size_t)i) + 1]);
    }
  }
}

HXS_INLINE hx_vec pair_of(const uint64_t *p) {
  return _mm512_broadcast_i64x2(_mm_load_si128((const __m128i *)(const void *)p));
}
HXS_INLINE hx_vec four_of(const uint64_t *p) {
  return _mm512_broadcast_i64x4(_mm256_load_si256((const __m256i *)(const void *)p));
}

HXS_INLINE hx_vec chosen(hx_vec a, hx_vec b, const places_t *places) {
  return _mm512_permutex2var_epi64(a, fresh((const hx_vec *)(const void *)places), b);
}

// Twiddles of one group, from beyond L1.
HXS_INLINE void ask(const uint64_t *group) {
  UNROLL for (int i = 0; i < 14; i++) { _mm_prefetch((const char *)(group + 8 * i), _MM_HINT_T0); }
}

// Stages of the pass over a block larger than L1: what is left is to be even, or L1 sized.
HXS_INLINE int outer_stages(uint32_t log_size) { return log_size % 2 == 1 ? 3 : 2; }

#endif
