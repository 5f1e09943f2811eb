// SPDX-License-Identifier: Apache-2.0
#include "core/ops/attr.h"

#include <string.h>

#include "core/base/memory.h"

const hx_attribute_t *hx_attrs_find(hx_attrs_t attrs, const char *name) {
  // A handful of names: a walk is as fast as a search.
  for (size_t i = 0; i < attrs.count; ++i) {
    if (hx_str_equal(attrs.items[i].name, hx_str(name))) return &attrs.items[i].value;
  }
  return NULL;
}

// NULL stands for the default type of the kind.
static bool is_default(const hx_attribute_t *a) {
  if (a->type == NULL) return true;
  if (a->kind == HX_ATTRIBUTE_FLOAT) return a->type->kind == HX_TYPE_F64;
  return a->type->kind == HX_TYPE_INTEGER && a->type->bits == 64 && a->type->signedness == HX_SIGNLESS;
}

static bool number_types_equal(const hx_attribute_t *a, const hx_attribute_t *b) {
  const bool left = is_default(a), right = is_default(b);
  if (left || right) return left && right;
  return hx_type_equal(a->type, b->type);
}

static bool types_equal(const hx_attribute_t *a, const hx_attribute_t *b) {
  if ((a->type == NULL) != (b->type == NULL)) return false;
  if (a->type != NULL) return hx_type_equal(a->type, b->type);
  if (a->input_count != b->input_count || a->result_count != b->result_count) return false;
  for (size_t i = 0; i < a->input_count + a->result_count; ++i) {
    if (!hx_type_equal(a->types[i], b->types[i])) return false;
  }
  return true;
}

// Recursion is bounded: readers limit the nesting of lists and dictionaries.
static bool values_equal(const hx_attribute_t *a, const hx_attribute_t *b) {
  if (a->kind != b->kind) return false;
  switch (a->kind) {
    case HX_ATTRIBUTE_UNIT:
      return true;
    case HX_ATTRIBUTE_BOOL:
      return a->boolean == b->boolean;
    case HX_ATTRIBUTE_INTEGER:
      return a->integer == b->integer && number_types_equal(a, b);
    case HX_ATTRIBUTE_FLOAT:
      // By bits: 0 and -0 differ, equal NaNs do not.
      return memcmp(&a->number, &b->number, sizeof a->number) == 0 && number_types_equal(a, b);
    case HX_ATTRIBUTE_TEXT:
    case HX_ATTRIBUTE_SYMBOL:
      return hx_str_equal(a->text, b->text);
    case HX_ATTRIBUTE_TYPE:
      return types_equal(a, b);
    case HX_ATTRIBUTE_LIST:
      if (a->count != b->count) return false;
      for (size_t i = 0; i < a->count; ++i) {
        if (!values_equal(&a->list[i], &b->list[i])) return false;
      }
      return true;
    case HX_ATTRIBUTE_DICT:
      return hx_attrs_equal((hx_attrs_t){.items = a->dict, .count = a->count},
                            (hx_attrs_t){.items = b->dict, .count = b->count});
  }
  return false;
}

bool hx_attrs_equal(hx_attrs_t a, hx_attrs_t b) {
  if (a.count != b.count) return false;
  for (size_t i = 0; i < a.count; ++i) {
    if (!hx_str_equal(a.items[i].name, b.items[i].name) || !values_equal(&a.items[i].value, &b.items[i].value))
      return false;
  }
  return true;
}

bool hx_attrs_get_i64(hx_attrs_t attrs, const char *name, int64_t *out) {
  const hx_attribute_t *value = hx_attrs_find(attrs, name);
  if (value == NULL || value->kind != HX_ATTRIBUTE_INTEGER) return false;
  *out = value->integer;
  return true;
}

bool hx_attrs_get_text(hx_attrs_t attrs, const char *name, hx_str_t *out) {
  const hx_attribute_t *value = hx_attrs_find(attrs, name);
  if (value == NULL || (value->kind != HX_ATTRIBUTE_TEXT && value->kind != HX_ATTRIBUTE_SYMBOL)) return false;
  *out = value->text;
  return true;
}

bool hx_attrs_get_list(hx_attrs_t attrs, const char *name, const hx_attribute_t **out_items, size_t *out_count) {
  const hx_attribute_t *value = hx_attrs_find(attrs, name);
  if (value == NULL || value->kind != HX_ATTRIBUTE_LIST) return false;
  for (size_t i = 0; i < value->count; ++i) {
    if (value->list[i].kind != HX_ATTRIBUTE_INTEGER) return false;
  }
  *out_items = value->list;
  *out_count = value->count;
  return true;
}

bool hx_attrs_get_complex(hx_attrs_t attrs, const char *name, double *out_re, double *out_im) {
  const hx_attribute_t *value = hx_attrs_find(attrs, name);
  if (value == NULL) return false;
  if (value->kind == HX_ATTRIBUTE_FLOAT) {
    *out_re = value->number;
    *out_im = 0;
    return true;
  }
  if (value->kind != HX_ATTRIBUTE_LIST || value->count != 2) return false;
  if (value->list[0].kind != HX_ATTRIBUTE_FLOAT || value->list[1].kind != HX_ATTRIBUTE_FLOAT) return false;
  *out_re = value->list[0].number;
  *out_im = value->list[1].number;
  return true;
}
