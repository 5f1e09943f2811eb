// SPDX-License-Identifier: Apache-2.0
// Whole operations that sum, choose and gather, rows made of a seed or of constants, keys, small words; and what every
// operation refuses.
#include "tests/kernels/test_reference_call.h"

static const uint32_t some[] = {0, 1, 2};
static const uint32_t sizes[] = {50, 45, 40, 41, 55, 56};  // four of Q, two of P

#define N 16

static void setup(test_ring *t) { ring_make(t, 4, 64, sizes, 4, 2, 2); }

static void sum_goes_over_one_batch_axis(void **state) {
  (void)state;
  test_ring t;
  setup(&t);
  uint64_t seed = 40;
  const uint64_t shape[] = {2, 3, 2};
  tensor a;
  tensor_shape(&a, &t, 3, shape, 0, 2, 3, some, HX_NTT);
  tensor_fill(&a, &t, &seed);
  for (uint32_t axis = 0; axis < 3; ++axis) {
    uint64_t left[2], index[3];
    for (uint32_t i = 0; i < 2; ++i) left[i] = shape[i < axis ? i : i + 1];
    tensor out;
    tensor_shape(&out, &t, 2, left, 0, 2, 3, some, HX_NTT);
    run(&t, axis == 1 ? "ckks.sum" : "rns.sum", 1, 1, VALUES(&a, &out), ATTRS(ATTR_I64("axis", axis)));
    for (uint64_t item = 0; item < left[0] * left[1]; ++item)
      for (uint32_t k = 0; k < 6 * N; ++k) {
        const uint64_t q = t.primes[k / N % 3];
        u128 sum = 0;
        for (uint64_t term = 0; term < shape[axis]; ++term) {
          index[axis] = term;
          index[axis == 0 ? 1 : 0] = item / left[1];
          index[axis == 2 ? 1 : 2] = item % left[1];
          sum += a.memory[((index[0] * 3 + index[1]) * 2 + index[2]) * 6 * N + k];
        }
        assert_true(out.memory[item * 6 * N + k] == (uint64_t)(sum % q));
      }
    refuse(&t, HX_INVALID, "axis is 3, must be from 0 to 2", "rns.sum", 1, 1, VALUES(&a, &out),
           ATTRS(ATTR_I64("axis", 3)));
    if (axis == 0)  // [3][2] is not what is left of another axis
      refuse(&t, HX_INVALID, "has 3 items on batch axis 0, must be 2", "rns.sum", 1, 1, VALUES(&a, &out),
             ATTRS(ATTR_I64("axis", 2)));
    refuse(&t, HX_INVALID, "result 0 has batch axes 3, must be 2", "rns.sum", 1, 1, VALUES(&a, &a),
           ATTRS(ATTR_I64("axis", 0)));
    tensor_free(&out);
  }
  tensor_free(&a);
  ring_free(&t);
}

static void weighted_sum_takes_groups_of_weights(void **state) {
  (void)state;
  test_ring t;
  setup(&t);
  uint64_t seed = 41;
  tensor v[3], w[6], out[2];
  for (uint32_t i = 0; i < 3; ++i) {
    tensor_make(&v[i], &t, 2, 3, some, HX_NTT);
    tensor_fill(&v[i], &t, &seed);
  }
  for (uint32_t i = 0; i < 6; ++i) {
    tensor_make(&w[i], &t, 1, 3, some, HX_NTT);
    tensor_fill(&w[i], &t, &seed);
  }
  for (uint32_t g = 0; g < 2; ++g) tensor_make(&out[g], &t, 2, 3, some, HX_NTT);
  tensor *const values[] = {&v[0], &v[1], &v[2], &w[0], &w[1], &w[2], &w[3], &w[4], &w[5], &out[0], &out[1]};
  static const char *const names[] = {"rns.weighted_sum", "ckks.weighted_sum"};
  for (uint32_t form = 0; form < 2; ++form) {
    run(&t, names[form], 9, 2, values, ATTRS(ATTR_I64("groups", 2)));
    for (uint32_t g = 0; g < 2; ++g)
      for (uint32_t k = 0; k < 6 * N; ++k) {
        const uint64_t q = t.primes[k / N % 3];
        uint64_t sum = 0;
        for (uint32_t i = 0; i < 3; ++i) sum = (sum + mul_by(v[i].memory[k], w[3 * g + i].memory[k % (3 * N)], q)) % q;
        assert_true(out[g].memory[k] == sum);
      }
  }
  refuse(&t, HX_INVALID, "9 operands for 3 groups", "rns.weighted_sum", 9, 2, values, ATTRS(ATTR_I64("groups", 3)));
  refuse(&t, HX_INVALID, "1 results for 2 groups", "rns.weighted_sum", 9, 1, values, ATTRS(ATTR_I64("groups", 2)));
  refuse(&t, HX_INVALID, "must be from 1 to 8", "rns.weighted_sum", 9, 2, values, ATTRS(ATTR_I64("groups", 9)));
  w[4].desc.domain = HX_COEFFICIENT;
  refuse(&t, HX_INVALID, "operand 7 is in coefficient domain", "ckks.weighted_sum", 9, 2, values,
         ATTRS(ATTR_I64("groups", 2)));
  for (size_t i = 0; i < COUNT_OF(values); ++i) tensor_free(values[i]);
  ring_free(&t);
}

