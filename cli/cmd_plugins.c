// SPDX-License-Identifier: Apache-2.0
// plugins list, check, show, manifest.
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

static const char *state_name(hx_plugin_state_t state) {
  static const char *const names[] = {"usable", "unavailable", "refused", "disabled", "shadowed"};
  return (unsigned)state < 5 ? names[state] : "unknown";
}

static json_t *record_json(const hx_plugin_record_t *record) {
  return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "id", record->id, "name",
                   record->name, "version", record->version, "manifest", record->manifest, "library", record->library,
                   "state", state_name(record->state), "gate", hx_gate_name(record->gate), "code",
                   hx_code_info(record->code)->word, "text", record->text, "expected", record->expected, "found",
                   record->found, "hint", record->hint);
}

static void print_record(const hx_plugin_record_t *record) {
  printf("%-11s %s", state_name(record->state), record->id[0] != '\0' ? record->id : "?");
  if (record->name[0] != '\0') printf(" (%s %s)", record->name, record->version);
  printf(" (%s)", record->manifest);
  if (record->code != HX_CODE_NONE) printf(": %s: %s", hx_code_info(record->code)->word, record->text);
  putchar('\n');
  if (record->code == HX_CODE_NONE) return;
  if (record->expected[0] != '\0') printf("            expected: %s\n", record->expected);
  if (record->found[0] != '\0') printf("            found:    %s\n", record->found);
  if (record->hint[0] != '\0') printf("            hint:     %s\n", record->hint);
}

int cli_run_plugins_list(cli_t *cli) {
  hx_plugins_t *plugins = NULL;
  CLI_TRY(cli, cli_discover(cli, &plugins));
  const char *const *places = NULL;
  const size_t place_count = hx_plugins_search_path(plugins, &places);
  int code = CLI_DONE;
  if (cli->json) {
    json_t *records = json_array(), *searched = json_array();
    for (size_t i = 0; i < hx_plugins_count(plugins); ++i)
      json_array_append_new(records, record_json(hx_plugins_get(plugins, i)));
    for (size_t i = 0; i < place_count; ++i) json_array_append_new(searched, json_string(places[i]));
    code = cli_print_json(json_pack("{s:o, s:o}", "plugins", records, "searched", searched));
  } else {
    for (size_t i = 0; i < hx_plugins_count(plugins); ++i) print_record(hx_plugins_get(plugins, i));
    if (hx_plugins_count(plugins) == 0) {
      puts("no plugin found; searched:");
      for (size_t i = 0; i < place_count; ++i) printf("  %s\n", places[i]);
    }
  }
  hx_plugins_release(plugins);
  return code;
}

static json_t *verdict_json(const hx_device_verdict_t *verdict) {
  return json_pack("{s:s, s:s, s:s, s:I, s:I, s:f, s:s, s:s, s:s, s:s}", "device", verdict->device, "name",
                   verdict->name, "driver", verdict->driver, "tested", (json_int_t)verdict->tested, "skipped",
                   (json_int_t)verdict->skipped, "milliseconds", (double)verdict->microseconds / 1e3, "code",
                   hx_code_info(verdict->code)->word, "text", verdict->text, "expected", verdict->expected, "found",
                   verdict->found);
}

static void print_verdict(const hx_device_verdict_t *verdict) {
  printf("%-12s ", verdict->device);
  if (verdict->code == HX_CODE_NONE) {
    printf("passed: %u operations give the known answers, %u have none (%.1f ms; %s, %s)\n", verdict->tested,
           verdict->skipped, (double)verdict->microseconds / 1e3, verdict->name, verdict->driver);
    return;
  }
  printf("%s: %s\n", hx_code_info(verdict->code)->word, verdict->text);
  if (verdict->expected[0] != '\0') printf("             expected: %s\n", verdict->expected);
  if (verdict->found[0] != '\0') printf("             found:    %s\n", verdict->found);
}

// Loads the plugin and runs the self-test of each device; verdicts go to the list, or are printed where it is NULL.
static hx_status_t probe_devices(cli_t *cli, const hx_plugins_options_t *options, json_t *list, bool *passed) {
  hx_plugin_probe_t *probe = NULL;
  const hx_status_t status = hx_plugin_probe(cli->arguments[0], options, &probe, cli->report);
  if (status != HX_STATUS_OK) return status;
  const hx_device_verdict_t *verdicts = NULL;
  const size_t count = hx_plugin_probe_devices(probe, &verdicts);
  for (size_t i = 0; i < count; ++i) {
    *passed = *passed && verdicts[i].code == HX_CODE_NONE;
    if (list != NULL) {
      json_array_append_new(list, verdict_json(&verdicts[i]));
    } else {
      print_verdict(&verdicts[i]);
    }
  }
  if (count == 0 && list == NULL)
    puts("the plugin has no device to compute with; whatever else it needs here has been found");
  hx_plugin_probe_release(probe);
  return HX_STATUS_OK;
}

