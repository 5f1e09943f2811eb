// SPDX-License-Identifier: Apache-2.0
// Traces: one event a call, written in Chrome's trace format.
#include "core/link/trace.h"

#include <string.h>

#include "core/base/clock.h"
#include "core/ir/table.h"
#include "core/tensor/atomic_file.h"

#define EVENTS_MAX ((size_t)16 << 20)

struct hx_trace {
  uint64_t origin;  // of the clock
  uint64_t runs;
  hx_trace_event_t *events;
  size_t count, capacity;
  hx_arena_t arena;  // of texts, each once
  hx_names_t texts;
};

hx_status_t hx_trace_create(hx_trace_t **out, hx_report_t *report) {
  if (out == NULL) return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_trace_create: out is NULL");
  hx_trace_t *trace = hx_zalloc(1, sizeof *trace);
  if (trace == NULL) return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for a trace");
  trace->origin = hx_clock_ns();
  hx_arena_init(&trace->arena);
  hx_names_init(&trace->texts);
  *out = trace;
  return HX_STATUS_OK;
}

void hx_trace_release(hx_trace_t *trace) {
  if (trace == NULL) return;
  hx_free(trace->events);
  hx_names_deinit(&trace->texts);
  hx_arena_deinit(&trace->arena);
  hx_free(trace);
}

size_t hx_trace_events(const hx_trace_t *trace, const hx_trace_event_t **out_events) {
  *out_events = trace->events;
  return trace->count;
}

void hx_trace_begin_run(hx_trace_t *trace) { trace->runs += 1; }

uint64_t hx_trace_now(const hx_trace_t *trace) { return hx_clock_ns() - trace->origin; }

static const char *keep(hx_trace_t *trace, const char *text) {
  uint32_t id = hx_names_find(&trace->texts, hx_str(text));
  if (id == HX_NONE) {
    const hx_str_t kept = hx_arena_str(&trace->arena, hx_str(text));
    if (kept.data == NULL || hx_names_add(&trace->texts, kept, &id) != HX_STATUS_OK) return NULL;
  }
  return trace->texts.names[id].data;
}

hx_status_t hx_trace_add(hx_trace_t *trace, const hx_trace_event_t *event) {
  if (trace->count == EVENTS_MAX) return HX_STATUS_OUT_OF_MEMORY;
  HX_TRY(hx_grow(&trace->events, &trace->capacity, trace->count + 1, sizeof *trace->events));
  hx_trace_event_t *kept = &trace->events[trace->count];
  *kept = *event;
  kept->run = trace->runs - 1;
  kept->operation = keep(trace, event->operation);
  kept->implementation = keep(trace, event->implementation);
  kept->value = keep(trace, event->value);
  if (kept->operation == NULL || kept->implementation == NULL || kept->value == NULL) return HX_STATUS_OUT_OF_MEMORY;
  trace->count += 1;
  return HX_STATUS_OK;
}

// Microseconds with three digits: what the format counts in.
static void write_event(const hx_trace_event_t *event, hx_text_t *out) {
  hx_text_puts(out, "{\"name\":");
  hx_text_json(out, hx_str(event->operation));
  hx_text_printf(out, ",\"cat\":\"call\",\"ph\":\"X\",\"pid\":1,\"tid\":%llu,\"ts\":%llu.%03llu,\"dur\":%llu.%03llu,",
                 (unsigned long long)event->run + 1, (unsigned long long)event->start_ns / 1000,
                 (unsigned long long)event->start_ns % 1000, (unsigned long long)event->duration_ns / 1000,
                 (unsigned long long)event->duration_ns % 1000);
  hx_text_printf(out, "\"args\":{\"call\":%llu,\"line\":%u,\"value\":", (unsigned long long)event->call, event->line);
  hx_text_json(out, hx_str(event->value));
  hx_text_puts(out, ",\"implementation\":");
  hx_text_json(out, hx_str(event->implementation));
  hx_text_puts(out, "}}");
}

static void write_names(const hx_trace_t *trace, hx_text_t *out) {
  hx_text_puts(out, "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,\"args\":{\"name\":\"heliox\"}}");
  for (uint64_t run = 0; run < trace->runs; ++run) {
    hx_text_printf(out,
                   ",\n{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":%llu,\"args\":{\"name\":\"run %llu\"}}",
                   (unsigned long long)run + 1, (unsigned long long)run);
  }
}

hx_status_t hx_trace_save(const hx_trace_t *trace, const char *path, hx_report_t *report) {
  if (trace == NULL || path == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_trace_save: an argument is NULL");
  hx_text_t text;
  hx_text_init(&text);
  hx_text_puts(&text, "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n");
  write_names(trace, &text);
  for (size_t i = 0; i < trace->count; ++i) {
    hx_text_puts(&text, ",\n");
    write_event(&trace->events[i], &text);
  }
  hx_text_puts(&text, "\n]}\n");
  hx_atomic_file_t file = {0};
  hx_status_t status =
      text.failed ? hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory to write %s", path) : HX_STATUS_OK;
  if (status == HX_STATUS_OK) status = hx_atomic_file_open(&file, path, 0666, report);
  if (status == HX_STATUS_OK) status = hx_atomic_file_write(&file, text.data, text.size, report);
  if (status == HX_STATUS_OK) status = hx_atomic_file_commit(&file, true, report);
  hx_atomic_file_abandon(&file);
  hx_text_deinit(&text);
  return status;
}
