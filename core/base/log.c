// SPDX-License-Identifier: Apache-2.0
#include "core/base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/memory.h"

#define AREAS_MAX 16
#define LINE_MAX_BYTES 2048

static hx_log_sink_t log_sink;
static void *log_argument;
static int default_level = 2;  // warnings
static struct {
  char area[32];
  int level;
} area_levels[AREAS_MAX];
static size_t area_count;

void hx_log_set_sink(hx_log_sink_t sink, void *argument) {
  log_sink = sink;
  log_argument = argument;
}

static int parse_level(hx_str_t text) {
  static const char *const names[] = {"off", "error", "warning", "info", "debug"};
  for (size_t i = 0; i < HX_COUNT_OF(names); ++i) {
    if (hx_str_equal(text, hx_str(names[i]))) return (int)i;
  }
  return -1;
}

// One LEVEL or AREA:LEVEL.
static hx_status_t apply_entry(hx_str_t entry, hx_report_t *report) {
  const char *colon = memchr(entry.data, ':', entry.size);
  const hx_str_t level_text =
      colon == NULL ? entry : (hx_str_t){.data = colon + 1, .size = entry.size - (size_t)(colon + 1 - entry.data)};
  const int level = parse_level(level_text);
  if (level < 0) {
    return hx_report_fail(report, HX_CODE_USAGE, "log level '%.*s' is none of off, error, warning, info, debug",
                          (int)level_text.size, level_text.data);
  }
  if (colon == NULL) {
    default_level = level;
    return HX_STATUS_OK;
  }
  const size_t size = (size_t)(colon - entry.data);
  if (size == 0 || size >= sizeof area_levels[0].area || area_count == AREAS_MAX) {
    return hx_report_fail(report, HX_CODE_USAGE,
                          "log area '%.*s' is empty or too long, or more than %d areas are named", (int)size,
                          entry.data, AREAS_MAX);
  }
  memcpy(area_levels[area_count].area, entry.data, size);
  area_levels[area_count].area[size] = '\0';
  area_levels[area_count++].level = level;
  return HX_STATUS_OK;
}

hx_status_t hx_log_set_filter(const char *filter, hx_report_t *report) {
  if (filter == NULL) return HX_STATUS_OK;
  area_count = 0;
  while (*filter != '\0') {
    const size_t size = strcspn(filter, ",");
    if (size > 0) HX_TRY(apply_entry((hx_str_t){.data = filter, .size = size}, report));
    filter += size + (filter[size] == ',');
  }
  return HX_STATUS_OK;
}

bool hx_log_enabled(int level, const char *area) {
  if (log_sink == NULL) return false;
  for (size_t i = area_count; i-- > 0;) {
    if (strcmp(area_levels[i].area, area) == 0) return level <= area_levels[i].level;
  }
  return level <= default_level;
}

void hx_log(int level, const char *area, const char *format, ...) {
  if (!hx_log_enabled(level, area)) return;
  char text[LINE_MAX_BYTES];
  va_list arguments;
  va_start(arguments, format);
  if (vsnprintf(text, sizeof text, format, arguments) < 0) text[0] = '\0';
  va_end(arguments);
  log_sink(log_argument, level, area, text);
}
