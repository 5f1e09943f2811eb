// SPDX-License-Identifier: Apache-2.0
// The forward transform with 52-bit products. See ntt_ifma_butterfly.h.
#ifndef HX_CPU_KERNELS_NTT_IFMA_FORWARD_H
#define HX_CPU_KERNELS_NTT_IFMA_FORWARD_H

#include "kernels/ntt/ntt_ifma_butterfly.h"

// Stage `stage` of a pass of `stages`: x + w*y and x - w*y, the product in [-q, q), where wide in [0, 2q). The sum is
// gathered in x's register: its low 52 bits are right, and so are those of 2x - sum.
HXS_INLINE void split(hx_vec *x, hx_vec *y, hx_vec w, hx_vec quotient, const constants_t *c, depth_t depth, int stage,
                      int stages) {
  hx_vec a = *x;
  if (depth == TIGHT) {
    a = reduce_lifted(a, 1, c);
  } else if (depth != WIDE && stage == 0) {
    a = reduce_lifted(a, stages, c);
  }
  // Before a is added to, which a compiler turns round at the price of a copy.
  hx_vec twice;
  __asm__ volatile("vpaddq %1, %1, %0" : "=v"(twice) : "v"(a));
  const hx_vec t = high_add(depth == WIDE ? fresh_zero() : fresh(&c->one), *y, quotient);
  *x = low_add(low_add(a, *y, w), t, c->m.minus_q);
  *y = _mm512_sub_epi64(twice, *x);
}

// `stages` (2 or 3) stages of 2^stages registers.
HXS_INLINE void split_all(hx_vec *v, const hx_vec *w, const constants_t *c, depth_t depth, int stages) {
  UNROLL for (int s = 0; s < stages; s++) {
    const int half = 1 << (stages - 1 - s);
    UNROLL for (int i = 0; i < 1 << (stages - 1); i++) {
      const int block = i / half, x = block * 2 * half + i % half;
      const hx_vec *root = w + 2 * ((1 << s) + block);
      split(&v[x], &v[x + half], root[0], root[1], c, depth, s, stages);
    }
  }
}

// Memory that is asked for while a block is transformed, since that waits for nothing: up to two places, which move on;
// NULL: none.
typedef struct asked {
  const char *at[2];
} asked_t;

// `lines` lines into the second cache. From there the processor's own requests go on, so that each of these is short.
HXS_INLINE void ask_ahead(asked_t *asked, int lines) {
  if (asked == NULL || asked->at[0] == NULL) {
    return;
  }
  UNROLL for (int i = 0; i < lines / 2; i++) {
    _mm_prefetch(asked->at[0] + 64 * i, _MM_HINT_T1);
    _mm_prefetch(asked->at[1] + 64 * i, _MM_HINT_T1);
  }
  asked->at[0] += 32 * lines;
  asked->at[1] += 32 * lines;
}

HXS_INLINE void forward_pass(uint64_t *out, const uint64_t *in, const uint64_t *roots, size_t node, size_t size,
                             const constants_t *c, depth_t depth, int stages, int first, asked_t *asked) {
  const size_t stride = size >> stages;
  hx_vec w[16];
  pass_roots(w, roots, node, stages);
  for (size_t k = 0; k < stride; k += 8) {
    hx_vec v[8];
    ask_ahead(asked, 4);
    UNROLL for (int i = 0; i < 1 << stages; i++) {
      v[i] = load(in + k + (size_t)i * stride);
      v[i] = first && i < 1 << (stages - 1) ? _mm512_add_epi64(v[i], c->first) : v[i];
    }
    split_all(v, w, c, depth, stages);
    UNROLL for (int i = 0; i < 1 << stages; i++) { store(out + k + (size_t)i * stride, v[i]); }
  }
}

HXS_INLINE void forward_pass_of(uint64_t *out, const uint64_t *in, const uint64_t *roots, size_t node, size_t size,
                                const constants_t *c, depth_t depth, int stages, asked_t *asked) {
  if (depth == WIDE && node == 1 && stages == 3) {
    forward_pass(out, in, roots, node, size, c, depth, 3, 1, asked);
  } else if (depth == WIDE && node == 1) {
    forward_pass(out, in, roots, node, size, c, depth, 2, 1, asked);
  } else if (stages == 3) {
    forward_pass(out, in, roots, node, size, c, depth, 3, 0, asked);
  } else {
    forward_pass(out, in, roots, node, size, c, depth, 2, 0, asked);
  }
}

