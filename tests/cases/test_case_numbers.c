// SPDX-License-Identifier: Apache-2.0
// B32 and B57: error statistics, and the same bits from every build. B45 and B47: the smallest kernels.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "core/ckks/encode.h"
#include "core/ckks/keys.h"
#include "core/ckks/sampling.h"
#include "core/tensor/sha256.h"
#include "heliox/precision.h"
#include "tests/cases/cases.h"

__extension__ typedef unsigned __int128 hx_u128;

// ------------------------------------------------------------------ B32

static void b32_errors_count_both_parts(void **state) {
  (void)state;
  hx_error_report_t errors;
  hx_report_t *report = hx_report_create();
  const double a[] = {1, 1}, b[] = {1, 0}, two[] = {2, 0}, bad[] = {1, NAN};
  assert_int_equal(hx_errors_measure(a, 1, b, 1, true, &errors, report), HX_STATUS_OK);
  assert_true(errors.l2 == 1 && log2(errors.l2) == 0 && errors.real.worst == 0 && errors.imaginary.worst == 1);
  assert_int_equal(hx_errors_measure(two, 1, b, 1, true, &errors, report), HX_STATUS_OK);
  assert_true(errors.l2 == 1 && errors.real.worst == 1 && errors.imaginary.worst == 0);
  assert_int_equal(hx_errors_measure(a, 1, a, 1, true, &errors, report), HX_STATUS_OK);
  assert_true(errors.exact && errors.l2 == 0 && !isnan(errors.size.mean) && !isnan(errors.size.median));
  assert_int_not_equal(hx_errors_measure(a, 2, b, 1, false, &errors, report), HX_STATUS_OK);
  assert_fault(report, HX_CODE_LENGTH, WORDS("2 numbers", "with 1"));
  hx_report_clear(report);
  assert_int_not_equal(hx_errors_measure(bad, 1, b, 1, true, &errors, report), HX_STATUS_OK);
  assert_fault(report, HX_CODE_VALUE, WORDS("nan", "place 1"));
  hx_report_clear(report);
  assert_int_not_equal(hx_errors_measure(a, 0, b, 0, true, &errors, report), HX_STATUS_OK);
  hx_report_clear(report);
  const double have[] = {1, 2, 3, 4}, want[] = {1, 2.5, 3, 3};
  assert_int_equal(hx_errors_measure(have, 4, want, 4, false, &errors, report), HX_STATUS_OK);
  assert_true(errors.real.worst == 1 && errors.real.worst_index == 3 && errors.real.mean == 0.375 &&
              errors.real.median == 0.25);
  hx_report_release(report);
}

// ------------------------------------------------------------------ B45

static void b45_products_near_the_word_are_reduced_wholly(void **state) {
  (void)state;
  const uint64_t p = 2145390593;
  char text[256];
  snprintf(text, sizeof text,
           "{\"log_n\":10,\"word\":32,\"base\":[\"%" PRIu64
           "\"],\"groups\":[],\"special\":[],\"digits\":1,\"secret\":\"ternary\",\"sigma\":\"3.2\",\"scale\":\"2^20\"}",
           p);
  hx_params_t *params = NULL;
  const hx_ref_ring *ring = NULL;
  assert_int_equal(hx_params_parse(hx_str(text), "B45", HX_PARAMS_INSECURE, &params, NULL), HX_STATUS_OK);
  assert_int_equal(hx_params_reference(params, &ring, NULL), HX_STATUS_OK);
  enum { N = 1024 };
  uint64_t row[N] = {0x6e63593a};  // the constant polynomial
  hx_ref_ntt_forward(ring, 0, row);
  hx_ref_row_mul(ring, 0, row, row, row);
  hx_ref_ntt_inverse(ring, 0, row);
  assert_int_equal(row[0], 364272609);
  for (size_t k = 1; k < N; ++k) assert_int_equal(row[k], 0);
  const uint64_t edges[] = {0, 1, p - 1, p / 2, p / 2 + 1};
  uint64_t seed = 45, a[N], b[N], acc[N], out[N];
  for (size_t round = 0; round < 1000; ++round) {
    for (size_t k = 0; k < N; ++k) {
      a[k] = round == 0 ? edges[k % 5] : scheme_word(&seed) % p;
      b[k] = round == 0 ? edges[k / 5 % 5] : scheme_word(&seed) % p;
      acc[k] = round % 2 == 0 ? p - 1 : scheme_word(&seed) % p;  // the worst there is, in half of the rounds
    }
    hx_ref_row_mul(ring, 0, a, b, out);
    for (size_t k = 0; k < N; ++k) assert_int_equal(out[k], (uint64_t)((hx_u128)a[k] * b[k] % p));
    hx_ref_row_mul_add(ring, 0, acc, a, b, out);
    for (size_t k = 0; k < N; ++k) assert_int_equal(out[k], (uint64_t)(((hx_u128)a[k] * b[k] + acc[k]) % p));
  }
  hx_params_release(params);
}

