// SPDX-License-Identifier: Apache-2.0
// Arithmetic of one prime, for the device and, compiled by the host's compiler, for tests. Branch-free in the residues.
//
// Integer path: q < 2^61, 64-bit words. Real path: q < 2^50, residues as doubles, centred; every operation is exact or
// its error is bounded below.
#ifndef HX_CUDA_KERNELS_ARITH_H
#define HX_CUDA_KERNELS_ARITH_H

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "args.h"

#ifdef __CUDACC__
#define HX_CUDA_FN static __device__ __forceinline__
#else
#define HX_CUDA_FN static inline __attribute__((always_inline))
__extension__ typedef unsigned __int128 hx_cuda_u128;
#endif

HX_CUDA_FN uint64_t mul_high(uint64_t a, uint64_t b) {
#ifdef __CUDACC__
  return __umul64hi(a, b);
#else
  return (uint64_t)(((hx_cuda_u128)a * b) >> 64);
#endif
}

// A double word; sums wrap mod 2^128.
typedef struct hx_cuda_wide {
  uint64_t high, low;
} hx_cuda_wide_t;

HX_CUDA_FN void wide_mul_add(hx_cuda_wide_t *sum, uint64_t a, uint64_t b) {
#ifdef __CUDACC__
  // The low word is written before the factors are read again: it must not share a register with one of the same value.
  asm("mad.lo.cc.u64 %0, %2, %3, %0;\n\tmadc.hi.u64 %1, %2, %3, %1;"
      : "+&l"(sum->low), "+l"(sum->high)
      : "l"(a), "l"(b));
#else
  uint64_t low = a * b;
  sum->low += low;
  sum->high += mul_high(a, b) + (sum->low < low);
#endif
}

// x - q if x >= q, else x. Needs x < 2q + 2^63.
HX_CUDA_FN uint64_t mod_once(uint64_t x, uint64_t q) {
#ifdef __CUDACC__
  return min(x, x - q);
#else
  uint64_t d = x - q;
  return d + (q & (0 - (d >> 63)));
#endif
}

// x * c mod q in [0, 2q) for any word x: the quotient is at most one short.
HX_CUDA_FN uint64_t mod_shoup(uint64_t x, uint64_t value, uint64_t quotient, uint64_t q) {
  return x * value - mul_high(x, quotient) * q;
}

// Any word mod q in [0, 2q): x/q - x*ratio/2^64 < x/2^64 + 1 < 2.
HX_CUDA_FN uint64_t mod_word(uint64_t x, uint64_t ratio, uint64_t q) { return x - mul_high(x, ratio) * q; }

// z mod q for z < q * 2^(L+1) (so for sums of two products and for a * b + c): top = floor(z / 2^(L-2)) < 2^64; the
// quotient loses below 2^(L-2)/q + top/2^64 + 1 < 2.5, so the rest is in [0, 3q).
HX_CUDA_FN uint64_t mod_product(hx_cuda_wide_t z, const hx_cuda_prime_t *p) {
  const uint32_t shift = p->bits - 2;
  const uint64_t top = z.low >> shift | z.high << (64 - shift);
  const uint64_t rest = z.low - mul_high(top, p->barrett) * p->q;
  return mod_once(mod_once(rest, p->two_q), p->q);
}

HX_CUDA_FN uint64_t mod_mul(uint64_t a, uint64_t b, const hx_cuda_prime_t *p) {
  hx_cuda_wide_t z = {0, 0};
  wide_mul_add(&z, a, b);
  return mod_product(z, p);
}

// Any double word mod q: high * 2^64 by Shoup in [0, 2q), low in [0, 2q), their sum below 4q.
HX_CUDA_FN uint64_t mod_wide(hx_cuda_wide_t z, const hx_cuda_prime_t *p) {
  const uint64_t sum = mod_shoup(z.high, p->radix, p->radix_quotient, p->q) + mod_word(z.low, p->ratio, p->q);
  return mod_once(mod_once(sum, p->two_q), p->q);
}

// Montgomery: z * 2^-64 mod q. The high word is first brought below q; low * q^-1 * q has the same low word, so the
// difference of the high words is exact and in (-q, q).
HX_CUDA_FN uint64_t mod_redc(hx_cuda_wide_t z, const hx_cuda_prime_t *p) {
  const uint64_t high = mod_once(mod_word(z.high, p->ratio, p->q), p->q);
  return mod_once(high - mul_high(z.low * p->inverse, p->q) + p->q, p->q);
}

// ---- words of 32 bits, q < 2^31: all numbers below are residues, sums below 2q < 2^32, or products below 2^62.

HX_CUDA_FN uint32_t word_high(uint32_t a, uint32_t b) {
#ifdef __CUDACC__
  return __umulhi(a, b);
#else
  return (uint32_t)((uint64_t)a * b >> 32);
#endif
}

