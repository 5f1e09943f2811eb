// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "core/ckks/primes.h"
#include "core/ckks/security.h"

static void modular_multiply_reduces_full_words(void **state) {
  (void)state;
  assert_int_equal(hx_modular_multiply(UINT64_MAX, UINT64_MAX, 97), (UINT64_MAX % 97) * (UINT64_MAX % 97) % 97);
  // (2^64 - 1)^2 = 2^128 - 2^65 + 1 mod 2^61 - 1: 2^128 = 2^6, 2^65 = 2^4.
  assert_int_equal(hx_modular_multiply(UINT64_MAX, UINT64_MAX, ((uint64_t)1 << 61) - 1), 64 - 16 + 1);
  assert_int_equal(hx_modular_power(3, 0, 7), 1);
  assert_int_equal(hx_modular_power(3, 0, 1), 0);
  assert_int_equal(hx_modular_power(2, 64, 2305843009213693951u), 8);  // 2^61 = 1 mod 2^61 - 1
}

static void prime_is_agrees_with_trial_division_below_20000(void **state) {
  (void)state;
  for (uint64_t number = 0; number < 20000; ++number) {
    bool prime = number >= 2;
    for (uint64_t d = 2; d * d <= number; ++d) prime = prime && number % d != 0;
    assert_int_equal(hx_prime_is(number), prime);
  }
}

static void prime_is_knows_strong_pseudoprimes(void **state) {
  (void)state;
  // Composites that pass Miller-Rabin for many small bases.
  static const uint64_t composites[] = {2047,
                                        1373653,
                                        25326001,
                                        3215031751,
                                        2152302898747,
                                        3474749660383,
                                        341550071728321,
                                        3825123056546413051,
                                        1099511627777,
                                        4294967297,
                                        18446744073709551615u};
  for (size_t i = 0; i < sizeof composites / sizeof *composites; ++i) assert_false(hx_prime_is(composites[i]));
  static const uint64_t primes[] = {1099511480321, 36028797018652673, 1152921504606584833, 2305843009211596801,
                                    2147352577,    2145390593,        4611686018425815041, 18446744073709551557u};
  for (size_t i = 0; i < sizeof primes / sizeof *primes; ++i) assert_true(hx_prime_is(primes[i]));
}

static void prime_below_finds_the_next_fitting_prime(void **state) {
  (void)state;
  assert_int_equal(hx_prime_below((uint64_t)1 << 31, 9), 2147473409);
  assert_int_equal(hx_prime_below(18, 3), 17);  // 1 mod 16
  assert_int_equal(hx_prime_below(17, 3), 0);
  assert_int_equal(hx_prime_below(0, 3), 0);
  uint64_t bound = (uint64_t)1 << 50;
  for (int i = 0; i < 20; ++i) {
    const uint64_t prime = hx_prime_below(bound, 16);
    assert_true(prime != 0 && prime < bound && prime % 131072 == 1 && hx_prime_is(prime));
    for (uint64_t skipped = prime + 131072; skipped < bound; skipped += 131072) assert_false(hx_prime_is(skipped));
    bound = prime;
  }
}

static void prime_psi_is_the_smallest_primitive_root(void **state) {
  (void)state;
  static const struct {
    uint32_t log_n;
    uint64_t q, psi;
  } known[] = {{2, 2305843009213693921u, 60380610097375278u},
               {2, 1152921504606846697u, 417119998634176270u},
               {2, 1125899906842553u, 433926941747826u},
               {2, 1125899906842273u, 396032149241841u}};
  for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
    assert_int_equal(hx_prime_psi(known[i].q, known[i].log_n), known[i].psi);
  }
}

static void prime_psi_matches_exhaustive_search_for_small_primes(void **state) {
  (void)state;
  for (uint32_t log_n = 1; log_n <= 6; ++log_n) {
    const uint64_t n = (uint64_t)1 << log_n;
    uint64_t q = 5000;
    for (int i = 0; i < 4; ++i) {
      q = hx_prime_below(q, log_n);
      assert_true(q != 0);
      uint64_t smallest = 2;
      while (hx_modular_power(smallest, n, q) != q - 1) ++smallest;
      assert_int_equal(hx_prime_psi(q, log_n), smallest);
    }
  }
}

static void product_is_exact_at_its_edges(void **state) {
  (void)state;
  hx_product_t a, b;
  hx_product_set_one(&a);
  assert_int_equal(hx_product_bits(&a), 1);
  for (int i = 0; i < HX_PRIMES_MAX; ++i) hx_product_multiply(&a, (uint64_t)1 << 61);
  assert_int_equal(hx_product_bits(&a), HX_PRIMES_MAX * 61 + 1);
  assert_true(fabs(hx_product_log2(&a) - HX_PRIMES_MAX * 61) < 1e-9);
  b = a;
  assert_int_equal(hx_product_compare(&a, &b), 0);
  hx_product_multiply(&b, 2);
  assert_true(hx_product_compare(&a, &b) < 0 && hx_product_compare(&b, &a) > 0);
  // (2^64 - 1)^2 has 128 bits, 2^64 * 2^64 has 129.
  hx_product_set_one(&a);
  hx_product_multiply(&a, UINT64_MAX);
  hx_product_multiply(&a, UINT64_MAX);
  assert_int_equal(hx_product_bits(&a), 128);
  assert_int_equal(a.word[0], 1);
  assert_int_equal(a.word[1], UINT64_MAX - 1);
}

static void security_limit_is_the_table(void **state) {
  (void)state;
  static const uint32_t limits[] = {0, 27, 54, 109, 218, 438, 881, 1747, 3523, 0};
  for (uint32_t log_n = 9; log_n <= 18; ++log_n) assert_int_equal(hx_security_limit(log_n), limits[log_n - 9]);
  assert_int_equal(hx_security_limit(0), 0);
  assert_int_equal(hx_security_limit(UINT32_MAX), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(modular_multiply_reduces_full_words),
      cmocka_unit_test(prime_is_agrees_with_trial_division_below_20000),
      cmocka_unit_test(prime_is_knows_strong_pseudoprimes),
      cmocka_unit_test(prime_below_finds_the_next_fitting_prime),
      cmocka_unit_test(prime_psi_is_the_smallest_primitive_root),
      cmocka_unit_test(prime_psi_matches_exhaustive_search_for_small_primes),
      cmocka_unit_test(product_is_exact_at_its_edges),
      cmocka_unit_test(security_limit_is_the_table),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
