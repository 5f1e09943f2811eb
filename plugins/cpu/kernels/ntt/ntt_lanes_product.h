// SPDX-License-Identifier: Apache-2.0
// Constants, products and reductions of transforms in lanes of 64 bits. A part of ntt_lanes.h.
//
// A file that has 52-bit products defines LANES_52, for primes that are 1 mod 2^12. Of y = y0 + 2^52 y1 and a root w
// with Q = floor(w 2^64 / q), W = Q >> 12 and F the low 12 bits of Q on top of 52, the quotient is
//   t = floor(y0 W / 2^52) + y1 W + floor(y1 F / 2^52),
// short by less than 4: two floors, y0 / 2^52 for what W has lost and y1 / 2^12 for what Q has lost. Its part from 2^52
// on is h = floor(y1 W / 2^52), the rest is gathered by three products. With q = k 2^12 + 1, t q mod 2^64 is
// (rest) + 2^12 (k (rest) + 2^40 h mod 2^52): two more products, a shift and an addition. A quotient that starts at 2
// gives a forward product in [-2q, 2q): differences are positive without more where first operands are at least 2q for
// each stage to come, 6q to 10q for three of them below 16q.
#ifndef HX_CPU_KERNELS_NTT_LANES_PRODUCT_H
#define HX_CPU_KERNELS_NTT_LANES_PRODUCT_H

#include <stdbool.h>

#include "kernels/ntt/ntt.h"

typedef struct lanes_ring {
  const uint64_t *value, *quotient;
  const uint64_t *tail;  // with 52-bit products: of the stages within vectors
  size_t groups;         // of 64 values
  lanes_t q, by4[5];     // k * 4q
  lanes_t two_q;
  lanes_t minus_k, minus_top, two;  // -k and -2^40 mod 2^52
  // What is taken off a word by its bits from that of 2^bits > q on: floor(i 2^bits / q) q, and less by what lifts
  // first operands.
  lanes_t bits, multiples[2], lifting[2], lift;
} lanes_ring_t;

// A root as its products read it.
typedef struct lanes_root {
  lanes_t value, quotient, part;  // part: the quotient's top half, or F; quotient: whole, or W
} lanes_root_t;

HXS_INLINE lanes_ring_t lanes_ring(const void *value, const void *quotient, const uint64_t *tail, uint32_t log_n,
                                   uint64_t q) {
  lanes_ring_t r = {.value = value,
                    .quotient = quotient,
                    .tail = tail,
                    .groups = (size_t)1 << log_n >> 6,
                    .q = lanes_splat(q),
                    .two_q = lanes_splat(2 * q),
                    .minus_k = lanes_splat(0 - (q >> 12)),
                    .minus_top = lanes_splat(((uint64_t)1 << 52) - ((uint64_t)1 << 40)),
                    .two = lanes_splat(2)};
  for (uint64_t k = 0; k < 5; k++) {
    r.by4[k] = lanes_splat(k * 4 * q);  // 16q may wrap where it is not used
  }
#ifdef LANES_52
  uint64_t multiples[16], lifting[16];
  const uint32_t bits = 64 - (uint32_t)__builtin_clzll(q);
  const uint64_t step = ((uint64_t)1 << bits) - q;  // below q
  uint64_t multiple = 0, rest = 0;                  // their sum is i * 2^bits, mod 2^64
  for (size_t i = 0; i < 16; i++) {
    multiples[i] = multiple;
    lifting[i] = multiple - (bits <= 60 ? 6 : 2) * q;
    rest += step;
    multiple += rest < q ? q : 2 * q;
    rest -= rest < q ? 0 : q;
  }
  r.bits = lanes_splat(bits);
  r.lift = lanes_splat((bits <= 60 ? 6 : 2) * q);
  for (size_t i = 0; i < 2; i++) {
    r.multiples[i] = lanes_load(multiples + LANES * i);
    r.lifting[i] = lanes_load(lifting + LANES * i);
  }
#endif
  return r;
}

HXS_INLINE lanes_root_t lanes_root_of(lanes_t value, lanes_t quotient) {
#ifdef LANES_52
  const lanes_root_t w = {value, _mm512_srli_epi64(quotient, 12), _mm512_slli_epi64(quotient, 40)};
#else
  const lanes_root_t w = {value, quotient, lanes_top32(quotient)};
#endif
  return w;
}

#ifdef LANES_52
// a * w from a quotient that starts at `start`.
HXS_INLINE lanes_t lanes_product_from(lanes_t start, lanes_t a, lanes_root_t w, const lanes_ring_t *r) {
  const lanes_t top = _mm512_srli_epi64(a, 52);
  const lanes_t rest = high_add(low_add(high_add(start, a, w.quotient), top, w.quotient), top, w.part);
  const lanes_t high_part = high(top, w.quotient);
  const lanes_t times = low_add(low_add(fresh_zero(), high_part, r->minus_top), rest, r->minus_k);
  lanes_t product = lanes_sub(lanes_add(lanes_mul_low(a, w.value), _mm512_slli_epi64(times, 12)), rest);
  __asm__("" : "+v"(product));  // a sum and a difference of it are one instruction each
  return product;
}
#endif

// As lanes_times.
HXS_INLINE lanes_t lanes_by_root(lanes_t a, lanes_root_t w, const lanes_ring_t *r) {
#ifdef LANES_52
  return lanes_product_from(fresh_zero(), a, w, r);
#else
  const lanes_factor_t factor = {w.value, w.quotient, w.part};
  return lanes_times(a, factor, r->q);
#endif
}

HXS_INLINE lanes_root_t lanes_root(const lanes_ring_t *r, size_t node) {
  return lanes_root_of(lanes_splat(r->value[node]), lanes_splat(r->quotient[node]));
}

#ifdef LANES_52
// Any word below 16q: what is left of x - floor(i 2^bits / q) q, i = floor(x / 2^bits), is below q + 2^bits < 3q.
HXS_INLINE lanes_t lanes_less(lanes_t x, const lanes_t *multiples, const lanes_ring_t *r) {
  return lanes_sub(x, _mm512_permutex2var_epi64(multiples[0], _mm512_srlv_epi64(x, r->bits), multiples[1]));
}
#endif

// Below bound * 4q to below 4q.
HXS_INLINE lanes_t lanes_reduce(lanes_t x, int bound, const lanes_ring_t *r) {
#ifdef LANES_52
  if (bound > 2) {
    return lanes_less(x, r->multiples, r);
  }
#endif
  x = bound > 2 ? lanes_once(x, r->by4[2]) : x;
  return bound > 1 ? lanes_once(x, r->by4[1]) : x;
}

HXS_INLINE lanes_t lanes_normal(lanes_t x, int bound, const lanes_ring_t *r) {
  return lanes_once(lanes_once(lanes_reduce(x, bound, r), r->two_q), r->q);
}

#endif