static void views_choose_and_gather(void **state) {
  (void)state;
  static const uint32_t outer[] = {0, 3, 5}, inner[] = {1, 4}, both[] = {0, 1, 3, 4, 5};
  test_ring t;
  setup(&t);
  uint64_t seed = 42;
  tensor a, b, whole, picked, three;
  tensor_make(&a, &t, 2, 3, outer, HX_COEFFICIENT);
  tensor_make(&b, &t, 2, 2, inner, HX_COEFFICIENT);
  tensor_make(&whole, &t, 2, 5, both, HX_COEFFICIENT);
  tensor_make(&picked, &t, 2, 2, inner, HX_COEFFICIENT);
  tensor_make(&three, &t, 3, 3, outer, HX_COEFFICIENT);
  tensor_fill(&a, &t, &seed);
  tensor_fill(&b, &t, &seed);
  run(&t, "rns.concat_limbs", 2, 1, VALUES(&a, &b, &whole), NO_ATTRS);
  static const uint32_t from[5][2] = {{0, 0}, {1, 0}, {0, 1}, {1, 1}, {0, 2}};  // part and its row
  for (uint32_t c = 0; c < 2; ++c)
    for (uint32_t l = 0; l < 5; ++l)
      assert_rows_equal(tensor_row(&whole, 0, c, l), tensor_row(from[l][0] == 0 ? &a : &b, 0, c, from[l][1]), N);
  run(&t, "rns.select_limbs", 1, 1, VALUES(&whole, &picked), ATTRS(ATTR_I64("ids", 1, 4)));
  assert_rows_equal(picked.memory, b.memory, b.words);
  tensor first;
  tensor_make(&first, &t, 1, 3, outer, HX_COEFFICIENT);
  run(&t, "rns.select_components", 1, 1, VALUES(&a, &first), ATTRS(ATTR_I64("first", 1), ATTR_I64("count", 1)));
  assert_rows_equal(first.memory, tensor_row(&a, 0, 1, 0), first.words);
  run(&t, "rns.pack_components", 2, 1, VALUES(&a, &first, &three), NO_ATTRS);
  assert_rows_equal(three.memory, a.memory, a.words);
  assert_rows_equal(tensor_row(&three, 0, 2, 0), first.memory, first.words);
  run(&t, "ckks.reinterpret_scale", 1, 1, VALUES(&b, &picked), NO_ATTRS);
  assert_rows_equal(picked.memory, b.memory, b.words);
  refuse(&t, HX_INVALID, "operand 1 has prime 0 again", "rns.concat_limbs", 2, 1, VALUES(&a, &a, &whole), NO_ATTRS);
  refuse(&t, HX_INVALID, "operand 0 has no row of prime 2", "rns.select_limbs", 1, 1, VALUES(&whole, &picked),
         ATTRS(ATTR_I64("ids", 1, 2)));
  refuse(&t, HX_INVALID, "count is 2, must be from 1 to 1", "rns.select_components", 1, 1, VALUES(&a, &first),
         ATTRS(ATTR_I64("first", 1), ATTR_I64("count", 2)));
  refuse(&t, HX_INVALID, "result 0 has components 3, must be 2", "rns.pack_components", 2, 1,
         VALUES(&first, &first, &three), NO_ATTRS);
  tensor_free(&a);
  tensor_free(&b);
  tensor_free(&whole);
  tensor_free(&picked);
  tensor_free(&three);
  tensor_free(&first);
  ring_free(&t);
}

