// SPDX-License-Identifier: Apache-2.0
// Messages that repeat, single numbers, and messages as coefficients.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/ckks/encode.h"
#include "tests/unit/case_sets.h"

enum { N = 256, SLOTS = N / 2 };

static hx_params_t *params;

static int setup(void **state) {
  (void)state;
  params = case_set_make(8, 60, 50, 3, 60, 2, 3, "2^50");
  return 0;
}

static int teardown(void **state) {
  (void)state;
  hx_params_release(params);
  return 0;
}

static double number(uint32_t i) { return sin(1.7 * i + 0.3); }

static void period_repeats_the_message_in_all_slots(void **state) {
  (void)state;
  double values[2 * SLOTS], found[2 * SLOTS];
  for (uint32_t period = 1; period <= SLOTS; period *= 2) {
    for (uint32_t i = 0; i < 2 * period; ++i) values[i] = number(i + period);
    const hx_encode_options_t options = {.period = period, .depth = period % 3 == 0 ? 1 : 0};
    hx_value_t *plain = NULL;
    assert_int_equal(hx_encode(params, values, period, true, &options, &plain, NULL), HX_STATUS_OK);
    assert_int_equal(hx_value_slots(plain), SLOTS);
    assert_int_equal(hx_value_count(plain), SLOTS);
    assert_int_equal(hx_decode(plain, found, NULL), HX_STATUS_OK);
    for (uint32_t i = 0; i < 2 * SLOTS; ++i) assert_true(fabs(found[i] - values[i % (2 * period)]) < 1e-13);
    hx_value_release(plain);
  }
}

static void period_is_filled_with_zeros(void **state) {
  (void)state;
  const double value = 0.75;
  double found[2 * SLOTS];
  hx_value_t *plain = NULL;
  const hx_encode_options_t options = {.period = 4};
  assert_int_equal(hx_encode(params, &value, 1, false, &options, &plain, NULL), HX_STATUS_OK);
  assert_int_equal(hx_decode(plain, found, NULL), HX_STATUS_OK);
  for (uint32_t i = 0; i < SLOTS; ++i) assert_true(fabs(found[2 * i] - (i % 4 == 0 ? value : 0)) < 1e-13);
  hx_value_release(plain);
}

static void period_of_one_is_a_constant(void **state) {
  (void)state;
  static const double z[2] = {0.3, -1.25};
  hx_value_t *plain = NULL;
  const hx_encode_options_t options = {.period = 1};
  assert_int_equal(hx_encode(params, z, 1, true, &options, &plain, NULL), HX_STATUS_OK);
  uint64_t residues[2 * 8];
  const hx_ring *ring = hx_params_ring(params);
  assert_int_equal(
      hx_constant_residues(ring, &plain->type.primes, z[0], z[1], hx_params_default_scale(params), residues, NULL),
      HX_STATUS_OK);
  for (uint32_t l = 0; l < ring->q_count; ++l) {
    const uint64_t *row = hx_tensor_row(plain->tensor, 0, 0, 0, l);
    for (uint32_t i = 0; i < N; ++i) assert_true(row[i] == residues[2 * l + (i >= N / 2)]);
  }
  hx_value_release(plain);
}

static void weighted_period_lies_on_q_and_p(void **state) {
  (void)state;
  static const double z[] = {0.5, 0.25};
  hx_value_t *plain = NULL, *small = NULL;
  const hx_encode_options_t options = {.period = 2, .weighted = true}, plainly = {.period = 2};
  assert_int_equal(hx_encode(params, z, 2, false, &options, &plain, NULL), HX_STATUS_OK);
  assert_int_equal(hx_encode(params, z, 2, false, &plainly, &small, NULL), HX_STATUS_OK);
  const hx_ring *ring = hx_params_ring(params);
  assert_int_equal(hx_value_limbs(plain), ring->q_count + ring->p_count);
  for (uint32_t l = 0; l < ring->q_count; ++l)
    assert_memory_equal(hx_tensor_row(plain->tensor, 0, 0, 0, l), hx_tensor_row(small->tensor, 0, 0, 0, l),
                        N * sizeof(uint64_t));
  hx_value_release(plain);
  hx_value_release(small);
}

// Exact products, rounded, ties to even; sparse packings and wide scales.
static void coefficients_are_rounded_and_come_back(void **state) {
  (void)state;
  static const struct {
    uint32_t slots;
    const char *scale;
    double unit;
  } cases[] = {
      {SLOTS, "2^50", 0x1p50}, {SLOTS, "2^1", 2}, {8, "2^40", 0x1p40}, {SLOTS, "2^100", 0x1p100}, {1, "2^3", 8}};
  for (size_t c = 0; c < HX_COUNT_OF(cases); ++c) {
    const uint32_t count = 2 * cases[c].slots;
    double values[N], found[N];
    for (uint32_t k = 0; k < count; ++k) values[k] = k % 5 == 0 ? 0.25 * (k % 7) - 0.75 : number(k);
    const hx_encode_options_t options = {.slots = cases[c].slots, .scale = cases[c].scale};
    hx_value_t *plain = NULL;
    assert_int_equal(hx_encode_coefficients(params, values, count, &options, &plain, NULL), HX_STATUS_OK);
    hx_coefficients_t m;
    assert_int_equal(hx_plaintext_coefficients(plain, &m, NULL), HX_STATUS_OK);
    for (uint32_t k = 0; k < N; ++k) {
      const uint32_t gap = N / count;
      const double want = k % gap == 0 ? nearbyint(values[k / gap] * cases[c].unit) : 0;
      double have = 0;
      for (uint32_t w = m.words; w-- > 0;) have = have * 0x1p64 + (double)m.magnitude[(size_t)w * N + k];
      assert_true((m.negative[k] != 0 ? -have : have) == want);
    }
    hx_coefficients_deinit(&m);
    assert_int_equal(hx_decode_coefficients(plain, found, NULL), HX_STATUS_OK);
    for (uint32_t k = 0; k < count; ++k) assert_true(found[k] == nearbyint(values[k] * cases[c].unit) / cases[c].unit);
    hx_value_release(plain);
  }
}

