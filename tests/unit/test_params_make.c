// SPDX-License-Identifier: Apache-2.0
// Parameter sets from wishes: the presets come out of theirs, chains of squarings stay at the scale, wishes that cannot
// be met are refused.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/memory.h"
#include "core/ckks/params.h"

static hx_params_t *make(const hx_params_wish_t *wish, uint32_t flags) {
  hx_params_t *params = NULL;
  hx_report_t *report = hx_report_create();
  if (hx_params_make(wish, flags, &params, report) != HX_STATUS_OK)
    fail_msg("%s", hx_report_count(report) == 0 ? "" : hx_report_get(report, 0)->text);
  hx_report_release(report);
  return params;
}

static void params_make_gives_the_presets(void **state) {
  (void)state;
  static const struct {
    const char *name;
    hx_params_wish_t wish;
  } cases[] = {
      {"n12-d1-s30", {.log_n = 12, .depth = 1, .scale_bits = 30, .base_bits = 39, .digits = 2}},
      {"n13-d3-s40", {.log_n = 13, .depth = 3, .scale_bits = 40, .base_bits = 48, .digits = 4}},
      {"n14-d6-s40", {.log_n = 14, .depth = 6, .scale_bits = 40, .digits = 4}},
      {"n14-d7-s40", {.log_n = 14, .depth = 7, .scale_bits = 40, .digits = 4}},
      {"n15-d14-s49", {.log_n = 15, .depth = 14, .scale_bits = 49, .digits = 8}},
      {"n15-d15-s40", {.log_n = 15, .depth = 15, .scale_bits = 40, .digits = 4}},
      {"n16-d23-s40", {.log_n = 16, .depth = 23, .scale_bits = 40, .digits = 4}},
      {"n16-d27-s49", {.log_n = 16, .depth = 27, .scale_bits = 49, .digits = 4}},
  };
  assert_int_equal(HX_COUNT_OF(cases), hx_params_preset_count());
  for (size_t i = 0; i < HX_COUNT_OF(cases); ++i) {
    hx_params_t *params = make(&cases[i].wish, 0), *preset = NULL;
    assert_int_equal(hx_params_preset(cases[i].name, &preset, NULL), HX_STATUS_OK);
    assert_string_equal(hx_params_json(params), hx_params_json(preset));
    assert_string_equal(hx_params_name(params), cases[i].name);
    hx_params_release(params);
    hx_params_release(preset);
  }
}

static void params_make_picks_the_smallest_secure_degree(void **state) {
  (void)state;
  static const struct {
    uint32_t depth, scale_bits, log_n;
  } cases[] = {{1, 30, 12}, {3, 40, 13}, {7, 40, 14}, {14, 49, 15}, {27, 49, 16}, {50, 50, 17}};
  for (size_t i = 0; i < HX_COUNT_OF(cases); ++i) {
    const hx_params_wish_t wish = {.depth = cases[i].depth, .scale_bits = cases[i].scale_bits};
    hx_params_t *params = make(&wish, 0);
    assert_int_equal(hx_params_log_n(params), cases[i].log_n);
    assert_int_equal(hx_params_max_depth(params), cases[i].depth);
    assert_false(hx_params_is_insecure(params));
    assert_true(hx_params_log2_q(params) + hx_params_log2_p(params) < hx_params_security_limit(params));
    hx_params_release(params);
  }
}

static void params_make_reaches_the_precision_asked_for(void **state) {
  (void)state;
  for (uint32_t depth = 1; depth <= 9; depth += 4) {
    for (int bits = 12; bits <= 30; bits += 6) {
      const hx_params_wish_t wish = {.depth = depth, .precision = bits};
      hx_params_t *params = make(&wish, 0);
      hx_params_precision_t precision;
      hx_params_precision(params, &precision);
      if (!(precision.deepest >= bits - 0.3 && precision.deepest < bits + 1.5))
        fail_msg("depth %u, %d bits asked: %s, %.2f bits", depth, bits, hx_params_scale(params), precision.deepest);
      assert_true(precision.fresh > precision.multiplied && precision.multiplied >= precision.deepest);
      hx_params_release(params);
    }
  }
}

// The chain of the largest set strays by 2^-15 bits, as PRESETS says; composite groups by no more than 2^-9.
static void chains_of_squarings_stay_at_the_scale(void **state) {
  (void)state;
  static const struct {
    hx_params_wish_t wish;
    double drift_log2;
  } cases[] = {
      {{.log_n = 16, .depth = 23, .scale_bits = 40, .digits = 4}, -15},
      {{.log_n = 15, .depth = 14, .scale_bits = 49, .digits = 8}, -26},
      {{.log_n = 17, .depth = 40, .scale_bits = 50}, -20},
      {{.log_n = 14, .depth = 4, .scale_bits = 28, .word = 32}, -6},
      {{.log_n = 14, .depth = 4, .scale_bits = 54, .word = 32}, -11},
      {{.log_n = 15, .depth = 6, .scale_bits = 56, .word = 32}, -9},
      {{.log_n = 15, .depth = 5, .scale_bits = 80}, -23},
      {{.log_n = 14, .depth = 2, .scale_bits = 60, .group_primes = 2}, -14},
  };
  for (size_t i = 0; i < HX_COUNT_OF(cases); ++i) {
    hx_params_t *params = make(&cases[i].wish, 0);
    hx_params_precision_t precision;
    hx_params_precision(params, &precision);
    if (!(precision.drift_log2 < cases[i].drift_log2))
      fail_msg("case %zu: the chain strays by 2^%.2f bits", i, precision.drift_log2);
    hx_params_release(params);
  }
}

