// SPDX-License-Identifier: Apache-2.0
// shard{kind=limbs}: rows of residues over the ranks.
//
// Legal row by row: what an operation computes modulo one prime depends on the operands' rows of that prime alone, but
// for moves between bases. Those are defined on rows that every rank is given first (CKKS.md):
//   mod_down, rescale   (x_i - c_i) * D^-1 reads row i and the dropped rows: these are gathered;
//   mod_up              reads the digit's rows: the operand is gathered once, for all its digits. A rank's rows of the
//                       result are its share of the digit's own rows, copied, and the conversion of the digit to the
//                       rest. mod_down of zeros that drops the digit gives -c_i * D^-1, with the same c; times -D that
//                       is c_i, exactly;
//   center_lift         reads one row.
// The parts are tensors of residues; the values that leave a function, go through a region or into an operation that
// is not in this table are whole, with their own types.
#include "core/passes/shard.h"

#include "core/ckks/primes.h"
#include "core/ops/infer.h"

static hx_primes_t own_rows(const hx_shard_t *shard, const hx_primes_t *all) {
  uint32_t ids[HX_PRIMES_MAX];
  hx_primes_t own = {0};
  const uint32_t count = hx_primes_list(all, ids);
  for (uint32_t i = 0; i < count; ++i) {
    if (hx_shard_row_owner(ids[i], shard->env->ring->q_count, shard->size) == shard->rank) hx_primes_add(&own, ids[i]);
  }
  return own;
}

static hx_primes_t without(const hx_primes_t *set, const hx_primes_t *part) {
  hx_primes_t rest = *set;
  for (size_t i = 0; i < HX_COUNT_OF(rest.bits); ++i) rest.bits[i] &= ~part->bits[i];
  return rest;
}

static hx_primes_t common(const hx_primes_t *a, const hx_primes_t *b) {
  const hx_primes_t rest = without(a, b);
  return without(a, &rest);
}

static bool is_empty(const hx_primes_t *set) { return hx_primes_count(set) == 0; }

static bool is_rows(const hx_type_t *type) {
  const bool has_rows =
      type->kind == HX_TYPE_CIPHERTEXT || type->kind == HX_TYPE_PLAINTEXT || type->kind == HX_TYPE_TENSOR;
  return has_rows && (type->kind != HX_TYPE_TENSOR || type->dtype == HX_U64 || type->dtype == HX_U32) &&
         hx_type_is_complete(type);
}

static bool spreads(const hx_shard_t *shard, const hx_type_t *type) {
  (void)shard;
  return is_rows(type);
}

// Rows `ids` of a value; the value itself where those are all.
static hx_ir_value_t *select_rows(hx_shard_t *shard, hx_ir_op_t *before, hx_ir_value_t *value,
                                  const hx_primes_t *rows) {
  if (value == NULL || is_empty(rows) || shard->status != HX_STATUS_OK) return NULL;
  if (value->type->kind == HX_TYPE_TENSOR && hx_primes_equal(&value->type->primes, rows)) return value;
  const hx_named_attr_t ids = hx_shard_ids(shard, "ids", rows);
  return hx_shard_build(shard, before, HX_OP_RNS_SELECT_LIMBS, &value, 1, &ids, 1, NULL);
}

static hx_ir_value_t *slice(hx_shard_t *shard, hx_ir_op_t *before, hx_ir_value_t *whole) {
  const hx_primes_t own = own_rows(shard, &whole->type->primes);
  return select_rows(shard, before, whole, &own);
}

// Some rows of a spread value on every rank.
static hx_ir_value_t *gather_some(hx_shard_t *shard, hx_ir_value_t *value, const hx_primes_t *rows) {
  const hx_shard_value_t *found = hx_shard_value(shard, value);
  if (found->whole != NULL) return select_rows(shard, shard->op, found->whole, rows);
  const hx_primes_t own = own_rows(shard, rows);
  hx_type_t type;
  hx_shard_rows_type(shard, value->type, rows, &type);
  return hx_shard_gather_rows(shard, shard->op, &type, select_rows(shard, shard->op, found->part, &own));
}

