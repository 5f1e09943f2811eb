// SPDX-License-Identifier: Apache-2.0
// Every operation of the ckks dialect at every depth of two presets, once by the engine and once as a program: equal
// bits, and the worst slot within 12 predicted sigmas.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/scheme/scheme.h"

#define TERMS 3  // of sums

static const int64_t steps[] = {1, -3, 0, 7};  // the first TERMS of them in sums
enum { MANY = 4 };

// One depth and packing: ciphertexts of `x` at the parameters' scale and at one whose square fits there.
typedef struct bench {
  const scheme_t *s;
  uint32_t depth, slots;
  char scale[16];                 // of factors
  double factor;                  // the same as a number
  scheme_number_t *x[TERMS];      // messages
  scheme_number_t *w[2 * TERMS];  // weights
  hx_value_t *a[TERMS];           // parameters' scale
  hx_value_t *c[TERMS];           // factors
  hx_value_t *p, *u[2 * TERMS];   // w[0] at the parameters' scale; weights as factors
  double fresh, power, weight_power;
} bench_t;

static void bench_open(bench_t *b, const scheme_t *s, uint32_t depth, uint32_t slots, uint64_t *seed) {
  *b = (bench_t){.s = s, .depth = depth, .slots = slots, .fresh = scheme_fresh(s)};
  double modulus = 0;
  const hx_primes_t active = hx_ring_active(hx_params_ring(s->params), depth);
  for (uint32_t id = 0; hx_primes_has(&active, id); ++id) modulus += log2((double)hx_params_prime(s->params, id));
  const double most = hx_scale_log2(hx_params_default_scale(s->params), NULL);
  // Slots of a product are below 2 * 3 terms, its coefficients too: 2^(2 e + 3) has to stay below Q_d / 2.
  const int e = (int)fmin(most, floor((modulus - 5) / 2));
  b->factor = ldexp(1.0, e);
  snprintf(b->scale, sizeof b->scale, "2^%d", e);
  for (size_t t = 0; t < TERMS; ++t) {
    b->x[t] = scheme_message(seed, slots);
    b->a[t] = scheme_encrypt(s, b->x[t], slots, depth, NULL);
    b->c[t] = scheme_encrypt(s, b->x[t], slots, depth, b->scale);
  }
  for (size_t t = 0; t < 2 * TERMS; ++t) {
    b->w[t] = scheme_message(seed, slots);
    b->u[t] = scheme_encode(s, b->w[t], slots, depth, b->scale);
  }
  b->p = scheme_encode(s, b->w[0], slots, depth, NULL);
  b->power = scheme_power(b->x[0], slots);
  b->weight_power = scheme_power(b->w[0], slots);
}

static void bench_close(bench_t *b) {
  for (size_t t = 0; t < TERMS; ++t) {
    free(b->x[t]);
    hx_value_release(b->a[t]);
    hx_value_release(b->c[t]);
  }
  for (size_t t = 0; t < 2 * TERMS; ++t) {
    free(b->w[t]);
    hx_value_release(b->u[t]);
  }
  hx_value_release(b->p);
}

// Slot i of a rotation.
static scheme_number_t rotated(const bench_t *b, const scheme_number_t *z, size_t i, int64_t step) {
  const int64_t slots = b->slots;
  return z[(size_t)((((int64_t)i + step) % slots + slots) % slots)];
}

// Runs `%r0 = "op"(...)`, or `body` where op is NULL, as a program and wants the engine's bits; then decrypts.
static void check_body(const bench_t *b, const char *what, const char *body, hx_value_t *const *inputs, size_t count,
                       hx_value_t *result, const scheme_number_t *want, double variance, double sigmas) {
  hx_value_t *again = NULL;
  scheme_run(b->s, body, inputs, count, &again, 1);
  if (!hx_value_equal(result, again)) fail_msg("%s at depth %u: engine and program differ", what, b->depth);
  scheme_check_with(b->s, b->s->keys, what, result, want, variance, sigmas);
  hx_value_release(again);
  hx_value_release(result);
}

