// SPDX-License-Identifier: Apache-2.0
// shard{kind=terms}: rotate_sum and rotate_weighted_sum, whose terms are summed over Q and P and divided by P once.
//
// The rank's terms are lowered up to that sum. What the lowered form of one process adds behind the division
// (lower_keys.c) is added before it here, times P: that is how CKKS.md defines the sums, and the bits are equal. The
// sums of the ranks are added over Q and P, exactly, and every rank divides.
#include "core/ckks/primes.h"
#include "core/ckks/transition.h"
#include "core/passes/keys.h"
#include "core/passes/lower.h"
#include "core/passes/shard_terms.h"

typedef struct hx_rotations {
  hx_shard_t *shard;
  hx_ir_op_t *op;
  const hx_attribute_t *steps;
  size_t term_count, group_count;
  bool is_outer;  // rotate_sum
} hx_rotations_t;

static hx_rotations_t read_rotations(hx_shard_t *shard) {
  hx_rotations_t rotations = {.shard = shard, .op = shard->op};
  rotations.term_count = hx_op_list(shard->op, "steps", &rotations.steps);
  rotations.group_count = shard->op->result_count;
  rotations.is_outer = shard->op->info->id == HX_OP_CKKS_ROTATE_SUM;
  return rotations;
}

static uint32_t step_of(const hx_rotations_t *rotations, size_t term) {
  return hx_rotation_reduce(rotations->steps[term].integer, rotations->op->operands[0]->type->slots);
}

const char *hx_shard_rotations_why_not(const hx_shard_t *shard) {
  const hx_ir_op_t *op = shard->op;
  if (hx_attrs_find(op->attrs, "heliox.implementation") != NULL) return "it asks for an implementation by name";
  for (size_t i = 0; i < op->operand_count; ++i) {
    const hx_type_t *type = op->operands[i]->type;
    if (type->kind != HX_TYPE_KEY && !hx_type_is_complete(type))
      return "its state is not complete: run infer-state before shard";
  }
  const hx_type_t *type = op->results[0]->type;
  if (!hx_type_is_complete(type)) return "its state is not complete: run infer-state before shard";
  const hx_rotations_t rotations = read_rotations((hx_shard_t *)(uintptr_t)shard);  // is only read
  size_t rotating = 0;
  for (size_t t = 0; t < rotations.term_count; ++t) rotating += step_of(&rotations, t) != 0 ? 1 : 0;
  if (rotating < 2) return "fewer than two of its terms rotate";
  if (type->batch_rank > 0 && hx_shard_find_like(shard, type) == NULL)
    return "no input or material has the batch of the sum, of which a rank without terms would make zeros";
  return NULL;
}

// ------------------------------------------------------------------ the sum of all ranks

static hx_ir_value_t *select_rows(hx_shard_t *shard, hx_ir_op_t *before, hx_ir_value_t *value,
                                  const hx_primes_t *rows) {
  const hx_named_attr_t ids = hx_shard_ids(shard, "ids", rows);
  return hx_shard_build(shard, before, HX_OP_RNS_SELECT_LIMBS, &value, 1, &ids, 1, NULL);
}

static hx_ir_value_t *component(hx_shard_t *shard, hx_ir_op_t *before, hx_ir_value_t *value, int64_t first) {
  const hx_named_attr_t items[] = {hx_shard_number("count", 1), hx_shard_number("first", first)};
  return hx_shard_build(shard, before, HX_OP_RNS_SELECT_COMPONENTS, &value, 1, items, 2, NULL);
}

static hx_ir_value_t *two(hx_shard_t *shard, hx_ir_op_t *before, hx_op_id_t id, hx_ir_value_t *a, hx_ir_value_t *b) {
  hx_ir_value_t *const operands[] = {a, b};
  return hx_shard_build(shard, before, id, operands, 2, NULL, 0, NULL);
}

