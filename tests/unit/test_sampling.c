// SPDX-License-Identifier: Apache-2.0
// Streams and distributions. Every stream here is seeded, so each statistic is one fixed number; the bounds are those
// that a right sampler passes with probability above 1 - 10^-9 for any seed.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/base/memory.h"
#include "core/ckks/random.h"
#include "core/ckks/sampling.h"

enum { COUNT = 1 << 18 };

static const uint8_t seed[32] = {1, 2, 3, 4, 5};

static int8_t *samples(void (*draw)(hx_random_t *, size_t, int8_t *)) {
  hx_random_t random;
  hx_random_init_seeded(&random, seed);
  int8_t *out = hx_alloc(COUNT);
  assert_non_null(out);
  draw(&random, COUNT, out);
  hx_random_deinit(&random);
  return out;
}

// Sum of (seen - expected)^2 / expected.
static double chi_square(const double *seen, const double *expected, size_t cells) {
  double sum = 0;
  for (size_t i = 0; i < cells; ++i) sum += (seen[i] - expected[i]) * (seen[i] - expected[i]) / expected[i];
  return sum;
}

static void random_seeded_streams_repeat_and_split_anywhere(void **state) {
  (void)state;
  static uint8_t whole[10000], pieces[10000];
  hx_random_t random;
  hx_random_init_seeded(&random, seed);
  hx_random_bytes(&random, whole, sizeof whole);
  hx_random_init_seeded(&random, seed);
  for (size_t at = 0, size = 1; at < sizeof pieces; at += size, size = size % 700 + 13) {
    if (size > sizeof pieces - at) size = sizeof pieces - at;
    hx_random_bytes(&random, pieces + at, size);
  }
  assert_memory_equal(whole, pieces, sizeof whole);
  // Blocks do not repeat where the buffer ends.
  assert_memory_not_equal(whole, whole + HX_RANDOM_BLOCK_BYTES, 64);
}

static void random_streams_are_chacha20_of_their_key(void **state) {
  (void)state;
  // First block of the all-zero key and nonce.
  static const uint8_t zero[32];
  static const uint8_t expected[16] = {0x76, 0xb8, 0xe0, 0xad, 0xa0, 0xf1, 0x3d, 0x90,
                                       0x40, 0x5d, 0x6a, 0xe5, 0x53, 0x86, 0xbd, 0x28};
  uint8_t found[16];
  hx_random_t random;
  hx_random_init_seeded(&random, zero);
  hx_random_bytes(&random, found, sizeof found);
  assert_memory_equal(found, expected, sizeof expected);
}

static void random_fresh_streams_differ(void **state) {
  (void)state;
  hx_random_t a, b;
  assert_int_equal(hx_random_init(&a, NULL), HX_STATUS_OK);
  assert_int_equal(hx_random_init(&b, NULL), HX_STATUS_OK);
  assert_true(hx_random_word(&a) != hx_random_word(&b));
  hx_random_deinit(&a);
  static const hx_random_t wiped;
  assert_memory_equal(&a, &wiped, sizeof a);
}

static void random_streams_differ_after_fork(void **state) {
  (void)state;
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  const pid_t child = fork();
  assert_true(child >= 0);
  hx_random_t random;
  const bool good = hx_random_init(&random, NULL) == HX_STATUS_OK;
  const uint64_t word = good ? hx_random_word(&random) : 0;
  if (child == 0) _exit(good && write(ends[1], &word, sizeof word) == sizeof word ? 0 : 1);
  uint64_t other = 0;
  int status = 1;
  assert_int_equal(read(ends[0], &other, sizeof other), sizeof other);
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  assert_true(good && word != other);
  close(ends[0]);
  close(ends[1]);
}

static void ternary_is_uniform(void **state) {
  (void)state;
  int8_t *x = samples(hx_sample_ternary);
  double seen[3] = {0}, expected[3] = {COUNT / 3.0, COUNT / 3.0, COUNT / 3.0};
  for (size_t i = 0; i < COUNT; ++i) {
    assert_true(x[i] >= -1 && x[i] <= 1);
    seen[x[i] + 1] += 1;
  }
  assert_true(chi_square(seen, expected, 3) < 42);  // 2 degrees: P(> 42) = e^-21
  hx_free(x);
}

// Probability of e under the discrete Gaussian cut at 19.
static double gaussian(int e) {
  double sum = 0;
  for (int k = -HX_ERROR_MAX; k <= HX_ERROR_MAX; ++k) sum += exp(-k * k / (2 * 3.2 * 3.2));
  return exp(-e * e / (2 * 3.2 * 3.2)) / sum;
}

