// SPDX-License-Identifier: Apache-2.0
// Lowered forms of ckks arithmetic and maintenance without keys.
#include "core/ckks/primes.h"
#include "core/ckks/transition.h"
#include "core/ckks/value.h"
#include "core/passes/lower.h"

// Operations on whole values: the same operation on residues.
static void same(hx_lowering_t *lowering, hx_op_id_t id) {
  hx_ir_op_t *op = lowering->op;
  hx_lower_finish(lowering, 0, hx_lower_emit(lowering, id, op->operands, op->operand_count, NULL, 0));
}

static void lower_add(hx_lowering_t *lowering) { same(lowering, HX_OP_RNS_ADD); }
static void lower_sub(hx_lowering_t *lowering) { same(lowering, HX_OP_RNS_SUB); }
static void lower_neg(hx_lowering_t *lowering) { same(lowering, HX_OP_RNS_NEG); }
static void lower_mul_plain(hx_lowering_t *lowering) { same(lowering, HX_OP_RNS_MUL); }
static void lower_to_ntt(hx_lowering_t *lowering) { same(lowering, HX_OP_NTT_FORWARD); }
static void lower_from_ntt(hx_lowering_t *lowering) { same(lowering, HX_OP_NTT_INVERSE); }

// What changes the first component alone.
static void finish_first(hx_lowering_t *lowering, hx_ir_value_t *first) {
  hx_ir_value_t *a = lowering->op->operands[0];
  hx_ir_value_t *rest = hx_lower_components(lowering, a, 1, a->type->components - 1);
  hx_lower_finish(lowering, 0, hx_lower_pack(lowering, first, rest));
}

static void plain(hx_lowering_t *lowering, hx_op_id_t id) {
  hx_ir_value_t *const *operands = lowering->op->operands;
  finish_first(lowering, hx_lower_binary(lowering, id, hx_lower_components(lowering, operands[0], 0, 1), operands[1]));
}

static void lower_add_plain(hx_lowering_t *lowering) { plain(lowering, HX_OP_RNS_ADD); }
static void lower_sub_plain(hx_lowering_t *lowering) { plain(lowering, HX_OP_RNS_SUB); }

// A constant at a scale: the residues of a real one, or a polynomial that takes a value on each half of a row.
typedef struct hx_constant {
  uint64_t rows[HX_PRIMES_MAX];  // of a real constant
  hx_ir_value_t *polynomial;     // of a complex one, else NULL
} hx_constant_t;

static void make_constant(hx_lowering_t *lowering, const hx_scale_t *scale, hx_constant_t *out) {
  const hx_primes_t *primes = &lowering->op->operands[0]->type->primes;
  const uint32_t count = hx_primes_count(primes);
  uint64_t words[2 * HX_PRIMES_MAX];
  double re = 0, im = 0;
  (void)hx_attrs_get_complex(lowering->op->attrs, "value", &re, &im);  // required: verified
  out->polynomial = NULL;
  hx_report_t *inner = hx_report_create();
  if (hx_constant_residues(lowering->ring, primes, re, im, scale, words, inner) != HX_STATUS_OK) {
    const hx_fault_t *fault = hx_report_get(inner, 0);
    hx_lower_fail(lowering, fault == NULL ? HX_CODE_OUT_OF_MEMORY : fault->code, "%s",
                  fault == NULL ? "memory is exhausted" : fault->text);
  }
  hx_report_release(inner);
  if (lowering->status != HX_STATUS_OK) return;
  for (uint32_t i = 0; i < count; ++i) out->rows[i] = words[2 * i];
  if (im == 0) return;
  const hx_named_attr_t items[] = {
      {.name = hx_str("ids"), .value = hx_lower_ids(lowering, primes)},
      {.name = hx_str("residues"), .value = hx_lower_list(lowering, words, (size_t)2 * count)}};
  out->polynomial = hx_lower_emit(lowering, HX_OP_CORE_CONSTANT, NULL, 0, items, 2);
}

static void lower_add_scalar(hx_lowering_t *lowering) {
  hx_ir_value_t *a = lowering->op->operands[0];
  hx_constant_t constant;
  make_constant(lowering, &a->type->scale, &constant);
  hx_ir_value_t *first = hx_lower_components(lowering, a, 0, 1);
  finish_first(lowering, constant.polynomial == NULL
                             ? hx_lower_rows(lowering, HX_OP_RNS_ADD_SCALAR, first, constant.rows)
                             : hx_lower_binary(lowering, HX_OP_RNS_ADD, first, constant.polynomial));
}

