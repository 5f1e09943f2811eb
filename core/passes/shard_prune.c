// SPDX-License-Identifier: Apache-2.0
// Operations of several results of which a rank reads some: made anew with those.
#include "core/ckks/transition.h"
#include "core/passes/keys.h"
#include "core/passes/shard_terms.h"

// Which results somebody reads.
typedef struct hx_kept {
  size_t *places;  // [count] of the results that stay
  size_t count;
} hx_kept_t;

static hx_ir_value_t **copy_operands(const hx_ir_op_t *op) {
  hx_ir_value_t **operands = hx_zalloc(op->operand_count + 1, sizeof(hx_ir_value_t *));
  for (size_t i = 0; operands != NULL && i < op->operand_count; ++i) operands[i] = op->operands[i];
  return operands;
}

static void replace(hx_rewriter_t *rewriter, hx_ir_op_t *op, const hx_kept_t *kept, hx_ir_value_t *const *operands,
                    size_t operand_count, const hx_named_attr_t *changed) {
  hx_named_attr_t items[16];
  size_t count = 0;
  if (op->attrs.count > HX_COUNT_OF(items)) return;  // left as it is: correct, and no dearer than it was
  for (size_t i = 0; i < op->attrs.count; ++i)
    items[count++] = hx_str_equal(op->attrs.items[i].name, changed->name) ? *changed : op->attrs.items[i];
  const hx_ir_op_t *made =
      hx_rewriter_build(rewriter, op, op, op->info->id, operands, operand_count, items, count, kept->count);
  for (size_t i = 0; i < kept->count && made != NULL; ++i) {
    made->results[i]->name = op->results[kept->places[i]]->name;
    hx_rewriter_replace(rewriter, op->results[kept->places[i]], made->results[i]);
  }
  if (made != NULL) hx_rewriter_remove(rewriter, op);
}

// Groups: G * T weights behind T values, or behind one value that is rotated; keys, if any, stay.
static void prune_groups(hx_rewriter_t *rewriter, hx_ir_op_t *op, const hx_kept_t *kept) {
  const bool rotates = op->info->id == HX_OP_CKKS_ROTATE_WEIGHTED_SUM;
  const hx_attribute_t *steps;
  const size_t terms = rotates ? hx_op_list(op, "steps", &steps) : op->operand_count / (op->result_count + 1);
  const size_t base = rotates ? 1 : terms;
  hx_ir_value_t **operands = copy_operands(op);
  if (operands == NULL) {
    rewriter->status = HX_STATUS_OUT_OF_MEMORY;
    return;
  }
  size_t count = base;
  for (size_t g = 0; g < kept->count; ++g) {
    for (size_t t = 0; t < terms; ++t) operands[count++] = op->operands[base + kept->places[g] * terms + t];
  }
  for (size_t i = base + terms * op->result_count; i < op->operand_count; ++i) operands[count++] = op->operands[i];
  const hx_named_attr_t groups = {.name = hx_str("groups"),
                                  .value = {.kind = HX_ATTRIBUTE_INTEGER, .integer = (int64_t)kept->count}};
  replace(rewriter, op, kept, operands, count, &groups);
  hx_free(operands);
}

// Steps of rotate_many, and the keys of those that stay.
static hx_status_t prune_steps(hx_rewriter_t *rewriter, hx_ir_op_t *op, const hx_kept_t *kept) {
  const hx_attribute_t *items;
  const size_t step_count = hx_op_list(op, "steps", &items), first_key = hx_op_first_key(op);
  const uint32_t slots = op->operands[0]->type->slots;
  hx_ir_value_t **operands = copy_operands(op);
  int64_t *steps = hx_zalloc(kept->count + 1, sizeof *steps);
  uint32_t *distinct = hx_zalloc(step_count + 1, sizeof *distinct);
  const bool is_ready = operands != NULL && steps != NULL && distinct != NULL;
  if (is_ready && slots > 0) {
    // Keys stand in order of the first use of their steps.
    const size_t known = hx_rotation_steps(items, step_count, slots, distinct);
    size_t count = first_key;
    for (size_t i = 0; i < kept->count; ++i) {
      steps[i] = items[kept->places[i]].integer;
      const uint32_t step = hx_rotation_reduce(steps[i], slots);
      bool is_new = step != 0 && first_key < op->operand_count;
      for (size_t k = 0; k < i && is_new; ++k) is_new = hx_rotation_reduce(steps[k], slots) != step;
      for (size_t k = 0; k < known && is_new; ++k) {
        if (distinct[k] == step) operands[count++] = op->operands[first_key + k];
      }
    }
    const hx_named_attr_t list = {.name = hx_str("steps"), .value = hx_rewriter_list(rewriter, steps, kept->count)};
    replace(rewriter, op, kept, operands, count, &list);
  }
  hx_free(operands);
  hx_free(steps);
  hx_free(distinct);
  return is_ready ? HX_STATUS_OK : HX_STATUS_OUT_OF_MEMORY;
}

static void prune_op(hx_rewriter_t *rewriter, hx_ir_op_t *op) {
  const hx_op_id_t id = op->info->id;
  const bool has_groups =
      id == HX_OP_CKKS_ROTATE_WEIGHTED_SUM || id == HX_OP_CKKS_WEIGHTED_SUM || id == HX_OP_RNS_WEIGHTED_SUM;
  if (!has_groups && id != HX_OP_CKKS_ROTATE_MANY) return;
  hx_kept_t kept = {.places = hx_zalloc(op->result_count + 1, sizeof *kept.places)};
  if (kept.places == NULL) {
    rewriter->status = HX_STATUS_OUT_OF_MEMORY;
    return;
  }
  for (size_t i = 0; i < op->result_count; ++i) {
    if (hx_rewriter_uses(rewriter, op->results[i]) > 0) kept.places[kept.count++] = i;
  }
  if (kept.count > 0 && kept.count < op->result_count) {
    hx_rewriter_take(rewriter, op);
    if (has_groups) {
      prune_groups(rewriter, op, &kept);
    } else if (rewriter->status == HX_STATUS_OK) {
      rewriter->status = prune_steps(rewriter, op, &kept);
    }
  }
  hx_free(kept.places);
}

static void prune_block(hx_rewriter_t *rewriter, hx_ir_block_t *block, void *argument) {
  (void)argument;
  for (hx_ir_op_t *op = block->last, *previous; op != NULL && rewriter->status == HX_STATUS_OK; op = previous) {
    previous = op->previous;
    prune_op(rewriter, op);
  }
}

hx_status_t hx_shard_prune(hx_program_t *program, const hx_pass_env_t *env, bool *out_changed) {
  hx_pass_env_t clean = *env;
  bool changed = true;
  *out_changed = false;
  // Each round removes results; what only they read goes with the next one.
  while (changed) {
    bool cleaned = false;
    hx_rewriter_t rewriter;
    HX_TRY(hx_pass_dve(program, &clean, &cleaned));
    if (hx_rewriter_init(&rewriter, program, env) == HX_STATUS_OK) hx_rewriter_blocks(&rewriter, prune_block, NULL);
    HX_TRY(hx_rewriter_finish(&rewriter, &changed));
    *out_changed = *out_changed || changed || cleaned;
  }
  return HX_STATUS_OK;
}
