// SPDX-License-Identifier: Apache-2.0
// Affine combinations of rows in lanes of 64 bits, for all primes below 2^61. Goes after lanes_avx512.h or
// lanes_avx2.h.
#ifndef HX_CPU_KERNELS_CONVERT_LANES_H
#define HX_CPU_KERNELS_CONVERT_LANES_H

#include "kernels/convert/convert.h"
#include "kernels/lanes_sum.h"

// Constants out of Montgomery form: one Montgomery reduction of the value itself.
static uint64_t plain(uint64_t c, const hxs_modulus *m) { return hxs_mod_once(hxs_mod_redc_lazy(0, c, m, 64), m->q); }

HXS_INLINE void combine_rows(void *out, const void *const *in, const hxs_affine *map, const hxs_modulus *modulus,
                             size_t n, int full) {
  uint64_t weights[256], *to = out;  // a ring has no more primes
  const lanes_modulus_t m = lanes_modulus(modulus);
  const lanes_t start = lanes_splat(plain(map->start, modulus));
  for (uint32_t k = 0; k < map->count; k++) {
    weights[k] = plain(map->weights[k], modulus);
  }
  for (size_t i = 0; i < n; i += LANES) {
    lanes_sum_t s = lanes_sum_of(start);
    for (uint32_t k = 0; k < map->count; k++) {
      lanes_sum_add(&s, lanes_load((const uint64_t *)in[k] + i), lanes_splat(weights[k]));
      if (k % LANES_CHUNK == LANES_CHUNK - 1) {
        s = lanes_sum_of(lanes_full(lanes_sum_reduce(s, &m), &m));
      } else if (k % LANES_FOLD == LANES_FOLD - 1) {
        lanes_sum_fold(&s);
      }
    }
    const lanes_t sum = lanes_half_normal(lanes_sum_reduce(s, &m), &m);
    lanes_store(to + i, full ? lanes_once(sum, m.q) : sum);
  }
}

static void combine(void *out, const void *const *in, const hxs_affine *map, const hxs_modulus *m, size_t n) {
  combine_rows(out, in, map, m, n, 1);
}

static void combine_lazy(void *out, const void *const *in, const hxs_affine *map, const hxs_modulus *m, size_t n) {
  combine_rows(out, in, map, m, n, 0);
}

static void lift_signed(void *out, const int64_t *in, const hxs_modulus *m, size_t n) {
  hx_cpu_convert_portable64.lift_signed(out, in, m, n);
}

#endif
