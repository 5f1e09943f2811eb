// SPDX-License-Identifier: Apache-2.0
// Programs of HEIR: the examples run and give what they say, and what is not imported is named with its place.
#include "heliox/import.h"
#include "tests/unit/link_fixture.h"

static char *read_example(const char *name) {
  char path[512];
  snprintf(path, sizeof path, HELIOX_SOURCE_DIR "/examples/heir/%s", name);
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  char *text = calloc(1, 1 << 16);
  assert_true(fread(text, 1, (1 << 16) - 1, file) > 0);
  fclose(file);
  return text;
}

// An example for N = 2^13 in the small ring of the tests: the ring degree of its types is written smaller.
static void shrink(char *text) {
  for (char *at = strstr(text, "x**8192"); at != NULL; at = strstr(at, "x**8192")) memcpy(at, "x**1024", 7);
}

static hx_import_t *import_example(const char *name, hx_report_t *report) {
  char *text = read_example(name);
  hx_import_t *import = NULL;
  shrink(text);
  must(hx_import_heir(hx_str(text), name, NULL, &import, report), report);
  free(text);
  return import;
}

// Runs an import on two encrypted inputs (as many as it takes) and decrypts its one result.
static void run_import(const bench_t *bench, const hx_import_t *import, double *const values[2], double *out) {
  hx_compilation_t *compilation = NULL;
  must(hx_compilation_create(hx_import_program(import), bench->params, &compilation, bench->report), bench->report);
  must(hx_import_bind(import, compilation, bench->report), bench->report);
  must(hx_compilation_bind_keys(compilation, bench->keys, bench->report), bench->report);
  hx_executable_t *executable = NULL;
  must(hx_link(compilation, bench->backend, NULL, &executable, bench->report), bench->report);
  const hx_port_t *ports = NULL;
  const size_t count = hx_executable_inputs(executable, &ports);
  assert_true(count <= 2);
  hx_value_t *inputs[2] = {NULL, NULL}, *outputs[1] = {NULL};
  for (size_t i = 0; i < count; ++i) inputs[i] = encrypt_values(bench, bench->keys, values[i], SLOTS);
  must(hx_run(executable, (const hx_value_t *const *)inputs, outputs, bench->report), bench->report);
  decrypt_values(bench, outputs[0], out);
  for (size_t i = 0; i < count; ++i) hx_value_release(inputs[i]);
  hx_value_release(outputs[0]);
  hx_executable_release(executable);
  hx_compilation_release(compilation);
}

static void open_with_steps(bench_t *bench) {
  static const int64_t steps[] = {1, 2, 4};
  bench_open(bench, FAKE_ALL);
  hx_keys_release(bench->keys);
  const hx_keygen_options_t options = {.parts = HX_KEYS_ALL, .rotations = steps, .rotation_count = 3};
  must(hx_keys_generate(bench->params, &options, &bench->keys, bench->report), bench->report);
}

static void import_runs_a_dot_product(void **state) {
  (void)state;
  static const double weights[] = {1.0, -0.5, 0.25, 2.0, 0.125, -1.5, 0.75, 1.25};
  bench_t bench;
  open_with_steps(&bench);
  hx_import_t *import = import_example("dot.mlir", bench.report);
  const hx_import_constant_t *constants;
  assert_int_equal(hx_import_constants(import, &constants), 1);
  assert_string_equal(constants[0].symbol, "constant0");
  assert_int_equal(constants[0].count, 8);
  double x[SLOTS], found[SLOTS], expected = 0;
  fill_values(x, SLOTS, 4);
  for (size_t i = 0; i < 8; ++i) expected += weights[i] * x[i];
  run_import(&bench, import, (double *const[2]){x, NULL}, found);
  assert_true(fabs(found[0] - expected) < 1e-6);
  hx_import_release(import);
  bench_close(&bench);
}

