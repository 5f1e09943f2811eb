// SPDX-License-Identifier: Apache-2.0
// Writing a directory of keys: everything is staged first, then named, so that a full disk changes nothing.
#include <errno.h>
#include <sodium.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/ckks/keyfile.h"

// Also the number of files: params.hx and the parts.
#define FILES (HX_KEYFILE_PARTS + 1)

typedef struct hx_key_writer {
  const hx_keys_t *keys;
  const char *directory;
  bool overwrite;
  bool made_directory;
  uint8_t *secret;  // bytes of secret.hx; wiped
  char *paths[FILES];
  hx_atomic_file_t files[FILES];  // open: to be named
  hx_report_t *report;
} hx_key_writer_t;

static hx_status_t fail_memory(const hx_key_writer_t *writer) {
  return hx_report_fail(writer->report, HX_CODE_OUT_OF_MEMORY, "no memory to write keys to %s", writer->directory);
}

// ------------------------------------------------------------------ what each file holds

// The a half of a key is its seed; without one (zero) it is written.
void hx_keyfile_add_half(hx_artifact_writer_t *artifact, const char *prefix, hx_tensor_t *tensor,
                         const uint8_t seed[32]) {
  const hx_artifact_rows_t b = {.tensor = tensor, .first_component = 0, .components = 1};
  const hx_artifact_rows_t a = {.tensor = tensor, .first_component = 1, .components = 1};
  hx_artifact_writer_rows(artifact, prefix, "b", &b, true);
  if (sodium_is_zero(seed, 32)) {
    hx_artifact_writer_rows(artifact, prefix, "a", &a, true);
  } else {
    hx_artifact_writer_bytes(artifact, prefix, "seed", seed, 32);
  }
}

static hx_status_t add_secret(hx_key_writer_t *writer, hx_artifact_writer_t *artifact) {
  const size_t n = (size_t)1 << hx_params_log_n(writer->keys->params);
  writer->secret = hx_alloc(n);
  if (writer->secret == NULL) return fail_memory(writer);
  hx_keyfile_pack_secret(writer->keys->secret, n, writer->secret);
  hx_artifact_writer_bytes(artifact, "s", "", writer->secret, n);
  return HX_STATUS_OK;
}

static void add_galois(const hx_keys_t *keys, hx_artifact_writer_t *artifact) {
  for (size_t i = 0; i < keys->galois_count; ++i) {
    hx_text_t prefix;
    hx_text_init(&prefix);
    hx_text_printf(&prefix, "galois_%llu.", (unsigned long long)keys->galois[i].element);
    if (prefix.failed) {
      artifact->failed = true;
    } else {
      hx_keyfile_add_half(artifact, prefix.data, keys->galois[i].tensor, keys->galois[i].seed);
    }
    hx_text_deinit(&prefix);
  }
}

static hx_status_t add_part(hx_key_writer_t *writer, hx_file_kind_t kind, hx_artifact_writer_t *artifact) {
  const hx_keys_t *keys = writer->keys;
  switch (kind) {
    case HX_FILE_SECRET:
      return add_secret(writer, artifact);
    case HX_FILE_PUBLIC:
      hx_keyfile_add_half(artifact, "", keys->public_key, keys->public_seed);
      return HX_STATUS_OK;
    case HX_FILE_RELIN:
      hx_keyfile_add_half(artifact, "relin.", keys->relin->tensor, keys->relin->seed);
      return HX_STATUS_OK;
    case HX_FILE_GALOIS:
      add_galois(keys, artifact);
      return HX_STATUS_OK;
    default:
      hx_keyfile_add_half(artifact, "conj.", keys->conj->tensor, keys->conj->seed);
      return HX_STATUS_OK;
  }
}

// ------------------------------------------------------------------ staging

static hx_status_t stage(hx_key_writer_t *writer, size_t file, hx_artifact_writer_t *artifact, uint32_t mode) {
  HX_TRY(hx_atomic_file_open(&writer->files[file], writer->paths[file], mode, writer->report));
  return hx_artifact_writer_stage(artifact, &writer->files[file], writer->report);
}

static hx_status_t stage_part(hx_key_writer_t *writer, size_t file, const hx_keyfile_part_t *part) {
  hx_artifact_writer_t artifact;
  hx_artifact_writer_init(&artifact, part->kind, writer->keys->params, writer->keys->id);
  hx_status_t status = add_part(writer, part->kind, &artifact);
  if (status == HX_STATUS_OK) status = stage(writer, file, &artifact, part->kind == HX_FILE_SECRET ? 0600 : 0666);
  hx_artifact_writer_deinit(&artifact);
  return status;
}