static void composite_groups_have_the_primes_asked_for(void **state) {
  (void)state;
  const hx_params_wish_t wish = {.depth = 3, .scale_bits = 54, .word = 32};
  hx_params_t *params = make(&wish, 0);
  assert_int_equal(hx_params_word(params), 32);
  assert_int_equal(hx_params_group_size(params, 0), 3);  // 64 bits
  for (uint32_t g = 1; g <= 3; ++g) assert_int_equal(hx_params_group_size(params, g), 2);
  hx_params_release(params);
  const hx_params_wish_t three = {.depth = 2, .scale_bits = 75, .word = 32, .group_primes = 3};
  params = make(&three, 0);
  for (uint32_t g = 1; g <= 2; ++g) assert_int_equal(hx_params_group_size(params, g), 3);
  hx_params_release(params);
}

static void sets_without_special_primes_have_no_keys(void **state) {
  (void)state;
  const hx_params_wish_t wish = {.depth = 2, .scale_bits = 30, .no_special = true};
  hx_params_t *params = make(&wish, 0);
  assert_int_equal(hx_params_p_count(params), 0);
  hx_params_precision_t precision;
  hx_params_precision(params, &precision);
  assert_true(isnan(precision.rotated) && !isnan(precision.multiplied));
  hx_params_release(params);
}

static void params_make_refuses_what_cannot_be(void **state) {
  (void)state;
  static const struct {
    hx_params_wish_t wish;
    uint32_t flags;
    hx_code_t code;
  } cases[] = {
      {{.depth = HX_PRIMES_MAX, .scale_bits = 40}, 0, HX_CODE_PARAMS},
      {{.depth = 80, .scale_bits = 49}, 0, HX_CODE_INSECURE},
      {{.depth = 7, .scale_bits = 40, .log_n = 13}, 0, HX_CODE_INSECURE},
      {{.depth = 7}, 0, HX_CODE_PARAMS},
      {{.depth = 7, .scale_bits = 40, .precision = 20}, 0, HX_CODE_PARAMS},
      {{.depth = 7, .scale_bits = 10}, 0, HX_CODE_PARAMS},
      {{.depth = 7, .scale_bits = 121}, 0, HX_CODE_PARAMS},
      {{.depth = 1, .scale_bits = 40, .word = 16}, 0, HX_CODE_PARAMS},
      {{.depth = 1, .scale_bits = 40, .log_n = 18}, HX_PARAMS_INSECURE, HX_CODE_PARAMS},
      {{.depth = 1, .scale_bits = 40, .group_primes = 5}, 0, HX_CODE_PARAMS},
      {{.depth = 1, .scale_bits = 40, .slots = 3}, 0, HX_CODE_SLOTS},
      {{.depth = 1, .scale_bits = 40, .slots = 1 << 17}, 0, HX_CODE_SLOTS},
      {{.depth = 3, .scale_bits = 40, .weight = 64}, 0, HX_CODE_INSECURE},
      {{.depth = 3, .precision = 1000}, 0, HX_CODE_INSECURE},
      {{.depth = 1, .scale_bits = 40, .special_bits = 62}, 0, HX_CODE_PARAMS},
  };
  for (size_t i = 0; i < HX_COUNT_OF(cases); ++i) {
    hx_params_t *params = NULL;
    hx_report_t *report = hx_report_create();
    if (hx_params_make(&cases[i].wish, cases[i].flags, &params, report) == HX_STATUS_OK)
      fail_msg("case %zu is made", i);
    assert_true(hx_report_count(report) >= 1);
    if (hx_report_get(report, 0)->code != cases[i].code)
      fail_msg("case %zu: %s: %s", i, hx_code_info(hx_report_get(report, 0)->code)->word,
               hx_report_get(report, 0)->text);
    assert_null(params);
    hx_report_release(report);
  }
}

static void the_flag_admits_a_degree_that_is_given(void **state) {
  (void)state;
  const hx_params_wish_t wish = {.depth = 7, .scale_bits = 40, .log_n = 12},
                         sparse = {.depth = 3, .scale_bits = 40, .weight = 64};
  hx_params_t *params = make(&wish, HX_PARAMS_INSECURE);
  assert_true(hx_params_is_insecure(params));
  assert_int_equal(hx_params_log_n(params), 12);
  hx_params_release(params);
  params = make(&sparse, HX_PARAMS_INSECURE);
  assert_true(hx_params_is_insecure(params));
  hx_params_release(params);
}

static void slots_asked_for_set_the_least_degree(void **state) {
  (void)state;
  const hx_params_wish_t wish = {.depth = 1, .scale_bits = 30, .slots = 16384};
  hx_params_t *params = make(&wish, 0);
  assert_int_equal(hx_params_log_n(params), 15);
  hx_params_release(params);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(params_make_gives_the_presets),
      cmocka_unit_test(params_make_picks_the_smallest_secure_degree),
      cmocka_unit_test(params_make_reaches_the_precision_asked_for),
      cmocka_unit_test(chains_of_squarings_stay_at_the_scale),
      cmocka_unit_test(composite_groups_have_the_primes_asked_for),
      cmocka_unit_test(sets_without_special_primes_have_no_keys),
      cmocka_unit_test(params_make_refuses_what_cannot_be),
      cmocka_unit_test(the_flag_admits_a_degree_that_is_given),
      cmocka_unit_test(slots_asked_for_set_the_least_degree),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
