// SPDX-License-Identifier: Apache-2.0
// heliox-bench-ranks DIR PROGRAM KIND [ROUNDS [PLUGINS]]: a row of the measured points of docs/distributed.md.
// Started once a rank (mpirun -n 2 heliox-bench-ranks /tmp/x batch batch).
//   DIR      empty folder that all ranks see; rank 0 leaves keys, input and expected result in it
//   PROGRAM  demo (examples/wdbc.mlir), batch (examples/wdbc-batch.mlir), product (128 x 128, 16 baby and 8 giant
//   steps) KIND     limbs, terms, batch PLUGINS  of the backend; default cpu,mpi
// Rank 0 runs the program alone, then all ranks run it together: least and middle times, bytes against what was
// predicted, results against the bits of the run alone.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/compile/compilation.h"
#include "heliox/file.h"
#include "heliox/shard.h"
#include "tests/unit/bsgs.h"

#define ROUNDS_MAX 1000
#define PATH_ROOM 4096
#define WAIT_MS 600000

typedef struct run {
  hx_report_t *report;
  const char *directory, *program, *kind;
  size_t rounds;
  hx_params_t *params;
  hx_backend_t *backend, *grouped;
  hx_group_t *group;
  hx_keys_t *keys;
  hx_value_t *input, *expected;
  uint32_t rank, size;
} run_t;

static const bsgs_t shape = {.baby = 16, .giant = 8, .slots = 8192, .limbs = 8, .scale = "2^40"};

static void must(hx_status_t status, run_t *run) {
  if (status == HX_STATUS_OK) return;
  for (size_t i = 0; i < hx_report_count(run->report); ++i)
    fprintf(stderr, "rank %u: %s\n", run->rank, hx_report_get(run->report, i)->text);
  fprintf(stderr, "rank %u: %s\n", run->rank, hx_status_name(status));
  exit(1);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return 1e3 * (double)time.tv_sec + 1e-6 * (double)time.tv_nsec;
}

