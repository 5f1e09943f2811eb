// SPDX-License-Identifier: Apache-2.0
// Views and packing: which need no step at all, which need a copy, and that both give the right rows.
#include "tests/unit/link_fixture.h"

static int setup(void **state) {
  bench_t *bench = calloc(1, sizeof *bench);
  bench_open(bench, FAKE_ALL);
  *state = bench;
  return 0;
}

static int teardown(void **state) {
  bench_t *bench = *state;
  bench_close(bench);
  free(bench);
  return 0;
}

#define TENSOR(components_, primes_)                                                      \
  "!rns.tensor<dtype = u64, batch = [], components = " components_ ", primes = [" primes_ \
  "], basis = Q, "                                                                        \
  "domain = ntt, repr = standard>"
#define ONE(body_) MODULE("%x: " CT0, CT0, CT0, body_ "\"func.return\"(%r) : (" CT0 ") -> ()")

#define FIRST "%a = \"rns.select_components\"(%x) {first = 0 : i64, count = 1 : i64} : (" CT0 ") -> " C1 "\n"
#define SECOND "%b = \"rns.select_components\"(%x) {first = 1 : i64, count = 1 : i64} : (" CT0 ") -> " C1 "\n"
#define C1 TENSOR("1", "0, 1, 2, 3, 4")

static hx_value_t *run_one(const bench_t *bench, hx_executable_t *executable, const hx_value_t *x) {
  const hx_value_t *inputs[] = {x};
  hx_value_t *outputs[] = {NULL};
  must(hx_run(executable, inputs, outputs, bench->report), bench->report);
  return outputs[0];
}

static size_t copies(const hx_executable_t *executable) { return executable->steps.count - executable->call_count; }

// The program negates x, with so many copies and intermediate bytes.
static void expect_negation(bench_t *bench, const char *text, size_t copy_count, uint64_t slab_bytes) {
  hx_executable_t *executable = link_text(bench, text);
  if (copies(executable) != copy_count || executable->slab_bytes != slab_bytes) {
    fail_msg("%zu copies, %llu bytes:\n%s", copies(executable), (unsigned long long)executable->slab_bytes,
             hx_executable_source(executable));
  }
  hx_engine_t *engine = NULL;
  must(hx_engine_create(bench->params, NULL, bench->backend, &engine, bench->report), bench->report);
  hx_value_t *x = encrypt_seed(bench, 1), *expected = NULL, *found = run_one(bench, executable, x);
  must(hx_engine_neg(engine, x, &expected, bench->report), bench->report);
  assert_true(hx_value_equal(found, expected));
  hx_value_release(found);
  hx_value_release(expected);
  hx_value_release(x);
  hx_engine_release(engine);
  hx_executable_release(executable);
}

static void parts_are_computed_where_they_are_packed(void **state) {
  expect_negation(*state,
                  ONE(FIRST SECOND "%na = \"rns.neg\"(%a) : (" C1 ") -> " C1 "\n"
                                   "%nb = \"rns.neg\"(%b) : (" C1 ") -> " C1 "\n"
                                   "%r = \"rns.pack_components\"(%na, %nb) : (" C1 ", " C1 ") -> " CT0 "\n"),
                  0, 0);
}

static void rows_are_computed_where_they_are_joined(void **state) {
#define LOW TENSOR("2", "0, 1")
#define HIGH TENSOR("2", "2, 3, 4")
  expect_negation(*state,
                  ONE("%a = \"rns.select_limbs\"(%x) {ids = [0, 1]} : (" CT0 ") -> " LOW "\n"
                      "%b = \"rns.select_limbs\"(%x) {ids = [2, 3, 4]} : (" CT0 ") -> " HIGH "\n"
                      "%na = \"rns.neg\"(%a) : (" LOW ") -> " LOW "\n"
                      "%nb = \"rns.neg\"(%b) : (" HIGH ") -> " HIGH "\n"
                      "%r = \"rns.concat_limbs\"(%na, %nb) : (" LOW ", " HIGH ") -> " CT0 "\n"),
                  0, 0);
}

static void scattered_rows_are_copied(void **state) {
#define EVEN TENSOR("2", "0, 2, 4")
#define ODD TENSOR("2", "1, 3")
  // Each selection and each join is a copy; of the four values at most three live at once.
  expect_negation(*state,
                  ONE("%a = \"rns.select_limbs\"(%x) {ids = [0, 2, 4]} : (" CT0 ") -> " EVEN "\n"
                      "%b = \"rns.select_limbs\"(%x) {ids = [1, 3]} : (" CT0 ") -> " ODD "\n"
                      "%na = \"rns.neg\"(%a) : (" EVEN ") -> " EVEN "\n"
                      "%nb = \"rns.neg\"(%b) : (" ODD ") -> " ODD "\n"
                      "%r = \"rns.concat_limbs\"(%na, %nb) : (" EVEN ", " ODD ") -> " CT0 "\n"),
                  4, (3 + 2 + 3) * 2 * 1024 * 8);
}

