// SPDX-License-Identifier: Apache-2.0
#include "core/plugin/signature_file.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "core/tensor/atomic_file.h"

static const char prefix[] = "heliox manifest 1\n";

// What is signed. NULL: out of memory.
static unsigned char *message_of(hx_str_t manifest, size_t *out_size) {
  const size_t head = sizeof prefix - 1;
  unsigned char *message = hx_alloc(head + manifest.size);
  if (message == NULL) return NULL;
  memcpy(message, prefix, head);
  if (manifest.size > 0) memcpy(message + head, manifest.data, manifest.size);
  *out_size = head + manifest.size;
  return message;
}

hx_status_t hx_signature_verify(const hx_signature_t *signature, hx_str_t manifest, bool *out) {
  size_t size;
  unsigned char *message = message_of(manifest, &size);
  if (message == NULL) return HX_STATUS_OUT_OF_MEMORY;
  *out = crypto_sign_verify_detached(signature->bytes, message, size, signature->key) == 0;
  hx_free(message);
  return HX_STATUS_OK;
}

static hx_status_t write_file(const char *path, const char *text, uint32_t mode, bool overwrite, hx_report_t *report) {
  hx_atomic_file_t file = {0};
  hx_status_t status = hx_atomic_file_open(&file, path, mode, report);
  if (status == HX_STATUS_OK) status = hx_atomic_file_write(&file, text, strlen(text), report);
  if (status == HX_STATUS_OK) return hx_atomic_file_commit(&file, overwrite, report);
  hx_atomic_file_abandon(&file);
  return status;
}

hx_status_t hx_signing_key_create(const char *secret_path, const char *public_path, hx_report_t *report) {
  uint8_t seed[crypto_sign_SEEDBYTES], secret[crypto_sign_SECRETKEYBYTES], public[crypto_sign_PUBLICKEYBYTES];
  char hex[65], text[128];
  if (secret_path == NULL || public_path == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_signing_key_create: a path is NULL");
  if (sodium_init() < 0)
    return hx_report_fail(report, HX_CODE_INTERNAL, "the system's random generator cannot be used");
  randombytes_buf(seed, sizeof seed);
  crypto_sign_seed_keypair(public, secret, seed);
  sodium_bin2hex(hex, sizeof hex, seed, sizeof seed);
  snprintf(text, sizeof text, "heliox-secret-key 1\nseed %s\n", hex);
  hx_status_t status = write_file(secret_path, text, 0600, false, report);
  if (status == HX_STATUS_OK) {
    sodium_bin2hex(hex, sizeof hex, public, sizeof public);
    snprintf(text, sizeof text, "heliox-public-key 1\nkey %s\n", hex);
    status = write_file(public_path, text, 0644, true, report);
  }
  hx_wipe(seed, sizeof seed);
  hx_wipe(secret, sizeof secret);
  hx_wipe(hex, sizeof hex);
  hx_wipe(text, sizeof text);
  return status;
}

// Reads a whole small file; *out is hx_free'd by the caller.
static hx_status_t read_file(const char *path, size_t most, char **out, size_t *out_size, hx_report_t *report) {
  const hx_status_t status = hx_file_read_path(path, most, out, out_size);
  if (status == HX_STATUS_OUT_OF_MEMORY)
    return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "%s: out of memory", path);
  if (status != HX_STATUS_OK) return hx_report_fail(report, HX_CODE_IO, "%s cannot be read", path);
  if (*out_size <= most) return HX_STATUS_OK;
  hx_free(*out);
  *out = NULL;
  return hx_report_fail(report, HX_CODE_LIMIT, "%s has more than %zu bytes", path, most);
}

static hx_status_t read_secret(const char *path, uint8_t seed[32], hx_report_t *report) {
  char *text = NULL;
  size_t size = 0;
  const char *why = "";
  HX_TRY(read_file(path, HX_KEY_FILE_MAX, &text, &size, report));
  const bool good = hx_secret_key_parse((hx_str_t){text, size}, seed, &why);
  hx_wipe(text, size);
  hx_free(text);
  return good ? HX_STATUS_OK : hx_report_fail(report, HX_CODE_FILE_FORMAT, "%s is no signing key: it %s", path, why);
}

static hx_status_t write_signature(const char *manifest_path, const uint8_t seed[32], hx_str_t manifest,
                                   hx_report_t *report) {
  uint8_t secret[crypto_sign_SECRETKEYBYTES];
  hx_signature_t signature;
  size_t size;
  char key[65], bytes[129], text[320];
  unsigned char *message = message_of(manifest, &size);
  const size_t room = strlen(manifest_path) + sizeof ".sig";
  char *path = hx_alloc(room);
  hx_status_t status;
  if (message == NULL || path == NULL) {
    status = hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "%s: out of memory", manifest_path);
  } else {
    crypto_sign_seed_keypair(signature.key, secret, seed);
    crypto_sign_detached(signature.bytes, NULL, message, size, secret);
    hx_wipe(secret, sizeof secret);
    sodium_bin2hex(key, sizeof key, signature.key, sizeof signature.key);
    sodium_bin2hex(bytes, sizeof bytes, signature.bytes, sizeof signature.bytes);
    snprintf(text, sizeof text, "heliox-signature 1\nkey %s\nsignature %s\n", key, bytes);
    snprintf(path, room, "%s.sig", manifest_path);
    status = write_file(path, text, 0644, true, report);
  }
  hx_free(message);
  hx_free(path);
  return status;
}

hx_status_t hx_manifest_sign(const char *manifest_path, const char *secret_path, hx_report_t *report) {
  uint8_t seed[32];
  char *text = NULL;
  size_t size = 0;
  if (manifest_path == NULL || secret_path == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_manifest_sign: a path is NULL");
  HX_TRY(read_secret(secret_path, seed, report));
  hx_status_t status = read_file(manifest_path, HX_JSON_BYTES_MAX, &text, &size, report);
  if (status == HX_STATUS_OK) status = write_signature(manifest_path, seed, (hx_str_t){text, size}, report);
  hx_wipe(seed, sizeof seed);
  hx_free(text);
  return status;
}
