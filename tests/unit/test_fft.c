// SPDX-License-Identifier: Apache-2.0
// The encoding transform and its roundings, without parameters.
#include <math.h>
#include <setjmp.h>
#include <sodium.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/memory.h"
#include "core/ckks/encode_kernels.h"
#include "core/ckks/encode_round.h"
#include "core/ckks/fft.h"

// |a - b| in double-double.
static double distance(hx_dd_t a, hx_dd_t b) { return fabs(hx_dd_sub(a, b).hi); }

// A double in [-1, 1) with 53 bits from a fixed sequence.
static double next_unit(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(int64_t)(*state >> 11) * 0x1p-52 - 1.0;
}

static hx_fft_vector_t vector_create(size_t n) {
  double *numbers = hx_zalloc(4 * n, sizeof *numbers);
  assert_non_null(numbers);
  return (hx_fft_vector_t){numbers, numbers + n, numbers + 2 * n, numbers + 3 * n};
}

static void root_of_pi_over_4_is_half_of_sqrt_2(void **state) {
  (void)state;
  hx_dd_t c, s;
  hx_fft_root(1, 2, &c, &s);
  const hx_dd_t expected = {0x1.6a09e667f3bcdp-1, -0x1.bdd3413b26456p-55};
  assert_true(distance(c, expected) < 0x1p-104);
  assert_true(distance(s, expected) < 0x1p-104);
}

static void root_of_pi_over_8_is_known(void **state) {
  (void)state;
  hx_dd_t c, s;
  hx_fft_root(1, 3, &c, &s);
  assert_true(distance(c, (hx_dd_t){0x1.d906bcf328d46p-1, 0x1.457e610231ac2p-56}) < 0x1p-103);
  assert_true(distance(s, (hx_dd_t){0x1.87de2a6aea963p-2, -0x1.72cedd3d5a610p-57}) < 0x1p-103);
}

static void roots_lie_on_the_circle_and_square_to_each_other(void **state) {
  (void)state;
  for (uint32_t log_denominator = 3; log_denominator <= 17; log_denominator += 2) {
    for (uint32_t i = 0; i < 200; ++i) {
      const uint32_t numerator = (i * 2654435761u >> 3) % ((uint32_t)1 << log_denominator) | 1;
      hx_dd_t c, s;
      hx_fft_root(numerator, log_denominator, &c, &s);
      assert_true(distance(hx_dd_add(hx_dd_mul(c, c), hx_dd_mul(s, s)), (hx_dd_t){1.0, 0.0}) < 0x1p-102);
      // The root of twice the angle, where that is in (0, pi).
      if (2 * numerator >= (uint32_t)1 << log_denominator) continue;
      hx_dd_t c2, s2;
      hx_fft_root(numerator, log_denominator - 1, &c2, &s2);
      assert_true(distance(hx_dd_sub(hx_dd_mul(c, c), hx_dd_mul(s, s)), c2) < 0x1p-102);
      assert_true(distance(hx_dd_mul_double(hx_dd_mul(c, s), 2.0), s2) < 0x1p-102);
    }
  }
}

// w^e, w = exp(i pi / 2n), from roots of odd exponents in the upper half plane.
static void power_of_w(uint32_t log_slots, uint64_t e, hx_dd_t *out_re, hx_dd_t *out_im) {
  const uint64_t turn = (uint64_t)4 << log_slots;
  e %= turn;
  const bool below = e > turn / 2;
  if (below) e = turn - e;
  uint32_t log_denominator = log_slots + 1;
  if (e == 0 || e == turn / 2) {
    *out_re = (hx_dd_t){e == 0 ? 1.0 : -1.0, 0.0}, *out_im = (hx_dd_t){0.0, 0.0};
    return;
  }
  while (e % 2 == 0) e /= 2, --log_denominator;
  if (log_denominator == 1) {
    *out_re = (hx_dd_t){0.0, 0.0}, *out_im = (hx_dd_t){1.0, 0.0};
  } else {
    hx_fft_root((uint32_t)e, log_denominator, out_re, out_im);
  }
  if (below) *out_im = (hx_dd_t){-out_im->hi, -out_im->lo};
}

