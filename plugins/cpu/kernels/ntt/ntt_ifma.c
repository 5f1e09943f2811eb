// SPDX-License-Identifier: Apache-2.0
#include "kernels/ntt/ntt_ifma.h"

#include "heliox/support/number.h"

// floor(floor(c * 2^64 / q) / 2^12) = floor(c * 2^52 / q).
static void put(const uint64_t *roots, const uint64_t *quotients, size_t node, uint64_t *value, uint64_t *quotient) {
  *value = roots[node];
  *quotient = quotients[node] >> 12;
}

// The last three stages; quotients of 64 - `down` bits.
static void arrange_tail(const uint64_t *roots, const uint64_t *quotients, uint32_t log_n, uint32_t down,
                         uint64_t *out) {
  static const size_t four[4] = {0, 2, 1, 3}, eight[8] = {0, 4, 2, 6, 1, 5, 3, 7};
  const size_t n = (size_t)1 << log_n;
  for (size_t block = 0; block < n / 16; block++) {
    uint64_t *group = out + block / 4 * 112, *to[3];
    to[0] = group + block % 4 * 4;
    to[1] = group + 16 + block % 4 * 8;
    to[2] = group + 48 + block % 4 * 16;
    for (size_t i = 0; i < 8; i++) {
      const size_t node[3] = {n / 8 + 2 * block + i, n / 4 + 4 * block + four[i % 4], n / 2 + 8 * block + eight[i]};
      for (size_t s = i < 2 ? 0 : i < 4 ? 1 : 2; s < 3; s++) {
        to[s][i] = roots[node[s]];
        to[s][((size_t)2 << s) + i] = quotients[node[s]] >> down;
      }
    }
  }
}

void hx_cpu_ifma_arrange(const uint64_t *roots, const uint64_t *quotients, uint32_t log_n, uint64_t *out) {
  const size_t n = (size_t)1 << log_n;
  for (size_t i = 0; i < n / 8; i++) {
    put(roots, quotients, i, &out[2 * i], &out[2 * i + 1]);
  }
  arrange_tail(roots, quotients, log_n, 12, out + n / 4);
}

void hx_cpu_ifma_arrange_tail(const uint64_t *roots, const uint64_t *quotients, uint32_t log_n, uint64_t *out) {
  arrange_tail(roots, quotients, log_n, 0, out);
}

// ---- the inverse

typedef struct inverse_roots {
  const hxs_modulus *m;
  const uint64_t *roots, *quotients;  // psi^-brv(i)
  uint32_t log_n;
} inverse_roots_t;

static size_t reversed(size_t x, uint32_t bits) {
  size_t y = 0;
  for (uint32_t i = 0; i < bits; i++) {
    y |= (x >> i & 1) << (bits - 1 - i);
  }
  return y;
}

// psi^-e, e < 2n.
static uint64_t power(const inverse_roots_t *r, size_t e) {
  const size_t n = (size_t)1 << r->log_n;
  const uint64_t value = r->roots[reversed(e % n, r->log_n)];
  return e < n ? value : r->m->q - value;
}

static void put_value(const inverse_roots_t *r, uint64_t c, uint64_t *value, uint64_t *quotient) {
  *value = c;
  *quotient = hxs_factor_of(r->m, c).quotient >> 12;
}

static void arrange_common(const inverse_roots_t *r, uint64_t *out) {
  const size_t n = (size_t)1 << r->log_n;
  for (size_t i = 0; i < 8; i++) {
    put_value(r, power(r, i / 4 * (n / 2)), &out[i], &out[8 + i]);
    put_value(r, power(r, i / 2 * (n / 4)), &out[16 + i], &out[24 + i]);
    for (size_t s = 1; s < 8; s++) {
      uint64_t *vector = out + 16 + 16 * s;
      put_value(r, power(r, reversed(s, 3) * i * (n / 32)), &vector[i], &vector[8 + i]);
    }
  }
}

static void arrange_group(const inverse_roots_t *r, size_t b, uint64_t degree_inverse, uint64_t *group) {
  const size_t blocks = (size_t)1 << (r->log_n - 6), n = 64 * blocks;
  const size_t odd = 2 * reversed(b, r->log_n - 6) + 1;
  for (size_t i = 0; i < 8; i++) {
    const uint64_t factor = hxs_mul_mod(r->m, power(r, odd * i % (2 * n)), degree_inverse);
    put_value(r, factor, &group[i], &group[8 + i]);
    put_value(r, hxs_mul_mod(r->m, factor, r->roots[blocks + b]), &group[16 + i], &group[24 + i]);
  }
  for (size_t i = 0; i < 4; i++) {
    put(r->roots, r->quotients, 4 * (blocks + b) + i, &group[32 + 2 * i], &group[33 + 2 * i]);
  }
  for (size_t i = 0; i < 2; i++) {
    put(r->roots, r->quotients, 2 * (blocks + b) + i, &group[40 + 2 * i], &group[41 + 2 * i]);
    group[44 + 2 * i] = group[45 + 2 * i] = 0;
  }
}

void hx_cpu_ifma_arrange_inverse(const hxs_modulus *m, const uint64_t *roots, const uint64_t *quotients, uint32_t log_n,
                                 uint64_t *out) {
  const inverse_roots_t r = {.m = m, .roots = roots, .quotients = quotients, .log_n = log_n};
  const size_t n = (size_t)1 << log_n, blocks = n / 64;
  const uint64_t degree_inverse = hxs_inverse_mod(m, n);
  uint64_t *group = out + HX_CPU_IFMA_COMMON, *stages = group + 48 * blocks, *last = stages + 2 * blocks;
  arrange_common(&r, out);
  for (size_t b = 0; b < blocks; b++) {
    arrange_group(&r, b, degree_inverse, group + 48 * b);
    put(roots, quotients, reversed(64 * b, log_n), &last[2 * b], &last[2 * b + 1]);
  }
  stages[0] = stages[1] = 0;
  for (size_t half = 1; half < blocks; half *= 2) {
    for (size_t j = 0; j < half; j++) {
      put(roots, quotients, reversed(n / half * j, log_n), &stages[2 * (half + j)], &stages[2 * (half + j) + 1]);
    }
  }
}

// ---- constants

void hx_cpu_ifma_constants(uint64_t q, uint64_t *out) {
  const uint64_t limit = (uint64_t)1 << 52;
  uint64_t rows[HX_CPU_IFMA_CONSTANTS] = {q, 2 * q, limit - q, limit / q, limit - 1};
  size_t at = 5;
  for (uint64_t k = 0; k < 8; k++) {
    rows[at++] = k * q;
  }
  for (uint64_t k = 8; k <= 64; k *= 2) {
    rows[at++] = k * q;
  }
  for (uint64_t k = 0; k < HX_CPU_IFMA_LIFTS; k++) {
    rows[at++] = 0 - k;
  }
  rows[at++] = 1;
  rows[at] = 34 * q;
  for (size_t i = 0; i < (size_t)8 * HX_CPU_IFMA_CONSTANTS; i++) {
    out[i] = rows[i / 8];
  }
}
