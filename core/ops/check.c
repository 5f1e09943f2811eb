// SPDX-License-Identifier: Apache-2.0
// What a row of the catalogue demands of a call: number and kinds of operands and results, attributes.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/ops/infer.h"

// ------------------------------------------------------------------ operands and results

// "2", "1 or 2", "at least 1".
static void describe_count(const hx_op_form_t *forms, size_t rows, char out[32]) {
  size_t low = 0, optional = 0;
  bool any = false;
  for (size_t i = 0; i < rows; ++i) {
    low += forms[i] == HX_FORM_ONE;
    optional += forms[i] == HX_FORM_OPT;
    any = any || forms[i] == HX_FORM_ANY;
  }
  if (any) {
    snprintf(out, 32, "at least %zu", low);
  } else if (optional > 0) {
    snprintf(out, 32, "%zu or %zu", low, low + optional);
  } else {
    snprintf(out, 32, "%zu", low);
  }
}

static void describe_kinds(uint32_t accepts, char out[96]) {
  static const hx_type_kind_t kinds[] = {HX_TYPE_CIPHERTEXT, HX_TYPE_PLAINTEXT, HX_TYPE_TENSOR, HX_TYPE_KEY,
                                         HX_TYPE_MESSAGE,    HX_TYPE_SEED,      HX_TYPE_HANDLE};
  size_t size = 0;
  out[0] = '\0';
  for (size_t i = 0; i < HX_COUNT_OF(kinds); ++i) {
    if ((hx_accept_of(kinds[i]) & accepts) == 0) continue;
    size += (size_t)snprintf(out + size, 96 - size, "%sa %s", size == 0 ? "" : " or ", hx_type_kind_name(kinds[i]));
  }
  if ((accepts & HX_ACCEPT_SCALAR) != 0) snprintf(out + size, 96 - size, "%sa number", size == 0 ? "" : " or ");
}

static hx_status_t wrong_count(const hx_infer_t *call, const char *what, const hx_op_form_t *forms, size_t rows,
                               size_t found) {
  char wanted[32];
  describe_count(forms, rows, wanted);
  return hx_infer_fail(call, HX_CODE_OPERANDS, "it has %s %s%s, not %zu", wanted, what,
                       strcmp(wanted, "1") == 0 ? "" : "s", found);
}

static bool count_fits(const hx_op_form_t *forms, size_t rows, size_t count) {
  size_t low = 0, high = 0;
  for (size_t i = 0; i < rows; ++i) {
    low += forms[i] == HX_FORM_ONE;
    high = forms[i] == HX_FORM_ANY ? SIZE_MAX : high == SIZE_MAX ? high : high + 1;
  }
  return count >= low && count <= high;
}

static hx_status_t check_operands(const hx_infer_t *call) {
  const hx_op_info_t *op = call->op;
  hx_op_form_t forms[HX_OP_OPERANDS_MAX] = {HX_FORM_ONE};
  size_t rows = 0;
  for (; rows < HX_OP_OPERANDS_MAX && op->operands[rows].name != NULL; ++rows) forms[rows] = op->operands[rows].form;
  if (!count_fits(forms, rows, call->operand_count))
    return wrong_count(call, "operand", forms, rows, call->operand_count);
  for (size_t i = 0; i < call->operand_count; ++i) {
    const uint32_t accepts = hx_op_operand_at(op, i, call->operand_count)->accepts;
    const hx_type_kind_t kind = call->operands[i]->kind;
    if (hx_op_accepts(accepts, kind)) continue;
    char name[HX_NAME_MAX], kinds[96];
    describe_kinds(accepts, kinds);
    return hx_infer_fail(call, HX_CODE_OPERANDS, "operand %s has to be %s, not a %s",
                         hx_op_operand_name(op, i, call->operand_count, name), kinds, hx_type_kind_name(kind));
  }
  return HX_STATUS_OK;
}

