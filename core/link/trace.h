// SPDX-License-Identifier: Apache-2.0
// What runs tell traces and records.
#ifndef HELIOX_CORE_LINK_TRACE_H
#define HELIOX_CORE_LINK_TRACE_H

#include "core/link/link.h"
#include "heliox/trace.h"

void hx_trace_begin_run(hx_trace_t *trace);
// Nanoseconds since the trace was made.
uint64_t hx_trace_now(const hx_trace_t *trace);
// Texts of `event` are copied where they are new.
hx_status_t hx_trace_add(hx_trace_t *trace, const hx_trace_event_t *event);

// A recording or comparing run: what the watcher of a record keeps between calls.
typedef struct hx_recording {
  hx_record_t *record;        // to fill, or NULL
  const hx_record_t *replay;  // to compare with, or NULL
  size_t count;               // results seen
  hx_status_t status;         // OUT_OF_MEMORY, or REFUSED at the first difference
  hx_report_t *report;
  const char *source;
  struct hx_replay_index *index;  // of the replay, by names
} hx_recording_t;

// Refused: both at once; a replay of other parameters.
hx_status_t hx_recording_begin(hx_recording_t *recording, const hx_params_t *params);
// A watcher's function; argument: hx_recording_t.
void hx_recording_watch(void *recording, const hx_watched_t *watched);
void hx_recording_deinit(hx_recording_t *recording);
// A watcher's end: the first failure, or a replay that has more results than the run.
hx_status_t hx_recording_end(void *argument);

#endif
