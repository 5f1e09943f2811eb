// SPDX-License-Identifier: Apache-2.0
// The steps of linking as a pipeline: the caller's own between them, refusals, the source left alone.
#include "tests/unit/link_fixture.h"

#define PROGRAM                                                                                                 \
  MODULE("%x: " CT0 ", %y: " CT0, CT0 ", " CT0, CT,                                                             \
         "%a = \"ckks.add\"(%x, %y) : (" CT0 ", " CT0 ") -> " CT "\n%b = \"ckks.add\"(%x, %y) : (" CT0 ", " CT0 \
         ") -> " CT "\n%c = \"ckks.add\"(%a, %b) : (" CT ", " CT ") -> " CT "\n\"func.return\"(%c) : (" CT ") -> ()")

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

static hx_status_t run_passes(hx_linking_t *linking, void *argument, hx_report_t *report) {
  return hx_linking_transform(linking, argument, report);
}

static hx_status_t assign(hx_linking_t *linking, void *argument, hx_report_t *report) {
  return hx_linking_assign(linking, "ckks.add", argument, report);
}

static hx_status_t count_operations(hx_linking_t *linking, void *argument, hx_report_t *report) {
  (void)report;
  size_t count = 0;
  for (const hx_ir_op_t *op = hx_func_block(hx_program_find(hx_linking_program(linking), "main"))->first; op != NULL;
       op = op->next)
    ++count;
  *(size_t *)argument = count;
  return HX_STATUS_OK;
}

static hx_status_t refuse(hx_linking_t *linking, void *argument, hx_report_t *report) {
  (void)linking;
  return hx_report_fail(report, HX_CODE_CAPABILITY, "%s", (const char *)argument);
}

static void standard_steps_give_what_linking_gives(void **state) {
  bench_t *bench = *state;
  hx_compilation_t *compilation = link_compile(bench, PROGRAM);
  const hx_link_pass_t *passes;
  const size_t count = hx_link_standard_passes(&passes);
  assert_int_equal(count, 5);
  assert_string_equal(passes[0].name, "resolve-tensors");
  assert_string_equal(passes[4].name, "link");
  hx_executable_t *plain = NULL, *stepped = NULL;
  must(hx_link(compilation, bench->backend, NULL, &plain, bench->report), bench->report);
  must(hx_link_with(compilation, bench->backend, NULL, passes, count, &stepped, bench->report), bench->report);
  assert_string_equal(hx_executable_manifest(plain), hx_executable_manifest(stepped));
  hx_executable_release(plain);
  hx_executable_release(stepped);
  hx_compilation_release(compilation);
}

static void own_steps_stand_between_the_standard_ones(void **state) {
  bench_t *bench = *state;
  hx_compilation_t *compilation = link_compile(bench, PROGRAM);
  char *before = NULL, *after = NULL;
  must(hx_program_print(hx_compilation_program(compilation), 0, &before, bench->report), bench->report);
  size_t operations = 0;
  char pipeline[] = "cse", name[] = "alpha/ref";
  const hx_link_pass_t passes[] = {{.name = "own passes", .run = run_passes, .argument = pipeline},
                                   {.name = "own choice", .run = assign, .argument = name},
                                   {.name = "resolve-tensors"},
                                   {.name = "resolve-operations"},
                                   {.name = "count", .run = count_operations, .argument = &operations},
                                   {.name = "initialise-resources"},
                                   {.name = "materialise"},
                                   {.name = "link"}};
  hx_executable_t *executable = NULL;
  must(hx_link_with(compilation, bench->backend, "", passes, HX_COUNT_OF(passes), &executable, bench->report),
       bench->report);
  assert_int_equal(operations, 3);  // two additions and the return: equal ones were merged
  must(hx_program_print(hx_compilation_program(compilation), 0, &after, bench->report), bench->report);
  assert_string_equal(before, after);
  hx_text_free(before);
  hx_text_free(after);
  hx_executable_release(executable);
  hx_compilation_release(compilation);
}

