// SPDX-License-Identifier: Apache-2.0
// From a usable record to a loaded plugin: open, negotiate, table check, probe, init.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "core/ops/ops.h"
#include "core/plugin/host_table.h"
#include "core/plugin/mapping.h"
#include "core/plugin/set.h"
#include "core/plugin/table.h"

#define DEVICES_MAX 256

typedef struct loaded {
  hx_loaded_plugin_t base;  // first: the public object is this one
  struct loaded *next;
  hx_mapping_t *mapping;
  hx_arena_t arena;
  char manifest_digest[65];
  const char **conflicts;
  size_t conflict_count;
} loaded_t;

// Loading runs plugin code that may be called by one thread only, and changes the lists.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static loaded_t *loaded_plugins;

// ---- the object

static const char *copy_text(hx_arena_t *arena, const char *text) { return hx_arena_str(arena, hx_str(text)).data; }

static bool copy_record(loaded_t *loaded, const hx_plugin_record_t *from) {
  hx_plugin_record_t *record = hx_arena_alloc(&loaded->arena, sizeof *record);
  if (record == NULL) return false;
  *record = *from;
  const char **const texts[] = {&record->id,          &record->name,     &record->version, &record->vendor,
                                &record->description, &record->manifest, &record->library, &record->text,
                                &record->expected,    &record->found,    &record->hint};
  for (size_t i = 0; i < HX_COUNT_OF(texts); ++i) {
    *texts[i] = copy_text(&loaded->arena, *texts[i]);
    if (*texts[i] == NULL) return false;
  }
  loaded->base.record = record;
  return true;
}

static bool is_known(const hx_manifest_operation_t *operation) {
  const hx_op_id_t id = hx_op_find(hx_str(operation->type));
  return strcmp(operation->type, "fusion.region") == 0 ||
         (id != HX_OP_UNKNOWN && hx_op_info(id)->signature == operation->signature);
}

static bool copy_resources(loaded_t *loaded, hx_manifest_operation_t *operation) {
  const hx_manifest_resource_t *from = operation->resources;
  hx_manifest_resource_t *resources =
      hx_arena_alloc(&loaded->arena, (operation->resource_count + 1) * sizeof *resources);
  if (resources == NULL) return false;
  for (size_t i = 0; i < operation->resource_count; ++i) {
    resources[i] = from[i];
    resources[i].kind = copy_text(&loaded->arena, from[i].kind);
    if (from[i].operand != NULL) resources[i].operand = copy_text(&loaded->arena, from[i].operand);
    if (resources[i].kind == NULL || (from[i].operand != NULL && resources[i].operand == NULL)) return false;
  }
  operation->resources = resources;
  return true;
}

// Rows of operations that this catalogue does not have are left out; discovery warned about them.
static bool copy_operations(loaded_t *loaded, const hx_manifest_t *manifest) {
  hx_manifest_operation_t *rows = hx_arena_alloc(&loaded->arena, (manifest->operation_count + 1) * sizeof *rows);
  size_t count = 0;
  if (rows == NULL) return false;
  for (size_t i = 0; i < manifest->operation_count; ++i) {
    if (!is_known(&manifest->operations[i])) continue;
    hx_manifest_operation_t *row = &rows[count++];
    *row = manifest->operations[i];
    row->type = copy_text(&loaded->arena, row->type);
    row->implementation = copy_text(&loaded->arena, row->implementation);
    if (row->type == NULL || row->implementation == NULL || !copy_resources(loaded, row)) return false;
  }
  loaded->base.operations = rows;
  loaded->base.operation_count = count;
  return true;
}

static bool copy_conflicts(loaded_t *loaded, const json_t *list) {
  loaded->conflict_count = json_array_size(list);
  loaded->conflicts = hx_arena_alloc(&loaded->arena, (loaded->conflict_count + 1) * sizeof *loaded->conflicts);
  if (loaded->conflicts == NULL) return false;
  for (size_t i = 0; i < loaded->conflict_count; ++i) {
    loaded->conflicts[i] = copy_text(&loaded->arena, json_string_value(json_array_get(list, i)));
    if (loaded->conflicts[i] == NULL) return false;
  }
  return true;
}

static bool copy_regions(loaded_t *loaded, const json_t *list) {
  const size_t count = json_array_size(list);
  const char **regions = hx_arena_alloc(&loaded->arena, (count + 1) * sizeof *regions);
  if (regions == NULL) return false;
  for (size_t i = 0; i < count; ++i) {
    regions[i] = copy_text(&loaded->arena, json_string_value(json_array_get(list, i)));
    if (regions[i] == NULL) return false;
  }
  loaded->base.regions = regions;
  loaded->base.region_count = count;
  return true;
}

