// SPDX-License-Identifier: Apache-2.0
// Reading programs: what is accepted, and the place and code of every refusal.
#include "ir_util.h"

#define ONE(line_) MODULE("%x: " CT, CT, CT, line_ "\n\"func.return\"(%x) : (" CT ") -> ()")

static void parser_accepts_every_kind_of_attribute(void **state) {
  (void)state;
  hx_program_t *program = parse_good("#seven = 7 : i64\n" ONE(
      "%y = \"ckks.neg\"(%x) {a.int = 5, a.typed = -5 : i32, a.hex = 0xFF : i64, a.big = 18446744073709551615 : ui64,"
      " a.index = 3 : index, a.float = -1.593e-03 : f64, a.short = 2.5, a.exp = 1e3, a.bits = 0x7FF0000000000000 : "
      "f64, a.unit,"
      " a.word = unit, a.yes = true, a.no = false, a.bit = 1 : i1, a.text = \"q\\22\\0A\\\\\\n\\t\","
      " a.symbol = @name, a.quoted = @\"a b\", a.type = i64, a.function = (i64, f64) -> (i1, index), a.none = () -> (),"
      " a.list = [1, 2.0, \"x\", [], [@y]], a.dict = {b = 1, \"c d\" = {}}, a.alias = #seven, \"a.quoted name\" = 1}"
      " : (" CT ") -> " CT));
  const hx_ir_op_t *op = hx_func_block(hx_program_find(program, "main"))->first;
  int64_t number = 0;
  hx_str_t text;
  assert_true(hx_attrs_get_i64(op->attrs, "a.int", &number) && number == 5);
  assert_true(hx_attrs_get_i64(op->attrs, "a.hex", &number) && number == 255);
  assert_true(hx_attrs_get_i64(op->attrs, "a.big", &number) && number == -1);
  assert_true(hx_attrs_get_i64(op->attrs, "a.alias", &number) && number == 7);
  assert_true(hx_attrs_get_i64(op->attrs, "a.quoted name", &number) && number == 1);
  assert_true(hx_attrs_get_text(op->attrs, "a.text", &text) && hx_str_equal(text, hx_str("q\"\n\\\n\t")));
  assert_true(hx_attrs_find(op->attrs, "a.float")->number == -1.593e-03);
  assert_true(hx_attrs_find(op->attrs, "a.exp")->number == 1000);
  assert_int_equal(hx_attrs_find(op->attrs, "a.bit")->kind, HX_ATTRIBUTE_BOOL);
  assert_int_equal(hx_attrs_find(op->attrs, "a.word")->kind, HX_ATTRIBUTE_UNIT);
  assert_int_equal(hx_attrs_find(op->attrs, "a.function")->input_count, 2);
  assert_int_equal(op->line, 5);
  assert_int_equal(op->column, 6);
  hx_program_release(program);
}

