// SPDX-License-Identifier: Apache-2.0
// Lowered forms of derived rns operations, and of conversions between bases in ntt domain.
#include <string.h>

#include "core/ckks/primes.h"
#include "core/passes/lower.h"

// ------------------------------------------------------------------ ntt domain

static bool is_in_ntt(const hx_ir_op_t *op) { return op->operands[0]->type->domain == HX_NTT; }

// ntt(op(intt(x)))
static void lower_by_coefficients(hx_lowering_t *lowering) {
  const hx_ir_op_t *op = lowering->op;
  hx_ir_value_t *a = hx_lower_domain(lowering, op->operands[0], HX_COEFFICIENT);
  hx_ir_value_t *value = hx_lower_emit(lowering, op->info->id, &a, 1, op->attrs.items, op->attrs.count);
  hx_lower_finish(lowering, 0, hx_lower_domain(lowering, value, HX_NTT));
}

// ------------------------------------------------------------------ sums

static hx_ir_value_t *select_items(hx_lowering_t *lowering, hx_ir_value_t *a, int64_t axis, uint64_t start,
                                   uint64_t items, bool drop_axis) {
  const hx_named_attr_t list[] = {
      {.name = hx_str("axis"), .value = {.kind = HX_ATTRIBUTE_INTEGER, .integer = axis}},
      {.name = hx_str("start"), .value = {.kind = HX_ATTRIBUTE_INTEGER, .integer = (int64_t)start}},
      {.name = hx_str("items"), .value = {.kind = HX_ATTRIBUTE_INTEGER, .integer = (int64_t)items}}};
  return hx_lower_emit(lowering, HX_OP_RNS_SELECT_BATCH, &a, 1, list, drop_axis ? 2 : 3);
}

// Halves of the axis are added until one item is left; the last item of an odd number is added in the end. Sums are
// exact mod q, so their order is free.
static void lower_sum(hx_lowering_t *lowering) {
  hx_ir_value_t *rest = lowering->op->operands[0], *odd = NULL;
  int64_t axis = 0;
  (void)hx_attrs_get_i64(lowering->op->attrs, "axis", &axis);  // required: verified
  uint64_t size = rest->type->batch_shape[axis];
  if (size == 1) rest = select_items(lowering, rest, axis, 0, 1, true);
  for (; size > 1 && lowering->status == HX_STATUS_OK; size /= 2) {
    const uint64_t half = size / 2;
    if (size % 2 != 0) odd = hx_lower_sum(lowering, odd, select_items(lowering, rest, axis, size - 1, 1, true));
    rest = hx_lower_binary(lowering, HX_OP_RNS_ADD, select_items(lowering, rest, axis, 0, half, half == 1),
                           select_items(lowering, rest, axis, half, half, half == 1));
  }
  if (lowering->status == HX_STATUS_OK) hx_lower_finish(lowering, 0, hx_lower_sum(lowering, rest, odd));
}

void hx_lower_weighted_sum(hx_lowering_t *lowering) {
  const hx_ir_op_t *op = lowering->op;
  const size_t groups = op->result_count, terms = op->operand_count / (groups + 1);
  for (size_t group = 0; group < groups; ++group) {
    hx_ir_value_t *sum = NULL;
    for (size_t t = 0; t < terms && lowering->status == HX_STATUS_OK; ++t)
      sum = hx_lower_mul_add(lowering, sum, op->operands[t], op->operands[terms * (group + 1) + t]);
    hx_lower_finish(lowering, group, sum);
  }
}

static void lower_key_product(hx_lowering_t *lowering) {
  const hx_ir_op_t *op = lowering->op;
  int64_t digit = 0;
  (void)hx_attrs_get_i64(op->attrs, "digit", &digit);  // required: verified
  const hx_named_attr_t items[] = {
      {.name = hx_str("digit"), .value = {.kind = HX_ATTRIBUTE_INTEGER, .integer = digit}},
      {.name = hx_str("ids"), .value = hx_lower_ids(lowering, &op->operands[0]->type->primes)}};
  hx_ir_value_t *slice = hx_lower_emit(lowering, HX_OP_RNS_KEY_SLICE, &op->operands[1], 1, items, 2);
  hx_lower_finish(lowering, 0,
                  hx_lower_mul_add(lowering, op->operand_count > 2 ? op->operands[2] : NULL, op->operands[0], slice));
}

