// SPDX-License-Identifier: Apache-2.0
// Moving between bases against big integers: the exact values that CKKS.md defines, their bounds, and what they commute
// with.
#include "tests/kernels/test_reference.h"

#define LOG_N 4
#define N 16

// Values on all primes: as integers in [0, W), W their product, and as rows.
typedef struct {
  test_ring t;
  uint32_t count;
  uint32_t ids[TEST_PRIMES_MAX];
  big value[N], whole;
  uint64_t store[TEST_PRIMES_MAX][N];
  uint64_t *rows[TEST_PRIMES_MAX];
} basis;

static const struct {
  const char *name;
  uint32_t word, kept, dropped;
  uint32_t bits[8];
} cases[] = {
    {"one prime", 64, 2, 1, {50, 50, 61}},
    {"wide and narrow", 64, 3, 2, {61, 20, 40, 30, 61}},
    {"many", 64, 3, 4, {45, 45, 45, 50, 50, 50, 50}},
    {"dropped above kept", 64, 2, 3, {25, 25, 61, 61, 61}},
    {"small words", 32, 3, 3, {31, 31, 20, 31, 30, 30}},
    {"one kept", 32, 1, 2, {31, 31, 31}},
};

static big product_of(const basis *b, uint32_t first, uint32_t last) {
  big product = big_from(1);
  for (uint32_t i = first; i < last; ++i) product = big_mul(product, b->t.primes[i]);
  return product;
}

static void set_rows(basis *b) {
  for (uint32_t i = 0; i < b->count; ++i)
    for (int k = 0; k < N; ++k) b->store[i][k] = big_mod(b->value[k], b->t.primes[i]);
}

// Random integers, every digit of a mixed radix form at random, and next to each tie of a division by the dropped rows.
static void basis_make(basis *b, size_t which, uint64_t *seed) {
  memset(b, 0, sizeof *b);
  const uint32_t kept = cases[which].kept;
  ring_make(&b->t, LOG_N, cases[which].word, cases[which].bits, kept, cases[which].dropped, 1);
  b->count = kept + cases[which].dropped;
  for (uint32_t i = 0; i < b->count; ++i) {
    b->ids[i] = i;
    b->rows[i] = b->store[i];
  }
  b->whole = product_of(b, 0, b->count);
  for (int k = 0; k < N; ++k) {
    b->value[k] = big_from(0);
    for (uint32_t i = b->count; i-- > 0;)
      b->value[k] = big_add(big_mul(b->value[k], b->t.primes[i]), big_from(random_below(seed, b->t.primes[i])));
  }
  const big dropped = product_of(b, kept, b->count);
  uint64_t odd;
  const big half = big_div(dropped, 2, &odd);  // (D - 1) / 2
  const big base = big_mul(dropped, random_below(seed, b->t.primes[0]));
  b->value[0] = big_from(0);
  b->value[1] = big_from(1);
  b->value[2] = big_sub(b->whole, big_from(1));
  b->value[3] = big_add(base, half);
  b->value[4] = big_add(b->value[3], big_from(1));
  b->value[5] = base;
  b->value[6] = dropped;
  set_rows(b);
}

static hx_ref_rows part(const basis *b, uint32_t first, uint32_t count) {
  return (hx_ref_rows){count, b->ids + first, b->rows + first};
}

// sum_i y_i * (D/d_i) of coefficient k over the dropped rows, from the definition; y_i centred or in [0, d_i).
static big conversion(const basis *b, uint32_t first, int k, uint32_t rounding) {
  big sum = big_from(0);
  for (uint32_t i = first; i < b->count; ++i) {
    const uint64_t d = b->t.primes[i];
    big cofactor = big_from(1);
    for (uint32_t j = first; j < b->count; ++j)
      if (j != i) cofactor = big_mul(cofactor, b->t.primes[j]);
    const uint64_t inverse = power_by(big_mod(cofactor, d), d - 2, d);
    const uint64_t y = mul_by(big_mod(b->value[k], d), inverse, d);
    const int negative = rounding == HX_REF_NEAREST && y > (d - 1) / 2;
    const big term = big_mul(cofactor, negative ? d - y : y);
    sum = negative ? big_sub(sum, term) : big_add(sum, term);
  }
  return sum;
}

