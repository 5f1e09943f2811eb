// SPDX-License-Identifier: Apache-2.0
// Pointwise kernels in lanes of 64 bits, for all primes below 2^61. Goes after lanes_avx512.h or lanes_avx2.h. Rows
// have a multiple of LANES residues, since n >= 8; half rows that have not go to portable.
#ifndef HX_CPU_KERNELS_POINTWISE_LANES_H
#define HX_CPU_KERNELS_POINTWISE_LANES_H

#include "kernels/lanes_sum.h"
#include "kernels/pointwise/pointwise.h"

// Sums of values below `modulus` < 2^62.
static void add(void *out, const void *a, const void *b, uint64_t modulus, size_t n) {
  const uint64_t *x = a, *y = b;
  uint64_t *to = out;
  const lanes_t q = lanes_splat(modulus);
  for (size_t i = 0; i < n; i += LANES) {
    lanes_store(to + i, lanes_once(lanes_add(lanes_load(x + i), lanes_load(y + i)), q));
  }
}

static void sub(void *out, const void *a, const void *b, uint64_t modulus, size_t n) {
  const uint64_t *x = a, *y = b;
  uint64_t *to = out;
  const lanes_t q = lanes_splat(modulus);
  for (size_t i = 0; i < n; i += LANES) {
    lanes_store(to + i, lanes_once(lanes_add(lanes_load(x + i), lanes_sub(q, lanes_load(y + i))), q));
  }
}

static void neg(void *out, const void *a, uint64_t modulus, size_t n) {
  const uint64_t *x = a;
  uint64_t *to = out;
  const lanes_t q = lanes_splat(modulus);
  for (size_t i = 0; i < n; i += LANES) {
    lanes_store(to + i, lanes_once(lanes_sub(q, lanes_load(x + i)), q));
  }
}

static void add_scalar(void *out, const void *a, uint64_t c, uint64_t modulus, size_t n) {
  if (n % LANES != 0) {
    hx_cpu_pointwise_portable64.add_scalar(out, a, c, modulus, n);
    return;
  }
  const uint64_t *x = a;
  uint64_t *to = out;
  const lanes_t q = lanes_splat(modulus), term = lanes_splat(c);
  for (size_t i = 0; i < n; i += LANES) {
    lanes_store(to + i, lanes_once(lanes_add(lanes_load(x + i), term), q));
  }
}

static void reduce(void *out, const void *a, const hxs_modulus *modulus, size_t n) {
  const uint64_t *x = a;
  uint64_t *to = out;
  const lanes_modulus_t m = lanes_modulus(modulus);
  for (size_t i = 0; i < n; i += LANES) {
    lanes_store(to + i, lanes_once(lanes_once(lanes_word(lanes_load(x + i), &m), m.two_q), m.q));
  }
}

static void mul_add(void *out, const void *acc, const void *a, const void *b, const hxs_modulus *modulus, size_t n) {
  const uint64_t *start = acc;
  uint64_t *to = out;
  const lanes_modulus_t m = lanes_modulus(modulus);
  for (size_t i = 0; i < n; i += LANES) {
    lanes_store(to + i, lanes_full(lanes_dot(lanes_load(start + i), &a, &b, 1, i, &m), &m));
  }
}

static void mul(void *out, const void *a, const void *b, const hxs_modulus *modulus, size_t n) {
  uint64_t *to = out;
  const lanes_modulus_t m = lanes_modulus(modulus);
  for (size_t i = 0; i < n; i += LANES) {
    lanes_store(to + i, lanes_full(lanes_dot(lanes_zero(), &a, &b, 1, i, &m), &m));
  }
}

static void mul_montgomery(void *out, const void *a, const void *b, const hxs_modulus *m, size_t n) {
  hx_cpu_pointwise_portable64.mul_montgomery(out, a, b, m, n);
}

static void mul_scalar(void *out, const void *a, hxs_factor c, const hxs_modulus *modulus, size_t n) {
  if (n % LANES != 0) {
    hx_cpu_pointwise_portable64.mul_scalar(out, a, c, modulus, n);
    return;
  }
  const uint64_t *x = a;
  uint64_t *to = out;
  const lanes_modulus_t m = lanes_modulus(modulus);
  const lanes_factor_t f = lanes_factor(lanes_splat(c.value), lanes_splat(c.quotient));
  for (size_t i = 0; i < n; i += LANES) {
    lanes_store(to + i, lanes_once(lanes_once(lanes_times(lanes_load(x + i), f, m.q), m.two_q), m.q));
  }
}

static void mul_scalar_add(void *out, const void *acc, const void *a, hxs_factor c, const hxs_modulus *modulus,
                           size_t n) {
  const uint64_t *x = a, *y = acc;
  uint64_t *to = out;
  const lanes_modulus_t m = lanes_modulus(modulus);
  const lanes_factor_t f = lanes_factor(lanes_splat(c.value), lanes_splat(c.quotient));
  for (size_t i = 0; i < n; i += LANES) {
    lanes_store(to + i, lanes_full(lanes_add(lanes_times(lanes_load(x + i), f, m.q), lanes_load(y + i)), &m));
  }
}

static void dot(void *out, const void *acc, const void *const *a, const void *const *b, uint32_t count,
                const hxs_modulus *modulus, size_t n) {
  const uint64_t *start = acc;
  uint64_t *to = out;
  const lanes_modulus_t m = lanes_modulus(modulus);
  for (size_t i = 0; i < n; i += LANES) {
    const lanes_t from = start != NULL ? lanes_load(start + i) : lanes_zero();
    lanes_store(to + i, lanes_full(lanes_dot(from, a, b, count, i, &m), &m));
  }
}

#endif