// ------------------------------------------------------------------ row by row

// Entries of a list attribute that belong to the rank's rows: `each` entries a row of `all`.
static hx_named_attr_t own_entries(hx_shard_t *shard, const hx_named_attr_t *attr, const hx_primes_t *all,
                                   const hx_primes_t *own) {
  uint32_t ids[HX_PRIMES_MAX];
  int64_t numbers[2 * HX_PRIMES_MAX];
  const uint32_t rows = hx_primes_list(all, ids);
  const size_t each = attr->value.count / rows;  // 1 or 2: verified
  size_t count = 0;
  for (uint32_t i = 0; i < rows; ++i) {
    for (size_t k = 0; k < each && k < 2 && hx_primes_has(own, ids[i]); ++k)
      numbers[count++] = attr->value.list[i * each + k].integer;
  }
  hx_named_attr_t out = hx_shard_list(shard, "", numbers, count);
  out.name = attr->name;
  return out;
}

#define ATTRS_MAX 16

// The operation on this rank's rows of every operand. Rows in the attributes are those of the result.
static const char *row_by_row(hx_shard_t *shard) {
  const hx_ir_op_t *op = shard->op;
  if (op->attrs.count > ATTRS_MAX) return "it has too many attributes to be made anew";
  hx_named_attr_t items[ATTRS_MAX];
  hx_ir_value_t **operands = hx_zalloc(op->operand_count + 1, sizeof(hx_ir_value_t *));
  if (operands == NULL) hx_shard_fail(shard, HX_STATUS_OUT_OF_MEMORY);
  for (size_t r = 0; r < op->result_count && shard->status == HX_STATUS_OK; ++r) {
    const hx_primes_t own = own_rows(shard, &op->results[r]->type->primes);
    hx_shard_define_part(shard, op->results[r], NULL);
    if (is_empty(&own)) continue;
    for (size_t i = 0; i < op->attrs.count; ++i) {
      const hx_named_attr_t *attr = &op->attrs.items[i];
      const bool by_row = hx_str_equal(attr->name, hx_str("ids")) || hx_str_equal(attr->name, hx_str("residues"));
      items[i] = by_row ? own_entries(shard, attr, &op->results[r]->type->primes, &own) : *attr;
    }
    size_t count = 0;
    for (size_t i = 0; i < op->operand_count; ++i) {
      const bool is_spread = hx_shard_is_spread(shard, op->operands[i]);
      hx_ir_value_t *value = is_spread ? hx_shard_part(shard, op->operands[i]) : hx_shard_whole(shard, op->operands[i]);
      if (value != NULL) operands[count++] = value;  // a part of concat_limbs may have no rows here
    }
    hx_shard_define_part(shard, op->results[r],
                         hx_shard_build(shard, shard->op, op->info->id, operands, count, items, op->attrs.count, NULL));
  }
  hx_free(operands);
  return NULL;
}

// ------------------------------------------------------------------ moves between bases

static bool is_standard(const hx_ir_value_t *value, uint32_t domain) {
  return is_rows(value->type) && value->type->domain == domain && value->type->repr == HX_STANDARD;
}

static hx_ir_value_t *concat(hx_shard_t *shard, hx_ir_value_t *a, hx_ir_value_t *b) {
  hx_ir_value_t *const operands[] = {a, b};
  if (a == NULL || b == NULL) return a == NULL ? b : a;
  return hx_shard_build(shard, shard->op, HX_OP_RNS_CONCAT_LIMBS, operands, 2, NULL, 0, NULL);
}

