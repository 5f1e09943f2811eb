// SPDX-License-Identifier: Apache-2.0
// Rows of docs/plugin-refusals.md that are about calls: through linked programs, as an application meets them.
#include "tests/unit/link_fixture.h"

static int setup(void **state) {
  bench_t *bench = calloc(1, sizeof *bench);
  bench_open(bench, FAKE_ALL);
  *state = bench;
  return 0;
}

static int teardown(void **state) {
  bench_t *bench = *state;
  bench_close(bench);
  free(bench);
  return 0;
}

#define SUM                                                      \
  MODULE("%x: " CT0 ", %y: " CT0, CT0 ", " CT0, CT,              \
         "%s = \"ckks.add\"(%x, %y) : (" CT0 ", " CT0 ") -> " CT \
         "\n"                                                    \
         "%t = \"ckks.add\"(%s, %y) : (" CT ", " CT0 ") -> " CT  \
         "\n"                                                    \
         "\"func.return\"(%t) : (" CT ") -> ()")

static void expect_sum(const bench_t *bench, hx_executable_t *executable, const hx_value_t *const *inputs) {
  double x[SLOTS], y[SLOTS], expected[SLOTS], found[SLOTS];
  hx_value_t *outputs[1] = {NULL};
  fill_values(x, SLOTS, 1);
  fill_values(y, SLOTS, 2);
  for (size_t i = 0; i < SLOTS; ++i) expected[i] = x[i] + 2 * y[i];
  must(hx_run(executable, inputs, outputs, bench->report), bench->report);
  decrypt_values(bench, outputs[0], found);
  must_be_near(found, expected, SLOTS, 1e-5);
  hx_value_release(outputs[0]);
}

static bool always(void *argument) {
  (void)argument;
  return true;
}

// Busy and cancelled end a run at once; inputs are as before, the next run is right.
static void row_28_busy_and_cancelled_runs_leave_the_next_one_right(void **state) {
  bench_t *bench = *state;
  hx_executable_t *executable = link_text(bench, SUM);
  hx_value_t *x = encrypt_seed(bench, 1), *y = encrypt_seed(bench, 2), *outputs[1] = {NULL};
  const hx_value_t *inputs[] = {x, y};
  expect_sum(bench, executable, inputs);
  fake.execute_result = HX_BUSY;
  fake.fail_at = 1;
  assert_int_equal(hx_run(executable, inputs, outputs, bench->report), HX_STATUS_BUSY);
  must_fault(bench->report, HX_CODE_BUSY, 0, "alpha/ref");
  assert_null(outputs[0]);
  fake_reset_knobs();
  expect_sum(bench, executable, inputs);
  const hx_run_options_t options = {.cancelled = always};
  hx_report_clear(bench->report);
  const uint32_t executes = fake.executes;
  assert_int_equal(hx_run_with(executable, inputs, outputs, &options, bench->report), HX_STATUS_CANCELLED);
  must_fault(bench->report, HX_CODE_CANCELLED, 0, "");
  assert_int_equal(fake.executes, executes);  // bounded: not one call more
  assert_null(outputs[0]);
  expect_sum(bench, executable, inputs);
  hx_value_release(x);
  hx_value_release(y);
  hx_executable_release(executable);
}

static hx_status_t try_link(bench_t *bench, const char *text, const char *implementation) {
  hx_compilation_t *compilation = link_compile(bench, text);
  hx_executable_t *executable = NULL;
  const hx_link_wish_t wish = {.implementation = implementation};
  const hx_link_options_t options = {
      .pipeline = "", .place_materials = true, .wishes = &wish, .wish_count = implementation != NULL};
  const hx_link_source_t source = hx_compilation_source(compilation);
  hx_report_clear(bench->report);
  const hx_status_t status = hx_link_program(&source, bench->backend, &options, &executable, bench->report);
  if (status == HX_STATUS_OK) hx_executable_release(executable);
  hx_compilation_release(compilation);
  return status;
}

#define SECRET_SUM                                                                             \
  "\"builtin.module\"() ({\n\"func.func\"() ({\n^entry(%x: " CT0 ", %p: " PT0                  \
  "):\n"                                                                                       \
  "%s = \"ckks.add_plain\"(%x, %p) : (" CT0 ", " PT0 ") -> " CT "\n\"func.return\"(%s) : (" CT \
  ") -> ()"                                                                                    \
  "\n}) {sym_name = \"main\", function_type = (" CT0 ", " PT0 ") -> (" CT                      \
  "), arg_attrs = [{}, {heliox.secret = true}]} : () -> ()\n}) {heliox.version = 1 : i64} : () -> ()\n"

static void row_30_secret_never_reaches_a_plugin_that_declares_none(void **state) {
  bench_t *bench = *state;
  assert_int_equal(try_link(bench, SECRET_SUM, NULL), HX_STATUS_OK);
  bench->plugin->loaded.handles_secrets = false;
  hx_backend_release(bench->backend);
  bench->backend = fake_backend(bench->plugin);
  const uint32_t before = fake.executes;
  assert_int_equal(try_link(bench, SECRET_SUM, NULL), HX_STATUS_REFUSED);
  must_fault(bench->report, HX_CODE_CAPABILITY, 4, "does not declare secrets");
  assert_int_equal(try_link(bench, SECRET_SUM, "ref"), HX_STATUS_REFUSED);  // asked for by name: the same
  must_fault(bench->report, HX_CODE_CAPABILITY, 4, "does not declare secrets");
  assert_int_equal(fake.executes, before);
}

static void row_31_two_implementations_without_a_request_are_ambiguous(void **state) {
  bench_t *bench = *state;
  fake_plugin_add(bench->plugin, "ckks.add", "other");
  hx_backend_release(bench->backend);
  bench->backend = fake_backend(bench->plugin);
  assert_int_equal(try_link(bench, SUM, NULL), HX_STATUS_AMBIGUOUS);
  must_fault(bench->report, HX_CODE_AMBIGUOUS, 4, "alpha/ref; alpha/other");
  assert_int_equal(try_link(bench, SUM, "other"), HX_STATUS_OK);
  assert_int_equal(try_link(bench, SUM, "alpha/ref"), HX_STATUS_OK);
}

static void row_32_unknown_implementation_lists_what_exists(void **state) {
  bench_t *bench = *state;
  assert_int_equal(try_link(bench, SUM, "nobody"), HX_STATUS_NOT_FOUND);
  must_fault(bench->report, HX_CODE_IMPLEMENTATION, 4, "no implementation is named \"nobody\"; there are: alpha/ref");
}

#define CASE(name_) cmocka_unit_test_setup_teardown(name_, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      CASE(row_28_busy_and_cancelled_runs_leave_the_next_one_right),
      CASE(row_30_secret_never_reaches_a_plugin_that_declares_none),
      CASE(row_31_two_implementations_without_a_request_are_ambiguous),
      CASE(row_32_unknown_implementation_lists_what_exists),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
