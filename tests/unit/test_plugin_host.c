// SPDX-License-Identifier: Apache-2.0
// The function table that plugins are given, and what their results become.
#include <pthread.h>

#include "tests/unit/plugin_fixture.h"

#include "core/plugin/host_table.h"

static void option_answers_set_values_and_the_environment(void **state) {
  (void)state;
  struct hx_plugin_host *host = hx_plugin_host_create("a.b", "/opt/x/a.so");
  assert_non_null(host);
  const hx_host *table = &host->table;
  assert_null(table->option(table->self, "no-such-option"));
  assert_null(table->option(table->self, NULL));
  assert_string_equal(table->option(table->self, "plugin-directory"), "/opt/x");
  setenv("HELIOX_CPU_MASK", "ref,avx2", 1);
  const char *mask = table->option(table->self, "cpu-mask");
  assert_string_equal(mask, "ref,avx2");
  setenv("HELIOX_CPU_MASK", "other", 1);
  assert_string_equal(table->option(table->self, "cpu-mask"), "ref,avx2");  // asked once
  assert_int_equal(hx_plugin_option_set("cpu-mask", "ref"), HX_STATUS_OK);
  assert_string_equal(table->option(table->self, "cpu-mask"), "ref");
  assert_string_equal(mask, "ref,avx2");  // what was handed out stays valid
  assert_int_equal(hx_plugin_option_set("cpu-mask", NULL), HX_STATUS_OK);
  assert_null(table->option(table->self, "cpu-mask"));
  unsetenv("HELIOX_CPU_MASK");
  hx_plugin_host_release(host);
}

typedef struct work {
  const hx_host *table;
  atomic_uint seen[1000];
  atomic_uint threads, most;
  bool nested;
} work_t;

static void body(void *argument, uint64_t index) {
  work_t *work = argument;
  const unsigned now = atomic_fetch_add(&work->threads, 1) + 1;
  unsigned most = atomic_load(&work->most);
  while (now > most && !atomic_compare_exchange_weak(&work->most, &most, now)) continue;
  if (work->nested && index < 10) {
    work_t *inner = calloc(1, sizeof *inner);
    inner->table = work->table;
    assert_int_equal(work->table->parallel_for(work->table->self, 100, body, inner), HX_OK);
    for (int i = 0; i < 100; ++i) assert_int_equal(atomic_load(&inner->seen[i]), 1);
    free(inner);
  }
  atomic_fetch_add(&work->seen[index], 1);
  atomic_fetch_sub(&work->threads, 1);
}

static void parallel_for_runs_each_index_once_within_the_budget(void **state) {
  (void)state;
  struct hx_plugin_host *host = hx_plugin_host_create("a.b", "/opt/x/a.so");
  const hx_host *table = &host->table;
  for (uint32_t budget = 1; budget <= 8; budget *= 2) {
    hx_threads_set(budget);
    assert_int_equal(table->threads(table->self), budget);
    for (int nested = 0; nested < 2; ++nested) {
      work_t *work = calloc(1, sizeof *work);
      work->table = table;
      work->nested = nested != 0;
      assert_int_equal(table->parallel_for(table->self, 1000, body, work), HX_OK);
      for (int i = 0; i < 1000; ++i) assert_int_equal(atomic_load(&work->seen[i]), 1);
      assert_true(atomic_load(&work->most) <= budget);
      free(work);
    }
  }
  assert_int_equal(table->parallel_for(table->self, 0, body, NULL), HX_OK);
  assert_int_equal(table->parallel_for(table->self, 1, NULL, NULL), HX_INVALID);
  hx_threads_set(0);
  hx_plugin_host_release(host);
}

static void parallel_for_stops_when_cancelled(void **state) {
  (void)state;
  struct hx_plugin_host *host = hx_plugin_host_create("a.b", "/opt/x/a.so");
  const hx_host *table = &host->table;
  work_t *work = calloc(1, sizeof *work);
  work->table = table;
  atomic_store(&host->cancelled, true);
  assert_int_equal(table->cancelled(table->self), 1);
  assert_int_equal(table->parallel_for(table->self, 1000, body, work), HX_CANCELLED);
  assert_int_equal(atomic_load(&work->seen[999]), 0);
  atomic_store(&host->cancelled, false);
  assert_int_equal(table->cancelled(table->self), 0);
  free(work);
  hx_plugin_host_release(host);
}

static char logged[4096];

static void keep_line(void *argument, int level, const char *area, const char *text) {
  (void)argument;
  snprintf(logged, sizeof logged, "%d %s %s", level, area, text);
}