static void free_loaded(loaded_t *loaded) {
  if (loaded == NULL) return;
  hx_arena_deinit(&loaded->arena);
  hx_free(loaded);
}

static loaded_t *create_loaded(const hx_plugin_entry_t *entry, hx_mapping_t *mapping) {
  loaded_t *loaded = hx_zalloc(1, sizeof *loaded);
  const hx_manifest_t *manifest = entry->candidate.manifest;
  if (loaded == NULL) return NULL;
  hx_arena_init(&loaded->arena);
  if (!copy_record(loaded, &entry->record) || !copy_operations(loaded, manifest) ||
      !copy_conflicts(loaded, manifest->conflicts) || !copy_regions(loaded, manifest->regions)) {
    free_loaded(loaded);
    return NULL;
  }
  atomic_init(&loaded->base.refs, 1);
  snprintf(loaded->base.digest, sizeof loaded->base.digest, "%s", manifest->sha256);
  snprintf(loaded->manifest_digest, sizeof loaded->manifest_digest, "%s", entry->candidate.manifest_digest);
  loaded->base.handles_secrets = manifest->handles_secrets && manifest->constant_time;
  loaded->base.table = mapping->table;
  loaded->base.host = mapping->host;
  loaded->mapping = mapping;
  return loaded;
}

// ---- gates that run the plugin

static void clear_table(hx_mapping_t *mapping) {
  hx_arena_deinit(&mapping->tables);
  hx_arena_init(&mapping->tables);
  mapping->table = (hx_plugin){0};
}

static void shut_down(const hx_plugin *table) {
  if (table->struct_size >= HX_END_OF(hx_plugin, shutdown) && table->shutdown != NULL) table->shutdown();
}

static const char *result_name(int32_t result) {
  static const char *const names[] = {"ok",   "invalid",   "unsupported", "out of memory", "unavailable",
                                      "busy", "cancelled", "device lost", "args size",     "internal"};
  return result >= 0 && (size_t)result < HX_COUNT_OF(names) ? names[result] : "an unknown code";
}

// Runs query and checks its table. On failure nothing of the plugin runs any more.
static bool query(hx_mapping_t *mapping, const hx_manifest_t *manifest, hx_gates_t *gates) {
  hx_plugin filled = {.struct_size = HX_END_OF(hx_plugin, collectives)};
  const int32_t result = mapping->query(&mapping->host->table, &filled);
  if (result != HX_OK) {
    const bool away = result == HX_UNAVAILABLE;
    hx_gates_fail(gates, away ? HX_GATE_PROBE : HX_GATE_INIT, away ? HX_CODE_DEVICE : HX_CODE_INIT, "ok",
                  result_name(result), "heliox_plugin_query returned %d (%s)", result, result_name(result));
    return false;
  }
  if (hx_table_check(&filled, manifest, &mapping->tables, &mapping->table, gates)) {
    hx_gates_pass(gates, HX_GATE_TABLE);
    return true;
  }
  shut_down(&filled);
  clear_table(mapping);
  return false;
}

// `gates` NULL: asks without a verdict.
static bool check_info(const hx_device_ops *device, uint32_t index, hx_gates_t *gates) {
  hx_device_info info = {.struct_size = HX_END_OF(hx_device_info, driver)};
  hx_error error = {.struct_size = HX_END_OF(hx_error, message), .op = HX_NONE};
  const int32_t result = device->info(index, &info, &error);
  error.message[sizeof error.message - 1] = '\0';
  const bool aligned =
      info.alignment > 0 && info.alignment <= (1u << 21) && (info.alignment & (info.alignment - 1)) == 0;
  if (gates != NULL && result != HX_OK) {
    hx_gates_fail(gates, HX_GATE_PROBE, HX_CODE_DEVICE, "a device that describes itself", result_name(result),
                  "device %u does not describe itself: %s (%s)", index, error.message, result_name(result));
  } else if (gates != NULL && !aligned) {
    char found[32];
    snprintf(found, sizeof found, "%llu", (unsigned long long)info.alignment);
    hx_gates_fail(gates, HX_GATE_PROBE, HX_CODE_DEVICE, "a power of two up to 2 MiB", found,
                  "device %u states an alignment of %s", index, found);
  }
  return result == HX_OK && aligned;
}

