// SPDX-License-Identifier: Apache-2.0
// Circuits inside a captured function: the program has the bits of the eager calls.
#include "heliox/capture.h"
#include "tests/scheme/circuits.h"

enum { SIZE = 16 };

static const double coefficients[] = {0.25, -0.5, 0, 0.75, 0.125};

// A matrix, then a polynomial.
static hx_status_t layer(hx_engine_t *engine, const hx_value_t *const *inputs, hx_value_t **outputs, void *argument,
                         hx_report_t *report) {
  const hx_polynomial_t p = {.coefficients = coefficients, .count = HX_COUNT_OF(coefficients)};
  hx_value_t *product = NULL;
  HX_TRY(hx_engine_matrix_vector(engine, argument, inputs[0], NULL, &product, report));
  const hx_status_t status = hx_engine_polynomial(engine, product, &p, &outputs[0], report);
  hx_value_release(product);
  return status;
}

static void captured_circuits_give_the_bits_of_the_engine(void **state) {
  (void)state;
  double entries[SIZE * SIZE], x[SIZE];
  uint64_t seed = 6;
  for (size_t i = 0; i < HX_COUNT_OF(entries); ++i) entries[i] = scheme_unit(&seed) / SIZE;
  for (size_t i = 0; i < SIZE; ++i) x[i] = scheme_unit(&seed);
  const hx_matrix_options_t options = {.rows = SIZE, .columns = SIZE, .slots = 512, .period = SIZE};
  hx_matrix_t *matrix = NULL;
  assert_int_equal(hx_matrix_create(&options, entries, &matrix, NULL), HX_STATUS_OK);
  int64_t steps[64];
  scheme_t s;
  circuits_open(&s, steps, hx_matrix_rotations(matrix, steps, HX_COUNT_OF(steps)));
  const hx_encode_options_t packing = {.period = SIZE};
  hx_value_t *a = circuits_encrypt(&s, x, SIZE, &packing), *eager = NULL, *again = NULL, *compiled = NULL;

  char type[8192];
  (void)hx_value_type_text(a, type, sizeof type);
  const hx_input_spec_t input = {.name = "x", .type = type};
  const hx_capture_spec_t spec = {
      .function = layer, .argument = matrix, .inputs = &input, .input_count = 1, .output_count = 1};
  hx_compilation_t *compilation = NULL;
  hx_executable_t *executable = NULL;
  SCHEME_OK(&s, hx_capture(s.params, &spec, &compilation, s.report));
  SCHEME_OK(&s, hx_compilation_bind_keys(compilation, s.keys, s.report));
  SCHEME_OK(&s, hx_link(compilation, s.backend, NULL, &executable, s.report));
  SCHEME_OK(&s, hx_run(executable, (const hx_value_t *const *)&a, &compiled, s.report));

  const hx_value_t *const inputs[] = {a};
  SCHEME_OK(&s, layer(s.engine, inputs, &eager, matrix, s.report));
  SCHEME_OK(&s, layer(s.engine, inputs, &again, matrix, s.report));
  assert_true(hx_value_equal(eager, compiled));
  assert_true(hx_value_equal(eager, again));
  scheme_number_t *found = scheme_decrypt(&s, eager);
  for (size_t i = 0; i < SIZE; ++i) {
    double y = 0, want = 0;
    for (size_t j = 0; j < SIZE; ++j) y += entries[i * SIZE + j] * x[j];
    for (size_t k = HX_COUNT_OF(coefficients); k-- > 0;) want = want * y + coefficients[k];
    assert_true(fabs(creal(found[i]) - want) < 1e-6);
  }
  free(found);
  hx_value_release(a), hx_value_release(eager), hx_value_release(again), hx_value_release(compiled);
  hx_executable_release(executable);
  hx_compilation_release(compilation);
  scheme_close(&s);
  hx_matrix_release(matrix);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(captured_circuits_give_the_bits_of_the_engine)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
