// SPDX-License-Identifier: Apache-2.0
#include <math.h>

#include "ops_fixture.h"

static hx_scale_t scale_of(const char *text, const hx_ring *ring) {
  hx_scale_t scale;
  hx_report_t *report = hx_report_create();
  if (hx_scale_parse(hx_str(text), ring, &scale, report) != HX_STATUS_OK) {
    fail_msg("%s: %s", text, hx_report_get(report, 0)->text);
  }
  hx_report_release(report);
  return scale;
}

static void assert_scale(const hx_scale_t *scale, const char *expected) {
  char text[HX_SCALE_TEXT_MAX];
  const size_t size = hx_scale_print(scale, text);
  assert_int_equal(size, strlen(text));
  assert_string_equal(text, expected);
}

// Values from exact rational arithmetic. Ring a: primes of 50 bits; ring b: groups of two.
static const struct {
  const hx_ring *ring;
  const char *text;
  double hi, lo;
} values[] = {
    {&ring_a, "2^50", 0x1p+50, 0},
    {&ring_a, "3*2^48", 0x1.8p+49, 0},
    {&ring_a, "2^50*q5^1", 0x1.fffffffffc808p+99, 0},
    {&ring_a, "2^100*q5^-1", 0x1.0000000001bfcp+50, 0x1.8790080002acep-29},
    {&ring_a, "2^200*q5^-2", 0x1.00000000037f8p+100, 0x1.25ac060002acep+23},
    {&ring_a, "2^200*q4^-1*q5^-2", 0x1.00000000052f4p+50, 0x1.1ebd0600033a0p-26},
    {&ring_a, "2^400*q4^-2*q5^-4", 0x1.000000000a5e8p+100, 0x1.f5c6ca800908ap+25},
    {&ring_a, "2^800*q3^-2*q4^-4*q5^-8", 0x1.00000000172c8p+100, 0x1.1febd29009f1dp+28},
    {&ring_a, "2^1600*q2^-2*q3^-4*q4^-8*q5^-16", 0x1.000000002f388p+100, 0x1.2079db4412faap+30},
    {&ring_a, "2^1600*q1^-1*q2^-2*q3^-4*q4^-8*q5^-16", 0x1.000000002f904p+50, 0x1.248d47c0135eep-20},
    {&ring_a, "2^2000*q1^-20*q2^-20", 0x1.000000000f960p+0, 0x1.f22a2d000a9f7p-74},
    {&ring_a, "2^0*q5^-1", 0x1.0000000001bfcp-50, 0x1.8790080002acep-129},
    {&ring_a, "2^-1000*q5^1", 0x1.fffffffffc808p-951, 0},
    {&ring_a, "12345678901234567890123456789*2^-60*q0^2*q4^-3", 0x1.3f20d9923c441p+3, -0x1.6cfe31d725bc6p-51},
    {&ring_b, "2^85*q6^1*q7^1", 0x1.ffffffede0c00p+169, 0x1.25e7c08p+110},
    {&ring_b, "2^170*q6^-1*q7^-1", 0x1.000000090fa00p+85, 0x1.fdddc0ecd85f7p+26},
    {&ring_b, "2^340*q4^-1*q5^-1*q6^-2*q7^-2", 0x1.00000018fee00p+85, 0x1.7349a8d0b4f12p+29},
    {&ring_b, "2^680*q2^-1*q3^-1*q4^-2*q5^-2*q6^-4*q7^-4", 0x1.000000327d600p+85, 0x1.5c1eba0927b6dp+31},
    // Ties, carries and the ends of the range.
    {NULL, "9007199254740993*2^0", 0x1p+53, 1},
    {NULL, "18014398509481985*2^0", 0x1p+54, 1},
    {NULL, "18014398509481987*2^0", 0x1.0000000000001p+54, -1},
    {NULL, "1461501637330902918203684832716283019655932542977*2^0", 0x1p+160, 1},
    {NULL, "57896044618658097711785492504343953926634992332820282019728792003956564819969*2^-300", 0x1p-45, 0x1p-300},
    {NULL, "115792089237316195423570985008687907853269984665640564039457584007913129639935*2^0", 0x1p+256, -1},
    {NULL, "2^1023", 0x1p+1023, 0},
    {NULL, "9007199254740991*2^971", 0x1.fffffffffffffp+1023, 0},
    {NULL, "2^-1074", 0x1p-1074, 0},
    {NULL, "3*2^-1075", 0x1p-1073, 0},  // a tie among subnormals
    {NULL, "18014398509481985*2^-1075", 0x1p-1021, 0},
    {&ring_a, "2^-1074*q1^1*q2^-1", 0x1p-1074, 0},
    {&ring_a, "2^-1024*q3^-1", 0x1p-1074, 0},
};

