// SPDX-License-Identifier: Apache-2.0
// Tables of calls for the inference tests: operands, attributes and results as text.
#ifndef HELIOX_TESTS_INFER_FIXTURE_H
#define HELIOX_TESTS_INFER_FIXTURE_H

#include "ops_fixture.h"

#define CALL_OPERANDS_MAX 8
#define CALL_RESULTS_MAX 3

// Room for the attributes of one call.
typedef struct call_attrs {
  hx_named_attr_t items[8];
  hx_attribute_t elements[64];
  size_t count, element_count;
} call_attrs_t;

static inline const char *read_attribute(call_attrs_t *attrs, const char *at, hx_attribute_t *out) {
  *out = (hx_attribute_t){0};
  if (*at == '"' || *at == '@') {
    out->kind = *at == '"' ? HX_ATTRIBUTE_TEXT : HX_ATTRIBUTE_SYMBOL;
    const size_t size = strcspn(at + 1, *at == '"' ? "\"" : ",");
    out->text = (hx_str_t){.data = at + 1, .size = size};
    return at + 1 + size + (*at == '"');
  }
  if (*at == '[') {
    hx_attribute_t *list = &attrs->elements[attrs->element_count];
    out->kind = HX_ATTRIBUTE_LIST;
    out->list = list;
    for (++at; *at != ']'; at += strspn(at, ", ")) {
      at = read_attribute(attrs, at, &list[out->count++]);
      ++attrs->element_count;
      assert_true(attrs->element_count < HX_COUNT_OF(attrs->elements));
    }
    return at + 1;
  }
  const size_t size = strcspn(at, ",]");
  char *end = NULL;
  if (memchr(at, '.', size) != NULL) {
    out->kind = HX_ATTRIBUTE_FLOAT;
    out->number = strtod(at, &end);
  } else {
    out->kind = HX_ATTRIBUTE_INTEGER;
    out->integer = *at == '-' ? strtoll(at, &end, 0) : (int64_t)strtoull(at, &end, 0);
  }
  return end;
}

// `name = value, name = value`: integers, numbers with a point, "texts", @symbols, [lists].
static inline void read_attributes(const char *text, call_attrs_t *out) {
  *out = (call_attrs_t){0};
  for (const char *at = text; at != NULL && *at != '\0'; at += strspn(at, ", ")) {
    hx_named_attr_t *item = &out->items[out->count++];
    item->name = (hx_str_t){.data = at, .size = strcspn(at, " =")};
    at += item->name.size + strspn(at + item->name.size, " =");
    at = read_attribute(out, at, &item->value);
  }
}

typedef struct call_row {
  const char *op;
  const char *operands[CALL_OPERANDS_MAX];
  const char *attrs;
  const char *results[CALL_RESULTS_MAX];  // expected; NULL: none, or a fault
  hx_code_t code;
  const char *fault;  // part of the fault's text
  const char *hint;   // part of its hint
} call_row_t;

typedef struct outcome {
  hx_status_t status;
  hx_code_t code;
  char text[1024], hint[256];
  hx_type_t results[CALL_RESULTS_MAX];
} outcome_t;

static inline void infer_types(const call_row_t *row, const hx_ring *ring, const hx_type_t *operands,
                               size_t operand_count, const hx_type_t *const *written, size_t result_count,
                               outcome_t *out) {
  const hx_type_t *pointers[CALL_OPERANDS_MAX];
  for (size_t i = 0; i < operand_count; ++i) pointers[i] = &operands[i];
  call_attrs_t attrs;
  read_attributes(row->attrs, &attrs);
  hx_report_t *report = hx_report_create();
  hx_infer_t call = {.op = hx_op_info(hx_op_find(hx_str(row->op))),
                     .attrs = {.items = attrs.items, .count = attrs.count},
                     .operands = pointers,
                     .operand_count = operand_count,
                     .ring = ring,
                     .results = out->results,
                     .result_count = result_count,
                     .written = written,
                     .report = report,
                     .source = "t.mlir",
                     .line = 3,
                     .column = 5};
  assert_non_null(call.op);
  out->status = hx_op_infer(&call);
  out->code = HX_CODE_NONE;
  out->text[0] = out->hint[0] = '\0';
  if (out->status == HX_STATUS_OK) {
    assert_int_equal(hx_report_count(report), 0);
  } else {
    // One sentence, at the call's place, with the operation's name; no result.
    const hx_fault_t *fault = hx_report_get(report, 0);
    assert_int_equal(hx_report_count(report), 1);
    assert_int_equal(fault->line, 3);
    assert_int_equal(fault->column, 5);
    assert_int_equal(strncmp(fault->text, row->op, strlen(row->op)), 0);
    out->code = fault->code;
    assert_int_equal(hx_code_info(out->code)->status, out->status);
    snprintf(out->text, sizeof out->text, "%s", fault->text);
    snprintf(out->hint, sizeof out->hint, "%s", fault->hint);
    for (size_t i = 0; i < result_count; ++i) assert_int_equal(out->results[i].kind, HX_TYPE_NONE);
  }
  hx_report_release(report);
  // Without a report the verdict is the same.
  if (out->status != HX_STATUS_OK) {
    call.report = NULL;
    assert_int_equal(hx_op_infer(&call), out->status);
  }
}

