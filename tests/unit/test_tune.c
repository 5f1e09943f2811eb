// SPDX-License-Identifier: Apache-2.0
// Tables of measured costs, what they choose, tuning on the cpu plugin, and the search for a pass that changes a
// result.
#include <unistd.h>

#include "core/passes/costs.h"
#include "core/passes/passes.h"
#include "heliox/passes.h"
#include "tests/unit/link_fixture.h"

#define ROW(shape_, candidate_, time_)                                                              \
  "{\"device\": \"cpu:0\", \"digest\": \"d\", \"operation\": \"ckks.square\", \"shape\": \"" shape_ \
  "\", "                                                                                            \
  "\"candidate\": \"" candidate_ "\", \"nanoseconds\": " time_ "}"
#define TABLE(rows_) "{\"format\": \"heliox-costs\", \"format_version\": 1, \"rows\": [" rows_ "]}"

static const char square_text[] =
    MODULE("%x: " CT0, CT0, "!ckks.ciphertext<components = 3>",
           "%r = \"ckks.square\"(%x) : (" CT0
           ") -> !ckks.ciphertext<components = 3>\n\"func.return\"(%r) : (!ckks.ciphertext<components = 3>) -> ()");

static void costs_keep_rows_through_a_file(void **state) {
  (void)state;
  hx_report_t *report = hx_report_create();
  hx_costs_t *costs = hx_costs_create(), *again = hx_costs_create();
  char path[] = "/tmp/heliox-costs-XXXXXX";
  const int file = mkstemp(path);
  assert_true(file >= 0);
  must(hx_costs_parse(
           costs, hx_str(TABLE(ROW("s", "whole", "100") ", " ROW("s", "lowered", "50.5") ", " ROW("s", "whole", "90"))),
           "table", report),
       report);
  assert_int_equal(hx_costs_count(costs), 2);  // the later row of a key counts
  must(hx_costs_use(costs, "cpu:0", "d"), report);
  assert_true(hx_costs_find(costs, "ckks.square", "s", "whole") == 90);
  assert_true(hx_costs_find(costs, "ckks.square", "t", "whole") < 0);
  must(hx_costs_save(costs, path, report), report);
  must(hx_costs_load(again, path, report), report);
  assert_int_equal(hx_costs_count(again), 2);
  assert_string_equal(hx_costs_get(again, 0)->candidate, "lowered");
  assert_true(hx_costs_get(again, 0)->nanoseconds == 50.5);
  must(hx_costs_use(again, "cpu:0", "another build"), report);
  assert_true(hx_costs_find(again, "ckks.square", "s", "whole") < 0);
  hx_costs_release(costs);
  hx_costs_release(again);
  hx_report_release(report);
  close(file);
  unlink(path);
}

static void costs_refuse_what_is_no_table(void **state) {
  (void)state;
  static const struct {
    const char *text;
    hx_code_t code;
  } bad[] = {
      {"", HX_CODE_TEXT_FORMAT},
      {"[]", HX_CODE_FILE_KIND},
      {"{\"format\": \"other\", \"format_version\": 1, \"rows\": []}", HX_CODE_FILE_KIND},
      {"{\"format\": \"heliox-costs\", \"format_version\": 2, \"rows\": []}", HX_CODE_FILE_VERSION},
      {TABLE("{}"), HX_CODE_TEXT_FORMAT},
      {TABLE(ROW("s", "whole", "0")), HX_CODE_TEXT_FORMAT},
      {TABLE(ROW("s", "whole", "\"fast\"")), HX_CODE_TEXT_FORMAT},
      {TABLE(ROW("s", "whole", "1e400")), HX_CODE_TEXT_FORMAT},
  };
  for (size_t i = 0; i < HX_COUNT_OF(bad); ++i) {
    hx_report_t *report = hx_report_create();
    hx_costs_t *costs = hx_costs_create();
    assert_int_not_equal(hx_costs_parse(costs, hx_str(bad[i].text), "table", report), HX_STATUS_OK);
    if (hx_report_get(report, 0)->code != bad[i].code) fail_msg("%zu: %s", i, hx_report_get(report, 0)->text);
    assert_int_equal(hx_costs_count(costs), 0);
    hx_costs_release(costs);
    hx_report_release(report);
  }
}