static void import_runs_products_of_ciphertexts(void **state) {
  (void)state;
  bench_t bench;
  open_with_steps(&bench);
  hx_import_t *import = import_example("square.mlir", bench.report);
  double x[SLOTS], y[SLOTS], found[SLOTS], expected[SLOTS];
  fill_values(x, SLOTS, 4);
  fill_values(y, SLOTS, 5);
  for (size_t i = 0; i < SLOTS; ++i) expected[i] = x[i] * x[i] - x[i] * y[i];
  run_import(&bench, import, (double *const[2]){x, y}, found);
  must_be_near(found, expected, SLOTS, 1e-6);
  hx_import_release(import);
  bench_close(&bench);
}

#define CHAIN "modulus_chain = <elements = <97 : i64, 101 : i64>, current = 1>"
#define HCT "!lwe.lwe_ciphertext<plaintext_space = <encoding = <scaling_factor = 40>, ring = <1 + x**1024>>, " CHAIN ">"
#define FUNC(name_, body_)                                                                                      \
  "\"func.func\"() <{sym_name = \"" name_ "\"}> ({\n^bb0(%x: " HCT "):\n" body_ "\n\"func.return\"(%x) : (" HCT \
  ") -> ()\n}) : () -> ()\n"
#define HEIR(functions_) "\"builtin.module\"() ({\n" functions_ "}) : () -> ()\n"

static void import_names_what_it_does_not_take(void **state) {
  (void)state;
  static const struct {
    const char *text;
    hx_code_t code;
    uint32_t line;
    const char *part;
  } bad[] = {
      {"", HX_CODE_SYNTAX, 1, "empty"},
      {"module { }", HX_CODE_SYNTAX, 1, "generic form"},
      {HEIR(""), HX_CODE_SYMBOL_NAME, 3, "no function"},
      {HEIR(FUNC("f", "%0 = \"ckks.bootstrap\"(%x) : (" HCT ") -> " HCT)), HX_CODE_UNSUPPORTED, 4,
       "ckks.bootstrap: this operation is not imported"},
      {HEIR(FUNC("f", "%0 = \"ckks.rotate\"(%x) : (" HCT ") -> " HCT)), HX_CODE_ATTRIBUTE, 4, "offset"},
      {HEIR(FUNC("f", "%0 = \"ckks.add\"(%x, %y) : (" HCT ", " HCT ") -> " HCT)), HX_CODE_SSA, 4, "%y is not defined"},
      {HEIR(FUNC("f", "%x = \"ckks.negate\"(%x) : (" HCT ") -> " HCT)), HX_CODE_SSA, 4, "%x is defined twice"},
      {HEIR(FUNC("f",
                 "%0 = \"ckks.relinearize\"(%x) {from_basis = array<i32: 0, 2>, to_basis = array<i32: 0, 1>} : (" HCT
                 ") -> " HCT)),
       HX_CODE_UNSUPPORTED, 4, "from_basis"},
      {HEIR(FUNC("f", "%0 = \"ckks.mul_plain\"(%x, %x) : (" HCT ", " HCT ") -> " HCT)), HX_CODE_OPERANDS, 4,
       "operand 1 is no plaintext"},
      {HEIR(FUNC("f", "\"scf.for\"(%x) ({\n}) : (i64) -> ()")), HX_CODE_UNSUPPORTED, 4, "regions"},
      {HEIR(FUNC("f", "") FUNC("g", "")), HX_CODE_SYMBOL_NAME, 7, "several functions"},
      {HEIR(FUNC("f", "%0 = \"ckks.level_reduce\"(%x) {levelToDrop = 999 : i64} : (" HCT ") -> " HCT)),
       HX_CODE_UNSUPPORTED, 4, "999 levels"},
      {HEIR(FUNC("f", "%c = \"arith.constant\"() {value = 3 : i64} : () -> i64")), HX_CODE_UNSUPPORTED, 4, "dense"},
      {HEIR(FUNC("f", "%c = \"arith.constant\"() {value = dense<[1.0, nan]> : tensor<2xf64>} : () -> tensor<2xf64>")),
       HX_CODE_TEXT_FORMAT, 4, "finite"},
      {"\"builtin.module\"() ({\n\"func.func\"() ({\n^bb0(%x: tensor<4xf64>):\n}) : () -> ()\n}) : () -> ()\n",
       HX_CODE_UNSUPPORTED, 3, "single lwe ciphertexts"},
      {"\"builtin.module\"() ({\n^bb0(%x: i64):\n}) : () -> ()\n", HX_CODE_UNSUPPORTED, 1, "takes no arguments"},
      {HEIR("%0 = \"ckks.negate\"(%x) : (" HCT ") -> " HCT "\n"), HX_CODE_UNSUPPORTED, 2, "outside functions"},
      {HEIR(FUNC("f", "\"func.func\"() ({\n}) : () -> ()")), HX_CODE_UNSUPPORTED, 4, "inside a function"},
  };
  for (size_t i = 0; i < HX_COUNT_OF(bad); ++i) {
    hx_report_t *report = hx_report_create();
    hx_import_t *import = NULL;
    assert_int_not_equal(hx_import_heir(hx_str(bad[i].text), "bad", NULL, &import, report), HX_STATUS_OK);
    assert_null(import);
    const hx_fault_t *fault = hx_report_get(report, 0);
    assert_non_null(fault);
    if (fault->code != bad[i].code || fault->line != bad[i].line || strstr(fault->text, bad[i].part) == NULL)
      fail_msg("%zu: %u:%u %s: %s", i, fault->line, fault->column, hx_code_info(fault->code)->word, fault->text);
    hx_report_release(report);
  }
}

