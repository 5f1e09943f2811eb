// SPDX-License-Identifier: Apache-2.0
// Variants whose transforms are not taken apart: begin converts, end transforms the whole row where its first block is.
#ifndef HX_CPU_KERNELS_RAISE_APART_H
#define HX_CPU_KERNELS_RAISE_APART_H

#include "kernels/raise/raise.h"

static inline void raise_begin_apart(const hx_cpu_convert_t *convert, void *out, const void *const *in,
                                     const hxs_affine *map, const hxs_modulus *m, uint32_t log_n, uint32_t part,
                                     uint32_t parts) {
  const void *from[256];  // a ring has no more primes
  const size_t count = ((size_t)1 << log_n) / parts, offset = part * count * (m->word / 8);
  for (uint32_t i = 0; i < map->count; i++) {
    from[i] = (const char *)in[i] + offset;
  }
  convert->combine_lazy((char *)out + offset, from, map, m, count);
}

static inline void raise_end_apart(const hx_cpu_ntt_t *ntt, void *row, const hxs_modulus *m, const hx_cpu_twiddles_t *t,
                                   uint32_t log_n, size_t at) {
  if (at == 0) {
    ntt->forward(row, row, m, t, log_n);
  }
}

// The two functions of a table `variant` of convert and ntt, and the table.
#define RAISE_APART(variant)                                                                                        \
  static void begin_##variant(void *out, const void *const *in, const hxs_affine *map, const hxs_modulus *m,        \
                              const hx_cpu_twiddles_t *t, uint32_t log_n, uint32_t part, uint32_t parts) {          \
    (void)t;                                                                                                        \
    raise_begin_apart(&hx_cpu_convert_##variant, out, in, map, m, log_n, part, parts);                              \
  }                                                                                                                 \
  static void end_##variant(void *row, const hxs_modulus *m, const hx_cpu_twiddles_t *t, uint32_t log_n, size_t at, \
                            const hx_cpu_ahead_t *ahead) {                                                          \
    (void)ahead;                                                                                                    \
    raise_end_apart(&hx_cpu_ntt_##variant, row, m, t, log_n, at);                                                   \
  }                                                                                                                 \
  const hx_cpu_raise_t hx_cpu_raise_##variant = {.begin = begin_##variant, .end = end_##variant}

#endif