static void evaluate_agrees_with_the_definition(void **state) {
  (void)state;
  for (uint32_t log_slots = 0; log_slots <= 6; ++log_slots) {
    const size_t n = (size_t)1 << log_slots;
    assert_int_equal(hx_fft_prepare(log_slots), HX_STATUS_OK);
    hx_fft_vector_t u = vector_create(n), single = vector_create(n);
    uint64_t random = 7;
    for (size_t k = 0; k < n; ++k) u.re[k] = next_unit(&random), u.im[k] = next_unit(&random);
    hx_dd_t expected_re[64], expected_im[64];
    uint64_t exponent = 1;
    for (size_t j = 0; j < n; ++j, exponent = exponent * 5 % (4 * n)) {
      hx_dd_t re = {0.0, 0.0}, im = {0.0, 0.0}, c, s;
      for (size_t k = 0; k < n; ++k) {
        power_of_w(log_slots, k * exponent, &c, &s);
        re = hx_dd_add(re, hx_dd_sub(hx_dd_mul_double(c, u.re[k]), hx_dd_mul_double(s, u.im[k])));
        im = hx_dd_add(im, hx_dd_add(hx_dd_mul_double(c, u.im[k]), hx_dd_mul_double(s, u.re[k])));
      }
      expected_re[j] = re, expected_im[j] = im;
    }
    memcpy(single.re, u.re, n * sizeof(double));
    memcpy(single.im, u.im, n * sizeof(double));
    hx_fft_evaluate(log_slots, u);
    hx_fft_evaluate_double(log_slots, single);
    uint32_t positions[64];
    hx_fft_slot_positions(log_slots, positions);
    for (size_t j = 0; j < n; ++j) {
      const uint32_t p = positions[j];
      assert_true(distance((hx_dd_t){u.re[p], u.re_low[p]}, expected_re[j]) < (double)n * 0x1p-100);
      assert_true(distance((hx_dd_t){u.im[p], u.im_low[p]}, expected_im[j]) < (double)n * 0x1p-100);
      assert_true(fabs(single.re[p] - expected_re[j].hi) < (double)n * 0x1p-48);
      assert_true(fabs(single.im[p] - expected_im[j].hi) < (double)n * 0x1p-48);
    }
    hx_free(u.re);
    hx_free(single.re);
  }
}

static void interpolate_inverts_evaluate_at_every_size(void **state) {
  (void)state;
  for (uint32_t log_slots = 0; log_slots <= HX_FFT_LOG_SLOTS_MAX; ++log_slots) {
    const size_t n = (size_t)1 << log_slots;
    assert_int_equal(hx_fft_prepare(log_slots), HX_STATUS_OK);
    hx_fft_vector_t exact = vector_create(n), single = vector_create(n);
    uint64_t random = 11;
    for (size_t k = 0; k < n; ++k) {
      exact.re[k] = single.re[k] = next_unit(&random);
      exact.im[k] = single.im[k] = next_unit(&random);
    }
    hx_fft_evaluate(log_slots, exact);
    hx_fft_interpolate(log_slots, exact);
    hx_fft_evaluate_double(log_slots, single);
    hx_fft_interpolate_double(log_slots, single);
    random = 11;
    for (size_t k = 0; k < n; ++k) {
      const hx_dd_t re = {exact.re[k] / (double)n, exact.re_low[k] / (double)n};
      const hx_dd_t im = {exact.im[k] / (double)n, exact.im_low[k] / (double)n};
      const double x = next_unit(&random), y = next_unit(&random);
      assert_true(distance(re, (hx_dd_t){x, 0.0}) < 0x1p-97);
      assert_true(distance(im, (hx_dd_t){y, 0.0}) < 0x1p-97);
      assert_true(fabs(single.re[k] / (double)n - x) < 0x1p-48);
      assert_true(fabs(single.im[k] / (double)n - y) < 0x1p-48);
    }
    hx_free(exact.re);
    hx_free(single.re);
  }
}

