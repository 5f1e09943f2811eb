// SPDX-License-Identifier: Apache-2.0
// Callables: specializations by signature, preparation, other backends, calls inside captures, threads.
#include <pthread.h>

#include "core/compile/callable.h"
#include "heliox/callable.h"
#include "heliox/passes.h"
#include "tests/unit/link_fixture.h"

typedef struct context {
  const hx_value_t *weight;
  hx_callable_t *inner;
  atomic_int runs;
} context_t;

// (x + y) * w, doubled as often as the static number says; through the inner callable where there is one.
static hx_status_t compute(hx_engine_t *engine, const hx_value_t *const *inputs, hx_value_t **outputs, void *argument,
                           hx_report_t *report) {
  context_t *context = argument;
  context->runs += 1;
  hx_value_t *sum = NULL;
  hx_status_t status = HX_STATUS_OK;
  if (context->inner != NULL) {
    status = hx_callable_call(context->inner, inputs, &sum, report);
  } else {
    status = hx_engine_add(engine, inputs[0], inputs[1], &sum, report);
  }
  hx_value_t *value = NULL;
  if (status == HX_STATUS_OK) status = hx_engine_mul_plain(engine, sum, context->weight, &value, report);
  hx_value_release(sum);
  for (int64_t i = 0; status == HX_STATUS_OK && i < hx_value_get_integer(inputs[2]); ++i) {
    hx_value_t *next = NULL;
    status = hx_engine_add(engine, value, value, &next, report);
    hx_value_release(value);
    value = next;
  }
  if (status == HX_STATUS_OK) outputs[0] = value;
  return status;
}

#define SUM_PROGRAM                             \
  MODULE("%x: " CT ", %y: " CT, CT ", " CT, CT, \
         "%s = \"ckks.add\"(%x, %y) : (" CT ", " CT ") -> " CT "\n\"func.return\"(%s) : (" CT ") -> ()")

typedef struct scene {
  bench_t bench;
  context_t context;
  hx_value_t *x, *y, *deep;
  hx_value_t *numbers[3];
  fake_plugin_t *second;  // values that it read hold its device
} scene_t;

static hx_value_t *drop(const scene_t *scene, const hx_value_t *value, uint32_t depth) {
  hx_engine_t *engine = NULL;
  hx_value_t *out = NULL;
  must(hx_engine_create(scene->bench.params, NULL, scene->bench.backend, &engine, scene->bench.report),
       scene->bench.report);
  must(hx_engine_level_drop(engine, value, depth, &out, scene->bench.report), scene->bench.report);
  hx_engine_release(engine);
  return out;
}

static int setup(void **state) {
  scene_t *scene = calloc(1, sizeof *scene);
  bench_open(&scene->bench, FAKE_ALL);
  double values[SLOTS];
  fill_values(values, SLOTS, 9);
  scene->context.weight = encode_values(&scene->bench, values, SLOTS, false);
  scene->x = encrypt_seed(&scene->bench, 1);
  scene->y = encrypt_seed(&scene->bench, 2);
  scene->deep = drop(scene, scene->x, 2);
  for (int64_t i = 0; i < 3; ++i)
    must(hx_value_integer(scene->bench.params, "i64", i, &scene->numbers[i], scene->bench.report), scene->bench.report);
  *state = scene;
  return 0;
}

static int teardown(void **state) {
  scene_t *scene = *state;
  hx_value_release(scene->x);
  hx_value_release(scene->y);
  hx_value_release(scene->deep);
  for (size_t i = 0; i < 3; ++i) hx_value_release(scene->numbers[i]);
  hx_value_release((hx_value_t *)(uintptr_t)scene->context.weight);
  if (scene->second != NULL) fake_plugin_destroy(scene->second);
  bench_close(&scene->bench);
  free(scene);
  return 0;
}

static const hx_input_spec_t inputs_of_compute[] = {
    {.name = "x", .role = "ciphertext"}, {.name = "y", .role = "ciphertext"}, {.name = "turns", .role = "static"}};

static hx_callable_spec_t spec_of(scene_t *scene) {
  return (hx_callable_spec_t){.function = compute,
                              .argument = &scene->context,
                              .params = scene->bench.params,
                              .backend = scene->bench.backend,
                              .inputs = inputs_of_compute,
                              .input_count = 3,
                              .output_count = 1};
}

static hx_callable_t *callable_of(scene_t *scene, const hx_callable_spec_t *spec) {
  hx_callable_t *callable = NULL;
  must(hx_callable_create(spec, &callable, scene->bench.report), scene->bench.report);
  return callable;
}