static hx_status_t check_results(const hx_infer_t *call) {
  const hx_op_info_t *op = call->op;
  hx_op_form_t forms[HX_OP_RESULTS_MAX] = {HX_FORM_ONE};
  size_t rows = 0;
  for (; rows < HX_OP_RESULTS_MAX && op->results[rows].name != NULL; ++rows) forms[rows] = op->results[rows].form;
  if (!count_fits(forms, rows, call->result_count)) return wrong_count(call, "result", forms, rows, call->result_count);
  if (call->written == NULL) return HX_STATUS_OK;
  for (size_t i = 0; i < call->result_count; ++i) {
    const uint32_t accepts = hx_op_result_at(op, i, call->result_count)->accepts;
    if (call->written[i] == NULL || hx_op_accepts(accepts, call->written[i]->kind)) continue;
    char kinds[96];
    describe_kinds(accepts, kinds);
    return hx_infer_fail(call, HX_CODE_OPERANDS, "result %zu has to be %s, not a %s", i, kinds,
                         hx_type_kind_name(call->written[i]->kind));
  }
  return HX_STATUS_OK;
}

// ------------------------------------------------------------------ attributes

typedef struct attr_check {
  const hx_infer_t *call;
  const hx_op_attr_t *row;
  const hx_attribute_t *value;
} attr_check_t;

static hx_status_t refuse(const attr_check_t *check, const char *what) {
  return hx_infer_fail(check->call, HX_CODE_ATTRIBUTE, "attribute %s %s", check->row->name, what);
}

// Ranges of integers by attribute name; every operation means the same by a name. Others take any 64-bit integer.
static const struct {
  const char *name;
  int64_t low, high;
} integer_ranges[] = {{"axis", 0, HX_BATCH_RANK_MAX - 1},
                      {"count", 1, 65535},
                      {"depth", 0, HX_PRIMES_MAX - 1},
                      {"digit", 0, HX_PRIMES_MAX - 1},
                      {"element", 1, (1 << 18) - 1},
                      {"first", 0, 65534},
                      {"from", 0, HX_RANKS_MAX - 1},
                      {"groups", 1, 65535},
                      {"index", 0, UINT32_MAX},
                      {"predicate", 0, 9},
                      {"rank", 0, HX_RANKS_MAX - 1},
                      {"root", 0, HX_RANKS_MAX - 1},
                      {"slots", 1, 65536},
                      {"to", 0, HX_RANKS_MAX - 1}};

static hx_status_t check_integer(const attr_check_t *check) {
  if (check->value->kind != HX_ATTRIBUTE_INTEGER) return refuse(check, "has to be an integer");
  const int64_t value = check->value->integer;
  for (size_t i = 0; i < HX_COUNT_OF(integer_ranges); ++i) {
    if (strcmp(integer_ranges[i].name, check->row->name) != 0) continue;
    if (value >= integer_ranges[i].low && value <= integer_ranges[i].high) continue;
    char what[96];
    snprintf(what, sizeof what, "is %lld, outside [%lld, %lld]", (long long)value, (long long)integer_ranges[i].low,
             (long long)integer_ranges[i].high);
    return refuse(check, what);
  }
  return HX_STATUS_OK;
}

static hx_status_t check_integers(const attr_check_t *check) {
  const hx_attribute_t *value = check->value;
  if (value->kind != HX_ATTRIBUTE_LIST || value->count == 0)
    return refuse(check, "has to be a list of at least one integer");
  for (size_t i = 0; i < value->count; ++i) {
    if (value->list[i].kind != HX_ATTRIBUTE_INTEGER) return refuse(check, "has to be a list of integers alone");
  }
  return HX_STATUS_OK;
}

// Prime ids: ascending, each once.
static hx_status_t check_ids(const attr_check_t *check) {
  HX_TRY(check_integers(check));
  int64_t next = 0;
  for (size_t i = 0; i < check->value->count; ++i) {
    const int64_t id = check->value->list[i].integer;
    if (id < next || id >= HX_PRIMES_MAX)
      return refuse(check, "has to list prime ids below 256 in ascending order, each once");
    next = id + 1;
  }
  return HX_STATUS_OK;
}

