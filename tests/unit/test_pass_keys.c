// SPDX-License-Identifier: Apache-2.0
// Keys: what resolve-keys adds, and what a program says that it needs.
#include "core/passes/passes.h"
#include "ir_util.h"

#define CIPHERTEXT                                                                                                    \
  "!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = \"2^40\", domain = ntt, repr = standard, slots = " \
  "8192>"
#define OPEN "!ckks.ciphertext<>"
#define TEXT(body_) MODULE("%x: " CIPHERTEXT, CIPHERTEXT, OPEN, body_ "\n\"func.return\"(%r) : (" OPEN ") -> ()")

static hx_params_t *preset(void) {
  hx_params_t *params = NULL;
  assert_int_equal(hx_params_preset("n14-d7-s40", &params, NULL), HX_STATUS_OK);
  return params;
}

static hx_needs_t *needs_of(const char *text, const hx_params_t *params) {
  hx_program_t *program = parse_good(text);
  hx_needs_t *needs = NULL;
  hx_report_t *report = hx_report_create();
  const hx_status_t status = hx_program_needs(program, params, &needs, report);
  print_faults(report);
  assert_int_equal(status, HX_STATUS_OK);
  hx_report_release(report);
  hx_program_release(program);
  return needs;
}

static void needs_name_parts_elements_steps_and_depth(void **state) {
  (void)state;
  hx_params_t *params = preset();
  hx_needs_t *needs =
      needs_of(TEXT("%a = \"ckks.square\"(%x) : (" CIPHERTEXT ") -> " OPEN "\n%b = \"ckks.relinearize\"(%a) : (" OPEN
                    ") -> " OPEN "\n%c = \"ckks.rescale\"(%b) : (" OPEN ") -> " OPEN
                    "\n%d:4 = \"ckks.rotate_many\"(%c) {steps = [1, 0, -1, 8193]} : (" OPEN ") -> (" OPEN ", " OPEN
                    ", " OPEN ", " OPEN ")"
                    "\n%r = \"ckks.rotate\"(%d#2) {step = 2 : i64} : (" OPEN ") -> " OPEN),
               params);
  const hx_program_needs_t *found = hx_needs_get(needs);
  assert_int_equal(found->parts, HX_KEYS_RELIN | HX_KEYS_GALOIS);
  assert_int_equal(found->depth, 1);
  assert_int_equal(found->slots, 8192);
  assert_int_equal(found->element_count, 3);
  static const uint64_t elements[] = {5, 25, 19661};
  static const int64_t steps[] = {1, 2, 8191};
  for (size_t i = 0; i < 3; ++i) {
    assert_int_equal(found->elements[i], elements[i]);
    assert_int_equal(found->steps[i], steps[i]);
    assert_int_equal(hx_galois_element(14, 8192, found->steps[i]), found->elements[i]);
  }
  hx_needs_release(needs);
  hx_params_release(params);
}

static void needs_see_keys_that_are_referred_to(void **state) {
  (void)state;
  hx_params_t *params = preset();
  hx_needs_t *needs =
      needs_of(TEXT("%k = \"material.ref\"() {symbol = @galois_125} : () -> !ckks.key<kind = galois, element = 125>\n"
                    "%c = \"material.ref\"() {symbol = @conj} : () -> !ckks.key<kind = conj>\n"
                    "%r = \"ckks.rotate\"(%x, %k) {step = 3 : i64} : (" CIPHERTEXT
                    ", !ckks.key<kind = galois, element = 125>) -> " OPEN),
               params);
  const hx_program_needs_t *found = hx_needs_get(needs);
  assert_int_equal(found->parts, HX_KEYS_CONJ | HX_KEYS_GALOIS);
  assert_int_equal(found->element_count, 1);
  assert_int_equal(found->elements[0], 125);
  assert_int_equal(found->steps[0], 3);
  hx_needs_release(needs);
  needs = needs_of(TEXT("%r = \"ckks.rotate\"(%x) {step = 8192 : i64} : (" CIPHERTEXT ") -> " OPEN), params);
  assert_int_equal(hx_needs_get(needs)->parts, 0);
  hx_needs_release(needs);
  hx_needs_release(NULL);
  hx_params_release(params);
}

