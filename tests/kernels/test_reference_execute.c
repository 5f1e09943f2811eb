// SPDX-License-Identifier: Apache-2.0
// Whole rns and ntt operations: shapes, strides, batches, words and domains, against row functions and definitions.
#include "tests/kernels/test_reference_call.h"

static const uint32_t all[] = {0, 1, 2, 3, 4, 5};
static const uint32_t some[] = {0, 1, 2};
static const uint32_t sizes[] = {50, 45, 40, 41, 55, 56};  // four of Q, two of P

#define N 16

static void setup(test_ring *t) { ring_make(t, 4, 64, sizes, 4, 2, 2); }

static void every_operation_of_the_catalogue_has_a_reference(void **state) {
  (void)state;
  enum { PRIMITIVE = 1, DERIVED = 1, WHOLE = 1, HOST = 0, STRUCTURE = 0 };
#define OP(id_, name_, signature_, tier_, effect_, flags_, operands_, results_, attributes_, infer_, doc_) \
  if (tier_ != 0 && !hx_reference_has(name_)) fail_msg("%s has no reference", name_);
#include "core/ops/ops.def"
  assert_int_equal(hx_reference_has("rns.nothing"), 0);
  assert_int_equal(hx_reference_has(NULL), 0);
}

static void linear_operations_take_strides_and_batches(void **state) {
  (void)state;
  test_ring t;
  setup(&t);
  uint64_t seed = 30;
  const uint64_t shape[] = {2, 3};
  tensor a, b, out;
  tensor_shape(&a, &t, 2, shape, 0, 2, 3, some, HX_COEFFICIENT);
  tensor_make(&b, &t, 1, 3, some, HX_COEFFICIENT);  // no batch, one component: a stride of 0
  b.desc.components = 2;
  b.desc.component_stride = 0;
  tensor_shape(&out, &t, 2, shape, 0, 2, 3, some, HX_COEFFICIENT);
  free(out.memory);  // components outside, then items, rows two apart: nothing dense
  out.desc.limb_stride = 2 * N;
  out.batch_strides[1] = 6 * N;
  out.batch_strides[0] = 18 * N;
  out.desc.component_stride = 36 * N;
  tensor_memory(&out, (uint64_t)72 * N);
  tensor_fill(&a, &t, &seed);
  tensor_fill(&b, &t, &seed);
  run(&t, "rns.sub", 2, 1, VALUES(&a, &b, &out), NO_ATTRS);
  for (uint32_t item = 0; item < 6; ++item)
    for (uint32_t c = 0; c < 2; ++c)
      for (uint32_t l = 0; l < 3; ++l)
        for (uint32_t i = 0; i < N; ++i) {
          const uint64_t q = t.primes[l], x = a.memory[((item * 2 + c) * 3 + l) * N + i], y = b.memory[l * N + i];
          const uint64_t *row = out.memory + (size_t)(c * 36 + item * 6 + l * 2) * N;
          assert_true(row[i] == (x + q - y) % q);
          assert_true(row[N + i] == GUARD);  // between the rows
        }
  tensor_free(&a);
  tensor_free(&b);
  tensor_free(&out);
  ring_free(&t);
}

