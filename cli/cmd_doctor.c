// SPDX-License-Identifier: Apache-2.0
// doctor: plugins, devices and policies; what is wrong with this machine and what would mend it.
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/doctor.h"

static const char *const states[CLI_STATE_COUNT] = {"ok", "note", "warning", "fault"};

void cli_doctor_find(cli_doctor_t *doctor, const char *area, cli_state_t state, const char *remedy, const char *format,
                     ...) {
  char text[2048];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  ++doctor->counts[state];
  json_array_append_new(doctor->findings, json_pack("{s:s, s:s, s:s, s:s}", "area", area, "state", states[state],
                                                    "text", text, "remedy", remedy == NULL ? "" : remedy));
  if (doctor->cli->json || (doctor->cli->quiet && state < CLI_WARNING)) return;
  printf("%-12s %-8s %s\n", area, states[state], text);
  if (remedy != NULL) printf("%-12s          do: %s\n", "", remedy);
}

// A fault of a report: its hint, else what its code asks for.
static const char *remedy_of(const hx_fault_t *fault) {
  return fault->hint[0] != '\0' ? fault->hint : hx_code_info(fault->code)->remedy;
}

// Faults that were reported, as findings; the report is empty afterwards.
static void find_reported(cli_doctor_t *doctor, const char *area, cli_state_t state) {
  hx_report_t *report = doctor->cli->report;
  for (size_t i = 0; i < hx_report_count(report); ++i) {
    const hx_fault_t *fault = hx_report_get(report, i);
    const bool named = fault->source[0] == '\0' || strstr(fault->text, fault->source) != NULL;
    cli_doctor_find(doctor, area, state, remedy_of(fault), "%s%s%s: %s", named ? "" : fault->source, named ? "" : ": ",
                    hx_code_info(fault->code)->word, fault->text);
  }
  hx_report_clear(report);
}

// ------------------------------------------------------------------ plugins

static void find_record(cli_doctor_t *doctor, const hx_plugin_record_t *record) {
  const char *word = hx_code_info(record->code)->word;
  const char *remedy = record->hint[0] != '\0' ? record->hint : hx_code_info(record->code)->remedy;
  switch (record->state) {
    case HX_PLUGIN_USABLE:
      cli_doctor_find(doctor, "plugin", CLI_FINE, NULL, "%s %s (%s)", record->id, record->version, record->manifest);
      break;
    case HX_PLUGIN_DISABLED:
    case HX_PLUGIN_UNAVAILABLE:
    case HX_PLUGIN_SHADOWED:
      cli_doctor_find(doctor, "plugin", CLI_NOTE, remedy, "%s (%s): %s: %s", record->id, record->manifest, word,
                      record->text);
      break;
    case HX_PLUGIN_REFUSED:
      cli_doctor_find(doctor, "plugin", CLI_FAULT, remedy, "%s (%s): %s: %s%s%s%s%s",
                      record->id[0] != '\0' ? record->id : "?", record->manifest, word, record->text,
                      record->expected[0] != '\0' ? "; expected " : "", record->expected,
                      record->found[0] != '\0' ? ", found " : "", record->found);
      break;
  }
}

static size_t find_plugins(cli_doctor_t *doctor, const hx_plugins_t *plugins) {
  size_t usable = 0;
  for (size_t i = 0; i < hx_plugins_count(plugins); ++i) {
    usable += hx_plugins_get(plugins, i)->state == HX_PLUGIN_USABLE;
    find_record(doctor, hx_plugins_get(plugins, i));
  }
  if (usable > 0) return usable;
  const char *const *places = NULL;
  const size_t count = hx_plugins_search_path(plugins, &places);
  char searched[1024];
  size_t used = 0;
  searched[0] = '\0';
  for (size_t i = 0; i < count && used < sizeof searched; ++i) {
    const int size = snprintf(searched + used, sizeof searched - used, "%s%s", i > 0 ? ", " : "", places[i]);
    used += size > 0 ? (size_t)size : 0;
  }
  cli_doctor_find(doctor, "plugin", CLI_FAULT,
                  "install one (package heliox-plugin-cpu), or name its directory in HELIOX_PLUGIN_PATH",
                  "no usable plugin, so no program can run; searched: %s", searched);
  return 0;
}

// ------------------------------------------------------------------ devices

static void find_device(cli_doctor_t *doctor, const hx_device_verdict_t *device, bool probed) {
  if (device->code != HX_CODE_NONE) {
    cli_doctor_find(doctor, "device", CLI_FAULT, hx_code_info(device->code)->remedy, "%s: %s: %s%s%s%s%s",
                    device->device, hx_code_info(device->code)->word, device->text,
                    device->expected[0] != '\0' ? "; expected " : "", device->expected,
                    device->found[0] != '\0' ? ", found " : "", device->found);
    return;
  }
  char tested[96] = "";
  if (probed)
    snprintf(tested, sizeof tested, "; %u operations give the known answers, %u have none", device->tested,
             device->skipped);
  cli_doctor_find(doctor, "device", CLI_FINE, NULL, "%s: %s%s%s, %.1f GiB, %u compute units%s", device->device,
                  device->name, device->driver[0] != '\0' ? ", " : "", device->driver,
                  (double)device->memory_bytes / (1u << 30), device->compute_units, tested);
}

