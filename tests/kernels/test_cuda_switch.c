// SPDX-License-Identifier: Apache-2.0
// Key switching, divisions and transforms of the cuda plugin in rings whose primes all take its real path, at every
// size that has kernels of its own: 2^12 to 2^16, both words, values of digits short and full. Runs on a device, and
// without one over a driver that runs the kernels on the host (fixtures/cuda).
#include "opcheck.h"

// Five primes of Q, digits of two (the last one short), two of P; primes that are reduced between stages and others.
static const uint32_t wide[] = {50, 40, 50, 45, 40, 50, 50};
static const uint32_t narrow[] = {31, 30, 28, 29, 30, 31, 31};

static void check_variant(uint32_t log_n, uint32_t word, const char *variant) {
  kc_t kc;
  kc_open(&kc, log_n, word, 5, 2, 2, word == 64 ? wide : narrow);
  kc.variant = variant;
  const oc_sweep_t sweep = {&kc, log_n % 2 == 0 ? KC_TOP : KC_RANDOM, KC_DENSE, KC_DENSE, 0};
  oc_case_switch_depths(&sweep);
  kc_clear(&kc);
  oc_case_rotate_many(&sweep);
  oc_case_rotate_weighted_sum(&sweep);
  kc_clear(&kc);
  oc_case_ckks_rescale(&sweep);
  oc_case_mod_down(&sweep);
  kc_clear(&kc);
  oc_case_ntt(&sweep);
  kc_close(&kc);
}

static void check_ring(uint32_t log_n, uint32_t word) { check_variant(log_n, word, NULL); }

static void switch_matches_reference_in_rings_of_2_12(void **state) {
  (void)state;
  check_ring(12, 64);
  check_variant(12, 32, "word32");
}
static void switch_matches_reference_in_rings_of_2_13(void **state) {
  (void)state;
  check_variant(13, 32, "real");
  check_variant(13, 32, "word32");
}
static void switch_matches_reference_in_rings_of_2_14(void **state) {
  (void)state;
  check_ring(14, 64);
  check_variant(14, 32, "word32");
}
static void switch_matches_reference_in_rings_of_2_15(void **state) {
  (void)state;
  check_ring(15, 64);
  check_variant(15, 32, "word32");
}
static void switch_matches_reference_in_rings_of_2_16(void **state) {
  (void)state;
  check_ring(16, 64);
  check_variant(16, 32, "word32");
}

// Conversions by threads, where the default is the tensor cores.
static void switch_matches_reference_by_variants(void **state) {
  (void)state;
  check_variant(12, 64, "real");
  check_variant(13, 64, "tensor");
}

// Digits of six primes, the longest that is converted with the columns: sums as large as they get.
static void switch_matches_reference_with_digits_of_six(void **state) {
  (void)state;
  static const uint32_t bits[] = {50, 50, 50, 50, 50, 50, 40, 40, 50, 50, 50, 50, 50, 50};
  static const char *const variants[] = {"real", "tensor"};
  for (size_t v = 0; v < sizeof variants / sizeof variants[0]; v++) {
    kc_t kc;
    kc_open(&kc, 12, 64, 8, 6, 6, bits);
    kc.variant = variants[v];
    const oc_sweep_t sweep = {&kc, KC_EDGES, KC_DENSE, KC_DENSE, 0};
    oc_case_switch_depths(&sweep);
    kc_close(&kc);
  }
}

// Digits of eight primes are too long for the kernel that converts and transforms.
static void switch_matches_reference_with_long_digits(void **state) {
  (void)state;
  static const uint32_t bits[] = {50, 40, 40, 40, 40, 40, 40, 40, 40, 50, 50, 50, 50, 50, 50, 50, 50};
  kc_t kc;
  kc_open(&kc, 12, 64, 9, 8, 8, bits);
  const oc_sweep_t sweep = {&kc, KC_EDGES, KC_DENSE, KC_DENSE, 0};
  oc_case_switch_depths(&sweep);
  kc_close(&kc);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(switch_matches_reference_in_rings_of_2_12),
                                     cmocka_unit_test(switch_matches_reference_in_rings_of_2_13),
                                     cmocka_unit_test(switch_matches_reference_in_rings_of_2_14),
                                     cmocka_unit_test(switch_matches_reference_in_rings_of_2_15),
                                     cmocka_unit_test(switch_matches_reference_in_rings_of_2_16),
                                     cmocka_unit_test(switch_matches_reference_by_variants),
                                     cmocka_unit_test(switch_matches_reference_with_digits_of_six),
                                     cmocka_unit_test(switch_matches_reference_with_long_digits)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
