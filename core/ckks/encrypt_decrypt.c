// SPDX-License-Identifier: Apache-2.0
// Decryption: c0 + c1 s (+ c2 s^2) row by row, constant time in the secret and the message.
#include <sodium.h>
#include <string.h>

#include "core/ckks/encrypt.h"
#include "core/ckks/ring_host.h"

enum { ROWS = 4 };

static hx_status_t new_plaintext(const hx_params_t *params, const hx_value_t *ciphertext, hx_value_t **out) {
  hx_type_t type;
  hx_type_copy(&type, &ciphertext->type);
  type.kind = HX_TYPE_PLAINTEXT;
  type.components = 1;
  type.domain = HX_NTT;
  HX_TRY(hx_value_create(params, &type, true, out));
  (*out)->count = ciphertext->count;
  (*out)->is_complex = ciphertext->is_complex;
  (*out)->noise = ciphertext->noise;
  return HX_STATUS_OK;
}

// A row of the ciphertext in ntt domain.
static void load(const hx_ref_ring *ring, const hx_value_t *ciphertext, uint64_t item, uint32_t component,
                 uint32_t limb, uint32_t id, uint64_t *row) {
  hx_ring_load(ring, ciphertext->tensor, item, 0, component, limb, row);
  if (ciphertext->type.domain == HX_COEFFICIENT) hx_ref_ntt_forward(ring, id, row);
}

static void decrypt_rows(const hx_ref_ring *ring, const int8_t *secret, const hx_value_t *ciphertext, uint64_t *block,
                         hx_value_t *plaintext) {
  const size_t n = hx_ref_ring_degree(ring);
  uint64_t *words = block, *s = block + n, *x = block + 2 * n, *m = block + 3 * n;
  const uint64_t items = hx_layout_items(&ciphertext->tensor->layout);
  uint32_t ids[HX_PRIMES_MAX];
  const uint32_t limbs = hx_primes_list(&ciphertext->type.primes, ids);
  for (uint32_t l = 0; l < limbs; ++l) {
    hx_ring_lift_small(ring, ids[l], secret, words, s);
    for (uint64_t item = 0; item < items; ++item) {
      uint32_t c = ciphertext->type.components - 1;
      load(ring, ciphertext, item, c, l, ids[l], m);
      while (c-- > 0) {  // Horner
        load(ring, ciphertext, item, c, l, ids[l], x);
        hx_ref_row_mul_add(ring, ids[l], x, m, s, m);
      }
      hx_ring_store(ring, m, plaintext->tensor, item, 0, 0, l);
    }
  }
}

hx_status_t hx_decrypt_with(const hx_params_t *params, const int8_t *secret, const hx_value_t *ciphertext,
                            hx_value_t **out) {
  const hx_ref_ring *ring = NULL;
  HX_TRY(hx_params_reference(params, &ring, NULL));
  hx_value_t *plaintext = NULL;
  HX_TRY(new_plaintext(params, ciphertext, &plaintext));
  uint64_t *block = hx_ring_rows_alloc(ring, ROWS);
  if (block == NULL) {
    hx_value_release(plaintext);
    return HX_STATUS_OUT_OF_MEMORY;
  }
  decrypt_rows(ring, secret, ciphertext, block, plaintext);
  hx_ring_rows_free(ring, block, ROWS);
  hx_tensor_touch(plaintext->tensor);
  *out = plaintext;
  return HX_STATUS_OK;
}

static hx_status_t check_ciphertext(const hx_keys_t *keys, const hx_value_t *ciphertext, hx_report_t *report) {
  const hx_type_t *type = &ciphertext->type;
  if (type->kind != HX_TYPE_CIPHERTEXT)
    return hx_report_fail(report, HX_CODE_TYPE, "decrypt takes a ciphertext; this value is a plaintext already");
  HX_TRY(hx_encrypt_check_operand(keys, ciphertext, "decrypt", report));
  if (memcmp(keys->id, ciphertext->key_id, sizeof keys->id) != 0) {
    char ours[33], theirs[33];
    sodium_bin2hex(ours, sizeof ours, keys->id, sizeof keys->id);
    sodium_bin2hex(theirs, sizeof theirs, ciphertext->key_id, sizeof ciphertext->key_id);
    return hx_report_fail(report, HX_CODE_KEY_ID,
                          "the ciphertext was made under key id %s, these keys have id %s; decrypt it with the secret "
                          "that belongs to it",
                          theirs, ours);
  }
  if (keys->secret == NULL)
    return hx_report_fail(report, HX_CODE_MISSING_KEY,
                          "decryption needs the secret key, which this key set does not have; load secret.hx too");
  if (type->components != 2 && type->components != 3)
    return hx_report_fail(report, HX_CODE_COMPONENTS, "decrypt takes 2 or 3 components; this ciphertext has %u",
                          type->components);
  return HX_STATUS_OK;
}

hx_status_t hx_decrypt(const hx_keys_t *keys, const hx_value_t *ciphertext, hx_value_t **out, hx_report_t *report) {
  HX_TRY(hx_value_want_data(ciphertext, "ckks.decrypt needs a secret", report));
  HX_TRY(check_ciphertext(keys, ciphertext, report));
  const hx_ref_ring *ring = NULL;
  HX_TRY(hx_params_reference(keys->params, &ring, report));
  if (hx_decrypt_with(keys->params, keys->secret, ciphertext, out) != HX_STATUS_OK)
    return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory to decrypt");
  return HX_STATUS_OK;
}
