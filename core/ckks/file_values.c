// SPDX-License-Identifier: Apache-2.0
// Files of kind ciphertext and plaintext: reading.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "core/ckks/file.h"

// One value while it is read. Rows and seed are places of the container until it is loaded.
typedef struct hx_value_entry {
  const char *name;  // borrowed from the container
  hx_value_t *value;
  hx_artifact_rows_t rows;
  uint8_t seed[32];
  bool has_seed;
  double noise[4];  // as the file tells it
  bool has_noise;
} hx_value_entry_t;

typedef struct hx_value_reader {
  hx_artifact_t *artifact;
  const hx_params_t *params;
  hx_report_t *report;
  hx_value_entry_t *entries;
  size_t count;
} hx_value_reader_t;

HX_PRINTF(3, 4)
static hx_status_t fail(const hx_value_reader_t *reader, const char *name, const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  if (vsnprintf(text, sizeof text, format, arguments) < 0) text[0] = '\0';
  va_end(arguments);
  return hx_container_fail(reader->artifact->container, reader->report, HX_CODE_FILE_FORMAT, "value \"%.100s\": %s",
                           name, text);
}

static bool ends_with(const char *text, const char *end) {
  const size_t size = strlen(text), end_size = strlen(end);
  return size > end_size && strcmp(text + size - end_size, end) == 0;
}

// Metadata key V.WHAT, or NULL.
static const char *value_metadata(const hx_value_reader_t *reader, const char *name, const char *what) {
  hx_text_t key;
  hx_text_init(&key);
  hx_text_printf(&key, "%s.%s", name, what);
  const char *value = key.failed ? NULL : hx_container_metadata(reader->artifact->container, key.data);
  hx_text_deinit(&key);
  return value;
}

// Index of tensor V.seed, or SIZE_MAX.
static size_t find_seed(const hx_value_reader_t *reader, const char *name) {
  hx_text_t key;
  hx_text_init(&key);
  hx_text_printf(&key, "%s.seed", name);
  const size_t index = key.failed ? SIZE_MAX : hx_container_find(reader->artifact->container, key.data);
  hx_text_deinit(&key);
  return index;
}

// ------------------------------------------------------------------ one value's header

static hx_status_t read_type(const hx_value_reader_t *reader, const char *name, hx_type_t *type) {
  const char *text = value_metadata(reader, name, "type");
  if (text == NULL) return fail(reader, name, "metadata key %.100s.type is missing in the header at offset 8", name);
  char what[160];
  snprintf(what, sizeof what, "value \"%.100s\", metadata key type", name);
  hx_report_t *own = hx_report_create();
  if (own == NULL) return hx_report_fail(reader->report, HX_CODE_OUT_OF_MEMORY, "no memory to read a value");
  hx_status_t status = hx_type_parse(hx_str(text), hx_params_ring(reader->params), type, own);
  if (status == HX_STATUS_OK) status = hx_value_check_type(reader->params, type, own);
  if (status != HX_STATUS_OK) status = hx_artifact_relay(reader->artifact, what, own, reader->report);
  hx_report_release(own);
  if (status != HX_STATUS_OK) return status;
  const hx_type_kind_t wanted = reader->artifact->kind == HX_FILE_CIPHERTEXT ? HX_TYPE_CIPHERTEXT : HX_TYPE_PLAINTEXT;
  if (type->kind != wanted && reader->artifact->kind != HX_FILE_BUNDLE)
    return fail(reader, name, "metadata key type is of another kind than the file");
  return HX_STATUS_OK;
}

