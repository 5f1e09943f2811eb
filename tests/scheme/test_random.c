// SPDX-License-Identifier: Apache-2.0
// Random programs of 1 to 40 operations against complex arithmetic: thousands in small rings, or with the argument
// `long` hundreds at N = 2^13. Every value that a program makes is predicted; the last is decrypted, and one program in
// four is run as a program too, for equal bits. The noise that travels with the values (core/ckks/noise_state.h) is
// held against the truth.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/scheme/scheme.h"

#define VALUES_MAX 64
#define INPUTS_MAX 64
#define OPERATIONS_MAX 40

// Positive: their elements are the same in every packing.
static const int64_t steps[] = {1, 2, 5};
static bool is_long;

// A ciphertext with what it should hold.
typedef struct item {
  hx_value_t *value;
  scheme_number_t *z;
  double peak;        // of |z|^2
  uint64_t sources;   // encryptions that it comes from
  bool is_dependent;  // a product of operands with a common source is in it
  bool is_input;
  size_t name;  // %aN or %vN
} item_t;

typedef struct machine {
  const scheme_t *s;
  uint64_t seed;
  uint32_t slots;
  item_t items[VALUES_MAX];
  size_t count;
  hx_value_t *inputs[INPUTS_MAX];  // of the program: ciphertexts and plaintexts
  size_t input_count;
  hx_text_t body;
} machine_t;

static uint32_t below(machine_t *m, uint32_t bound) { return (uint32_t)(scheme_word(&m->seed) % bound); }

static double peak_of(const scheme_number_t *z, size_t count) {
  double peak = 0;
  for (size_t i = 0; i < count; ++i) peak = fmax(peak, creal(z[i] * conj(z[i])));
  return peak;
}

static double modulus_log2(const machine_t *m, uint32_t depth) {
  const hx_primes_t active = hx_ring_active(hx_params_ring(m->s->params), depth);
  double sum = 0;
  for (uint32_t id = 0; hx_primes_has(&active, id); ++id) sum += log2((double)hx_params_prime(m->s->params, id));
  return sum;
}

// Slots bound coefficients: a message fits where its largest slot times its scale stays well below Q_d / 2.
static bool fits(const machine_t *m, double peak, double scale_log2, uint32_t depth) {
  return 0.5 * log2(peak + 1e-30) + scale_log2 + 3 < modulus_log2(m, depth) && peak < 1e12;
}

static void add_input(machine_t *m, hx_value_t *value, size_t *out) {
  *out = m->input_count;
  assert_true(m->input_count < INPUTS_MAX);
  m->inputs[m->input_count++] = value;
}

static void start(machine_t *m, const scheme_t *s, uint64_t seed) {
  *m = (machine_t){.s = s, .seed = seed};
  hx_text_init(&m->body);
  m->slots = s->slots >> (below(m, 3) * 2);
  const uint32_t fresh = 1 + below(m, 3);
  for (uint32_t i = 0; i < fresh; ++i) {
    item_t *item = &m->items[m->count++];
    item->z = scheme_message(&m->seed, m->slots);
    item->value = scheme_encrypt(s, item->z, m->slots, below(m, 2), NULL);
    item->peak = 1.0 + 1e-9;
    item->sources = (uint64_t)1 << i;
    item->is_input = true;
    add_input(m, hx_value_retain(item->value), &item->name);
  }
}

static void finish(machine_t *m) {
  for (size_t i = 0; i < m->count; ++i) {
    hx_value_release(m->items[i].value);
    free(m->items[i].z);
  }
  for (size_t i = 0; i < m->input_count; ++i) hx_value_release(m->inputs[i]);
  hx_text_deinit(&m->body);
}

// ------------------------------------------------------------------ recording

static void print_name(machine_t *m, bool is_input, size_t name) {
  hx_text_printf(&m->body, "%%%c%zu", is_input ? 'a' : 'v', name);
}

