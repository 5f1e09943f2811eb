// SPDX-License-Identifier: Apache-2.0
// Arithmetic of one prime, q < 2^61, in 64-bit words: for kernels and, compiled by the host's compiler, for tests and
// for the numbers of tables. Branch-free in the residues.
#ifndef HX_OPENCL_KERNELS_ARITH_H
#define HX_OPENCL_KERNELS_ARITH_H

#include "args.h"

#ifdef __OPENCL_VERSION__
#define HX_OPENCL_FN static inline
#else
#define HX_OPENCL_FN static inline __attribute__((always_inline))
__extension__ typedef unsigned __int128 hx_opencl_u128;
#endif

// With HX_OPENCL_WIDE the compiler has 128-bit products, which on processors is one instruction where mul_hi is many.
HX_OPENCL_FN uint64_t mul_high(uint64_t a, uint64_t b) {
#ifndef __OPENCL_VERSION__
  return (uint64_t)(((hx_opencl_u128)a * b) >> 64);
#elif defined HX_OPENCL_WIDE
  return (uint64_t)(((unsigned __int128)a * b) >> 64);
#else
  return mul_hi(a, b);
#endif
}

// A double word; sums wrap mod 2^128.
typedef struct hx_opencl_sum {
  uint64_t high, low;
} hx_opencl_sum_t;

HX_OPENCL_FN hx_opencl_sum_t sum_of(uint64_t high, uint64_t low) {
  hx_opencl_sum_t sum;
  sum.high = high;
  sum.low = low;
  return sum;
}

HX_OPENCL_FN hx_opencl_sum_t sum_product(hx_opencl_sum_t sum, uint64_t a, uint64_t b) {
  const uint64_t low = a * b;
  sum.low += low;
  sum.high += mul_high(a, b) + (sum.low < low ? 1 : 0);
  return sum;
}

// x - q if x >= q, else x. Needs x < q + 2^63 and q < 2^63: then exactly one of x and x - q (mod 2^64) is below q or
// the smaller, since x - q wraps to at least 2^63 where x < q.
HX_OPENCL_FN uint64_t mod_once(uint64_t x, uint64_t q) {
#ifdef __OPENCL_VERSION__
  return min(x, x - q);
#else
  const uint64_t d = x - q;
  return d + (q & (0 - (d >> 63)));
#endif
}

// x * c mod q in [0, 2q) for any word x: the quotient is at most one short.
HX_OPENCL_FN uint64_t mod_shoup(uint64_t x, uint64_t value, uint64_t quotient, uint64_t q) {
  return x * value - mul_high(x, quotient) * q;
}

// Any word mod q in [0, 2q): x/q - x*ratio/2^64 < x/2^64 + 1 < 2.
HX_OPENCL_FN uint64_t mod_word(uint64_t x, uint64_t ratio, uint64_t q) { return x - mul_high(x, ratio) * q; }

// z mod q for z < q * 2^(L+1) (so for sums of two products and for a * b + c): top = floor(z / 2^(L-2)) < 2^64; the
// quotient loses below 2^(L-2)/q + top/2^64 + 1 < 2.5, so the rest is in [0, 3q).
HX_OPENCL_FN uint64_t mod_product(hx_opencl_sum_t z, const hx_opencl_prime_t *p) {
  const uint32_t shift = (uint32_t)p->bits - 2;
  const uint64_t top = z.low >> shift | z.high << (64 - shift);
  const uint64_t rest = z.low - mul_high(top, p->barrett) * p->q;
  return mod_once(mod_once(rest, p->two_q), p->q);
}

HX_OPENCL_FN uint64_t mod_mul(uint64_t a, uint64_t b, const hx_opencl_prime_t *p) {
  return mod_product(sum_product(sum_of(0, 0), a, b), p);
}

// Any double word mod q: high * 2^64 by Shoup in [0, 2q), low in [0, 2q), their sum below 4q.
HX_OPENCL_FN uint64_t mod_wide(hx_opencl_sum_t z, const hx_opencl_prime_t *p) {
  const uint64_t sum = mod_shoup(z.high, p->radix, p->radix_quotient, p->q) + mod_word(z.low, p->ratio, p->q);
  return mod_once(mod_once(sum, p->two_q), p->q);
}

// Montgomery: z * 2^-64 mod q. The high word is first brought below q; low * q^-1 * q has the same low word, so the
// difference of the high words is exact and in (-q, q).
HX_OPENCL_FN uint64_t mod_redc(hx_opencl_sum_t z, const hx_opencl_prime_t *p) {
  const uint64_t high = mod_once(mod_word(z.high, p->ratio, p->q), p->q);
  return mod_once(high - mul_high(z.low * p->inverse, p->q) + p->q, p->q);
}

// ---- places in automorphisms

// The last `bits` bits of i, the other way round; 1 <= bits <= 32.
HX_OPENCL_FN uint32_t reverse_bits(uint32_t i, uint32_t bits) {
  i = (i >> 1 & 0x55555555u) | (i & 0x55555555u) << 1;
  i = (i >> 2 & 0x33333333u) | (i & 0x33333333u) << 2;
  i = (i >> 4 & 0x0f0f0f0fu) | (i & 0x0f0f0f0fu) << 4;
  i = (i >> 8 & 0x00ff00ffu) | (i & 0x00ff00ffu) << 8;
  return (i >> 16 | i << 16) >> (32 - bits);
}

// ntt domain: out[i] = in[brv(((g (2 brv(i) + 1)) mod 2n - 1) / 2)]; 2n divides 2^32, so products may wrap.
HX_OPENCL_FN uint32_t permuted_place(uint32_t i, uint32_t element, uint32_t log_n) {
  const uint32_t odd = element * (2 * reverse_bits(i, log_n) + 1) & ((2u << log_n) - 1);
  return reverse_bits(odd >> 1, log_n);
}

#endif