// P * value added to the rows of Q; those of P stay.
static hx_ir_value_t *add_scaled(hx_shard_t *shard, hx_ir_op_t *before, hx_ir_value_t *raised, hx_ir_value_t *value) {
  const hx_ring *ring = shard->env->ring;
  const hx_primes_t on_q = value->type->primes, on_p = hx_ring_special(ring);
  uint32_t ids[HX_PRIMES_MAX];
  int64_t factors[HX_PRIMES_MAX];
  const uint32_t count = hx_primes_list(&on_q, ids);
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t q = ring->primes[ids[i]];
    uint64_t product = 1;
    for (uint32_t j = 0; j < ring->p_count; ++j)
      product = hx_modular_multiply(product, ring->primes[ring->q_count + j] % q, q);
    factors[i] = (int64_t)product;
  }
  const hx_named_attr_t residues = hx_shard_list(shard, "residues", factors, count);
  hx_ir_value_t *scaled = hx_shard_build(shard, before, HX_OP_RNS_MUL_SCALAR, &value, 1, &residues, 1, NULL);
  hx_ir_value_t *sum = two(shard, before, HX_OP_RNS_ADD, select_rows(shard, before, raised, &on_q), scaled);
  return two(shard, before, HX_OP_RNS_CONCAT_LIMBS, sum, select_rows(shard, before, raised, &on_p));
}

// What the lowering is given for its sums.
typedef struct hx_across {
  hx_shard_t *shard;
  bool *contributes;  // by rank
} hx_across_t;

static hx_ir_value_t *sum_of_all(hx_lowering_t *lowering, hx_ir_value_t *raised, hx_ir_value_t *first,
                                 hx_ir_value_t *both) {
  const hx_across_t *across = lowering->across_argument;
  hx_shard_t *shard = across->shard;
  hx_ir_op_t *before = lowering->op;
  const hx_type_t *result = before->results[0]->type;
  hx_primes_t rows = result->primes;
  for (uint32_t j = 0; j < shard->env->ring->p_count; ++j) hx_primes_add(&rows, shard->env->ring->q_count + j);
  hx_type_t type;
  hx_shard_rows_type(shard, result, &rows, &type);
  hx_type_set_word(&type, HX_PART_COMPONENTS, 2);
  hx_type_set_word(&type, HX_PART_DOMAIN, HX_NTT);
  // Terms that do not rotate have nothing over P: zeros are what they are added to.
  if (raised == NULL && both != NULL) raised = hx_shard_zero(shard, before, &type, hx_shard_find_like(shard, &type));
  if (both != NULL) raised = add_scaled(shard, before, raised, both);
  if (first != NULL && raised != NULL) {
    hx_ir_value_t *sum = add_scaled(shard, before, component(shard, before, raised, 0), first);
    raised = two(shard, before, HX_OP_RNS_PACK_COMPONENTS, sum, component(shard, before, raised, 1));
  }
  hx_ir_value_t *all =
      shard->status == HX_STATUS_OK ? hx_shard_sum(shard, before, &type, raised, across->contributes) : NULL;
  if (shard->status != HX_STATUS_OK && lowering->status == HX_STATUS_OK) lowering->status = shard->status;
  return all;
}

// ------------------------------------------------------------------ the rank's terms

// The key of a need: the operation's own, or a reference to it.
static hx_ir_value_t *find_key(hx_rotations_t *rotations, const hx_key_needs_t *all, const hx_key_need_t *need,
                               size_t first_key) {
  hx_shard_t *shard = rotations->shard;
  const hx_ir_op_t *op = rotations->op;
  for (size_t i = 0; i < all->count && first_key + i < op->operand_count; ++i) {
    if (all->items[i].element == need->element) return op->operands[first_key + i];
  }
  char symbol[HX_NAME_MAX];
  hx_type_t type;
  hx_key_need_symbol(need, symbol);
  hx_key_need_type(need, &type);
  const hx_named_attr_t item = {.name = hx_str("symbol"),
                                .value = {.kind = HX_ATTRIBUTE_SYMBOL, .text = hx_str(symbol)}};
  return hx_shard_build(shard, rotations->op, HX_OP_MATERIAL_REF, NULL, 0, &item, 1, &type);
}

static hx_status_t keep_keys(hx_rotations_t *rotations, const hx_key_needs_t *all, hx_ir_value_t **operands,
                             size_t count, size_t *out_count) {
  hx_shard_t *shard = rotations->shard;
  hx_key_needs_t needs = {0};
  hx_status_t status = hx_op_key_needs(shard->program, rotations->op, shard->env->ring, &needs, shard->env->report);
  for (size_t i = 0; i < needs.count && status == HX_STATUS_OK && shard->status == HX_STATUS_OK; ++i)
    operands[count++] = find_key(rotations, all, &needs.items[i], hx_op_first_key(rotations->op));
  hx_free(needs.items);
  *out_count = count;
  return status == HX_STATUS_OK ? shard->status : status;
}

