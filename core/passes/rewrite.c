// SPDX-License-Identifier: Apache-2.0
#include "core/passes/rewrite.h"

#include <string.h>

static hx_status_t count_uses(hx_ir_op_t *op, void *argument) {
  hx_rewriter_t *rewriter = argument;
  for (size_t i = 0; i < op->operand_count; ++i) {
    hx_value_uses_t *uses = &rewriter->uses[op->operands[i]->id];
    uses->count += 1;
    uses->user = op;
  }
  return HX_STATUS_OK;
}

hx_status_t hx_rewriter_init(hx_rewriter_t *rewriter, hx_program_t *program, const hx_pass_env_t *env) {
  *rewriter = (hx_rewriter_t){.program = program, .env = env};
  rewriter->count = hx_ir_number(program->module);
  rewriter->status = hx_grow(&rewriter->uses, &rewriter->capacity, rewriter->count + 1, sizeof *rewriter->uses);
  if (rewriter->status != HX_STATUS_OK) return rewriter->status;
  memset(rewriter->uses, 0, rewriter->count * sizeof *rewriter->uses);
  for (size_t i = 0; i < rewriter->count; ++i) rewriter->uses[i].position = (uint32_t)i;
  return hx_ir_walk(program->module, count_uses, rewriter);
}

hx_ir_value_t *hx_rewriter_current(const hx_rewriter_t *rewriter, hx_ir_value_t *value) {
  while (rewriter->uses[value->id].stand_in != NULL) value = rewriter->uses[value->id].stand_in;
  return value;
}

void hx_rewriter_take(const hx_rewriter_t *rewriter, hx_ir_op_t *op) {
  for (size_t i = 0; i < op->operand_count; ++i) op->operands[i] = hx_rewriter_current(rewriter, op->operands[i]);
}

static hx_status_t take_all(hx_ir_op_t *op, void *argument) {
  hx_rewriter_take(argument, op);
  return HX_STATUS_OK;
}

hx_status_t hx_rewriter_finish(hx_rewriter_t *rewriter, bool *out_changed) {
  if (rewriter->uses != NULL && rewriter->changed) (void)hx_ir_walk(rewriter->program->module, take_all, rewriter);
  hx_free(rewriter->uses);
  rewriter->uses = NULL;
  *out_changed = rewriter->changed;
  return rewriter->status;
}

uint32_t hx_rewriter_uses(const hx_rewriter_t *rewriter, const hx_ir_value_t *value) {
  return rewriter->uses[value->id].count;
}

hx_ir_op_t *hx_rewriter_sole_user(const hx_rewriter_t *rewriter, const hx_ir_value_t *value) {
  const hx_value_uses_t *uses = &rewriter->uses[value->id];
  return uses->count == 1 ? uses->user : NULL;
}

hx_ir_op_t *hx_value_op(const hx_ir_value_t *value, hx_op_id_t id) {
  return value->op != NULL && value->op->info->id == id ? value->op : NULL;
}

void hx_rewriter_replace(hx_rewriter_t *rewriter, hx_ir_value_t *from, hx_ir_value_t *to) {
  if (from == to || rewriter->status != HX_STATUS_OK) return;
  hx_value_uses_t *source = &rewriter->uses[from->id], *target = &rewriter->uses[to->id];
  if (target->count == 0) target->user = source->user;
  target->count += source->count;
  *source = (hx_value_uses_t){.stand_in = to, .position = source->position};
  rewriter->changed = true;
}

static void read_operands(hx_rewriter_t *rewriter, hx_ir_op_t *op) {
  for (size_t i = 0; i < op->operand_count; ++i) {
    hx_value_uses_t *uses = &rewriter->uses[op->operands[i]->id];
    uses->count += 1;
    uses->user = op;
  }
}

// A user that is gone may have been the one that was remembered: any other one is then unknown, and a count of one has
// no sole user. It is looked up by nobody but patterns, which then do not apply.
static void forget_operands(hx_rewriter_t *rewriter, const hx_ir_op_t *op) {
  for (size_t i = 0; i < op->operand_count; ++i) {
    hx_value_uses_t *uses = &rewriter->uses[op->operands[i]->id];
    uses->count -= 1;
    if (uses->user == op) uses->user = NULL;
  }
}

// Where an operation stands: that of its first result, or of what is in front of it.
static uint32_t position_of(const hx_rewriter_t *rewriter, const hx_ir_op_t *op) {
  for (const hx_ir_op_t *at = op; at != NULL; at = at->previous) {
    if (at->result_count > 0) return rewriter->uses[at->results[0]->id].position;
  }
  const hx_ir_block_t *block = op->block;
  if (block == NULL) return 0;
  if (block->argument_count > 0) return rewriter->uses[block->arguments[block->argument_count - 1]->id].position;
  return position_of(rewriter, block->region->op);
}

