// SPDX-License-Identifier: Apache-2.0
// heliox-bench-graph PROGRAM BACKEND [RUNS]: a program's runs as one graph of the device, and call by call. PROGRAM has
// one ciphertext as input and plaintexts as materials (examples/wdbc.mlir); the plugin's place is HELIOX_PLUGIN_PATH.
// Two inputs take turns, so that every run moves one. Printed are medians: of a whole run with its wait, and of what
// the host does besides waiting for the device. Bars: host below 30 us by graph; a run at least twice as fast by graph.
// Results of both ways are compared word for word.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/link/executable.h"
#include "heliox/heliox.h"

#define RUNS_MAX 10000

static hx_report_t *report;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return 1e6 * (double)time.tv_sec + 1e-3 * (double)time.tv_nsec;
}

static void must(hx_status_t status) {
  if (status == HX_STATUS_OK) return;
  for (size_t i = 0; i < hx_report_count(report); ++i) fprintf(stderr, "%s\n", hx_report_get(report, i)->text);
  fprintf(stderr, "bench: %s\n", hx_status_name(status));
  exit(1);
}

// The device's sync, timed.
static int32_t (*plain_sync)(hx_queue *, hx_error *);
static double waited;

static int32_t timed_sync(hx_queue *queue, hx_error *error) {
  const double start = now();
  const int32_t code = plain_sync(queue, error);
  waited += now() - start;
  return code;
}

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *times, size_t count) {
  qsort(times, count, sizeof *times, compare);
  return times[count / 2];
}

static hx_executable_t *link_program(const char *path, const hx_backend_t *backend, hx_value_t *const *out_inputs) {
  hx_program_t *program = NULL;
  hx_params_t *params = NULL;
  hx_keys_t *keys = NULL;
  hx_compilation_t *compilation = NULL;
  hx_executable_t *executable = NULL;
  hx_needs_t *needs = NULL;
  must(hx_program_load(path, &program, report));
  must(hx_params_preset(hx_program_params(program), &params, report));
  must(hx_program_needs(program, params, &needs, report));
  const hx_program_needs_t *need = hx_needs_get(needs);
  const hx_keygen_options_t wanted = {.parts = need->parts | HX_KEYS_PUBLIC,
                                      .rotations = need->steps,
                                      .rotation_count = need->element_count,
                                      .slots = need->slots};
  must(hx_keys_generate(params, &wanted, &keys, report));
  hx_needs_release(needs);
  must(hx_compilation_create(program, params, &compilation, report));
  must(hx_compilation_bind_keys(compilation, keys, report));
  const size_t slots = (size_t)1 << (hx_params_log_n(params) - 1);
  double *numbers = calloc(slots, sizeof *numbers);
  for (size_t i = 0; numbers != NULL && i < slots; ++i) numbers[i] = (double)(i % 97) / 97 - 0.5;
  const hx_port_t *ports = NULL;
  const size_t count = hx_compilation_materials(compilation, &ports);
  for (size_t i = 0; i < count; ++i)
    must(hx_compilation_encode_material(compilation, ports[i].name, numbers, slots, false, report));
  for (size_t i = 0; i < 2; ++i) {
    hx_value_t *plain = NULL, *host = NULL;
    must(hx_encode(params, numbers, slots, false, &(hx_encode_options_t){.secret = true}, &plain, report));
    must(hx_encrypt(keys, plain, false, &host, report));
    must(hx_value_to_device(host, backend, (hx_value_t **)(uintptr_t)&out_inputs[i], report));
    hx_value_release(plain);
    hx_value_release(host);
  }
  must(hx_link(compilation, backend, NULL, &executable, report));
  free(numbers);
  hx_compilation_release(compilation);
  hx_keys_release(keys);
  hx_params_release(params);
  hx_program_release(program);
  return executable;
}

// The last result of each input.
static double measure(hx_executable_t *executable, hx_value_t *const *inputs, bool apart, size_t runs,
                      hx_value_t **out_results) {
  static double whole[RUNS_MAX], host[RUNS_MAX];
  const hx_run_options_t options = {.apart = apart};
  for (size_t i = 0; i < runs + 20; ++i) {
    const hx_value_t *const given[] = {inputs[i % 2]};
    hx_value_t *output = NULL;
    waited = 0;
    const double start = now();
    must(hx_run_with(executable, given, &output, &options, report));
    const double time = now() - start;
    if (i + 2 >= runs + 20) must(hx_value_to_host(output, &out_results[i % 2], report));
    hx_value_release(output);
    if (i < 20) continue;
    whole[i - 20] = time;
    host[i - 20] = time - waited;
  }
  const double run = median(whole, runs);
  printf("%-12s run %9.1f us   host %9.1f us\n", apart ? "call by call" : "by graph", run, median(host, runs));
  return run;
}

int main(int argc, char **argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: heliox-bench-graph PROGRAM BACKEND [RUNS]\n");
    return 2;
  }
  const long asked = argc > 3 ? strtol(argv[3], NULL, 10) : 500;
  const size_t runs = asked > 0 && asked <= RUNS_MAX ? (size_t)asked : 500;
  hx_plugins_t *plugins = NULL;
  hx_backend_t *backend = NULL;
  hx_value_t *inputs[2] = {NULL, NULL};
  report = hx_report_create();
  must(hx_plugins_discover(NULL, &plugins, report));
  must(hx_backend_create(plugins, argv[2], &backend, report));
  hx_executable_t *executable = link_program(argv[1], backend, inputs);
  plain_sync = executable->device->queue.sync;
  executable->device->queue.sync = timed_sync;
  hx_run_stats_t stats;
  hx_value_t *results[2][2] = {{NULL, NULL}, {NULL, NULL}};
  const double apart = measure(executable, inputs, true, runs, results[0]),
               together = measure(executable, inputs, false, runs, results[1]);
  const bool same = hx_value_equal(results[0][0], results[1][0]) && hx_value_equal(results[0][1], results[1][1]);
  hx_executable_stats(executable, &stats);
  printf("%.2f times as fast; %llu calls a run; %llu recordings, %llu replays, %llu of them after a move\n",
         apart / together, (unsigned long long)stats.calls, (unsigned long long)stats.recordings,
         (unsigned long long)stats.replays, (unsigned long long)stats.updates);
  printf("results are %s\n", same ? "the same" : "NOT THE SAME");
  executable->device->queue.sync = plain_sync;
  for (int i = 0; i < 4; ++i) hx_value_release(results[i / 2][i % 2]);
  hx_executable_release(executable);
  hx_value_release(inputs[0]);
  hx_value_release(inputs[1]);
  hx_backend_release(backend);
  hx_plugins_release(plugins);
  hx_report_release(report);
  return same ? 0 : 1;
}
