// SPDX-License-Identifier: Apache-2.0
#include "core/plugin/candidate.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/plugin/bundled.h"
#include "core/plugin/host.h"
#include "core/plugin/inspect.h"
#include "core/plugin/policy.h"

hx_status_t hx_candidate_init(hx_candidate_t *candidate, const char *path) {
  *candidate = (hx_candidate_t){.path = hx_strdup(path)};
  if (candidate->path == NULL) return HX_STATUS_OUT_OF_MEMORY;
  hx_gates_init(&candidate->gates);
  return HX_STATUS_OK;
}

void hx_candidate_deinit(hx_candidate_t *candidate) {
  hx_free(candidate->path);
  hx_free(candidate->directory);
  hx_free(candidate->library_path);
  hx_free(candidate->text);
  hx_manifest_release(candidate->manifest);
  hx_gates_deinit(&candidate->gates);
  *candidate = (hx_candidate_t){0};
}

bool hx_candidate_failed(const hx_candidate_t *candidate) { return hx_gates_first(&candidate->gates) != NULL; }

static hx_status_t finish(const hx_candidate_t *candidate) {
  return candidate->gates.exhausted ? HX_STATUS_OUT_OF_MEMORY : HX_STATUS_OK;
}

// Splits the path; the directory is resolved, so that what is judged is what is opened.
static hx_status_t find_directory(hx_candidate_t *candidate, const char **out_name) {
  const char *slash = strrchr(candidate->path, '/');
  *out_name = slash == NULL ? candidate->path : slash + 1;
  char *given = slash == NULL ? hx_strdup(".") : hx_strdup(candidate->path);
  if (given == NULL) return HX_STATUS_OUT_OF_MEMORY;
  if (slash != NULL) given[slash == candidate->path ? 1 : slash - candidate->path] = '\0';
  char *resolved = realpath(given, NULL);
  const int error = errno;
  hx_free(given);
  if (resolved == NULL) return error == ENOMEM ? HX_STATUS_OUT_OF_MEMORY : HX_STATUS_NOT_FOUND;
  candidate->directory = hx_strdup(resolved);
  free(resolved);
  return candidate->directory == NULL ? HX_STATUS_OUT_OF_MEMORY : HX_STATUS_OK;
}

static hx_status_t read_text(hx_candidate_t *candidate, const char *name) {
  hx_file_t file;
  if (!hx_file_open(candidate->directory, name, HX_FILE_MANIFEST, &candidate->gates, &file)) return finish(candidate);
  candidate->device = file.device;
  candidate->inode = file.inode;
  const hx_status_t status = hx_file_read(&file, HX_JSON_BYTES_MAX, &candidate->text, &candidate->text_size);
  hx_file_close(&file);
  if (status == HX_STATUS_IO) {
    hx_gates_fail(&candidate->gates, HX_GATE_FILE_SAFETY, HX_CODE_FILE_PERMISSIONS, "a file that can be read",
                  "an error", "%s cannot be read", candidate->path);
    return HX_STATUS_OK;
  }
  return status;
}

static void hash_text(hx_str_t text, char hex[65]) {
  unsigned char hash[crypto_hash_sha256_BYTES];
  crypto_hash_sha256(hash, (const unsigned char *)text.data, text.size);
  sodium_bin2hex(hex, 65, hash, sizeof hash);
}

hx_status_t hx_candidate_read(hx_candidate_t *candidate, const hx_policy_t *policy, hx_report_t *warnings) {
  const char *name;
  struct stat facts;
  HX_TRY(find_directory(candidate, &name));
  if (lstat(candidate->path, &facts) != 0 && errno == ENOENT) return HX_STATUS_NOT_FOUND;
  hx_gates_pass(&candidate->gates, HX_GATE_DISCOVER);
  hx_directory_check(candidate->directory, policy != NULL && policy->lock != NULL, &candidate->gates, warnings);
  HX_TRY(read_text(candidate, name));
  if (candidate->text == NULL) return finish(candidate);
  const hx_str_t text = {candidate->text, candidate->text_size};
  hash_text(text, candidate->manifest_digest);
  candidate->manifest = hx_manifest_create(text, &candidate->gates);
  if (candidate->manifest == NULL || !candidate->manifest->valid) return finish(candidate);
  candidate->library_path = hx_path_join(candidate->directory, candidate->manifest->library);
  return candidate->library_path == NULL ? HX_STATUS_OUT_OF_MEMORY : finish(candidate);
}

