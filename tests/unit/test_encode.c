// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/ckks/encode.h"
#include "core/ckks/ring_host.h"
#include "tests/unit/case_sets.h"

static double next_unit(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(int64_t)(*state >> 11) * 0x1p-52 - 1.0;
}

static hx_value_t *encode(const hx_params_t *params, const double *values, size_t count, bool is_complex,
                          const hx_encode_options_t *options) {
  hx_value_t *value = NULL;
  hx_report_t *report = hx_report_create();
  if (hx_encode(params, values, count, is_complex, options, &value, report) != HX_STATUS_OK)
    fail_msg("%s", hx_report_get(report, 0)->text);
  hx_report_release(report);
  return value;
}

// Expects a refusal with this code whose text has all the words.
static void refuse(const hx_params_t *params, const double *values, size_t count, bool is_complex,
                   const hx_encode_options_t *options, hx_code_t code, const char *const *words) {
  hx_value_t *value = NULL;
  hx_report_t *report = hx_report_create();
  assert_int_equal(hx_encode(params, values, count, is_complex, options, &value, report), hx_code_info(code)->status);
  assert_null(value);
  assert_fault(report, code, words);
  hx_report_release(report);
}

// A coefficient that fits 127 bits.
static hx_i128 coefficient(const hx_coefficients_t *m, uint32_t k) {
  for (uint32_t w = 2; w < m->words; ++w) assert_int_equal(m->magnitude[(size_t)w * m->count + k], 0);
  const uint64_t high = m->words > 1 ? m->magnitude[(size_t)m->count + k] : 0;
  const hx_i128 size = (hx_i128)((hx_u128)high << 64 | m->magnitude[k]);
  return m->negative[k] != 0 ? -size : size;
}

static hx_i128 integer_of(const char *text) {
  const bool negative = *text == '-';
  hx_i128 value = 0;
  for (text += negative; *text != 0; ++text) value = 10 * value + (*text - '0');
  return negative ? -value : value;
}

static hx_params_t *small_ring(const char *base, const char *first, const char *second, uint32_t log_n) {
  char json[512];
  snprintf(json, sizeof json,
           "{\"log_n\":%u,\"word\":64,\"base\":[\"%s\"],\"groups\":[[\"%s\"],[\"%s\"]],\"special\":[],\"digits\":1,"
           "\"secret\":\"ternary\",\"sigma\":\"3.2\",\"scale\":\"2^40\"}",
           log_n, base, first, second);
  hx_params_t *params = NULL;
  assert_int_equal(hx_params_parse(hx_str(json), "test", HX_PARAMS_INSECURE, &params, NULL), HX_STATUS_OK);
  return params;
}

static hx_params_t *ring_of_8(void) {
  return small_ring("1152921504606846577", "1125899906842273", "35184372088673", 3);
}

// Known answers, exactly rounded: coefficients must be within 1 + scale * max|z| * 2^-47 (2^-96 above scale 2^52).
typedef struct known {
  const char *scale;
  double value;  // of the scale, near enough for the tolerance
  bool is_complex;
  double values[8];
  const char *coefficients[8];
} known_t;

#define Z4                                                                                                    \
  {                                                                                                           \
    -0.7846186827660324, -0.33805556751452026, 0.43266344788954325, 0.05621781177998608, 0.43155628424762127, \
        0.43000934086537557, -0.43936242025949923, 0.394981417035428                                          \
  }
#define X4 \
  { 0.24159019361298562, 0.5607417852108008, 0.6228976997931486, 0.5960678848881464 }

