// SPDX-License-Identifier: Apache-2.0
// Files of kind ciphertext and plaintext: writing.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/text.h"
#include "core/ckks/file.h"

#define NAME_BYTES_MAX 200

static hx_status_t check_name(const hx_named_value_t *values, size_t index, hx_report_t *report) {
  const char *name = values[index].name;
  const size_t size = strlen(name);
  bool plain = size > 0 && size <= NAME_BYTES_MAX && strcmp(name, "__metadata__") != 0 &&
               (size < 5 || strcmp(name + size - 5, ".seed") != 0);
  for (size_t i = 0; plain && i < size; ++i) plain = (unsigned char)name[i] >= 0x20 && name[i] != 0x7f;
  if (!plain) {
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT,
                          "\"%.100s\" is no name for a value: 1 to %d bytes without control bytes, not ending in .seed",
                          name, NAME_BYTES_MAX);
  }
  for (size_t i = 0; i < index; ++i) {
    if (strcmp(values[i].name, name) == 0) {
      return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "two values of one file are called \"%.100s\"", name);
    }
  }
  return HX_STATUS_OK;
}

// One kind, one parameter set, one key, secrets only where they may be written.
static hx_status_t check_value(const hx_named_value_t *values, size_t index, bool allow_secret, hx_report_t *report) {
  HX_TRY(check_name(values, index, report));
  const hx_value_t *first = values[0].value, *value = values[index].value;
  const char *name = values[index].name;
  HX_TRY(hx_value_want_data(value, "hx_values_save writes data", report));
  if (hx_value_kind(value) != hx_value_kind(first)) {
    return hx_report_fail(report, HX_CODE_FILE_KIND, "\"%.100s\" is a %s and \"%.100s\" is not: a file holds one kind",
                          values[0].name, hx_value_kind(first) == HX_VALUE_CIPHERTEXT ? "ciphertext" : "plaintext",
                          name);
  }
  if (!hx_params_same(value->params, first->params)) {
    return hx_report_fail(report, HX_CODE_PARAMS_DIGEST,
                          "\"%.100s\" and \"%.100s\" belong to different parameter sets: %s and %s", values[0].name,
                          name, hx_params_digest_hex(first->params), hx_params_digest_hex(value->params));
  }
  if (memcmp(value->key_id, first->key_id, sizeof value->key_id) != 0) {
    return hx_report_fail(report, HX_CODE_KEY_ID, "\"%.100s\" and \"%.100s\" were encrypted under different secrets",
                          values[0].name, name);
  }
  if (value->secret && !allow_secret) {
    return hx_report_fail(report, HX_CODE_SECRET, "\"%.100s\" is secret and would be written to a file", name);
  }
  if (value->tensor->storage->address == NULL) {
    return hx_report_fail(report, HX_CODE_DEVICE_MIX,
                          "\"%.100s\" lies on a device: transfer it to the host before it is written", name);
  }
  return HX_STATUS_OK;
}

// V.noise: predicted RMS of the error's coefficients, the same for the worst slots, root of the mean and of the largest
// |z|^2. Not written where it would tell of a message that was encrypted.
static void add_noise(hx_artifact_writer_t *writer, const char *name, const hx_noise_t *noise) {
  if (!noise->known || noise->private) return;
  char text[160];
  snprintf(text, sizeof text, "%.9g %.9g %.9g %.9g", sqrt(hx_noise_variance(noise)),
           sqrt(hx_noise_worst_variance(noise)), sqrt(hx_noise_power(noise)), sqrt(hx_noise_peak(noise)));
  hx_artifact_writer_metadata(writer, name, ".noise", text);
}

static hx_status_t add_value(hx_artifact_writer_t *writer, const char *name, const hx_value_t *value,
                             hx_report_t *report) {
  hx_text_t type;
  hx_text_init(&type);
  if (hx_type_print(&value->type, &type) != HX_STATUS_OK || type.failed || type.data == NULL) {
    hx_text_deinit(&type);
    return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory to write a value");
  }
  char count[24];
  snprintf(count, sizeof count, "%llu", (unsigned long long)value->count);
  hx_artifact_writer_metadata(writer, name, ".type", type.data);
  hx_artifact_writer_metadata(writer, name, ".count", count);
  hx_artifact_writer_metadata(writer, name, ".values", value->is_complex ? "complex" : "real");
  add_noise(writer, name, &value->noise);
  const hx_artifact_rows_t rows = {.tensor = value->tensor, .components = value->tensor->layout.components};
  hx_artifact_writer_rows(writer, name, "", &rows, false);
  hx_text_deinit(&type);
  return HX_STATUS_OK;
}

static hx_status_t save(hx_artifact_writer_t *writer, const hx_named_value_t *values, size_t count, const char *path,
                        hx_report_t *report) {
  bool secret = false;
  for (size_t i = 0; i < count; ++i) {
    secret = secret || values[i].value->secret;
    HX_TRY(add_value(writer, values[i].name, values[i].value, report));
  }
  return hx_artifact_writer_save(writer, path, secret ? 0600 : 0666, report);
}

hx_status_t hx_values_save(const hx_named_value_t *values, size_t count, bool allow_secret, const char *path,
                           hx_report_t *report) {
  if (count == 0) return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "no value to write to %s", path);
  for (size_t i = 0; i < count; ++i) HX_TRY(check_value(values, i, allow_secret, report));
  const hx_value_t *first = values[0].value;
  const hx_file_kind_t kind = hx_value_kind(first) == HX_VALUE_CIPHERTEXT ? HX_FILE_CIPHERTEXT : HX_FILE_PLAINTEXT;
  hx_artifact_writer_t writer;
  hx_artifact_writer_init(&writer, kind, first->params, first->key_id);
  const hx_status_t status = save(&writer, values, count, path, report);
  hx_artifact_writer_deinit(&writer);
  return status;
}