// ------------------------------------------------------------------ montgomery

static hx_ir_value_t *declare(hx_lowering_t *lowering, hx_ir_value_t *a, const char *repr) {
  const hx_named_attr_t item = {.name = hx_str("repr"), .value = {.kind = HX_ATTRIBUTE_TEXT, .text = hx_str(repr)}};
  return hx_lower_emit(lowering, HX_OP_RNS_REINTERPRET, &a, 1, &item, 1);
}

// Times 2^w mod each prime, or times its inverse.
static hx_ir_value_t *shift_by_word(hx_lowering_t *lowering, hx_ir_value_t *a, bool inverse) {
  if (lowering->status != HX_STATUS_OK) return NULL;
  uint32_t ids[HX_PRIMES_MAX];
  uint64_t residues[HX_PRIMES_MAX];
  const uint32_t count = hx_primes_list(&a->type->primes, ids);
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t q = lowering->ring->primes[ids[i]], word = hx_modular_power(2, lowering->ring->word, q);
    residues[i] = inverse ? hx_modular_power(word, q - 2, q) : word;
  }
  return hx_lower_rows(lowering, HX_OP_RNS_MUL_SCALAR, a, residues);
}

static void lower_to_montgomery(hx_lowering_t *lowering) {
  hx_lower_finish(lowering, 0,
                  declare(lowering, shift_by_word(lowering, lowering->op->operands[0], false), "montgomery"));
}

static void lower_from_montgomery(hx_lowering_t *lowering) {
  hx_lower_finish(lowering, 0, shift_by_word(lowering, declare(lowering, lowering->op->operands[0], "standard"), true));
}

static void lower_mul_montgomery(hx_lowering_t *lowering) {
  hx_ir_value_t *a = declare(lowering, lowering->op->operands[0], "standard"),
                *b = declare(lowering, lowering->op->operands[1], "standard");
  hx_ir_value_t *product = hx_lower_binary(lowering, HX_OP_RNS_MUL, a, b);
  hx_lower_finish(lowering, 0, declare(lowering, shift_by_word(lowering, product, true), "montgomery"));
}

// ------------------------------------------------------------------ mixed radix

// A row of prime d, its residues taken in [0, d), to other primes. center_lift takes them centred: with h = (d - 1) /
// 2, x - h is in [-h, h], which is what the residue x - h mod d stands for; h is added again mod each prime.
static hx_ir_value_t *lift(hx_lowering_t *lowering, hx_ir_value_t *row, uint32_t id, const hx_primes_t *to) {
  const uint64_t d = lowering->ring->primes[id], half = (d - 1) / 2, shift = d - half;
  uint32_t ids[HX_PRIMES_MAX];
  uint64_t residues[HX_PRIMES_MAX];
  const uint32_t count = hx_primes_list(to, ids);
  for (uint32_t i = 0; i < count; ++i) residues[i] = half % lowering->ring->primes[ids[i]];
  hx_ir_value_t *shifted = hx_lower_rows(lowering, HX_OP_RNS_ADD_SCALAR, row, &shift);
  const hx_named_attr_t item = {.name = hx_str("ids"), .value = hx_lower_ids(lowering, to)};
  hx_ir_value_t *lifted = hx_lower_emit(lowering, HX_OP_RNS_CENTER_LIFT, &shifted, 1, &item, 1);
  return hx_lower_rows(lowering, HX_OP_RNS_ADD_SCALAR, lifted, residues);
}

