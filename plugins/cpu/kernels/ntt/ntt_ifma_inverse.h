// SPDX-License-Identifier: Apache-2.0
// The inverse transform with 52-bit products. See ntt_ifma_butterfly.h.
#ifndef HX_CPU_KERNELS_NTT_IFMA_INVERSE_H
#define HX_CPU_KERNELS_NTT_IFMA_INVERSE_H

#include "kernels/ntt/ntt_ifma_butterfly.h"

// What values may reach before they are multiplied or reduced, and what a pass takes, in units of q.
HXS_INLINE int most(depth_t depth) { return depth == WIDE ? 128 : depth == EIGHT ? 8 : depth == SEVEN ? 7 : 4; }
HXS_INLINE int taken(depth_t depth) { return depth == WIDE ? 16 : 2; }

// A value's bounds in units of q: constants of the unrolled code.
typedef struct span {
  int least, below;
} span_t;

HXS_INLINE span_t span_at(int least) {
  const span_t s = {least, least + 2};
  return s;
}

HXS_INLINE hx_vec multiple(int k, const constants_t *c) {
  return k < 8 ? c->bound[k] : c->large[k <= 8 ? 0 : k <= 16 ? 1 : k <= 32 ? 2 : 3];
}

// x + y, and (x - y) * w lifted by `lift`. Where x is at least what y is below, the difference needs no more.
HXS_INLINE void join(hx_vec *x, hx_vec *y, span_t *sx, span_t *sy, hx_vec w, hx_vec quotient, const constants_t *c,
                     depth_t depth, int lift) {
  if (sx->below + sy->below > most(depth) && sy->below > 2) {
    *y = reduce_lifted(*y, 0, c);
    *sy = span_at(0);
  }
  if (sx->below + sy->below > most(depth)) {
    const int up = depth == TIGHT ? 0 : 2;
    *x = reduce_lifted(*x, up, c);
    *sx = span_at(up);
  }
  const int missing = sy->below - sx->least;
  const hx_vec a = *x, b = *y;
  hx_vec difference = _mm512_sub_epi64(a, b);
  if (missing > 0) {
    difference = _mm512_add_epi64(difference, multiple(missing, c));
  }
  *x = _mm512_add_epi64(a, b);
  const hx_vec t = high_add(lifted(lift, c), difference, quotient);
  *y = low_add(low_add(fresh_zero(), difference, w), t, c->m.minus_q);
  sx->least += sy->least;
  sx->below += sy->below;
  *sy = span_at(lift);
}

// What the difference in register `y` of a pass is lifted by when `left` stages of the pass follow, so that first
// operands are at least what second ones are below. That of the next stage is y's bit `bit`; where two follow and sums
// of four have room, the sums of the next but one need 6 = 2 + 4.
HXS_INLINE int lift_of(int y, int bit, int left, depth_t depth) {
  if (left == 0 || depth == TIGHT || (y & bit) != 0) {
    return 0;
  }
  return depth == WIDE && left == 2 && (y & 2 * bit) == 0 ? 6 : 2;
}

// Stage `s` of a pass of `stages` on 2^stages registers.
HXS_INLINE void join_stage(hx_vec *v, span_t *span, const hx_vec *w, const hx_vec *last, const constants_t *c,
                           depth_t depth, int s, int stages) {
  const int half = 1 << (stages - 1 - s);
  UNROLL for (int i = 0; i < 1 << (stages - 1); i++) {
    const int block = i / half, x = block * 2 * half + i % half, y = x + half;
    const int ends = s == 0 && last != NULL;
    const hx_vec *root = ends ? last + 2 : w + 2 * ((1 << s) + block);
    join(&v[x], &v[y], &span[x], &span[y], root[0], root[1], c, depth, lift_of(y, 2 * half, s, depth));
    if (ends) {
      v[x] = ifma_times(v[x], last[0], last[1], &c->m);
      span[x] = span_at(0);
    }
  }
}

// What a pass leaves: clean and in [0, q) where it was the last one.
HXS_INLINE void settle(hx_vec *v, const span_t *span, const hx_vec *last, const constants_t *c, depth_t depth,
                       int count) {
  UNROLL for (int i = 0; i < count; i++) {
    if (last != NULL) {
      v[i] = ifma_once(_mm512_and_si512(v[i], c->m.mask), c->m.q);
    } else if (span[i].below > taken(depth)) {
      v[i] = reduce_lifted(v[i], 0, c);
    }
  }
}

