// SPDX-License-Identifier: Apache-2.0
// Transforms of u64 rows in lanes of 64 bits, for all primes below 2^61; the twiddles are those of the portable ones.
// Goes after lanes_avx512.h or lanes_avx2.h.
//
// Products are in [0, 4q). Two depths of laziness:
//   deep   q < 2^60    values below 16q <= 2^64; one reduction to 4q of what is added to every three stages
//   tight  q < 2^61    values below 8q; a reduction before every butterfly
// Of primes that are 1 mod 2^12 they are of 52 bits in files that define LANES_52 (ntt_lanes_product.h).
//
// Passes of some stages go depth first over blocks until one fits in L1; the last stages are within vectors.
#ifndef HX_CPU_KERNELS_NTT_LANES_H
#define HX_CPU_KERNELS_NTT_LANES_H

#include "kernels/ntt/ntt_lanes_product.h"
#include "kernels/unroll.h"

#define HELD (1 << LANES_STAGES)          // values of a pass in registers
#define TAIL_LOG2 (LANES_LOG2 + 1)        // two vectors, the last stages of which are within vectors
#define LANES_LOG_N_MIN (LANES_LOG2 + 3)  // smaller rings are left to portable
#define BLOCK_LOG2 12u                    // a block of 32 KiB is worked on to the end

// x + w*y and x - w*y, with 32-bit products + 4q. In a pass values are below (stage + 2) * 4q, or 8q, after a stage;
// with 52-bit products below 16q, or 8q. stage -1: the row's first, of values below 2q.
HXS_INLINE void lanes_split(lanes_t *x, lanes_t *y, lanes_root_t w, const lanes_ring_t *r, bool deep, int stage) {
#ifdef LANES_52
  const lanes_t a = stage < 0 ? lanes_add(*x, r->lift) : deep && stage > 0 ? *x : lanes_less(*x, r->lifting, r);
  const lanes_t product = lanes_product_from(fresh(&r->two), *y, w, r);
  *x = lanes_add(a, product);
  *y = lanes_sub(a, product);
#else
  const lanes_t a = stage < 0 || (deep && stage > 0) ? *x : lanes_reduce(*x, deep ? 4 : 2, r);
  const lanes_t product = lanes_by_root(*y, w, r);
  *x = lanes_add(a, product);
  *y = lanes_sub(lanes_add(a, r->by4[1]), product);
#endif
}

// The roots of a pass by their place in its tree: w[1] of the first stage, w[2] and w[3] of the next. Read before any
// value is written, so that they stay where they are.
HXS_INLINE void lanes_pass_roots(lanes_root_t *w, const lanes_ring_t *r, size_t node, int stages) {
  UNROLL for (int s = 0; s < stages; s++) {
    UNROLL for (int i = 0; i < 1 << s; i++) { w[(1 << s) + i] = lanes_root(r, (node << s) + (size_t)i); }
  }
}

HXS_INLINE void lanes_forward_pass(uint64_t *out, const uint64_t *in, size_t node, size_t size, const lanes_ring_t *r,
                                   bool deep, int stages, bool first) {
  const size_t stride = size >> stages;
  lanes_root_t w[HELD];
  lanes_pass_roots(w, r, node, stages);
  for (size_t k = 0; k < stride; k += LANES) {
    lanes_t v[HELD];
    UNROLL for (int i = 0; i < 1 << stages; i++) { v[i] = lanes_load(in + k + (size_t)i * stride); }
    UNROLL for (int s = 0; s < stages; s++) {
      const int half = 1 << (stages - 1 - s);
      UNROLL for (int i = 0; i < 1 << (stages - 1); i++) {
        const int block = i / half, x = block * 2 * half + i % half;
        lanes_split(&v[x], &v[x + half], w[(1 << s) + block], r, deep, first && s == 0 ? -1 : s);
      }
    }
    UNROLL for (int i = 0; i < 1 << stages; i++) { lanes_store(out + k + (size_t)i * stride, v[i]); }
  }
}

// x + y and (x - y) * w, of the inverse. Bounds of registers are constants of the unrolled code, in units of 4q.
HXS_INLINE void lanes_merge(lanes_t *x, lanes_t *y, int *bx, int *by, lanes_root_t w, const lanes_ring_t *r,
                            bool deep) {
  if (*bx + *by > (deep ? 4 : 2)) {
    *x = lanes_reduce(*x, *bx, r);
    *y = lanes_reduce(*y, *by, r);
    *bx = *by = 1;
  }
  const lanes_t a = *x, b = *y;
  *x = lanes_add(a, b);
  *y = lanes_by_root(lanes_sub(lanes_add(a, r->by4[*by]), b), w, r);
  *bx += *by;
  *by = 1;
}

