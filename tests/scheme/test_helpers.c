// SPDX-License-Identifier: Apache-2.0
// Bringing values to one scale, composed rotations, methods in place.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "core/ckks/keys.h"
#include "heliox/circuits.h"
#include "tests/scheme/scheme.h"

static const int64_t steps[] = {1, 4, 16, -64};

typedef struct bed {
  scheme_t s;
  scheme_number_t *z[2], *want;
} bed_t;

static void open_bed(bed_t *bed) {
  uint64_t seed = 11;
  scheme_open(&bed->s, case_set_make(10, 55, 40, 4, 56, 1, 5, "2^40"), steps, HX_COUNT_OF(steps));
  for (size_t i = 0; i < 2; ++i) bed->z[i] = scheme_message(&seed, bed->s.slots);
  bed->want = scheme_numbers(bed->s.slots);
}

static void close_bed(bed_t *bed) {
  for (size_t i = 0; i < 2; ++i) free(bed->z[i]);
  free(bed->want);
  scheme_close(&bed->s);
}

static hx_value_t *value(bed_t *bed, size_t message, uint32_t depth, const char *scale) {
  return scheme_encrypt(&bed->s, bed->z[message], bed->s.slots, depth, scale);
}

// The square of a message, rescaled: its scale is 2^80 over a prime.
static hx_value_t *squared(bed_t *bed, size_t message) {
  hx_value_t *a = value(bed, message, 0, NULL), *x = NULL, *y = NULL, *z = NULL;
  SCHEME_OK(&bed->s, hx_engine_square(bed->s.engine, a, &x, bed->s.report));
  SCHEME_OK(&bed->s, hx_engine_relinearize(bed->s.engine, x, &y, bed->s.report));
  SCHEME_OK(&bed->s, hx_engine_rescale(bed->s.engine, y, &z, bed->s.report));
  hx_value_release(a);
  hx_value_release(x);
  hx_value_release(y);
  return z;
}

// Matches, adds, checks the sum and where both ended. Releases a and b.
static void check_match(bed_t *bed, const char *what, hx_value_t *a, hx_value_t *b, uint32_t depth, const char *scale) {
  hx_value_t *x = NULL, *y = NULL, *sum = NULL;
  SCHEME_OK(&bed->s, hx_engine_match(bed->s.engine, a, b, &x, &y, bed->s.report));
  assert_int_equal(x->type.depth, depth);
  char text[HX_SCALE_TEXT_MAX];
  hx_scale_print(&x->type.scale, text);
  if (scale != NULL) assert_string_equal(text, scale);
  SCHEME_OK(&bed->s, hx_engine_add(bed->s.engine, x, y, &sum, bed->s.report));
  scheme_check(&bed->s, what, sum, bed->want, hx_noise_worst_variance(&sum->noise));
  hx_value_release(x);
  hx_value_release(y);
  hx_value_release(sum);
  hx_value_release(a);
  hx_value_release(b);
}

static void match_brings_values_to_one_scale_exactly(void **state) {
  (void)state;
  bed_t bed;
  open_bed(&bed);
  for (size_t i = 0; i < bed.s.slots; ++i) bed.want[i] = bed.z[0][i] + bed.z[1][i];
  check_match(&bed, "equal scales, other depths", value(&bed, 0, 0, NULL), value(&bed, 1, 2, NULL), 2, "2^40");
  check_match(&bed, "far apart, no depth taken", value(&bed, 0, 1, "2^40"), value(&bed, 1, 1, "2^75"), 1, "2^75");
  check_match(&bed, "far apart, the other way", value(&bed, 0, 1, "2^75"), value(&bed, 1, 1, "2^40"), 1, "2^75");
  check_match(&bed, "near, one depth taken", value(&bed, 0, 1, "3*2^38"), value(&bed, 1, 1, "2^40"), 2, NULL);
  for (size_t i = 0; i < bed.s.slots; ++i) bed.want[i] = bed.z[0][i] * bed.z[0][i] + bed.z[1][i];
  check_match(&bed, "a product and a fresh value", squared(&bed, 0), value(&bed, 1, 0, NULL), 1, NULL);
  check_match(&bed, "a product and a deep value", squared(&bed, 0), value(&bed, 1, 3, NULL), 3, NULL);
  close_bed(&bed);
}