static void lower_mul_scalar(hx_lowering_t *lowering) {
  hx_ir_value_t *a = lowering->op->operands[0];
  hx_str_t text = {0};
  hx_scale_t scale;
  hx_constant_t constant;
  (void)hx_attrs_get_text(lowering->op->attrs, "scale", &text);  // required: verified
  lowering->status = hx_scale_parse(text, lowering->ring, &scale, lowering->report);
  if (lowering->status == HX_STATUS_OK) make_constant(lowering, &scale, &constant);
  if (lowering->status != HX_STATUS_OK) return;
  hx_lower_finish(lowering, 0,
                  constant.polynomial == NULL ? hx_lower_rows(lowering, HX_OP_RNS_MUL_SCALAR, a, constant.rows)
                                              : hx_lower_binary(lowering, HX_OP_RNS_MUL, a, constant.polynomial));
}

static void lower_mul_integer(hx_lowering_t *lowering) {
  hx_ir_value_t *a = lowering->op->operands[0];
  int64_t integer = 0;
  (void)hx_attrs_get_i64(lowering->op->attrs, "integer", &integer);  // required: verified
  const uint64_t size = integer < 0 ? 0 - (uint64_t)integer : (uint64_t)integer;
  uint32_t ids[HX_PRIMES_MAX];
  uint64_t residues[HX_PRIMES_MAX];
  const uint32_t count = hx_primes_list(&a->type->primes, ids);
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t q = lowering->ring->primes[ids[i]], rest = size % q;
    residues[i] = integer < 0 && rest != 0 ? q - rest : rest;
  }
  hx_lower_finish(lowering, 0, hx_lower_rows(lowering, HX_OP_RNS_MUL_SCALAR, a, residues));
}

// (a0 b0, a0 b1 + a1 b0, a1 b1)
static void lower_mul(hx_lowering_t *lowering) {
  hx_ir_value_t *a = lowering->op->operands[0], *b = lowering->op->operands[lowering->op->operand_count - 1];
  hx_ir_value_t *a0 = hx_lower_components(lowering, a, 0, 1), *a1 = hx_lower_components(lowering, a, 1, 1);
  hx_ir_value_t *cross, *b0 = a0, *b1 = a1;
  if (a == b) {
    hx_ir_value_t *half = hx_lower_binary(lowering, HX_OP_RNS_MUL, a0, a1);
    cross = hx_lower_binary(lowering, HX_OP_RNS_ADD, half, half);
  } else {
    b0 = hx_lower_components(lowering, b, 0, 1);
    b1 = hx_lower_components(lowering, b, 1, 1);
    hx_ir_value_t *half = hx_lower_binary(lowering, HX_OP_RNS_MUL, a0, b1);
    cross = lowering->status == HX_STATUS_OK ? hx_lower_mul_add(lowering, half, a1, b0) : NULL;
  }
  hx_ir_value_t *const parts[] = {hx_lower_binary(lowering, HX_OP_RNS_MUL, a0, b0), cross,
                                  hx_lower_binary(lowering, HX_OP_RNS_MUL, a1, b1)};
  hx_lower_finish(lowering, 0, hx_lower_emit(lowering, HX_OP_RNS_PACK_COMPONENTS, parts, 3, NULL, 0));
}

static void lower_sum(hx_lowering_t *lowering) {
  int64_t axis = 0;
  (void)hx_attrs_get_i64(lowering->op->attrs, "axis", &axis);  // required: verified
  hx_lower_finish(lowering, 0, hx_lower_with(lowering, HX_OP_RNS_SUM, lowering->op->operands[0], "axis", axis));
}

// Both domains equal: rns.rescale has a form for either; else by way of the coefficients.
static void lower_rescale(hx_lowering_t *lowering) {
  hx_ir_value_t *a = lowering->op->operands[0];
  const hx_type_t *result = lowering->op->results[0]->type;
  const uint32_t count = hx_primes_count(&a->type->primes) - hx_primes_count(&result->primes);
  if (a->type->domain != result->domain) a = hx_lower_domain(lowering, a, HX_COEFFICIENT);
  const hx_named_attr_t items[] = {
      {.name = hx_str("rounding"), .value = {.kind = HX_ATTRIBUTE_TEXT, .text = hx_str("nearest")}},
      {.name = hx_str("count"), .value = {.kind = HX_ATTRIBUTE_INTEGER, .integer = count}}};
  hx_ir_value_t *value = hx_lower_emit(lowering, HX_OP_RNS_RESCALE, &a, 1, items, 2);
  hx_lower_finish(lowering, 0, hx_lower_domain(lowering, value, result->domain));
}