static inline size_t read_types(const char *const *texts, size_t room, hx_type_t *out) {
  size_t count = 0;
  for (; count < room && texts[count] != NULL; ++count) out[count] = type_of(texts[count], NULL);
  return count;
}

static inline void run_row(const call_row_t *row, const hx_ring *ring) {
  hx_type_t operands[CALL_OPERANDS_MAX], expected[CALL_RESULTS_MAX];
  const size_t operand_count = read_types(row->operands, CALL_OPERANDS_MAX, operands);
  size_t result_count = read_types(row->results, CALL_RESULTS_MAX, expected);
  if (row->code != HX_CODE_NONE && result_count == 0) result_count = 1;
  outcome_t outcome;
  infer_types(row, ring, operands, operand_count, NULL, result_count, &outcome);
  if (outcome.code != row->code) {
    fail_msg("%s(%s, ..) {%s}: %s: %s", row->op, row->operands[0], row->attrs, hx_code_info(outcome.code)->word,
             outcome.text);
  }
  if (row->fault != NULL && strstr(outcome.text, row->fault) == NULL)
    fail_msg("'%s' lacks '%s'", outcome.text, row->fault);
  if (row->hint != NULL && strstr(outcome.hint, row->hint) == NULL)
    fail_msg("hint '%s' lacks '%s'", outcome.hint, row->hint);
  for (size_t i = 0; i < result_count && row->code == HX_CODE_NONE; ++i) {
    hx_type_derive(&expected[i], ring);
    char *found = text_of(&outcome.results[i]);
    if (!hx_type_equal(&outcome.results[i], &expected[i])) {
      char *wanted = text_of(&expected[i]);
      fail_msg("%s {%s} result %zu\n gives %s\n not   %s", row->op, row->attrs, i, found, wanted);
    }
    hx_free(found);
  }
}

// Less knowledge never changes the verdict on good calls nor contradicts what is known: parts of operands are forgotten
// at random, with and without the ring. Written results give the forgotten parts back.
static inline void run_open_row(const call_row_t *row, const hx_ring *ring, uint64_t *seed) {
  if (row->code != HX_CODE_NONE) return;
  hx_type_t operands[CALL_OPERANDS_MAX], expected[CALL_RESULTS_MAX];
  const size_t operand_count = read_types(row->operands, CALL_OPERANDS_MAX, operands);
  const size_t result_count = read_types(row->results, CALL_RESULTS_MAX, expected);
  for (size_t i = 0; i < result_count; ++i) hx_type_derive(&expected[i], ring);
  for (size_t i = 0; i < operand_count; ++i) {
    for (hx_part_t part = 0; part < HX_PART_COUNT; ++part) {
      // dtype and components decide which kind of operand a lift or a plaintext has; they stay.
      if ((operands[i].known & hx_part_bit(part)) != 0 && next_random(seed) % 2 == 0)
        hx_type_forget(&operands[i], part);
    }
  }
  outcome_t outcome;
  const hx_ring *known = next_random(seed) % 2 == 0 ? ring : NULL;
  infer_types(row, known, operands, operand_count, NULL, result_count, &outcome);
  if (outcome.status != HX_STATUS_OK) fail_msg("open %s {%s}: %s", row->op, row->attrs, outcome.text);
  for (size_t i = 0; i < result_count; ++i) {
    const char *part = "";
    if (!hx_type_agrees(&outcome.results[i], &expected[i], &part))
      fail_msg("open %s {%s}: result %zu differs in %s", row->op, row->attrs, i, part);
    assert_int_equal(outcome.results[i].known & ~expected[i].known, 0);
  }
  const hx_type_t *written[CALL_RESULTS_MAX];
  for (size_t i = 0; i < result_count; ++i) written[i] = &expected[i];
  infer_types(row, known, operands, operand_count, written, result_count, &outcome);
  if (outcome.status != HX_STATUS_OK) fail_msg("written %s {%s}: %s", row->op, row->attrs, outcome.text);
  for (size_t i = 0; i < result_count; ++i) assert_true(hx_type_equal(&outcome.results[i], &expected[i]));
}

static inline void run_rows(const call_row_t *rows, size_t count, const hx_ring *ring) {
  uint64_t seed = 99;
  for (size_t i = 0; i < count; ++i) {
    run_row(&rows[i], ring);
    for (int round = 0; round < 60; ++round) run_open_row(&rows[i], ring, &seed);
  }
}

#endif
