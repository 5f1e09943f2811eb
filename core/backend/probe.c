// SPDX-License-Identifier: Apache-2.0
// Opens every device of one plugin and asks for the known answers, whatever was remembered.
#include <stdio.h>
#include <string.h>

#include "core/backend/self_test.h"
#include "core/base/clock.h"
#include "core/plugin/gates.h"

struct hx_plugin_probe {
  hx_arena_t arena;
  hx_device_verdict_t *verdicts;
  size_t count;
};

static bool keep_texts(hx_plugin_probe_t *probe, hx_device_verdict_t *verdict) {
  const char **const texts[] = {&verdict->device,   &verdict->name,  &verdict->driver, &verdict->text,
                                &verdict->expected, &verdict->found, &verdict->uuid};
  for (size_t i = 0; i < HX_COUNT_OF(texts); ++i) {
    *texts[i] = hx_arena_clean(&probe->arena, *texts[i] == NULL ? "" : *texts[i]);
    if (*texts[i] == NULL) return false;
  }
  return true;
}

// What an opened device says of itself; uuid is written to the buffer.
static void describe(hx_opened_device_t *device, char uuid[64], hx_device_verdict_t *verdict) {
  snprintf(uuid, 64, "%.*s", (int)sizeof device->info.uuid - 1, device->info.uuid);
  verdict->uuid = uuid;
  verdict->memory_bytes = device->info.memory_bytes;
  verdict->alignment = device->alignment;
  verdict->compute_units = device->info.compute_units;
  verdict->uses_host_memory = hx_device_imports(device);
  verdict->records_graphs = device->plugin->table.graph != NULL;
  verdict->encodes = device->plugin->table.codec != NULL;
  verdict->peers = device->info.peers;
  verdict->peers_linked = device->info.peers_linked;
}

static hx_status_t probe_device(hx_plugin_probe_t *probe, hx_loaded_plugin_t *plugin, uint32_t index, bool tests) {
  hx_report_t *report = hx_report_create();
  hx_opened_device_t *device = NULL;
  hx_self_test_result_t result = {0};
  char name[HX_NAME_MAX], model[128] = "", driver[64] = "", uuid[64] = "";
  snprintf(name, sizeof name, "%.32s:%u", plugin->record->name, index);
  if (report == NULL) return HX_STATUS_OUT_OF_MEMORY;
  const uint64_t started = hx_clock_ns();
  hx_status_t status = hx_device_open(plugin, index, &device, report);
  if (status == HX_STATUS_OK) {
    snprintf(model, sizeof model, "%.*s", (int)sizeof device->info.name - 1, device->info.name);
    snprintf(driver, sizeof driver, "%.*s", (int)sizeof device->info.driver - 1, device->info.driver);
    if (tests) status = hx_device_self_test(device, true, &result, report);
  }
  const hx_fault_t *fault = hx_report_get(report, 0);
  hx_device_verdict_t *verdict = &probe->verdicts[probe->count];
  *verdict = (hx_device_verdict_t){.device = name,
                                   .name = model,
                                   .driver = driver,
                                   .tested = result.tested,
                                   .skipped = result.skipped,
                                   .microseconds = (hx_clock_ns() - started) / 1000u};
  if (device != NULL) describe(device, uuid, verdict);
  if (status != HX_STATUS_OK && fault != NULL) {
    verdict->code = fault->code;
    verdict->text = fault->text;
    verdict->expected = fault->expected;
    verdict->found = fault->found;
  }
  const bool kept = (status == HX_STATUS_OK || fault != NULL) && keep_texts(probe, verdict);
  probe->count += kept;
  hx_device_release(device);
  hx_report_release(report);
  return kept ? HX_STATUS_OK : HX_STATUS_OUT_OF_MEMORY;
}

static hx_status_t probe_plugin(hx_plugin_probe_t *probe, hx_loaded_plugin_t *plugin, bool tests, hx_report_t *report) {
  hx_error error = hx_error_make();
  const hx_device_ops *ops = plugin->table.device;
  const uint32_t found = ops == NULL ? 0 : ops->count(&error), count = found < 256 ? found : 256;
  probe->verdicts = hx_zalloc(count + 1, sizeof *probe->verdicts);
  hx_status_t status = probe->verdicts == NULL ? HX_STATUS_OUT_OF_MEMORY : HX_STATUS_OK;
  for (uint32_t i = 0; i < count && status == HX_STATUS_OK; ++i) status = probe_device(probe, plugin, i, tests);
  return status == HX_STATUS_OK
             ? status
             : hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "%s: out of memory", plugin->record->id);
}

static hx_status_t probe_manifest(const char *manifest_path, const hx_plugins_options_t *options, bool tests,
                                  hx_plugin_probe_t **out, hx_report_t *report) {
  hx_plugins_options_t search = {0};
  hx_plugins_t *plugins = NULL;
  hx_loaded_plugin_t *plugin = NULL;
  if (manifest_path == NULL || out == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "%s: an argument is NULL",
                          tests ? "hx_plugin_probe" : "hx_plugin_devices");
  if (options != NULL) search = *options;
  search.path = manifest_path;
  search.only_path = true;
  HX_TRY(hx_plugins_discover(&search, &plugins, report));
  hx_status_t status =
      hx_plugins_count(plugins) > 0
          ? hx_plugin_load(plugins, 0, &plugin, report)
          : hx_report_fail(report, HX_CODE_SEARCH_PATH, "%s is no manifest that can be read", manifest_path);
  hx_plugins_release(plugins);
  if (status != HX_STATUS_OK) return status;
  hx_plugin_probe_t *probe = hx_zalloc(1, sizeof *probe);
  if (probe == NULL) {
    status = hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "%s: out of memory", manifest_path);
  } else {
    hx_arena_init(&probe->arena);
    status = probe_plugin(probe, plugin, tests, report);
  }
  hx_loaded_plugin_release(plugin);
  if (status == HX_STATUS_OK) {
    *out = probe;
  } else {
    hx_plugin_probe_release(probe);
  }
  return status;
}

hx_status_t hx_plugin_probe(const char *manifest_path, const hx_plugins_options_t *options, hx_plugin_probe_t **out,
                            hx_report_t *report) {
  return probe_manifest(manifest_path, options, true, out, report);
}

hx_status_t hx_plugin_devices(const char *manifest_path, const hx_plugins_options_t *options, hx_plugin_probe_t **out,
                              hx_report_t *report) {
  return probe_manifest(manifest_path, options, false, out, report);
}

size_t hx_plugin_probe_devices(const hx_plugin_probe_t *probe, const hx_device_verdict_t **out) {
  if (out != NULL) *out = probe == NULL ? NULL : probe->verdicts;
  return probe == NULL ? 0 : probe->count;
}

void hx_plugin_probe_release(hx_plugin_probe_t *probe) {
  if (probe == NULL) return;
  hx_free(probe->verdicts);
  hx_arena_deinit(&probe->arena);
  hx_free(probe);
}
