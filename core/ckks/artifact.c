// SPDX-License-Identifier: Apache-2.0
#include "core/ckks/artifact.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "core/base/log.h"
#include "core/ckks/expand.h"

static const char *const kind_names[] = {
    [HX_FILE_PARAMS] = "params",   [HX_FILE_SECRET] = "secret",         [HX_FILE_PUBLIC] = "public",
    [HX_FILE_RELIN] = "relin",     [HX_FILE_GALOIS] = "galois",         [HX_FILE_CONJ] = "conj",
    [HX_FILE_SWITCH] = "switch",   [HX_FILE_CIPHERTEXT] = "ciphertext", [HX_FILE_PLAINTEXT] = "plaintext",
    [HX_FILE_MESSAGE] = "message", [HX_FILE_BUNDLE] = "bundle",
};

const char *hx_artifact_kind_name(hx_file_kind_t kind) {
  return (size_t)kind < HX_COUNT_OF(kind_names) ? kind_names[kind] : "unknown";
}

// ------------------------------------------------------------------ common metadata

static hx_status_t fail_key(const hx_artifact_t *artifact, const char *key, const char *rule, hx_report_t *report) {
  const char *value = hx_container_metadata(artifact->container, key);
  return hx_container_fail(artifact->container, report, HX_CODE_FILE_FORMAT,
                           "metadata key %s in the header at offset 8 is %s%.80s%s, not %s", key,
                           value == NULL ? "" : "\"", value == NULL ? "absent" : value, value == NULL ? "" : "\"",
                           rule);
}

bool hx_artifact_parse_hex(const char *text, uint8_t *out, size_t size) {
  if (text == NULL || strlen(text) != 2 * size || strspn(text, "0123456789abcdef") != 2 * size) return false;
  for (size_t i = 0; i < 2 * size; ++i) {
    const uint8_t digit = (uint8_t)(text[i] <= '9' ? text[i] - '0' : text[i] - 'a' + 10);
    out[i / 2] = (uint8_t)(i % 2 == 0 ? digit << 4 : out[i / 2] | digit);
  }
  return true;
}

static bool find_kind(const char *name, hx_file_kind_t *out) {
  for (size_t i = 0; name != NULL && i < HX_COUNT_OF(kind_names); ++i) {
    if (strcmp(kind_names[i], name) != 0) continue;
    *out = (hx_file_kind_t)i;
    return true;
  }
  return false;
}

// Kinds that are made with a secret, and so carry its id.
static bool needs_key_id(hx_file_kind_t kind) {
  return kind != HX_FILE_PARAMS && kind != HX_FILE_PLAINTEXT && kind != HX_FILE_MESSAGE && kind != HX_FILE_BUNDLE &&
         kind != HX_FILE_CIPHERTEXT;
}

static hx_status_t read_common(hx_artifact_t *artifact, hx_report_t *report) {
  const hx_container_t *container = artifact->container;
  const char *kind = hx_container_metadata(container, "kind");
  if (kind == NULL) return fail_key(artifact, "kind", "one of the kinds that this build reads", report);
  if (!find_kind(kind, &artifact->kind)) {
    return hx_container_fail(
        container, report, HX_CODE_FILE_KIND,
        "metadata key kind in the header at offset 8 is \"%.80s\"; this build reads params, secret, "
        "public, relin, galois, conj, switch, ciphertext, plaintext, message, bundle",
        kind);
  }
  uint8_t digest[32];
  artifact->params_digest = hx_container_metadata(container, "params");
  if (!hx_artifact_parse_hex(artifact->params_digest, digest, sizeof digest)) {
    return fail_key(artifact, "params", "64 lower-case hexadecimal digits", report);
  }
  const char *key_id = hx_container_metadata(container, "key_id");
  artifact->has_key_id = key_id != NULL && key_id[0] != '\0';
  if (key_id == NULL ||
      (artifact->has_key_id && !hx_artifact_parse_hex(key_id, artifact->key_id, sizeof artifact->key_id)) ||
      (!artifact->has_key_id && needs_key_id(artifact->kind))) {
    return fail_key(artifact, "key_id", "32 lower-case hexadecimal digits", report);
  }
  const char *insecure = hx_container_metadata(container, "insecure");
  if (insecure == NULL || (strcmp(insecure, "0") != 0 && strcmp(insecure, "1") != 0)) {
    return fail_key(artifact, "insecure", "\"0\" or \"1\"", report);
  }
  artifact->insecure = insecure[0] == '1';
  if (artifact->insecure) {
    hx_log(HX_LOG_WARNING, "file", "%s was made with the insecure flag: for tests only",
           hx_container_source(container));
  }
  return HX_STATUS_OK;
}

static hx_status_t finish_open(hx_artifact_t *artifact, hx_report_t *report) {
  const hx_status_t status = read_common(artifact, report);
  if (status != HX_STATUS_OK) hx_artifact_close(artifact);
  return status;
}

