// SPDX-License-Identifier: Apache-2.0
// Cases of rotations: small packings, steps of 0, one step spelled three ways; and the ends of the chain.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/cases/cases.h"

// Opens with keys for steps of so many slots.
static void open_sparse(scheme_t *s, hx_params_t *params, const int64_t *steps, size_t count, uint32_t slots) {
  scheme_open(s, params, NULL, 0);
  hx_engine_release(s->engine);
  hx_keys_release(s->keys);
  const hx_keygen_options_t options = {
      .parts = HX_KEYS_ALL, .rotations = steps, .rotation_count = count, .slots = slots};
  SCHEME_OK(s, hx_keys_generate(s->params, &options, &s->keys, s->report));
  SCHEME_OK(s, hx_engine_create(s->params, s->keys, s->backend, &s->engine, s->report));
}

static void b20_rotations_of_eight_slots_go_left(void **state) {
  (void)state;
  static const int64_t steps[] = {-3, -2, 1, 4};
  scheme_t s;
  open_sparse(&s, case_set_s(), steps, 4, 8);
  const scheme_number_t v[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  static const scheme_number_t want[4][8] = {
      {6, 7, 8, 1, 2, 3, 4, 5}, {7, 8, 1, 2, 3, 4, 5, 6}, {2, 3, 4, 5, 6, 7, 8, 1}, {5, 6, 7, 8, 1, 2, 3, 4}};
  hx_value_t *x = scheme_encrypt(&s, v, 8, 0, NULL);
  for (size_t i = 0; i < 4; ++i) {
    hx_value_t *r = NULL;
    SCHEME_OK(&s, hx_engine_rotate(s.engine, x, steps[i], &r, s.report));
    case_check(&s, "rotation", r, want[i], 8, 0x1p-19);
    hx_value_release(r);
  }
  hx_value_release(x);
  scheme_close(&s);
}

static void b22_step_0_is_a_copy_without_a_key(void **state) {
  (void)state;
  scheme_t s;
  uint64_t seed = 1;
  scheme_open(&s, case_set_s(), NULL, 0);
  hx_engine_release(s.engine);
  SCHEME_OK(&s, hx_engine_create(s.params, NULL, s.backend, &s.engine, s.report));
  scheme_number_t *z = scheme_message(&seed, s.slots);
  hx_value_t *x = scheme_encrypt(&s, z, s.slots, 0, NULL), *one = NULL, *many = NULL;
  const int64_t zero = 0;
  SCHEME_OK(&s, hx_engine_rotate(s.engine, x, 0, &one, s.report));
  assert_true(hx_value_equal(one, x));
  SCHEME_OK(&s, hx_engine_rotate_many(s.engine, x, &zero, 1, &many, s.report));
  assert_true(hx_value_equal(many, x));
  hx_value_release(one);
  hx_value_release(many);
  hx_value_release(x);
  free(z);
  scheme_close(&s);
}

static void b22_step_0_in_a_group_needs_no_key(void **state) {
  (void)state;
  static const int64_t keys[] = {1, -1}, steps[] = {0, 1, -1};
  scheme_t s;
  uint64_t seed = 2;
  scheme_open(&s, case_set_s(), keys, 2);
  scheme_number_t *z = scheme_message(&seed, s.slots), *want = scheme_numbers(s.slots);
  hx_value_t *x = scheme_encrypt(&s, z, s.slots, 0, NULL), *many[3], *weights[3], *sum = NULL;
  SCHEME_OK(&s, hx_engine_rotate_many(s.engine, x, steps, 3, many, s.report));
  for (size_t i = 0; i < 3; ++i) {
    hx_value_t *alone = NULL, *plain = scheme_encode(&s, z, s.slots, 0, NULL);
    SCHEME_OK(&s, hx_engine_rotate(s.engine, x, steps[i], &alone, s.report));
    assert_true(hx_value_equal(many[i], alone));
    SCHEME_OK(&s, hx_engine_prepare_plain(s.engine, plain, HX_PLAIN_WEIGHTED, &weights[i], s.report));
    hx_value_release(plain);
    hx_value_release(alone);
    hx_value_release(many[i]);
  }
  SCHEME_OK(
      &s, hx_engine_rotate_weighted_sum(s.engine, x, steps, 3, (const hx_value_t *const *)weights, 1, &sum, s.report));
  for (size_t i = 0; i < s.slots; ++i) want[i] = z[i] * (z[i] + z[(i + 1) % s.slots] + z[(i + s.slots - 1) % s.slots]);
  case_check(&s, "weighted sum", sum, want, s.slots, 0x1p-17);
  for (size_t i = 0; i < 3; ++i) hx_value_release(weights[i]);
  hx_value_release(sum);
  hx_value_release(x);
  free(want);
  free(z);
  scheme_close(&s);
}

static void b24_one_step_spelled_three_ways_uses_one_key(void **state) {
  (void)state;
  static const int64_t key = -63, spellings[] = {49089, 16321, -63};
  const uint32_t slots = 16384;
  scheme_t s;
  uint64_t seed = 3;
  open_sparse(&s, case_set_make(16, 55, 40, 1, 56, 1, 2, "2^40"), &key, 1, slots);
  scheme_number_t *z = scheme_message(&seed, slots), *want = scheme_numbers(slots);
  hx_value_t *x = scheme_encrypt(&s, z, slots, 0, NULL), *r[3];
  for (size_t i = 0; i < 3; ++i) SCHEME_OK(&s, hx_engine_rotate(s.engine, x, spellings[i], &r[i], s.report));
  for (size_t i = 0; i < slots; ++i) want[i] = z[(i + slots - 63) % slots];
  scheme_check(&s, "rotation by -63", r[0], want, scheme_fresh(&s) + hx_noise_key_switch(s.params, 0));
  for (size_t i = 0; i < 3; ++i) {
    assert_true(hx_value_equal(r[i], r[0]));
    if (i > 0) hx_value_release(r[i]);
  }
  hx_value_release(r[0]);
  hx_value_release(x);
  free(want);
  free(z);
  scheme_close(&s);
}

static void b11_rescale_below_the_last_prime_is_refused(void **state) {
  (void)state;
  scheme_t s;
  scheme_open(&s, case_set_make(13, 60, 40, 1, 60, 1, 2, "2^40"), NULL, 0);
  hx_value_t *one = case_encrypt(&s, NUMBERS(1.0), 1, s.slots), *c = NULL, *again = NULL, *wide = NULL, *two = NULL;
  SCHEME_OK(&s, hx_engine_rescale(s.engine, one, &c, s.report));
  scheme_number_t *before = scheme_decrypt(&s, c);
  assert_int_equal(hx_engine_rescale(s.engine, c, &again, s.report), HX_STATUS_INVALID);
  case_fault(&s, HX_CODE_NO_DEPTH, WORDS("ckks.rescale", "depth 1"));
  assert_null(again);
  scheme_number_t *after = scheme_decrypt(&s, c);
  assert_memory_equal(before, after, s.slots * sizeof *before);
  // On the base prime alone a product at a small scale is right, and there is nothing left to divide by.
  scheme_number_t *half = case_message(NUMBERS(0.5), 1, s.slots);
  hx_value_t *low = scheme_encrypt(&s, half, s.slots, 1, "2^25");
  SCHEME_OK(&s, hx_engine_mul(s.engine, low, low, &wide, s.report));
  SCHEME_OK(&s, hx_engine_relinearize(s.engine, wide, &two, s.report));
  case_check(&s, "product on the base prime", two, NUMBERS(0.25), 1, 0x1p-8);
  assert_int_equal(hx_engine_rescale(s.engine, two, &again, s.report), HX_STATUS_INVALID);
  case_fault(&s, HX_CODE_NO_DEPTH, WORDS("depth 1"));
  hx_value_t *const all[] = {one, c, low, wide, two};
  for (size_t i = 0; i < HX_COUNT_OF(all); ++i) hx_value_release(all[i]);
  free(before);
  free(after);
  free(half);
  scheme_close(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(b11_rescale_below_the_last_prime_is_refused),
      cmocka_unit_test(b20_rotations_of_eight_slots_go_left),
      cmocka_unit_test(b22_step_0_is_a_copy_without_a_key),
      cmocka_unit_test(b22_step_0_in_a_group_needs_no_key),
      cmocka_unit_test(b24_one_step_spelled_three_ways_uses_one_key),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
