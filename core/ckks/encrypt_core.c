// SPDX-License-Identifier: Apache-2.0
// Deterministic cores of encryption and decryption (CKKS.md, "Keys" and "Ciphertext operations"), batch item by batch
// item. Only the prime that encryption drops leaves the ntt domain; the sums are exact, so the bits are those of the
// definition.
#include "core/ckks/encrypt.h"

#include <string.h>

#include "core/ckks/expand.h"

hx_status_t hx_ciphertext_create(const hx_params_t *params, const hx_value_t *plaintext, hx_value_t **out) {
  hx_type_t type;
  hx_type_copy(&type, &plaintext->type);
  type.kind = HX_TYPE_CIPHERTEXT;
  type.components = 2;
  HX_TRY(hx_value_create_unset(params, &type, false, out));
  (*out)->count = plaintext->count;
  (*out)->is_complex = plaintext->is_complex;
  return HX_STATUS_OK;
}

// Scratch rows. dropped[c]: component c mod the special prime, as coefficients.
enum { V, X, ERROR0, ERROR1, DROPPED0, DROPPED1, DRAWS, PUBLIC_ROWS };

// (key part * v + e) mod the special prime, which mod_down drops, as coefficients.
static void fill_dropped(hx_row_session_t *session, uint32_t special, const hx_tensor_t *public_key) {
  const hx_row_t v = hx_row_scratch(session, V), x = hx_row_scratch(session, X);
  hx_row_lift_signed(session, special, hx_row_scratch(session, DRAWS), v);
  hx_row_forward(session, special, v, v);
  for (uint32_t c = 0; c < 2; ++c) {
    const hx_row_t dropped = hx_row_scratch(session, DROPPED0 + c);
    hx_row_mul(session, special, v, hx_row_of(public_key, 0, 0, c, special), dropped);
    hx_row_inverse(session, special, dropped, dropped);
    hx_row_lift_signed(session, special, hx_row_scratch(session, ERROR0 + c), x);
    hx_row_add(session, special, dropped, x, dropped);
  }
}

// One row of one component: (key * v + ntt(e - dropped)) / p, or key * v + ntt(e) where nothing is dropped.
static void fill_row(hx_row_session_t *session, const hx_ref_ring *ring, uint32_t id, const uint32_t *special,
                     uint32_t c, hx_row_t key, hx_row_t out) {
  const hx_row_t v = hx_row_scratch(session, V), x = hx_row_scratch(session, X);
  hx_row_lift_signed(session, id, hx_row_scratch(session, ERROR0 + c), out);
  if (special != NULL) {
    hx_row_lift(session, *special, hx_row_scratch(session, DROPPED0 + c), id, x);
    hx_row_sub(session, id, out, x, out);
  }
  hx_row_forward(session, id, out, out);
  hx_row_mul_add(session, id, out, v, key, out);
  if (special != NULL) {
    const uint64_t p = hx_ref_word_reduce(ring, id, hx_ref_ring_prime(ring, *special));
    hx_row_mul_scalar(session, id, out, hx_ref_word_inverse(ring, id, p), out);
  }
}

hx_status_t hx_encrypt_public_item(const hx_rows_t *rows, const hx_tensor_t *public_key, const hx_value_t *plaintext,
                                   uint64_t item, const hx_draws_t *draws, hx_value_t *ciphertext) {
  const hx_ring *shape = hx_params_ring(ciphertext->params);
  const uint32_t n = (uint32_t)1 << shape->log_n;
  hx_row_session_t *session = hx_rows_open(rows, PUBLIC_ROWS);
  if (session == NULL) return HX_STATUS_OUT_OF_MEMORY;
  hx_row_widen(draws->v, n, hx_row_scratch(session, DRAWS));
  for (uint32_t c = 0; c < 2; ++c) hx_row_widen(draws->e[c], n, hx_row_scratch(session, ERROR0 + c));
  const uint32_t first_special = shape->q_count;
  const uint32_t *special = shape->p_count > 0 ? &first_special : NULL;
  if (special != NULL) fill_dropped(session, *special, public_key);
  uint32_t ids[HX_PRIMES_MAX];
  const uint32_t limbs = hx_primes_list(&ciphertext->type.primes, ids);
  const hx_row_t v = hx_row_scratch(session, V);
  for (uint32_t l = 0; l < limbs; ++l) {  // row l of Q_d is prime l, in the key too
    hx_row_lift_signed(session, ids[l], hx_row_scratch(session, DRAWS), v);
    hx_row_forward(session, ids[l], v, v);
    for (uint32_t c = 0; c < 2; ++c) {
      const hx_row_t out = hx_row_of(ciphertext->tensor, item, 0, c, l);
      fill_row(session, rows->reference, ids[l], special, c, hx_row_of(public_key, 0, 0, c, ids[l]), out);
      if (c == 0) hx_row_add(session, ids[l], out, hx_row_of(plaintext->tensor, item, 0, 0, l), out);
    }
  }
  return hx_rows_close(session);
}