HXS_INLINE void take(span_t *span, depth_t depth) {
  UNROLL for (int i = 0; i < 8; i++) {
    span[i].least = 0;
    span[i].below = taken(depth);
  }
}

// `stages` stages of 2^stages registers. last: its factors 1/n and root/n with quotients, NULL where more stages
// follow. Values are in [0, taken) before and after.
HXS_INLINE void join_all(hx_vec *v, const hx_vec *w, const hx_vec *last, const constants_t *c, depth_t depth,
                         int stages) {
  span_t span[8];
  take(span, depth);
  UNROLL for (int s = stages - 1; s >= 0; s--) { join_stage(v, span, w, last, c, depth, s, stages); }
  settle(v, span, last, c, depth, 1 << stages);
}

HXS_INLINE void inverse_pass(uint64_t *a, const uint64_t *roots, size_t node, size_t size, const hx_vec *last,
                             const constants_t *c, depth_t depth, int stages) {
  const size_t stride = size >> stages;
  hx_vec w[16];
  pass_roots(w, roots, node, stages);
  for (size_t k = 0; k < stride; k += 8) {
    hx_vec v[8];
    UNROLL for (int i = 0; i < 1 << stages; i++) { v[i] = load(a + k + (size_t)i * stride); }
    join_all(v, w, last, c, depth, stages);
    UNROLL for (int i = 0; i < 1 << stages; i++) { store(a + k + (size_t)i * stride, v[i]); }
  }
}

// The first three stages of a group, within vectors: stage 2, 1, 0. Values below 2q before, in [0, taken) after.
HXS_INLINE void inverse_tail_stage(hx_vec *v, span_t *span, const uint64_t *group, const constants_t *c, depth_t depth,
                                   int stage) {
  PLACES first = {{0, 8, 4, 12, 2, 10, 6, 14}}, second = {{1, 9, 5, 13, 3, 11, 7, 15}};
  PLACES low = {{0, 1, 4, 5, 8, 9, 12, 13}}, top = {{2, 3, 6, 7, 10, 11, 14, 15}};
  PLACES even = {{0, 2, 4, 6, 8, 10, 12, 14}}, odd = {{1, 3, 5, 7, 9, 11, 13, 15}};
  UNROLL for (int p = 0; p < 4; p++) {
    hx_vec *x = &v[2 * p], *y = &v[2 * p + 1];
    span_t *sx = &span[2 * p], *sy = &span[2 * p + 1];
    const hx_vec a = *x, b = *y;
    if (stage == 2) {
      *x = chosen(a, b, &first);   // a0 b0 a4 b4 a2 b2 a6 b6
      *y = chosen(a, b, &second);  // a1 b1 a5 b5 a3 b3 a7 b7
      *sx = *sy = span_at(0);
      join(x, y, sx, sy, load(group + 48 + 16 * p), load(group + 56 + 16 * p), c, depth, 0);
    } else if (stage == 1) {
      *x = _mm512_shuffle_i64x2(a, b, 0x44);  // a0 b0 a4 b4 a1 b1 a5 b5
      *y = _mm512_shuffle_i64x2(a, b, 0xee);  // a2 b2 a6 b6 a3 b3 a7 b7
      join(x, y, sx, sy, four_of(group + 16 + 8 * p), four_of(group + 20 + 8 * p), c, depth, 0);
    } else {
      *x = chosen(a, b, &low);  // a0 b0 a1 b1 a2 b2 a3 b3
      *y = chosen(a, b, &top);  // a4 b4 ...
      join(x, y, sx, sy, pair_of(group + 4 * p), pair_of(group + 4 * p + 2), c, depth, 0);
      const hx_vec sum = sx->below > taken(depth) ? reduce_lifted(*x, 0, c) : *x, rest = *y;
      *x = chosen(sum, rest, &even);
      *y = chosen(sum, rest, &odd);
    }
    // Lanes of both are in each.
    sx->least = 0;
    sy->least = 0;
    sy->below = sx->below;
  }
}

// A stage of the last three of a group, with roots in memory.
HXS_INLINE void inverse_head_stage(hx_vec *v, span_t *span, const uint64_t *roots, size_t node, const constants_t *c,
                                   depth_t depth, int stage) {
  hx_vec w[16];
  UNROLL for (int i = 0; i < 1 << stage; i++) {
    w[2 * ((1 << stage) + i)] = splat(roots[2 * ((node << stage) + (size_t)i)]);
    w[2 * ((1 << stage) + i) + 1] = splat(roots[2 * ((node << stage) + (size_t)i) + 1]);
  }
  join_stage(v, span, w, NULL, c, depth, stage, 3);
}

