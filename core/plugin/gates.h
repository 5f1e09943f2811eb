// SPDX-License-Identifier: Apache-2.0
// Verdicts of the checks on one candidate. The loader takes the first failure, a full check lists them all.
#ifndef HELIOX_CORE_PLUGIN_GATES_H
#define HELIOX_CORE_PLUGIN_GATES_H

#include "core/base/text.h"
#include "heliox/plugins.h"

typedef struct hx_gates {
  hx_arena_t arena;  // owns the texts
  hx_gate_result_t *rows;
  size_t count, capacity;
  bool exhausted;  // memory ran out; verdicts are incomplete
} hx_gates_t;

void hx_gates_init(hx_gates_t *gates);
void hx_gates_deinit(hx_gates_t *gates);
// Adds a failure: one sentence without the hint, which is the code's remedy until hx_gates_hint replaces it. Control
// bytes and bytes that are not UTF-8 are escaped, texts cut at 1 KiB.
void hx_gates_fail(hx_gates_t *gates, hx_gate_t gate, hx_code_t code, const char *expected, const char *found,
                   const char *format, ...) HX_PRINTF(6, 7);
void hx_gates_hint(hx_gates_t *gates, const char *format, ...) HX_PRINTF(2, 3);
// Notes that a gate passed, unless it has failed.
void hx_gates_pass(hx_gates_t *gates, hx_gate_t gate);
// The same with a remark in the row's text; a gate that has rows already gets one more.
void hx_gates_note(hx_gates_t *gates, hx_gate_t gate, const char *format, ...) HX_PRINTF(3, 4);
// First failure in the order of the gates, or NULL.
const hx_gate_result_t *hx_gates_first(const hx_gates_t *gates);
// Orders the rows by gate; failures of one gate keep their order.
void hx_gates_sort(hx_gates_t *gates);
// Every failure as a fault of a source. The first one's status, or HX_STATUS_OK; HX_STATUS_OUT_OF_MEMORY.
hx_status_t hx_gates_report(const hx_gates_t *gates, const char *source, hx_report_t *report);

// Appends text of unknown origin: control bytes and bytes outside well-formed UTF-8 as \xNN, at most `most` bytes of
// it.
void hx_text_clean(hx_text_t *text, hx_str_t piece, size_t most);
// A cleaned copy in an arena, "" where nothing; NULL: out of memory.
const char *hx_arena_clean(hx_arena_t *arena, const char *text);

#endif