enum { SECRET, MASK, MESSAGE_ERROR, KEY_WORDS, SECRET_ROWS };

hx_status_t hx_encrypt_secret_item(const hx_rows_t *rows, const int8_t *secret, const hx_value_t *plaintext,
                                   uint64_t item, const uint8_t seed[32], uint32_t index, const int8_t *error,
                                   hx_value_t *ciphertext) {
  const hx_ring *shape = hx_params_ring(ciphertext->params);
  const uint32_t n = (uint32_t)1 << shape->log_n;
  hx_row_session_t *session = hx_rows_open(rows, SECRET_ROWS);
  if (session == NULL) return HX_STATUS_OUT_OF_MEMORY;
  const hx_row_t s = hx_row_scratch(session, SECRET), x = hx_row_scratch(session, MASK);
  hx_row_widen(secret, n, hx_row_scratch(session, KEY_WORDS));
  hx_row_widen(error, n, hx_row_scratch(session, MESSAGE_ERROR));
  uint32_t ids[HX_PRIMES_MAX];
  const uint32_t limbs = hx_primes_list(&ciphertext->type.primes, ids);
  for (uint32_t l = 0; l < limbs; ++l) {
    const hx_row_t b = hx_row_of(ciphertext->tensor, item, 0, 0, l), a = hx_row_of(ciphertext->tensor, item, 0, 1, l);
    hx_row_lift_signed(session, ids[l], hx_row_scratch(session, KEY_WORDS), s);
    hx_row_forward(session, ids[l], s, s);
    hx_row_lift_signed(session, ids[l], hx_row_scratch(session, MESSAGE_ERROR), b);
    hx_row_forward(session, ids[l], b, b);
    hx_row_add(session, ids[l], b, hx_row_of(plaintext->tensor, item, 0, 0, l), b);
    hx_expand_uniform_row(shape, ids[l], seed, index, hx_row_address(a));
    hx_row_mul(session, ids[l], a, s, x);
    hx_row_sub(session, ids[l], b, x, b);
  }
  return hx_rows_close(session);
}

static hx_status_t finish(hx_status_t status, hx_value_t *value, hx_value_t **out) {
  if (status != HX_STATUS_OK) {
    hx_value_release(value);
    return status;
  }
  hx_tensor_touch(value->tensor);
  *out = value;
  return HX_STATUS_OK;
}

hx_status_t hx_encrypt_public_with(const hx_params_t *params, const hx_tensor_t *public_key,
                                   const hx_value_t *plaintext, const int8_t *v, const int8_t *e0, const int8_t *e1,
                                   hx_value_t **out) {
  hx_rows_t rows;
  HX_TRY(hx_rows_init(&rows, params, NULL, NULL));
  hx_value_t *value = NULL;
  hx_status_t status = hx_ciphertext_create(params, plaintext, &value);
  const hx_draws_t draws = {.v = v, .e = {e0, e1}};
  if (status == HX_STATUS_OK)
    status = finish(hx_encrypt_public_item(&rows, public_key, plaintext, 0, &draws, value), value, out);
  hx_rows_deinit(&rows);
  return status;
}

hx_status_t hx_encrypt_secret_with(const hx_params_t *params, const int8_t *secret, const hx_value_t *plaintext,
                                   const uint8_t seed[32], uint32_t index, const int8_t *error, hx_value_t **out) {
  hx_rows_t rows;
  HX_TRY(hx_rows_init(&rows, params, NULL, NULL));
  hx_value_t *value = NULL;
  hx_status_t status = hx_ciphertext_create(params, plaintext, &value);
  if (status == HX_STATUS_OK)
    status = finish(hx_encrypt_secret_item(&rows, secret, plaintext, 0, seed, index, error, value), value, out);
  hx_rows_deinit(&rows);
  return status;
}