// Garner: digit j is the first row that is left; it is taken from the others, which are divided by its prime.
static uint32_t make_digits(hx_lowering_t *lowering, hx_ir_value_t *a, uint32_t ids[HX_PRIMES_MAX],
                            hx_ir_value_t *digits[HX_PRIMES_MAX]) {
  const uint32_t count = hx_primes_list(&a->type->primes, ids);
  hx_ir_value_t *rest = a;
  for (uint32_t j = 0; j < count && lowering->status == HX_STATUS_OK; ++j) {
    const hx_primes_t own = hx_primes_range(ids[j], 1);
    digits[j] = hx_lower_limbs(lowering, rest, &own);
    hx_primes_t later = {0};
    uint64_t inverses[HX_PRIMES_MAX];
    for (uint32_t i = j + 1; i < count; ++i) {
      const uint64_t q = lowering->ring->primes[ids[i]];
      inverses[i - j - 1] = hx_modular_power(lowering->ring->primes[ids[j]] % q, q - 2, q);
      hx_primes_add(&later, ids[i]);
    }
    if (j + 1 == count || lowering->status != HX_STATUS_OK) break;
    hx_ir_value_t *lifted = lift(lowering, digits[j], ids[j], &later);
    hx_ir_value_t *difference =
        hx_lower_binary(lowering, HX_OP_RNS_SUB, hx_lower_limbs(lowering, rest, &later), lifted);
    rest = hx_lower_rows(lowering, HX_OP_RNS_MUL_SCALAR, difference, inverses);
  }
  return count;
}

static void lower_mixed_radix(hx_lowering_t *lowering) {
  uint32_t ids[HX_PRIMES_MAX];
  hx_ir_value_t *digits[HX_PRIMES_MAX] = {0};
  const uint32_t count = make_digits(lowering, lowering->op->operands[0], ids, digits);
  hx_lower_finish(lowering, 0,
                  count == 1 ? digits[0] : hx_lower_emit(lowering, HX_OP_RNS_CONCAT_LIMBS, digits, count, NULL, 0));
}

// v_0 + v_1 d_0 + v_2 d_0 d_1 + ... mod each prime of the result.
static void lower_extend_exact(hx_lowering_t *lowering) {
  const hx_ring *ring = lowering->ring;
  const hx_primes_t to = lowering->op->results[0]->type->primes;
  uint32_t ids[HX_PRIMES_MAX], targets[HX_PRIMES_MAX];
  hx_ir_value_t *digits[HX_PRIMES_MAX] = {0};
  const uint32_t count = make_digits(lowering, lowering->op->operands[0], ids, digits),
                 target_count = hx_primes_list(&to, targets);
  uint64_t weights[HX_PRIMES_MAX];
  for (uint32_t i = 0; i < target_count; ++i) weights[i] = 1;
  hx_ir_value_t *sum = NULL;
  for (uint32_t j = 0; j < count && lowering->status == HX_STATUS_OK; ++j) {
    hx_ir_value_t *term = lift(lowering, digits[j], ids[j], &to);
    if (j > 0) term = hx_lower_rows(lowering, HX_OP_RNS_MUL_SCALAR, term, weights);
    sum = hx_lower_sum(lowering, sum, term);
    for (uint32_t i = 0; i < target_count; ++i) {
      const uint64_t q = ring->primes[targets[i]];
      weights[i] = hx_modular_multiply(weights[i], ring->primes[ids[j]], q);
    }
  }
  if (lowering->status == HX_STATUS_OK) hx_lower_finish(lowering, 0, sum);
}

const hx_lower_rule_t hx_lower_rns_rules[] = {
    {HX_OP_RNS_MOD_UP, lower_by_coefficients, is_in_ntt},   {HX_OP_RNS_MOD_DOWN, lower_by_coefficients, is_in_ntt},
    {HX_OP_RNS_RESCALE, lower_by_coefficients, is_in_ntt},  {HX_OP_RNS_SUM, lower_sum, NULL},
    {HX_OP_RNS_WEIGHTED_SUM, hx_lower_weighted_sum, NULL},  {HX_OP_RNS_KEY_PRODUCT, lower_key_product, NULL},
    {HX_OP_RNS_TO_MONTGOMERY, lower_to_montgomery, NULL},   {HX_OP_RNS_FROM_MONTGOMERY, lower_from_montgomery, NULL},
    {HX_OP_RNS_MUL_MONTGOMERY, lower_mul_montgomery, NULL}, {HX_OP_RNS_MIXED_RADIX, lower_mixed_radix, NULL},
    {HX_OP_RNS_EXTEND_EXACT, lower_extend_exact, NULL},
};
const size_t hx_lower_rns_rule_count = HX_COUNT_OF(hx_lower_rns_rules);
