// SPDX-License-Identifier: Apache-2.0
/// @file
/// Statuses, codes, reports, strings, logging, and process-wide settings.
#ifndef HELIOX_BASE_H
#define HELIOX_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// What the library exports.
#define HX_API __attribute__((visibility("default")))
/// A result that must be looked at.
#define HX_MUST_USE __attribute__((warn_unused_result))
/// Texts that are checked as printf's.
#define HX_PRINTF(format_, first_) __attribute__((format(printf, format_, first_)))

/// Coarse result of a function; see status.def for when each is used.
typedef enum hx_status {
/// One row of the table that is included next.
#define STATUS(id_, name_, doc_) HX_STATUS_##id_,
#include "heliox/status.def"
  HX_STATUS_COUNT
} hx_status_t;

/// Checks of a plugin, in order; see codes.def.
typedef enum hx_gate {
/// One row of the table that is included next.
#define GATE(id_, name_) HX_GATE_##id_,
#include "heliox/codes.def"
  HX_GATE_COUNT
} hx_gate_t;

/// Stable reason behind a refusal; see codes.def.
typedef enum hx_code {
/// One row of the table that is included next.
#define CODE(id_, word_, status_, gate_, meaning_, remedy_) HX_CODE_##id_,
#include "heliox/codes.def"
  HX_CODE_COUNT
} hx_code_t;

/// One row of the code list. Static, never freed.
typedef struct hx_code_info {
  hx_code_t code;       ///< its number
  const char *word;     ///< "abi-range"
  hx_status_t status;   ///< what functions return with it
  hx_gate_t gate;       ///< of a plugin's loading that gives it; HX_GATE_NONE elsewhere
  const char *meaning;  ///< one sentence
  const char *remedy;   ///< what to do
} hx_code_info_t;

/// "ok", "invalid", ...; static.
HX_API const char *hx_status_name(hx_status_t status);
/// "discover", "digest", ...; static.
HX_API const char *hx_gate_name(hx_gate_t gate);
/// Row of a code; never NULL (an unknown value gives HX_CODE_INTERNAL's).
HX_API const hx_code_info_t *hx_code_info(hx_code_t code);
/// Row by dash-word, or NULL.
HX_API const hx_code_info_t *hx_code_find(const char *word);

/// A borrowed piece of UTF-8 text, not NUL-terminated.
typedef struct hx_str {
  const char *data;  ///< its bytes; NULL only where size is 0
  size_t size;       ///< their number
} hx_str_t;

/// View of a NUL-terminated string; NULL gives the empty view.
HX_API hx_str_t hx_str(const char *text);
/// Equal bytes.
HX_API bool hx_str_equal(hx_str_t a, hx_str_t b);

/// One fault. Text fields are owned by the report and NUL-terminated; empty where not given.
typedef struct hx_fault {
  hx_code_t code;        ///< what went wrong
  uint32_t line;         ///< 1-based; 0 where there is no text
  uint32_t column;       ///< 1-based, in bytes
  const char *source;    ///< file or program name
  const char *text;      ///< one sentence: what is wrong, with names and both values
  const char *expected;  ///< optional
  const char *found;     ///< optional
  const char *hint;      ///< optional: what would fix it
} hx_fault_t;

/// A growing list of faults. One thread at a time. Every function that takes a report accepts NULL.
typedef struct hx_report hx_report_t;

/// @retval NULL out of memory
HX_API hx_report_t *hx_report_create(void);
/// Frees it and its faults; NULL is allowed.
HX_API void hx_report_release(hx_report_t *report);
/// Faults so far; 0 for NULL.
HX_API size_t hx_report_count(const hx_report_t *report);
/// Borrowed until the report changes; NULL if index is out of range.
HX_API const hx_fault_t *hx_report_get(const hx_report_t *report, size_t index);
/// Forgets all faults.
HX_API void hx_report_clear(hx_report_t *report);
/// Adds a copy of a fault. Control bytes in text are escaped, text is cut at 4 KiB.
/// @return the status of the fault's code, so that callers can `return hx_report_add(...)`.
HX_API hx_status_t hx_report_add(hx_report_t *report, const hx_fault_t *fault);
/// Adds a fault of a code with formatted text. @return the code's status.
HX_API hx_status_t hx_report_fail(hx_report_t *report, hx_code_t code, const char *format, ...) HX_PRINTF(3, 4);
/// As hx_report_fail, at a place in a text.
HX_API hx_status_t hx_report_fail_at(hx_report_t *report, hx_code_t code, const char *source, uint32_t line,
                                     uint32_t column, const char *format, ...) HX_PRINTF(6, 7);

#ifdef __clang_analyzer__
// A fault's status is never OK. The analyzer sees one file at a time, so it is told.
static inline hx_status_t hx_fault_status(hx_status_t status) {
  if (status == HX_STATUS_OK) __builtin_unreachable();
  return status;
}
#define hx_report_add(...) hx_fault_status(hx_report_add(__VA_ARGS__))
#define hx_report_fail(...) hx_fault_status(hx_report_fail(__VA_ARGS__))
#define hx_report_fail_at(...) hx_fault_status(hx_report_fail_at(__VA_ARGS__))
#endif

/// Log levels as in the plugin ABI: 1 error, 2 warning, 3 info, 4 debug.
typedef void (*hx_log_sink_t)(void *argument, int level, const char *area, const char *text);
/// Sends log lines to a sink; NULL drops them (the default). Not while other threads use Heliox.
HX_API void hx_log_set_sink(hx_log_sink_t sink, void *argument);
/// Filter text: LEVEL or AREA:LEVEL, comma-separated; LEVEL is error, warning, info, debug.
HX_API HX_MUST_USE hx_status_t hx_log_set_filter(const char *filter, hx_report_t *report);

/// Threads that all of Heliox may use; 0 asks for HELIOX_NUM_THREADS, else the processors available.
HX_API void hx_threads_set(uint32_t count);
/// What hx_threads_set said, or the processors that this process may use.
HX_API uint32_t hx_threads_get(void);

/// "MAJOR.MINOR.PATCH" of the library.
HX_API const char *hx_version(void);
/// "MAJOR.MINOR" of the plugin ABI that the library speaks.
HX_API const char *hx_plugin_abi(void);

#ifdef __cplusplus
}
#endif
#endif