static void value_gives_nearest_double_double(void **state) {
  (void)state;
  for (size_t i = 0; i < HX_COUNT_OF(values); ++i) {
    const hx_scale_t scale = scale_of(values[i].text, values[i].ring);
    double hi = 0, lo = 0;
    assert_int_equal(hx_scale_value(&scale, values[i].ring, &hi, &lo, NULL), HX_STATUS_OK);
    if (hi != values[i].hi || lo != values[i].lo) fail_msg("%s gives %a and %a", values[i].text, hi, lo);
    assert_scale(&scale, values[i].text);
    if (hi > 0x1p-1022)
      assert_true(fabs(hx_scale_log2(&scale, values[i].ring) - log2(hi)) < 1e-9 * fabs(log2(hi)) + 1e-9);
  }
}

static void value_refuses_what_no_double_holds(void **state) {
  (void)state;
  static const struct {
    const hx_ring *ring;
    const char *text, *fault;
  } rows[] = {
      {NULL, "2^1024", "outside the range"},
      {NULL, "2^-1075", "outside the range"},                  // half of the smallest: to even, so 0
      {NULL, "18014398509481983*2^970", "outside the range"},  // rounds up to 2^1024
      {NULL, "2^2147483647", "outside the range"},
      {NULL, "2^-2147483647", "outside the range"},
      {&ring_a, "2^1600*q1^-1", "outside the range"},
      {&ring_a, "2^40*q1^-2000", "outside the range"},
      {&ring_a, "2^0*q1^2147483647", "outside the range"},
  };
  for (size_t i = 0; i < HX_COUNT_OF(rows); ++i) {
    hx_report_t *report = hx_report_create();
    const hx_scale_t scale = scale_of(rows[i].text, rows[i].ring);
    double hi = 7, lo = 7;
    assert_int_equal(hx_scale_value(&scale, rows[i].ring, &hi, &lo, report), HX_STATUS_INVALID);
    assert_true(hi == 7 && lo == 7);
    assert_int_equal(hx_report_get(report, 0)->code, HX_CODE_SCALE_RANGE);
    if (strstr(hx_report_get(report, 0)->text, rows[i].fault) == NULL) fail_msg("%s", hx_report_get(report, 0)->text);
    hx_report_release(report);
  }
  // Powers of primes need the primes.
  const hx_scale_t open = scale_of("2^40*q9^1", NULL);
  double hi = 0, lo = 0;
  assert_int_equal(hx_scale_value(&open, NULL, &hi, &lo, NULL), HX_STATUS_INVALID);
  assert_int_equal(hx_scale_value(&open, &ring_a, &hi, &lo, NULL), HX_STATUS_INVALID);
  // The largest that is still written out: both sides of the line near the limit.
  const hx_scale_t large = scale_of("2^0*q1^1300*q2^-1300", &ring_a);
  assert_int_equal(hx_scale_value(&large, &ring_a, &hi, &lo, NULL), HX_STATUS_OK);
  assert_true(hi > 1 && hi < 1.001);
}

// Longer than can be written out: bounds from both sides. Against the fourth power of what is written out.
static void value_of_long_chains_is_bounded_from_both_sides(void **state) {
  (void)state;
  double hi = 0, lo = 0, root_hi = 0, root_lo = 0;
  const hx_scale_t root = scale_of("2^10*q1^1250*q2^-1250", &ring_a), far = scale_of("2^40*q1^5000*q2^-5000", &ring_a);
  assert_int_equal(hx_scale_value(&root, &ring_a, &root_hi, &root_lo, NULL), HX_STATUS_OK);
  assert_int_equal(hx_scale_value(&far, &ring_a, &hi, &lo, NULL), HX_STATUS_OK);
  const long double x = (long double)root_hi + root_lo, y = (long double)hi + lo;  // 64 bits
  assert_true(fabsl(x * x * x * x / y - 1) < 0x1p-60L);
  assert_true(fabs(lo) <= ldexp(hi, -53));
  // A sum in another order has the same bits, and one more factor does not.
  const hx_scale_t turned = scale_of("3*2^40*q1^5000*q2^-5000", &ring_a);
  double other_hi = 0, other_lo = 0;
  assert_int_equal(hx_scale_value(&turned, &ring_a, &other_hi, &other_lo, NULL), HX_STATUS_OK);
  assert_true(fabsl(((long double)other_hi + other_lo) / y - 3) < 0x1p-60L);
}