static void slot_positions_are_a_permutation(void **state) {
  (void)state;
  enum { LOG = 10 };
  static uint32_t positions[1 << LOG];
  static bool seen[1 << LOG];
  hx_fft_slot_positions(LOG, positions);
  for (size_t j = 0; j < 1 << LOG; ++j) {
    assert_in_range(positions[j], 0, (1 << LOG) - 1);
    assert_false(seen[positions[j]]);
    seen[positions[j]] = true;
  }
  assert_int_equal(positions[0], 0);  // exponent 1
}

static void nearest_breaks_ties_to_even(void **state) {
  (void)state;
  static const struct {
    double hi, lo;
    int64_t expected;
  } cases[] = {
      {0.5, 0.0, 0},
      {1.5, 0.0, 2},
      {2.5, 0.0, 2},
      {-0.5, 0.0, 0},
      {-1.5, 0.0, -2},
      {-2.5, 0.0, -2},
      {0.5, 0x1p-80, 1},
      {0.5, -0x1p-80, 0},
      {-0.5, -0x1p-80, -1},
      {-0.5, 0x1p-80, 0},
      {1.5, -0x1p-60, 1},
      {2.5, 0x1p-60, 3},
      {-2.5, -0x1p-60, -3},
      {3.0, -0x1p-70, 3},
      {0.0, 0.0, 0},
      {0x1p-300, 0.0, 0},
      {0x1p52, 0.5, (int64_t)1 << 52},
      {0x1.0000000000001p52, 0.5, ((int64_t)1 << 52) + 2},
      {0x1p54, -0.5, (int64_t)1 << 54},
      {0x1p54, -1.5, ((int64_t)1 << 54) - 2},
      {0x1p60, 2.5, ((int64_t)1 << 60) + 2},
      {0x1p60, -3.5, ((int64_t)1 << 60) - 4},
  };
  for (size_t i = 0; i < HX_COUNT_OF(cases); ++i) {
    const hx_i128 found = hx_encode_nearest((hx_dd_t){cases[i].hi, cases[i].lo});
    if (found != cases[i].expected)
      fail_msg("case %zu: %a + %a gave %lld", i, cases[i].hi, cases[i].lo, (long long)found);
  }
}

static void nearest_is_exact_up_to_2_to_the_119(void **state) {
  (void)state;
  const hx_i128 one = 1;
  assert_true(hx_encode_nearest((hx_dd_t){0x1p119, -0x1p65}) == (one << 119) - (one << 65));
  assert_true(hx_encode_nearest((hx_dd_t){-0x1.fffffffffffffp119, 0x1p10}) ==
              -((one << 120) - (one << 67)) + (one << 10));
  assert_true(hx_encode_nearest((hx_dd_t){0x1p100, 0x1.8p1}) == (one << 100) + 3);
  assert_true(hx_encode_nearest((hx_dd_t){0x1p100, -0x1.4p1}) == (one << 100) - 2);  // - 2.5
}

static void integers_take_astronomic_values_and_scales(void **state) {
  (void)state;
  // One slot: coefficients are the real and the imaginary part times the scale.
  static const struct {
    double re, im, scale;
  } cases[] = {{1e300, -1e299, 0x1p900}, {0x1p-1000, 0x1p-1001, 0x1p1000}, {-0x1p-1074, 0.0, 0x1p1023},
               {0.0, -0.0, 0x1p40},      {0x1p1023, 1.0, 0x1p-1000},       {3.0, -5.0, 0x1p-1}};
  for (size_t i = 0; i < HX_COUNT_OF(cases); ++i) {
    const double values[2] = {cases[i].re, cases[i].im};
    hx_i128 integers[2];
    uint32_t shift = 99;
    const hx_packing_t packing = {.log_slots = 0, .scale_hi = cases[i].scale};
    assert_int_equal(hx_encode_integers(&packing, values, 1, true, integers, &shift), HX_STATUS_OK);
    for (size_t k = 0; k < 2; ++k) {
      int exponent, scale_exponent;
      const double mantissa = frexp(values[k], &exponent);
      (void)frexp(cases[i].scale, &scale_exponent);
      // mantissa * 2^(exponent + scale_exponent - 1 - shift), which the largest value makes exact.
      const int power = exponent + scale_exponent - 1 - (int)shift;
      const double expected = power < -60 ? 0.0 : nearbyint(ldexp(mantissa, power));
      assert_true((double)integers[k] == expected || fabs((double)integers[k] - ldexp(mantissa, power)) <= 0.5);
    }
  }
}

