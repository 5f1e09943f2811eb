// SPDX-License-Identifier: Apache-2.0
// The baby-step giant-step product through the passes: what it computes, what it costs by the executable's own
// counters, what it takes of memory.
#include "bsgs.h"
#include "heliox/passes.h"
#include "tests/unit/link_fixture.h"

#define N 128
static const bsgs_t shape = {.baby = 16, .giant = 8, .slots = SLOTS, .limbs = 5, .scale = "2^40"};

// Steps of the program need keys of their own.
static bool open_bench(bench_t *bench) {
  if (!bench_open_cpu(bench, LINK_RING)) return false;
  int64_t steps[32];
  const hx_keygen_options_t options = {
      .parts = HX_KEYS_ALL, .rotations = steps, .rotation_count = bsgs_steps(&shape, steps)};
  hx_keys_release(bench->keys);
  bench->keys = NULL;
  must(hx_keys_generate(bench->params, &options, &bench->keys, bench->report), bench->report);
  return true;
}

static void fill_matrix(double *matrix) { fill_values(matrix, N * N, 99); }

static hx_compilation_t *compile(const bench_t *bench, const double *matrix) {
  hx_text_t text;
  bsgs_text(&shape, &text);
  hx_compilation_t *compilation = link_compile(bench, text.data);
  hx_text_deinit(&text);
  must(hx_compilation_bind_keys(compilation, bench->keys, bench->report), bench->report);
  for (uint32_t g = 0; g < shape.giant; ++g) {
    for (uint32_t b = 0; b < shape.baby; ++b) {
      double diagonal[SLOTS];
      char symbol[32];
      snprintf(symbol, sizeof symbol, "d%u_%u", g, b);
      bsgs_diagonal(&shape, matrix, g, b, diagonal);
      hx_value_t *value = encode_values(bench, diagonal, SLOTS, false);
      must(hx_compilation_bind_material(compilation, symbol, value, bench->report), bench->report);
      hx_value_release(value);
    }
  }
  return compilation;
}

// Runs the program through a pipeline; the result's slots and the figures of the second, warm run.
static void run(const bench_t *bench, const double *matrix, const hx_value_t *x, const char *pipeline, double *out,
                hx_run_stats_t *stats, hx_value_t **out_value) {
  hx_compilation_t *compilation = compile(bench, matrix);
  hx_executable_t *executable = NULL;
  must(hx_link(compilation, bench->backend, pipeline, &executable, bench->report), bench->report);
  hx_value_t *outputs[] = {NULL};
  for (int i = 0; i < 2; ++i) {
    hx_value_release(outputs[0]);
    outputs[0] = NULL;
    must(hx_run(executable, &x, outputs, bench->report), bench->report);
  }
  hx_executable_stats(executable, stats);
  decrypt_values(bench, outputs[0], out);
  *out_value = outputs[0];
  hx_executable_release(executable);
  hx_compilation_release(compilation);
}

static void product_takes_8_mod_ups_and_9_mod_downs_when_merged(void **state) {
  (void)state;
  bench_t bench;
  if (!open_bench(&bench)) skip();
  static double matrix[N * N];
  double input[SLOTS], expected[SLOTS], found[SLOTS];
  fill_matrix(matrix);
  fill_values(input, N, 5);
  for (size_t i = N; i < SLOTS; ++i) input[i] = input[i % N];
  for (size_t i = 0; i < SLOTS; ++i) {
    expected[i] = 0;
    for (size_t k = 0; k < N; ++k) expected[i] += matrix[(i % N) * N + k] * input[k];
  }
  hx_value_t *x = encrypt_values(&bench, bench.keys, input, SLOTS), *plain, *again, *merged;
  hx_run_stats_t stats;
  run(&bench, matrix, x, "", found, &stats, &plain);
  must_be_near(found, expected, SLOTS, 1e-4);
  assert_int_equal(stats.mod_ups, 22);
  assert_int_equal(stats.mod_downs, 22);
  assert_true(10 * stats.slab_bytes <= 7 * stats.unshared_bytes);
  const uint64_t unshared = stats.unshared_bytes;
  run(&bench, matrix, x, NULL, found, &stats, &again);
  assert_true(hx_value_equal(plain, again));  // the default pipeline keeps bits
  assert_true(10 * stats.slab_bytes <= 7 * stats.unshared_bytes);
  assert_int_equal(stats.mod_ups, 8);
  assert_int_equal(stats.mod_downs, 22);
  char pipeline[512];
  snprintf(pipeline, sizeof pipeline, "merge-weighted-sums,%s", hx_pipeline_default());
  run(&bench, matrix, x, pipeline, found, &stats, &merged);
  must_be_near(found, expected, SLOTS, 1e-4);
  assert_true(stats.mod_ups <= 8);
  assert_true(stats.mod_downs <= 9);
  snprintf(pipeline, sizeof pipeline, "merge-weighted-sums,prepare-plaintexts,%s", hx_pipeline_default());
  hx_value_t *prepared;
  run(&bench, matrix, x, pipeline, found, &stats, &prepared);
  assert_true(hx_value_equal(merged, prepared));  // wherever plaintexts are prepared
  assert_true(stats.mod_ups <= 8);
  assert_true(stats.mod_downs <= 9);
  // Eight sums that live at once are all that is left: less than a plain plan's memory without reuse by far.
  assert_true(10 * stats.slab_bytes <= 7 * unshared);
  hx_value_release(prepared);
  hx_value_release(x);
  hx_value_release(plain);
  hx_value_release(again);
  hx_value_release(merged);
  bench_close(&bench);
}

