// SPDX-License-Identifier: Apache-2.0
// Containers: first as they come, then with the digest made to fit, so that what lies behind it (parameters, values) is
// reached too. Nothing may crash; values that are accepted have residues below their primes.
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "core/ckks/file.h"

// The ring that the seeds were made under.
#define RING                                                                                      \
  "{\"log_n\":3,\"word\":64,\"base\":[\"1152921504606846577\"],\"groups\":[[\"1099511627297\"]]," \
  "\"special\":[],\"digits\":1,\"secret\":\"ternary\",\"sigma\":\"3.2\",\"scale\":\"2^40\"}"

static const hx_params_t *ring(void) {
  static hx_params_t *params;
  if (params == NULL && hx_params_parse(hx_str(RING), NULL, HX_PARAMS_INSECURE, &params, NULL) != HX_STATUS_OK) abort();
  return params;
}

static void load(const uint8_t *data, size_t size) {
  hx_container_t *container = NULL;
  hx_report_t *report = hx_report_create();
  if (report == NULL) return;
  if (hx_container_open_memory(data, size, "fuzz", &container, report) == HX_STATUS_OK) {
    (void)hx_container_load(container, report);
    hx_container_close(container);
  } else if (hx_report_count(report) == 0) {
    abort();
  }
  hx_report_release(report);
}

static void read_artifact(const uint8_t *data, size_t size) {
  hx_artifact_t artifact;
  if (hx_artifact_open_memory(data, size, "fuzz", &artifact, NULL) != HX_STATUS_OK) return;
  hx_named_value_t *values = NULL;
  hx_params_t *params = NULL;
  size_t count = 0;
  if (artifact.kind == HX_FILE_PARAMS) {
    if (hx_params_read(&artifact, HX_PARAMS_INSECURE, &params, NULL) == HX_STATUS_OK) hx_params_release(params);
  } else if (hx_values_read(&artifact, ring(), &values, &count, NULL) == HX_STATUS_OK) {
    for (size_t i = 0; i < count; ++i) {
      if (hx_value_check_residues(values[i].value, NULL) != HX_STATUS_OK ||
          !hx_value_equal(values[i].value, values[i].value))
        abort();
    }
    hx_values_free(values, count);
  }
  hx_artifact_close(&artifact);
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  load(data, size);
  uint8_t *copy = malloc(size + 1);
  if (copy == NULL) return 0;
  memcpy(copy, data, size);
  if (seal(copy, size)) {
    load(copy, size);
    read_artifact(copy, size);
  }
  free(copy);
  return 0;
}
