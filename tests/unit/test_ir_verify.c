// SPDX-License-Identifier: Apache-2.0
// Programs that parse but are none: structure, dominance, regions, symbols, rows of the catalogue.
#include "ir_util.h"

#define FUNC(name_, body_) \
  "\"func.func\"() ({\n" body_ "\n}) {sym_name = \"" name_ "\", function_type = () -> ()} : () -> ()\n"
#define RETURN "\"func.return\"() : () -> ()"
#define PROGRAM(functions_) "\"builtin.module\"() ({\n" functions_ "}) {heliox.version = 1 : i64} : () -> ()\n"
#define BODY(body_)                                                                        \
  PROGRAM("\"func.func\"() ({\n^entry(%x: " CT ", %i: index, %c: i1):\n" body_ "\n" RETURN \
          "\n}) {sym_name = \"main\", function_type = (" CT ", index, i1) -> ()} : () -> ()\n")

static void verifier_refuses_broken_modules(void **state) {
  (void)state;
  expect_fault("\"builtin.module\"() ({\n" FUNC("main", RETURN) "}) : () -> ()", HX_CODE_ATTRIBUTE, 1, 1,
               "heliox.version is missing; write {heliox.version = 1 : i64}");
  expect_fault("\"builtin.module\"() ({\n" FUNC("main", RETURN) "}) {heliox.version = 2 : i64} : () -> ()",
               HX_CODE_FILE_VERSION, 1, 1, "heliox.version is 2; this build reads 1");
  expect_fault("\"builtin.module\"() ({\n" FUNC("main", RETURN) "}) {heliox.version = 1 : i32} : () -> ()",
               HX_CODE_ATTRIBUTE, 1, 1, "has to be an i64");
  expect_fault(
      "\"builtin.module\"() ({\n" FUNC("main", RETURN) "}) {heliox.version = 1 : i64, heliox.params = 5} : () -> ()",
      HX_CODE_ATTRIBUTE, 1, 1, "heliox.params has to be");
  expect_fault(
      "\"builtin.module\"() ({\n" FUNC("main", RETURN) "}) {heliox.version = 1 : i64, params = \"x\"} : () -> ()",
      HX_CODE_ATTRIBUTE, 1, 1, "no attribute params");
  expect_fault(PROGRAM(FUNC("other", RETURN)), HX_CODE_SYMBOL_NAME, 1, 1, "there is no function @main");
  expect_fault(PROGRAM(FUNC("main", RETURN) FUNC("main", RETURN)), HX_CODE_SYMBOL_NAME, 5, 1,
               "function @main is defined twice, first at 2:1");
  expect_fault(PROGRAM(FUNC("main", RETURN) "%a = \"arith.constant\"() {value = 1 : i64} : () -> i64\n"),
               HX_CODE_OPERANDS, 5, 6, "a module holds functions alone");
  expect_fault(PROGRAM(FUNC("main", FUNC("inner", RETURN) RETURN)), HX_CODE_OPERANDS, 3, 1,
               "functions stand in the module alone");
  expect_fault(PROGRAM(FUNC("main", "\"builtin.module\"() ({}) {heliox.version = 1 : i64} : () -> ()\n" RETURN)),
               HX_CODE_OPERANDS, 3, 1, "a module inside another operation");
}