static void import_takes_the_function_that_is_named(void **state) {
  (void)state;
  hx_report_t *report = hx_report_create();
  hx_import_t *import = NULL;
  static const char text[] = HEIR(FUNC("f", "%0 = \"ckks.bootstrap\"(%x) : (" HCT ") -> " HCT) FUNC("g", ""));
  must(hx_import_heir(hx_str(text), "two", "g", &import, report), report);
  const hx_port_t *ports;
  assert_int_equal(hx_program_inputs(hx_import_program(import), &ports), 1);
  hx_import_release(import);
  hx_report_release(report);
}

static void constants_are_read_in_every_form(void **state) {
  (void)state;
  static const struct {
    const char *body;
    double values[2];
  } cases[] = {{"dense<0.5> : tensor<2xf64>", {0.5, 0.5}},
               {"dense<[1, -2]> : tensor<2xi32>", {1, -2}},
               {"dense<[[2.5], [1e-3]]> : tensor<2x1xf32>", {2.5, 1e-3}},
               {"dense<\"0x0000803F000000C0\"> : tensor<2xf32>", {1, -2}},
               {"dense<\"0x000000000000F03F0000000000000040\"> : tensor<2xf64>", {1, 2}}};
  for (size_t i = 0; i < HX_COUNT_OF(cases); ++i) {
    char text[1024];
    snprintf(text, sizeof text,
             "\"builtin.module\"() ({\n\"func.func\"() ({\n^bb0(%%x: " HCT
             "):\n%%c = \"arith.constant\"() {value = %s} : "
             "() -> ()\n\"func.return\"(%%x) : () -> ()\n}) : () -> ()\n}) : () -> ()\n",
             cases[i].body);
    hx_report_t *report = hx_report_create();
    hx_import_t *import = NULL;
    must(hx_import_heir(hx_str(text), "constant", NULL, &import, report), report);
    const hx_import_constant_t *constants;
    assert_int_equal(hx_import_constants(import, &constants), 1);
    assert_int_equal(constants[0].count, 2);
    for (size_t k = 0; k < 2; ++k) {
      if (constants[0].values[k] != cases[i].values[k]) fail_msg("%zu: %.17g", i, constants[0].values[k]);
    }
    hx_import_release(import);
    hx_report_release(report);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(import_runs_a_dot_product),          cmocka_unit_test(import_runs_products_of_ciphertexts),
      cmocka_unit_test(import_names_what_it_does_not_take), cmocka_unit_test(import_takes_the_function_that_is_named),
      cmocka_unit_test(constants_are_read_in_every_form),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