static void linear_operations_have_a_lazy_form(void **state) {
  (void)state;
  test_ring t;
  setup(&t);
  uint64_t seed = 31;
  tensor a, b, out;
  tensor_make(&a, &t, 1, 3, some, HX_NTT);
  tensor_make(&b, &t, 1, 3, some, HX_NTT);
  tensor_make(&out, &t, 1, 3, some, HX_NTT);
  a.desc.repr = b.desc.repr = out.desc.repr = HX_LAZY;
  for (uint32_t l = 0; l < 3; ++l)
    for (uint32_t i = 0; i < N; ++i) {
      tensor_row(&a, 0, 0, l)[i] = i < 2 ? i * (2 * t.primes[l] - 1) : random_below(&seed, 2 * t.primes[l]);
      tensor_row(&b, 0, 0, l)[i] = i < 4 ? 2 * t.primes[l] - 1 : random_below(&seed, 2 * t.primes[l]);
    }
  run(&t, "rns.add", 2, 1, VALUES(&a, &b, &out), NO_ATTRS);
  for (uint32_t k = 0; k < 3 * N; ++k)
    assert_true(out.memory[k] == (a.memory[k] + b.memory[k]) % (2 * t.primes[k / N]));
  run(&t, "rns.neg", 1, 1, VALUES(&a, &out), NO_ATTRS);
  for (uint32_t k = 0; k < 3 * N; ++k)
    assert_true(out.memory[k] == (2 * t.primes[k / N] - a.memory[k]) % (2 * t.primes[k / N]));
  tensor reduced;
  tensor_make(&reduced, &t, 1, 3, some, HX_NTT);
  run(&t, "rns.reduce", 1, 1, VALUES(&a, &reduced), NO_ATTRS);
  for (uint32_t k = 0; k < 3 * N; ++k) assert_true(reduced.memory[k] == a.memory[k] % t.primes[k / N]);
  reduced.desc.repr = HX_STANDARD;
  refuse(&t, HX_INVALID, "operand 1 is standard, must be lazy", "rns.add", 2, 1, VALUES(&a, &reduced, &out), NO_ATTRS);
  refuse(&t, HX_INVALID, "is lazy, must be standard", "rns.mul", 2, 1, VALUES(&a, &b, &reduced), NO_ATTRS);
  a.desc.repr = b.desc.repr = out.desc.repr = HX_MONTGOMERY;
  refuse(&t, HX_INVALID, "montgomery", "rns.add", 2, 1, VALUES(&a, &b, &out), NO_ATTRS);
  refuse(&t, HX_INVALID, "montgomery", "rns.reduce", 1, 1, VALUES(&a, &reduced), NO_ATTRS);
  tensor_free(&a);
  tensor_free(&b);
  tensor_free(&out);
  tensor_free(&reduced);
  ring_free(&t);
}

static void products_take_a_factor_of_one_component(void **state) {
  (void)state;
  test_ring t;
  setup(&t);
  uint64_t seed = 32;
  tensor a, b, acc;
  tensor_make(&a, &t, 1, 3, some, HX_NTT);
  tensor_make(&b, &t, 2, 3, some, HX_NTT);
  tensor_make(&acc, &t, 2, 3, some, HX_NTT);
  tensor_fill(&a, &t, &seed);
  tensor_fill(&b, &t, &seed);
  tensor_fill(&acc, &t, &seed);
  uint64_t wanted[2 * 3 * N];
  for (uint32_t k = 0; k < 6 * N; ++k) {
    const uint64_t q = t.primes[k / N % 3];
    wanted[k] = (mul_by(a.memory[k % (3 * N)], b.memory[k], q) + acc.memory[k]) % q;
  }
  run(&t, "rns.mul_add", 3, 1, VALUES(&acc, &a, &b, &acc), NO_ATTRS);  // in place
  assert_rows_equal(acc.memory, wanted, 6 * N);
  run(&t, "rns.mul", 2, 1, VALUES(&b, &a, &b), NO_ATTRS);
  refuse(&t, HX_INVALID, "result 0 has components 2, must be 1", "rns.mul", 2, 1, VALUES(&a, &a, &b), NO_ATTRS);
  refuse(&t, HX_INVALID, "operand 0 has components 1, must be 2", "rns.mul_add", 3, 1, VALUES(&a, &a, &b, &b),
         NO_ATTRS);
  const uint64_t constants[] = {3, t.primes[1] - 1, 0};
  run(&t, "rns.mul_scalar", 1, 1, VALUES(&acc, &b), ATTRS(ATTR_U64("residues", 3, constants)));
  for (uint32_t k = 0; k < 6 * N; ++k)
    assert_true(b.memory[k] == mul_by(acc.memory[k], constants[k / N % 3], t.primes[k / N % 3]));
  run(&t, "rns.add_scalar", 1, 1, VALUES(&acc, &acc), ATTRS(ATTR_U64("residues", 3, constants)));
  for (uint32_t k = 0; k < 6 * N; ++k)
    assert_true(acc.memory[k] == (wanted[k] + constants[k / N % 3]) % t.primes[k / N % 3]);
  tensor_free(&a);
  tensor_free(&b);
  tensor_free(&acc);
  ring_free(&t);
}

