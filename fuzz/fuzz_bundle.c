// SPDX-License-Identifier: Apache-2.0
// Bundles: as they come, and with the digest made to fit, so that program, materials and views behind it are reached.
// Nothing may crash; what is accepted prints, and its materials have residues below their primes.
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "core/compile/bundle.h"

// The ring that the seeds were made under.
#define RING                                                                                      \
  "{\"log_n\":3,\"word\":64,\"base\":[\"1152921504606846577\"],\"groups\":[[\"1099511627297\"]]," \
  "\"special\":[],\"digits\":1,\"secret\":\"ternary\",\"sigma\":\"3.2\",\"scale\":\"2^40\"}"

static const hx_params_t *ring(void) {
  static hx_params_t *params;
  if (params == NULL && hx_params_parse(hx_str(RING), NULL, HX_PARAMS_INSECURE, &params, NULL) != HX_STATUS_OK) abort();
  return params;
}

static void read_bundle(const uint8_t *data, size_t size) {
  hx_artifact_t artifact;
  hx_compilation_t *compilation = NULL;
  hx_report_t *report = hx_report_create();
  if (report == NULL) return;
  if (hx_artifact_open_memory(data, size, "fuzz", &artifact, report) == HX_STATUS_OK) {
    if (hx_bundle_read(&artifact, ring(), &compilation, report) == HX_STATUS_OK) {
      char *text = NULL;
      if (hx_program_print(compilation->program, 0, &text, NULL) == HX_STATUS_OK) hx_text_free(text);
      for (size_t i = 0; i < compilation->binding_count; ++i) {
        if (hx_value_check_residues(compilation->bindings[i].value, NULL) != HX_STATUS_OK) abort();
      }
      hx_compilation_release(compilation);
    } else if (hx_report_count(report) == 0) {
      abort();
    }
    hx_artifact_close(&artifact);
  }
  hx_report_release(report);
}

// Makes the digest fit. False where the file has none.
static bool seal(uint8_t *data, size_t size) {
  static const char key[] = "\"sha256\":\"";
  for (size_t i = 8; i + sizeof key + 64 < size; ++i) {
    if (memcmp(data + i, key, sizeof key - 1) != 0) continue;
    uint8_t *digits = data + i + sizeof key - 1;
    unsigned char digest[32];
    char hex[65];
    memset(digits, '0', 64);
    crypto_hash_sha256(digest, data, size);
    sodium_bin2hex(hex, sizeof hex, digest, sizeof digest);
    memcpy(digits, hex, 64);
    return true;
  }
  return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  read_bundle(data, size);
  uint8_t *copy = malloc(size + 1);
  if (copy == NULL) return 0;
  if (size > 0) memcpy(copy, data, size);
  if (seal(copy, size)) read_bundle(copy, size);
  free(copy);
  return 0;
}
