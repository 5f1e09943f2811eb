// SPDX-License-Identifier: Apache-2.0
// Affine combinations of rows with 52-bit products: two accumulators without a reduction, one Montgomery reduction an
// output. Primes of the ring, and so inputs, are below 2^50; rows have a multiple of 8 residues.
#include "kernels/convert/convert.h"
#include "kernels/ifma.h"

#define MOST 256u  // primes of a ring
// Terms between two reductions of the high accumulator. A high half is below q/4, so 7 of them, what was reduced to
// [0, q) before and the q that ifma_redc adds stay below 3.75q and a few carries < 2^52.
#define CHUNK 7u

typedef struct lanes {
  ifma_modulus_t m;
  hx_vec inverse, start;
  uint64_t weights[MOST];
} lanes_t;

static void lanes_of(lanes_t *l, const hxs_affine *map, const hxs_modulus *modulus) {
  l->m = ifma_modulus(modulus->q);
  l->inverse = splat(modulus->inverse & (HX_CPU_IFMA_LIMIT - 1));
  l->start = splat(ifma_from_montgomery64(map->start, modulus));
  for (uint32_t k = 0; k < map->count; k++) {
    l->weights[k] = ifma_from_montgomery64(map->weights[k], modulus);
  }
}

// `count` is a constant where it is small.
HXS_INLINE void combine_count(uint64_t *out, const void *const *in, const lanes_t *l, uint32_t count, size_t n,
                              int full) {
  for (size_t i = 0; i < n; i += 8) {
    hx_vec lo = l->start, hi = _mm512_setzero_si512();
    for (uint32_t k = 0; k < count; k++) {
      hx_vec x = load((const uint64_t *)in[k] + i), w = splat(l->weights[k]);
      if (k > 0 && k % CHUNK == 0) {
        hi = ifma_normal(_mm512_add_epi64(hi, _mm512_srli_epi64(lo, 52)), &l->m);
        lo = _mm512_and_si512(lo, l->m.mask);
      }
      lo = low_add(lo, x, w);
      hi = high_add(hi, x, w);
    }
    hx_vec r = ifma_redc(hi, lo, l->inverse, &l->m);
    store(out + i, full ? ifma_once(r, l->m.q) : r);
  }
}

HXS_INLINE void combine_rows(void *out, const void *const *in, const hxs_affine *map, const hxs_modulus *modulus,
                             size_t n, int full) {
  lanes_t l;
  lanes_of(&l, map, modulus);
  switch (map->count) {
    case 1:
      combine_count(out, in, &l, 1, n, full);
      break;
    case 2:
      combine_count(out, in, &l, 2, n, full);
      break;
    case 3:
      combine_count(out, in, &l, 3, n, full);
      break;
    case 4:
      combine_count(out, in, &l, 4, n, full);
      break;
    case 5:
      combine_count(out, in, &l, 5, n, full);
      break;
    case 6:
      combine_count(out, in, &l, 6, n, full);
      break;
    case 7:
      combine_count(out, in, &l, 7, n, full);
      break;
    default:
      combine_count(out, in, &l, map->count, n, full);
      break;
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

const hx_cpu_convert_t hx_cpu_convert_avx512ifma = {
    .combine = combine, .combine_lazy = combine_lazy, .lift_signed = lift_signed};