static hx_value_t *call(scene_t *scene, hx_callable_t *callable, const hx_value_t *x, const hx_value_t *y,
                        size_t turns) {
  const hx_value_t *inputs[] = {x, y, scene->numbers[turns]};
  hx_value_t *outputs[] = {NULL};
  must(hx_callable_call(callable, inputs, outputs, scene->bench.report), scene->bench.report);
  return outputs[0];
}

static hx_value_t *eager(scene_t *scene, const hx_value_t *x, const hx_value_t *y, size_t turns) {
  hx_engine_t *engine = NULL;
  must(hx_engine_create(scene->bench.params, NULL, scene->bench.backend, &engine, scene->bench.report),
       scene->bench.report);
  const hx_value_t *inputs[] = {x, y, scene->numbers[turns]};
  hx_value_t *outputs[] = {NULL};
  hx_callable_t *inner = scene->context.inner;
  scene->context.inner = NULL;
  must(compute(engine, inputs, outputs, &scene->context, scene->bench.report), scene->bench.report);
  scene->context.inner = inner;
  hx_engine_release(engine);
  return outputs[0];
}

static void must_equal(hx_value_t *a, hx_value_t *b) {
  assert_true(hx_value_equal(a, b));
  hx_value_release(a);
  hx_value_release(b);
}

static void creation_does_no_work(void **state) {
  scene_t *scene = *state;
  const hx_callable_spec_t spec = spec_of(scene);
  const unsigned prepared = fake.prepared_alive;
  hx_callable_t *callable = callable_of(scene, &spec);
  assert_int_equal(scene->context.runs, 0);
  assert_int_equal(fake.prepared_alive, prepared);
  assert_int_equal(hx_callable_specializations(callable), 0);
  assert_int_equal(hx_callable_inputs(callable), 3);
  assert_int_equal(hx_callable_outputs(callable), 1);
  hx_callable_release(callable);
}

static void calls_are_captured_once_for_each_signature(void **state) {
  scene_t *scene = *state;
  const hx_callable_spec_t spec = spec_of(scene);
  hx_callable_t *callable = callable_of(scene, &spec);
  must_equal(call(scene, callable, scene->x, scene->y, 1), eager(scene, scene->x, scene->y, 1));
  const int runs = scene->context.runs;
  // Other contents: the same specialization. Another static number, another state: others.
  must_equal(call(scene, callable, scene->y, scene->x, 1), call(scene, callable, scene->x, scene->y, 1));
  assert_int_equal(scene->context.runs, runs);
  assert_int_equal(hx_callable_specializations(callable), 1);
  must_equal(call(scene, callable, scene->x, scene->y, 2), eager(scene, scene->x, scene->y, 2));
  assert_int_equal(hx_callable_specializations(callable), 2);
  hx_specialization_t found;
  assert_true(hx_callable_specialization(callable, 1, &found));
  assert_non_null(strstr(found.signature, ", 2)"));
  assert_ptr_equal(found.backend, scene->bench.backend);
  assert_non_null(found.executable);
  assert_string_equal(found.pipeline, hx_pipeline_default());
  assert_false(hx_callable_specialization(callable, 2, &found));
  hx_callable_clear(callable);
  assert_int_equal(hx_callable_specializations(callable), 0);
  must_equal(call(scene, callable, scene->x, scene->y, 1), eager(scene, scene->x, scene->y, 1));
  hx_callable_release(callable);
}

static void errors_of_preparation_leave_nothing_behind(void **state) {
  scene_t *scene = *state;
  const hx_callable_spec_t spec = spec_of(scene);
  hx_callable_t *callable = callable_of(scene, &spec);
  const hx_value_t *uneven[] = {scene->x, scene->deep, scene->numbers[0]},
                   *missing[] = {scene->x, NULL, scene->numbers[0]}, *no_number[] = {scene->x, scene->y, scene->y};
  hx_value_t *outputs[] = {NULL};
  assert_int_not_equal(hx_callable_call(callable, uneven, outputs, scene->bench.report), HX_STATUS_OK);
  must_fault(scene->bench.report, HX_CODE_DEPTH_MISMATCH, 0, "ckks.add");
  assert_int_not_equal(hx_callable_call(callable, missing, outputs, scene->bench.report), HX_STATUS_OK);
  must_fault(scene->bench.report, HX_CODE_INPUT, 0, "argument 1");
  assert_int_not_equal(hx_callable_call(callable, no_number, outputs, scene->bench.report), HX_STATUS_OK);
  must_fault(scene->bench.report, HX_CODE_TYPE, 0, "argument 2 is no number");
  assert_null(outputs[0]);
  assert_int_equal(hx_callable_specializations(callable), 0);
  hx_report_clear(scene->bench.report);
  hx_callable_release(callable);
}

