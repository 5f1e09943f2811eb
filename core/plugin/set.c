// SPDX-License-Identifier: Apache-2.0
// Reading a set of candidates, and the full check of one.
#include "core/plugin/set.h"

#include <stdio.h>
#include <string.h>

#include "core/base/observe.h"
#include "core/plugin/host.h"
#include "core/plugin/policy.h"

static bool copy_identity(hx_plugin_entry_t *entry) {
  static const hx_manifest_t unread = {.id = "", .name = "", .version = "", .vendor = "", .description = ""};
  const hx_manifest_t *manifest = entry->candidate.manifest != NULL ? entry->candidate.manifest : &unread;
  hx_arena_t *arena = &entry->candidate.gates.arena;
  hx_plugin_record_t *record = &entry->record;
  record->id = hx_arena_clean(arena, manifest->id);
  record->name = hx_arena_clean(arena, manifest->name);
  record->version = hx_arena_clean(arena, manifest->version);
  record->vendor = hx_arena_clean(arena, manifest->vendor);
  record->description = hx_arena_clean(arena, manifest->description);
  record->manifest = entry->candidate.path;
  record->library = entry->candidate.library_path != NULL ? entry->candidate.library_path : "";
  record->priority = manifest->priority;
  return record->id != NULL && record->name != NULL && record->version != NULL && record->vendor != NULL &&
         record->description != NULL;
}

bool hx_plugin_entry_conclude(hx_plugin_entry_t *entry) {
  hx_plugin_record_t *record = &entry->record;
  const hx_gate_result_t *failure = hx_gates_first(&entry->candidate.gates);
  if (!copy_identity(entry)) return false;
  record->state = failure == NULL ? HX_PLUGIN_USABLE : HX_PLUGIN_REFUSED;
  record->gate = failure == NULL ? HX_GATE_NONE : failure->gate;
  record->code = failure == NULL ? HX_CODE_NONE : failure->code;
  record->text = failure == NULL ? "" : failure->text;
  record->expected = failure == NULL ? "" : failure->expected;
  record->found = failure == NULL ? "" : failure->found;
  record->hint = failure == NULL ? "" : failure->hint;
  return true;
}

bool hx_plugin_entry_end(hx_plugin_entry_t *entry, hx_plugin_state_t state, hx_gate_t gate, hx_code_t code,
                         const char *expected, const char *found, const char *format, ...) {
  hx_arena_t *arena = &entry->candidate.gates.arena;
  hx_plugin_record_t *record = &entry->record;
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  if (vsnprintf(text, sizeof text, format, arguments) < 0) text[0] = '\0';
  va_end(arguments);
  hx_code_observe(code);
  const char *copies[] = {hx_arena_clean(arena, text), hx_arena_clean(arena, expected), hx_arena_clean(arena, found)};
  if (copies[0] == NULL || copies[1] == NULL || copies[2] == NULL) return false;
  record->state = state;
  record->gate = gate;
  record->code = code;
  record->text = copies[0];
  record->expected = copies[1];
  record->found = copies[2];
  record->hint = hx_code_info(code)->remedy;
  return true;
}

void hx_plugins_release(hx_plugins_t *plugins) {
  if (plugins == NULL) return;
  for (size_t i = 0; i < plugins->count; ++i) hx_candidate_deinit(&plugins->entries[i].candidate);
  hx_free(plugins->entries);
  hx_free(plugins->places);
  hx_arena_deinit(&plugins->arena);
  hx_free(plugins);
}

size_t hx_plugins_count(const hx_plugins_t *plugins) { return plugins == NULL ? 0 : plugins->count; }

const hx_plugin_record_t *hx_plugins_get(const hx_plugins_t *plugins, size_t index) {
  return index < hx_plugins_count(plugins) ? &plugins->entries[index].record : NULL;
}

const hx_plugin_record_t *hx_plugins_find(const hx_plugins_t *plugins, const char *name) {
  for (size_t i = 0; name != NULL && i < hx_plugins_count(plugins); ++i) {
    const hx_plugin_record_t *record = &plugins->entries[i].record;
    if (record->state == HX_PLUGIN_USABLE && (strcmp(record->name, name) == 0 || strcmp(record->id, name) == 0))
      return record;
  }
  return NULL;
}

size_t hx_plugins_search_path(const hx_plugins_t *plugins, const char *const **out_places) {
  if (out_places != NULL) *out_places = plugins == NULL ? NULL : plugins->places;
  return plugins == NULL ? 0 : plugins->place_count;
}

size_t hx_plugins_operations(const hx_plugins_t *plugins, size_t index, const hx_plugin_operation_t **out) {
  const hx_manifest_t *manifest = index < hx_plugins_count(plugins) ? plugins->entries[index].candidate.manifest : NULL;
  if (out != NULL) *out = manifest == NULL ? NULL : manifest->rows;
  return manifest == NULL ? 0 : manifest->operation_count;
}

const char *hx_plugins_manifest(const hx_plugins_t *plugins, size_t index) {
  const char *text = index < hx_plugins_count(plugins) ? plugins->entries[index].candidate.text : NULL;
  return text == NULL ? "" : text;
}

struct hx_plugin_check {
  hx_candidate_t candidate;
};

hx_status_t hx_plugin_check(const char *manifest_path, hx_plugin_check_t **out, hx_report_t *report) {
  return hx_plugin_check_with(manifest_path, NULL, out, report);
}

static hx_status_t examine(hx_candidate_t *candidate, const char *path, const hx_policy_t *policy,
                           hx_report_t *report) {
  HX_TRY(hx_candidate_init(candidate, path));
  hx_status_t status = hx_candidate_read(candidate, policy, report);
  if (status == HX_STATUS_OK) status = hx_candidate_examine(candidate, policy, true, report);
  if (status != HX_STATUS_OK) hx_candidate_deinit(candidate);
  return status;
}

hx_status_t hx_plugin_check_with(const char *manifest_path, const hx_plugins_options_t *options,
                                 hx_plugin_check_t **out, hx_report_t *report) {
  const hx_plugins_options_t defaults = {0};
  hx_policy_t policy;
  if (manifest_path == NULL || out == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_plugin_check_with: an argument is NULL");
  hx_plugin_check_t *check = hx_zalloc(1, sizeof *check);
  if (check == NULL) return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "%s: out of memory", manifest_path);
  hx_status_t status = hx_policy_init(&policy, options == NULL ? &defaults : options, true, report);
  if (status != HX_STATUS_OK) {
    hx_free(check);
    return status;
  }
  status = examine(&check->candidate, manifest_path, &policy, report);
  hx_policy_deinit(&policy);
  if (status != HX_STATUS_OK) {
    hx_free(check);
    return status == HX_STATUS_NOT_FOUND
               ? hx_report_fail(report, HX_CODE_SEARCH_PATH, "%s does not exist", manifest_path)
               : hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "%s: out of memory", manifest_path);
  }
  hx_gates_sort(&check->candidate.gates);
  *out = check;
  return HX_STATUS_OK;
}

size_t hx_plugin_check_results(const hx_plugin_check_t *check, const hx_gate_result_t **out_results) {
  if (out_results != NULL) *out_results = check == NULL ? NULL : check->candidate.gates.rows;
  return check == NULL ? 0 : check->candidate.gates.count;
}

void hx_plugin_check_release(hx_plugin_check_t *check) {
  if (check == NULL) return;
  hx_candidate_deinit(&check->candidate);
  hx_free(check);
}
