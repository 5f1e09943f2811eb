// SPDX-License-Identifier: Apache-2.0
// B13, B31, B33 and B35: long chains and polynomials; B58: first use before main, and after a fork. With the argument
// `long` as often as the cases say, else shorter. Last, the cases of what is not there yet, which say so.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <sys/wait.h>
#include <unistd.h>

#include "heliox/circuits.h"
#include "tests/cases/cases.h"

static bool is_long;

// *value becomes the result of a step.
#define STEP(s_, value_, call_)                 \
  do {                                          \
    hx_value_t *out = NULL, *const in = value_; \
    SCHEME_OK((s_), call_);                     \
    hx_value_release(in);                       \
    (value_) = out;                             \
  } while (0)

static hx_value_t *constant(const scheme_t *s, double value, const hx_value_t *like) {
  char scale[HX_SCALE_TEXT_MAX];
  hx_scale_print(&like->type.scale, scale);
  scheme_number_t *z = case_message(NUMBERS(value), 1, like->type.slots);
  hx_value_t *out = scheme_encrypt(s, z, like->type.slots, like->type.depth, scale);
  free(z);
  return out;
}

static void b13_eleven_products_stay_right(void **state) {
  (void)state;
  scheme_t s;
  scheme_open(&s, case_set_l(), NULL, 0);
  const scheme_number_t values[] = {-1, -0.5, 0.123456789, 1};
  hx_value_t *x = case_encrypt(&s, values, 4, s.slots);
  double before = 0;
  for (uint32_t depth = 1; depth <= 11; ++depth) {
    hx_value_t *one = constant(&s, 1.0, x);
    STEP(&s, x, hx_engine_mul(s.engine, in, one, &out, s.report));
    STEP(&s, x, hx_engine_relinearize(s.engine, in, &out, s.report));
    STEP(&s, x, hx_engine_rescale(s.engine, in, &out, s.report));
    hx_value_release(one);
    scheme_number_t *have = scheme_decrypt(&s, x);
    double worst = 0;
    for (size_t i = 0; i < s.slots; ++i) worst = fmax(worst, cabs(have[i] - values[i % 4]));
    free(have);
    const double bound = depth == 1 ? -25 : -20;
    if (!(log2(worst) <= bound) || (depth > 1 && worst > 8 * before))
      fail_msg("depth %u: off by 2^%.2f, before 2^%.2f", depth, log2(worst), log2(before));
    before = worst;
  }
  hx_value_release(x);
  scheme_close(&s);
}

static void zeros(uint32_t digits, uint32_t specials, uint32_t rounds) {
  static const int64_t steps[] = {1};
  scheme_t s;
  scheme_open(&s, case_set_make(15, 60, 50, 15, 60, specials, digits, "2^50"), steps, 1);
  for (uint32_t round = 0; round < rounds; ++round) {
    hx_value_t *z = case_encrypt(&s, NUMBERS(0), 1, s.slots);
    for (uint32_t step = 0; step < 10; ++step) {
      hx_value_t *one = constant(&s, 1.0, z);
      STEP(&s, z, hx_engine_mul(s.engine, in, one, &out, s.report));
      STEP(&s, z, hx_engine_relinearize(s.engine, in, &out, s.report));
      STEP(&s, z, hx_engine_rescale(s.engine, in, &out, s.report));
      hx_value_release(one);
      hx_value_t *zero = constant(&s, 0.0, z);
      STEP(&s, z, hx_engine_add(s.engine, in, zero, &out, s.report));
      hx_value_release(zero);
      STEP(&s, z, hx_engine_rotate(s.engine, in, 1, &out, s.report));
    }
    case_check(&s, "zero", z, NUMBERS(0), 1, ldexp(1, -25));
    hx_value_release(z);
  }
  scheme_close(&s);
}

static void b31_zeros_stay_zeros(void **state) {
  (void)state;
  const uint32_t rounds = is_long ? 100 : 1;
  zeros(16, 1, rounds);
  zeros(8, 2, rounds);
  zeros(4, 4, rounds);
}

// Steps of b31 on one engine. Constants are encrypted by the first who needs them and used again by the others, so that
// residues can be compared. The last value, in host memory.
typedef struct chain {
  uint32_t steps;
  hx_value_t *first, *ones[10], *zeros[10];
} chain_t;

