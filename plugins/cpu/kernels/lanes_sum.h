// SPDX-License-Identifier: Apache-2.0
// Sums of products of 64-bit words in lanes, and their reduction. Goes after lanes_avx512.h or lanes_avx2.h.
#ifndef HX_CPU_KERNELS_LANES_SUM_H
#define HX_CPU_KERNELS_LANES_SUM_H

// low + middle * 2^32 + high * 2^64. Of operands below 2^61 a product adds below 2^32 to low, 2^32 + 2^62 to middle and
// 2^58 to high.
typedef struct lanes_sum {
  lanes_t low, middle, high;
} lanes_sum_t;

// Products between two foldings of the middle: 3 * 2^62 and what stays in it, below 2^33, are below 2^64.
#define LANES_FOLD 3u
// Products between two reductions: their sum is below 2^(122 + 5), and what a reduction leaves below 2^61.
#define LANES_CHUNK 32u

HXS_INLINE lanes_sum_t lanes_sum_of(lanes_t x) {
  lanes_sum_t s = {lanes_low32(x), lanes_down32(x), lanes_zero()};
  return s;
}

HXS_INLINE void lanes_sum_add(lanes_sum_t *s, lanes_t a, lanes_t b) {
  const lanes_t a_top = lanes_top32(a), b_top = lanes_top32(b), product = lanes_mul32(a, b);
  s->low = lanes_add(s->low, lanes_low32(product));
  s->middle =
      lanes_add(lanes_add(s->middle, lanes_down32(product)), lanes_add(lanes_mul32(a, b_top), lanes_mul32(a_top, b)));
  s->high = lanes_add(s->high, lanes_mul32(a_top, b_top));
}

HXS_INLINE void lanes_sum_fold(lanes_sum_t *s) {
  s->high = lanes_add(s->high, lanes_down32(s->middle));
  s->middle = lanes_low32(s->middle);
}

typedef struct lanes_modulus {
  lanes_t q, two_q, four_q;
  lanes_t ratio, ratio_top;  // floor(2^64 / q)
  lanes_factor_t radix;      // 2^64 mod q
} lanes_modulus_t;

HXS_INLINE lanes_modulus_t lanes_modulus(const hxs_modulus *m) {
  lanes_modulus_t l = {.q = lanes_splat(m->q),
                       .two_q = lanes_splat(2 * m->q),
                       .four_q = lanes_splat(4 * m->q),
                       .ratio = lanes_splat(m->ratio),
                       .ratio_top = lanes_splat(m->ratio >> 32),
                       .radix = lanes_factor(lanes_splat(m->radix), lanes_splat(m->radix_quotient))};
  return l;
}

// Any word to [0, 4q): as lanes_times with the constant 1.
HXS_INLINE lanes_t lanes_word(lanes_t x, const lanes_modulus_t *m) {
  return lanes_sub(x, lanes_mul_low(lanes_mul_high(x, m->ratio, m->ratio_top), m->q));
}

// Below 8q <= 2^64 to [0, 2q).
HXS_INLINE lanes_t lanes_half_normal(lanes_t x, const lanes_modulus_t *m) {
  return lanes_once(lanes_once(x, m->four_q), m->two_q);
}
HXS_INLINE lanes_t lanes_full(lanes_t x, const lanes_modulus_t *m) { return lanes_once(lanes_half_normal(x, m), m->q); }

// The sum mod q, below 8q.
HXS_INLINE lanes_t lanes_sum_reduce(lanes_sum_t s, const lanes_modulus_t *m) {
  lanes_sum_fold(&s);
  s.middle = lanes_add(s.middle, lanes_down32(s.low));  // below 2^33: its high half belongs to high
  s.high = lanes_add(s.high, lanes_down32(s.middle));
  const lanes_t low = lanes_or(lanes_up(s.middle, 32), lanes_low32(s.low));
  return lanes_add(lanes_times(s.high, m->radix, m->q), lanes_word(low, m));
}

// acc + the sum of a[k] * b[k] on the values from i on; below 8q.
HXS_INLINE lanes_t lanes_dot(lanes_t acc, const void *const *a, const void *const *b, uint32_t count, size_t i,
                             const lanes_modulus_t *m) {
  lanes_sum_t s = lanes_sum_of(acc);
  for (uint32_t k = 0; k < count; k++) {
    lanes_sum_add(&s, lanes_load((const uint64_t *)a[k] + i), lanes_load((const uint64_t *)b[k] + i));
    if (k % LANES_CHUNK == LANES_CHUNK - 1) {
      s = lanes_sum_of(lanes_full(lanes_sum_reduce(s, m), m));
    } else if (k % LANES_FOLD == LANES_FOLD - 1) {
      lanes_sum_fold(&s);
    }
  }
  return lanes_sum_reduce(s, m);
}

#endif
