// SPDX-License-Identifier: Apache-2.0
// Transforms of u64 rows: Harvey's butterflies [Har14], two stages in one pass over the data, blocks of L1 size
// finished before the next one is begun.
//
// Node t of the tree of moduli stands for X^len - r with r = psi^(brv(t) ...): its root is forward[t], its halves are
// nodes 2t and 2t+1, the whole row is node 1. So a block needs to know its node and nothing else.
#include "kernels/ntt/ntt.h"

// Coefficients of a block that is worked on to the end: 32 KiB.
#define BLOCK 4096u

typedef struct roots {
  const uint64_t *value, *quotient;
  uint64_t q, two_q;
} roots_t;

// x, y < 4q in; x + w*y and x - w*y, both < 4q, out.
HXS_INLINE void split(uint64_t *x, uint64_t *y, hxs_factor w, uint64_t q, uint64_t two_q) {
  uint64_t a = hxs_mod_once(*x, two_q);           // < 2q
  uint64_t b = hxs_mod_shoup_lazy(*y, w, q, 64);  // < 2q
  *x = a + b;                                     // < 4q
  *y = a - b + two_q;                             // in (0, 4q)
}

// x, y < 2q in; x + y and (x - y) * w, both < 2q, out.
HXS_INLINE void join(uint64_t *x, uint64_t *y, hxs_factor w, uint64_t q, uint64_t two_q) {
  uint64_t a = *x, b = *y;
  *x = hxs_mod_once(a + b, two_q);                   // a + b < 4q
  *y = hxs_mod_shoup_lazy(a - b + two_q, w, q, 64);  // a - b + 2q in (0, 4q)
}

HXS_INLINE hxs_factor root(const roots_t *r, size_t node) {
  hxs_factor w = {r->value[node], r->quotient[node]};
  return w;
}

static void forward_single(uint64_t *out, const uint64_t *in, size_t half, const roots_t *r) {
  uint64_t q = r->q, two_q = r->two_q;
  hxs_factor w = root(r, 1);
  for (size_t k = 0; k < half; k++) {
    uint64_t x = in[k], y = in[k + half];
    split(&x, &y, w, q, two_q);
    out[k] = x;
    out[k + half] = y;
  }
}

// Two stages of a block of 4 * quarter at `node`.
static void forward_pair(uint64_t *out, const uint64_t *in, size_t quarter, size_t node, const roots_t *r) {
  uint64_t q = r->q, two_q = r->two_q;
  hxs_factor w1 = root(r, node), w2 = root(r, 2 * node), w3 = root(r, 2 * node + 1);
  for (size_t k = 0; k < quarter; k++) {
    uint64_t x0 = in[k], x1 = in[k + quarter], x2 = in[k + 2 * quarter], x3 = in[k + 3 * quarter];
    split(&x0, &x2, w1, q, two_q);
    split(&x1, &x3, w1, q, two_q);
    split(&x0, &x1, w2, q, two_q);
    split(&x2, &x3, w3, q, two_q);
    out[k] = x0;
    out[k + quarter] = x1;
    out[k + 2 * quarter] = x2;
    out[k + 3 * quarter] = x3;
  }
}

// The last two stages of `blocks` blocks of four, the first at `node`; results in [0, q).
static void forward_last(uint64_t *a, size_t blocks, size_t node, const roots_t *r) {
  uint64_t q = r->q, two_q = r->two_q;
  for (size_t b = 0; b < blocks; b++, a += 4, node++) {
    uint64_t x0 = a[0], x1 = a[1], x2 = a[2], x3 = a[3];
    hxs_factor w1 = root(r, node);
    split(&x0, &x2, w1, q, two_q);
    split(&x1, &x3, w1, q, two_q);
    split(&x0, &x1, root(r, 2 * node), q, two_q);
    split(&x2, &x3, root(r, 2 * node + 1), q, two_q);
    a[0] = hxs_mod_once(hxs_mod_once(x0, two_q), q);
    a[1] = hxs_mod_once(hxs_mod_once(x1, two_q), q);
    a[2] = hxs_mod_once(hxs_mod_once(x2, two_q), q);
    a[3] = hxs_mod_once(hxs_mod_once(x3, two_q), q);
  }
}

// All stages of a block of `size` (4 times a power of 4) at `node`, in place.
static void forward_block(uint64_t *a, size_t size, size_t node, const roots_t *r) {
  if (size > BLOCK) {
    size_t quarter = size / 4;
    forward_pair(a, a, quarter, node, r);
    for (size_t i = 0; i < 4; i++) {
      forward_block(a + i * quarter, quarter, 4 * node + i, r);
    }
    return;
  }
  size_t blocks = 1;
  for (size_t length = size; length > 4; length /= 4, blocks *= 4, node *= 4) {
    for (size_t b = 0; b < blocks; b++) {
      forward_pair(a + b * length, a + b * length, length / 4, node + b, r);
    }
  }
  forward_last(a, blocks, node, r);
}

