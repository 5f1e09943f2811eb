// SPDX-License-Identifier: Apache-2.0
// Polynomials against plain evaluation in doubles: both bases, every degree up to 40 and some beyond, sparse ones,
// intervals, scales; least depth; the program and the engine give the same bits.
#include "tests/scheme/circuits.h"

static scheme_t scene;

static int setup(void **state) {
  (void)state;
  circuits_open(&scene, NULL, 0);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  scheme_close(&scene);
  return 0;
}

static double plain_value(const hx_polynomial_t *p, double x) {
  const double y = p->low == 0 && p->high == 0 ? x : (2 * x - p->low - p->high) / (p->high - p->low);
  double sum = 0;
  for (size_t i = p->count; i-- > 0;)
    sum += p->coefficients[i] * (p->basis == HX_POLYNOMIAL_POWER ? pow(y, (double)i) : cos((double)i * acos(y)));
  return sum;
}

static uint32_t least_depth(uint32_t degree) {
  uint32_t depth = 0;
  while (((uint32_t)1 << depth) < degree + 1) ++depth;
  return depth;
}

enum { POINTS = 64 };

// Over x in [low, high] (or [-1, 1]); returns the encrypted points.
static hx_value_t *points(const hx_polynomial_t *p, const char *scale, double *x) {
  const double low = p->low == p->high ? -1 : p->low, high = p->low == p->high ? 1 : p->high;
  for (int i = 0; i < POINTS; ++i) x[i] = low + (high - low) * i / (POINTS - 1);
  const hx_encode_options_t options = {.slots = POINTS, .scale = scale};
  return circuits_encrypt(&scene, x, POINTS, &options);
}

// Evaluates, compares with doubles, and checks depth and scale. `extra`: depths of the interval.
static void check(const hx_polynomial_t *p, const char *x_scale, uint32_t extra, double tolerance) {
  double x[POINTS];
  hx_value_t *a = points(p, x_scale, x), *out = NULL;
  SCHEME_OK(&scene, hx_engine_polynomial(scene.engine, a, p, &out, scene.report));
  hx_polynomial_cost_t cost;
  SCHEME_OK(&scene, hx_polynomial_cost(scene.params, p, x_scale, &cost, scene.report));
  assert_int_equal(hx_value_depth(out), cost.depth);
  assert_int_equal(cost.depth, cost.degree == 0 ? 0 : least_depth(cost.degree) + extra);
  hx_scale_t wanted;
  hx_scale_copy(&wanted, &a->type.scale);
  if (p->scale != NULL)
    SCHEME_OK(&scene, hx_scale_parse(hx_str(p->scale), hx_params_ring(scene.params), &wanted, scene.report));
  assert_true(hx_scale_equal(&out->type.scale, &wanted));
  scheme_number_t *found = scheme_decrypt(&scene, out);
  double weight = 1;
  for (size_t i = 0; i < p->count; ++i) weight += fabs(p->coefficients[i]);
  for (int i = 0; i < POINTS; ++i) {
    const double want = plain_value(p, x[i]);
    if (fabs(creal(found[i]) - want) > tolerance * weight)
      fail_msg("degree %zu at %g: %.9f, not %.9f", p->count - 1, x[i], creal(found[i]), want);
  }
  free(found);
  hx_value_release(a);
  hx_value_release(out);
}

static void fill(double *c, size_t count, uint64_t seed) {
  for (size_t i = 0; i < count; ++i) c[i] = scheme_unit(&seed);
}

static void polynomial_matches_doubles_at_every_degree(void **state) {
  (void)state;
  double c[41];
  for (size_t degree = 0; degree <= 40; ++degree)
    for (int basis = HX_POLYNOMIAL_POWER; basis <= HX_POLYNOMIAL_CHEBYSHEV; ++basis) {
      fill(c, degree + 1, degree + 1);
      const hx_polynomial_t p = {.coefficients = c, .count = degree + 1, .basis = (hx_polynomial_basis_t)basis};
      check(&p, NULL, 0, 1e-7);
    }
}

// An error of y grows by the square of the degree at the ends of the interval.
static void polynomial_of_high_degree_takes_least_depth(void **state) {
  (void)state;
  static const size_t degrees[] = {63, 64, 100, 127, 255};
  double c[256];
  for (size_t i = 0; i < HX_COUNT_OF(degrees); ++i)
    for (int basis = HX_POLYNOMIAL_POWER; basis <= HX_POLYNOMIAL_CHEBYSHEV; ++basis) {
      fill(c, degrees[i] + 1, i + 77);
      const hx_polynomial_t p = {.coefficients = c, .count = degrees[i] + 1, .basis = (hx_polynomial_basis_t)basis};
      check(&p, NULL, 0, 1e-6);
    }
}

