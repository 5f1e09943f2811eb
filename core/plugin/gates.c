// SPDX-License-Identifier: Apache-2.0
#include "core/plugin/gates.h"

#include <stdio.h>
#include <string.h>

#include "core/base/observe.h"

#define TEXT_MAX 1024

void hx_gates_init(hx_gates_t *gates) {
  *gates = (hx_gates_t){0};
  hx_arena_init(&gates->arena);
}

void hx_gates_deinit(hx_gates_t *gates) {
  hx_arena_deinit(&gates->arena);
  hx_free(gates->rows);
  *gates = (hx_gates_t){0};
}

// Length of the well-formed UTF-8 sequence at `data`, or 0.
static size_t utf8_length(const unsigned char *data, size_t left) {
  const unsigned char c = data[0];
  if (c < 0x80) return 1;
  const size_t length = c >= 0xc2 && c <= 0xdf ? 2 : (c & 0xf0) == 0xe0 ? 3 : c >= 0xf0 && c <= 0xf4 ? 4 : 0;
  if (length == 0 || left < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((data[i] & 0xc0) != 0x80) return 0;
  }
  const bool overlong = (c == 0xe0 && data[1] < 0xa0) || (c == 0xf0 && data[1] < 0x90);
  const bool outside = (c == 0xed && data[1] > 0x9f) || (c == 0xf4 && data[1] > 0x8f);
  return overlong || outside ? 0 : length;
}

void hx_text_clean(hx_text_t *text, hx_str_t piece, size_t most) {
  const unsigned char *data = (const unsigned char *)piece.data;
  const size_t limit = text->size + most;
  for (size_t i = 0; i < piece.size;) {
    if (text->size + 4 > limit) {
      hx_text_puts(text, "...");
      return;
    }
    const size_t length = utf8_length(data + i, piece.size - i);
    // U+0080 to U+009F are control characters as well.
    const bool control = data[i] < 0x20 || data[i] == 0x7f || (length == 2 && data[i] == 0xc2 && data[i + 1] < 0xa0);
    if (length == 0 || control) {
      hx_text_printf(text, "\\x%02x", data[i]);
      ++i;
    } else {
      hx_text_append(text, (hx_str_t){.data = piece.data + i, .size = length});
      i += length;
    }
  }
}

const char *hx_arena_clean(hx_arena_t *arena, const char *text) {
  hx_text_t clean;
  hx_text_init(&clean);
  hx_text_clean(&clean, hx_str(text), TEXT_MAX);
  const hx_str_t copy = clean.failed ? (hx_str_t){0} : hx_arena_str(arena, (hx_str_t){clean.data, clean.size});
  hx_text_deinit(&clean);
  return copy.data;
}

// The row's copy of a text; "" and a mark where memory ran out.
static const char *keep(hx_gates_t *gates, const char *text) {
  if (text == NULL || *text == '\0') return "";
  const char *copy = hx_arena_clean(&gates->arena, text);
  if (copy == NULL) gates->exhausted = true;
  return copy == NULL ? "" : copy;
}

static hx_gate_result_t *add_row(hx_gates_t *gates, hx_gate_t gate, hx_code_t code) {
  if (hx_grow(&gates->rows, &gates->capacity, gates->count + 1, sizeof *gates->rows) != HX_STATUS_OK) {
    gates->exhausted = true;
    return NULL;
  }
  hx_gate_result_t *row = &gates->rows[gates->count++];
  *row = (hx_gate_result_t){.gate = gate, .code = code, .text = "", .expected = "", .found = "", .hint = ""};
  return row;
}

void hx_gates_fail(hx_gates_t *gates, hx_gate_t gate, hx_code_t code, const char *expected, const char *found,
                   const char *format, ...) {
  char text[TEXT_MAX];
  va_list arguments;
  va_start(arguments, format);
  if (vsnprintf(text, sizeof text, format, arguments) < 0) text[0] = '\0';
  va_end(arguments);
  hx_code_observe(code);
  hx_gate_result_t *row = add_row(gates, gate, code);
  if (row == NULL) return;
  row->text = keep(gates, text);
  row->expected = keep(gates, expected);
  row->found = keep(gates, found);
  row->hint = hx_code_info(code)->remedy;
}

void hx_gates_hint(hx_gates_t *gates, const char *format, ...) {
  if (gates->count == 0) return;
  char text[TEXT_MAX];
  va_list arguments;
  va_start(arguments, format);
  if (vsnprintf(text, sizeof text, format, arguments) < 0) text[0] = '\0';
  va_end(arguments);
  gates->rows[gates->count - 1].hint = keep(gates, text);
}

void hx_gates_pass(hx_gates_t *gates, hx_gate_t gate) {
  for (size_t i = 0; i < gates->count; ++i) {
    if (gates->rows[i].gate == gate) return;
  }
  add_row(gates, gate, HX_CODE_NONE);
}

void hx_gates_note(hx_gates_t *gates, hx_gate_t gate, const char *format, ...) {
  char text[TEXT_MAX];
  va_list arguments;
  va_start(arguments, format);
  if (vsnprintf(text, sizeof text, format, arguments) < 0) text[0] = '\0';
  va_end(arguments);
  hx_gate_result_t *row = NULL;
  for (size_t i = 0; i < gates->count && row == NULL; ++i) {
    if (gates->rows[i].gate == gate && gates->rows[i].code == HX_CODE_NONE && gates->rows[i].text[0] == '\0')
      row = &gates->rows[i];
  }
  if (row == NULL) row = add_row(gates, gate, HX_CODE_NONE);
  if (row != NULL) row->text = keep(gates, text);
}

const hx_gate_result_t *hx_gates_first(const hx_gates_t *gates) {
  const hx_gate_result_t *first = NULL;
  for (size_t i = 0; i < gates->count; ++i) {
    const hx_gate_result_t *row = &gates->rows[i];
    if (row->code != HX_CODE_NONE && (first == NULL || row->gate < first->gate)) first = row;
  }
  return first;
}

// Insertion sort: a dozen rows, and the order within a gate must stay.
void hx_gates_sort(hx_gates_t *gates) {
  for (size_t i = 1; i < gates->count; ++i) {
    const hx_gate_result_t row = gates->rows[i];
    size_t at = i;
    for (; at > 0 && gates->rows[at - 1].gate > row.gate; --at) gates->rows[at] = gates->rows[at - 1];
    gates->rows[at] = row;
  }
}

hx_status_t hx_gates_report(const hx_gates_t *gates, const char *source, hx_report_t *report) {
  if (gates->exhausted) return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "%s: out of memory", source);
  hx_status_t first = HX_STATUS_OK;
  for (size_t i = 0; i < gates->count; ++i) {
    const hx_gate_result_t *row = &gates->rows[i];
    if (row->code == HX_CODE_NONE) continue;
    const hx_status_t status = hx_report_add(report, &(hx_fault_t){.code = row->code,
                                                                   .source = source,
                                                                   .text = row->text,
                                                                   .expected = row->expected,
                                                                   .found = row->found,
                                                                   .hint = row->hint});
    if (first == HX_STATUS_OK) first = status;
  }
  return first;
}
