// SPDX-License-Identifier: Apache-2.0
// check, run.
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/message.h"
#include "cli/ranks.h"
#include "cli/watch.h"

// ------------------------------------------------------------------ run

typedef struct {
  cli_ranks_t ranks;
  hx_params_t *params;  // of the keys' directory, where it is read for several ranks
  hx_keys_t *keys;
  hx_program_t *program;
  hx_compilation_t *compilation;
  hx_plugins_t *plugins;
  hx_backend_t *backend;
  hx_executable_t *executable;
  hx_value_t **inputs, **outputs;
  size_t input_count, output_count;
  double load_ms, link_ms, run_ms;
  int interrupted;  // signal that came while it ran, or 0
} run_t;

static void run_deinit(run_t *run) {
  for (size_t i = 0; i < run->input_count; ++i) hx_value_release(run->inputs[i]);
  for (size_t i = 0; i < run->output_count; ++i) hx_value_release(run->outputs[i]);
  free(run->inputs);
  free(run->outputs);
  hx_executable_release(run->executable);
  hx_backend_release(run->backend);
  cli_ranks_close(&run->ranks);
  hx_plugins_release(run->plugins);
  hx_compilation_release(run->compilation);
  hx_program_release(run->program);
  hx_keys_release(run->keys);
  hx_params_release(run->params);
}

static bool port_index(const hx_port_t *ports, size_t count, const char *name, size_t *out) {
  for (size_t i = 0; i < count; ++i) {
    if (strcmp(ports[i].name, name) == 0) {
      *out = i;
      return true;
    }
  }
  return false;
}

static hx_status_t load_inputs(cli_t *cli, run_t *run) {
  const hx_port_t *ports = NULL;
  run->input_count = hx_executable_inputs(run->executable, &ports);
  run->inputs = calloc(run->input_count + 1, sizeof *run->inputs);
  if (run->inputs == NULL) return HX_STATUS_OUT_OF_MEMORY;
  for (int i = 0; cli_get_at(cli, "input", i) != NULL; ++i) {
    char name[128];
    const char *path = NULL;
    hx_status_t status = cli_split(cli, cli_get_at(cli, "input", i), name, sizeof name, &path);
    if (status != HX_STATUS_OK) return status;
    size_t index;
    if (!port_index(ports, run->input_count, name, &index)) {
      return hx_report_fail(cli->report, HX_CODE_INPUT, "the program has no input '%s'%s%s", name,
                            run->input_count > 0 ? "; its first is " : "", run->input_count > 0 ? ports[0].name : "");
    }
    if (run->inputs[index] != NULL)
      return hx_report_fail(cli->report, HX_CODE_INPUT, "input '%s' is given twice", name);
    status = cli_load_input(cli, hx_compilation_params(run->compilation), &ports[index], path, &run->inputs[index]);
    if (status != HX_STATUS_OK) return status;
  }
  hx_status_t status = HX_STATUS_OK;
  for (size_t i = 0; i < run->input_count; ++i) {
    if (run->inputs[i] == NULL)
      status = hx_report_fail(cli->report, HX_CODE_INPUT, "input '%s' is missing: give -i %s=FILE", ports[i].name,
                              ports[i].name);
  }
  return status;
}

// To the memory of the device that computes, where that is not the host's: hx_run itself never transfers.
static hx_status_t place_inputs(cli_t *cli, run_t *run) {
  for (size_t i = 0; i < run->input_count; ++i) {
    hx_value_t *placed = NULL;
    const hx_status_t status = hx_value_to_device(run->inputs[i], run->backend, &placed, cli->report);
    if (status != HX_STATUS_OK) return status;
    hx_value_release(run->inputs[i]);
    run->inputs[i] = placed;
  }
  return HX_STATUS_OK;
}