static void convert_is_the_defined_sum(void **state) {
  (void)state;
  uint64_t seed = 20;
  for (size_t s = 0; s < COUNT_OF(cases); ++s)
    for (uint32_t rounding = HX_REF_NEAREST; rounding <= HX_REF_TRUNCATING; ++rounding) {
      basis b;
      basis_make(&b, s, &seed);
      const uint32_t kept = cases[s].kept, dropped = cases[s].dropped;
      const hx_ref_rows from = part(&b, kept, dropped), to = part(&b, 0, kept);
      hx_ref_convert(b.t.ring, &from, &to, rounding);
      const big product = product_of(&b, kept, b.count);
      for (int k = 0; k < N; ++k) {
        const big sum = conversion(&b, kept, k, rounding);
        if (rounding == HX_REF_NEAREST)  // smaller than |D| * D / 2
          assert_true(big_less(big_abs(big_mul(sum, 2)), big_mul(product, dropped)));
        for (uint32_t i = kept; i < b.count; ++i)  // congruent to x mod D
          assert_true(big_mod(sum, b.t.primes[i]) == b.store[i][k]);
        for (uint32_t i = 0; i < kept; ++i) assert_true(b.store[i][k] == big_mod(sum, b.t.primes[i]));
      }
      ring_free(&b.t);
    }
}

static void mod_down_divides_exactly_what_is_defined(void **state) {
  (void)state;
  uint64_t seed = 21;
  for (size_t s = 0; s < COUNT_OF(cases); ++s)
    for (uint32_t rounding = HX_REF_NEAREST; rounding <= HX_REF_TRUNCATING; ++rounding) {
      basis b;
      basis_make(&b, s, &seed);
      const uint32_t kept = cases[s].kept, dropped = cases[s].dropped;
      const big product = product_of(&b, kept, b.count);
      const hx_ref_rows keep = part(&b, 0, kept), drop = part(&b, kept, dropped);
      hx_ref_mod_down(b.t.ring, &keep, &drop, rounding);
      for (int k = 0; k < N; ++k) {
        big quotient = big_sub(b.value[k], conversion(&b, kept, k, rounding));
        for (uint32_t i = kept; i < b.count; ++i) {
          uint64_t rest;
          quotient = big_div(quotient, b.t.primes[i], &rest);
          assert_true(rest == 0);
        }
        big back = quotient;  // quotient * D
        for (uint32_t i = kept; i < b.count; ++i) back = big_mul(back, b.t.primes[i]);
        const big error = big_sub(b.value[k], back);  // (x/D - quotient) * D
        if (rounding == HX_REF_NEAREST) {
          assert_true(big_less(big_abs(big_mul(error, 2)), big_mul(product, dropped)));
        } else {  // floor(x/D) - u, 0 <= u < |D|
          assert_false(big_is_negative(error));
          assert_true(big_less(error, big_mul(product, dropped)));
        }
        for (uint32_t i = 0; i < kept; ++i) assert_true(b.store[i][k] == big_mod(quotient, b.t.primes[i]));
      }
      ring_free(&b.t);
    }
}

// Nearest: a group at once is one nearest division by its product. Truncating: floor, one prime after the other.
static void rescale_rounds_exactly(void **state) {
  (void)state;
  uint64_t seed = 22;
  for (size_t s = 0; s < COUNT_OF(cases); ++s)
    for (uint32_t rounding = HX_REF_NEAREST; rounding <= HX_REF_TRUNCATING; ++rounding) {
      basis b;
      basis_make(&b, s, &seed);
      const uint32_t kept = cases[s].kept;
      const hx_ref_rows x = part(&b, 0, b.count);
      hx_ref_rescale(b.t.ring, &x, cases[s].dropped, rounding);
      uint64_t rest;
      const big half = big_div(product_of(&b, kept, b.count), 2, &rest);
      for (int k = 0; k < N; ++k) {
        big wanted = rounding == HX_REF_NEAREST ? big_add(b.value[k], half) : b.value[k];
        for (uint32_t i = kept; i < b.count; ++i) wanted = big_div(wanted, b.t.primes[i], &rest);
        for (uint32_t i = 0; i < kept; ++i) assert_true(b.store[i][k] == big_mod(wanted, b.t.primes[i]));
      }
      ring_free(&b.t);
    }
}