static void missing_specialization_is_an_error_where_asked_for(void **state) {
  scene_t *scene = *state;
  hx_callable_spec_t spec = spec_of(scene);
  spec.on_miss = HX_ON_MISS_ERROR;
  hx_callable_t *callable = callable_of(scene, &spec);
  const hx_value_t *inputs[] = {scene->x, scene->y, scene->numbers[1]};
  hx_value_t *outputs[] = {NULL};
  assert_int_equal(hx_callable_call(callable, inputs, outputs, scene->bench.report),
                   hx_code_info(HX_CODE_UNPREPARED)->status);
  must_fault(scene->bench.report, HX_CODE_UNPREPARED, 0, "nothing is prepared for (!ckks.ciphertext<");
  assert_null(outputs[0]);
  assert_int_equal(scene->context.runs, 0);
  hx_report_clear(scene->bench.report);
  const unsigned executes = fake.executes;
  must(hx_callable_prepare(callable, inputs, scene->bench.report), scene->bench.report);
  assert_int_equal(fake.executes, executes);
  must(hx_callable_prepare(callable, inputs, scene->bench.report), scene->bench.report);
  assert_int_equal(scene->context.runs, 1);
  must_equal(call(scene, callable, scene->x, scene->y, 1), eager(scene, scene->x, scene->y, 1));
  hx_callable_release(callable);
}

static void another_backend_takes_programs_as_they_are(void **state) {
  scene_t *scene = *state;
  hx_callable_spec_t spec = spec_of(scene);
  spec.on_miss = HX_ON_MISS_ERROR;
  hx_callable_t *callable = callable_of(scene, &spec), *other = NULL;
  const hx_value_t *inputs[] = {scene->x, scene->y, scene->numbers[1]};
  must(hx_callable_prepare(callable, inputs, scene->bench.report), scene->bench.report);
  // A second plugin with primitives alone: what it lacks is lowered when it is linked.
  fake_plugin_t *plugin = fake_plugin_create("beta");
  fake_plugin_add_tiers(plugin, "small", FAKE_PRIMITIVES);
  hx_backend_t *backend = fake_backend(plugin);
  must(hx_callable_with_backend(callable, backend, &other, scene->bench.report), scene->bench.report);
  const int runs = scene->context.runs;
  hx_specialization_t first, second;
  assert_int_equal(hx_callable_specializations(other), 1);
  assert_true(hx_callable_specialization(callable, 0, &first) && hx_callable_specialization(other, 0, &second));
  assert_ptr_equal(second.backend, backend);
  assert_null(second.executable);
  assert_ptr_equal(first.program, second.program);
  hx_value_t *outputs[] = {NULL};
  assert_int_not_equal(hx_callable_call(other, inputs, outputs, scene->bench.report), HX_STATUS_OK);
  hx_report_clear(scene->bench.report);
  must(hx_callable_prepare(other, inputs, scene->bench.report), scene->bench.report);
  assert_int_equal(scene->context.runs, runs);  // nothing was captured again
  must_equal(call(scene, other, scene->x, scene->y, 1), call(scene, callable, scene->x, scene->y, 1));
  // Clearing one leaves the other its programs; later ones are each its own.
  hx_callable_clear(callable);
  assert_int_equal(hx_callable_specializations(other), 1);
  must_equal(call(scene, other, scene->x, scene->y, 1), eager(scene, scene->x, scene->y, 1));
  hx_callable_release(callable);
  hx_callable_release(other);
  hx_backend_release(backend);
  scene->second = plugin;
}

static const char *choose(void *argument, const hx_signature_t *signature) {
  int64_t number = -1;
  *(int *)argument += 1;
  assert_int_equal(hx_signature_count(signature), 3);
  assert_non_null(strstr(hx_signature_type(signature, 0), "!ckks.ciphertext<batch = []"));
  assert_false(hx_signature_number(signature, 0, &number));
  assert_true(hx_signature_number(signature, 2, &number));
  return number == 0 ? "" : number == 1 ? "dve" : NULL;
}

