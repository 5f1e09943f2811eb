// SPDX-License-Identifier: Apache-2.0
// Deterministic cores of encryption and decryption (CKKS.md, "Keys" and "Ciphertext operations"), batch item by batch
// item. Only the prime that encryption drops leaves the ntt domain; the sums are exact, so the bits are those of the
// definition.
#include "core/ckks/encrypt.h"

#include <string.h>

#include "core/ckks/ring_host.h"

hx_status_t hx_ciphertext_create(const hx_params_t *params, const hx_value_t *plaintext, hx_value_t **out) {
  hx_type_t type;
  hx_type_copy(&type, &plaintext->type);
  type.kind = HX_TYPE_CIPHERTEXT;
  type.components = 2;
  HX_TRY(hx_value_create(params, &type, false, out));
  (*out)->count = plaintext->count;
  (*out)->is_complex = plaintext->is_complex;
  return HX_STATUS_OK;
}

// Scratch rows of public-key encryption. dropped[c]: component c mod the special prime, coefficients.
typedef struct rows {
  uint64_t *v, *words, *key, *x, *y, *dropped[2];
} rows_t;

enum { PUBLIC_ROWS = 7, SECRET_ROWS = 5 };

static rows_t rows_in(uint64_t *block, size_t n) {
  return (rows_t){.v = block,
                  .words = block + n,
                  .key = block + 2 * n,
                  .x = block + 3 * n,
                  .y = block + 4 * n,
                  .dropped = {block + 5 * n, block + 6 * n}};
}

// (key part * v + e) mod the special prime, which mod_down drops, as coefficients.
static void fill_dropped(const hx_ref_ring *ring, uint32_t special, const hx_tensor_t *public_key,
                         const hx_draws_t *draws, const rows_t *rows) {
  const uint32_t n = hx_ref_ring_degree(ring);
  hx_ring_lift_small(ring, special, draws->v, rows->words, rows->v);
  for (uint32_t c = 0; c < 2; ++c) {
    hx_ring_load(ring, public_key, 0, 0, c, special, rows->key);
    hx_ref_row_mul(ring, special, rows->key, rows->v, rows->dropped[c]);
    hx_ref_ntt_inverse(ring, special, rows->dropped[c]);
    for (uint32_t k = 0; k < n; ++k) ((int64_t *)rows->words)[k] = draws->e[c][k];
    hx_ref_row_center_lift_signed(ring, special, (const int64_t *)rows->words, rows->x);
    hx_ref_row_add(ring, special, rows->dropped[c], rows->x, rows->dropped[c]);
  }
}

// One row of one component: (key * v + ntt(e - dropped)) / p, or key * v + ntt(e) where nothing is dropped, in rows.x.
static void fill_row(const hx_ref_ring *ring, uint32_t id, const uint32_t *special, const int8_t *e,
                     const uint64_t *dropped, const rows_t *rows) {
  const uint32_t n = hx_ref_ring_degree(ring);
  hx_ref_row_mul(ring, id, rows->key, rows->v, rows->x);
  for (uint32_t k = 0; k < n; ++k) ((int64_t *)rows->words)[k] = e[k];
  hx_ref_row_center_lift_signed(ring, id, (const int64_t *)rows->words, rows->y);
  if (special != NULL) {
    hx_ref_row_center_lift(ring, *special, dropped, id, rows->words);
    hx_ref_row_sub(ring, id, rows->y, rows->words, rows->y);
  }
  hx_ref_ntt_forward(ring, id, rows->y);
  hx_ref_row_add(ring, id, rows->x, rows->y, rows->x);
  if (special != NULL) {
    const uint64_t p = hx_ref_word_reduce(ring, id, hx_ref_ring_prime(ring, *special));
    hx_ref_row_mul_scalar(ring, id, rows->x, hx_ref_word_inverse(ring, id, p), rows->x);
  }
}

