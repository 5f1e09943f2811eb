// SPDX-License-Identifier: Apache-2.0
// Switching between secrets: by the engine, in programs with two secrets, from files, and what is refused.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/compile/compilation.h"
#include "tests/scheme/scheme.h"

static scheme_t s;
static hx_keys_t *other;      // another secret
static hx_switch_t *forward;  // from s.keys to other
static hx_engine_t *theirs;   // under other

static int open_all(void **state) {
  (void)state;
  static const int64_t steps[] = {1};
  scheme_open(&s, case_set_make(11, 55, 40, 3, 56, 1, 4, "2^40"), steps, 1);
  const hx_keygen_options_t options = {.parts = HX_KEYS_ALL, .rotations = steps, .rotation_count = 1};
  SCHEME_OK(&s, hx_keys_generate(s.params, &options, &other, s.report));
  SCHEME_OK(&s, hx_switch_generate(s.keys, other, &forward, s.report));
  SCHEME_OK(&s, hx_engine_create(s.params, other, s.backend, &theirs, s.report));
  return 0;
}

static int close_all(void **state) {
  (void)state;
  hx_engine_release(theirs);
  hx_switch_release(forward);
  hx_keys_release(other);
  scheme_close(&s);
  return 0;
}

static double switched(uint32_t depth) { return scheme_fresh(&s) + hx_noise_key_switch(s.params, depth); }

static void switched_value_belongs_to_the_other_secret(void **state) {
  (void)state;
  uint64_t seed = 1;
  scheme_number_t *z = scheme_message(&seed, s.slots);
  for (uint32_t depth = 0; depth <= 3; ++depth) {
    hx_value_t *a = scheme_encrypt(&s, z, s.slots, depth, NULL), *b = NULL, *c = NULL, *d = NULL, *plain = NULL;
    SCHEME_OK(&s, hx_engine_key_switch(s.engine, a, forward, &b, s.report));
    assert_memory_equal(hx_value_key_id(b), hx_keys_id(other), 16);
    scheme_check_with(&s, other, "ckks.key_switch", b, z, switched(depth), SCHEME_SIGMAS);
    SCHEME_OK(&s, hx_engine_key_switch_to(s.engine, a, forward, HX_DOMAIN_COEFFICIENT, &c, s.report));
    SCHEME_OK(&s, hx_engine_from_ntt(theirs, b, &d, s.report));
    assert_true(hx_value_equal(c, d));
    hx_value_release(d);
    scheme_check_with(&s, other, "ckks.key_switch", c, z, switched(depth), SCHEME_SIGMAS);
    // The first secret does not open it any more, and the second does not open the first's.
    assert_int_equal(hx_decrypt(s.keys, b, &plain, s.report), HX_STATUS_REFUSED);
    assert_fault(s.report, HX_CODE_KEY_ID, WORDS("key id"));
    hx_report_clear(s.report);
    hx_value_release(a);
    hx_value_release(b);
    hx_value_release(c);
  }
  free(z);
}

// x is ours, y the other's: x is switched and added to y, then relinearized under the other's keys.
static const char body[] =
    "%%key = \"material.ref\"() {symbol = @ours_to_theirs} : () -> !ckks.key<kind = switch>\n"
    "%%s = \"ckks.key_switch\"(%%a0, %%key) : (%s, !ckks.key<kind = switch>) -> !ckks.ciphertext<>\n"
    "%%m = \"ckks.mul\"(%%s, %%a1) : (!ckks.ciphertext<>, %s) -> !ckks.ciphertext<>\n"
    "%%r0 = \"ckks.relinearize\"(%%m) : (!ckks.ciphertext<>) -> !ckks.ciphertext<>\n"
    "%%r1 = \"ckks.neg\"(%%a0) : (%s) -> !ckks.ciphertext<>";

static hx_program_t *two_secrets(hx_value_t *const *inputs) {
  hx_text_t text, first, second;
  hx_text_init(&text);
  hx_text_init(&first);
  hx_text_init(&second);
  scheme_print_type(&first, inputs[0]);
  scheme_print_type(&second, inputs[1]);
  hx_text_printf(&text, body, first.data, second.data, first.data);
  hx_program_t *program = scheme_program(&s, text.data, inputs, 2, 2);
  hx_text_deinit(&text);
  hx_text_deinit(&first);
  hx_text_deinit(&second);
  return program;
}

static hx_value_t *encrypt_theirs(const scheme_number_t *z) {
  hx_value_t *plain = scheme_encode(&s, z, s.slots, 0, NULL), *out = NULL;
  SCHEME_OK(&s, hx_encrypt(other, plain, false, &out, s.report));
  hx_value_release(plain);
  return out;
}

