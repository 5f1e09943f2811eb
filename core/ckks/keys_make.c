// SPDX-License-Identifier: Apache-2.0
// Deterministic cores of key generation (CKKS.md, "Keys"), row by row.
#include <string.h>

#include "core/ckks/constant_time.h"
#include "core/ckks/expand.h"
#include "core/ckks/keys.h"

// Scratch rows of one key.
enum { WORDS, TARGET, SOURCE, PRODUCT, SOURCE_WORDS, TARGET_WORDS, ROWS };

static hx_status_t key_tensor(const hx_params_t *params, uint32_t digits, uint32_t limbs, hx_tensor_t **out) {
  hx_layout_t layout = {.dtype = hx_params_word(params) == 64 ? HX_U64 : HX_U32,
                        .log_n = hx_params_log_n(params),
                        .digits = digits,
                        .components = 2,
                        .limbs = limbs};
  return hx_tensor_create_unset(&layout, false, out);
}

// Signed words mod the prime of an id, in ntt domain.
static void lift(hx_row_session_t *session, uint32_t id, hx_row_t words, hx_row_t out) {
  hx_row_lift_signed(session, id, words, out);
  hx_row_forward(session, id, out, out);
}

// b = e - a * s in the key's rows of a digit, a from the seed; scratch row TARGET holds s in ntt domain.
static void masked_error(hx_row_session_t *session, const hx_ring *shape, uint32_t id, const uint8_t seed[32],
                         uint32_t index, const int8_t *error, hx_row_t b, hx_row_t a) {
  const hx_row_t words = hx_row_scratch(session, WORDS), product = hx_row_scratch(session, PRODUCT);
  hx_row_wait(session);  // the words may still be read
  hx_row_widen(error, (uint32_t)1 << shape->log_n, words);
  lift(session, id, words, b);
  hx_expand_uniform_row(shape, id, seed, index, hx_row_address(a));
  hx_row_mul(session, id, a, hx_row_scratch(session, TARGET), product);
  hx_row_sub(session, id, b, product, b);
}

// P mod the prime of an id.
static uint64_t special_product(const hx_ref_ring *ring, const hx_ring *shape, uint32_t id) {
  uint64_t product = 1;
  for (uint32_t p = shape->q_count; p < shape->q_count + shape->p_count; ++p)
    product = hx_ref_word_mul(ring, id, product, hx_ref_word_reduce(ring, id, shape->primes[p]));
  return product;
}

// Source and target in scratch rows of words.
static hx_status_t switch_key(hx_row_session_t *session, const uint8_t seed[32], const int8_t *errors,
                              hx_tensor_t *key) {
  const hx_rows_t *rows = hx_row_session_rows(session);
  const hx_ring *shape = hx_params_ring(rows->params);
  const hx_ref_ring *ring = rows->reference;
  const size_t n = (size_t)1 << shape->log_n;
  const hx_row_t target = hx_row_scratch(session, TARGET), source = hx_row_scratch(session, SOURCE);
  for (uint32_t id = 0; id < shape->q_count + shape->p_count; ++id) {
    lift(session, id, hx_row_scratch(session, TARGET_WORDS), target);
    const bool owned = id < shape->q_count;  // P's rows belong to no digit
    if (owned) {
      lift(session, id, hx_row_scratch(session, SOURCE_WORDS), source);
      hx_row_mul_scalar(session, id, source, special_product(ring, shape, id), source);
    }
    for (uint32_t j = 0; j < key->layout.digits; ++j) {
      const hx_row_t b = hx_row_of(key, 0, j, 0, id), a = hx_row_of(key, 0, j, 1, id);
      masked_error(session, shape, id, seed, j, errors + (size_t)j * n, b, a);
      if (owned && id / shape->digit_run == j) hx_row_add(session, id, b, source, b);
    }
  }
  return hx_rows_close(session);
}

static hx_status_t finish(hx_status_t status, hx_tensor_t *key, hx_tensor_t **out) {
  if (status != HX_STATUS_OK) {
    hx_tensor_release(key);
    return status;
  }
  hx_tensor_touch(key);
  *out = key;
  return HX_STATUS_OK;
}

hx_status_t hx_switch_key_make_on(const hx_rows_t *rows, const int64_t *source, const int8_t *target,
                                  const uint8_t seed[32], const int8_t *errors, hx_tensor_t **out) {
  const hx_ring *shape = hx_params_ring(rows->params);
  if (shape->p_count == 0) return hx_code_info(HX_CODE_PARAMS)->status;
  const uint32_t n = (uint32_t)1 << shape->log_n;
  hx_tensor_t *key = NULL;
  HX_TRY(key_tensor(rows->params, hx_ring_digit_count(shape, 0), shape->q_count + shape->p_count, &key));
  hx_row_session_t *session = hx_rows_open(rows, ROWS);
  if (session == NULL) return finish(HX_STATUS_OUT_OF_MEMORY, key, out);
  memcpy(hx_row_address(hx_row_scratch(session, SOURCE_WORDS)), source, n * sizeof *source);
  hx_row_widen(target, n, hx_row_scratch(session, TARGET_WORDS));
  return finish(switch_key(session, seed, errors, key), key, out);
}

