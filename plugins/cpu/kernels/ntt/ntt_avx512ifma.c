// SPDX-License-Identifier: Apache-2.0
// Transforms of u64 rows with 52-bit products (AVX-512 IFMA), q < 2^50.
//
// A value is the low 52 bits of its lane: the products read no others, so nothing is masked before the end. Quotients
// are counted up from a constant that the first product finds in its accumulator, so a multiple of q that is added or
// taken off costs nothing. A forward butterfly's product is in [-q, q) that way: a first operand with r stages to come
// that is at least r * q needs no more. Three depths of laziness, by 2^52 / q:
//   wide   q <= 2^45    forward: no reduction at all. The first operands of the first pass are lifted by 17q; what
//                       descends from them is below 2q + 17q + 17q = 36q
//   eight, seven        q <= 2^49, 2^52/7; forward: one reduction of the first operand every three stages. With
//                       2^52/q = 7 + f at worst, a reduced value is below q(1 + f); lifted by 3q, with three times q
//                       more it is below 2^52
//   tight  q < 2^50     forward: a reduction before every butterfly: with 2^52/q = 4 + f at worst below q(1 + f), then
//                       lifted by q, then below 3q + fq < 2^52
// The inverse keeps the bounds of every register as constants of the unrolled code, in units of q; they reach 128, 8,
// 7 and 4.
//
// Passes of two or three stages go depth first over blocks until one fits in L1; the last six stages of 64
// coefficients stay in registers.
#include <stdbool.h>

#include "kernels/ifma.h"
#include "kernels/ntt/ntt.h"
#include "kernels/ntt/ntt_ifma.h"
#include "kernels/unroll.h"

#define BLOCK_LOG_N 12u  // 32 KiB
// Twiddles of the last three stages are asked for so many groups ahead (beyond the end that does nothing), in rows
// whose twiddles are not in L2 for sure.
#define AHEAD 4u
#define FAR_LOG_N 14u

typedef enum depth { WIDE, EIGHT, SEVEN, TIGHT } depth_t;

#define LIFTS 18  // multiples of q that are free

typedef struct constants {
  ifma_modulus_t m;
  hx_vec bound[8];      // k * q
  hx_vec large[4];      // 8, 16, 32, 64 times q, where wide
  hx_vec minus[LIFTS];  // -k: the start of a quotient whose rest is to be k * q more
  hx_vec one;           // of one whose rest is to be q less
  hx_vec first;         // what lifts the first operands of a row, where wide
} constants_t;

// Places of what goes to one of a pair of registers. Read from memory each time: an exchange overwrites either them or
// a register that the other half of the exchange needs.
typedef struct places {
  uint64_t at[8];
} places_t;

#define PLACES static const _Alignas(64) places_t

static constants_t constants_of(uint64_t q) {
  constants_t c = {.m = ifma_modulus(q), .one = splat(1), .first = splat(17 * q)};
  for (uint64_t k = 0; k < 8; k++) {
    c.bound[k] = splat(k * q);
  }
  for (uint64_t k = 0; k < 4; k++) {
    c.large[k] = splat((q << 3) << k);
  }
  for (uint64_t k = 0; k < LIFTS; k++) {
    c.minus[k] = splat(0 - k);
  }
  return c;
}

static depth_t depth_of(uint64_t q) {
  const uint64_t ratio = HX_CPU_IFMA_LIMIT / q;
  return ratio >= 128 ? WIDE : ratio >= 8 ? EIGHT : ratio >= 7 ? SEVEN : TIGHT;
}

// A copy of a constant: read from memory, since a copy of a register takes a port of the products.
HXS_INLINE hx_vec fresh(const hx_vec *constant) {
  hx_vec copy;
  __asm__ volatile("vmovdqa64 %1, %0" : "=v"(copy) : "m"(*constant));
  return copy;
}

// As ifma_reduce, and lift * q more.
HXS_INLINE hx_vec reduce_lifted(hx_vec x, int lift, const constants_t *c) {
  return low_add(x, high_add(fresh(&c->minus[lift]), x, c->m.mu), c->m.minus_q);
}

// Stage `stage` of a pass of `stages`: x + w*y and x - w*y, the product in [-q, q). The sum is gathered in x's
// register: its low 52 bits are right, and so are those of 2x - sum.
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
  const hx_vec t = high_add(fresh(&c->one), *y, quotient);
  *x = low_add(low_add(a, *y, w), t, c->m.minus_q);
  *y = _mm512_sub_epi64(twice, *x);
}

