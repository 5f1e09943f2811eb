// SPDX-License-Identifier: Apache-2.0
// Conversions that end in the registers of the transform's first pass. Primes of the ring, and so inputs, are below
// 2^50.
//
// A sum of converted inputs need not be reduced before the pass: first operands are reduced there, second ones go into
// a product that takes any 52 bits. Only where primes are so small that nothing is ever reduced (wide, q <= 2^45), sums
// count: few inputs leave below 11q, many below 4q, and with what lifts them and sixteen stages all stays below
// 34q + 11q + 32q < 128q <= 2^52.
#include "kernels/ntt/ntt_ifma_forward.h"
#include "kernels/raise/raise_apart.h"

#define MOST 256u  // primes of a ring
#define FEW 8u
// Products between two reductions of the high accumulator: see convert_avx512ifma.c.
#define CHUNK 7u
// Words that inputs are asked for in advance; beyond a row's end that does nothing.
#define INPUT_AHEAD 256u

typedef struct source {
  const void *const *in;
  uint32_t count;
  hx_vec start, inverse;
  hx_vec weights[FEW], quotients[FEW];  // few: out of Montgomery form
  uint64_t words[MOST];                 // many: times 2^52
} source_t;

// Three instructions an input and reductions, against two and ten at the end.
static bool takes_few(uint32_t count, depth_t depth) { return count <= (depth == TIGHT ? 4u : FEW); }

static void source_of(source_t *s, const hxs_affine *map, const hxs_modulus *m, bool few) {
  const uint64_t q = m->q;
  if (!few) {
    s->inverse = splat(m->inverse & (HX_CPU_IFMA_LIMIT - 1));
    s->start = splat(ifma_from_montgomery64(map->start, m));
    for (uint32_t k = 0; k < map->count; k++) {
      s->words[k] = ifma_from_montgomery64(map->weights[k], m);
    }
    return;
  }
  s->start = splat(hxs_mod_once(hxs_mod_redc_lazy(0, map->start, m, 64), q));
  for (uint32_t k = 0; k < map->count; k++) {
    const uint64_t weight = hxs_mod_once(hxs_mod_redc_lazy(0, map->weights[k], m, 64), q);
    s->weights[k] = splat(weight);
    s->quotients[k] = splat((uint64_t)(((hxs_u128)weight << 52) / q));
  }
}

// 2^52 is at least so many times q; in quarters.
HXS_INLINE uint32_t room_of(depth_t depth) { return depth == WIDE ? 512 : depth == TIGHT ? 16 : 28; }

// Sums at `at` of 2^stages strips, each product reduced by its weight's quotient: below q + q * 2^50 / 2^52 = 5q/4. The
// sum takes products from `start` < q on, and from a reduced value < 2q on, as long as there is room.
HXS_INLINE void sum_few(hx_vec *v, const source_t *s, size_t at, size_t stride, const constants_t *c, depth_t depth,
                        int stages) {
  uint32_t quarters = 4;
  UNROLL for (int i = 0; i < 1 << stages; i++) { v[i] = s->start; }
  for (uint32_t k = 0; k < s->count; k++) {
    const uint64_t *x = (const uint64_t *)s->in[k] + at;
    const hx_vec w = s->weights[k], quotient = s->quotients[k];
    if (quarters + 5 > room_of(depth)) {
      UNROLL for (int i = 0; i < 1 << stages; i++) { v[i] = ifma_reduce(v[i], &c->m); }
      quarters = 8;
    }
    UNROLL for (int i = 0; i < 1 << stages; i++) {
      const hx_vec value = load(x + (size_t)i * stride), t = high(value, quotient);
      _mm_prefetch((const char *)(x + (size_t)i * stride + INPUT_AHEAD), _MM_HINT_T1);
      v[i] = low_add(low_add(v[i], value, w), t, c->m.minus_q);
    }
    quarters += 5;
  }
}

// The same in two accumulators with one Montgomery reduction, to values in (0, 3.75q + q).
HXS_INLINE void sum_many(hx_vec *v, const source_t *s, size_t at, size_t stride, const constants_t *c, int stages) {
  hx_vec hi[8];
  UNROLL for (int i = 0; i < 1 << stages; i++) {
    v[i] = s->start;
    hi[i] = fresh_zero();
  }
  for (uint32_t k = 0; k < s->count; k++) {
    const uint64_t *x = (const uint64_t *)s->in[k] + at;
    const hx_vec w = splat(s->words[k]);
    if (k > 0 && k % CHUNK == 0) {
      UNROLL for (int i = 0; i < 1 << stages; i++) {
        hi[i] = ifma_normal(_mm512_add_epi64(hi[i], _mm512_srli_epi64(v[i], 52)), &c->m);
        v[i] = _mm512_and_si512(v[i], c->m.mask);
      }
    }
    UNROLL for (int i = 0; i < 1 << stages; i++) {
      const hx_vec value = load(x + (size_t)i * stride);
      _mm_prefetch((const char *)(x + (size_t)i * stride + INPUT_AHEAD), _MM_HINT_T1);
      v[i] = low_add(v[i], value, w);
      hi[i] = high_add(hi[i], value, w);
    }
  }
  UNROLL for (int i = 0; i < 1 << stages; i++) {
    const hx_vec times = low_add(fresh_zero(), v[i], s->inverse);
    const hx_vec top = _mm512_add_epi64(_mm512_add_epi64(hi[i], _mm512_srli_epi64(v[i], 52)), c->m.q);
    v[i] = _mm512_sub_epi64(top, high(times, c->m.q));
  }
}

