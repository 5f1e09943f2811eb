// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/ckks/value.h"
#include "core/ops/ops.h"

// N = 16: base of 60 bits, three depth primes of 40, one special prime of 60.
#define RING                                                                                     \
  "{\"log_n\":4,\"word\":64,\"base\":[\"1152921504606845473\"],\"groups\":[[\"1099511627297\"]," \
  "[\"1099511626049\"],[\"1099511625409\"]],\"special\":[\"1152921504606844513\"],\"digits\":4," \
  "\"secret\":\"ternary\",\"sigma\":\"3.2\",\"scale\":\"2^40\"}"

static hx_params_t *params;

static int make_params(void **state) {
  (void)state;
  return hx_params_parse(hx_str(RING), NULL, HX_PARAMS_INSECURE, &params, NULL) == HX_STATUS_OK ? 0 : -1;
}

static int drop_params(void **state) {
  (void)state;
  hx_params_release(params);
  return 0;
}

static void parse_type(const char *text, hx_type_t *type) {
  hx_report_t *report = hx_report_create();
  if (hx_type_parse(hx_str(text), hx_params_ring(params), type, report) != HX_STATUS_OK) {
    fail_msg("%s", hx_report_get(report, 0)->text);
  }
  hx_report_release(report);
}

#define FRESH                                                                                         \
  "!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = \"2^40\", primes = [0, 1, 2, 3], " \
  "basis = Q, domain = ntt, repr = standard, slots = 8>"

static hx_value_t *make_value(const char *text, bool secret) {
  hx_type_t type;
  parse_type(text, &type);
  hx_value_t *value = NULL;
  assert_int_equal(hx_value_create(params, &type, secret, &value), HX_STATUS_OK);
  return value;
}

static void value_create_makes_zeros_of_the_type(void **state) {
  (void)state;
  hx_value_t *value = make_value(FRESH, false);
  assert_int_equal(hx_value_kind(value), HX_VALUE_CIPHERTEXT);
  assert_ptr_equal(hx_value_params(value), params);
  assert_int_equal(hx_value_depth(value), 0);
  assert_int_equal(hx_value_components(value), 2);
  assert_int_equal(hx_value_slots(value), 8);
  assert_int_equal(hx_value_limbs(value), 4);
  assert_int_equal(hx_value_count(value), 0);
  assert_false(hx_value_is_complex(value));
  assert_false(hx_value_is_secret(value));
  assert_int_equal(hx_value_bytes(value), 2 * 4 * 16 * 8);
  assert_true(fabs(hx_value_scale_log2(value) - 40) < 1e-12);
  static const uint8_t zeros[16] = {0};
  assert_memory_equal(hx_value_key_id(value), zeros, 16);
  for (uint32_t i = 0; i < 2 * 4 * 16; ++i)
    assert_int_equal(((uint64_t *)hx_tensor_row(value->tensor, 0, 0, 0, 0))[i], 0);
  assert_int_equal(hx_value_check_residues(value, NULL), HX_STATUS_OK);
  hx_value_t *same = hx_value_retain(value);
  hx_value_release(value);
  hx_value_release(same);
  hx_value_release(NULL);
  value = make_value(
      "!ckks.plaintext<batch = [2, 3], components = 1, depth = 1, scale = \"2^40*q3^-1\", primes = [0, 1, 2, 4], "
      "basis = QP, domain = coefficient, repr = standard, slots = 2>",
      true);
  assert_int_equal(hx_value_kind(value), HX_VALUE_PLAINTEXT);
  assert_int_equal(hx_value_components(value), 1);
  assert_int_equal(hx_value_limbs(value), 4);
  assert_int_equal(hx_value_bytes(value), 6 * 4 * 16 * 8);
  assert_true(hx_value_is_secret(value));
  assert_true(value->tensor->storage->secret);
  assert_true(fabs(hx_value_scale_log2(value)) < 1e-6);
  hx_value_release(value);
}