static const known_t known_answers[] = {
    {"2^40",
     0x1p40,
     true,
     Z4,
     {"-98890452629", "-567406133582", "-137147809680", "-65894663305", "149300760386", "-252941844562", "-2503854686",
      "233757968568"}},
    {"2^90",
     0x1p90,
     true,
     Z4,
     {"-111340751402726866146033664", "-638842512941595851996148040", "-154414706142112761264044481",
      "-74190795276148644989713878", "168097712209920939389878272", "-284787199228826325483219065",
      "-2819089758072473356228279", "263188075033967840321394814"}},
    {"2^30",
     0x1p30,
     false,
     X4,
     {"542587933", "-90936131", "-55486336", "-47931063", "0", "47931063", "55486336", "90936131"}},
    {"2^2000*q1^-20*q2^-20",
     0x1.0297p100,
     false,
     X4,
     {"640574767466158316260112298237", "-107358434569018117486177224234", "-65506703792745159069099503417",
      "-56587011899828075184957315822", "0", "56587011899828075184957315822", "65506703792745159069099503417",
      "107358434569018117486177224234"}},
    {"2^0*q0^3*q1^-2",
     0x1.0p80,
     true,
     Z4,
     {"-108731202541793136373289", "-623869641544915534995295", "-150795611467000858113428", "-72451948511909009781344",
      "164157922080103099608638", "-278112499247073823225506", "-2753017341869363413427", "257019604525519204262742"}},
    {"2^0", 1.0, false, {0.5, 0.5, 0.5, 0.5}, {"0", "0", "0", "0", "0", "0", "0", "0"}},
    {"3*2^0", 3.0, false, {0.5, 0.5, 0.5, 0.5}, {"2", "0", "0", "0", "0", "0", "0", "0"}},
    {"2^45",
     0x1p45,
     true,
     {-1013700.3713651567, -5.946872283912937e-07, 1014963.7533248367, 3.582250164377184e-07, 511550.248629723,
      2.613323394487856e-07, -962359.2007800329, 6.233855328849792e-07},
     {"-3954244653118316544", "-19050899894309557934", "-3450450383245570349", "10934599720584625448", "5702117",
      "-10934599720596753263", "3450450383229212766", "19050899894299485336"}},
};

static void encode_meets_known_answers(void **state) {
  (void)state;
  hx_params_t *params = ring_of_8();
  for (size_t i = 0; i < HX_COUNT_OF(known_answers); ++i) {
    const known_t *known = &known_answers[i];
    const hx_encode_options_t options = {.scale = known->scale};
    hx_value_t *value = encode(params, known->values, 4, known->is_complex, &options);
    hx_coefficients_t m;
    assert_int_equal(hx_plaintext_coefficients(value, &m, NULL), HX_STATUS_OK);
    double largest = 0.0;
    for (size_t j = 0; j < 8; ++j) largest = fmax(largest, fabs(known->values[j]));
    const double tolerance = 1.0 + known->value * largest * (known->value > 0x1p52 ? 0x1p-96 : 0x1p-47);
    for (uint32_t k = 0; k < 8; ++k) {
      const hx_i128 error = coefficient(&m, k) - integer_of(known->coefficients[k]);
      if (fabs((double)error) > tolerance)
        fail_msg("scale %s, coefficient %u is off by %g, %g allowed", known->scale, k, (double)error, tolerance);
    }
    hx_coefficients_deinit(&m);
    hx_value_release(value);
  }
  hx_params_release(params);
}

static void encode_packs_sparsely(void **state) {
  (void)state;
  hx_params_t *params = small_ring("1152921504606845473", "1125899906842273", "35184372088673", 4);
  const double values[4] = {0.7132192979794505, 0.2602611269853272, -0.8806265368843613, 0.8342094060963245};
  static const char *const expected[4] = {"-103620061953301174980444160", "446386618622532065889779203",
                                          "677444447359895538321326080", "-948795571622657617292722983"};
  hx_value_t *value = encode(params, values, 2, true, &(hx_encode_options_t){.slots = 2, .scale = "2^90"});
  assert_int_equal(hx_value_slots(value), 2);
  hx_coefficients_t m;
  assert_int_equal(hx_plaintext_coefficients(value, &m, NULL), HX_STATUS_OK);
  for (uint32_t k = 0; k < 16; ++k) {
    const hx_i128 wanted = k % 4 == 0 ? integer_of(expected[k / 4]) : 0;
    assert_true(fabs((double)(coefficient(&m, k) - wanted)) <= (k % 4 == 0 ? 1.0 + 0x1p-5 : 0.0));
  }
  hx_coefficients_deinit(&m);
  hx_value_release(value);
  hx_params_release(params);
}