static void pipelines_are_chosen_by_signature(void **state) {
  scene_t *scene = *state;
  hx_callable_spec_t spec = spec_of(scene);
  int asked = 0;
  spec.choose_pipeline = choose;
  spec.choose_argument = &asked;
  hx_callable_t *callable = callable_of(scene, &spec);
  for (size_t turns = 0; turns < 3; ++turns) {
    must_equal(call(scene, callable, scene->x, scene->y, turns), eager(scene, scene->x, scene->y, turns));
    hx_specialization_t found;
    assert_true(hx_callable_specialization(callable, turns, &found));
    assert_string_equal(found.pipeline, turns == 0 ? "" : turns == 1 ? "dve" : hx_pipeline_default());
  }
  assert_int_equal(asked, 3);
  hx_callable_release(callable);
  spec.pipeline = "dve";
  assert_int_not_equal(hx_callable_create(&spec, &callable, scene->bench.report), HX_STATUS_OK);
  spec.choose_pipeline = NULL;
  spec.pipeline = "no-such-pass";
  callable = callable_of(scene, &spec);
  const hx_value_t *inputs[] = {scene->x, scene->y, scene->numbers[1]};
  assert_int_not_equal(hx_callable_prepare(callable, inputs, scene->bench.report), HX_STATUS_OK);
  must_fault(scene->bench.report, HX_CODE_PASS, 0, "no-such-pass");
  hx_report_clear(scene->bench.report);
  hx_callable_release(callable);
}

static void programs_take_what_is_open_from_the_arguments(void **state) {
  scene_t *scene = *state;
  hx_program_t *program = link_parse(SUM_PROGRAM);
  const hx_callable_spec_t spec = {.program = program, .params = scene->bench.params, .backend = scene->bench.backend};
  hx_callable_t *callable = callable_of(scene, &spec);
  hx_program_release(program);
  const hx_value_t *inputs[] = {scene->x, scene->y}, *deep[] = {scene->deep, scene->deep},
                   *plain[] = {scene->x, scene->context.weight};
  hx_value_t *outputs[] = {NULL};
  must(hx_callable_call(callable, inputs, outputs, scene->bench.report), scene->bench.report);
  hx_value_release(outputs[0]);
  outputs[0] = NULL;
  must(hx_callable_call(callable, deep, outputs, scene->bench.report), scene->bench.report);
  assert_int_equal(hx_value_depth(outputs[0]), 2);
  hx_value_release(outputs[0]);
  assert_int_equal(hx_callable_specializations(callable), 2);
  outputs[0] = NULL;
  assert_int_not_equal(hx_callable_call(callable, plain, outputs, scene->bench.report), HX_STATUS_OK);
  must_fault(scene->bench.report, HX_CODE_TYPE, 0, "argument arg1 is a plaintext");
  hx_report_clear(scene->bench.report);
  hx_callable_release(callable);
}

static void callables_inside_captures_are_put_in_place(void **state) {
  scene_t *scene = *state;
  // The inner one: a program with a loop and a material.
  static const char text[] =
      MODULE("%x: " CT ", %y: " CT, CT ", " CT, CT,
             "%zero = \"arith.constant\"() {value = 0 : index} : () -> index\n%two = \"arith.constant\"() {value = 2 : "
             "index} : () -> index\n"
             "%one = \"arith.constant\"() {value = 1 : index} : () -> index\n"
             "%r = \"scf.for\"(%zero, %two, %one, %x) ({\n^entry(%i: index, %a: " CT
             "):\n%m = \"material.ref\"() {symbol = @w} : () -> " PT0 "\n%b = \"ckks.add_plain\"(%a, %m) : (" CT
             ", " PT0 ") -> " CT "\n%c = \"ckks.add\"(%b, %y) : (" CT ", " CT ") -> " CT "\n\"scf.yield\"(%c) : (" CT
             ") -> ()\n}) : (index, index, index, " CT ") -> " CT "\n\"func.return\"(%r) : (" CT ") -> ()");
  hx_program_t *program = link_parse(text);
  const hx_named_value_t materials[] = {{.name = "w", .value = (hx_value_t *)(uintptr_t)scene->context.weight}};
  const hx_callable_spec_t inner = {.program = program,
                                    .params = scene->bench.params,
                                    .backend = scene->bench.backend,
                                    .materials = materials,
                                    .material_count = 1};
  scene->context.inner = callable_of(scene, &inner);
  hx_program_release(program);
  const hx_callable_spec_t spec = spec_of(scene);
  hx_callable_t *outer = callable_of(scene, &spec);
  hx_value_t *found = call(scene, outer, scene->x, scene->y, 0);
  // Nothing was linked for the inner one, and the outer program has its loop.
  assert_int_equal(hx_callable_specializations(scene->context.inner), 0);
  hx_specialization_t specialization;
  assert_true(hx_callable_specialization(outer, 0, &specialization));
  char *printed = NULL;
  must(hx_program_print(specialization.program, HX_PRINT_SHORT, &printed, scene->bench.report), scene->bench.report);
  assert_non_null(strstr(printed, "scf.for"));
  hx_text_free(printed);
  // The same eagerly: the inner one runs as it is.
  hx_engine_t *engine = NULL;
  must(hx_engine_create(scene->bench.params, NULL, scene->bench.backend, &engine, scene->bench.report),
       scene->bench.report);
  const hx_value_t *inputs[] = {scene->x, scene->y, scene->numbers[0]};
  hx_value_t *expected[] = {NULL};
  must(compute(engine, inputs, expected, &scene->context, scene->bench.report), scene->bench.report);
  assert_int_equal(hx_callable_specializations(scene->context.inner), 1);
  must_equal(found, expected[0]);
  hx_engine_release(engine);
  hx_callable_release(outer);
  // A function in place of a function.
  context_t context = {.weight = scene->context.weight, .inner = NULL};
  hx_callable_spec_t function = spec_of(scene);
  function.argument = &context;
  hx_callable_t *first = callable_of(scene, &function);
  hx_callable_release(scene->context.inner);
  scene->context.inner = first;
  outer = callable_of(scene, &spec);
  const hx_value_t *again[] = {scene->x, scene->y, scene->numbers[0]};
  hx_value_t *outputs[] = {NULL};
  must(hx_callable_call(outer, again, outputs, scene->bench.report), scene->bench.report);
  hx_value_release(outputs[0]);
  assert_int_equal(context.runs, 1);
  hx_callable_release(outer);
  hx_callable_release(first);
  scene->context.inner = NULL;
}

