// SPDX-License-Identifier: Apache-2.0
// Deterministic cores of key generation (CKKS.md, "Keys"). Everything is computed row by row on reference/.
#include "core/ckks/constant_time.h"
#include "core/ckks/keys.h"
#include "core/ckks/ring_host.h"

// Scratch rows of one key.
typedef struct rows {
  uint64_t *words, *target, *source, *a, *b;
} rows_t;

enum { ROWS = 5 };

static rows_t rows_in(uint64_t *block, uint32_t n) {
  return (rows_t){block, block + n, block + 2 * (size_t)n, block + 3 * (size_t)n, block + 4 * (size_t)n};
}

static hx_status_t key_tensor(const hx_params_t *params, uint32_t digits, uint32_t limbs, hx_tensor_t **out) {
  hx_layout_t layout = {.dtype = hx_params_word(params) == 64 ? HX_U64 : HX_U32,
                        .log_n = hx_params_log_n(params),
                        .digits = digits,
                        .components = 2,
                        .limbs = limbs};
  return hx_tensor_create(&layout, false, out);
}

// b = e - a * s in rows.b, a from the seed in rows.a; rows.target holds s in ntt domain.
static void masked_error(const hx_ref_ring *ring, uint32_t id, const uint8_t seed[32], uint32_t index,
                         const int8_t *error, const rows_t *rows) {
  hx_ref_row_expand_uniform(ring, id, seed, index, rows->a);
  hx_ring_lift_small(ring, id, error, rows->words, rows->b);
  hx_ref_row_mul(ring, id, rows->a, rows->target, rows->words);
  hx_ref_row_sub(ring, id, rows->b, rows->words, rows->b);
}

// P mod the prime of an id.
static uint64_t special_product(const hx_ref_ring *ring, const hx_ring *shape, uint32_t id) {
  uint64_t product = 1;
  for (uint32_t p = shape->q_count; p < shape->q_count + shape->p_count; ++p)
    product = hx_ref_word_mul(ring, id, product, hx_ref_word_reduce(ring, id, shape->primes[p]));
  return product;
}

hx_status_t hx_switch_key_make(const hx_params_t *params, const int64_t *source, const int8_t *target,
                               const uint8_t seed[32], const int8_t *errors, hx_tensor_t **out) {
  const hx_ring *shape = hx_params_ring(params);
  if (shape->p_count == 0) return hx_code_info(HX_CODE_PARAMS)->status;
  const hx_ref_ring *ring = NULL;
  HX_TRY(hx_params_reference(params, &ring, NULL));
  const uint32_t n = hx_ref_ring_degree(ring), limbs = shape->q_count + shape->p_count;
  const uint32_t digits = hx_ring_digit_count(shape, 0);
  hx_tensor_t *key = NULL;
  HX_TRY(key_tensor(params, digits, limbs, &key));
  uint64_t *block = hx_ring_rows_alloc(ring, ROWS);
  if (block == NULL) {
    hx_tensor_release(key);
    return HX_STATUS_OUT_OF_MEMORY;
  }
  const rows_t rows = rows_in(block, n);
  for (uint32_t id = 0; id < limbs; ++id) {
    hx_ring_lift_small(ring, id, target, rows.words, rows.target);
    const bool owned = id < shape->q_count;  // P's rows belong to no digit
    if (owned) {
      hx_ring_lift_words(ring, id, source, rows.source);
      hx_ref_row_mul_scalar(ring, id, rows.source, special_product(ring, shape, id), rows.source);
    }
    for (uint32_t j = 0; j < digits; ++j) {
      masked_error(ring, id, seed, j, errors + (size_t)j * n, &rows);
      if (owned && id / shape->digit_run == j) hx_ref_row_add(ring, id, rows.b, rows.source, rows.b);
      hx_ring_store(ring, rows.b, key, 0, j, 0, id);
      hx_ring_store(ring, rows.a, key, 0, j, 1, id);
    }
  }
  hx_ring_rows_free(ring, block, ROWS);
  hx_tensor_touch(key);
  *out = key;
  return HX_STATUS_OK;
}

