// SPDX-License-Identifier: Apache-2.0
// Batches: every operation on a batch gives the bits of its items; stack, select, slice and unbind; what is
// refused.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/scheme/scheme.h"

enum { ITEMS = 3 };

static scheme_t s;
static const int64_t steps[] = {1, 5, 0};
static scheme_number_t *z[ITEMS];
static hx_value_t *items[ITEMS], *batch;     // two components
static hx_value_t *plains[ITEMS], *weights;  // plaintexts, a batch of them

static int open_all(void **state) {
  (void)state;
  uint64_t seed = 1;
  scheme_open(&s, case_set_make(11, 55, 40, 3, 56, 1, 4, "2^40"), steps, 2);
  for (size_t i = 0; i < ITEMS; ++i) {
    z[i] = scheme_message(&seed, s.slots);
    items[i] = scheme_encrypt(&s, z[i], s.slots, 0, NULL);
    plains[i] = scheme_encode(&s, z[i], s.slots, 0, NULL);
  }
  SCHEME_OK(&s, hx_value_stack((const hx_value_t *const *)items, ITEMS, &batch, s.report));
  SCHEME_OK(&s, hx_value_stack((const hx_value_t *const *)plains, ITEMS, &weights, s.report));
  return 0;
}

static int close_all(void **state) {
  (void)state;
  for (size_t i = 0; i < ITEMS; ++i) {
    free(z[i]);
    hx_value_release(items[i]);
    hx_value_release(plains[i]);
  }
  hx_value_release(batch);
  hx_value_release(weights);
  scheme_close(&s);
  return 0;
}

// Item i of a result is the result of item i. Takes the references.
static void check_items(const char *what, hx_value_t *result, hx_value_t *const *each) {
  hx_value_t *parts[ITEMS];
  uint64_t shape[4];
  assert_int_equal(hx_value_batch(result, shape), 1);
  assert_int_equal(shape[0], ITEMS);
  SCHEME_OK(&s, hx_value_unbind(result, parts, s.report));
  for (size_t i = 0; i < ITEMS; ++i) {
    if (!hx_value_equal(parts[i], each[i])) fail_msg("%s: item %zu differs", what, i);
    hx_value_release(parts[i]);
    hx_value_release(each[i]);
  }
  hx_value_release(result);
}

#define CHECK_ITEMS(what_, call_)                             \
  do {                                                        \
    hx_value_t *whole_ = NULL, *each_[ITEMS] = {NULL}, **out; \
    const hx_value_t *x = batch, *p = weights;                \
    out = &whole_;                                            \
    SCHEME_OK(&s, call_);                                     \
    for (size_t i_ = 0; i_ < ITEMS; ++i_) {                   \
      x = items[i_];                                          \
      p = plains[i_];                                         \
      out = &each_[i_];                                       \
      SCHEME_OK(&s, call_);                                   \
    }                                                         \
    (void)p;                                                  \
    check_items(what_, whole_, each_);                        \
  } while (0)