static void parse_refuses_other_texts(void **state) {
  (void)state;
  static const struct {
    const char *text;
    hx_code_t code;
    uint32_t column;
  } rows[] = {
      {"", HX_CODE_SYNTAX, 1},
      {"40", HX_CODE_SYNTAX, 3},
      {"2", HX_CODE_SYNTAX, 2},
      {"2^", HX_CODE_SYNTAX, 3},
      {"2^-", HX_CODE_SYNTAX, 4},
      {"2^40 ", HX_CODE_SYNTAX, 5},
      {" 2^40", HX_CODE_SYNTAX, 1},
      {"2^+40", HX_CODE_SYNTAX, 3},
      {"2^040", HX_CODE_SYNTAX, 3},
      {"2^-0", HX_CODE_SYNTAX, 3},
      {"2^2147483648", HX_CODE_SCALE_RANGE, 3},
      {"2^99999999999", HX_CODE_SCALE_RANGE, 3},
      {"4*2^38", HX_CODE_SYNTAX, 1},
      {"0*2^38", HX_CODE_SYNTAX, 1},
      {"1*2^38", HX_CODE_SYNTAX, 1},
      {"03*2^38", HX_CODE_SYNTAX, 1},
      {"3*q1^1", HX_CODE_SYNTAX, 3},
      {"3^4", HX_CODE_SYNTAX, 1},
      {"q1^1", HX_CODE_SYNTAX, 1},
      {"2^40*q1^0", HX_CODE_SYNTAX, 6},
      {"2^40*q1", HX_CODE_SYNTAX, 8},
      {"2^40*q01^1", HX_CODE_SYNTAX, 7},
      {"2^40*q2^1*q1^1", HX_CODE_SYNTAX, 11},
      {"2^40*q2^1*q2^1", HX_CODE_SYNTAX, 11},
      {"2^40*3", HX_CODE_SYNTAX, 6},
      {"2^40*q6^1", HX_CODE_SCALE_RANGE, 6},
      {"2^40*q300^1", HX_CODE_SCALE_RANGE, 6},
      {"2^40*q1^-2147483648", HX_CODE_SCALE_RANGE, 9},
      {"1125899906842273*2^0", HX_CODE_SYNTAX, 1},  // the prime with id 1
      {"115792089237316195423570985008687907853269984665640564039457584007913129639936*2^0", HX_CODE_SCALE_RANGE, 1},
      {"1157920892373161954235709850086879078532699846656405640394575840079131296399350*2^0", HX_CODE_SCALE_RANGE, 1},
  };
  for (size_t i = 0; i < HX_COUNT_OF(rows); ++i) {
    hx_report_t *report = hx_report_create();
    hx_scale_t scale = {.e = 77};
    if (hx_scale_parse(hx_str(rows[i].text), &ring_a, &scale, report) == HX_STATUS_OK) fail_msg("%s", rows[i].text);
    const hx_fault_t *fault = hx_report_get(report, 0);
    if (fault->code != rows[i].code || fault->column != rows[i].column || fault->line != 1) {
      fail_msg("%s: %s at %u: %s", rows[i].text, hx_code_info(fault->code)->word, fault->column, fault->text);
    }
    assert_int_equal(scale.e, 77);
    hx_report_release(report);
  }
  // In a larger text the place is the larger text's.
  hx_report_t *report = hx_report_create();
  hx_scale_t scale;
  const hx_place_t place = {.source = "a.mlir", .line = 9, .column = 31};
  hx_scale_parse_at(hx_str("2^x"), NULL, place, &scale, report);
  assert_int_equal(hx_report_get(report, 0)->line, 9);
  assert_int_equal(hx_report_get(report, 0)->column, 33);
  assert_string_equal(hx_report_get(report, 0)->source, "a.mlir");
  hx_report_release(report);
}