static void encode_fills_state_of_the_plaintext(void **state) {
  (void)state;
  hx_params_t *params = case_set_s();
  const double values[3] = {1.0, 2.0, 3.0};
  hx_value_t *value = encode(params, values, 3, false, &(hx_encode_options_t){.depth = 1, .secret = true});
  assert_int_equal(hx_value_kind(value), HX_VALUE_PLAINTEXT);
  assert_int_equal(hx_value_depth(value), 1);
  assert_int_equal(hx_value_limbs(value), 2);
  assert_int_equal(hx_value_slots(value), 4096);
  assert_int_equal(hx_value_count(value), 3);
  assert_false(hx_value_is_complex(value));
  assert_true(hx_value_is_secret(value));
  assert_true(value->tensor->storage->secret);
  assert_true(hx_type_is_complete(&value->type));
  assert_int_equal(value->type.domain, HX_NTT);
  assert_true(hx_scale_equal(&value->type.scale, hx_params_default_scale(params)));
  hx_value_release(value);
  hx_params_release(params);
}

// Decodes and compares with what was encoded.
static void round_trip(const hx_params_t *params, uint32_t slots, const char *scale, uint32_t depth, double tolerance) {
  double *values = hx_alloc(2 * (size_t)slots * sizeof *values), *found = hx_alloc(2 * (size_t)slots * sizeof *found);
  uint64_t random = slots;
  for (size_t i = 0; i < 2 * (size_t)slots; ++i) values[i] = next_unit(&random);
  hx_value_t *value =
      encode(params, values, slots, true, &(hx_encode_options_t){.slots = slots, .scale = scale, .depth = depth});
  assert_int_equal(hx_decode(value, found, NULL), HX_STATUS_OK);
  for (size_t i = 0; i < 2 * (size_t)slots; ++i)
    if (!(fabs(found[i] - values[i]) <= tolerance))
      fail_msg("slots %u, scale %s: value %zu is %.17g, was %.17g", slots, scale, i, found[i], values[i]);
  hx_value_release(value);
  hx_free(values);
  hx_free(found);
}

static void decode_inverts_encode_at_every_packing_and_depth(void **state) {
  (void)state;
  hx_params_t *params = case_set_s();
  for (uint32_t slots = 1; slots <= 4096; slots *= 2)
    // 2 slots roundings of at most 1/2, and the transforms.
    for (uint32_t depth = 0; depth <= 2; ++depth) round_trip(params, slots, "2^50", depth, slots * 0x1p-50 + 0x1p-46);
  round_trip(params, 4096, "2^100", 0, 0x1p-52);
  round_trip(params, 4096, "2^0", 0, 4096.0);
  hx_params_release(params);
}

static void decode_ignores_coefficients_outside_the_packing(void **state) {
  (void)state;
  hx_params_t *params = ring_of_8();
  const double values[2] = {0.5, -0.25};
  hx_value_t *value = encode(params, values, 2, false, &(hx_encode_options_t){.slots = 2});
  const hx_ref_ring *ring = NULL;
  assert_int_equal(hx_params_reference(params, &ring, NULL), HX_STATUS_OK);
  for (uint32_t l = 0; l < 3; ++l) {
    uint64_t row[8], other[8] = {0, 123456789, 0, 987654321, 0, 1000, 0, 77};
    hx_ring_load(ring, value->tensor, 0, 0, 0, l, row);
    hx_ref_ntt_forward(ring, l, other);
    hx_ref_row_add(ring, l, row, other, row);
    hx_ring_store(ring, row, value->tensor, 0, 0, 0, l);
  }
  double found[4];
  assert_int_equal(hx_decode(value, found, NULL), HX_STATUS_OK);
  const double expected[4] = {0.5, 0.0, -0.25, 0.0};
  for (size_t i = 0; i < 4; ++i) assert_true(fabs(found[i] - expected[i]) < 0x1p-37);
  hx_value_release(value);
  hx_params_release(params);
}