static void operations_work_on_every_item(void **state) {
  (void)state;
  hx_engine_t *e = s.engine;
  CHECK_ITEMS("add", hx_engine_add(e, x, x, out, s.report));
  CHECK_ITEMS("sub", hx_engine_sub(e, x, items[0], out, s.report));  // one value serves every item
  CHECK_ITEMS("neg", hx_engine_neg(e, x, out, s.report));
  CHECK_ITEMS("add_plain", hx_engine_add_plain(e, x, p, out, s.report));
  CHECK_ITEMS("sub_plain", hx_engine_sub_plain(e, x, plains[1], out, s.report));
  CHECK_ITEMS("mul_plain", hx_engine_mul_plain(e, x, p, out, s.report));
  CHECK_ITEMS("add_scalar", hx_engine_add_scalar(e, x, 0.5, -1, out, s.report));
  CHECK_ITEMS("mul_scalar", hx_engine_mul_scalar(e, x, 0.5, -1, "2^40", out, s.report));
  CHECK_ITEMS("mul_integer", hx_engine_mul_integer(e, x, -7, out, s.report));
  CHECK_ITEMS("mul_i", hx_engine_mul_i(e, x, out, s.report));
  CHECK_ITEMS("mul", hx_engine_mul(e, x, items[2], out, s.report));
  CHECK_ITEMS("square", hx_engine_square(e, x, out, s.report));
  CHECK_ITEMS("rescale", hx_engine_rescale(e, x, out, s.report));
  CHECK_ITEMS("level_drop", hx_engine_level_drop(e, x, 2, out, s.report));
  CHECK_ITEMS("reinterpret_scale", hx_engine_reinterpret_scale(e, x, "2^41", out, s.report));
  CHECK_ITEMS("from_ntt", hx_engine_from_ntt(e, x, out, s.report));
  CHECK_ITEMS("rotate", hx_engine_rotate(e, x, 5, out, s.report));
  CHECK_ITEMS("conjugate", hx_engine_conjugate(e, x, out, s.report));
  CHECK_ITEMS("rotate_many", hx_engine_rotate_many(e, x, &steps[1], 1, out, s.report));
}

static void relinearized_batch_has_the_bits_of_its_items(void **state) {
  (void)state;
  hx_value_t *wide = NULL, *whole = NULL, *each[ITEMS];
  SCHEME_OK(&s, hx_engine_square(s.engine, batch, &wide, s.report));
  SCHEME_OK(&s, hx_engine_relinearize(s.engine, wide, &whole, s.report));
  hx_value_release(wide);
  for (size_t i = 0; i < ITEMS; ++i) {
    SCHEME_OK(&s, hx_engine_square(s.engine, items[i], &wide, s.report));
    SCHEME_OK(&s, hx_engine_relinearize(s.engine, wide, &each[i], s.report));
    hx_value_release(wide);
  }
  check_items("relinearize", whole, each);
}

static void batch_is_encrypted_and_decrypted_item_by_item(void **state) {
  (void)state;
  const size_t count = s.slots;
  scheme_number_t *all = scheme_numbers(ITEMS * count);
  for (size_t i = 0; i < ITEMS; ++i) memcpy(all + i * count, z[i], count * sizeof *all);
  hx_value_t *plain = NULL, *secret = NULL, *public_ = NULL;
  SCHEME_OK(&s, hx_encode_batch(s.params, (const double *)all, ITEMS, count, true, NULL, &plain, s.report));
  assert_true(hx_value_equal(plain, weights));
  SCHEME_OK(&s, hx_encrypt(s.keys, plain, true, &secret, s.report));
  SCHEME_OK(&s, hx_encrypt(s.keys, plain, false, &public_, s.report));
  scheme_check(&s, "symmetric batch", secret, all, hx_noise_fresh_secret(s.params) + hx_noise_encode());
  scheme_check(&s, "public batch", public_, all, scheme_fresh(&s));
  hx_value_release(plain);
  hx_value_release(secret);
  hx_value_release(public_);
  free(all);
}