hx_status_t hx_public_key_make_on(const hx_rows_t *rows, const int8_t *secret, const uint8_t seed[32],
                                  const int8_t *error, hx_tensor_t **out) {
  const hx_ring *shape = hx_params_ring(rows->params);
  const uint32_t limbs = shape->q_count + (shape->p_count > 0 ? 1 : 0);
  hx_tensor_t *key = NULL;
  HX_TRY(key_tensor(rows->params, 0, limbs, &key));
  hx_row_session_t *session = hx_rows_open(rows, ROWS);
  if (session == NULL) return finish(HX_STATUS_OUT_OF_MEMORY, key, out);
  hx_row_widen(secret, (uint32_t)1 << shape->log_n, hx_row_scratch(session, TARGET_WORDS));
  for (uint32_t id = 0; id < limbs; ++id) {  // the first special prime has id q_count
    lift(session, id, hx_row_scratch(session, TARGET_WORDS), hx_row_scratch(session, TARGET));
    masked_error(session, shape, id, seed, 0, error, hx_row_of(key, 0, 0, 0, id), hx_row_of(key, 0, 0, 1, id));
  }
  return finish(hx_rows_close(session), key, out);
}

// s^2 mod X^n + 1 over the integers: its coefficients are at most n in size and every prime is above 2n, so the
// product mod one prime, taken centred, is exact.
static hx_status_t square(const hx_rows_t *rows, const int8_t *secret, int64_t *out) {
  const hx_ring *shape = hx_params_ring(rows->params);
  const uint64_t q = shape->primes[0];
  const uint32_t n = (uint32_t)1 << shape->log_n;
  hx_row_session_t *session = hx_rows_open(rows, 3);
  if (session == NULL) return HX_STATUS_OUT_OF_MEMORY;
  const hx_row_t words = hx_row_scratch(session, 0), s = hx_row_scratch(session, 1), row = hx_row_scratch(session, 2);
  hx_row_widen(secret, n, words);
  lift(session, 0, words, s);
  hx_row_mul(session, 0, s, s, row);
  hx_row_inverse(session, 0, row, row);
  hx_row_wait(session);
  hx_ref_row_load(rows->reference, shape->word == 64 ? HX_U64 : HX_U32, hx_row_address(row), (uint64_t *)out);
  for (uint32_t k = 0; k < n; ++k) {
    const uint64_t x = (uint64_t)out[k];
    out[k] = (int64_t)(x - (q & hx_mask_less((q - 1) / 2, x)));
  }
  return hx_rows_close(session);
}

hx_status_t hx_relin_key_make_on(const hx_rows_t *rows, const int8_t *secret, const uint8_t seed[32],
                                 const int8_t *errors, hx_tensor_t **out) {
  const size_t n = (size_t)1 << hx_params_log_n(rows->params);
  int64_t *source = hx_alloc(n * sizeof *source);
  if (source == NULL) return HX_STATUS_OUT_OF_MEMORY;
  hx_status_t status = square(rows, secret, source);
  if (status == HX_STATUS_OK) status = hx_switch_key_make_on(rows, source, secret, seed, errors, out);
  hx_wipe(source, n * sizeof *source);
  hx_free(source);
  return status;
}

// The inverse of an odd g mod 2^64, which is one mod 2n too: each step doubles the bits that are right, from 3 on.
static uint64_t inverse_of(uint64_t g) {
  uint64_t inverse = g;
  for (int i = 0; i < 5; ++i) inverse *= 2 - g * inverse;
  return inverse;
}

hx_status_t hx_galois_key_make_on(const hx_rows_t *rows, const int8_t *secret, uint64_t element, const uint8_t seed[32],
                                  const int8_t *errors, hx_tensor_t **out) {
  const size_t n = (size_t)1 << hx_params_log_n(rows->params);
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
    status = hx_switch_key_make_on(rows, source, target, seed, errors, out);
    hx_wipe(source, n * sizeof *source);
    hx_wipe(target, n);
  }
  hx_free(source);
  hx_free(target);
  return status;
}

// ------------------------------------------------------------------ on reference/

hx_status_t hx_switch_key_make(const hx_params_t *params, const int64_t *source, const int8_t *target,
                               const uint8_t seed[32], const int8_t *errors, hx_tensor_t **out) {
  hx_rows_t rows;
  HX_TRY(hx_rows_init(&rows, params, NULL, NULL));
  const hx_status_t status = hx_switch_key_make_on(&rows, source, target, seed, errors, out);
  hx_rows_deinit(&rows);
  return status;
}

hx_status_t hx_public_key_make(const hx_params_t *params, const int8_t *secret, const uint8_t seed[32],
                               const int8_t *error, hx_tensor_t **out) {
  hx_rows_t rows;
  HX_TRY(hx_rows_init(&rows, params, NULL, NULL));
  const hx_status_t status = hx_public_key_make_on(&rows, secret, seed, error, out);
  hx_rows_deinit(&rows);
  return status;
}

hx_status_t hx_relin_key_make(const hx_params_t *params, const int8_t *secret, const uint8_t seed[32],
                              const int8_t *errors, hx_tensor_t **out) {
  hx_rows_t rows;
  HX_TRY(hx_rows_init(&rows, params, NULL, NULL));
  const hx_status_t status = hx_relin_key_make_on(&rows, secret, seed, errors, out);
  hx_rows_deinit(&rows);
  return status;
}

hx_status_t hx_galois_key_make(const hx_params_t *params, const int8_t *secret, uint64_t element,
                               const uint8_t seed[32], const int8_t *errors, hx_tensor_t **out) {
  hx_rows_t rows;
  HX_TRY(hx_rows_init(&rows, params, NULL, NULL));
  const hx_status_t status = hx_galois_key_make_on(&rows, secret, element, seed, errors, out);
  hx_rows_deinit(&rows);
  return status;
}