// ------------------------------------------------------------------ B47

static void b47_smallest_rings_come_back_whole(void **state) {
  (void)state;
  uint64_t seed = 47;
  for (uint32_t log_n = 3; log_n <= 6; ++log_n) {
    hx_params_t *params = case_set_make(log_n, 61, 40, 0, 60, 0, 1, "2^40");
    const hx_ref_ring *ring = NULL;
    assert_int_equal(hx_params_reference(params, &ring, NULL), HX_STATUS_OK);
    const uint64_t q = hx_params_prime(params, 0);
    assert_true(q > (uint64_t)1 << 60);
    const size_t n = (size_t)1 << log_n;
    uint64_t row[64], copy[64], lazy[64], out[64];
    for (size_t round = 0; round < 10000; ++round) {
      for (size_t k = 0; k < n; ++k) row[k] = copy[k] = scheme_word(&seed) % q;
      hx_ref_ntt_forward(ring, 0, row);
      hx_ref_ntt_inverse(ring, 0, row);
      assert_memory_equal(row, copy, n * sizeof *row);
    }
    for (size_t k = 0; k < n; ++k) lazy[k] = 2 * q - 1;
    hx_ref_row_add_lazy(ring, 0, lazy, lazy, out);
    for (size_t k = 0; k < n; ++k) assert_int_equal(out[k], 2 * q - 2);  // (4q - 2) mod 2q
    hx_ref_row_reduce(ring, 0, out, out);
    for (size_t k = 0; k < n; ++k) assert_int_equal(out[k], q - 2);
    hx_params_release(params);
  }
  for (uint32_t log_n = 1; log_n <= 2; ++log_n) {
    char text[256];
    hx_report_t *report = hx_report_create();
    hx_params_t *params = NULL;
    snprintf(text, sizeof text,
             "{\"log_n\":%u,\"word\":64,\"base\":[\"1152921504606584833\"],\"groups\":[],\"special\":[],\"digits\":1,"
             "\"secret\":\"ternary\",\"sigma\":\"3.2\",\"scale\":\"2^20\"}",
             log_n);
    assert_int_not_equal(hx_params_parse(hx_str(text), "B47", HX_PARAMS_INSECURE, &params, report), HX_STATUS_OK);
    char words[32];
    snprintf(words, sizeof words, "N = 2^%u", log_n);
    assert_fault(report, HX_CODE_PARAMS, WORDS(words));
    hx_report_release(report);
  }
}

// ------------------------------------------------------------------ B57

static void hash_value(hx_sha256_t *hash, const hx_value_t *value) {
  const hx_layout_t *layout = &value->tensor->layout;
  for (uint32_t c = 0; c < layout->components; ++c)
    for (uint32_t l = 0; l < layout->limbs; ++l)
      hx_sha256_update(hash, hx_tensor_row(value->tensor, 0, 0, c, l), (size_t)8 << layout->log_n);
}

static void check_digest(hx_sha256_t *hash, const char *expected) {
  unsigned char digest[HX_SHA256_BYTES];
  char digits[2 * sizeof digest + 1];
  hx_sha256_final(hash, digest);
  for (size_t i = 0; i < sizeof digest; ++i) snprintf(digits + 2 * i, 3, "%02x", digest[i]);
  assert_string_equal(digits, expected);
}