// The program behind select-by-cost and lower, with these figures; NULL: no table.
static char *select_with(const char *whole, const char *lowered, bool *out_measured) {
  hx_report_t *report = hx_report_create();
  hx_params_t *params = link_params(LINK_RING);
  hx_program_t *program = link_parse(square_text);
  const hx_ring *ring = hx_params_ring(params);
  must(hx_program_infer(program, ring, report), report);
  hx_text_t shape;
  hx_text_init(&shape);
  const hx_ir_op_t *op = hx_func_block(hx_program_find(program, "main"))->first;
  must(hx_cost_shape(op, ring, &shape), report);
  hx_costs_t *costs = hx_costs_create();
  const hx_cost_t rows[] = {{"cpu:0", "d", "ckks.square", shape.data, "whole", whole == NULL ? 0 : atof(whole)},
                            {"cpu:0", "d", "ckks.square", shape.data, "lowered", lowered == NULL ? 0 : atof(lowered)}};
  if (whole != NULL) must(hx_costs_set(costs, &rows[0]), report);
  if (lowered != NULL) must(hx_costs_set(costs, &rows[1]), report);
  must(hx_costs_use(costs, "cpu:0", "d"), report);
  hx_decisions_t *decisions = hx_decisions_create();
  const hx_pass_env_t env = {.ring = ring, .costs = costs, .decisions = decisions, .report = report};
  must(hx_pipeline_run(program, "select-by-cost,lower{only=missing}", &env), report);
  assert_int_equal(hx_decisions_count(decisions), 1);
  *out_measured = strstr(hx_decisions_get(decisions, 0)->why, "not measured") == NULL;
  char *text = NULL;
  must(hx_program_print(program, 0, &text, report), report);
  hx_text_deinit(&shape);
  hx_decisions_release(decisions);
  hx_costs_release(costs);
  hx_program_release(program);
  hx_params_release(params);
  hx_report_release(report);
  return text;
}

static void select_by_cost_goes_by_measurements_alone(void **state) {
  (void)state;
  static const struct {
    const char *whole, *lowered;
    bool is_lowered, is_measured;
  } cases[] = {{"100", "50", true, true},
               {"100", "99", false, true},
               {"100", "200", false, true},
               {"100", NULL, false, false},
               {NULL, NULL, false, false}};
  for (size_t i = 0; i < HX_COUNT_OF(cases); ++i) {
    bool measured = false;
    char *text = select_with(cases[i].whole, cases[i].lowered, &measured);
    assert_int_equal(strstr(text, "ckks.square") == NULL, cases[i].is_lowered);
    assert_int_equal(measured, cases[i].is_measured);
    hx_text_free(text);
  }
}

static void tune_measures_each_shape_once(void **state) {
  (void)state;
  static const char text[] =
      MODULE("%x: " CT0, CT0, CT,
             "%a = \"ckks.rotate\"(%x) {step = 1 : i64} : (" CT0 ") -> " CT
             "\n%b = \"ckks.rotate\"(%a) {step = 2 : i64} : (" CT ") -> " CT "\n%c = \"ckks.add\"(%a, %b) : (" CT
             ", " CT ") -> " CT "\n\"func.return\"(%c) : (" CT ") -> ()");
  bench_t bench;
  if (!bench_open_cpu(&bench, LINK_RING)) skip();
  hx_compilation_t *compilation = link_compile(&bench, text);
  must(hx_compilation_bind_keys(compilation, bench.keys, bench.report), bench.report);
  hx_costs_t *costs = hx_costs_create();
  const hx_tune_options_t options = {.seconds = 1e-6};
  must(hx_tune(compilation, bench.backend, &options, costs, bench.report), bench.report);
  assert_int_equal(hx_costs_count(costs), 4);  // rotate and add, whole and lowered
  must(hx_tune(compilation, bench.backend, &options, costs, bench.report), bench.report);
  assert_int_equal(hx_costs_count(costs), 4);
  // The choices link and run with equal bits.
  hx_value_t *x = encrypt_seed(&bench, 1), *outputs[2] = {NULL, NULL};
  for (int i = 0; i < 2; ++i) {
    hx_executable_t *executable = NULL;
    const hx_transform_options_t chosen = {.target = bench.backend, .costs = costs};
    if (i == 1)
      must(hx_compilation_transform_with(compilation, "infer-state,select-by-cost", &chosen, bench.report),
           bench.report);
    must(hx_link(compilation, bench.backend, "", &executable, bench.report), bench.report);
    must(hx_run(executable, (const hx_value_t *const *)&x, &outputs[i], bench.report), bench.report);
    hx_executable_release(executable);
  }
  assert_true(hx_value_equal(outputs[0], outputs[1]));
  hx_value_release(outputs[0]);
  hx_value_release(outputs[1]);
  hx_value_release(x);
  hx_costs_release(costs);
  hx_compilation_release(compilation);
  bench_close(&bench);
}