// x - q if x >= q, else x. Needs x < 2q.
HX_CUDA_FN uint32_t word_once(uint32_t x, uint32_t q) {
#ifdef __CUDACC__
  return min(x, x - q);
#else
  const uint32_t d = x - q;
  return x < q ? x : d;
#endif
}

// x * value mod q in [0, 2q) for any word x; quotient: floor(value * 2^32 / q), the upper word of a factor's.
HX_CUDA_FN uint32_t word_shoup(uint32_t x, uint32_t value, uint32_t quotient, uint32_t q) {
  return x * value - word_high(x, quotient) * q;
}

// Any z mod q. The upper word of floor(2^64 / q) is floor(2^32 / q), of which q * is 2^32 less r = 2^32 mod q, and the
// lower one floor(r * 2^32 / q): Shoup's quotient of r. So both parts of z are below 2q, and their sum, reduced, below
// 2q again.
HX_CUDA_FN uint32_t word_mod(uint64_t z, uint32_t q, uint64_t ratio) {
  const uint32_t high = (uint32_t)(ratio >> 32), low = (uint32_t)z;
  const uint32_t a = word_shoup((uint32_t)(z >> 32), 0 - high * q, (uint32_t)ratio, q);
  const uint32_t b = low - word_high(low, high) * q;
  return word_once(word_once(a, q) + word_once(b, q), q);
}

// A sum of products of words, each below 2^62, with its upper word below q: then it is below 2^63, and two products fit
// beside it.
HX_CUDA_FN uint64_t word_fold(uint64_t z, uint32_t q, uint64_t ratio) {
  const uint32_t high = (uint32_t)(z >> 32);
  return (uint64_t)word_once(high - word_high(high, (uint32_t)(ratio >> 32)) * q, q) << 32 | (uint32_t)z;
}

// A sum of products in three words, which needs no folds.
typedef struct hx_cuda_word_sum {
  uint32_t low, high, top;
} hx_cuda_word_sum_t;

HX_CUDA_FN void word_mul_add(hx_cuda_word_sum_t *sum, uint32_t a, uint32_t b) {
#ifdef __CUDACC__
  asm("mad.lo.cc.u32 %0, %3, %4, %0;\n\tmadc.hi.cc.u32 %1, %3, %4, %1;\n\taddc.u32 %2, %2, 0;"
      : "+&r"(sum->low), "+&r"(sum->high), "+&r"(sum->top)
      : "r"(a), "r"(b));
#else
  const uint64_t before = (uint64_t)sum->high << 32 | sum->low, after = before + (uint64_t)a * b;
  sum->low = (uint32_t)after;
  sum->high = (uint32_t)(after >> 32);
  sum->top += after < before ? 1 : 0;
#endif
}

// What its rest needs of a prime.
typedef struct hx_cuda_word_numbers {
  uint64_t ratio;
  uint32_t q, radix, radix_quotient;  // 2^64 mod q, and Shoup's quotient of it
} hx_cuda_word_numbers_t;

HX_CUDA_FN hx_cuda_word_numbers_t word_numbers(const hx_cuda_prime_t *p) {
  const hx_cuda_word_numbers_t numbers = {p->ratio, (uint32_t)p->q, (uint32_t)p->radix,
                                          (uint32_t)(p->radix_quotient >> 32)};
  return numbers;
}

// The sum mod q: the lower two words, and the third times 2^64 mod q.
HX_CUDA_FN uint32_t word_rest(const hx_cuda_word_sum_t *sum, hx_cuda_word_numbers_t p) {
  const uint32_t top = word_once(word_shoup(sum->top, p.radix, p.radix_quotient, p.q), p.q);
  return word_once(word_mod((uint64_t)sum->high << 32 | sum->low, p.q, p.ratio) + top, p.q);
}

// ---- real path. Bounds in units of q; e = q * 2^-52 <= 1/4.

HX_CUDA_FN double real_fma(double a, double b, double c) {
#ifdef __CUDACC__
  return __fma_rn(a, b, c);
#else
  return fma(a, b, c);
#endif
}

#define HX_CUDA_ROUND 6755399441055744.0  // 1.5 * 2^52: adding it rounds to an integer what is below 2^51

// x - q * round(x / q), exact; |result| <= q/2 + e. Needs |x| < 2^51 q and |x| < 2^53.
HX_CUDA_FN double real_reduce(double x, double q, double inverse) {
  const double c = real_fma(x, inverse, HX_CUDA_ROUND) - HX_CUDA_ROUND;
  return real_fma(-c, q, x);
}