hx_ir_op_t *hx_rewriter_build_like(hx_rewriter_t *rewriter, hx_ir_op_t *before, const hx_ir_op_t *origin, hx_op_id_t id,
                                   hx_ir_value_t *const *operands, size_t operand_count, hx_attrs_t attrs,
                                   size_t result_count) {
  if (rewriter->status != HX_STATUS_OK) return NULL;
  hx_ir_op_t *op = NULL;
  const uint32_t position = position_of(rewriter, before);
  rewriter->status =
      hx_grow(&rewriter->uses, &rewriter->capacity, rewriter->count + result_count + 1, sizeof *rewriter->uses);
  if (rewriter->status != HX_STATUS_OK) return NULL;
  rewriter->status = hx_ir_build(rewriter->program, before->block, before, id, operands, operand_count, attrs,
                                 result_count, rewriter->env->ring, rewriter->env->report, &op);
  if (rewriter->status != HX_STATUS_OK) return NULL;
  op->line = origin->line;
  op->column = origin->column;
  for (size_t i = 0; i < result_count; ++i) {
    op->results[i]->id = (uint32_t)rewriter->count;
    rewriter->uses[rewriter->count++] = (hx_value_uses_t){.position = position};
  }
  read_operands(rewriter, op);
  rewriter->changed = true;
  return op;
}

hx_ir_op_t *hx_rewriter_build(hx_rewriter_t *rewriter, hx_ir_op_t *before, const hx_ir_op_t *origin, hx_op_id_t id,
                              hx_ir_value_t *const *operands, size_t operand_count, const hx_named_attr_t *items,
                              size_t item_count, size_t result_count) {
  hx_attrs_t attrs = {0};
  if (rewriter->status != HX_STATUS_OK) return NULL;
  rewriter->status = hx_program_attrs(rewriter->program, items, item_count, &attrs);
  return hx_rewriter_build_like(rewriter, before, origin, id, operands, operand_count, attrs, result_count);
}

void hx_rewriter_set_operands(hx_rewriter_t *rewriter, hx_ir_op_t *op, hx_ir_value_t *const *operands, size_t count) {
  if (rewriter->status != HX_STATUS_OK) return;
  forget_operands(rewriter, op);
  rewriter->status = hx_ir_set_operands(rewriter->program, op, operands, count);
  read_operands(rewriter, op);
  rewriter->changed = true;
}

void hx_rewriter_remove(hx_rewriter_t *rewriter, hx_ir_op_t *op) {
  if (rewriter->status != HX_STATUS_OK) return;
  forget_operands(rewriter, op);
  hx_ir_remove(op);
  rewriter->changed = true;
}

void hx_rewriter_move(hx_rewriter_t *rewriter, hx_ir_op_t *op, hx_ir_op_t *before) {
  if (rewriter->status != HX_STATUS_OK || op == before) return;
  const uint32_t position = position_of(rewriter, before);
  for (size_t i = 0; i < op->result_count; ++i) rewriter->uses[op->results[i]->id].position = position;
  if (op->next == before) return;
  hx_ir_block_t *block = before->block;
  hx_ir_remove(op);
  hx_ir_insert(block, before, op);
  rewriter->changed = true;
}

static void adopt_value(hx_rewriter_t *rewriter, hx_ir_value_t *value, uint32_t position) {
  if (rewriter->status == HX_STATUS_OK)
    rewriter->status = hx_grow(&rewriter->uses, &rewriter->capacity, rewriter->count + 1, sizeof *rewriter->uses);
  if (rewriter->status != HX_STATUS_OK) return;
  value->id = (uint32_t)rewriter->count;
  rewriter->uses[rewriter->count++] = (hx_value_uses_t){.position = position};
}

static void adopt_values(hx_rewriter_t *rewriter, hx_ir_op_t *op, uint32_t position) {
  for (size_t i = 0; i < op->result_count; ++i) adopt_value(rewriter, op->results[i], position);
  for (size_t i = 0; i < op->region_count; ++i) {
    const hx_ir_block_t *block = op->regions[i]->block;
    for (size_t k = 0; k < block->argument_count; ++k) adopt_value(rewriter, block->arguments[k], position);
    for (hx_ir_op_t *inner = block->first; inner != NULL; inner = inner->next) adopt_values(rewriter, inner, position);
  }
}

