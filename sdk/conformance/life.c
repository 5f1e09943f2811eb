// SPDX-License-Identifier: Apache-2.0
// A plugin in a process: rounds of load and shutdown, threads, several queues at once, one queue twice, cancelling.
#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sdk/conformance/suite.h"

#define ROUNDS 100
#define WORKERS 4

static uint64_t entries_of(const char *path) {
  DIR *directory = opendir(path);
  uint64_t count = 0;
  if (directory == NULL) return 0;
  while (readdir(directory) != NULL) ++count;
  closedir(directory);
  return count;
}

static uint64_t thread_count(void) { return entries_of("/proc/self/task") - 2; }
static uint64_t descriptor_count(void) { return entries_of("/proc/self/fd"); }

// ------------------------------------------------------------------ rounds

static bool one_call(suite_t *suite, const call_t *call) { return call_check(suite, call); }

static void run_rounds(suite_t *suite, uint64_t threads_before) {
  uint64_t threads = 0, descriptors = 0;
  case_begin(suite, "life", "%d rounds of load, run, shutdown", ROUNDS);
  for (int round = 0; round < ROUNDS && !case_failed(suite); ++round) {
    if (suite_open(suite) && with_some_call(suite, 4, one_call)) suite_drop_tensors(suite);
    suite_close(suite);
    if (round == 1) {
      threads = thread_count();
      descriptors = descriptor_count();
    }
  }
  case_expect(suite, thread_count() <= threads, "threads grew from %llu to %llu", (unsigned long long)threads,
              (unsigned long long)thread_count());
  case_expect(suite, descriptor_count() <= descriptors, "descriptors grew from %llu to %llu",
              (unsigned long long)descriptors, (unsigned long long)descriptor_count());
  case_end(suite);

  case_begin(suite, "life", "threads after shutdown");
  const uint64_t now = thread_count(), over = now > threads_before ? now - threads_before : 0;
  case_expect(suite, over <= suite->threads_allowed,
              "%llu threads are left; runtime.threads of the manifest allows %llu", (unsigned long long)over,
              (unsigned long long)suite->threads_allowed);
  case_end(suite);
}

// ------------------------------------------------------------------ one call, kept for several threads

typedef struct shared {
  suite_t *suite;
  const call_t *call;
  running_t running;
  uint8_t *expected[OPERANDS_MAX];
  hx_queue *queue;  // one for all, or NULL
  atomic_int failures, busy, right, code;
} shared_t;

static bool start(suite_t *suite, const call_t *call, shared_t *shared) {
  hx_error error;
  *shared = (shared_t){.suite = suite, .call = call};
  if (!call_expect(suite, call, shared->expected)) return false;
  region_t *r = region_create(call);
  const int32_t code = call_prepare(suite, call, r, &shared->running, &error);
  region_release(r);
  return code == HX_OK || case_fail(suite, "%s: prepare: %s: %s", call->op, result_word(code), error.message);
}

static void finish(shared_t *shared) {
  call_destroy(shared->suite, shared->call, &shared->running);
  for (uint32_t i = 0; i < shared->call->result_count; ++i) free(shared->expected[i]);
}

static bool run_and_compare(shared_t *shared, hx_queue *queue, int32_t *out_code) {
  const call_t *call = shared->call;
  uint8_t *found[OPERANDS_MAX];
  hx_error error;
  for (uint32_t i = 0; i < call->result_count; ++i) found[i] = suite_alloc(call->results[i]->bytes);
  *out_code = call_execute(shared->suite, call, &shared->running, queue, -1, found, &error);
  bool same = true;
  for (uint32_t i = 0; i < call->result_count; ++i) {
    same = same && memcmp(found[i], shared->expected[i], call->results[i]->bytes) == 0;
    free(found[i]);
  }
  return same;
}

// ------------------------------------------------------------------ several queues

static void *work(void *argument) {
  shared_t *shared = argument;
  hx_queue *queue = NULL;
  hx_error error = error_init();
  int32_t code = shared->suite->table->queue->create(shared->suite->device, &queue, &error);
  for (int i = 0; i < 8 && code == HX_OK; ++i) {
    if (run_and_compare(shared, queue, &code) && code == HX_OK) {
      atomic_fetch_add(&shared->right, 1);
    } else {
      atomic_fetch_add(&shared->failures, 1);
    }
  }
  if (code != HX_OK) atomic_store(&shared->code, code);
  if (queue != NULL) shared->suite->table->queue->destroy(queue);
  return NULL;
}