static void check_op_within(const bench_t *b, const char *op, const char *attributes, hx_value_t *const *inputs,
                            size_t count, hx_value_t *result, const scheme_number_t *want, double variance,
                            double sigmas) {
  hx_text_t body;
  hx_text_init(&body);
  hx_text_printf(&body, "%%r0 = \"%s\"(", op);
  for (size_t i = 0; i < count; ++i) hx_text_printf(&body, "%s%%a%zu", i == 0 ? "" : ", ", i);
  hx_text_printf(&body, ") {%s} : (", attributes);
  scheme_print_types(&body, inputs, count);
  hx_text_puts(&body, ") -> !ckks.ciphertext<>");
  assert_false(body.failed);
  check_body(b, op, body.data, inputs, count, result, want, variance, sigmas);
  hx_text_deinit(&body);
}

static void check_op(const bench_t *b, const char *op, const char *attributes, hx_value_t *const *inputs, size_t count,
                     hx_value_t *result, const scheme_number_t *want, double variance) {
  check_op_within(b, op, attributes, inputs, count, result, want, variance, SCHEME_SIGMAS);
}

#define EACH(b_, want_, expression_) \
  for (size_t i = 0; i < (b_)->slots; ++i) (want_)[i] = (expression_)

// ------------------------------------------------------------------ arithmetic

static void check_linear(const bench_t *b) {
  const scheme_t *s = b->s;
  hx_engine_t *e = s->engine;
  scheme_number_t *want = scheme_numbers(b->slots);
  hx_value_t *r = NULL, *const pair[] = {b->a[0], b->a[1]}, *const plain[] = {b->a[0], b->p};
  SCHEME_OK(s, hx_engine_add(e, b->a[0], b->a[1], &r, s->report));
  EACH(b, want, b->x[0][i] + b->x[1][i]);
  check_op(b, "ckks.add", "", pair, 2, r, want, 2 * b->fresh);
  SCHEME_OK(s, hx_engine_sub(e, b->a[0], b->a[1], &r, s->report));
  EACH(b, want, b->x[0][i] - b->x[1][i]);
  check_op(b, "ckks.sub", "", pair, 2, r, want, 2 * b->fresh);
  SCHEME_OK(s, hx_engine_neg(e, b->a[0], &r, s->report));
  EACH(b, want, -b->x[0][i]);
  check_op(b, "ckks.neg", "", pair, 1, r, want, b->fresh);
  SCHEME_OK(s, hx_engine_add_plain(e, b->a[0], b->p, &r, s->report));
  EACH(b, want, b->x[0][i] + b->w[0][i]);
  check_op(b, "ckks.add_plain", "", plain, 2, r, want, b->fresh + hx_noise_encode());
  SCHEME_OK(s, hx_engine_sub_plain(e, b->a[0], b->p, &r, s->report));
  EACH(b, want, b->x[0][i] - b->w[0][i]);
  check_op(b, "ckks.sub_plain", "", plain, 2, r, want, b->fresh + hx_noise_encode());
  SCHEME_OK(s, hx_engine_mul_integer(e, b->a[0], -5, &r, s->report));
  EACH(b, want, -5.0 * b->x[0][i]);
  check_op(b, "ckks.mul_integer", "integer = -5 : i64", pair, 1, r, want, 25 * b->fresh);
  free(want);
}

static void check_scalars(const bench_t *b) {
  const scheme_t *s = b->s;
  scheme_number_t *want = scheme_numbers(b->slots);
  hx_value_t *r = NULL, *const one[] = {b->a[0]}, *const factor[] = {b->c[0]};
  char attributes[96];
  SCHEME_OK(s, hx_engine_add_scalar(s->engine, b->a[0], -0.75, 0.5, &r, s->report));
  EACH(b, want, b->x[0][i] - 0.75 + 0.5 * I);
  check_op(b, "ckks.add_scalar", "value = [-0.75 : f64, 0.5 : f64]", one, 1, r, want, b->fresh + hx_noise_encode());
  SCHEME_OK(s, hx_engine_mul_scalar(s->engine, b->c[0], 0.5, -1.25, b->scale, &r, s->report));
  EACH(b, want, b->x[0][i] * (0.5 - 1.25 * I));
  snprintf(attributes, sizeof attributes, "value = [0.5 : f64, -1.25 : f64], scale = \"%s\"", b->scale);
  check_op(b, "ckks.mul_scalar", attributes, factor, 1, r, want,
           hx_noise_multiply(s->params, (hx_noise_factor_t){b->fresh, b->factor, b->power},
                             (hx_noise_factor_t){hx_noise_encode(), b->factor, 0.25 + 1.5625}));
  SCHEME_OK(s, hx_engine_mul_i(s->engine, b->a[0], &r, s->report));
  EACH(b, want, b->x[0][i] * I);
  check_op(b, "ckks.mul_scalar", "value = [0.0 : f64, 1.0 : f64], scale = \"2^0\"", one, 1, r, want, b->fresh);
  free(want);
}

