// SPDX-License-Identifier: Apache-2.0
// Transforms against their definition and against schoolbook products.
#include "tests/kernels/test_reference.h"

static uint32_t reverse(uint32_t i, uint32_t bits) {
  uint32_t out = 0;
  for (uint32_t k = 0; k < bits; ++k)
    if ((i & (1u << k)) != 0) out |= 1u << (bits - 1 - k);
  return out;
}

// a(psi^(2*brv(i)+1)) by Horner.
static uint64_t evaluate(const test_ring *t, const uint64_t *a, uint32_t i) {
  const uint64_t q = t->primes[0], x = power_by(t->psi[0], 2 * (uint64_t)reverse(i, t->desc.log_n) + 1, q);
  uint64_t value = 0;
  for (uint32_t k = t->n; k-- > 0;) value = (uint64_t)(((u128)value * x + a[k]) % q);
  return value;
}

static void negacyclic(const uint64_t *a, const uint64_t *b, uint32_t n, uint64_t q, uint64_t *out) {
  memset(out, 0, n * sizeof *out);
  for (uint32_t i = 0; i < n; ++i)
    for (uint32_t j = 0; j < n; ++j) {
      const uint64_t product = mul_by(a[i], b[j], q);
      uint64_t *place = &out[(i + j) % n];
      *place = (uint64_t)(((u128)*place + (i + j < n ? product : q - product)) % q);
    }
}

static const struct {
  uint32_t word, bits;
} words[] = {{64, 20}, {64, 31}, {64, 32}, {64, 45}, {64, 60}, {64, 61}, {32, 20}, {32, 31}};

static void forward_evaluates_at_odd_powers(void **state) {
  (void)state;
  uint64_t seed = 2;
  for (uint32_t log_n = 3; log_n <= 7; ++log_n)
    for (size_t s = 0; s < COUNT_OF(words); ++s) {
      test_ring t;
      ring_make(&t, log_n, words[s].word, &words[s].bits, 1, 0, 1);
      uint64_t *a = row_make(t.n), *transformed = row_make(t.n);
      fill_edges(a, t.n, t.primes[0], &seed);
      memcpy(transformed, a, t.n * sizeof *a);
      hx_ref_ntt_forward(t.ring, 0, transformed);
      for (uint32_t i = 0; i < t.n; ++i) assert_true(transformed[i] == evaluate(&t, a, i));
      free(a);
      free(transformed);
      ring_free(&t);
    }
}

static void product_of_transforms_is_negacyclic_product(void **state) {
  (void)state;
  uint64_t seed = 3;
  for (uint32_t log_n = 3; log_n <= 6; ++log_n)
    for (size_t s = 0; s < COUNT_OF(words); ++s) {
      test_ring t;
      ring_make(&t, log_n, words[s].word, &words[s].bits, 1, 0, 1);
      const uint64_t q = t.primes[0];
      uint64_t *a = row_make(t.n), *b = row_make(t.n), *wanted = row_make(t.n);
      fill_edges(a, t.n, q, &seed);
      for (uint32_t i = 0; i < t.n; ++i) b[i] = s % 2 == 0 ? q - 1 : random_below(&seed, q);
      negacyclic(a, b, t.n, q, wanted);
      hx_ref_ntt_forward(t.ring, 0, a);
      hx_ref_ntt_forward(t.ring, 0, b);
      hx_ref_row_mul(t.ring, 0, a, b, a);
      hx_ref_ntt_inverse(t.ring, 0, a);
      assert_rows_equal(a, wanted, t.n);
      free(a);
      free(b);
      free(wanted);
      ring_free(&t);
    }
}

static void inverse_undoes_forward_for_every_size(void **state) {
  (void)state;
  uint64_t seed = 4;
  uint32_t rings = 0;
  for (uint32_t log_n = 3; log_n <= 16; ++log_n)
    for (size_t s = 0; s < COUNT_OF(words); ++s) {
      if (find_prime(log_n, words[s].bits, NULL, 0) == 0) continue;  // no such prime of so few bits
      test_ring t;
      ring_make(&t, log_n, words[s].word, &words[s].bits, 1, 0, 1);
      const uint64_t q = t.primes[0];
      uint64_t *a = row_make(t.n), *b = row_make(t.n);
      fill_edges(a, t.n, q, &seed);
      memcpy(b, a, t.n * sizeof *a);
      hx_ref_ntt_forward(t.ring, 0, b);
      for (uint32_t i = 0; i < t.n; ++i) assert_true(b[i] < q);
      for (uint32_t i = 1; i < t.n; i *= 8) assert_true(b[i] == evaluate(&t, a, i));  // some by the definition
      hx_ref_ntt_inverse(t.ring, 0, b);
      assert_rows_equal(b, a, t.n);
      hx_ref_ntt_inverse(t.ring, 0, b);
      hx_ref_ntt_forward(t.ring, 0, b);
      assert_rows_equal(b, a, t.n);
      free(a);
      free(b);
      ring_free(&t);
      ++rings;
    }
  assert_true(rings >= 14 * 7);
}

static void forward_of_special_polynomials_is_known(void **state) {
  (void)state;
  static const uint32_t bits = 61;
  test_ring t;
  ring_make(&t, 10, 64, &bits, 1, 0, 1);
  const uint64_t q = t.primes[0];
  uint64_t *a = row_make(t.n);
  hx_ref_ntt_forward(t.ring, 0, a);
  for (uint32_t i = 0; i < t.n; ++i) assert_true(a[i] == 0);
  a[0] = q - 1;  // a constant is itself everywhere
  hx_ref_ntt_forward(t.ring, 0, a);
  for (uint32_t i = 0; i < t.n; ++i) assert_true(a[i] == q - 1);
  memset(a, 0, t.n * sizeof *a);
  a[t.n / 2] = 1;  // X^(n/2) is a square root of -1: one on the first half, the other on the second
  hx_ref_ntt_forward(t.ring, 0, a);
  const uint64_t turn = hx_ref_word_half_turn(t.ring, 0);
  assert_true(mul_by(turn, turn, q) == q - 1);
  for (uint32_t i = 0; i < t.n; ++i) assert_true(a[i] == (i < t.n / 2 ? turn : q - turn));
  free(a);
  ring_free(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(forward_evaluates_at_odd_powers),
      cmocka_unit_test(product_of_transforms_is_negacyclic_product),
      cmocka_unit_test(inverse_undoes_forward_for_every_size),
      cmocka_unit_test(forward_of_special_polynomials_is_known),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
