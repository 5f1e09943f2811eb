// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "core/base/observe.h"
#include "core/base/text.h"

#undef hx_report_add  // defined here; see base.h on the analyzer
#undef hx_report_fail
#undef hx_report_fail_at

#define TEXT_MAX 4096
#define FAULTS_MAX 10000  // a hostile input must not fill memory with faults

void (*hx_code_observer)(hx_code_t code);

struct hx_report {
  hx_fault_t *faults;
  size_t count, capacity;
};

hx_report_t *hx_report_create(void) { return hx_zalloc(1, sizeof(hx_report_t)); }

static void free_fault(hx_fault_t *fault) {
  const char *texts[] = {fault->source, fault->text, fault->expected, fault->found, fault->hint};
  for (size_t i = 0; i < HX_COUNT_OF(texts); ++i) {
    if (texts[i] != NULL && texts[i][0] != '\0') hx_free((char *)(uintptr_t)texts[i]);
  }
}

void hx_report_clear(hx_report_t *report) {
  if (report == NULL) return;
  for (size_t i = 0; i < report->count; ++i) free_fault(&report->faults[i]);
  report->count = 0;
}

void hx_report_release(hx_report_t *report) {
  if (report == NULL) return;
  hx_report_clear(report);
  hx_free(report->faults);
  hx_free(report);
}

size_t hx_report_count(const hx_report_t *report) { return report == NULL ? 0 : report->count; }

const hx_fault_t *hx_report_get(const hx_report_t *report, size_t index) {
  return report != NULL && index < report->count ? &report->faults[index] : NULL;
}

// A bounded copy with control bytes escaped; "" for nothing or where memory ran out.
static const char *clean_copy(const char *text) {
  if (text == NULL || text[0] == '\0') return "";
  hx_text_t out;
  hx_text_init(&out);
  for (size_t i = 0; text[i] != '\0' && out.size < TEXT_MAX; ++i) {
    const unsigned char c = (unsigned char)text[i];
    if ((c < 0x20 && c != '\n') || c == 0x7f) {
      hx_text_printf(&out, "\\x%02x", c);
    } else {
      hx_text_append(&out, (hx_str_t){.data = text + i, .size = 1});
    }
  }
  char *copy = hx_text_take(&out);
  return copy == NULL ? "" : copy;
}

hx_status_t hx_report_add(hx_report_t *report, const hx_fault_t *fault) {
  const hx_status_t status = hx_code_info(fault->code)->status;
  hx_code_observe(fault->code);
  if (report == NULL || report->count >= FAULTS_MAX) return status;
  if (hx_grow(&report->faults, &report->capacity, report->count + 1, sizeof *report->faults) != HX_STATUS_OK)
    return status;
  report->faults[report->count++] = (hx_fault_t){.code = fault->code,
                                                 .line = fault->line,
                                                 .column = fault->column,
                                                 .source = clean_copy(fault->source),
                                                 .text = clean_copy(fault->text),
                                                 .expected = clean_copy(fault->expected),
                                                 .found = clean_copy(fault->found),
                                                 .hint = clean_copy(fault->hint)};
  return status;
}

static hx_status_t fail_with(hx_report_t *report, hx_code_t code, const char *source, uint32_t line, uint32_t column,
                             const char *format, va_list arguments) {
  if (report == NULL) {
    hx_code_observe(code);
    return hx_code_info(code)->status;
  }
  char text[TEXT_MAX];
  if (vsnprintf(text, sizeof text, format, arguments) < 0) text[0] = '\0';
  return hx_report_add(report,
                       &(hx_fault_t){.code = code, .source = source, .line = line, .column = column, .text = text});
}

hx_status_t hx_report_fail(hx_report_t *report, hx_code_t code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const hx_status_t status = fail_with(report, code, NULL, 0, 0, format, arguments);
  va_end(arguments);
  return status;
}

hx_status_t hx_report_fail_at(hx_report_t *report, hx_code_t code, const char *source, uint32_t line, uint32_t column,
                              const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const hx_status_t status = fail_with(report, code, source, line, column, format, arguments);
  va_end(arguments);
  return status;
}
