// SPDX-License-Identifier: Apache-2.0
// The inverse transform with 52-bit products. See ntt_ifma_butterfly.h, and ntt_ifma.h for the order of its twiddles.
//
// With coefficient i = 64 j + 8 r + l and the value of place 64 b + 8 s + t, brv the order of bits reversed, the
// exponent
// -(2 k + 1) i of psi falls into
//   1. transforms of length 8 over t, in vectors, with the same twiddles everywhere; the first stage has none
//   2. the factor w64^-(brv(s) l), the same in every group of 64
//   3. transforms over s to r that hold the group's own root (difference first, then product); in their last stage the
//      sum is multiplied too, since both take t^l / n, t = psi^-(2 brv(b) + 1)
//   4. transforms over b to j (product first), whose twiddles are the same for 64 coefficients, and psi^-(64 j)
// So twiddles are four fifths of a word for a value, read in order, and few products are not of butterflies.
#ifndef HX_CPU_KERNELS_NTT_IFMA_INVERSE_H
#define HX_CPU_KERNELS_NTT_IFMA_INVERSE_H

#include "kernels/ntt/ntt_ifma_span.h"

// Parts of the twiddles (ntt_ifma.h).
typedef struct inverse_tables {
  const uint64_t *common, *groups, *roots, *last;
} inverse_tables_t;

// ---- groups of 64 values

// What the factor of step 2 lifts register r by, for the first stage of step 3: where wide, all differences there are
// positive without more.
HXS_INLINE int common_lift(int r, depth_t depth) {
  return depth == TIGHT || r % 2 == 1 ? 0 : depth == WIDE && r == 4 ? 8 : 2;
}

// What the difference in register `y` is lifted by where `left` stages of step 3 follow: what the next stage subtracts
// from it. Its role there is y's bit `bit`; where two follow and sums of four have room, those of the next but one need
// 6 = 2 + 4.
HXS_INLINE int lift_of(int y, int bit, int left, depth_t depth) {
  if (left == 0 || depth == TIGHT || (y & bit) != 0) {
    return 0;
  }
  return depth == WIDE && left == 2 && (y & 2 * bit) == 0 ? 6 : 2;
}

// What results of group b are lifted by: step 4 begins with sums and differences without products.
HXS_INLINE int group_lift(size_t b, depth_t depth) { return depth == TIGHT || b % 2 == 1 ? 0 : depth == WIDE ? 16 : 2; }

// Step 1: stage 0, 1 or 2 of pairs of vectors; stage 3 puts them back and is step 2.
HXS_INLINE void inverse_tail_stage(hx_vec *v, span_t *span, const uint64_t *common, const constants_t *c, depth_t depth,
                                   int stage) {
  PLACES first = {{0, 8, 4, 12, 2, 10, 6, 14}}, second = {{1, 9, 5, 13, 3, 11, 7, 15}};
  PLACES low = {{0, 1, 4, 5, 8, 9, 12, 13}}, top = {{2, 3, 6, 7, 10, 11, 14, 15}};
  PLACES even = {{0, 2, 4, 6, 8, 10, 12, 14}}, odd = {{1, 3, 5, 7, 9, 11, 13, 15}};
  UNROLL for (int p = 0; p < 4; p++) {
    hx_vec *x = &v[2 * p], *y = &v[2 * p + 1];
    span_t *sx = &span[2 * p], *sy = &span[2 * p + 1];
    const hx_vec a = *x, b = *y;
    if (stage == 0) {
      *x = chosen(a, b, &first);   // a0 b0 a4 b4 a2 b2 a6 b6
      *y = chosen(a, b, &second);  // a1 b1 a5 b5 a3 b3 a7 b7
      *sx = *sy = (span_t){0, 2 * UNIT};
      if (depth == WIDE) {  // as much as step 3 ever takes off the first register
        *x = _mm512_add_epi64(*x, multiple(32, c));
        *sx = (span_t){32 * UNIT, 34 * UNIT};
      }
      join(x, y, sx, sy, c, depth);
    } else if (stage == 1) {
      *x = _mm512_shuffle_i64x2(a, b, 0x44);  // a0 b0 a4 b4 a1 b1 a5 b5
      *y = _mm512_shuffle_i64x2(a, b, 0xee);  // a2 b2 a6 b6 a3 b3 a7 b7
      cross(x, y, sx, sy, load(common), load(common + 8), c, depth, 2);
    } else if (stage == 2) {
      *x = chosen(a, b, &low);  // a0 b0 a1 b1 a2 b2 a3 b3
      *y = chosen(a, b, &top);  // a4 b4 ...
      cross(x, y, sx, sy, load(common + 16), load(common + 24), c, depth, 1);
    } else {
      *x = chosen(a, b, &even);
      *y = chosen(a, b, &odd);
      UNROLL for (int r = 2 * p; r < 2 * p + 2; r++) {
        if (r > 0) {
          const uint64_t *w = common + 16 + 16 * r;
          v[r] = product_from(lifted(common_lift(r, depth), c), v[r], load(w), load(w + 8), c);
          span[r] = span_product(span[r].below, common_lift(r, depth), depth);
        } else if (depth != WIDE) {
          reduce_to(&v[0], &span[0], common_lift(0, depth), c, depth);
        }
      }
      continue;
    }
    *sx = *sy = span_both(*sx, *sy);  // lanes of both are in each
  }
}

