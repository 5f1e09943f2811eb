// SPDX-License-Identifier: Apache-2.0
// shard{kind=batch}: items of the first batch axis over the ranks, consecutive ones to each.
//
// Legal item by item: operations compute every item of a batch on its own, but for those that name the axis:
//   sum over it           each rank sums its items, and the sums are added: exact modulo each prime, so their order is
//                         free;
//   select_batch of it    reads the gathered value on every rank.
// Operands without a batch (weights, keys) are whole on every rank. A first axis of one item is not spread.
#include <string.h>

#include "core/passes/shard.h"

static bool has_items(const hx_type_t *type) {
  const bool has_state =
      type->kind == HX_TYPE_CIPHERTEXT || type->kind == HX_TYPE_PLAINTEXT || type->kind == HX_TYPE_TENSOR;
  return has_state && hx_type_knows(type, HX_PART_BATCH) && type->batch_rank > 0 && type->batch_shape[0] > 1;
}

static bool spreads(const hx_shard_t *shard, const hx_type_t *type) {
  (void)shard;
  return has_items(type);
}

static uint64_t own_items(const hx_shard_t *shard, const hx_type_t *type, uint64_t *out_first) {
  return hx_shard_share(type->batch_shape[0], shard->rank, shard->size, out_first);
}

// The type of the rank's items; false: it has none.
static bool part_type(const hx_shard_t *shard, const hx_type_t *type, hx_type_t *out) {
  uint64_t first, shape[HX_BATCH_RANK_MAX];
  const uint64_t items = own_items(shard, type, &first);
  hx_type_copy(out, type);
  memcpy(shape, type->batch_shape, sizeof shape);
  shape[0] = items;
  if (items > 0) hx_type_set_batch(out, type->batch_rank, shape);
  return items > 0;
}

static hx_ir_value_t *slice(hx_shard_t *shard, hx_ir_op_t *before, hx_ir_value_t *whole) {
  uint64_t first;
  hx_type_t type;
  const uint64_t items = own_items(shard, whole->type, &first);
  if (!part_type(shard, whole->type, &type)) return NULL;
  const hx_named_attr_t list[] = {hx_shard_number("axis", 0), hx_shard_number("items", (int64_t)items),
                                  hx_shard_number("start", (int64_t)first)};
  return hx_shard_build(shard, before, HX_OP_RNS_SELECT_BATCH, &whole, 1, list, 3, &type);
}

static hx_ir_value_t *gather(hx_shard_t *shard, hx_ir_op_t *before, const hx_type_t *type, hx_ir_value_t *part) {
  int64_t *counts = hx_zalloc(shard->size, sizeof *counts);
  if (counts == NULL) {
    hx_shard_fail(shard, HX_STATUS_OUT_OF_MEMORY);
    return NULL;
  }
  uint64_t first;
  for (uint32_t r = 0; r < shard->size; ++r)
    counts[r] = (int64_t)hx_shard_share(type->batch_shape[0], r, shard->size, &first);
  const hx_named_attr_t items[] = {hx_shard_list(shard, "counts", counts, shard->size),
                                   hx_shard_number("rank", shard->rank)};
  hx_free(counts);
  return hx_shard_collective(shard, before, HX_OP_DISTRIBUTED_ALL_GATHER, part, items, 2, type);
}

// ------------------------------------------------------------------ operations

// The operation on the rank's items of every operand that has items.
static hx_ir_op_t *build_on_parts(hx_shard_t *shard, const hx_type_t *types) {
  const hx_ir_op_t *op = shard->op;
  hx_ir_value_t **operands = hx_zalloc(op->operand_count + 1, sizeof(hx_ir_value_t *));
  hx_ir_op_t *made = NULL;
  if (operands == NULL) hx_shard_fail(shard, HX_STATUS_OUT_OF_MEMORY);
  for (size_t i = 0; i < op->operand_count && shard->status == HX_STATUS_OK; ++i) {
    hx_ir_value_t *operand = op->operands[i];
    operands[i] = hx_shard_is_spread(shard, operand) ? hx_shard_part(shard, operand) : hx_shard_whole(shard, operand);
  }
  if (shard->status == HX_STATUS_OK)
    hx_shard_fail(shard, hx_ir_create(shard->program, op->info->id, operands, op->operand_count, types,
                                      op->result_count, op->attrs, 0, &made));
  hx_free(operands);
  if (shard->status != HX_STATUS_OK) return NULL;
  made->line = op->line;
  made->column = op->column;
  hx_ir_insert(op->block, shard->op, made);
  return made;
}

