// SPDX-License-Identifier: Apache-2.0
// Linked programs at run time: results, inputs that do not fit, outputs, failures, threads, allocations.
#include <pthread.h>

#include "tests/unit/link_fixture.h"

// x * (x + y) on one depth, rotated and added to itself.
#define PROGRAM                                                        \
  MODULE("%x: " CT0 ", %y: " CT0, CT0 ", " CT0, CT ", " CT,            \
         "%s = \"ckks.add\"(%x, %y) : (" CT0 ", " CT0 ") -> " CT       \
         "\n"                                                          \
         "%t = \"ckks.mul\"(%x, %s) : (" CT0 ", " CT ") -> " CT        \
         "\n"                                                          \
         "%p = \"ckks.relinearize\"(%t) : (" CT ") -> " CT             \
         "\n"                                                          \
         "%q = \"ckks.rescale\"(%p) : (" CT ") -> " CT                 \
         "\n"                                                          \
         "%r = \"ckks.rotate\"(%q) {step = 1 : i64} : (" CT ") -> " CT \
         "\n"                                                          \
         "%u = \"ckks.add\"(%q, %r) : (" CT ", " CT ") -> " CT         \
         "\n"                                                          \
         "\"func.return\"(%u, %s) : (" CT ", " CT ") -> ()")

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

typedef struct pair {
  hx_value_t *x, *y;
  double u[SLOTS], s[SLOTS];  // what PROGRAM gives
} pair_t;

static pair_t make_pair(const bench_t *bench) {
  double x[SLOTS], y[SLOTS];
  pair_t pair;
  fill_values(x, SLOTS, 1);
  fill_values(y, SLOTS, 2);
  pair.x = encrypt_values(bench, bench->keys, x, SLOTS);
  pair.y = encrypt_values(bench, bench->keys, y, SLOTS);
  for (size_t i = 0; i < SLOTS; ++i) {
    const size_t k = (i + 1) % SLOTS;
    pair.s[i] = x[i] + y[i];
    pair.u[i] = x[i] * (x[i] + y[i]) + x[k] * (x[k] + y[k]);
  }
  return pair;
}

static void drop_pair(pair_t *pair) {
  hx_value_release(pair->x);
  hx_value_release(pair->y);
}

static void must_decrypt_to(const bench_t *bench, const hx_value_t *value, const double *expected) {
  double found[SLOTS];
  decrypt_values(bench, value, found);
  must_be_near(found, expected, SLOTS, 1e-5);
}

static void run_gives_what_the_program_says(void **state) {
  bench_t *bench = *state;
  hx_executable_t *executable = link_text(bench, PROGRAM);
  pair_t pair = make_pair(bench);
  const hx_value_t *inputs[] = {pair.x, pair.y};
  hx_value_t *outputs[2] = {NULL, NULL};
  must(hx_run(executable, inputs, outputs, bench->report), bench->report);
  must_decrypt_to(bench, outputs[0], pair.u);
  must_decrypt_to(bench, outputs[1], pair.s);
  assert_int_equal(hx_value_depth(outputs[0]), 1);
  assert_int_equal(hx_value_count(outputs[0]), SLOTS);
  assert_memory_equal(hx_value_key_id(outputs[0]), hx_keys_id(bench->keys), 16);
  hx_run_stats_t stats;
  hx_executable_stats(executable, &stats);
  assert_int_equal(stats.calls, 6);
  assert_int_equal(stats.runs, 1);
  hx_value_release(outputs[0]);
  hx_value_release(outputs[1]);
  drop_pair(&pair);
  hx_executable_release(executable);
}

static void run_writes_into_given_outputs_without_allocating(void **state) {
  bench_t *bench = *state;
  hx_executable_t *executable = link_text(bench, PROGRAM);
  pair_t pair = make_pair(bench);
  const hx_value_t *inputs[] = {pair.x, pair.y};
  hx_value_t *outputs[2] = {NULL, NULL};
  must(hx_run(executable, inputs, outputs, bench->report), bench->report);
  hx_value_t *const first[] = {outputs[0], outputs[1]};
  const uint64_t generation = hx_tensor_generation(outputs[0]->tensor);
  const uint64_t before = hx_alloc_count();
  const uint32_t buffers = fake.buffers;
  for (int i = 0; i < 3; ++i) must(hx_run(executable, inputs, outputs, bench->report), bench->report);
  assert_int_equal(hx_alloc_count() - before, 0);
  assert_int_equal(fake.buffers, buffers);
  assert_ptr_equal(outputs[0], first[0]);
  assert_ptr_equal(outputs[1], first[1]);
  assert_true(hx_tensor_generation(outputs[0]->tensor) > generation);
  must_decrypt_to(bench, outputs[0], pair.u);
  hx_value_release(outputs[0]);
  hx_value_release(outputs[1]);
  drop_pair(&pair);
  hx_executable_release(executable);
}

