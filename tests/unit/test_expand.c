// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "core/ckks/expand.h"
#include "core/ckks/primes.h"
#include "reference/reference.h"

// The smallest prime 1 mod 2N above 2^bits: nearly half of all masked words are not below it.
static uint64_t prime_above(uint32_t bits, uint32_t log_n) {
  uint64_t q = ((uint64_t)1 << bits) + 1;
  while (!hx_prime_is(q)) q += (uint64_t)2 << log_n;
  return q;
}

static void compare(uint32_t log_n, uint32_t word, const uint64_t primes[2]) {
  const uint64_t psi[2] = {hx_prime_psi(primes[0], log_n), hx_prime_psi(primes[1], log_n)};
  const uint32_t groups[2] = {1, 1};
  const hx_ring ring = {.struct_size = HX_END_OF(hx_ring, digest),
                        .log_n = log_n,
                        .word = word,
                        .q_count = 2,
                        .digit_run = 1,
                        .group_count = 2,
                        .primes = primes,
                        .psi = psi,
                        .group_sizes = groups};
  hx_ref_ring *reference = NULL;
  assert_int_equal(hx_ref_ring_create(&ring, &reference, NULL), HX_OK);
  const size_t n = (size_t)1 << log_n;
  uint64_t *wanted = malloc(n * sizeof *wanted), *found = malloc(n * sizeof *found),
           *widened = malloc(n * sizeof *widened);
  assert_true(wanted != NULL && found != NULL && widened != NULL);
  uint8_t seed[32];
  for (uint32_t i = 0; i < 32; ++i) seed[i] = (uint8_t)(37 * i + log_n);
  for (uint32_t id = 0; id < 2; ++id) {
    for (uint32_t index = 0; index < 3; ++index) {
      hx_ref_row_expand_uniform(reference, id, seed, index, wanted);
      const hx_expand_kernels_t *kernels[3];
      const size_t kinds = hx_expand_kernels_list(kernels);
      for (size_t k = 0; k < kinds; ++k) {
        hx_expand_uniform_row_with(kernels[k], &ring, id, seed, index, found);
        hx_ref_row_load(reference, word == 32 ? HX_U32 : HX_U64, found, widened);
        assert_memory_equal(widened, wanted, n * sizeof *wanted);
      }
    }
  }
  free(wanted);
  free(found);
  free(widened);
  hx_ref_ring_destroy(reference);
}

static void expand_uniform_row_equals_the_reference(void **state) {
  (void)state;
  for (uint32_t log_n = 3; log_n <= 12; log_n += 3) {
    compare(log_n, 64, (uint64_t[]){hx_prime_below((uint64_t)1 << 61, log_n), prime_above(59, log_n)});
    compare(log_n, 64, (uint64_t[]){hx_prime_below((uint64_t)1 << 30, log_n), prime_above(39, log_n)});
    compare(log_n, 32, (uint64_t[]){hx_prime_below((uint64_t)1 << 31, log_n), prime_above(24, log_n)});
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(expand_uniform_row_equals_the_reference)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
