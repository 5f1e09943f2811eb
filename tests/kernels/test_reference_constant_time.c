// SPDX-License-Identifier: Apache-2.0
// No branch and no address depends on a residue: under valgrind, data marked undefined must reach neither. The program
// starts itself under valgrind where that is installed and the build has no sanitizer; elsewhere the cases are skipped.
#include <unistd.h>

#include "tests/kernels/test_reference_call.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1  // as gcc does
#endif
#endif
#if __has_include(<valgrind/memcheck.h>) && !defined(__SANITIZE_ADDRESS__)
#include <valgrind/memcheck.h>
#define HAVE_VALGRIND 1
#else
#define HAVE_VALGRIND 0
#define RUNNING_ON_VALGRIND 0
#define VALGRIND_COUNT_ERRORS 0
#define VALGRIND_MAKE_MEM_UNDEFINED(address_, bytes_) ((void)(address_), (void)(bytes_))
#define VALGRIND_MAKE_MEM_DEFINED(address_, bytes_) ((void)(address_), (void)(bytes_))
#endif

static const uint32_t all[] = {0, 1, 2, 3, 4, 5};
static const uint32_t q[] = {0, 1, 2, 3};
static const uint32_t bits[] = {61, 45, 20, 41, 55, 56};  // four of Q, two of P

#define N 16

static void setup(test_ring *t) {
  if (!RUNNING_ON_VALGRIND) skip();
  ring_make(t, 4, 64, bits, 4, 2, 2);
}

static void hide(const tensor *x) { (void)VALGRIND_MAKE_MEM_UNDEFINED(x->memory, x->words * sizeof *x->memory); }

static void show(const tensor *x) { (void)VALGRIND_MAKE_MEM_DEFINED(x->memory, x->words * sizeof *x->memory); }

static void the_check_finds_a_branch(void **state) {
  (void)state;
  test_ring t;
  setup(&t);
  const unsigned before = (unsigned)VALGRIND_COUNT_ERRORS;
  volatile uint64_t secret = 5;
  (void)VALGRIND_MAKE_MEM_UNDEFINED((void *)(uintptr_t)&secret, sizeof secret);
  volatile int reached = 0;
  if (secret > 3) reached = 1;
  (void)reached;
  assert_true((unsigned)VALGRIND_COUNT_ERRORS == before + 1);
  ring_free(&t);
}

static void assert_no_new_errors(unsigned before, const char *name) {
  if ((unsigned)VALGRIND_COUNT_ERRORS != before) fail_msg("%s branches or addresses by its data", name);
}

static void single_residues_and_rows_hide_their_data(void **state) {
  (void)state;
  test_ring t;
  setup(&t);
  const unsigned before = (unsigned)VALGRIND_COUNT_ERRORS;
  uint64_t a[N] = {1, 2, 3}, b[N] = {4, 5, 6}, out[N];
  (void)VALGRIND_MAKE_MEM_UNDEFINED(a, sizeof a);
  (void)VALGRIND_MAKE_MEM_UNDEFINED(b, sizeof b);
  for (uint32_t id = 0; id < 4; ++id) {
    out[0] = hx_ref_word_reduce(t.ring, id, a[0]);
    out[1] = hx_ref_word_reduce_signed(t.ring, id, (int64_t)a[1]);
    out[2] = hx_ref_word_inverse(t.ring, id, a[2]);
    hx_ref_row_add_lazy(t.ring, id, a, b, out);
    hx_ref_row_sub_lazy(t.ring, id, a, b, out);
    hx_ref_row_neg_lazy(t.ring, id, a, out);
    hx_ref_row_to_montgomery(t.ring, id, a, out);
    hx_ref_row_mul_montgomery(t.ring, id, a, b, out);
    hx_ref_row_center_lift_signed(t.ring, id, (const int64_t *)a, out);
  }
  assert_no_new_errors(before, "a row function");
  (void)VALGRIND_MAKE_MEM_DEFINED(out, sizeof out);
  ring_free(&t);
}