static void match_refuses_with_both_scales(void **state) {
  (void)state;
  bed_t bed;
  open_bed(&bed);
  hx_value_t *x = NULL, *y = NULL;
  hx_value_t *a = value(&bed, 0, 4, "3*2^38"), *b = value(&bed, 1, 4, "2^40");
  assert_int_not_equal(hx_engine_match(bed.s.engine, a, b, &x, &y, bed.s.report), HX_STATUS_OK);
  assert_fault(bed.s.report, HX_CODE_SCALE_MISMATCH, WORDS("3*2^38", "2^40", "ratio of 2^-0.415", "depth 4"));
  hx_report_clear(bed.s.report);
  hx_value_t *sparse = scheme_encrypt(&bed.s, bed.z[0], 8, 0, NULL);
  assert_int_not_equal(hx_engine_match(bed.s.engine, sparse, b, &x, &y, bed.s.report), HX_STATUS_OK);
  assert_fault(bed.s.report, HX_CODE_SLOTS_MISMATCH, WORDS("8 slots", "512"));
  hx_report_clear(bed.s.report);
  hx_value_t *plain = scheme_encode(&bed.s, bed.z[0], bed.s.slots, 0, NULL);
  assert_int_not_equal(hx_engine_match(bed.s.engine, a, plain, &x, &y, bed.s.report), HX_STATUS_OK);
  assert_fault(bed.s.report, HX_CODE_TYPE, WORDS("operand b"));
  assert_null(x);
  assert_null(y);
  hx_value_release(a);
  hx_value_release(b);
  hx_value_release(sparse);
  hx_value_release(plain);
  close_bed(&bed);
}

static void match_in_a_program_gives_the_engine_s_bits(void **state) {
  (void)state;
  bed_t bed;
  open_bed(&bed);
  hx_value_t *a = value(&bed, 0, 0, "3*2^38"), *b = value(&bed, 1, 0, NULL);
  hx_builder_t *builder = NULL;
  hx_node_t *in[2], *out[2], *sum;
  const hx_node_options_t options = {.scale = "3*2^38"};
  SCHEME_OK(&bed.s, hx_builder_create(bed.s.params, &builder, bed.s.report));
  SCHEME_OK(&bed.s, hx_builder_input(builder, "a", &options, &in[0], bed.s.report));
  SCHEME_OK(&bed.s, hx_builder_input(builder, "b", NULL, &in[1], bed.s.report));
  SCHEME_OK(&bed.s, hx_builder_match(builder, in[0], in[1], &out[0], &out[1], bed.s.report));
  SCHEME_OK(&bed.s, hx_builder_op(builder, "ckks.add", out, 2, NULL, &sum, 1, bed.s.report));
  SCHEME_OK(&bed.s, hx_builder_output(builder, "sum", sum, bed.s.report));
  hx_program_t *program = NULL;
  hx_compilation_t *compilation = NULL;
  hx_executable_t *executable = NULL;
  hx_value_t *result = NULL, *x = NULL, *y = NULL, *direct = NULL;
  const hx_value_t *const inputs[] = {a, b};
  SCHEME_OK(&bed.s, hx_builder_finish(builder, &program, bed.s.report));
  SCHEME_OK(&bed.s, hx_compilation_create(program, bed.s.params, &compilation, bed.s.report));
  SCHEME_OK(&bed.s, hx_link(compilation, bed.s.backend, NULL, &executable, bed.s.report));
  SCHEME_OK(&bed.s, hx_run(executable, inputs, &result, bed.s.report));
  SCHEME_OK(&bed.s, hx_engine_match(bed.s.engine, a, b, &x, &y, bed.s.report));
  SCHEME_OK(&bed.s, hx_engine_add(bed.s.engine, x, y, &direct, bed.s.report));
  assert_true(hx_value_equal(result, direct));
  hx_value_t *const all[] = {a, b, result, x, y, direct};
  for (size_t i = 0; i < HX_COUNT_OF(all); ++i) hx_value_release(all[i]);
  hx_executable_release(executable);
  hx_compilation_release(compilation);
  hx_program_release(program);
  hx_builder_release(builder);
  close_bed(&bed);
}

// ------------------------------------------------------------------ composed rotations

