// SPDX-License-Identifier: Apache-2.0
// The catalogue's rows, the checks that come from them, attributes, rows of a ring.
#include <math.h>

#include "heliox/ops.h"
#include "ops_fixture.h"

// ------------------------------------------------------------------ rows

static void rows_are_complete_and_found_by_name(void **state) {
  (void)state;
  for (int i = 0; i < HX_OP_COUNT; ++i) {
    const hx_op_info_t *row = hx_op_info((hx_op_id_t)i);
    assert_int_equal(row->id, i);
    assert_int_equal(hx_op_find(hx_str(row->name)), i);  // names are distinct
    assert_true(row->signature >= 1 && strlen(row->doc) > 0 && row->doc[strlen(row->doc) - 1] == '.');
    assert_true(row->infer != NULL || row->tier == HX_TIER_STRUCTURE);
    assert_true(strchr(row->name, '.') != NULL);
  }
  assert_null(hx_op_info(HX_OP_UNKNOWN));
  static const char *const unknown[] = {"", "ckks", "ckks.", "ckks.ad", "ckks.addd", "rns.add\n", "zzz"};
  for (size_t i = 0; i < HX_COUNT_OF(unknown); ++i) assert_int_equal(hx_op_find(hx_str(unknown[i])), HX_OP_UNKNOWN);
  assert_int_equal(hx_op_find((hx_str_t){.data = NULL, .size = 0}), HX_OP_UNKNOWN);
}

static void rows_say_what_their_lines_say(void **state) {
  (void)state;
  const hx_op_info_t *rotate = hx_op_info(HX_OP_CKKS_ROTATE);
  assert_string_equal(rotate->name, "ckks.rotate");
  assert_int_equal(rotate->tier, HX_TIER_WHOLE);
  assert_int_equal(rotate->operands[1].accepts, HX_ACCEPT_KEY);
  assert_int_equal(rotate->operands[1].form, HX_FORM_OPT);
  assert_null(rotate->operands[2].name);
  assert_string_equal(rotate->attrs[0].name, "step");
  assert_true(rotate->attrs[0].required && !rotate->attrs[1].required);
  assert_int_equal(hx_op_info(HX_OP_CKKS_ENCRYPT)->effect, HX_EFFECT_RANDOM);
  assert_int_equal(hx_op_info(HX_OP_RNS_ADD)->flags, HX_OP_FLAG_COMMUTES);
  assert_int_equal(hx_op_info(HX_OP_RNS_AUTOMORPHISM)->operands[0].dependency, HX_DEPENDS_REINDEXED);
  assert_int_equal(hx_op_info(HX_OP_CKKS_LEVEL_DROP)->operands[0].accepts, HX_ACCEPT_CT | HX_ACCEPT_PT);
  assert_string_equal(hx_op_info(HX_OP_CKKS_PREPARE_PLAIN)->attrs[0].name, "for");
  assert_string_equal(hx_op_tier_name(HX_TIER_WHOLE), "whole");
  assert_string_equal(hx_op_effect_name(HX_EFFECT_COLLECTIVE), "collective");
}

static void primitive_tier_is_what_a_minimal_plugin_needs(void **state) {
  (void)state;
  static const char *const names[] = {"ntt.forward",    "ntt.inverse",      "rns.add",     "rns.sub",
                                      "rns.neg",        "rns.mul",          "rns.mul_add", "rns.mul_scalar",
                                      "rns.add_scalar", "rns.center_lift",  "rns.mod_up",  "rns.mod_down",
                                      "rns.rescale",    "rns.automorphism", "rns.reduce",  "rns.expand_uniform"};
  size_t count = 0;
  for (int i = 0; i < HX_OP_COUNT; ++i) count += hx_op_info((hx_op_id_t)i)->tier == HX_TIER_PRIMITIVE;
  assert_int_equal(count, HX_COUNT_OF(names));
  for (size_t i = 0; i < HX_COUNT_OF(names); ++i) {
    assert_int_equal(hx_op_info(hx_op_find(hx_str(names[i])))->tier, HX_TIER_PRIMITIVE);
  }
}