static void value_check_type_refuses_impossible_states(void **state) {
  (void)state;
  static const struct {
    const char *text;
    hx_code_t code;
  } bad[] = {
      {"!rns.tensor<dtype = u32, batch = [], components = 1, primes = [0, 1], basis = Q, domain = ntt, repr = "
       "standard>",
       HX_CODE_TYPE},  // the ring's word is 64
      {"!rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 99], basis = Q, domain = ntt, repr = "
       "standard>",
       HX_CODE_PRIMES},
      {"!rns.tensor<dtype = u64, batch = [], components = 1, primes = [0, 1], basis = Q, domain = ntt>", HX_CODE_TYPE},
      {"tensor<8xf64>", HX_CODE_TYPE},
      {"!ckks.ciphertext<components = 2, depth = 0>", HX_CODE_TYPE},
      {"!ckks.ciphertext<batch = [], components = 2, depth = 1, scale = \"2^40\", primes = [0, 1, 2, 3], basis = Q, "
       "domain = "
       "ntt, repr = standard, slots = 8>",
       HX_CODE_PRIMES},
      {"!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = \"2^40\", primes = [0, 1, 2], basis = Q, "
       "domain = "
       "ntt, repr = standard, slots = 8>",
       HX_CODE_PRIMES},
      {"!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = \"2^40\", primes = [0, 1, 2, 3, 4], basis = Q, "
       "domain = ntt, repr = standard, slots = 8>",
       HX_CODE_PRIMES},
      {"!ckks.ciphertext<batch = [], components = 2, depth = 4, scale = \"2^40\", primes = [0], basis = Q, domain = "
       "ntt, "
       "repr = standard, slots = 8>",
       HX_CODE_NO_DEPTH},
      {"!ckks.ciphertext<batch = [], components = 4, depth = 0, scale = \"2^40\", primes = [0, 1, 2, 3], basis = Q, "
       "domain = "
       "ntt, repr = standard, slots = 8>",
       HX_CODE_COMPONENTS},
      {"!ckks.ciphertext<batch = [], components = 1, depth = 0, scale = \"2^40\", primes = [0, 1, 2, 3], basis = Q, "
       "domain = "
       "ntt, repr = standard, slots = 8>",
       HX_CODE_COMPONENTS},
      {"!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = \"2^40\", primes = [0, 1, 2, 3], basis = Q, "
       "domain = "
       "ntt, repr = standard, slots = 16>",
       HX_CODE_SLOTS},
  };
  for (size_t i = 0; i < HX_COUNT_OF(bad); ++i) {
    hx_type_t type;
    hx_report_t *report = hx_report_create();
    // What the type's own parser refuses never gets here.
    if (hx_type_parse(hx_str(bad[i].text), NULL, &type, report) == HX_STATUS_OK) {
      hx_value_t *value = NULL;
      assert_int_not_equal(hx_value_check_type(params, &type, report), HX_STATUS_OK);
      assert_int_equal(hx_report_get(report, 0)->code, bad[i].code);
      assert_int_not_equal(hx_value_create(params, &type, false, &value), HX_STATUS_OK);
      assert_null(value);
    }
    assert_true(hx_report_count(report) > 0);
    hx_report_release(report);
  }
}

static void value_wrap_takes_only_the_types_shape(void **state) {
  (void)state;
  hx_type_t type;
  parse_type(FRESH, &type);
  hx_layout_t layout;
  hx_type_layout(&type, hx_params_ring(params), &layout);
  assert_int_equal(layout.dtype, HX_U64);
  assert_int_equal(layout.log_n, 4);
  assert_int_equal(layout.components, 2);
  assert_int_equal(layout.limbs, 4);
  assert_true(hx_layout_is_dense(&layout));
  hx_tensor_t *tensor = NULL;
  assert_int_equal(hx_tensor_create(&layout, false, &tensor), HX_STATUS_OK);
  hx_value_t *value = NULL;
  assert_int_equal(hx_value_wrap(params, &type, tensor, true, &value, NULL), HX_STATUS_OK);
  assert_true(tensor->storage->secret);
  hx_tensor_release(tensor);
  assert_int_equal(hx_value_limbs(value), 4);
  hx_value_release(value);
  value = NULL;
  layout.components = 3;
  assert_int_equal(hx_tensor_create(&layout, false, &tensor), HX_STATUS_OK);
  hx_report_t *report = hx_report_create();
  assert_int_equal(hx_value_wrap(params, &type, tensor, false, &value, report), HX_STATUS_INVALID);
  assert_int_equal(hx_report_get(report, 0)->code, HX_CODE_SHAPE);
  assert_non_null(strstr(hx_report_get(report, 0)->text, "3 components"));
  assert_non_null(strstr(hx_report_get(report, 0)->text, "2 components"));
  assert_null(value);
  hx_report_release(report);
  hx_tensor_release(tensor);
}