static hx_status_t check_integer_list(const attr_check_t *check) {
  return strcmp(check->row->name, "ids") == 0 ? check_ids(check) : check_integers(check);
}

static hx_status_t check_number(const attr_check_t *check) {
  const hx_attr_kind_t kind = check->value->kind;
  if (kind == HX_ATTRIBUTE_INTEGER || kind == HX_ATTRIBUTE_FLOAT || kind == HX_ATTRIBUTE_BOOL) return HX_STATUS_OK;
  return refuse(check, "has to be a number, true or false");
}

static hx_status_t check_complex(const attr_check_t *check) {
  double re = 0, im = 0;
  const hx_attrs_t attrs = check->call->attrs;
  if (!hx_attrs_get_complex(attrs, check->row->name, &re, &im))
    return refuse(check, "has to be an f64 (1.0, not 1) or [re, im] of f64");
  if (!isfinite(re) || !isfinite(im)) return refuse(check, "is not finite");
  return HX_STATUS_OK;
}

static hx_status_t check_text(const attr_check_t *check) {
  if (check->value->kind != HX_ATTRIBUTE_TEXT || check->value->text.size == 0)
    return refuse(check, "has to be a text in quotes, not empty");
  return HX_STATUS_OK;
}

static hx_status_t check_symbol(const attr_check_t *check) {
  if (check->value->kind != HX_ATTRIBUTE_SYMBOL || check->value->text.size == 0)
    return refuse(check, "has to be a symbol, @name");
  return HX_STATUS_OK;
}

static hx_status_t check_type(const attr_check_t *check) {
  return check->value->kind == HX_ATTRIBUTE_TYPE ? HX_STATUS_OK : refuse(check, "has to be a type");
}

static hx_status_t check_dicts(const attr_check_t *check) {
  const hx_attribute_t *value = check->value;
  if (value->kind != HX_ATTRIBUTE_LIST) return refuse(check, "has to be a list of dictionaries");
  for (size_t i = 0; i < value->count; ++i) {
    if (value->list[i].kind != HX_ATTRIBUTE_DICT) return refuse(check, "has to be a list of dictionaries alone");
  }
  return HX_STATUS_OK;
}

static hx_status_t check_scale(const attr_check_t *check) {
  if (check->value->kind != HX_ATTRIBUTE_TEXT) return refuse(check, "has to be a scale in quotes, as \"2^40\"");
  hx_scale_t scale;
  const hx_infer_t *call = check->call;
  hx_report_t *inner = call->report == NULL ? NULL : hx_report_create();
  hx_status_t status = hx_scale_parse(check->value->text, call->ring, &scale, inner);
  if (status != HX_STATUS_OK) {
    const hx_str_t text = check->value->text;
    char what[128];
    snprintf(what, sizeof what, "attribute scale = \"%.*s\"", (int)(text.size > 96 ? 96 : text.size), text.data);
    status = hx_infer_retell(call, inner, HX_CODE_SCALE_RANGE, what);
  }
  hx_report_release(inner);
  return status;
}

static hx_status_t check_words(const attr_check_t *check, const char *const *words, size_t count, const char *what) {
  for (size_t i = 0; i < count && check->value->kind == HX_ATTRIBUTE_TEXT; ++i) {
    if (hx_str_equal(check->value->text, hx_str(words[i]))) return HX_STATUS_OK;
  }
  return refuse(check, what);
}

static hx_status_t check_domain(const attr_check_t *check) {
  static const char *const words[] = {"ntt", "coefficient"};
  return check_words(check, words, HX_COUNT_OF(words), "has to be \"ntt\" or \"coefficient\"");
}

