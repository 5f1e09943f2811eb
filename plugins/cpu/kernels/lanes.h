// SPDX-License-Identifier: Apache-2.0
// Arithmetic of one prime q < 2^61 in lanes of 64 bits, from products of 32 bits. Included by lanes_avx512.h and
// lanes_avx2.h, whose primitives it is written in.
#ifndef HX_CPU_KERNELS_LANES_H
#define HX_CPU_KERNELS_LANES_H

// A constant c < q with floor(c * 2^64 / q) and the latter's high half.
typedef struct lanes_factor {
  lanes_t value, quotient, top;
} lanes_factor_t;

HXS_INLINE lanes_factor_t lanes_factor(lanes_t value, lanes_t quotient) {
  lanes_factor_t f = {value, quotient, lanes_top32(quotient)};
  return f;
}

// floor(a * b / 2^64) or up to 2 less: two partial products lose their fractions, the lowest is left out.
HXS_INLINE lanes_t lanes_mul_high(lanes_t a, lanes_t b, lanes_t b_top) {
  const lanes_t a_top = lanes_top32(a);
  return lanes_add(lanes_mul32(a_top, b_top),
                   lanes_add(lanes_down32(lanes_mul32(a_top, b)), lanes_down32(lanes_mul32(a, b_top))));
}

// a * c mod q in [0, 4q), for any word a: the quotient falls short of a * c / q by a / 2^64 < 1 for the rounding of the
// constant's quotient, less than 1 for its own and at most 2 as above.
HXS_INLINE lanes_t lanes_times(lanes_t a, lanes_factor_t c, lanes_t q) {
  const lanes_t t = lanes_mul_high(a, c.quotient, c.top);
  return lanes_sub(lanes_mul_low(a, c.value), lanes_mul_low(t, q));
}

#endif