// The operation with a run of its terms: operands, steps and keys.
static hx_status_t keep_terms(hx_rotations_t *rotations, size_t first, size_t count) {
  hx_shard_t *shard = rotations->shard;
  hx_ir_op_t *op = rotations->op;
  const size_t room = op->operand_count + count + 1;
  hx_ir_value_t **operands = hx_zalloc(room, sizeof(hx_ir_value_t *));
  int64_t *steps = hx_zalloc(count + 1, sizeof *steps);
  hx_key_needs_t all = {0};
  size_t kept = 0;
  hx_status_t status = operands == NULL || steps == NULL
                           ? HX_STATUS_OUT_OF_MEMORY
                           : hx_op_key_needs(shard->program, op, shard->env->ring, &all, shard->env->report);
  if (status == HX_STATUS_OK) {
    if (!rotations->is_outer) operands[kept++] = op->operands[0];
    const size_t groups = rotations->is_outer ? 1 : rotations->group_count, base = kept;
    for (size_t g = 0; g < groups; ++g) {
      for (size_t t = 0; t < count; ++t) operands[kept++] = op->operands[base + g * rotations->term_count + first + t];
    }
    for (size_t t = 0; t < count; ++t) steps[t] = rotations->steps[first + t].integer;
    const hx_named_attr_t list = hx_shard_list(shard, "steps", steps, count);
    status = hx_ir_set_attr(shard->program, op, "steps", &list.value);
  }
  if (status == HX_STATUS_OK) status = keep_keys(rotations, &all, operands, kept, &kept);
  if (status == HX_STATUS_OK) status = hx_ir_set_operands(shard->program, op, operands, kept);
  hx_free(operands);
  hx_free(steps);
  hx_free(all.items);
  return status;
}

static size_t choose_terms(hx_rotations_t *rotations, size_t *out_first, bool **out_contributes) {
  hx_shard_t *shard = rotations->shard;
  double *weights = hx_zalloc(rotations->term_count + 1, sizeof *weights);
  if (weights == NULL) {
    hx_shard_fail(shard, HX_STATUS_OUT_OF_MEMORY);
    return 0;
  }
  // Terms that rotate are alike; those that do not cost next to nothing.
  for (size_t t = 0; t < rotations->term_count; ++t) weights[t] = step_of(rotations, t) == 0 ? 0 : 1;
  const size_t count = hx_shard_run(weights, rotations->term_count, shard->rank, shard->size, out_first);
  *out_contributes = hx_shard_contributors(shard, weights, rotations->term_count);
  hx_free(weights);
  return count;
}

void hx_shard_rotations(hx_shard_t *shard, hx_rewriter_t *rewriter) {
  hx_rotations_t rotations = read_rotations(shard);
  hx_ir_op_t *op = shard->op;
  hx_rewriter_take(rewriter, op);
  size_t first = 0;
  hx_across_t across = {.shard = shard};
  const size_t count = choose_terms(&rotations, &first, &across.contributes);
  hx_decide(shard->env, op, "spread", "spread, on every rank", "rank %u of %u has %zu of %zu terms, from term %zu on",
            shard->rank, shard->size, count, rotations.term_count, first);
  hx_ir_op_t *previous = op->previous, *next = op->next;
  hx_ir_block_t *block = op->block;
  if (shard->status == HX_STATUS_OK && count > 0) hx_shard_fail(shard, keep_terms(&rotations, first, count));
  hx_lowering_t lowering = {.program = shard->program,
                            .ring = shard->env->ring,
                            .report = shard->env->report,
                            .op = op,
                            .status = shard->status,
                            .across = sum_of_all,
                            .across_argument = &across};
  if (lowering.status == HX_STATUS_OK) hx_lower_rotations(&lowering, count > 0);
  hx_free(across.contributes);
  hx_shard_fail(shard, lowering.status);
  if (shard->status != HX_STATUS_OK) return;
  hx_ir_remove(op);
  hx_shard_adopt(rewriter, block, previous, next);
}
