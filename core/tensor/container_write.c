// SPDX-License-Identifier: Apache-2.0
#include <sodium.h>
#include <string.h>

#include "core/base/text.h"
#include "core/tensor/container_internal.h"
#include "core/tensor/sha256.h"

// The header is JSON, so that names and metadata are UTF-8 or could not be read back.
static bool is_utf8(const char *text) {
  json_t *string = json_string(text);
  json_decref(string);
  return string != NULL;
}

// Fills bytes and offset of every tensor, and checks what the caller gave.
static hx_status_t lay_out(const hx_container_content_t *content, hx_report_t *report) {
  uint64_t offset = 0;
  for (size_t i = 0; i < content->entry_count; ++i) {
    if (!is_utf8(content->entries[i].key) || !is_utf8(content->entries[i].value)) {
      return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "metadata key \"%.100s\" to be written is no UTF-8 text",
                            content->entries[i].key);
    }
  }
  for (size_t i = 0; i < content->tensor_count; ++i) {
    hx_container_tensor_t *tensor = &content->tensors[i];
    if (!is_utf8(tensor->name)) {
      return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "tensor name \"%.100s\" to be written is no UTF-8 text",
                            tensor->name);
    }
    tensor->offset = offset;
    tensor->bytes = hx_container_tensor_bytes(tensor);
    if (tensor->bytes == 0 || tensor->bytes > INT64_MAX - offset || hx_container_dtype_name(tensor->dtype) == NULL ||
        tensor->runs.at == NULL || tensor->runs.run_bytes == 0 || tensor->bytes % tensor->runs.run_bytes != 0) {
      return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT,
                            "tensor \"%.100s\" to be written is empty, too large, or not made up of its runs",
                            tensor->name);
    }
    offset += tensor->bytes;
  }
  return HX_STATUS_OK;
}

static void print_entry(hx_text_t *out, const char *key, const char *value) {
  hx_text_json(out, hx_str(key));
  hx_text_puts(out, ":");
  hx_text_json(out, hx_str(value));
  hx_text_puts(out, ",");
}

// The header with the digits set to 0, padded; *digits_at is their offset in it.
static void print_header(const hx_container_content_t *content, hx_text_t *out, size_t *digits_at) {
  hx_text_puts(out, "{\"__metadata__\":{");
  print_entry(out, "format", HX_CONTAINER_FORMAT);
  print_entry(out, "format_version", HX_CONTAINER_VERSION);
  for (size_t i = 0; i < content->entry_count; ++i)
    print_entry(out, content->entries[i].key, content->entries[i].value);
  hx_text_puts(out, "\"sha256\":\"");
  *digits_at = out->size;
  for (int i = 0; i < HX_CONTAINER_DIGITS; ++i) hx_text_puts(out, "0");
  hx_text_puts(out, "\"}");
  for (size_t i = 0; i < content->tensor_count; ++i) {
    const hx_container_tensor_t *tensor = &content->tensors[i];
    hx_text_puts(out, ",");
    hx_text_json(out, hx_str(tensor->name));
    hx_text_printf(out, ":{\"dtype\":\"%s\",\"shape\":[", hx_container_dtype_name(tensor->dtype));
    for (uint32_t a = 0; a < tensor->rank; ++a)
      hx_text_printf(out, "%s%llu", a == 0 ? "" : ",", (unsigned long long)tensor->shape[a]);
    hx_text_printf(out, "],\"data_offsets\":[%llu,%llu]}", (unsigned long long)tensor->offset,
                   (unsigned long long)(tensor->offset + tensor->bytes));
  }
  hx_text_puts(out, "}");
  while (!out->failed && (8 + out->size) % HX_CONTAINER_ALIGNMENT != 0) hx_text_puts(out, " ");
}

// Writes and hashes.
static hx_status_t put(hx_atomic_file_t *file, hx_sha256_t *hash, const void *bytes, size_t size, hx_report_t *report) {
  hx_sha256_update(hash, bytes, size);
  return hx_atomic_file_write(file, bytes, size, report);
}

static hx_status_t put_tensor(hx_atomic_file_t *file, hx_sha256_t *hash, const hx_container_tensor_t *tensor,
                              hx_report_t *report) {
  for (uint64_t i = 0; i < tensor->bytes / tensor->runs.run_bytes; ++i) {
    const void *run = tensor->runs.at(tensor->runs.context, i);
    if (run == NULL) {
      return hx_report_fail(report, HX_CODE_DEVICE_MIX,
                            "tensor \"%.100s\" lies on a device: transfer it to the host before it is written",
                            tensor->name);
    }
    HX_TRY(put(file, hash, run, (size_t)tensor->runs.run_bytes, report));
  }
  return HX_STATUS_OK;
}

static hx_status_t put_all(hx_atomic_file_t *file, const hx_container_content_t *content, const hx_text_t *header,
                           size_t digits_at, hx_report_t *report) {
  unsigned char prefix[8], digest[HX_SHA256_BYTES];
  char digits[2 * sizeof digest + 1];
  for (uint32_t i = 0; i < 8; ++i) prefix[i] = (unsigned char)((uint64_t)header->size >> (8 * i));
  hx_sha256_t hash;
  hx_sha256_init(&hash);
  HX_TRY(put(file, &hash, prefix, sizeof prefix, report));
  HX_TRY(put(file, &hash, header->data, header->size, report));
  for (size_t i = 0; i < content->tensor_count; ++i) HX_TRY(put_tensor(file, &hash, &content->tensors[i], report));
  hx_sha256_final(&hash, digest);
  sodium_bin2hex(digits, sizeof digits, digest, sizeof digest);
  return hx_atomic_file_patch(file, 8 + digits_at, digits, HX_CONTAINER_DIGITS, report);
}

hx_status_t hx_container_stage(hx_atomic_file_t *file, const hx_container_content_t *content, hx_report_t *report) {
  HX_TRY(lay_out(content, report));
  hx_text_t header;
  hx_text_init(&header);
  size_t digits_at = 0;
  print_header(content, &header, &digits_at);
  hx_status_t status;
  if (header.failed) {
    status = hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory to write %s", file->path);
  } else if (header.size > HX_CONTAINER_HEADER_MAX) {
    status = hx_report_fail(report, HX_CODE_LIMIT,
                            "%s: a header of %zu bytes; at most %d can be read back: write fewer values to a file",
                            file->path, header.size, HX_CONTAINER_HEADER_MAX);
  } else {
    status = put_all(file, content, &header, digits_at, report);
  }
  hx_text_deinit(&header);
  return status;
}

hx_status_t hx_container_write(const char *path, const hx_container_content_t *content, uint32_t mode, bool overwrite,
                               hx_report_t *report) {
  hx_atomic_file_t file = {0};
  HX_TRY(hx_atomic_file_open(&file, path, mode, report));
  const hx_status_t status = hx_container_stage(&file, content, report);
  if (status != HX_STATUS_OK) {
    hx_atomic_file_abandon(&file);
    return status;
  }
  return hx_atomic_file_commit(&file, overwrite, report);
}