int cli_run_plugins_check(cli_t *cli) {
  hx_plugin_check_t *check = NULL;
  hx_plugins_options_t options;
  CLI_TRY(cli, cli_plugins_options(cli, &options));
  CLI_TRY(cli, hx_plugin_check_with(cli->arguments[0], &options, &check, cli->report));
  cli_warn(cli);
  const hx_gate_result_t *results = NULL;
  const size_t count = hx_plugin_check_results(check, &results);
  bool passed = true;
  json_t *list = json_array();
  for (size_t i = 0; i < count; ++i) {
    const hx_gate_result_t *result = &results[i];
    const bool ok = result->code == HX_CODE_NONE;
    passed = passed && ok;
    if (cli->json) {
      json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "gate", hx_gate_name(result->gate),
                                            "code", hx_code_info(result->code)->word, "text", result->text, "expected",
                                            result->expected, "found", result->found, "hint", result->hint));
      continue;
    }
    printf("%-12s %s%s%s\n", hx_gate_name(result->gate), ok ? "passed" : hx_code_info(result->code)->word,
           result->text[0] != '\0' ? ": " : "", result->text);
    if (ok) continue;
    if (result->expected[0] != '\0') printf("             expected: %s\n", result->expected);
    if (result->found[0] != '\0') printf("             found:    %s\n", result->found);
    if (result->hint[0] != '\0') printf("             hint:     %s\n", result->hint);
  }
  hx_plugin_check_release(check);
  json_t *devices = NULL;
  if (passed && cli_has(cli, "probe")) {
    devices = cli->json ? json_array() : NULL;
    const hx_status_t status = probe_devices(cli, &options, devices, &passed);
    if (status != HX_STATUS_OK) {
      json_decref(list);
      json_decref(devices);
      return cli_fail(cli, status);
    }
  }
  if (cli->json) {
    cli_print_json(json_pack("{s:b, s:o, s:o*}", "passed", passed, "gates", list, "devices", devices));
  } else {
    json_decref(list);
  }
  return passed ? CLI_DONE : CLI_NO;
}

// Index of a record by name or id; every state is found, usable ones first.
static bool find_record(const hx_plugins_t *plugins, const char *name, size_t *out) {
  for (int pass = 0; pass < 2; ++pass) {
    for (size_t i = 0; i < hx_plugins_count(plugins); ++i) {
      const hx_plugin_record_t *record = hx_plugins_get(plugins, i);
      if (pass == 0 && record->state != HX_PLUGIN_USABLE) continue;
      if (strcmp(record->name, name) == 0 || strcmp(record->id, name) == 0) {
        *out = i;
        return true;
      }
    }
  }
  return false;
}

static void print_operations(const hx_plugins_t *plugins, size_t index) {
  const hx_plugin_operation_t *operations = NULL;
  const size_t count = hx_plugins_operations(plugins, index, &operations);
  printf("%zu operations\n", count);
  for (size_t i = 0; i < count; ++i) {
    const hx_plugin_operation_t *op = &operations[i];
    printf("  %s/%u %s: N 2^%u..2^%u, primes of %u..%u bits%s%s%s\n", op->type, op->signature, op->implementation,
           op->log_n_min, op->log_n_max, op->prime_bits_min, op->prime_bits_max, op->in_place ? ", in place" : "",
           op->bit_exact ? "" : ", within a tolerance", op->explicit_only ? ", by name only" : "");
  }
}

int cli_run_plugins_show(cli_t *cli) {
  hx_plugins_t *plugins = NULL;
  CLI_TRY(cli, cli_discover(cli, &plugins));
  size_t index = 0;
  if (!find_record(plugins, cli->arguments[0], &index)) {
    hx_plugins_release(plugins);
    return cli_fail(cli, hx_report_fail(cli->report, HX_CODE_BACKEND, "no plugin '%s'; see 'heliox plugins list'",
                                        cli->arguments[0]));
  }
  const hx_plugin_record_t *record = hx_plugins_get(plugins, index);
  int code = CLI_DONE;
  if (cli->json) {
    json_t *manifest = json_loads(hx_plugins_manifest(plugins, index), 0, NULL);
    code = cli_print_json(json_pack("{s:o, s:o*}", "record", record_json(record), "manifest", manifest));
  } else {
    print_record(record);
    printf("vendor   %s\nabout    %s\nlibrary  %s\n", record->vendor, record->description, record->library);
    print_operations(plugins, index);
  }
  hx_plugins_release(plugins);
  return code;
}

int cli_run_plugins_manifest(cli_t *cli) {
  const char *library = cli->arguments[0], *template_path = cli_get(cli, "template");
  char beside[4096];
  if (template_path == NULL) {
    const size_t size = strlen(library);
    if (size < 4 || size + 2 > sizeof beside || strcmp(library + size - 3, ".so") != 0) {
      return cli_fail(cli, hx_report_fail(cli->report, HX_CODE_USAGE,
                                          "'%s' does not end in .so; name the manifest with --template", library));
    }
    snprintf(beside, sizeof beside, "%.*s.json", (int)(size - 3), library);
    template_path = beside;
  }
  const char *output = cli_get(cli, "output");
  CLI_TRY(cli, hx_manifest_complete(template_path, library, output == NULL ? template_path : output, cli->report));
  cli_say(cli, "wrote %s\n", output == NULL ? template_path : output);
  return CLI_DONE;
}