static void planned_peak_is_what_a_run_allocates(void **state) {
  bench_t *bench = *state;
  fake.scratch_device = 12345;
  hx_executable_t *executable = link_text(bench, PROGRAM);
  pair_t pair = make_pair(bench);
  const hx_value_t *inputs[] = {pair.x, pair.y};
  hx_value_t *outputs[2] = {NULL, NULL};
  hx_run_stats_t stats;
  hx_executable_stats(executable, &stats);
  fake.peak_bytes = 0;
  const uint64_t before = fake.bytes;
  must(hx_run(executable, inputs, outputs, bench->report), bench->report);
  const uint64_t measured = fake.peak_bytes - before;
  assert_true(stats.peak_bytes >= 12345);
  assert_true(100 * stats.peak_bytes >= 99 * measured && 100 * stats.peak_bytes <= 101 * measured);
  hx_value_release(outputs[0]);
  hx_value_release(outputs[1]);
  drop_pair(&pair);
  hx_executable_release(executable);
  fake.scratch_device = 0;
}

static void results_inherit_counts_from_what_they_depend_on(void **state) {
  bench_t *bench = *state;
  static const char text[] =
      "\"builtin.module\"() ({\n\"func.func\"() ({\n^entry(%x: " CT0 ", %y: " CT0
      "):\n"
      "%a = \"ckks.neg\"(%x) : (" CT0 ") -> " CT
      "\n"
      "%b = \"ckks.add\"(%x, %y) : (" CT0 ", " CT0 ") -> " CT
      "\n"
      "%c = \"ckks.add_scalar\"(%y) {value = [0.0, 1.0]} : (" CT0 ") -> " CT "\n\"func.return\"(%a, %b, %c) : (" CT
      ", " CT ", " CT ") -> ()\n}) {sym_name = \"main\", function_type = (" CT0 ", " CT0 ") -> (" CT ", " CT ", " CT
      "), res_attrs = [{}, {}, {heliox.count = 7 : i64}]} : () -> ()\n}) {heliox.version = 1 : i64} : () -> ()\n";
  hx_executable_t *executable = link_text(bench, text);
  double values[SLOTS];
  fill_values(values, SLOTS, 1);
  hx_value_t *x = encrypt_values(bench, bench->keys, values, 10), *y = encrypt_values(bench, bench->keys, values, 30);
  const hx_value_t *inputs[] = {x, y};
  hx_value_t *outputs[3] = {NULL, NULL, NULL};
  must(hx_run(executable, inputs, outputs, bench->report), bench->report);
  assert_int_equal(hx_value_count(outputs[0]), 10);
  assert_int_equal(hx_value_count(outputs[1]), 30);
  assert_int_equal(hx_value_count(outputs[2]), 7);
  assert_false(hx_value_is_complex(outputs[1]));
  assert_true(hx_value_is_complex(outputs[2]));
  for (size_t i = 0; i < 3; ++i) hx_value_release(outputs[i]);
  hx_value_release(x);
  hx_value_release(y);
  hx_executable_release(executable);
}

// ------------------------------------------------------------------ threads

typedef struct worker {
  pthread_t thread;
  hx_executable_t *executable;
  const hx_value_t *const *inputs;
  hx_value_t *outputs[2];
  hx_status_t status;
} worker_t;

static void *work(void *argument) {
  worker_t *worker = argument;
  worker->status = HX_STATUS_OK;
  for (int i = 0; i < 3 && worker->status == HX_STATUS_OK; ++i) {
    worker->status = hx_run(worker->executable, worker->inputs, worker->outputs, NULL);
  }
  return NULL;
}