// x * w mod q for |w| <= q/2 and |x| <= B q, B <= 4. h + l = x * w exactly. c differs from x*w/q by at most 1/2 from
// rounding and (B/2) q 2^-52 from h and 1/q, so |result| <= (1/2 + B/2 * e) q <= q: h - c*q is an integer multiple of
// h's last place and small, so the fused operation is exact, and so is the sum with l.
HX_CUDA_FN double real_mul(double x, double w, double q, double inverse) {
  const double h = x * w;
  const double c = real_fma(h, inverse, HX_CUDA_ROUND) - HX_CUDA_ROUND;
  const double l = real_fma(x, w, -h);
  return real_fma(-c, q, h) + l;
}

HX_CUDA_FN uint64_t real_bits(double x) {
#ifdef __CUDACC__
  return (uint64_t)__double_as_longlong(x);
#else
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
#endif
}

HX_CUDA_FN double real_of_bits(uint64_t bits) {
#ifdef __CUDACC__
  return __longlong_as_double((long long)bits);
#else
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
#endif
}

// A word below 2^52 as a double: the word is the fraction of 2^52 + word.
HX_CUDA_FN double real_load(uint64_t word) { return real_of_bits(word | 0x4330000000000000u) - 4503599627370496.0; }

// An integer in (-q, q) to its residue: x + 1.5 * 2^52 has x as a signed word above the bits of 1.5 * 2^52.
HX_CUDA_FN uint64_t real_word(double x, double q) {
  const uint64_t word = real_bits(x + HX_CUDA_ROUND) - 0x4338000000000000u;
  const uint64_t modulus = real_bits(q + 4503599627370496.0) & 0xfffffffffffffu;
  return word + (modulus & (0 - (word >> 63)));
}

// |x| < 2^51 to its residue in [0, q).
HX_CUDA_FN uint64_t real_store(double x, double q, double inverse) { return real_word(real_reduce(x, q, inverse), q); }

#define HX_CUDA_ROUND_EVEN 13510798882111488.0  // 1.5 * 2^53: adding it rounds to an even integer what is below 2^52

// sum of y_s * w_s mod q for at most 8 terms (one may be a residue times 1), y_s < 2^50, |w_s| <= q/2: `low` is the sum
// mod 2^64, `quotient` the sum of y_s * (w_s / q) in doubles. Partial sums are below 8 * 2^49, so each of 8 roundings
// errs by at most 1/4, the rounded w_s / q by 2^50 * 2^-54 each, rounding to an even integer by 1: in all below 3.6. So
// low - c * q, a number mod 2^64, is in (-4q, 4q).
HX_CUDA_FN uint64_t real_rest(uint64_t low, double quotient, uint64_t q) {
  const uint64_t c = (real_bits(quotient + HX_CUDA_ROUND_EVEN) - 0x4348000000000000u) * 2;
  const uint64_t rest = low - c * q + 4 * q;
  return mod_once(mod_once(mod_once(rest, 4 * q), 2 * q), q);
}

// The same as a double without the last steps: in [-2q, 2q), or in (-4q, 4q) for q < 2^46, where 8q < 2^52.
HX_CUDA_FN double real_rest_centred(uint64_t low, double quotient, uint64_t q, double real_q, bool tight) {
  const uint64_t c = (real_bits(quotient + HX_CUDA_ROUND_EVEN) - 0x4348000000000000u) * 2;
  const uint64_t rest = low - c * q + 4 * q;
  return tight ? real_load(mod_once(rest, 4 * q)) - 2 * real_q : real_load(rest) - 4 * real_q;
}

// A sum of products mod 2^64, in parts: low words' products, and the products that begin at bit 32.
typedef struct hx_cuda_sum {
  uint64_t low;
  uint32_t cross;
} hx_cuda_sum_t;

HX_CUDA_FN void sum_add(hx_cuda_sum_t *sum, uint64_t a, uint64_t b) {
  const uint32_t a0 = (uint32_t)a, a1 = (uint32_t)(a >> 32), b0 = (uint32_t)b, b1 = (uint32_t)(b >> 32);
  sum->low += (uint64_t)a0 * b0;
  sum->cross += a0 * b1;
  sum->cross += a1 * b0;
}
HX_CUDA_FN uint64_t sum_word(const hx_cuda_sum_t *sum) { return sum->low + ((uint64_t)sum->cross << 32); }

// ---- places in automorphisms

HX_CUDA_FN uint32_t reverse_bits(uint32_t i, uint32_t bits) {
#ifdef __CUDACC__
  return __brev(i) >> (32 - bits);
#else
  uint32_t result = 0;
  for (uint32_t k = 0; k < bits; k++, i >>= 1) result = result << 1 | (i & 1);
  return result;
#endif
}

// ntt domain: out[i] = in[brv(((g (2 brv(i) + 1)) mod 2n - 1) / 2)]; 2n divides 2^32, so products may wrap.
HX_CUDA_FN uint32_t permuted_place(uint32_t i, uint32_t element, uint32_t log_n) {
  const uint32_t odd = element * (2 * reverse_bits(i, log_n) + 1) & ((2u << log_n) - 1);
  return reverse_bits(odd >> 1, log_n);
}

#endif
