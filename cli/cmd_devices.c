// SPDX-License-Identifier: Apache-2.0
// devices.
#include <string.h>

#include "cli/cli.h"

// The devices of a mask, named like this one: "cuda:1".
static json_t *peers_json(const char *device, uint64_t mask) {
  const char *colon = strrchr(device, ':');
  json_t *list = json_array();
  for (uint32_t i = 0; i < 64; ++i) {
    if ((mask >> i & 1) != 0) json_array_append_new(list, json_sprintf("%.*s:%u", (int)(colon - device), device, i));
  }
  return list;
}

static void print_peers(const hx_device_verdict_t *device) {
  const char *colon = strrchr(device->device, ':');
  if (device->peers == 0) return;
  printf(", peers");
  for (uint32_t i = 0; i < 64; ++i) {
    if ((device->peers >> i & 1) == 0) continue;
    printf(" %.*s:%u%s", (int)(colon - device->device), device->device, i,
           (device->peers_linked >> i & 1) != 0 ? " (linked)" : "");
  }
}

static json_t *device_json(const hx_plugin_record_t *record, const hx_device_verdict_t *device) {
  return json_pack(
      "{s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:i, s:b, s:b, s:b, s:o, s:o, s:s, s:s}", "device", device->device, "plugin",
      record->id, "name", device->name, "driver", device->driver, "uuid", device->uuid, "memory_bytes",
      (json_int_t)device->memory_bytes, "alignment", (json_int_t)device->alignment, "compute_units",
      (int)device->compute_units, "uses_host_memory", device->uses_host_memory, "graphs", device->records_graphs,
      "codec", device->encodes, "peers", peers_json(device->device, device->peers), "peers_linked",
      peers_json(device->device, device->peers_linked), "code", hx_code_info(device->code)->word, "text", device->text);
}

static void print_device(const hx_plugin_record_t *record, const hx_device_verdict_t *device) {
  printf("%-12s ", device->device);
  if (device->code != HX_CODE_NONE) {
    printf("%s: %s\n", hx_code_info(device->code)->word, device->text);
    return;
  }
  printf("%s (%s", device->name, record->id);
  if (device->driver[0] != '\0') printf(", %s", device->driver);
  if (device->uuid[0] != '\0') printf(", %s", device->uuid);
  printf("): ");
  if (device->memory_bytes > 0) printf("%.1f GiB, ", (double)device->memory_bytes / (1u << 30));
  printf("%u compute units, alignment %llu, %s%s%s", device->compute_units, (unsigned long long)device->alignment,
         device->uses_host_memory ? "host memory in place" : "memory of its own",
         device->records_graphs ? ", graphs" : "", device->encodes ? ", codec" : "");
  print_peers(device);
  putchar('\n');
}

// Devices of one plugin, or why it has none. A plugin that fails does not end the list.
static void list_plugin(cli_t *cli, const hx_plugin_record_t *record, const hx_plugins_options_t *options, json_t *list,
                        json_t *absent) {
  hx_plugin_probe_t *probe = NULL;
  const hx_status_t status = hx_plugin_devices(record->manifest, options, &probe, cli->report);
  if (status != HX_STATUS_OK) {
    const hx_fault_t *fault = hx_report_get(cli->report, 0);
    const char *word = fault == NULL ? "" : hx_code_info(fault->code)->word, *text = fault == NULL ? "" : fault->text;
    if (!cli->json) printf("%-12s none: %s: %s\n", record->name, word, text);
    json_array_append_new(absent, json_pack("{s:s, s:s, s:s}", "plugin", record->id, "code", word, "text", text));
    hx_report_clear(cli->report);
    return;
  }
  const hx_device_verdict_t *devices = NULL;
  const size_t count = hx_plugin_probe_devices(probe, &devices);
  for (size_t i = 0; i < count; ++i) {
    if (!cli->json) print_device(record, &devices[i]);
    json_array_append_new(list, device_json(record, &devices[i]));
  }
  if (count == 0 && !cli->json) printf("%-12s none: the plugin has no devices\n", record->name);
  if (count == 0)
    json_array_append_new(absent, json_pack("{s:s, s:s, s:s}", "plugin", record->id, "code", "none", "text",
                                            "the plugin has no devices"));
  hx_plugin_probe_release(probe);
}

int cli_run_devices(cli_t *cli) {
  hx_plugins_t *plugins = NULL;
  hx_plugins_options_t options;
  CLI_TRY(cli, cli_plugins_options(cli, &options));
  CLI_TRY(cli, cli_discover(cli, &plugins));
  json_t *list = json_array(), *absent = json_array();
  for (size_t i = 0; i < hx_plugins_count(plugins); ++i) {
    const hx_plugin_record_t *record = hx_plugins_get(plugins, i);
    if (record->state == HX_PLUGIN_USABLE) list_plugin(cli, record, &options, list, absent);
  }
  const bool any = json_array_size(list) > 0;
  if (!any && !cli->json) puts("no usable plugin has a device; see 'heliox plugins list'");
  int code = CLI_DONE;
  if (cli->json) {
    code = cli_print_json(json_pack("{s:o, s:o}", "devices", list, "without", absent));
  } else {
    json_decref(list);
    json_decref(absent);
  }
  hx_plugins_release(plugins);
  return any ? code : CLI_NO;
}