static void rows_come_from_seeds_and_constants(void **state) {
  (void)state;
  test_ring t;
  setup(&t);
  uint64_t seed = 43;
  const uint64_t shape[] = {2};
  tensor seeds, out, constant;
  tensor_shape(&seeds, &t, 1, shape, 0, 1, 1, some, 0);  // 2 times 32 bytes
  seeds.desc.dtype = HX_U8;
  seeds.desc.log_n = 5;
  seeds.desc.prime_ids = NULL;
  seeds.batch_strides[0] = 32;
  for (uint32_t i = 0; i < 8; ++i) seeds.memory[i] = random_word(&seed);
  tensor_shape(&out, &t, 1, shape, 0, 1, 3, some, HX_NTT);
  const hx_attr attrs[] = {ATTR_I64("index", 7), ATTR_I64("ids", 0, 1, 2)};
  run(&t, "rns.expand_uniform", 1, 1, VALUES(&seeds, &out), 2, attrs);
  for (uint32_t item = 0; item < 2; ++item)
    for (uint32_t l = 0; l < 3; ++l) {
      uint64_t wanted[N];
      hx_ref_row_expand_uniform(t.ring, l, (const uint8_t *)(seeds.memory + (size_t)4 * item), 7, wanted);
      assert_rows_equal(tensor_row(&out, item, 0, l), wanted, N);
    }
  refuse(&t, HX_INVALID, "index is -1", "rns.expand_uniform", 1, 1, VALUES(&seeds, &out),
         ATTRS(ATTR_I64("index", -1), ATTR_I64("ids", 0, 1, 2)));
  seeds.desc.batch_rank = 0;
  refuse(&t, HX_INVALID, "2 results of one seed", "rns.expand_uniform", 1, 1, VALUES(&seeds, &out), 2, attrs);
  seeds.desc.log_n = 4;
  refuse(&t, HX_INVALID, "no seed", "rns.expand_uniform", 1, 1, VALUES(&seeds, &out), 2, attrs);
  tensor_make(&constant, &t, 1, 3, some, HX_NTT);
  const uint64_t halves[] = {1, 2, 3, 4, 5, t.primes[2] - 1};
  run(&t, "core.constant", 0, 1, VALUES(&constant), ATTRS(ATTR_I64("ids", 0, 1, 2), ATTR_U64("residues", 6, halves)));
  for (uint32_t k = 0; k < 3 * N; ++k) assert_true(constant.memory[k] == halves[k / (N / 2)]);
  const uint64_t high[] = {1, 2, 3, 4, 5, t.primes[2]};
  refuse(&t, HX_INVALID, "must be below its prime", "core.constant", 0, 1, VALUES(&constant),
         ATTRS(ATTR_I64("ids", 0, 1, 2), ATTR_U64("residues", 6, high)));
  refuse(&t, HX_INVALID, "has 5 words, must have 6", "core.constant", 0, 1, VALUES(&constant),
         ATTRS(ATTR_I64("ids", 0, 1, 2), ATTR_U64("residues", 5, halves)));
  tensor_free(&seeds);
  tensor_free(&out);
  tensor_free(&constant);
  ring_free(&t);
}

static void key_product_finds_rows_by_prime(void **state) {
  (void)state;
  static const uint32_t raised[] = {0, 1, 4, 5}, all[] = {0, 1, 2, 3, 4, 5}, depth2[] = {0, 1, 4, 5};
  test_ring t;
  setup(&t);
  uint64_t seed = 44;
  const uint64_t shape[] = {3};
  tensor d, key, acc, out;
  tensor_shape(&d, &t, 1, shape, 0, 1, 4, raised, HX_NTT);
  tensor_shape(&key, &t, 0, NULL, 2, 2, 6, all, HX_NTT);
  tensor_shape(&acc, &t, 1, shape, 0, 2, 4, raised, HX_NTT);
  tensor_shape(&out, &t, 1, shape, 0, 2, 4, raised, HX_NTT);
  tensor_fill(&d, &t, &seed);
  tensor_fill(&key, &t, &seed);
  tensor_fill(&acc, &t, &seed);
  for (uint32_t form = 0; form < 3; ++form) {  // all rows; a view of Q_2 and P; with an accumulator
    if (form == 1) {
      memcpy(key.ids, depth2, sizeof depth2);
      key.desc.limbs = 4;
      key.desc.rows = depth2;
    }
    if (form == 2)
      run(&t, "rns.key_product", 3, 1, VALUES(&d, &key, &acc, &out), ATTRS(ATTR_I64("digit", 1)));
    else
      run(&t, "rns.key_product", 2, 1, VALUES(&d, &key, &out), ATTRS(ATTR_I64("digit", 1)));
    for (uint32_t item = 0; item < 3; ++item)
      for (uint32_t c = 0; c < 2; ++c)
        for (uint32_t l = 0; l < 4; ++l)
          for (uint32_t i = 0; i < N; ++i) {
            const uint64_t q = t.primes[raised[l]];
            uint64_t wanted = mul_by(tensor_row(&d, item, 0, l)[i], key_row(&key, 1, c, raised[l])[i], q);
            if (form == 2) wanted = (wanted + tensor_row(&acc, item, c, l)[i]) % q;
            assert_true(tensor_row(&out, item, c, l)[i] == wanted);
          }
  }
  refuse(&t, HX_INVALID, "digit is 2, must be from 0 to 1", "rns.key_product", 2, 1, VALUES(&d, &key, &out),
         ATTRS(ATTR_I64("digit", 2)));
  key.desc.limbs = 3;
  refuse(&t, HX_INVALID, "operand 1 is a key without a row of prime 5", "rns.key_product", 2, 1, VALUES(&d, &key, &out),
         ATTRS(ATTR_I64("digit", 1)));
  key.desc.limbs = 4;
  key.desc.digits = 0;
  refuse(&t, HX_INVALID, "operand 1 has 0 digits, at least 1", "rns.key_product", 2, 1, VALUES(&d, &key, &out),
         ATTRS(ATTR_I64("digit", 1)));
  tensor_free(&d);
  tensor_free(&key);
  tensor_free(&acc);
  tensor_free(&out);
  ring_free(&t);
}

