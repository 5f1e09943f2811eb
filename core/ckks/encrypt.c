// SPDX-License-Identifier: Apache-2.0
// hx_encrypt: checks, randomness, one item of a batch after the other.
#include "core/ckks/encrypt.h"

#include <string.h>

#include "core/ckks/sampling.h"

hx_status_t hx_encrypt_check_operand(const hx_keys_t *keys, const hx_value_t *value, const char *what,
                                     hx_report_t *report) {
  const hx_type_t *type = &value->type;
  if (!hx_params_same(keys->params, value->params))
    return hx_report_fail(report, HX_CODE_PARAMS_DIGEST,
                          "%s: the keys belong to parameters %.16s.., the value to %.16s..; use keys and values made "
                          "under one parameter set",
                          what, hx_params_digest_hex(keys->params), hx_params_digest_hex(value->params));
  if (type->repr != HX_STANDARD)
    return hx_report_fail(
        report, HX_CODE_DOMAIN, "%s takes standard residues; these are %s", what,
        type->repr == HX_LAZY ? "lazy: reduce them first" : "in montgomery form: take them out of it first");
  if (type->basis != HX_BASIS_Q)
    return hx_report_fail(report, HX_CODE_PRIMES, "%s takes a value on primes of Q; this one lies on %s", what,
                          type->basis == HX_BASIS_P ? "P" : "Q and P");
  if (value->tensor->storage->address == NULL)
    return hx_report_fail(report, HX_CODE_DEVICE_MIX, "%s works on host memory; transfer the value to it first", what);
  return HX_STATUS_OK;
}

static hx_status_t check_plaintext(const hx_keys_t *keys, const hx_value_t *plaintext, bool symmetric,
                                   hx_report_t *report) {
  if (plaintext->type.kind != HX_TYPE_PLAINTEXT)
    return hx_report_fail(report, HX_CODE_TYPE, "encrypt takes a plaintext; this value is a ciphertext already");
  HX_TRY(hx_encrypt_check_operand(keys, plaintext, "encrypt", report));
  if (plaintext->type.domain != HX_NTT)
    return hx_report_fail(report, HX_CODE_DOMAIN,
                          "encrypt takes a plaintext in ntt domain; this one is in coefficient domain: use to_ntt");
  if (symmetric && keys->secret == NULL)
    return hx_report_fail(report, HX_CODE_MISSING_KEY,
                          "symmetric encryption needs the secret key, which this key set does not have; load secret.hx "
                          "or encrypt with the public key");
  if (!symmetric && keys->public_key == NULL)
    return hx_report_fail(report, HX_CODE_MISSING_KEY,
                          "encryption needs the public key, which this key set does not have; load public.hx or, with "
                          "the secret, encrypt symmetrically");
  return HX_STATUS_OK;
}

// v, e0, e1 of one item after the other.
static hx_status_t encrypt_public(const hx_rows_t *rows, const hx_keys_t *keys, const hx_value_t *plaintext,
                                  uint64_t items, hx_random_t *random, int8_t *draws, hx_value_t *ciphertext) {
  const size_t n = (size_t)1 << hx_params_log_n(keys->params);
  const hx_draws_t one = {.v = draws, .e = {draws + n, draws + 2 * n}};
  for (uint64_t item = 0; item < items; ++item) {
    hx_sample_ternary(random, n, draws);
    hx_sample_error(random, 2 * n, draws + n);
    HX_TRY(hx_encrypt_public_item(rows, keys->public_key, plaintext, item, &one, ciphertext));
  }
  return HX_STATUS_OK;
}

// One seed for the batch; an item's place in it is its index.
static hx_status_t encrypt_secret(const hx_rows_t *rows, const hx_keys_t *keys, const hx_value_t *plaintext,
                                  uint64_t items, hx_random_t *random, int8_t *error, hx_value_t *ciphertext) {
  uint8_t seed[32];
  hx_random_bytes(random, seed, sizeof seed);
  for (uint64_t item = 0; item < items; ++item) {
    hx_sample_error(random, (size_t)1 << hx_params_log_n(keys->params), error);
    HX_TRY(hx_encrypt_secret_item(rows, keys->secret, plaintext, item, seed, (uint32_t)item, error, ciphertext));
  }
  return HX_STATUS_OK;
}

static hx_status_t encrypt(const hx_rows_t *rows, const hx_keys_t *keys, const hx_value_t *plaintext, bool symmetric,
                           hx_random_t *random, hx_value_t **out, hx_report_t *report) {
  const uint64_t items = hx_layout_items(&plaintext->tensor->layout);
  if (items > UINT32_MAX)
    return hx_report_fail(report, HX_CODE_LIMIT, "a batch of %llu items; one encryption takes at most %u",
                          (unsigned long long)items, UINT32_MAX);
  const size_t bytes = (size_t)3 << hx_params_log_n(keys->params);
  int8_t *draws = hx_alloc(bytes);
  hx_value_t *value = NULL;
  hx_status_t status = draws == NULL ? HX_STATUS_OUT_OF_MEMORY : hx_ciphertext_create(keys->params, plaintext, &value);
  if (status == HX_STATUS_OK)
    status = symmetric ? encrypt_secret(rows, keys, plaintext, items, random, draws, value)
                       : encrypt_public(rows, keys, plaintext, items, random, draws, value);
  if (draws != NULL) hx_wipe(draws, bytes);
  hx_free(draws);
  if (status != HX_STATUS_OK) {
    hx_value_release(value);
    return status == HX_STATUS_OUT_OF_MEMORY
               ? hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory to encrypt")
               : hx_report_fail(report, HX_CODE_PLUGIN_CALL, "the backend failed in arithmetic for encryption");
  }
  memcpy(value->key_id, keys->id, sizeof value->key_id);
  hx_value_note_encryption(value, plaintext, symmetric);
  hx_tensor_touch(value->tensor);
  *out = value;
  return HX_STATUS_OK;
}

hx_status_t hx_encrypt_on(const hx_rows_t *rows, const hx_keys_t *keys, const hx_value_t *plaintext, bool symmetric,
                          hx_value_t **out, hx_report_t *report) {
  HX_TRY(hx_value_want_data(plaintext, "ckks.encrypt draws at random", report));
  HX_TRY(check_plaintext(keys, plaintext, symmetric, report));
  hx_random_t random;
  HX_TRY(hx_random_init(&random, report));
  const hx_status_t status = encrypt(rows, keys, plaintext, symmetric, &random, out, report);
  hx_random_deinit(&random);
  return status;
}

hx_status_t hx_encrypt(const hx_keys_t *keys, const hx_value_t *plaintext, bool symmetric, hx_value_t **out,
                       hx_report_t *report) {
  hx_rows_t rows;
  HX_TRY(hx_rows_init(&rows, keys->params, NULL, report));
  const hx_status_t status = hx_encrypt_on(&rows, keys, plaintext, symmetric, out, report);
  hx_rows_deinit(&rows);
  return status;
}