static double product(const bench_t *b, double first, double second) {
  return hx_noise_multiply(b->s->params, (hx_noise_factor_t){first, b->factor, b->power},
                           (hx_noise_factor_t){second, b->factor, b->power});
}

static void check_products(const bench_t *b) {
  const scheme_t *s = b->s;
  hx_engine_t *e = s->engine;
  scheme_number_t *want = scheme_numbers(b->slots);
  hx_value_t *r = NULL, *const pair[] = {b->c[0], b->c[1]}, *const plain[] = {b->c[0], b->u[0]};
  SCHEME_OK(s, hx_engine_mul_plain(e, b->c[0], b->u[0], &r, s->report));
  EACH(b, want, b->x[0][i] * b->w[0][i]);
  check_op(b, "ckks.mul_plain", "", plain, 2, r, want, product(b, b->fresh, hx_noise_encode()));
  SCHEME_OK(s, hx_engine_square(e, b->c[0], &r, s->report));
  EACH(b, want, b->x[0][i] * b->x[0][i]);
  // 2 m e: the two terms of a product are one and the same.
  check_op(b, "ckks.square", "", pair, 1, r, want, 2 * product(b, b->fresh, b->fresh));
  EACH(b, want, b->x[0][i] * b->x[1][i]);
  const double variance = product(b, b->fresh, b->fresh);
  hx_value_t *wide = NULL, *relinear = NULL;
  SCHEME_OK(s, hx_engine_mul(e, b->c[0], b->c[1], &wide, s->report));
  check_op(b, "ckks.mul", "", pair, 2, hx_value_retain(wide), want, variance);
  SCHEME_OK(s, hx_engine_relinearize(e, wide, &relinear, s->report));
  const double switched = variance + hx_noise_key_switch(s->params, b->depth);
  check_op(b, "ckks.relinearize", "", &wide, 1, hx_value_retain(relinear), want, switched);
  if (b->depth < hx_ring_max_depth(hx_params_ring(s->params))) {
    SCHEME_OK(s, hx_engine_rescale(e, wide, &r, s->report));
    check_op_within(b, "ckks.rescale", "", &wide, 1, r, want, hx_noise_rescale(s->params, b->depth, 3, variance),
                    SCHEME_SIGMAS_SQUARE);
    SCHEME_OK(s, hx_engine_rescale(e, relinear, &r, s->report));
    check_op(b, "ckks.rescale", "", &relinear, 1, r, want, hx_noise_rescale(s->params, b->depth, 2, switched));
    SCHEME_OK(s, hx_engine_rescale_to(e, relinear, HX_DOMAIN_COEFFICIENT, &r, s->report));
    check_op(b, "ckks.rescale", "output_domain = \"coefficient\"", &relinear, 1, r, want,
             hx_noise_rescale(s->params, b->depth, 2, switched));
  } else {
    assert_int_equal(hx_engine_rescale(e, relinear, &r, s->report), HX_STATUS_INVALID);
    assert_fault(s->report, HX_CODE_NO_DEPTH, WORDS("depth"));
    hx_report_clear(s->report);
  }
  hx_value_release(wide);
  hx_value_release(relinear);
  free(want);
}

// ------------------------------------------------------------------ state