static void log_lines_are_bounded_and_escaped(void **state) {
  (void)state;
  struct hx_plugin_host *host = hx_plugin_host_create("a.b", "/opt/x/a.so");
  const hx_host *table = &host->table;
  hx_log_set_sink(keep_line, NULL);
  table->log(table->self, HX_LOG_WARNING, "kernel", "two\nlines \xff\x1b[2J");
  assert_string_equal(logged, "2 plugin a.b: kernel: two\\x0alines \\xff\\x1b[2J");
  logged[0] = '\0';
  table->log(table->self, 99, "kernel", "no such level");
  table->log(table->self, HX_LOG_ERROR, NULL, NULL);
  assert_string_equal(logged, "");
  char *endless = malloc(100000);
  memset(endless, 'x', 99999);
  endless[99999] = '\0';
  table->log(table->self, HX_LOG_ERROR, NULL, endless);
  assert_true(strlen(logged) > 1000 && strlen(logged) < 2200);
  free(endless);
  hx_log_set_sink(NULL, NULL);
  hx_plugin_host_release(host);
}

static int32_t run(hx_prepared *prepared, const hx_call *call, hx_error *error) {
  (void)call;
  (void)error;
  return prepared == (hx_prepared *)(uintptr_t)16 ? HX_OK : HX_INTERNAL;
}

static void run_region_calls_the_other_plugin(void **state) {
  (void)state;
  struct hx_plugin_host *host = hx_plugin_host_create("a.b", "/opt/x/a.so");
  const hx_host *table = &host->table;
  hx_callable callable = {.execute = run, .prepared = (hx_prepared *)(uintptr_t)16};
  hx_error error = {.struct_size = HX_END_OF(hx_error, message)};
  const hx_call call = {.struct_size = HX_END_OF(hx_call, outputs)};
  assert_int_equal(table->run_region(table->self, &callable, &call, &error), HX_OK);
  assert_int_equal(table->run_region(table->self, NULL, &call, &error), HX_INVALID);
  assert_int_equal(error.code, HX_INVALID);
  assert_int_equal(table->run_region(table->self, &callable, NULL, NULL), HX_INVALID);
  hx_plugin_host_release(host);
}

static void scratch_is_aligned_wiped_and_counted(void **state) {
  (void)state;
  struct hx_plugin_host *host = hx_plugin_host_create("a.b", "/opt/x/a.so");
  const hx_host *table = &host->table;
  assert_true(table->struct_size >= HX_END_OF(hx_host, code_text));
  unsigned char *pieces[5];
  for (uint64_t i = 0; i < HX_COUNT_OF(pieces); ++i) {
    pieces[i] = table->scratch_take(table->self, i * 1000);
    assert_non_null(pieces[i]);
    assert_int_equal((uintptr_t)pieces[i] % 64, 0);
    memset(pieces[i], 0x5a, i * 1000);
  }
  for (uint64_t i = 1; i < HX_COUNT_OF(pieces); ++i) {
    for (uint64_t b = 0; b < i * 1000; ++b) assert_int_equal(pieces[i][b], 0x5a);
  }
  table->scratch_give(table->self, pieces[2]);
  table->scratch_give(table->self, NULL);
  table->scratch_give(table->self, pieces[2]);  // twice: ignored, told in the log
  assert_null(table->scratch_take(table->self, UINT64_MAX - 3));
  hx_alloc_fail_at(1);
  assert_null(table->scratch_take(table->self, 64));
  hx_alloc_fail_at(0);
  hx_plugin_host_release(host);  // frees the four that are left
}

typedef struct seen {
  uint64_t done, total, calls;
  bool stop;
} seen_t;

static void see_progress(void *argument, uint64_t done, uint64_t total) {
  seen_t *seen = argument;
  seen->done = done;
  seen->total = total;
  seen->calls += 1;
}

static bool wants_stop(void *argument) { return ((seen_t *)argument)->stop; }

static void stop_at_five(void *argument, uint64_t index) {
  (void)index;
  seen_t *seen = argument;
  if (++seen->calls == 5) seen->stop = true;
}

static void watch_of_a_thread_hears_its_calls(void **state) {
  (void)state;
  struct hx_plugin_host *host = hx_plugin_host_create("a.b", "/opt/x/a.so");
  const hx_host *table = &host->table;
  seen_t seen = {0};
  const hx_call_watch_t watch = {.cancelled = wants_stop, .progress = see_progress, .argument = &seen};
  table->progress(table->self, 1, 2);  // nobody watches
  assert_ptr_equal(hx_call_watch_set(&watch), NULL);
  table->progress(table->self, 3, 10);
  assert_int_equal(seen.done, 3);
  assert_int_equal(seen.total, 10);
  table->progress(table->self, 30, 10);
  assert_int_equal(seen.done, 10);  // never more than all
  table->progress(table->self, 1, 0);
  assert_int_equal(seen.calls, 2);
  assert_int_equal(table->cancelled(table->self), 0);
  seen.stop = true;
  assert_int_equal(table->cancelled(table->self), 1);
  seen = (seen_t){0};
  hx_threads_set(1);
  assert_int_equal(table->parallel_for(table->self, 100, stop_at_five, &seen), HX_CANCELLED);
  assert_int_equal(seen.calls, 5);
  hx_threads_set(0);
  assert_ptr_equal(hx_call_watch_set(NULL), &watch);
  assert_int_equal(table->cancelled(table->self), 0);
  hx_plugin_host_release(host);
}