// The first six stages of `count` groups of 64 values. The last three of a group go along with the first three of the
// next one, as in forward_groups.
HXS_INLINE void inverse_groups(uint64_t *out, const uint64_t *in, const uint64_t *roots, size_t node,
                               const uint64_t *tail, size_t count, const constants_t *c, depth_t depth, bool far) {
  hx_vec v[8], next[8];
  span_t span[8], next_span[8];
  UNROLL for (int i = 0; i < 8; i++) { v[i] = load(in + 8 * i); }
  UNROLL for (int s = 2; s >= 0; s--) { inverse_tail_stage(v, span, tail, c, depth, s); }
  for (size_t b = 0; b < count; b++) {
    const size_t then = b + 1 < count ? b + 1 : b;  // the last one's is thrown away
    if (far) {
      ask(tail + 112 * (b + AHEAD));
    }
    UNROLL for (int i = 0; i < 8; i++) { next[i] = load(in + 64 * then + 8 * i); }
    take(span, depth);
    UNROLL for (int s = 2; s >= 0; s--) {
      inverse_tail_stage(next, next_span, tail + 112 * then, c, depth, s);
      inverse_head_stage(v, span, roots, node + b, c, depth, s);
    }
    settle(v, span, NULL, c, depth, 8);
    UNROLL for (int i = 0; i < 8; i++) { store(out + 64 * b + 8 * i, v[i]); }
    UNROLL for (int i = 0; i < 8; i++) { v[i] = next[i]; }
  }
}

HXS_INLINE void inverse_pass_of(uint64_t *a, const uint64_t *roots, size_t node, size_t size, const hx_vec *last,
                                const constants_t *c, depth_t depth, int stages) {
  if (node == 1 && stages == 3) {
    inverse_pass(a, roots, node, size, last, c, depth, 3);
  } else if (node == 1) {
    inverse_pass(a, roots, node, size, last, c, depth, 2);
  } else if (stages == 3) {
    inverse_pass(a, roots, node, size, NULL, c, depth, 3);
  } else {
    inverse_pass(a, roots, node, size, NULL, c, depth, 2);
  }
}

HXS_INLINE void inverse_block(uint64_t *out, const uint64_t *in, const uint64_t *roots, const uint64_t *tail,
                              uint32_t log_size, size_t node, const hx_vec *last, const constants_t *c, depth_t depth,
                              bool far) {
  const size_t groups = (size_t)1 << (log_size - 6);
  inverse_groups(out, in, roots, node * groups, tail, groups, c, depth, far);
  uint32_t done = 6;
  while (done < log_size) {
    const int stages = (log_size - done) % 3 == 0 ? 3 : 2;
    done += (uint32_t)stages;
    const size_t size = (size_t)1 << done, blocks = (size_t)1 << (log_size - done);
    for (size_t b = 0; b < blocks; b++) {
      inverse_pass_of(out + b * size, roots, node * blocks + b, size, last, c, depth, stages);
    }
  }
}

HXS_INLINE void inverse_tree(uint64_t *out, const uint64_t *in, const uint64_t *roots, const uint64_t *tail,
                             uint32_t log_n, const hx_vec *last, const constants_t *c, depth_t depth) {
  uint32_t levels[4] = {log_n}, count = 0;  // sizes of blocks, from the whole row down to L1
  while (levels[count] > BLOCK_LOG_N) {
    levels[count + 1] = levels[count] - (uint32_t)outer_stages(levels[count]);
    count++;
  }
  const uint32_t inner = levels[count];
  const size_t n = (size_t)1 << log_n, step = (size_t)1 << inner;
  for (size_t at = 0; at < n; at += step) {
    inverse_block(out + at, in + at, roots, tail + at / 64 * 112, inner, (n + at) >> inner, last, c, depth,
                  log_n >= FAR_LOG_N);
    const size_t end = at + step;
    for (uint32_t level = count; level-- > 0 && end % ((size_t)1 << levels[level]) == 0;) {
      const size_t size = (size_t)1 << levels[level], begin = end - size;
      inverse_pass_of(out + begin, roots, (n + begin) >> levels[level], size, last, c, depth,
                      outer_stages(levels[level]));
    }
  }
}

#endif
