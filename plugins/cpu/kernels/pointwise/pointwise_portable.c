// SPDX-License-Identifier: Apache-2.0
// Pointwise kernels of both residue words. Each body is written once with `word` as a parameter that is a constant at
// its two calls. Moduli are copied to the stack so that stores to the row cannot be taken to change them.
#include "kernels/pointwise/pointwise.h"

HXS_INLINE void add_row(void *out, const void *a, const void *b, uint64_t q, size_t n, uint32_t word) {
  for (size_t i = 0; i < n; i++) {
    hxs_row_store(out, i, hxs_mod_once(hxs_row_load(a, i, word) + hxs_row_load(b, i, word), q), word);
  }
}
static void add64(void *out, const void *a, const void *b, uint64_t q, size_t n) { add_row(out, a, b, q, n, 64); }
static void add32(void *out, const void *a, const void *b, uint64_t q, size_t n) { add_row(out, a, b, q, n, 32); }

// a - b + q in (0, 2q).
HXS_INLINE void sub_row(void *out, const void *a, const void *b, uint64_t q, size_t n, uint32_t word) {
  for (size_t i = 0; i < n; i++) {
    hxs_row_store(out, i, hxs_mod_once(hxs_row_load(a, i, word) + q - hxs_row_load(b, i, word), q), word);
  }
}
static void sub64(void *out, const void *a, const void *b, uint64_t q, size_t n) { sub_row(out, a, b, q, n, 64); }
static void sub32(void *out, const void *a, const void *b, uint64_t q, size_t n) { sub_row(out, a, b, q, n, 32); }

// q - a in (0, q]; q itself becomes 0.
HXS_INLINE void neg_row(void *out, const void *a, uint64_t q, size_t n, uint32_t word) {
  for (size_t i = 0; i < n; i++) {
    hxs_row_store(out, i, hxs_mod_once(q - hxs_row_load(a, i, word), q), word);
  }
}
static void neg64(void *out, const void *a, uint64_t q, size_t n) { neg_row(out, a, q, n, 64); }
static void neg32(void *out, const void *a, uint64_t q, size_t n) { neg_row(out, a, q, n, 32); }

HXS_INLINE void add_scalar_row(void *out, const void *a, uint64_t c, uint64_t q, size_t n, uint32_t word) {
  for (size_t i = 0; i < n; i++) {
    hxs_row_store(out, i, hxs_mod_once(hxs_row_load(a, i, word) + c, q), word);
  }
}
static void add_scalar64(void *out, const void *a, uint64_t c, uint64_t q, size_t n) {
  add_scalar_row(out, a, c, q, n, 64);
}
static void add_scalar32(void *out, const void *a, uint64_t c, uint64_t q, size_t n) {
  add_scalar_row(out, a, c, q, n, 32);
}

HXS_INLINE void reduce_row(void *out, const void *a, const hxs_modulus *modulus, size_t n, uint32_t word) {
  const hxs_modulus m = *modulus;
  for (size_t i = 0; i < n; i++) {
    hxs_row_store(out, i, hxs_mod_once(hxs_mod_word_lazy(hxs_row_load(a, i, word), &m, word), m.q), word);
  }
}
static void reduce64(void *out, const void *a, const hxs_modulus *m, size_t n) { reduce_row(out, a, m, n, 64); }
static void reduce32(void *out, const void *a, const hxs_modulus *m, size_t n) { reduce_row(out, a, m, n, 32); }

HXS_INLINE void mul_row(void *out, const void *a, const void *b, const hxs_modulus *modulus, size_t n, uint32_t word) {
  const hxs_modulus m = *modulus;
  for (size_t i = 0; i < n; i++) {
    hxs_row_store(out, i, hxs_mod_mul_add(hxs_row_load(a, i, word), hxs_row_load(b, i, word), 0, &m, word), word);
  }
}
static void mul64(void *out, const void *a, const void *b, const hxs_modulus *m, size_t n) {
  mul_row(out, a, b, m, n, 64);
}
static void mul32(void *out, const void *a, const void *b, const hxs_modulus *m, size_t n) {
  mul_row(out, a, b, m, n, 32);
}

HXS_INLINE void mul_add_row(void *out, const void *acc, const void *a, const void *b, const hxs_modulus *modulus,
                            size_t n, uint32_t word) {
  const hxs_modulus m = *modulus;
  for (size_t i = 0; i < n; i++) {
    uint64_t x = hxs_row_load(a, i, word), y = hxs_row_load(b, i, word);
    hxs_row_store(out, i, hxs_mod_mul_add(x, y, hxs_row_load(acc, i, word), &m, word), word);
  }
}
static void mul_add64(void *out, const void *acc, const void *a, const void *b, const hxs_modulus *m, size_t n) {
  mul_add_row(out, acc, a, b, m, n, 64);
}
static void mul_add32(void *out, const void *acc, const void *a, const void *b, const hxs_modulus *m, size_t n) {
  mul_add_row(out, acc, a, b, m, n, 32);
}

HXS_INLINE void mul_scalar_row(void *out, const void *a, hxs_factor c, uint64_t q, size_t n, uint32_t word) {
  for (size_t i = 0; i < n; i++) {
    hxs_row_store(out, i, hxs_mod_once(hxs_mod_shoup_lazy(hxs_row_load(a, i, word), c, q, word), q), word);
  }
}
static void mul_scalar64(void *out, const void *a, hxs_factor c, const hxs_modulus *m, size_t n) {
  mul_scalar_row(out, a, c, m->q, n, 64);
}
static void mul_scalar32(void *out, const void *a, hxs_factor c, const hxs_modulus *m, size_t n) {
  mul_scalar_row(out, a, c, m->q, n, 32);
}

