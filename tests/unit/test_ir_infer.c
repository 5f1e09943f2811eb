// SPDX-License-Identifier: Apache-2.0
// State flows forward through regions and calls; what is written and disagrees is a fault at that operation.
#include "ir_util.h"

#define OPEN "!rns.tensor<>"
#define PROGRAM(functions_) "\"builtin.module\"() ({\n" functions_ "}) {heliox.version = 1 : i64} : () -> ()\n"
#define BODY(body_, type_)                                                         \
  PROGRAM("\"func.func\"() ({\n^entry(%x: " TENSOR ", %i: index, %c: i1):\n" body_ \
          "}) {sym_name = \"main\", function_type = (" TENSOR ", index, i1) -> " type_ "} : () -> ()\n")

static hx_status_t infer(const char *text, hx_report_t *report, char **out_text) {
  hx_program_t *program = parse_good(text);
  const hx_status_t status = hx_program_infer(program, NULL, report);
  hx_report_t *after = hx_report_create();
  if (status == HX_STATUS_OK && hx_program_verify(program, after) != HX_STATUS_OK) {
    print_faults(after);
    fail();
  }
  *out_text = print_good(program, 0);
  hx_report_release(after);
  hx_program_release(program);
  return status;
}

static void expect_filled(const char *text) {
  hx_report_t *report = hx_report_create();
  char *out;
  const hx_status_t status = infer(text, report, &out);
  print_faults(report);
  assert_int_equal(status, HX_STATUS_OK);
  if (strstr(out, OPEN) != NULL) print_message("%s\n", out);
  assert_null(strstr(out, OPEN));
  free(through_mlir_opt(out, ""));
  hx_text_free(out);
  hx_report_release(report);
}

static void expect_refusal(const char *text, hx_code_t code, uint32_t line, const char *part, size_t count) {
  hx_report_t *report = hx_report_create();
  char *out;
  assert_int_not_equal(infer(text, report, &out), HX_STATUS_OK);
  bool found = false;
  for (size_t i = 0; i < hx_report_count(report); ++i) {
    const hx_fault_t *fault = hx_report_get(report, i);
    found = found || (fault->code == code && fault->line == line && strstr(fault->text, part) != NULL);
  }
  if (!found || hx_report_count(report) != count) print_faults(report);
  assert_true(found);
  assert_int_equal(hx_report_count(report), count);
  hx_text_free(out);
  hx_report_release(report);
}

static void inference_fills_open_types(void **state) {
  (void)state;
  expect_filled(BODY("%y = \"rns.neg\"(%x) : (" TENSOR ") -> " OPEN "\n%z = \"rns.add\"(%y, %x) : (" OPEN ", " TENSOR
                     ") -> " OPEN "\n\"func.return\"(%z) : (" OPEN ") -> ()\n",
                     OPEN));
}

static void inference_goes_through_control_flow(void **state) {
  (void)state;
  expect_filled(BODY("%y = \"scf.if\"(%c) ({\n%a = \"rns.neg\"(%x) : (" TENSOR ") -> " OPEN
                     "\n\"scf.yield\"(%a) : (" OPEN ") -> ()\n}, {\n"
                     "\"scf.yield\"(%x) : (" TENSOR ") -> ()\n}) : (i1) -> " OPEN "\n\"func.return\"(%y) : (" OPEN
                     ") -> ()\n",
                     OPEN));
  expect_filled(BODY("%y = \"scf.for\"(%i, %i, %i, %x) ({\n^b(%k: index, %a: " OPEN
                     "):\n%b = \"rns.add\"(%a, %a) : (" OPEN ", " OPEN ") -> " OPEN "\n\"scf.yield\"(%b) : (" OPEN
                     ") -> ()\n}) : (index, index, index, " TENSOR ") -> " OPEN "\n\"func.return\"(%y) : (" OPEN
                     ") -> ()\n",
                     OPEN));
  expect_filled(BODY("%y = \"scf.while\"(%x) ({\n^b(%a: " OPEN "):\n\"scf.condition\"(%c, %a) : (i1, " OPEN
                     ") -> ()\n}, {\n^b(%a: " OPEN "):\n%b = \"rns.neg\"(%a) : (" OPEN ") -> " OPEN
                     "\n\"scf.yield\"(%b) : (" OPEN ") -> ()\n}) : (" TENSOR ") -> " OPEN
                     "\n\"func.return\"(%y) : (" OPEN ") -> ()\n",
                     OPEN));
}

