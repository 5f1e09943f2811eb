// SPDX-License-Identifier: Apache-2.0
// Printing: what is printed reads back to the same program, here and in mlir-opt.
#include <dirent.h>

#include "ir_generate.h"

static void expect_same(const hx_program_t *program, uint32_t flags) {
  char *text = print_good(program, 0);
  char *other = print_good(program, flags);
  hx_program_t *again = parse_good(other);
  char *back = print_good(again, 0);
  if ((flags & HX_PRINT_SHORT) == 0) assert_string_equal(back, text);
  char *other_back = print_good(again, flags);
  if ((flags & HX_PRINT_SHORT) == 0) assert_string_equal(other_back, other);
  hx_text_free(text);
  hx_text_free(other);
  hx_text_free(back);
  hx_text_free(other_back);
  hx_program_release(again);
}

static void printer_writes_the_form_of_the_example(void **state) {
  (void)state;
  static const char text[] =
      "\"builtin.module\"() ({\n"
      "  \"func.func\"() ({\n"
      "  ^entry(%x: !ckks.ciphertext<depth = 0, scale = \"2^40\">, %c: i1):\n"
      "    %w = \"material.ref\"() {symbol = @weights} : () -> !ckks.plaintext<depth = 0>\n"
      "    %0 = \"ckks.mul_scalar\"(%x) {a.x, a.y = [1, 2.500000e+00, -3 : i32, @\"a b\", {k = 1 : i64}], a.z = "
      "0x7FF0000000000000 : f64,"
      " scale = \"2^40\", value = -1.593000e-03 : f64} : (!ckks.ciphertext<depth = 0, scale = \"2^40\">) -> "
      "!ckks.ciphertext<>\n"
      "    %y:2 = \"ckks.rotate_many\"(%x) {steps = [1, -2]} : (!ckks.ciphertext<depth = 0, scale = \"2^40\">) -> "
      "(!ckks.ciphertext<>, !ckks.ciphertext<>)\n"
      "    %p, %q = \"ckks.rotate_many\"(%x) {steps = [1, -2]} : (!ckks.ciphertext<depth = 0, scale = \"2^40\">) -> "
      "(!ckks.ciphertext<>, !ckks.ciphertext<>)\n"
      "    %z = \"scf.if\"(%c) ({\n"
      "      \"scf.yield\"(%y#1) : (!ckks.ciphertext<>) -> ()\n"
      "    }, {\n"
      "      \"scf.yield\"(%q) : (!ckks.ciphertext<>) -> ()\n"
      "    }) : (i1) -> !ckks.ciphertext<>\n"
      "    \"func.return\"(%z) : (!ckks.ciphertext<>) -> ()\n"
      "  }) {\n"
      "    function_type = (!ckks.ciphertext<depth = 0, scale = \"2^40\">, i1) -> !ckks.ciphertext<>,\n"
      "    sym_name = \"main\"\n"
      "  } : () -> ()\n"
      "}) {heliox.version = 1 : i64} : () -> ()\n";
  hx_program_t *program = parse_good(text);
  char *printed = print_good(program, 0);
  assert_string_equal(printed, text);
  hx_text_free(printed);
  expect_same(program, HX_PRINT_ALIASES);
  hx_program_release(program);
}

static void printer_gives_floats_their_bits_back(void **state) {
  (void)state;
  static const double numbers[] = {0.0, -0.0, 0.1, 1.0 / 3, 1e300, 5e-324, 1.7976931348623157e308, 123456789.125, -2.5};
  for (size_t i = 0; i < HX_COUNT_OF(numbers); ++i) {
    hx_program_t *program = parse_good(
        "\"func.func\"() ({\n\"func.return\"() : () -> ()\n}) {sym_name = \"main\", function_type = () -> ()} : () -> "
        "()");
    const hx_attribute_t value = {.kind = HX_ATTRIBUTE_FLOAT, .number = numbers[i]};
    assert_int_equal(hx_ir_set_attr(program, program->module, "a.x", &value), HX_STATUS_OK);
    char *text = print_good(program, 0);
    hx_program_t *again = parse_good(text);
    const double back = hx_attrs_find(again->module->attrs, "a.x")->number;
    assert_memory_equal(&back, &numbers[i], sizeof back);
    hx_text_free(text);
    hx_program_release(again);
    hx_program_release(program);
  }
}

static void printer_keeps_generated_programs(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    hx_program_t *program = generate(seed);
    hx_report_t *report = hx_report_create();
    const hx_status_t status = hx_program_verify(program, report);
    print_faults(report);
    assert_int_equal(status, HX_STATUS_OK);
    expect_same(program, 0);
    expect_same(program, HX_PRINT_ALIASES);
    // State was complete, so inference changes nothing.
    char *before = print_good(program, 0);
    assert_int_equal(hx_program_infer(program, NULL, report), HX_STATUS_OK);
    char *after = print_good(program, 0);
    assert_string_equal(after, before);
    // What the short form leaves out comes back.
    char *brief = print_good(program, HX_PRINT_SHORT);
    assert_true(strlen(brief) <= strlen(before));
    hx_program_t *again = parse_good(brief);
    assert_int_equal(hx_program_infer(again, NULL, report), HX_STATUS_OK);
    char *back = print_good(again, 0);
    assert_string_equal(back, before);
    hx_text_free(before);
    hx_text_free(after);
    hx_text_free(brief);
    hx_text_free(back);
    hx_program_release(again);
    hx_program_release(program);
    hx_report_release(report);
  }
}