static void code_text_has_words_for_every_code(void **state) {
  (void)state;
  struct hx_plugin_host *host = hx_plugin_host_create("a.b", "/opt/x/a.so");
  const hx_host *table = &host->table;
  for (int32_t code = HX_OK; code <= HX_INTERNAL; ++code) {
    for (int32_t other = HX_OK; other < code; ++other)
      assert_string_not_equal(table->code_text(table->self, code), table->code_text(table->self, other));
  }
  assert_string_equal(table->code_text(table->self, -1), "an unknown result");
  assert_string_equal(table->code_text(table->self, 4711), "an unknown result");
  hx_plugin_host_release(host);
}

static void row_27_results_of_plugins_become_statuses(void **state) {
  (void)state;
  static const struct {
    int32_t result;
    hx_status_t status;
    hx_code_t code;
  } rows[] = {{HX_INVALID, HX_STATUS_INTERNAL, HX_CODE_PLUGIN_CALL},
              {HX_UNSUPPORTED, HX_STATUS_UNSUPPORTED, HX_CODE_UNSUPPORTED},
              {HX_OUT_OF_MEMORY, HX_STATUS_OUT_OF_MEMORY, HX_CODE_OUT_OF_MEMORY},
              {HX_UNAVAILABLE, HX_STATUS_UNAVAILABLE, HX_CODE_DEVICE},
              {HX_BUSY, HX_STATUS_BUSY, HX_CODE_BUSY},
              {HX_CANCELLED, HX_STATUS_CANCELLED, HX_CODE_CANCELLED},
              {HX_DEVICE_LOST, HX_STATUS_DEVICE_LOST, HX_CODE_DEVICE_LOST},
              {HX_ARGS_SIZE, HX_STATUS_INVALID, HX_CODE_ARGS_SIZE},
              {HX_INTERNAL, HX_STATUS_INTERNAL, HX_CODE_PLUGIN_CALL},
              {77, HX_STATUS_INTERNAL, HX_CODE_PLUGIN_CALL},
              {-5, HX_STATUS_INTERNAL, HX_CODE_PLUGIN_CALL}};
  const hx_plugin_record_t record = {.id = "a.b"};
  const hx_loaded_plugin_t plugin = {.record = &record};
  hx_error error = {.struct_size = HX_END_OF(hx_error, message), .op = 3};
  memset(error.message, '\x07', sizeof error.message);  // control bytes and no end
  assert_int_equal(hx_plugin_status(&plugin, HX_OK, &error, "execute", NULL), HX_STATUS_OK);
  for (size_t i = 0; i < HX_COUNT_OF(rows); ++i) {
    hx_report_t *report = hx_report_create();
    assert_int_equal(hx_plugin_status(&plugin, rows[i].result, &error, "execute", report), rows[i].status);
    const hx_fault_t *fault = hx_report_get(report, 0);
    assert_int_equal(fault->code, rows[i].code);
    assert_non_null(strstr(fault->text, "a.b: execute: \\x07\\x07"));
    assert_non_null(strstr(fault->text, "(operation 3)"));
    assert_true(strlen(fault->text) < 1200);
    assert_int_equal(hx_plugin_status(&plugin, rows[i].result, NULL, "execute", report), rows[i].status);
    assert_non_null(strstr(hx_report_get(report, 1)->text, "no reason given"));
    assert_int_equal(hx_plugin_status(&plugin, rows[i].result, &error, "execute", NULL), rows[i].status);
    hx_report_release(report);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(option_answers_set_values_and_the_environment),
      cmocka_unit_test(parallel_for_runs_each_index_once_within_the_budget),
      cmocka_unit_test(parallel_for_stops_when_cancelled),
      cmocka_unit_test(log_lines_are_bounded_and_escaped),
      cmocka_unit_test(run_region_calls_the_other_plugin),
      cmocka_unit_test(scratch_is_aligned_wiped_and_counted),
      cmocka_unit_test(watch_of_a_thread_hears_its_calls),
      cmocka_unit_test(code_text_has_words_for_every_code),
      cmocka_unit_test(row_27_results_of_plugins_become_statuses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
