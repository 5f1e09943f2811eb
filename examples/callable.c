// SPDX-License-Identifier: Apache-2.0
// One C function, three ways: called with an engine it computes; captured it is a program; as a callable it is
// captured, transformed and linked at its first call, and only run at the next ones.
#include "examples/example.h"

// x^2 + 3 x, as anyone writes it. The square is at another depth and scale than 3 x: hx_engine_match brings them
// together.
static hx_status_t polynomial(hx_engine_t *engine, const hx_value_t *const *inputs, hx_value_t **outputs,
                              void *argument, hx_report_t *faults) {
  enum { THREE, TWO, SQUARE, TRIPLE, LEFT, RIGHT, COUNT };
  hx_value_t *v[COUNT] = {NULL};
  (void)argument;
  hx_status_t status = hx_engine_square(engine, inputs[0], &v[THREE], faults);
  if (status == HX_STATUS_OK) status = hx_engine_relinearize(engine, v[THREE], &v[TWO], faults);
  if (status == HX_STATUS_OK) status = hx_engine_rescale(engine, v[TWO], &v[SQUARE], faults);
  if (status == HX_STATUS_OK) status = hx_engine_mul_integer(engine, inputs[0], 3, &v[TRIPLE], faults);
  if (status == HX_STATUS_OK) {
    status = hx_engine_match(engine, v[SQUARE], v[TRIPLE], &v[LEFT], &v[RIGHT], faults);
  }
  if (status == HX_STATUS_OK) status = hx_engine_add(engine, v[LEFT], v[RIGHT], &outputs[0], faults);
  for (int i = 0; i < COUNT; ++i) hx_value_release(v[i]);
  return status;
}

static int show(const session_t *s, const char *how, const hx_value_t *value) {
  double found[3];
  if (session_decrypt(s, value, found, 3)) return 1;
  printf("%-10s %.4f %.4f %.4f\n", how, found[0], found[1], found[2]);
  return 0;
}

static int run(const session_t *s, const hx_value_t *x) {
  hx_value_t *eager = NULL, *called = NULL;
  CHECK(polynomial(s->engine, &x, &eager, NULL, report));
  if (show(s, "eager", eager)) return 1;

  const hx_input_spec_t input = {.name = "x", .role = "ciphertext"};
  const hx_callable_spec_t spec = {.function = polynomial,
                                   .params = s->params,
                                   .keys = s->keys,
                                   .backend = s->backend,
                                   .inputs = &input,
                                   .input_count = 1,
                                   .output_count = 1};
  hx_callable_t *callable = NULL;
  CHECK(hx_callable_create(&spec, &callable, report));
  for (int round = 0; round < 2; ++round) {  // the second call finds the first one's work
    hx_value_release(called);
    called = NULL;
    CHECK(hx_callable_call(callable, &x, &called, report));
  }
  if (show(s, "callable", called)) return 1;
  hx_specialization_t first;
  if (!hx_callable_specialization(callable, 0, &first)) return fprintf(stderr, "nothing was prepared\n"), 1;
  printf("%zu specialization, linked to the passes' program\nequal bits: %s\n", hx_callable_specializations(callable),
         hx_value_equal(eager, called) ? "yes" : "no");
  hx_callable_release(callable);
  hx_value_release(eager);
  hx_value_release(called);
  return 0;
}

int main(void) {
  session_t s;
  hx_value_t *x = NULL;
  report = hx_report_create();
  const hx_keygen_options_t options = {.parts = HX_KEYS_PUBLIC | HX_KEYS_RELIN};
  if (session_open(&s, "n13-d3-s40", &options)) return 1;
  if (session_encrypt(&s, (const double[]){1, -0.5, 0.25}, 3, &x) || run(&s, x)) return 1;
  hx_value_release(x);
  session_close(&s);
  hx_report_release(report);
  return 0;
}
