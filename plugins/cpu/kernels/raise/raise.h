// SPDX-License-Identifier: Apache-2.0
// Rows of several primes to a row of one in ntt domain: a conversion and a transform, in two steps, so that what
// follows meets a block of the row while it is in L1.
//
//   begin for all parts, in any order; then end for every block, in ascending order; then the row is what
//   convert.combine_lazy and ntt.forward make of it, word for word. Between, it means nothing.
#ifndef HX_CPU_KERNELS_RAISE_H
#define HX_CPU_KERNELS_RAISE_H

#include "kernels/convert/convert.h"
#include "kernels/ntt/ntt.h"

// Memory that is asked for while a block is transformed: `bytes` of a block from each address; NULL: none.
typedef struct hx_cpu_ahead {
  const void *rows[2];
} hx_cpu_ahead_t;

typedef struct hx_cpu_raise {
  // Part `part` of `parts` of a row: equal shares of the coefficients, each read from all inputs, so that a share of
  // these serves several rows before the next one. parts: a power of two, 1 or at most n / 4096. out is none of the
  // inputs, which are as convert.combine takes them.
  void (*begin)(void *out, const void *const *in, const hxs_affine *map, const hxs_modulus *m,
                const hx_cpu_twiddles_t *t, uint32_t log_n, uint32_t part, uint32_t parts);
  // The block at coefficient `at`, a multiple of hx_cpu_raise_block, to values in [0, q). ahead: rows that are needed
  // next, from this block's place on, or NULL.
  void (*end)(void *row, const hxs_modulus *m, const hx_cpu_twiddles_t *t, uint32_t log_n, size_t at,
              const hx_cpu_ahead_t *ahead);
} hx_cpu_raise_t;

// Coefficients of a block: at most 4096, as it is after passes over larger blocks of three stages where their sizes'
// logarithms are odd, of two where they are even.
static inline size_t hx_cpu_raise_block(uint32_t log_n) {
  while (log_n > 12) {
    log_n -= log_n % 2 == 1 ? 3 : 2;
  }
  return (size_t)1 << log_n;
}

extern const hx_cpu_raise_t hx_cpu_raise_portable64, hx_cpu_raise_portable32;
#if defined(__x86_64__)
extern const hx_cpu_raise_t hx_cpu_raise_avx2, hx_cpu_raise_avx512dq, hx_cpu_raise_avx512ifma;
#endif

// Both steps, for rows that nothing follows at once.
static inline void hx_cpu_raise_whole(const hx_cpu_raise_t *raise, void *out, const void *const *in,
                                      const hxs_affine *map, const hxs_modulus *m, const hx_cpu_twiddles_t *t,
                                      uint32_t log_n) {
  const size_t n = (size_t)1 << log_n;
  raise->begin(out, in, map, m, t, log_n, 0, 1);
  for (size_t at = 0; at < n; at += hx_cpu_raise_block(log_n)) {
    raise->end(out, m, t, log_n, at, NULL);
  }
}

#endif
