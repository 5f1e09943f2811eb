// SPDX-License-Identifier: Apache-2.0
// Bytes of collectives: what a rank gives, once however many ranks get it, and what it takes. Every byte that a rank
// takes comes from one other rank, straight or passed on, so the sum over the ranks of what they take is what the
// network carries (docs/distributed.md); what ranks compare before a payload is not in it.
#include "core/passes/collectives.h"
#include "core/passes/memory.h"

// Bytes of the rows of a gather or scatter that each rank owns; `whole` bytes are `count` rows.
static uint64_t rows_of(const hx_ir_op_t *op, uint64_t whole, uint32_t rank) {
  const hx_attribute_t *owners = hx_attrs_find(op->attrs, "owners");
  uint64_t rows = 0;
  for (size_t i = 0; owners != NULL && i < owners->count; ++i) rows += owners->list[i].integer == (int64_t)rank ? 1 : 0;
  return owners == NULL || owners->count == 0 ? 0 : whole / owners->count * rows;
}

static uint64_t items_of(const hx_ir_op_t *op, uint64_t whole, uint32_t rank) {
  const hx_attribute_t *counts = hx_attrs_find(op->attrs, "counts");
  uint64_t total = 0;
  for (size_t i = 0; counts != NULL && i < counts->count; ++i) total += (uint64_t)counts->list[i].integer;
  return total == 0 || rank >= counts->count ? 0 : whole / total * (uint64_t)counts->list[rank].integer;
}

// The result's bytes, where all ranks have the whole of it.
static uint64_t whole_of(const hx_ir_op_t *op, const hx_ring *ring) {
  const hx_ir_value_t *value = op->result_count > 0 ? op->results[0] : op->operand_count > 1 ? op->operands[1] : NULL;
  return value == NULL ? 0 : hx_type_bytes(value->type, ring);
}

// The root's value from what a rank knows of it: all of it there, the rank's own rows elsewhere.
static hx_volume_t scatter(const hx_ir_op_t *op, const hx_ring *ring, uint32_t rank, bool is_root) {
  const uint64_t known = op->operand_count > 1 && is_root ? hx_type_bytes(op->operands[1]->type, ring)
                         : op->result_count > 0           ? hx_type_bytes(op->results[0]->type, ring)
                                                          : 0;
  if (!is_root) return (hx_volume_t){.payload = known, .received = known};
  return (hx_volume_t){.payload = known, .sent = known - rows_of(op, known, rank)};
}

hx_volume_t hx_collective_volume(const hx_ir_op_t *op, const hx_ring *ring, uint32_t rank, uint32_t size) {
  const uint64_t whole = whole_of(op, ring);
  uint64_t own = whole;
  int64_t root = 0;
  (void)hx_attrs_get_i64(op->attrs, "root", &root);
  const bool is_root = root == (int64_t)rank;
  switch (op->info->id) {
    case HX_OP_DISTRIBUTED_BROADCAST:
      return (hx_volume_t){.payload = whole, .sent = is_root ? whole : 0, .received = is_root ? 0 : whole};
    case HX_OP_DISTRIBUTED_ALL_REDUCE:
    case HX_OP_DISTRIBUTED_ALL_REDUCE_ADD:
      return (hx_volume_t){.payload = whole, .sent = whole, .received = whole * (size - 1)};
    case HX_OP_DISTRIBUTED_GATHER_LIMBS:
    case HX_OP_DISTRIBUTED_ALL_GATHER:
      own = op->info->id == HX_OP_DISTRIBUTED_ALL_GATHER ? items_of(op, whole, rank) : rows_of(op, whole, rank);
      return (hx_volume_t){.payload = whole, .sent = own, .received = whole - own};
    case HX_OP_DISTRIBUTED_SCATTER_LIMBS:
      return scatter(op, ring, rank, is_root);
    case HX_OP_DISTRIBUTED_SEND:
      return (hx_volume_t){.payload = whole, .sent = whole};
    case HX_OP_DISTRIBUTED_RECEIVE:
      return (hx_volume_t){.payload = whole, .received = whole};
    default:
      return (hx_volume_t){0};
  }
}