static int by_time(const void *left, const void *right) {
  const double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

static const char *in_directory(const run_t *run, const char *name, char path[PATH_ROOM]) {
  snprintf(path, PATH_ROOM, "%s/%s", run->directory, name);
  return path;
}

// ------------------------------------------------------------------ what is run

static void fill(double *values, size_t count, uint32_t seed) {
  for (size_t i = 0; i < count; ++i) values[i] = (double)((i * 37 + seed * 11) % 101) / 101 - 0.5;
}

static hx_program_t *load_program(run_t *run) {
  hx_program_t *program = NULL;
  char path[PATH_ROOM];
  if (strcmp(run->program, "product") == 0) {
    hx_text_t text;
    bsgs_text(&shape, &text);
    must(hx_program_parse(hx_str(text.data), "product", &program, run->report), run);
    hx_text_deinit(&text);
    return program;
  }
  const bool is_batch = strcmp(run->program, "batch") == 0;
  if (!is_batch && strcmp(run->program, "demo") != 0) {
    fprintf(stderr, "'%s' is no program: demo, batch or product\n", run->program);
    exit(2);
  }
  snprintf(path, sizeof path, "%s/examples/%s", HELIOX_SOURCE_DIR, is_batch ? "wdbc-batch.mlir" : "wdbc.mlir");
  must(hx_program_load(path, &program, run->report), run);
  return program;
}

static hx_compilation_t *compile(run_t *run, bool binds) {
  hx_program_t *program = load_program(run);
  hx_compilation_t *compilation = NULL;
  must(hx_compilation_create(program, run->params, &compilation, run->report), run);
  hx_program_release(program);
  if (!binds) return compilation;
  must(hx_compilation_bind_keys(compilation, run->keys, run->report), run);
  const hx_port_t *ports = NULL;
  double *values = calloc(shape.slots, sizeof *values);
  if (values == NULL) exit(1);
  const size_t count = hx_compilation_materials(compilation, &ports);
  char(*symbols)[64] = calloc(count + 1, sizeof *symbols);
  size_t plaintexts = 0;
  for (size_t i = 0; symbols != NULL && i < count; ++i) {
    if (strstr(ports[i].type, "plaintext") != NULL) snprintf(symbols[plaintexts++], 64, "%s", ports[i].name);
  }
  for (size_t i = 0; i < plaintexts; ++i) {
    fill(values, shape.slots, (uint32_t)i);
    must(hx_compilation_encode_material(compilation, symbols[i], values, shape.slots, false, run->report), run);
  }
  free(symbols);
  free(values);
  return compilation;
}

// Rank 0 plays the client: keys for the program, an input.
static void prepare(run_t *run) {
  char path[PATH_ROOM];
  hx_compilation_t *compilation = compile(run, false);
  hx_needs_t *needs = NULL;
  must(hx_program_needs(hx_compilation_program(compilation), run->params, &needs, run->report), run);
  const hx_program_needs_t *need = hx_needs_get(needs);
  const hx_keygen_options_t options = {.parts = need->parts | HX_KEYS_SECRET | HX_KEYS_PUBLIC,
                                       .rotations = need->steps,
                                       .rotation_count = need->element_count,
                                       .slots = need->slots};
  hx_keys_t *keys = NULL;
  must(hx_keys_generate(run->params, &options, &keys, run->report), run);
  must(hx_keys_save(keys, in_directory(run, "keys", path), need->parts, true, run->report), run);
  const size_t items = strcmp(run->program, "batch") == 0 ? 4 : 1;
  double *values = calloc(items * shape.slots, sizeof *values);
  if (values == NULL) exit(1);
  fill(values, items * shape.slots, 5);
  hx_value_t *plaintext = NULL, *input = NULL;
  if (items > 1) {
    must(hx_encode_batch(run->params, values, items, shape.slots, false, NULL, &plaintext, run->report), run);
  } else {
    must(hx_encode(run->params, values, shape.slots, false, NULL, &plaintext, run->report), run);
  }
  must(hx_encrypt(keys, plaintext, false, &input, run->report), run);
  const hx_named_value_t named = {.name = "value", .value = input};
  must(hx_values_save(&named, 1, false, in_directory(run, "x.hx", path), run->report), run);
  free(values);
  hx_value_release(plaintext);
  hx_value_release(input);
  hx_keys_release(keys);
  hx_needs_release(needs);
  hx_compilation_release(compilation);
}

// ------------------------------------------------------------------ measuring

static void time_rounds(run_t *run, hx_executable_t *executable, bool together, double *times, hx_value_t **output) {
  for (size_t r = 0; r <= run->rounds; ++r) {  // the first is warm-up
    hx_value_release(*output);
    *output = NULL;
    if (together) must(hx_group_agree(run->group, "round", 5, run->report), run);
    const double start = now();
    must(hx_run(executable, (const hx_value_t *const *)&run->input, output, run->report), run);
    if (r > 0) times[r - 1] = now() - start;
  }
  qsort(times, run->rounds, sizeof *times, by_time);
}

// The program of one rank alone: what the passes of a kind cost by themselves (limbs: lowered to primitives).
static double time_front(run_t *run) {
  static double times[ROUNDS_MAX];
  const hx_shard_spec_t spec = {.kind = run->kind, .rank = 0, .size = 1};
  hx_compilation_t *compilation = compile(run, true);
  hx_executable_t *executable = NULL;
  hx_value_t *output = NULL;
  must(hx_compilation_shard(compilation, &spec, NULL, run->report), run);
  must(hx_link(compilation, run->backend, NULL, &executable, run->report), run);
  time_rounds(run, executable, false, times, &output);
  hx_value_release(output);
  hx_executable_release(executable);
  hx_compilation_release(compilation);
  return times[run->rounds / 2];
}

// Microseconds of one agreement of all ranks without a payload.
static double time_agreement(run_t *run) {
  const int count = 50;
  must(hx_group_agree(run->group, "begin", 5, run->report), run);
  const double start = now();
  for (int i = 0; i < count; ++i) must(hx_group_agree(run->group, "agree", 5, run->report), run);
  return 1e3 * (now() - start) / count;
}

static void run_alone(run_t *run, double *times) {
  char path[PATH_ROOM];
  hx_compilation_t *compilation = compile(run, true);
  hx_executable_t *executable = NULL;
  must(hx_link(compilation, run->backend, NULL, &executable, run->report), run);
  time_rounds(run, executable, false, times, &run->expected);
  const hx_named_value_t named = {.name = "value", .value = run->expected};
  must(hx_values_save(&named, 1, false, in_directory(run, "expected.hx", path), run->report), run);
  hx_executable_release(executable);
  hx_compilation_release(compilation);
}

static void predict_bytes(run_t *run, const hx_compilation_t *compilation, hx_group_volume_t *out) {
  hx_collectives_t *steps = NULL;
  must(hx_collectives_create(hx_compilation_program(compilation), run->params, NULL, run->rank, run->size, &steps,
                             run->report),
       run);
  *out = (hx_group_volume_t){0};
  for (size_t i = 0; i < hx_collectives_count(steps); ++i) {
    const hx_collective_t *step = hx_collectives_get(steps, i);
    out->sent += step->times * step->sent;
    out->received += step->times * step->received;
  }
  hx_collectives_release(steps);
}

static double percent(uint64_t measured, uint64_t predicted) {
  return predicted == 0 ? (measured == 0 ? 0 : 100) : 100 * ((double)measured / (double)predicted - 1);
}

static void run_together(run_t *run, const double *alone) {
  static double times[ROUNDS_MAX];
  const double front = run->rank == 0 ? time_front(run) : 0;
  const double agreement = time_agreement(run);
  char path[PATH_ROOM];
  hx_compilation_t *compilation = compile(run, true);
  const hx_shard_spec_t spec = {.kind = run->kind, .rank = run->rank, .size = run->size};
  hx_scaling_t scaling;
  hx_group_volume_t before, after, predicted;
  hx_executable_t *executable = NULL;
  hx_value_t *output = NULL;
  must(hx_shard_predict(compilation, &spec, run->size, &scaling, run->report), run);
  must(hx_compilation_shard(compilation, &spec, NULL, run->report), run);
  must(hx_group_compare_programs(run->group, hx_compilation_program(compilation), NULL, run->report), run);
  predict_bytes(run, compilation, &predicted);
  must(hx_link(compilation, run->grouped, NULL, &executable, run->report), run);
  hx_group_volume(run->group, &before);
  time_rounds(run, executable, true, times, &output);
  hx_group_volume(run->group, &after);
  if (run->expected == NULL)
    must(hx_value_load(in_directory(run, "expected.hx", path), NULL, run->params, &run->expected, run->report), run);
  if (!hx_value_equal(output, run->expected)) {
    fprintf(stderr, "rank %u has other bits than the run alone\n", run->rank);
    exit(1);
  }
  const uint64_t sent = (after.sent - before.sent) / (run->rounds + 1),
                 received = (after.received - before.received) / (run->rounds + 1);
  if (run->rank == 0) {
    printf(
        "%-8s %-6s ranks %u  alone %9.3f ms (middle %9.3f)  together %9.3f (middle %9.3f)  speedup %.2f  share %.3f\n",
        run->program, run->kind, run->size, alone[0], alone[run->rounds / 2], times[0], times[run->rounds / 2],
        alone[run->rounds / 2] / times[run->rounds / 2], scaling.share);
    printf(
        "%-8s %-6s ranks %u  rank 0 gives %llu bytes (predicted %llu, %+.2f %%), takes %llu (predicted %llu, %+.2f "
        "%%)\n",
        run->program, run->kind, run->size, (unsigned long long)sent, (unsigned long long)predicted.sent,
        percent(sent, predicted.sent), (unsigned long long)received, (unsigned long long)predicted.received,
        percent(received, predicted.received));
  }
  if (run->rank == 0) {
    printf("%-8s %-6s ranks %u  one rank's passes alone %9.3f ms (middle), %llu calls, an agreement %.1f us\n",
           run->program, run->kind, run->size, front, (unsigned long long)scaling.collectives, agreement);
    // A row of docs/distributed.md.
    printf("| %s | %s | %u | %.1f | %.1f | %.1f | %.2f | %.2f | %llu, %llu | %+.2f %%, %+.2f %% |\n", run->program,
           run->kind, run->size, alone[run->rounds / 2], front, times[run->rounds / 2],
           alone[run->rounds / 2] / times[run->rounds / 2], 1 / scaling.share, (unsigned long long)sent,
           (unsigned long long)received, percent(sent, predicted.sent), percent(received, predicted.received));
  }
  hx_value_release(output);
  hx_executable_release(executable);
  hx_compilation_release(compilation);
}

static void open_group(run_t *run, const char *plugins_of) {
  hx_plugins_t *plugins = NULL;
  const char *path = getenv("HELIOX_PLUGIN_PATH");
  const hx_plugins_options_t where = {.path = path == NULL ? HELIOX_BUILD_DIR "/lib/heliox/plugins" : path,
                                      .only_path = true};
  must(hx_plugins_discover(&where, &plugins, run->report), run);
  must(hx_backend_create(plugins, plugins_of, &run->backend, run->report), run);
  // Rank 0 draws keys and runs alone while the others wait.
  must(hx_group_open(run->backend, "world", WAIT_MS, &run->group, run->report), run);
  must(hx_backend_with_group(run->backend, "world", run->group, &run->grouped, run->report), run);
  run->rank = hx_group_rank(run->group);
  run->size = hx_group_size(run->group);
  hx_plugins_release(plugins);
}

int main(int argc, char **argv) {
  if (argc < 4) {
    fprintf(stderr, "heliox-bench-ranks DIR demo|batch|product limbs|terms|batch|all [ROUNDS [PLUGINS]]\n");
    return 2;
  }
  static double alone[ROUNDS_MAX];
  char path[PATH_ROOM];
  run_t run = {.report = hx_report_create(), .directory = argv[1], .program = argv[2], .kind = argv[3], .rounds = 20};
  if (argc > 4) run.rounds = strtoul(argv[4], NULL, 10);
  if (run.rounds == 0 || run.rounds > ROUNDS_MAX) return 2;
  must(hx_params_preset("n14-d7-s40", &run.params, run.report), &run);
  open_group(&run, argc > 5 ? argv[5] : "cpu,mpi");
  if (run.rank == 0) prepare(&run);
  must(hx_group_agree(run.group, "prepared", 8, run.report), &run);
  must(hx_keys_load(in_directory(&run, "keys", path), HX_KEYS_RELIN | HX_KEYS_GALOIS, &run.keys, run.report), &run);
  must(hx_value_load(in_directory(&run, "x.hx", path), NULL, run.params, &run.input, run.report), &run);
  if (run.rank == 0) run_alone(&run, alone);
  must(hx_group_agree(run.group, "measured", 8, run.report), &run);
  static const char *const kinds[] = {"limbs", "terms", "batch"};
  const bool is_all = strcmp(run.kind, "all") == 0;
  for (size_t k = 0; k < (is_all ? HX_COUNT_OF(kinds) : 1); ++k) {
    if (is_all) run.kind = kinds[k];
    run_together(&run, alone);
  }
  hx_value_release(run.expected);
  hx_value_release(run.input);
  hx_keys_release(run.keys);
  hx_backend_release(run.grouped);
  hx_group_release(run.group);
  hx_backend_release(run.backend);
  hx_params_release(run.params);
  hx_report_release(run.report);
  return 0;
}
