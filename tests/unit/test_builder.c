// SPDX-License-Identifier: Apache-2.0
// Programs built by calls: what is built runs and prints, what does not fit is refused, memory that ends is handled.
#include "heliox/circuits.h"
#include "tests/unit/link_fixture.h"

static int setup(void **state) {
  static bench_t bench;
  bench_open(&bench, FAKE_ALL);
  *state = &bench;
  return 0;
}

static int teardown(void **state) {
  bench_close(*state);
  return 0;
}

// y = rotate(x, 1) * w + x, rescaled... everything in one scale: w has that of the prime that goes.
static hx_status_t build(const bench_t *bench, hx_builder_t *builder, hx_program_t **out, hx_report_t *report) {
  static const double w[] = {0.5, -0.25, 1};
  const hx_node_options_t weights = {.scale = "2^0*q4^1"};
  hx_node_t *x = NULL, *weight = NULL, *y = NULL, *shallow = NULL;
  (void)bench;
  HX_TRY(hx_builder_input(builder, "x", NULL, &x, report));
  HX_TRY(hx_builder_plain(builder, w, 3, false, &weights, &weight, report));
  HX_TRY(hx_builder_op(builder, "ckks.rotate", &x, 1, "{step = 1 : i64}", &y, 1, report));
  hx_node_t *const factors[] = {y, weight};
  HX_TRY(hx_builder_op(builder, "ckks.mul_plain", factors, 2, NULL, &y, 1, report));
  HX_TRY(hx_builder_op(builder, "ckks.rescale", &y, 1, NULL, &y, 1, report));
  HX_TRY(hx_builder_op(builder, "ckks.level_drop", &x, 1, "{depth = 1 : i64}", &shallow, 1, report));
  hx_node_t *const terms[] = {y, shallow};
  HX_TRY(hx_builder_op(builder, "ckks.add", terms, 2, NULL, &y, 1, report));
  HX_TRY(hx_builder_output(builder, "y", y, report));
  return hx_builder_finish(builder, out, report);
}

static void builder_makes_programs_that_run(void **state) {
  bench_t *bench = *state;
  hx_builder_t *builder = NULL;
  hx_program_t *program = NULL;
  must(hx_builder_create(bench->params, &builder, bench->report), bench->report);
  must(build(bench, builder, &program, bench->report), bench->report);
  const hx_port_t *ports = NULL;
  assert_int_equal(hx_program_inputs(program, &ports), 1);
  assert_string_equal(ports[0].name, "x");
  assert_string_equal(ports[0].role, "ciphertext");
  assert_int_equal(hx_program_outputs(program, &ports), 1);
  assert_string_equal(ports[0].name, "y");

  char *text = NULL;
  must(hx_program_print(program, 0, &text, bench->report), bench->report);
  hx_program_t *parsed = link_parse(text);  // what is printed reads back
  hx_program_release(parsed);
  hx_text_free(text);

  hx_compilation_t *compilation = NULL;
  hx_executable_t *executable = NULL;
  must(hx_compilation_create(program, bench->params, &compilation, bench->report), bench->report);
  must(hx_compilation_bind_keys(compilation, bench->keys, bench->report), bench->report);
  must(hx_builder_bind(builder, compilation, bench->report), bench->report);
  must(hx_link(compilation, bench->backend, NULL, &executable, bench->report), bench->report);
  double a[SLOTS], found[SLOTS], expected[SLOTS];
  static const double w[SLOTS] = {0.5, -0.25, 1};
  fill_values(a, SLOTS, 4);
  hx_value_t *x = encrypt_values(bench, bench->keys, a, SLOTS), *y = NULL;
  must(hx_run(executable, (const hx_value_t *const *)&x, &y, bench->report), bench->report);
  decrypt_values(bench, y, found);
  for (size_t i = 0; i < SLOTS; ++i) expected[i] = a[(i + 1) % SLOTS] * w[i] + a[i];
  must_be_near(found, expected, SLOTS, 1e-5);
  hx_value_release(x);
  hx_value_release(y);
  hx_executable_release(executable);
  hx_compilation_release(compilation);
  hx_program_release(program);
  hx_builder_release(builder);
}

#define REFUSED(call_, code_, piece_)            \
  do {                                           \
    assert_int_not_equal((call_), HX_STATUS_OK); \
    must_fault(bench->report, code_, 0, piece_); \
    hx_report_clear(bench->report);              \
  } while (0)

