// SPDX-License-Identifier: Apache-2.0
// Every variant of the cpu plugin's row kernels against portable code, at every size: the harness that the micro
// benchmark checks what it measures with.
#include "kernelcheck.h"

#include "../../bench/harness.h"

static void check(const char *variant, uint32_t log_n, uint32_t bits, uint32_t primes) {
  char message[BENCH_MESSAGE];
  bool ran = false;
  if (!bench_check_variant(variant, log_n, bits, primes, &ran, message)) {
    fail_msg("%s", message);
  }
}

static const char *const variants[] = {"avx2", "avx512dq", "avx512ifma"};

static void variants_agree_with_portable_at_every_size(void **state) {
  (void)state;
  static const uint32_t bits[] = {20, 31, 40, 45, 46, 48, 49, 50, 51, 59, 60, 61};
  for (size_t v = 0; v < sizeof variants / sizeof variants[0]; v++) {
    for (uint32_t log_n = 3; log_n <= 12; log_n++) {
      for (size_t b = 0; b < sizeof bits / sizeof bits[0]; b++) {
        check(variants[v], log_n, bits[b], log_n < 10 ? 3 : 1);
      }
    }
  }
}

static void variants_agree_with_portable_at_large_sizes(void **state) {
  (void)state;
  static const uint32_t bits[] = {40, 49, 50, 60};
  for (size_t v = 0; v < sizeof variants / sizeof variants[0]; v++) {
    for (uint32_t log_n = 13; log_n <= 17; log_n++) {
      check(variants[v], log_n, bits[log_n % 4], 1);
    }
  }
}

static void harness_says_what_does_not_exist(void **state) {
  (void)state;
  char message[BENCH_MESSAGE];
  bool ran = true;
  assert_true(bench_check_variant("avx1024", 4, 50, 1, &ran, message));
  assert_false(ran);
  assert_true(bench_check_variant("portable", 4, 50, 1, &ran, message));
  assert_true(ran);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(variants_agree_with_portable_at_every_size),
      cmocka_unit_test(variants_agree_with_portable_at_large_sizes),
      cmocka_unit_test(harness_says_what_does_not_exist),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