static void print_operand_type(machine_t *m, bool is_input, size_t name) {
  if (is_input) {
    scheme_print_type(&m->body, m->inputs[name]);
  } else {
    hx_text_puts(&m->body, "!ckks.ciphertext<>");
  }
}

// %vK = "op"(a[, b]) {attributes} : (...) -> !ckks.ciphertext<>; plain: an input, or SIZE_MAX.
static void record(machine_t *m, const char *op, const char *attributes, const item_t *a, const item_t *b,
                   size_t plain) {
  hx_text_printf(&m->body, "%%v%zu = \"%s\"(", m->count, op);
  print_name(m, a->is_input, a->name);
  if (b != NULL || plain != SIZE_MAX) hx_text_puts(&m->body, ", ");
  if (b != NULL) print_name(m, b->is_input, b->name);
  if (plain != SIZE_MAX) print_name(m, true, plain);
  hx_text_printf(&m->body, ") {%s} : (", attributes);
  print_operand_type(m, a->is_input, a->name);
  if (b != NULL || plain != SIZE_MAX) hx_text_puts(&m->body, ", ");
  if (b != NULL) print_operand_type(m, b->is_input, b->name);
  if (plain != SIZE_MAX) print_operand_type(m, true, plain);
  hx_text_puts(&m->body, ") -> !ckks.ciphertext<>\n");
}

// A result of a, and of b where it is not NULL.
static item_t *push(machine_t *m, hx_value_t *value, const item_t *a, const item_t *b) {
  item_t *item = &m->items[m->count];
  *item = (item_t){.value = value,
                   .z = scheme_numbers(m->slots),
                   .sources = a->sources | (b == NULL ? 0 : b->sources),
                   .is_dependent = a->is_dependent || (b != NULL && b->is_dependent),
                   .name = m->count};
  m->count += 1;
  return item;
}

#define FILL(m_, item_, expression_)                                        \
  do {                                                                      \
    for (size_t i = 0; i < (m_)->slots; ++i) (item_)->z[i] = (expression_); \
    (item_)->peak = peak_of((item_)->z, (m_)->slots);                       \
  } while (0)

// ------------------------------------------------------------------ operations; false: not legal here

static item_t *pick(machine_t *m) {
  return &m->items[m->count - 1 - below(m, (uint32_t)(m->count < 6 ? m->count : 6))];
}

// A random value of a's state, itself where there is no other.
static item_t *pick_like(machine_t *m, const item_t *a) {
  const size_t first = below(m, (uint32_t)m->count);
  for (size_t k = 0; k < m->count; ++k) {
    item_t *b = &m->items[(first + k) % m->count];
    if (hx_type_equal(&a->value->type, &b->value->type)) return b;
  }
  return NULL;
}

static double scale_log2(const item_t *a) { return hx_value_scale_log2(a->value); }

static bool do_linear(machine_t *m, const item_t *a) {
  const item_t *b = pick_like(m, a);
  const bool subtract = below(m, 2) == 1;
  hx_value_t *r = NULL;
  if (!fits(m, 4 * fmax(a->peak, b->peak), scale_log2(a), a->value->type.depth)) return false;
  record(m, subtract ? "ckks.sub" : "ckks.add", "", a, b, SIZE_MAX);
  SCHEME_OK(m->s, subtract ? hx_engine_sub(m->s->engine, a->value, b->value, &r, m->s->report)
                           : hx_engine_add(m->s->engine, a->value, b->value, &r, m->s->report));
  item_t *out = push(m, r, a, b);
  FILL(m, out, subtract ? a->z[i] - b->z[i] : a->z[i] + b->z[i]);
  return true;
}

