// SPDX-License-Identifier: Apache-2.0
#include "core/plugin/lock.h"

#include <string.h>

#include "core/plugin/schema.h"

static const char schema_text[] = {
#include "heliox/lock_schema.inc"
};

static hx_status_t no_memory(const char *source, hx_report_t *report) {
  return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "%s: out of memory", source);
}

void hx_lock_release(hx_lock_t *lock) {
  if (lock == NULL) return;
  json_decref(lock->root);
  hx_free(lock->entries);
  hx_free(lock->source);
  hx_free(lock);
}

static hx_status_t check_schema(const json_t *root, const char *source, hx_report_t *report) {
  json_t *schema = json_loadb(schema_text, sizeof schema_text, 0, NULL);
  if (schema == NULL) return no_memory(source, report);
  hx_schema_error_t error;
  hx_status_t status = hx_schema_check(schema, root, &error);
  const char *pointer = error.pointer.data == NULL ? "" : error.pointer.data;
  if (status == HX_STATUS_INVALID) {
    status = hx_report_fail(report, HX_CODE_LOCK, "lockfile %s: at \"%s\": %s", source, pointer, error.text);
  } else if (status != HX_STATUS_OK) {
    status = hx_report_fail(report, status == HX_STATUS_INTERNAL ? HX_CODE_INTERNAL : HX_CODE_OUT_OF_MEMORY,
                            "lockfile %s: %s", source, error.text);
  }
  hx_text_deinit(&error.pointer);
  json_decref(schema);
  return status;
}

static hx_status_t fill_entries(hx_lock_t *lock, hx_report_t *report) {
  const json_t *list = json_object_get(lock->root, "plugins");
  const size_t count = json_array_size(list);
  lock->entries = hx_zalloc(count + 1, sizeof *lock->entries);
  if (lock->entries == NULL) return no_memory(lock->source, report);
  for (size_t i = 0; i < count; ++i) {
    const json_t *item = json_array_get(list, i);
    hx_lock_entry_t *entry = &lock->entries[i];
    *entry = (hx_lock_entry_t){.id = json_string_value(json_object_get(item, "id")),
                               .version = json_string_value(json_object_get(item, "version")),
                               .library = json_string_value(json_object_get(item, "library")),
                               .manifest = json_string_value(json_object_get(item, "manifest")),
                               .operations = json_string_value(json_object_get(item, "operations"))};
    if (i > 0 && strcmp(entry[-1].id, entry->id) >= 0) {
      return hx_report_fail(
          report, HX_CODE_LOCK,
          "lockfile %s: at \"/plugins/%zu\": \"%s\" follows \"%s\", ids must ascend without repetition", lock->source,
          i, entry->id, entry[-1].id);
    }
  }
  lock->count = count;
  return HX_STATUS_OK;
}

hx_status_t hx_lock_parse(hx_str_t text, const char *source, hx_lock_t **out, hx_report_t *report) {
  hx_json_error_t error;
  hx_lock_t *lock = hx_zalloc(1, sizeof *lock);
  if (lock == NULL || (lock->source = hx_strdup(source)) == NULL) {
    hx_lock_release(lock);
    return no_memory(source, report);
  }
  hx_status_t status = hx_json_parse(text, &lock->root, &error);
  if (status == HX_STATUS_INVALID) {
    status = hx_report_fail_at(report, HX_CODE_LOCK, source, error.line, error.column, "lockfile: %s", error.text);
  } else if (status != HX_STATUS_OK) {
    status = no_memory(source, report);
  }
  if (status == HX_STATUS_OK) status = check_schema(lock->root, source, report);
  if (status == HX_STATUS_OK) status = fill_entries(lock, report);
  if (status == HX_STATUS_OK) {
    *out = lock;
  } else {
    hx_lock_release(lock);
  }
  return status;
}