// One digest for every build flavour: debug, release, sanitizers, gcc and clang.
static void b57_coefficients_are_the_same_in_every_build(void **state) {
  (void)state;
  hx_params_t *params = case_set_s();
  uint64_t seed = 57;
  hx_sha256_t hash;
  hx_sha256_init(&hash);
  double *back = calloc(8192, sizeof *back);
  for (int i = 0; i < 1000; ++i) {
    scheme_number_t z[16] = {0.1755221 + 0.3465903 * I};
    for (size_t k = 1; k < 16; ++k) {
      const double re = scheme_unit(&seed), im = scheme_unit(&seed);
      z[k] = re + im * I;
    }
    hx_value_t *plain = NULL;
    const hx_encode_options_t options = {.slots = 16, .scale = i % 2 == 0 ? "2^40" : "2^60"};
    assert_int_equal(hx_encode(params, (const double *)z, 16, true, &options, &plain, NULL), HX_STATUS_OK);
    hash_value(&hash, plain);
    assert_int_equal(hx_decode(plain, back, NULL), HX_STATUS_OK);
    for (size_t k = 0; k < 16; ++k) {
      const double bound = ldexp(i % 2 == 0 ? 1.0 : 0.0, -36) + ldexp(1, -45);  // 1/2 of a unit in each coefficient
      assert_true(cabs(back[2 * k] + back[2 * k + 1] * I - z[k]) <= bound);
    }
    hx_value_release(plain);
  }
  free(back);
  hx_params_release(params);
  check_digest(&hash, "a1783348c39899e57e036971d685fcbdec4bb7f40138434e25892bd812687f90");
}

// Keys and encryption from seeds, then the reference's product and rotation: integers alone.
static void b57_keys_and_ciphertexts_are_the_same_in_every_build(void **state) {
  (void)state;
  hx_params_t *params = case_set_make(10, 55, 40, 2, 56, 1, 3, "2^40");
  enum { N = 1024 };
  static int8_t secret[N], draws[8 * N];
  const uint8_t seed[32] = {57}, key_seed[32] = {58};
  hx_random_t random;
  hx_random_init_seeded(&random, seed);
  hx_sample_ternary(&random, N, secret);
  hx_sample_error(&random, 8 * N, draws);
  hx_tensor_t *public_key = NULL, *relin = NULL;
  assert_int_equal(hx_public_key_make(params, secret, key_seed, draws, &public_key), HX_STATUS_OK);
  assert_int_equal(hx_relin_key_make(params, secret, key_seed, draws, &relin), HX_STATUS_OK);
  scheme_number_t z[512];
  for (size_t k = 0; k < 512; ++k) z[k] = (double)k / 512 - (double)(k % 7) * I;
  hx_value_t *plain = NULL, *cipher = NULL, *clear = NULL;
  assert_int_equal(hx_encode(params, (const double *)z, 512, true, NULL, &plain, NULL), HX_STATUS_OK);
  hx_sample_ternary(&random, N, draws);
  hx_sample_error(&random, 2 * N, draws + N);
  assert_int_equal(hx_encrypt_public_with(params, public_key, plain, draws, draws + N, draws + 2 * N, &cipher),
                   HX_STATUS_OK);
  assert_int_equal(hx_decrypt_with(params, secret, cipher, &clear), HX_STATUS_OK);
  hx_sha256_t hash;
  hx_sha256_init(&hash);
  hash_value(&hash, cipher);
  hash_value(&hash, clear);
  for (uint32_t digit = 0; digit < relin->layout.digits; ++digit)
    for (uint32_t l = 0; l < relin->layout.limbs; ++l)
      hx_sha256_update(&hash, hx_tensor_row(relin, 0, digit, 0, l), (size_t)8 * N);
  check_digest(&hash, "e7e85aa1e97de4854170efb162bd9daea2859419bef59166c9d6a9716c28d4f6");
  hx_value_release(plain);
  hx_value_release(cipher);
  hx_value_release(clear);
  hx_tensor_release(public_key);
  hx_tensor_release(relin);
  hx_params_release(params);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(b32_errors_count_both_parts),
      cmocka_unit_test(b45_products_near_the_word_are_reduced_wholly),
      cmocka_unit_test(b47_smallest_rings_come_back_whole),
      cmocka_unit_test(b57_coefficients_are_the_same_in_every_build),
      cmocka_unit_test(b57_keys_and_ciphertexts_are_the_same_in_every_build),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