static void operands_map_to_their_rows(void **state) {
  (void)state;
  char name[HX_NAME_MAX];
  const hx_op_info_t *row = hx_op_info(HX_OP_RNS_KEY_PRODUCT);
  assert_string_equal(hx_op_operand_name(row, 2, 3, name), "acc");
  assert_null(hx_op_operand_at(row, 2, 2));
  row = hx_op_info(HX_OP_CKKS_ROTATE_MANY);
  assert_string_equal(hx_op_operand_name(row, 0, 4, name), "a");
  assert_string_equal(hx_op_operand_name(row, 3, 4, name), "keys[2]");
  assert_int_equal(hx_op_operand_at(row, 3, 4)->accepts, HX_ACCEPT_KEY);
  assert_string_equal(hx_op_result_at(row, 2, 3)->name, "values");
  row = hx_op_info(HX_OP_SCF_FOR);
  assert_string_equal(hx_op_operand_name(row, 2, 3, name), "step");
  assert_string_equal(hx_op_operand_name(row, 3, 5, name), "carried[0]");
}

static void descriptions_cover_the_catalogue(void **state) {
  (void)state;
  assert_int_equal(hx_ops_count(), HX_OP_COUNT);
  assert_true(hx_ops_version() >= 1);
  assert_null(hx_ops_get(hx_ops_count()));
  for (size_t i = 0; i < hx_ops_count(); ++i) {
    const hx_op_description_t *op = hx_ops_get(i);
    // A line that fills its room has been cut.
    assert_true(strlen(op->operands) < 190 && strlen(op->results) < 190 && strlen(op->attributes) < 190);
    assert_string_equal(op->name, hx_op_info((hx_op_id_t)i)->name);
  }
  const hx_op_description_t *rotate = hx_ops_get(HX_OP_CKKS_ROTATE);
  assert_string_equal(rotate->operands, "a: ciphertext, key: key?");
  assert_string_equal(rotate->results, "value: ciphertext");
  assert_string_equal(rotate->attributes, "step: i64, output_domain: domain?");
  assert_string_equal(rotate->tier, "whole");
  assert_string_equal(rotate->effect, "pure");
  assert_string_equal(hx_ops_get(HX_OP_CKKS_WEIGHTED_SUM)->operands, "terms: ciphertext|plaintext*");
  assert_string_equal(hx_ops_get(HX_OP_RETURN)->operands, "values: any*");
}

// ------------------------------------------------------------------ checks

static hx_attribute_t integer(int64_t value) {
  return (hx_attribute_t){.kind = HX_ATTRIBUTE_INTEGER, .integer = value};
}
static hx_attribute_t number(double value) { return (hx_attribute_t){.kind = HX_ATTRIBUTE_FLOAT, .number = value}; }
static hx_attribute_t text(const char *value) {
  return (hx_attribute_t){.kind = HX_ATTRIBUTE_TEXT, .text = hx_str(value)};
}
static hx_attribute_t symbol(const char *value) {
  return (hx_attribute_t){.kind = HX_ATTRIBUTE_SYMBOL, .text = hx_str(value)};
}
static hx_attribute_t list(const hx_attribute_t *items, size_t count) {
  return (hx_attribute_t){.kind = HX_ATTRIBUTE_LIST, .list = items, .count = count};
}

// Checks one operation of operands and attributes; returns the code of its fault, whose text is kept.
static char fault_text[512];
static hx_code_t check(hx_op_id_t id, const char *const *operands, size_t operand_count, const hx_named_attr_t *attrs,
                       size_t attr_count, size_t result_count) {
  hx_type_t types[8];
  const hx_type_t *pointers[8];
  for (size_t i = 0; i < operand_count; ++i) {
    types[i] = type_of(operands[i], NULL);
    pointers[i] = &types[i];
  }
  hx_report_t *report = hx_report_create();
  const hx_infer_t call = {.op = hx_op_info(id),
                           .attrs = {.items = attrs, .count = attr_count},
                           .operands = pointers,
                           .operand_count = operand_count,
                           .result_count = result_count,
                           .ring = &ring_a,
                           .report = report,
                           .source = "t.mlir",
                           .line = 4,
                           .column = 2};
  const hx_status_t status = hx_op_check(&call);
  hx_code_t code = HX_CODE_NONE;
  fault_text[0] = '\0';
  if (status != HX_STATUS_OK) {
    const hx_fault_t *fault = hx_report_get(report, 0);
    code = fault->code;
    assert_int_equal(hx_report_count(report), 1);
    assert_int_equal(fault->line, 4);
    assert_int_equal(fault->column, 2);
    assert_string_equal(fault->source, "t.mlir");
    assert_int_equal(strncmp(fault->text, call.op->name, strlen(call.op->name)), 0);
    snprintf(fault_text, sizeof fault_text, "%s", fault->text);
  }
  hx_report_release(report);
  return code;
}