static void polynomial_ignores_zeros_at_the_end(void **state) {
  (void)state;
  static const double c[] = {0.5, -1, 0, 0, 0, 0};
  const hx_polynomial_t p = {.coefficients = c, .count = 6};
  hx_polynomial_cost_t cost;
  SCHEME_OK(&scene, hx_polynomial_cost(scene.params, &p, NULL, &cost, scene.report));
  assert_int_equal(cost.degree, 1);
  assert_int_equal(cost.depth, 1);
  assert_int_equal(cost.products, 0);
  check(&p, NULL, 0, 1e-7);
  static const double zero[] = {0, 0, 0};
  const hx_polynomial_t nothing = {.coefficients = zero, .count = 3};
  check(&nothing, NULL, 0, 1e-7);
}

// Even, odd and single powers, in both bases, with fewer products than a dense polynomial.
static void polynomial_of_one_parity_takes_fewer_products(void **state) {
  (void)state;
  double c[32], dense[32];
  fill(dense, 32, 5);
  hx_polynomial_cost_t whole, part;
  for (int basis = HX_POLYNOMIAL_POWER; basis <= HX_POLYNOMIAL_CHEBYSHEV; ++basis) {
    hx_polynomial_t p = {.coefficients = dense, .count = 32, .basis = (hx_polynomial_basis_t)basis};
    SCHEME_OK(&scene, hx_polynomial_cost(scene.params, &p, NULL, &whole, scene.report));
    for (size_t parity = 0; parity < 2; ++parity) {
      for (size_t i = 0; i < 32; ++i) c[i] = i % 2 == parity ? dense[i] : 0;
      p.coefficients = c;
      SCHEME_OK(&scene, hx_polynomial_cost(scene.params, &p, NULL, &part, scene.report));
      assert_true(part.products < whole.products);
      check(&p, NULL, 0, 1e-7);
    }
    memset(c, 0, sizeof c);
    c[21] = 1.5;
    check(&p, NULL, 0, 1e-7);
    c[0] = -2;
    check(&p, NULL, 0, 1e-7);
  }
}

static double logistic(double x, void *argument) {
  (void)argument;
  return 1 / (1 + exp(-x));
}

static double sine(double x, void *argument) {
  (void)argument;
  return sin(x);
}

static void chebyshev_fit_approximates_functions(void **state) {
  (void)state;
  double c[32];
  SCHEME_OK(&scene, hx_chebyshev_fit(logistic, NULL, -8, 8, 31, c, scene.report));
  const hx_polynomial_t p = {.coefficients = c, .count = 32, .basis = HX_POLYNOMIAL_CHEBYSHEV, .low = -8, .high = 8};
  for (double x = -8; x <= 8; x += 0.25) assert_true(fabs(plain_value(&p, x) - logistic(x, NULL)) < 1e-4);
  check(&p, NULL, 1, 1e-7);
  SCHEME_OK(&scene, hx_chebyshev_fit(sine, NULL, -4, 4, 31, c, scene.report));
  for (size_t i = 0; i < 32; i += 2) assert_true(c[i] == 0.0);
  const hx_polynomial_t odd = {.coefficients = c, .count = 32, .basis = HX_POLYNOMIAL_CHEBYSHEV, .low = -4, .high = 4};
  check(&odd, NULL, 1, 1e-7);
}

static void polynomial_maps_any_interval(void **state) {
  (void)state;
  double c[12];
  fill(c, 12, 9);
  static const double bounds[][2] = {{-1, 1}, {0, 2}, {3, 3.5}, {0.5, 0.75}, {-1, 2}, {-3, 5}, {2.5, 3.25}};
  for (size_t i = 0; i < HX_COUNT_OF(bounds); ++i) {
    const hx_polynomial_t p = {.coefficients = c,
                               .count = 12,
                               .basis = i % 2 == 0 ? HX_POLYNOMIAL_CHEBYSHEV : HX_POLYNOMIAL_POWER,
                               .low = bounds[i][0],
                               .high = bounds[i][1]};
    check(&p, NULL, i >= 4, 1e-5);
  }
}

static void polynomial_reaches_the_scale_asked_for(void **state) {
  (void)state;
  double c[8];
  fill(c, 8, 3);
  static const char *const scales[] = {"2^38", "2^41", "3*2^39", "2^80*q9^-1"};
  for (size_t i = 0; i < HX_COUNT_OF(scales); ++i) {
    const hx_polynomial_t p = {.coefficients = c, .count = 8, .basis = HX_POLYNOMIAL_CHEBYSHEV, .scale = scales[i]};
    check(&p, NULL, 0, 1e-5);
    check(&p, "2^39", 0, 1e-5);
    check(&p, "5*2^38", 1, 1e-5);  // the odd factor of x's scale costs a depth
  }
}