static void packs_of_packs_need_no_copy(void **state) {
#define A0 TENSOR("1", "0, 1")
#define A1 TENSOR("1", "2, 3, 4")
  expect_negation(*state,
                  ONE(FIRST SECOND "%a0 = \"rns.select_limbs\"(%a) {ids = [0, 1]} : (" C1 ") -> " A0 "\n"
                                   "%a1 = \"rns.select_limbs\"(%a) {ids = [2, 3, 4]} : (" C1 ") -> " A1 "\n"
                                   "%na0 = \"rns.neg\"(%a0) : (" A0 ") -> " A0 "\n"
                                   "%na1 = \"rns.neg\"(%a1) : (" A1 ") -> " A1 "\n"
                                   "%na = \"rns.concat_limbs\"(%na0, %na1) : (" A0 ", " A1 ") -> " C1 "\n"
                                   "%nb = \"rns.neg\"(%b) : (" C1 ") -> " C1 "\n"
                                   "%r = \"rns.pack_components\"(%na, %nb) : (" C1 ", " C1 ") -> " CT0 "\n"),
                  0, 0);
}

static void a_part_packed_twice_is_copied_once(void **state) {
  bench_t *bench = *state;
  hx_executable_t *executable =
      link_text(bench, ONE(FIRST "%n = \"rns.neg\"(%a) : (" C1 ") -> " C1 "\n"
                                 "%r = \"rns.pack_components\"(%n, %n) : (" C1 ", " C1 ") -> " CT0 "\n"));
  assert_int_equal(copies(executable), 1);
  hx_value_t *x = encrypt_seed(bench, 1), *found = run_one(bench, executable, x);
  assert_memory_equal(hx_tensor_row(found->tensor, 0, 0, 0, 0), hx_tensor_row(found->tensor, 0, 0, 1, 0), 5 * 1024 * 8);
  hx_value_release(found);
  hx_value_release(x);
  hx_executable_release(executable);
}

static void packed_views_are_copied(void **state) {
  bench_t *bench = *state;
  hx_executable_t *executable =
      link_text(bench, ONE(FIRST SECOND "%r = \"rns.pack_components\"(%b, %a) : (" C1 ", " C1 ") -> " CT0 "\n"));
  assert_int_equal(executable->call_count, 0);
  assert_int_equal(copies(executable), 2);
  hx_value_t *x = encrypt_seed(bench, 1), *found = run_one(bench, executable, x);
  assert_memory_equal(hx_tensor_row(found->tensor, 0, 0, 0, 0), hx_tensor_row(x->tensor, 0, 0, 1, 0), 5 * 1024 * 8);
  assert_memory_equal(hx_tensor_row(found->tensor, 0, 0, 1, 0), hx_tensor_row(x->tensor, 0, 0, 0, 0), 5 * 1024 * 8);
  hx_value_release(found);
  hx_value_release(x);
  hx_executable_release(executable);
}

static void an_input_that_is_returned_is_copied(void **state) {
  bench_t *bench = *state;
  static const char text[] =
      MODULE("%x: " CT0, CT0, CT0 ", " CT0, "\"func.return\"(%x, %x) : (" CT0 ", " CT0 ") -> ()");
  hx_executable_t *executable = link_text(bench, text);
  assert_int_equal(executable->call_count, 0);
  assert_int_equal(copies(executable), 2);
  hx_value_t *x = encrypt_seed(bench, 1), *outputs[2] = {NULL, NULL};
  const hx_value_t *inputs[] = {x};
  must(hx_run(executable, inputs, outputs, bench->report), bench->report);
  assert_true(hx_value_equal(outputs[0], x));
  assert_true(hx_value_equal(outputs[1], x));
  hx_value_release(outputs[0]);
  hx_value_release(outputs[1]);
  hx_value_release(x);
  hx_executable_release(executable);
}

static void constants_are_made_at_link(void **state) {
  bench_t *bench = *state;
  static const char text[] =
      ONE("%c = \"core.constant\"() {ids = [0, 1, 2, 3, 4], residues = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]} : () -> " C1
          "\n" FIRST SECOND "%s = \"rns.add\"(%a, %c) : (" C1 ", " C1 ") -> " C1
          "\n"
          "%r = \"rns.pack_components\"(%s, %b) : (" C1 ", " C1 ") -> " CT0 "\n");
  hx_executable_t *executable = link_text(bench, text);
  hx_value_t *x = encrypt_seed(bench, 1), *found = run_one(bench, executable, x);
  for (uint32_t l = 0; l < 5; ++l) {
    const uint64_t q = hx_params_prime(bench->params, l);
    const uint64_t *before = hx_tensor_row(x->tensor, 0, 0, 0, l), *after = hx_tensor_row(found->tensor, 0, 0, 0, l);
    for (size_t i = 0; i < 1024; ++i) assert_int_equal(after[i], (before[i] + 2 * l + (i < 512 ? 1 : 2)) % q);
  }
  hx_value_release(found);
  hx_value_release(x);
  hx_executable_release(executable);
}