// A plaintext in coefficient domain whose coefficients 0 and N/2 are the largest, +-(Q - 1) / 2: (q - 1) / 2 mod every
// q stands for the one, (q + 1) / 2 for the other.
static hx_value_t *extreme_plaintext(const hx_params_t *params, const char *scale_text) {
  hx_scale_t scale;
  hx_type_t type;
  assert_int_equal(hx_scale_parse(hx_str(scale_text), hx_params_ring(params), &scale, NULL), HX_STATUS_OK);
  const uint32_t n = (uint32_t)1 << hx_params_log_n(params);
  hx_plaintext_type(params, 0, n / 2, &scale, &type);
  type.domain = HX_COEFFICIENT;
  hx_value_t *value = NULL;
  assert_int_equal(hx_value_create(params, &type, false, &value), HX_STATUS_OK);
  for (uint32_t l = 0; l < hx_params_q_count(params); ++l) {
    uint64_t *row = hx_tensor_row(value->tensor, 0, 0, 0, l);
    row[0] = (hx_params_prime(params, l) - 1) / 2;
    row[n / 2] = (hx_params_prime(params, l) + 1) / 2;
  }
  return value;
}

static void decode_centres_exactly_at_both_ends(void **state) {
  (void)state;
  // 1, 2, 5 and 20 primes; log2 Q is 60, 110, 260, 1010.
  static const uint32_t depths[] = {0, 1, 4, 19};
  for (size_t i = 0; i < HX_COUNT_OF(depths); ++i) {
    hx_params_t *params = case_set_make(4, 60, 50, depths[i], 60, 0, 1, "2^40");
    hx_value_t *value = extreme_plaintext(params, "2^40");
    double found[16];
    assert_int_equal(hx_decode(value, found, NULL), HX_STATUS_OK);
    double half = ldexp(0.5, -40);  // (Q - 1) / 2 over the scale
    for (uint32_t l = 0; l < hx_params_q_count(params); ++l) half *= (double)hx_params_prime(params, l);
    for (size_t j = 0; j < 8; ++j) {  // X^(N/2) is i in every slot
      assert_true(fabs(found[2 * j] / half - 1.0) < 0x1p-46);
      assert_true(fabs(found[2 * j + 1] / half + 1.0) < 0x1p-46);
    }
    hx_value_release(value);
    hx_params_release(params);
  }
}

static void decode_takes_moduli_and_scales_beyond_doubles(void **state) {
  (void)state;
  // log2 Q is 2260; the scale, 2^1020, brings the message into range only if nothing overflows on the way.
  hx_params_t *params = case_set_make(4, 60, 50, 44, 60, 0, 1, "2^40");
  hx_value_t *value = extreme_plaintext(params, "2^1020");
  double found[16];
  hx_report_t *report = hx_report_create();
  assert_int_equal(hx_decode(value, found, report), HX_STATUS_INVALID);
  assert_fault(report, HX_CODE_VALUE, WORDS("slot 0", "too large for a double"));
  for (size_t j = 0; j < 16; ++j) assert_true(found[j] == 0.0);
  hx_report_release(report);
  hx_value_release(value);
  hx_params_release(params);

  params = case_set_make(4, 60, 50, 30, 60, 0, 1, "2^40");  // 1560 - 1 - 1020 bits: a double
  value = extreme_plaintext(params, "2^1020");
  assert_int_equal(hx_decode(value, found, NULL), HX_STATUS_OK);
  double half = ldexp(0.5, -1000);
  for (uint32_t l = 0; l < hx_params_q_count(params); ++l) half *= (double)hx_params_prime(params, l);
  half *= 0x1p-20;
  for (size_t j = 0; j < 8; ++j) assert_true(fabs(found[2 * j] / half - 1.0) < 0x1p-46);
  hx_value_release(value);
  hx_params_release(params);
}

