// SPDX-License-Identifier: Apache-2.0
// Queues of runs: order, points between queues, failures that the next sync tells, cancelling.
#include <pthread.h>

#include "heliox/queue.h"
#include "tests/unit/link_fixture.h"

static int open_bench(void **state) {
  bench_t *bench = calloc(1, sizeof *bench);
  bench_open(bench, FAKE_ALL);
  *state = bench;
  return 0;
}

static int close_bench(void **state) {
  bench_close(*state);
  free(*state);
  return 0;
}

#define DOUBLE                                                                                                   \
  MODULE("%x: " CT0, CT0, CT0,                                                                                   \
         "%a = \"ckks.add\"(%x, %x) : (" CT0 ", " CT0 ") -> " CT0 "\n%b = \"ckks.add\"(%a, %x) : (" CT0 ", " CT0 \
         ") -> " CT0 "\n\"func.return\"(%b) : (" CT0 ") -> ()")

static hx_value_t *run_now(const bench_t *bench, hx_executable_t *executable, const hx_value_t *x) {
  hx_value_t *out = NULL;
  must(hx_run(executable, &x, &out, bench->report), bench->report);
  return out;
}

// The output array of each run is the input array of the next.
static void runs_follow_each_other(void **state) {
  bench_t *bench = *state;
  hx_executable_t *executable = link_text(bench, DOUBLE);
  hx_queue_t *queue = NULL;
  must(hx_queue_create(&queue, bench->report), bench->report);
  enum { RUNS = 8 };
  hx_value_t *values[RUNS + 1] = {encrypt_seed(bench, 1)}, *expected = hx_value_retain(values[0]);
  for (size_t i = 0; i < RUNS; ++i) {
    must(hx_run_async(queue, executable, (const hx_value_t *const *)&values[i], &values[i + 1], NULL, bench->report),
         bench->report);
  }
  must(hx_queue_sync(queue, bench->report), bench->report);
  for (size_t i = 0; i < RUNS; ++i) {
    hx_value_t *next = run_now(bench, executable, expected);
    assert_true(hx_value_equal(next, values[i + 1]));
    hx_value_release(expected);
    expected = next;
  }
  hx_value_release(expected);
  for (size_t i = 0; i <= RUNS; ++i) hx_value_release(values[i]);
  hx_queue_release(queue);
  hx_executable_release(executable);
}

// The queue keeps what it needs: the executable is let go before anything has run.
static void queue_retains_the_executable(void **state) {
  bench_t *bench = *state;
  hx_executable_t *executable = link_text(bench, DOUBLE);
  hx_queue_t *queue = NULL, *gate = NULL;
  hx_event_t *opened = NULL;
  must(hx_queue_create(&queue, bench->report), bench->report);
  must(hx_queue_create(&gate, bench->report), bench->report);
  must(hx_queue_record(gate, &opened, bench->report), bench->report);
  must(hx_queue_wait(queue, opened, bench->report), bench->report);
  hx_value_t *x = encrypt_seed(bench, 2), *expected = run_now(bench, executable, x), *out = NULL;
  const hx_value_t *inputs[] = {x};
  must(hx_run_async(queue, executable, inputs, &out, NULL, bench->report), bench->report);
  hx_executable_release(executable);
  must(hx_queue_sync(queue, bench->report), bench->report);
  assert_true(hx_value_equal(out, expected));
  hx_value_release(x);
  hx_value_release(out);
  hx_value_release(expected);
  hx_event_release(opened);
  hx_queue_release(queue);
  hx_queue_release(gate);
}

