// SPDX-License-Identifier: Apache-2.0
// Decryption: c0 + c1 s (+ c2 s^2) row by row, constant time in the secret and the message.
#include <sodium.h>
#include <string.h>

#include "core/ckks/encrypt.h"

static hx_status_t new_plaintext(const hx_params_t *params, const hx_value_t *ciphertext, hx_value_t **out) {
  hx_type_t type;
  hx_type_copy(&type, &ciphertext->type);
  type.kind = HX_TYPE_PLAINTEXT;
  type.components = 1;
  type.domain = HX_NTT;
  HX_TRY(hx_value_create_unset(params, &type, true, out));
  (*out)->count = ciphertext->count;
  (*out)->is_complex = ciphertext->is_complex;
  (*out)->noise = ciphertext->noise;
  return HX_STATUS_OK;
}

enum { WORDS, SECRET, ACCUMULATOR, NEXT, ROWS };

// A row of the ciphertext in ntt domain: itself, or transformed into scratch.
static hx_row_t ntt_row(hx_row_session_t *session, const hx_value_t *ciphertext, uint64_t item, uint32_t component,
                        uint32_t limb, uint32_t id, uint32_t scratch) {
  const hx_row_t row = hx_row_of(ciphertext->tensor, item, 0, component, limb);
  if (ciphertext->type.domain == HX_NTT) return row;
  hx_row_forward(session, id, row, hx_row_scratch(session, scratch));
  return hx_row_scratch(session, scratch);
}

// c0 + s (c1 + s c2), by Horner.
static void decrypt_row(hx_row_session_t *session, const hx_value_t *ciphertext, uint64_t item, uint32_t limb,
                        uint32_t id, hx_row_t out) {
  const hx_row_t s = hx_row_scratch(session, SECRET);
  uint32_t c = ciphertext->type.components - 1;
  hx_row_t sum = ntt_row(session, ciphertext, item, c, limb, id, ACCUMULATOR);
  while (c-- > 0) {
    const hx_row_t next = ntt_row(session, ciphertext, item, c, limb, id, NEXT);
    hx_row_mul(session, id, sum, s, out);
    hx_row_add(session, id, out, next, out);
    sum = out;
  }
}

static hx_status_t decrypt_rows(const hx_rows_t *rows, const int8_t *secret, const hx_value_t *ciphertext,
                                hx_value_t *plaintext) {
  hx_row_session_t *session = hx_rows_open(rows, ROWS);
  if (session == NULL) return HX_STATUS_OUT_OF_MEMORY;
  const uint64_t items = hx_layout_items(&ciphertext->tensor->layout);
  const hx_row_t s = hx_row_scratch(session, SECRET);
  hx_row_widen(secret, (uint32_t)1 << hx_params_log_n(rows->params), hx_row_scratch(session, WORDS));
  uint32_t ids[HX_PRIMES_MAX];
  const uint32_t limbs = hx_primes_list(&ciphertext->type.primes, ids);
  for (uint32_t l = 0; l < limbs; ++l) {
    hx_row_lift_signed(session, ids[l], hx_row_scratch(session, WORDS), s);
    hx_row_forward(session, ids[l], s, s);
    for (uint64_t item = 0; item < items; ++item)
      decrypt_row(session, ciphertext, item, l, ids[l], hx_row_of(plaintext->tensor, item, 0, 0, l));
  }
  return hx_rows_close(session);
}

static hx_status_t decrypt_on(const hx_rows_t *rows, const int8_t *secret, const hx_value_t *ciphertext,
                              hx_value_t **out) {
  hx_value_t *plaintext = NULL;
  HX_TRY(new_plaintext(rows->params, ciphertext, &plaintext));
  const hx_status_t status = decrypt_rows(rows, secret, ciphertext, plaintext);
  if (status != HX_STATUS_OK) {
    hx_value_release(plaintext);
    return status;
  }
  hx_tensor_touch(plaintext->tensor);
  *out = plaintext;
  return HX_STATUS_OK;
}

hx_status_t hx_decrypt_with(const hx_params_t *params, const int8_t *secret, const hx_value_t *ciphertext,
                            hx_value_t **out) {
  hx_rows_t rows;
  HX_TRY(hx_rows_init(&rows, params, NULL, NULL));
  const hx_status_t status = decrypt_on(&rows, secret, ciphertext, out);
  hx_rows_deinit(&rows);
  return status;
}

static hx_status_t check_ciphertext(const hx_keys_t *keys, const hx_value_t *ciphertext, hx_report_t *report) {
  const hx_type_t *type = &ciphertext->type;
  if (type->kind != HX_TYPE_CIPHERTEXT)
    return hx_report_fail(report, HX_CODE_TYPE, "decrypt takes a ciphertext; this value is a plaintext already");
  HX_TRY(hx_encrypt_check_operand(keys, ciphertext, "decrypt", report));
  if (keys->secret == NULL)
    return hx_report_fail(report, HX_CODE_MISSING_KEY,
                          "decryption needs the secret key, which this key set does not have; load secret.hx too");
  if (memcmp(keys->id, ciphertext->key_id, sizeof keys->id) != 0) {
    char ours[33], theirs[33];
    sodium_bin2hex(ours, sizeof ours, keys->id, sizeof keys->id);
    sodium_bin2hex(theirs, sizeof theirs, ciphertext->key_id, sizeof ciphertext->key_id);
    return hx_report_fail(report, HX_CODE_KEY_ID,
                          "the ciphertext was made under key id %s, these keys have id %s; decrypt it with the secret "
                          "that belongs to it",
                          theirs, ours);
  }
  if (type->components != 2 && type->components != 3)
    return hx_report_fail(report, HX_CODE_COMPONENTS, "decrypt takes 2 or 3 components; this ciphertext has %u",
                          type->components);
  return HX_STATUS_OK;
}

hx_status_t hx_decrypt_on(const hx_rows_t *rows, const hx_keys_t *keys, const hx_value_t *ciphertext, hx_value_t **out,
                          hx_report_t *report) {
  HX_TRY(hx_value_want_data(ciphertext, "ckks.decrypt needs a secret", report));
  HX_TRY(check_ciphertext(keys, ciphertext, report));
  const hx_status_t status = decrypt_on(rows, keys->secret, ciphertext, out);
  if (status == HX_STATUS_OK) return status;
  return status == HX_STATUS_OUT_OF_MEMORY
             ? hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory to decrypt")
             : hx_report_fail(report, HX_CODE_PLUGIN_CALL, "the backend failed in arithmetic for decryption");
}

hx_status_t hx_decrypt(const hx_keys_t *keys, const hx_value_t *ciphertext, hx_value_t **out, hx_report_t *report) {
  hx_rows_t rows;
  HX_TRY(hx_rows_init(&rows, keys->params, NULL, report));
  const hx_status_t status = hx_decrypt_on(&rows, keys, ciphertext, out, report);
  hx_rows_deinit(&rows);
  return status;
}