static void decode_refuses_what_is_no_standard_plaintext_on_q(void **state) {
  (void)state;
  hx_params_t *params = ring_of_8();
  const double one = 1.0;
  hx_value_t *value = encode(params, &one, 1, false, NULL);
  double found[8];
  hx_report_t *report = hx_report_create();
  value->type.kind = HX_TYPE_CIPHERTEXT;
  assert_int_equal(hx_decode(value, found, report), HX_STATUS_INVALID);
  assert_fault(report, HX_CODE_TYPE, WORDS("decrypt it first"));
  value->type.kind = HX_TYPE_PLAINTEXT;
  hx_report_clear(report);
  value->type.repr = HX_MONTGOMERY;
  assert_int_equal(hx_decode(value, found, report), HX_STATUS_INVALID);
  assert_fault(report, HX_CODE_DOMAIN, WORDS("standard", "montgomery"));
  value->type.repr = HX_STANDARD;
  hx_report_clear(report);
  value->type.basis = HX_BASIS_QP;
  assert_int_equal(hx_decode(value, found, report), HX_STATUS_INVALID);
  assert_fault(report, HX_CODE_PRIMES, WORDS("primes of Q"));
  value->type.basis = HX_BASIS_Q;
  hx_report_release(report);
  hx_value_release(value);
  hx_params_release(params);
}

// The largest coefficient that fits is accepted, the next is not: one slot at scale 1 is the coefficient itself.
static void encode_compares_with_half_the_modulus_exactly(void **state) {
  (void)state;
  hx_params_t *params = ring_of_8();
  const uint64_t q = hx_params_prime(params, 0);  // the only prime at depth 2: (q - 1) / 2 = 2^59 - 200 or so
  const hx_encode_options_t options = {.slots = 1, .depth = 2, .scale = "2^0"};
  // Doubles below 2^60 are multiples of 128 here, so the bound itself is met through 2^59 - 256 < (q - 1) / 2 < 2^59.
  assert_in_range((q - 1) / 2, ((uint64_t)1 << 59) - 255, ((uint64_t)1 << 59) - 1);
  const double fits[2] = {0x1p59 - 256, -(0x1p59 - 256)};
  for (size_t i = 0; i < 2; ++i) {
    hx_value_t *value = encode(params, &fits[i], 1, false, &options);
    double found[2];
    assert_int_equal(hx_decode(value, found, NULL), HX_STATUS_OK);
    assert_true(found[0] == fits[i]);
    hx_value_release(value);
  }
  const double above[2] = {0x1p59, -0x1p59};
  for (size_t i = 0; i < 2; ++i)
    refuse(params, &above[i], 1, false, &options, HX_CODE_VALUE,
           WORDS("value 0 is", "coefficient 0", "(Q_d - 1) / 2 = 2^59.00 at depth 2"));
  hx_params_release(params);
}

static void encode_refuses_bad_scales_and_depths(void **state) {
  (void)state;
  hx_params_t *params = ring_of_8();
  const double one = 1.0;
  static const char *const scales[] = {"0*2^0", "-2^4", "2^2000", "40", "", "2^40*q9^-1"};
  for (size_t i = 0; i < HX_COUNT_OF(scales); ++i) {
    hx_value_t *value = NULL;
    hx_report_t *report = hx_report_create();
    const hx_encode_options_t options = {.scale = scales[i]};
    assert_true(hx_encode(params, &one, 1, false, &options, &value, report) != HX_STATUS_OK);
    assert_null(value);
    assert_true(hx_report_count(report) > 0);
    hx_report_release(report);
  }
  refuse(params, &one, 1, false, &(hx_encode_options_t){.depth = 3}, HX_CODE_NO_DEPTH, WORDS("depth is 3", "0 to 2"));
  hx_params_release(params);
}