static void check_counts_operands_and_results(void **state) {
  (void)state;
  const char *ct = "!ckks.ciphertext<>", *key = "!ckks.key<>", *i64 = "i64";
  const char *three[] = {ct, ct, ct}, *keyed[] = {ct, key}, *numbers[] = {i64, i64, i64, ct, ct};
  assert_int_equal(check(HX_OP_CKKS_ADD, three, 2, NULL, 0, 1), HX_CODE_NONE);
  assert_int_equal(check(HX_OP_CKKS_ADD, three, 3, NULL, 0, 1), HX_CODE_OPERANDS);
  assert_string_equal(fault_text, "ckks.add: it has 2 operands, not 3");
  assert_int_equal(check(HX_OP_CKKS_ADD, three, 1, NULL, 0, 1), HX_CODE_OPERANDS);
  assert_int_equal(check(HX_OP_CKKS_ADD, three, 2, NULL, 0, 2), HX_CODE_OPERANDS);
  assert_string_equal(fault_text, "ckks.add: it has 1 result, not 2");
  assert_int_equal(check(HX_OP_CKKS_RELINEARIZE, keyed, 1, NULL, 0, 1), HX_CODE_NONE);
  assert_int_equal(check(HX_OP_CKKS_RELINEARIZE, keyed, 2, NULL, 0, 1), HX_CODE_NONE);
  assert_int_equal(check(HX_OP_CKKS_RELINEARIZE, three, 3, NULL, 0, 1), HX_CODE_OPERANDS);
  assert_string_equal(fault_text, "ckks.relinearize: it has 1 or 2 operands, not 3");
  assert_int_equal(check(HX_OP_RETURN, three, 0, NULL, 0, 0), HX_CODE_NONE);
  assert_int_equal(check(HX_OP_RETURN, three, 3, NULL, 0, 0), HX_CODE_NONE);
  assert_int_equal(check(HX_OP_SCF_FOR, numbers, 5, NULL, 0, 2), HX_CODE_NONE);
  assert_int_equal(check(HX_OP_SCF_FOR, numbers, 2, NULL, 0, 0), HX_CODE_OPERANDS);
  assert_string_equal(fault_text, "scf.for: it has at least 3 operands, not 2");
}

static void check_refuses_other_kinds(void **state) {
  (void)state;
  const char *mixed[] = {"!ckks.ciphertext<>", "!ckks.plaintext<>"},
             *tensors[] = {"!rns.tensor<>", "!ckks.ciphertext<>"};
  assert_int_equal(check(HX_OP_CKKS_ADD, mixed, 2, NULL, 0, 1), HX_CODE_OPERANDS);
  assert_string_equal(fault_text, "ckks.add: operand b has to be a ciphertext, not a plaintext");
  assert_int_equal(check(HX_OP_CKKS_ADD, tensors, 2, NULL, 0, 1), HX_CODE_OPERANDS);
  assert_int_equal(check(HX_OP_CKKS_MUL_PLAIN, mixed, 2, NULL, 0, 1), HX_CODE_NONE);
  // A ciphertext is a tensor with more state, a key is not.
  assert_int_equal(check(HX_OP_RNS_ADD, tensors, 2, NULL, 0, 1), HX_CODE_NONE);
  assert_int_equal(check(HX_OP_RNS_ADD, mixed, 2, NULL, 0, 1), HX_CODE_NONE);
  const char *keys[] = {"!ckks.key<>", "!ckks.key<>"}, *message[] = {"tensor<8xf64>"};
  assert_int_equal(check(HX_OP_RNS_ADD, keys, 2, NULL, 0, 1), HX_CODE_OPERANDS);
  assert_int_equal(check(HX_OP_NTT_FORWARD, message, 1, NULL, 0, 1), HX_CODE_OPERANDS);
  for (int kind = 1; kind < HX_TYPE_KIND_COUNT; ++kind)
    assert_true(hx_op_accepts(HX_ACCEPT_ANYTHING, (hx_type_kind_t)kind));
  assert_false(hx_op_accepts(HX_ACCEPT_ANYTHING, HX_TYPE_NONE));
}