#ifdef LANES_52
#include "kernels/ntt/ntt_lanes_tail.h"
#else
// The last stages of LANES_PAIRS times two blocks of LANES, the first at `node`; results in [0, q). Pairs go through a
// stage together: one alone is a chain of waits.
HXS_INLINE void lanes_forward_tail(uint64_t *p, size_t node, const lanes_ring_t *r, bool deep) {
  lanes_t v[2 * LANES_PAIRS];
  UNROLL for (int i = 0; i < 2 * LANES_PAIRS; i++) { v[i] = lanes_load(p + (size_t)i * LANES); }
  UNROLL for (int s = 0; s < LANES_LOG2; s++) {
    UNROLL for (int i = 0; i < LANES_PAIRS; i++) {
      const size_t first = (node + 2 * (size_t)i) << s;
      lanes_part(&v[2 * i], &v[2 * i + 1], s);
      lanes_split(&v[2 * i], &v[2 * i + 1],
                  lanes_root_of(lanes_roots(r->value + first, s), lanes_roots(r->quotient + first, s)), r, deep, s);
    }
  }
  const int bound = deep ? LANES_LOG2 + 1 : 2;
  UNROLL for (int i = 0; i < LANES_PAIRS; i++) {
    lanes_t a = lanes_normal(v[2 * i], bound, r), b = lanes_normal(v[2 * i + 1], bound, r);
    lanes_restore(&a, &b);
    lanes_store(p + (size_t)(2 * i) * LANES, a);
    lanes_store(p + (size_t)(2 * i + 1) * LANES, b);
  }
}

HXS_INLINE void lanes_inverse_tail(uint64_t *out, const uint64_t *in, size_t node, const lanes_ring_t *r, bool deep) {
  lanes_t v[2 * LANES_PAIRS];
  int bound[2 * LANES_PAIRS];
  UNROLL for (int i = 0; i < LANES_PAIRS; i++) {
    v[2 * i] = lanes_load(in + (size_t)(2 * i) * LANES);
    v[2 * i + 1] = lanes_load(in + (size_t)(2 * i + 1) * LANES);
    bound[2 * i] = bound[2 * i + 1] = 1;
    lanes_spread(&v[2 * i], &v[2 * i + 1]);
  }
  UNROLL for (int s = LANES_LOG2 - 1; s >= 0; s--) {
    UNROLL for (int i = 0; i < LANES_PAIRS; i++) {
      lanes_t *a = &v[2 * i], *b = &v[2 * i + 1];
      int *ba = &bound[2 * i], *bb = &bound[2 * i + 1];
      const size_t first = (node + 2 * (size_t)i) << s;
      lanes_merge(a, b, ba, bb, lanes_root_of(lanes_roots(r->value + first, s), lanes_roots(r->quotient + first, s)), r,
                  deep);
      lanes_join(a, b, s);
      *ba = *bb = *ba > *bb ? *ba : *bb;  // lanes of both are in each
    }
  }
  UNROLL for (int i = 0; i < 2 * LANES_PAIRS; i++) {
    lanes_store(out + (size_t)i * LANES, lanes_reduce(v[i], bound[i], r));
  }
}
#endif

// Stages of the next pass over a block of 2^log_size: few ones first, while blocks are large, and a single one only
// where there is no other way.
HXS_INLINE int lanes_stages(uint32_t log_size) {
  const uint32_t left = log_size - LANES_LOG2, rest = left % LANES_STAGES;
  return rest == 0 ? LANES_STAGES : rest == 1 && LANES_STAGES > 2 && left > 1 ? 2 : (int)rest;
}

HXS_INLINE void lanes_forward_pass_of(uint64_t *out, const uint64_t *in, size_t node, uint32_t log_size,
                                      const lanes_ring_t *r, bool deep) {
  const size_t size = (size_t)1 << log_size;
  const int stages = lanes_stages(log_size);
  if (node == 1) {
    if (stages == 1) {
      lanes_forward_pass(out, in, node, size, r, deep, 1, true);
    } else if (stages == 2) {  // NOLINT(bugprone-branch-clone): alike where LANES_STAGES is 2
      lanes_forward_pass(out, in, node, size, r, deep, 2, true);
    } else {
      lanes_forward_pass(out, in, node, size, r, deep, LANES_STAGES, true);
    }
  } else if (stages == 1) {
    lanes_forward_pass(out, in, node, size, r, deep, 1, false);
  } else if (stages == 2) {  // NOLINT(bugprone-branch-clone): alike where LANES_STAGES is 2
    lanes_forward_pass(out, in, node, size, r, deep, 2, false);
  } else {
    lanes_forward_pass(out, in, node, size, r, deep, LANES_STAGES, false);
  }
}