static void needs_refuse_programs_that_do_not_fit(void **state) {
  (void)state;
  hx_params_t *params = NULL;
  assert_int_equal(hx_params_preset("n12-d1-s30", &params, NULL), HX_STATUS_OK);
  hx_program_t *program = parse_good(TEXT("%r = \"ckks.rotate\"(%x) {step = 1 : i64} : (" CIPHERTEXT ") -> " OPEN));
  hx_report_t *report = hx_report_create();
  hx_needs_t *needs = NULL;
  assert_int_equal(hx_program_needs(program, params, &needs, report), HX_STATUS_INVALID);
  assert_null(needs);
  assert_int_equal(hx_report_get(report, 0)->code, HX_CODE_SLOTS);
  hx_report_release(report);
  hx_program_release(program);
  hx_params_release(params);
}

static void resolved_keys_are_the_needs(void **state) {
  (void)state;
  hx_params_t *params = preset();
  hx_program_t *program = NULL;
  assert_int_equal(hx_program_load(HELIOX_SOURCE_DIR "/examples/wdbc.mlir", &program, NULL), HX_STATUS_OK);
  hx_needs_t *before = NULL, *after = NULL;
  assert_int_equal(hx_program_needs(program, params, &before, NULL), HX_STATUS_OK);
  const hx_pass_env_t env = {.ring = hx_params_ring(params)};
  assert_int_equal(hx_pipeline_run(program, "infer-state,resolve-keys", &env), HX_STATUS_OK);
  char *once = print_good(program, 0);
  free(through_mlir_opt(once, ""));
  assert_int_equal(hx_pipeline_run(program, "resolve-keys", &env), HX_STATUS_OK);
  char *twice = print_good(program, 0);
  assert_string_equal(twice, once);
  assert_int_equal(hx_pipeline_run(program, "lower,dve,infer-state", &env), HX_STATUS_OK);
  assert_int_equal(hx_program_needs(program, params, &after, NULL), HX_STATUS_OK);
  const hx_program_needs_t *a = hx_needs_get(before), *b = hx_needs_get(after);
  assert_int_equal(a->parts, HX_KEYS_RELIN | HX_KEYS_GALOIS);
  assert_int_equal(a->parts, b->parts);
  assert_int_equal(a->element_count, 5);
  assert_int_equal(a->element_count, b->element_count);
  assert_memory_equal(a->elements, b->elements, 5 * sizeof *a->elements);
  assert_memory_equal(a->steps, b->steps, 5 * sizeof *a->steps);
  assert_int_equal(a->depth, 4);
  char *lowered = print_good(program, 0);
  free(through_mlir_opt(lowered, ""));
  hx_program_release(parse_good(lowered));
  hx_text_free(once);
  hx_text_free(twice);
  hx_text_free(lowered);
  hx_needs_release(before);
  hx_needs_release(after);
  hx_program_release(program);
  hx_params_release(params);
}

static void keys_free_everything_when_memory_runs_out(void **state) {
  (void)state;
  hx_params_t *params = preset();
  hx_program_t *program =
      parse_good(TEXT("%a:2 = \"ckks.rotate_many\"(%x) {steps = [1, 2]} : (" CIPHERTEXT ") -> (" OPEN ", " OPEN ")\n"
                      "%r = \"ckks.conjugate\"(%a#0) : (" OPEN ") -> " OPEN));
  hx_status_t status = HX_STATUS_OUT_OF_MEMORY;
  for (uint64_t n = 1; status == HX_STATUS_OUT_OF_MEMORY; ++n) {
    hx_needs_t *needs = NULL;
    hx_alloc_fail_at(n);
    status = hx_program_needs(program, params, &needs, NULL);
    hx_alloc_fail_at(0);
    hx_needs_release(needs);
  }
  assert_int_equal(status, HX_STATUS_OK);
  status = HX_STATUS_OUT_OF_MEMORY;
  const hx_pass_env_t env = {.ring = hx_params_ring(params)};
  for (uint64_t n = 1; status == HX_STATUS_OUT_OF_MEMORY; ++n) {
    hx_program_t *clone = NULL;
    assert_int_equal(hx_program_clone(program, &clone), HX_STATUS_OK);
    hx_alloc_fail_at(n);
    status = hx_pipeline_run(clone, "infer-state,resolve-keys", &env);
    hx_alloc_fail_at(0);
    hx_program_release(clone);
  }
  assert_int_equal(status, HX_STATUS_OK);
  hx_program_release(program);
  hx_params_release(params);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(needs_name_parts_elements_steps_and_depth),
      cmocka_unit_test(needs_see_keys_that_are_referred_to),
      cmocka_unit_test(needs_refuse_programs_that_do_not_fit),
      cmocka_unit_test(resolved_keys_are_the_needs),
      cmocka_unit_test(keys_free_everything_when_memory_runs_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