static void polynomial_of_deeper_values_works_on_their_rows(void **state) {
  (void)state;
  double c[6], x[POINTS];
  fill(c, 6, 4);
  const hx_polynomial_t p = {.coefficients = c, .count = 6};
  hx_value_t *a = points(&p, NULL, x), *deep = NULL, *out = NULL;
  SCHEME_OK(&scene, hx_engine_level_drop(scene.engine, a, 6, &deep, scene.report));
  SCHEME_OK(&scene, hx_engine_polynomial(scene.engine, deep, &p, &out, scene.report));
  assert_int_equal(hx_value_depth(out), 9);
  hx_value_release(out);
  SCHEME_OK(&scene, hx_engine_level_drop(scene.engine, a, 7, &out, scene.report));
  hx_value_t *none = NULL;
  circuits_refused(&scene, hx_engine_polynomial(scene.engine, out, &p, &none, scene.report), HX_CODE_NO_DEPTH,
                   "takes 3 depths, and the operand at depth 7 of 9 has 2 left");
  assert_null(none);
  hx_value_release(a);
  hx_value_release(deep);
  hx_value_release(out);
}

static void polynomial_refuses_what_it_cannot_evaluate(void **state) {
  (void)state;
  double c[3] = {1, 2, 3}, x[POINTS];
  hx_polynomial_t p = {.coefficients = c, .count = 3};
  hx_value_t *a = points(&p, NULL, x), *out = NULL, *three = NULL;
  p.count = 0;
  circuits_refused(&scene, hx_engine_polynomial(scene.engine, a, &p, &out, scene.report), HX_CODE_INVALID_ARGUMENT,
                   "no coefficients");
  p.count = 3, c[1] = NAN;
  circuits_refused(&scene, hx_engine_polynomial(scene.engine, a, &p, &out, scene.report), HX_CODE_INVALID_ARGUMENT,
                   "coefficient 1");
  c[1] = 2, p.low = 3, p.high = 1;
  circuits_refused(&scene, hx_engine_polynomial(scene.engine, a, &p, &out, scene.report), HX_CODE_INVALID_ARGUMENT,
                   "[3, 1]");
  p.low = p.high = 0, p.scale = "2^^2";
  circuits_refused(&scene, hx_engine_polynomial(scene.engine, a, &p, &out, scene.report), HX_CODE_SYNTAX, "");
  p.scale = NULL;
  SCHEME_OK(&scene, hx_engine_square(scene.engine, a, &three, scene.report));
  circuits_refused(&scene, hx_engine_polynomial(scene.engine, three, &p, &out, scene.report), HX_CODE_COMPONENTS,
                   "2 components, not 3");
  assert_null(out);
  hx_value_release(a);
  hx_value_release(three);
}

static void built_program_gives_the_engine_bits(void **state) {
  (void)state;
  double c[20], x[POINTS];
  fill(c, 20, 12);
  const hx_polynomial_t p = {.coefficients = c, .count = 20, .basis = HX_POLYNOMIAL_CHEBYSHEV, .low = -1, .high = 2};
  hx_builder_t *builder = NULL;
  hx_node_t *node = NULL;
  const hx_node_options_t options = {.slots = POINTS};
  SCHEME_OK(&scene, hx_builder_create(scene.params, &builder, scene.report));
  SCHEME_OK(&scene, hx_builder_input(builder, "x", &options, &node, scene.report));
  SCHEME_OK(&scene, hx_builder_polynomial(builder, node, &p, &node, scene.report));
  SCHEME_OK(&scene, hx_builder_output(builder, "y", node, scene.report));
  hx_program_t *program = NULL;
  SCHEME_OK(&scene, hx_builder_finish(builder, &program, scene.report));
  hx_compilation_t *compilation = NULL;
  SCHEME_OK(&scene, hx_compilation_create(program, scene.params, &compilation, scene.report));
  SCHEME_OK(&scene, hx_compilation_bind_keys(compilation, scene.keys, scene.report));
  hx_executable_t *executable = NULL;
  SCHEME_OK(&scene, hx_link(compilation, scene.backend, NULL, &executable, scene.report));
  hx_value_t *a = points(&p, NULL, x), *ours = NULL, *theirs = NULL;
  SCHEME_OK(&scene, hx_run(executable, (const hx_value_t *const *)&a, &ours, scene.report));
  SCHEME_OK(&scene, hx_engine_polynomial(scene.engine, a, &p, &theirs, scene.report));
  assert_true(hx_value_equal(ours, theirs));
  hx_value_release(a);
  hx_value_release(ours);
  hx_value_release(theirs);
  hx_executable_release(executable);
  hx_compilation_release(compilation);
  hx_program_release(program);
  hx_builder_release(builder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(polynomial_matches_doubles_at_every_degree),
      cmocka_unit_test(polynomial_of_high_degree_takes_least_depth),
      cmocka_unit_test(polynomial_ignores_zeros_at_the_end),
      cmocka_unit_test(polynomial_of_one_parity_takes_fewer_products),
      cmocka_unit_test(chebyshev_fit_approximates_functions),
      cmocka_unit_test(polynomial_maps_any_interval),
      cmocka_unit_test(polynomial_reaches_the_scale_asked_for),
      cmocka_unit_test(polynomial_of_deeper_values_works_on_their_rows),
      cmocka_unit_test(polynomial_refuses_what_it_cannot_evaluate),
      cmocka_unit_test(built_program_gives_the_engine_bits),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