static void check_applies_attribute_rules(void **state) {
  (void)state;
  const hx_attribute_t ids[] = {integer(0), integer(2)}, down[] = {integer(2), integer(0)},
                       mixed[] = {integer(1), text("x")};
  const hx_attribute_t far_ids[] = {integer(256)}, pair[] = {number(1), number(-2)},
                       nan_pair[] = {number(1), number(NAN)};
  const hx_attribute_t big[] = {integer(-1), integer(INT64_MIN)}, dicts[] = {{.kind = HX_ATTRIBUTE_DICT}};
  const hx_attribute_t unit = {.kind = HX_ATTRIBUTE_UNIT}, type = {.kind = HX_ATTRIBUTE_TYPE};
  static const char *const ct[] = {"!ckks.ciphertext<>", "!ckks.key<>"}, *const message[] = {"tensor<8xf64>"};
  const struct {
    hx_op_id_t id;
    const char *name;
    hx_attribute_t value;
    bool good;
  } rows[] = {
      {HX_OP_CKKS_ROTATE, "step", integer(INT64_MIN), true},
      {HX_OP_CKKS_ROTATE, "step", number(1), false},
      {HX_OP_CKKS_ROTATE_MANY, "steps", list(ids, 2), true},
      {HX_OP_CKKS_ROTATE_MANY, "steps", list(down, 2), true},
      {HX_OP_CKKS_ROTATE_MANY, "steps", list(ids, 0), false},
      {HX_OP_CKKS_ROTATE_MANY, "steps", list(mixed, 2), false},
      {HX_OP_CKKS_ROTATE_MANY, "steps", integer(1), false},
      {HX_OP_CKKS_LEVEL_DROP, "depth", integer(-1), false},
      {HX_OP_CKKS_LEVEL_DROP, "depth", integer(255), true},
      {HX_OP_CKKS_LEVEL_DROP, "depth", integer(256), false},
      {HX_OP_CKKS_SUM, "axis", integer(4), false},
      {HX_OP_CKKS_ADD_SCALAR, "value", number(-0.5), true},
      {HX_OP_CKKS_ADD_SCALAR, "value", list(pair, 2), true},
      {HX_OP_CKKS_ADD_SCALAR, "value", list(pair, 1), false},
      {HX_OP_CKKS_ADD_SCALAR, "value", list(nan_pair, 2), false},
      {HX_OP_CKKS_ADD_SCALAR, "value", number(INFINITY), false},
      {HX_OP_CKKS_ADD_SCALAR, "value", integer(1), false},
      {HX_OP_CKKS_MUL_INTEGER, "integer", integer(INT64_MAX), true},
      {HX_OP_CKKS_REINTERPRET_SCALE, "scale", text("2^40*q5^-1"), true},
      {HX_OP_CKKS_REINTERPRET_SCALE, "scale", text("2^40*q6^-1"), false},
      {HX_OP_CKKS_REINTERPRET_SCALE, "scale", text("4*2^38"), false},
      {HX_OP_CKKS_REINTERPRET_SCALE, "scale", number(0x1p40), false},
      {HX_OP_CKKS_PREPARE_PLAIN, "for", text("weighted"), true},
      {HX_OP_CKKS_PREPARE_PLAIN, "for", text("sub"), false},
      {HX_OP_CKKS_PREPARE_PLAIN, "for", symbol("add"), false},
      {HX_OP_RNS_MOD_UP, "digit", integer(0), true},
      {HX_OP_RNS_MOD_UP, "digit", integer(-1), false},
      {HX_OP_RNS_MUL_SCALAR, "residues", list(big, 2), true},
      {HX_OP_RNS_MUL_SCALAR, "residues", text("1"), false},
      {HX_OP_RNS_SELECT_LIMBS, "ids", list(ids, 2), true},
      {HX_OP_RNS_SELECT_LIMBS, "ids", list(down, 2), false},
      {HX_OP_RNS_SELECT_LIMBS, "ids", list(far_ids, 1), false},
      {HX_OP_MATERIAL_REF, "symbol", symbol("w"), true},
      {HX_OP_MATERIAL_REF, "symbol", text("w"), false},
      {HX_OP_MATERIAL_REF, "symbol", symbol(""), false},
      {HX_OP_ARITH_CONSTANT, "value", number(1), true},
      {HX_OP_ARITH_CONSTANT, "value", integer(1), true},
      {HX_OP_ARITH_CONSTANT, "value", unit, false},
      {HX_OP_RNS_AUTOMORPHISM, "element", integer(262144), false},
  };
  for (size_t i = 0; i < HX_COUNT_OF(rows); ++i) {
    const hx_named_attr_t attr = {hx_str(rows[i].name), rows[i].value};
    const hx_op_info_t *op = hx_op_info(rows[i].id);
    const char *plain[] = {"!ckks.plaintext<>"}, *tensor[] = {"!rns.tensor<>"};
    const char *const *operands = rows[i].id == HX_OP_CKKS_PREPARE_PLAIN        ? plain
                                  : op->operands[0].accepts == HX_ACCEPT_TENSOR ? tensor
                                                                                : ct;
    const hx_code_t code = check(rows[i].id, operands, op->operands[0].name == NULL ? 0 : 1, &attr, 1, 1);
    if ((code == HX_CODE_NONE) != rows[i].good) fail_msg("row %zu: %s", i, fault_text);
    if (!rows[i].good && strcmp(rows[i].name, "scale") != 0) assert_int_equal(code, HX_CODE_ATTRIBUTE);
    if (!rows[i].good) assert_non_null(strstr(fault_text, rows[i].name));
  }
  // Structured ones.
  const hx_named_attr_t func[] = {
      {hx_str("arg_attrs"), list(dicts, 1)}, {hx_str("function_type"), type}, {hx_str("sym_name"), text("main")}};
  assert_int_equal(check(HX_OP_FUNC, NULL, 0, func, 3, 0), HX_CODE_NONE);
  const hx_named_attr_t bad_func[] = {
      {hx_str("arg_attrs"), list(ids, 1)}, {hx_str("function_type"), type}, {hx_str("sym_name"), text("main")}};
  assert_int_equal(check(HX_OP_FUNC, NULL, 0, bad_func, 3, 0), HX_CODE_ATTRIBUTE);
  const hx_named_attr_t encode[] = {
      {hx_str("depth"), integer(1)}, {hx_str("scale"), text("2^40")}, {hx_str("slots"), integer(0)}};
  assert_int_equal(check(HX_OP_CKKS_ENCODE, message, 1, encode, 2, 1), HX_CODE_NONE);
  assert_int_equal(check(HX_OP_CKKS_ENCODE, message, 1, encode, 3, 1), HX_CODE_ATTRIBUTE);
  const hx_named_attr_t down_ids[] = {{hx_str("drop"), list(ids, 2)}, {hx_str("rounding"), text("truncating")}};
  const hx_named_attr_t down_p[] = {{hx_str("drop"), text("P")}, {hx_str("rounding"), text("nearest")}};
  const hx_named_attr_t down_q[] = {{hx_str("drop"), text("Q")}, {hx_str("rounding"), text("nearest")}};
  const hx_named_attr_t down_up[] = {{hx_str("rounding"), text("up")}};
  const char *const tensor[] = {"!rns.tensor<>"};
  assert_int_equal(check(HX_OP_RNS_MOD_DOWN, tensor, 1, down_ids, 2, 1), HX_CODE_NONE);
  assert_int_equal(check(HX_OP_RNS_MOD_DOWN, tensor, 1, down_p, 2, 1), HX_CODE_NONE);
  assert_int_equal(check(HX_OP_RNS_MOD_DOWN, tensor, 1, down_q, 2, 1), HX_CODE_ATTRIBUTE);
  assert_int_equal(check(HX_OP_RNS_MOD_DOWN, tensor, 1, down_up, 1, 1), HX_CODE_ATTRIBUTE);
}