// mod_down and rescale: the rank's rows of the result, from those rows of the operand and all that are dropped.
static const char *divide(hx_shard_t *shard) {
  const hx_ir_op_t *op = shard->op;
  hx_ir_value_t *a = op->operands[0];
  if (!is_standard(a, HX_COEFFICIENT)) return "it moves between bases in ntt domain: run lower before shard";
  const hx_primes_t kept = op->results[0]->type->primes, dropped = without(&a->type->primes, &kept),
                    own = own_rows(shard, &kept);
  hx_ir_value_t *gathered = gather_some(shard, a, &dropped);  // on every rank, whether it has rows of the result or not
  hx_shard_define_part(shard, op->results[0], NULL);
  hx_ir_value_t *rows = select_rows(shard, shard->op, hx_shard_part(shard, a), &own);
  if (rows == NULL) return NULL;
  hx_ir_value_t *operand = concat(shard, rows, gathered);
  hx_shard_define_part(
      shard, op->results[0],
      hx_shard_build(shard, shard->op, op->info->id, &operand, 1, op->attrs.items, op->attrs.count, NULL));
  return NULL;
}

// The fast conversion of `digit` rows of a whole value to `rows`; see the head of this file.
static hx_ir_value_t *convert(hx_shard_t *shard, hx_ir_value_t *whole, const hx_primes_t *digit,
                              const hx_primes_t *rows) {
  const hx_ring *ring = shard->env->ring;
  uint32_t digit_ids[HX_PRIMES_MAX], ids[HX_PRIMES_MAX];
  int64_t factors[HX_PRIMES_MAX];
  const uint32_t digit_count = hx_primes_list(digit, digit_ids), count = hx_primes_list(rows, ids);
  if (count == 0) return NULL;
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t q = ring->primes[ids[i]];
    uint64_t product = 1;
    for (uint32_t j = 0; j < digit_count; ++j)
      product = hx_modular_multiply(product, ring->primes[digit_ids[j]] % q, q);
    factors[i] = (int64_t)(q - product);  // product is not 0: the primes differ
  }
  hx_ir_value_t *source = select_rows(shard, shard->op, whole, digit);
  const hx_primes_t one = hx_primes_range(digit_ids[0], 1);
  hx_ir_value_t *row = select_rows(shard, shard->op, whole, &one);
  const hx_named_attr_t nothing = hx_shard_list(shard, "residues", &(int64_t){0}, 1),
                        to = hx_shard_ids(shard, "ids", rows), by = hx_shard_list(shard, "residues", factors, count);
  const hx_named_attr_t down[] = {
      hx_shard_ids(shard, "drop", digit),
      {.name = hx_str("rounding"), .value = {.kind = HX_ATTRIBUTE_TEXT, .text = hx_str("nearest")}}};
  row = hx_shard_build(shard, shard->op, HX_OP_RNS_MUL_SCALAR, &row, 1, &nothing, 1, NULL);
  hx_ir_value_t *zeros = hx_shard_build(shard, shard->op, HX_OP_RNS_CENTER_LIFT, &row, 1, &to, 1, NULL);
  if (source == NULL || zeros == NULL) return NULL;
  hx_ir_value_t *operand = concat(shard, source, zeros);
  hx_ir_value_t *quotient = hx_shard_build(shard, shard->op, HX_OP_RNS_MOD_DOWN, &operand, 1, down, 2, NULL);
  return hx_shard_build(shard, shard->op, HX_OP_RNS_MUL_SCALAR, &quotient, 1, &by, 1, NULL);
}

static const char *raise(hx_shard_t *shard) {
  const hx_ir_op_t *op = shard->op;
  hx_ir_value_t *a = op->operands[0];
  if (!is_standard(a, HX_COEFFICIENT)) return "it moves between bases in ntt domain: run lower before shard";
  int64_t number = 0;
  (void)hx_attrs_get_i64(op->attrs, "digit", &number);  // required: verified
  const hx_primes_t digit = hx_ring_digit(shard->env->ring, (uint32_t)number, &a->type->primes),
                    own = own_rows(shard, &op->results[0]->type->primes), copied = common(&own, &digit),
                    converted = without(&own, &digit);
  hx_ir_value_t *whole = hx_shard_whole(shard, a);  // on every rank, whether it has rows of the result or not
  hx_shard_define_part(
      shard, op->results[0],
      concat(shard, convert(shard, whole, &digit, &converted), select_rows(shard, shard->op, whole, &copied)));
  return NULL;
}