// Devices of one plugin; a plugin without any is a note, since another may do. Returns how many work.
static size_t find_devices(cli_doctor_t *doctor, const hx_plugin_record_t *record,
                           const hx_plugins_options_t *options) {
  cli_t *cli = doctor->cli;
  const bool probed = cli_has(cli, "probe");
  hx_plugin_probe_t *probe = NULL;
  const hx_status_t status = probed ? hx_plugin_probe(record->manifest, options, &probe, cli->report)
                                    : hx_plugin_devices(record->manifest, options, &probe, cli->report);
  if (status != HX_STATUS_OK) {
    find_reported(doctor, "device", status == HX_STATUS_UNAVAILABLE ? CLI_NOTE : CLI_FAULT);
    return 0;
  }
  const hx_device_verdict_t *devices = NULL;
  const size_t count = hx_plugin_probe_devices(probe, &devices);
  size_t working = 0;
  for (size_t i = 0; i < count; ++i) {
    working += devices[i].code == HX_CODE_NONE;
    find_device(doctor, &devices[i], probed);
  }
  hx_plugin_probe_release(probe);
  return working;
}

static void find_all_devices(cli_doctor_t *doctor, const hx_plugins_t *plugins, const hx_plugins_options_t *options) {
  size_t working = 0;
  for (size_t i = 0; i < hx_plugins_count(plugins); ++i) {
    const hx_plugin_record_t *record = hx_plugins_get(plugins, i);
    if (record->state == HX_PLUGIN_USABLE) working += find_devices(doctor, record, options);
  }
  if (working == 0)
    cli_doctor_find(doctor, "device", CLI_FAULT, "install heliox-plugin-cpu, or a driver for one of the plugins above",
                    "no usable plugin has a device that works");
}

// ------------------------------------------------------------------ policy

static void find_lock(cli_doctor_t *doctor, const hx_plugins_t *plugins) {
  cli_t *cli = doctor->cli;
  const char *lock = cli_has(cli, "locked") ? cli_get(cli, "locked") : getenv("HELIOX_LOCK");
  if (lock == NULL || lock[0] == '\0') {
    cli_doctor_find(doctor, "policy", CLI_FINE, NULL, "no lockfile: every plugin that passes its checks is used");
  } else if (hx_plugins_verify(plugins, lock, cli->report) == HX_STATUS_OK) {
    cli_doctor_find(doctor, "policy", CLI_FINE, NULL, "the plugins are those of the lockfile %s", lock);
  } else {
    find_reported(doctor, "policy", CLI_FAULT);
  }
}

static void find_signatures(cli_doctor_t *doctor) {
  const char *policy =
      cli_has(doctor->cli, "signatures") ? cli_get(doctor->cli, "signatures") : getenv("HELIOX_SIGNATURES");
  if (policy == NULL || policy[0] == '\0') policy = "off";
  const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
  char user[1024] = "";
  if (config != NULL && config[0] == '/') {
    snprintf(user, sizeof user, "%s/heliox/trust", config);
  } else if (home != NULL && home[0] == '/') {
    snprintf(user, sizeof user, "%s/.config/heliox/trust", home);
  }
  struct stat facts;
  const bool any = stat("/etc/heliox/trust", &facts) == 0 || (user[0] != '\0' && stat(user, &facts) == 0);
  if (strcmp(policy, "require") == 0 && !any) {
    cli_doctor_find(doctor, "policy", CLI_FAULT, "copy the vendors' .pub files there (docs/deployment.md)",
                    "signatures are required, but there are no trusted keys: neither /etc/heliox/trust nor %s exists",
                    user[0] != '\0' ? user : "a directory of the user");
    return;
  }
  cli_doctor_find(doctor, "policy", CLI_FINE, NULL, "signatures of manifests: %s", policy);
}

int cli_run_doctor(cli_t *cli) {
  cli_doctor_t doctor = {.cli = cli, .findings = json_array()};
  hx_plugins_options_t options;
  hx_plugins_t *plugins = NULL;
  hx_status_t status = doctor.findings == NULL ? HX_STATUS_OUT_OF_MEMORY : cli_plugins_options(cli, &options);
  if (status == HX_STATUS_OK) status = hx_plugins_discover(&options, &plugins, cli->report);
  if (status != HX_STATUS_OK) {
    json_decref(doctor.findings);
    return cli_fail(cli, status);
  }
  cli_say(cli, "heliox %s, plugin ABI %s, catalogue %u\n", hx_version(), hx_plugin_abi(), hx_ops_version());
  cli_doctor_machine(&doctor);
  cli_doctor_threads(&doctor);
  cli_doctor_variables(&doctor);
  cli_doctor_drivers(&doctor);
  find_reported(&doctor, "plugin", CLI_WARNING);  // what the search had to say
  if (find_plugins(&doctor, plugins) > 0) find_all_devices(&doctor, plugins, &options);
  find_lock(&doctor, plugins);
  find_signatures(&doctor);
  cli_doctor_files(&doctor);
  hx_plugins_release(plugins);
  const size_t faults = doctor.counts[CLI_FAULT], warnings = doctor.counts[CLI_WARNING];
  if (cli->json) {
    const int code =
        cli_print_json(json_pack("{s:b, s:s, s:s, s:i, s:I, s:I, s:o}", "ok", faults == 0, "version", hx_version(),
                                 "abi", hx_plugin_abi(), "catalogue", (int)hx_ops_version(), "faults",
                                 (json_int_t)faults, "warnings", (json_int_t)warnings, "findings", doctor.findings));
    return code != CLI_DONE ? code : faults > 0 ? CLI_NO : CLI_DONE;
  }
  json_decref(doctor.findings);
  cli_say(cli, "%s: %zu fault%s, %zu warning%s, %zu note%s\n", faults > 0 ? "something is wrong" : "nothing is wrong",
          faults, faults == 1 ? "" : "s", warnings, warnings == 1 ? "" : "s", doctor.counts[CLI_NOTE],
          doctor.counts[CLI_NOTE] == 1 ? "" : "s");
  return faults > 0 ? CLI_NO : CLI_DONE;
}
