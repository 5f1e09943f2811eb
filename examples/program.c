// SPDX-License-Identifier: Apache-2.0
// A program: built step by step, printed, linked once to a backend, run as often as one likes.
#include "examples/example.h"

// (x y) rotated by one slot, plus a constant vector.
static int build(const hx_params_t *params, hx_builder_t **out_builder, hx_program_t **out) {
  hx_builder_t *builder = NULL;
  hx_node_t *in[2], *product = NULL, *two = NULL, *rescaled = NULL, *turned = NULL, *sum = NULL;
  CHECK(hx_builder_create(params, &builder, report));
  CHECK(hx_builder_input(builder, "x", NULL, &in[0], report));
  CHECK(hx_builder_input(builder, "y", NULL, &in[1], report));
  CHECK(hx_builder_op(builder, "ckks.mul", in, 2, NULL, &product, 1, report));
  CHECK(hx_builder_op(builder, "ckks.relinearize", &product, 1, NULL, &two, 1, report));
  CHECK(hx_builder_op(builder, "ckks.rescale", &two, 1, NULL, &rescaled, 1, report));
  CHECK(hx_builder_op(builder, "ckks.rotate", &rescaled, 1, "{step = 1 : i64}", &turned, 1, report));
  CHECK(hx_builder_op(builder, "ckks.add_scalar", &turned, 1, "{value = 0.5 : f64}", &sum, 1, report));
  CHECK(hx_builder_output(builder, "result", sum, report));
  CHECK(hx_builder_finish(builder, out, report));
  *out_builder = builder;
  return 0;
}

static int show(const hx_program_t *program) {
  char *text = NULL;
  CHECK(hx_program_print(program, HX_PRINT_SHORT, &text, report));
  fputs(text, stdout);
  hx_text_free(text);
  return 0;
}

// Keys for exactly what the program needs.
static int make_keys(const hx_program_t *program, session_t *s) {
  hx_needs_t *needs = NULL;
  CHECK(hx_program_needs(program, s->params, &needs, report));
  const hx_program_needs_t *n = hx_needs_get(needs);
  const hx_keygen_options_t options = {
      .parts = HX_KEYS_PUBLIC | n->parts, .rotations = n->steps, .rotation_count = n->element_count, .slots = n->slots};
  CHECK(hx_keys_generate(s->params, &options, &s->keys, report));
  hx_needs_release(needs);
  return session_compute(s);
}

static int run(session_t *s, const hx_builder_t *builder, const hx_program_t *program) {
  hx_compilation_t *compilation = NULL;
  hx_executable_t *executable = NULL;
  hx_value_t *x = NULL, *y = NULL, *result = NULL;
  CHECK(hx_compilation_create(program, s->params, &compilation, report));
  CHECK(hx_builder_bind(builder, compilation, report));
  CHECK(hx_compilation_bind_keys(compilation, s->keys, report));
  CHECK(hx_link(compilation, s->backend, NULL, &executable, report));
  if (session_encrypt(s, (const double[]){1, 2, 3, 4}, 4, &x)) return 1;
  if (session_encrypt(s, (const double[]){0.5, -1, 0.25, 1}, 4, &y)) return 1;
  const hx_value_t *const inputs[] = {x, y};
  for (int round = 0; round < 3; ++round) CHECK(hx_run(executable, inputs, &result, report));  // result is reused
  double found[3];
  if (session_decrypt(s, result, found, 3)) return 1;
  hx_run_stats_t stats;
  hx_executable_stats(executable, &stats);
  printf("result %.4f %.4f %.4f\n%llu calls a run, %llu runs\n", found[0], found[1], found[2],
         (unsigned long long)stats.calls, (unsigned long long)stats.runs);
  hx_value_release(x);
  hx_value_release(y);
  hx_value_release(result);
  hx_executable_release(executable);
  hx_compilation_release(compilation);
  return 0;
}

int main(void) {
  session_t s = {0};
  hx_builder_t *builder = NULL;
  hx_program_t *program = NULL;
  report = hx_report_create();
  CHECK(hx_params_preset("n13-d3-s40", &s.params, report));
  if (build(s.params, &builder, &program) || show(program) || make_keys(program, &s)) return 1;
  if (run(&s, builder, program)) return 1;
  hx_builder_release(builder);
  hx_program_release(program);
  session_close(&s);
  hx_report_release(report);
  return 0;
}
