// SPDX-License-Identifier: Apache-2.0
// Sums over ranks.
//
// A reduction gives every rank all contributions: with B bytes each, (size - 1) * B come to every rank, zeros among
// them from ranks that have nothing to add. By rows, contributor after contributor scatters its rows to their owners,
// each owner adds what comes, and the sums are gathered: a rank takes its rows of every contribution and, once, the
// rows of the others; one that owns no rows takes B. Which of the two moves less to the rank that takes the most is
// decided by counting, alike on every rank. Both add modulo each prime, exactly, so the bits are equal. No circle of
// waiting: contributors come in the order of the ranks, and whoever is done with one goes on to the next.
#include "core/passes/memory.h"
#include "core/passes/shard.h"

hx_primes_t hx_shard_own_rows(const hx_shard_t *shard, const hx_primes_t *all, uint32_t rank) {
  uint32_t ids[HX_PRIMES_MAX];
  hx_primes_t own = {0};
  const uint32_t count = hx_primes_list(all, ids);
  for (uint32_t i = 0; i < count; ++i) {
    if (hx_shard_row_owner(ids[i], shard->env->ring->q_count, shard->size) == rank) hx_primes_add(&own, ids[i]);
  }
  return own;
}

void hx_shard_rows_type(const hx_shard_t *shard, const hx_type_t *type, const hx_primes_t *rows, hx_type_t *out) {
  const hx_ring *ring = shard->env->ring;
  uint32_t ids[HX_PRIMES_MAX], basis = 0;
  const uint32_t count = hx_primes_list(rows, ids);
  for (uint32_t i = 0; i < count; ++i) basis |= ids[i] < ring->q_count ? HX_BASIS_Q : HX_BASIS_P;  // constants are bits
  hx_type_init(out, HX_TYPE_TENSOR);
  hx_type_set_word(out, HX_PART_DTYPE, ring->word == 32 ? HX_U32 : HX_U64);
  hx_type_set_batch(out, type->batch_rank, type->batch_shape);
  hx_type_set_word(out, HX_PART_COMPONENTS, type->components);
  hx_type_set_primes(out, rows);
  hx_type_set_word(out, HX_PART_BASIS, basis);
  hx_type_set_word(out, HX_PART_DOMAIN, type->domain);
  hx_type_set_word(out, HX_PART_REPR, type->repr);
}

// ids and owners of all rows.
static void list_owners(hx_shard_t *shard, const hx_primes_t *primes, hx_named_attr_t out[2]) {
  uint32_t ids[HX_PRIMES_MAX];
  int64_t owners[HX_PRIMES_MAX];
  const uint32_t count = hx_primes_list(primes, ids);
  for (uint32_t i = 0; i < count; ++i) owners[i] = hx_shard_row_owner(ids[i], shard->env->ring->q_count, shard->size);
  out[0] = hx_shard_ids(shard, "ids", primes);
  out[1] = hx_shard_list(shard, "owners", owners, count);
}

hx_ir_value_t *hx_shard_gather_rows(hx_shard_t *shard, hx_ir_op_t *before, const hx_type_t *type, hx_ir_value_t *part) {
  hx_named_attr_t items[3];
  list_owners(shard, &type->primes, items);
  items[2] = hx_shard_number("rank", shard->rank);
  return hx_shard_collective(shard, before, HX_OP_DISTRIBUTED_GATHER_LIMBS, part, items, 3, type);
}

// ------------------------------------------------------------------ by rows

static hx_status_t build_scatter(hx_shard_t *shard, hx_ir_op_t *before, const hx_type_t *type, hx_ir_value_t *whole,
                                 uint32_t root, hx_ir_value_t **out) {
  const hx_primes_t own = hx_shard_own_rows(shard, &type->primes, shard->rank);
  hx_ir_value_t *const operands[] = {shard->group, whole};
  hx_named_attr_t items[4];
  hx_attrs_t attrs;
  hx_type_t rows;
  hx_ir_op_t *op;
  const size_t results = hx_primes_count(&own) > 0 ? 1 : 0;
  list_owners(shard, &type->primes, items);
  items[2] = hx_shard_number("rank", shard->rank);
  items[3] = hx_shard_number("root", root);
  hx_shard_rows_type(shard, type, &own, &rows);
  HX_TRY(shard->status);
  HX_TRY(hx_program_attrs(shard->program, items, HX_COUNT_OF(items), &attrs));
  HX_TRY(hx_ir_create(shard->program, HX_OP_DISTRIBUTED_SCATTER_LIMBS, operands, whole == NULL ? 1 : 2, &rows, results,
                      attrs, 0, &op));
  hx_ir_insert(before->block, before, op);
  op->line = shard->op->line;
  op->column = shard->op->column;
  shard->collectives += 1;
  *out = results > 0 ? op->results[0] : NULL;
  return HX_STATUS_OK;
}

static hx_ir_value_t *sum_by_rows(hx_shard_t *shard, hx_ir_op_t *before, const hx_type_t *type, hx_ir_value_t *part,
                                  const bool *contributes) {
  hx_ir_value_t *sum = NULL;
  for (uint32_t r = 0; r < shard->size && shard->status == HX_STATUS_OK; ++r) {
    hx_ir_value_t *rows = NULL;
    if (!contributes[r]) continue;
    hx_shard_fail(shard, build_scatter(shard, before, type, r == shard->rank ? part : NULL, r, &rows));
    hx_ir_value_t *const operands[] = {sum, rows};
    sum = sum == NULL ? rows : hx_shard_build(shard, before, HX_OP_RNS_ADD, operands, 2, NULL, 0, NULL);
  }
  return shard->status == HX_STATUS_OK ? hx_shard_gather_rows(shard, before, type, sum) : NULL;
}

// Bytes that come to the rank that takes the most, in rows of the value.
static bool is_less_by_rows(const hx_shard_t *shard, const hx_type_t *type, const bool *contributes) {
  const uint64_t rows = hx_primes_count(&type->primes);
  uint64_t contributors = 0, most = 0;
  for (uint32_t r = 0; r < shard->size; ++r) contributors += contributes[r] ? 1 : 0;
  for (uint32_t r = 0; r < shard->size && r <= shard->env->ring->q_count + shard->env->ring->p_count; ++r) {
    const hx_primes_t own_rows = hx_shard_own_rows(shard, &type->primes, r);
    const uint64_t own = hx_primes_count(&own_rows),
                   taken = own * (contributors - (contributes[r] ? 1 : 0)) + rows - own;
    if (taken > most) most = taken;
  }
  return most < rows * (shard->size - 1);
}

hx_ir_value_t *hx_shard_sum(hx_shard_t *shard, hx_ir_op_t *before, const hx_type_t *type, hx_ir_value_t *part,
                            const bool *contributes) {
  if (is_less_by_rows(shard, type, contributes)) return sum_by_rows(shard, before, type, part, contributes);
  if (part == NULL) part = hx_shard_zero(shard, before, type, hx_shard_find_like(shard, type));
  if (part == NULL) return NULL;
  return hx_shard_collective(shard, before, HX_OP_DISTRIBUTED_ALL_REDUCE_ADD, part, NULL, 0, type);
}