// Step 3: stage 2, 1, 0 of a group.
HXS_INLINE void inverse_head_stage(hx_vec *v, span_t *span, const uint64_t *group, const hx_vec *start,
                                   const constants_t *c, depth_t depth, int stage) {
  const int half = 4 >> stage;
  UNROLL for (int i = 0; i < 4; i++) {
    const int block = i / half, x = block * 2 * half + i % half, y = x + half;
    join(&v[x], &v[y], &span[x], &span[y], c, depth);
    if (stage == 0) {
      v[x] = product_from(fresh(start), v[x], load(group), load(group + 8), c);
      v[y] = product_from(fresh(start), v[y], load(group + 16), load(group + 24), c);
    } else {
      const uint64_t *root = group + (stage == 2 ? 32 : 40) + 2 * block;
      const int lift = lift_of(y, 2 * half, stage, depth);
      v[y] = product_from(lifted(lift, c), v[y], splat(root[0]), splat(root[1]), c);
      span[y] = span_product(span[y].below, lift, depth);
    }
  }
}

#define GROUP 48u  // words of a group's twiddles

// Twiddles and values of a group, from beyond L1.
HXS_INLINE void ask_group(const uint64_t *group, const uint64_t *in) {
  UNROLL for (int i = 0; i < 6; i++) { _mm_prefetch((const char *)(group + 8 * i), _MM_HINT_T0); }
  UNROLL for (int i = 0; i < 8; i++) { _mm_prefetch((const char *)(in + 8 * i), _MM_HINT_T0); }
}