hx_status_t hx_encrypt_public_item(const hx_tensor_t *public_key, const hx_value_t *plaintext, uint64_t item,
                                   const hx_draws_t *draws, hx_value_t *ciphertext) {
  const hx_ring *shape = hx_params_ring(ciphertext->params);
  const hx_ref_ring *ring = NULL;
  HX_TRY(hx_params_reference(ciphertext->params, &ring, NULL));
  uint64_t *block = hx_ring_rows_alloc(ring, PUBLIC_ROWS);
  if (block == NULL) return HX_STATUS_OUT_OF_MEMORY;
  const rows_t rows = rows_in(block, hx_ref_ring_degree(ring));
  const uint32_t first_special = shape->q_count;
  const uint32_t *special = shape->p_count > 0 ? &first_special : NULL;
  if (special != NULL) fill_dropped(ring, *special, public_key, draws, &rows);
  uint32_t ids[HX_PRIMES_MAX];
  const uint32_t limbs = hx_primes_list(&ciphertext->type.primes, ids);
  for (uint32_t l = 0; l < limbs; ++l) {  // row l of Q_d is prime l, in the key too
    hx_ring_lift_small(ring, ids[l], draws->v, rows.words, rows.v);
    for (uint32_t c = 0; c < 2; ++c) {
      hx_ring_load(ring, public_key, 0, 0, c, ids[l], rows.key);
      fill_row(ring, ids[l], special, draws->e[c], rows.dropped[c], &rows);
      if (c == 0) {
        hx_ring_load(ring, plaintext->tensor, item, 0, 0, l, rows.y);
        hx_ref_row_add(ring, ids[l], rows.x, rows.y, rows.x);
      }
      hx_ring_store(ring, rows.x, ciphertext->tensor, item, 0, c, l);
    }
  }
  hx_ring_rows_free(ring, block, PUBLIC_ROWS);
  return HX_STATUS_OK;
}

hx_status_t hx_encrypt_secret_item(const int8_t *secret, const hx_value_t *plaintext, uint64_t item,
                                   const uint8_t seed[32], uint32_t index, const int8_t *error,
                                   hx_value_t *ciphertext) {
  const hx_ref_ring *ring = NULL;
  HX_TRY(hx_params_reference(ciphertext->params, &ring, NULL));
  const size_t n = hx_ref_ring_degree(ring);
  uint64_t *block = hx_ring_rows_alloc(ring, SECRET_ROWS);
  if (block == NULL) return HX_STATUS_OUT_OF_MEMORY;
  uint64_t *words = block, *s = block + n, *a = block + 2 * n, *x = block + 3 * n, *y = block + 4 * n;
  uint32_t ids[HX_PRIMES_MAX];
  const uint32_t limbs = hx_primes_list(&ciphertext->type.primes, ids);
  for (uint32_t l = 0; l < limbs; ++l) {
    hx_ring_lift_small(ring, ids[l], secret, words, s);
    hx_ring_lift_small(ring, ids[l], error, words, x);
    hx_ref_row_expand_uniform(ring, ids[l], seed, index, a);
    hx_ref_row_mul(ring, ids[l], a, s, y);
    hx_ref_row_sub(ring, ids[l], x, y, x);
    hx_ring_load(ring, plaintext->tensor, item, 0, 0, l, y);
    hx_ref_row_add(ring, ids[l], x, y, x);
    hx_ring_store(ring, x, ciphertext->tensor, item, 0, 0, l);
    hx_ring_store(ring, a, ciphertext->tensor, item, 0, 1, l);
  }
  hx_ring_rows_free(ring, block, SECRET_ROWS);
  return HX_STATUS_OK;
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
  hx_value_t *value = NULL;
  HX_TRY(hx_ciphertext_create(params, plaintext, &value));
  const hx_draws_t draws = {.v = v, .e = {e0, e1}};
  return finish(hx_encrypt_public_item(public_key, plaintext, 0, &draws, value), value, out);
}

hx_status_t hx_encrypt_secret_with(const hx_params_t *params, const int8_t *secret, const hx_value_t *plaintext,
                                   const uint8_t seed[32], uint32_t index, const int8_t *error, hx_value_t **out) {
  hx_value_t *value = NULL;
  HX_TRY(hx_ciphertext_create(params, plaintext, &value));
  return finish(hx_encrypt_secret_item(secret, plaintext, 0, seed, index, error, value), value, out);
}
