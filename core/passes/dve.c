// SPDX-License-Identifier: Apache-2.0
// dve - removes operations without effect whose results nobody reads.
// In: a verified program. Keeps: order, types; random, mutating and collective operations; scf.while, which may not
// end.
#include "core/passes/passes.h"

typedef struct hx_uses {
  size_t *counts;  // by value id
  bool changed;
} hx_uses_t;

static hx_status_t count_uses(hx_ir_op_t *op, void *argument) {
  hx_uses_t *uses = argument;
  for (size_t i = 0; i < op->operand_count; ++i) ++uses->counts[op->operands[i]->id];
  return HX_STATUS_OK;
}

static hx_status_t forget_uses(hx_ir_op_t *op, void *argument) {
  hx_uses_t *uses = argument;
  for (size_t i = 0; i < op->operand_count; ++i) --uses->counts[op->operands[i]->id];
  return HX_STATUS_OK;
}

// INVALID where the operation, or one inside it, does more than give results. A call does what its function does,
// which is not followed here.
static hx_status_t want_no_effect(hx_ir_op_t *op, void *argument) {
  (void)argument;
  const bool quiet =
      op->info->effect == HX_EFFECT_PURE && op->info->id != HX_OP_SCF_WHILE && op->info->id != HX_OP_CALL;
  return quiet ? HX_STATUS_OK : HX_STATUS_INVALID;
}

static bool is_removable(const hx_uses_t *uses, hx_ir_op_t *op) {
  if ((op->info->flags & HX_OP_FLAG_TERMINATOR) != 0 || op->info->id == HX_OP_FUNC) return false;
  for (size_t i = 0; i < op->result_count; ++i) {
    if (uses->counts[op->results[i]->id] > 0) return false;
  }
  return hx_ir_walk(op, want_no_effect, NULL) == HX_STATUS_OK;
}

// Backwards, so that what only a removed operation read is seen after it.
static void clean_block(hx_uses_t *uses, const hx_ir_block_t *block) {
  for (hx_ir_op_t *op = block->last, *previous; op != NULL; op = previous) {
    previous = op->previous;
    if (is_removable(uses, op)) {
      (void)hx_ir_walk(op, forget_uses, uses);
      hx_ir_remove(op);
      uses->changed = true;
      continue;
    }
    for (size_t i = 0; i < op->region_count; ++i) clean_block(uses, op->regions[i]->block);
  }
}

hx_status_t hx_pass_dve(hx_program_t *program, hx_pass_env_t *env, bool *out_changed) {
  (void)env;
  hx_uses_t uses = {.counts = hx_zalloc(hx_ir_number(program->module) + 1, sizeof *uses.counts)};
  if (uses.counts == NULL) return HX_STATUS_OUT_OF_MEMORY;
  (void)hx_ir_walk(program->module, count_uses, &uses);
  clean_block(&uses, program->module->regions[0]->block);
  hx_free(uses.counts);
  *out_changed = uses.changed;
  return HX_STATUS_OK;
}
