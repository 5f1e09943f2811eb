// SPDX-License-Identifier: Apache-2.0
// Attributes of operations: typed constants that live as long as the arena they were made in.
#ifndef HELIOX_CORE_OPS_ATTR_H
#define HELIOX_CORE_OPS_ATTR_H

#include "core/ops/type.h"

typedef enum hx_attr_kind {
  HX_ATTRIBUTE_UNIT,
  HX_ATTRIBUTE_BOOL,
  HX_ATTRIBUTE_INTEGER,  // integer, with type (i64 unless written otherwise)
  HX_ATTRIBUTE_FLOAT,    // number : f64
  HX_ATTRIBUTE_TEXT,     // "..."
  HX_ATTRIBUTE_SYMBOL,   // @name
  HX_ATTRIBUTE_TYPE,     // a type, or a function type (inputs and results)
  HX_ATTRIBUTE_LIST,     // [...]
  HX_ATTRIBUTE_DICT      // {...}
} hx_attr_kind_t;

struct hx_named_attr;

typedef struct hx_attribute {
  hx_attr_kind_t kind;
  bool boolean;
  int64_t integer;  // u64 values keep their bits
  double number;
  hx_str_t text;                     // TEXT without quotes and escapes, SYMBOL without @
  const hx_type_t *type;             // of INTEGER and FLOAT (NULL: i64, f64), and TYPE
  size_t count;                      // LIST, DICT
  const struct hx_attribute *list;   // LIST
  const struct hx_named_attr *dict;  // DICT, names ascending
  size_t input_count, result_count;  // TYPE of a function: types is inputs then results, type is NULL
  const hx_type_t *const *types;
} hx_attribute_t;

typedef struct hx_named_attr {
  hx_str_t name;
  hx_attribute_t value;
} hx_named_attr_t;

// A borrowed list of named attributes, names ascending.
typedef struct hx_attrs {
  const hx_named_attr_t *items;
  size_t count;
} hx_attrs_t;

// Value of a name, or NULL.
const hx_attribute_t *hx_attrs_find(hx_attrs_t attrs, const char *name);
bool hx_attrs_equal(hx_attrs_t a, hx_attrs_t b);
// Typed readers: false where absent or of another kind; *out is untouched then.
bool hx_attrs_get_i64(hx_attrs_t attrs, const char *name, int64_t *out);
bool hx_attrs_get_text(hx_attrs_t attrs, const char *name, hx_str_t *out);
// List of integers; *out_count elements are borrowed through hx_attribute_t.list.
bool hx_attrs_get_list(hx_attrs_t attrs, const char *name, const hx_attribute_t **out_items, size_t *out_count);
// number or [re, im].
bool hx_attrs_get_complex(hx_attrs_t attrs, const char *name, double *out_re, double *out_im);

#endif
