// SPDX-License-Identifier: Apache-2.0
// Cases of values and operations on the set S: complex numbers, scales, depths, scalars, packings, rotations,
// components.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/cases/cases.h"

static scheme_t s;  // the set S

static int open_set(void **state) {
  (void)state;
  static const int64_t steps[] = {1, -1, 4};
  scheme_open(&s, case_set_s(), steps, HX_COUNT_OF(steps));
  return 0;
}

static int close_set(void **state) {
  (void)state;
  scheme_close(&s);
  return 0;
}

static hx_value_t *product(const hx_value_t *a, const hx_value_t *b) {
  hx_value_t *wide = NULL, *two = NULL, *out = NULL;
  SCHEME_OK(&s, hx_engine_mul(s.engine, a, b, &wide, s.report));
  SCHEME_OK(&s, hx_engine_relinearize(s.engine, wide, &two, s.report));
  SCHEME_OK(&s, hx_engine_rescale(s.engine, two, &out, s.report));
  hx_value_release(wide);
  hx_value_release(two);
  return out;
}

static void b08_complex_values_survive(void **state) {
  (void)state;
  hx_value_t *a = case_encrypt(&s, NUMBERS(0.25 - 0.75 * I), 1, s.slots);
  hx_value_t *b = case_encrypt(&s, NUMBERS(-1.5 + 2 * I), 1, s.slots);
  hx_value_t *x = case_encrypt(&s, NUMBERS(1.5 - 2 * I), 1, s.slots), *c = product(a, b), *d = NULL, *e = NULL;
  case_check(&s, "product", c, NUMBERS(1.125 + 1.625 * I), 1, 0x1p-17);
  SCHEME_OK(&s, hx_engine_conjugate(s.engine, a, &d, s.report));
  case_check(&s, "conjugate", d, NUMBERS(0.25 + 0.75 * I), 1, 0x1p-17);
  SCHEME_OK(&s, hx_engine_mul_scalar(s.engine, x, 0.5, 1.0, "2^40", &e, s.report));
  case_check(&s, "times a scalar", e, NUMBERS(2.75 + 0.5 * I), 1, 0x1p-17);
  hx_value_t *const all[] = {a, b, x, c, d, e};
  for (size_t i = 0; i < HX_COUNT_OF(all); ++i) hx_value_release(all[i]);
}

static void b09_adding_different_scales_is_refused(void **state) {
  (void)state;
  hx_value_t *x = case_encrypt(&s, NUMBERS(2.0), 1, s.slots), *low = NULL, *out = NULL;
  hx_value_t *t = product(x, x);
  SCHEME_OK(&s, hx_engine_level_drop(s.engine, x, 1, &low, s.report));
  hx_value_t *u = product(t, low);
  scheme_number_t *twelve = case_message(NUMBERS(12.0), 1, s.slots);
  hx_value_t *y = scheme_encrypt(&s, twelve, s.slots, 2, NULL);
  assert_int_equal(hx_engine_add(s.engine, u, y, &out, s.report), HX_STATUS_INVALID);
  char mine[HX_SCALE_TEXT_MAX];
  hx_scale_print(&u->type.scale, mine);
  const hx_fault_t *fault = hx_report_get(s.report, 0);
  assert_int_equal(fault->code, HX_CODE_SCALE_MISMATCH);
  hx_text_t told;
  hx_text_init(&told);
  hx_text_printf(&told, "%s %s %s %s", fault->text, fault->expected, fault->found, fault->hint);
  assert_non_null(strstr(told.data, mine));
  assert_non_null(strstr(told.data, "2^40"));
  assert_true(fault->hint[0] != '\0');
  hx_text_deinit(&told);
  hx_report_clear(s.report);
  assert_null(out);
  hx_value_t *fixed = scheme_encrypt(&s, twelve, s.slots, 2, mine);
  SCHEME_OK(&s, hx_engine_add(s.engine, u, fixed, &out, s.report));
  case_check(&s, "sum", out, NUMBERS(20.0), 1, 1e-4);
  hx_value_t *const all[] = {x, low, out, t, u, y, fixed};
  for (size_t i = 0; i < HX_COUNT_OF(all); ++i) hx_value_release(all[i]);
  free(twelve);
}

static void b15_chains_of_scalars_are_right(void **state) {
  (void)state;
  hx_engine_t *e = s.engine;
  hx_value_t *x = case_encrypt(&s, NUMBERS(-73.0), 1, s.slots), *v[9] = {NULL};
  SCHEME_OK(&s, hx_engine_add_scalar(e, x, -5, 0, &v[0], s.report));
  SCHEME_OK(&s, hx_engine_neg(e, v[0], &v[1], s.report));
  SCHEME_OK(&s, hx_engine_add_scalar(e, v[1], 12, 0, &v[2], s.report));
  SCHEME_OK(&s, hx_engine_add_scalar(e, v[2], 7, 0, &v[3], s.report));
  SCHEME_OK(&s, hx_engine_neg(e, v[3], &v[4], s.report));
  SCHEME_OK(&s, hx_engine_add_scalar(e, v[4], 14, 0, &v[5], s.report));
  SCHEME_OK(&s, hx_engine_neg(e, v[5], &v[6], s.report));
  SCHEME_OK(&s, hx_engine_add(e, v[6], v[4], &v[7], s.report));
  const double bound = 0x1p-18;
  case_check(&s, "a", v[1], NUMBERS(78.0), 1, bound * 78);
  case_check(&s, "b", v[2], NUMBERS(90.0), 1, bound * 90);
  case_check(&s, "c", v[4], NUMBERS(-97.0), 1, bound * 97);
  case_check(&s, "d", v[6], NUMBERS(83.0), 1, bound * 83);
  case_check(&s, "r", v[7], NUMBERS(-14.0), 1, bound * 14);
  for (size_t i = 0; i < HX_COUNT_OF(v); ++i) hx_value_release(v[i]);
  hx_value_release(x);
}