static hx_status_t fetch_outputs(cli_t *cli, run_t *run) {
  for (size_t i = 0; i < run->output_count; ++i) {
    hx_value_t *fetched = NULL;
    const hx_status_t status = hx_value_to_host(run->outputs[i], &fetched, cli->report);
    if (status != HX_STATUS_OK) return status;
    hx_value_release(run->outputs[i]);
    run->outputs[i] = fetched;
  }
  return HX_STATUS_OK;
}

// Every -o must name an output, before anything runs.
static hx_status_t check_outputs(cli_t *cli, run_t *run) {
  const hx_port_t *ports = NULL;
  run->output_count = hx_executable_outputs(run->executable, &ports);
  run->outputs = calloc(run->output_count + 1, sizeof *run->outputs);
  if (run->outputs == NULL) return HX_STATUS_OUT_OF_MEMORY;
  if (!cli_has(cli, "output"))
    return hx_report_fail(cli->report, HX_CODE_USAGE, "heliox run needs -o NAME=FILE for at least one output");
  for (int i = 0; cli_get_at(cli, "output", i) != NULL; ++i) {
    char name[128];
    const char *path = NULL;
    const hx_status_t status = cli_split(cli, cli_get_at(cli, "output", i), name, sizeof name, &path);
    if (status != HX_STATUS_OK) return status;
    size_t index;
    if (!port_index(ports, run->output_count, name, &index)) {
      return hx_report_fail(cli->report, HX_CODE_INPUT, "the program has no output '%s'%s%s", name,
                            run->output_count > 0 ? "; its first is " : "", run->output_count > 0 ? ports[0].name : "");
    }
  }
  return HX_STATUS_OK;
}

// A public number is a line of text.
static hx_status_t save_number(cli_t *cli, const hx_value_t *number, const char *type, const char *path) {
  char text[64];
  if (strcmp(type, "f64") == 0) {
    snprintf(text, sizeof text, "%.17g\n", hx_value_get_real(number));
  } else {
    snprintf(text, sizeof text, "%lld\n", (long long)hx_value_get_integer(number));
  }
  return cli_write_file(path, text, strlen(text), cli->report);
}

static hx_status_t save_outputs(cli_t *cli, run_t *run) {
  const hx_port_t *ports = NULL;
  hx_executable_outputs(run->executable, &ports);
  hx_status_t status = HX_STATUS_OK;
  for (int i = 0; cli_get_at(cli, "output", i) != NULL && status == HX_STATUS_OK; ++i) {
    char name[128];
    const char *path = NULL;
    size_t index = 0;
    status = cli_split(cli, cli_get_at(cli, "output", i), name, sizeof name, &path);
    if (status != HX_STATUS_OK || !port_index(ports, run->output_count, name, &index)) return HX_STATUS_INTERNAL;
    if (hx_value_kind(run->outputs[index]) == HX_VALUE_NUMBER) {
      status = save_number(cli, run->outputs[index], ports[index].type, path);
      continue;
    }
    const hx_named_value_t named = {.name = name, .value = run->outputs[index]};
    status = hx_values_save(&named, 1, false, path, cli->report);
    if (status == HX_STATUS_OK)
      cli_say(cli, "%s: %s, %.2f MiB\n", name, path, (double)hx_value_bytes(run->outputs[index]) / 1048576);
  }
  return status;
}

static hx_status_t write_text_option(cli_t *cli, const char *option, const char *text) {
  const char *path = cli_get(cli, option);
  return path == NULL ? HX_STATUS_OK : cli_write_file(path, text, strlen(text), cli->report);
}

// One process: keys, program, materials, backend.
static hx_status_t load_alone(cli_t *cli, run_t *run, const char *directory) {
  hx_status_t status = cli_load_keys(cli, directory, HX_KEYS_EVALUATION, &run->keys);
  if (status == HX_STATUS_OK)
    status = cli_load_compilation(cli, cli->arguments[0], hx_keys_params(run->keys), &run->program, &run->compilation);
  if (status == HX_STATUS_OK) status = cli_bind_materials(cli, run->compilation);
  return status == HX_STATUS_OK ? cli_backend(cli, &run->plugins, &run->backend) : status;
}

