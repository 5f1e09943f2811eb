// SPDX-License-Identifier: Apache-2.0
// Every operation against the reference with the kernels that option cpu-mask leaves, on primes of every size and on
// those below 2^50. A variant that this processor has not gives way to portable.
#include "opcheck.h"

static void check_ring(const uint32_t *bits) {
  kc_t kc;
  kc_open(&kc, 9, 64, 5, 2, 2, bits);
  const oc_sweep_t top = {&kc, KC_TOP, KC_DENSE, KC_DENSE, 0}, edges = {&kc, KC_EDGES, KC_GAPS, KC_DENSE, 0};
  oc_run_all(&top);
  oc_run_all(&edges);
  kc_close(&kc);
}

static void ops_match_reference_under_mask(const char *mask) {
  static const uint32_t wide[] = {61, 60, 45, 31, 20, 61, 50}, narrow[] = {50, 50, 45, 31, 20, 50, 49};
  kc_set_option("cpu-mask", mask);
  check_ring(wide);
  check_ring(narrow);
  kc_set_option("cpu-mask", NULL);
}

static void portable_matches_reference(void **state) {
  (void)state;
  ops_match_reference_under_mask("portable");
}

static void avx2_matches_reference(void **state) {
  (void)state;
  ops_match_reference_under_mask("portable,avx2");
}

static void avx512dq_matches_reference(void **state) {
  (void)state;
  ops_match_reference_under_mask("portable,avx512dq");
}

static void avx512ifma_matches_reference(void **state) {
  (void)state;
  ops_match_reference_under_mask("portable,avx512ifma");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(portable_matches_reference),
      cmocka_unit_test(avx2_matches_reference),
      cmocka_unit_test(avx512dq_matches_reference),
      cmocka_unit_test(avx512ifma_matches_reference),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