static void value_check_residues_names_row_and_index(void **state) {
  (void)state;
  hx_value_t *value = make_value(FRESH, false);
  uint64_t *row = hx_tensor_row(value->tensor, 0, 0, 1, 2);
  row[5] = 1099511626048u;
  assert_int_equal(hx_value_check_residues(value, NULL), HX_STATUS_OK);
  row[5] = 1099511626049u;
  hx_report_t *report = hx_report_create();
  assert_int_equal(hx_value_check_residues(value, report), HX_STATUS_CORRUPT);
  assert_int_equal(hx_report_get(report, 0)->code, HX_CODE_RESIDUE);
  assert_non_null(
      strstr(hx_report_get(report, 0)->text, "component 1, row 2 (prime id 2), index 5 holds 1099511626049"));
  row[5] = UINT64_MAX;
  assert_int_equal(hx_value_check_residues(value, NULL), HX_STATUS_CORRUPT);
  hx_value_release(value);
  hx_report_release(report);
  // Lazy ones are below twice the prime.
  value = make_value(
      "!ckks.ciphertext<batch = [], components = 2, depth = 3, scale = \"2^40\", primes = [0], basis = Q, domain = "
      "ntt, "
      "repr = lazy, slots = 8>",
      false);
  row = hx_tensor_row(value->tensor, 0, 0, 0, 0);
  row[15] = 2 * 1152921504606845473u - 1;
  assert_int_equal(hx_value_check_residues(value, NULL), HX_STATUS_OK);
  ++row[15];
  assert_int_equal(hx_value_check_residues(value, NULL), HX_STATUS_CORRUPT);
  hx_value_release(value);
}

static void value_equal_compares_state_key_and_residues(void **state) {
  (void)state;
  hx_value_t *a = make_value(FRESH, false), *b = make_value(FRESH, false);
  assert_true(hx_value_equal(a, a));
  assert_true(hx_value_equal(a, b));
  ((uint64_t *)hx_tensor_row(b->tensor, 0, 0, 1, 3))[15] = 1;
  assert_false(hx_value_equal(a, b));
  ((uint64_t *)hx_tensor_row(b->tensor, 0, 0, 1, 3))[15] = 0;
  b->key_id[15] = 1;
  assert_false(hx_value_equal(a, b));
  hx_value_release(b);
  b = make_value(
      "!ckks.ciphertext<batch = [], components = 2, depth = 0, scale = \"2^41\", primes = [0, 1, 2, 3], basis = Q, "
      "domain = ntt, "
      "repr = standard, slots = 8>",
      false);
  assert_false(hx_value_equal(a, b));
  hx_value_release(b);
  hx_value_release(a);
}

static void value_type_text_parses_back(void **state) {
  (void)state;
  hx_value_t *value = make_value(FRESH, false);
  char text[1024], small[8];
  const size_t length = hx_value_type_text(value, text, sizeof text);
  assert_int_equal(length, strlen(text));
  hx_type_t type;
  parse_type(text, &type);
  assert_true(hx_type_equal(&type, &value->type));
  assert_int_equal(hx_value_type_text(value, NULL, 0), length);
  assert_int_equal(hx_value_type_text(value, small, sizeof small), length);
  assert_int_equal(strlen(small), 7);
  hx_value_release(value);
}

// ------------------------------------------------------------------ constants