// The first three stages of a group, with roots in memory: `stage` of them on all eight registers.
HXS_INLINE void head_stage(hx_vec *v, const uint64_t *roots, size_t node, const constants_t *c, depth_t depth,
                           int stage) {
  const int half = 4 >> stage;
  const uint64_t *root = roots + 2 * (node << stage);
  UNROLL for (int i = 0; i < 4; i++) {
    const int block = i / half, x = block * 2 * half + i % half;
    split(&v[x], &v[x + half], splat(root[2 * block]), splat(root[2 * block + 1]), c, depth, stage, 3);
  }
}

// Stage `stage` of the last three, on 64 coefficients in eight registers, 16 of them a0..a7, b0..b7 in a pair.
HXS_INLINE void tail_stage(hx_vec *v, const uint64_t *group, const constants_t *c, depth_t depth, int stage) {
  PLACES low = {{0, 8, 1, 9, 2, 10, 3, 11}}, top = {{4, 12, 5, 13, 6, 14, 7, 15}};
  PLACES even = {{0, 1, 8, 9, 2, 3, 10, 11}}, odd = {{4, 5, 12, 13, 6, 7, 14, 15}};
  UNROLL for (int p = 0; p < 4; p++) {
    hx_vec *x = &v[2 * p], *y = &v[2 * p + 1];
    const hx_vec a = *x, b = *y;
    if (stage == 0) {
      *x = chosen(a, b, &low);  // a0 b0 a1 b1 a2 b2 a3 b3
      *y = chosen(a, b, &top);  // a4 b4 ...
      split(x, y, pair_of(group + 4 * p), pair_of(group + 4 * p + 2), c, depth, 0, 3);
    } else if (stage == 1) {
      *x = chosen(a, b, &even);  // a0 b0 a4 b4 a1 b1 a5 b5
      *y = chosen(a, b, &odd);   // a2 b2 a6 b6 a3 b3 a7 b7
      split(x, y, four_of(group + 16 + 8 * p), four_of(group + 20 + 8 * p), c, depth, 1, 3);
    } else {
      *x = _mm512_shuffle_i64x2(a, b, 0x44);  // a0 b0 a4 b4 a2 b2 a6 b6
      *y = _mm512_shuffle_i64x2(a, b, 0xee);  // a1 b1 a5 b5 a3 b3 a7 b7
      split(x, y, load(group + 48 + 16 * p), load(group + 56 + 16 * p), c, depth, 2, 3);
    }
  }
}

HXS_INLINE void finish_group(uint64_t *out, hx_vec *v, const constants_t *c) {
  PLACES first = {{0, 8, 4, 12, 2, 10, 6, 14}}, second = {{1, 9, 5, 13, 3, 11, 7, 15}};
  UNROLL for (int p = 0; p < 4; p++) {
    const hx_vec x = ifma_normal(v[2 * p], &c->m), y = ifma_normal(v[2 * p + 1], &c->m);
    store(out + 16 * p, chosen(x, y, &first));
    store(out + 16 * p + 8, chosen(x, y, &second));
  }
}

// The last six stages of `count` groups of 64 coefficients. The last three of a group go along with the first three of
// the next one: exchanges within vectors have a single port, so they are to be spread.
HXS_INLINE void forward_groups(uint64_t *a, const uint64_t *roots, size_t node, const uint64_t *tail, size_t count,
                               const constants_t *c, depth_t depth, bool far, asked_t *asked) {
  hx_vec v[8], next[8];
  UNROLL for (int i = 0; i < 8; i++) { v[i] = load(a + 8 * i); }
  UNROLL for (int s = 0; s < 3; s++) { head_stage(v, roots, node, c, depth, s); }
  for (size_t b = 0; b + 1 < count; b++) {
    if (far) {
      ask(tail + 112 * (b + AHEAD));
    }
    ask_ahead(asked, 8);
    UNROLL for (int i = 0; i < 8; i++) { next[i] = load(a + 64 * (b + 1) + 8 * i); }
    UNROLL for (int s = 0; s < 3; s++) {
      tail_stage(v, tail + 112 * b, c, depth, s);
      head_stage(next, roots, node + b + 1, c, depth, s);
    }
    finish_group(a + 64 * b, v, c);
    UNROLL for (int i = 0; i < 8; i++) { v[i] = next[i]; }
  }
  UNROLL for (int s = 0; s < 3; s++) { tail_stage(v, tail + 112 * (count - 1), c, depth, s); }
  finish_group(a + 64 * (count - 1), v, c);
}