static void views_share_and_nest(void **state) {
  (void)state;
  const hx_value_t *const twice[] = {batch, batch};
  hx_value_t *deep = NULL, *row = NULL, *column = NULL, *part = NULL, *one = NULL;
  uint64_t shape[4];
  SCHEME_OK(&s, hx_value_stack(twice, 2, &deep, s.report));
  assert_int_equal(hx_value_batch(deep, shape), 2);
  assert_int_equal(shape[0], 2);
  assert_int_equal(shape[1], ITEMS);
  SCHEME_OK(&s, hx_value_select(deep, 0, 1, &row, s.report));
  assert_true(hx_value_equal(row, batch));
  SCHEME_OK(&s, hx_value_select(deep, 1, 2, &column, s.report));
  SCHEME_OK(&s, hx_value_select(column, 0, 0, &one, s.report));
  assert_true(hx_value_equal(one, items[2]));
  hx_value_release(one);
  // A strided view is a full operand.
  hx_value_t *sum = NULL, *twofold = NULL;
  SCHEME_OK(&s, hx_engine_sum(s.engine, column, 0, &sum, s.report));
  SCHEME_OK(&s, hx_engine_add(s.engine, items[2], items[2], &twofold, s.report));
  assert_true(hx_value_equal(sum, twofold));
  SCHEME_OK(&s, hx_value_slice(batch, 0, 1, 2, &part, s.report));
  SCHEME_OK(&s, hx_value_select(part, 0, 0, &one, s.report));
  assert_true(hx_value_equal(one, items[1]));
  hx_value_t *const all[] = {deep, row, column, part, one, sum, twofold};
  for (size_t i = 0; i < HX_COUNT_OF(all); ++i) hx_value_release(all[i]);
}

static void wrong_batches_are_refused(void **state) {
  (void)state;
  hx_value_t *out = NULL, *low = NULL, *pair = NULL;
  SCHEME_OK(&s, hx_engine_level_drop(s.engine, items[1], 1, &low, s.report));
  const hx_value_t *const mixed[] = {items[0], low}, *const kinds[] = {items[0], plains[0]};
  assert_int_equal(hx_value_stack(mixed, 2, &out, s.report), HX_STATUS_INVALID);
  assert_fault(s.report, HX_CODE_DEPTH_MISMATCH, WORDS("value 1", "depth"));
  hx_report_clear(s.report);
  assert_int_not_equal(hx_value_stack(kinds, 2, &out, s.report), HX_STATUS_OK);
  hx_report_clear(s.report);
  assert_int_equal(hx_value_stack(mixed, 0, &out, s.report), HX_STATUS_INVALID);
  hx_report_clear(s.report);
  assert_int_equal(hx_value_select(batch, 1, 0, &out, s.report), HX_STATUS_INVALID);
  assert_fault(s.report, HX_CODE_SHAPE, WORDS("axis 1"));
  hx_report_clear(s.report);
  assert_int_equal(hx_value_select(batch, 0, ITEMS, &out, s.report), HX_STATUS_INVALID);
  assert_fault(s.report, HX_CODE_SHAPE, WORDS("item 3"));
  hx_report_clear(s.report);
  assert_int_equal(hx_value_slice(batch, 0, 1, ITEMS, &out, s.report), HX_STATUS_INVALID);
  assert_fault(s.report, HX_CODE_SHAPE, WORDS("3 items from 1"));
  hx_report_clear(s.report);
  assert_int_equal(hx_engine_sum(s.engine, items[0], 0, &out, s.report), HX_STATUS_INVALID);
  hx_report_clear(s.report);
  SCHEME_OK(&s, hx_value_slice(batch, 0, 0, 2, &pair, s.report));
  assert_int_equal(hx_engine_add(s.engine, batch, pair, &out, s.report), HX_STATUS_INVALID);
  hx_report_clear(s.report);
  const double bad[] = {1, 2, 3, NAN};
  assert_int_equal(hx_encode_batch(s.params, bad, 2, 2, false, NULL, &out, s.report), HX_STATUS_INVALID);
  assert_fault(s.report, HX_CODE_VALUE, WORDS("item 1"));
  hx_report_clear(s.report);
  assert_null(out);
  hx_value_release(low);
  hx_value_release(pair);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(operations_work_on_every_item),
      cmocka_unit_test(relinearized_batch_has_the_bits_of_its_items),
      cmocka_unit_test(batch_is_encrypted_and_decrypted_item_by_item),
      cmocka_unit_test(views_share_and_nest),
      cmocka_unit_test(wrong_batches_are_refused),
  };
  return cmocka_run_group_tests(tests, open_all, close_all);
}