static void run_from_four_threads_gives_equal_results(void **state) {
  bench_t *bench = *state;
  fake.in_place = true;
  hx_executable_t *executable = link_text(bench, PROGRAM);
  pair_t pair = make_pair(bench);
  const hx_value_t *inputs[] = {pair.x, pair.y};
  worker_t workers[4];
  for (int i = 0; i < 4; ++i) {
    workers[i] = (worker_t){.executable = executable, .inputs = inputs};
    assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
  }
  for (int i = 0; i < 4; ++i) {
    assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
    assert_int_equal(workers[i].status, HX_STATUS_OK);
    assert_true(hx_value_equal(workers[i].outputs[0], workers[0].outputs[0]));
    assert_true(hx_value_equal(workers[i].outputs[1], workers[0].outputs[1]));
  }
  must_decrypt_to(bench, workers[0].outputs[0], pair.u);
  hx_run_stats_t stats;
  hx_executable_stats(executable, &stats);
  assert_int_equal(stats.runs, 12);
  for (int i = 0; i < 4; ++i) {
    hx_value_release(workers[i].outputs[0]);
    hx_value_release(workers[i].outputs[1]);
  }
  drop_pair(&pair);
  hx_executable_release(executable);
}

// ------------------------------------------------------------------ inputs and outputs that do not fit

static void expect_refusal(bench_t *bench, hx_executable_t *executable, const hx_value_t *x, const hx_value_t *y,
                           hx_value_t **outputs, hx_code_t code, const char *piece) {
  const hx_value_t *inputs[] = {x, y};
  hx_report_clear(bench->report);
  assert_int_equal(hx_run(executable, inputs, outputs, bench->report), hx_code_info(code)->status);
  must_fault(bench->report, code, 0, piece);
}

static hx_value_t *dropped(const bench_t *bench, const hx_value_t *value) {
  hx_value_t *out = NULL;
  hx_engine_t *engine = NULL;
  must(hx_engine_create(bench->params, bench->keys, bench->backend, &engine, bench->report), bench->report);
  must(hx_engine_level_drop(engine, value, 2, &out, bench->report), bench->report);
  hx_engine_release(engine);
  return out;
}

static void run_refuses_inputs_that_do_not_fit(void **state) {
  bench_t *bench = *state;
  hx_executable_t *executable = link_text(bench, PROGRAM);
  pair_t pair = make_pair(bench);
  hx_value_t *outputs[2] = {NULL, NULL};
  expect_refusal(bench, executable, NULL, pair.y, outputs, HX_CODE_INPUT, "input arg0 is missing");

  double values[SLOTS];
  fill_values(values, SLOTS, 3);
  hx_value_t *plaintext = encode_values(bench, values, SLOTS, false);
  expect_refusal(bench, executable, plaintext, pair.y, outputs, HX_CODE_TYPE,
                 "is a plaintext, the program wants a ciphertext");
  hx_value_release(plaintext);

  hx_value_t *deep = dropped(bench, pair.x);
  expect_refusal(bench, executable, deep, pair.y, outputs, HX_CODE_DEPTH_MISMATCH, "another depth");
  hx_value_release(deep);

  const hx_encode_options_t scaled = {.scale = "2^41", .secret = true};
  hx_value_t *message = NULL, *other = NULL;
  must(hx_encode(bench->params, values, SLOTS, false, &scaled, &message, bench->report), bench->report);
  must(hx_encrypt(bench->keys, message, false, &other, bench->report), bench->report);
  expect_refusal(bench, executable, pair.x, other, outputs, HX_CODE_SCALE_MISMATCH, "input arg1 has another scale");
  hx_value_release(message);
  hx_value_release(other);

  hx_keys_t *strangers = link_keys(bench->params);
  other = encrypt_values(bench, strangers, values, SLOTS);
  expect_refusal(bench, executable, pair.x, other, outputs, HX_CODE_KEY_ID, "another secret");
  hx_value_release(other);
  hx_keys_release(strangers);
  assert_null(outputs[0]);
  drop_pair(&pair);
  hx_executable_release(executable);
}