static hx_status_t check_rounding(const attr_check_t *check) {
  static const char *const words[] = {"nearest", "truncating"};
  return check_words(check, words, HX_COUNT_OF(words), "has to be \"nearest\" or \"truncating\"");
}

static hx_status_t check_purpose(const attr_check_t *check) {
  static const char *const words[] = {"add", "mul", "weighted"};
  return check_words(check, words, HX_COUNT_OF(words), "has to be \"add\", \"mul\" or \"weighted\"");
}

static hx_status_t check_drop(const attr_check_t *check) {
  if (check->value->kind == HX_ATTRIBUTE_LIST) return check_ids(check);
  static const char *const words[] = {"P"};
  return check_words(check, words, HX_COUNT_OF(words), "has to be \"P\" or a list of prime ids");
}

static hx_status_t (*const attr_checks[HX_RULE_COUNT])(const attr_check_t *) = {
    [HX_RULE_I64] = check_integer,       [HX_RULE_I64_LIST] = check_integer_list,
    [HX_RULE_U64_LIST] = check_integers, [HX_RULE_NUMBER] = check_number,
    [HX_RULE_COMPLEX] = check_complex,   [HX_RULE_TEXT] = check_text,
    [HX_RULE_SYMBOL] = check_symbol,     [HX_RULE_TYPE] = check_type,
    [HX_RULE_DICTS] = check_dicts,       [HX_RULE_SCALE] = check_scale,
    [HX_RULE_DOMAIN] = check_domain,     [HX_RULE_ROUNDING] = check_rounding,
    [HX_RULE_DROP] = check_drop,         [HX_RULE_PURPOSE] = check_purpose,
};

static const hx_op_attr_t *find_row(const hx_op_info_t *op, hx_str_t name) {
  for (size_t i = 0; i < HX_OP_ATTRS_MAX && op->attrs[i].name != NULL; ++i) {
    if (hx_str_equal(name, hx_str(op->attrs[i].name))) return &op->attrs[i];
  }
  return NULL;
}

// Names with a dot belong to a dialect or vendor and go with any operation; heliox.implementation is ours.
static hx_status_t check_extra(const hx_infer_t *call, const hx_named_attr_t *attr) {
  const hx_op_attr_t row = {.name = "heliox.implementation", .rule = HX_RULE_TEXT};
  if (hx_str_equal(attr->name, hx_str(row.name))) return check_text(&(attr_check_t){call, &row, &attr->value});
  if (attr->name.size > 0 && memchr(attr->name.data, '.', attr->name.size) != NULL) return HX_STATUS_OK;
  return hx_infer_fail(call, HX_CODE_ATTRIBUTE, "it has no attribute %.*s",
                       (int)(attr->name.size > 64 ? 64 : attr->name.size), attr->name.data);
}

static hx_status_t check_attrs(const hx_infer_t *call) {
  const hx_op_info_t *op = call->op;
  for (size_t i = 0; i < HX_OP_ATTRS_MAX && op->attrs[i].name != NULL; ++i) {
    if (op->attrs[i].required && hx_attrs_find(call->attrs, op->attrs[i].name) == NULL) {
      return hx_infer_fail(call, HX_CODE_ATTRIBUTE, "attribute %s is missing (%s)", op->attrs[i].name,
                           op->attrs[i].doc);
    }
  }
  for (size_t i = 0; i < call->attrs.count; ++i) {
    const hx_named_attr_t *attr = &call->attrs.items[i];
    const hx_op_attr_t *row = find_row(op, attr->name);
    if (row == NULL) {
      HX_TRY(check_extra(call, attr));
    } else {
      HX_TRY(attr_checks[row->rule](&(attr_check_t){call, row, &attr->value}));
    }
  }
  return HX_STATUS_OK;
}

hx_status_t hx_op_check(const hx_infer_t *call) {
  HX_TRY(check_operands(call));
  HX_TRY(check_results(call));
  return check_attrs(call);
}
