// SPDX-License-Identifier: Apache-2.0
// Butterflies of the inverse transform that keep the bounds of every register, as constants of the unrolled code. See
// ntt_ifma_butterfly.h.
//
// A product of y < 2^52 is below q(1 + y/2^52), a reduced x below q(1 + x f/2^52), f the fraction of 2^52/q. With
// 2^52/q >= r the first is at most q + y/r; f/(k + f) < 1/(k + 1) for k = floor(2^52/q), so the second is below
// q + x/128, q + x/8 or q + x/5.
#ifndef HX_CPU_KERNELS_NTT_IFMA_SPAN_H
#define HX_CPU_KERNELS_NTT_IFMA_SPAN_H

#include "kernels/ntt/ntt_ifma_butterfly.h"

#define UNIT 16  // bounds are in sixteenths of q

// A value's bounds: at least `least`, below `below`.
typedef struct span {
  int least, below;
} span_t;

// What values stay below: 2^52/q at least.
HXS_INLINE int most(depth_t depth) {
  return depth == WIDE ? 128 * UNIT : depth == EIGHT ? 8 * UNIT - 2 : depth == SEVEN ? 7 * UNIT : 4 * UNIT;
}

// x / d, upwards.
HXS_INLINE int quotient_up(int x, int d) { return (x + d - 1) / d; }
HXS_INLINE int units_up(int x) { return x > 0 ? quotient_up(x, UNIT) : 0; }

// Of a product by a constant and of a reduction, lifted by `lift` times q.
HXS_INLINE span_t span_product(int below, int lift, depth_t depth) {
  const span_t s = {lift * UNIT, (lift + 1) * UNIT + quotient_up(UNIT * below, most(depth))};
  return s;
}
HXS_INLINE span_t span_rest(int below, int lift, depth_t depth) {
  const span_t s = {lift * UNIT, (lift + 1) * UNIT + quotient_up(below, depth == WIDE ? 128 : depth == TIGHT ? 5 : 8)};
  return s;
}
HXS_INLINE span_t span_both(span_t a, span_t b) {
  const span_t s = {a.least < b.least ? a.least : b.least, a.below > b.below ? a.below : b.below};
  return s;
}

HXS_INLINE hx_vec multiple(int k, const constants_t *c) {
  return k < 8 ? c->bound[k] : c->large[k <= 8 ? 0 : k <= 16 ? 1 : k <= 32 ? 2 : 3];
}
// The multiple that it is.
HXS_INLINE int multiple_of(int k) { return k <= 8 ? k : k <= 16 ? 16 : k <= 32 ? 32 : 64; }

HXS_INLINE void reduce_to(hx_vec *x, span_t *s, int lift, const constants_t *c, depth_t depth) {
  *x = reduce_lifted(*x, lift, c);
  *s = span_rest(s->below, lift, depth);
}

// y * w, lifted: start is what its quotient starts with.
HXS_INLINE hx_vec product_from(hx_vec start, hx_vec y, hx_vec w, hx_vec quotient, const constants_t *c) {
  const hx_vec t = high_add(start, y, quotient);
  return low_add(low_add(fresh_zero(), y, w), t, c->m.minus_q);
}

// x + y, and x - y with what keeps it positive.
HXS_INLINE void join(hx_vec *x, hx_vec *y, span_t *sx, span_t *sy, const constants_t *c, depth_t depth) {
  const int limit = most(depth);
  if (sx->below + units_up(sy->below) * UNIT > limit && sy->below > 2 * UNIT) {
    reduce_to(y, sy, 0, c, depth);
  }
  if (sx->below + units_up(sy->below) * UNIT > limit) {
    reduce_to(x, sx, depth == TIGHT ? 0 : 2, c, depth);
  }
  const int missing = units_up(sy->below - sx->least);
  const hx_vec a = *x, b = *y;
  const span_t sa = *sx, sb = *sy;
  hx_vec difference = _mm512_sub_epi64(a, b);
  if (missing > 0) {
    difference = _mm512_add_epi64(difference, multiple(missing, c));
  }
  const int lift = missing > 0 ? multiple_of(missing) * UNIT : 0;
  *x = _mm512_add_epi64(a, b);
  *y = difference;
  *sx = (span_t){sa.least + sb.least, sa.below + sb.below};
  *sy = (span_t){sa.least - sb.below + lift, sa.below - sb.least + lift};
}

// x at least `need` times q, and as much below the limit.
HXS_INLINE void ready(hx_vec *x, span_t *s, int need, const constants_t *c, depth_t depth) {
  const int missing = units_up(need * UNIT - s->least);
  if (s->below + (missing + need) * UNIT > most(depth)) {
    reduce_to(x, s, need, c, depth);
  } else if (missing > 0) {
    *x = _mm512_add_epi64(*x, multiple(missing, c));
    s->least += multiple_of(missing) * UNIT;
    s->below += multiple_of(missing) * UNIT;
  }
}

// x + w*y and x - w*y as in the forward transform. need: stages to come, this one included, in which x and what
// becomes of it are first operands.
HXS_INLINE void cross(hx_vec *x, hx_vec *y, span_t *sx, span_t *sy, hx_vec w, hx_vec quotient, const constants_t *c,
                      depth_t depth, int need) {
  ready(x, sx, depth == TIGHT ? 1 : need, c, depth);
  const hx_vec a = *x;
  hx_vec twice;
  __asm__ volatile("vpaddq %1, %1, %0" : "=v"(twice) : "v"(a));
  const hx_vec t = high_add(fresh(&c->one), *y, quotient);
  *x = low_add(low_add(a, *y, w), t, c->m.minus_q);
  *y = _mm512_sub_epi64(twice, *x);
  const span_t s = *sx;
  const int up = span_product(sy->below, -1, depth).below;
  *sx = (span_t){s.least - UNIT, s.below + up};
  *sy = (span_t){s.least - up, s.below + UNIT};
}

#endif