static hx_value_t *place(const scheme_t *s, const hx_backend_t *backend, const hx_value_t *value) {
  hx_value_t *out = NULL;
  SCHEME_OK(s, hx_value_to_device(value, backend, &out, s->report));
  return out;
}

static hx_value_t *run_chain(const scheme_t *s, hx_engine_t *engine, const hx_backend_t *backend, chain_t *chain) {
  hx_value_t *z = place(s, backend, chain->first), *out_host = NULL;
  for (uint32_t step = 0; step < chain->steps; ++step) {
    if (chain->ones[step] == NULL) chain->ones[step] = constant(s, 1.0, z);
    hx_value_t *one = place(s, backend, chain->ones[step]);
    STEP(s, z, hx_engine_mul(engine, in, one, &out, s->report));
    STEP(s, z, hx_engine_relinearize(engine, in, &out, s->report));
    STEP(s, z, hx_engine_rescale(engine, in, &out, s->report));
    hx_value_release(one);
    if (chain->zeros[step] == NULL) chain->zeros[step] = constant(s, 0.0, z);
    hx_value_t *zero = place(s, backend, chain->zeros[step]);
    STEP(s, z, hx_engine_add(engine, in, zero, &out, s->report));
    hx_value_release(zero);
    STEP(s, z, hx_engine_rotate(engine, in, 1, &out, s->report));
  }
  SCHEME_OK(s, hx_value_to_host(z, &out_host, s->report));
  hx_value_release(z);
  return out_host;
}

// The same steps on another backend; false where it is not usable on this machine, which is said.
static bool agrees(const scheme_t *s, const char *path, const char *name, chain_t *chain, const hx_value_t *want) {
  const hx_plugins_options_t place_of = {.path = path, .only_path = true};
  hx_plugins_t *plugins = NULL;
  hx_backend_t *backend = NULL;
  hx_engine_t *engine = NULL;
  SCHEME_OK(s, hx_plugins_discover(&place_of, &plugins, s->report));
  hx_report_clear(s->report);
  const bool usable =
      hx_plugins_find(plugins, name) != NULL && hx_backend_create(plugins, name, &backend, s->report) == HX_STATUS_OK;
  if (usable) {
    SCHEME_OK(s, hx_engine_create(s->params, s->keys, backend, &engine, s->report));
    hx_value_t *found = run_chain(s, engine, backend, chain);
    if (!hx_value_equal(found, want)) fail_msg("%s gives other residues than cpu", name);
    hx_value_release(found);
  } else {
    printf("B31 on %s: not usable here\n", name);
    hx_report_clear(s->report);
  }
  hx_engine_release(engine);
  hx_backend_release(backend);
  hx_plugins_release(plugins);
  return usable;
}

static void b31_every_backend_gives_the_same_residues(void **state) {
  (void)state;
  static const int64_t steps[] = {1};
  static const uint32_t digits[] = {4, 8, 16}, specials[] = {4, 2, 1};
  for (size_t d = is_long ? 0 : 1; d < (is_long ? 3 : 2); ++d) {
    scheme_t s;
    scheme_open(&s, case_set_make(15, 60, 50, 15, 60, specials[d], digits[d], "2^50"), steps, 1);
    chain_t chain = {.steps = is_long ? 10 : 1};
    chain.first = case_encrypt(&s, NUMBERS(0), 1, s.slots);
    hx_value_t *want = run_chain(&s, s.engine, s.backend, &chain);
    assert_true(agrees(&s, HELIOX_BUILD_DIR "/tests/sdk/primitives", "primitives", &chain, want));
    (void)agrees(&s, HELIOX_BUILD_DIR "/lib/heliox/plugins", "opencl", &chain, want);
    (void)agrees(&s, HELIOX_BUILD_DIR "/lib/heliox/plugins", "cuda", &chain, want);
    for (uint32_t i = 0; i < chain.steps; ++i) {
      hx_value_release(chain.ones[i]);
      hx_value_release(chain.zeros[i]);
    }
    hx_value_release(chain.first);
    hx_value_release(want);
    scheme_close(&s);
  }
}