// One queue computes what the other needs.
static void points_order_two_queues(void **state) {
  bench_t *bench = *state;
  hx_executable_t *executable = link_text(bench, DOUBLE);
  hx_queue_t *queues[2] = {NULL, NULL};
  for (int i = 0; i < 2; ++i) must(hx_queue_create(&queues[i], bench->report), bench->report);
  hx_value_t *x = encrypt_seed(bench, 3);
  for (int round = 0; round < 20; ++round) {
    hx_value_t *middle = NULL, *out = NULL;
    const hx_value_t *inputs[] = {x};
    hx_event_t *ready = NULL;
    must(hx_run_async(queues[0], executable, inputs, &middle, NULL, bench->report), bench->report);
    must(hx_queue_record(queues[0], &ready, bench->report), bench->report);
    must(hx_queue_wait(queues[1], ready, bench->report), bench->report);
    must(hx_run_async(queues[1], executable, (const hx_value_t *const *)&middle, &out, NULL, bench->report),
         bench->report);
    must(hx_queue_sync(queues[1], bench->report), bench->report);
    assert_true(hx_event_is_passed(ready));
    hx_event_wait(ready);
    hx_value_t *first = run_now(bench, executable, x), *second = run_now(bench, executable, first);
    assert_true(hx_value_equal(second, out));
    hx_value_release(first);
    hx_value_release(second);
    hx_value_release(middle);
    hx_value_release(out);
    hx_event_release(ready);
  }
  hx_value_release(x);
  for (int i = 0; i < 2; ++i) hx_queue_release(queues[i]);
  hx_executable_release(executable);
}

static void failure_is_told_once_and_holds_until_reset(void **state) {
  bench_t *bench = *state;
  hx_executable_t *executable = link_text(bench, DOUBLE);
  hx_queue_t *queue = NULL;
  must(hx_queue_create(&queue, bench->report), bench->report);
  hx_value_t *x = encrypt_seed(bench, 4), *outs[3] = {NULL};
  const hx_value_t *inputs[] = {x}, *nothing[] = {NULL};
  must(hx_run_async(queue, executable, inputs, &outs[0], NULL, bench->report), bench->report);
  must(hx_run_async(queue, executable, nothing, &outs[1], NULL, bench->report), bench->report);  // it fails
  must(hx_run_async(queue, executable, inputs, &outs[2], NULL, bench->report), bench->report);   // it is left out
  hx_event_t *end = NULL;
  must(hx_queue_record(queue, &end, bench->report), bench->report);
  hx_event_wait(end);  // passed all the same
  hx_report_clear(bench->report);
  assert_int_not_equal(hx_queue_sync(queue, bench->report), HX_STATUS_OK);
  assert_true(hx_report_count(bench->report) > 0);
  hx_report_clear(bench->report);
  assert_non_null(outs[0]);
  assert_null(outs[1]);
  assert_null(outs[2]);
  must(hx_queue_sync(queue, bench->report), bench->report);  // told once
  must(hx_run_async(queue, executable, inputs, &outs[2], NULL, bench->report), bench->report);
  must(hx_queue_sync(queue, bench->report), bench->report);
  assert_null(outs[2]);  // still poisoned
  hx_queue_reset(queue);
  must(hx_run_async(queue, executable, inputs, &outs[2], NULL, bench->report), bench->report);
  must(hx_queue_sync(queue, bench->report), bench->report);
  assert_true(hx_value_equal(outs[0], outs[2]));
  hx_event_release(end);
  for (size_t i = 0; i < 3; ++i) hx_value_release(outs[i]);
  hx_value_release(x);
  hx_queue_release(queue);
  hx_executable_release(executable);
}

// Holds the queue's thread inside a run until the test has cancelled.
typedef struct hold {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  bool inside, go_on;
} hold_t;

static bool hold_run(void *argument) {
  hold_t *hold = argument;
  pthread_mutex_lock(&hold->lock);
  hold->inside = true;
  pthread_cond_broadcast(&hold->changed);
  while (!hold->go_on) pthread_cond_wait(&hold->changed, &hold->lock);
  pthread_mutex_unlock(&hold->lock);
  return false;
}

static void cancel_stops_the_run_and_leaves_out_the_others(void **state) {
  bench_t *bench = *state;
  hx_executable_t *executable = link_text(bench, DOUBLE);
  hx_queue_t *queue = NULL;
  must(hx_queue_create(&queue, bench->report), bench->report);
  hx_queue_cancel(queue);  // idle: nothing happens
  hold_t hold = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
  const hx_run_options_t options = {.cancelled = hold_run, .argument = &hold};
  hx_value_t *x = encrypt_seed(bench, 5), *outs[2] = {NULL, NULL};
  const hx_value_t *inputs[] = {x};
  must(hx_run_async(queue, executable, inputs, &outs[0], &options, bench->report), bench->report);
  must(hx_run_async(queue, executable, inputs, &outs[1], NULL, bench->report), bench->report);
  pthread_mutex_lock(&hold.lock);
  while (!hold.inside) pthread_cond_wait(&hold.changed, &hold.lock);
  hx_queue_cancel(queue);  // while the first run is on
  hold.go_on = true;
  pthread_cond_broadcast(&hold.changed);
  pthread_mutex_unlock(&hold.lock);
  assert_int_equal(hx_queue_sync(queue, bench->report), HX_STATUS_CANCELLED);
  must_fault(bench->report, HX_CODE_CANCELLED, 0, "cancelled");
  hx_report_clear(bench->report);
  assert_null(outs[0]);
  assert_null(outs[1]);
  hx_queue_reset(queue);
  must(hx_run_async(queue, executable, inputs, &outs[0], NULL, bench->report), bench->report);
  must(hx_queue_sync(queue, bench->report), bench->report);
  assert_non_null(outs[0]);
  hx_value_release(outs[0]);
  hx_value_release(x);
  hx_queue_release(queue);
  hx_executable_release(executable);
}