static void parser_accepts_forms_of_other_mlir_versions(void **state) {
  (void)state;
  static const char *const texts[] = {
      // No module.
      "\"func.func\"() ({\n\"func.return\"() : () -> ()\n}) {sym_name = \"main\", function_type = () -> ()} : () -> ()",
      // Properties before, attributes after the regions; locations.
      "#loc1 = loc(\"a.mlir\":1:2)\n\"builtin.module\"() ({\n\"func.func\"() <{sym_name = \"main\", function_type = () "
      "-> ()}> ({\n"
      "\"func.return\"() : () -> () loc(#loc1)\n}) : () -> () loc(fused[\"x\"(\"y\":1:1), unknown])\n}) "
      "{heliox.version = 1 : i64} : () -> ()\n"
      "#loc2 = loc(unknown)\n",
      // Attributes before the regions.
      "\"builtin.module\"() {heliox.version = 1 : i64} ({\n\"func.func\"() {sym_name = \"main\"} ({\n\"func.return\"() "
      ": () -> ()\n})"
      " {function_type = () -> ()} : () -> ()\n}) : () -> ()",
      // Type aliases of MLIR 14 and of later versions.
      "!a = type " CT "\n!b = " CT "\n" MODULE("%x: !a", "!b", "!a", "\"func.return\"(%x) : (!b) -> ()"),
      // Dialect types in their three spellings; comments and blanks anywhere.
      MODULE("%x: !ckks<\"ciphertext<depth = 0, scale = \\222^40\\22>\">",
             "!ckks<ciphertext<scale = \"2^40\", depth=0>>", "!ckks.ciphertext<\n depth = 0, scale = \"2^40\">",
             "// comment )}\n\t\r\n\"func.return\" ( %x ) : ( !ckks.ciphertext<depth = 0, scale = \"2^40\"> )->(  ) // "
             "end"),
      // Packs of results, names of all shapes.
      MODULE("%-x: " CT " loc(\"x\":1:1)", CT, CT,
             "%0:2, %$y.z = \"ckks.rotate_many\"(%-x) {steps = [0, 0, 0]} : (" CT ") -> (" CT ", " CT ", " CT ")\n"
             "%1 = \"ckks.add\"(%0, %0#1) : (" CT ", " CT ") -> " CT "\n%2 = \"ckks.add\"(%1, %$y.z) : (" CT ", " CT
             ") -> " CT "\n\"func.return\"(%2) : (" CT ") -> ()"),
      // A name may be used again in a region beside.
      MODULE(
          "%c: i1", "i1", "i1",
          "\"scf.if\"(%c) ({\n%a = \"arith.constant\"() {value = 1 : i64} : () -> i64\n\"scf.yield\"() : () -> ()\n}, "
          "{\n"
          "%a = \"arith.constant\"() {value = 1 : index} : () -> index\n\"scf.yield\"() : () -> ()\n}) : (i1) -> ()\n"
          "\"func.return\"(%c) : (i1) -> ()"),
  };
  for (size_t i = 0; i < HX_COUNT_OF(texts); ++i) hx_program_release(parse_good(texts[i]));
}