static void verifier_refuses_functions_that_contradict_themselves(void **state) {
  (void)state;
  expect_fault(PROGRAM("\"func.func\"() ({\n" RETURN "\n}) {sym_name = \"main\"} : () -> ()\n"), HX_CODE_ATTRIBUTE, 2,
               1, "function_type");
  expect_fault(PROGRAM("\"func.func\"() ({\n" RETURN "\n}) {sym_name = \"main\", function_type = i64} : () -> ()\n"),
               HX_CODE_ATTRIBUTE, 2, 1, "has to be a function type");
  expect_fault(
      PROGRAM("\"func.func\"() ({\n" RETURN "\n}) {sym_name = \"main\", function_type = (i64) -> ()} : () -> ()\n"),
      HX_CODE_OPERANDS, 2, 1, "argument count is 0, but function_type has 1");
  expect_fault(PROGRAM("\"func.func\"() ({\n^entry(%x: i64):\n" RETURN
                       "\n}) {sym_name = \"main\", function_type = (i32) -> ()} : () -> ()\n"),
               HX_CODE_TYPE, 2, 1, "argument 0 has type i64, but function_type's 0 has type i32");
  expect_fault(
      PROGRAM("\"func.func\"() ({\n" RETURN "\n}) {sym_name = \"main\", function_type = () -> i64} : () -> ()\n"),
      HX_CODE_OPERANDS, 3, 1, "operand count is 0, but function_type has 1");
  expect_fault(PROGRAM("\"func.func\"() ({\n}) {sym_name = \"main\", function_type = () -> ()} : () -> ()\n"),
               HX_CODE_OPERANDS, 2, 1, "region 0 has to end in func.return, not in nothing");
  expect_fault(PROGRAM("\"func.func\"() ({}, {}) {sym_name = \"main\", function_type = () -> ()} : () -> ()\n"),
               HX_CODE_OPERANDS, 2, 1, "it has 1 regions, not 2");
  expect_fault(PROGRAM("\"func.func\"() {sym_name = \"main\", function_type = () -> ()} : () -> ()\n"),
               HX_CODE_OPERANDS, 2, 1, "it has 1 regions, not 0");
  expect_fault(
      PROGRAM("\"func.func\"() ({\n" RETURN
              "\n}) {sym_name = \"main\", function_type = () -> (), sym_visibility = \"secret\"} : () -> ()\n"),
      HX_CODE_ATTRIBUTE, 2, 1, "sym_visibility has to be public or private");
#define PORTS(attrs_)                                              \
  PROGRAM("\"func.func\"() ({\n^entry(%x: i64, %y: i64):\n" RETURN \
          "\n}) {sym_name = \"main\", function_type = (i64, i64) -> (), arg_attrs = " attrs_ "} : () -> ()\n")
  expect_fault(PORTS("[{}]"), HX_CODE_ATTRIBUTE, 2, 1, "arg_attrs has 1 entries for 2 values");
  expect_fault(PORTS("[{heliox.name = 5}, {}]"), HX_CODE_ATTRIBUTE, 2, 1, "heliox.name of arg_attrs[0] is no text");
  expect_fault(PORTS("[{heliox.name = \"a\"}, {heliox.name = \"a\"}]"), HX_CODE_SYMBOL_NAME, 2, 1,
               "arg_attrs gives the name a twice");
  expect_fault(PORTS("[{heliox.role = \"cipher\"}, {}]"), HX_CODE_ATTRIBUTE, 2, 1,
               "heliox.role of arg_attrs[0] has to be");
  expect_fault(PORTS("[1, 2]"), HX_CODE_ATTRIBUTE, 2, 1, "arg_attrs");
}

static void verifier_refuses_values_that_are_not_visible(void **state) {
  (void)state;
  expect_fault(BODY("\"scf.if\"(%c) ({\n%y = \"ckks.neg\"(%x) : (" CT ") -> " CT
                    "\n\"scf.yield\"() : () -> ()\n}, {\n}) : (i1) -> ()\n%z = \"ckks.neg\"(%y) : (" CT ") -> " CT),
               HX_CODE_SSA, 9, 17, "value %y is not defined");
  expect_fault(BODY("%z = \"ckks.neg\"(%y) : (" CT ") -> " CT "\n\"scf.if\"(%c) ({\n%y = \"ckks.neg\"(%x) : (" CT
                    ") -> " CT "\n\"scf.yield\"() : () -> ()\n}, {\n}) : (i1) -> ()"),
               HX_CODE_SSA, 4, 6, "operand 0, %y, is defined in a region that does not enclose this use");
  expect_fault(BODY("%y = \"ckks.neg\"(%y) : (" CT ") -> " CT), HX_CODE_SSA, 4, 6,
               "operand 0, %y, is used before its definition");
  // A function sees nothing of others.
  expect_fault(PROGRAM(FUNC("main", "%y = \"arith.constant\"() {value = 1 : i64} : () -> i64\n" RETURN)
                           FUNC("other", "%z = \"arith.addi\"(%y, %y) : (i64, i64) -> i64\n" RETURN)),
               HX_CODE_SSA, 7, 19, "value %y is not defined");
}

static void verifier_refuses_terminators_out_of_place(void **state) {
  (void)state;
  expect_fault(BODY("\"func.return\"() : () -> ()"), HX_CODE_OPERANDS, 4, 1, "it ends a block, but operations follow");
  expect_fault(BODY("\"scf.if\"(%c) ({\n\"func.return\"() : () -> ()\n}, {\n}) : (i1) -> ()"), HX_CODE_OPERANDS, 4, 1,
               "region 0 has to end in scf.yield, not in func.return");
  expect_fault(BODY("%y = \"scf.if\"(%c) ({\n\"scf.yield\"(%x) : (" CT ") -> ()\n}, {\n}) : (i1) -> " CT),
               HX_CODE_OPERANDS, 4, 6, "region 1 has to end in scf.yield, not in nothing");
}

