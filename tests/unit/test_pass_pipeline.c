// SPDX-License-Identifier: Apache-2.0
// Pipelines: their text, what is refused before anything runs, and that passes come to rest.
#include "core/passes/passes.h"
#include "ir_generate.h"

#define C "!ckks.ciphertext<depth = 0>"

static hx_program_t *unread_program(void) {
  return parse_good(
      MODULE("%x: " C, C, C, "%y = \"ckks.neg\"(%x) : (" C ") -> " C "\n\"func.return\"(%x) : (" C ") -> ()"));
}

static void expect_refused(const char *pipeline, hx_code_t code, const char *part) {
  hx_program_t *program = unread_program();
  char *before = print_good(program, 0);
  const hx_pass_env_t env = {.report = hx_report_create()};
  assert_int_not_equal(hx_pipeline_run(program, pipeline, &env), HX_STATUS_OK);
  assert_int_equal(hx_report_count(env.report), 1);
  const hx_fault_t *fault = hx_report_get(env.report, 0);
  if (strstr(fault->text, part) == NULL) print_message("%s\n", fault->text);
  assert_int_equal(fault->code, code);
  assert_non_null(strstr(fault->text, part));
  char *after = print_good(program, 0);
  assert_string_equal(after, before);  // dve in front of the mistake has not run
  hx_text_free(before);
  hx_text_free(after);
  hx_report_release(env.report);
  hx_program_release(program);
}

static void pipeline_refuses_mistakes_before_anything_runs(void **state) {
  (void)state;
  expect_refused("dve,optimise", HX_CODE_PASS, "there is no pass 'optimise'; the passes are inline, infer-state");
  expect_refused("dve,,cse", HX_CODE_PASS, "a name is missing");
  expect_refused("dve,", HX_CODE_PASS, "a name is missing");
  expect_refused(",dve", HX_CODE_PASS, "a name is missing");
  expect_refused("dve,lower{only=missing", HX_CODE_PASS, "braces do not match");
  expect_refused("dve,lower}", HX_CODE_PASS, "braces do not match");
  expect_refused("dve,lower{only=missing}x", HX_CODE_PASS, "text behind the options");
  expect_refused("dve,lower{only=some}", HX_CODE_PASS, "pass lower has no option 'only=some'; it takes only=missing");
  expect_refused("dve,lower{only=missing,fast}", HX_CODE_PASS, "no option 'fast'");
  expect_refused("dve,cse{x}", HX_CODE_PASS, "pass cse has no option 'x'; it takes none");
  char many[512] = "dve";
  for (int i = 0; i < 64; ++i) strcat(many, ",dve");
  expect_refused(many, HX_CODE_LIMIT, "more than 64 passes");
}

static void pipeline_accepts_blanks_and_nothing(void **state) {
  (void)state;
  static const char *const texts[] = {"", "  ", " dve , cse{ } ,\tlower{ only=missing }\n", "cse"};
  for (size_t i = 0; i < HX_COUNT_OF(texts); ++i) {
    hx_program_t *program = unread_program();
    const hx_pass_env_t env = {0};
    assert_int_equal(hx_pipeline_run(program, texts[i], &env), HX_STATUS_OK);
    char *text = print_good(program, 0);
    assert_int_equal(strstr(text, "ckks.neg") == NULL, i == 2);
    hx_text_free(text);
    hx_program_release(program);
  }
}

static void registry_lists_every_pass(void **state) {
  (void)state;
  const hx_pass_info_t *passes;
  const size_t count = hx_pass_list(&passes);
  assert_true(count >= 6);
  for (size_t i = 0; i < count; ++i) assert_ptr_equal(hx_pass_find(hx_str(passes[i].name)), &passes[i]);
  assert_null(hx_pass_find(hx_str("nothing")));
  // The default runs on a program without parameters.
  hx_program_t *program = unread_program();
  const hx_pass_env_t env = {0};
  assert_int_equal(hx_pipeline_run(program, hx_pipeline_default(), &env), HX_STATUS_OK);
  hx_program_release(program);
}

static void passes_come_to_rest_on_generated_programs(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 150; ++seed) {
    static const char *const names[] = {"dve", "cse", "infer-state"};
    for (size_t i = 0; i < HX_COUNT_OF(names); ++i) {
      hx_program_t *program = generate(seed);
      const hx_pass_info_t *pass = hx_pass_find(hx_str(names[i]));
      hx_pass_env_t env = {0};
      bool changed = false;
      char *before = print_good(program, 0);
      assert_int_equal(hx_pass_function(pass)(program, &env, &changed), HX_STATUS_OK);
      assert_int_equal(hx_program_verify(program, NULL), HX_STATUS_OK);
      char *once = print_good(program, 0);
      assert_int_equal(changed, strcmp(before, once) != 0);
      // cse leaves operations unread, and dve may make operations of one region unread in another.
      assert_int_equal(hx_pass_function(pass)(program, &env, &changed), HX_STATUS_OK);
      assert_false(changed);
      char *twice = print_good(program, 0);
      assert_string_equal(twice, once);
      hx_text_free(before);
      hx_text_free(once);
      hx_text_free(twice);
      hx_program_release(program);
    }
  }
}

static void passes_free_everything_when_memory_runs_out(void **state) {
  (void)state;
  static const char *const pipelines[] = {"dve",
                                          "cse",
                                          "infer-state",
                                          "dve,cse,dve",
                                          "canonicalize",
                                          "reuse-transforms",
                                          "schedule",
                                          "hoist-rotations",
                                          "insert-transforms",
                                          "prepare-plaintexts"};
  for (size_t i = 0; i < HX_COUNT_OF(pipelines); ++i) {
    hx_status_t status = HX_STATUS_OUT_OF_MEMORY;
    for (uint64_t n = 1; status == HX_STATUS_OUT_OF_MEMORY; ++n) {
      hx_program_t *program = generate(11);
      const hx_pass_env_t env = {0};
      hx_alloc_fail_at(n);
      status = hx_pipeline_run(program, pipelines[i], &env);
      hx_alloc_fail_at(0);
      hx_program_release(program);
    }
    assert_int_equal(status, HX_STATUS_OK);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pipeline_refuses_mistakes_before_anything_runs),
      cmocka_unit_test(pipeline_accepts_blanks_and_nothing),
      cmocka_unit_test(registry_lists_every_pass),
      cmocka_unit_test(passes_come_to_rest_on_generated_programs),
      cmocka_unit_test(passes_free_everything_when_memory_runs_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