static void small_words_work_in_their_own_memory(void **state) {
  (void)state;
  static const uint32_t bits[] = {31, 30, 20, 29};
  test_ring t;
  ring_make(&t, 4, 32, bits, 3, 1, 1);
  uint64_t seed = 45;
  tensor a, out;
  tensor_make(&a, &t, 1, 3, some, HX_NTT);
  tensor_make(&out, &t, 1, 3, some, HX_NTT);
  refuse(&t, HX_INVALID, "operand 0 has dtype 1, must be 2", "rns.neg", 1, 1, VALUES(&a, &out), NO_ATTRS);
  a.desc.dtype = out.desc.dtype = HX_U32;
  out.desc.repr = HX_MONTGOMERY;
  uint32_t *words = (uint32_t *)a.memory;
  for (uint32_t k = 0; k < 3 * N; ++k) words[k] = (uint32_t)random_below(&seed, t.primes[k / N]);
  run(&t, "rns.to_montgomery", 1, 1, VALUES(&a, &out), NO_ATTRS);
  const uint32_t *lifted = (const uint32_t *)out.memory;
  for (uint32_t k = 0; k < 3 * N; ++k)
    assert_true(lifted[k] == mul_by(words[k], ((uint64_t)1 << 32) % t.primes[k / N], t.primes[k / N]));
  assert_true(out.memory[3 * N / 2] == GUARD);  // half of the memory was enough
  run(&t, "rns.mul_montgomery", 2, 1, VALUES(&out, &out, &out), NO_ATTRS);
  run(&t, "rns.from_montgomery", 1, 1, VALUES(&out, &a), NO_ATTRS);
  a.memory[3 * N / 2] = GUARD;
  tensor_free(&a);
  tensor_free(&out);
  ring_free(&t);
}