static bool probe_groups(const hx_collective_ops *collectives, hx_gates_t *gates) {
  hx_error error = {.struct_size = HX_END_OF(hx_error, message), .op = HX_NONE};
  const int32_t result = collectives->probe(&error);
  error.message[sizeof error.message - 1] = '\0';
  if (result == HX_OK) return true;
  const char *why = error.message[0] != '\0' ? error.message : "it gives no reason";
  hx_gates_fail(gates, HX_GATE_PROBE, HX_CODE_DEVICE, "groups of processes", "none",
                "the plugin can open no group here: %s", why);
  return false;
}

// A plugin without devices and groups has nothing to probe.
static bool probe(const hx_plugin *table, hx_gates_t *gates) {
  hx_error error = {.struct_size = HX_END_OF(hx_error, message), .op = HX_NONE};
  const hx_collective_ops *collectives = table->collectives;
  if (collectives != NULL && collectives->probe != NULL && !probe_groups(collectives, gates)) return false;
  if (table->device == NULL) return true;
  const uint32_t count = table->device->count(&error);
  error.message[sizeof error.message - 1] = '\0';
  if (count == 0) {
    const char *why = error.message[0] != '\0' ? error.message : "it gives no reason";
    hx_gates_fail(gates, HX_GATE_PROBE, HX_CODE_DEVICE, "a device", "none", "the plugin finds no device: %s", why);
    return false;
  }
  for (uint32_t i = 0; i < count && i < DEVICES_MAX; ++i) {
    if (check_info(table->device, i, NULL)) return true;
  }
  return check_info(table->device, 0, gates);  // none is usable: the first says why
}

// Query, table check, probe of a mapping that nobody uses.
static bool start(hx_mapping_t *mapping, const hx_manifest_t *manifest, hx_gates_t *gates) {
  if (!query(mapping, manifest, gates)) {
    // A missing device is no fault of the plugin: as after the table check, the library stays.
    if (hx_gates_first(gates) != NULL && hx_gates_first(gates)->gate == HX_GATE_PROBE) hx_mapping_pin(mapping);
    hx_mapping_drop(mapping);
    return false;
  }
  hx_mapping_pin(mapping);
  if (probe(&mapping->table, gates)) return true;
  shut_down(&mapping->table);
  clear_table(mapping);
  return false;
}

static bool check_conflicts(const hx_manifest_t *manifest, hx_gates_t *gates) {
  for (const loaded_t *other = loaded_plugins; other != NULL; other = other->next) {
    const char *id = other->base.record->id;
    bool conflict = hx_json_list_has(manifest->conflicts, id);
    for (size_t i = 0; i < other->conflict_count; ++i) conflict |= strcmp(other->conflicts[i], manifest->id) == 0;
    if (!conflict) continue;
    hx_gates_fail(gates, HX_GATE_TABLE, HX_CODE_CONFLICT, "not loaded", id, "%s and the loaded %s exclude each other",
                  manifest->id, id);
    return false;
  }
  return true;
}

static loaded_t *open_plugin(const hx_plugin_entry_t *entry, hx_gates_t *gates) {
  const hx_manifest_t *manifest = entry->candidate.manifest;
  if (!check_conflicts(manifest, gates)) return NULL;
  hx_mapping_t *mapping = hx_mapping_open(&entry->candidate, gates);
  if (mapping == NULL) return NULL;
  if (mapping->users == 0) {
    if (!start(mapping, manifest, gates)) return NULL;
  } else if (!hx_table_check_registration(&mapping->table, manifest, gates)) {
    return NULL;  // another manifest of bytes that are in use: nothing is queried again under their users
  }
  loaded_t *loaded = create_loaded(entry, mapping);
  if (loaded == NULL) {
    gates->exhausted = true;
    if (mapping->users == 0) {
      shut_down(&mapping->table);
      clear_table(mapping);
    }
    return NULL;
  }
  ++mapping->users;
  loaded->next = loaded_plugins;
  loaded_plugins = loaded;
  return loaded;
}

// Takes a reference unless the last one is being given back.
static bool retain_living(loaded_t *loaded) {
  unsigned refs = atomic_load(&loaded->base.refs);
  while (refs > 0) {
    if (atomic_compare_exchange_weak(&loaded->base.refs, &refs, refs + 1)) return true;
  }
  return false;
}

