// SPDX-License-Identifier: Apache-2.0
// Matrix products against plain sums: shapes, periods, sparse slots, diagonals that are 0, complex entries; engine and
// both forms of programs; exactly the rotations that the query names.
#include "tests/scheme/circuits.h"

typedef struct shape {
  size_t rows, columns;
  uint32_t slots, period;
  bool is_complex;
} shape_t;

static double *entries_of(const shape_t *shape, uint64_t seed) {
  const size_t count = shape->rows * shape->columns * (shape->is_complex ? 2 : 1);
  double *entries = calloc(count, sizeof *entries);
  assert_non_null(entries);
  for (size_t i = 0; i < count; ++i) entries[i] = scheme_unit(&seed);
  return entries;
}

static hx_matrix_t *matrix_of(const shape_t *shape, const double *entries) {
  const hx_matrix_options_t options = {.rows = shape->rows,
                                       .columns = shape->columns,
                                       .is_complex = shape->is_complex,
                                       .slots = shape->slots,
                                       .period = shape->period};
  hx_matrix_t *matrix = NULL;
  assert_int_equal(hx_matrix_create(&options, entries, &matrix, NULL), HX_STATUS_OK);
  return matrix;
}

// A scene with the keys that the matrix asks for, and no others.
static void open_for(scheme_t *s, const hx_matrix_t *matrix, uint32_t slots) {
  int64_t steps[256];
  const size_t count = hx_matrix_rotations(matrix, steps, HX_COUNT_OF(steps));
  assert_true(count <= HX_COUNT_OF(steps));
  circuits_open(s, NULL, 0);
  hx_keys_release(s->keys);
  hx_engine_release(s->engine);
  s->keys = NULL;
  s->engine = NULL;
  const hx_keygen_options_t options = {
      .parts = HX_KEYS_ALL, .rotations = steps, .rotation_count = count, .slots = slots};
  SCHEME_OK(s, hx_keys_generate(s->params, &options, &s->keys, s->report));
  SCHEME_OK(s, hx_engine_create(s->params, s->keys, s->backend, &s->engine, s->report));
}

static hx_value_t *encrypt_vector(const scheme_t *s, const shape_t *shape, const scheme_number_t *x) {
  const uint32_t period = shape->period == 0 ? shape->slots : shape->period;
  scheme_number_t *all = scheme_numbers(shape->slots);
  uint64_t seed = 99;
  for (uint32_t i = 0; i < shape->slots; ++i)  // what is beyond the columns does not matter
    all[i] = i % period < shape->columns ? x[i % period] : scheme_unit(&seed);
  hx_value_t *out = scheme_encrypt(s, all, shape->slots, 0, NULL);
  free(all);
  return out;
}

static void check_product(const scheme_t *s, const shape_t *shape, const double *entries, const scheme_number_t *x,
                          const hx_value_t *y) {
  assert_int_equal(hx_value_depth(y), 1);
  uint32_t period = 1;
  while (period < shape->rows) period *= 2;
  scheme_number_t *found = scheme_decrypt(s, y), *want = scheme_numbers(period);
  for (size_t i = 0; i < shape->rows; ++i)
    for (size_t j = 0; j < shape->columns; ++j) {
      const size_t at = i * shape->columns + j;
      want[i] += (shape->is_complex ? entries[2 * at] + I * entries[2 * at + 1] : entries[at]) * x[j];
    }
  for (uint32_t i = 0; i < shape->slots; ++i)
    if (cabs(found[i] - want[i % period]) > 1e-5)
      fail_msg("%zu x %zu in %u slots, period %u: slot %u is %g, not %g", shape->rows, shape->columns, shape->slots,
               shape->period, i, creal(found[i]), creal(want[i % period]));
  free(found);
  free(want);
}

