// SPDX-License-Identifier: Apache-2.0
// Rows of one prime against 128-bit arithmetic and against definitions, with every edge input.
#include "tests/kernels/test_reference.h"

static const struct { uint32_t word, bits; } words[] = {{64, 20}, {64, 31}, {64, 50}, {64, 61}, {32, 20}, {32, 31}};

#define LOG_N 5
#define N 32

typedef struct {
  test_ring t;
  uint64_t q;
  uint64_t a[N], b[N], c[N], out[N];
} rows;

static void rows_make(rows *r, size_t which, uint64_t *seed) {
  const uint32_t bits[] = {words[which].bits, 21, 30};
  ring_make(&r->t, LOG_N, words[which].word, bits, 3, 0, 1);
  r->q = r->t.primes[0];
  fill_edges(r->a, N, r->q, seed);
  for (uint32_t i = 0; i < N; ++i) r->b[i] = r->a[random_word(seed) % N];
  fill_edges(r->c, N, r->q, seed);
}

static void pointwise_rows_agree_with_wide_arithmetic(void **state) {
  (void)state;
  uint64_t seed = 5;
  for (size_t s = 0; s < COUNT_OF(words); ++s)
    for (int trial = 0; trial < 30; ++trial) {
      rows r;
      rows_make(&r, s, &seed);
      const hx_ref_ring *ring = r.t.ring;
      const uint64_t q = r.q, k = r.b[trial % N];
      hx_ref_row_add(ring, 0, r.a, r.b, r.out);
      for (int i = 0; i < N; ++i) assert_true(r.out[i] == (r.a[i] + r.b[i]) % q);
      hx_ref_row_sub(ring, 0, r.a, r.b, r.out);
      for (int i = 0; i < N; ++i) assert_true(r.out[i] == (r.a[i] + q - r.b[i]) % q);
      hx_ref_row_neg(ring, 0, r.a, r.out);
      for (int i = 0; i < N; ++i) assert_true(r.out[i] == (q - r.a[i]) % q);
      hx_ref_row_mul(ring, 0, r.a, r.b, r.out);
      for (int i = 0; i < N; ++i) assert_true(r.out[i] == mul_by(r.a[i], r.b[i], q));
      hx_ref_row_mul_add(ring, 0, r.c, r.a, r.b, r.out);
      for (int i = 0; i < N; ++i) assert_true(r.out[i] == (mul_by(r.a[i], r.b[i], q) + r.c[i]) % q);
      hx_ref_row_mul_scalar(ring, 0, r.a, k, r.out);
      for (int i = 0; i < N; ++i) assert_true(r.out[i] == mul_by(r.a[i], k, q));
      hx_ref_row_add_scalar(ring, 0, r.a, k, r.out);
      for (int i = 0; i < N; ++i) assert_true(r.out[i] == (r.a[i] + k) % q);
      ring_free(&r.t);
    }
}

static void lazy_rows_work_mod_twice_the_prime(void **state) {
  (void)state;
  uint64_t seed = 6;
  for (size_t s = 0; s < COUNT_OF(words); ++s) {
    rows r;
    rows_make(&r, s, &seed);
    const hx_ref_ring *ring = r.t.ring;
    const uint64_t q = r.q, m = 2 * q;
    const uint64_t edges[] = {0, 1, q - 1, q, q + 1, 2 * q - 2, 2 * q - 1};
    for (uint32_t i = 0; i < N; ++i) {
      r.a[i] = i < 7 ? edges[i] : random_below(&seed, m);
      r.b[i] = edges[(i + i / 7) % 7];
    }
    hx_ref_row_add_lazy(ring, 0, r.a, r.b, r.out);
    for (int i = 0; i < N; ++i) assert_true(r.out[i] == (r.a[i] + r.b[i]) % m);
    hx_ref_row_sub_lazy(ring, 0, r.a, r.b, r.out);
    for (int i = 0; i < N; ++i) assert_true(r.out[i] == (r.a[i] + m - r.b[i]) % m);
    hx_ref_row_neg_lazy(ring, 0, r.a, r.out);
    for (int i = 0; i < N; ++i) assert_true(r.out[i] == (m - r.a[i]) % m);
    hx_ref_row_reduce(ring, 0, r.a, r.out);
    for (int i = 0; i < N; ++i) assert_true(r.out[i] == r.a[i] % q);
    for (uint32_t i = 0; i < N; ++i) r.a[i] = i == 0 ? UINT64_MAX : random_word(&seed);  // any word
    hx_ref_row_reduce(ring, 0, r.a, r.out);
    for (int i = 0; i < N; ++i) assert_true(r.out[i] == r.a[i] % q);
    ring_free(&r.t);
  }
}

static void montgomery_rows_carry_the_word(void **state) {
  (void)state;
  uint64_t seed = 7;
  for (size_t s = 0; s < COUNT_OF(words); ++s) {
    rows r;
    rows_make(&r, s, &seed);
    const hx_ref_ring *ring = r.t.ring;
    const uint64_t q = r.q, power = (uint64_t)(((u128)1 << words[s].word) % q);
    hx_ref_row_to_montgomery(ring, 0, r.a, r.out);
    for (int i = 0; i < N; ++i) assert_true(r.out[i] == mul_by(r.a[i], power, q));
    hx_ref_row_from_montgomery(ring, 0, r.out, r.out);
    assert_rows_equal(r.out, r.a, N);
    hx_ref_row_mul_montgomery(ring, 0, r.a, r.b, r.out);
    for (int i = 0; i < N; ++i) {
      assert_true(r.out[i] < q);
      assert_true(mul_by(r.out[i], power, q) == mul_by(r.a[i], r.b[i], q));
    }
    ring_free(&r.t);
  }
}