static void release_waits_for_what_was_enqueued(void **state) {
  bench_t *bench = *state;
  hx_executable_t *executable = link_text(bench, DOUBLE);
  hx_queue_t *queue = NULL;
  must(hx_queue_create(&queue, bench->report), bench->report);
  hx_value_t *x = encrypt_seed(bench, 6), *outs[4] = {NULL};
  const hx_value_t *inputs[] = {x};
  for (size_t i = 0; i < 4; ++i)
    must(hx_run_async(queue, executable, inputs, &outs[i], NULL, bench->report), bench->report);
  hx_queue_release(queue);
  for (size_t i = 0; i < 4; ++i) {
    assert_non_null(outs[i]);
    hx_value_release(outs[i]);
  }
  hx_value_release(x);
  hx_executable_release(executable);
}

static void wrong_arguments_and_exhaustion_are_refused(void **state) {
  bench_t *bench = *state;
  hx_executable_t *executable = link_text(bench, DOUBLE);
  hx_queue_t *queue = NULL;
  hx_event_t *event = NULL;
  hx_value_t *out = NULL;
  const hx_value_t *inputs[] = {NULL};
  assert_int_equal(hx_queue_create(NULL, NULL), HX_STATUS_INVALID);
  hx_alloc_fail_at(1);
  assert_int_equal(hx_queue_create(&queue, NULL), HX_STATUS_OUT_OF_MEMORY);
  hx_alloc_fail_at(0);
  must(hx_queue_create(&queue, bench->report), bench->report);
  assert_int_equal(hx_run_async(NULL, executable, inputs, &out, NULL, NULL), HX_STATUS_INVALID);
  assert_int_equal(hx_run_async(queue, NULL, inputs, &out, NULL, NULL), HX_STATUS_INVALID);
  assert_int_equal(hx_run_async(queue, executable, NULL, &out, NULL, NULL), HX_STATUS_INVALID);
  assert_int_equal(hx_queue_record(queue, NULL, NULL), HX_STATUS_INVALID);
  assert_int_equal(hx_queue_wait(queue, NULL, NULL), HX_STATUS_INVALID);
  assert_int_equal(hx_queue_sync(NULL, NULL), HX_STATUS_INVALID);
  for (uint64_t n = 1; n <= 2; ++n) {
    hx_alloc_fail_at(n);
    assert_int_equal(hx_run_async(queue, executable, inputs, &out, NULL, NULL), HX_STATUS_OUT_OF_MEMORY);
    hx_alloc_fail_at(n);
    assert_int_equal(hx_queue_record(queue, &event, NULL), HX_STATUS_OUT_OF_MEMORY);
    hx_alloc_fail_at(0);
    assert_null(event);
  }
  must(hx_queue_sync(queue, bench->report), bench->report);
  hx_queue_release(queue);
  hx_queue_release(NULL);
  hx_event_release(NULL);
  hx_executable_release(executable);
}

#define CASE(name_) cmocka_unit_test_setup_teardown(name_, open_bench, close_bench)

int main(void) {
  const struct CMUnitTest tests[] = {
      CASE(runs_follow_each_other),
      CASE(queue_retains_the_executable),
      CASE(points_order_two_queues),
      CASE(failure_is_told_once_and_holds_until_reset),
      CASE(cancel_stops_the_run_and_leaves_out_the_others),
      CASE(release_waits_for_what_was_enqueued),
      CASE(wrong_arguments_and_exhaustion_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