static void transforms_and_automorphisms_agree_in_both_domains(void **state) {
  (void)state;
  test_ring t;
  setup(&t);
  uint64_t seed = 33;
  tensor a, a_values, moved, moved_values, back;
  tensor_make(&a, &t, 2, 3, some, HX_COEFFICIENT);
  tensor_make(&a_values, &t, 2, 3, some, HX_NTT);
  tensor_make(&moved, &t, 2, 3, some, HX_COEFFICIENT);
  tensor_make(&moved_values, &t, 2, 3, some, HX_NTT);
  tensor_make(&back, &t, 2, 3, some, HX_COEFFICIENT);
  tensor_fill(&a, &t, &seed);
  run(&t, "ntt.forward", 1, 1, VALUES(&a, &a_values), NO_ATTRS);
  for (int64_t g = 1; g < 2 * N; g += 6) {
    run(&t, "rns.automorphism", 1, 1, VALUES(&a, &moved), ATTRS(ATTR_I64("element", g)));
    run(&t, "rns.automorphism", 1, 1, VALUES(&a_values, &moved_values), ATTRS(ATTR_I64("element", g)));
    run(&t, "ntt.inverse", 1, 1, VALUES(&moved_values, &back), NO_ATTRS);
    assert_rows_equal(back.memory, moved.memory, back.words);
  }
  run(&t, "ckks.from_ntt", 1, 1, VALUES(&a_values, &back), NO_ATTRS);
  assert_rows_equal(back.memory, a.memory, back.words);
  run(&t, "ckks.to_ntt", 1, 1, VALUES(&a, &moved_values), NO_ATTRS);
  assert_rows_equal(moved_values.memory, a_values.memory, a_values.words);
  refuse(&t, HX_INVALID, "operand 0 is in ntt domain, must be in coefficient domain", "ntt.forward", 1, 1,
         VALUES(&a_values, &moved_values), NO_ATTRS);
  refuse(&t, HX_INVALID, "result 0 is in ntt domain", "ntt.inverse", 1, 1, VALUES(&a_values, &moved_values), NO_ATTRS);
  refuse(&t, HX_INVALID, "element is 4, must be odd", "rns.automorphism", 1, 1, VALUES(&a, &moved),
         ATTRS(ATTR_I64("element", 4)));
  refuse(&t, HX_INVALID, "from 1 to 31", "rns.automorphism", 1, 1, VALUES(&a, &moved), ATTRS(ATTR_I64("element", 33)));
  refuse(&t, HX_INVALID, "element is missing", "rns.automorphism", 1, 1, VALUES(&a, &moved), NO_ATTRS);
  tensor_free(&a);
  tensor_free(&a_values);
  tensor_free(&moved);
  tensor_free(&moved_values);
  tensor_free(&back);
  ring_free(&t);
}

// Runs an operation on a and on its transform; the results must be each other's transforms. out: coefficients.
static void run_in_both_domains(const test_ring *t, const char *name, tensor *a, tensor *out, size_t count,
                                const hx_attr *attrs) {
  tensor a_values, out_values, back;
  tensor_make(&a_values, t, a->desc.components, a->desc.limbs, a->ids, HX_NTT);
  tensor_make(&out_values, t, out->desc.components, out->desc.limbs, out->ids, HX_NTT);
  tensor_make(&back, t, out->desc.components, out->desc.limbs, out->ids, HX_COEFFICIENT);
  run(t, "ntt.forward", 1, 1, VALUES(a, &a_values), NO_ATTRS);
  run(t, name, 1, 1, VALUES(a, out), count, attrs);
  run(t, name, 1, 1, VALUES(&a_values, &out_values), count, attrs);
  run(t, "ntt.inverse", 1, 1, VALUES(&out_values, &back), NO_ATTRS);
  assert_rows_equal(back.memory, out->memory, back.words);
  tensor_free(&a_values);
  tensor_free(&out_values);
  tensor_free(&back);
}

