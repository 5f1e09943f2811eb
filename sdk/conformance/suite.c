// SPDX-License-Identifier: Apache-2.0
// Cases and their records; the plugin under test, opened.
#include "sdk/conformance/suite.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

void case_begin(suite_t *suite, const char *group, const char *format, ...) {
  results_t *results = suite->results;
  if (results->count == RECORDS_MAX) {
    fprintf(stderr, "heliox-conformance: more than %u cases\n", RECORDS_MAX);
    exit(70);
  }
  record_t *record = &results->records[results->count];
  memset(record, 0, sizeof *record);
  snprintf(record->group, sizeof record->group, "%s", group);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(record->name, sizeof record->name, format, arguments);
  va_end(arguments);
  record->verdict = CASE_RUNNING;
  suite->record = record;
  suite->started = now();
  ++results->count;
}

static void set_message(record_t *record, const char *format, va_list arguments) {
  if (record->message[0] == '\0') vsnprintf(record->message, sizeof record->message, format, arguments);
}

bool case_fail(suite_t *suite, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  if (suite->record->verdict != CASE_FAILED) suite->record->message[0] = '\0';  // of a skip
  set_message(suite->record, format, arguments);
  va_end(arguments);
  suite->record->verdict = CASE_FAILED;
  return false;
}

void case_skip(suite_t *suite, const char *format, ...) {
  if (suite->record->verdict != CASE_RUNNING) return;
  va_list arguments;
  va_start(arguments, format);
  set_message(suite->record, format, arguments);
  va_end(arguments);
  suite->record->verdict = CASE_SKIPPED;
}

bool case_expect(suite_t *suite, bool holds, const char *format, ...) {
  ++suite->record->checks;
  if (holds) return true;
  char text[sizeof suite->record->message];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return case_fail(suite, "%s", text);
}

bool case_failed(const suite_t *suite) { return suite->record->verdict == CASE_FAILED; }

void case_end(suite_t *suite) {
  record_t *record = suite->record;
  if (record->verdict == CASE_RUNNING && record->checks == 0) {
    case_fail(suite, "nothing was checked");
  } else if (record->verdict == CASE_RUNNING) {
    record->verdict = CASE_PASSED;
  }
  record->seconds = now() - suite->started;
  suite_drop_tensors(suite);
}

const char *result_word(int32_t code) {
  static const char *const words[] = {"HX_OK",   "HX_INVALID",   "HX_UNSUPPORTED", "HX_OUT_OF_MEMORY", "HX_UNAVAILABLE",
                                      "HX_BUSY", "HX_CANCELLED", "HX_DEVICE_LOST", "HX_ARGS_SIZE",     "HX_INTERNAL"};
  return code >= 0 && (size_t)code < HX_COUNT_OF(words) ? words[code] : "a code that the ABI does not have";
}

hx_error error_init(void) { return (hx_error){.struct_size = HX_END_OF(hx_error, message), .op = HX_NONE}; }

void *suite_alloc(size_t bytes) {
  void *memory = aligned_alloc(64, (bytes + 63) / 64 * 64 + 64);
  if (memory != NULL) return memory;
  fprintf(stderr, "heliox-conformance: no memory for %zu bytes\n", bytes);
  exit(70);
}

uint64_t suite_random(suite_t *suite) {
  uint64_t z = suite->random += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

// ------------------------------------------------------------------ opening

static bool load(suite_t *suite) {
  hx_report_clear(suite->report);
  if (hx_plugin_load(suite->plugins, suite->index, &suite->loaded, suite->report) == HX_STATUS_OK) return true;
  const hx_fault_t *fault = hx_report_get(suite->report, 0);
  return case_fail(suite, "it does not load: %s", fault == NULL ? "out of memory" : fault->text);
}

bool suite_open(suite_t *suite) {
  if (suite->loaded != NULL) return true;
  if (!load(suite)) return false;
  suite->table = &suite->loaded->table;
  if (suite->table->impl_count == 0 && suite->table->device == NULL && suite->table->collectives != NULL) return true;
  if (suite->table->device == NULL || suite->table->memory == NULL || suite->table->queue == NULL)
    return case_fail(suite, "the roles device, memory and queue are needed to run operations, and one is absent");
  hx_error error = error_init();
  suite->info = (hx_device_info){.struct_size = HX_END_OF(hx_device_info, driver)};
  int32_t code = suite->table->device->info(0, &suite->info, &error);
  if (code == HX_OK) code = suite->table->device->open(0, &suite->device, &error);
  if (code == HX_OK) code = suite->table->queue->create(suite->device, &suite->queue, &error);
  if (code == HX_OK) return true;
  return case_fail(suite, "device 0 does not open: %s: %s", result_word(code), error.message);
}

void suite_close(suite_t *suite) {
  if (suite->loaded == NULL) return;
  suite_drop_rings(suite);
  if (suite->queue != NULL) suite->table->queue->destroy(suite->queue);
  if (suite->device != NULL) suite->table->device->close(suite->device);
  suite->queue = NULL;
  suite->device = NULL;
  hx_loaded_plugin_release(suite->loaded);
  suite->loaded = NULL;
}