static void b15_negative_and_complex_scalars_are_right(void **state) {
  (void)state;
  hx_engine_t *e = s.engine;
  hx_value_t *x = case_encrypt(&s, NUMBERS(1.5), 1, s.slots), *v[5] = {NULL};
  SCHEME_OK(&s, hx_engine_add_scalar(e, x, -3.25, 0, &v[0], s.report));
  SCHEME_OK(&s, hx_engine_add_scalar(e, x, -1, -2, &v[1], s.report));
  SCHEME_OK(&s, hx_engine_mul_scalar(e, x, -1.0 / 3, 0, "2^40", &v[2], s.report));
  SCHEME_OK(&s, hx_engine_mul_scalar(e, x, 0.0, 0, "2^40", &v[3], s.report));
  SCHEME_OK(&s, hx_engine_mul_scalar(e, x, -0.0, 0, "2^40", &v[4], s.report));
  const scheme_number_t want[] = {-1.75, 0.5 - 2 * I, -0.5, 0.0, 0.0};
  for (size_t i = 0; i < HX_COUNT_OF(v); ++i) {
    case_check(&s, "scalar", v[i], &want[i], 1, 0x1p-18 * fmax(1, cabs(want[i])));
    hx_value_release(v[i]);
  }
  hx_value_release(x);
}

static void b18_different_slot_counts_are_refused(void **state) {
  (void)state;
  const scheme_number_t few[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  scheme_number_t *many = scheme_numbers(4096), *sixteen = scheme_numbers(16);
  for (size_t i = 0; i < 4096; ++i) many[i] = 10.0 * (double)(i + 1);
  hx_value_t *a = scheme_encrypt(&s, few, 8, 0, NULL), *b = scheme_encrypt(&s, many, 4096, 0, NULL), *out = NULL;
  hx_value_t *plain = scheme_encode(&s, sixteen, 16, 0, NULL);
  assert_int_equal(hx_engine_add(s.engine, a, b, &out, s.report), HX_STATUS_INVALID);
  case_fault(&s, HX_CODE_SLOTS_MISMATCH, WORDS("8", "4096"));
  assert_int_equal(hx_engine_mul(s.engine, a, b, &out, s.report), HX_STATUS_INVALID);
  case_fault(&s, HX_CODE_SLOTS_MISMATCH, WORDS("8", "4096"));
  assert_int_equal(hx_engine_add_plain(s.engine, a, plain, &out, s.report), HX_STATUS_INVALID);
  case_fault(&s, HX_CODE_SLOTS_MISMATCH, WORDS("8", "16"));
  assert_null(out);
  hx_value_release(a);
  hx_value_release(b);
  hx_value_release(plain);
  free(many);
  free(sixteen);
}

static void b28_three_components_are_decrypted_and_not_rotated(void **state) {
  (void)state;
  scheme_number_t v[12], squares[12];
  for (size_t i = 0; i < 12; ++i) {
    v[i] = (double)(i + 1);
    squares[i] = v[i] * v[i];
  }
  hx_value_t *x = case_encrypt(&s, v, 12, s.slots), *m = NULL, *out = NULL, *two = NULL, *r = NULL;
  SCHEME_OK(&s, hx_engine_mul(s.engine, x, x, &m, s.report));
  case_check(&s, "three components", m, squares, 12, 0x1p-14);
  assert_int_equal(hx_engine_rotate(s.engine, m, 1, &out, s.report), HX_STATUS_INVALID);
  case_fault(&s, HX_CODE_COMPONENTS, WORDS("3 components"));
  assert_int_equal(hx_engine_conjugate(s.engine, m, &out, s.report), HX_STATUS_INVALID);
  case_fault(&s, HX_CODE_COMPONENTS, WORDS("3 components"));
  assert_int_equal(hx_engine_mul(s.engine, m, x, &out, s.report), HX_STATUS_INVALID);
  case_fault(&s, HX_CODE_COMPONENTS, WORDS("3 components"));
  SCHEME_OK(&s, hx_engine_relinearize(s.engine, m, &two, s.report));
  SCHEME_OK(&s, hx_engine_rotate(s.engine, two, 1, &r, s.report));
  assert_int_equal(hx_engine_relinearize(s.engine, two, &out, s.report), HX_STATUS_INVALID);
  case_fault(&s, HX_CODE_COMPONENTS, WORDS("2 components"));
  assert_null(out);
  scheme_number_t *have = scheme_decrypt(&s, r);
  for (size_t i = 0; i < s.slots; ++i) assert_true(cabs(have[i] - squares[(i + 1) % s.slots % 12]) < 0x1p-14);
  free(have);
  hx_value_t *const all[] = {x, m, two, r};
  for (size_t i = 0; i < HX_COUNT_OF(all); ++i) hx_value_release(all[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(b08_complex_values_survive),
      cmocka_unit_test(b09_adding_different_scales_is_refused),
      cmocka_unit_test(b15_chains_of_scalars_are_right),
      cmocka_unit_test(b15_negative_and_complex_scalars_are_right),
      cmocka_unit_test(b18_different_slot_counts_are_refused),
      cmocka_unit_test(b28_three_components_are_decrypted_and_not_rotated),
  };
  return cmocka_run_group_tests(tests, open_set, close_set);
}