static void parser_tells_line_and_column_of_syntax_errors(void **state) {
  (void)state;
  static const struct {
    const char *text;
    hx_code_t code;
    uint32_t line, column;
    const char *part;
  } cases[] = {
      {"", HX_CODE_SYNTAX, 1, 1, "expected a program, found the end of the text"},
      {"  // nothing\n ", HX_CODE_SYNTAX, 2, 2, "the end of the text"},
      {"module {\n}", HX_CODE_CUSTOM_FORM, 1, 1,
       "module is in MLIR's custom form; only the generic form is read: print it with --mlir-print-op-generic"},
      {"func.func @main() { }", HX_CODE_CUSTOM_FORM, 1, 1, "func.func is in MLIR's custom form"},
      {ONE("%y = ckks.neg %x : " CT), HX_CODE_CUSTOM_FORM, 4, 6, "--mlir-print-op-generic"},
      {ONE("%y = \"ckks.neg\"%x"), HX_CODE_SYNTAX, 4, 16,
       "expected '(' and operands after the operation's name, found '%x'"},
      {ONE("%y = \"ckks.neg\"(x)"), HX_CODE_SYNTAX, 4, 17, "expected an operand (%name) or ')', found 'x'"},
      {ONE("%y = \"ckks.neg\"(%x %x)"), HX_CODE_SYNTAX, 4, 20, "expected ',' or ')' after an operand, found '%x'"},
      {ONE("%y = \"ckks.neg\"(%x) {a = } : "), HX_CODE_SYNTAX, 4, 26, "expected an attribute value, found '}'"},
      {ONE("%y = \"ckks.neg\"(%x) {1 = 2} : "), HX_CODE_SYNTAX, 4, 22, "expected the name of an attribute, found '1'"},
      {ONE("%y = \"ckks.neg\"(%x) {a = 1 b = 2} : "), HX_CODE_SYNTAX, 4, 28,
       "expected ',' or '}' in a list of attributes, found 'b'"},
      {ONE("%y = \"ckks.neg\"(%x) {a = [1 2]} : "), HX_CODE_SYNTAX, 4, 29, "expected ',' or ']' in a list, found '2'"},
      {ONE("%y = \"ckks.neg\"(%x) {a = \"open} : \n"), HX_CODE_SYNTAX, 4, 26, "the string is not closed on its line"},
      {ONE("%y = \"ckks.neg\"(%x) {a = \"\\q\"} : "), HX_CODE_SYNTAX, 4, 26, "unknown escape"},
      {ONE("%y = \"ckks.neg\"(%x) {a = \"\\00\"} : "), HX_CODE_SYNTAX, 4, 26, "NUL byte in a string"},
      {ONE("%y = \"ckks.neg\"(%x) {a = @\"\"} : "), HX_CODE_SYNTAX, 4, 26, "the symbol has no name"},
      {ONE("%y = \"ckks.neg\"(%x) {a = @a::@b} : "), HX_CODE_UNSUPPORTED, 4, 26, "nested symbols"},
      {ONE("%y = \"ckks.neg\"(%x) {a = dense<1> : tensor<1xi64>} : "), HX_CODE_UNSUPPORTED, 4, 26,
       "attributes of kind dense are not read"},
      {ONE("%y = \"ckks.neg\"(%x) {a = affine_map<(d0) -> (d0)>} : "), HX_CODE_UNSUPPORTED, 4, 26, "affine_map"},
      {ONE("%y = \"ckks.neg\"(%x) {a = #arith.overflow<none>} : "), HX_CODE_UNSUPPORTED, 4, 26,
       "#arith.overflow<none> of a dialect"},
      {ONE("%y = \"ckks.neg\"(%x) {a = #b} : "), HX_CODE_SYNTAX, 4, 26, "attribute alias #b is not defined"},
      {ONE("%y = \"ckks.neg\"(%x) {a = 300 : i8} : "), HX_CODE_ATTRIBUTE, 4, 26, "300 does not fit its type"},
      {ONE("%y = \"ckks.neg\"(%x) {a = -1 : ui8} : "), HX_CODE_ATTRIBUTE, 4, 26, "-1 does not fit its type"},
      {ONE("%y = \"ckks.neg\"(%x) {a = 18446744073709551616} : "), HX_CODE_ATTRIBUTE, 4, 26,
       "does not fit its type (i64)"},
      {ONE("%y = \"ckks.neg\"(%x) {a = 1e999} : "), HX_CODE_ATTRIBUTE, 4, 26, "1e999 is beyond the range of f64"},
      {ONE("%y = \"ckks.neg\"(%x) {a = 1.5 : i64} : "), HX_CODE_ATTRIBUTE, 4, 26, "1.5 is no number of the type given"},
      {ONE("%y = \"ckks.neg\"(%x) {a = 1 : f64} : "), HX_CODE_ATTRIBUTE, 4, 26, "1 is no f64: write it with a point"},
      {ONE("%y = \"ckks.neg\"(%x) {a = 1, a = 2} : (" CT ") -> " CT), HX_CODE_ATTRIBUTE, 4, 6,
       "attribute a is given twice"},
      {ONE("%y = \"ckks.neg\"(%x) -> "), HX_CODE_SYNTAX, 4, 21,
       "expected attributes, regions, or ':' and the operation's type, found '->'"},
      {ONE("%y = \"ckks.neg\"(%x) : " CT), HX_CODE_SYNTAX, 4, 23,
       "expected '(' and the operands' types, found '!ckks.ciphertext<depth = 0>'"},
      {ONE("%y = \"ckks.neg\"(%x) : (" CT ") : "), HX_CODE_SYNTAX, 4, 53,
       "expected '->' and the results' types, found ':'"},
      {ONE("%y = \"ckks.neg\"(%x) : (" CT ") -> 5"), HX_CODE_SYNTAX, 4, 56, "expected a type, found '5'"},
      {ONE("%y = \"ckks.neg\"(%x) : (" CT ") -> !open<"), HX_CODE_SYNTAX, 4, 56, "is not closed"},
      {ONE("%y = \"ckks.neg\"(%x) : (" CT ") -> !t"), HX_CODE_TYPE, 4, 56, "type alias !t is not defined"},
      {ONE("%y = \"ckks.neg\"(%x) : (" CT ") -> !ckks.ciphertext<depth = x>"), HX_CODE_SYNTAX, 4, 81,
       "expected a number or ?"},
      {ONE("%y:0 = \"ckks.neg\"(%x)"), HX_CODE_SYNTAX, 4, 4, "a number of results above 0"},
      {ONE("%y:x = \"ckks.neg\"(%x)"), HX_CODE_SYNTAX, 4, 4, "expected the number of results, found 'x'"},
      {ONE("%y#1 = \"ckks.neg\"(%x)"), HX_CODE_SYNTAX, 4, 1, "expected the name of a result"},
      {ONE("%y \"ckks.neg\"(%x)"), HX_CODE_SYNTAX, 4, 4, "expected '=' after the results, found '\"ckks.neg\"'"},
      {ONE("% = \"ckks.neg\"(%x)"), HX_CODE_SYNTAX, 4, 1, "a name must follow %"},
      {ONE("\"cf.br\"(%x)[^bb1] : (" CT ") -> ()"), HX_CODE_UNSUPPORTED, 4, 12, "successor blocks are not read"},
      {ONE("^bb1(%z: i64):"), HX_CODE_UNSUPPORTED, 4, 1, "a region has one block"},
      {"\"builtin.module\"() ({\n^bb(%x i64):\n", HX_CODE_SYNTAX, 2, 8,
       "expected ':' and the argument's type, found 'i64'"},
      {"\"builtin.module\"() ({\n^bb(%x: i64)\n", HX_CODE_SYNTAX, 3, 1,
       "expected ':' after the block's label, found the end of the text"},
      {"\"builtin.module\"() ({\n", HX_CODE_SYNTAX, 2, 1, "expected an operation or '}', found the end of the text"},
      {"\"builtin.module\"() ({}, {}, {}, {}, {})", HX_CODE_OPERANDS, 1, 37, "more than 4 regions"},
      {"\"builtin.module\"() <{a = 1} ({})", HX_CODE_SYNTAX, 1, 29, "expected '>' after the properties, found '('"},
      {"\xEF\xBB\xBFmodule", HX_CODE_SYNTAX, 1, 1, "found byte 0xef"},
      {"\"builtin.module\"() ~", HX_CODE_SYNTAX, 1, 20, "byte 0x7e"},
      {"!a = type i64\n!a = i32", HX_CODE_SYNTAX, 2, 1, "type alias !a is defined twice"},
      {"!a i64", HX_CODE_SYNTAX, 1, 4, "expected '=' after the alias name, found 'i64'"},
      {"!a.b = i64", HX_CODE_SYNTAX, 1, 1, "expected an operation or a plain alias name"},
      {"#a = 1\n#a = 2", HX_CODE_SYNTAX, 2, 1, "attribute alias #a is defined twice"},
      {"#l = loc(\"x\"", HX_CODE_SYNTAX, 1, 13, "expected ')' of a location"},
  };
  for (size_t i = 0; i < HX_COUNT_OF(cases); ++i)
    expect_fault(cases[i].text, cases[i].code, cases[i].line, cases[i].column, cases[i].part);
}