static void plans_take_fewest_rotations(void **state) {
  (void)state;
  bed_t bed;
  open_bed(&bed);
  static const struct {
    int64_t step;
    size_t count;
  } cases[] = {{0, 0}, {512, 0}, {1, 1}, {-64, 1}, {448, 1}, {2, 2}, {5, 2}, {21, 3}, {8, 2}, {-63, 2}, {3, 3}};
  for (size_t i = 0; i < HX_COUNT_OF(cases); ++i) {
    int64_t plan[16];
    size_t count = 99;
    SCHEME_OK(&bed.s, hx_keys_rotation_plan(bed.s.keys, 512, cases[i].step, plan, 16, &count, bed.s.report));
    assert_int_equal(count, cases[i].count);
    int64_t sum = 0;
    for (size_t k = 0; k < count; ++k) sum += plan[k];
    assert_int_equal((sum - cases[i].step) % 512, 0);
  }
  size_t count = 0;
  assert_int_not_equal(hx_keys_rotation_plan(bed.s.keys, 3, 1, NULL, 0, &count, bed.s.report), HX_STATUS_OK);
  assert_fault(bed.s.report, HX_CODE_SLOTS, WORDS("3 slots"));
  close_bed(&bed);
}

static void rotations_are_composed_only_when_asked(void **state) {
  (void)state;
  bed_t bed;
  open_bed(&bed);
  hx_value_t *a = value(&bed, 0, 0, NULL), *out = NULL;
  assert_int_not_equal(hx_engine_rotate(bed.s.engine, a, 21, &out, bed.s.report), HX_STATUS_OK);
  assert_fault(bed.s.report, HX_CODE_MISSING_KEY, WORDS("step 21", "3 rotations: ", "hx_engine_rotate_composed"));
  hx_report_clear(bed.s.report);
  SCHEME_OK(&bed.s, hx_engine_rotate_composed(bed.s.engine, a, 21, &out, bed.s.report));
  for (size_t i = 0; i < bed.s.slots; ++i) bed.want[i] = bed.z[0][(i + 21) % bed.s.slots];
  scheme_check(&bed.s, "composed rotation", out, bed.want, hx_noise_worst_variance(&out->noise));
  hx_value_release(out);
  hx_value_release(a);
  close_bed(&bed);
}

static void a_step_that_no_keys_make_up_is_refused(void **state) {
  (void)state;
  scheme_t s;
  static const int64_t even[] = {2, 8};
  uint64_t seed = 3;
  scheme_open(&s, case_set_make(10, 55, 40, 1, 56, 1, 2, "2^40"), even, 2);
  scheme_number_t *z = scheme_message(&seed, s.slots);
  hx_value_t *a = scheme_encrypt(&s, z, s.slots, 0, NULL), *out = NULL;
  assert_int_not_equal(hx_engine_rotate_composed(s.engine, a, 3, &out, s.report), HX_STATUS_OK);
  assert_fault(s.report, HX_CODE_MISSING_KEY, WORDS("by 3 of 512", "2, 8"));
  hx_report_clear(s.report);
  assert_int_not_equal(hx_engine_rotate(s.engine, a, 3, &out, s.report), HX_STATUS_OK);
  assert_null(strstr(hx_report_get(s.report, 0)->text, "composed"));
  hx_value_release(a);
  free(z);
  scheme_close(&s);
}

// ------------------------------------------------------------------ in place

typedef hx_status_t (*method_t)(const bed_t *bed, hx_value_t **value, const hx_value_t *b, const hx_value_t *p,
                                bool in_place, hx_value_t **out);

#define METHOD(name_, inplace_, functional_)                                                                       \
  static hx_status_t name_(const bed_t *bed, hx_value_t **v, const hx_value_t *b, const hx_value_t *p, bool place, \
                           hx_value_t **out) {                                                                     \
    hx_engine_t *e = bed->s.engine;                                                                                \
    (void)b;                                                                                                       \
    (void)p;                                                                                                       \
    return place ? inplace_ : functional_;                                                                         \
  }
METHOD(add, hx_engine_add_inplace(e, v, b, bed->s.report), hx_engine_add(e, *v, b, out, bed->s.report))
METHOD(sub, hx_engine_sub_inplace(e, v, b, bed->s.report), hx_engine_sub(e, *v, b, out, bed->s.report))
METHOD(neg, hx_engine_neg_inplace(e, v, bed->s.report), hx_engine_neg(e, *v, out, bed->s.report))
METHOD(add_plain, hx_engine_add_plain_inplace(e, v, p, bed->s.report),
       hx_engine_add_plain(e, *v, p, out, bed->s.report))
METHOD(sub_plain, hx_engine_sub_plain_inplace(e, v, p, bed->s.report),
       hx_engine_sub_plain(e, *v, p, out, bed->s.report))
METHOD(mul_plain, hx_engine_mul_plain_inplace(e, v, p, bed->s.report),
       hx_engine_mul_plain(e, *v, p, out, bed->s.report))
METHOD(add_scalar, hx_engine_add_scalar_inplace(e, v, 0.5, -1, bed->s.report),
       hx_engine_add_scalar(e, *v, 0.5, -1, out, bed->s.report))