static void check_state(const bench_t *b) {
  const scheme_t *s = b->s;
  hx_engine_t *e = s->engine;
  scheme_number_t *want = scheme_numbers(b->slots);
  hx_value_t *r = NULL, *coefficients = NULL, *const one[] = {b->a[0]};
  char attributes[64];
  const uint32_t last = hx_ring_max_depth(hx_params_ring(s->params));
  for (uint32_t to = b->depth; to <= last; ++to) {
    SCHEME_OK(s, hx_engine_level_drop(e, b->a[0], to, &r, s->report));
    snprintf(attributes, sizeof attributes, "depth = %u : i64", to);
    check_op(b, "ckks.level_drop", attributes, one, 1, r, b->x[0], b->fresh);
  }
  SCHEME_OK(s, hx_engine_reinterpret_scale(e, b->a[0], "2^28", &r, s->report));
  const double ratio = scheme_scale(s, b->a[0]) / ldexp(1.0, 28);
  EACH(b, want, b->x[0][i] * ratio);
  check_op(b, "ckks.reinterpret_scale", "scale = \"2^28\"", one, 1, r, want, b->fresh);
  SCHEME_OK(s, hx_engine_from_ntt(e, b->a[0], &coefficients, s->report));
  check_op(b, "ckks.from_ntt", "", one, 1, hx_value_retain(coefficients), b->x[0], b->fresh);
  SCHEME_OK(s, hx_engine_to_ntt(e, coefficients, &r, s->report));
  assert_true(hx_value_equal(r, b->a[0]));
  check_op(b, "ckks.to_ntt", "", &coefficients, 1, r, b->x[0], b->fresh);
  hx_value_release(coefficients);
  free(want);
}

// ------------------------------------------------------------------ slots

static void check_rotations(const bench_t *b) {
  const scheme_t *s = b->s;
  hx_engine_t *e = s->engine;
  scheme_number_t *want = scheme_numbers(b->slots);
  hx_value_t *r = NULL, *const one[] = {b->a[0]}, *each[MANY], *many[MANY];
  const double variance = b->fresh + hx_noise_key_switch(s->params, b->depth);
  char attributes[96];
  for (size_t k = 0; k < MANY; ++k) {
    SCHEME_OK(s, hx_engine_rotate(e, b->a[0], steps[k], &each[k], s->report));
    EACH(b, want, rotated(b, b->x[0], i, steps[k]));
    snprintf(attributes, sizeof attributes, "step = %" PRId64 " : i64", steps[k]);
    check_op(b, "ckks.rotate", attributes, one, 1, hx_value_retain(each[k]), want, variance);
    SCHEME_OK(s, hx_engine_rotate_to(e, b->a[0], steps[k], HX_DOMAIN_COEFFICIENT, &r, s->report));
    snprintf(attributes, sizeof attributes, "step = %" PRId64 " : i64, output_domain = \"coefficient\"", steps[k]);
    check_op(b, "ckks.rotate", attributes, one, 1, r, want, variance);
  }
  SCHEME_OK(s, hx_engine_rotate_many(e, b->a[0], steps, MANY, many, s->report));
  hx_text_t body;
  hx_text_init(&body);
  hx_text_puts(&body, "%m:4 = \"ckks.rotate_many\"(%a0) {steps = [1, -3, 0, 7]} : (");
  scheme_print_type(&body, b->a[0]);
  hx_text_puts(&body, ") -> (!ckks.ciphertext<>, !ckks.ciphertext<>, !ckks.ciphertext<>, !ckks.ciphertext<>)\n");
  for (size_t k = 0; k < MANY; ++k) {
    assert_true(hx_value_equal(many[k], each[k]));
    hx_text_printf(&body, "%%r%zu = \"ckks.neg\"(%%m#%zu) : (!ckks.ciphertext<>) -> !ckks.ciphertext<>\n", k, k);
  }
  hx_value_t *negated[MANY];
  scheme_run(s, body.data, one, 1, negated, MANY);
  for (size_t k = 0; k < MANY; ++k) {
    SCHEME_OK(s, hx_engine_neg(e, each[k], &r, s->report));
    assert_true(hx_value_equal(r, negated[k]));
    hx_value_release(r);
    hx_value_release(negated[k]);
    hx_value_release(many[k]);
    hx_value_release(each[k]);
  }
  hx_text_deinit(&body);
  SCHEME_OK(s, hx_engine_conjugate(e, b->a[0], &r, s->report));
  EACH(b, want, conj(b->x[0][i]));
  check_op(b, "ckks.conjugate", "", one, 1, r, want, variance);
  SCHEME_OK(s, hx_engine_conjugate_to(e, b->a[0], HX_DOMAIN_COEFFICIENT, &r, s->report));
  check_op(b, "ckks.conjugate", "output_domain = \"coefficient\"", one, 1, r, want, variance);
  free(want);
}