static void b33_zero_coefficients_inside_a_series_are_right(void **state) {
  (void)state;
  scheme_t s;
  scheme_open(&s, case_set_m(), NULL, 0);
  const double series[] = {0, 1, 0, 0.5, 0, 0.25, 0, 0.125};
  const hx_polynomial_t polynomial = {
      .coefficients = series, .count = 8, .basis = HX_POLYNOMIAL_CHEBYSHEV, .low = -1, .high = 1};
  hx_value_t *x = case_encrypt(&s, NUMBERS(-1, -0.5, 0, 0.5, 1, 0, 0, 0), 8, s.slots);
  STEP(&s, x, hx_engine_polynomial(s.engine, in, &polynomial, &out, s.report));
  case_check(&s, "series", x, NUMBERS(-1.875, -0.1875, 0, 0.1875, 1.875, 0, 0, 0), 8, ldexp(1, -14));
  hx_value_release(x);
  scheme_close(&s);
}

static double exponential(double x, void *argument) {
  (void)argument;
  return exp(x);
}

static double clear_series(const double *c, uint32_t degree, double x) {
  double next = 0, last = 0;  // Clenshaw
  for (uint32_t k = degree; k > 0; --k) {
    const double current = c[k] + 2 * x * next - last;
    last = next;
    next = current;
  }
  return c[0] + x * next - last;
}

static void b35_every_degree_is_right_and_leaves_its_input(void **state) {
  (void)state;
  static const uint32_t all[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 31, 32, 33, 63, 64};
  static const uint32_t few[] = {1, 2, 3, 6, 17, 64};
  const uint32_t *degrees = is_long ? all : few;
  const size_t count = is_long ? HX_COUNT_OF(all) : HX_COUNT_OF(few);
  scheme_t s;
  scheme_open(&s, case_set_l(), NULL, 0);
  const scheme_number_t points[] = {-1, -0.7, -0.25, 0, 0.1, 0.5, 0.9, 1};
  hx_value_t *x = case_encrypt(&s, points, 8, s.slots), *copy = NULL;
  SCHEME_OK(&s, hx_engine_mul_integer(s.engine, x, 1, &copy, s.report));
  for (size_t d = 0; d < count; ++d) {
    double c[65];
    scheme_number_t want[8];
    hx_value_t *y = NULL;
    hx_polynomial_cost_t cost;
    assert_int_equal(hx_chebyshev_fit(exponential, NULL, -1, 1, degrees[d], c, s.report), HX_STATUS_OK);
    const hx_polynomial_t polynomial = {
        .coefficients = c, .count = degrees[d] + 1, .basis = HX_POLYNOMIAL_CHEBYSHEV, .low = -1, .high = 1};
    SCHEME_OK(&s, hx_polynomial_cost(s.params, &polynomial, NULL, &cost, s.report));
    SCHEME_OK(&s, hx_engine_polynomial(s.engine, x, &polynomial, &y, s.report));
    assert_int_equal(y->type.depth, cost.depth);
    for (size_t i = 0; i < 8; ++i) want[i] = clear_series(c, degrees[d], creal(points[i]));
    case_check(&s, "exp", y, want, 8, ldexp(1, -15));
    assert_true(hx_value_equal(x, copy));
    hx_value_release(y);
  }
  hx_value_release(x);
  hx_value_release(copy);
  scheme_close(&s);
}

// ------------------------------------------------------------------ B58

static double first_use = NAN;

// Before main, as the constructor of a global object of C++ is.
__attribute__((constructor)) static void encode_before_main(void) {
  hx_params_t *params = NULL;
  hx_value_t *plain = NULL;
  double *back = calloc(8192, sizeof *back);
  const double one[] = {0.75};
  if (back != NULL && hx_params_preset("n13-d3-s40", &params, NULL) == HX_STATUS_OK &&
      hx_encode(params, one, 1, false, NULL, &plain, NULL) == HX_STATUS_OK &&
      hx_decode(plain, back, NULL) == HX_STATUS_OK) {
    first_use = back[0];
  }
  free(back);
  hx_value_release(plain);
  hx_params_release(params);
}

static void b58_use_before_main_works(void **state) {
  (void)state;
  assert_true(fabs(first_use - 0.75) < 1e-9);
}

static void b58_a_forked_child_computes_the_same(void **state) {
  (void)state;
  scheme_t s;
  static const int64_t steps[] = {1};
  scheme_open(&s, case_set_make(10, 55, 40, 2, 56, 1, 3, "2^40"), steps, 1);
  hx_value_t *a = case_encrypt(&s, NUMBERS(0.5, -0.25), 2, s.slots), *parent = NULL;
  SCHEME_OK(&s, hx_engine_rotate(s.engine, a, 1, &parent, s.report));
  fflush(NULL);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    hx_value_t *x = NULL, *y = NULL;
    alarm(60);  // a deadlock ends the child, not the test
    const bool good = hx_engine_rotate(s.engine, a, 1, &x, NULL) == HX_STATUS_OK && hx_value_equal(x, parent) &&
                      hx_engine_mul(s.engine, a, x, &y, NULL) == HX_STATUS_OK;
    _exit(good ? 0 : 1);
  }
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  hx_value_release(a);
  hx_value_release(parent);
  scheme_close(&s);
}