static void run_refuses_inputs_of_other_parameters(void **state) {
  bench_t *bench = *state;
  hx_executable_t *executable = link_text(bench, PROGRAM);
  pair_t pair = make_pair(bench);
  bench_t other = *bench;
  char json[sizeof LINK_RING] = LINK_RING;
  char *sigma = strstr(json, "\"digits\":3");
  assert_non_null(sigma);
  sigma[9] = '4';
  other.params = link_params(json);
  other.keys = link_keys(other.params);
  hx_value_t *foreign = encrypt_seed(&other, 1);
  hx_value_t *outputs[2] = {NULL, NULL};
  expect_refusal(bench, executable, foreign, pair.y, outputs, HX_CODE_PARAMS_DIGEST,
                 "input arg0 belongs to parameters");
  hx_value_release(foreign);
  hx_keys_release(other.keys);
  hx_params_release(other.params);
  drop_pair(&pair);
  hx_executable_release(executable);
}

static void run_refuses_secret_inputs_that_were_not_declared(void **state) {
  bench_t *bench = *state;
  static const char text[] = MODULE("%x: " CT0 ", %p: " PT0, CT0 ", " PT0, CT,
                                    "%s = \"ckks.add_plain\"(%x, %p) : (" CT0 ", " PT0 ") -> " CT
                                    "\n"
                                    "\"func.return\"(%s) : (" CT ") -> ()");
  hx_executable_t *executable = link_text(bench, text);
  hx_value_t *x = encrypt_seed(bench, 1);
  double values[SLOTS];
  fill_values(values, SLOTS, 2);
  hx_value_t *secret = encode_values(bench, values, SLOTS, true), *outputs[1] = {NULL};
  expect_refusal(bench, executable, x, secret, outputs, HX_CODE_CAPABILITY, "input arg1 is secret");
  hx_value_release(secret);
  hx_value_release(x);
  hx_executable_release(executable);
}

static void run_refuses_outputs_that_do_not_fit(void **state) {
  bench_t *bench = *state;
  hx_executable_t *executable = link_text(bench, PROGRAM);
  pair_t pair = make_pair(bench);
  hx_value_t *outputs[2] = {NULL, NULL};
  outputs[0] = encrypt_seed(bench, 5);  // depth 0, the output has depth 1
  expect_refusal(bench, executable, pair.x, pair.y, outputs, HX_CODE_DEPTH_MISMATCH,
                 "output result0 has another depth");
  hx_value_release(outputs[0]);
  outputs[0] = NULL;
  outputs[1] = pair.x;
  expect_refusal(bench, executable, pair.x, pair.y, outputs, HX_CODE_INVALID_ARGUMENT, "in the memory of input arg0");
  outputs[1] = encrypt_seed(bench, 5);
  hx_value_t *second = hx_value_retain(outputs[1]);
  expect_refusal(bench, executable, pair.x, pair.y, outputs, HX_CODE_INVALID_ARGUMENT,
                 "output result1 is in use elsewhere");
  hx_value_release(second);
  hx_value_release(outputs[1]);
  drop_pair(&pair);
  hx_executable_release(executable);
}

static void run_copies_strided_inputs(void **state) {
  bench_t *bench = *state;
  static const char text[] = MODULE("%x: " CT2, CT2, CT,
                                    "%s = \"ckks.add\"(%x, %x) : (" CT2 ", " CT2 ") -> " CT
                                    "\n"
                                    "\"func.return\"(%s) : (" CT ") -> ()");
  hx_executable_t *executable = link_text(bench, text);
  double values[SLOTS], twice[SLOTS];
  fill_values(values, SLOTS, 4);
  for (size_t i = 0; i < SLOTS; ++i) twice[i] = 2 * values[i];
  hx_value_t *x = encrypt_values(bench, bench->keys, values, SLOTS);
  hx_value_t *view = dropped(bench, x), *outputs[1] = {NULL};
  assert_ptr_equal(view->tensor->storage, x->tensor->storage);
  const hx_value_t *inputs[] = {view};
  must(hx_run(executable, inputs, outputs, bench->report), bench->report);
  must_decrypt_to(bench, outputs[0], twice);
  hx_value_release(outputs[0]);
  hx_value_release(view);
  hx_value_release(x);
  hx_executable_release(executable);
}

// ------------------------------------------------------------------ failures

static void must_be_zero(const hx_value_t *value) {
  const uint64_t *words = hx_tensor_row(value->tensor, 0, 0, 0, 0);
  for (uint64_t i = 0; i < hx_layout_elements(&value->tensor->layout); ++i) assert_int_equal(words[i], 0);
}