// A block of L1 size, at least of two vectors, to its end.
HXS_INLINE void lanes_forward_block(uint64_t *out, const uint64_t *in, uint32_t log_size, size_t node,
                                    const lanes_ring_t *r, bool deep) {
  const size_t size = (size_t)1 << log_size;
  for (uint32_t left = log_size; left > LANES_LOG2;) {
    const size_t length = (size_t)1 << left;
    for (size_t b = 0; b < size / length; b++) {
      lanes_forward_pass_of(out + b * length, in + b * length, node * (size / length) + b, left, r, deep);
    }
    in = out;
    left -= (uint32_t)lanes_stages(left);
  }
  for (size_t b = 0; b < size / LANES; b += 2 * LANES_PAIRS) {
    lanes_forward_tail(out + b * LANES, node * (size / LANES) + b, r, deep);
  }
}

// Passes over blocks larger than L1, each where its block begins.
HXS_INLINE void lanes_forward_tree(uint64_t *out, const uint64_t *in, uint32_t log_n, const lanes_ring_t *r,
                                   bool deep) {
  const size_t n = (size_t)1 << log_n;
  uint32_t inner = log_n;
  while (inner > BLOCK_LOG2) {
    inner -= (uint32_t)lanes_stages(inner);
  }
  for (size_t at = 0; at < n; at += (size_t)1 << inner) {
    const uint64_t *from = in;
    for (uint32_t left = log_n; left > inner; left -= (uint32_t)lanes_stages(left)) {
      if (at % ((size_t)1 << left) == 0) {
        lanes_forward_pass_of(out + at, from + at, (n + at) >> left, left, r, deep);
      }
      from = out;
    }
    lanes_forward_block(out + at, from + at, inner, (n + at) >> inner, r, deep);
  }
}

// ---- inverse

// last: the factors 1/n and root/n of the stage at node 1, or NULL. Below 4q in and out; with last in [0, q).
HXS_INLINE void lanes_inverse_pass(uint64_t *a, size_t node, size_t size, const lanes_root_t *last,
                                   const lanes_ring_t *r, bool deep, int stages) {
  const size_t stride = size >> stages;
  lanes_root_t w[HELD];
  lanes_pass_roots(w, r, node, stages);
  for (size_t k = 0; k < stride; k += LANES) {
    lanes_t v[HELD];
    int bound[HELD];
    UNROLL for (int i = 0; i < 1 << stages; i++) {
      v[i] = lanes_load(a + k + (size_t)i * stride);
      bound[i] = 1;
    }
    UNROLL for (int s = stages - 1; s >= 0; s--) {
      const int half = 1 << (stages - 1 - s);
      UNROLL for (int i = 0; i < 1 << (stages - 1); i++) {
        const int block = i / half, x = block * 2 * half + i % half, y = x + half;
        const bool ends = s == 0 && last != NULL;
        lanes_merge(&v[x], &v[y], &bound[x], &bound[y], ends ? last[1] : w[(1 << s) + block], r, deep);
        if (ends) {
          v[x] = lanes_by_root(v[x], last[0], r);
          bound[x] = 1;
        }
      }
    }
    UNROLL for (int i = 0; i < 1 << stages; i++) {
      v[i] = last != NULL ? lanes_normal(v[i], bound[i], r) : lanes_reduce(v[i], bound[i], r);
      lanes_store(a + k + (size_t)i * stride, v[i]);
    }
  }
}

HXS_INLINE void lanes_inverse_pass_of(uint64_t *a, size_t node, uint32_t log_size, const lanes_root_t *last,
                                      const lanes_ring_t *r, bool deep) {
  const size_t size = (size_t)1 << log_size;
  const int stages = lanes_stages(log_size);
  if (node == 1) {
    if (stages == 1) {
      lanes_inverse_pass(a, node, size, last, r, deep, 1);
    } else if (stages == 2) {  // NOLINT(bugprone-branch-clone): alike where LANES_STAGES is 2
      lanes_inverse_pass(a, node, size, last, r, deep, 2);
    } else {
      lanes_inverse_pass(a, node, size, last, r, deep, LANES_STAGES);
    }
  } else if (stages == 1) {
    lanes_inverse_pass(a, node, size, NULL, r, deep, 1);
  } else if (stages == 2) {  // NOLINT(bugprone-branch-clone): alike where LANES_STAGES is 2
    lanes_inverse_pass(a, node, size, NULL, r, deep, 2);
  } else {
    lanes_inverse_pass(a, node, size, NULL, r, deep, LANES_STAGES);
  }
}