hx_status_t hx_lock_read(const char *path, hx_lock_t **out, hx_report_t *report) {
  hx_gates_t gates;
  hx_file_t file;
  char *text = NULL;
  size_t size = 0;
  hx_gates_init(&gates);
  hx_status_t status = HX_STATUS_OK;
  if (!hx_file_open_trusted(path, &gates, &file)) {
    status = hx_gates_report(&gates, path, report);
  } else {
    status = hx_file_read(&file, HX_JSON_BYTES_MAX, &text, &size);
    hx_file_close(&file);
    if (status == HX_STATUS_IO) status = hx_report_fail(report, HX_CODE_IO, "lockfile %s cannot be read", path);
    if (status == HX_STATUS_OUT_OF_MEMORY) status = no_memory(path, report);
  }
  if (status == HX_STATUS_OK) status = hx_lock_parse((hx_str_t){text, size}, path, out, report);
  hx_free(text);
  hx_gates_deinit(&gates);
  return status;
}

const hx_lock_entry_t *hx_lock_find(const hx_lock_t *lock, const char *id) {
  size_t low = 0, high = lock->count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const int order = strcmp(lock->entries[middle].id, id);
    if (order == 0) return &lock->entries[middle];
    if (order < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return NULL;
}

// ------------------------------------------------------------------ comparison

static bool identify(const hx_candidate_t *candidate, char operations[65], hx_lock_entry_t *out) {
  const hx_manifest_t *manifest = candidate->manifest;
  if (hx_operations_digest(manifest->operations, manifest->operation_count, operations) != HX_STATUS_OK) return false;
  *out = (hx_lock_entry_t){.id = manifest->id,
                           .version = manifest->version,
                           .library = candidate->digest,
                           .manifest = candidate->manifest_digest,
                           .operations = operations};
  return true;
}

// Digests are told apart by their first digits; texts that are equal there are given whole.
static void add_difference(const char *what, const char *locked, const char *found, const char *first[2],
                           hx_text_t *text) {
  if (strcmp(locked, found) == 0) return;
  if (text->size == 0) {
    first[0] = locked;
    first[1] = found;
  }
  const int digits = strlen(locked) == 64 && strncmp(locked, found, 16) != 0 ? 16 : 64;
  const char *more = digits == 16 ? "..." : "";
  hx_text_printf(text, "%s%s %.*s%s is locked, found %.*s%s", text->size == 0 ? "" : "; ", what, digits, locked, more,
                 digits, found, more);
}

// The first one is what was expected and found.
static void add_differences(const hx_lock_entry_t *locked, const hx_lock_entry_t *found, const char *first[2],
                            hx_text_t *text) {
  add_difference("version", locked->version, found->version, first, text);
  add_difference("library", locked->library, found->library, first, text);
  add_difference("manifest", locked->manifest, found->manifest, first, text);
  add_difference("operations", locked->operations, found->operations, first, text);
}

void hx_lock_check(const hx_lock_t *lock, hx_candidate_t *candidate) {
  char operations[65];
  hx_lock_entry_t found;
  const char *first[2] = {"", ""};
  hx_text_t text;
  if (!identify(candidate, operations, &found)) {
    candidate->gates.exhausted = true;
    return;
  }
  const hx_lock_entry_t *locked = hx_lock_find(lock, found.id);
  if (locked == NULL) {
    hx_gates_fail(&candidate->gates, HX_GATE_DIGEST, HX_CODE_LOCK, "an entry of the lockfile", found.id,
                  "%s %s is not in the lockfile %s", found.id, found.version, lock->source);
    return;
  }
  hx_text_init(&text);
  add_differences(locked, &found, first, &text);
  if (text.failed) {
    candidate->gates.exhausted = true;
  } else if (text.size > 0) {
    hx_gates_fail(&candidate->gates, HX_GATE_DIGEST, HX_CODE_LOCK, first[0], first[1], "%s is not as locked in %s: %s",
                  found.id, lock->source, text.data);
  }
  hx_text_deinit(&text);
}
