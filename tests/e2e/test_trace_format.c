// SPDX-License-Identifier: Apache-2.0
// A run's trace against the format that Perfetto and chrome://tracing read (Trace Event Format): phases, times, tracks,
// and events of one track that nest or follow each other.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

#include "tests/e2e/command.h"

#define SLACK 0.0015  // microseconds: times are written with three digits

static char directory[64];
static command_t command;

static int enter(void **state) {
  (void)state;
  snprintf(directory, sizeof directory, "/tmp/heliox-trace.XXXXXX");
  return mkdtemp(directory) == NULL ? 1 : 0;
}

static int leave(void **state) {
  (void)state;
  return command_remove(directory);
}

typedef struct span {
  int64_t pid, tid;
  double from, to;
} span_t;

// pid and tid are whole numbers; the reader takes no others.
static int64_t whole(const json_t *event, const char *key) {
  const json_t *value = json_object_get(event, key);
  if (!json_is_integer(value)) fail_msg("'%s' is no whole number", key);
  return json_integer_value(value);
}

static double instant(const json_t *event, const char *key) {
  const json_t *value = json_object_get(event, key);
  if (!json_is_number(value)) fail_msg("'%s' is no number", key);
  assert_true(json_number_value(value) >= 0);
  return json_number_value(value);
}

static const char *text(const json_t *event, const char *key) {
  const char *value = json_string_value(json_object_get(event, key));
  if (value == NULL || value[0] == '\0') fail_msg("'%s' is no text", key);
  return value;
}

// One event of a legal phase with what that phase needs; complete events are noted.
static void check_event(const json_t *event, span_t *spans, size_t *count) {
  const char *phase = text(event, "ph");
  text(event, "name");
  whole(event, "pid");
  if (strcmp(phase, "X") == 0) {
    const double from = instant(event, "ts");
    text(event, "cat");
    spans[(*count)++] = (span_t){
        .pid = whole(event, "pid"), .tid = whole(event, "tid"), .from = from, .to = from + instant(event, "dur")};
  } else if (strcmp(phase, "M") == 0) {
    const char *name = text(event, "name");
    assert_true(strcmp(name, "process_name") == 0 || strcmp(name, "thread_name") == 0);
    if (name[0] == 't') whole(event, "tid");
    text(json_object_get(event, "args"), "name");
  } else if (strcmp(phase, "i") == 0 || strcmp(phase, "C") == 0 || strcmp(phase, "s") == 0 || strcmp(phase, "f") == 0) {
    instant(event, "ts");
  } else {
    fail_msg("phase '%s' is none of X, M, i, C, s, f", phase);
  }
  const json_t *args = json_object_get(event, "args");
  assert_true(args == NULL || json_is_object(args));
}

// On one track two events are apart, or one lies within the other: what else is drawn wrongly.
static void check_tracks(const span_t *spans, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    for (size_t k = 0; k < i; ++k) {
      const span_t *a = &spans[i], *b = &spans[k];
      if (a->pid != b->pid || a->tid != b->tid) continue;
      const bool apart = a->from >= b->to - SLACK || b->from >= a->to - SLACK;
      const bool nested = (a->from >= b->from - SLACK && a->to <= b->to + SLACK) ||
                          (b->from >= a->from - SLACK && b->to <= a->to + SLACK);
      if (!apart && !nested) fail_msg("events %zu and %zu of one track overlap", k, i);
    }
  }
}

static void check_trace(const char *name, size_t fewest) {
  char path[160];
  json_error_t error;
  snprintf(path, sizeof path, "%s/%s", directory, name);
  json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
  if (root == NULL) fail_msg("%s:%d: %s", path, error.line, error.text);
  const char *unit = json_string_value(json_object_get(root, "displayTimeUnit"));
  assert_true(unit == NULL || strcmp(unit, "ms") == 0 || strcmp(unit, "ns") == 0);
  const json_t *events = json_object_get(root, "traceEvents");
  assert_true(json_is_array(events));
  span_t *spans = calloc(json_array_size(events) + 1, sizeof *spans);
  assert_non_null(spans);
  size_t count = 0, index;
  const json_t *event;
  json_array_foreach(events, index, event) check_event(event, spans, &count);
  assert_true(count >= fewest);
  check_tracks(spans, count);
  free(spans);
  json_decref(root);
}

static void trace_of_a_run_is_what_perfetto_reads(void **state) {
  (void)state;
  // The server of the demo runs a program of two dozen operations.
  command_run(&command, directory, "ASAN_OPTIONS=detect_leaks=0", "HELIOX_TRACE=$PWD/trace.json $H demo -q");
  if (command.exit_code != 0) fail_msg("%s", command.errors);
  check_trace("trace.json", 15);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(trace_of_a_run_is_what_perfetto_reads, enter, leave),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