static void parser_tells_names_and_types_that_do_not_fit(void **state) {
  (void)state;
  expect_fault(ONE("%y = \"ckks.neg\"(%z) : (" CT ") -> " CT), HX_CODE_SSA, 4, 17, "value %z is not defined");
  expect_fault(ONE("%y = \"ckks.neg\"(%x#1) : (" CT ") -> " CT), HX_CODE_SSA, 4, 17,
               "value %x#1 is used, but %x has 1 values");
  expect_fault(ONE("%x = \"ckks.neg\"(%x) : (" CT ") -> " CT), HX_CODE_SSA, 4, 1,
               "value %x is defined twice, first at 3:8");
  expect_fault(ONE("%y = \"ckks.neg\"(%x) : (!ckks.ciphertext<depth = 1>) -> " CT), HX_CODE_TYPE, 4, 17,
               "%x has type !ckks.ciphertext<depth = 0>, but !ckks.ciphertext<depth = 1> is written here");
  expect_fault(ONE("%y = \"ckks.neg\"(%x) : (" CT ", " CT ") -> " CT), HX_CODE_OPERANDS, 4, 6,
               "ckks.neg has 1 operands, but 2 operand types");
  expect_fault(ONE("%y:2 = \"ckks.neg\"(%x) : (" CT ") -> " CT), HX_CODE_OPERANDS, 4, 8,
               "ckks.neg gives 1 results, but 2 are named");
  expect_fault(ONE("%y = \"ckks.twist\"(%x) : (" CT ") -> " CT), HX_CODE_UNKNOWN_OPERATION, 4, 6,
               "ckks.twist is not in the catalogue");
  expect_fault(ONE("%y = \"ckks.neg\"(%z) : (" CT ") -> " CT "\n%z = \"ckks.neg\"(%x) : (" CT ") -> " CT), HX_CODE_SSA,
               4, 6, "operand 0, %z, is used before its definition");
  expect_fault(ONE("%y = \"ckks.neg\"(%z) : (i64) -> " CT "\n%z = \"ckks.neg\"(%x) : (" CT ") -> " CT), HX_CODE_TYPE, 4,
               17, "value %z is used with another type than it is defined with at 5:1");
}