static void mod_up_takes_what_remains_of_a_digit(void **state) {
  (void)state;
  static const uint32_t raised[] = {0, 1, 2, 4, 5};
  test_ring t;
  setup(&t);
  uint64_t seed = 34;
  tensor a, out;
  tensor_make(&a, &t, 2, 3, some, HX_COEFFICIENT);
  tensor_make(&out, &t, 2, 5, raised, HX_COEFFICIENT);
  tensor_fill(&a, &t, &seed);
  for (uint32_t digit = 0; digit < 2; ++digit) {  // digit 1 has lost prime 3
    run_in_both_domains(&t, "rns.mod_up", &a, &out, ATTRS(ATTR_I64("digit", digit)));
    for (uint32_t c = 0; c < 2; ++c)
      for (uint32_t i = 0; i < N; ++i) {
        const uint64_t p = t.primes[0], q = t.primes[1], x = tensor_row(&a, 0, c, 2)[i], d = t.primes[2];
        i128 value = x > d / 2 ? (i128)x - d : (i128)x;  // of digit 1: one prime
        if (digit == 0) {
          const uint64_t y0 = mul_by(tensor_row(&a, 0, c, 0)[i], power_by(q, p - 2, p), p);
          const uint64_t y1 = mul_by(tensor_row(&a, 0, c, 1)[i], power_by(p, q - 2, q), q);
          value = (y0 > p / 2 ? (i128)y0 - p : (i128)y0) * q + (y1 > q / 2 ? (i128)y1 - q : (i128)y1) * p;
        }
        for (uint32_t l = 0; l < 5; ++l) {
          const i128 modulus = t.primes[raised[l]], rest = value % modulus;
          assert_true(tensor_row(&out, 0, c, l)[i] == (uint64_t)(rest < 0 ? rest + modulus : rest));
        }
      }
  }
  refuse(&t, HX_INVALID, "digit is 2, must be from 0 to 1", "rns.mod_up", 1, 1, VALUES(&a, &out),
         ATTRS(ATTR_I64("digit", 2)));
  a.ids[2] = 3;
  refuse(&t, HX_INVALID, "must be on Q's first primes", "rns.mod_up", 1, 1, VALUES(&a, &out),
         ATTRS(ATTR_I64("digit", 0)));
  tensor_free(&a);
  tensor_free(&out);
  ring_free(&t);
}

static void mod_down_drops_p_or_a_list(void **state) {
  (void)state;
  static const uint32_t q[] = {0, 1, 2, 3}, listed[] = {0, 2, 5}, rescaled[] = {0, 1, 2, 3};
  test_ring t;
  setup(&t);
  uint64_t seed = 35;
  tensor a, out, apart;
  tensor_make(&a, &t, 2, 6, all, HX_COEFFICIENT);
  tensor_make(&out, &t, 2, 4, q, HX_COEFFICIENT);
  tensor_make(&apart, &t, 2, 3, listed, HX_COEFFICIENT);
  tensor_fill(&a, &t, &seed);
  static const char *const roundings[] = {"nearest", "truncating"};
  for (uint32_t r = 0; r < 2; ++r)
    for (uint32_t form = 0; form < 3; ++form) {
      const hx_attr attrs[] = {ATTR_TEXT("rounding", roundings[r]),
                               form == 2 ? ATTR_I64("drop", 1, 3, 4) : ATTR_TEXT("drop", "P")};
      tensor *result = form == 2 ? &apart : &out;
      run_in_both_domains(&t, "rns.mod_down", &a, result, form == 0 ? 1 : 2, attrs);
      for (uint32_t c = 0; c < 2; ++c) {
        uint64_t store[6][N];
        uint64_t *rows[6];
        uint32_t ids[6], kept = 0, dropped = result->desc.limbs;  // rows: those kept, then those dropped
        for (uint32_t l = 0; l < 6; ++l) {
          const uint32_t at = kept < result->desc.limbs && result->ids[kept] == l ? kept++ : dropped++;
          memcpy(store[at], tensor_row(&a, 0, c, l), sizeof store[at]);
          rows[at] = store[at];
          ids[at] = l;
        }
        const hx_ref_rows keep = {kept, ids, rows}, drop = {6 - kept, ids + kept, rows + kept};
        hx_ref_mod_down(t.ring, &keep, &drop, r == 0 ? HX_REF_NEAREST : HX_REF_TRUNCATING);
        for (uint32_t l = 0; l < kept; ++l) assert_rows_equal(tensor_row(result, 0, c, l), store[l], N);
      }
    }
  // Two rescales of one are one of two.
  tensor five, four;
  tensor_make(&five, &t, 2, 5, all, HX_COEFFICIENT);
  tensor_make(&four, &t, 2, 4, rescaled, HX_COEFFICIENT);
  run_in_both_domains(&t, "rns.rescale", &a, &five, ATTRS(ATTR_I64("count", 1), ATTR_TEXT("rounding", "nearest")));
  run_in_both_domains(&t, "rns.rescale", &five, &four, ATTRS(ATTR_I64("count", 1), ATTR_TEXT("rounding", "nearest")));
  run_in_both_domains(&t, "rns.rescale", &a, &out, ATTRS(ATTR_I64("count", 2), ATTR_TEXT("rounding", "nearest")));
  assert_rows_equal(out.memory, four.memory, out.words);
  tensor_free(&a);
  tensor_free(&out);
  tensor_free(&apart);
  tensor_free(&five);
  tensor_free(&four);
  ring_free(&t);
}