static hx_status_t read_message(const hx_value_reader_t *reader, const char *name, hx_value_t *value) {
  const char *count = value_metadata(reader, name, "count"), *values = value_metadata(reader, name, "values");
  if (count == NULL || strlen(count) > 10 || count[0] == '\0' || strspn(count, "0123456789") != strlen(count) ||
      (count[0] == '0' && count[1] != '\0')) {
    return fail(reader, name, "metadata key count is \"%.20s\", not a number of values", count == NULL ? "" : count);
  }
  for (; *count != '\0'; ++count) value->count = value->count * 10 + (uint64_t)(*count - '0');
  if (value->count > value->type.slots) {
    return fail(reader, name, "metadata key count is %llu, more than the %u slots", (unsigned long long)value->count,
                value->type.slots);
  }
  value->is_complex = values != NULL && strcmp(values, "complex") == 0;
  if (!value->is_complex && (values == NULL || strcmp(values, "real") != 0)) {
    return fail(reader, name, "metadata key values is \"%.20s\", not real or complex", values == NULL ? "" : values);
  }
  return HX_STATUS_OK;
}

// V.noise, where the file has it: four finite numbers that are not negative (file_values_save.c).
static hx_status_t read_noise(const hx_value_reader_t *reader, hx_value_entry_t *entry) {
  const char *text = value_metadata(reader, entry->name, "noise");
  if (text == NULL) return HX_STATUS_OK;
  const char *rest = text;
  bool good = strlen(text) < 160;
  for (size_t i = 0; good && i < HX_COUNT_OF(entry->noise); ++i) {
    char *end = NULL;
    entry->noise[i] = strtod(rest, &end);
    good = end != rest && isfinite(entry->noise[i]) && entry->noise[i] >= 0 && *end == (i < 3 ? ' ' : '\0');
    rest = end + (i < 3);
  }
  if (!good) return fail(reader, entry->name, "metadata key noise is \"%.60s\", not four numbers", text);
  entry->has_noise = true;
  return HX_STATUS_OK;
}

// The tensor must be what type and word ask for: [*batch, components, limb, n], one component where there is a seed.
static bool has_shape(const hx_container_tensor_t *tensor, const hx_layout_t *layout, uint32_t components) {
  const uint32_t rank = layout->batch_rank;
  return tensor->dtype == layout->dtype && tensor->rank == rank + 3 &&
         memcmp(tensor->shape, layout->batch_shape, rank * sizeof tensor->shape[0]) == 0 &&
         tensor->shape[rank] == components && tensor->shape[rank + 1] == layout->limbs &&
         tensor->shape[rank + 2] == (uint64_t)1 << layout->log_n;
}

static hx_status_t check_seed(const hx_value_reader_t *reader, const char *name, const hx_type_t *type,
                              size_t seed_index) {
  const hx_container_tensor_t *seed = hx_container_get(reader->artifact->container, seed_index);
  if (seed->dtype != HX_U8 || seed->rank != 1 || seed->shape[0] != 32)
    return fail(reader, name, "its seed is no U8 [32]");
  if (type->kind != HX_TYPE_CIPHERTEXT || type->components != 2 || type->domain != HX_NTT ||
      type->repr != HX_STANDARD) {
    return fail(reader, name, "a seed stands for the second component of a ciphertext of two, in ntt domain, standard");
  }
  return HX_STATUS_OK;
}