static hx_status_t load_program(cli_t *cli, run_t *run, const char *directory) {
  char path[4096];
  if (snprintf(path, sizeof path, "%s/params.hx", directory) >= (int)sizeof path)
    return hx_report_fail(cli->report, HX_CODE_IO, "%.100s...: the path is too long", directory);
  const uint32_t flags = HX_PARAMS_INSECURE;  // as for keys: who made them was asked
  hx_status_t status = hx_params_load(path, flags, &run->params, cli->report);
  if (status == HX_STATUS_OK)
    status = cli_load_compilation(cli, cli->arguments[0], run->params, &run->program, &run->compilation);
  if (status == HX_STATUS_OK) status = cli_bind_materials(cli, run->compilation);
  if (status != HX_STATUS_OK || !cli_has(cli, "shard")) return status;
  const hx_shard_spec_t spec = {.kind = cli_get(cli, "shard"),
                                .rank = run->ranks.rank,
                                .size = run->ranks.size,
                                .pipeline = cli_get(cli, "pipeline")};
  return hx_compilation_shard(run->compilation, &spec, NULL, cli->report);
}

// Several: the group comes first, so that every rank hears where another fails; keys come last, when it is known which.
static hx_status_t load_spread(cli_t *cli, run_t *run, const char *directory) {
  char *list = cli_ranks_backend(cli, true);
  hx_status_t status = list == NULL ? HX_STATUS_OUT_OF_MEMORY : cli_backend_of(cli, list, &run->plugins, &run->backend);
  free(list);
  if (status == HX_STATUS_OK) status = cli_ranks_open(cli, &run->ranks, &run->backend);
  if (status != HX_STATUS_OK) return status;
  status = cli_ranks_join(cli, &run->ranks, load_program(cli, run, directory));
  if (status == HX_STATUS_OK)
    status = hx_group_compare_programs(run->ranks.world, hx_compilation_program(run->compilation), NULL, cli->report);
  if (status == HX_STATUS_OK)
    status = cli_ranks_load_keys(cli, &run->ranks, directory, run->params, hx_compilation_program(run->compilation),
                                 &run->keys);
  return status;
}

static hx_status_t link_run(cli_t *cli, run_t *run) {
  hx_status_t status = hx_compilation_bind_keys(run->compilation, run->keys, cli->report);
  // What --pipeline asks for has been done before the work was spread.
  const char *pipeline = cli_has(cli, "shard") ? NULL : cli_get(cli, "pipeline");
  if (status == HX_STATUS_OK) status = hx_link(run->compilation, run->backend, pipeline, &run->executable, cli->report);
  if (status != HX_STATUS_OK || !cli_ranks_writes(&run->ranks)) return status;
  status = write_text_option(cli, "manifest", hx_executable_manifest(run->executable));
  return status == HX_STATUS_OK ? write_text_option(cli, "source", hx_executable_source(run->executable)) : status;
}

static hx_status_t prepare_run(cli_t *cli, run_t *run) {
  const char *directory = NULL;
  bool spread = false;
  hx_status_t status = cli_need(cli, "keys", &directory);
  if (status == HX_STATUS_OK) status = cli_ranks_wanted(cli, &spread);
  const double start = cli_now_ms();
  if (status == HX_STATUS_OK) status = spread ? load_spread(cli, run, directory) : load_alone(cli, run, directory);
  const double loaded = cli_now_ms();
  if (status == HX_STATUS_OK) status = link_run(cli, run);
  run->load_ms = loaded - start;
  run->link_ms = cli_now_ms() - loaded;
  return status;
}

