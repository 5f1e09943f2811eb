// SPDX-License-Identifier: Apache-2.0
// Affine combinations of rows with 52-bit products. Of few inputs each product is reduced by the quotient of its
// weight; of many, two accumulators take them without a reduction, and one Montgomery reduction ends it. Primes of the
// ring, and so inputs, are below 2^50; rows have a multiple of 8 residues.
#include <stdbool.h>

#include "kernels/convert/convert.h"
#include "kernels/ifma.h"
#include "kernels/unroll.h"

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
    hx_vec lo = l->start, hi = fresh_zero();
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

static void combine_many(uint64_t *out, const void *const *in, const hxs_affine *map, const hxs_modulus *modulus,
                         size_t n, int full) {
  lanes_t l;
  lanes_of(&l, map, modulus);
  if (full) {
    combine_count(out, in, &l, map->count, n, 1);
  } else {
    combine_count(out, in, &l, map->count, n, 0);
  }
}

// ---- few inputs: every product reduced by itself, by its weight's quotient

#define FEW 8u

// weight and floor(weight * 2^52 / q), out of Montgomery form. gaps: how many products the sum takes before it is
// reduced, at first and then.
typedef struct few {
  ifma_modulus_t m;
  hx_vec start, weights[FEW], quotients[FEW];
} few_t;

static void few_of(few_t *f, const hxs_affine *map, const hxs_modulus *modulus) {
  const uint64_t q = modulus->q;
  f->m = ifma_modulus(q);
  f->start = splat(hxs_mod_once(hxs_mod_redc_lazy(0, map->start, modulus, 64), q));
  for (uint32_t k = 0; k < map->count; k++) {
    const uint64_t weight = hxs_mod_once(hxs_mod_redc_lazy(0, map->weights[k], modulus, 64), q);
    f->weights[k] = splat(weight);
    f->quotients[k] = splat((uint64_t)(((hxs_u128)weight << 52) / q));
  }
}

// An input is below 2^50, so a product is below q + q * 2^50 / 2^52 = 5q/4. With `room` q below 2^52 the sum takes
// products from `start` < q on, and from a reduced value < 2q on, until 5/4 more would leave the room. In quarters of
// q.
HXS_INLINE void sum_few(uint64_t *out, const void *const *in, const few_t *f, uint32_t count, uint32_t room, size_t n,
                        int full) {
  for (size_t i = 0; i < n; i += 8) {
    hx_vec sum = f->start;
    uint32_t quarters = 4;
    UNROLL for (uint32_t k = 0; k < count; k++) {
      const hx_vec x = load((const uint64_t *)in[k] + i), t = high(x, f->quotients[k]);
      if (quarters + 5 > 4 * room) {
        sum = ifma_reduce(sum, &f->m);
        quarters = 8;
      }
      sum = low_add(low_add(sum, x, f->weights[k]), t, f->m.minus_q);
      quarters += 5;
    }
    sum = ifma_clean(sum, &f->m);
    store(out + i, full ? ifma_once(sum, f->m.q) : sum);
  }
}

// Rooms that sizes of primes have: 2^50 has 4, 2^49 8, smaller ones enough.
HXS_INLINE void sum_few_of(uint64_t *out, const void *const *in, const few_t *f, uint32_t count, uint32_t bits,
                           size_t n, int full) {
  if (bits > 49) {
    sum_few(out, in, f, count, 4, n, full);
  } else if (bits > 48) {
    sum_few(out, in, f, count, 8, n, full);
  } else {
    sum_few(out, in, f, count, 16, n, full);
  }
}

HXS_INLINE void combine_few(uint64_t *out, const void *const *in, const hxs_affine *map, const hxs_modulus *modulus,
                            size_t n, int full) {
  few_t f;
  few_of(&f, map, modulus);
  switch (map->count) {
    case 1:
      sum_few_of(out, in, &f, 1, modulus->bits, n, full);
      break;
    case 2:
      sum_few_of(out, in, &f, 2, modulus->bits, n, full);
      break;
    case 3:
      sum_few_of(out, in, &f, 3, modulus->bits, n, full);
      break;
    case 4:
      sum_few_of(out, in, &f, 4, modulus->bits, n, full);
      break;
    case 5:
      sum_few_of(out, in, &f, 5, modulus->bits, n, full);
      break;
    case 6:
      sum_few_of(out, in, &f, 6, modulus->bits, n, full);
      break;
    case 7:
      sum_few_of(out, in, &f, 7, modulus->bits, n, full);
      break;
    default:
      sum_few_of(out, in, &f, 8, modulus->bits, n, full);
      break;
  }
}

// Three instructions an input and what the room asks for, against two and thirteen at the end.
static bool takes_few(const hxs_affine *map, const hxs_modulus *m) { return map->count <= (m->bits > 49 ? 4u : FEW); }

static void combine_rows(void *out, const void *const *in, const hxs_affine *map, const hxs_modulus *m, size_t n,
                         int full) {
  if (!takes_few(map, m)) {
    combine_many(out, in, map, m, n, full);
  } else if (full) {
    combine_few(out, in, map, m, n, 1);
  } else {
    combine_few(out, in, map, m, n, 0);
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