static void run_zeroes_given_outputs_on_failure(void **state) {
  bench_t *bench = *state;
  hx_executable_t *executable = link_text(bench, PROGRAM);
  pair_t pair = make_pair(bench);
  const hx_value_t *inputs[] = {pair.x, pair.y};
  hx_value_t *outputs[2] = {NULL, NULL};
  must(hx_run(executable, inputs, outputs, bench->report), bench->report);
  hx_value_t *given = outputs[1];
  hx_value_release(outputs[0]);
  outputs[0] = NULL;
  fake.execute_result = HX_DEVICE_LOST;
  fake.fail_at = 2;
  hx_report_clear(bench->report);
  assert_int_equal(hx_run(executable, inputs, outputs, bench->report), HX_STATUS_DEVICE_LOST);
  must_fault(bench->report, HX_CODE_DEVICE_LOST, 0, "step 2, ckks.relinearize");
  assert_null(outputs[0]);
  assert_ptr_equal(outputs[1], given);
  must_be_zero(given);
  fake.fail_at = HX_NONE;
  must(hx_run(executable, inputs, outputs, bench->report), bench->report);  // the next run is right
  must_decrypt_to(bench, outputs[0], pair.u);
  must_decrypt_to(bench, outputs[1], pair.s);
  hx_value_release(outputs[0]);
  hx_value_release(outputs[1]);
  drop_pair(&pair);
  hx_executable_release(executable);
}

static void run_names_the_call_that_failed_late(void **state) {
  bench_t *bench = *state;
  hx_executable_t *executable = link_text(bench, PROGRAM);
  pair_t pair = make_pair(bench);
  const hx_value_t *inputs[] = {pair.x, pair.y};
  hx_value_t *outputs[2] = {NULL, NULL};
  fake.late_at = 3;
  hx_report_clear(bench->report);
  assert_int_not_equal(hx_run(executable, inputs, outputs, bench->report), HX_STATUS_OK);
  must_fault(bench->report, HX_CODE_PLUGIN_CALL, 0, "step 3, ckks.rescale");
  must_fault(bench->report, HX_CODE_PLUGIN_CALL, 0, "it failed after all");
  assert_null(outputs[0]);
  drop_pair(&pair);
  hx_executable_release(executable);
}

static bool cancel_after(void *argument) {
  int *left = argument;
  return (*left)-- == 0;
}

static void run_stops_when_cancelled(void **state) {
  bench_t *bench = *state;
  hx_executable_t *executable = link_text(bench, PROGRAM);
  pair_t pair = make_pair(bench);
  const hx_value_t *inputs[] = {pair.x, pair.y};
  hx_value_t *outputs[2] = {NULL, NULL};
  int left = 2;
  const hx_run_options_t options = {.cancelled = cancel_after, .argument = &left};
  const uint32_t executes = fake.executes;
  assert_int_equal(hx_run_with(executable, inputs, outputs, &options, bench->report), HX_STATUS_CANCELLED);
  must_fault(bench->report, HX_CODE_CANCELLED, 0, "before step 2 of 6");
  assert_int_equal(fake.executes - executes, 2);
  assert_null(outputs[0]);
  must(hx_run(executable, inputs, outputs, bench->report), bench->report);
  must_decrypt_to(bench, outputs[0], pair.u);
  hx_value_release(outputs[0]);
  hx_value_release(outputs[1]);
  drop_pair(&pair);
  hx_executable_release(executable);
}

static void run_survives_every_failed_allocation(void **state) {
  bench_t *bench = *state;
  pair_t pair = make_pair(bench);
  const hx_value_t *inputs[] = {pair.x, pair.y};
  hx_compilation_t *compilation = link_compile(bench, PROGRAM);
  must(hx_compilation_bind_keys(compilation, bench->keys, bench->report), bench->report);
  bool done = false;
  for (uint64_t n = 1; !done; n += n < 200 ? 1 : 7) {
    hx_report_clear(bench->report);
    hx_executable_t *executable = NULL;
    hx_value_t *outputs[2] = {NULL, NULL};
    hx_alloc_fail_at(n);
    hx_status_t status = hx_link(compilation, bench->backend, "", &executable, bench->report);
    if (status == HX_STATUS_OK) status = hx_run(executable, inputs, outputs, bench->report);
    hx_alloc_fail_at(0);
    if (status != HX_STATUS_OK && status != HX_STATUS_OUT_OF_MEMORY) {
      show_faults(bench->report);
      fail_msg("allocation %llu: %s", (unsigned long long)n, hx_status_name(status));
    }
    done = status == HX_STATUS_OK;
    if (done) must_decrypt_to(bench, outputs[0], pair.u);
    hx_value_release(outputs[0]);
    hx_value_release(outputs[1]);
    hx_executable_release(executable);
  }
  hx_compilation_release(compilation);
  drop_pair(&pair);
}