static void lifts_reach_any_prime(void **state) {
  (void)state;
  test_ring t;
  setup(&t);
  uint64_t seed = 36;
  tensor one, signs, out, three, digits;
  tensor_make(&one, &t, 2, 1, &all[3], HX_COEFFICIENT);
  tensor_make(&signs, &t, 2, 1, &all[0], 0);
  tensor_make(&out, &t, 2, 6, all, HX_COEFFICIENT);
  tensor_make(&three, &t, 2, 3, some, HX_COEFFICIENT);
  tensor_make(&digits, &t, 2, 3, some, HX_COEFFICIENT);
  signs.desc.dtype = HX_I64;
  signs.desc.prime_ids = NULL;
  signs.desc.repr = 0;
  tensor_fill(&one, &t, &seed);
  tensor_fill(&three, &t, &seed);
  for (uint32_t i = 0; i < 2 * N; ++i) signs.memory[i] = i == 0 ? (uint64_t)INT64_MIN : random_word(&seed);
  const hx_attr ids[] = {ATTR_I64("ids", 0, 1, 2, 3, 4, 5)};
  run(&t, "rns.center_lift", 1, 1, VALUES(&one, &out), 1, ids);
  for (uint32_t c = 0; c < 2; ++c)
    for (uint32_t l = 0; l < 6; ++l) {
      uint64_t wanted[N];
      hx_ref_row_center_lift(t.ring, 3, tensor_row(&one, 0, c, 0), l, wanted);
      assert_rows_equal(tensor_row(&out, 0, c, l), wanted, N);
    }
  run(&t, "rns.center_lift", 1, 1, VALUES(&signs, &out), 1, ids);
  for (uint32_t c = 0; c < 2; ++c)
    for (uint32_t l = 0; l < 6; ++l)
      for (uint32_t i = 0; i < N; ++i) {
        const i128 rest = (i128)(int64_t)signs.memory[c * N + i] % (i128)t.primes[l];
        assert_true(tensor_row(&out, 0, c, l)[i] == (uint64_t)(rest < 0 ? rest + t.primes[l] : rest));
      }
  run(&t, "rns.mixed_radix", 1, 1, VALUES(&three, &digits), NO_ATTRS);
  run(&t, "rns.extend_exact", 1, 1, VALUES(&three, &out), 1, ids);
  for (uint32_t c = 0; c < 2; ++c)
    for (uint32_t i = 0; i < N; ++i) {
      big value = big_from(0);
      for (uint32_t l = 3; l-- > 0;) {
        assert_true(tensor_row(&digits, 0, c, l)[i] < t.primes[l]);
        value = big_add(big_mul(value, t.primes[l]), big_from(tensor_row(&digits, 0, c, l)[i]));
      }
      for (uint32_t l = 0; l < 3; ++l) assert_true(big_mod(value, t.primes[l]) == tensor_row(&three, 0, c, l)[i]);
      for (uint32_t l = 0; l < 6; ++l) assert_true(big_mod(value, t.primes[l]) == tensor_row(&out, 0, c, l)[i]);
    }
  refuse(&t, HX_INVALID, "operand 0 has 3 rows, must have 1", "rns.center_lift", 1, 1, VALUES(&three, &out), 1, ids);
  refuse(&t, HX_INVALID, "has prime 1 after prime 1", "rns.center_lift", 1, 1, VALUES(&one, &out),
         ATTRS(ATTR_I64("ids", 1, 1)));
  refuse(&t, HX_INVALID, "names prime 6, the ring has 6", "rns.extend_exact", 1, 1, VALUES(&three, &out),
         ATTRS(ATTR_I64("ids", 6)));
  refuse(&t, HX_INVALID, "result 0 has the primes 0,1,2,3,4,5, must have 0,2", "rns.extend_exact", 1, 1,
         VALUES(&three, &out), ATTRS(ATTR_I64("ids", 0, 2)));
  tensor_free(&one);
  tensor_free(&signs);
  tensor_free(&out);
  tensor_free(&three);
  tensor_free(&digits);
  ring_free(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_operation_of_the_catalogue_has_a_reference),
      cmocka_unit_test(linear_operations_take_strides_and_batches),
      cmocka_unit_test(linear_operations_have_a_lazy_form),
      cmocka_unit_test(products_take_a_factor_of_one_component),
      cmocka_unit_test(transforms_and_automorphisms_agree_in_both_domains),
      cmocka_unit_test(mod_up_takes_what_remains_of_a_digit),
      cmocka_unit_test(mod_down_drops_p_or_a_list),
      cmocka_unit_test(lifts_reach_any_prime),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