static bool visit_queues(suite_t *suite, const call_t *call) {
  shared_t shared;
  pthread_t threads[WORKERS];
  uint32_t started = 0;
  if (!start(suite, call, &shared)) return false;
  while (started < WORKERS && pthread_create(&threads[started], NULL, work, &shared) == 0) ++started;
  for (uint32_t i = 0; i < started; ++i) pthread_join(threads[i], NULL);
  case_expect(suite, started == WORKERS, "only %u threads could be started", started);
  case_expect(suite, atomic_load(&shared.failures) == 0 && atomic_load(&shared.right) == (int)started * 8,
              "%d of %u calls on queues of their own were right; a failure was %s", atomic_load(&shared.right),
              started * 8, result_word(atomic_load(&shared.code)));
  finish(&shared);
  return false;
}

// ------------------------------------------------------------------ one queue, two callers

static void *intrude(void *argument) {
  shared_t *shared = argument;
  hx_error error = error_init();
  while (atomic_load(&shared->right) == 0) {
    const int32_t code = shared->suite->table->queue->sync(shared->queue, &error);
    if (code == HX_BUSY) atomic_fetch_add(&shared->busy, 1);
    if (code != HX_OK && code != HX_BUSY) atomic_store(&shared->code, code);
  }
  return NULL;
}

static double seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

// The calls of the first caller may find the queue taken by the second for a moment; then they are made again.
static bool visit_busy(suite_t *suite, const call_t *call) {
  shared_t shared;
  pthread_t thread;
  if (!start(suite, call, &shared)) return false;
  shared.queue = suite->queue;
  if (pthread_create(&thread, NULL, intrude, &shared) != 0) {
    case_fail(suite, "no thread could be started");
    finish(&shared);
    return false;
  }
  const double until = seconds() + 5;
  int rounds = 0, wrong = 0;
  do {
    int32_t code = HX_OK;
    const bool same = run_and_compare(&shared, suite->queue, &code);
    if (code == HX_OK && !same) ++wrong;
    if (code != HX_OK && code != HX_BUSY) atomic_store(&shared.code, code);
  } while (++rounds < 2000 && seconds() < until && (atomic_load(&shared.busy) == 0 || rounds < 20));
  atomic_store(&shared.right, 1);
  pthread_join(thread, NULL);
  const int code = atomic_load(&shared.code);
  case_expect(suite, wrong == 0, "%d of %d results were wrong", wrong, rounds);
  case_expect(suite, code == HX_OK, "a call on the queue of another returned %s; HX_OK or HX_BUSY is asked for",
              result_word(code));
  if (atomic_load(&shared.busy) == 0) case_skip(suite, "the two callers never met inside the queue");
  hx_error error;
  (void)suite->table->queue->reset(suite->queue, &error);
  finish(&shared);
  return false;
}

// ------------------------------------------------------------------ cancelling

static bool visit_cancel(suite_t *suite, const call_t *call) {
  shared_t shared;
  int32_t code = HX_OK;
  if (!start(suite, call, &shared)) return false;
  hx_loaded_plugin_set_cancelled(suite->loaded, true);
  const double before = seconds();
  const bool same = run_and_compare(&shared, suite->queue, &code);  // inputs are compared too
  const double took = seconds() - before;
  hx_loaded_plugin_set_cancelled(suite->loaded, false);
  case_expect(suite, code == HX_CANCELLED || (code == HX_OK && same), "a cancelled call returned %s",
              result_word(code));
  case_expect(suite, took < 30, "a cancelled call took %.1f seconds", took);
  hx_error error = error_init();
  code = suite->table->queue->reset(suite->queue, &error);
  case_expect(suite, code == HX_OK, "reset after cancelling: %s: %s", result_word(code), error.message);
  const bool again = run_and_compare(&shared, suite->queue, &code);
  case_expect(suite, code == HX_OK && again, "the next call: %s, %s", result_word(code),
              again ? "the right result" : "a wrong result");
  finish(&shared);
  return false;
}

typedef struct life_case {
  const char *name;
  bool (*visit)(suite_t *suite, const call_t *call);
} life_case_t;

void run_life(suite_t *suite) {
  static const life_case_t cases[] = {
      {"four queues on four threads", visit_queues}, {"one queue, two callers", visit_busy}, {"cancel", visit_cancel}};
  for (size_t i = 0; i < HX_COUNT_OF(cases); ++i) {
    case_begin(suite, "life", "%s", cases[i].name);
    with_some_call(suite, 12, cases[i].visit);
    case_end(suite);
  }
  const uint64_t threads_before = suite->threads_before;
  suite_close(suite);
  run_rounds(suite, threads_before);
}

uint64_t life_threads(void) { return thread_count(); }