static hx_status_t adopt_uses(hx_ir_op_t *op, void *argument) {
  read_operands(argument, op);
  return HX_STATUS_OK;
}

void hx_rewriter_adopt(hx_rewriter_t *rewriter, hx_ir_op_t *op) {
  if (rewriter->status != HX_STATUS_OK) return;
  adopt_values(rewriter, op, op->next == NULL ? 0 : position_of(rewriter, op->next));
  if (rewriter->status == HX_STATUS_OK) (void)hx_ir_walk(op, adopt_uses, rewriter);
}

static void visit_block(hx_rewriter_t *rewriter, hx_ir_block_t *block,
                        void (*visit)(hx_rewriter_t *rewriter, hx_ir_block_t *block, void *argument), void *argument) {
  if (rewriter->status != HX_STATUS_OK) return;
  visit(rewriter, block, argument);
  for (hx_ir_op_t *op = block->first; op != NULL; op = op->next) {
    for (size_t i = 0; i < op->region_count; ++i) visit_block(rewriter, op->regions[i]->block, visit, argument);
  }
}

void hx_rewriter_blocks(hx_rewriter_t *rewriter,
                        void (*visit)(hx_rewriter_t *rewriter, hx_ir_block_t *block, void *argument), void *argument) {
  visit_block(rewriter, rewriter->program->module->regions[0]->block, visit, argument);
}

hx_attribute_t hx_rewriter_list(hx_rewriter_t *rewriter, const int64_t *numbers, size_t count) {
  hx_attribute_t *list =
      rewriter->status == HX_STATUS_OK ? hx_arena_alloc(&rewriter->program->arena, count * sizeof *list) : NULL;
  if (list == NULL) {
    if (rewriter->status == HX_STATUS_OK) rewriter->status = HX_STATUS_OUT_OF_MEMORY;
    return (hx_attribute_t){.kind = HX_ATTRIBUTE_UNIT};
  }
  for (size_t i = 0; i < count; ++i) list[i] = (hx_attribute_t){.kind = HX_ATTRIBUTE_INTEGER, .integer = numbers[i]};
  return (hx_attribute_t){.kind = HX_ATTRIBUTE_LIST, .list = list, .count = count};
}

size_t hx_op_list(const hx_ir_op_t *op, const char *name, const hx_attribute_t **out_items) {
  size_t count = 0;
  *out_items = NULL;
  return hx_attrs_get_list(op->attrs, name, out_items, &count) ? count : 0;
}

uint32_t hx_op_output_domain(const hx_ir_op_t *op) {
  hx_str_t text;
  const bool is_coefficient =
      hx_attrs_get_text(op->attrs, "output_domain", &text) && hx_str_equal(text, hx_str("coefficient"));
  return is_coefficient ? HX_COEFFICIENT : HX_NTT;
}

// Operations that were put in front of another one have its position, so equal positions count as in front.
bool hx_rewriter_is_available(const hx_rewriter_t *rewriter, const hx_ir_value_t *value, const hx_ir_op_t *before) {
  return value->op != before && rewriter->uses[value->id].position <= position_of(rewriter, before);
}

#define CHAIN_MAX 16  // operations behind one another that are moved together

static bool is_movable(const hx_rewriter_t *rewriter, const hx_ir_value_t *value, const hx_ir_op_t *before,
                       size_t depth) {
  if (hx_rewriter_is_available(rewriter, value, before)) return true;
  const hx_ir_op_t *op = value->op;
  if (op == NULL || depth == CHAIN_MAX || op->block != before->block || op->info->effect != HX_EFFECT_PURE ||
      op->region_count > 0 || op->info->id == HX_OP_CALL || value->type->kind == HX_TYPE_CIPHERTEXT) {
    return false;
  }
  for (size_t i = 0; i < op->operand_count; ++i) {
    if (!is_movable(rewriter, hx_rewriter_current(rewriter, op->operands[i]), before, depth + 1)) return false;
  }
  return true;
}

static void move_chain(hx_rewriter_t *rewriter, hx_ir_value_t *value, hx_ir_op_t *before) {
  if (hx_rewriter_is_available(rewriter, value, before)) return;
  hx_ir_op_t *op = value->op;
  hx_rewriter_take(rewriter, op);
  for (size_t i = 0; i < op->operand_count; ++i) move_chain(rewriter, op->operands[i], before);
  hx_rewriter_move(rewriter, op, before);
}

bool hx_rewriter_make_available(hx_rewriter_t *rewriter, hx_ir_value_t *value, hx_ir_op_t *before) {
  if (!is_movable(rewriter, value, before, 0)) return false;
  move_chain(rewriter, value, before);
  return true;
}