static void print_noise(const char *name, const hx_value_t *value) {
  hx_value_noise_t noise;
  hx_value_noise(value, &noise);
  if (noise.known) {
    printf("%s: predicted slot noise %.3g (sigma of the worst slots), %.1f bits, |z| up to %.3g, headroom %.1f bits\n",
           name, noise.slot_sigma, noise.precision, noise.magnitude, noise.headroom_bits);
  } else {
    printf("%s: noise not predicted\n", name);
  }
}

static json_t *noise_json(const run_t *run) {
  const hx_port_t *ports = NULL;
  hx_executable_outputs(run->executable, &ports);
  json_t *list = json_array();
  for (size_t i = 0; i < run->output_count; ++i) {
    hx_value_noise_t noise;
    hx_value_noise(run->outputs[i], &noise);
    if (!noise.known) continue;
    json_array_append_new(
        list, json_pack("{s:s, s:f, s:f, s:f, s:f}", "output", ports[i].name, "slot_sigma", noise.slot_sigma,
                        "precision", isfinite(noise.precision) ? noise.precision : 0, "magnitude", noise.magnitude,
                        "headroom_bits", isfinite(noise.headroom_bits) ? noise.headroom_bits : 0));
  }
  return list;
}

// What this rank has moved, and how many ranks there are.
static json_t *ranks_json(const run_t *run) {
  hx_group_volume_t volume;
  hx_group_volume(run->ranks.world, &volume);
  return json_pack("{s:I, s:I, s:I, s:I, s:I}", "size", (json_int_t)run->ranks.size, "rank",
                   (json_int_t)run->ranks.rank, "sent", (json_int_t)volume.sent, "received",
                   (json_int_t)volume.received, "calls", (json_int_t)volume.calls);
}

static void print_ranks(const run_t *run) {
  hx_group_volume_t volume;
  hx_group_volume(run->ranks.world, &volume);
  printf("%u ranks: rank %u sent %.3f MiB, received %.3f MiB in %llu calls\n", run->ranks.size, run->ranks.rank,
         (double)volume.sent / 1048576, (double)volume.received / 1048576, (unsigned long long)volume.calls);
}

static int report_run(cli_t *cli, const run_t *run) {
  if (cli->is_silent) return CLI_DONE;
  hx_run_stats_t stats;
  hx_executable_stats(run->executable, &stats);
  const hx_params_t *params = hx_compilation_params(run->compilation);
  if (cli->json) {
    json_t *json =
        json_pack("{s:b, s:b, s:f, s:f, s:f, s:I, s:I, s:o}", "ok", 1, "insecure", hx_params_is_insecure(params),
                  "load_ms", run->load_ms, "link_ms", run->link_ms, "run_ms", run->run_ms, "calls",
                  (json_int_t)stats.calls, "slab_bytes", (json_int_t)stats.slab_bytes, "noise", noise_json(run));
    if (json != NULL && run->ranks.world != NULL) json_object_set_new(json, "ranks", ranks_json(run));
    return cli_print_json(json);
  }
  if (cli_has(cli, "stats")) {
    const hx_port_t *ports = NULL;
    hx_executable_outputs(run->executable, &ports);
    for (size_t i = 0; i < run->output_count; ++i) print_noise(ports[i].name, run->outputs[i]);
    printf("load %.1f ms, link %.1f ms, run %.1f ms: %llu calls, slab %.1f MiB\n", run->load_ms, run->link_ms,
           run->run_ms, (unsigned long long)stats.calls, (double)stats.slab_bytes / 1048576);
    if (run->ranks.world != NULL) print_ranks(run);
  }
  return CLI_DONE;
}

// HELIOX_TRACE names a file where --trace does not.
static const char *trace_path(const cli_t *cli) {
  return cli_has(cli, "trace") ? cli_get(cli, "trace") : getenv("HELIOX_TRACE");
}