static void key_slices_are_views(void **state) {
  bench_t *bench = *state;
  static const char text[] =
      ONE("%k = \"material.ref\"() {symbol = @relin} : () -> !ckks.key<kind = relin>\n"
          "%s = \"rns.key_slice\"(%k) {digit = 1 : i64, ids = [0, 1, 2, 3, 4]} : (!ckks.key<kind = relin>) -> " TENSOR(
              "2", "0, 1, 2, 3, 4") "\n"
          "%r = \"rns.mul\"(%x, %s) : (" CT0 ", " TENSOR("2", "0, 1, 2, 3, 4") ") -> " CT0 "\n");
  hx_executable_t *executable = link_text(bench, text);
  assert_int_equal(copies(executable), 0);
  hx_value_t *x = encrypt_seed(bench, 1), *found = run_one(bench, executable, x);
  for (uint32_t c = 0; c < 2; ++c) {
    const uint64_t q = hx_params_prime(bench->params, 3);
    const uint64_t *a = hx_tensor_row(x->tensor, 0, 0, c, 3), *r = hx_tensor_row(found->tensor, 0, 0, c, 3);
    const uint64_t *b = hx_tensor_row(bench->keys->relin->tensor, 0, 1, c, 3);
    for (size_t i = 0; i < 1024; ++i) {
      __extension__ typedef unsigned __int128 wide_t;
      assert_int_equal(r[i], (uint64_t)((wide_t)a[i] * b[i] % q));
    }
  }
  hx_value_release(found);
  hx_value_release(x);
  hx_executable_release(executable);
}

static void batch_items_are_views(void **state) {
  bench_t *bench = *state;
#define B3                                                                                                           \
  "!ckks.ciphertext<batch = [3], components = 2, depth = 0, scale = \"2^40\", primes = [0, 1, 2, 3, 4], basis = Q, " \
  "domain = ntt, repr = standard, slots = 512>"
#define B2T                                                                                                          \
  "!rns.tensor<dtype = u64, batch = [2], components = 2, primes = [0, 1, 2, 3, 4], basis = Q, domain = ntt, repr = " \
  "standard>"
  static const char text[] = MODULE("%x: " B3, B3, CT0,
                                    "%a = \"rns.select_batch\"(%x) {axis = 0 : i64, start = 1 : i64, items = 2 : i64} : (" B3
                                    ") -> " B2T "\n"
                                    "%b = \"rns.select_batch\"(%a) {axis = 0 : i64, start = 1 : i64} : (" B2T ") -> " TENSOR(
                                        "2", "0, 1, 2, 3, 4") "\n"
                                    "%r = \"rns.neg\"(%b) : (" TENSOR("2", "0, 1, 2, 3, 4") ") -> " CT0 "\n"
                                    "\"func.return\"(%r) : (" CT0 ") -> ()");
  hx_executable_t *executable = link_text(bench, text);
  assert_int_equal(executable->steps.count, 1);
  hx_value_t *one = encrypt_seed(bench, 1), *batch = NULL, *expected = NULL;
  hx_type_t type = one->type;
  type.batch_rank = 1;
  type.batch_shape[0] = 3;
  assert_int_equal(hx_value_create(bench->params, &type, false, &batch), HX_STATUS_OK);
  const size_t bytes = (size_t)hx_value_bytes(one);
  memcpy((unsigned char *)hx_tensor_row(batch->tensor, 0, 0, 0, 0) + 2 * bytes, hx_tensor_row(one->tensor, 0, 0, 0, 0),
         bytes);
  memcpy(batch->key_id, one->key_id, sizeof batch->key_id);
  hx_value_t *found = run_one(bench, executable, batch);
  hx_engine_t *engine = NULL;
  must(hx_engine_create(bench->params, NULL, bench->backend, &engine, bench->report), bench->report);
  must(hx_engine_neg(engine, one, &expected, bench->report), bench->report);
  assert_memory_equal(hx_tensor_row(found->tensor, 0, 0, 0, 0), hx_tensor_row(expected->tensor, 0, 0, 0, 0), bytes);
  hx_engine_release(engine);
  hx_value_release(found);
  hx_value_release(expected);
  hx_value_release(batch);
  hx_value_release(one);
  hx_executable_release(executable);
}

#define CASE(name_) cmocka_unit_test_setup_teardown(name_, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {CASE(parts_are_computed_where_they_are_packed),
                                     CASE(rows_are_computed_where_they_are_joined),
                                     CASE(scattered_rows_are_copied),
                                     CASE(packs_of_packs_need_no_copy),
                                     CASE(a_part_packed_twice_is_copied_once),
                                     CASE(packed_views_are_copied),
                                     CASE(an_input_that_is_returned_is_copied),
                                     CASE(constants_are_made_at_link),
                                     CASE(key_slices_are_views),
                                     CASE(batch_items_are_views)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