// A chain that the plugin takes as one region is measured both ways, and what was faster becomes a constraint.
static void tune_decides_about_regions(void **state) {
  (void)state;
  static const char text[] =
      MODULE("%x: " CT0 ", %y: " CT0, CT0 ", " CT0, CT,
             "%p = \"ckks.mul\"(%x, %y) : (" CT0 ", " CT0 ") -> " CT "\n%r = \"ckks.relinearize\"(%p) : (" CT ") -> " CT
             "\n%s = \"ckks.rescale\"(%r) : (" CT ") -> " CT "\n\"func.return\"(%s) : (" CT ") -> ()");
  bench_t bench;
  if (!bench_open_cpu(&bench, LINK_RING)) skip();
  hx_costs_t *costs = hx_costs_create();
  hx_value_t *inputs[2] = {encrypt_seed(&bench, 1), encrypt_seed(&bench, 2)}, *outputs[2] = {NULL, NULL};
  for (int faster = 0; faster < 2; ++faster) {  // 0: the region, 1: its operations
    hx_compilation_t *compilation = link_compile(&bench, text);
    must(hx_compilation_bind_keys(compilation, bench.keys, bench.report), bench.report);
    const hx_tune_options_t options = {.seconds = 1e-6};
    must(hx_tune(compilation, bench.backend, &options, costs, bench.report), bench.report);
    size_t regions = 0, whole = 0;
    for (size_t i = 0; i < hx_costs_count(costs); ++i) {
      hx_cost_t row = *hx_costs_get(costs, i);
      if (strcmp(row.operation, "fusion.region") != 0) continue;
      whole += strstr(row.shape, "multiply-relinearize-rescale: ckks.mul ") != NULL ? 1 : 0;
      assert_true(row.nanoseconds > 0);
      row.nanoseconds = (strcmp(row.candidate, "apart") == 0) == (faster == 1) ? 1000 : 2000;
      must(hx_costs_set(costs, &row), bench.report);
      ++regions;
    }
    assert_int_equal(regions, 4);  // and the chain without the product
    assert_int_equal(whole, 2);
    const hx_transform_options_t chosen = {.target = bench.backend, .costs = costs};
    must(hx_compilation_transform_with(compilation, "infer-state,select-by-cost", &chosen, bench.report), bench.report);
    must(hx_compilation_transform_with(compilation, "select-by-cost", &chosen, bench.report), bench.report);  // again
    hx_executable_t *executable = NULL;
    hx_run_stats_t stats;
    must(hx_link(compilation, bench.backend, NULL, &executable, bench.report), bench.report);
    hx_executable_stats(executable, &stats);
    assert_int_equal(stats.calls, faster == 0 ? 1 : 3);
    must(hx_run(executable, (const hx_value_t *const *)inputs, &outputs[faster], bench.report), bench.report);
    hx_executable_release(executable);
    hx_compilation_release(compilation);
  }
  assert_true(hx_value_equal(outputs[0], outputs[1]));
  for (size_t i = 0; i < 2; ++i) {
    hx_value_release(inputs[i]);
    hx_value_release(outputs[i]);
  }
  hx_costs_release(costs);
  bench_close(&bench);
}

