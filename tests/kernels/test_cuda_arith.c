// SPDX-License-Identifier: Apache-2.0
// The arithmetic of the cuda plugin's kernels, compiled for the host from the header that the kernels include, against
// 128-bit arithmetic: edge values and random ones, primes of every size.
#include "kernels/arith.h"

#include "kernelcheck.h"
#include "number.h"

static uint64_t state_word = 7;

static uint64_t next_word(void) {
  uint64_t z = state_word += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

static uint64_t largest_prime(uint32_t bits) {
  uint64_t q = ((uint64_t)1 << bits) - 1;
  while (!hxs_is_prime(q)) {
    q -= 2;
  }
  return q;
}

static uint64_t smallest_prime(uint32_t bits) {
  uint64_t q = ((uint64_t)1 << (bits - 1)) + 1;
  while (!hxs_is_prime(q)) {
    q += 2;
  }
  return q;
}

// An edge or a random value below the limit.
static uint64_t pick(uint64_t limit) {
  const uint64_t r = next_word(), near[6] = {0, 1, limit - 1, limit / 2, limit / 2 + 1, r % limit};
  return near[(r >> 40) % 6];
}

#include "realcheck.h"

typedef void check_fn(const hx_cuda_prime_t *prime);

static void for_primes(uint32_t least, uint32_t most, check_fn *check) {
  for (uint32_t bits = least; bits <= most; bits++) {
    const uint64_t both[2] = {largest_prime(bits), smallest_prime(bits)};
    for (uint32_t i = 0; i < 2; i++) {
      hxs_modulus modulus;
      hx_cuda_prime_t prime;
      hxs_modulus_init(&modulus, both[i], 64);
      hx_cuda_prime_init(&prime, &modulus);
      check(&prime);
    }
  }
}

static void check_integers(const hx_cuda_prime_t *p) {
  const uint64_t q = p->q;
  hxs_modulus modulus;
  hxs_modulus_init(&modulus, q, 64);
  for (int i = 0; i < 2000; i++) {
    const uint64_t a = pick(q), b = pick(q), x = pick(UINT64_MAX), y = pick(UINT64_MAX);
    const hx_cuda_factor_t f = hx_cuda_factor_of(&modulus, a);
    assert_int_equal(mod_mul(a, b, p), (uint64_t)((hxs_u128)a * b % q));
    const uint64_t lazy = mod_shoup(x, f.value, f.quotient, q);
    assert_true(lazy < 2 * q && lazy % q == (uint64_t)((hxs_u128)x * a % q));
    assert_true(mod_word(x, p->ratio, q) < 2 * q && mod_word(x, p->ratio, q) % q == x % q);
    hx_cuda_wide_t two = {0, 0}, wide = {x, y};
    wide_mul_add(&two, a, b);
    wide_mul_add(&two, q - 1, q - 1);
    const hxs_u128 sum = (hxs_u128)a * b + (hxs_u128)(q - 1) * (q - 1);
    const hxs_u128 whole = (hxs_u128)x << 64 | y;
    assert_int_equal(mod_product(two, p), (uint64_t)(sum % q));
    assert_int_equal(mod_wide(wide, p), (uint64_t)(whole % q));
    // z = result * 2^64 mod q
    assert_int_equal((uint64_t)(((hxs_u128)mod_redc(wide, p) << 64) % q), (uint64_t)(whole % q));
    assert_int_equal(f.quotient, (uint64_t)(((hxs_u128)a << 64) / q));
  }
}

static void integers_match_128_bit_arithmetic(void **state) {
  (void)state;
  for_primes(5, 61, check_integers);
}

// 32-bit arithmetic: what it takes of a prime's numbers is their upper half.
static void check_words(const hx_cuda_prime_t *p) {
  const uint32_t q = (uint32_t)p->q;
  hxs_modulus modulus;
  hxs_modulus_init(&modulus, q, 64);
  for (int i = 0; i < 2000; i++) {
    const uint32_t a = (uint32_t)pick(q), x = (uint32_t)pick((uint64_t)UINT32_MAX + 1);
    const uint64_t z = pick(UINT64_MAX);
    const hx_cuda_factor_t f = hx_cuda_factor_of(&modulus, a);
    const uint32_t lazy = word_shoup(x, a, (uint32_t)(f.quotient >> 32), q);
    assert_true((uint64_t)lazy < 2 * (uint64_t)q && lazy % q == (uint64_t)x * a % q);
    assert_int_equal(word_mod(z, q, p->ratio), z % q);
    assert_int_equal(word_mod(UINT64_MAX, q, p->ratio), UINT64_MAX % q);
    assert_int_equal(word_once(x % (2 * q), q), x % (2 * q) % q);
  }
}

// Long sums of the largest products and of others: two fit beside a folded sum.
static void check_word_sums(const hx_cuda_prime_t *p) {
  const uint32_t q = (uint32_t)p->q, top = 0x7fffffff;
  for (int i = 0; i < 100; i++) {
    uint64_t sum = (uint32_t)next_word(), rest = sum % q;
    hx_cuda_word_sum_t three = {(uint32_t)sum, 0, 0};
    for (int t = 0; t < 40; t++) {
      const uint64_t a = i == 0 ? top : (uint32_t)next_word() & top, b = i == 0 ? top : (uint32_t)next_word() & top;
      assert_true(sum <= UINT64_MAX - 2 * (uint64_t)top * top);
      sum = word_fold(sum + a * b + b * top, q, p->ratio);
      rest = (rest + a * b % q + b * top % q) % q;
      word_mul_add(&three, (uint32_t)a, (uint32_t)b);
      word_mul_add(&three, (uint32_t)b, top);
      assert_int_equal(word_rest(&three, word_numbers(p)), rest);
      assert_true(sum >> 32 < q && sum % q == rest && word_mod(sum, q, p->ratio) == rest);
    }
  }
}

static void words_match_64_bit_arithmetic(void **state) {
  (void)state;
  for_primes(5, 31, check_words);
  for_primes(5, 31, check_word_sums);
}

static void check_reals(const hx_cuda_prime_t *p) { check_real_products(p->q, p->real_q, p->real_inverse); }

static void reals_match_128_bit_arithmetic(void **state) {
  (void)state;
  for_primes(5, 50, check_reals);
}

static void check_sums(const hx_cuda_prime_t *p) { check_real_sums(p->q, HX_CUDA_REAL_TERMS); }

static void sums_of_reals_match_128_bit_arithmetic(void **state) {
  (void)state;
  for_primes(5, 50, check_sums);
}

static void permuted_places_follow_the_definition(void **state) {
  (void)state;
  for (uint32_t log_n = 3; log_n <= 12; log_n++) {
    const uint32_t n = 1u << log_n, elements[] = {1, 5, 25, 2 * n - 1, n + 1};
    for (uint32_t e = 0; e < 5; e++) {
      for (uint32_t i = 0; i < n; i++) {
        const uint64_t odd = (uint64_t)elements[e] * (2 * (uint64_t)reverse_bits(i, log_n) + 1) % (2 * n);
        assert_int_equal(permuted_place(i, elements[e], log_n), reverse_bits((uint32_t)((odd - 1) / 2), log_n));
      }
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(integers_match_128_bit_arithmetic),     cmocka_unit_test(words_match_64_bit_arithmetic),
      cmocka_unit_test(reals_match_128_bit_arithmetic),        cmocka_unit_test(sums_of_reals_match_128_bit_arithmetic),
      cmocka_unit_test(permuted_places_follow_the_definition),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
