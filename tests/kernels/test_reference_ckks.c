// SPDX-License-Identifier: Apache-2.0
// Whole ckks operations without keys: what happens to each component, depth groups, prepared plaintexts.
#include "tests/kernels/test_reference_call.h"

static const uint32_t all[] = {0, 1, 2, 3, 4, 5, 6};
static const uint32_t extended[] = {0, 1, 2, 3, 5, 6};         // Q_1 and P
static const uint32_t sizes[] = {50, 44, 45, 46, 43, 50, 51};  // five of Q, two of P

enum { N = 16, Q = 5, P = 2, RUN = 2, ACTIVE = 4 };

static void pointwise_operations_treat_components_as_defined(void **state) {
  (void)state;
  test_ring t;
  ring_make(&t, 4, 64, sizes, Q, P, RUN);
  uint64_t seed = 50;
  tensor a, b, p, two, three;
  tensor_make(&a, &t, 2, ACTIVE, all, HX_NTT);
  tensor_make(&b, &t, 2, ACTIVE, all, HX_NTT);
  tensor_make(&p, &t, 1, ACTIVE, all, HX_NTT);
  tensor_make(&two, &t, 2, ACTIVE, all, HX_NTT);
  tensor_make(&three, &t, 3, ACTIVE, all, HX_NTT);
  tensor_fill(&a, &t, &seed);
  tensor_fill(&b, &t, &seed);
  tensor_fill(&p, &t, &seed);
  uint64_t residues[2 * ACTIVE];
  for (uint32_t i = 0; i < 2 * ACTIVE; ++i) residues[i] = random_below(&seed, t.primes[i / 2]);
  static const char *const names[] = {"ckks.add",        "ckks.sub",        "ckks.neg",
                                      "ckks.add_plain",  "ckks.sub_plain",  "ckks.mul_plain",
                                      "ckks.add_scalar", "ckks.mul_scalar", "ckks.mul_integer"};
  for (size_t o = 0; o < COUNT_OF(names); ++o) {
    const uint32_t operands = o < 6 && o != 2 ? 2 : 1;
    tensor *const binary[] = {&a, o < 2 ? &b : &p, &two}, *const unary[] = {&a, &two};
    const hx_attr attr = o < 8 ? ATTR_U64("residues", 2 * ACTIVE, residues) : ATTR_I64("integer", INT64_MIN + 5);
    run(&t, names[o], operands, 1, operands == 2 ? binary : unary, o >= 6, &attr);
    for (uint32_t c = 0; c < 2; ++c)
      for (uint32_t l = 0; l < ACTIVE; ++l)
        for (uint32_t i = 0; i < N; ++i) {
          const uint64_t q = t.primes[l], x = tensor_row(&a, 0, c, l)[i], y = tensor_row(&b, 0, c, l)[i];
          const uint64_t z = tensor_row(&p, 0, 0, l)[i], k = residues[2 * l + (i >= N / 2)];
          const i128 signed_rest = ((i128)INT64_MIN + 5) % (i128)q;
          const uint64_t factor = (uint64_t)(signed_rest < 0 ? signed_rest + q : signed_rest);
          const uint64_t wanted[] = {(x + y) % q,
                                     (x + q - y) % q,
                                     (q - x) % q,
                                     c == 0 ? (x + z) % q : x,
                                     c == 0 ? (x + q - z) % q : x,
                                     mul_by(x, z, q),
                                     c == 0 ? (x + k) % q : x,
                                     mul_by(x, k, q),
                                     mul_by(x, factor, q)};
          assert_true(tensor_row(&two, 0, c, l)[i] == wanted[o]);
        }
  }
  for (uint32_t form = 0; form < 2; ++form) {
    const tensor *second = form == 0 ? &b : &a;
    if (form == 0)
      run(&t, "ckks.mul", 2, 1, VALUES(&a, &b, &three), NO_ATTRS);
    else
      run(&t, "ckks.square", 1, 1, VALUES(&a, &three), NO_ATTRS);
    for (uint32_t l = 0; l < ACTIVE; ++l)
      for (uint32_t i = 0; i < N; ++i) {
        const uint64_t q = t.primes[l], x0 = tensor_row(&a, 0, 0, l)[i], x1 = tensor_row(&a, 0, 1, l)[i];
        const uint64_t y0 = tensor_row(second, 0, 0, l)[i], y1 = tensor_row(second, 0, 1, l)[i];
        assert_true(tensor_row(&three, 0, 0, l)[i] == mul_by(x0, y0, q));
        assert_true(tensor_row(&three, 0, 1, l)[i] == (mul_by(x0, y1, q) + mul_by(x1, y0, q)) % q);
        assert_true(tensor_row(&three, 0, 2, l)[i] == mul_by(x1, y1, q));
      }
  }
  refuse(&t, HX_INVALID, "operand 0 has components 3, must be 2", "ckks.mul", 2, 1, VALUES(&three, &b, &three),
         NO_ATTRS);
  refuse(&t, HX_INVALID, "operand 1 has components 2, must be 1", "ckks.add_plain", 2, 1, VALUES(&a, &b, &two),
         NO_ATTRS);
  a.desc.repr = b.desc.repr = two.desc.repr = HX_LAZY;
  refuse(&t, HX_INVALID, "operand 0 is lazy, must be standard", "ckks.add", 2, 1, VALUES(&a, &b, &two), NO_ATTRS);
  tensor_free(&a);
  tensor_free(&b);
  tensor_free(&p);
  tensor_free(&two);
  tensor_free(&three);
  ring_free(&t);
}