// ------------------------------------------------------------------ devices apart

static void transfers_are_free_where_host_memory_is_used(void **state) {
  bench_t *bench = *state;
  hx_value_t *x = encrypt_seed(bench, 1), *there = NULL, *back = NULL;
  must(hx_value_to_device(x, bench->backend, &there, bench->report), bench->report);
  must(hx_value_to_host(there, &back, bench->report), bench->report);
  assert_ptr_equal(there, x);
  assert_ptr_equal(back, x);
  hx_value_release(there);
  hx_value_release(back);
  hx_value_release(x);
}

static void run_works_on_a_device_apart(void **state) {
  bench_t *bench = *state;
  fake.no_import = fake.hides_addresses = true;
  hx_executable_t *executable = link_text(bench, PROGRAM);
  assert_non_null(strstr(hx_executable_manifest(executable), "copied to the device"));
  pair_t pair = make_pair(bench);
  hx_value_t *outputs[2] = {NULL, NULL};
  expect_refusal(bench, executable, pair.x, pair.y, outputs, HX_CODE_DEVICE_MIX, "transfer it first");
  hx_value_t *x = NULL, *y = NULL, *back = NULL;
  must(hx_value_to_device(pair.x, bench->backend, &x, bench->report), bench->report);
  must(hx_value_to_device(pair.y, bench->backend, &y, bench->report), bench->report);
  assert_null(x->tensor->storage->address);
  must(hx_value_to_device(x, bench->backend, &back, bench->report), bench->report);
  assert_ptr_equal(back, x);
  hx_value_release(back);
  must(hx_value_to_host(x, &back, bench->report), bench->report);
  assert_true(hx_value_equal(back, pair.x));
  hx_value_release(back);
  const hx_value_t *inputs[] = {x, y};
  must(hx_run(executable, inputs, outputs, bench->report), bench->report);
  assert_null(outputs[0]->tensor->storage->address);
  must(hx_value_to_host(outputs[0], &back, bench->report), bench->report);
  must_decrypt_to(bench, back, pair.u);
  hx_value_release(back);
  fake.execute_result = HX_INTERNAL;
  fake.fail_at = 1;
  assert_int_not_equal(hx_run(executable, inputs, outputs, bench->report), HX_STATUS_OK);
  must(hx_value_to_host(outputs[0], &back, bench->report), bench->report);
  must_be_zero(back);
  hx_value_release(back);
  hx_value_release(x);
  hx_value_release(y);
  hx_value_release(outputs[0]);
  hx_value_release(outputs[1]);
  drop_pair(&pair);
  hx_executable_release(executable);
}

#define CASE(name_) cmocka_unit_test_setup_teardown(name_, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {CASE(run_gives_what_the_program_says),
                                     CASE(planned_peak_is_what_a_run_allocates),
                                     CASE(run_writes_into_given_outputs_without_allocating),
                                     CASE(results_inherit_counts_from_what_they_depend_on),
                                     CASE(run_from_four_threads_gives_equal_results),
                                     CASE(run_refuses_inputs_that_do_not_fit),
                                     CASE(run_refuses_inputs_of_other_parameters),
                                     CASE(run_refuses_secret_inputs_that_were_not_declared),
                                     CASE(run_refuses_outputs_that_do_not_fit),
                                     CASE(run_copies_strided_inputs),
                                     CASE(run_zeroes_given_outputs_on_failure),
                                     CASE(run_names_the_call_that_failed_late),
                                     CASE(run_stops_when_cancelled),
                                     CASE(run_survives_every_failed_allocation),
                                     CASE(transfers_are_free_where_host_memory_is_used),
                                     CASE(run_works_on_a_device_apart)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
