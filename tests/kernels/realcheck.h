// SPDX-License-Identifier: Apache-2.0
// The real path of a plugin's kernels against 128-bit integers: included after its arith.h and after `next_word` and
// `pick`, which make random words and values at the edges of a range.
#ifndef HX_TESTS_REALCHECK_H
#define HX_TESTS_REALCHECK_H

__extension__ typedef unsigned __int128 realcheck_u128;

// A signed double as a residue.
static uint64_t residue_of(double x, uint64_t q) {
  const int64_t value = (int64_t)x;
  const uint64_t size = (uint64_t)(value < 0 ? -value : value) % q;
  return value < 0 && size != 0 ? q - size : size;
}

static double centred_of(uint64_t q, uint64_t residue) {
  return residue > q / 2 ? -(double)(q - residue) : (double)residue;
}

// real: q as a double; inverse: 1/q.
static void check_real_products(uint64_t q, double real, double inverse) {
  assert_true((uint64_t)real == q);
  for (int i = 0; i < 2000; i++) {
    const uint64_t a = pick(q), w = pick(q);
    // Up to 4 q, of either sign, as stages make them.
    const double size = (double)a + (double)(next_word() % 4) * real, x = i % 2 == 0 ? size : -size;
    const double centred = centred_of(q, w), product = real_mul(x, centred, real, inverse);
    assert_true(fabs(centred) <= real / 2);
    assert_true(fabs(product) <= real);
    assert_int_equal(residue_of(product, q), (uint64_t)((realcheck_u128)residue_of(x, q) * w % q));
    const double reduced = real_reduce(x, real, inverse);
    assert_true(fabs(reduced) <= real / 2 + real * 0x1p-52 + 1);
    assert_int_equal(residue_of(reduced, q), residue_of(x, q));
    assert_int_equal(real_store(x, real, inverse), residue_of(x, q));
    assert_int_equal(real_store(real_load(a), real, inverse), a);
  }
}

// Sums of so many products, as conversions make them.
static void check_real_sums(uint64_t q, uint32_t terms) {
  for (int i = 0; i < 2000; i++) {
    uint64_t low = 0, expected = 0;
    double quotient = 0;
    for (uint32_t s = 0; s < terms; s++) {
      const uint64_t y = i % 3 == 0 ? ((uint64_t)1 << 50) - 1 : pick((uint64_t)1 << 50);
      const uint64_t w = i % 3 == 0 ? (i % 2 == 0 ? q / 2 : q / 2 + 1) : pick(q);
      low += y * (w > q / 2 ? w - q : w);
      quotient = fma((double)y, centred_of(q, w) / (double)q, quotient);
      expected = (uint64_t)((expected + (realcheck_u128)y * w) % q);
    }
    assert_int_equal(real_rest(low, quotient, q), expected);
  }
}

#endif