static void calls_that_do_not_fit_are_refused(void **state) {
  (void)state;
  static const uint32_t descending[] = {0, 2, 1}, far[] = {0, 1, 6};
  test_ring t;
  setup(&t);
  const uint64_t shape[] = {2}, other[] = {3};
  tensor a, b, out;
  tensor_shape(&a, &t, 1, shape, 0, 1, 3, some, HX_NTT);
  tensor_shape(&b, &t, 1, other, 0, 1, 3, some, HX_NTT);
  tensor_shape(&out, &t, 1, shape, 0, 1, 3, some, HX_NTT);
  tensor *const values[] = {&a, &a, &out};
  refuse(&t, HX_UNSUPPORTED, "has no reference", "rns.nothing", 2, 1, values, NO_ATTRS);
  refuse(&t, HX_UNSUPPORTED, "has no reference", "ckks.encrypt", 2, 1, values, NO_ATTRS);
  refuse(&t, HX_INVALID, "1 operands, must be 2", "rns.add", 1, 1, values, NO_ATTRS);
  refuse(&t, HX_INVALID, "0 results, must be 1", "rns.add", 2, 0, values, NO_ATTRS);
  refuse(&t, HX_INVALID, "1 operands, must be 2 to 3", "rns.key_product", 1, 1, values, NO_ATTRS);
  refuse(&t, HX_INVALID, "0 operands, must be at least 1", "rns.concat_limbs", 0, 1, values, NO_ATTRS);
  refuse(&t, HX_INVALID, "batch items on an axis 3, must be 2", "rns.add", 2, 1, VALUES(&a, &b, &out), NO_ATTRS);
#define REFUSED(field_, value_, words_)                                              \
  do {                                                                               \
    const tensor saved_ = *values[1], kept_ = out;                                   \
    field_ = value_;                                                                 \
    refuse(&t, HX_INVALID, words_, "rns.add", 2, 1, VALUES(&b, &a, &out), NO_ATTRS); \
    a = saved_;                                                                      \
    out = kept_;                                                                     \
  } while (0)
  b.batch_shape[0] = 2;
  REFUSED(a.desc.log_n, 5, "operand 1 has log_n 5, must be 4");
  REFUSED(a.desc.dtype, HX_U32, "operand 1 has dtype 2, must be 1");
  REFUSED(a.desc.dtype, 9, "operand 1 has the unknown dtype 9");
  REFUSED(a.desc.components, 2, "operand 1 has components 2, must be 1");
  REFUSED(a.desc.components, 0, "operand 1 has no component");
  REFUSED(a.desc.domain, HX_COEFFICIENT, "operand 1 is in coefficient domain, must be in ntt domain");
  REFUSED(a.desc.domain, 7, "operand 1 has the unknown domain 7");
  REFUSED(a.desc.repr, 0, "operand 1 has the unknown representation 0");
  REFUSED(a.desc.digits, 2, "operand 1 has digits 2, must be 0");
  REFUSED(a.desc.limbs, 2, "operand 1 has the primes 0,1, must have 0,1,2");
  REFUSED(a.desc.prime_ids, descending, "operand 1 has prime 1 after prime 2");
  REFUSED(a.desc.prime_ids, far, "operand 1 has a row of prime 6, the ring has 6");
  REFUSED(a.desc.prime_ids, NULL, "no prime ids");
  REFUSED(a.desc.struct_size, 100, "operand 1 has a descriptor of bytes 100");
  REFUSED(a.batch_shape[0], 0, "operand 1 has 0 items on batch axis 0");
  REFUSED(a.desc.batch_shape, NULL, "operand 1 has batch axes without shape");
  REFUSED(out.desc.batch_rank, 0, "operand 0 has batch axes 1, must be 0");
  REFUSED(out.batch_strides[0], 0, "result 0 has a stride of 0");
  REFUSED(out.desc.limb_stride, 0, "result 0 has a stride of 0");
#undef REFUSED
  a.desc.batch_rank = 9;
  refuse(&t, HX_UNSUPPORTED, "9 batch axes", "rns.neg", 1, 1, VALUES(&a, &out), NO_ATTRS);
  tensor_free(&a);
  tensor_free(&b);
  tensor_free(&out);
  ring_free(&t);
}

static void calls_without_memory_are_refused(void **state) {
  (void)state;
  test_ring t;
  setup(&t);
  tensor a, out;
  tensor_make(&a, &t, 1, 3, some, HX_NTT);
  tensor_make(&out, &t, 1, 3, some, HX_NTT);
  const hx_tensor_desc table[] = {a.desc, out.desc};
  const uint32_t ids[] = {0, 1};
  hx_op op = {.struct_size = HX_END_OF(hx_op, resources),
              .signature = 1,
              .operand_count = 1,
              .result_count = 1,
              .name = "rns.neg",
              .operands = ids,
              .results = ids + 1};
  void *good[] = {a.memory, out.memory}, *absent[] = {a.memory, NULL}, *odd[] = {(uint8_t *)a.memory + 4, out.memory};
  hx_error error = {.struct_size = HX_END_OF(hx_error, message)};
  assert_int_equal(hx_reference_execute(t.ring, &op, table, absent, &error), HX_INVALID);
  assert_string_equal(error.message, "rns.neg: result 0 has no address");
  assert_int_equal(hx_reference_execute(t.ring, &op, table, odd, &error), HX_INVALID);
  assert_string_equal(error.message, "rns.neg: operand 0 is not aligned to its words of 8 bytes");
  assert_int_equal(hx_reference_execute(NULL, &op, table, good, &error), HX_INVALID);
  assert_int_equal(hx_reference_execute(t.ring, NULL, table, good, &error), HX_INVALID);
  assert_int_equal(hx_reference_execute(t.ring, &op, NULL, good, &error), HX_INVALID);
  assert_int_equal(hx_reference_execute(t.ring, &op, table, NULL, &error), HX_INVALID);
  op.signature = 2;
  assert_int_equal(hx_reference_execute(t.ring, &op, table, good, &error), HX_UNSUPPORTED);
  assert_string_equal(error.message, "rns.neg: signature 2, the reference has 1");
  op.name = NULL;
  assert_int_equal(hx_reference_execute(t.ring, &op, table, good, &error), HX_UNSUPPORTED);
  assert_true(out.memory[0] == GUARD);
  tensor_free(&a);
  tensor_free(&out);
  ring_free(&t);
}

