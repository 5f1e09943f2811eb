// SPDX-License-Identifier: Apache-2.0
// Files of signatures and keys: what parses prints back to the same bytes, so that each has one form alone.
#include <sodium.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/plugin/signature_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(const uint8_t *data, size_t size, const char *text) {
  if (size != strlen(text) || memcmp(data, text, size) != 0) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const hx_str_t text = {(const char *)data, size};
  const char *why = NULL;
  hx_signature_t signature;
  uint8_t key[32];
  char hex[65], long_hex[129], printed[320];
  if (hx_signature_parse(text, &signature, &why)) {
    bool verified = true;
    sodium_bin2hex(hex, sizeof hex, signature.key, sizeof signature.key);
    sodium_bin2hex(long_hex, sizeof long_hex, signature.bytes, sizeof signature.bytes);
    snprintf(printed, sizeof printed, "heliox-signature 1\nkey %s\nsignature %s\n", hex, long_hex);
    expect(data, size, printed);
    if (hx_signature_verify(&signature, text, &verified) != HX_STATUS_OK) abort();
  } else if (why == NULL) {
    abort();
  }
  if (hx_public_key_parse(text, key, &why)) {
    sodium_bin2hex(hex, sizeof hex, key, sizeof key);
    snprintf(printed, sizeof printed, "heliox-public-key 1\nkey %s\n", hex);
    expect(data, size, printed);
  }
  if (hx_secret_key_parse(text, key, &why)) {
    sodium_bin2hex(hex, sizeof hex, key, sizeof key);
    snprintf(printed, sizeof printed, "heliox-secret-key 1\nseed %s\n", hex);
    expect(data, size, printed);
  }
  return 0;
}