static void check_names_missing_and_unknown_attributes(void **state) {
  (void)state;
  static const char *const ct[] = {"!ckks.ciphertext<>"};
  assert_int_equal(check(HX_OP_CKKS_ROTATE, ct, 1, NULL, 0, 1), HX_CODE_ATTRIBUTE);
  assert_string_equal(fault_text, "ckks.rotate: attribute step is missing (slots to the left; any integer)");
  const hx_named_attr_t extra[] = {{hx_str("heliox.implementation"), text("cpu/avx2")},
                                   {hx_str("step"), integer(1)},
                                   {hx_str("vendor.x"), integer(1)}};
  assert_int_equal(check(HX_OP_CKKS_ROTATE, ct, 1, extra, 3, 1), HX_CODE_NONE);
  const hx_named_attr_t other[] = {{hx_str("step"), integer(1)}, {hx_str("steps"), integer(1)}};
  assert_int_equal(check(HX_OP_CKKS_ROTATE, ct, 1, other, 2, 1), HX_CODE_ATTRIBUTE);
  assert_string_equal(fault_text, "ckks.rotate: it has no attribute steps");
  const hx_named_attr_t request[] = {{hx_str("heliox.implementation"), integer(1)}, {hx_str("step"), integer(1)}};
  assert_int_equal(check(HX_OP_CKKS_ROTATE, ct, 1, request, 2, 1), HX_CODE_ATTRIBUTE);
}