static void error_follows_the_cut_gaussian(void **state) {
  (void)state;
  int8_t *x = samples(hx_sample_error);
  // Cells -12 .. 12 one by one (the rarest expects 46), the rest together.
  double seen[26] = {0}, expected[26] = {0}, mean = 0, square = 0;
  for (size_t i = 0; i < COUNT; ++i) {
    assert_true(x[i] >= -HX_ERROR_MAX && x[i] <= HX_ERROR_MAX);
    seen[x[i] < -12 || x[i] > 12 ? 25 : x[i] + 12] += 1;
    mean += x[i];
    square += (double)x[i] * x[i];
  }
  for (int e = -HX_ERROR_MAX; e <= HX_ERROR_MAX; ++e) expected[e < -12 || e > 12 ? 25 : e + 12] += COUNT * gaussian(e);
  assert_true(chi_square(seen, expected, 26) < 100);  // 25 degrees: P(> 100) < 10^-10
  assert_true(fabs(mean) / COUNT < 6.2 * 3.2 / sqrt(COUNT));
  assert_true(fabs(square / COUNT - 10.24) < 6.2 * 10.24 * sqrt(2.0 / COUNT));
  hx_free(x);
}

static void error_neighbours_are_uncorrelated(void **state) {
  (void)state;
  int8_t *x = samples(hx_sample_error);
  for (size_t lag = 1; lag <= 64; ++lag) {
    double sum = 0;
    for (size_t i = lag; i < COUNT; ++i) sum += (double)x[i] * x[i - lag];
    assert_true(fabs(sum) < 6.7 * 10.24 * sqrt(COUNT));
  }
  hx_free(x);
}

static void error_reaches_the_tail_cut_and_not_beyond(void **state) {
  (void)state;
  // P(|e| = 12) is about 3.5 10^-4: some are seen in any quarter of a million.
  int8_t *x = samples(hx_sample_error);
  int largest = 0;
  for (size_t i = 0; i < COUNT; ++i) largest = abs(x[i]) > largest ? abs(x[i]) : largest;
  assert_in_range(largest, 12, HX_ERROR_MAX);
  hx_free(x);
}

static void weight_is_exact_and_spread_evenly(void **state) {
  (void)state;
  enum { N = 256, ROUNDS = 4000 };
  hx_random_t random;
  hx_random_init_seeded(&random, seed);
  static double seen[N];
  double expected[N], signs = 0;
  int8_t x[N];
  memset(seen, 0, sizeof seen);
  for (size_t round = 0; round < ROUNDS; ++round) {
    assert_true(hx_sample_weight(&random, N, 64, x));
    size_t nonzero = 0;
    for (size_t i = 0; i < N; ++i) {
      assert_true(x[i] >= -1 && x[i] <= 1);
      nonzero += x[i] != 0;
      seen[i] += x[i] != 0;
      signs += x[i];
    }
    assert_int_equal(nonzero, 64);
  }
  for (size_t i = 0; i < N; ++i) expected[i] = ROUNDS / 4.0;
  // Each cell is binomial with variance 3/4 of its mean; 255 degrees: 0.75 * (255 + 6.5 sqrt(510)) with room.
  assert_true(chi_square(seen, expected, N) < 310);
  assert_true(fabs(signs) < 6.2 * sqrt(ROUNDS * 64.0));
  hx_random_deinit(&random);
}

static void weight_handles_none_and_all(void **state) {
  (void)state;
  hx_random_t random;
  hx_random_init_seeded(&random, seed);
  int8_t x[8];
  assert_true(hx_sample_weight(&random, 8, 0, x));
  for (size_t i = 0; i < 8; ++i) assert_int_equal(x[i], 0);
  assert_true(hx_sample_weight(&random, 8, 8, x));
  for (size_t i = 0; i < 8; ++i) assert_int_equal(x[i] * x[i], 1);
  hx_random_deinit(&random);
}

static void weight_reports_exhausted_memory(void **state) {
  (void)state;
  hx_random_t random;
  hx_random_init_seeded(&random, seed);
  int8_t x[8];
  hx_alloc_fail_at(1);
  assert_false(hx_sample_weight(&random, 8, 4, x));
  hx_alloc_fail_at(0);
  hx_random_deinit(&random);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_seeded_streams_repeat_and_split_anywhere),
      cmocka_unit_test(random_streams_are_chacha20_of_their_key),
      cmocka_unit_test(random_fresh_streams_differ),
      cmocka_unit_test(random_streams_differ_after_fork),
      cmocka_unit_test(ternary_is_uniform),
      cmocka_unit_test(error_follows_the_cut_gaussian),
      cmocka_unit_test(error_neighbours_are_uncorrelated),
      cmocka_unit_test(error_reaches_the_tail_cut_and_not_beyond),
      cmocka_unit_test(weight_is_exact_and_spread_evenly),
      cmocka_unit_test(weight_handles_none_and_all),
      cmocka_unit_test(weight_reports_exhausted_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
