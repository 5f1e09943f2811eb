// SPDX-License-Identifier: Apache-2.0
// Capture: the function that runs eagerly becomes a program with the same bits; what cannot be recorded is named.
#include "heliox/capture.h"
#include "tests/unit/link_fixture.h"

typedef struct context {
  const hx_value_t *weight;
  const hx_keys_t *keys;
  hx_value_t *kept;  // an output that outlives its capture
} context_t;

#define TRY(expression_)                         \
  do {                                           \
    const hx_status_t status_ = (expression_);   \
    if (status_ != HX_STATUS_OK) return status_; \
  } while (0)

// (x * w + x) rescaled and rotated; and x doubled as often as the static number says.
static hx_status_t compute(hx_engine_t *engine, const hx_value_t *const *inputs, hx_value_t **outputs, void *argument,
                           hx_report_t *report) {
  const context_t *context = argument;
  hx_value_t *product = NULL, *rescaled = NULL, *sum = hx_value_retain(inputs[0]);
  hx_status_t status = hx_engine_mul_plain(engine, inputs[0], context->weight, &product, report);
  if (status == HX_STATUS_OK) status = hx_engine_rescale(engine, product, &rescaled, report);
  if (status == HX_STATUS_OK) status = hx_engine_rotate(engine, rescaled, 1, &outputs[0], report);
  for (int64_t i = 0; i < hx_value_get_integer(inputs[1]) && status == HX_STATUS_OK; ++i) {
    hx_value_t *next = NULL;
    status = hx_engine_add(engine, sum, sum, &next, report);
    hx_value_release(sum);
    sum = next;
  }
  if (status == HX_STATUS_OK) {
    outputs[1] = sum;
  } else {
    hx_value_release(sum);
    hx_value_release(outputs[0]);
    outputs[0] = NULL;
  }
  hx_value_release(product);
  hx_value_release(rescaled);
  return status;
}

static int setup(void **state) {
  bench_t *bench = calloc(1, sizeof *bench);
  bench_open(bench, FAKE_ALL);
  *state = bench;
  return 0;
}

static int teardown(void **state) {
  bench_t *bench = *state;
  bench_close(bench);
  free(bench);
  return 0;
}

static hx_value_t *weight_of(const bench_t *bench) {
  double values[SLOTS];
  fill_values(values, SLOTS, 9);
  return encode_values(bench, values, SLOTS, false);
}

static hx_value_t *number(const bench_t *bench, int64_t value) {
  hx_value_t *made = NULL;
  must(hx_value_integer(bench->params, "i64", value, &made, bench->report), bench->report);
  return made;
}