// The program's output for x.
static hx_value_t *run_program(const scheme_t *s, const hx_matrix_t *matrix, const shape_t *shape,
                               hx_matrix_form_t form, const hx_value_t *x) {
  hx_builder_t *builder = NULL;
  hx_node_t *node = NULL;
  hx_program_t *program = NULL;
  hx_compilation_t *compilation = NULL;
  hx_executable_t *executable = NULL;
  const hx_node_options_t options = {.slots = shape->slots};
  SCHEME_OK(s, hx_builder_create(s->params, &builder, s->report));
  SCHEME_OK(s, hx_builder_input(builder, "x", &options, &node, s->report));
  SCHEME_OK(s, hx_builder_matrix_vector(builder, matrix, node, NULL, form, &node, s->report));
  SCHEME_OK(s, hx_builder_output(builder, "y", node, s->report));
  SCHEME_OK(s, hx_builder_finish(builder, &program, s->report));
  SCHEME_OK(s, hx_compilation_create(program, s->params, &compilation, s->report));
  SCHEME_OK(s, hx_compilation_bind_keys(compilation, s->keys, s->report));
  SCHEME_OK(s, hx_builder_bind(builder, compilation, s->report));
  SCHEME_OK(s, hx_link(compilation, s->backend, NULL, &executable, s->report));
  hx_value_t *out = NULL;
  SCHEME_OK(s, hx_run(executable, &x, &out, s->report));
  hx_executable_release(executable);
  hx_compilation_release(compilation);
  hx_program_release(program);
  hx_builder_release(builder);
  return out;
}

static void check_shape(const shape_t *shape, const double *entries) {
  hx_matrix_t *matrix = matrix_of(shape, entries);
  scheme_t s;
  open_for(&s, matrix, shape->slots);
  uint64_t seed = 17;
  scheme_number_t *x = scheme_message(&seed, shape->columns);
  hx_value_t *a = encrypt_vector(&s, shape, x), *eager = NULL, *again = NULL;
  SCHEME_OK(&s, hx_engine_matrix_vector(s.engine, matrix, a, NULL, &eager, s.report));
  check_product(&s, shape, entries, x, eager);
  SCHEME_OK(&s, hx_engine_matrix_vector(s.engine, matrix, a, NULL, &again, s.report));  // from the kept weights
  assert_true(hx_value_equal(eager, again));
  hx_value_t *plain = run_program(&s, matrix, shape, HX_MATRIX_PLAIN, a);
  check_product(&s, shape, entries, x, plain);
  hx_value_t *merged = run_program(&s, matrix, shape, HX_MATRIX_MERGED, a);
  check_product(&s, shape, entries, x, merged);
  hx_matrix_cost_t cost;
  hx_matrix_cost(matrix, &cost);
  if (cost.baby > 1 || cost.giant > 1) assert_true(hx_value_equal(merged, eager));
  hx_value_release(a);
  hx_value_release(eager);
  hx_value_release(again);
  hx_value_release(plain);
  hx_value_release(merged);
  free(x);
  scheme_close(&s);
  hx_matrix_release(matrix);
}

static void product_matches_plain_sums_for_every_shape(void **state) {
  (void)state;
  static const shape_t shapes[] = {{16, 16, 512, 16, false}, {16, 16, 512, 0, false}, {16, 16, 16, 0, false},
                                   {5, 7, 64, 8, false},     {20, 3, 512, 4, false},  {3, 20, 512, 32, false},
                                   {1, 64, 512, 64, false},  {64, 1, 512, 1, false},  {1, 1, 1, 0, false},
                                   {10, 33, 128, 0, false},  {8, 8, 512, 8, true},    {33, 17, 512, 64, false}};
  for (size_t i = 0; i < HX_COUNT_OF(shapes); ++i) {
    double *entries = entries_of(&shapes[i], i + 1);
    check_shape(&shapes[i], entries);
    free(entries);
  }
}

static void product_skips_diagonals_of_zeros(void **state) {
  (void)state;
  static const shape_t shape = {32, 32, 512, 32, false};
  double *entries = entries_of(&shape, 3);
  for (size_t i = 0; i < 32; ++i)
    for (size_t j = 0; j < 32; ++j)
      if ((j - i) % 32 != 0 && (j - i) % 32 != 1 && (j - i) % 32 != 31) entries[i * 32 + j] = 0;
  hx_matrix_t *matrix = matrix_of(&shape, entries);
  hx_matrix_cost_t cost;
  hx_matrix_cost(matrix, &cost);
  assert_int_equal(cost.diagonals, 3);
  assert_true(hx_matrix_rotations(matrix, NULL, 0) <= 3);
  hx_matrix_release(matrix);
  check_shape(&shape, entries);
  memset(entries, 0, 32 * 32 * sizeof *entries);
  check_shape(&shape, entries);  // a zero matrix
  for (size_t i = 0; i < 32; ++i) entries[i * 32 + (i + 5) % 32] = 1;
  check_shape(&shape, entries);  // one diagonal
  free(entries);
}