#define YIELD(values_, types_) "\"scf.yield\"(" values_ ") : (" types_ ") -> ()\n"

static void verifier_refuses_control_flow_that_does_not_fit(void **state) {
  (void)state;
  expect_fault(BODY("\"scf.if\"(%i) ({\n" YIELD("", "") "}, {\n}) : (index) -> ()"), HX_CODE_TYPE, 4, 1,
               "the condition has to be of type i1");
  expect_fault(BODY("\"scf.if\"(%c) ({\n" YIELD("%x", CT) "}, {\n}) : (i1) -> ()"), HX_CODE_OPERANDS, 5, 1,
               "yielded value count is 1, but result count is 0");
  expect_fault(BODY("%y = \"scf.if\"(%c) ({\n" YIELD("%x", CT) "}, {\n" YIELD("%i", "index") "}) : (i1) -> " CT),
               HX_CODE_TYPE, 7, 1, "yielded value 0 has type index, but result 0 has type " CT ": they differ in kind");
  expect_fault(BODY("\"scf.for\"(%i, %i, %i) ({\n" YIELD("", "") "}) : (index, index, index) -> ()"), HX_CODE_OPERANDS,
               4, 1, "first argument has to be the counter");
  expect_fault(BODY("\"scf.for\"(%i, %i, %c) ({\n^b(%k: index):\n" YIELD("", "") "}) : (index, index, i1) -> ()"),
               HX_CODE_TYPE, 4, 1, "lower bound, upper bound and step");
  expect_fault(BODY("%y = \"scf.for\"(%i, %i, %i, %x) ({\n^b(%k: index):\n" YIELD(
                   "%x", CT) "}) : (index, index, index, " CT ") -> " CT),
               HX_CODE_OPERANDS, 4, 6, "carried operand count is 1, but carried argument count is 0");
  expect_fault(BODY("%y = \"scf.for\"(%i, %i, %i, %x) ({\n^b(%k: index, %a: !ckks.ciphertext<depth = 1>):\n" YIELD(
                   "%x", CT) "}) : (index, index, index, " CT ") -> " CT),
               HX_CODE_TYPE, 4, 6, "they differ in depth");
  expect_fault(BODY("\"scf.for\"(%i, %i, %i) ({\n^b(%k: index):\n" YIELD("%x", CT) "}) : (index, index, index) -> ()"),
               HX_CODE_OPERANDS, 6, 1, "yielded value count is 1, but carried operand count is 0");
  expect_fault(BODY("\"scf.while\"() ({\n\"scf.condition\"(%i) : (index) -> ()\n}, {\n" YIELD("", "") "}) : () -> ()"),
               HX_CODE_TYPE, 5, 1, "the condition has to be of type i1");
  expect_fault(
      BODY("\"scf.while\"() ({\n\"scf.condition\"(%c, %x) : (i1, " CT ") -> ()\n}, {\n" YIELD("", "") "}) : () -> ()"),
      HX_CODE_OPERANDS, 5, 1, "passed value count is 1, but argument of the second region count is 0");
  expect_fault(
      BODY("\"scf.while\"(%x) ({\n\"scf.condition\"(%c) : (i1) -> ()\n}, {\n" YIELD("", "") "}) : (" CT ") -> ()"),
      HX_CODE_OPERANDS, 4, 1, "carried operand count is 1, but argument of the first region count is 0");
  expect_fault(BODY("\"scf.while\"() ({\n" YIELD("", "") "}, {\n" YIELD("", "") "}) : () -> ()"), HX_CODE_OPERANDS, 4,
               1, "region 0 has to end in scf.condition, not in scf.yield");
}

#define CALL(name_) "\"func.call\"() {callee = @" name_ "} : () -> ()\n"