// ------------------------------------------------------------------ attributes

static void attrs_compare_and_read(void **state) {
  (void)state;
  const hx_attribute_t items[] = {integer(3), integer(4)}, others[] = {integer(3), integer(5)},
                       pair[] = {number(1), number(2)};
  const hx_type_t i64 = type_of("i64", NULL), i32 = type_of("i32", NULL);
  hx_named_attr_t a[] = {{hx_str("a"), integer(7)},
                         {hx_str("b"), list(items, 2)},
                         {hx_str("c"), text("x")},
                         {hx_str("d"), list(pair, 2)},
                         {hx_str("e"), number(-0.0)}};
  hx_named_attr_t b[HX_COUNT_OF(a)];
  memcpy(b, a, sizeof a);
  const hx_attrs_t left = {.items = a, .count = HX_COUNT_OF(a)}, right = {.items = b, .count = HX_COUNT_OF(b)};
  assert_true(hx_attrs_equal(left, right));
  assert_false(hx_attrs_equal(left, (hx_attrs_t){.items = b, .count = 2}));
  b[0].value.type = &i64;  // what no written type means
  assert_true(hx_attrs_equal(left, right));
  b[0].value.type = &i32;
  assert_false(hx_attrs_equal(left, right));
  b[0] = a[0];
  b[1].value = list(others, 2);
  assert_false(hx_attrs_equal(left, right));
  b[1] = a[1];
  b[4].value = number(0.0);
  assert_false(hx_attrs_equal(left, right));
  b[4] = a[4];
  b[2].value = symbol("x");
  assert_false(hx_attrs_equal(left, right));

  int64_t whole = 1;
  assert_true(hx_attrs_get_i64(left, "a", &whole) && whole == 7);
  assert_false(hx_attrs_get_i64(left, "c", &whole) || hx_attrs_get_i64(left, "z", &whole));
  assert_int_equal(whole, 7);
  hx_str_t word = {0};
  assert_true(hx_attrs_get_text(left, "c", &word) && hx_str_equal(word, hx_str("x")));
  assert_false(hx_attrs_get_text(left, "a", &word));
  const hx_attribute_t *read = NULL;
  size_t count = 0;
  assert_true(hx_attrs_get_list(left, "b", &read, &count) && count == 2 && read[1].integer == 4);
  assert_false(hx_attrs_get_list(left, "d", &read, &count));
  double re = 9, im = 9;
  assert_true(hx_attrs_get_complex(left, "d", &re, &im) && re == 1 && im == 2);
  assert_true(hx_attrs_get_complex(left, "e", &re, &im) && re == 0 && im == 0);
  assert_false(hx_attrs_get_complex(left, "b", &re, &im));
  assert_null(hx_attrs_find((hx_attrs_t){0}, "a"));
}