static void constant_residues_are_exact(void **state) {
  (void)state;
  // Worked out with integers of any size: rounded product, then the transform's two halves.
  static const struct {
    const char *scale;
    double re, im;
    uint64_t rows[8];
  } cases[] = {
      {"2^40", 1.0, 0.0, {1099511627776u, 1099511627776u, 479u, 479u, 1727u, 1727u, 2367u, 2367u}},
      {"2^40",
       -0.3333333333333333,
       0.0,
       {1152921138102969548u, 1152921138102969548u, 733007751372u, 733007751372u, 733007750124u, 733007750124u,
        733007749484u, 733007749484u}},
      {"2^40",
       0.5,
       1.0,
       {582613230942030314u, 570309373176442935u, 295188797926u, 804322829850u, 1035260252760u, 64251375016u,
        452090092588u, 647421535188u}},
      {"3*2^38",
       -1.0,
       -2.0,
       {279001658193800002u, 873918197145603807u, 656728430408u, 992539009819u, 646132872958u, 1003134563525u,
        421376486527u, 128379322627u}},
      {"2^80*q2^-1",
       0.1,
       0.0,
       {109951162950u, 109951162950u, 109951162950u, 109951162950u, 109951162950u, 109951162950u, 109951162950u,
        109951162950u}},
      {"2^120*q1^-1*q2^-1",
       -0.7,
       0.001,
       {873169536806164824u, 279750428484398675u, 502956973726u, 156749998894u, 55845649565u, 603861320559u,
        1022583990673u, 736634603580u}},
      {"2^0", 2.5, 0.0, {2u, 2u, 2u, 2u, 2u, 2u, 2u, 2u}},
      {"2^0", 3.5, 0.0, {4u, 4u, 4u, 4u, 4u, 4u, 4u, 4u}},
      {"2^0",
       -2.5,
       -0.5,
       {1152921504606845471u, 1152921504606845471u, 1099511627295u, 1099511627295u, 1099511626047u, 1099511626047u,
        1099511625407u, 1099511625407u}},
      {"2^40", 5e-324, 0.0, {0}},
      {"2^40", -0.0, -0.0, {0}},
      {"2^40",
       1e20,
       0.0,
       {143337249755859375u, 143337249755859375u, 991954427799u, 991954427799u, 982659481142u, 982659481142u,
        105208758443u, 105208758443u}},
      {"2^100",
       0.1,
       -0.2,
       {32124339436167514u, 198804548429346579u, 421754460313u, 505972112859u, 721547926867u, 343738411399u,
        715609111885u, 899164612749u}},
  };
  const hx_ring *ring = hx_params_ring(params);
  const hx_primes_t primes = hx_ring_active(ring, 0);
  for (size_t i = 0; i < HX_COUNT_OF(cases); ++i) {
    hx_scale_t scale;
    uint64_t rows[8];
    assert_int_equal(hx_scale_parse(hx_str(cases[i].scale), ring, &scale, NULL), HX_STATUS_OK);
    assert_int_equal(hx_constant_residues(ring, &primes, cases[i].re, cases[i].im, &scale, rows, NULL), HX_STATUS_OK);
    assert_memory_equal(rows, cases[i].rows, sizeof rows);
  }
}

static void constant_residues_refuse_what_does_not_fit(void **state) {
  (void)state;
  const hx_ring *ring = hx_params_ring(params);
  hx_scale_t scale;
  uint64_t rows[8];
  assert_int_equal(hx_scale_parse(hx_str("2^40"), ring, &scale, NULL), HX_STATUS_OK);
  const hx_primes_t base = hx_ring_active(ring, 3), all = hx_ring_active(ring, 0);
  static const double bad[] = {NAN, INFINITY, -INFINITY, 8.65801e306, -3.09548e267, 1e300};
  for (size_t i = 0; i < HX_COUNT_OF(bad); ++i) {
    hx_report_t *report = hx_report_create();
    assert_int_equal(hx_constant_residues(ring, &all, bad[i], 0, &scale, rows, report), HX_STATUS_INVALID);
    assert_int_equal(hx_report_get(report, 0)->code, HX_CODE_VALUE);
    assert_int_equal(hx_constant_residues(ring, &all, 0, bad[i], &scale, rows, NULL), HX_STATUS_INVALID);
    hx_report_release(report);
  }
  // Half of the base prime 2^60 - 1503 is 2^59 - 751.5; doubles near it are multiples of 64.
  assert_int_equal(hx_constant_residues(ring, &base, ldexp(1, 19), 0, &scale, rows, NULL), HX_STATUS_INVALID);
  assert_int_equal(hx_constant_residues(ring, &base, -(ldexp(1, 19) - ldexp(768, -40)), 0, &scale, rows, NULL),
                   HX_STATUS_OK);
  assert_int_equal(rows[0], ((uint64_t)1 << 59) - 735);
  assert_int_equal(hx_constant_residues(ring, &base, ldexp(1, 19) - ldexp(704, -40), 0, &scale, rows, NULL),
                   HX_STATUS_INVALID);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(value_create_makes_zeros_of_the_type),
      cmocka_unit_test(value_check_type_refuses_impossible_states),
      cmocka_unit_test(value_wrap_takes_only_the_types_shape),
      cmocka_unit_test(value_check_residues_names_row_and_index),
      cmocka_unit_test(value_equal_compares_state_key_and_residues),
      cmocka_unit_test(value_type_text_parses_back),
      cmocka_unit_test(constant_residues_are_exact),
      cmocka_unit_test(constant_residues_refuse_what_does_not_fit),
  };
  return cmocka_run_group_tests(tests, make_params, drop_params);
}