// level_drop and reinterpret_scale: some rows, or all, under another state.
static void lower_view(hx_lowering_t *lowering) {
  hx_lower_finish(lowering, 0,
                  hx_lower_limbs(lowering, lowering->op->operands[0], &lowering->op->results[0]->type->primes));
}

// (D - 1) / 2 for the product D of `primes`, mod the primes of `rows`, or its negative.
static void half_of_product(const hx_ring *ring, const hx_primes_t *primes, const hx_primes_t *rows, bool negative,
                            uint64_t *out) {
  uint32_t factors[HX_PRIMES_MAX], ids[HX_PRIMES_MAX];
  const uint32_t factor_count = hx_primes_list(primes, factors), count = hx_primes_list(rows, ids);
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t q = ring->primes[ids[i]];
    uint64_t product = 1;
    for (uint32_t j = 0; j < factor_count; ++j) product = hx_modular_multiply(product, ring->primes[factors[j]], q);
    // 1/2 is (q + 1) / 2.
    const uint64_t half = hx_modular_multiply(product == 0 ? q - 1 : product - 1, (q + 1) / 2, q);
    out[i] = negative && half != 0 ? q - half : half;
  }
}

// Coefficients centred mod Q_d, brought to P: x + h is in [0, Q_d) for h = (Q_d - 1) / 2, so its exact extension minus
// h is the centred integer.
static hx_ir_value_t *extend_to_special(hx_lowering_t *lowering, hx_ir_value_t *a) {
  const hx_primes_t active = a->type->primes, special = hx_ring_special(lowering->ring);
  uint64_t half[HX_PRIMES_MAX];
  hx_ir_value_t *coefficients = hx_lower_domain(lowering, a, HX_COEFFICIENT);
  half_of_product(lowering->ring, &active, &active, false, half);
  hx_ir_value_t *shifted = hx_lower_rows(lowering, HX_OP_RNS_ADD_SCALAR, coefficients, half);
  const hx_named_attr_t item = {.name = hx_str("ids"), .value = hx_lower_ids(lowering, &special)};
  hx_ir_value_t *extended = hx_lower_emit(lowering, HX_OP_RNS_EXTEND_EXACT, &shifted, 1, &item, 1);
  half_of_product(lowering->ring, &active, &special, true, half);
  hx_ir_value_t *centred = hx_lower_rows(lowering, HX_OP_RNS_ADD_SCALAR, extended, half);
  return hx_lower_domain(lowering, centred, HX_NTT);
}

static void lower_prepare_plain(hx_lowering_t *lowering) {
  hx_ir_value_t *a = lowering->op->operands[0];
  hx_ir_value_t *value = hx_lower_domain(lowering, a, HX_NTT);
  if (lowering->op->results[0]->type->basis == HX_BASIS_QP)
    value = hx_lower_binary(lowering, HX_OP_RNS_CONCAT_LIMBS, value, extend_to_special(lowering, a));
  hx_lower_finish(lowering, 0, value);
}

const hx_lower_rule_t hx_lower_ckks_rules[] = {
    {HX_OP_CKKS_ADD, lower_add, NULL},
    {HX_OP_CKKS_SUB, lower_sub, NULL},
    {HX_OP_CKKS_NEG, lower_neg, NULL},
    {HX_OP_CKKS_ADD_PLAIN, lower_add_plain, NULL},
    {HX_OP_CKKS_SUB_PLAIN, lower_sub_plain, NULL},
    {HX_OP_CKKS_MUL_PLAIN, lower_mul_plain, NULL},
    {HX_OP_CKKS_ADD_SCALAR, lower_add_scalar, NULL},
    {HX_OP_CKKS_MUL_SCALAR, lower_mul_scalar, NULL},
    {HX_OP_CKKS_MUL_INTEGER, lower_mul_integer, NULL},
    {HX_OP_CKKS_MUL, lower_mul, NULL},
    {HX_OP_CKKS_SQUARE, lower_mul, NULL},
    {HX_OP_CKKS_SUM, lower_sum, NULL},
    {HX_OP_CKKS_WEIGHTED_SUM, hx_lower_weighted_sum, NULL},
    {HX_OP_CKKS_RESCALE, lower_rescale, NULL},
    {HX_OP_CKKS_LEVEL_DROP, lower_view, NULL},
    {HX_OP_CKKS_REINTERPRET_SCALE, lower_view, NULL},
    {HX_OP_CKKS_TO_NTT, lower_to_ntt, NULL},
    {HX_OP_CKKS_FROM_NTT, lower_from_ntt, NULL},
    {HX_OP_CKKS_PREPARE_PLAIN, lower_prepare_plain, NULL},
};
const size_t hx_lower_ckks_rule_count = HX_COUNT_OF(hx_lower_ckks_rules);
