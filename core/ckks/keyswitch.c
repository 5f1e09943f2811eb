// SPDX-License-Identifier: Apache-2.0
// Switching keys between secrets: made, kept, written and read.
#include <sodium.h>
#include <string.h>

#include "core/ckks/keyfile.h"
#include "core/ckks/sampling.h"

hx_switch_t *hx_switch_create(const hx_params_t *params, const uint8_t from_id[16], const uint8_t id[16],
                              hx_tensor_t *tensor, const uint8_t seed[32]) {
  hx_switch_t *key = hx_zalloc(1, sizeof *key);
  if (key == NULL) {
    hx_tensor_release(tensor);
    return NULL;
  }
  atomic_init(&key->refs, 1);
  key->params = hx_params_retain(params);
  memcpy(key->from_id, from_id, sizeof key->from_id);
  memcpy(key->id, id, sizeof key->id);
  key->key = (hx_switch_key_t){.kind = HX_KEY_SWITCH, .tensor = tensor};
  memcpy(key->key.seed, seed, sizeof key->key.seed);
  return key;
}

hx_switch_t *hx_switch_retain(const hx_switch_t *key) {
  hx_switch_t *shared = (hx_switch_t *)(uintptr_t)key;  // the count alone changes
  atomic_fetch_add_explicit(&shared->refs, 1, memory_order_relaxed);
  return shared;
}

void hx_switch_release(hx_switch_t *key) {
  if (key == NULL || atomic_fetch_sub_explicit(&key->refs, 1, memory_order_acq_rel) != 1) return;
  hx_tensor_release(key->key.tensor);
  hx_params_release(key->params);
  hx_free(key);
}

const hx_params_t *hx_switch_params(const hx_switch_t *key) { return key->params; }
const uint8_t *hx_switch_from_id(const hx_switch_t *key) { return key->from_id; }
const uint8_t *hx_switch_to_id(const hx_switch_t *key) { return key->id; }

// ------------------------------------------------------------------ making

static hx_status_t check_sets(const hx_keys_t *from, const hx_keys_t *to, hx_report_t *report) {
  if (from == NULL || to == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_switch_generate: a key set is NULL");
  if (!hx_params_same(from->params, to->params))
    return hx_report_fail(report, HX_CODE_PARAMS_DIGEST,
                          "the first secret belongs to parameters %.16s..., the second to %.16s...",
                          hx_params_digest_hex(from->params), hx_params_digest_hex(to->params));
  if (from->secret == NULL || to->secret == NULL)
    return hx_report_fail(report, HX_CODE_MISSING_KEY,
                          "a switching key is made of both secrets, and the %s key set does not have its own",
                          from->secret == NULL ? "first" : "second");
  if (hx_params_p_count(from->params) == 0)
    return hx_report_fail(report, HX_CODE_PARAMS,
                          "these parameters have no special primes, so switching keys do not exist");
  return HX_STATUS_OK;
}

hx_status_t hx_switch_generate(const hx_keys_t *from, const hx_keys_t *to, hx_switch_t **out, hx_report_t *report) {
  HX_TRY(check_sets(from, to, report));
  const size_t n = (size_t)1 << hx_params_log_n(from->params);
  const size_t errors_bytes = n * hx_params_digits(from->params);
  const hx_ref_ring *ring = NULL;
  HX_TRY(hx_params_reference(from->params, &ring, report));  // what fails after this fails for want of memory
  hx_random_t random;
  HX_TRY(hx_random_init(&random, report));
  int64_t *source = hx_alloc(n * sizeof *source);
  int8_t *errors = hx_alloc(errors_bytes);
  hx_switch_t *key = NULL;
  if (source != NULL && errors != NULL) {
    uint8_t seed[32];
    hx_tensor_t *tensor = NULL;
    hx_random_bytes(&random, seed, sizeof seed);
    hx_sample_error(&random, errors_bytes, errors);
    for (size_t i = 0; i < n; ++i) source[i] = from->secret[i];
    if (hx_switch_key_make(from->params, source, to->secret, seed, errors, &tensor) == HX_STATUS_OK)
      key = hx_switch_create(from->params, from->id, to->id, tensor, seed);
  }
  if (source != NULL) hx_wipe(source, n * sizeof *source);
  if (errors != NULL) hx_wipe(errors, errors_bytes);
  hx_free(source);
  hx_free(errors);
  hx_random_deinit(&random);
  if (key == NULL) return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for a switching key");
  *out = key;
  return HX_STATUS_OK;
}

// ------------------------------------------------------------------ files

hx_status_t hx_switch_save(const hx_switch_t *key, const char *path, bool overwrite, hx_report_t *report) {
  if (key == NULL || path == NULL || path[0] == '\0')
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_switch_save: no key or no path");
  char from[33];
  sodium_bin2hex(from, sizeof from, key->from_id, sizeof key->from_id);
  hx_artifact_writer_t artifact;
  hx_artifact_writer_init(&artifact, HX_FILE_SWITCH, key->params, key->id);
  hx_artifact_writer_metadata(&artifact, "from_key_id", "", from);
  hx_keyfile_add_half(&artifact, "switch.", key->key.tensor, key->key.seed);
  hx_atomic_file_t file;
  hx_status_t status = hx_atomic_file_open(&file, path, 0666, report);
  if (status == HX_STATUS_OK) {
    status = hx_artifact_writer_stage(&artifact, &file, report);
    if (status == HX_STATUS_OK) status = hx_atomic_file_commit(&file, overwrite, report);
    hx_atomic_file_abandon(&file);
  }
  hx_artifact_writer_deinit(&artifact);
  return status;
}

static hx_status_t read_switch(hx_artifact_t *artifact, const hx_params_t *params, hx_switch_t **out,
                               hx_report_t *report) {
  HX_TRY(hx_artifact_expect(artifact, HX_FILE_SWITCH, report));
  HX_TRY(hx_artifact_check_params(artifact, params, report));
  const char *text = hx_container_metadata(artifact->container, "from_key_id");
  uint8_t from[16], seed[32];
  if (text == NULL || !hx_artifact_parse_hex(text, from, sizeof from) || !artifact->has_key_id)
    return hx_container_fail(artifact->container, report, HX_CODE_FILE_FORMAT,
                             "metadata key_id and from_key_id have to be 32 hex digits each");
  hx_tensor_t *tensor = NULL;
  HX_TRY(hx_keyfile_read_half(params, artifact, "switch.", &tensor, seed, report));
  *out = hx_switch_create(params, from, artifact->key_id, tensor, seed);
  return *out != NULL ? HX_STATUS_OK : hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for a switching key");
}

hx_status_t hx_switch_load(const char *path, const hx_params_t *params, hx_switch_t **out, hx_report_t *report) {
  if (path == NULL || params == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_switch_load: no path or no parameters");
  hx_artifact_t artifact;
  HX_TRY(hx_artifact_open(path, &artifact, report));
  const hx_status_t status = read_switch(&artifact, params, out, report);
  hx_artifact_close(&artifact);
  return status;
}
