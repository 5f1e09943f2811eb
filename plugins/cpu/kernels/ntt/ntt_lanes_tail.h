// SPDX-License-Identifier: Apache-2.0
// The stages within vectors of large primes, for files with 52-bit products: their roots lie in the order in which they
// are read (ntt_ifma.h), so that a load, a broadcast for some, is all that a stage takes for them. A part of
// ntt_lanes.h.
#ifndef HX_CPU_KERNELS_NTT_LANES_TAIL_H
#define HX_CPU_KERNELS_NTT_LANES_TAIL_H

#define GROUP_WORDS 112u  // for 64 values: 16 of the first stage, 32, 64

HXS_INLINE lanes_t lanes_places(lanes_t a, lanes_t b, const uint64_t *places) {
  return _mm512_permutex2var_epi64(a, fresh((const lanes_t *)(const void *)places), b);
}

// Roots of stage s for pair p of a group.
HXS_INLINE lanes_root_t lanes_group_root(const uint64_t *group, int s, int p) {
  if (s == 0) {
    const __m128i *w = (const __m128i *)(const void *)(group + 4 * p);
    return lanes_root_of(_mm512_broadcast_i64x2(_mm_load_si128(w)), _mm512_broadcast_i64x2(_mm_load_si128(w + 1)));
  }
  if (s == 1) {
    const __m256i *w = (const __m256i *)(const void *)(group + 16 + 8 * p);
    return lanes_root_of(_mm512_broadcast_i64x4(_mm256_load_si256(w)),
                         _mm512_broadcast_i64x4(_mm256_load_si256(w + 1)));
  }
  return lanes_root_of(lanes_load(group + 48 + 16 * p), lanes_load(group + 56 + 16 * p));
}

// Those of the group at a node; of the fourth one from it they are asked for, which beyond the end does nothing.
HXS_INLINE const uint64_t *lanes_group(const lanes_ring_t *r, size_t node) {
  const uint64_t *group = r->tail + (node / LANES - r->groups) * GROUP_WORDS;
  UNROLL for (int i = 0; i < 14; i++) { _mm_prefetch((const char *)(group + 4 * GROUP_WORDS + 8 * i), _MM_HINT_T0); }
  return group;
}

#define LANES_PLACES static const _Alignas(64) uint64_t

HXS_INLINE void lanes_forward_tail(uint64_t *p, size_t node, const lanes_ring_t *r, bool deep) {
  LANES_PLACES low[] = {0, 8, 1, 9, 2, 10, 3, 11}, top[] = {4, 12, 5, 13, 6, 14, 7, 15};
  LANES_PLACES even[] = {0, 1, 8, 9, 2, 3, 10, 11}, odd[] = {4, 5, 12, 13, 6, 7, 14, 15};
  LANES_PLACES first[] = {0, 8, 4, 12, 2, 10, 6, 14}, second[] = {1, 9, 5, 13, 3, 11, 7, 15};
  const uint64_t *group = lanes_group(r, node);
  lanes_t v[8];
  UNROLL for (int i = 0; i < 8; i++) { v[i] = lanes_load(p + (size_t)i * LANES); }
  UNROLL for (int s = 0; s < 3; s++) {
    UNROLL for (int i = 0; i < 4; i++) {
      const lanes_t a = v[2 * i], b = v[2 * i + 1];
      if (s == 2) {
        v[2 * i] = _mm512_shuffle_i64x2(a, b, 0x44);      // a0 b0 a4 b4 a2 b2 a6 b6
        v[2 * i + 1] = _mm512_shuffle_i64x2(a, b, 0xee);  // a1 b1 a5 b5 a3 b3 a7 b7
      } else {
        v[2 * i] = lanes_places(a, b, s == 0 ? low : even);     // a0 b0 a1 b1 a2 b2 a3 b3; a0 b0 a4 b4 a1 b1 a5 b5
        v[2 * i + 1] = lanes_places(a, b, s == 0 ? top : odd);  // a4 b4 ...; a2 b2 a6 b6 a3 b3 a7 b7
      }
      lanes_split(&v[2 * i], &v[2 * i + 1], lanes_group_root(group, s, i), r, deep, s);
    }
  }
  UNROLL for (int i = 0; i < 4; i++) {
    const lanes_t a = lanes_normal(v[2 * i], deep ? 4 : 2, r), b = lanes_normal(v[2 * i + 1], deep ? 4 : 2, r);
    lanes_store(p + (size_t)(2 * i) * LANES, lanes_places(a, b, first));
    lanes_store(p + (size_t)(2 * i + 1) * LANES, lanes_places(a, b, second));
  }
}

HXS_INLINE void lanes_inverse_tail(uint64_t *out, const uint64_t *in, size_t node, const lanes_ring_t *r, bool deep) {
  LANES_PLACES first[] = {0, 8, 4, 12, 2, 10, 6, 14}, second[] = {1, 9, 5, 13, 3, 11, 7, 15};
  LANES_PLACES low[] = {0, 1, 4, 5, 8, 9, 12, 13}, top[] = {2, 3, 6, 7, 10, 11, 14, 15};
  LANES_PLACES even[] = {0, 2, 4, 6, 8, 10, 12, 14}, odd[] = {1, 3, 5, 7, 9, 11, 13, 15};
  const uint64_t *group = lanes_group(r, node);
  lanes_t v[8];
  int bound[8];
  UNROLL for (int i = 0; i < 8; i++) {
    v[i] = lanes_load(in + (size_t)i * LANES);
    bound[i] = 1;
  }
  UNROLL for (int s = 2; s >= 0; s--) {
    UNROLL for (int i = 0; i < 4; i++) {
      lanes_t *a = &v[2 * i], *b = &v[2 * i + 1];
      int *ba = &bound[2 * i], *bb = &bound[2 * i + 1];
      const lanes_t x = *a, y = *b;
      if (s == 1) {
        *a = _mm512_shuffle_i64x2(x, y, 0x44);  // a0 b0 a4 b4 a1 b1 a5 b5
        *b = _mm512_shuffle_i64x2(x, y, 0xee);  // a2 b2 a6 b6 a3 b3 a7 b7
      } else {
        *a = lanes_places(x, y, s == 2 ? first : low);   // a0 b0 a4 b4 a2 b2 a6 b6; a0 b0 a1 b1 a2 b2 a3 b3
        *b = lanes_places(x, y, s == 2 ? second : top);  // a1 b1 a5 b5 a3 b3 a7 b7; a4 b4 ...
      }
      lanes_merge(a, b, ba, bb, lanes_group_root(group, s, i), r, deep);
      *ba = *bb = *ba > *bb ? *ba : *bb;  // lanes of both are in each
    }
  }
  UNROLL for (int i = 0; i < 4; i++) {
    const lanes_t a = lanes_reduce(v[2 * i], bound[2 * i], r), b = lanes_reduce(v[2 * i + 1], bound[2 * i + 1], r);
    lanes_store(out + (size_t)(2 * i) * LANES, lanes_places(a, b, even));
    lanes_store(out + (size_t)(2 * i + 1) * LANES, lanes_places(a, b, odd));
  }
}

#endif
