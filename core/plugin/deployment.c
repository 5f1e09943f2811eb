// SPDX-License-Identifier: Apache-2.0
// Writing a lockfile of what is usable here, and comparing one with it.
#include <stdlib.h>
#include <string.h>

#include "core/plugin/lock.h"
#include "core/plugin/set.h"
#include "core/tensor/atomic_file.h"

static int by_id(const void *a, const void *b) {
  const hx_plugin_entry_t *const *left = a, *const *right = b;
  return strcmp((*left)->record.id, (*right)->record.id);
}

// The usable entries, ordered by id; ids are unique among them. NULL: out of memory.
static const hx_plugin_entry_t **list_usable(const hx_plugins_t *plugins, size_t *out_count) {
  const hx_plugin_entry_t **list = hx_zalloc(plugins->count + 1, sizeof *list);
  *out_count = 0;
  for (size_t i = 0; list != NULL && i < plugins->count; ++i) {
    if (plugins->entries[i].record.state == HX_PLUGIN_USABLE) list[(*out_count)++] = &plugins->entries[i];
  }
  if (list != NULL && *out_count > 1) qsort(list, *out_count, sizeof *list, by_id);
  return list;
}

static bool operations_of(const hx_plugin_entry_t *entry, char hex[65]) {
  const hx_manifest_t *manifest = entry->candidate.manifest;
  return hx_operations_digest(manifest->operations, manifest->operation_count, hex) == HX_STATUS_OK;
}

static void print_entry(const hx_plugin_entry_t *entry, bool first, hx_text_t *text) {
  char operations[65];
  text->failed |= !operations_of(entry, operations);
  if (text->failed) return;
  hx_text_printf(text, "%s    {\n      \"id\": ", first ? "\n" : ",\n");
  hx_text_json(text, hx_str(entry->record.id));
  hx_text_puts(text, ",\n      \"version\": ");
  hx_text_json(text, hx_str(entry->record.version));
  hx_text_printf(text,
                 ",\n      \"library\": \"%s\",\n      \"manifest\": \"%s\",\n      \"operations\": \"%s\"\n    }",
                 entry->candidate.digest, entry->candidate.manifest_digest, operations);
}

static hx_status_t write_text(const char *path, const hx_text_t *text, hx_report_t *report) {
  hx_atomic_file_t file = {0};
  hx_status_t status = hx_atomic_file_open(&file, path, 0644, report);
  if (status == HX_STATUS_OK) status = hx_atomic_file_write(&file, text->data, text->size, report);
  if (status == HX_STATUS_OK) return hx_atomic_file_commit(&file, true, report);
  hx_atomic_file_abandon(&file);
  return status;
}

hx_status_t hx_plugins_lock(const hx_plugins_t *plugins, const char *path, hx_report_t *report) {
  if (plugins == NULL || path == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_plugins_lock: an argument is NULL");
  size_t count;
  const hx_plugin_entry_t **list = list_usable(plugins, &count);
  hx_text_t text;
  hx_text_init(&text);
  hx_text_puts(&text, "{\n  \"lockfile_version\": 1,\n  \"plugins\": [");
  for (size_t i = 0; list != NULL && i < count; ++i) print_entry(list[i], i == 0, &text);
  hx_text_printf(&text, "%s]\n}\n", count == 0 ? "" : "\n  ");
  hx_free(list);
  hx_status_t status;
  if (list == NULL || text.failed) {
    status = hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "%s: out of memory", path);
  } else if (text.size > HX_JSON_BYTES_MAX) {
    status = hx_report_fail(report, HX_CODE_LIMIT, "a lockfile of %zu plugins has %zu bytes, at most %d are read",
                            count, text.size, HX_JSON_BYTES_MAX);
  } else {
    status = write_text(path, &text, report);
  }
  hx_text_deinit(&text);
  return status;
}

// ------------------------------------------------------------------ verification

static hx_status_t add_difference(const char *source, hx_report_t *report, const char *text, const char *expected,
                                  const char *found) {
  const hx_fault_t fault = {.code = HX_CODE_LOCK,
                            .source = source,
                            .text = text,
                            .expected = expected,
                            .found = found,
                            .hint = hx_code_info(HX_CODE_LOCK)->remedy};
  return hx_report_add(report, &fault);
}

// What the lockfile has and this machine does not offer.
static hx_status_t verify_missing(const hx_plugins_t *plugins, const hx_lock_t *lock, const hx_lock_entry_t *locked,
                                  hx_report_t *report) {
  const hx_plugin_record_t *refused = NULL;
  hx_text_t text;
  for (size_t i = 0; i < plugins->count; ++i) {
    const hx_plugin_record_t *record = &plugins->entries[i].record;
    if (strcmp(record->id, locked->id) != 0) continue;
    if (record->state == HX_PLUGIN_USABLE) return HX_STATUS_OK;
    if (refused == NULL) refused = record;
  }
  hx_text_init(&text);
  hx_text_printf(&text, "- %s %s is in the lockfile and ", locked->id, locked->version);
  if (refused == NULL) {
    hx_text_puts(&text, "not installed here");
  } else {
    hx_text_printf(&text, "not usable here (%s): %s: %s", refused->manifest, hx_code_info(refused->code)->word,
                   refused->text);
  }
  const hx_status_t status =
      text.failed ? hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "%s: out of memory", lock->source)
                  : add_difference(lock->source, report, text.data, locked->library, refused == NULL ? "" : "refused");
  hx_text_deinit(&text);
  return status;
}

// What this machine offers and the lockfile has otherwise or not at all.
static hx_status_t verify_usable(const hx_lock_t *lock, hx_plugin_entry_t *entry, hx_report_t *report) {
  hx_candidate_t copy = entry->candidate;  // its identity; the verdicts are this comparison's own
  hx_gates_init(&copy.gates);
  hx_lock_check(lock, &copy);
  const hx_gate_result_t *failure = hx_gates_first(&copy.gates);
  hx_status_t status = HX_STATUS_OK;
  if (copy.gates.exhausted) {
    status = hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "%s: out of memory", lock->source);
  } else if (failure != NULL) {
    const bool known = hx_lock_find(lock, entry->record.id) != NULL;
    hx_text_t text;
    hx_text_init(&text);
    hx_text_printf(&text, "%s %s", known ? "~" : "+", failure->text);
    status = add_difference(lock->source, report, text.failed ? failure->text : text.data, failure->expected,
                            failure->found);
    hx_text_deinit(&text);
  }
  hx_gates_deinit(&copy.gates);
  return status;
}

hx_status_t hx_plugins_verify(const hx_plugins_t *plugins, const char *path, hx_report_t *report) {
  if (plugins == NULL || path == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_plugins_verify: an argument is NULL");
  hx_lock_t *lock = NULL;
  HX_TRY(hx_lock_read(path, &lock, report));
  hx_status_t status = HX_STATUS_OK;
  for (size_t i = 0; i < lock->count; ++i) {
    const hx_status_t one = verify_missing(plugins, lock, &lock->entries[i], report);
    if (status == HX_STATUS_OK) status = one;
  }
  for (size_t i = 0; i < plugins->count; ++i) {
    if (plugins->entries[i].record.state != HX_PLUGIN_USABLE) continue;
    const hx_status_t one = verify_usable(lock, &plugins->entries[i], report);
    if (status == HX_STATUS_OK) status = one;
  }
  hx_lock_release(lock);
  return status;
}