// Steps 1 to 3 of `count` groups, an even number. Step 3 of a group goes along with the others of the next one:
// exchanges within vectors have a single port, so they are to be spread.
HXS_INLINE void inverse_groups(uint64_t *out, const uint64_t *in, const uint64_t *common, const uint64_t *groups,
                               size_t count, const constants_t *c, depth_t depth, bool far) {
  hx_vec v[8], next[8];
  span_t span[8], next_span[8];
  UNROLL for (int i = 0; i < 8; i++) { v[i] = load(in + 8 * i); }
  UNROLL for (int s = 0; s < 4; s++) { inverse_tail_stage(v, span, common, c, depth, s); }
  for (size_t b = 0; b + 1 < count; b++) {
    const hx_vec *start = &c->minus[group_lift(b, depth)];
    if (far) {
      ask_group(groups + GROUP * (b + AHEAD), in + 64 * (b + AHEAD));
    }
    UNROLL for (int i = 0; i < 8; i++) { next[i] = load(in + 64 * (b + 1) + 8 * i); }
    UNROLL for (int s = 0; s < 4; s++) {
      inverse_tail_stage(next, next_span, common, c, depth, s);
      if (s < 3) {
        inverse_head_stage(v, span, groups + GROUP * b, start, c, depth, 2 - s);
      }
    }
    UNROLL for (int i = 0; i < 8; i++) {
      store(out + 64 * b + 8 * i, v[i]);
      v[i] = next[i];
      span[i] = next_span[i];
    }
  }
  const hx_vec *start = &c->minus[group_lift(count - 1, depth)];
  UNROLL for (int s = 2; s >= 0; s--) { inverse_head_stage(v, span, groups + GROUP * (count - 1), start, c, depth, s); }
  UNROLL for (int i = 0; i < 8; i++) { store(out + 64 * (count - 1) + 8 * i, v[i]); }
}

// ---- passes over groups

// How many stages from `stage` on register x is a first operand in.
HXS_INLINE int first_for(int x, int stage, int stages) {
  int count = 1;
  while (stage + count < stages && (x >> (stage + count) & 1) == 0) {
    count++;
  }
  return count;
}

// `stages` stages of 2^stages registers. first: the stages of smallest distance, of which the first has no products.
// w: roots with their quotients, of stage s from 2 * 2^s on.
HXS_INLINE void cross_all(hx_vec *v, const hx_vec *w, const constants_t *c, depth_t depth, int stages, bool first) {
  span_t span[8];
  UNROLL for (int i = 0; i < 1 << stages; i++) {
    const int lift = group_lift((size_t)i, depth);
    if (first) {
      span[i] = (span_t){lift * UNIT, (lift + 2) * UNIT};
    } else {  // where wide, the first stage of all leaves 14 to 20, each of the at most ten that follow takes or adds 1
      span[i] = depth == WIDE ? (span_t){4 * UNIT, 32 * UNIT} : (span_t){0, most(depth)};
    }
  }
  UNROLL for (int s = 0; s < stages; s++) {
    const int half = 1 << s;
    UNROLL for (int i = 0; i < 1 << (stages - 1); i++) {
      const int x = i / half * 2 * half + i % half, y = x + half;
      if (first && s == 0) {
        join(&v[x], &v[y], &span[x], &span[y], c, depth);
      } else {
        const hx_vec *root = w + 2 * (half + i % half);
        cross(&v[x], &v[y], &span[x], &span[y], root[0], root[1], c, depth, first_for(x, s, stages));
      }
    }
  }
}

// Values of a pass two vectors on.
HXS_INLINE void ask_rows(const uint64_t *a, size_t stride, int stages) {
  UNROLL for (int i = 0; i < 1 << stages; i++) { _mm_prefetch((const char *)(a + (size_t)i * stride), _MM_HINT_T0); }
}

// A pass over a block of 2^stages times `distance` groups. last: the factors psi^-(64 j), where it is the last one.
HXS_INLINE void inverse_pass(uint64_t *a, const inverse_tables_t *t, size_t distance, const constants_t *c,
                             depth_t depth, int stages, bool first, bool last) {
  const size_t stride = 64 * distance;
  for (size_t j = 0; j < distance; j++) {
    hx_vec w[16];
    UNROLL for (int s = 0; s < stages; s++) {
      UNROLL for (int i = 0; i < 1 << s; i++) {
        const uint64_t *root = t->roots + 2 * ((distance << s) + distance * (size_t)i + j);
        w[2 * ((1 << s) + i)] = splat(root[0]);
        w[2 * ((1 << s) + i) + 1] = splat(root[1]);
      }
    }
    for (size_t k = 64 * j; k < 64 * j + 64; k += 8) {
      hx_vec v[8];
      if (!first) {  // blocks of the first stages have just been written
        ask_rows(a + k + 16, stride, stages);
      }
      UNROLL for (int i = 0; i < 1 << stages; i++) { v[i] = load(a + k + (size_t)i * stride); }
      cross_all(v, w, c, depth, stages, first);
      UNROLL for (int i = 0; i < 1 << stages; i++) {
        if (last) {
          const uint64_t *factor = t->last + 2 * (j + distance * (size_t)i);
          v[i] = product_from(fresh_zero(), v[i], splat(factor[0]), splat(factor[1]), c);
          v[i] = ifma_once(_mm512_and_si512(v[i], c->m.mask), c->m.q);
        }
        store(a + k + (size_t)i * stride, v[i]);
      }
    }
  }
}