// Strips from `at` to `end` of the row's first pass.
HXS_INLINE void begin_strips(uint64_t *out, const source_t *s, const uint64_t *roots, size_t stride, size_t at,
                             size_t end, const constants_t *c, depth_t depth, int stages, int few) {
  hx_vec w[16];
  pass_roots(w, roots, 1, stages);
  for (; at < end; at += 8) {
    hx_vec v[8];
    if (few) {
      sum_few(v, s, at, stride, c, depth, stages);
    } else {
      sum_many(v, s, at, stride, c, stages);
    }
    UNROLL for (int i = 0; i < 1 << (stages - 1); i++) {
      v[i] = depth == WIDE ? _mm512_add_epi64(v[i], c->first) : v[i];
    }
    split_all(v, w, c, depth, stages);
    UNROLL for (int i = 0; i < 1 << stages; i++) { store(out + at + (size_t)i * stride, v[i]); }
  }
}

HXS_INLINE void begin_depth(uint64_t *out, const source_t *s, const uint64_t *roots, uint32_t log_n, uint32_t part,
                            uint32_t parts, const constants_t *c, depth_t depth, bool few) {
  const int stages = first_stages(log_n);
  const size_t stride = ((size_t)1 << log_n) >> stages, count = stride / parts, at = part * count, end = at + count;
  if (stages == 3 && few) {
    begin_strips(out, s, roots, stride, at, end, c, depth, 3, 1);
  } else if (stages == 3) {
    begin_strips(out, s, roots, stride, at, end, c, depth, 3, 0);
  } else if (few) {
    begin_strips(out, s, roots, stride, at, end, c, depth, 2, 1);
  } else {
    begin_strips(out, s, roots, stride, at, end, c, depth, 2, 0);
  }
}

static void begin(void *out, const void *const *in, const hxs_affine *map, const hxs_modulus *m,
                  const hx_cpu_twiddles_t *t, uint32_t log_n, uint32_t part, uint32_t parts) {
  if (t->forward52 == NULL) {
    raise_begin_apart(&hx_cpu_convert_avx512ifma, out, in, map, m, log_n, part, parts);
    return;
  }
  const constants_t *restrict c = constants_of(t->constants52);
  const depth_t depth = depth_of(m->q);
  const bool few = takes_few(map->count, depth);
  source_t s = {.in = in, .count = map->count};
  source_of(&s, map, m, few);
  switch (depth) {
    case WIDE:
      begin_depth(out, &s, t->forward52, log_n, part, parts, c, WIDE, few);
      break;
    case EIGHT:
    case SEVEN:
      begin_depth(out, &s, t->forward52, log_n, part, parts, c, SEVEN, few);
      break;
    default:
      begin_depth(out, &s, t->forward52, log_n, part, parts, c, TIGHT, few);
      break;
  }
}

static void end(void *row, const hxs_modulus *m, const hx_cpu_twiddles_t *t, uint32_t log_n, size_t at,
                const hx_cpu_ahead_t *ahead) {
  if (t->forward52 == NULL) {
    raise_end_apart(&hx_cpu_ntt_avx512ifma, row, m, t, log_n, at);
    return;
  }
  const constants_t *restrict c = constants_of(t->constants52);
  const uint64_t *roots = t->forward52, *tail = roots + ((size_t)1 << log_n) / 4;
  asked_t asked = {{ahead != NULL ? ahead->rows[0] : NULL, ahead != NULL ? ahead->rows[1] : NULL}};
  switch (depth_of(m->q)) {
    case WIDE:
      forward_rest(row, roots, tail, log_n, at, c, WIDE, &asked);
      break;
    case EIGHT:
    case SEVEN:
      forward_rest(row, roots, tail, log_n, at, c, SEVEN, &asked);
      break;
    default:
      forward_rest(row, roots, tail, log_n, at, c, TIGHT, &asked);
      break;
  }
}

const hx_cpu_raise_t hx_cpu_raise_avx512ifma = {.begin = begin, .end = end};