static bool do_plain(machine_t *m, const item_t *a, bool multiply) {
  const uint32_t depth = a->value->type.depth;
  char scale[HX_SCALE_TEXT_MAX] = "2^40";
  const double after = multiply ? scale_log2(a) + 40 : scale_log2(a);
  if (m->input_count == INPUTS_MAX || !fits(m, 2 * a->peak + 2, after, depth)) return false;
  if (!multiply && !fits(m, 2.0, scale_log2(a), depth)) return false;
  if (!multiply) hx_scale_print(&a->value->type.scale, scale);
  scheme_number_t *w = scheme_message(&m->seed, m->slots);
  hx_value_t *plain = scheme_encode(m->s, w, m->slots, depth, scale), *r = NULL;
  size_t name;
  add_input(m, plain, &name);
  record(m, multiply ? "ckks.mul_plain" : "ckks.add_plain", "", a, NULL, name);
  SCHEME_OK(m->s, multiply ? hx_engine_mul_plain(m->s->engine, a->value, plain, &r, m->s->report)
                           : hx_engine_add_plain(m->s->engine, a->value, plain, &r, m->s->report));
  item_t *out = push(m, r, a, NULL);
  FILL(m, out, multiply ? a->z[i] * w[i] : a->z[i] + w[i]);
  free(w);
  return true;
}

static bool do_constant(machine_t *m, const item_t *a) {
  const double re = scheme_unit(&m->seed), im = below(m, 2) == 0 ? 0.0 : scheme_unit(&m->seed);
  const uint32_t depth = a->value->type.depth, kind = below(m, 4);
  const scheme_number_t w = re + im * I;
  hx_value_t *r = NULL;
  char attributes[128], value[80];
  if (im == 0.0) {
    snprintf(value, sizeof value, "%.17e : f64", re);
  } else {
    snprintf(value, sizeof value, "[%.17e : f64, %.17e : f64]", re, im);
  }
  if (kind == 0) {
    if (!fits(m, 2 * a->peak + 4, scale_log2(a), depth)) return false;
    snprintf(attributes, sizeof attributes, "value = %s", value);
    record(m, "ckks.add_scalar", attributes, a, NULL, SIZE_MAX);
    SCHEME_OK(m->s, hx_engine_add_scalar(m->s->engine, a->value, re, im, &r, m->s->report));
    item_t *out = push(m, r, a, NULL);
    FILL(m, out, a->z[i] + w);
  } else if (kind == 1) {
    if (!fits(m, 2 * a->peak + 2, scale_log2(a) + 40, depth)) return false;
    snprintf(attributes, sizeof attributes, "value = %s, scale = \"2^40\"", value);
    record(m, "ckks.mul_scalar", attributes, a, NULL, SIZE_MAX);
    SCHEME_OK(m->s, hx_engine_mul_scalar(m->s->engine, a->value, re, im, "2^40", &r, m->s->report));
    item_t *out = push(m, r, a, NULL);
    FILL(m, out, a->z[i] * w);
  } else if (kind == 2) {
    const int factor = (int)below(m, 9) - 4;
    if (!fits(m, 16 * a->peak, scale_log2(a), depth)) return false;
    snprintf(attributes, sizeof attributes, "integer = %d : i64", factor);
    record(m, "ckks.mul_integer", attributes, a, NULL, SIZE_MAX);
    SCHEME_OK(m->s, hx_engine_mul_integer(m->s->engine, a->value, factor, &r, m->s->report));
    item_t *out = push(m, r, a, NULL);
    FILL(m, out, a->z[i] * (double)factor);
  } else {
    record(m, "ckks.mul_scalar", "value = [0.0 : f64, 1.0 : f64], scale = \"2^0\"", a, NULL, SIZE_MAX);
    SCHEME_OK(m->s, hx_engine_mul_i(m->s->engine, a->value, &r, m->s->report));
    item_t *out = push(m, r, a, NULL);
    FILL(m, out, a->z[i] * I);
  }
  return true;
}

