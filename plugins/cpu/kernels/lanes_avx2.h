// SPDX-License-Identifier: Apache-2.0
// Four lanes of u64 with AVX2: the primitives that files *_lanes.h are written in. For files *_avx2.c.
#ifndef HX_CPU_KERNELS_LANES_AVX2_H
#define HX_CPU_KERNELS_LANES_AVX2_H

#include <immintrin.h>

#include "heliox/support/modular.h"

#define LANES 4u
#define LANES_LOG2 2
#define LANES_STAGES 2  // of a pass: 2^2 values in registers
#define LANES_PAIRS 1   // of vectors, in the stages within vectors

typedef __m256i lanes_t;

HXS_INLINE lanes_t lanes_splat(uint64_t x) { return _mm256_set1_epi64x((long long)x); }
HXS_INLINE lanes_t lanes_load(const uint64_t *p) { return _mm256_loadu_si256((const __m256i *)(const void *)p); }
HXS_INLINE void lanes_store(uint64_t *p, lanes_t v) { _mm256_storeu_si256((__m256i *)(void *)p, v); }
HXS_INLINE lanes_t lanes_zero(void) { return _mm256_setzero_si256(); }
HXS_INLINE lanes_t lanes_add(lanes_t a, lanes_t b) { return _mm256_add_epi64(a, b); }
HXS_INLINE lanes_t lanes_sub(lanes_t a, lanes_t b) { return _mm256_sub_epi64(a, b); }
// Of the low 32 bits of each lane.
HXS_INLINE lanes_t lanes_mul32(lanes_t a, lanes_t b) { return _mm256_mul_epu32(a, b); }
// The high 32 bits where the low ones are; the rest is noise.
HXS_INLINE lanes_t lanes_top32(lanes_t a) { return _mm256_castps_si256(_mm256_movehdup_ps(_mm256_castsi256_ps(a))); }
HXS_INLINE lanes_t lanes_down32(lanes_t a) { return _mm256_srli_epi64(a, 32); }
HXS_INLINE lanes_t lanes_low32(lanes_t a) { return _mm256_and_si256(a, _mm256_set1_epi64x(0xffffffff)); }
HXS_INLINE lanes_t lanes_mul_low(lanes_t a, lanes_t b) {
  const lanes_t cross = _mm256_add_epi64(lanes_mul32(lanes_top32(a), b), lanes_mul32(a, lanes_top32(b)));
  return _mm256_add_epi64(lanes_mul32(a, b), _mm256_slli_epi64(cross, 32));
}
HXS_INLINE lanes_t lanes_down(lanes_t a, uint32_t bits) { return _mm256_srl_epi64(a, _mm_cvtsi32_si128((int)bits)); }
HXS_INLINE lanes_t lanes_up(lanes_t a, uint32_t bits) { return _mm256_sll_epi64(a, _mm_cvtsi32_si128((int)bits)); }
HXS_INLINE lanes_t lanes_or(lanes_t a, lanes_t b) { return _mm256_or_si256(a, b); }
// x - m where x >= m, else x; m < 2^63, x < m + 2^63: the sign of the difference says which.
HXS_INLINE lanes_t lanes_once(lanes_t x, lanes_t m) {
  const lanes_t d = _mm256_sub_epi64(x, m);
  return _mm256_castpd_si256(_mm256_blendv_pd(_mm256_castsi256_pd(d), _mm256_castsi256_pd(x), _mm256_castsi256_pd(d)));
}
// 1 where the unsigned sum a + b = sum has wrapped, else 0.
HXS_INLINE lanes_t lanes_carry(lanes_t sum, lanes_t b) {
  const lanes_t top = _mm256_set1_epi64x(INT64_MIN);
  return _mm256_srli_epi64(_mm256_cmpgt_epi64(_mm256_xor_si256(b, top), _mm256_xor_si256(sum, top)), 63);
}

// The last stages are within vectors. Before stage k (values 2, 1 apart) two vectors a0..a3, b0..b3 become the lower
// and the upper halves of their blocks; the last function gives the natural order again.
HXS_INLINE void lanes_part(lanes_t *a, lanes_t *b, int stage) {
  const lanes_t x = *a, y = *b;
  *a = stage == 0 ? _mm256_permute2x128_si256(x, y, 0x20) : _mm256_unpacklo_epi64(x, y);  // a0 a1 b0 b1; a0 a2 b0 b2
  *b = stage == 0 ? _mm256_permute2x128_si256(x, y, 0x31) : _mm256_unpackhi_epi64(x, y);  // a2 a3 b2 b3; a1 a3 b1 b3
}
HXS_INLINE void lanes_restore(lanes_t *a, lanes_t *b) {
  const lanes_t x = _mm256_unpacklo_epi64(*a, *b), y = _mm256_unpackhi_epi64(*a, *b);  // a0 a1 b0 b1, a2 a3 b2 b3
  *a = _mm256_permute2x128_si256(x, y, 0x20);
  *b = _mm256_permute2x128_si256(x, y, 0x31);
}

// Backwards: from natural order to that of stage 1, from stage 1 to that of stage 0, from stage 0 to natural order.
HXS_INLINE void lanes_spread(lanes_t *a, lanes_t *b) {
  const lanes_t x = _mm256_permute2x128_si256(*a, *b, 0x20), y = _mm256_permute2x128_si256(*a, *b, 0x31);
  *a = _mm256_unpacklo_epi64(x, y);  // a0 a2 b0 b2
  *b = _mm256_unpackhi_epi64(x, y);  // a1 a3 b1 b3
}
HXS_INLINE void lanes_join(lanes_t *a, lanes_t *b, int stage) {
  const lanes_t x = *a, y = *b;
  *a = stage == 0 ? _mm256_permute2x128_si256(x, y, 0x20) : _mm256_unpacklo_epi64(x, y);
  *b = stage == 0 ? _mm256_permute2x128_si256(x, y, 0x31) : _mm256_unpackhi_epi64(x, y);
}

// The roots of stage k for both vectors, from consecutive ones: 2 or 4.
HXS_INLINE lanes_t lanes_roots(const uint64_t *p, int stage) {
  const lanes_t x = stage == 0 ? _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)p))
                               : _mm256_loadu_si256((const __m256i *)(const void *)p);
  return stage == 0 ? _mm256_permute4x64_epi64(x, 0x50) : x;
}

#include "kernels/lanes.h"  // after what it is written in

#endif