static void mixed_radix_digits_compose_the_integer(void **state) {
  (void)state;
  uint64_t seed = 23;
  for (size_t s = 0; s < COUNT_OF(cases); ++s) {
    basis b;
    basis_make(&b, s, &seed);
    const hx_ref_rows x = part(&b, 0, b.count);
    hx_ref_mixed_radix(b.t.ring, &x);
    for (int k = 0; k < N; ++k) {
      big value = big_from(0);
      for (uint32_t i = b.count; i-- > 0;) {
        assert_true(b.store[i][k] < b.t.primes[i]);
        value = big_add(big_mul(value, b.t.primes[i]), big_from(b.store[i][k]));
      }
      assert_true(big_equal(value, b.value[k]));
    }
    // The integer of some rows, to any prime of the ring, theirs too.
    set_rows(&b);
    const hx_ref_rows some = part(&b, 0, cases[s].kept);
    const big product = product_of(&b, 0, cases[s].kept);
    hx_ref_mixed_radix(b.t.ring, &some);
    for (uint32_t to = 0; to < b.count; ++to) {
      uint64_t out[N];
      hx_ref_mixed_radix_residue(b.t.ring, &some, to, out);
      for (int k = 0; k < N; ++k) {
        big value = big_from(0);
        for (uint32_t i = cases[s].kept; i-- > 0;)
          value = big_add(big_mul(value, b.t.primes[i]), big_from(b.store[i][k]));
        assert_true(big_less(value, product));
        assert_true(out[k] == big_mod(value, b.t.primes[to]));
      }
    }
    ring_free(&b.t);
  }
}

typedef void mover(const basis *b, uint32_t kept, uint32_t dropped);

static void move_convert(const basis *b, uint32_t kept, uint32_t dropped) {
  const hx_ref_rows from = part(b, kept, dropped), to = part(b, 0, kept);
  hx_ref_convert(b->t.ring, &from, &to, HX_REF_NEAREST);
}

static void move_mod_down(const basis *b, uint32_t kept, uint32_t dropped) {
  const hx_ref_rows keep = part(b, 0, kept), drop = part(b, kept, dropped);
  hx_ref_mod_down(b->t.ring, &keep, &drop, HX_REF_NEAREST);
}

static void move_rescale(const basis *b, uint32_t kept, uint32_t dropped) {
  const hx_ref_rows x = part(b, 0, kept + dropped);
  hx_ref_rescale(b->t.ring, &x, dropped, HX_REF_NEAREST);
}

static void apply_sigma(basis *b, uint64_t element) {
  for (uint32_t i = 0; i < b->count; ++i) {
    uint64_t moved[N];
    hx_ref_row_automorphism(b->t.ring, i, element, b->store[i], moved);
    memcpy(b->store[i], moved, sizeof moved);
  }
}

static void negate(basis *b) {
  for (uint32_t i = 0; i < b->count; ++i) hx_ref_row_neg(b->t.ring, i, b->store[i], b->store[i]);
}

static void nearest_moves_commute_with_negation_and_sigma(void **state) {
  (void)state;
  static mover *const movers[] = {move_convert, move_mod_down, move_rescale};
  uint64_t seed = 24;
  for (size_t s = 0; s < COUNT_OF(cases); ++s)
    for (size_t m = 0; m < COUNT_OF(movers); ++m)
      for (uint64_t g = 0; g < 2 * N; g = g == 0 ? 3 : g + 14) {  // 0: negation
        const uint32_t kept = cases[s].kept, dropped = cases[s].dropped;
        basis first, last;
        basis_make(&first, s, &seed);
        memcpy(&last, &first, sizeof last);
        for (uint32_t i = 0; i < last.count; ++i) last.rows[i] = last.store[i];
        if (g == 0)
          negate(&first);
        else
          apply_sigma(&first, g);
        movers[m](&first, kept, dropped);
        movers[m](&last, kept, dropped);
        if (g == 0)
          negate(&last);
        else
          apply_sigma(&last, g);
        for (uint32_t i = 0; i < kept; ++i) assert_rows_equal(first.store[i], last.store[i], N);
        ring_free(&first.t);
      }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(convert_is_the_defined_sum),
      cmocka_unit_test(mod_down_divides_exactly_what_is_defined),
      cmocka_unit_test(rescale_rounds_exactly),
      cmocka_unit_test(mixed_radix_digits_compose_the_integer),
      cmocka_unit_test(nearest_moves_commute_with_negation_and_sigma),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