static void full_matrix_takes_sixteen_baby_and_eight_giant_steps(void **state) {
  (void)state;
  static const shape_t shape = {128, 128, 512, 128, false};
  double *entries = entries_of(&shape, 8);
  hx_matrix_t *matrix = matrix_of(&shape, entries);
  hx_matrix_cost_t cost;
  hx_matrix_cost(matrix, &cost);
  assert_int_equal(cost.diagonals, 128);
  assert_int_equal(cost.baby, 16);
  assert_int_equal(cost.giant, 8);
  assert_int_equal(cost.folds, 0);
  assert_int_equal(hx_matrix_rotations(matrix, NULL, 0), 15 + 7);
  hx_matrix_release(matrix);
  check_shape(&shape, entries);
  free(entries);
}

static void compact_matrix_gives_the_same_product(void **state) {
  (void)state;
  static const shape_t shape = {16, 12, 512, 16, false};
  double *entries = entries_of(&shape, 21);
  const hx_matrix_options_t options = {.rows = 16, .columns = 12, .slots = 512, .period = 16, .compact = true};
  hx_matrix_t *matrix = NULL;
  assert_int_equal(hx_matrix_create(&options, entries, &matrix, NULL), HX_STATUS_OK);
  scheme_t s;
  open_for(&s, matrix, shape.slots);
  uint64_t seed = 17;
  scheme_number_t *x = scheme_message(&seed, shape.columns);
  hx_value_t *a = encrypt_vector(&s, &shape, x), *first = NULL, *again = NULL;
  SCHEME_OK(&s, hx_engine_matrix_vector(s.engine, matrix, a, NULL, &first, s.report));
  check_product(&s, &shape, entries, x, first);
  SCHEME_OK(&s, hx_engine_matrix_vector(s.engine, matrix, a, NULL, &again, s.report));  // from what was kept
  assert_true(hx_value_equal(first, again));
  hx_value_release(a), hx_value_release(first), hx_value_release(again);
  free(x), free(entries);
  scheme_close(&s);
  hx_matrix_release(matrix);
}

static void compact_plaintexts_act_as_they_were(void **state) {
  (void)state;
  scheme_t s;
  circuits_open(&s, NULL, 0);
  uint64_t seed = 4;
  for (uint32_t period = 1; period <= 512; period *= 8) {
    scheme_number_t *z = scheme_message(&seed, period), *x = scheme_message(&seed, 512);
    const hx_encode_options_t options = {.period = period};
    hx_value_t *plain = NULL, *a = scheme_encrypt(&s, x, 512, 0, NULL), *expanded = NULL;
    hx_compact_t *compact = NULL;
    SCHEME_OK(&s, hx_encode(s.params, (const double *)z, period, true, &options, &plain, s.report));
    SCHEME_OK(&s, hx_plaintext_compact(plain, &compact, s.report));
    assert_true(hx_compact_bytes(compact) <= hx_value_bytes(plain) * period / 512);
    SCHEME_OK(&s, hx_compact_expand(compact, &expanded, s.report));
    assert_true(hx_value_equal(expanded, plain));
    hx_value_t *ours[3] = {NULL}, *theirs[3] = {NULL};
    SCHEME_OK(&s, hx_engine_add_compact(s.engine, a, compact, &ours[0], s.report));
    SCHEME_OK(&s, hx_engine_sub_compact(s.engine, a, compact, &ours[1], s.report));
    SCHEME_OK(&s, hx_engine_mul_compact(s.engine, a, compact, &ours[2], s.report));
    SCHEME_OK(&s, hx_engine_add_plain(s.engine, a, plain, &theirs[0], s.report));
    SCHEME_OK(&s, hx_engine_sub_plain(s.engine, a, plain, &theirs[1], s.report));
    SCHEME_OK(&s, hx_engine_mul_plain(s.engine, a, plain, &theirs[2], s.report));
    for (int i = 0; i < 3; ++i) {
      assert_true(hx_value_equal(ours[i], theirs[i]));
      hx_value_release(ours[i]), hx_value_release(theirs[i]);
    }
    hx_value_release(plain), hx_value_release(a), hx_value_release(expanded);
    hx_compact_release(compact);
    free(z), free(x);
  }
  hx_value_t *secret = NULL, *out = NULL;
  hx_compact_t *none = NULL;
  const double one = 1;
  const hx_encode_options_t hidden = {.secret = true};
  SCHEME_OK(&s, hx_encode(s.params, &one, 1, false, &hidden, &secret, s.report));
  circuits_refused(&s, hx_plaintext_compact(secret, &none, s.report), HX_CODE_SECRET, "secret");
  circuits_refused(&s, hx_engine_mul_compact(s.engine, secret, NULL, &out, s.report), HX_CODE_INVALID_ARGUMENT, "NULL");
  assert_null(none);
  hx_value_release(secret);
  scheme_close(&s);
}