static bool do_product(machine_t *m, const item_t *a) {
  const item_t *b = pick_like(m, a);
  if (a->value->type.components != 2 || !fits(m, a->peak * b->peak, 2 * scale_log2(a), a->value->type.depth))
    return false;
  const bool square = a == b;
  hx_value_t *r = NULL;
  record(m, square ? "ckks.square" : "ckks.mul", "", a, square ? NULL : b, SIZE_MAX);
  SCHEME_OK(m->s, square ? hx_engine_square(m->s->engine, a->value, &r, m->s->report)
                         : hx_engine_mul(m->s->engine, a->value, b->value, &r, m->s->report));
  item_t *out = push(m, r, a, b);
  out->is_dependent = out->is_dependent || (a->sources & b->sources) != 0;
  FILL(m, out, a->z[i] * b->z[i]);
  return true;
}

static bool do_maintenance(machine_t *m, const item_t *a) {
  const uint32_t depth = a->value->type.depth, last = hx_ring_max_depth(hx_params_ring(m->s->params));
  hx_value_t *r = NULL;
  item_t *out;
  if (a->value->type.components == 3) {
    record(m, "ckks.relinearize", "", a, NULL, SIZE_MAX);
    SCHEME_OK(m->s, hx_engine_relinearize(m->s->engine, a->value, &r, m->s->report));
    out = push(m, r, a, NULL);
  } else if (depth < last && scale_log2(a) > 60) {
    record(m, "ckks.rescale", "", a, NULL, SIZE_MAX);
    SCHEME_OK(m->s, hx_engine_rescale(m->s->engine, a->value, &r, m->s->report));
    out = push(m, r, a, NULL);
  } else {
    const uint32_t to = depth + below(m, 2);
    if (to > last || !fits(m, a->peak, scale_log2(a), to)) return false;
    char attributes[32];
    snprintf(attributes, sizeof attributes, "depth = %u : i64", to);
    record(m, "ckks.level_drop", attributes, a, NULL, SIZE_MAX);
    SCHEME_OK(m->s, hx_engine_level_drop(m->s->engine, a->value, to, &r, m->s->report));
    out = push(m, r, a, NULL);
  }
  FILL(m, out, a->z[i]);
  return true;
}

static bool do_rotation(machine_t *m, const item_t *a) {
  if (a->value->type.components != 2) return false;
  const uint32_t kind = below(m, 4);
  hx_value_t *r = NULL;
  if (kind == 3) {
    record(m, "ckks.conjugate", "", a, NULL, SIZE_MAX);
    SCHEME_OK(m->s, hx_engine_conjugate(m->s->engine, a->value, &r, m->s->report));
    item_t *out = push(m, r, a, NULL);
    FILL(m, out, conj(a->z[i]));
    return true;
  }
  char attributes[32];
  snprintf(attributes, sizeof attributes, "step = %" PRId64 " : i64", steps[kind]);
  record(m, "ckks.rotate", attributes, a, NULL, SIZE_MAX);
  SCHEME_OK(m->s, hx_engine_rotate(m->s->engine, a->value, steps[kind], &r, m->s->report));
  item_t *out = push(m, r, a, NULL);
  const size_t shift = (size_t)(steps[kind] + m->slots) % m->slots;
  FILL(m, out, a->z[(i + shift) % m->slots]);
  return true;
}

static bool do_one(machine_t *m) {
  const item_t *a = pick(m);
  if (a->value->type.components == 3 && below(m, 2) == 0) return do_maintenance(m, a);
  switch (below(m, 8)) {
    case 0:
      return do_linear(m, a);
    case 1:
      return do_plain(m, a, false);
    case 2:
      return do_plain(m, a, true);
    case 3:
      return do_constant(m, a);
    case 4:
      return do_product(m, a);
    case 5:
      return do_rotation(m, a);
    default:
      return do_maintenance(m, a);
  }
}

// ------------------------------------------------------------------ programs

