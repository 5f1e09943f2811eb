// SPDX-License-Identifier: Apache-2.0
// Rings: what is kept, what is refused; single residues against 128-bit arithmetic.
#include "tests/kernels/test_reference.h"

static const uint32_t bits[] = {50, 40, 61, 45};

// The ring as changed by the caller must be refused with these words in the message.
static void assert_refused(const test_ring *t, const char *words) {
  hx_error error = {.struct_size = HX_END_OF(hx_error, message)};
  hx_ref_ring *ring = (hx_ref_ring *)&error;
  assert_int_equal(hx_ref_ring_create(&t->desc, &ring, &error), HX_INVALID);
  assert_null(ring);
  assert_int_equal(error.code, HX_INVALID);
  assert_true(error.op == HX_NONE);
  if (strstr(error.message, words) == NULL) fail_msg("\"%s\" lacks \"%s\"", error.message, words);
  assert_int_equal(hx_ref_ring_create(&t->desc, &ring, NULL), HX_INVALID);
}

static void ring_create_keeps_what_it_is_given(void **state) {
  (void)state;
  test_ring t;
  ring_make(&t, 5, 64, bits, 3, 1, 2);
  memset(t.psi, 0, sizeof t.psi);  // nothing is borrowed
  uint64_t primes[4];
  memcpy(primes, t.primes, sizeof primes);
  memset(t.primes, 0, sizeof t.primes);
  assert_int_equal(hx_ref_ring_degree(t.ring), 32);
  assert_int_equal(hx_ref_ring_word(t.ring), 64);
  assert_int_equal(hx_ref_ring_prime_count(t.ring), 4);
  for (uint32_t i = 0; i < 4; ++i) assert_true(hx_ref_ring_prime(t.ring, i) == primes[i]);
  ring_free(&t);
  hx_ref_ring_destroy(NULL);
}

static void ring_create_refuses_bad_sizes(void **state) {
  (void)state;
  test_ring t;
  ring_describe(&t, 5, 64, bits, 3, 1, 2);
  t.desc.log_n = 2;
  assert_refused(&t, "log_n is 2");
  t.desc.log_n = 18;
  assert_refused(&t, "log_n is 18");
  t.desc.log_n = 5;
  t.desc.word = 16;
  assert_refused(&t, "word is 16");
  t.desc.word = 32;
  assert_refused(&t, "below 2^31");
  t.desc.word = 64;
  t.desc.q_count = 0;
  assert_refused(&t, "0 primes of Q");
  t.desc.q_count = UINT32_MAX;
  t.desc.p_count = UINT32_MAX;
  assert_refused(&t, "both may have 256");
  t.desc.q_count = 3;
  t.desc.p_count = 1;
  t.desc.digit_run = 0;
  assert_refused(&t, "digit_run is 0");
  t.desc.digit_run = 1;
  t.desc.primes = NULL;
  assert_refused(&t, "NULL");
}

static void ring_create_refuses_bad_groups(void **state) {
  (void)state;
  test_ring t;
  ring_describe(&t, 5, 64, bits, 3, 1, 2);
  t.desc.group_count = 4;
  assert_refused(&t, "4 groups for 3 primes");
  t.desc.group_count = 2;
  assert_refused(&t, "groups hold 2 primes, Q has 3");
  t.desc.group_count = 0;
  assert_refused(&t, "groups hold 0 primes, Q has 3");
  t.desc.group_count = 3;
  t.group_sizes[1] = 0;
  assert_refused(&t, "group 1 has no prime");
}

static void ring_create_refuses_bad_primes(void **state) {
  (void)state;
  test_ring t;
  ring_describe(&t, 5, 64, bits, 3, 1, 2);
  const uint64_t first = t.primes[0], psi = t.psi[0];
  t.primes[0] = first + 2;
  assert_refused(&t, "must be 1 mod 64");
  t.primes[0] = 1;
  assert_refused(&t, "prime 0 is 1");
  t.primes[0] = ((uint64_t)1 << 61) + 1;
  assert_refused(&t, "below 2^61");
  t.primes[0] = t.primes[2];
  assert_refused(&t, "is there twice, as 0 and 2");
  t.primes[0] = first;
  t.psi[0] = mul_by(psi, psi, first);
  assert_refused(&t, "is no primitive 64-th root");
  t.psi[0] = psi + first;
  assert_refused(&t, "is no primitive 64-th root");
  // 65 * 193 is 1 mod 64 and no prime.
  t.primes[0] = (uint64_t)65 * 193;
  t.psi[0] = 3;
  assert_refused(&t, "12545");
  t.primes[0] = first;
  t.psi[0] = psi;
  ring_open(&t);
  ring_free(&t);
}

static void words_agree_with_wide_arithmetic(void **state) {
  (void)state;
  static const uint32_t sizes[] = {20, 31, 32, 33, 45, 60, 61};
  uint64_t seed = 1;
  for (size_t s = 0; s < COUNT_OF(sizes); ++s) {
    test_ring t;
    ring_make(&t, 3, 64, &sizes[s], 1, 0, 1);
    const uint64_t q = t.primes[0];
    for (int trial = 0; trial < 2000; ++trial) {
      uint64_t v[8];
      fill_edges(v, 8, q, &seed);
      const uint64_t a = v[trial % 8], b = v[random_word(&seed) % 8], x = random_word(&seed) >> (trial % 64);
      assert_true(hx_ref_word_add(t.ring, 0, a, b) == (a + b) % q);
      assert_true(hx_ref_word_sub(t.ring, 0, a, b) == (a + q - b) % q);
      assert_true(hx_ref_word_mul(t.ring, 0, a, b) == mul_by(a, b, q));
      assert_true(hx_ref_word_reduce(t.ring, 0, x) == x % q);
      const int64_t signed_x = (int64_t)(trial % 2 != 0 ? x : 0 - x);
      const i128 remainder = (i128)signed_x % (i128)q;
      assert_true(hx_ref_word_reduce_signed(t.ring, 0, signed_x) ==
                  (uint64_t)(remainder < 0 ? remainder + q : remainder));
      assert_true(hx_ref_word_power(t.ring, 0, a, x) == power_by(a, x, q));
      if (a != 0) assert_true(mul_by(a, hx_ref_word_inverse(t.ring, 0, a), q) == 1);
    }
    assert_true(hx_ref_word_reduce(t.ring, 0, UINT64_MAX) == UINT64_MAX % q);
    assert_true(hx_ref_word_reduce(t.ring, 0, q) == 0);
    assert_true(hx_ref_word_reduce(t.ring, 0, 2 * q - 1) == q - 1);
    assert_true(hx_ref_word_reduce_signed(t.ring, 0, INT64_MIN) == (q - ((uint64_t)1 << 63) % q) % q);
    assert_true(hx_ref_word_reduce_signed(t.ring, 0, INT64_MAX) == (uint64_t)INT64_MAX % q);
    assert_true(hx_ref_word_reduce_signed(t.ring, 0, -1) == q - 1);
    assert_true(hx_ref_word_half_turn(t.ring, 0) == power_by(t.psi[0], 4, q));
    ring_free(&t);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ring_create_keeps_what_it_is_given), cmocka_unit_test(ring_create_refuses_bad_sizes),
      cmocka_unit_test(ring_create_refuses_bad_groups),     cmocka_unit_test(ring_create_refuses_bad_primes),
      cmocka_unit_test(words_agree_with_wide_arithmetic),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
