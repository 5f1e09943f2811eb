// SPDX-License-Identifier: Apache-2.0
// lower - rewrites ckks and derived operations into primitives, exactly as CKKS.md defines them.
// In: a verified program with complete types and resolved keys. Keeps: results bit for bit, their types; operations
// that ask for an implementation by name; with only=missing those that the target has, unless select-by-cost marked
// them (heliox.lower). What a rule emits is looked at again.
#include <string.h>

#include "core/passes/lower.h"

static const hx_lower_rule_t *find_rule(const hx_ir_op_t *op) {
  const struct {
    const hx_lower_rule_t *rules;
    size_t count;
  } tables[] = {{hx_lower_ckks_rules, hx_lower_ckks_rule_count},
                {hx_lower_key_rules, hx_lower_key_rule_count},
                {hx_lower_rns_rules, hx_lower_rns_rule_count}};
  for (size_t t = 0; t < HX_COUNT_OF(tables); ++t) {
    for (size_t i = 0; i < tables[t].count; ++i) {
      const hx_lower_rule_t *rule = &tables[t].rules[i];
      if (rule->id == op->info->id) return rule->applies == NULL || rule->applies(op) ? rule : NULL;
    }
  }
  return NULL;
}

// An operation that asks for its implementation is left to the linker.
static bool is_wanted(const hx_pass_env_t *env, bool only_missing, const hx_ir_op_t *op) {
  if (hx_attrs_find(op->attrs, "heliox.implementation") != NULL) return false;
  if (!only_missing || hx_attrs_find(op->attrs, "heliox.lower") != NULL) return true;
  return env->is_native != NULL && !env->is_native(env->native_argument, op);
}

static bool has_complete_types(const hx_ir_op_t *op) {
  for (size_t i = 0; i < op->operand_count; ++i) {
    if (!hx_type_is_complete(op->operands[i]->type)) return false;
  }
  for (size_t i = 0; i < op->result_count; ++i) {
    if (!hx_type_is_complete(op->results[i]->type)) return false;
  }
  return true;
}

// True if every result has passed to an emitted operation.
static bool is_taken_over(const hx_ir_op_t *op) {
  for (size_t i = 0; i < op->result_count; ++i) {
    if (op->results[i]->op == op) return false;
  }
  return true;
}

// Rewrites one operation; *next is the operation to look at after it.
static void rewrite(hx_lowering_t *lowering, const hx_lower_rule_t *rule, hx_ir_op_t **next) {
  hx_ir_op_t *op = lowering->op;
  if (lowering->ring == NULL) {
    hx_lower_fail(lowering, HX_CODE_TYPE, "its lowered form depends on the parameters, and none are given");
  } else if (!has_complete_types(op)) {
    hx_lower_fail(lowering, HX_CODE_TYPE,
                  "its state is not complete, so it cannot be lowered; run infer-state before lower");
  } else {
    lowering->first = NULL;
    rule->rewrite(lowering);
    if (lowering->status == HX_STATUS_OK && !is_taken_over(op))
      hx_lower_fail(lowering, HX_CODE_INTERNAL, "a result was not rewritten");
  }
  if (lowering->status != HX_STATUS_OK) return;
  if (lowering->first != NULL) *next = lowering->first;
  hx_ir_remove(op);
}

static hx_status_t lower_block(hx_lowering_t *lowering, const hx_pass_env_t *env, bool only_missing,
                               hx_ir_block_t *block, bool *changed) {
  for (hx_ir_op_t *op = block->first, *next; op != NULL; op = next) {
    next = op->next;
    const hx_lower_rule_t *rule = find_rule(op);
    if (rule != NULL && is_wanted(env, only_missing, op)) {
      lowering->op = op;
      rewrite(lowering, rule, &next);
      if (lowering->status != HX_STATUS_OK) return lowering->status;
      *changed = true;
      continue;
    }
    for (size_t i = 0; i < op->region_count; ++i)
      HX_TRY(lower_block(lowering, env, only_missing, op->regions[i]->block, changed));
  }
  return HX_STATUS_OK;
}

hx_status_t hx_pass_lower(hx_program_t *program, hx_pass_env_t *env, bool *out_changed) {
  hx_lowering_t lowering = {.program = program, .ring = env->ring, .report = env->report};
  const bool only_missing = env->options.size > 0;  // the runner admits only=missing alone
  *out_changed = false;
  return lower_block(&lowering, env, only_missing, program->module->regions[0]->block, out_changed);
}