static void program_keeps_two_secrets_apart(void **state) {
  (void)state;
  uint64_t seed = 2;
  scheme_number_t *x = scheme_message(&seed, s.slots), *y = scheme_message(&seed, s.slots);
  hx_value_t *inputs[] = {scheme_encrypt(&s, x, s.slots, 0, NULL), encrypt_theirs(y)}, *outs[2] = {NULL, NULL};
  hx_program_t *program = two_secrets(inputs);
  hx_compilation_t *compilation = NULL;
  hx_executable_t *executable = NULL;
  SCHEME_OK(&s, hx_compilation_create(program, s.params, &compilation, s.report));
  SCHEME_OK(&s, hx_compilation_bind_keys(compilation, other, s.report));
  assert_int_equal(hx_link(compilation, s.backend, NULL, &executable, s.report), HX_STATUS_NOT_FOUND);
  assert_fault(s.report, HX_CODE_MISSING_KEY, WORDS("ours_to_theirs"));
  hx_report_clear(s.report);
  assert_int_equal(hx_compilation_bind_switch(compilation, "nothing", forward, s.report), HX_STATUS_NOT_FOUND);
  assert_fault(s.report, HX_CODE_MATERIAL, WORDS("@nothing"));
  hx_report_clear(s.report);
  SCHEME_OK(&s, hx_compilation_bind_switch(compilation, "ours_to_theirs", forward, s.report));
  SCHEME_OK(&s, hx_link(compilation, s.backend, NULL, &executable, s.report));
  SCHEME_OK(&s, hx_run(executable, (const hx_value_t *const *)inputs, outs, s.report));
  assert_memory_equal(hx_value_key_id(outs[0]), hx_keys_id(other), 16);
  assert_memory_equal(hx_value_key_id(outs[1]), hx_keys_id(s.keys), 16);
  const double scale = scheme_scale(&s, inputs[0]);
  const double variance = hx_noise_multiply(s.params, (hx_noise_factor_t){switched(0), scale, 1.0},
                                            (hx_noise_factor_t){scheme_fresh(&s), scale, 1.0}) +
                          hx_noise_key_switch(s.params, 0);
  for (size_t i = 0; i < s.slots; ++i) {
    y[i] *= x[i];
    x[i] = -x[i];
  }
  scheme_check_with(&s, other, "product of two secrets", outs[0], y, variance, SCHEME_SIGMAS);
  scheme_check(&s, "ours", outs[1], x, scheme_fresh(&s));
  // Inputs in the wrong places are refused before anything runs.
  hx_value_t *const swapped[] = {inputs[1], inputs[0]};
  hx_value_t *none[2] = {NULL, NULL};
  assert_int_equal(hx_run(executable, (const hx_value_t *const *)swapped, none, s.report), HX_STATUS_REFUSED);
  assert_string_equal(hx_code_info(hx_report_get(s.report, 0)->code)->word, "key-id");
  assert_null(none[0]);
  hx_report_clear(s.report);
  hx_executable_release(executable);
  hx_compilation_release(compilation);
  hx_program_release(program);
  for (size_t i = 0; i < 2; ++i) {
    hx_value_release(inputs[i]);
    hx_value_release(outs[i]);
  }
  free(x);
  free(y);
}

static void program_under_the_wrong_keys_is_refused_at_link(void **state) {
  (void)state;
  uint64_t seed = 3;
  scheme_number_t *x = scheme_message(&seed, s.slots);
  hx_value_t *inputs[] = {scheme_encrypt(&s, x, s.slots, 0, NULL), encrypt_theirs(x)};
  hx_program_t *program = two_secrets(inputs);
  hx_compilation_t *compilation = NULL;
  hx_executable_t *executable = NULL;
  SCHEME_OK(&s, hx_compilation_create(program, s.params, &compilation, s.report));
  SCHEME_OK(&s, hx_compilation_bind_keys(compilation, s.keys, s.report));  // relinearizes what is the other's
  SCHEME_OK(&s, hx_compilation_bind_switch(compilation, "ours_to_theirs", forward, s.report));
  assert_int_equal(hx_link(compilation, s.backend, NULL, &executable, s.report), HX_STATUS_REFUSED);
  assert_fault(s.report, HX_CODE_KEY_ID, WORDS("two secrets", "the switching key", "the bound key set"));
  hx_report_clear(s.report);
  hx_compilation_release(compilation);
  hx_program_release(program);
  for (size_t i = 0; i < 2; ++i) hx_value_release(inputs[i]);
  free(x);
}