// Streams never repeat: what a child draws differs from what its parent and its sibling draw.
static void b58_forked_children_draw_anew(void **state) {
  (void)state;
  scheme_t s;
  scheme_open(&s, case_set_make(10, 55, 40, 1, 56, 1, 2, "2^40"), NULL, 0);
  scheme_number_t *z = case_message(NUMBERS(0.5), 1, s.slots);
  hx_value_t *plain = scheme_encode(&s, z, s.slots, 0, NULL), *warm = NULL;
  SCHEME_OK(&s, hx_encrypt(s.keys, plain, false, &warm, s.report));
  uint64_t drawn[4][8];
  fflush(NULL);
  for (size_t i = 0; i < 4; ++i) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    const pid_t child = i < 3 ? fork() : 0;  // the last is the parent itself
    if (child == 0) {
      hx_value_t *value = NULL;
      uint64_t words[8] = {0};
      // Symmetric ones carry a seed of their own: both ways are drawn.
      const bool good = hx_encrypt(s.keys, plain, i % 2 == 0, &value, NULL) == HX_STATUS_OK;
      if (good) memcpy(words, hx_tensor_row(value->tensor, 0, 0, 1, 0), sizeof words);
      hx_value_release(value);
      if (write(ends[1], words, sizeof words) != (ssize_t)sizeof words || !good) _exit(1);
      if (i < 3) _exit(0);
    }
    assert_int_equal(read(ends[0], drawn[i], sizeof drawn[i]), (ssize_t)sizeof drawn[i]);
    close(ends[0]);
    close(ends[1]);
    int status = 0;
    if (i < 3) assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    for (size_t k = 0; k < i; ++k) assert_true(memcmp(drawn[i], drawn[k], sizeof drawn[i]) != 0);
  }
  free(z);
  hx_value_release(plain);
  hx_value_release(warm);
  scheme_close(&s);
}

// ------------------------------------------------------------------ not there yet

static void b37_level_budgets_of_sparse_bootstrapping(void **state) {
  (void)state;
  CASE_SKIP("B37: there is no bootstrapping");
}

static void b39_bootstrapping_without_its_preparation(void **state) {
  (void)state;
  CASE_SKIP("B39: there is no bootstrapping");
}

static void b64_no_kernel_image_for_this_device(void **state) {
  (void)state;
  CASE_SKIP("B64: needs a GPU, and plugins packed with one architecture each");
}

static void b66_out_of_device_memory(void **state) {
  (void)state;
  CASE_SKIP("B66: needs a GPU");
}

static void b68_odd_work_group_limits(void **state) {
  (void)state;
  CASE_SKIP("B68: needs an OpenCL plugin");
}

static void b70_kernel_arguments_of_the_wrong_width(void **state) {
  (void)state;
  CASE_SKIP("B70: needs an OpenCL plugin");
}

int main(int argc, char **argv) {
  hx_threads_set(1);
  is_long = argc > 1 && strcmp(argv[1], "long") == 0;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(b58_use_before_main_works),
      cmocka_unit_test(b58_a_forked_child_computes_the_same),
      cmocka_unit_test(b58_forked_children_draw_anew),
      cmocka_unit_test(b13_eleven_products_stay_right),
      cmocka_unit_test(b31_zeros_stay_zeros),
      cmocka_unit_test(b31_every_backend_gives_the_same_residues),
      cmocka_unit_test(b33_zero_coefficients_inside_a_series_are_right),
      cmocka_unit_test(b35_every_degree_is_right_and_leaves_its_input),
      cmocka_unit_test(b37_level_budgets_of_sparse_bootstrapping),
      cmocka_unit_test(b39_bootstrapping_without_its_preparation),
      cmocka_unit_test(b64_no_kernel_image_for_this_device),
      cmocka_unit_test(b66_out_of_device_memory),
      cmocka_unit_test(b68_odd_work_group_limits),
      cmocka_unit_test(b70_kernel_arguments_of_the_wrong_width),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