static hx_status_t execute(cli_t *cli, run_t *run) {
  const char *trace = trace_path(cli);
  hx_run_stats_t stats;
  hx_executable_stats(run->executable, &stats);
  if (cli_has(cli, "stats") && !cli->json)
    cli_say(cli, "planned: %.1f MiB beside inputs, outputs and materials\n", (double)stats.peak_bytes / 1048576);
  cli_watch_t watch;
  hx_run_options_t options = {.cancelled = cli_watch_cancelled, .progress = cli_watch_progress, .argument = &watch};
  hx_record_t *replay = NULL;
  hx_status_t status = HX_STATUS_OK;
  if (trace != NULL) status = hx_trace_create(&options.trace, cli->report);
  if (status == HX_STATUS_OK && cli_has(cli, "record")) status = hx_record_create(&options.record, cli->report);
  if (status == HX_STATUS_OK && cli_has(cli, "replay"))
    status = hx_record_load(cli_get(cli, "replay"), &replay, cli->report);
  options.replay = replay;
  const double start = cli_now_ms();
  cli_watch_begin(&watch, cli);
  if (status == HX_STATUS_OK)
    status = hx_run_with(run->executable, (const hx_value_t *const *)run->inputs, run->outputs, &options, cli->report);
  run->interrupted = cli_watch_end(&watch);
  run->run_ms = cli_now_ms() - start;
  if (status == HX_STATUS_OK && trace != NULL) status = hx_trace_save(options.trace, trace, cli->report);
  if (status == HX_STATUS_OK && options.record != NULL)
    status = hx_record_save(options.record, cli_get(cli, "record"), cli->report);
  hx_trace_release(options.trace);
  hx_record_release(options.record);
  hx_record_release(replay);
  return status;
}

// The noise of the results, predicted on the program as it was: what one rank's program says of the others is not
// known.
static hx_status_t note_noise(cli_t *cli, run_t *run) {
  const hx_value_t *const *inputs = (const hx_value_t *const *)run->inputs;
  if (!cli_has(cli, "shard")) return hx_compilation_note_noise(run->compilation, inputs, run->outputs, cli->report);
  hx_program_t *program = NULL;
  hx_compilation_t *whole = NULL;
  hx_status_t status = cli_load_compilation(cli, cli->arguments[0], run->params, &program, &whole);
  if (status == HX_STATUS_OK) status = cli_bind_materials(cli, whole);
  if (status == HX_STATUS_OK) status = hx_compilation_note_noise(whole, inputs, run->outputs, cli->report);
  hx_compilation_release(whole);
  hx_program_release(program);
  return status;
}

// Rank 0 writes, once all ranks are through: a rank that has failed leaves no output of the others.
static hx_status_t finish_run(cli_t *cli, run_t *run) {
  hx_status_t status = fetch_outputs(cli, run);
  if (status == HX_STATUS_OK && cli_ranks_writes(&run->ranks)) status = note_noise(cli, run);
  status = cli_ranks_join(cli, &run->ranks, status);
  return status == HX_STATUS_OK && cli_ranks_writes(&run->ranks) ? save_outputs(cli, run) : status;
}

int cli_run_run(cli_t *cli) {
  run_t run = {0};
  hx_status_t status = prepare_run(cli, &run);
  if (status == HX_STATUS_OK) status = check_outputs(cli, &run);
  if (status == HX_STATUS_OK) status = load_inputs(cli, &run);
  if (status == HX_STATUS_OK) status = place_inputs(cli, &run);
  if (run.executable != NULL || run.keys != NULL) status = cli_ranks_join(cli, &run.ranks, status);
  if (status == HX_STATUS_OK) status = execute(cli, &run);
  if (status == HX_STATUS_OK) status = finish_run(cli, &run);
  const int code = status == HX_STATUS_OK ? report_run(cli, &run) : cli_fail(cli, status);
  run_deinit(&run);
  // Whoever waits for this program sees the signal that ended it, as without a handler.
  if (status == HX_STATUS_CANCELLED && run.interrupted != 0) raise(run.interrupted);
  return code;
}