static void parser_reports_all_faults_at_once(void **state) {
  (void)state;
  hx_report_t *report = hx_report_create();
  hx_program_t *program = NULL;
  static const char text[] = ONE("%y = \"ckks.neg\"(%z) : (" CT ") -> " CT
                                 "\n"
                                 "%y = \"ckks.rotate\"(%x) : (" CT ") -> " CT
                                 "\n"
                                 "%w = \"ckks.nothing\"(%x) : (" CT ") -> " CT
                                 "\n"
                                 "\"ckks.add\"(%x) : (" CT ") -> ()");
  assert_int_equal(hx_program_parse(hx_str(text), "test", &program, report), HX_STATUS_INVALID);
  static const hx_code_t codes[] = {HX_CODE_SSA, HX_CODE_UNKNOWN_OPERATION, HX_CODE_SSA, HX_CODE_ATTRIBUTE,
                                    HX_CODE_OPERANDS};
  for (size_t i = 0; i < HX_COUNT_OF(codes); ++i) {
    bool found = false;
    for (size_t j = 0; j < hx_report_count(report); ++j) found = found || hx_report_get(report, j)->code == codes[i];
    if (!found) print_faults(report);
    assert_true(found);
  }
  assert_true(hx_report_count(report) >= 5);
  assert_null(program);
  hx_report_release(report);
}

static char *repeat(const char *before, const char *piece, size_t count, const char *after) {
  const size_t size = strlen(piece);
  char *text = malloc(strlen(before) + count * size + strlen(after) + 1);
  char *at = stpcpy(text, before);
  for (size_t i = 0; i < count; ++i) at = stpcpy(at, piece);
  strcpy(at, after);
  return text;
}

static void parser_refuses_texts_beyond_its_limits(void **state) {
  (void)state;
  char *lists = repeat("#a = ", "[", 65, "");
  expect_fault(lists, HX_CODE_LIMIT, 1, 70, "attributes nest deeper than 64");
  free(lists);
  char *regions = repeat("", "\"builtin.module\"() ({ ", 100, "");
  expect_fault(regions, HX_CODE_LIMIT, 1, 1 + 64 * 22 + 20, "regions nest deeper than 64");
  free(regions);
  // Aliases of lists of aliases stand for 2^40 numbers.
  char text[4096] = "#a0 = [1, 1]\n";
  for (int i = 1; i < 40; ++i)
    snprintf(text + strlen(text), sizeof text - strlen(text), "#a%d = [#a%d, #a%d]\n", i, i - 1, i - 1);
  expect_fault(text, HX_CODE_LIMIT, 20, 9, "more than 4194304 attribute values");
  text[0] = '\0';
  for (int i = 1; i < 70; ++i)
    snprintf(text + strlen(text), sizeof text - strlen(text), i == 1 ? "#a1 = [1]\n" : "#a%d = [#a%d]\n", i, i - 1);
  expect_fault(text, HX_CODE_LIMIT, 65, 9, "attributes nest 65 deep here");
  size_t size = 0;
  char *uses = malloc(300 * 64);
  for (int i = 0; i < 300; ++i) size += (size_t)sprintf(uses + size, "\"func.return\"(%%a%d) : (i1) -> ()\n", i);
  expect_fault(uses, HX_CODE_LIMIT, 257, 15, "more than 256 values are used before their definition");
  free(uses);
  hx_program_t *program = NULL;
  const hx_str_t large = {.data = "", .size = ((size_t)64 << 20) + 1};
  hx_report_t *report = hx_report_create();
  assert_int_equal(hx_program_parse(large, "test", &program, report), HX_STATUS_REFUSED);
  assert_int_equal(hx_report_get(report, 0)->code, HX_CODE_LIMIT);
  hx_report_release(report);
}