static void matrix_takes_the_baby_steps_asked_for(void **state) {
  (void)state;
  double entries[64 * 64];
  uint64_t seed = 1;
  for (size_t i = 0; i < HX_COUNT_OF(entries); ++i) entries[i] = scheme_unit(&seed);
  const hx_matrix_options_t options = {.rows = 64, .columns = 64, .slots = 64, .baby = 32};
  hx_matrix_t *matrix = NULL;
  assert_int_equal(hx_matrix_create(&options, entries, &matrix, NULL), HX_STATUS_OK);
  hx_matrix_cost_t cost;
  hx_matrix_cost(matrix, &cost);
  assert_int_equal(cost.baby, 32);
  assert_int_equal(cost.giant, 2);
  hx_matrix_release(matrix);
}

static void matrix_refuses_what_does_not_fit(void **state) {
  (void)state;
  double entries[4] = {1, 2, 3, 4};
  scheme_t s;
  circuits_open(&s, NULL, 0);
  hx_matrix_t *matrix = NULL;
  hx_matrix_options_t options = {.rows = 0, .columns = 2, .slots = 8};
  circuits_refused(&s, hx_matrix_create(&options, entries, &matrix, s.report), HX_CODE_INVALID_ARGUMENT, "0 by 2");
  options.rows = 2, options.slots = 6;
  circuits_refused(&s, hx_matrix_create(&options, entries, &matrix, s.report), HX_CODE_SLOTS, "slots is 6");
  options.slots = 1;
  circuits_refused(&s, hx_matrix_create(&options, entries, &matrix, s.report), HX_CODE_SLOTS, "2 by 2");
  options.slots = 8, options.period = 1;
  circuits_refused(&s, hx_matrix_create(&options, entries, &matrix, s.report), HX_CODE_SLOTS, "the period is 1");
  options.period = 2, entries[3] = INFINITY;
  circuits_refused(&s, hx_matrix_create(&options, entries, &matrix, s.report), HX_CODE_INVALID_ARGUMENT, "(1, 1)");
  assert_null(matrix);
  entries[3] = 4;
  SCHEME_OK(&s, hx_matrix_create(&options, entries, &matrix, s.report));
  const hx_encode_options_t packing = {.slots = 16};
  hx_value_t *x = circuits_encrypt(&s, entries, 2, &packing), *out = NULL;
  circuits_refused(&s, hx_engine_matrix_vector(s.engine, matrix, x, NULL, &out, s.report), HX_CODE_SLOTS_MISMATCH,
                   "8 slots, the vector has 16");
  hx_value_release(x);
  const hx_encode_options_t fitting = {.slots = 8};
  x = circuits_encrypt(&s, entries, 2, &fitting);
  circuits_refused(&s, hx_engine_matrix_vector(s.engine, matrix, x, NULL, &out, s.report), HX_CODE_MISSING_KEY,
                   "rotation key of step 1");
  assert_null(out);
  hx_value_release(x);
  hx_matrix_release(matrix);
  scheme_close(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(product_matches_plain_sums_for_every_shape),
      cmocka_unit_test(product_skips_diagonals_of_zeros),
      cmocka_unit_test(full_matrix_takes_sixteen_baby_and_eight_giant_steps),
      cmocka_unit_test(compact_matrix_gives_the_same_product),
      cmocka_unit_test(compact_plaintexts_act_as_they_were),
      cmocka_unit_test(matrix_takes_the_baby_steps_asked_for),
      cmocka_unit_test(matrix_refuses_what_does_not_fit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