// Checks one value's header and makes room for it. Only what the file's own bytes fill, or twice that with a seed, is
// allocated: the tensor's size was compared with the file's.
static hx_status_t prepare_value(hx_value_reader_t *reader, size_t index) {
  hx_container_t *container = reader->artifact->container;
  const hx_container_tensor_t *tensor = hx_container_get(container, index);
  hx_value_entry_t *entry = &reader->entries[reader->count];
  hx_type_t type;
  HX_TRY(read_type(reader, tensor->name, &type));
  const size_t seed_index = find_seed(reader, tensor->name);
  entry->name = tensor->name;
  entry->has_seed = seed_index != SIZE_MAX;
  if (entry->has_seed) HX_TRY(check_seed(reader, tensor->name, &type, seed_index));
  hx_layout_t layout;
  hx_type_layout(&type, hx_params_ring(reader->params), &layout);
  const uint32_t stored = entry->has_seed ? 1 : layout.components;
  if (!has_shape(tensor, &layout, stored))
    return fail(reader, tensor->name, "dtype or shape is not what its type asks for");
  if (hx_value_create(reader->params, &type, false, &entry->value) != HX_STATUS_OK) {
    return hx_report_fail(reader->report, HX_CODE_OUT_OF_MEMORY, "no memory for value \"%.100s\"", tensor->name);
  }
  ++reader->count;  // from here on the value is released with the reader
  HX_TRY(read_message(reader, tensor->name, entry->value));
  HX_TRY(read_noise(reader, entry));
  if (type.kind == HX_TYPE_CIPHERTEXT) {
    memcpy(entry->value->key_id, reader->artifact->key_id, sizeof entry->value->key_id);
  }
  entry->rows = (hx_artifact_rows_t){.tensor = entry->value->tensor, .components = stored};
  const hx_container_runs_t runs = hx_artifact_runs(&entry->rows);
  hx_container_place(container, index, &runs);
  if (entry->has_seed) hx_container_place_at(container, seed_index, entry->seed);
  return HX_STATUS_OK;
}

// ------------------------------------------------------------------ the whole file

// V.seed belongs to V where there is a V.
static bool is_seed(const hx_container_t *container, const char *name) {
  if (!ends_with(name, ".seed")) return false;
  const size_t size = strlen(name) - strlen(".seed");
  for (size_t i = 0; i < hx_container_count(container); ++i) {
    const char *other = hx_container_get(container, i)->name;
    if (strlen(other) == size && memcmp(other, name, size) == 0) return true;
  }
  return false;
}

static hx_status_t prepare_all(hx_value_reader_t *reader) {
  const hx_container_t *container = reader->artifact->container;
  const size_t count = hx_container_count(container);
  const bool is_bundle = reader->artifact->kind == HX_FILE_BUNDLE;
  reader->entries = hx_zalloc(count, sizeof *reader->entries);
  if (reader->entries == NULL) return hx_report_fail(reader->report, HX_CODE_OUT_OF_MEMORY, "no memory to read values");
  for (size_t i = 0; i < count; ++i) {
    const char *name = hx_container_get(container, i)->name;
    if (is_bundle && strcmp(name, HX_FILE_PROGRAM) == 0) continue;
    if (!is_seed(container, name)) HX_TRY(prepare_value(reader, i));
  }
  if (reader->count == 0 && !is_bundle)
    return hx_container_fail(container, reader->report, HX_CODE_FILE_FORMAT, "the file holds no value");
  return HX_STATUS_OK;
}

// After the bytes came: expands seeds, checks residues.
static hx_status_t finish_value(const hx_value_reader_t *reader, hx_value_entry_t *entry) {
  if (entry->has_seed) {
    uint32_t ids[HX_PRIMES_MAX];
    (void)hx_primes_list(&entry->value->type.primes, ids);
    hx_artifact_expand(reader->params, entry->seed, ids, entry->value->tensor);
  }
  hx_report_t *own = hx_report_create();
  if (own == NULL) return hx_report_fail(reader->report, HX_CODE_OUT_OF_MEMORY, "no memory to read a value");
  hx_status_t status = hx_value_check_residues(entry->value, own);
  if (status != HX_STATUS_OK) {
    char what[160];
    snprintf(what, sizeof what, "value \"%.100s\"", entry->name);
    status = hx_artifact_relay(reader->artifact, what, own, reader->report);
  }
  hx_report_release(own);
  if (status == HX_STATUS_OK && entry->has_noise) {
    const double *noise = entry->noise;
    hx_noise_of_report(noise[0] * noise[0], noise[1] * noise[1], noise[2] * noise[2], noise[3] * noise[3],
                       hx_value_noise_id(entry->value), &entry->value->noise);
  }
  return status;
}