static void forward64(void *out, const void *in, const hxs_modulus *m, const hx_cpu_twiddles_t *t, uint32_t log_n) {
  roots_t r = {t->forward, t->forward_quotient, m->q, m->two_q};
  uint64_t *a = out;
  size_t n = (size_t)1 << log_n;
  size_t parts = log_n % 2 != 0 ? 2 : 4;
  if (parts == 2) {
    forward_single(a, in, n / 2, &r);
  } else {
    forward_pair(a, in, n / 4, 1, &r);
  }
  for (size_t i = 0; i < parts; i++) {
    forward_block(a + i * (n / parts), n / parts, parts + i, &r);
  }
}

// The first two stages of `blocks` blocks of four, the first at `node`.
static void inverse_first(uint64_t *out, const uint64_t *in, size_t blocks, size_t node, const roots_t *r) {
  uint64_t q = r->q, two_q = r->two_q;
  for (size_t b = 0; b < blocks; b++, in += 4, out += 4, node++) {
    uint64_t x0 = in[0], x1 = in[1], x2 = in[2], x3 = in[3];
    join(&x0, &x1, root(r, 2 * node), q, two_q);
    join(&x2, &x3, root(r, 2 * node + 1), q, two_q);
    hxs_factor w1 = root(r, node);
    join(&x0, &x2, w1, q, two_q);
    join(&x1, &x3, w1, q, two_q);
    out[0] = x0;
    out[1] = x1;
    out[2] = x2;
    out[3] = x3;
  }
}

static void inverse_pair(uint64_t *a, size_t quarter, size_t node, const roots_t *r) {
  uint64_t q = r->q, two_q = r->two_q;
  hxs_factor w1 = root(r, node), w2 = root(r, 2 * node), w3 = root(r, 2 * node + 1);
  for (size_t k = 0; k < quarter; k++) {
    uint64_t x0 = a[k], x1 = a[k + quarter], x2 = a[k + 2 * quarter], x3 = a[k + 3 * quarter];
    join(&x0, &x1, w2, q, two_q);
    join(&x2, &x3, w3, q, two_q);
    join(&x0, &x2, w1, q, two_q);
    join(&x1, &x3, w1, q, two_q);
    a[k] = x0;
    a[k + quarter] = x1;
    a[k + 2 * quarter] = x2;
    a[k + 3 * quarter] = x3;
  }
}

static void inverse_block(uint64_t *out, const uint64_t *in, size_t size, size_t node, const roots_t *r) {
  if (size > BLOCK) {
    size_t quarter = size / 4;
    for (size_t i = 0; i < 4; i++) {
      inverse_block(out + i * quarter, in + i * quarter, quarter, 4 * node + i, r);
    }
    inverse_pair(out, quarter, node, r);
    return;
  }
  size_t blocks = size / 4;
  inverse_first(out, in, blocks, node * blocks, r);
  for (size_t length = 16; length <= size; length *= 4) {
    blocks = size / length;
    for (size_t b = 0; b < blocks; b++) {
      inverse_pair(out + b * length, length / 4, node * blocks + b, r);
    }
  }
}

// The stage of node 1 with the factors of the end: x + y times 1/n, x - y times root/n; results in [0, q).
HXS_INLINE void finish(uint64_t *x, uint64_t *y, const hxs_factor *last, uint64_t q, uint64_t two_q) {
  uint64_t a = *x, b = *y;
  *x = hxs_mod_once(hxs_mod_shoup_lazy(a + b, last[0], q, 64), q);
  *y = hxs_mod_once(hxs_mod_shoup_lazy(a - b + two_q, last[1], q, 64), q);
}

static void inverse_last(uint64_t *a, size_t n, uint32_t parts, const hxs_factor *last, const roots_t *r) {
  uint64_t q = r->q, two_q = r->two_q;
  hxs_factor sum_difference[2] = {last[0], last[1]};
  if (parts == 2) {
    for (size_t k = 0; k < n / 2; k++) {
      finish(&a[k], &a[k + n / 2], sum_difference, q, two_q);
    }
    return;
  }
  size_t quarter = n / 4;
  hxs_factor w2 = root(r, 2), w3 = root(r, 3);
  for (size_t k = 0; k < quarter; k++) {
    uint64_t x0 = a[k], x1 = a[k + quarter], x2 = a[k + 2 * quarter], x3 = a[k + 3 * quarter];
    join(&x0, &x1, w2, q, two_q);
    join(&x2, &x3, w3, q, two_q);
    finish(&x0, &x2, sum_difference, q, two_q);
    finish(&x1, &x3, sum_difference, q, two_q);
    a[k] = x0;
    a[k + quarter] = x1;
    a[k + 2 * quarter] = x2;
    a[k + 3 * quarter] = x3;
  }
}

static void inverse64(void *out, const void *in, const hxs_modulus *m, const hx_cpu_twiddles_t *t, uint32_t log_n) {
  roots_t r = {t->inverse, t->inverse_quotient, m->q, m->two_q};
  uint64_t *a = out;
  const uint64_t *from = in;
  size_t n = (size_t)1 << log_n;
  uint32_t parts = log_n % 2 != 0 ? 2 : 4;
  for (size_t i = 0; i < parts; i++) {
    inverse_block(a + i * (n / parts), from + i * (n / parts), n / parts, parts + i, &r);
  }
  inverse_last(a, n, parts, t->last, &r);
}

const hx_cpu_ntt_t hx_cpu_ntt_portable64 = {.forward = forward64, .inverse = inverse64};