static void expect(bench_t *bench, const hx_link_pass_t *passes, size_t count, hx_code_t code, const char *piece) {
  hx_compilation_t *compilation = link_compile(bench, PROGRAM);
  hx_executable_t *executable = NULL;
  hx_report_clear(bench->report);
  assert_int_not_equal(hx_link_with(compilation, bench->backend, "", passes, count, &executable, bench->report),
                       HX_STATUS_OK);
  assert_null(executable);
  must_fault(bench->report, code, 0, piece);
  hx_report_clear(bench->report);
  hx_compilation_release(compilation);
}

static void orders_that_cannot_be_are_refused(void **state) {
  bench_t *bench = *state;
  char pipeline[] = "cse", missing[] = "nobody/ref";
  const hx_link_pass_t unknown[] = {{.name = "resolve-everything"}};
  expect(bench, unknown, 1, HX_CODE_PASS, "no step 'resolve-everything'");
  const hx_link_pass_t early[] = {{.name = "resolve-operations"}};
  expect(bench, early, 1, HX_CODE_PASS, "step resolve-operations of linking comes after resolve-tensors");
  const hx_link_pass_t twice[] = {{.name = "resolve-tensors"}, {.name = "resolve-tensors"}};
  expect(bench, twice, 2, HX_CODE_PASS, "stands there twice");
  const hx_link_pass_t open[] = {{.name = "resolve-tensors"}, {.name = "resolve-operations"}};
  expect(bench, open, 2, HX_CODE_PASS, "end without an executable");
  const hx_link_pass_t nameless[] = {{.name = NULL}};
  expect(bench, nameless, 1, HX_CODE_PASS, "step 0 of linking has no name");
  const hx_link_pass_t late[] = {
      {.name = "resolve-tensors"},    {.name = "own", .run = run_passes, .argument = pipeline},
      {.name = "resolve-operations"}, {.name = "initialise-resources"},
      {.name = "materialise"},        {.name = "link"}};
  expect(bench, late, HX_COUNT_OF(late), HX_CODE_PASS, "passes change the program, so they run before resolve-tensors");
  const hx_link_pass_t wrong[] = {{.name = "own", .run = assign, .argument = missing},
                                  {.name = "resolve-tensors"},
                                  {.name = "resolve-operations"},
                                  {.name = "initialise-resources"},
                                  {.name = "materialise"},
                                  {.name = "link"}};
  expect(bench, wrong, HX_COUNT_OF(wrong), HX_CODE_IMPLEMENTATION, "nobody/ref");
}

static void failures_of_several_steps_are_told_together(void **state) {
  bench_t *bench = *state;
  char text[] = "not on a Sunday";
  const hx_link_pass_t passes[] = {{.name = "own", .run = refuse, .argument = text},
                                   {.name = "resolve-tensors"},
                                   {.name = "resolve-operations"},
                                   {.name = "initialise-resources"},
                                   {.name = "materialise"},
                                   {.name = "link"}};
  static const char open[] =
      MODULE("%x: " CT, CT, CT, "%y = \"ckks.neg\"(%x) : (" CT ") -> " CT "\n\"func.return\"(%y) : (" CT ") -> ()");
  hx_compilation_t *compilation = link_compile(bench, open);
  hx_executable_t *executable = NULL;
  assert_int_not_equal(
      hx_link_with(compilation, bench->backend, "", passes, HX_COUNT_OF(passes), &executable, bench->report),
      HX_STATUS_OK);
  must_fault(bench->report, HX_CODE_CAPABILITY, 0, "not on a Sunday");
  must_fault(bench->report, HX_CODE_OUTPUT_STATE, 0, "of output result0 is not known");
  must_fault(bench->report, HX_CODE_TYPE, 0, "of input arg0 is not known");
  assert_int_equal(fake.prepared_alive, 0);
  hx_report_clear(bench->report);
  hx_compilation_release(compilation);
}

int main(void) {
#define CASE(name_) cmocka_unit_test_setup_teardown(name_, setup, teardown)
  const struct CMUnitTest tests[] = {
      CASE(standard_steps_give_what_linking_gives), CASE(own_steps_stand_between_the_standard_ones),
      CASE(orders_that_cannot_be_are_refused), CASE(failures_of_several_steps_are_told_together)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