// The text goes through mlir-opt and comes back as the same program.
static void expect_mlir_opt_reads(const hx_program_t *program, uint32_t flags, const char *options) {
  char *text = print_good(program, flags);
  char *other = through_mlir_opt(text, options);
  hx_program_t *again = parse_good(other);
  // Names are the printers' own, so compare what two passes through mlir-opt give.
  char *back = print_good(again, 0);
  char *twice = through_mlir_opt(back, "");
  char *once = through_mlir_opt(text, "");
  assert_string_equal(twice, once);
  hx_text_free(text);
  hx_text_free(back);
  free(other);
  free(once);
  free(twice);
  hx_program_release(again);
}

static void mlir_opt_reads_what_is_printed(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 12; ++seed) {
    hx_program_t *program = generate(seed);
    expect_mlir_opt_reads(program, seed % 2 == 0 ? 0 : HX_PRINT_SHORT, seed % 3 == 0 ? "--mlir-print-debuginfo" : "");
    hx_program_release(program);
  }
}

static void mlir_opt_reads_every_example(void **state) {
  (void)state;
  DIR *folder = opendir(HELIOX_SOURCE_DIR "/examples");
  assert_non_null(folder);
  size_t count = 0;
  for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
    const char *suffix = strrchr(entry->d_name, '.');
    if (suffix == NULL || strcmp(suffix, ".mlir") != 0) continue;
    char path[4096];
    snprintf(path, sizeof path, "%s/examples/%s", HELIOX_SOURCE_DIR, entry->d_name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = calloc(1, 1 << 20);
    assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
    fclose(file);
    free(through_mlir_opt(text, ""));  // as it stands, comments and all
    hx_program_t *program = parse_good(text);
    expect_mlir_opt_reads(program, 0, "");
    expect_mlir_opt_reads(program, HX_PRINT_SHORT, "--mlir-print-debuginfo");
    expect_same(program, HX_PRINT_ALIASES);
    hx_program_release(program);
    free(text);
    ++count;
  }
  closedir(folder);
  assert_true(count > 0);
}

static void printer_makes_names_unique_and_numbers_the_rest(void **state) {
  (void)state;
  hx_program_t *program =
      parse_good(MODULE("%x: " CT, CT, CT,
                        "%7 = \"ckks.neg\"(%x) : (" CT ") -> " CT "\n%a = \"ckks.neg\"(%7) : (" CT ") -> " CT
                        "\n%b = \"ckks.neg\"(%a) : (" CT ") -> " CT "\n\"func.return\"(%b) : (" CT ") -> ()"));
  for (hx_ir_op_t *op = hx_func_block(hx_program_find(program, "main"))->first; op->next != NULL; op = op->next) {
    if (op->results[0]->name.size > 0) op->results[0]->name = hx_str("x");
  }
  char *text = print_good(program, 0);
  assert_non_null(strstr(text, "%0 = \"ckks.neg\"(%x)"));
  assert_non_null(strstr(text, "%x_1 = \"ckks.neg\"(%0)"));
  assert_non_null(strstr(text, "%x_2 = \"ckks.neg\"(%x_1)"));
  hx_text_free(text);
  expect_same(program, 0);
  hx_program_release(program);
}

static void printer_refuses_unknown_flags_and_survives_lack_of_memory(void **state) {
  (void)state;
  hx_program_t *program = generate(4);
  char *text = NULL;
  assert_int_equal(hx_program_print(program, 4, &text, NULL), HX_STATUS_INVALID);
  for (uint32_t flags = 0; flags < 4; ++flags) {
    hx_status_t status = HX_STATUS_OUT_OF_MEMORY;
    for (uint64_t n = 1; status == HX_STATUS_OUT_OF_MEMORY; ++n) {
      hx_alloc_fail_at(n);
      status = hx_program_print(program, flags, &text, NULL);
      hx_alloc_fail_at(0);
    }
    assert_int_equal(status, HX_STATUS_OK);
    hx_text_free(text);
  }
  hx_program_release(program);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(printer_writes_the_form_of_the_example),
      cmocka_unit_test(printer_gives_floats_their_bits_back),
      cmocka_unit_test(printer_keeps_generated_programs),
      cmocka_unit_test(mlir_opt_reads_what_is_printed),
      cmocka_unit_test(mlir_opt_reads_every_example),
      cmocka_unit_test(printer_makes_names_unique_and_numbers_the_rest),
      cmocka_unit_test(printer_refuses_unknown_flags_and_survives_lack_of_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