HXS_INLINE void inverse_pass_of(uint64_t *a, const inverse_tables_t *t, size_t distance, const constants_t *c,
                                depth_t depth, int stages, bool last) {
  const bool first = distance == 1;
  if (stages == 3) {
    if (first && last) {
      inverse_pass(a, t, 1, c, depth, 3, true, true);
    } else if (first) {
      inverse_pass(a, t, 1, c, depth, 3, true, false);
    } else if (last) {
      inverse_pass(a, t, distance, c, depth, 3, false, true);
    } else {
      inverse_pass(a, t, distance, c, depth, 3, false, false);
    }
  } else if (first && last) {
    inverse_pass(a, t, 1, c, depth, 2, true, true);
  } else if (first) {
    inverse_pass(a, t, 1, c, depth, 2, true, false);
  } else if (last) {
    inverse_pass(a, t, distance, c, depth, 2, false, true);
  } else {
    inverse_pass(a, t, distance, c, depth, 2, false, false);
  }
}

// A block in L1 of a row of 2^log_n.
HXS_INLINE void inverse_block(uint64_t *out, const uint64_t *in, const inverse_tables_t *t, const uint64_t *groups,
                              uint32_t log_size, uint32_t log_n, const constants_t *c, depth_t depth) {
  inverse_groups(out, in, t->common, groups, (size_t)1 << (log_size - 6), c, depth, log_n >= FAR_LOG_N);
  uint32_t done = 6;
  while (done < log_size) {
    const int stages = (log_size - done) % 3 == 0 ? 3 : 2;
    const size_t distance = (size_t)1 << (done - 6);
    done += (uint32_t)stages;
    for (size_t at = 0; at < (size_t)1 << log_size; at += (size_t)1 << done) {
      inverse_pass_of(out + at, t, distance, c, depth, stages, done == log_n);
    }
  }
}

HXS_INLINE void inverse_tree(uint64_t *out, const uint64_t *in, const uint64_t *words, uint32_t log_n,
                             const constants_t *c, depth_t depth) {
  const size_t n = (size_t)1 << log_n;
  inverse_tables_t t = {.common = words, .groups = words + HX_CPU_IFMA_COMMON};
  t.roots = t.groups + GROUP * (n / 64);
  t.last = t.roots + n / 32;
  uint32_t levels[4] = {log_n}, count = 0;  // sizes of blocks, from the whole row down to L1
  while (levels[count] > BLOCK_LOG_N) {
    levels[count + 1] = levels[count] - (uint32_t)outer_stages(levels[count]);
    count++;
  }
  const uint32_t inner = levels[count];
  const size_t step = (size_t)1 << inner;
  for (size_t at = 0; at < n; at += step) {
    inverse_block(out + at, in + at, &t, t.groups + at / 64 * GROUP, inner, log_n, c, depth);
    const size_t end = at + step;
    for (uint32_t level = count; level-- > 0 && end % ((size_t)1 << levels[level]) == 0;) {
      const int stages = outer_stages(levels[level]);
      const size_t size = (size_t)1 << levels[level];
      inverse_pass_of(out + end - size, &t, size >> stages >> 6, c, depth, stages, level == 0);
    }
  }
}

#endif
