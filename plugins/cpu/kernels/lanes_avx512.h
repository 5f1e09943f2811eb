// SPDX-License-Identifier: Apache-2.0
// Eight lanes of u64 with AVX-512 F and DQ: the primitives that files *_lanes.h are written in. For files *_avx512dq.c.
#ifndef HX_CPU_KERNELS_LANES_AVX512_H
#define HX_CPU_KERNELS_LANES_AVX512_H

#include <immintrin.h>

#include "heliox/support/modular.h"

#define LANES 8u
#define LANES_LOG2 3
#define LANES_STAGES 3  // of a pass: 2^3 values in registers
#define LANES_PAIRS 4   // of vectors, in the stages within vectors

typedef __m512i lanes_t;

HXS_INLINE lanes_t lanes_splat(uint64_t x) { return _mm512_set1_epi64((long long)x); }
HXS_INLINE lanes_t lanes_load(const uint64_t *p) { return _mm512_loadu_si512(p); }
HXS_INLINE void lanes_store(uint64_t *p, lanes_t v) { _mm512_storeu_si512(p, v); }
HXS_INLINE lanes_t lanes_zero(void) { return _mm512_setzero_si512(); }
HXS_INLINE lanes_t lanes_add(lanes_t a, lanes_t b) { return _mm512_add_epi64(a, b); }
HXS_INLINE lanes_t lanes_sub(lanes_t a, lanes_t b) { return _mm512_sub_epi64(a, b); }
// Of the low 32 bits of each lane.
HXS_INLINE lanes_t lanes_mul32(lanes_t a, lanes_t b) { return _mm512_mul_epu32(a, b); }
// The high 32 bits where the low ones are; the rest is noise.
HXS_INLINE lanes_t lanes_top32(lanes_t a) { return _mm512_castps_si512(_mm512_movehdup_ps(_mm512_castsi512_ps(a))); }
HXS_INLINE lanes_t lanes_down32(lanes_t a) { return _mm512_srli_epi64(a, 32); }
HXS_INLINE lanes_t lanes_low32(lanes_t a) { return _mm512_and_si512(a, _mm512_set1_epi64(0xffffffff)); }
HXS_INLINE lanes_t lanes_mul_low(lanes_t a, lanes_t b) { return _mm512_mullo_epi64(a, b); }
HXS_INLINE lanes_t lanes_down(lanes_t a, uint32_t bits) { return _mm512_srl_epi64(a, _mm_cvtsi32_si128((int)bits)); }
HXS_INLINE lanes_t lanes_up(lanes_t a, uint32_t bits) { return _mm512_sll_epi64(a, _mm_cvtsi32_si128((int)bits)); }
HXS_INLINE lanes_t lanes_or(lanes_t a, lanes_t b) { return _mm512_or_si512(a, b); }
// x - m where x >= m, else x; m < 2^63, x < m + 2^63.
HXS_INLINE lanes_t lanes_once(lanes_t x, lanes_t m) { return _mm512_min_epu64(x, _mm512_sub_epi64(x, m)); }
// 1 where the unsigned sum a + b = sum has wrapped, else 0.
HXS_INLINE lanes_t lanes_carry(lanes_t sum, lanes_t b) {
  return _mm512_maskz_set1_epi64(_mm512_cmplt_epu64_mask(sum, b), 1);
}

// The last stages are within vectors. Before stage k (values 4, 2, 1 apart) two vectors a0..a7, b0..b7 become the
// lower and the upper halves of their blocks; the last function gives the natural order again.
HXS_INLINE void lanes_part(lanes_t *a, lanes_t *b, int stage) {
  const lanes_t x = *a, y = *b;
  if (stage == 0) {
    *a = _mm512_shuffle_i64x2(x, y, 0x44);  // a0 a1 a2 a3 b0 b1 b2 b3
    *b = _mm512_shuffle_i64x2(x, y, 0xee);
  } else if (stage == 1) {
    *a = _mm512_shuffle_i64x2(x, y, 0x88);  // a0 a1 b0 b1 a4 a5 b4 b5
    *b = _mm512_shuffle_i64x2(x, y, 0xdd);  // a2 a3 b2 b3 a6 a7 b6 b7
  } else {
    *a = _mm512_unpacklo_epi64(x, y);  // a0 a2 b0 b2 a4 a6 b4 b6
    *b = _mm512_unpackhi_epi64(x, y);  // a1 a3 b1 b3 a5 a7 b5 b7
  }
}
HXS_INLINE void lanes_restore(lanes_t *a, lanes_t *b) {
  const lanes_t x = *a, y = *b;
  *a = _mm512_permutex2var_epi64(x, _mm512_setr_epi64(0, 8, 1, 9, 4, 12, 5, 13), y);
  *b = _mm512_permutex2var_epi64(x, _mm512_setr_epi64(2, 10, 3, 11, 6, 14, 7, 15), y);
}

// Backwards: from natural order to that of stage 2, from stage k to that of stage k - 1, from stage 0 to natural order.
HXS_INLINE void lanes_spread(lanes_t *a, lanes_t *b) {
  const lanes_t x = *a, y = *b;
  *a = _mm512_permutex2var_epi64(x, _mm512_setr_epi64(0, 2, 8, 10, 4, 6, 12, 14), y);
  *b = _mm512_permutex2var_epi64(x, _mm512_setr_epi64(1, 3, 9, 11, 5, 7, 13, 15), y);
}
HXS_INLINE void lanes_join(lanes_t *a, lanes_t *b, int stage) {
  const lanes_t x = *a, y = *b;
  if (stage == 2) {
    *a = _mm512_unpacklo_epi64(x, y);  // a0 a1 b0 b1 a4 a5 b4 b5
    *b = _mm512_unpackhi_epi64(x, y);  // a2 a3 b2 b3 a6 a7 b6 b7
  } else if (stage == 1) {
    *a = _mm512_permutex2var_epi64(x, _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11), y);  // a0 a1 a2 a3 b0 b1 b2 b3
    *b = _mm512_permutex2var_epi64(x, _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15), y);
  } else {
    *a = _mm512_shuffle_i64x2(x, y, 0x44);
    *b = _mm512_shuffle_i64x2(x, y, 0xee);
  }
}

// The roots of stage k for both vectors, from consecutive ones: 2, 4 or 8.
HXS_INLINE lanes_t lanes_roots(const uint64_t *p, int stage) {
  if (stage == 0) {
    return _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 0, 0, 0, 1, 1, 1, 1),
                                    _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)(const void *)p)));
  }
  if (stage == 1) {
    return _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 0, 2, 2, 1, 1, 3, 3),
                                    _mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *)(const void *)p)));
  }
  return _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 1, 4, 5, 2, 3, 6, 7), _mm512_loadu_si512(p));
}

#include "kernels/lanes.h"  // after what it is written in

#endif
