// SPDX-License-Identifier: Apache-2.0
#include <sodium.h>
#include <string.h>

#include "core/base/text.h"
#include "core/ckks/artifact.h"

void hx_artifact_writer_init(hx_artifact_writer_t *writer, hx_file_kind_t kind, const hx_params_t *params,
                             const uint8_t *key_id) {
  *writer = (hx_artifact_writer_t){0};
  hx_arena_init(&writer->arena);
  char hex[33] = "";
  if (key_id != NULL && !sodium_is_zero(key_id, 16)) sodium_bin2hex(hex, sizeof hex, key_id, 16);
  hx_artifact_writer_metadata(writer, "kind", "", hx_artifact_kind_name(kind));
  hx_artifact_writer_metadata(writer, "params", "", hx_params_digest_hex(params));
  hx_artifact_writer_metadata(writer, "key_id", "", hex);
  hx_artifact_writer_metadata(writer, "insecure", "", hx_params_is_insecure(params) ? "1" : "0");
}

void hx_artifact_writer_deinit(hx_artifact_writer_t *writer) {
  hx_free(writer->entries);
  hx_free(writer->tensors);
  hx_arena_deinit(&writer->arena);
  *writer = (hx_artifact_writer_t){0};
}

// prefix and suffix as one text, or NULL.
static const char *join(hx_artifact_writer_t *writer, const char *prefix, const char *suffix) {
  const size_t first = strlen(prefix), second = strlen(suffix);
  char *text = hx_arena_alloc(&writer->arena, first + second + 1);
  if (text == NULL) {
    writer->failed = true;
    return NULL;
  }
  memcpy(text, prefix, first);
  memcpy(text + first, suffix, second + 1);
  return text;
}

void hx_artifact_writer_metadata(hx_artifact_writer_t *writer, const char *prefix, const char *suffix,
                                 const char *value) {
  const char *key = join(writer, prefix, suffix);
  const char *copy = join(writer, value, "");
  if (writer->failed || hx_grow(&writer->entries, &writer->entry_capacity, writer->entry_count + 1,
                                sizeof *writer->entries) != HX_STATUS_OK) {
    writer->failed = true;
    return;
  }
  writer->entries[writer->entry_count++] = (hx_container_entry_t){.key = key, .value = copy};
}

void hx_artifact_writer_tensor(hx_artifact_writer_t *writer, const char *prefix, const char *suffix,
                               const hx_container_tensor_t *tensor) {
  const char *name = join(writer, prefix, suffix);
  if (writer->failed || hx_grow(&writer->tensors, &writer->tensor_capacity, writer->tensor_count + 1,
                                sizeof *writer->tensors) != HX_STATUS_OK) {
    writer->failed = true;
    return;
  }
  writer->tensors[writer->tensor_count] = *tensor;
  writer->tensors[writer->tensor_count++].name = name;
}

void hx_artifact_writer_rows(hx_artifact_writer_t *writer, const char *prefix, const char *suffix,
                             const hx_artifact_rows_t *rows, bool without_component) {
  hx_artifact_rows_t *copy = hx_arena_alloc(&writer->arena, sizeof *copy);
  if (copy == NULL) {
    writer->failed = true;
    return;
  }
  *copy = *rows;
  const hx_layout_t *layout = &rows->tensor->layout;
  hx_container_tensor_t tensor = {.dtype = layout->dtype, .runs = hx_artifact_runs(copy)};
  // Four batch axes, digit, component, limb, n: at most HX_CONTAINER_RANK_MAX.
  for (uint32_t a = 0; a < layout->batch_rank; ++a) tensor.shape[tensor.rank++] = layout->batch_shape[a];
  if (layout->digits != 0) tensor.shape[tensor.rank++] = layout->digits;
  if (!without_component) tensor.shape[tensor.rank++] = rows->components;
  tensor.shape[tensor.rank++] = layout->limbs;
  tensor.shape[tensor.rank++] = (uint64_t)1 << layout->log_n;
  hx_artifact_writer_tensor(writer, prefix, suffix, &tensor);
}

static void *whole(void *context, uint64_t index) {
  (void)index;
  return context;
}

void hx_artifact_writer_bytes(hx_artifact_writer_t *writer, const char *prefix, const char *suffix, const void *bytes,
                              uint64_t count) {
  const hx_container_tensor_t tensor = {.dtype = HX_U8,
                                        .rank = 1,
                                        .shape = {count},
                                        .runs = {.at = whole, .context = (void *)(uintptr_t)bytes, .run_bytes = count}};
  hx_artifact_writer_tensor(writer, prefix, suffix, &tensor);
}

hx_status_t hx_artifact_writer_stage(hx_artifact_writer_t *writer, hx_atomic_file_t *file, hx_report_t *report) {
  if (writer->failed) return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory to write %s", file->path);
  const hx_container_content_t content = {.entries = writer->entries,
                                          .entry_count = writer->entry_count,
                                          .tensors = writer->tensors,
                                          .tensor_count = writer->tensor_count};
  return hx_container_stage(file, &content, report);
}

hx_status_t hx_artifact_writer_save(hx_artifact_writer_t *writer, const char *path, uint32_t mode,
                                    hx_report_t *report) {
  hx_atomic_file_t file = {0};
  HX_TRY(hx_atomic_file_open(&file, path, mode, report));
  const hx_status_t status = hx_artifact_writer_stage(writer, &file, report);
  if (status != HX_STATUS_OK) {
    hx_atomic_file_abandon(&file);
    return status;
  }
  return hx_atomic_file_commit(&file, true, report);
}