// Groups: base of two primes, then two and one.
static void rescale_and_level_drop_follow_depth_groups(void **state) {
  (void)state;
  test_ring t;
  ring_describe(&t, 4, 64, sizes, Q, P, RUN);
  t.desc.group_count = 3;
  t.group_sizes[0] = t.group_sizes[1] = 2;
  t.group_sizes[2] = 1;
  ring_open(&t);
  uint64_t seed = 51;
  tensor five, four, two, wanted;
  tensor_make(&five, &t, 2, 5, all, HX_NTT);
  tensor_make(&four, &t, 2, 4, all, HX_NTT);
  tensor_make(&two, &t, 2, 2, all, HX_NTT);
  tensor_make(&wanted, &t, 2, 2, all, HX_NTT);
  tensor_fill(&five, &t, &seed);
  run(&t, "ckks.rescale", 1, 1, VALUES(&five, &four), NO_ATTRS);
  run(&t, "ckks.rescale", 1, 1, VALUES(&four, &two), NO_ATTRS);  // both primes of the group
  run(&t, "rns.rescale", 1, 1, VALUES(&five, &wanted), ATTRS(ATTR_I64("count", 3), ATTR_TEXT("rounding", "nearest")));
  assert_rows_equal(two.memory, wanted.memory, two.words);
  run(&t, "ckks.level_drop", 1, 1, VALUES(&five, &two), ATTRS(ATTR_I64("depth", 2)));
  for (uint32_t c = 0; c < 2; ++c)
    for (uint32_t l = 0; l < 2; ++l) assert_rows_equal(tensor_row(&two, 0, c, l), tensor_row(&five, 0, c, l), N);
  static const uint32_t ids[] = {0, 1, 2, 3, 5, 6}, kept[] = {0, 1, 5, 6};
  tensor weight, dropped;
  tensor_make(&weight, &t, 1, 6, ids, HX_NTT);  // a plaintext on Q_1 and P keeps P's rows
  tensor_make(&dropped, &t, 1, 4, kept, HX_NTT);
  tensor_fill(&weight, &t, &seed);
  run(&t, "ckks.level_drop", 1, 1, VALUES(&weight, &dropped), ATTRS(ATTR_I64("depth", 2)));
  for (uint32_t l = 0; l < 4; ++l)
    assert_rows_equal(tensor_row(&dropped, 0, 0, l), tensor_row(&weight, 0, 0, l < 2 ? l : l + 2), N);
  tensor_free(&weight);
  tensor_free(&dropped);
  refuse(&t, HX_INVALID, "no depth is left", "ckks.rescale", 1, 1, VALUES(&two, &wanted), NO_ATTRS);
  refuse(&t, HX_INVALID, "depth is 3, must be from 0 to 2", "ckks.level_drop", 1, 1, VALUES(&five, &two),
         ATTRS(ATTR_I64("depth", 3)));
  refuse(&t, HX_INVALID, "operand 0 has no row of prime 4, which is to be kept", "ckks.level_drop", 1, 1,
         VALUES(&four, &four), ATTRS(ATTR_I64("depth", 0)));
  four.desc.limbs = 3;
  refuse(&t, HX_INVALID, "end within a depth group", "ckks.rescale", 1, 1, VALUES(&four, &two), NO_ATTRS);
  tensor_free(&five);
  tensor_free(&four);
  tensor_free(&two);
  tensor_free(&wanted);
  ring_free(&t);
}