static void multiply_adds_exponents_and_stays_canonical(void **state) {
  (void)state;
  hx_scale_t a = scale_of("3*2^40*q1^2*q4^-1", &ring_a);
  const hx_scale_t b = scale_of("5*2^-41*q0^1*q1^-2*q4^-1", &ring_a);
  hx_scale_t product;
  assert_int_equal(hx_scale_multiply(&a, &b, &product, NULL), HX_STATUS_OK);
  assert_scale(&product, "15*2^-1*q0^1*q4^-2");
  assert_int_equal(hx_scale_multiply(&a, &b, &a, NULL), HX_STATUS_OK);  // the result may be an operand
  assert_true(hx_scale_equal(&a, &product));
  // Equal numbers have equal forms, whatever the order.
  hx_scale_t left = scale_of("2^40", &ring_a), right = left;
  assert_int_equal(hx_scale_multiply_prime(&left, 5, -1, NULL), HX_STATUS_OK);
  assert_int_equal(hx_scale_multiply_prime(&left, 2, 3, NULL), HX_STATUS_OK);
  assert_int_equal(hx_scale_multiply_prime(&right, 2, 4, NULL), HX_STATUS_OK);
  assert_int_equal(hx_scale_multiply_prime(&right, 5, -1, NULL), HX_STATUS_OK);
  assert_false(hx_scale_equal(&left, &right));
  assert_int_equal(hx_scale_multiply_prime(&right, 2, -1, NULL), HX_STATUS_OK);
  assert_true(hx_scale_equal(&left, &right));
  assert_int_equal(hx_scale_multiply_prime(&left, 2, -3, NULL), HX_STATUS_OK);
  assert_int_equal(hx_scale_multiply_prime(&left, 5, 1, NULL), HX_STATUS_OK);
  assert_int_equal(hx_scale_multiply_prime(&left, 5, 0, NULL), HX_STATUS_OK);
  assert_scale(&left, "2^40");
}

static void multiply_refuses_what_leaves_the_range(void **state) {
  (void)state;
  hx_scale_t half = scale_of("170141183460469231731687303715884105729*2^0", NULL);  // 2^127 + 1
  hx_scale_t product = scale_of("2^7", NULL);
  assert_int_equal(hx_scale_multiply(&half, &half, &product, NULL), HX_STATUS_OK);
  const hx_scale_t kept = product;
  const hx_scale_t three = scale_of("3*2^0", NULL);
  for (int i = 0; i < 2; ++i) {  // 2^254 + 2^128 + 1 is below 2^256 / 3, nine times it is not
    const hx_status_t status = hx_scale_multiply(&product, &three, &product, NULL);
    assert_int_equal(status, i == 0 ? HX_STATUS_OK : HX_STATUS_INVALID);
  }
  assert_false(hx_scale_equal(&product, &kept));
  hx_scale_t edge = scale_of("2^2147483647*q3^2147483647*q4^-2147483647", NULL);
  const hx_scale_t two = scale_of("2^1", NULL), q3 = scale_of("2^0*q3^1", NULL);
  const hx_scale_t before = edge;
  hx_report_t *report = hx_report_create();
  assert_int_equal(hx_scale_multiply(&edge, &two, &edge, report), HX_STATUS_INVALID);
  assert_int_equal(hx_scale_multiply(&edge, &q3, &edge, report), HX_STATUS_INVALID);
  assert_int_equal(hx_scale_multiply_prime(&edge, 3, 1, report), HX_STATUS_INVALID);
  assert_int_equal(hx_scale_multiply_prime(&edge, 4, INT32_MIN, report), HX_STATUS_INVALID);
  assert_int_equal(hx_scale_multiply_prime(&edge, HX_PRIMES_MAX, 1, report), HX_STATUS_INVALID);
  assert_int_equal(hx_report_count(report), 5);
  for (size_t i = 0; i < 5; ++i) assert_int_equal(hx_report_get(report, i)->code, HX_CODE_SCALE_RANGE);
  assert_true(hx_scale_equal(&edge, &before));
  hx_report_release(report);
}

static void set_number_is_exact_and_canonical(void **state) {
  (void)state;
  hx_scale_t scale;
  assert_int_equal(hx_scale_set_number(&scale, 0x1p40, &ring_a, NULL), HX_STATUS_OK);
  assert_scale(&scale, "2^40");
  assert_int_equal(hx_scale_set_number(&scale, 0.75, &ring_a, NULL), HX_STATUS_OK);
  assert_scale(&scale, "3*2^-2");
  assert_int_equal(hx_scale_set_number(&scale, 4.0 * 1125899906842273.0, &ring_a, NULL), HX_STATUS_OK);
  assert_scale(&scale, "2^2*q1^1");
  assert_int_equal(hx_scale_set_number(&scale, 1125899906842273.0, NULL, NULL), HX_STATUS_OK);
  assert_scale(&scale, "1125899906842273*2^0");
  assert_int_equal(hx_scale_find_foreign(&scale, &ring_a), 1);
  hx_scale_canonicalize(&scale, &ring_a);
  assert_scale(&scale, "2^0*q1^1");
  assert_int_equal(hx_scale_find_foreign(&scale, &ring_a), HX_PRIMES_MAX);
  assert_int_equal(hx_scale_set_number(&scale, 0x1p-1074, NULL, NULL), HX_STATUS_OK);
  assert_scale(&scale, "2^-1074");
  const double bad[] = {0, -1, NAN, INFINITY, -INFINITY};
  for (size_t i = 0; i < HX_COUNT_OF(bad); ++i) {
    assert_int_equal(hx_scale_set_number(&scale, bad[i], NULL, NULL), HX_STATUS_INVALID);
  }
}