hx_status_t hx_public_key_make(const hx_params_t *params, const int8_t *secret, const uint8_t seed[32],
                               const int8_t *error, hx_tensor_t **out) {
  const hx_ring *shape = hx_params_ring(params);
  const hx_ref_ring *ring = NULL;
  HX_TRY(hx_params_reference(params, &ring, NULL));
  const uint32_t limbs = shape->q_count + (shape->p_count > 0 ? 1 : 0);
  hx_tensor_t *key = NULL;
  HX_TRY(key_tensor(params, 0, limbs, &key));
  uint64_t *block = hx_ring_rows_alloc(ring, ROWS);
  if (block == NULL) {
    hx_tensor_release(key);
    return HX_STATUS_OUT_OF_MEMORY;
  }
  const rows_t rows = rows_in(block, hx_ref_ring_degree(ring));
  for (uint32_t id = 0; id < limbs; ++id) {  // the first special prime has id q_count
    hx_ring_lift_small(ring, id, secret, rows.words, rows.target);
    masked_error(ring, id, seed, 0, error, &rows);
    hx_ring_store(ring, rows.b, key, 0, 0, 0, id);
    hx_ring_store(ring, rows.a, key, 0, 0, 1, id);
  }
  hx_ring_rows_free(ring, block, ROWS);
  hx_tensor_touch(key);
  *out = key;
  return HX_STATUS_OK;
}

// s^2 mod X^n + 1 over the integers: its coefficients are at most n in size and every prime is above 2n, so the
// product mod one prime, taken centred, is exact.
static void square(const hx_ref_ring *ring, const int8_t *secret, uint64_t *words, uint64_t *row, int64_t *out) {
  const uint64_t q = hx_ref_ring_prime(ring, 0);
  hx_ring_lift_small(ring, 0, secret, words, row);
  hx_ref_row_mul(ring, 0, row, row, row);
  hx_ref_ntt_inverse(ring, 0, row);
  for (uint32_t k = 0; k < hx_ref_ring_degree(ring); ++k) {
    out[k] = (int64_t)(row[k] - (q & hx_mask_less((q - 1) / 2, row[k])));
  }
}

hx_status_t hx_relin_key_make(const hx_params_t *params, const int8_t *secret, const uint8_t seed[32],
                              const int8_t *errors, hx_tensor_t **out) {
  const hx_ref_ring *ring = NULL;
  HX_TRY(hx_params_reference(params, &ring, NULL));
  const uint32_t n = hx_ref_ring_degree(ring);
  uint64_t *block = hx_ring_rows_alloc(ring, 3);
  if (block == NULL) return HX_STATUS_OUT_OF_MEMORY;
  int64_t *source = (int64_t *)block;
  square(ring, secret, block + n, block + 2 * (size_t)n, source);
  const hx_status_t status = hx_switch_key_make(params, source, secret, seed, errors, out);
  hx_ring_rows_free(ring, block, 3);
  return status;
}

// The inverse of an odd g mod 2^64, which is one mod 2n too: each step doubles the bits that are right, from 3 on.
static uint64_t inverse_of(uint64_t g) {
  uint64_t inverse = g;
  for (int i = 0; i < 5; ++i) inverse *= 2 - g * inverse;
  return inverse;
}

hx_status_t hx_galois_key_make(const hx_params_t *params, const int8_t *secret, uint64_t element,
                               const uint8_t seed[32], const int8_t *errors, hx_tensor_t **out) {
  const size_t n = (size_t)1 << hx_params_log_n(params);
  const uint64_t mask = 2 * n - 1, inverse = inverse_of(element) & mask;
  int64_t *source = hx_alloc(n * sizeof *source);
  int8_t *target = hx_alloc(n);
  hx_status_t status = HX_STATUS_OUT_OF_MEMORY;
  if (source != NULL && target != NULL) {
    for (size_t i = 0; i < n; ++i) {
      source[i] = secret[i];
      const uint64_t place = i * inverse & mask;  // the element is public
      target[place & (n - 1)] = (int8_t)(place < n ? secret[i] : -secret[i]);
    }
    status = hx_switch_key_make(params, source, target, seed, errors, out);
    hx_wipe(source, n * sizeof *source);
    hx_wipe(target, n);
  }
  hx_free(source);
  hx_free(target);
  return status;
}