static void integers_are_the_same_bits_in_every_build(void **state) {
  (void)state;
  enum { LOG = 12, N = 1 << LOG };
  static double values[2 * N];
  static hx_i128 integers[2 * N];
  uint64_t random = 2024;
  for (size_t i = 0; i < 2 * N; ++i) values[i] = next_unit(&random);
  static const struct {
    double scale;
    const char *digest;
  } cases[] = {{0x1p40, "e22026aff0aef2f1fcc37a071a5b3ed0f834469e4b0fac291278ffed69d134d7"},
               {0x1.8p90, "e57a1943ddb7dbde491ccf643af489051420ba32e8282db8036c1437d9f248c4"}};
  for (size_t i = 0; i < HX_COUNT_OF(cases); ++i) {
    uint32_t shift = 0;
    const hx_packing_t packing = {.log_slots = LOG, .scale_hi = cases[i].scale};
    assert_int_equal(hx_encode_integers(&packing, values, N, true, integers, &shift), HX_STATUS_OK);
    assert_int_equal(shift, 0);
    uint8_t digest[32];
    char hex[65];
    crypto_hash_sha256(digest, (const uint8_t *)integers, sizeof integers);
    sodium_bin2hex(hex, sizeof hex, digest, sizeof digest);
    assert_string_equal(hex, cases[i].digest);
  }
}

static void integers_report_exhausted_memory(void **state) {
  (void)state;
  const double value = 1.0;
  hx_i128 integers[8];
  uint32_t shift;
  const hx_packing_t packing = {.log_slots = 2, .scale_hi = 1.0};
  assert_int_equal(hx_fft_prepare(2), HX_STATUS_OK);
  hx_alloc_fail_at(1);
  assert_int_equal(hx_encode_integers(&packing, &value, 1, false, integers, &shift), HX_STATUS_OUT_OF_MEMORY);
  hx_alloc_fail_at(0);
}

// Every instruction set of this processor gives the portable bits, and those of the loops number by number.
static void kernels_agree_bit_for_bit(void **state) {
  (void)state;
  const hx_encode_kernels_t *kernels[3];
  const size_t kinds = hx_encode_kernels_list(kernels);
  uint64_t x = 88172645463325252u;
  for (uint32_t log_slots = 0; log_slots <= 9; ++log_slots) {
    const size_t n = (size_t)1 << log_slots;
    assert_int_equal(hx_fft_prepare(log_slots), HX_STATUS_OK);
    double *in = calloc(4 * n, sizeof *in), *want = calloc(4 * n, sizeof *in), *got = calloc(4 * n, sizeof *in);
    int64_t *words = calloc(2 * n, sizeof *words), *first = calloc(2 * n, sizeof *words);
    assert_true(in != NULL && want != NULL && got != NULL && words != NULL && first != NULL);
    for (size_t i = 0; i < 4 * n; ++i) {
      x = x * 6364136223846793005u + 1442695040888963407u;
      in[i] = (double)(int64_t)x * (i < 2 * n ? 0x1p-63 : 0x1p-118);
    }
    for (int form = 0; form < 4; ++form) {
      for (size_t k = 0; k < kinds; ++k) {
        double *to = k == 0 ? want : got;
        memcpy(to, in, 4 * n * sizeof *in);
        const hx_fft_vector_t v = {to, to + n, to + 2 * n, to + 3 * n};
        void (*const forms[])(uint32_t, hx_fft_vector_t) = {kernels[k]->evaluate_double, kernels[k]->interpolate_double,
                                                            kernels[k]->evaluate, kernels[k]->interpolate};
        forms[form](log_slots, v);
        if (k > 0) assert_memory_equal(got, want, 4 * n * sizeof *in);
      }
      if (form < 2) continue;
      memcpy(got, in, 4 * n * sizeof *in);
      const hx_fft_vector_t v = {got, got + n, got + 2 * n, got + 3 * n};
      (form == 2 ? hx_fft_evaluate_small : hx_fft_interpolate_small)(log_slots, v);
      assert_memory_equal(got, want, 4 * n * sizeof *in);
    }
    for (size_t k = 0; k < kinds; ++k) {
      const hx_dd_t scale = {0.7, 0x1p-56};
      int64_t *to = k == 0 ? first : words;
      kernels[k]->round(in, in + 2 * n, 2 * n, scale, 0x1p59, to);
      for (size_t i = 0; i < 2 * n; ++i) {
        const hx_dd_t v = hx_dd_mul((hx_dd_t){in[i], in[2 * n + i]}, scale);
        assert_true(to[i] == (int64_t)hx_encode_nearest((hx_dd_t){v.hi * 0x1p59, v.lo * 0x1p59}));
      }
      double *hi = got, *lo = got + 2 * n;
      kernels[k]->widen(to, n, 2, hi, lo);
      for (size_t i = 0; i < n; ++i) assert_true((int64_t)(hi[i] * 0x1p62) + (int64_t)(lo[i] * 0x1p62) == to[2 * i]);
      kernels[k]->scale(hi, lo, n, scale);
      for (size_t i = 0; i < n; ++i) {
        const double h = (double)to[2 * i], l = (double)(to[2 * i] - (int64_t)h);
        assert_true(hi[i] == hx_dd_mul((hx_dd_t){h * 0x1p-62, l * 0x1p-62}, scale).hi);
      }
    }
    free(in), free(want), free(got), free(words), free(first);
  }
}