static const char *lift(hx_shard_t *shard) {
  const hx_ir_op_t *op = shard->op;
  const hx_primes_t own = own_rows(shard, &op->results[0]->type->primes);
  hx_ir_value_t *whole = hx_shard_whole(shard, op->operands[0]);
  hx_shard_define_part(shard, op->results[0], NULL);
  if (is_empty(&own)) return NULL;
  const hx_named_attr_t ids = hx_shard_ids(shard, "ids", &own);
  hx_shard_define_part(shard, op->results[0],
                       hx_shard_build(shard, shard->op, HX_OP_RNS_CENTER_LIFT, &whole, 1, &ids, 1, NULL));
  return NULL;
}

// ------------------------------------------------------------------ the table

static const struct {
  hx_op_id_t id;
  const char *(*rewrite)(hx_shard_t *shard);
} table[] = {
    {HX_OP_NTT_FORWARD, row_by_row},
    {HX_OP_NTT_INVERSE, row_by_row},
    {HX_OP_RNS_ADD, row_by_row},
    {HX_OP_RNS_SUB, row_by_row},
    {HX_OP_RNS_NEG, row_by_row},
    {HX_OP_RNS_MUL, row_by_row},
    {HX_OP_RNS_MUL_ADD, row_by_row},
    {HX_OP_RNS_MUL_SCALAR, row_by_row},
    {HX_OP_RNS_ADD_SCALAR, row_by_row},
    {HX_OP_RNS_REDUCE, row_by_row},
    {HX_OP_RNS_AUTOMORPHISM, row_by_row},
    {HX_OP_RNS_SUM, row_by_row},
    {HX_OP_RNS_TO_MONTGOMERY, row_by_row},
    {HX_OP_RNS_FROM_MONTGOMERY, row_by_row},
    {HX_OP_RNS_MUL_MONTGOMERY, row_by_row},
    {HX_OP_RNS_SELECT_LIMBS, row_by_row},
    {HX_OP_RNS_CONCAT_LIMBS, row_by_row},
    {HX_OP_RNS_SELECT_COMPONENTS, row_by_row},
    {HX_OP_RNS_PACK_COMPONENTS, row_by_row},
    {HX_OP_RNS_SELECT_BATCH, row_by_row},
    {HX_OP_RNS_REINTERPRET, row_by_row},
    {HX_OP_RNS_KEY_SLICE, row_by_row},
    {HX_OP_RNS_EXPAND_UNIFORM, row_by_row},
    {HX_OP_CORE_CONSTANT, row_by_row},
    {HX_OP_RNS_MOD_UP, raise},
    {HX_OP_RNS_MOD_DOWN, divide},
    {HX_OP_RNS_RESCALE, divide},
    {HX_OP_RNS_CENTER_LIFT, lift},
};

static const char *rewrite(hx_shard_t *shard) {
  const hx_ir_op_t *op = shard->op;
  for (size_t i = 0; i < op->result_count; ++i) {
    const hx_type_t *type = op->results[i]->type;
    const bool has_state = hx_type_parts(type->kind) != 0;
    if (has_state && !hx_type_is_complete(type)) {
      hx_shard_refuse(shard, HX_CODE_TYPE,
                      "its state is not complete, so its rows are not known; run infer-state before shard");
      return NULL;
    }
    if (!is_rows(type)) return "it gives no rows of residues";
  }
  if (hx_attrs_find(op->attrs, "heliox.implementation") != NULL) return "it asks for an implementation by name";
  for (size_t i = 0; i < HX_COUNT_OF(table); ++i) {
    if (table[i].id == op->info->id) return table[i].rewrite(shard);
  }
  return "it works on all rows at once: run lower before shard";
}

const hx_shard_rules_t hx_shard_limbs_rules = {
    .kind = "limbs", .spreads = spreads, .slice = slice, .gather = hx_shard_gather_rows, .rewrite = rewrite};
