// SPDX-License-Identifier: Apache-2.0
#include "core/passes/costs.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/ops/parts.h"
#include "core/tensor/atomic_file.h"

#define FILE_MAX ((size_t)16 << 20)
#define VERSION 1

hx_costs_t *hx_costs_create(void) {
  hx_costs_t *costs = hx_zalloc(1, sizeof *costs);
  if (costs != NULL) hx_arena_init(&costs->arena);
  return costs;
}

void hx_costs_release(hx_costs_t *costs) {
  if (costs == NULL) return;
  hx_arena_deinit(&costs->arena);
  hx_free(costs->rows);
  hx_free(costs);
}

size_t hx_costs_count(const hx_costs_t *costs) { return costs == NULL ? 0 : costs->count; }

const hx_cost_t *hx_costs_get(const hx_costs_t *costs, size_t index) {
  return costs == NULL || index >= costs->count ? NULL : &costs->rows[index];
}

// ------------------------------------------------------------------ rows

static int compare_keys(const hx_cost_t *a, const hx_cost_t *b) {
  const char *const left[] = {a->device, a->digest, a->operation, a->shape, a->candidate};
  const char *const right[] = {b->device, b->digest, b->operation, b->shape, b->candidate};
  for (size_t i = 0; i < HX_COUNT_OF(left); ++i) {
    const int order = strcmp(left[i], right[i]);
    if (order != 0) return order;
  }
  return 0;
}