// Against the remainder of integers, at the edges of words and primes.
static void kernels_reduce_any_word_below_2_to_the_62(void **state) {
  (void)state;
  static const uint64_t primes[] = {2049, 7681, 1073479681, 1099511480321, 1125899906826241, 0x1ffffffffffffff1};
  const hx_encode_kernels_t *kernels[3];
  const size_t kinds = hx_encode_kernels_list(kernels);
  enum { COUNT = 1003 };
  int64_t words[COUNT];
  uint64_t found[COUNT];
  uint32_t narrow[COUNT];
  for (size_t p = 0; p < HX_COUNT_OF(primes); ++p) {
    const int64_t q = (int64_t)primes[p];
    uint64_t x = 88172645463325252u + p;
    for (int i = 0; i < COUNT; ++i) {
      x = x * 6364136223846793005u + 1442695040888963407u;
      const int64_t edge = (int64_t)(x >> 40) % (((int64_t)1 << 62) / q) * q + i % 3 - 1;
      words[i] = i % 2 == 0 ? (int64_t)x >> (1 + i % 62) : i % 4 == 1 ? edge : -edge;
    }
    words[0] = ((int64_t)1 << 62) - 1, words[1] = -words[0], words[2] = 0, words[3] = q, words[4] = -q,
    words[5] = q - 1;
    for (size_t k = 0; k < kinds; ++k) {
      kernels[k]->reduce(words, COUNT, primes[p], found);
      if (primes[p] < UINT32_MAX) kernels[k]->reduce32(words, COUNT, primes[p], narrow);
      for (int i = 0; i < COUNT; ++i) {
        const int64_t rest = words[i] % q, want = rest < 0 ? rest + q : rest;
        if (found[i] != (uint64_t)want)
          fail_msg("%s: %lld mod %lld", kernels[k]->name, (long long)words[i], (long long)q);
        if (primes[p] < UINT32_MAX) assert_true(narrow[i] == (uint64_t)want);
      }
    }
  }
}

// Every place of every length up to a few vectors and a tail.
static void kernels_see_any_bit_in_which_rows_differ(void **state) {
  (void)state;
  const hx_encode_kernels_t *kernels[3];
  const size_t kinds = hx_encode_kernels_list(kernels);
  enum { COUNT = 75 };
  uint64_t a[COUNT], b[COUNT];
  for (size_t i = 0; i < COUNT; ++i) a[i] = b[i] = 0x9e3779b97f4a7c15u * (i + 1);
  for (size_t k = 0; k < kinds; ++k) {
    for (size_t length = 1; length <= COUNT; ++length) {
      assert_true(kernels[k]->differ(a, b, 8 * length) == 0);
      for (size_t i = 0; i < length; ++i) {
        const uint64_t bit = (uint64_t)1 << (i * 7 % 64);
        b[i] ^= bit;
        assert_true(kernels[k]->differ(a, b, 8 * length) == bit);
        b[i] ^= bit;
      }
    }
    b[COUNT - 1] ^= 3;  // beyond the end
    assert_true(kernels[k]->differ(a, b, 8 * (COUNT - 1)) == 0);
    b[COUNT - 1] ^= 3;
  }
}