// A polynomial's slots are its values at the roots: coefficients against the definition.
static void coefficients_give_the_slots_of_their_polynomial(void **state) {
  (void)state;
  double values[N] = {0}, found[2 * SLOTS];
  values[0] = 0.5, values[1] = 1, values[N / 2] = -0.25;  // 1/2 + X - i/4
  hx_value_t *plain = NULL;
  assert_int_equal(hx_encode_coefficients(params, values, N, NULL, &plain, NULL), HX_STATUS_OK);
  assert_int_equal(hx_decode(plain, found, NULL), HX_STATUS_OK);
  uint32_t power = 1;
  for (uint32_t j = 0; j < SLOTS; ++j) {
    const double angle = 3.14159265358979323846 * power / N;
    assert_true(fabs(found[2 * j] - (0.5 + cos(angle))) < 1e-12);
    assert_true(fabs(found[2 * j + 1] - (sin(angle) - 0.25)) < 1e-12);
    power = power * 5 % (2 * N);
  }
  hx_value_release(plain);
}

static void forms_refuse_what_does_not_fit(void **state) {
  (void)state;
  double values[N + 1] = {1, 2, 3};
  hx_report_t *report = hx_report_create();
  hx_value_t *plain = NULL;
  hx_encode_options_t options = {.period = 3};
  assert_int_not_equal(hx_encode(params, values, 1, false, &options, &plain, report), HX_STATUS_OK);
  assert_fault(report, HX_CODE_SLOTS, WORDS("period is 3", "128"));
  hx_report_clear(report);
  options = (hx_encode_options_t){.period = 8, .slots = 4};
  assert_int_not_equal(hx_encode(params, values, 1, false, &options, &plain, report), HX_STATUS_OK);
  assert_fault(report, HX_CODE_SLOTS, WORDS("period is 8", "slots, 4"));
  hx_report_clear(report);
  options = (hx_encode_options_t){.period = 2};
  assert_int_not_equal(hx_encode(params, values, 3, false, &options, &plain, report), HX_STATUS_OK);
  assert_fault(report, HX_CODE_LENGTH, WORDS("3 values", "of a period", "at most 2"));
  hx_report_clear(report);
  assert_int_not_equal(hx_encode_coefficients(params, values, 2, &options, &plain, report), HX_STATUS_OK);
  assert_fault(report, HX_CODE_INVALID_ARGUMENT, WORDS("period"));
  hx_report_clear(report);
  assert_int_not_equal(hx_encode_coefficients(params, values, N + 1, NULL, &plain, report), HX_STATUS_OK);
  assert_fault(report, HX_CODE_LENGTH, WORDS("257 coefficients", "at most 256"));
  hx_report_clear(report);
  values[2] = NAN;
  assert_int_not_equal(hx_encode_coefficients(params, values, 3, NULL, &plain, report), HX_STATUS_OK);
  assert_fault(report, HX_CODE_VALUE, WORDS("value 2", "NaN"));
  hx_report_clear(report);
  values[2] = 0x1p200;
  assert_int_not_equal(hx_encode_coefficients(params, values, 3, NULL, &plain, report), HX_STATUS_OK);
  assert_fault(report, HX_CODE_VALUE, WORDS("coefficient 2", "too large"));
  assert_null(plain);
  hx_report_release(report);
}

static void forms_report_exhausted_memory(void **state) {
  (void)state;
  double values[N] = {1}, found[N];
  hx_value_t *plain = NULL;
  assert_int_equal(hx_encode_coefficients(params, values, N, NULL, &plain, NULL), HX_STATUS_OK);
  hx_status_t status = HX_STATUS_OUT_OF_MEMORY;
  for (uint64_t n = 1; status != HX_STATUS_OK && n < 100; ++n) {
    hx_value_t *other = NULL;
    hx_alloc_fail_at(n);
    status = hx_encode_coefficients(params, values, N, NULL, &other, NULL);
    hx_alloc_fail_at(0);
    assert_true(status == HX_STATUS_OK || status == HX_STATUS_OUT_OF_MEMORY);
    hx_value_release(other);
  }
  assert_int_equal(status, HX_STATUS_OK);
  status = HX_STATUS_OUT_OF_MEMORY;
  for (uint64_t n = 1; status != HX_STATUS_OK && n < 100; ++n) {
    hx_alloc_fail_at(n);
    status = hx_decode_coefficients(plain, found, NULL);
    hx_alloc_fail_at(0);
    assert_true(status == HX_STATUS_OK || status == HX_STATUS_OUT_OF_MEMORY);
  }
  assert_int_equal(status, HX_STATUS_OK);
  hx_value_release(plain);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(period_repeats_the_message_in_all_slots),
      cmocka_unit_test(period_is_filled_with_zeros),
      cmocka_unit_test(period_of_one_is_a_constant),
      cmocka_unit_test(weighted_period_lies_on_q_and_p),
      cmocka_unit_test(coefficients_are_rounded_and_come_back),
      cmocka_unit_test(coefficients_give_the_slots_of_their_polynomial),
      cmocka_unit_test(forms_refuse_what_does_not_fit),
      cmocka_unit_test(forms_report_exhausted_memory),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