// ------------------------------------------------------------------ sums

static void check_batch_sum(const bench_t *b) {
  const scheme_t *s = b->s;
  scheme_number_t *want = scheme_numbers(b->slots);
  hx_value_t *r = NULL, *stack = NULL;
  SCHEME_OK(s, hx_value_stack((const hx_value_t *const *)b->a, TERMS, &stack, s->report));
  SCHEME_OK(s, hx_engine_sum(s->engine, stack, 0, &r, s->report));
  EACH(b, want, b->x[0][i] + b->x[1][i] + b->x[2][i]);
  check_op(b, "ckks.sum", "axis = 0 : i64", &stack, 1, r, want, TERMS * b->fresh);
  hx_value_release(stack);
  free(want);
}

// Group g's sum of products of `first` (rotated or not) with weights.
static void weigh(const bench_t *b, size_t group, bool rotations, scheme_number_t *want) {
  for (size_t i = 0; i < b->slots; ++i) {
    want[i] = 0;
    for (size_t t = 0; t < TERMS; ++t)
      want[i] += b->w[group * TERMS + t][i] * (rotations ? rotated(b, b->x[0], i, steps[t]) : b->x[t][i]);
  }
}

static void check_weighted_sum(const bench_t *b) {
  const scheme_t *s = b->s;
  scheme_number_t *want = scheme_numbers(b->slots);
  hx_value_t *outs[2], *inputs[3 * TERMS], *again[2];
  SCHEME_OK(s, hx_engine_weighted_sum(s->engine, (const hx_value_t *const *)b->c, TERMS,
                                      (const hx_value_t *const *)b->u, 2, outs, s->report));
  memcpy(inputs, b->c, sizeof b->c);
  memcpy(inputs + TERMS, b->u, sizeof b->u);
  hx_text_t body;
  hx_text_init(&body);
  hx_text_puts(&body, "%m:2 = \"ckks.weighted_sum\"(%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8) {groups = 2} : (");
  scheme_print_types(&body, inputs, 3 * TERMS);
  hx_text_puts(&body, ") -> (!ckks.ciphertext<>, !ckks.ciphertext<>)\n");
  for (int g = 0; g < 2; ++g)
    hx_text_printf(&body, "%%r%d = \"ckks.neg\"(%%m#%d) : (!ckks.ciphertext<>) -> !ckks.ciphertext<>\n", g, g);
  scheme_run(s, body.data, inputs, 3 * TERMS, again, 2);
  for (size_t g = 0; g < 2; ++g) {
    weigh(b, g, false, want);
    scheme_check(s, "ckks.weighted_sum", outs[g], want, TERMS * product(b, b->fresh, hx_noise_encode()));
    hx_value_t *negated = NULL;
    SCHEME_OK(s, hx_engine_neg(s->engine, outs[g], &negated, s->report));
    assert_true(hx_value_equal(negated, again[g]));
    hx_value_release(negated);
    hx_value_release(again[g]);
    hx_value_release(outs[g]);
  }
  hx_text_deinit(&body);
  free(want);
}