hx_status_t hx_artifact_open(const char *path, hx_artifact_t *out, hx_report_t *report) {
  *out = (hx_artifact_t){0};
  HX_TRY(hx_container_open(path, &out->container, report));
  return finish_open(out, report);
}

hx_status_t hx_artifact_open_memory(const void *bytes, size_t size, const char *source, hx_artifact_t *out,
                                    hx_report_t *report) {
  *out = (hx_artifact_t){0};
  HX_TRY(hx_container_open_memory(bytes, size, source, &out->container, report));
  return finish_open(out, report);
}

void hx_artifact_close(hx_artifact_t *artifact) {
  hx_container_close(artifact->container);
  *artifact = (hx_artifact_t){0};
}

hx_status_t hx_artifact_expect(const hx_artifact_t *artifact, hx_file_kind_t kind, hx_report_t *report) {
  if (artifact->kind == kind) return HX_STATUS_OK;
  return hx_container_fail(artifact->container, report, HX_CODE_FILE_KIND, "the file is of kind %s, and %s is needed",
                           hx_artifact_kind_name(artifact->kind), hx_artifact_kind_name(kind));
}

hx_status_t hx_artifact_check_params(const hx_artifact_t *artifact, const hx_params_t *params, hx_report_t *report) {
  if (strcmp(artifact->params_digest, hx_params_digest_hex(params)) != 0) {
    return hx_report_add(report, &(hx_fault_t){.code = HX_CODE_PARAMS_DIGEST,
                                               .source = hx_container_source(artifact->container),
                                               .text = "the file belongs to another parameter set",
                                               .expected = hx_params_digest_hex(params),
                                               .found = artifact->params_digest,
                                               .hint = "Use objects made under one parameter set."});
  }
  if (hx_params_is_insecure(params) && !artifact->insecure) {
    return hx_container_fail(
        artifact->container, report, HX_CODE_FILE_FORMAT,
        "metadata key insecure in the header at offset 8 is \"0\", but its parameters are insecure");
  }
  return HX_STATUS_OK;
}

hx_status_t hx_artifact_relay(const hx_artifact_t *artifact, const char *what, const hx_report_t *from,
                              hx_report_t *to) {
  hx_status_t status = HX_STATUS_CORRUPT;
  for (size_t i = 0; i < hx_report_count(from); ++i) {
    hx_fault_t fault = *hx_report_get(from, i);
    char text[2048];
    snprintf(text, sizeof text, "%s: %s", what, fault.text);
    const hx_status_t own = hx_code_info(fault.code)->status;
    if (own == HX_STATUS_INVALID) fault.code = HX_CODE_FILE_FORMAT;
    fault.source = hx_container_source(artifact->container);
    fault.line = fault.column = 0;
    fault.text = text;
    status = hx_report_add(to, &fault);
  }
  return status;
}

// ------------------------------------------------------------------ rows

static void *row_at(void *context, uint64_t index) {
  const hx_artifact_rows_t *rows = context;
  const hx_layout_t *layout = &rows->tensor->layout;
  const uint32_t limb = (uint32_t)(index % layout->limbs);
  index /= layout->limbs;
  const uint32_t component = rows->first_component + (uint32_t)(index % rows->components);
  index /= rows->components;
  const uint32_t digits = layout->digits == 0 ? 1 : layout->digits;
  return hx_tensor_row(rows->tensor, index / digits, (uint32_t)(index % digits), component, limb);
}

hx_container_runs_t hx_artifact_runs(hx_artifact_rows_t *rows) {
  const hx_layout_t *layout = &rows->tensor->layout;
  return (hx_container_runs_t){
      .at = row_at, .context = rows, .run_bytes = ((uint64_t)1 << layout->log_n) * hx_dtype_bytes(layout->dtype)};
}

void hx_artifact_expand(const hx_params_t *params, const uint8_t seed[32], const uint32_t *ids, hx_tensor_t *tensor) {
  const hx_layout_t *layout = &tensor->layout;
  const uint64_t items = hx_layout_items(layout);
  const uint32_t digits = layout->digits == 0 ? 1 : layout->digits;
  // Picks the vector code for ChaCha20; where it fails the portable one gives the same bits.
  if (sodium_init() < 0) hx_log(HX_LOG_DEBUG, "file", "libsodium has no vector code here");
  for (uint64_t item = 0; item < items; ++item) {
    for (uint32_t digit = 0; digit < digits; ++digit) {
      const uint32_t index = layout->digits == 0 ? (uint32_t)item : digit;
      for (uint32_t limb = 0; limb < layout->limbs; ++limb) {
        hx_expand_uniform_row(hx_params_ring(params), ids[limb], seed, index,
                              hx_tensor_row(tensor, item, digit, 1, limb));
      }
    }
  }
  hx_tensor_touch(tensor);
}
