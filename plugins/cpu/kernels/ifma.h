// SPDX-License-Identifier: Apache-2.0
// Arithmetic of one prime q < 2^50 in eight lanes with 52-bit products. For kernels of files *_avx512ifma.c alone.
//
// The products read the low 52 bits of a lane: unless a line says clean, a value is those bits and the rest is noise.
#ifndef HX_CPU_KERNELS_IFMA_H
#define HX_CPU_KERNELS_IFMA_H

#include <immintrin.h>

#include "heliox/support/modular.h"

#define HX_CPU_IFMA_LIMIT ((uint64_t)1 << 52)

typedef __m512i hx_vec;

typedef struct ifma_modulus {
  hx_vec q, two_q, minus_q, mu, mask;
} ifma_modulus_t;

HXS_INLINE hx_vec splat(uint64_t x) { return _mm512_set1_epi64((long long)x); }
HXS_INLINE hx_vec load(const uint64_t *p) { return _mm512_loadu_si512(p); }
HXS_INLINE void store(uint64_t *p, hx_vec v) { _mm512_storeu_si512(p, v); }
// The products add to their first operand and overwrite it. A zero made on the spot costs no port; compilers would copy
// one that they keep, which does.
HXS_INLINE hx_vec fresh_zero(void) {
  hx_vec zero;
  __asm__ volatile("vpxorq %0, %0, %0" : "=v"(zero));
  return zero;
}
// A copy of a constant: read from memory, since a copy of a register takes a port of the products.
HXS_INLINE hx_vec fresh(const hx_vec *constant) {
  hx_vec copy;
  __asm__ volatile("vmovdqa64 %1, %0" : "=v"(copy) : "m"(*constant));
  return copy;
}
HXS_INLINE hx_vec high(hx_vec a, hx_vec b) { return _mm512_madd52hi_epu64(fresh_zero(), a, b); }
HXS_INLINE hx_vec high_add(hx_vec c, hx_vec a, hx_vec b) { return _mm512_madd52hi_epu64(c, a, b); }
HXS_INLINE hx_vec low_add(hx_vec c, hx_vec a, hx_vec b) { return _mm512_madd52lo_epu64(c, a, b); }

HXS_INLINE ifma_modulus_t ifma_modulus(uint64_t q) {
  ifma_modulus_t m = {splat(q), splat(2 * q), splat(HX_CPU_IFMA_LIMIT - q), splat(HX_CPU_IFMA_LIMIT / q),
                      splat(HX_CPU_IFMA_LIMIT - 1)};
  return m;
}

// x mod q in [0, q(1 + f)), f the fraction of 2^52/q: x - floor(x * mu / 2^52) * q < q + x * f * q / 2^52.
HXS_INLINE hx_vec ifma_reduce(hx_vec x, const ifma_modulus_t *m) { return low_add(x, high(x, m->mu), m->minus_q); }

// Clean x in [0, 2 * modulus), to [0, modulus).
HXS_INLINE hx_vec ifma_once(hx_vec x, hx_vec modulus) { return _mm512_min_epu64(x, _mm512_sub_epi64(x, modulus)); }

// Clean, in [0, 2q).
HXS_INLINE hx_vec ifma_clean(hx_vec x, const ifma_modulus_t *m) { return _mm512_and_si512(ifma_reduce(x, m), m->mask); }

// Clean, in [0, q).
HXS_INLINE hx_vec ifma_normal(hx_vec x, const ifma_modulus_t *m) { return ifma_once(ifma_clean(x, m), m->q); }

// y * w mod q in [0, 2q), for any y < 2^52; quotient = floor(w * 2^52 / q).
HXS_INLINE hx_vec ifma_times(hx_vec y, hx_vec w, hx_vec quotient, const ifma_modulus_t *m) {
  hx_vec t = high(y, quotient);
  return low_add(low_add(fresh_zero(), y, w), t, m->minus_q);
}

// A constant with its quotient, in all lanes, from one with the quotient of 64-bit words.
typedef struct ifma_factor {
  hx_vec value, quotient;
} ifma_factor_t;

HXS_INLINE ifma_factor_t ifma_factor(hxs_factor c) {
  ifma_factor_t f = {splat(c.value), splat(c.quotient >> 12)};
  return f;
}

// 2^52 mod q.
HXS_INLINE ifma_factor_t ifma_radix(uint64_t q) {
  const uint64_t r = HX_CPU_IFMA_LIMIT % q;
  ifma_factor_t f = {splat(r), splat((uint64_t)(((hxs_u128)r << 52) / q))};
  return f;
}

// c * 2^-12 mod q: from words times 2^64 to words times 2^52. (c + k q) is divisible by 2^12 and below 2^12 q.
HXS_INLINE uint64_t ifma_from_montgomery64(uint64_t c, const hxs_modulus *m) {
  const uint64_t k = (0 - c * m->inverse) & 0xfff;
  return (uint64_t)(((hxs_u128)k * m->q + c) >> 12);
}

// high * 2^52 + low times 2^-52 mod q, clean, in [0, 2q): inverse = q^-1 mod 2^52. low may have any 64 bits; with its
// carry, high is to be below 2^52 - q. low - k q is divisible by 2^52, so the difference of the high words is exact.
HXS_INLINE hx_vec ifma_redc(hx_vec hi, hx_vec lo, hx_vec inverse, const ifma_modulus_t *m) {
  hx_vec k = low_add(fresh_zero(), lo, inverse);
  hx_vec top = _mm512_add_epi64(_mm512_add_epi64(hi, _mm512_srli_epi64(lo, 52)), m->q);
  return ifma_clean(_mm512_sub_epi64(top, high(k, m->q)), m);
}

#endif