static void check_rotate_weighted_sum(const bench_t *b) {
  const scheme_t *s = b->s;
  scheme_number_t *want = scheme_numbers(b->slots);
  hx_value_t *outs[2], *prepared[2 * TERMS], *inputs[1 + TERMS] = {b->c[0], b->u[0], b->u[1], b->u[2]};
  for (size_t t = 0; t < 2 * TERMS; ++t)
    SCHEME_OK(s, hx_engine_prepare_plain(s->engine, b->u[t], HX_PLAIN_WEIGHTED, &prepared[t], s->report));
  SCHEME_OK(s, hx_engine_rotate_weighted_sum(s->engine, b->c[0], steps, TERMS, (const hx_value_t *const *)prepared, 2,
                                             outs, s->report));
  // At most the noise of separate rotations: one rounding by P less.
  const double variance = TERMS * product(b, b->fresh + hx_noise_key_switch(s->params, b->depth), hx_noise_encode()) +
                          hx_noise_key_switch(s->params, b->depth);
  hx_text_t body;
  hx_text_init(&body);
  for (size_t t = 1; t <= TERMS; ++t) {
    hx_text_printf(&body, "%%w%zu = \"ckks.prepare_plain\"(%%a%zu) {for = \"weighted\"} : (", t, t);
    scheme_print_type(&body, inputs[t]);
    hx_text_puts(&body, ") -> !ckks.plaintext<>\n");
  }
  hx_text_puts(&body, "%r0 = \"ckks.rotate_weighted_sum\"(%a0, %w1, %w2, %w3) {steps = [1, -3, 0]} : (");
  scheme_print_type(&body, inputs[0]);
  hx_text_puts(&body, ", !ckks.plaintext<>, !ckks.plaintext<>, !ckks.plaintext<>) -> !ckks.ciphertext<>");
  weigh(b, 1, true, want);
  scheme_check(s, "ckks.rotate_weighted_sum", outs[1], want, variance);
  weigh(b, 0, true, want);
  check_body(b, "ckks.rotate_weighted_sum", body.data, inputs, 1 + TERMS, outs[0], want, variance, SCHEME_SIGMAS);
  hx_value_release(outs[1]);
  for (size_t t = 0; t < 2 * TERMS; ++t) hx_value_release(prepared[t]);
  hx_text_deinit(&body);
  free(want);
}

static void check_rotate_sum(const bench_t *b) {
  const scheme_t *s = b->s;
  scheme_number_t *want = scheme_numbers(b->slots);
  hx_value_t *r = NULL;
  SCHEME_OK(s, hx_engine_rotate_sum(s->engine, (const hx_value_t *const *)b->a, steps, TERMS, &r, s->report));
  EACH(b, want, rotated(b, b->x[0], i, steps[0]) + rotated(b, b->x[1], i, steps[1]) + rotated(b, b->x[2], i, steps[2]));
  check_op(b, "ckks.rotate_sum", "steps = [1, -3, 0]", b->a, TERMS, r, want,
           TERMS * (b->fresh + hx_noise_key_switch(s->params, b->depth)));
  free(want);
}

static void check_prepared(const bench_t *b) {
  const scheme_t *s = b->s;
  hx_value_t *added = NULL, *multiplied = NULL, *coefficients = NULL;
  SCHEME_OK(s, hx_engine_prepare_plain(s->engine, b->p, HX_PLAIN_ADD, &added, s->report));
  assert_true(hx_value_equal(added, b->p));
  SCHEME_OK(s, hx_engine_from_ntt(s->engine, b->u[0], &coefficients, s->report));
  SCHEME_OK(s, hx_engine_prepare_plain(s->engine, coefficients, HX_PLAIN_MUL, &multiplied, s->report));
  assert_true(hx_value_equal(multiplied, b->u[0]));
  hx_value_release(added);
  hx_value_release(multiplied);
  hx_value_release(coefficients);
}

// ------------------------------------------------------------------ presets

static void check_preset(const char *name) {
  scheme_t s;
  uint64_t seed = 1;
  scheme_open_preset(&s, name, steps, MANY);
  for (uint32_t depth = 0; depth <= hx_ring_max_depth(hx_params_ring(s.params)); ++depth) {
    bench_t b;
    bench_open(&b, &s, depth, s.slots, &seed);
    check_linear(&b);
    check_scalars(&b);
    check_products(&b);
    check_state(&b);
    check_rotations(&b);
    check_batch_sum(&b);
    check_weighted_sum(&b);
    check_rotate_weighted_sum(&b);
    check_rotate_sum(&b);
    check_prepared(&b);
    bench_close(&b);
  }
  scheme_close(&s);
}

static void every_operation_is_right_at_every_depth_of_n12_d1_s30(void **state) {
  (void)state;
  check_preset("n12-d1-s30");
}

static void every_operation_is_right_at_every_depth_of_n13_d3_s40(void **state) {
  (void)state;
  check_preset("n13-d3-s40");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_operation_is_right_at_every_depth_of_n12_d1_s30),
      cmocka_unit_test(every_operation_is_right_at_every_depth_of_n13_d3_s40),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