// The product is in [0, 2q), the sum below 3q.
HXS_INLINE void mul_scalar_add_row(void *out, const void *acc, const void *a, hxs_factor c, uint64_t q, size_t n,
                                   uint32_t word) {
  for (size_t i = 0; i < n; i++) {
    uint64_t sum = hxs_mod_shoup_lazy(hxs_row_load(a, i, word), c, q, word) + hxs_row_load(acc, i, word);
    hxs_row_store(out, i, hxs_mod_once(hxs_mod_once(sum, 2 * q), q), word);
  }
}
static void mul_scalar_add64(void *out, const void *acc, const void *a, hxs_factor c, const hxs_modulus *m, size_t n) {
  mul_scalar_add_row(out, acc, a, c, m->q, n, 64);
}
static void mul_scalar_add32(void *out, const void *acc, const void *a, hxs_factor c, const hxs_modulus *m, size_t n) {
  mul_scalar_add_row(out, acc, a, c, m->q, n, 32);
}

// a * b < q^2 < q * 2^w, so its high word is below q, as hxs_mod_redc_lazy asks.
HXS_INLINE void mul_montgomery_row(void *out, const void *a, const void *b, const hxs_modulus *modulus, size_t n,
                                   uint32_t word) {
  const hxs_modulus m = *modulus;
  for (size_t i = 0; i < n; i++) {
    uint64_t x = hxs_row_load(a, i, word), y = hxs_row_load(b, i, word), high, low = x * y;
    if (word == 64) {
      high = hxs_mul_high(x, y);
    } else {
      high = low >> 32;
      low = (uint32_t)low;
    }
    hxs_row_store(out, i, hxs_mod_once(hxs_mod_redc_lazy(high, low, &m, word), m.q), word);
  }
}
static void mul_montgomery64(void *out, const void *a, const void *b, const hxs_modulus *m, size_t n) {
  mul_montgomery_row(out, a, b, m, n, 64);
}
static void mul_montgomery32(void *out, const void *a, const void *b, const hxs_modulus *m, size_t n) {
  mul_montgomery_row(out, a, b, m, n, 32);
}

// acc (reduced) is added after the reduction of the sum.
HXS_INLINE uint64_t dot_end(uint64_t high, uint64_t low, const void *acc, size_t i, const hxs_modulus *m,
                            uint32_t word) {
  uint64_t sum = hxs_mod_wide(high, low, m, word);
  return acc != NULL ? hxs_mod_once(sum + hxs_row_load(acc, i, word), m->q) : sum;
}

// count <= 64 products below 2^122: the sum is below 2^128. A count that is a constant leaves no inner loop.
HXS_INLINE void dot64_count(void *out, const void *acc, const void *const *a, const void *const *b, uint32_t count,
                            const hxs_modulus *modulus, size_t n) {
  const hxs_modulus m = *modulus;
  for (size_t i = 0; i < n; i++) {
    hxs_u128 sum = 0;
    for (uint32_t k = 0; k < count; k++) {
      sum += (hxs_u128)hxs_row_load(a[k], i, 64) * hxs_row_load(b[k], i, 64);
    }
    hxs_row_store(out, i, dot_end((uint64_t)(sum >> 64), (uint64_t)sum, acc, i, &m, 64), 64);
  }
}

static void dot64(void *out, const void *acc, const void *const *a, const void *const *b, uint32_t count,
                  const hxs_modulus *m, size_t n) {
  if (count == 2 && acc == NULL) {  // the middle of a product of ciphertexts
    dot64_count(out, NULL, a, b, 2, m, n);
  } else {
    dot64_count(out, acc, a, b, count, m, n);
  }
}

// count <= 4 products below 2^62: the sum is below 2^64.
HXS_INLINE void dot32_count(void *out, const void *acc, const void *const *a, const void *const *b, uint32_t count,
                            const hxs_modulus *modulus, size_t n) {
  const hxs_modulus m = *modulus;
  for (size_t i = 0; i < n; i++) {
    uint64_t sum = 0;
    for (uint32_t k = 0; k < count; k++) {
      sum += hxs_row_load(a[k], i, 32) * hxs_row_load(b[k], i, 32);
    }
    hxs_row_store(out, i, dot_end(sum >> 32, (uint32_t)sum, acc, i, &m, 32), 32);
  }
}

static void dot32(void *out, const void *acc, const void *const *a, const void *const *b, uint32_t count,
                  const hxs_modulus *m, size_t n) {
  if (count == 2 && acc == NULL) {
    dot32_count(out, NULL, a, b, 2, m, n);
  } else {
    dot32_count(out, acc, a, b, count, m, n);
  }
}

const hx_cpu_pointwise_t hx_cpu_pointwise_portable64 = {.add = add64,
                                                        .sub = sub64,
                                                        .neg = neg64,
                                                        .add_scalar = add_scalar64,
                                                        .reduce = reduce64,
                                                        .mul = mul64,
                                                        .mul_add = mul_add64,
                                                        .mul_montgomery = mul_montgomery64,
                                                        .mul_scalar = mul_scalar64,
                                                        .mul_scalar_add = mul_scalar_add64,
                                                        .dot = dot64};

const hx_cpu_pointwise_t hx_cpu_pointwise_portable32 = {.add = add32,
                                                        .sub = sub32,
                                                        .neg = neg32,
                                                        .add_scalar = add_scalar32,
                                                        .reduce = reduce32,
                                                        .mul = mul32,
                                                        .mul_add = mul_add32,
                                                        .mul_montgomery = mul_montgomery32,
                                                        .mul_scalar = mul_scalar32,
                                                        .mul_scalar_add = mul_scalar_add32,
                                                        .dot = dot32};
