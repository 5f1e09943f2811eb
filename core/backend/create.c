// SPDX-License-Identifier: Apache-2.0
// Backends from a list of plugin names, as the command line gives it. A name that cannot be used is an error that says
// where was looked and what was found there; no other backend is ever taken instead.
#include <stdio.h>
#include <string.h>

#include "core/backend/backend.h"
#include "core/backend/self_test.h"

#define INDEX_DIGITS_MAX 4  // of a device index

static hx_status_t fail_list(hx_report_t *report, hx_str_t entry, const char *rule) {
  return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "backend \"%.*s\": %s",
                        (int)(entry.size < 200 ? entry.size : 200), entry.data, rule);
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// "name", "name:device-index" or "name:device-name".
static hx_status_t parse_entry(hx_str_t text, hx_backend_entry_t *out, hx_report_t *report) {
  const char *colon = text.size == 0 ? NULL : memchr(text.data, ':', text.size);
  const size_t name_size = colon == NULL ? text.size : (size_t)(colon - text.data);
  *out = (hx_backend_entry_t){0};
  if (name_size == 0) return fail_list(report, text, "a plugin's name is missing");
  if (name_size >= sizeof out->name) return fail_list(report, text, "a plugin's name has at most 63 bytes");
  memcpy(out->name, text.data, name_size);
  if (colon == NULL) return HX_STATUS_OK;
  const hx_str_t digits = {.data = colon + 1, .size = text.size - name_size - 1};
  if (digits.size > 0 && is_letter(digits.data[0])) {
    if (digits.size >= sizeof out->device) return fail_list(report, text, "a device's name has at most 63 bytes here");
    memcpy(out->device, digits.data, digits.size);
    return HX_STATUS_OK;
  }
  if (digits.size == 0 || digits.size > INDEX_DIGITS_MAX) {
    return fail_list(report, text, "a device index of 1 to 4 digits follows the colon");
  }
  for (size_t i = 0; i < digits.size; ++i) {
    if (digits.data[i] < '0' || digits.data[i] > '9') return fail_list(report, text, "a device index has digits only");
    out->index = out->index * 10 + (uint32_t)(digits.data[i] - '0');
  }
  return HX_STATUS_OK;
}

hx_status_t hx_backend_parse_list(const char *list, hx_backend_entry_t *entries, size_t *out_count,
                                  hx_report_t *report) {
  size_t count = 0;
  for (const char *rest = list; rest != NULL;) {
    const char *comma = strchr(rest, ',');
    const hx_str_t text = {.data = rest, .size = comma == NULL ? strlen(rest) : (size_t)(comma - rest)};
    if (count == HX_BACKEND_ENTRIES_MAX) return fail_list(report, hx_str(list), "more than 16 plugins");
    HX_TRY(parse_entry(text, &entries[count], report));
    for (size_t i = 0; i < count; ++i) {
      if (strcmp(entries[i].name, entries[count].name) == 0)
        return fail_list(report, text, "the plugin is named twice");
    }
    count += 1;
    rest = comma == NULL ? NULL : comma + 1;
  }
  *out_count = count;
  return HX_STATUS_OK;
}

static const char *state_name(hx_plugin_state_t state) {
  static const char *const names[] = {"usable", "unavailable", "refused", "disabled", "shadowed"};
  return names[state];
}

// Why there is no usable plugin of that name: the records that have it, and every place searched.
static hx_status_t fail_missing(hx_plugins_t *plugins, const char *name, hx_report_t *report) {
  hx_text_t text, found;
  hx_text_init(&text);
  hx_text_init(&found);
  for (size_t i = 0; i < hx_plugins_count(plugins); ++i) {
    const hx_plugin_record_t *record = hx_plugins_get(plugins, i);
    if (strcmp(record->name, name) != 0 && strcmp(record->id, name) != 0) continue;
    hx_text_printf(&found, "%s%s %s (%s): %s: %s", found.size == 0 ? "" : "; ", state_name(record->state), record->id,
                   record->manifest, hx_code_info(record->code)->word, record->text);
    if (record->hint[0] != '\0') hx_text_printf(&found, "; %s", record->hint);
  }
  hx_text_printf(&text, "plugin %s is %s; searched:", name, found.size == 0 ? "not installed" : "not usable");
  const char *const *places;
  const size_t place_count = hx_plugins_search_path(plugins, &places);
  for (size_t i = 0; i < place_count; ++i) hx_text_printf(&text, " %s", places[i]);
  if (place_count == 0) hx_text_puts(&text, " nowhere");
  const hx_fault_t fault = {.code = HX_CODE_BACKEND, .text = text.failed ? name : text.data, .found = found.data};
  const hx_status_t status = hx_report_add(report, &fault);
  hx_text_deinit(&text);
  hx_text_deinit(&found);
  return status;
}

static hx_status_t load_entry(hx_plugins_t *plugins, const hx_backend_entry_t *entry, hx_loaded_plugin_t **out,
                              hx_report_t *report) {
  const hx_plugin_record_t *record = hx_plugins_find(plugins, entry->name);
  if (record == NULL) return fail_missing(plugins, entry->name, report);
  for (size_t i = 0; i < hx_plugins_count(plugins); ++i) {
    if (hx_plugins_get(plugins, i) == record) return hx_plugin_load(plugins, i, out, report);
  }
  return fail_missing(plugins, entry->name, report);
}

// A device that computes wrongly is never used.
static hx_status_t test_devices(const hx_backend_t *backend, hx_report_t *report) {
  for (size_t i = 0; i < backend->device_count; ++i) {
    hx_self_test_result_t result;
    HX_TRY(hx_device_self_test(backend->devices[i], false, &result, report));
  }
  return HX_STATUS_OK;
}

hx_status_t hx_backend_create(hx_plugins_t *plugins, const char *list, hx_backend_t **out, hx_report_t *report) {
  if (plugins == NULL || list == NULL || out == NULL) {
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_backend_create: an argument is NULL");
  }
  hx_backend_entry_t entries[HX_BACKEND_ENTRIES_MAX];
  hx_loaded_plugin_t *loaded[HX_BACKEND_ENTRIES_MAX];
  uint32_t indexes[HX_BACKEND_ENTRIES_MAX];
  size_t count = 0, done = 0;
  HX_TRY(hx_backend_parse_list(list, entries, &count, report));
  hx_status_t status = HX_STATUS_OK;
  for (; done < count; ++done) {
    indexes[done] = entries[done].index;
    status = load_entry(plugins, &entries[done], &loaded[done], report);
    if (status != HX_STATUS_OK) break;
    if (entries[done].device[0] != '\0') {
      status = hx_backend_device_named(loaded[done], entries[done].device, &indexes[done], report);
      if (status != HX_STATUS_OK) {
        hx_loaded_plugin_release(loaded[done]);
        break;
      }
    }
  }
  hx_backend_t *backend = NULL;
  if (status == HX_STATUS_OK) status = hx_backend_assemble(loaded, indexes, count, &backend, report);
  if (status == HX_STATUS_OK) {
    status = test_devices(backend, report);
    if (status == HX_STATUS_OK) {
      *out = backend;
    } else {
      hx_backend_release(backend);
    }
  }
  while (done > 0) hx_loaded_plugin_release(loaded[--done]);
  return status;
}