// A plugin with two ways of a transform: both are measured, where the program has it and where lowering makes it.
static void tune_measures_every_way_of_a_transform(void **state) {
  (void)state;
  static const char text[] =
      MODULE("%x: " CT0, CT0, "!rns.tensor<>",
             "%a = \"ntt.inverse\"(%x) : (" CT0 ") -> !rns.tensor<>\n\"func.return\"(%a) : (!rns.tensor<>) -> ()");
  bench_t bench;
  bench_open(&bench, FAKE_PRIMITIVES);
  fake_plugin_add(bench.plugin, "ntt.inverse", "other");
  hx_backend_release(bench.backend);
  bench.backend = fake_backend(bench.plugin);
  hx_compilation_t *compilation = link_compile(&bench, text);
  hx_costs_t *costs = hx_costs_create();
  const hx_tune_options_t options = {.seconds = 1e-6};
  must(hx_tune(compilation, bench.backend, &options, costs, bench.report), bench.report);
  assert_int_equal(hx_costs_count(costs), 2);
  for (size_t i = 0; i < 2; ++i) {
    hx_cost_t row = *hx_costs_get(costs, i);
    assert_string_equal(row.operation, "ntt.inverse");
    row.nanoseconds = strstr(row.candidate, "other") != NULL ? 1000 : 2000;
    must(hx_costs_set(costs, &row), bench.report);
  }
  const hx_transform_options_t chosen = {.target = bench.backend, .costs = costs};
  must(hx_compilation_transform_with(compilation, "infer-state,lower{only=missing},select-by-cost", &chosen,
                                     bench.report),
       bench.report);
  hx_executable_t *executable = NULL;
  must(hx_link(compilation, bench.backend, "", &executable, bench.report), bench.report);
  assert_non_null(strstr(hx_executable_manifest(executable), "\"implementation\": \"alpha/other\""));
  hx_executable_release(executable);
  hx_costs_release(costs);
  hx_compilation_release(compilation);
  bench_close(&bench);
}

// Whole programs under every number of digits that comes out; the program names the set that was chosen, and no other
// one runs it.
static void tune_chooses_digits_where_they_are_free(void **state) {
  (void)state;
  static const char text[] =
      MODULE("%x: " CT0, CT0, CT,
             "%w = \"material.ref\"() {symbol = @w} : () -> " PT0 "\n%a = \"ckks.rotate\"(%x) {step = 1 : i64} : (" CT0
             ") -> " CT "\n%b = \"ckks.mul_plain\"(%a, %w) : (" CT ", " PT0 ") -> " CT "\n\"func.return\"(%b) : (" CT
             ") -> ()");
  bench_t bench;
  if (!bench_open_cpu(&bench, LINK_RING)) skip();
  hx_compilation_t *compilation = link_compile(&bench, text), *other = NULL;
  hx_costs_t *costs = hx_costs_create();
  const hx_tune_options_t options = {.seconds = 1e-6};
  uint32_t digits = 0;
  must(hx_tune_digits(compilation, bench.backend, &options, costs, &digits, bench.report), bench.report);
  const size_t rows = hx_costs_count(costs);
  assert_int_equal(rows, 4);  // five primes: 1, 2, 3 and 5 digits; 4 come out as 3
  double least = 0;
  char fastest[32] = "";
  for (size_t i = 0; i < rows; ++i) {
    const hx_cost_t *row = hx_costs_get(costs, i);
    assert_string_equal(row->operation, "program");
    if (i > 0 && row->nanoseconds >= least) continue;
    least = row->nanoseconds;
    snprintf(fastest, sizeof fastest, "%s", row->candidate);
  }
  char chosen[32];
  snprintf(chosen, sizeof chosen, "digits %u", digits);
  assert_string_equal(chosen, fastest);
  must(hx_tune_digits(compilation, bench.backend, &options, costs, &digits, bench.report), bench.report);
  assert_int_equal(hx_costs_count(costs), rows);
  must(hx_compilation_name_params(compilation, bench.report), bench.report);
  assert_int_not_equal(hx_tune_digits(compilation, bench.backend, &options, costs, &digits, bench.report),
                       HX_STATUS_OK);
  must_fault(bench.report, HX_CODE_CONSTRAINT, 0, "the program names its parameters");
  hx_report_clear(bench.report);
  hx_params_t *five = NULL;
  must(hx_params_with_digits(bench.params, 5, HX_PARAMS_INSECURE, &five, bench.report), bench.report);
  assert_int_not_equal(hx_compilation_create(hx_compilation_program(compilation), five, &other, bench.report),
                       HX_STATUS_OK);
  must_fault(bench.report, HX_CODE_PARAMS_DIGEST, 0, "the program is written for parameters");
  hx_report_clear(bench.report);
  assert_int_not_equal(hx_tune_digits(NULL, bench.backend, &options, costs, &digits, bench.report), HX_STATUS_OK);
  assert_int_not_equal(hx_compilation_name_params(NULL, bench.report), HX_STATUS_OK);
  hx_params_release(five);
  hx_costs_release(costs);
  hx_compilation_release(compilation);
  bench_close(&bench);
}