static const char *item_by_item(hx_shard_t *shard) {
  const hx_ir_op_t *op = shard->op;
  hx_type_t *types = hx_zalloc(op->result_count + 1, sizeof *types);
  if (types == NULL) hx_shard_fail(shard, HX_STATUS_OUT_OF_MEMORY);
  bool has_part = true;
  for (size_t i = 0; i < op->result_count && types != NULL; ++i)
    has_part = part_type(shard, op->results[i]->type, &types[i]) && has_part;
  const hx_ir_op_t *made = has_part && types != NULL ? build_on_parts(shard, types) : NULL;
  for (size_t i = 0; i < op->result_count; ++i)
    hx_shard_define_part(shard, op->results[i], made == NULL ? NULL : made->results[i]);
  hx_free(types);
  return NULL;
}

static const char *sum_items(hx_shard_t *shard) {
  const hx_ir_op_t *op = shard->op;
  const hx_type_t *type = op->results[0]->type;
  const uint64_t items = op->operands[0]->type->batch_shape[0];
  uint64_t first;
  if (!hx_type_is_complete(type) || type->repr != HX_STANDARD)
    return "only sums of standard residues are exact over ranks";
  if (type->batch_rank > 0 && shard->size > items && hx_shard_find_like(shard, type) == NULL)
    return "there are more ranks than items, and no input or material has the batch of the sum";
  bool *contributes = hx_zalloc(shard->size, sizeof *contributes);
  if (contributes == NULL) {
    hx_shard_fail(shard, HX_STATUS_OUT_OF_MEMORY);
    return NULL;
  }
  for (uint32_t r = 0; r < shard->size; ++r) contributes[r] = hx_shard_share(items, r, shard->size, &first) > 0;
  const hx_ir_op_t *made = contributes[shard->rank] ? build_on_parts(shard, type) : NULL;
  hx_ir_value_t *sum = shard->status == HX_STATUS_OK
                           ? hx_shard_sum(shard, shard->op, type, made == NULL ? NULL : made->results[0], contributes)
                           : NULL;
  hx_free(contributes);
  if (sum != NULL) sum->name = op->results[0]->name;
  hx_shard_define_whole(shard, op->results[0], sum, shard->op);
  return NULL;
}

static bool names_first_axis(const hx_ir_op_t *op) {
  int64_t axis = 0;
  return hx_attrs_get_i64(op->attrs, "axis", &axis) && axis == 0;
}

static const char *rewrite(hx_shard_t *shard) {
  const hx_ir_op_t *op = shard->op;
  uint64_t items = 0;
  for (size_t i = 0; i < op->operand_count; ++i) {
    if (!hx_shard_is_spread(shard, op->operands[i])) continue;
    const uint64_t found = op->operands[i]->type->batch_shape[0];
    if (items != 0 && found != items) return "its operands have different numbers of items";
    items = found;
  }
  if (items == 0) return "it has no items to spread";
  if (op->info->tier == HX_TIER_HOST && (op->info->flags & HX_OP_FLAG_VIEW) == 0)
    return "it is done by the host, for all items";
  const bool is_sum = op->info->id == HX_OP_CKKS_SUM || op->info->id == HX_OP_RNS_SUM;
  if (is_sum && names_first_axis(op)) return sum_items(shard);
  if (op->info->id == HX_OP_RNS_SELECT_BATCH && names_first_axis(op)) return "it takes items of all ranks";
  for (size_t i = 0; i < op->result_count; ++i) {
    const hx_type_t *type = op->results[i]->type;
    if (!hx_type_knows(type, HX_PART_BATCH)) {
      hx_shard_refuse(shard, HX_CODE_TYPE, "its batch is not known; run infer-state before shard");
      return NULL;
    }
    if (!has_items(type) || type->batch_shape[0] != items) return "its results have other items than its operands";
  }
  return item_by_item(shard);
}

const hx_shard_rules_t hx_shard_batch_rules = {
    .kind = "batch", .spreads = spreads, .slice = slice, .gather = gather, .rewrite = rewrite};