// A plaintext whose coefficients are at the edges mod Q_d, to P: the centred integer there.
static void prepare_plain_centres_each_coefficient(void **state) {
  (void)state;
  test_ring t;
  ring_make(&t, 4, 64, sizes, Q, P, RUN);
  tensor plain, weight, mul;
  tensor_make(&plain, &t, 1, ACTIVE, all, HX_COEFFICIENT);
  tensor_make(&weight, &t, 1, ACTIVE + P, extended, HX_NTT);
  tensor_make(&mul, &t, 1, ACTIVE, all, HX_NTT);
  big product = big_from(1);
  for (uint32_t l = 0; l < ACTIVE; ++l) product = big_mul(product, t.primes[l]);
  uint64_t rest;
  const big half = big_div(product, 2, &rest);
  big value[N];
  for (int i = 0; i < N; ++i) {
    const big size = i < 8 ? big_sub(half, big_from((uint64_t)i / 2)) : big_from((uint64_t)i / 2 - 4);
    value[i] = i % 2 == 0 ? size : big_neg(size);
    for (uint32_t l = 0; l < ACTIVE; ++l) tensor_row(&plain, 0, 0, l)[i] = big_mod(value[i], t.primes[l]);
  }
  run(&t, "ckks.prepare_plain", 1, 1, VALUES(&plain, &weight), ATTRS(ATTR_TEXT("for", "weighted")));
  run(&t, "ckks.prepare_plain", 1, 1, VALUES(&plain, &mul), ATTRS(ATTR_TEXT("for", "mul")));
  for (uint32_t l = 0; l < ACTIVE + P; ++l) {
    const uint32_t id = extended[l];
    uint64_t row[N];
    for (int i = 0; i < N; ++i) row[i] = big_mod(value[i], t.primes[id]);
    hx_ref_ntt_forward(t.ring, id, row);
    assert_rows_equal(tensor_row(&weight, 0, 0, l), row, N);
    if (l < ACTIVE) assert_rows_equal(tensor_row(&mul, 0, 0, l), row, N);
  }
  tensor_free(&plain);
  tensor_free(&weight);
  tensor_free(&mul);
  ring_free(&t);
}

static void operations_with_keys_need_special_primes(void **state) {
  (void)state;
  test_ring t;
  ring_make(&t, 4, 64, sizes, 3, 0, 1);
  tensor c, key, out;
  tensor_make(&c, &t, 2, 3, all, HX_NTT);
  tensor_make(&out, &t, 2, 3, all, HX_NTT);
  tensor_shape(&key, &t, 0, NULL, 3, 2, 3, all, HX_NTT);
  refuse(&t, HX_INVALID, "no special primes P", "ckks.key_switch", 2, 1, VALUES(&c, &key, &out), NO_ATTRS);
  refuse(&t, HX_INVALID, "no special primes P", "ckks.rotate_sum", 1, 1, VALUES(&c, &out), ATTRS(ATTR_I64("steps", 0)));
  refuse(&t, HX_INVALID, "no special primes P", "rns.mod_down", 1, 1, VALUES(&c, &out),
         ATTRS(ATTR_TEXT("rounding", "nearest")));
  tensor_free(&c);
  tensor_free(&key);
  tensor_free(&out);
  ring_free(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pointwise_operations_treat_components_as_defined),
      cmocka_unit_test(rescale_and_level_drop_follow_depth_groups),
      cmocka_unit_test(prepare_plain_centres_each_coefficient),
      cmocka_unit_test(operations_with_keys_need_special_primes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