static void captured_function_gives_the_bits_of_the_eager_one(void **state) {
  bench_t *bench = *state;
  context_t context = {.weight = weight_of(bench)};
  hx_value_t *x = encrypt_seed(bench, 1), *turns = number(bench, 3);
  hx_engine_t *engine = NULL;
  must(hx_engine_create(bench->params, bench->keys, bench->backend, &engine, bench->report), bench->report);
  const hx_value_t *inputs[] = {x, turns};
  hx_value_t *eager[2] = {NULL, NULL}, *compiled[2] = {NULL, NULL};
  must(compute(engine, inputs, eager, &context, bench->report), bench->report);
  const hx_input_spec_t specs[] = {{.name = "x", .type = "!ckks.ciphertext<>"}, {.name = "turns", .number = turns}};
  static const char *const outputs[] = {"turned", NULL};
  const hx_named_value_t materials[] = {{.name = "weight", .value = (hx_value_t *)(uintptr_t)context.weight}};
  const hx_capture_spec_t spec = {.function = compute,
                                  .argument = &context,
                                  .inputs = specs,
                                  .input_count = 2,
                                  .output_count = 2,
                                  .output_names = outputs,
                                  .materials = materials,
                                  .material_count = 1};
  hx_compilation_t *compilation = NULL;
  must(hx_capture(bench->params, &spec, &compilation, bench->report), bench->report);
  must(hx_compilation_bind_keys(compilation, bench->keys, bench->report), bench->report);
  const hx_port_t *ports;
  assert_int_equal(hx_compilation_materials(compilation, &ports), 1);
  assert_string_equal(ports[0].name, "weight");
  assert_int_equal(hx_program_inputs(hx_compilation_program(compilation), &ports), 1);
  assert_string_equal(ports[0].name, "x");
  assert_string_equal(ports[0].role, "ciphertext");
  assert_int_equal(hx_program_outputs(hx_compilation_program(compilation), &ports), 2);
  assert_string_equal(ports[0].name, "turned");
  assert_string_equal(ports[1].name, "result1");
  hx_executable_t *executable = NULL;
  must(hx_link(compilation, bench->backend, NULL, &executable, bench->report), bench->report);
  must(hx_run(executable, inputs, compiled, bench->report), bench->report);
  for (size_t i = 0; i < 2; ++i) {
    assert_true(hx_value_equal(eager[i], compiled[i]));
    hx_value_release(eager[i]);
    hx_value_release(compiled[i]);
  }
  // What is printed is a program like any other.
  char *text = NULL;
  must(hx_program_print(hx_compilation_program(compilation), HX_PRINT_SHORT, &text, bench->report), bench->report);
  hx_program_release(link_parse(text));
  hx_text_free(text);
  hx_executable_release(executable);
  hx_compilation_release(compilation);
  hx_engine_release(engine);
  hx_value_release(x);
  hx_value_release(turns);
  hx_value_release((hx_value_t *)(uintptr_t)context.weight);
}

static hx_status_t encrypts(hx_engine_t *engine, const hx_value_t *const *inputs, hx_value_t **outputs, void *argument,
                            hx_report_t *report) {
  (void)engine;
  const context_t *context = argument;
  return hx_encrypt(context->keys, inputs[0], false, &outputs[0], report);
}

static hx_status_t decrypts(hx_engine_t *engine, const hx_value_t *const *inputs, hx_value_t **outputs, void *argument,
                            hx_report_t *report) {
  (void)engine;
  const context_t *context = argument;
  return hx_decrypt(context->keys, inputs[0], &outputs[0], report);
}

static hx_status_t draws_keys(hx_engine_t *engine, const hx_value_t *const *inputs, hx_value_t **outputs,
                              void *argument, hx_report_t *report) {
  (void)inputs, (void)outputs, (void)argument;
  assert_true(hx_engine_is_capturing(engine));
  hx_keys_t *keys = NULL;
  const hx_keygen_options_t options = {.parts = HX_KEYS_RELIN};
  return hx_keys_generate(hx_engine_params(engine), &options, &keys, report);
}

static hx_status_t engine_draws_keys(hx_engine_t *engine, const hx_value_t *const *inputs, hx_value_t **outputs,
                                     void *argument, hx_report_t *report) {
  (void)inputs, (void)outputs, (void)argument;
  hx_keys_t *keys = NULL;
  const hx_keygen_options_t options = {.parts = HX_KEYS_RELIN};
  return hx_engine_generate_keys(engine, &options, &keys, report);
}

static hx_status_t engine_encrypts(hx_engine_t *engine, const hx_value_t *const *inputs, hx_value_t **outputs,
                                   void *argument, hx_report_t *report) {
  (void)inputs;
  const context_t *context = argument;
  const double one = 1;
  hx_value_t *constant = NULL;
  TRY(hx_engine_encode(engine, &one, 1, false, NULL, &constant, report));
  const hx_status_t status = hx_engine_encrypt(engine, context->keys, constant, false, &outputs[0], report);
  hx_value_release(constant);
  return status;
}

static hx_status_t decodes(hx_engine_t *engine, const hx_value_t *const *inputs, hx_value_t **outputs, void *argument,
                           hx_report_t *report) {
  (void)engine, (void)outputs, (void)argument;
  double numbers[2 * SLOTS];
  return hx_decode(inputs[0], numbers, report);
}