// A loaded plugin of the same library bytes and the same manifest text.
static loaded_t *find_loaded(const hx_plugin_entry_t *entry) {
  for (loaded_t *loaded = loaded_plugins; loaded != NULL; loaded = loaded->next) {
    if (strcmp(loaded->base.digest, entry->candidate.manifest->sha256) == 0 &&
        strcmp(loaded->manifest_digest, entry->candidate.manifest_digest) == 0 && retain_living(loaded)) {
      return loaded;
    }
  }
  return NULL;
}

static hx_status_t report_record(const hx_plugin_record_t *record, hx_report_t *report) {
  char text[2048];
  snprintf(text, sizeof text, "%s (%s): %s", record->id, record->manifest, record->text);
  return hx_report_add(report, &(hx_fault_t){.code = record->code,
                                             .source = record->manifest,
                                             .text = text,
                                             .expected = record->expected,
                                             .found = record->found,
                                             .hint = record->hint});
}

// Ends the record with the first failure.
static hx_status_t refuse(hx_plugin_entry_t *entry, const hx_gates_t *gates, hx_report_t *report) {
  const hx_gate_result_t *failure = hx_gates_first(gates);
  if (failure == NULL || gates->exhausted)
    return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "%s: out of memory", entry->record.id);
  const hx_plugin_state_t state = failure->gate == HX_GATE_PROBE ? HX_PLUGIN_UNAVAILABLE : HX_PLUGIN_REFUSED;
  if (!hx_plugin_entry_end(entry, state, failure->gate, failure->code, failure->expected, failure->found, "%s",
                           failure->text)) {
    return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "%s: out of memory", entry->record.id);
  }
  return report_record(&entry->record, report);
}

hx_status_t hx_plugin_load(hx_plugins_t *plugins, size_t index, hx_loaded_plugin_t **out, hx_report_t *report) {
  if (plugins == NULL || out == NULL || index >= plugins->count)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_plugin_load: no such plugin");
  hx_plugin_entry_t *entry = &plugins->entries[index];
  // A device may have come since it was looked for.
  if (entry->record.state != HX_PLUGIN_USABLE && entry->record.state != HX_PLUGIN_UNAVAILABLE)
    return report_record(&entry->record, report);
  hx_gates_t gates;
  hx_gates_init(&gates);
  pthread_mutex_lock(&lock);
  loaded_t *loaded = find_loaded(entry);
  if (loaded == NULL) loaded = open_plugin(entry, &gates);
  hx_status_t status = HX_STATUS_OK;
  if (loaded == NULL) {
    status = refuse(entry, &gates, report);
  } else {
    hx_plugin_entry_conclude(entry);
  }
  pthread_mutex_unlock(&lock);
  hx_gates_deinit(&gates);
  if (status == HX_STATUS_OK) *out = &loaded->base;
  return status;
}

hx_loaded_plugin_t *hx_loaded_plugin_retain(hx_loaded_plugin_t *plugin) {
  if (plugin != NULL) atomic_fetch_add(&plugin->refs, 1);
  return plugin;
}

void hx_loaded_plugin_release(hx_loaded_plugin_t *plugin) {
  if (plugin == NULL || atomic_fetch_sub(&plugin->refs, 1) != 1) return;
  loaded_t *loaded = (loaded_t *)plugin;
  pthread_mutex_lock(&lock);
  loaded_t **link = &loaded_plugins;
  while (*link != loaded) link = &(*link)->next;
  *link = loaded->next;
  hx_mapping_t *mapping = loaded->mapping;
  if (--mapping->users == 0) {
    shut_down(&mapping->table);
    clear_table(mapping);
    hx_host_scratch_drain(mapping->host);
    atomic_store(&mapping->host->cancelled, false);
  }
  pthread_mutex_unlock(&lock);
  free_loaded(loaded);
}

const hx_manifest_operation_t *hx_loaded_plugin_operation(const hx_loaded_plugin_t *plugin, const char *op,
                                                          const char *implementation) {
  for (size_t i = 0; i < plugin->operation_count; ++i) {
    const hx_manifest_operation_t *row = &plugin->operations[i];
    if (strcmp(row->type, op) == 0 && strcmp(row->implementation, implementation) == 0) return row;
  }
  return NULL;
}

int32_t (*hx_loaded_plugin_query(const hx_loaded_plugin_t *plugin))(const hx_host *host, hx_plugin *out) {
  return ((const loaded_t *)plugin)->mapping->query;
}

void hx_loaded_plugin_set_cancelled(const hx_loaded_plugin_t *plugin, bool cancelled) {
  atomic_store(&plugin->host->cancelled, cancelled);
}
