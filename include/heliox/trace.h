// SPDX-License-Identifier: Apache-2.0
/// @file
/// Watching runs: times of every operation, and digests of every result, to be compared with another run's.
#ifndef HELIOX_TRACE_H
#define HELIOX_TRACE_H

#include "heliox/program.h"

#ifdef __cplusplus
extern "C" {
#endif

// ------------------------------------------------------------------ times

/// One prepared call of a traced run. Texts live as long as the trace.
typedef struct hx_trace_event {
  uint64_t run;                ///< number of the traced run, from 0
  uint64_t call;               ///< number of the call in its run, from 0; loops count every turn
  const char *operation;       ///< "ckks.mul"
  const char *implementation;  ///< "cpu/cpu"
  const char *value;           ///< "%x", the first result
  uint32_t line;               ///< in the program; 0: none
  uint64_t start_ns;           ///< since the trace was made
  uint64_t duration_ns;        ///< until the device had done it
} hx_trace_event_t;

/// Made by hx_trace_create, given to runs in hx_run_options_t.trace. A traced run waits for every call, so it is slower
/// than others. Nothing of any value is kept. One run at a time.
HX_API HX_MUST_USE hx_status_t hx_trace_create(hx_trace_t **out, hx_report_t *report);
/// Frees it; NULL is allowed.
HX_API void hx_trace_release(hx_trace_t *trace);
/// Events in order; borrowed until the next run.
HX_API size_t hx_trace_events(const hx_trace_t *trace, const hx_trace_event_t **out_events);
/// Writes the events as Chrome's JSON trace format, which Perfetto opens (ui.perfetto.dev). An existing file is
/// replaced.
HX_API HX_MUST_USE hx_status_t hx_trace_save(const hx_trace_t *trace, const char *path, hx_report_t *report);

// ------------------------------------------------------------------ digests

/// The digests (SHA-256) of all results of a run's calls. Results that are secret have none, and so have those inside a
/// fused region, which are only named. A replay on another backend compares what both have: where one fuses and the
/// other does not, all that leaves the regions.
HX_API HX_MUST_USE hx_status_t hx_record_create(hx_record_t **out, hx_report_t *report);
/// Frees it; NULL is allowed.
HX_API void hx_record_release(hx_record_t *record);
/// Results recorded.
HX_API size_t hx_record_count(const hx_record_t *record);
/// Writes it; appears whole or not at all.
HX_API HX_MUST_USE hx_status_t hx_record_save(const hx_record_t *record, const char *path, hx_report_t *report);
/// Refused: a file that is no record or damaged (file-format), of another version (file-version), above 64 MiB or 2^20
/// results (limit).
HX_API HX_MUST_USE hx_status_t hx_record_load(const char *path, hx_record_t **out, hx_report_t *report);
/// The same of bytes; `source` names them in faults.
HX_API HX_MUST_USE hx_status_t hx_record_parse(hx_str_t text, const char *source, hx_record_t **out,
                                               hx_report_t *report);

#ifdef __cplusplus
}
#endif
#endif