static hx_status_t gives_nothing(hx_engine_t *engine, const hx_value_t *const *inputs, hx_value_t **outputs,
                                 void *argument, hx_report_t *report) {
  (void)engine, (void)inputs, (void)outputs, (void)argument, (void)report;
  return HX_STATUS_OK;
}

static hx_status_t keeps(hx_engine_t *engine, const hx_value_t *const *inputs, hx_value_t **outputs, void *argument,
                         hx_report_t *report) {
  context_t *context = argument;
  TRY(hx_engine_neg(engine, inputs[0], &outputs[0], report));
  context->kept = hx_value_retain(outputs[0]);
  return HX_STATUS_OK;
}

static hx_status_t uses_kept(hx_engine_t *engine, const hx_value_t *const *inputs, hx_value_t **outputs, void *argument,
                             hx_report_t *report) {
  const context_t *context = argument;
  return hx_engine_add(engine, inputs[0], context->kept, &outputs[0], report);
}

static hx_status_t uses_secret(hx_engine_t *engine, const hx_value_t *const *inputs, hx_value_t **outputs,
                               void *argument, hx_report_t *report) {
  const context_t *context = argument;
  return hx_engine_add_plain(engine, inputs[0], context->weight, &outputs[0], report);
}

static void must_refuse(const bench_t *bench, hx_function_t function, context_t *context, const char *type,
                        hx_code_t code, const char *piece) {
  const hx_input_spec_t input = {.type = type};
  const hx_capture_spec_t spec = {
      .function = function, .argument = context, .inputs = &input, .input_count = 1, .output_count = 1};
  hx_compilation_t *compilation = NULL;
  assert_int_not_equal(hx_capture(bench->params, &spec, &compilation, bench->report), HX_STATUS_OK);
  assert_null(compilation);
  must_fault(bench->report, code, 0, piece);
  hx_report_clear(bench->report);
}

static void what_cannot_be_recorded_is_refused_by_name(void **state) {
  bench_t *bench = *state;
  double values[SLOTS] = {0};
  context_t context = {.keys = bench->keys};
  must_refuse(bench, encrypts, &context, "!ckks.plaintext<>", HX_CODE_UNSUPPORTED, "ckks.encrypt draws at random");
  must_refuse(bench, decrypts, &context, "!ckks.ciphertext<>", HX_CODE_UNSUPPORTED, "ckks.decrypt needs a secret");
  must_refuse(bench, draws_keys, &context, "!ckks.ciphertext<>", HX_CODE_UNSUPPORTED,
              "hx_keys_generate draws keys at random");
  must_refuse(bench, engine_draws_keys, &context, "!ckks.ciphertext<>", HX_CODE_UNSUPPORTED,
              "hx_engine_generate_keys is random");
  must_refuse(bench, engine_encrypts, &context, "!ckks.ciphertext<>", HX_CODE_UNSUPPORTED,
              "hx_engine_encrypt is random");
  must_refuse(bench, decodes, &context, "!ckks.plaintext<>", HX_CODE_UNSUPPORTED, "ckks.decode gives numbers");
  must_refuse(bench, gives_nothing, &context, "!ckks.ciphertext<>", HX_CODE_INVALID_ARGUMENT,
              "gave no value as output 0");
  must_refuse(bench, gives_nothing, &context, "i64", HX_CODE_TYPE, "input 0 of a captured function has type i64");
  context.weight = encode_values(bench, values, SLOTS, true);
  must_refuse(bench, uses_secret, &context, "!ckks.ciphertext<>", HX_CODE_SECRET, "an operand is secret");
  hx_value_release((hx_value_t *)(uintptr_t)context.weight);
}

