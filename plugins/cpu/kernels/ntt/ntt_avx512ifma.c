// SPDX-License-Identifier: Apache-2.0
// Transforms of u64 rows with 52-bit products (AVX-512 IFMA), q < 2^50.
//
// A value is the low 52 bits of its lane: the products read no others, so nothing is masked before the end. Quotients
// are counted up from a constant that the first product finds in its accumulator, so a multiple of q that is added or
// taken off costs nothing. A forward butterfly's product is in [-q, q) that way: a first operand with r stages to come
// that is at least r * q needs no more. Three depths of laziness, by 2^52 / q:
//   wide   q <= 2^52/36  forward: no reduction at all. The first operands of the first pass are lifted by 17q; what
//                        descends from them is below 2q + 17q + 17q = 36q
//   mid    q <= 2^52/7   forward: one reduction of the first operand every three stages. With 2^52/q = 7 + f at worst,
//                        a reduced value is below q(1 + f); lifted by 3q, with three times q more it is below 2^52
//   tight  q < 2^50      forward: a reduction before every butterfly: with 2^52/q = 4 + f at worst below q(1 + f),
//                        then lifted by q, then below 3q + fq < 2^52
// The inverse keeps the bound of every register as a constant of the unrolled code (in units of q): wide up to 128q.
//
// Passes of two or three stages go depth first over blocks until one fits in L1; the last six stages of 64
// coefficients stay in registers.
#include "kernels/ifma.h"
#include "kernels/ntt/ntt.h"
#include "kernels/ntt/ntt_ifma.h"
#include "kernels/unroll.h"

#define BLOCK_LOG_N 12u  // 32 KiB

typedef enum depth { WIDE, MID, TIGHT } depth_t;

#define LIFTS 18  // multiples of q that are free

typedef struct constants {
  ifma_modulus_t m;
  hx_vec bound[8];        // k * q
  hx_vec large[4];        // 8, 16, 32, 64 times q, where wide
  hx_vec minus[LIFTS];    // -k: the start of a quotient whose rest is to be k * q more
  hx_vec one;             // of one whose rest is to be q less
  hx_vec first;           // what lifts the first operands of a row, where wide
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
  return q <= ((uint64_t)1 << 52) / 128 ? WIDE : q <= ((uint64_t)1 << 52) / 7 ? MID : TIGHT;
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
  } else if (depth == MID && stage == 0) {
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
                               const constants_t *c, depth_t depth) {
  hx_vec v[8], next[8];
  UNROLL for (int i = 0; i < 8; i++) { v[i] = load(a + 8 * i); }
  UNROLL for (int s = 0; s < 3; s++) { head_stage(v, roots, node, c, depth, s); }
  for (size_t b = 0; b + 1 < count; b++) {
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
                              uint32_t log_size, size_t node, const constants_t *c, depth_t depth) {
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
  forward_groups(out, roots, node, tail, blocks, c, depth);
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
    forward_block(out + at, from + at, roots, tail + at / 64 * 112, inner, (n + at) >> inner, c, depth);
  }
}

static void forward_wide(uint64_t *out, const uint64_t *in, const uint64_t *t, uint32_t log_n, const constants_t *c) {
  forward_tree(out, in, t, t + ((size_t)1 << log_n) / 4, log_n, c, WIDE);
}
static void forward_mid(uint64_t *out, const uint64_t *in, const uint64_t *t, uint32_t log_n, const constants_t *c) {
  forward_tree(out, in, t, t + ((size_t)1 << log_n) / 4, log_n, c, MID);
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
    case MID:
      forward_mid(out, in, t->forward52, log_n, &c);
      break;
    default:
      forward_tight(out, in, t->forward52, log_n, &c);
      break;
  }
}

// ---- inverse

// What the sum and the shifted difference of two values may reach, and what a pass takes, in units of q.
HXS_INLINE int most(depth_t depth) { return depth == WIDE ? 128 : depth == MID ? 7 : 4; }
HXS_INLINE int taken(depth_t depth) { return depth == WIDE ? 16 : 2; }

HXS_INLINE hx_vec multiple(int k, const constants_t *c) {
  return k < 8 ? c->bound[k] : c->large[k <= 8 ? 0 : k <= 16 ? 1 : k <= 32 ? 2 : 3];
}

// x + y and (x - y) * w; *bx and *by are their bounds.
HXS_INLINE void join(hx_vec *x, hx_vec *y, int *bx, int *by, hx_vec w, hx_vec quotient, const constants_t *c,
                     depth_t depth) {
  if (*bx + *by > most(depth) && *bx >= *by) {
    *x = ifma_reduce(*x, &c->m);
    *bx = 2;
  }
  if (*bx + *by > most(depth)) {
    *y = ifma_reduce(*y, &c->m);
    *by = 2;
  }
  if (*bx + *by > most(depth)) {
    *x = ifma_reduce(*x, &c->m);
    *bx = 2;
  }
  hx_vec a = *x, b = *y;
  *x = _mm512_add_epi64(a, b);
  *y = ifma_times(_mm512_sub_epi64(_mm512_add_epi64(a, multiple(*by, c)), b), w, quotient, &c->m);
  *bx = *bx + *by;
  *by = 2;
}