// Place of the first row that is not below the key: rows are kept in order.
static size_t lower_bound(const hx_costs_t *costs, const hx_cost_t *key) {
  size_t low = 0, high = costs->count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (compare_keys(&costs->rows[middle], key) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

hx_status_t hx_costs_set(hx_costs_t *costs, const hx_cost_t *row) {
  const size_t place = lower_bound(costs, row);
  if (place < costs->count && compare_keys(&costs->rows[place], row) == 0) {
    costs->rows[place].nanoseconds = row->nanoseconds;
    return HX_STATUS_OK;
  }
  if (costs->count >= HX_COSTS_ROWS_MAX) return HX_STATUS_REFUSED;
  HX_TRY(hx_grow(&costs->rows, &costs->capacity, costs->count + 1, sizeof *costs->rows));
  const hx_cost_t kept = {.device = hx_arena_str(&costs->arena, hx_str(row->device)).data,
                          .digest = hx_arena_str(&costs->arena, hx_str(row->digest)).data,
                          .operation = hx_arena_str(&costs->arena, hx_str(row->operation)).data,
                          .shape = hx_arena_str(&costs->arena, hx_str(row->shape)).data,
                          .candidate = hx_arena_str(&costs->arena, hx_str(row->candidate)).data,
                          .nanoseconds = row->nanoseconds};
  if (kept.device == NULL || kept.digest == NULL || kept.operation == NULL || kept.shape == NULL ||
      kept.candidate == NULL) {
    return HX_STATUS_OUT_OF_MEMORY;
  }
  memmove(costs->rows + place + 1, costs->rows + place, (costs->count - place) * sizeof *costs->rows);
  costs->rows[place] = kept;
  costs->count += 1;
  return HX_STATUS_OK;
}

hx_status_t hx_costs_use(hx_costs_t *costs, const char *device, const char *digest) {
  costs->device = hx_arena_str(&costs->arena, hx_str(device)).data;
  costs->digest = hx_arena_str(&costs->arena, hx_str(digest)).data;
  return costs->device == NULL || costs->digest == NULL ? HX_STATUS_OUT_OF_MEMORY : HX_STATUS_OK;
}

double hx_costs_find(const hx_costs_t *costs, const char *operation, const char *shape, const char *candidate) {
  if (costs == NULL || costs->device == NULL || costs->digest == NULL) return -1;
  const hx_cost_t key = {
      .device = costs->device, .digest = costs->digest, .operation = operation, .shape = shape, .candidate = candidate};
  const size_t place = lower_bound(costs, &key);
  const bool is_there = place < costs->count && compare_keys(&costs->rows[place], &key) == 0;
  return is_there ? costs->rows[place].nanoseconds : -1;
}

// ------------------------------------------------------------------ shapes

static void put_type(const hx_type_t *type, hx_text_t *out) {
  if (type->kind == HX_TYPE_KEY) {
    hx_text_puts(out, "key");
    return;
  }
  hx_text_printf(out, "%s/c%u/l%u/%s/%s", hx_type_kind_name(type->kind), type->components,
                 hx_primes_count(&type->primes), type->domain == HX_NTT ? "ntt" : "coefficient",
                 type->basis == HX_BASIS_QP  ? "QP"
                 : type->basis == HX_BASIS_P ? "P"
                                             : "Q");
  for (uint32_t i = 0; i < type->batch_rank; ++i)
    hx_text_printf(out, "%s%llu", i == 0 ? "/b" : "x", (unsigned long long)type->batch_shape[i]);
}

hx_status_t hx_cost_shape(const hx_ir_op_t *op, const hx_ring *ring, hx_text_t *out) {
  hx_text_clear(out);
  if (ring == NULL) return HX_STATUS_INVALID;
  hx_text_printf(out, "n%u w%u q%u p%u d%u", ring->log_n, ring->word, ring->q_count, ring->p_count, ring->digit_run);
  for (size_t i = 0; i < op->operand_count + op->result_count; ++i) {
    const bool is_operand = i < op->operand_count;
    const hx_type_t *type = is_operand ? op->operands[i]->type : op->results[i - op->operand_count]->type;
    if (!hx_type_is_complete(type)) return HX_STATUS_INVALID;
    if (type->kind == HX_TYPE_KEY) continue;  // their number follows from the steps
    hx_text_puts(out, i == op->operand_count ? " -> " : " ");
    put_type(type, out);
  }
  const hx_attribute_t *steps = NULL;
  size_t count = 0;
  int64_t number = 0;
  if (hx_attrs_get_list(op->attrs, "steps", &steps, &count)) {
    size_t turning = 0;
    for (size_t i = 0; i < count; ++i) turning += steps[i].integer != 0 ? 1 : 0;
    hx_text_printf(out, " steps%zu/%zu", turning, count);
  }
  if (hx_attrs_get_i64(op->attrs, "count", &number)) hx_text_printf(out, " count%lld", (long long)number);
  if (hx_attrs_get_i64(op->attrs, "digit", &number)) hx_text_printf(out, " digit%lld", (long long)number);
  return out->failed ? HX_STATUS_OUT_OF_MEMORY : HX_STATUS_OK;
}

// ------------------------------------------------------------------ files

static hx_status_t add_row(hx_costs_t *costs, const json_t *json, size_t index, const char *source,
                           hx_report_t *report) {
  static const char *const names[] = {"device", "digest", "operation", "shape", "candidate"};
  const char *texts[HX_COUNT_OF(names)];
  for (size_t i = 0; i < HX_COUNT_OF(names); ++i) {
    texts[i] = json_string_value(json_object_get(json, names[i]));
    if (texts[i] == NULL)
      return hx_report_fail(report, HX_CODE_TEXT_FORMAT, "%s: row %zu has no text '%s'", source, index, names[i]);
  }
  const json_t *number = json_object_get(json, "nanoseconds");
  const double nanoseconds = json_number_value(number);
  if (!json_is_number(number) || !isfinite(nanoseconds) || nanoseconds <= 0)
    return hx_report_fail(report, HX_CODE_TEXT_FORMAT, "%s: 'nanoseconds' of row %zu is no positive number", source,
                          index);
  const hx_status_t status = hx_costs_set(costs, &(hx_cost_t){.device = texts[0],
                                                              .digest = texts[1],
                                                              .operation = texts[2],
                                                              .shape = texts[3],
                                                              .candidate = texts[4],
                                                              .nanoseconds = nanoseconds});
  if (status == HX_STATUS_OK) return status;
  return hx_report_fail(report, status == HX_STATUS_REFUSED ? HX_CODE_LIMIT : HX_CODE_OUT_OF_MEMORY,
                        "%s: no room for row %zu; a table has at most %d rows", source, index, HX_COSTS_ROWS_MAX);
}

hx_status_t hx_costs_parse(hx_costs_t *costs, hx_str_t text, const char *source, hx_report_t *report) {
  json_error_t error;
  if (text.size > FILE_MAX)
    return hx_report_fail(report, HX_CODE_LIMIT, "%s: %zu bytes, a table of costs has at most %zu", source, text.size,
                          FILE_MAX);
  json_t *json = json_loadb(text.data, text.size, JSON_REJECT_DUPLICATES, &error);
  if (json == NULL)
    return hx_report_fail_at(report, HX_CODE_TEXT_FORMAT, source, (uint32_t)(error.line > 0 ? error.line : 0),
                             (uint32_t)(error.column > 0 ? error.column : 0), "%s", error.text);
  const char *format = json_string_value(json_object_get(json, "format"));
  const json_t *version = json_object_get(json, "format_version"), *rows = json_object_get(json, "rows");
  hx_status_t status = HX_STATUS_OK;
  if (format == NULL || strcmp(format, "heliox-costs") != 0 || !json_is_array(rows)) {
    status = hx_report_fail(report, HX_CODE_FILE_KIND, "%s is no table of costs (format heliox-costs, rows)", source);
  } else if (json_integer_value(version) != VERSION) {
    status = hx_report_fail(report, HX_CODE_FILE_VERSION, "%s: format_version %lld, this build reads %d", source,
                            (long long)json_integer_value(version), VERSION);
  }
  for (size_t i = 0; i < json_array_size(rows) && status == HX_STATUS_OK; ++i)
    status = add_row(costs, json_array_get(rows, i), i, source, report);
  json_decref(json);
  return status;
}

hx_status_t hx_costs_load(hx_costs_t *costs, const char *path, hx_report_t *report) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) return hx_report_fail(report, HX_CODE_IO, "%s: cannot be opened", path);
  char *text = hx_alloc(FILE_MAX + 1);
  const size_t size = text == NULL ? 0 : fread(text, 1, FILE_MAX + 1, file);
  const bool is_bad = ferror(file) != 0;
  fclose(file);
  const hx_status_t status = text == NULL ? hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory to read %s", path)
                             : is_bad     ? hx_report_fail(report, HX_CODE_IO, "%s: cannot be read", path)
                                          : hx_costs_parse(costs, (hx_str_t){.data = text, .size = size}, path, report);
  hx_free(text);
  return status;
}

