// SPDX-License-Identifier: Apache-2.0
// What the owner of the data does: encoding, encryption, decryption, keys; arithmetic on secrets goes to the engine's
// backend where that declares to handle them.
#include "core/ckks/encode.h"
#include "core/ckks/encrypt.h"
#include "core/eager/engine.h"

static hx_status_t rows_of(hx_engine_t *engine, const char *what, const hx_rows_t **out, hx_report_t *report) {
  if (engine == NULL) return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "%s: the engine is NULL", what);
  if (engine->capture != NULL)
    return hx_report_fail(report, HX_CODE_UNSUPPORTED,
                          "%s is random or needs data, so it is not recorded: call it before a function is captured",
                          what);
  (void)pthread_mutex_lock(&engine->rows_lock);
  hx_status_t status = HX_STATUS_OK;
  if (!engine->has_rows) {
    status = hx_rows_init(&engine->rows, engine->params, engine->backend, report);
    engine->has_rows = status == HX_STATUS_OK;
  }
  (void)pthread_mutex_unlock(&engine->rows_lock);
  *out = &engine->rows;
  return status;
}

static hx_status_t fail_argument(const char *what, hx_report_t *report) {
  return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "%s: an argument is NULL", what);
}

static hx_status_t check_params(const hx_engine_t *engine, const hx_params_t *params, const char *what,
                                hx_report_t *report) {
  if (hx_params_same(params, engine->params)) return HX_STATUS_OK;
  return hx_report_fail(report, HX_CODE_PARAMS_DIGEST, "%s belong to parameters %.16s..., the engine to %.16s...", what,
                        hx_params_digest_hex(params), hx_params_digest_hex(engine->params));
}

hx_status_t hx_engine_encode(hx_engine_t *engine, const double *values, size_t count, bool complex_values,
                             const hx_encode_options_t *options, hx_value_t **out, hx_report_t *report) {
  const hx_rows_t *rows = NULL;
  // Constants of a captured function are data: they become materials.
  if (engine != NULL && engine->capture != NULL)
    return hx_encode(engine->params, values, count, complex_values, options, out, report);
  HX_TRY(rows_of(engine, "hx_engine_encode", &rows, report));
  if (values == NULL || out == NULL) return fail_argument("hx_engine_encode", report);
  return hx_encode_on(rows, values, count, complex_values, options, out, report);
}

hx_status_t hx_engine_decode(hx_engine_t *engine, const hx_value_t *plaintext, double *out_values,
                             hx_report_t *report) {
  const hx_rows_t *rows = NULL;
  HX_TRY(rows_of(engine, "hx_engine_decode", &rows, report));
  if (plaintext == NULL || out_values == NULL) return fail_argument("hx_engine_decode", report);
  HX_TRY(check_params(engine, plaintext->params, "the plaintext's residues", report));
  return hx_decode_on(rows, plaintext, out_values, report);
}

hx_status_t hx_engine_encrypt(hx_engine_t *engine, const hx_keys_t *keys, const hx_value_t *plaintext, bool symmetric,
                              hx_value_t **out, hx_report_t *report) {
  const hx_rows_t *rows = NULL;
  HX_TRY(rows_of(engine, "hx_engine_encrypt", &rows, report));
  if (keys == NULL) keys = engine->keys;
  if (keys == NULL || plaintext == NULL || out == NULL) return fail_argument("hx_engine_encrypt", report);
  HX_TRY(check_params(engine, keys->params, "the keys", report));
  return hx_encrypt_on(rows, keys, plaintext, symmetric, out, report);
}

hx_status_t hx_engine_decrypt(hx_engine_t *engine, const hx_keys_t *keys, const hx_value_t *ciphertext,
                              hx_value_t **out, hx_report_t *report) {
  const hx_rows_t *rows = NULL;
  HX_TRY(rows_of(engine, "hx_engine_decrypt", &rows, report));
  if (keys == NULL) keys = engine->keys;
  if (keys == NULL || ciphertext == NULL || out == NULL) return fail_argument("hx_engine_decrypt", report);
  HX_TRY(check_params(engine, keys->params, "the keys", report));
  return hx_decrypt_on(rows, keys, ciphertext, out, report);
}

hx_status_t hx_engine_generate_keys(hx_engine_t *engine, const hx_keygen_options_t *options, hx_keys_t **out,
                                    hx_report_t *report) {
  const hx_rows_t *rows = NULL;
  HX_TRY(rows_of(engine, "hx_engine_generate_keys", &rows, report));
  if (options == NULL || out == NULL) return fail_argument("hx_engine_generate_keys", report);
  return hx_keys_generate_on(rows, options, out, report);
}