HXS_INLINE void lanes_inverse_block(uint64_t *out, const uint64_t *in, uint32_t log_size, size_t node,
                                    const lanes_root_t *last, const lanes_ring_t *r, bool deep) {
  const size_t size = (size_t)1 << log_size;
  for (size_t b = 0; b < size / LANES; b += 2 * LANES_PAIRS) {
    lanes_inverse_tail(out + b * LANES, in + b * LANES, node * (size / LANES) + b, r, deep);
  }
  // The passes of the forward transform, the last one first.
  uint32_t levels[32], count = 0;
  for (uint32_t left = log_size; left > LANES_LOG2; left -= (uint32_t)lanes_stages(left)) {
    levels[count++] = left;
  }
  while (count-- > 0) {
    const size_t length = (size_t)1 << levels[count];
    for (size_t b = 0; b < size / length; b++) {
      lanes_inverse_pass_of(out + b * length, node * (size / length) + b, levels[count], last, r, deep);
    }
  }
}

HXS_INLINE void lanes_inverse_tree(uint64_t *out, const uint64_t *in, uint32_t log_n, const lanes_root_t *last,
                                   const lanes_ring_t *r, bool deep) {
  const size_t n = (size_t)1 << log_n;
  uint32_t levels[32] = {log_n}, count = 0;
  while (levels[count] > BLOCK_LOG2) {
    levels[count + 1] = levels[count] - (uint32_t)lanes_stages(levels[count]);
    count++;
  }
  const uint32_t inner = levels[count];
  for (size_t at = 0; at < n; at += (size_t)1 << inner) {
    lanes_inverse_block(out + at, in + at, inner, (n + at) >> inner, last, r, deep);
    const size_t end = at + ((size_t)1 << inner);
    for (uint32_t level = count; level-- > 0 && end % ((size_t)1 << levels[level]) == 0;) {
      const size_t begin = end - ((size_t)1 << levels[level]);
      lanes_inverse_pass_of(out + begin, (n + begin) >> levels[level], levels[level], last, r, deep);
    }
  }
}

// ---- entry points of a file

static void forward_deep(uint64_t *out, const uint64_t *in, uint32_t log_n, const lanes_ring_t *r) {
  lanes_forward_tree(out, in, log_n, r, true);
}
static void forward_tight(uint64_t *out, const uint64_t *in, uint32_t log_n, const lanes_ring_t *r) {
  lanes_forward_tree(out, in, log_n, r, false);
}
static void inverse_deep(uint64_t *out, const uint64_t *in, uint32_t log_n, const lanes_root_t *last,
                         const lanes_ring_t *r) {
  lanes_inverse_tree(out, in, log_n, last, r, true);
}
static void inverse_tight(uint64_t *out, const uint64_t *in, uint32_t log_n, const lanes_root_t *last,
                          const lanes_ring_t *r) {
  lanes_inverse_tree(out, in, log_n, last, r, false);
}

static void forward(void *out, const void *in, const hxs_modulus *m, const hx_cpu_twiddles_t *t, uint32_t log_n) {
  if (log_n < LANES_LOG_N_MIN) {
    hx_cpu_ntt_portable64.forward(out, in, m, t, log_n);
    return;
  }
  const lanes_ring_t r = lanes_ring(t->forward, t->forward_quotient, t->forward_tail, log_n, m->q);
  if (m->bits <= 60) {
    forward_deep(out, in, log_n, &r);
  } else {
    forward_tight(out, in, log_n, &r);
  }
}

static void inverse(void *out, const void *in, const hxs_modulus *m, const hx_cpu_twiddles_t *t, uint32_t log_n) {
  if (log_n < LANES_LOG_N_MIN) {
    hx_cpu_ntt_portable64.inverse(out, in, m, t, log_n);
    return;
  }
  const lanes_ring_t r = lanes_ring(t->inverse, t->inverse_quotient, t->inverse_tail, log_n, m->q);
  lanes_root_t last[2];
  for (int i = 0; i < 2; i++) {
    last[i] = lanes_root_of(lanes_splat(t->last[i].value), lanes_splat(t->last[i].quotient));
  }
  if (m->bits <= 60) {
    inverse_deep(out, in, log_n, last, &r);
  } else {
    inverse_tight(out, in, log_n, last, &r);
  }
}

#endif