typedef struct worker {
  pthread_t thread;
  scene_t *scene;
  hx_callable_t *callable;
  size_t turns;
  hx_value_t *found;
} worker_t;

static void *work(void *argument) {
  worker_t *worker = argument;
  for (int i = 0; i < 10; ++i) {
    const hx_value_t *inputs[] = {worker->scene->x, worker->scene->y, worker->scene->numbers[worker->turns]};
    hx_value_release(worker->found);
    worker->found = NULL;
    if (hx_callable_call(worker->callable, inputs, &worker->found, NULL) != HX_STATUS_OK) return NULL;
    if (i == 5 && worker->turns == 0) hx_callable_clear(worker->callable);
  }
  return NULL;
}

static void threads_share_a_callable(void **state) {
  scene_t *scene = *state;
  const hx_callable_spec_t spec = spec_of(scene);
  hx_callable_t *callable = callable_of(scene, &spec);
  worker_t workers[6];
  for (size_t i = 0; i < HX_COUNT_OF(workers); ++i) {
    workers[i] = (worker_t){.scene = scene, .callable = callable, .turns = i % 3};
    assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
  }
  for (size_t i = 0; i < HX_COUNT_OF(workers); ++i) {
    pthread_join(workers[i].thread, NULL);
    assert_non_null(workers[i].found);
    must_equal(workers[i].found, eager(scene, scene->x, scene->y, i % 3));
  }
  assert_true(hx_callable_specializations(callable) <= 3);
  hx_callable_release(callable);
}

static void steady_calls_allocate_nothing(void **state) {
  scene_t *scene = *state;
  const hx_callable_spec_t spec = spec_of(scene);
  hx_callable_t *callable = callable_of(scene, &spec);
  const hx_value_t *inputs[] = {scene->x, scene->y, scene->numbers[1]};
  hx_value_t *outputs[] = {NULL};
  must(hx_callable_call(callable, inputs, outputs, scene->bench.report), scene->bench.report);
  const uint64_t before = hx_alloc_count();
  for (int i = 0; i < 3; ++i)
    must(hx_callable_call(callable, inputs, outputs, scene->bench.report), scene->bench.report);
  assert_int_equal(hx_alloc_count() - before, 0);
  hx_value_release(outputs[0]);
  hx_callable_release(callable);
}

int main(void) {
#define CASE(name_) cmocka_unit_test_setup_teardown(name_, setup, teardown)
  const struct CMUnitTest tests[] = {CASE(creation_does_no_work),
                                     CASE(calls_are_captured_once_for_each_signature),
                                     CASE(errors_of_preparation_leave_nothing_behind),
                                     CASE(missing_specialization_is_an_error_where_asked_for),
                                     CASE(another_backend_takes_programs_as_they_are),
                                     CASE(pipelines_are_chosen_by_signature),
                                     CASE(programs_take_what_is_open_from_the_arguments),
                                     CASE(callables_inside_captures_are_put_in_place),
                                     CASE(threads_share_a_callable),
                                     CASE(steady_calls_allocate_nothing)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