static void encode_names_the_part_that_is_not_finite(void **state) {
  (void)state;
  hx_params_t *params = ring_of_8();
  const double values[4] = {0.0, 1.0, 2.0, -INFINITY};
  refuse(params, values, 2, true, NULL, HX_CODE_VALUE, WORDS("the imaginary part of value 1 is -infinity"));
  const double parts[4] = {0.0, 1.0, 1e30, 2.0};
  refuse(params, parts, 2, true, &(hx_encode_options_t){.depth = 2}, HX_CODE_VALUE,
         WORDS("the real part of value 1 is 1e+30", "too large"));
  hx_params_release(params);
}

// Every allocation fails once; nothing is left behind (leaks show under the address sanitizer).
static void encode_and_decode_report_exhausted_memory(void **state) {
  (void)state;
  hx_params_t *params = ring_of_8();
  const double one = 1.0;
  double found[8];
  hx_value_release(encode(params, &one, 1, false, NULL));  // tables that stay are made before
  hx_value_t *value = NULL;
  uint64_t n = 1;
  for (;; ++n) {
    hx_alloc_fail_at(n);
    const hx_status_t status = hx_encode(params, &one, 1, false, NULL, &value, NULL);
    hx_alloc_fail_at(0);
    if (status == HX_STATUS_OK) break;
    assert_int_equal(status, HX_STATUS_OUT_OF_MEMORY);
    assert_null(value);
  }
  assert_in_range(n, 5, 100);
  for (n = 1;; ++n) {
    hx_alloc_fail_at(n);
    const hx_status_t status = hx_decode(value, found, NULL);
    hx_alloc_fail_at(0);
    if (status == HX_STATUS_OK) break;
    assert_int_equal(status, HX_STATUS_OUT_OF_MEMORY);
  }
  assert_in_range(n, 3, 100);
  hx_value_release(value);
  hx_params_release(params);
}

static void b01_non_finite_and_astronomic_values_are_refused(void **state) {
  (void)state;
  hx_params_t *params = case_set_s();
  double values[16];
  for (size_t i = 0; i < 16; ++i) values[i] = 0.5;
  static const struct {
    double value;
    const char *text;
  } cases[] = {{NAN, "NaN"},
               {INFINITY, "+infinity"},
               {-INFINITY, "-infinity"},
               {-8.65801e306, "-8.65801e+306"},
               {3.09548e267, "3.09548e+267"},
               {1e40, "1e+40"}};
  for (size_t place = 0; place < 16; ++place) {
    for (size_t i = 0; i < HX_COUNT_OF(cases); ++i) {
      char name[32];
      snprintf(name, sizeof name, "value %zu is", place);
      values[place] = cases[i].value;
      refuse(params, values, 16, false, NULL, HX_CODE_VALUE, WORDS(name, cases[i].text));
      values[place] = 0.5;
    }
  }
  values[7] = 1e20;  // 1e20 * 2^40 = 2^106.4, below Q / 2
  hx_value_t *value = encode(params, values, 16, false, NULL);
  static double found[8192];
  assert_int_equal(hx_decode(value, found, NULL), HX_STATUS_OK);
  assert_true(fabs(found[14] / 1e20 - 1.0) <= 0x1p-20);
  hx_value_release(value);
  hx_params_release(params);
}