static void center_lift_keeps_the_integer(void **state) {
  (void)state;
  uint64_t seed = 8;
  for (size_t s = 0; s < COUNT_OF(words); ++s) {
    rows r;
    rows_make(&r, s, &seed);
    for (uint32_t to = 0; to < 3; ++to) {
      const uint64_t t = r.t.primes[to];
      hx_ref_row_center_lift(r.t.ring, 0, r.a, to, r.out);
      for (int i = 0; i < N; ++i) {
        const i128 x = r.a[i] > (r.q - 1) / 2 ? (i128)r.a[i] - r.q : (i128)r.a[i];
        const i128 rest = x % (i128)t;
        assert_true(r.out[i] == (uint64_t)(rest < 0 ? rest + t : rest));
      }
    }
    int64_t x[N] = {INT64_MIN, INT64_MAX, 0, -1, 1, (int64_t)r.q, -(int64_t)r.q};
    for (int i = 7; i < N; ++i) x[i] = (int64_t)(random_word(&seed)) >> (2 * i);
    hx_ref_row_center_lift_signed(r.t.ring, 0, x, r.out);
    for (int i = 0; i < N; ++i) {
      const i128 rest = (i128)x[i] % (i128)r.q;
      assert_true(r.out[i] == (uint64_t)(rest < 0 ? rest + r.q : rest));
    }
    ring_free(&r.t);
  }
}

static void automorphism_moves_coefficients(void **state) {
  (void)state;
  uint64_t seed = 9;
  rows r;
  rows_make(&r, 3, &seed);
  for (uint64_t g = 1; g < 2 * N; g += 2) {
    uint64_t wanted[N], transformed[N];
    for (uint64_t i = 0; i < N; ++i) {
      const uint64_t e = i * g % (2 * N);
      wanted[e % N] = e < N ? r.a[i] : (r.q - r.a[i]) % r.q;
    }
    hx_ref_row_automorphism(r.t.ring, 0, g, r.a, r.out);
    assert_rows_equal(r.out, wanted, N);
    memcpy(transformed, r.a, sizeof transformed);  // and in ntt domain, the same polynomial
    hx_ref_ntt_forward(r.t.ring, 0, transformed);
    hx_ref_row_automorphism_ntt(r.t.ring, g, transformed, r.out);
    hx_ref_ntt_inverse(r.t.ring, 0, r.out);
    assert_rows_equal(r.out, wanted, N);
  }
  ring_free(&r.t);
}

static void rows_work_in_place(void **state) {
  (void)state;
  uint64_t seed = 10;
  rows r;
  rows_make(&r, 3, &seed);
  const hx_ref_ring *ring = r.t.ring;
  uint64_t in_place[N];
  void (*const binary[])(const hx_ref_ring *, uint32_t, const uint64_t *, const uint64_t *, uint64_t *) = {
      hx_ref_row_add,      hx_ref_row_sub,      hx_ref_row_mul,
      hx_ref_row_add_lazy, hx_ref_row_sub_lazy, hx_ref_row_mul_montgomery};
  for (size_t f = 0; f < COUNT_OF(binary); ++f) {
    binary[f](ring, 0, r.a, r.b, r.out);
    memcpy(in_place, r.a, sizeof in_place);
    binary[f](ring, 0, in_place, r.b, in_place);
    assert_rows_equal(in_place, r.out, N);
    memcpy(in_place, r.b, sizeof in_place);
    binary[f](ring, 0, r.a, in_place, in_place);
    assert_rows_equal(in_place, r.out, N);
  }
  hx_ref_row_mul_add(ring, 0, r.c, r.a, r.b, r.out);
  memcpy(in_place, r.c, sizeof in_place);
  hx_ref_row_mul_add(ring, 0, in_place, r.a, r.b, in_place);
  assert_rows_equal(in_place, r.out, N);
  ring_free(&r.t);
}

static void load_and_store_convert_words(void **state) {
  (void)state;
  uint64_t seed = 11;
  rows r;
  rows_make(&r, 5, &seed);
  uint32_t small[N + 1];
  small[N] = 77;
  hx_ref_row_store(r.t.ring, HX_U32, r.a, small);
  for (int i = 0; i < N; ++i) assert_true(small[i] == r.a[i]);
  assert_int_equal(small[N], 77);  // no word beyond the row
  hx_ref_row_load(r.t.ring, HX_U32, small, r.out);
  assert_rows_equal(r.out, r.a, N);
  uint64_t wide[N];
  hx_ref_row_store(r.t.ring, HX_U64, r.a, wide);
  hx_ref_row_load(r.t.ring, HX_U64, wide, r.out);
  assert_rows_equal(r.out, r.a, N);
  int64_t negative[N] = {-5};
  hx_ref_row_load(r.t.ring, HX_I64, negative, r.out);
  assert_true(r.out[0] == UINT64_MAX - 4);
  ring_free(&r.t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pointwise_rows_agree_with_wide_arithmetic),
      cmocka_unit_test(lazy_rows_work_mod_twice_the_prime),
      cmocka_unit_test(montgomery_rows_carry_the_word),
      cmocka_unit_test(center_lift_keeps_the_integer),
      cmocka_unit_test(automorphism_moves_coefficients),
      cmocka_unit_test(rows_work_in_place),
      cmocka_unit_test(load_and_store_convert_words),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