// Contents that change in a bound plaintext are prepared anew.
static void prepared_materials_follow_what_is_bound(void **state) {
  (void)state;
  static const char text[] = MODULE("%x: " CT0, CT0, CT,
                                    "%w = \"material.ref\"() {symbol = @w} : () -> " PT0
                                    "\n%p = \"ckks.prepare_plain\"(%w) {for = \"weighted\"} : (" PT0 ") -> " PT
                                    "\n%r = \"ckks.rotate_weighted_sum\"(%x, %p, %p) {steps = [1, 2]} : (" CT0 ", " PT
                                    ", " PT ") -> " CT "\n\"func.return\"(%r) : (" CT ") -> ()");
  bench_t bench;
  if (!bench_open_cpu(&bench, LINK_RING)) skip();
  double first[SLOTS], second[SLOTS], found[SLOTS], expected[SLOTS], input[SLOTS];
  fill_values(first, SLOTS, 1);
  fill_values(second, SLOTS, 2);
  fill_values(input, SLOTS, 3);
  hx_value_t *x = encrypt_values(&bench, bench.keys, input, SLOTS);
  hx_value_t *w = encode_values(&bench, first, SLOTS, false), *other = encode_values(&bench, second, SLOTS, false);
  hx_compilation_t *compilation = link_compile(&bench, text);
  must(hx_compilation_bind_keys(compilation, bench.keys, bench.report), bench.report);
  must(hx_compilation_transform(compilation, "infer-state,prepare-plaintexts", bench.report), bench.report);
  // What is bound is the plaintext on Q, though the reference stands for the prepared one.
  must(hx_compilation_bind_material(compilation, "w", w, bench.report), bench.report);
  hx_executable_t *executable = NULL;
  must(hx_link(compilation, bench.backend, NULL, &executable, bench.report), bench.report);
  assert_null(strstr(hx_executable_manifest(executable), "ckks.prepare_plain"));
  assert_non_null(strstr(hx_executable_manifest(executable), "\"prepared\": true"));
  for (int round = 0; round < 3; ++round) {
    const double *weights = round == 0 ? first : second;
    hx_value_t *outputs[] = {NULL};
    if (round == 1) {
      for (uint32_t l = 0; l < 5; ++l)
        memcpy(hx_tensor_row(w->tensor, 0, 0, 0, l), hx_tensor_row(other->tensor, 0, 0, 0, l), 1024 * sizeof(uint64_t));
      hx_tensor_touch(w->tensor);
    }
    must(hx_run(executable, (const hx_value_t *const *)&x, outputs, bench.report), bench.report);
    for (size_t i = 0; i < SLOTS; ++i) expected[i] = weights[i] * (input[(i + 1) % SLOTS] + input[(i + 2) % SLOTS]);
    decrypt_values(&bench, outputs[0], found);
    must_be_near(found, expected, SLOTS, 1e-6);
    hx_value_release(outputs[0]);
  }
  hx_executable_release(executable);
  hx_compilation_release(compilation);
  hx_value_release(x);
  hx_value_release(w);
  hx_value_release(other);
  bench_close(&bench);
}

int main(void) {
  setenv("HELIOX_NUM_THREADS", "1", 1);  // rings are small: threads would only wait for one another
  const struct CMUnitTest tests[] = {cmocka_unit_test(product_takes_8_mod_ups_and_9_mod_downs_when_merged),
                                     cmocka_unit_test(prepared_materials_follow_what_is_bound)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