METHOD(mul_scalar, hx_engine_mul_scalar_inplace(e, v, 0.5, 0, "2^30", bed->s.report),
       hx_engine_mul_scalar(e, *v, 0.5, 0, "2^30", out, bed->s.report))
METHOD(mul_integer, hx_engine_mul_integer_inplace(e, v, -7, bed->s.report),
       hx_engine_mul_integer(e, *v, -7, out, bed->s.report))

static const method_t methods[] = {add, sub, neg, add_plain, sub_plain, mul_plain, add_scalar, mul_scalar, mul_integer};

static void methods_in_place_give_equal_bits(void **state) {
  (void)state;
  bed_t bed;
  open_bed(&bed);
  hx_value_t *b = value(&bed, 1, 0, NULL), *p = scheme_encode(&bed.s, bed.z[1], bed.s.slots, 0, NULL);
  for (size_t i = 0; i < HX_COUNT_OF(methods); ++i) {
    hx_value_t *a = value(&bed, 0, 0, NULL), *want = NULL;
    assert_int_equal(methods[i](&bed, &a, b, p, false, &want), HX_STATUS_OK);
    const uint64_t storage = a->tensor->storage->id;
    // A second holder: the memory stays as it is.
    hx_value_t *held = hx_value_retain(a), *copy = NULL;
    SCHEME_OK(&bed.s, hx_engine_neg(bed.s.engine, a, &copy, bed.s.report));
    SCHEME_OK(&bed.s, methods[i](&bed, &a, b, p, true, NULL));
    assert_true(hx_value_equal(a, want));
    assert_int_not_equal(a->tensor->storage->id, storage);
    hx_value_t *again = NULL;
    SCHEME_OK(&bed.s, hx_engine_neg(bed.s.engine, held, &again, bed.s.report));
    assert_true(hx_value_equal(copy, again));
    hx_value_release(a);
    hx_value_release(copy);
    hx_value_release(again);
    // Alone: its memory is taken.
    a = held;
    SCHEME_OK(&bed.s, methods[i](&bed, &a, b, p, true, NULL));
    assert_true(hx_value_equal(a, want));
    assert_true(hx_type_equal(&a->type, &want->type) && a->noise.known && a->count == want->count);
    if (a->tensor->storage->id != storage) fail_msg("method %zu took new memory", i);
    hx_value_release(a);
    hx_value_release(want);
  }
  hx_value_release(b);
  hx_value_release(p);
  close_bed(&bed);
}

static void methods_in_place_leave_a_refused_value_alone(void **state) {
  (void)state;
  bed_t bed;
  open_bed(&bed);
  hx_value_t *a = value(&bed, 0, 0, NULL), *deep = value(&bed, 1, 1, NULL), *before = a;
  assert_int_not_equal(hx_engine_add_inplace(bed.s.engine, &a, deep, bed.s.report), HX_STATUS_OK);
  assert_ptr_equal(a, before);
  hx_report_clear(bed.s.report);
  assert_int_equal(hx_engine_add_inplace(bed.s.engine, &a, NULL, bed.s.report), HX_STATUS_INVALID);
  hx_report_clear(bed.s.report);
  assert_int_equal(hx_engine_neg_inplace(bed.s.engine, NULL, bed.s.report), HX_STATUS_INVALID);
  hx_report_clear(bed.s.report);
  // a + a: the other operand reads the same memory, so the result takes its own.
  SCHEME_OK(&bed.s, hx_engine_add_inplace(bed.s.engine, &a, a, bed.s.report));
  for (size_t i = 0; i < bed.s.slots; ++i) bed.want[i] = 2 * bed.z[0][i];
  scheme_check(&bed.s, "a + a", a, bed.want, hx_noise_worst_variance(&a->noise));
  hx_value_release(a);
  hx_value_release(deep);
  close_bed(&bed);
}

int main(void) {
  hx_threads_set(1);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(match_brings_values_to_one_scale_exactly),
      cmocka_unit_test(match_refuses_with_both_scales),
      cmocka_unit_test(match_in_a_program_gives_the_engine_s_bits),
      cmocka_unit_test(plans_take_fewest_rotations),
      cmocka_unit_test(rotations_are_composed_only_when_asked),
      cmocka_unit_test(a_step_that_no_keys_make_up_is_refused),
      cmocka_unit_test(methods_in_place_give_equal_bits),
      cmocka_unit_test(methods_in_place_leave_a_refused_value_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