// Stages that a block in L1 begins with: two, until what is left before the last six is a multiple of three.
HXS_INLINE int inner_stages(uint32_t log_size) { return (log_size - 6) % 3 == 0 ? 3 : 2; }

// `blocks` consecutive parts of 2^left coefficients from node `node` on, of a block in L1: passes, then groups.
HXS_INLINE void forward_inner(uint64_t *out, const uint64_t *in, const uint64_t *roots, const uint64_t *tail,
                              uint32_t left, size_t blocks, size_t node, const constants_t *c, depth_t depth, bool far,
                              asked_t *asked) {
  while (left > 6) {
    const int stages = inner_stages(left);
    const size_t size = (size_t)1 << left;
    for (size_t b = 0; b < blocks; b++) {
      forward_pass_of(out + b * size, in + b * size, roots, node + b, size, c, depth, stages, asked);
    }
    in = out;
    blocks <<= stages;
    node <<= stages;
    left -= (uint32_t)stages;
  }
  forward_groups(out, roots, node, tail, blocks, c, depth, far, asked);
}

// The size of a block in L1.
HXS_INLINE uint32_t inner_log(uint32_t log_n) {
  while (log_n > BLOCK_LOG_N) {
    log_n -= (uint32_t)outer_stages(log_n);
  }
  return log_n;
}

// A row: where each block of L1 begins, first the passes that are due there.
HXS_INLINE void forward_tree(uint64_t *out, const uint64_t *in, const uint64_t *roots, const uint64_t *tail,
                             uint32_t log_n, const constants_t *c, depth_t depth) {
  const uint32_t inner = inner_log(log_n);
  const size_t n = (size_t)1 << log_n, step = (size_t)1 << inner;
  for (size_t at = 0; at < n; at += step) {
    uint32_t log_size = log_n;
    const uint64_t *from = in;
    while (log_size > inner) {
      const int stages = outer_stages(log_size);
      const size_t size = (size_t)1 << log_size, node = (n + at) >> log_size;
      if (at % size == 0) {
        forward_pass_of(out + at, from + at, roots, node, size, c, depth, stages, NULL);
      }
      from = out;
      log_size -= (uint32_t)stages;
    }
    forward_inner(out + at, from + at, roots, tail + at / 64 * 112, inner, 1, (n + at) >> inner, c, depth,
                  log_n >= FAR_LOG_N, NULL);
  }
}

// Stages of a row's first pass.
HXS_INLINE int first_stages(uint32_t log_n) { return log_n > BLOCK_LOG_N ? outer_stages(log_n) : inner_stages(log_n); }

// The block of L1 at `at`, in place, after the row's first pass: what forward_tree does there.
HXS_INLINE void forward_rest(uint64_t *row, const uint64_t *roots, const uint64_t *tail, uint32_t log_n, size_t at,
                             const constants_t *c, depth_t depth, asked_t *asked) {
  const uint32_t inner = inner_log(log_n);
  const size_t n = (size_t)1 << log_n;
  uint32_t log_size = log_n - (uint32_t)first_stages(log_n);
  while (log_size > inner) {
    const int stages = outer_stages(log_size);
    const size_t size = (size_t)1 << log_size;
    if (at % size == 0) {
      forward_pass_of(row + at, row + at, roots, (n + at) >> log_size, size, c, depth, stages, NULL);
    }
    log_size -= (uint32_t)stages;
  }
  // log_size is below inner where the first pass was the block's own.
  forward_inner(row + at, row + at, roots, tail + at / 64 * 112, log_size, (size_t)1 << (inner - log_size),
                (n + at) >> log_size, c, depth, log_n >= FAR_LOG_N, asked);
}

#endif