static void engine_refuses_what_the_key_does_not_lead_from(void **state) {
  (void)state;
  uint64_t seed = 4;
  scheme_number_t *x = scheme_message(&seed, s.slots);
  hx_value_t *foreign = encrypt_theirs(x), *ours = scheme_encrypt(&s, x, s.slots, 0, NULL), *out = NULL, *wide = NULL;
  assert_int_equal(hx_engine_key_switch(s.engine, foreign, forward, &out, s.report), HX_STATUS_REFUSED);
  assert_fault(s.report, HX_CODE_KEY_ID, WORDS("key id"));
  hx_report_clear(s.report);
  assert_int_equal(hx_engine_key_switch(s.engine, ours, NULL, &out, s.report), HX_STATUS_INVALID);
  assert_fault(s.report, HX_CODE_INVALID_ARGUMENT, WORDS("switching key"));
  hx_report_clear(s.report);
  SCHEME_OK(&s, hx_engine_square(s.engine, ours, &wide, s.report));
  assert_int_equal(hx_engine_key_switch(s.engine, wide, forward, &out, s.report), HX_STATUS_INVALID);
  assert_fault(s.report, HX_CODE_COMPONENTS, WORDS("components"));
  hx_report_clear(s.report);
  assert_null(out);
  hx_value_release(wide);
  hx_value_release(ours);
  hx_value_release(foreign);
  free(x);
}

static void generation_needs_both_secrets_of_one_set(void **state) {
  (void)state;
  hx_switch_t *key = NULL;
  hx_params_t *wider = case_set_make(11, 55, 40, 2, 56, 1, 3, "2^40");
  hx_keys_t *narrow = NULL, *empty = hx_keys_create(s.params, hx_keys_id(other));
  SCHEME_OK(&s, hx_keys_generate(wider, &(hx_keygen_options_t){0}, &narrow, s.report));
  assert_int_equal(hx_switch_generate(s.keys, narrow, &key, s.report), HX_STATUS_INVALID);
  assert_fault(s.report, HX_CODE_PARAMS_DIGEST, WORDS("parameters"));
  hx_report_clear(s.report);
  assert_int_equal(hx_switch_generate(s.keys, empty, &key, s.report), HX_STATUS_NOT_FOUND);
  assert_fault(s.report, HX_CODE_MISSING_KEY, WORDS("second"));
  hx_report_clear(s.report);
  hx_keys_release(narrow);
  hx_keys_release(empty);
  hx_params_release(wider);
}

static void files_give_back_the_key_and_both_ids(void **state) {
  (void)state;
  char path[] = "/tmp/heliox-switch-XXXXXX";
  const int fd = mkstemp(path);
  assert_true(fd >= 0);
  close(fd);
  assert_int_equal(hx_switch_save(forward, path, false, s.report), HX_STATUS_EXISTS);
  assert_fault(s.report, HX_CODE_FILE_EXISTS, WORDS("exist"));
  hx_report_clear(s.report);
  SCHEME_OK(&s, hx_switch_save(forward, path, true, s.report));
  hx_file_kind_t kind;
  SCHEME_OK(&s, hx_file_kind(path, &kind, s.report));
  assert_int_equal(kind, HX_FILE_SWITCH);
  hx_switch_t *back = NULL;
  SCHEME_OK(&s, hx_switch_load(path, s.params, &back, s.report));
  assert_memory_equal(hx_switch_from_id(back), hx_keys_id(s.keys), 16);
  assert_memory_equal(hx_switch_to_id(back), hx_keys_id(other), 16);
  uint64_t seed = 5;
  scheme_number_t *x = scheme_message(&seed, s.slots);
  hx_value_t *a = scheme_encrypt(&s, x, s.slots, 1, NULL), *first = NULL, *second = NULL;
  SCHEME_OK(&s, hx_engine_key_switch(s.engine, a, forward, &first, s.report));
  SCHEME_OK(&s, hx_engine_key_switch(s.engine, a, back, &second, s.report));
  assert_true(hx_value_equal(first, second));
  hx_params_t *wider = case_set_make(11, 55, 40, 2, 56, 1, 3, "2^40");
  hx_switch_t *none = NULL;
  assert_int_equal(hx_switch_load(path, wider, &none, s.report), HX_STATUS_INVALID);
  assert_string_equal(hx_code_info(hx_report_get(s.report, 0)->code)->word, "params-digest");
  hx_report_clear(s.report);
  SCHEME_OK(&s, hx_params_save(s.params, path, s.report));
  assert_int_equal(hx_switch_load(path, s.params, &none, s.report), HX_STATUS_INVALID);
  assert_string_equal(hx_code_info(hx_report_get(s.report, 0)->code)->word, "file-kind");
  hx_report_clear(s.report);
  assert_null(none);
  unlink(path);
  hx_params_release(wider);
  hx_switch_release(back);
  hx_value_release(a);
  hx_value_release(first);
  hx_value_release(second);
  free(x);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(switched_value_belongs_to_the_other_secret),
      cmocka_unit_test(program_keeps_two_secrets_apart),
      cmocka_unit_test(program_under_the_wrong_keys_is_refused_at_link),
      cmocka_unit_test(engine_refuses_what_the_key_does_not_lead_from),
      cmocka_unit_test(generation_needs_both_secrets_of_one_set),
      cmocka_unit_test(files_give_back_the_key_and_both_ids),
  };
  return cmocka_run_group_tests(tests, open_all, close_all);
}