static void b03_scales_around_2_to_the_64_decode_right(void **state) {
  (void)state;
  hx_params_t *params = case_set_s();
  static double ones[4096], found[8192];
  for (size_t i = 0; i < 4096; ++i) ones[i] = 1.0;
  static const char *const scales[] = {"2^63",
                                       "18014398509481983*2^10",    // 2^64 - 1024
                                       "18446744073709551615*2^0",  // 2^64 - 1
                                       "2^64",
                                       "9007199254740993*2^11",  // 2^64 + 2048
                                       "2^80"};
  for (size_t i = 0; i < HX_COUNT_OF(scales); ++i) {
    hx_value_t *value = encode(params, ones, 4096, false, &(hx_encode_options_t){.scale = scales[i]});
    assert_int_equal(hx_decode(value, found, NULL), HX_STATUS_OK);
    for (size_t j = 0; j < 4096; ++j) {
      assert_true(fabs(found[2 * j] - 1.0) <= 0x1p-40);
      assert_true(fabs(found[2 * j + 1]) <= 0x1p-40);
    }
    hx_value_release(value);
  }
  hx_params_release(params);
}

static void b04_slot_counts_must_be_powers_of_two(void **state) {
  (void)state;
  hx_params_t *params = case_set_s();
  const double values[3] = {1.0, 2.0, 3.0};
  static const struct {
    uint32_t slots;
    const char *text;
  } cases[] = {
      {3, "slots is 3"}, {(uint32_t)-1, "slots is 4294967295"}, {6000, "slots is 6000"}, {8192, "slots is 8192"}};
  for (size_t i = 0; i < HX_COUNT_OF(cases); ++i)
    refuse(params, values, 3, false, &(hx_encode_options_t){.slots = cases[i].slots}, HX_CODE_SLOTS,
           WORDS(cases[i].text, "power of two from 1 to N/2 = 4096"));
  // Through the interface 0 stands for N/2.
  hx_value_t *value = encode(params, values, 3, false, &(hx_encode_options_t){.slots = 0});
  assert_int_equal(hx_value_slots(value), 4096);
  hx_value_release(value);
  value = encode(params, values, 3, false, &(hx_encode_options_t){.slots = 4});
  double found[8];
  assert_int_equal(hx_decode(value, found, NULL), HX_STATUS_OK);
  const double expected[8] = {1.0, 0.0, 2.0, 0.0, 3.0, 0.0, 0.0, 0.0};
  for (size_t i = 0; i < 8; ++i) assert_true(fabs(found[i] - expected[i]) < 0x1p-36);
  hx_value_release(value);
  hx_params_release(params);
}

static void b05_too_many_values_and_none_are_refused(void **state) {
  (void)state;
  hx_params_t *params = case_set_l();
  double *values = hx_zalloc(48000, sizeof *values);
  assert_non_null(values);
  refuse(params, values, 48000, false, NULL, HX_CODE_LENGTH, WORDS("48000 values", "16384 slots"));
  refuse(params, values, 16385, false, NULL, HX_CODE_LENGTH, WORDS("16385 values", "16384 slots"));
  refuse(params, values, 0, false, NULL, HX_CODE_LENGTH, WORDS("no values", "16384"));
  hx_free(values);
  hx_params_release(params);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(encode_meets_known_answers),
      cmocka_unit_test(encode_packs_sparsely),
      cmocka_unit_test(encode_fills_state_of_the_plaintext),
      cmocka_unit_test(decode_inverts_encode_at_every_packing_and_depth),
      cmocka_unit_test(decode_ignores_coefficients_outside_the_packing),
      cmocka_unit_test(decode_centres_exactly_at_both_ends),
      cmocka_unit_test(decode_takes_moduli_and_scales_beyond_doubles),
      cmocka_unit_test(decode_refuses_what_is_no_standard_plaintext_on_q),
      cmocka_unit_test(encode_compares_with_half_the_modulus_exactly),
      cmocka_unit_test(encode_refuses_bad_scales_and_depths),
      cmocka_unit_test(encode_names_the_part_that_is_not_finite),
      cmocka_unit_test(encode_and_decode_report_exhausted_memory),
      cmocka_unit_test(b01_non_finite_and_astronomic_values_are_refused),
      cmocka_unit_test(b03_scales_around_2_to_the_64_decode_right),
      cmocka_unit_test(b04_slot_counts_must_be_powers_of_two),
      cmocka_unit_test(b05_too_many_values_and_none_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
