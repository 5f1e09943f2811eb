// SPDX-License-Identifier: Apache-2.0
// The walk that the kinds limbs and batch share: every value as its parts or as a whole, gathered where it is asked
// for.
#include "core/passes/shard.h"

hx_shard_value_t *hx_shard_value(const hx_shard_t *shard, const hx_ir_value_t *value) {
  return &shard->values[value->id];
}

bool hx_shard_is_spread(const hx_shard_t *shard, const hx_ir_value_t *value) {
  return hx_shard_value(shard, value)->is_spread;
}

hx_ir_value_t *hx_shard_part(const hx_shard_t *shard, const hx_ir_value_t *value) {
  return hx_shard_value(shard, value)->part;
}

// The gathered value stands behind its parts in their block, so that whatever comes later in it, or in a region of it,
// reads the same one; a value from outside a loop is gathered once, not once a turn.
hx_ir_value_t *hx_shard_whole(hx_shard_t *shard, hx_ir_value_t *value) {
  hx_shard_value_t *found = hx_shard_value(shard, value);
  if (found->whole != NULL || shard->status != HX_STATUS_OK) return found->whole;
  hx_ir_op_t *before = hx_ir_ancestor_in(shard->op, hx_ir_home(value));
  found->whole = shard->rules->gather(shard, before, value->type, found->part);
  if (found->whole != NULL) found->whole->name = value->name;
  return found->whole;
}

void hx_shard_define_part(hx_shard_t *shard, const hx_ir_value_t *value, hx_ir_value_t *part) {
  *hx_shard_value(shard, value) = (hx_shard_value_t){.part = part, .is_spread = true};
  if (part != NULL && part->name.size == 0) part->name = value->name;
}

// Parts of a whole value are views: made at once, so that they are seen wherever the value is.
void hx_shard_define_whole(hx_shard_t *shard, const hx_ir_value_t *value, hx_ir_value_t *whole, hx_ir_op_t *before) {
  hx_shard_value_t *found = hx_shard_value(shard, value);
  *found = (hx_shard_value_t){.whole = whole};
  if (whole == NULL || shard->status != HX_STATUS_OK || !shard->rules->spreads(shard, value->type)) return;
  found->is_spread = true;
  found->part = shard->rules->slice(shard, before, whole);
}

// ------------------------------------------------------------------ the walk

static void visit_block(hx_shard_t *shard, hx_ir_block_t *block);

static bool has_spread_operand(const hx_shard_t *shard, const hx_ir_op_t *op) {
  for (size_t i = 0; i < op->operand_count; ++i) {
    if (hx_shard_is_spread(shard, op->operands[i])) return true;
  }
  return false;
}

// All operands whole: what the operation was.
static void take_whole_operands(hx_shard_t *shard, hx_ir_op_t *op) {
  for (size_t i = 0; i < op->operand_count && shard->status == HX_STATUS_OK; ++i) {
    hx_ir_value_t *whole = hx_shard_whole(shard, op->operands[i]);
    if (whole != NULL) op->operands[i] = whole;
  }
}

static void keep_whole(hx_shard_t *shard, hx_ir_op_t *op) {
  take_whole_operands(shard, op);
  for (size_t i = 0; i < op->region_count; ++i) visit_block(shard, op->regions[i]->block);
  shard->op = op;
  for (size_t i = 0; i < op->result_count; ++i) hx_shard_define_whole(shard, op->results[i], op->results[i], op->next);
}

static void mark_dead(hx_shard_t *shard, hx_ir_op_t *op) {
  const hx_status_t status = hx_grow(&shard->dead, &shard->dead_capacity, shard->dead_count + 1, sizeof(hx_ir_op_t *));
  hx_shard_fail(shard, status);
  if (status == HX_STATUS_OK) shard->dead[shard->dead_count++] = op;
}

static void visit_op(hx_shard_t *shard, hx_ir_op_t *op) {
  shard->op = op;
  const bool is_structure =
      op->info->tier == HX_TIER_STRUCTURE || op->info->id == HX_OP_MATERIAL_REF || op->info->id == HX_OP_RESOURCE_REF;
  const char *why = is_structure ? "" : shard->rules->rewrite(shard);
  if (shard->status != HX_STATUS_OK) return;
  if (why == NULL) {
    mark_dead(shard, op);
    shard->spread_ops += 1;
    return;
  }
  if (!is_structure && has_spread_operand(shard, op)) {
    shard->replicated_ops += 1;
    hx_decide(shard->env, op, "on every rank", "spread, on every rank", "%s", why);
  }
  keep_whole(shard, op);
}

// The operations that the block had: those that are put in front of one of them are not visited.
static void visit_block(hx_shard_t *shard, hx_ir_block_t *block) {
  hx_ir_op_t *first = block->first;
  shard->op = first;
  for (size_t i = 0; i < block->argument_count; ++i)
    hx_shard_define_whole(shard, block->arguments[i], block->arguments[i], first);
  for (hx_ir_op_t *op = first, *next; op != NULL && shard->status == HX_STATUS_OK; op = next) {
    next = op->next;  // slices of op's results will stand in front of it
    visit_op(shard, op);
  }
}

static void visit_function(hx_shard_t *shard, hx_ir_op_t *func) {
  shard->func = func;
  shard->dead_count = 0;
  visit_block(shard, hx_func_block(func));
  // Operations that others stand for: nothing reads their results any more.
  for (size_t i = shard->dead_count; i > 0 && shard->status == HX_STATUS_OK; --i) hx_ir_remove(shard->dead[i - 1]);
  if (shard->status != HX_STATUS_OK) return;
  hx_shard_fail(shard, hx_func_refresh_type(shard->program, func));
}

hx_status_t hx_shard_spread(hx_program_t *program, const hx_pass_env_t *env, const hx_shard_options_t *options,
                            const hx_shard_rules_t *rules, bool *out_changed) {
  hx_shard_t shard = {.program = program, .env = env, .rules = rules, .rank = options->rank, .size = options->size};
  hx_ir_block_t *module = program->module->regions[0]->block;
  // The handles come first: they are values that the walk passes over like others.
  for (hx_ir_op_t *op = module->first; op != NULL; op = op->next) {
    hx_ir_value_t *group = NULL;
    if (op->info->id == HX_OP_FUNC) HX_TRY(hx_shard_find_group(program, op, options->group, &group));
  }
  shard.value_count = hx_ir_number(program->module);
  shard.values = hx_zalloc(shard.value_count + 1, sizeof *shard.values);
  if (shard.values == NULL) return HX_STATUS_OUT_OF_MEMORY;
  for (hx_ir_op_t *op = module->first; op != NULL && shard.status == HX_STATUS_OK; op = op->next) {
    if (op->info->id != HX_OP_FUNC) continue;
    shard.group = hx_func_block(op)->first->results[0];
    visit_function(&shard, op);
  }
  hx_free(shard.values);
  hx_free(shard.dead);
  if (shard.status != HX_STATUS_OK) return shard.status;
  bool cleaned = false;
  HX_TRY(hx_pass_dve(program, (hx_pass_env_t *)(uintptr_t)env, &cleaned));  // reads no part of it
  hx_decide(env, NULL, rules->kind, "limbs, terms, batch",
            "rank %u of %u: %zu operations on its parts, %zu on every rank, %zu collectives", options->rank,
            options->size, shard.spread_ops, shard.replicated_ops, shard.collectives);
  *out_changed = true;
  return HX_STATUS_OK;
}