static void parser_survives_every_truncation(void **state) {
  (void)state;
  static const char text[] =
      ONE("%y = \"ckks.rotate\"(%x) {step = 1 : i64, a.b = [\"x\", {c = @d}]} : (" CT ") -> " CT);
  for (size_t size = 0; size + 1 < sizeof text - 1; ++size) {
    hx_program_t *program = NULL;
    char *copy = malloc(size + 1);  // exact size, so that a sanitizer sees reads beyond it
    memcpy(copy, text, size);
    assert_int_not_equal(hx_program_parse((hx_str_t){.data = copy, .size = size}, "test", &program, NULL),
                         HX_STATUS_OK);
    assert_null(program);
    free(copy);
  }
}

static void parser_frees_everything_when_memory_runs_out(void **state) {
  (void)state;
  static const char text[] = "!a = " CT "\n#b = [1, {c = \"x\"}]\n" ONE(
      "%y:2 = \"ckks.rotate_many\"(%x) {steps = [1, 2], a.b = #b} : (!a) -> (!a, !a)\n\"scf.if\"(%x) ({}, {}) : (!a) "
      "-> ()\n%z = \"ckks.neg\"(%y#1) : (!a) -> !a");
  hx_status_t status = HX_STATUS_OUT_OF_MEMORY;
  uint64_t n = 1;
  for (; status == HX_STATUS_OUT_OF_MEMORY; ++n) {
    hx_program_t *program = NULL;
    hx_alloc_fail_at(n);
    status = hx_program_parse(hx_str(text), "test", &program, NULL);
    hx_alloc_fail_at(0);
    assert_null(program);
  }
  assert_int_equal(status, HX_STATUS_INVALID);  // the condition is no i1
  assert_true(n > 20);
}

static void loader_reads_files_and_names_what_fails(void **state) {
  (void)state;
  hx_report_t *report = hx_report_create();
  hx_program_t *program = NULL;
  assert_int_equal(hx_program_load("/nonexistent/x.mlir", &program, report), HX_STATUS_IO);
  assert_string_equal(hx_report_get(report, 0)->source, "/nonexistent/x.mlir");
  hx_report_clear(report);
  assert_int_equal(hx_program_load("/", &program, report), HX_STATUS_IO);
  hx_report_clear(report);
  assert_int_equal(hx_program_load(HELIOX_SOURCE_DIR "/examples/wdbc.mlir", &program, report), HX_STATUS_OK);
  assert_string_equal(hx_program_params(program), "n14-d7-s40");
  const hx_port_t *ports;
  assert_int_equal(hx_program_inputs(program, &ports), 1);
  assert_string_equal(ports[0].name, "x");
  assert_string_equal(ports[0].role, "ciphertext");
  assert_non_null(strstr(ports[0].type, "slots = 8192"));
  assert_int_equal(hx_program_outputs(program, &ports), 1);
  assert_string_equal(ports[0].name, "score");
  assert_string_equal(ports[0].type, "!ckks.ciphertext<depth = 4>");
  hx_program_t *same = hx_program_retain(program);
  hx_program_release(program);
  hx_program_release(same);
  hx_report_release(report);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parser_accepts_every_kind_of_attribute),
      cmocka_unit_test(parser_accepts_forms_of_other_mlir_versions),
      cmocka_unit_test(parser_tells_line_and_column_of_syntax_errors),
      cmocka_unit_test(parser_tells_names_and_types_that_do_not_fit),
      cmocka_unit_test(parser_reports_all_faults_at_once),
      cmocka_unit_test(parser_refuses_texts_beyond_its_limits),
      cmocka_unit_test(parser_survives_every_truncation),
      cmocka_unit_test(parser_frees_everything_when_memory_runs_out),
      cmocka_unit_test(loader_reads_files_and_names_what_fails),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