#define CALLEE                                                                                          \
  "\"func.func\"() ({\n^entry(%a: " OPEN "):\n%b = \"rns.neg\"(%a) : (" OPEN ") -> " OPEN               \
  "\n\"func.return\"(%b) : (" OPEN ") -> ()\n}) {sym_name = \"f\", function_type = (" OPEN ") -> " OPEN \
  "} : () -> ()\n"

static void inference_goes_through_calls(void **state) {
  (void)state;
  expect_filled(PROGRAM(
      CALLEE "\"func.func\"() ({\n^entry(%x: " TENSOR "):\n%y = \"func.call\"(%x) {callee = @f} : (" TENSOR ") -> " OPEN
             "\n%z = \"func.call\"(%y) {callee = @f} : (" OPEN ") -> " OPEN "\n\"func.return\"(%z) : (" OPEN
             ") -> ()\n}) {sym_name = \"main\", function_type = (" TENSOR ") -> " OPEN "} : () -> ()\n"));
  // Another state than the first call's.
  expect_refusal(PROGRAM("\"func.func\"() ({\n^entry(%x: " TENSOR
                         ", %w: !rns.tensor<primes = [0]>):\n%y = \"func.call\"(%x) {callee = @f} : (" TENSOR
                         ") -> " OPEN "\n%z = \"func.call\"(%w) {callee = @f} : (!rns.tensor<primes = [0]>) -> " OPEN
                         "\n\"func.return\"() : () -> ()\n}) {sym_name = \"main\", function_type = (" TENSOR
                         ", !rns.tensor<primes = [0]>) -> ()} : () -> ()\n" CALLEE),
                 HX_CODE_TYPE, 5, "they differ in primes", 1);
}

static void constants_of_one_bit_are_true_and_false(void **state) {
  (void)state;
  expect_filled(BODY(
      "%t = \"arith.constant\"() {value = 1 : i1} : () -> i1\n%f = \"arith.constant\"() {value = false} : () -> i1\n"
      "%y = \"scf.if\"(%t) ({\n\"scf.yield\"(%x) : (" TENSOR ") -> ()\n}, {\n\"scf.yield\"(%x) : (" TENSOR
      ") -> ()\n}) : (i1) -> " OPEN "\n\"func.return\"(%y) : (" OPEN ") -> ()\n",
      OPEN));
  expect_refusal(
      BODY("%t = \"arith.constant\"() {value = true} : () -> i64\n\"func.return\"(%x) : (" TENSOR ") -> ()\n", TENSOR),
      HX_CODE_TYPE, 4, "arith.constant", 1);
}

static void inference_refuses_written_state_that_disagrees(void **state) {
  (void)state;
  expect_refusal(BODY("%y = \"rns.neg\"(%x) : (" TENSOR
                      ") -> !rns.tensor<components = 2>\n\"func.return\"(%y) : (!rns.tensor<components = 2>) -> ()\n",
                      "!rns.tensor<components = 2>"),
                 HX_CODE_TYPE, 4, "components", 1);
  expect_refusal(
      BODY("%y = \"rns.neg\"(%x) : (" TENSOR ") -> " OPEN "\n%z = \"rns.neg\"(%x) : (" TENSOR
           ") -> !rns.tensor<domain = coefficient>\n"
           "%w = \"rns.neg\"(%x) : (" TENSOR ") -> !rns.tensor<repr = lazy>\n\"func.return\"(%y) : (" OPEN ") -> ()\n",
           OPEN),
      HX_CODE_TYPE, 6, "repr", 2);
  // A body that changes what it carries.
  expect_refusal(
      BODY("%y = \"scf.for\"(%i, %i, %i, %x) ({\n^b(%k: index, %a: " OPEN "):\n%b = \"ntt.inverse\"(%a) : (" OPEN
           ") -> " OPEN "\n\"scf.yield\"(%b) : (" OPEN ") -> ()\n}) : (index, index, index, " TENSOR ") -> " OPEN
           "\n\"func.return\"(%y) : (" OPEN ") -> ()\n",
           OPEN),
      HX_CODE_TYPE, 7, "scf.yield: yielded value 0", 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(inference_fills_open_types),
      cmocka_unit_test(inference_goes_through_control_flow),
      cmocka_unit_test(inference_goes_through_calls),
      cmocka_unit_test(constants_of_one_bit_are_true_and_false),
      cmocka_unit_test(inference_refuses_written_state_that_disagrees),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
