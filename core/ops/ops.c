// SPDX-License-Identifier: Apache-2.0
// The one table behind parser, printer, verifier, linker and the printed catalogue.
#include "core/ops/ops.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"

// Short names of the rows live in this file only.
enum {
  CT = HX_ACCEPT_CT,
  PT = HX_ACCEPT_PT,
  TENSOR = HX_ACCEPT_TENSOR,
  KEY = HX_ACCEPT_KEY,
  MESSAGE = HX_ACCEPT_MESSAGE,
  SEED = HX_ACCEPT_SEED,
  SCALAR = HX_ACCEPT_SCALAR,
  HANDLE = HX_ACCEPT_HANDLE,
  ANYTHING = HX_ACCEPT_ANYTHING,
  COMMUTES = HX_OP_FLAG_COMMUTES,
  VIEW = HX_OP_FLAG_VIEW,
  TERMINATOR = HX_OP_FLAG_TERMINATOR,
  REGION = HX_OP_FLAG_REGION,
  REQUIRED = 1,
  OPTIONAL = 0
};

#define LIST(...) \
  { __VA_ARGS__ }
#define NOTHING      \
  {                  \
    { .name = NULL } \
  }
#define V(name_, accepts_, dependency_, form_) \
  { #name_, (accepts_), HX_DEPENDS_##dependency_, HX_FORM_##form_ }
#define R(name_, accepts_, form_) \
  { #name_, (accepts_), HX_FORM_##form_ }
#define A(name_, rule_, required_, doc_) \
  { #name_, HX_RULE_##rule_, (required_) != 0, (doc_) }
#define hx_infer_none NULL  // NOLINT: the name is pasted from the row

static const hx_op_info_t op_infos[] = {
#define OP(id_, name_, signature_, tier_, effect_, flags_, operands_, results_, attributes_, infer_, doc_) \
  [HX_OP_##id_] = {.id = HX_OP_##id_,                                                                      \
                   .name = (name_),                                                                        \
                   .signature = (signature_),                                                              \
                   .tier = HX_TIER_##tier_,                                                                \
                   .effect = HX_EFFECT_##effect_,                                                          \
                   .flags = (flags_),                                                                      \
                   .operands = operands_,                                                                  \
                   .results = results_,                                                                    \
                   .attrs = attributes_,                                                                   \
                   .infer = hx_infer_##infer_,                                                             \
                   .doc = (doc_)},
#include "core/ops/ops.def"
};
_Static_assert(HX_COUNT_OF(op_infos) == HX_OP_COUNT, "one row an operation");

const hx_op_info_t *hx_op_info(hx_op_id_t id) { return (unsigned)id < HX_OP_COUNT ? &op_infos[id] : NULL; }

static const hx_op_info_t *sorted[HX_OP_COUNT];
static pthread_once_t sorted_once = PTHREAD_ONCE_INIT;

static int compare_rows(const void *a, const void *b) {
  const hx_op_info_t *left = *(const hx_op_info_t *const *)a, *right = *(const hx_op_info_t *const *)b;
  return strcmp(left->name, right->name);
}

static void sort_rows(void) {
  for (size_t i = 0; i < HX_OP_COUNT; ++i) sorted[i] = &op_infos[i];
  qsort(sorted, HX_OP_COUNT, sizeof *sorted, compare_rows);
}

// Order of a piece of text and a NUL-terminated name, as strcmp.
static int compare_name(hx_str_t text, const char *name) {
  const size_t size = strlen(name);
  const size_t common = text.size < size ? text.size : size;
  const int order = common == 0 ? 0 : memcmp(text.data, name, common);
  return order != 0 ? order : (text.size > size) - (text.size < size);
}

hx_op_id_t hx_op_find(hx_str_t name) {
  pthread_once(&sorted_once, sort_rows);
  size_t low = 0, high = HX_OP_COUNT;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const int order = compare_name(name, sorted[middle]->name);
    if (order == 0) return sorted[middle]->id;
    if (order < 0) high = middle;
    if (order > 0) low = middle + 1;
  }
  return HX_OP_UNKNOWN;
}

const char *hx_op_tier_name(hx_op_tier_t tier) {
  static const char *const names[HX_TIER_COUNT] = {[HX_TIER_PRIMITIVE] = "primitive",
                                                   [HX_TIER_DERIVED] = "derived",
                                                   [HX_TIER_WHOLE] = "whole",
                                                   [HX_TIER_HOST] = "host",
                                                   [HX_TIER_STRUCTURE] = "structure"};
  return (unsigned)tier < HX_TIER_COUNT ? names[tier] : "unknown";
}

const char *hx_op_effect_name(hx_op_effect_t effect) {
  static const char *const names[HX_EFFECT_COUNT] = {[HX_EFFECT_PURE] = "pure",
                                                     [HX_EFFECT_RANDOM] = "random",
                                                     [HX_EFFECT_MUTATING] = "mutating",
                                                     [HX_EFFECT_COLLECTIVE] = "collective"};
  return (unsigned)effect < HX_EFFECT_COUNT ? names[effect] : "unknown";
}

uint32_t hx_accept_of(hx_type_kind_t kind) {
  static const uint32_t bits[HX_TYPE_KIND_COUNT] = {
      [HX_TYPE_CIPHERTEXT] = CT,   [HX_TYPE_PLAINTEXT] = PT, [HX_TYPE_TENSOR] = TENSOR,  [HX_TYPE_KEY] = KEY,
      [HX_TYPE_MESSAGE] = MESSAGE, [HX_TYPE_SEED] = SEED,    [HX_TYPE_INTEGER] = SCALAR, [HX_TYPE_INDEX] = SCALAR,
      [HX_TYPE_F64] = SCALAR,      [HX_TYPE_HANDLE] = HANDLE};
  return (unsigned)kind < HX_TYPE_KIND_COUNT ? bits[kind] : 0;
}

bool hx_op_accepts(uint32_t accepts, hx_type_kind_t kind) {
  uint32_t bits = hx_accept_of(kind);
  if ((bits & (CT | PT)) != 0) bits |= TENSOR;  // a ciphertext or plaintext is a tensor with more state
  return (bits & accepts) != 0;
}

// Which row takes item `index` of `count`: ONE takes one, OPT one if it is there, ANY all that later ONE rows leave.
// Returns `rows` where no row takes it.
static size_t row_of(const hx_op_form_t *forms, size_t rows, size_t index, size_t count) {
  size_t needed = 0;
  for (size_t i = 0; i < rows; ++i) needed += forms[i] == HX_FORM_ONE;
  size_t spare = count > needed ? count - needed : 0, next = 0;
  for (size_t i = 0; i < rows; ++i) {
    const size_t taken = forms[i] == HX_FORM_ONE ? 1 : forms[i] == HX_FORM_ANY || spare == 0 ? spare : 1;
    if (forms[i] != HX_FORM_ONE) spare -= taken;
    next += taken;
    if (index < next) return i;
  }
  return rows;
}

const hx_op_operand_t *hx_op_operand_at(const hx_op_info_t *op, size_t index, size_t count) {
  hx_op_form_t forms[HX_OP_OPERANDS_MAX] = {HX_FORM_ONE};
  size_t rows = 0;
  for (; rows < HX_OP_OPERANDS_MAX && op->operands[rows].name != NULL; ++rows) forms[rows] = op->operands[rows].form;
  const size_t row = row_of(forms, rows, index, count);
  return row < rows ? &op->operands[row] : NULL;
}

const hx_op_result_t *hx_op_result_at(const hx_op_info_t *op, size_t index, size_t count) {
  hx_op_form_t forms[HX_OP_RESULTS_MAX] = {HX_FORM_ONE};
  size_t rows = 0;
  for (; rows < HX_OP_RESULTS_MAX && op->results[rows].name != NULL; ++rows) forms[rows] = op->results[rows].form;
  const size_t row = row_of(forms, rows, index, count);
  return row < rows ? &op->results[row] : NULL;
}

const char *hx_op_operand_name(const hx_op_info_t *op, size_t index, size_t count, char out_name[HX_NAME_MAX]) {
  const hx_op_operand_t *row = hx_op_operand_at(op, index, count);
  if (row == NULL) {
    snprintf(out_name, HX_NAME_MAX, "%zu", index);
  } else if (row->form == HX_FORM_ANY) {
    size_t first = index;
    while (first > 0 && hx_op_operand_at(op, first - 1, count) == row) --first;
    snprintf(out_name, HX_NAME_MAX, "%s[%zu]", row->name, index - first);
  } else {
    snprintf(out_name, HX_NAME_MAX, "%s", row->name);
  }
  return out_name;
}