static void check_digest(hx_candidate_t *candidate, const char *bytes, size_t size) {
  const hx_manifest_t *manifest = candidate->manifest;
  hash_text((hx_str_t){bytes, size}, candidate->digest);
  if (size != manifest->size) {
    char expected[32], found[32];
    snprintf(expected, sizeof expected, "%llu bytes", (unsigned long long)manifest->size);
    snprintf(found, sizeof found, "%zu bytes", size);
    hx_gates_fail(&candidate->gates, HX_GATE_DIGEST, HX_CODE_DIGEST, expected, found,
                  "%s has %s, the manifest describes %s", manifest->library, found, expected);
  } else if (strcmp(candidate->digest, manifest->sha256) != 0) {
    hx_gates_fail(&candidate->gates, HX_GATE_DIGEST, HX_CODE_DIGEST, manifest->sha256, candidate->digest,
                  "%s has sha256 %.16s..., the manifest describes %.16s...", manifest->library, candidate->digest,
                  manifest->sha256);
  } else {
    hx_gates_pass(&candidate->gates, HX_GATE_DIGEST);
  }
}

static void check_note(hx_candidate_t *candidate, const hx_elf_t *elf, bool all) {
  hx_note_t note;
  uint32_t minor;
  if (!hx_note_read(elf, &candidate->gates.arena, &note, &candidate->gates)) return;
  hx_note_compare(&note, elf, candidate->manifest, &candidate->gates);
  if (!all && hx_candidate_failed(candidate)) return;
  hx_gates_pass(&candidate->gates, HX_GATE_NOTE);
  if (hx_note_negotiate(&note, &candidate->gates, &minor)) hx_gates_pass(&candidate->gates, HX_GATE_NEGOTIATE);
}

// What this deployment asks for. A full check says who signed, whatever the policy.
static void check_policy(hx_candidate_t *candidate, const hx_policy_t *policy, bool all, hx_report_t *warnings) {
  if (policy == NULL) return;
  if (all || policy->signatures != HX_SIGNATURES_OFF)
    hx_signature_check(candidate, policy->signatures, &policy->trust, warnings);
  if (policy->lock != NULL) hx_lock_check(policy->lock, candidate);
}

static void check_bytes(hx_candidate_t *candidate, const hx_policy_t *policy, const char *bytes, size_t size, bool all,
                        hx_report_t *warnings) {
  hx_gates_t *gates = &candidate->gates;
  hx_elf_t elf;
  check_digest(candidate, bytes, size);
  check_policy(candidate, policy, all, warnings);
  if (!all && hx_candidate_failed(candidate)) return;
  if (!hx_inspect_format(bytes, size, "the library", gates, &elf)) return;
  hx_inspect_policy(&elf, "the library", gates);
  hx_inspect_exports(&elf, gates);
  hx_bundled_check(candidate->manifest, candidate->directory, gates);
  hx_inspect_needs(&elf, candidate->manifest, candidate->directory, gates);
  if (!all && hx_candidate_failed(candidate)) return;
  hx_gates_pass(gates, HX_GATE_ELF);
  check_note(candidate, &elf, all);
}

hx_status_t hx_candidate_examine(hx_candidate_t *candidate, const hx_policy_t *policy, bool all,
                                 hx_report_t *warnings) {
  const hx_manifest_t *manifest = candidate->manifest;
  hx_gates_t *gates = &candidate->gates;
  hx_file_t file;
  if (manifest == NULL || !manifest->valid || (!all && hx_candidate_failed(candidate))) return finish(candidate);
  const bool opened = hx_file_open(candidate->directory, manifest->library, HX_FILE_LIBRARY, gates, &file);
  if (opened) hx_gates_pass(gates, HX_GATE_FILE_SAFETY);
  if (opened || all) {
    hx_host_match(manifest, gates);
    if (!hx_candidate_failed(candidate) || all) hx_gates_pass(gates, HX_GATE_HOST_MATCH);
  }
  if (!opened || (!all && hx_candidate_failed(candidate))) {
    hx_file_close(&file);
    return finish(candidate);
  }
  char *bytes = NULL;
  size_t size = 0;
  const hx_status_t status = hx_file_read(&file, HX_LIBRARY_BYTES_MAX, &bytes, &size);
  hx_file_close(&file);
  if (status == HX_STATUS_IO || (status == HX_STATUS_OK && size > HX_LIBRARY_BYTES_MAX)) {
    hx_gates_fail(gates, HX_GATE_FILE_SAFETY, HX_CODE_FILE_PERMISSIONS, "a file of at most 1 GiB that can be read",
                  status == HX_STATUS_IO ? "an error" : "a larger one", "%s cannot be read", candidate->library_path);
  } else if (status == HX_STATUS_OK) {
    check_bytes(candidate, policy, bytes, size, all, warnings);
  }
  hx_free(bytes);
  return status == HX_STATUS_OUT_OF_MEMORY ? status : finish(candidate);
}