// The roots of a pass with their quotients by their place in its tree: w[2] of the first stage, w[4] and w[6] of the
// next. They are read before any value is written, so that they stay where they are.
HXS_INLINE void pass_roots(hx_vec *w, const uint64_t *roots, size_t node, int stages) {
  UNROLL for (int s = 0; s < stages; s++) {
    UNROLL for (int i = 0; i < 1 << s; i++) {
      w[2 * ((1 << s) + i)] = splat(roots[2 * ((node << s) + (size_t)i)]);
      w[2 * ((1 << s) + i) + 1] = splat(roots[2 * ((node << s) + (size_t)i) + 1]);
    }
  }
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

HXS_INLINE void forward_pass(uint64_t *out, const uint64_t *in, const uint64_t *roots, size_t node, size_t size,
                             const constants_t *c, depth_t depth, int stages, int first) {
  const size_t stride = size >> stages;
  hx_vec w[16];
  pass_roots(w, roots, node, stages);
  for (size_t k = 0; k < stride; k += 8) {
    hx_vec v[8];
    UNROLL for (int i = 0; i < 1 << stages; i++) {
      v[i] = load(in + k + (size_t)i * stride);
      v[i] = first && i < 1 << (stages - 1) ? _mm512_add_epi64(v[i], c->first) : v[i];
    }
    split_all(v, w, c, depth, stages);
    UNROLL for (int i = 0; i < 1 << stages; i++) { store(out + k + (size_t)i * stride, v[i]); }
  }
}

HXS_INLINE void forward_pass_of(uint64_t *out, const uint64_t *in, const uint64_t *roots, size_t node, size_t size,
                                const constants_t *c, depth_t depth, int stages) {
  if (depth == WIDE && node == 1 && stages == 3) {
    forward_pass(out, in, roots, node, size, c, depth, 3, 1);
  } else if (depth == WIDE && node == 1) {
    forward_pass(out, in, roots, node, size, c, depth, 2, 1);
  } else if (stages == 3) {
    forward_pass(out, in, roots, node, size, c, depth, 3, 0);
  } else {
    forward_pass(out, in, roots, node, size, c, depth, 2, 0);
  }
}

HXS_INLINE hx_vec pair_of(const uint64_t *p) {
  return _mm512_broadcast_i64x2(_mm_load_si128((const __m128i *)(const void *)p));
}
HXS_INLINE hx_vec four_of(const uint64_t *p) {
  return _mm512_broadcast_i64x4(_mm256_load_si256((const __m256i *)(const void *)p));
}

HXS_INLINE hx_vec chosen(hx_vec a, hx_vec b, const places_t *places) {
  return _mm512_permutex2var_epi64(a, fresh((const hx_vec *)(const void *)places), b);
}

// Twiddles of one group, from beyond L1.
HXS_INLINE void ask(const uint64_t *group) {
  UNROLL for (int i = 0; i < 14; i++) { _mm_prefetch((const char *)(group + 8 * i), _MM_HINT_T0); }
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
                               const constants_t *c, depth_t depth, bool far) {
  hx_vec v[8], next[8];
  UNROLL for (int i = 0; i < 8; i++) { v[i] = load(a + 8 * i); }
  UNROLL for (int s = 0; s < 3; s++) { head_stage(v, roots, node, c, depth, s); }
  for (size_t b = 0; b + 1 < count; b++) {
    if (far) {
      ask(tail + 112 * (b + AHEAD));
    }
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

// A block in L1: passes of three stages (two at first, until what is left is a multiple of three), then groups.
HXS_INLINE void forward_block(uint64_t *out, const uint64_t *in, const uint64_t *roots, const uint64_t *tail,
                              uint32_t log_size, size_t node, const constants_t *c, depth_t depth, bool far) {
  size_t blocks = 1;
  uint32_t left = log_size;
  while (left > 6) {
    const int stages = (left - 6) % 3 == 0 ? 3 : 2;
    const size_t size = (size_t)1 << left;
    for (size_t b = 0; b < blocks; b++) {
      forward_pass_of(out + b * size, in + b * size, roots, node + b, size, c, depth, stages);
    }
    in = out;
    blocks <<= stages;
    node <<= stages;
    left -= (uint32_t)stages;
  }
  forward_groups(out, roots, node, tail, blocks, c, depth, far);
}

// Stages of the pass over a block larger than L1: what is left is to be even, or L1 sized.
HXS_INLINE int outer_stages(uint32_t log_size) { return log_size % 2 == 1 ? 3 : 2; }

HXS_INLINE void forward_tree(uint64_t *out, const uint64_t *in, const uint64_t *roots, const uint64_t *tail,
                             uint32_t log_n, const constants_t *c, depth_t depth) {
  // Offsets ascend by L1 blocks; a pass is due where its block begins.
  uint32_t inner = log_n;
  while (inner > BLOCK_LOG_N) {
    inner -= (uint32_t)outer_stages(inner);
  }
  const size_t n = (size_t)1 << log_n, step = (size_t)1 << inner;
  for (size_t at = 0; at < n; at += step) {
    uint32_t log_size = log_n;
    const uint64_t *from = in;
    while (log_size > inner) {
      const int stages = outer_stages(log_size);
      const size_t size = (size_t)1 << log_size, node = (n + at) >> log_size;
      if (at % size == 0) {
        forward_pass_of(out + at, from + at, roots, node, size, c, depth, stages);
      }
      from = out;
      log_size -= (uint32_t)stages;
    }
    forward_block(out + at, from + at, roots, tail + at / 64 * 112, inner, (n + at) >> inner, c, depth,
                  log_n >= FAR_LOG_N);
  }
}

static void forward_wide(uint64_t *out, const uint64_t *in, const uint64_t *t, uint32_t log_n, const constants_t *c) {
  forward_tree(out, in, t, t + ((size_t)1 << log_n) / 4, log_n, c, WIDE);
}
static void forward_seven(uint64_t *out, const uint64_t *in, const uint64_t *t, uint32_t log_n, const constants_t *c) {
  forward_tree(out, in, t, t + ((size_t)1 << log_n) / 4, log_n, c, SEVEN);
}
static void forward_tight(uint64_t *out, const uint64_t *in, const uint64_t *t, uint32_t log_n, const constants_t *c) {
  forward_tree(out, in, t, t + ((size_t)1 << log_n) / 4, log_n, c, TIGHT);
}

// What takes rows without 52-bit twiddles.
static const hx_cpu_ntt_t *other(const hxs_modulus *m) {
  return m->q % 4096 == 1 ? &hx_cpu_ntt_large_avx512ifma : &hx_cpu_ntt_avx512dq;
}

static void forward(void *out, const void *in, const hxs_modulus *m, const hx_cpu_twiddles_t *t, uint32_t log_n) {
  if (t->forward52 == NULL) {
    other(m)->forward(out, in, m, t, log_n);
    return;
  }
  const constants_t c = constants_of(m->q);
  switch (depth_of(m->q)) {
    case WIDE:
      forward_wide(out, in, t->forward52, log_n, &c);
      break;
    case EIGHT:
    case SEVEN:
      forward_seven(out, in, t->forward52, log_n, &c);
      break;
    default:
      forward_tight(out, in, t->forward52, log_n, &c);
      break;
  }
}

// ---- inverse

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
  const hx_vec t = high_add(fresh(&c->minus[lift]), difference, quotient);
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

static void inverse_wide(uint64_t *out, const uint64_t *in, const uint64_t *t, uint32_t log_n, const hx_vec *last,
                         const constants_t *c) {
  inverse_tree(out, in, t, t + ((size_t)1 << log_n) / 4, log_n, last, c, WIDE);
}
static void inverse_eight(uint64_t *out, const uint64_t *in, const uint64_t *t, uint32_t log_n, const hx_vec *last,
                          const constants_t *c) {
  inverse_tree(out, in, t, t + ((size_t)1 << log_n) / 4, log_n, last, c, EIGHT);
}
static void inverse_seven(uint64_t *out, const uint64_t *in, const uint64_t *t, uint32_t log_n, const hx_vec *last,
                          const constants_t *c) {
  inverse_tree(out, in, t, t + ((size_t)1 << log_n) / 4, log_n, last, c, SEVEN);
}
static void inverse_tight(uint64_t *out, const uint64_t *in, const uint64_t *t, uint32_t log_n, const hx_vec *last,
                          const constants_t *c) {
  inverse_tree(out, in, t, t + ((size_t)1 << log_n) / 4, log_n, last, c, TIGHT);
}

static void inverse(void *out, const void *in, const hxs_modulus *m, const hx_cpu_twiddles_t *t, uint32_t log_n) {
  if (t->inverse52 == NULL) {
    other(m)->inverse(out, in, m, t, log_n);
    return;
  }
  const constants_t c = constants_of(m->q);
  const hx_vec last[4] = {splat(t->last[0].value), splat(t->last[0].quotient >> 12), splat(t->last[1].value),
                          splat(t->last[1].quotient >> 12)};
  switch (depth_of(m->q)) {
    case WIDE:
      inverse_wide(out, in, t->inverse52, log_n, last, &c);
      break;
    case EIGHT:
      inverse_eight(out, in, t->inverse52, log_n, last, &c);
      break;
    case SEVEN:
      inverse_seven(out, in, t->inverse52, log_n, last, &c);
      break;
    default:
      inverse_tight(out, in, t->inverse52, log_n, last, &c);
      break;
  }
}

const hx_cpu_ntt_t hx_cpu_ntt_avx512ifma = {.forward = forward, .inverse = inverse};