static void verifier_refuses_calls_that_lead_nowhere(void **state) {
  (void)state;
  expect_fault(PROGRAM(FUNC("main", CALL("f") RETURN)), HX_CODE_SYMBOL_NAME, 3, 1, "there is no function @f");
  expect_fault(PROGRAM(FUNC("main", CALL("main") RETURN)), HX_CODE_LIMIT, 3, 1, "function @main calls itself");
  expect_fault(PROGRAM(FUNC("main", CALL("f") RETURN) FUNC("f", CALL("g") RETURN) FUNC("g", CALL("f") RETURN)),
               HX_CODE_LIMIT, 11, 1, "function @f calls itself");
  expect_fault(PROGRAM(FUNC("main", "%y = \"func.call\"() {callee = @f} : () -> i64\n" RETURN) FUNC("f", RETURN)),
               HX_CODE_OPERANDS, 3, 6, "result count is 1, but the function has 0");
  expect_fault(BODY("\"func.call\"(%x) {callee = @main} : (" CT ") -> ()"), HX_CODE_OPERANDS, 4, 1,
               "operand count is 1, but the function has 3");
  expect_fault(BODY("\"func.call\"(%i, %i, %c) {callee = @main} : (index, index, i1) -> ()"), HX_CODE_TYPE, 4, 1,
               "operand 0 has type index");
  // A chain of 65 functions, callers first and callees first.
  for (int order = 0; order < 2; ++order) {
    char *text = malloc(1 << 16);
    char *at = stpcpy(text, "\"builtin.module\"() ({\n");
    for (int k = 0; k < 65; ++k) {
      const int i = order == 0 ? k : 64 - k;
      at += sprintf(at, "\"func.func\"() ({\n");
      if (i < 64) at += sprintf(at, "\"func.call\"() {callee = @f%d} : () -> ()\n", i + 1);
      at += sprintf(at, RETURN "\n}) {sym_name = \"%s%.*d\", function_type = () -> ()} : () -> ()\n",
                    i == 0 ? "main" : "f", i == 0 ? 0 : 1, i);
    }
    strcpy(at, "}) {heliox.version = 1 : i64} : () -> ()\n");
    hx_report_t *report = hx_report_create();
    hx_program_t *program = NULL;
    assert_int_equal(hx_program_parse(hx_str(text), "test", &program, report), HX_STATUS_REFUSED);
    assert_int_equal(hx_report_count(report), 1);
    assert_non_null(strstr(hx_report_get(report, 0)->text, "calls nest deeper than 64"));
    hx_report_release(report);
    free(text);
  }
}

static void verifier_checks_rows_of_the_catalogue(void **state) {
  (void)state;
  expect_fault(BODY("%y = \"ckks.add\"(%x) : (" CT ") -> " CT), HX_CODE_OPERANDS, 4, 6, "ckks.add");
  expect_fault(BODY("%y = \"ckks.add\"(%x, %i) : (" CT ", index) -> " CT), HX_CODE_OPERANDS, 4, 6, "ckks.add");
  expect_fault(BODY("%y = \"ckks.neg\"(%x) : (" CT ") -> index"), HX_CODE_OPERANDS, 4, 6, "ckks.neg");
  expect_fault(BODY("%y = \"ckks.rotate\"(%x) : (" CT ") -> " CT), HX_CODE_ATTRIBUTE, 4, 6, "step");
  expect_fault(BODY("%y = \"ckks.rotate\"(%x) {step = 1, angle = 2} : (" CT ") -> " CT), HX_CODE_ATTRIBUTE, 4, 6,
               "angle");
  expect_fault(BODY("%y = \"ckks.neg\"(%x) ({\n}) : (" CT ") -> " CT), HX_CODE_OPERANDS, 4, 6,
               "it has 0 regions, not 1");
}

static void verifier_reports_detached_values_of_built_programs(void **state) {
  (void)state;
  hx_program_t *program =
      parse_good(BODY("%y = \"ckks.neg\"(%x) : (" CT ") -> " CT "\n%z = \"ckks.neg\"(%y) : (" CT ") -> " CT));
  hx_ir_op_t *first = hx_func_block(hx_program_find(program, "main"))->first;
  hx_ir_remove(first);
  hx_report_t *report = hx_report_create();
  assert_int_equal(hx_program_verify(program, report), HX_STATUS_INVALID);
  assert_int_equal(hx_report_count(report), 1);
  assert_non_null(strstr(hx_report_get(report, 0)->text, "operand 0, %y, is no value of this program"));
  char *text = print_good(program, 0);  // can be looked at
  assert_non_null(strstr(text, "%undefined"));
  hx_text_free(text);
  hx_report_release(report);
  hx_program_release(program);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(verifier_refuses_broken_modules),
      cmocka_unit_test(verifier_refuses_functions_that_contradict_themselves),
      cmocka_unit_test(verifier_refuses_values_that_are_not_visible),
      cmocka_unit_test(verifier_refuses_terminators_out_of_place),
      cmocka_unit_test(verifier_refuses_control_flow_that_does_not_fit),
      cmocka_unit_test(verifier_refuses_calls_that_lead_nowhere),
      cmocka_unit_test(verifier_checks_rows_of_the_catalogue),
      cmocka_unit_test(verifier_reports_detached_values_of_built_programs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