static hx_status_t fail_exists(const hx_key_writer_t *writer, const char *path, const char *text) {
  return hx_report_add(writer->report, &(hx_fault_t){.code = HX_CODE_FILE_EXISTS,
                                                     .source = path,
                                                     .text = text,
                                                     .hint = "Pass --overwrite, or choose another directory."});
}

// params.hx that is there already stays if it is the same set's.
static hx_status_t stage_params(hx_key_writer_t *writer) {
  if (!writer->overwrite && access(writer->paths[0], F_OK) == 0) {
    hx_params_t *there = NULL;
    HX_TRY(hx_params_load(writer->paths[0], HX_PARAMS_INSECURE, &there, writer->report));
    const bool same = hx_params_same(there, writer->keys->params);
    hx_params_release(there);
    return same ? HX_STATUS_OK
                : fail_exists(writer, writer->paths[0], "the directory belongs to another parameter set");
  }
  hx_artifact_writer_t artifact;
  hx_params_writer_init(&artifact, writer->keys->params);
  const hx_status_t status = stage(writer, 0, &artifact, 0666);
  hx_artifact_writer_deinit(&artifact);
  return status;
}

static hx_status_t stage_all(hx_key_writer_t *writer, uint32_t parts) {
  HX_TRY(stage_params(writer));
  for (size_t i = 0; i < HX_KEYFILE_PARTS; ++i) {
    const hx_keyfile_part_t *part = &hx_keyfile_parts[i];
    if ((parts & part->part) == 0) continue;
    // Told before the work; naming the file refuses again what came meanwhile.
    if (!writer->overwrite && access(writer->paths[i + 1], F_OK) == 0) {
      return fail_exists(writer, writer->paths[i + 1], "the file exists and is kept");
    }
    HX_TRY(stage_part(writer, i + 1, part));
  }
  return HX_STATUS_OK;
}

// Names the files. If one cannot be named, those that this call brought into being go again.
static hx_status_t commit_all(hx_key_writer_t *writer) {
  bool named[FILES] = {false};
  for (size_t i = 0; i < FILES; ++i) {
    if (!writer->files[i].open) continue;
    const hx_status_t status = hx_atomic_file_commit(&writer->files[i], writer->overwrite, writer->report);
    if (status != HX_STATUS_OK) {
      for (size_t done = 0; !writer->overwrite && done < i; ++done) {
        if (named[done]) unlink(writer->paths[done]);
      }
      return status;
    }
    named[i] = true;
  }
  return HX_STATUS_OK;
}

static hx_status_t open_directory(hx_key_writer_t *writer) {
  if (mkdir(writer->directory, 0700) == 0) {
    writer->made_directory = true;
  } else if (errno != EEXIST) {
    return hx_report_fail(writer->report, HX_CODE_IO, "cannot make the directory %s: %s", writer->directory,
                          strerror(errno));
  }
  for (size_t i = 0; i < FILES; ++i) {
    writer->paths[i] = hx_keyfile_path(writer->directory, i == 0 ? HX_KEYFILE_PARAMS : hx_keyfile_parts[i - 1].file);
    if (writer->paths[i] == NULL) return fail_memory(writer);
  }
  return HX_STATUS_OK;
}

hx_status_t hx_keys_save(const hx_keys_t *keys, const char *directory, uint32_t parts, bool overwrite,
                         hx_report_t *report) {
  if (directory == NULL || directory[0] == '\0')
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "no directory for the keys");
  hx_key_writer_t writer = {.keys = keys, .directory = directory, .overwrite = overwrite, .report = report};
  hx_status_t status = open_directory(&writer);
  if (status == HX_STATUS_OK) status = stage_all(&writer, parts & keys->parts);
  if (status == HX_STATUS_OK) status = commit_all(&writer);
  for (size_t i = 0; i < FILES; ++i) {
    hx_atomic_file_abandon(&writer.files[i]);
    hx_free(writer.paths[i]);
  }
  if (writer.secret != NULL) hx_wipe(writer.secret, (size_t)1 << hx_params_log_n(keys->params));
  hx_free(writer.secret);
  if (status != HX_STATUS_OK && writer.made_directory) rmdir(directory);
  return status;
}