static hx_status_t give_out(hx_value_reader_t *reader, hx_named_value_t **out_values, size_t *out_count) {
  hx_named_value_t *values = hx_zalloc(reader->count, sizeof *values);
  for (size_t i = 0; values != NULL && i < reader->count; ++i) {
    values[i].name = hx_strdup(reader->entries[i].name);
    if (values[i].name == NULL) {
      hx_values_free(values, i);
      values = NULL;
    }
  }
  if (values == NULL) return hx_report_fail(reader->report, HX_CODE_OUT_OF_MEMORY, "no memory to read values");
  for (size_t i = 0; i < reader->count; ++i) {
    values[i].value = reader->entries[i].value;
    reader->entries[i].value = NULL;
  }
  *out_values = values;
  *out_count = reader->count;
  return HX_STATUS_OK;
}

hx_status_t hx_values_read(hx_artifact_t *artifact, const hx_params_t *params, hx_named_value_t **out_values,
                           size_t *out_count, hx_report_t *report) {
  if (artifact->kind != HX_FILE_PLAINTEXT && artifact->kind != HX_FILE_BUNDLE)
    HX_TRY(hx_artifact_expect(artifact, HX_FILE_CIPHERTEXT, report));
  HX_TRY(hx_artifact_check_params(artifact, params, report));
  hx_value_reader_t reader = {.artifact = artifact, .params = params, .report = report};
  hx_status_t status = prepare_all(&reader);
  if (status == HX_STATUS_OK) status = hx_container_load(artifact->container, report);
  for (size_t i = 0; status == HX_STATUS_OK && i < reader.count; ++i)
    status = finish_value(&reader, &reader.entries[i]);
  if (status == HX_STATUS_OK) status = give_out(&reader, out_values, out_count);
  for (size_t i = 0; i < reader.count; ++i) hx_value_release(reader.entries[i].value);
  hx_free(reader.entries);
  return status;
}

hx_status_t hx_values_load(const char *path, const hx_params_t *params, hx_named_value_t **out_values,
                           size_t *out_count, hx_report_t *report) {
  hx_artifact_t artifact;
  HX_TRY(hx_artifact_open(path, &artifact, report));
  const hx_status_t status = hx_values_read(&artifact, params, out_values, out_count, report);
  hx_artifact_close(&artifact);
  return status;
}

void hx_values_free(hx_named_value_t *values, size_t count) {
  for (size_t i = 0; values != NULL && i < count; ++i) {
    hx_free((void *)(uintptr_t)values[i].name);
    hx_value_release(values[i].value);
  }
  hx_free(values);
}

// ------------------------------------------------------------------ one value

static void list_names(const hx_named_value_t *values, size_t count, hx_text_t *out) {
  for (size_t i = 0; i < count; ++i) hx_text_printf(out, "%s%.100s", i == 0 ? "" : ", ", values[i].name);
}

hx_status_t hx_value_load(const char *path, const char *name, const hx_params_t *params, hx_value_t **out,
                          hx_report_t *report) {
  hx_named_value_t *values = NULL;
  size_t count = 0;
  HX_TRY(hx_values_load(path, params, &values, &count, report));
  size_t at = name == NULL && count == 1 ? 0 : count;
  for (size_t i = 0; name != NULL && i < count; ++i) {
    if (strcmp(values[i].name, name) == 0) at = i;
  }
  hx_status_t status = HX_STATUS_OK;
  if (at < count) {
    *out = hx_value_retain(values[at].value);
  } else {
    hx_text_t names;
    hx_text_init(&names);
    list_names(values, count, &names);
    const char *list = names.data == NULL ? "" : names.data;
    status = name == NULL
                 ? hx_report_fail(report, HX_CODE_INPUT, "%s holds several values, name one of them: %s", path, list)
                 : hx_report_fail(report, HX_CODE_INPUT, "%s holds no value \"%.100s\"; it holds %s", path, name, list);
    hx_text_deinit(&names);
  }
  hx_values_free(values, count);
  return status;
}