static void operations_hide_their_data(void **state) {
  (void)state;
  test_ring t;
  setup(&t);
  uint64_t seed = 60;
  const uint64_t constants[] = {1, 2, 3, 4, 5, 6};
  tensor a, a_values, one, whole, key, out;
  tensor_make(&a, &t, 2, 4, q, HX_COEFFICIENT);
  tensor_make(&a_values, &t, 3, 4, q, HX_NTT);
  tensor_make(&one, &t, 2, 1, q, HX_COEFFICIENT);
  tensor_make(&whole, &t, 2, 6, all, HX_COEFFICIENT);
  tensor_shape(&key, &t, 0, NULL, 2, 2, 6, all, HX_NTT);
  const hx_attr nearest = ATTR_TEXT("rounding", "nearest"), truncating = ATTR_TEXT("rounding", "truncating");
  const hx_attr two = ATTR_I64("count", 2), digit = ATTR_I64("digit", 1), element = ATTR_I64("element", 5);
  const hx_attr ids = ATTR_I64("ids", 0, 1, 2, 3, 4, 5), step = ATTR_I64("step", 1), factor = ATTR_I64("integer", -3);
  const hx_attr residues = ATTR_U64("residues", 4, constants), weighted = ATTR_TEXT("for", "weighted");
  const struct {
    const char *name;
    uint32_t operands, components, limbs, domain;
    tensor *values[3];
    hx_attr attrs[2];
    uint32_t attr_count;
  } calls[] = {
      {"ntt.forward", 1, 2, 4, HX_NTT, {&a}, {{0}}, 0},
      {"ntt.inverse", 1, 3, 4, HX_COEFFICIENT, {&a_values}, {{0}}, 0},
      {"rns.add", 2, 2, 4, HX_COEFFICIENT, {&a, &a}, {{0}}, 0},
      {"rns.sub", 2, 2, 4, HX_COEFFICIENT, {&a, &a}, {{0}}, 0},
      {"rns.neg", 1, 2, 4, HX_COEFFICIENT, {&a}, {{0}}, 0},
      {"rns.mul", 2, 2, 4, HX_COEFFICIENT, {&a, &a}, {{0}}, 0},
      {"rns.mul_add", 3, 2, 4, HX_COEFFICIENT, {&a, &a, &a}, {{0}}, 0},
      {"rns.mul_scalar", 1, 2, 4, HX_COEFFICIENT, {&a}, {residues}, 1},
      {"rns.reduce", 1, 2, 4, HX_COEFFICIENT, {&a}, {{0}}, 0},
      {"rns.center_lift", 1, 2, 6, HX_COEFFICIENT, {&one}, {ids}, 1},
      {"rns.mod_up", 1, 2, 6, HX_COEFFICIENT, {&a}, {digit}, 1},
      {"rns.mod_down", 1, 2, 4, HX_COEFFICIENT, {&whole}, {nearest}, 1},
      {"rns.mod_down", 1, 2, 4, HX_COEFFICIENT, {&whole}, {truncating}, 1},
      {"rns.rescale", 1, 2, 2, HX_COEFFICIENT, {&a}, {nearest, two}, 2},
      {"rns.mixed_radix", 1, 2, 4, HX_COEFFICIENT, {&a}, {{0}}, 0},
      {"rns.extend_exact", 1, 2, 6, HX_COEFFICIENT, {&a}, {ids}, 1},
      {"rns.automorphism", 1, 2, 4, HX_COEFFICIENT, {&a}, {element}, 1},
      {"rns.automorphism", 1, 3, 4, HX_NTT, {&a_values}, {element}, 1},
      {"ckks.mul_integer", 1, 2, 4, HX_COEFFICIENT, {&a}, {factor}, 1},
      {"ckks.relinearize", 2, 2, 4, HX_NTT, {&a_values, &key}, {{0}}, 0},
      {"ckks.rotate", 2, 2, 4, HX_NTT, {&a, &key}, {step}, 1},
      {"ckks.prepare_plain", 1, 2, 6, HX_NTT, {&a}, {weighted}, 1},
  };
  tensor *const operands[] = {&a, &a_values, &one, &whole, &key};
  for (size_t i = 0; i < COUNT_OF(operands); ++i) tensor_fill(operands[i], &t, &seed);
  for (size_t k = 0; k < COUNT_OF(calls); ++k) {
    tensor_make(&out, &t, calls[k].components, calls[k].limbs, all, calls[k].domain);
    tensor *values[4];
    memcpy(values, calls[k].values, sizeof calls[k].values);
    values[calls[k].operands] = &out;
    for (size_t i = 0; i < COUNT_OF(operands); ++i) hide(operands[i]);
    const unsigned before = (unsigned)VALGRIND_COUNT_ERRORS;
    run(&t, calls[k].name, calls[k].operands, 1, values, calls[k].attr_count, calls[k].attrs);
    assert_no_new_errors(before, calls[k].name);
    for (size_t i = 0; i < COUNT_OF(operands); ++i) show(operands[i]);
    show(&out);
    tensor_free(&out);
  }
  for (size_t i = 0; i < COUNT_OF(operands); ++i) tensor_free(operands[i]);
  ring_free(&t);
}

int main(int count, char **arguments) {
  // Started again with an argument, so once only; if valgrind is not there, the program goes on. The first case
  // provokes an error on purpose, so valgrind is not to report any.
  if (HAVE_VALGRIND && !RUNNING_ON_VALGRIND && count == 1)
    execlp("valgrind", "valgrind", "--quiet", "--log-file=/dev/null", arguments[0], "under-valgrind", (char *)NULL);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_check_finds_a_branch),
      cmocka_unit_test(single_residues_and_rows_hide_their_data),
      cmocka_unit_test(operations_hide_their_data),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