static void bisect_finds_the_first_pass_that_changes_a_result(void **state) {
  (void)state;
  static const char text[] = MODULE(
      "%x: " CT0, CT0, CT,
      "%a = \"ckks.rotate\"(%x) {step = 1 : i64} : (" CT0 ") -> " CT
      "\n%b = \"ckks.rotate\"(%x) {step = 2 : i64} : (" CT0 ") -> " CT "\n%n = \"ckks.neg\"(%x) : (" CT0 ") -> " CT
      "\n%c = \"ckks.rotate\"(%n) {step = 5 : i64} : (" CT ") -> " CT "\n%d = \"ckks.add\"(%a, %b) : (" CT ", " CT
      ") -> " CT "\n%e = \"ckks.add\"(%d, %c) : (" CT ", " CT ") -> " CT "\n\"func.return\"(%e) : (" CT ") -> ()");
  bench_t bench;
  if (!bench_open_cpu(&bench, LINK_RING)) skip();
  hx_compilation_t *compilation = link_compile(&bench, text);
  must(hx_compilation_bind_keys(compilation, bench.keys, bench.report), bench.report);
  hx_value_t *x = encrypt_seed(&bench, 1);
  const hx_value_t *const *inputs = (const hx_value_t *const *)&x;
  hx_bisection_t found;
  must(hx_bisect(compilation, bench.backend, "dve,cse,canonicalize", inputs, NULL, &found, bench.report), bench.report);
  assert_false(found.found);
  static const char pipeline[] = "dve,cse,canonicalize,infer-state,merge-weighted-sums,cse,dve,reuse-transforms";
  must(hx_bisect(compilation, bench.backend, pipeline, inputs, NULL, &found, bench.report), bench.report);
  assert_true(found.found);
  assert_int_equal(found.index, 4);
  assert_string_equal(found.entry, "merge-weighted-sums");
  assert_true(found.runs <= 7);
  // By value nothing is wrong with it.
  const hx_bisect_options_t by_value = {.secret = bench.keys, .tolerance = 1e-6};
  must(hx_bisect(compilation, bench.backend, pipeline, inputs, &by_value, &found, bench.report), bench.report);
  assert_false(found.found);
  // A pass that cannot go on is the one that is found.
  must(hx_bisect(compilation, bench.backend, "cse,assign-implementations{ckks.neg=nobody},dve", inputs, NULL, &found,
                 bench.report),
       bench.report);
  assert_true(found.found);
  assert_int_equal(found.index, 1);
  hx_value_release(x);
  hx_compilation_release(compilation);
  bench_close(&bench);
}

static void visualize_writes_the_picture_that_the_name_asks_for(void **state) {
  (void)state;
  static const char *const ends[] = {"dot", "svg", "html"}, *const starts[] = {"digraph", "<svg", "<!DOCTYPE"};
  bench_t bench;
  bench_open(&bench, FAKE_ALL);
  hx_compilation_t *compilation = link_compile(&bench, square_text);
  for (size_t i = 0; i < HX_COUNT_OF(ends); ++i) {
    char folder[] = "/tmp/heliox-picture-XXXXXX", path[64], pipeline[128], found[16] = "";
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/p.%s", folder, ends[i]);
    snprintf(pipeline, sizeof pipeline, "infer-state,visualize{file=%s}", path);
    must(hx_compilation_transform(compilation, pipeline, bench.report), bench.report);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_true(fread(found, 1, sizeof found - 1, file) > 0);
    fclose(file);
    if (strncasecmp(found, starts[i], strlen(starts[i])) != 0) fail_msg("%s begins with %s", ends[i], found);
    unlink(path);
    rmdir(folder);
  }
  assert_int_not_equal(hx_compilation_transform(compilation, "visualize{file=/nowhere/at/all.svg}", bench.report),
                       HX_STATUS_OK);
  hx_compilation_release(compilation);
  bench_close(&bench);
}

int main(void) {
  setenv("HELIOX_NUM_THREADS", "1", 1);  // rings are small: threads would only wait for one another
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(costs_keep_rows_through_a_file),
      cmocka_unit_test(costs_refuse_what_is_no_table),
      cmocka_unit_test(select_by_cost_goes_by_measurements_alone),
      cmocka_unit_test(tune_measures_each_shape_once),
      cmocka_unit_test(tune_decides_about_regions),
      cmocka_unit_test(tune_measures_every_way_of_a_transform),
      cmocka_unit_test(tune_chooses_digits_where_they_are_free),
      cmocka_unit_test(bisect_finds_the_first_pass_that_changes_a_result),
      cmocka_unit_test(visualize_writes_the_picture_that_the_name_asks_for),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