// The last value as a program's result, negated so that it is never an input itself.
static void check_program(machine_t *m, const item_t *last) {
  hx_value_t *engine = NULL, *program = NULL;
  hx_text_puts(&m->body, "%r0 = \"ckks.neg\"(");
  print_name(m, last->is_input, last->name);
  hx_text_puts(&m->body, ") : (");
  print_operand_type(m, last->is_input, last->name);
  hx_text_puts(&m->body, ") -> !ckks.ciphertext<>");
  SCHEME_OK(m->s, hx_engine_neg(m->s->engine, last->value, &engine, m->s->report));
  scheme_run(m->s, m->body.data, m->inputs, m->input_count, &program, 1);
  assert_true(hx_value_equal(engine, program));
  hx_value_release(engine);
  hx_value_release(program);
}

// The noise that travelled with the value: the worst slot, and from N = 2^12 on the RMS of all coefficients within
// [measured / 1.05, 16 measured], 2^8 measured where operands of a product depend on each other. What encoding the
// expected message loses is not counted: a unit, and the rounding of its arithmetic in doubles.
static void check_last(const scheme_t *s, const char *what, const item_t *last) {
  const hx_noise_t *noise = &last->value->noise;
  assert_true(noise->known);
  scheme_check(s, what, last->value, last->z, hx_noise_worst_variance(noise) + hx_noise_encode());
  if (hx_params_log_n(s->params) < 12 || scale_log2(last) > 100) return;  // beyond, z itself is encoded with a loss
  const double measured = scheme_measured_rms(s, last->value, last->z), predicted = sqrt(hx_noise_variance(noise));
  const double most = last->is_dependent ? 256.0 : 16.0;
  const double slack =
      1.0 + ldexp(sqrt(last->peak) * exp2(scale_log2(last)), -50) / sqrt(2.0 * last->value->type.slots);
  if (getenv("DBG"))
    fprintf(stderr, "R %s %.2f %.2f %d\n", what, log2(predicted) - log2(measured), log2(measured), last->is_dependent);
  if (!(predicted >= (measured - slack) / 1.05 && predicted <= most * measured + slack))
    fail_msg("%s: RMS predicted 2^%.2f, measured 2^%.2f%s", what, log2(predicted), log2(measured),
             last->is_dependent ? ", dependent operands" : "");
}

static void run_one(const scheme_t *s, uint64_t seed) {
  machine_t m;
  start(&m, s, seed);
  const uint32_t operations = 1 + below(&m, OPERATIONS_MAX);
  for (uint32_t done = 0, tries = 0; done < operations && tries < 4 * OPERATIONS_MAX; ++tries) done += do_one(&m);
  const item_t *last = &m.items[m.count - 1];
  char what[64];
  snprintf(what, sizeof what, "program of seed %" PRIu64, seed);
  if (fits(&m, last->peak, scale_log2(last), last->value->type.depth)) check_last(s, what, last);
  if (seed % 4 == 0) check_program(&m, last);
  finish(&m);
}

static void run_many(hx_params_t *params, uint64_t first, uint64_t count) {
  scheme_t s;
  scheme_open(&s, params, steps, HX_COUNT_OF(steps));
  for (uint64_t i = 0; i < count; ++i) run_one(&s, first + i);
  scheme_close(&s);
}

static void random_programs_are_right_in_small_rings(void **state) {
  (void)state;
  if (is_long) skip();
  run_many(case_set_make(10, 55, 40, 5, 56, 1, 6, "2^40"), 1, 1700);
  run_many(case_set_make(11, 55, 40, 5, 56, 2, 3, "2^40"), 100001, 400);
  run_many(case_set_make(12, 55, 40, 5, 56, 2, 3, "2^40"), 300001, 150);
}

static void random_programs_are_right_at_n13(void **state) {
  (void)state;
  if (!is_long) skip();
  run_many(case_set_make(13, 55, 40, 5, 56, 2, 3, "2^40"), 200001, 400);
}

int main(int argc, char **argv) {
  hx_threads_set(1);  // rings are too small to share, and other tests run beside
  is_long = argc > 1 && strcmp(argv[1], "long") == 0;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_programs_are_right_in_small_rings),
      cmocka_unit_test(random_programs_are_right_at_n13),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