static void builder_refuses_what_does_not_fit(void **state) {
  bench_t *bench = *state;
  hx_report_t *report = bench->report;
  hx_builder_t *builder = NULL, *other = NULL;
  must(hx_builder_create(bench->params, &builder, report), report);
  must(hx_builder_create(bench->params, &other, report), report);
  hx_node_t *x = NULL, *foreign = NULL, *y = NULL;
  hx_program_t *program = NULL;
  static const double w[] = {1, 2};
  must(hx_builder_input(builder, "x", NULL, &x, report), report);
  must(hx_builder_input(other, "x", NULL, &foreign, report), report);
  REFUSED(hx_builder_finish(builder, &program, report), HX_CODE_OPERANDS, "no output");
  REFUSED(hx_builder_input(builder, "x", NULL, &y, report), HX_CODE_SYMBOL_NAME, "\"x\" already");
  hx_node_options_t options = {.depth = 9};
  REFUSED(hx_builder_input(builder, "z", &options, &y, report), HX_CODE_NO_DEPTH, "depth is 9");
  options = (hx_node_options_t){.slots = 48};
  REFUSED(hx_builder_input(builder, "z", &options, &y, report), HX_CODE_SLOTS, "48");
  options = (hx_node_options_t){.scale = "2^"};
  REFUSED(hx_builder_input(builder, "z", &options, &y, report), HX_CODE_SYNTAX, "");
  options = (hx_node_options_t){.slots = 1};
  REFUSED(hx_builder_plain(builder, w, 2, false, &options, &y, report), HX_CODE_LENGTH, "2 values for 1 slots");
  REFUSED(hx_builder_op(builder, "ckks.nothing", &x, 1, NULL, &y, 1, report), HX_CODE_UNKNOWN_OPERATION,
          "ckks.nothing");
  REFUSED(hx_builder_op(builder, "scf.if", &x, 1, NULL, &y, 1, report), HX_CODE_UNKNOWN_OPERATION, "scf.if");
  REFUSED(hx_builder_op(builder, "ckks.rotate", &x, 1, "{step = ", &y, 1, report), HX_CODE_SYNTAX, "");
  REFUSED(hx_builder_op(builder, "ckks.rotate", &x, 1, "step = 1", &y, 1, report), HX_CODE_SYNTAX, "braces");
  REFUSED(hx_builder_op(builder, "ckks.rotate", &x, 1, "{step = 1 : i64} more", &y, 1, report), HX_CODE_SYNTAX, "end");
  REFUSED(hx_builder_op(builder, "ckks.neg", &foreign, 1, NULL, &y, 1, report), HX_CODE_INVALID_ARGUMENT, "another");
  REFUSED(hx_builder_op(builder, "ckks.relinearize", &x, 1, NULL, &y, 1, report), HX_CODE_COMPONENTS, "");
  REFUSED(hx_builder_output(builder, "y", foreign, report), HX_CODE_INVALID_ARGUMENT, "another");
  must(hx_builder_output(builder, "y", x, report), report);
  REFUSED(hx_builder_output(builder, "y", x, report), HX_CODE_SYMBOL_NAME, "\"y\" already");
  must(hx_builder_finish(builder, &program, report), report);
  REFUSED(hx_builder_output(builder, "z", x, report), HX_CODE_INVALID_ARGUMENT, "handed its program over");
  hx_program_release(program);
  hx_builder_release(builder);
  hx_builder_release(other);
}

static void builder_survives_every_failed_allocation(void **state) {
  bench_t *bench = *state;
  hx_status_t status = HX_STATUS_OUT_OF_MEMORY;
  uint64_t n = 0;
  while (status != HX_STATUS_OK) {
    hx_builder_t *builder = NULL;
    hx_program_t *program = NULL;
    hx_alloc_fail_at(++n);
    status = hx_builder_create(bench->params, &builder, NULL);
    if (status == HX_STATUS_OK) status = build(bench, builder, &program, NULL);
    hx_alloc_fail_at(0);
    assert_true(status == HX_STATUS_OK || status == HX_STATUS_OUT_OF_MEMORY);
    hx_program_release(program);
    hx_builder_release(builder);
    assert_true(n < 10000);
  }
  assert_true(n > 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(builder_makes_programs_that_run),
      cmocka_unit_test(builder_refuses_what_does_not_fit),
      cmocka_unit_test(builder_survives_every_failed_allocation),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