static void recorded_values_are_of_their_capture_alone(void **state) {
  bench_t *bench = *state;
  context_t context = {0};
  const hx_input_spec_t input = {.type = "!ckks.ciphertext<>"};
  const hx_capture_spec_t spec = {
      .function = keeps, .argument = &context, .inputs = &input, .input_count = 1, .output_count = 1};
  hx_compilation_t *compilation = NULL;
  must(hx_capture(bench->params, &spec, &compilation, bench->report), bench->report);
  hx_compilation_release(compilation);
  must_refuse(bench, uses_kept, &context, "!ckks.ciphertext<>", HX_CODE_INVALID_ARGUMENT, "by another capture");
  // An engine that computes does not take it, nor does anything that wants residues.
  hx_engine_t *engine = NULL;
  hx_value_t *out = NULL, *kept = context.kept;
  must(hx_engine_create(bench->params, bench->keys, bench->backend, &engine, bench->report), bench->report);
  assert_int_not_equal(hx_engine_neg(engine, kept, &out, bench->report), HX_STATUS_OK);
  must_fault(bench->report, HX_CODE_UNSUPPORTED, 0, "this engine computes");
  assert_int_not_equal(hx_value_to_host(kept, &out, bench->report), HX_STATUS_OK);
  assert_int_not_equal(hx_value_to_device(kept, bench->backend, &out, bench->report), HX_STATUS_OK);
  const hx_value_t *const values[] = {kept};
  assert_int_not_equal(hx_value_stack(values, 1, &out, bench->report), HX_STATUS_OK);
  const hx_named_value_t named = {.name = "v", .value = kept};
  assert_int_not_equal(hx_values_save(&named, 1, false, "/tmp/heliox-never", bench->report), HX_STATUS_OK);
  hx_executable_t *executable = link_text(
      bench,
      MODULE("%x: " CT0, CT0, CT, "%y = \"ckks.neg\"(%x) : (" CT0 ") -> " CT "\n\"func.return\"(%y) : (" CT ") -> ()"));
  assert_int_not_equal(hx_run(executable, values, &out, bench->report), HX_STATUS_OK);
  must_fault(bench->report, HX_CODE_UNSUPPORTED, 0, "hx_run computes");
  assert_null(out);
  assert_true(hx_value_equal(kept, kept));
  assert_int_equal(hx_value_depth(kept), 0);
  hx_executable_release(executable);
  hx_engine_release(engine);
  hx_value_release(kept);
  hx_report_clear(bench->report);
}

static void capture_fails_cleanly_for_want_of_memory(void **state) {
  bench_t *bench = *state;
  context_t context = {.weight = weight_of(bench)};
  hx_value_t *turns = number(bench, 1);
  const hx_input_spec_t specs[] = {{.name = "x", .type = "!ckks.ciphertext<>"}, {.name = "turns", .number = turns}};
  const hx_capture_spec_t spec = {
      .function = compute, .argument = &context, .inputs = specs, .input_count = 2, .output_count = 2};
  bool failed = false, done = false;
  for (uint64_t n = 1; !done && n < 5000; n += 1 + n / 20) {
    hx_compilation_t *compilation = NULL;
    hx_alloc_fail_at(n);
    const hx_status_t status = hx_capture(bench->params, &spec, &compilation, NULL);
    hx_alloc_fail_at(0);
    failed = failed || status != HX_STATUS_OK;
    done = status == HX_STATUS_OK;
    assert_true(done == (compilation != NULL));
    hx_compilation_release(compilation);
  }
  assert_true(failed && done);
  hx_value_release(turns);
  hx_value_release((hx_value_t *)(uintptr_t)context.weight);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(captured_function_gives_the_bits_of_the_eager_one, setup, teardown),
      cmocka_unit_test_setup_teardown(what_cannot_be_recorded_is_refused_by_name, setup, teardown),
      cmocka_unit_test_setup_teardown(recorded_values_are_of_their_capture_alone, setup, teardown),
      cmocka_unit_test_setup_teardown(capture_fails_cleanly_for_want_of_memory, setup, teardown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