static void canonicalize_moves_every_factor(void **state) {
  (void)state;
  // 12 * q2^3 * q5 as plain words.
  hx_scale_t product = scale_of("3*2^2", NULL);
  const uint64_t factors[] = {ring_a_primes[2], ring_a_primes[2], ring_a_primes[2], ring_a_primes[5]};
  for (size_t i = 0; i < HX_COUNT_OF(factors); ++i) {
    hx_scale_t factor;
    hx_scale_set_one(&factor);
    factor.m[0] = factors[i];
    assert_int_equal(hx_scale_multiply(&product, &factor, &product, NULL), HX_STATUS_OK);
  }
  hx_scale_canonicalize(&product, &ring_a);
  assert_scale(&product, "3*2^2*q2^3*q5^1");
  // An exponent at its limit keeps the factor in m.
  hx_scale_t full = scale_of("1125899906842273*2^0*q1^2147483647", NULL);
  hx_scale_canonicalize(&full, &ring_a);
  assert_scale(&full, "1125899906842273*2^0*q1^2147483647");
}

static void print_reparses_for_random_scales(void **state) {
  (void)state;
  uint64_t seed = 88172645463325252u;
  for (int round = 0; round < 2000; ++round) {
    hx_scale_t scale;
    hx_scale_set_one(&scale);
    for (int i = 0; i < 4; ++i)
      scale.m[i] = round % 3 == 0 ? scale.m[i] : next_random(&seed) >> (next_random(&seed) % 64);
    scale.m[0] |= 1;
    scale.e = (int64_t)(next_random(&seed) % 4294967295u) - 2147483647;
    const uint64_t stride = 1 + next_random(&seed) % 40;
    for (uint64_t id = next_random(&seed) % 10; id < HX_PRIMES_MAX && round % 5 != 0; id += stride) {
      const int32_t exponent = (int32_t)(next_random(&seed) >> (33 + next_random(&seed) % 30));
      if (exponent == 0) continue;
      scale.terms[scale.term_count++] = (hx_scale_term_t){(uint32_t)id, id % 2 == 0 ? exponent : -exponent};
    }
    char text[HX_SCALE_TEXT_MAX], again[HX_SCALE_TEXT_MAX];
    hx_scale_print(&scale, text);
    const hx_scale_t parsed = scale_of(text, NULL);
    assert_true(hx_scale_equal(&scale, &parsed));
    hx_scale_print(&parsed, again);
    assert_string_equal(text, again);
  }
}

static void print_fits_for_the_longest_scale(void **state) {
  (void)state;
  hx_scale_t scale;
  for (int i = 0; i < 4; ++i) scale.m[i] = UINT64_MAX;
  scale.e = -2147483647;
  scale.term_count = HX_PRIMES_MAX;
  for (uint32_t i = 0; i < HX_PRIMES_MAX; ++i) scale.terms[i] = (hx_scale_term_t){i, -2147483647};
  char text[HX_SCALE_TEXT_MAX];
  const size_t size = hx_scale_print(&scale, text);
  assert_true(size == strlen(text) && size < HX_SCALE_TEXT_MAX);
  const hx_scale_t parsed = scale_of(text, NULL);
  assert_true(hx_scale_equal(&parsed, &scale));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(value_gives_nearest_double_double),
      cmocka_unit_test(value_refuses_what_no_double_holds),
      cmocka_unit_test(value_of_long_chains_is_bounded_from_both_sides),
      cmocka_unit_test(parse_refuses_other_texts),
      cmocka_unit_test(multiply_adds_exponents_and_stays_canonical),
      cmocka_unit_test(multiply_refuses_what_leaves_the_range),
      cmocka_unit_test(set_number_is_exact_and_canonical),
      cmocka_unit_test(canonicalize_moves_every_factor),
      cmocka_unit_test(print_reparses_for_random_scales),
      cmocka_unit_test(print_fits_for_the_longest_scale),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