static void attributes_that_do_not_fit_are_refused(void **state) {
  (void)state;
  static const uint32_t q[] = {0, 1, 2, 3};
  test_ring t;
  setup(&t);
  tensor a, out;
  tensor_make(&a, &t, 1, 4, q, HX_NTT);
  tensor_make(&out, &t, 1, 3, q, HX_NTT);
  tensor *const values[] = {&a, &out};
  const hx_attr one = ATTR_I64("count", 1), nearest = ATTR_TEXT("rounding", "nearest");
  run(&t, "rns.rescale", 1, 1, values, ATTRS(one, nearest));
  refuse(&t, HX_INVALID, "attribute rounding is missing", "rns.rescale", 1, 1, values, ATTRS(one));
  refuse(&t, HX_INVALID, "rounding is \"up\", must be nearest or truncating", "rns.rescale", 1, 1, values,
         ATTRS(one, ATTR_TEXT("rounding", "up")));
  refuse(&t, HX_INVALID, "rounding is of kind i64, must be text", "rns.rescale", 1, 1, values,
         ATTRS(one, ATTR_I64("rounding", 1)));
  refuse(&t, HX_INVALID, "count is of kind text, must be i64", "rns.rescale", 1, 1, values,
         ATTRS(ATTR_TEXT("count", "1"), nearest));
  refuse(&t, HX_INVALID, "count has 2 numbers, must have 1", "rns.rescale", 1, 1, values,
         ATTRS(ATTR_I64("count", 1, 1), nearest));
  refuse(&t, HX_INVALID, "count is 0", "rns.rescale", 1, 1, values, ATTRS(ATTR_I64("count", 0), nearest));
  refuse(&t, HX_INVALID, "count is 4, operand 0 has 4 rows", "rns.rescale", 1, 1, values,
         ATTRS(ATTR_I64("count", 4), nearest));
  hx_attr empty = nearest;
  empty.count = 0;
  refuse(&t, HX_INVALID, "attribute rounding is empty", "rns.rescale", 1, 1, values, ATTRS(one, empty));
  refuse(&t, HX_INVALID, "operand 0 has no row of prime 4, which is to be dropped", "rns.mod_down", 1, 1, values,
         ATTRS(nearest));
  refuse(&t, HX_INVALID, "drop is \"Q\", must be P or a list", "rns.mod_down", 1, 1, values,
         ATTRS(nearest, ATTR_TEXT("drop", "Q")));
  refuse(&t, HX_INVALID, "all 4 rows of operand 0 would be dropped", "rns.mod_down", 1, 1, values,
         ATTRS(nearest, ATTR_I64("drop", 0, 1, 2, 3)));
  const uint64_t words[] = {0, 0, 0, 0};
  refuse(&t, HX_INVALID, "residues has 3 words, must have 4: 1 a row", "rns.mul_scalar", 1, 1, VALUES(&a, &a),
         ATTRS(ATTR_U64("residues", 3, words)));
  refuse(&t, HX_INVALID, "for is none of", "ckks.prepare_plain", 1, 1, VALUES(&a, &a), ATTRS(ATTR_TEXT("for", "fun")));
  tensor_free(&a);
  tensor_free(&out);
  ring_free(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sum_goes_over_one_batch_axis),
      cmocka_unit_test(weighted_sum_takes_groups_of_weights),
      cmocka_unit_test(views_choose_and_gather),
      cmocka_unit_test(rows_come_from_seeds_and_constants),
      cmocka_unit_test(key_product_finds_rows_by_prime),
      cmocka_unit_test(small_words_work_in_their_own_memory),
      cmocka_unit_test(calls_that_do_not_fit_are_refused),
      cmocka_unit_test(calls_without_memory_are_refused),
      cmocka_unit_test(attributes_that_do_not_fit_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