// ------------------------------------------------------------------ rings

static void ring_rows_follow_depth_and_digits(void **state) {
  (void)state;
  assert_int_equal(hx_ring_max_depth(&ring_a), 5);
  assert_int_equal(hx_ring_max_depth(&ring_b), 3);
  for (uint32_t depth = 0; depth <= 5; ++depth) {
    const hx_primes_t active = hx_ring_active(&ring_a, depth), expected = hx_primes_range(0, 6 - depth);
    assert_true(hx_primes_equal(&active, &expected));
    assert_int_equal(hx_ring_digit_count(&ring_a, depth), (6 - depth + 1) / 2);
  }
  const hx_primes_t none = hx_ring_active(&ring_a, 6), two = hx_ring_active(&ring_b, 3),
                    special = hx_ring_special(&ring_b);
  assert_int_equal(hx_primes_count(&none), 0);
  assert_int_equal(hx_primes_count(&two), 2);
  assert_true(hx_primes_has(&special, 8) && hx_primes_has(&special, 11) && hx_primes_count(&special) == 4);
  // The last digit loses a prime at depth 1 and is gone at depth 2.
  const hx_primes_t one = hx_ring_active(&ring_a, 1), gone = hx_ring_active(&ring_a, 2);
  hx_primes_t digit = hx_ring_digit(&ring_a, 2, &one);
  assert_true(hx_primes_has(&digit, 4) && hx_primes_count(&digit) == 1);
  digit = hx_ring_digit(&ring_a, 2, &gone);
  assert_int_equal(hx_primes_count(&digit), 0);
  digit = hx_ring_digit(&ring_a, UINT32_MAX, &one);
  assert_int_equal(hx_primes_count(&digit), 0);
  const hx_primes_t qp = hx_primes_range(5, 2);
  assert_int_equal(hx_ring_basis(&ring_a, &qp), HX_BASIS_QP);
}

static void galois_elements_are_powers_of_five(void **state) {
  (void)state;
  assert_int_equal(hx_galois_element(14, 8192, 1), 5);
  assert_int_equal(hx_galois_element(14, 8192, 0), 1);
  assert_int_equal(hx_galois_element(14, 8192, 8192), 1);
  assert_int_equal(hx_galois_element(14, 8192, 8193), 5);
  assert_int_equal(hx_galois_element(4, 8, 2), 25);
  assert_int_equal(hx_galois_element(4, 8, 3), 125 % 32);
  assert_int_equal(hx_galois_element(4, 2, 3), 5);  // the step counts modulo the slots
  for (int64_t step = -20; step < 20; ++step) {
    const uint64_t left = hx_galois_element(6, 32, step), right = hx_galois_element(6, 32, -step);
    assert_int_equal(left * right % 128, 1);
  }
  assert_int_equal(hx_galois_element(17, 65536, INT64_MIN), 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_are_complete_and_found_by_name),
      cmocka_unit_test(rows_say_what_their_lines_say),
      cmocka_unit_test(primitive_tier_is_what_a_minimal_plugin_needs),
      cmocka_unit_test(operands_map_to_their_rows),
      cmocka_unit_test(descriptions_cover_the_catalogue),
      cmocka_unit_test(check_counts_operands_and_results),
      cmocka_unit_test(check_refuses_other_kinds),
      cmocka_unit_test(check_applies_attribute_rules),
      cmocka_unit_test(check_names_missing_and_unknown_attributes),
      cmocka_unit_test(attrs_compare_and_read),
      cmocka_unit_test(ring_rows_follow_depth_and_digits),
      cmocka_unit_test(galois_elements_are_powers_of_five),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