hx_status_t hx_costs_save(const hx_costs_t *costs, const char *path, hx_report_t *report) {
  json_t *rows = json_array();
  for (size_t i = 0; i < costs->count; ++i) {
    const hx_cost_t *row = &costs->rows[i];
    json_array_append_new(rows, json_pack("{s:s, s:s, s:s, s:s, s:s, s:f}", "device", row->device, "digest",
                                          row->digest, "operation", row->operation, "shape", row->shape, "candidate",
                                          row->candidate, "nanoseconds", row->nanoseconds));
  }
  json_t *json = json_pack("{s:s, s:i, s:o}", "format", "heliox-costs", "format_version", VERSION, "rows", rows);
  char *text = json == NULL || json_array_size(rows) != costs->count ? NULL : json_dumps(json, JSON_INDENT(1));
  json_decref(json);
  if (text == NULL) return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory to write %s", path);
  hx_atomic_file_t file = {0};
  hx_status_t status = hx_atomic_file_open(&file, path, 0644, report);
  if (status == HX_STATUS_OK) status = hx_atomic_file_write(&file, text, strlen(text), report);
  if (status == HX_STATUS_OK) status = hx_atomic_file_commit(&file, true, report);
  hx_atomic_file_abandon(&file);
  free(text);  // jansson's own allocation
  return status;
}