// `stages` stages of 2^stages registers. last: its factors 1/n and root/n with quotients,
// NULL where more stages follow. Bounds are `taken` before and after.
HXS_INLINE void join_all(hx_vec *v, const hx_vec *w, const hx_vec *last, const constants_t *c, depth_t depth,
                         int stages) {
  int bound[8];
  UNROLL for (int i = 0; i < 8; i++) { bound[i] = taken(depth); }
  UNROLL for (int s = stages - 1; s >= 0; s--) {
    const int half = 1 << (stages - 1 - s);
    UNROLL for (int i = 0; i < 1 << (stages - 1); i++) {
      const int block = i / half, x = block * 2 * half + i % half, y = x + half;
      const int ends = s == 0 && last != NULL;
      const hx_vec *root = ends ? last + 2 : w + 2 * ((1 << s) + block);
      join(&v[x], &v[y], &bound[x], &bound[y], root[0], root[1], c, depth);
      if (ends) {
        v[x] = ifma_times(v[x], last[0], last[1], &c->m);
        bound[x] = 2;
      }
    }
  }
  UNROLL for (int i = 0; i < 1 << stages; i++) {
    if (last != NULL) {
      v[i] = _mm512_and_si512(v[i], c->m.mask);
      v[i] = ifma_once(v[i], c->m.q);
    } else if (bound[i] > taken(depth)) {
      v[i] = ifma_reduce(v[i], &c->m);
    }
  }
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

// Values below 2q in; below 2q out.
HXS_INLINE void inverse_sixteen(hx_vec *a, hx_vec *b, const uint64_t *in, const uint64_t *group, int p,
                                const constants_t *c, depth_t depth) {
  const hx_vec first = _mm512_setr_epi64(0, 8, 4, 12, 2, 10, 6, 14),
               second = _mm512_setr_epi64(1, 9, 5, 13, 3, 11, 7, 15);
  const hx_vec low = _mm512_setr_epi64(0, 1, 4, 5, 8, 9, 12, 13), top = _mm512_setr_epi64(2, 3, 6, 7, 10, 11, 14, 15);
  const hx_vec even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14), odd = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
  int bx = 2, by = 2;
  hx_vec u = load(in), v = load(in + 8);
  hx_vec x = _mm512_permutex2var_epi64(u, first, v);   // a0 b0 a4 b4 a2 b2 a6 b6
  hx_vec y = _mm512_permutex2var_epi64(u, second, v);  // a1 b1 a5 b5 a3 b3 a7 b7
  join(&x, &y, &bx, &by, load(group + 48 + 16 * p), load(group + 56 + 16 * p), c, depth);
  u = _mm512_shuffle_i64x2(x, y, 0x44);  // a0 b0 a4 b4 a1 b1 a5 b5
  v = _mm512_shuffle_i64x2(x, y, 0xee);  // a2 b2 a6 b6 a3 b3 a7 b7
  by = bx;                               // lanes of both are in each
  join(&u, &v, &bx, &by, four_of(group + 16 + 8 * p), four_of(group + 20 + 8 * p), c, depth);
  x = _mm512_permutex2var_epi64(u, low, v);  // a0 b0 a1 b1 a2 b2 a3 b3
  y = _mm512_permutex2var_epi64(u, top, v);  // a4 b4 ...
  by = bx;
  join(&x, &y, &bx, &by, pair_of(group + 4 * p), pair_of(group + 4 * p + 2), c, depth);
  if (bx > taken(depth)) {
    x = ifma_reduce(x, &c->m);
  }
  *a = _mm512_permutex2var_epi64(x, even, y);
  *b = _mm512_permutex2var_epi64(x, odd, y);
}

HXS_INLINE void inverse_group(uint64_t *out, const uint64_t *in, const uint64_t *roots, size_t node,
                              const uint64_t *group, const constants_t *c, depth_t depth) {
  hx_vec v[8], w[16];
  pass_roots(w, roots, node, 3);
  UNROLL for (int p = 0; p < 4; p++) { inverse_sixteen(&v[2 * p], &v[2 * p + 1], in + 16 * p, group, p, c, depth); }
  join_all(v, w, NULL, c, depth, 3);
  UNROLL for (int i = 0; i < 8; i++) { store(out + 8 * i, v[i]); }
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
                              uint32_t log_size, size_t node, const hx_vec *last, const constants_t *c, depth_t depth) {
  const size_t groups = (size_t)1 << (log_size - 6);
  for (size_t b = 0; b < groups; b++) {
    inverse_group(out + 64 * b, in + 64 * b, roots, node * groups + b, tail + 112 * b, c, depth);
  }
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
    inverse_block(out + at, in + at, roots, tail + at / 64 * 112, inner, (n + at) >> inner, last, c, depth);
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
static void inverse_mid(uint64_t *out, const uint64_t *in, const uint64_t *t, uint32_t log_n, const hx_vec *last,
                        const constants_t *c) {
  inverse_tree(out, in, t, t + ((size_t)1 << log_n) / 4, log_n, last, c, MID);
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
    case MID:
      inverse_mid(out, in, t->inverse52, log_n, last, &c);
      break;
    default:
      inverse_tight(out, in, t->inverse52, log_n, last, &c);
      break;
  }
}

const hx_cpu_ntt_t hx_cpu_ntt_avx512ifma = {.forward = forward, .inverse = inverse};