// Against the definitions, one word at a time.
static void kernels_sample_alike(void **state) {
  (void)state;
  static const uint64_t table[] = {0x0ff52b40a5917f1d, 0x2e5a25d4bf0e400e, 0x7ffffff428673853};
  const hx_encode_kernels_t *kernels[3];
  const size_t kinds = hx_encode_kernels_list(kernels);
  enum { COUNT = 301 };
  uint64_t words[COUNT], x = 5;
  int8_t small[COUNT], errors[COUNT];
  for (int i = 0; i < COUNT; ++i) words[i] = x = x * 6364136223846793005u + 1442695040888963407u;
  words[0] = 0, words[1] = UINT64_MAX, words[2] = 0x5555555555555556, words[3] = 0x5555555555555555;
  for (int i = 0; i < 3; ++i) words[4 + 2 * i] = table[i] << 1, words[5 + 2 * i] = ((table[i] - 1) << 1) | 1;
  for (size_t k = 0; k < kinds; ++k) {
    kernels[k]->ternary(words, COUNT, small);
    kernels[k]->gaussian(words, COUNT, table, 3, errors);
    for (int i = 0; i < COUNT; ++i) {
      assert_int_equal(small[i], (int)(((hx_u128)3 * words[i]) >> 64) - 1);
      int magnitude = 0;
      for (int t = 0; t < 3; ++t) magnitude += words[i] >> 1 >= table[t];
      assert_int_equal(errors[i], (words[i] & 1) != 0 ? -magnitude : magnitude);
    }
  }
}

// Halves and their neighbours, in all kernels.
static void kernels_round_ties_to_even(void **state) {
  (void)state;
  static const double hi[] = {0.5, 1.5, 2.5, -0.5, -1.5, 0x1p52 + 1, 0.5, 0.5, -0.5, -0.5, 0x1.fffffffffffffp59};
  static const double lo[] = {0, 0, 0, 0, 0, 0.5, 0x1p-60, -0x1p-60, 0x1p-60, -0x1p-60, 0};
  static const int64_t want[] = {0, 2, 2, 0, -2, 4503599627370498, 1, 0, 0, -1, 0x0fffffffffffff80};
  const hx_encode_kernels_t *kernels[3];
  const size_t kinds = hx_encode_kernels_list(kernels);
  for (size_t k = 0; k < kinds; ++k) {
    int64_t found[HX_COUNT_OF(want)];
    kernels[k]->round(hi, lo, HX_COUNT_OF(want), (hx_dd_t){1.0, 0.0}, 1.0, found);
    for (size_t i = 0; i < HX_COUNT_OF(want); ++i) assert_true(found[i] == want[i]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(root_of_pi_over_4_is_half_of_sqrt_2),
      cmocka_unit_test(root_of_pi_over_8_is_known),
      cmocka_unit_test(roots_lie_on_the_circle_and_square_to_each_other),
      cmocka_unit_test(evaluate_agrees_with_the_definition),
      cmocka_unit_test(interpolate_inverts_evaluate_at_every_size),
      cmocka_unit_test(slot_positions_are_a_permutation),
      cmocka_unit_test(nearest_breaks_ties_to_even),
      cmocka_unit_test(nearest_is_exact_up_to_2_to_the_119),
      cmocka_unit_test(integers_take_astronomic_values_and_scales),
      cmocka_unit_test(integers_are_the_same_bits_in_every_build),
      cmocka_unit_test(integers_report_exhausted_memory),
      cmocka_unit_test(kernels_agree_bit_for_bit),
      cmocka_unit_test(kernels_reduce_any_word_below_2_to_the_62),
      cmocka_unit_test(kernels_see_any_bit_in_which_rows_differ),
      cmocka_unit_test(kernels_sample_alike),
      cmocka_unit_test(kernels_round_ties_to_even),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
