// SPDX-License-Identifier: Apache-2.0
// heliox-bench-bsgs [PRESET [ROUNDS [VARIANT]]]: a product with a 128 x 128 matrix, 16 baby and 8 giant steps, on the
// cpu plugin, as it is written, behind the default pipeline, and with merged weighted sums, whole and lowered to
// primitives. They run in turn, so that what
// else the machine does meets all alike; least and middle times, the executables' own counters, memory with and without
// reuse.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/compile/compilation.h"
#include "core/link/executable.h"
#include "heliox/passes.h"
#include "tests/unit/bsgs.h"

#define ROUNDS_MAX 1000

static double now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return 1e3 * (double)time.tv_sec + 1e-6 * (double)time.tv_nsec;
}

static void must(hx_status_t status, const hx_report_t *report) {
  if (status == HX_STATUS_OK) return;
  for (size_t i = 0; i < hx_report_count(report); ++i) fprintf(stderr, "%s\n", hx_report_get(report, i)->text);
  fprintf(stderr, "bench: %s\n", hx_status_name(status));
  exit(1);
}

typedef struct variant {
  const char *name, *pipeline;
  hx_executable_t *executable;
  hx_value_t *outputs[1];
  double times[ROUNDS_MAX];
  double processor;  // the least time of the processor, all threads together
} variant_t;

static void bind_diagonals(hx_compilation_t *compilation, const bsgs_t *shape, const hx_params_t *params,
                           hx_report_t *report) {
  double *diagonal = calloc(shape->slots, sizeof *diagonal);
  if (diagonal == NULL) exit(1);
  for (uint32_t g = 0; g < shape->giant; ++g) {
    for (uint32_t b = 0; b < shape->baby; ++b) {
      char symbol[32];
      snprintf(symbol, sizeof symbol, "d%u_%u", g, b);
      for (uint32_t i = 0; i < shape->slots; ++i) diagonal[i] = (double)((i * 37 + g * 11 + b) % 101) / 101 - 0.5;
      hx_value_t *value = NULL;
      const hx_encode_options_t options = {.slots = shape->slots};
      must(hx_encode(params, diagonal, shape->slots, false, &options, &value, report), report);
      must(hx_compilation_bind_material(compilation, symbol, value, report), report);
      hx_value_release(value);
    }
  }
  free(diagonal);
}

static int by_time(const void *left, const void *right) {
  const double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

int main(int argc, char **argv) {
  const char *preset = argc > 1 ? argv[1] : "n14-d7-s40";
  const size_t rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 20;
  if (rounds == 0 || rounds > ROUNDS_MAX) return 2;
  hx_report_t *report = hx_report_create();
  hx_params_t *params = NULL;
  must(hx_params_preset(preset, &params, report), report);
  const hx_ring *ring = hx_params_ring(params);
  const bsgs_t shape = {
      .baby = 16, .giant = 8, .slots = 1u << (ring->log_n - 1), .limbs = ring->q_count, .scale = "2^40"};
  hx_plugins_t *plugins = NULL;
  hx_backend_t *backend = NULL;
  const hx_plugins_options_t where = {.path = HELIOX_BUILD_DIR "/lib/heliox/plugins", .only_path = true};
  must(hx_plugins_discover(&where, &plugins, report), report);
  must(hx_backend_create(plugins, "cpu", &backend, report), report);
  int64_t steps[32];
  const hx_keygen_options_t options = {
      .parts = HX_KEYS_ALL, .rotations = steps, .rotation_count = bsgs_steps(&shape, steps)};
  hx_keys_t *keys = NULL;
  must(hx_keys_generate(params, &options, &keys, report), report);
  hx_text_t text;
  bsgs_text(&shape, &text);
  hx_program_t *program = NULL;
  must(hx_program_parse(hx_str(text.data), "bsgs", &program, report), report);
  hx_compilation_t *compilation = NULL;
  must(hx_compilation_create(program, params, &compilation, report), report);
  must(hx_compilation_bind_keys(compilation, keys, report), report);
  bind_diagonals(compilation, &shape, params, report);
  const double one[] = {0.25, -0.5};
  hx_value_t *plaintext = NULL, *x = NULL;
  must(hx_encode(params, one, 2, false, NULL, &plaintext, report), report);
  must(hx_encrypt(keys, plaintext, false, &x, report), report);
  static variant_t variants[] = {{.name = "as written", .pipeline = ""},
                                 {.name = "default", .pipeline = NULL},
                                 {.name = "merged sums",
                                  .pipeline = "merge-weighted-sums,prepare-plaintexts,dve,cse,"
                                              "hoist-rotations,reuse-transforms"},
                                 {.name = "lowered",
                                  .pipeline = "merge-weighted-sums,prepare-plaintexts,infer-state,resolve-keys,lower,"
                                              "cse,reuse-transforms,dve"}};
  for (size_t v = 0; v < HX_COUNT_OF(variants); ++v) {
    must(hx_link(compilation, backend, variants[v].pipeline, &variants[v].executable, report), report);
    must(hx_run(variants[v].executable, (const hx_value_t *const *)&x, variants[v].outputs, report), report);
  }
  for (size_t r = 0; r < rounds; ++r) {
    for (size_t v = 0; v < HX_COUNT_OF(variants); ++v) {
      if (argc > 3 && strcmp(argv[3], variants[v].name) != 0) continue;  // that one alone, for a profile
      const double start = now(CLOCK_MONOTONIC), before = now(CLOCK_PROCESS_CPUTIME_ID);
      must(hx_run(variants[v].executable, (const hx_value_t *const *)&x, variants[v].outputs, report), report);
      variants[v].times[r] = now(CLOCK_MONOTONIC) - start;
      const double spent = now(CLOCK_PROCESS_CPUTIME_ID) - before;
      if (r == 0 || spent < variants[v].processor) variants[v].processor = spent;
    }
  }
  printf("%s, N = 2^%u, %zu rounds, milliseconds\n", preset, ring->log_n, rounds);
  for (size_t v = 0; v < HX_COUNT_OF(variants); ++v) {
    variant_t *variant = &variants[v];
    hx_run_stats_t stats;
    hx_executable_stats(variant->executable, &stats);
    qsort(variant->times, rounds, sizeof *variant->times, by_time);
    printf(
        "%-12s least %8.2f  middle %8.2f  (%.2fx)  processor %8.2f (%.2fx)  %3llu ModUp %3llu ModDown  %4llu calls  "
        "slab %.1f of %.1f MiB\n",
        variant->name, variant->times[0], variant->times[rounds / 2], variants[0].times[0] / variant->times[0],
        variant->processor, variants[0].processor / variant->processor, (unsigned long long)stats.mod_ups,
        (unsigned long long)stats.mod_downs, (unsigned long long)stats.calls, (double)stats.slab_bytes / 1048576,
        (double)stats.unshared_bytes / 1048576);
    hx_executable_release(variant->executable);
    hx_value_release(variant->outputs[0]);
  }
  hx_value_release(x);
  hx_value_release(plaintext);
  hx_compilation_release(compilation);
  hx_program_release(program);
  hx_text_deinit(&text);
  hx_keys_release(keys);
  hx_backend_release(backend);
  hx_plugins_release(plugins);
  hx_params_release(params);
  hx_report_release(report);
  return 0;
}
