// SPDX-License-Identifier: Apache-2.0
#include "core/passes/mend.h"

#include "core/ops/parts.h"

#define CALLS_MAX 64  // nested; the verifier's limit

static void mend_block(hx_mender_t *mender, hx_ir_block_t *block);

static void fail(hx_mender_t *mender, hx_status_t status) {
  if (mender->rewriter.status == HX_STATUS_OK) mender->rewriter.status = status;
}

static bool is_ok(const hx_mender_t *mender) { return mender->rewriter.status == HX_STATUS_OK; }

// ------------------------------------------------------------------ state

// The types of results are inferred; what only the text says (a reference, a ciphertext that a row gives as a tensor)
// is kept. Faults are left to the inference at the end, which sees the whole program.
static void infer_results(hx_mender_t *mender, hx_ir_op_t *op) {
  if (op->info->infer == NULL || op->result_count == 0) return;
  const bool keeps_written = op->info->tier != HX_TIER_WHOLE;
  const size_t count = op->operand_count + op->result_count;
  const hx_type_t **types = hx_zalloc(count + 1, sizeof *types);
  hx_type_t *results = hx_zalloc(op->result_count, sizeof *results);
  if (types == NULL || results == NULL) fail(mender, HX_STATUS_OUT_OF_MEMORY);
  if (is_ok(mender)) {
    for (size_t i = 0; i < op->operand_count; ++i) types[i] = op->operands[i]->type;
    for (size_t i = 0; i < op->result_count; ++i) types[op->operand_count + i] = op->results[i]->type;
    hx_infer_t call = {.op = op->info,
                       .attrs = op->attrs,
                       .operands = types,
                       .operand_count = op->operand_count,
                       .ring = mender->rewriter.env->ring,
                       .results = results,
                       .result_count = op->result_count,
                       .written = keeps_written ? types + op->operand_count : NULL};
    const hx_status_t status = hx_op_infer(&call);
    if (status == HX_STATUS_OUT_OF_MEMORY) fail(mender, status);
    for (size_t i = 0; i < op->result_count && status == HX_STATUS_OK; ++i) {
      const hx_type_t *interned = hx_program_type(mender->rewriter.program, &results[i]);
      if (interned == NULL) {
        fail(mender, HX_STATUS_OUT_OF_MEMORY);
        break;
      }
      if (interned != op->results[i]->type) mender->rewriter.changed = true;
      hx_ir_set_type(mender->rewriter.program, op->results[i], interned);
    }
  }
  hx_free((void *)types);
  hx_free(results);
}

static void set_type(hx_mender_t *mender, hx_ir_value_t *to, const hx_type_t *type) {
  if (to->type != type && to->type->kind == type->kind) {
    hx_ir_set_type(mender->rewriter.program, to, type);
    mender->rewriter.changed = true;
  }
}

static const hx_type_t *choose(const hx_mender_t *mender, const hx_type_t *first, const hx_type_t *second) {
  if (first == second || mender->rules->prefers_second == NULL) return first;
  return mender->rules->prefers_second(mender, first, second) ? second : first;
}

static void align_operand(hx_mender_t *mender, hx_ir_op_t *op, size_t index, const hx_type_t *wanted) {
  if (mender->rules->align == NULL || !is_ok(mender) || index >= op->operand_count) return;
  hx_ir_value_t *value = op->operands[index];
  if (value->type == wanted || value->type->kind != HX_TYPE_CIPHERTEXT || wanted->kind != HX_TYPE_CIPHERTEXT) return;
  hx_ir_value_t *aligned = mender->rules->align(mender, op, value, wanted);
  if (aligned != NULL && aligned != value) hx_mend_set_operand(mender, op, index, aligned);
}

// A value whose state is computed gets an open state where it disagrees with what it flows into: a pass that is not the
// last one leaves programs behind that are mended further. Says whether the two agree now.
static bool loosen(hx_mender_t *mender, hx_ir_value_t *value, const hx_type_t *wanted) {
  if (mender->rules->is_last || value->type == wanted || value->type->kind != wanted->kind) return true;
  hx_type_t type;
  hx_type_copy(&type, value->type);
  bool differs = false;
  for (hx_part_t part = 0; part < HX_PART_COUNT; ++part) {
    if (!hx_type_knows(&type, part) || !hx_type_knows(wanted, part) || hx_part_equal(part, &type, wanted)) continue;
    hx_type_forget(&type, part);
    differs = true;
  }
  if (!differs) return true;
  if (value->op == NULL || value->op->info->tier != HX_TIER_WHOLE) return false;
  const hx_type_t *interned = hx_program_type(mender->rewriter.program, &type);
  if (interned == NULL) {
    fail(mender, HX_STATUS_OUT_OF_MEMORY);
  } else {
    set_type(mender, value, interned);
  }
  return true;
}

// ------------------------------------------------------------------ control flow

// Both branches end in the state that the values should meet in.
static void mend_if(hx_mender_t *mender, hx_ir_op_t *op) {
  hx_ir_op_t *ends[2];
  for (size_t i = 0; i < 2; ++i) {
    mend_block(mender, op->regions[i]->block);
    ends[i] = op->regions[i]->block->last;
  }
  for (size_t r = 0; r < op->result_count && is_ok(mender); ++r) {
    if (ends[0] == NULL || ends[1] == NULL || r >= ends[0]->operand_count || r >= ends[1]->operand_count) return;
    const hx_type_t *wanted = choose(mender, ends[0]->operands[r]->type, ends[1]->operands[r]->type);
    for (size_t i = 0; i < 2; ++i) align_operand(mender, ends[i], r, wanted);
    const bool agree = loosen(mender, ends[1]->operands[r], ends[0]->operands[r]->type);
    if (!agree) (void)loosen(mender, ends[0]->operands[r], ends[1]->operands[r]->type);
    set_type(mender, op->results[r], ends[0]->operands[r]->type);
  }
}

static void enter_for(hx_mender_t *mender, hx_ir_op_t *op) {
  const hx_ir_block_t *block = op->regions[0]->block;
  for (size_t i = 1; i < block->argument_count && 2 + i < op->operand_count; ++i)
    set_type(mender, block->arguments[i], op->operands[2 + i]->type);
}

// The body as it would be mended, to see in which state carried values come back; then it is thrown away.
static void try_body(hx_mender_t *mender, hx_ir_op_t *op) {
  hx_rewriter_t *rewriter = &mender->rewriter;
  hx_ir_map_t map;
  hx_ir_op_t *copy = NULL;
  const bool had_changed = rewriter->changed;
  hx_ir_map_init(&map);
  rewriter->status = hx_ir_copy_op(rewriter->program, op, &map, &copy);
  if (rewriter->status == HX_STATUS_OK) {
    hx_ir_insert(op->block, op, copy);
    hx_rewriter_adopt(rewriter, copy);
    enter_for(mender, copy);
    mend_block(mender, copy->regions[0]->block);
    const hx_ir_op_t *end = copy->regions[0]->block->last;
    rewriter->changed = had_changed;
    for (size_t i = 3; i < op->operand_count && is_ok(mender) && end != NULL && i - 3 < end->operand_count; ++i)
      align_operand(mender, op, i, choose(mender, op->operands[i]->type, end->operands[i - 3]->type));
    hx_ir_remove(copy);
  }
  hx_ir_map_deinit(&map);
}

static void mend_for(hx_mender_t *mender, hx_ir_op_t *op) {
  if (mender->rules->align != NULL && op->operand_count > 3) try_body(mender, op);
  if (!is_ok(mender)) return;
  enter_for(mender, op);
  hx_ir_block_t *block = op->regions[0]->block;
  mend_block(mender, block);
  for (size_t i = 1; i < block->argument_count && is_ok(mender) && block->last != NULL; ++i) {
    align_operand(mender, block->last, i - 1, block->arguments[i]->type);
    if (i - 1 < block->last->operand_count)
      (void)loosen(mender, block->last->operands[i - 1], block->arguments[i]->type);
    if (i - 1 < op->result_count) set_type(mender, op->results[i - 1], block->arguments[i]->type);
  }
}

static void mend_while(hx_mender_t *mender, hx_ir_op_t *op) {
  hx_ir_block_t *before = op->regions[0]->block, *after = op->regions[1]->block;
  for (size_t i = 0; i < before->argument_count && i < op->operand_count; ++i)
    set_type(mender, before->arguments[i], op->operands[i]->type);
  mend_block(mender, before);
  const hx_ir_op_t *condition = before->last;
  for (size_t i = 0; condition != NULL && i < after->argument_count && i + 1 < condition->operand_count; ++i)
    set_type(mender, after->arguments[i], condition->operands[i + 1]->type);
  mend_block(mender, after);
  for (size_t i = 0; after->last != NULL && i < before->argument_count && is_ok(mender); ++i) {
    align_operand(mender, after->last, i, before->arguments[i]->type);
    if (i < after->last->operand_count) (void)loosen(mender, after->last->operands[i], before->arguments[i]->type);
  }
  for (size_t i = 0; i < after->argument_count && i < op->result_count; ++i)
    set_type(mender, op->results[i], after->arguments[i]->type);
}

static void mend_reduce(hx_mender_t *mender, hx_ir_op_t *op) {
  const hx_ir_block_t *block = op->regions[0]->block;
  for (size_t i = 0; i < block->argument_count; ++i) set_type(mender, block->arguments[i], op->operands[1]->type);
  mend_block(mender, op->regions[0]->block);
  infer_results(mender, op);
}

// ------------------------------------------------------------------ functions

static void mend_function(hx_mender_t *mender, uint32_t id) {
  if (mender->visited[id] || mender->depth >= CALLS_MAX) return;
  mender->visited[id] = true;
  ++mender->depth;
  mend_block(mender, hx_func_block(mender->function_ops[id]));
  --mender->depth;
  if (is_ok(mender)) fail(mender, hx_func_refresh_type(mender->rewriter.program, mender->function_ops[id]));
}

// The first call gives a function's arguments their state.
static void mend_call(hx_mender_t *mender, hx_ir_op_t *op) {
  const hx_attribute_t *callee = hx_attrs_find(op->attrs, "callee");
  const uint32_t id = callee == NULL ? HX_NONE : hx_names_find(&mender->functions, callee->text);
  if (id == HX_NONE) return;
  const hx_ir_block_t *block = hx_func_block(mender->function_ops[id]);
  for (size_t i = 0; i < block->argument_count && i < op->operand_count && !mender->visited[id]; ++i)
    set_type(mender, block->arguments[i], op->operands[i]->type);
  mend_function(mender, id);
  const hx_ir_op_t *last = hx_func_return(mender->function_ops[id]);
  for (size_t i = 0; last != NULL && i < op->result_count && i < last->operand_count; ++i)
    set_type(mender, op->results[i], last->operands[i]->type);
}

static void mend_op(hx_mender_t *mender, hx_ir_op_t *op) {
  hx_rewriter_take(&mender->rewriter, op);
  if (mender->rules->before != NULL) mender->rules->before(mender, op);
  if (!is_ok(mender) || op->block == NULL) return;
  switch (op->info->id) {
    case HX_OP_SCF_IF:
      mend_if(mender, op);
      break;
    case HX_OP_SCF_FOR:
      mend_for(mender, op);
      break;
    case HX_OP_SCF_WHILE:
      mend_while(mender, op);
      break;
    case HX_OP_DISTRIBUTED_ALL_REDUCE:
      mend_reduce(mender, op);
      break;
    case HX_OP_CALL:
      mend_call(mender, op);
      break;
    default:
      infer_results(mender, op);
      break;
  }
  if (is_ok(mender) && mender->rules->after != NULL) mender->rules->after(mender, op);
}

static void mend_block(hx_mender_t *mender, hx_ir_block_t *block) {
  for (hx_ir_op_t *op = block->first, *next; op != NULL && is_ok(mender); op = next) {
    next = op->next;
    mend_op(mender, op);
  }
}

static hx_status_t list_functions(hx_mender_t *mender) {
  for (hx_ir_op_t *op = mender->rewriter.program->module->regions[0]->block->first; op != NULL; op = op->next) {
    hx_str_t name;
    uint32_t id;
    if (op->info->id != HX_OP_FUNC || !hx_attrs_get_text(op->attrs, "sym_name", &name)) continue;
    HX_TRY(hx_names_add(&mender->functions, name, &id));
    HX_TRY(hx_grow(&mender->function_ops, &mender->function_capacity, id + 1, sizeof(hx_ir_op_t *)));
    HX_TRY(hx_grow(&mender->visited, &mender->visited_capacity, id + 1, sizeof(bool)));
    mender->function_ops[id] = op;
    mender->visited[id] = false;
  }
  return HX_STATUS_OK;
}

static void derive_arguments(hx_mender_t *mender, const hx_ir_op_t *func) {
  const hx_ir_block_t *block = hx_func_block(func);
  for (size_t i = 0; i < block->argument_count && is_ok(mender); ++i) {
    hx_type_t type;
    hx_type_copy(&type, block->arguments[i]->type);
    hx_type_derive(&type, mender->rewriter.env->ring);
    const hx_type_t *interned = hx_program_type(mender->rewriter.program, &type);
    if (interned == NULL) fail(mender, HX_STATUS_OUT_OF_MEMORY);
    if (interned != NULL) set_type(mender, block->arguments[i], interned);
  }
}

// @main first: its calls give the other functions their arguments' state.
static void mend_functions(hx_mender_t *mender) {
  const uint32_t entry = hx_names_find(&mender->functions, hx_str("main"));
  for (size_t i = 0; i <= mender->functions.count && is_ok(mender); ++i) {
    const uint32_t id = i == 0 ? entry : (uint32_t)(i - 1);
    if (id == HX_NONE || mender->visited[id]) continue;
    derive_arguments(mender, mender->function_ops[id]);
    mend_function(mender, id);
  }
}

// What does not fit is told where this pass is the last to mend it, and where it no longer verifies (a loop that has no
// one state); else it is left to the passes that follow.
static hx_status_t check_state(hx_program_t *program, const hx_pass_env_t *env, const hx_mend_rules_t *rules) {
  hx_program_t *clone = NULL;
  HX_TRY(hx_program_clone(program, &clone));
  const hx_status_t status = hx_program_infer(clone, env->ring, NULL);
  hx_program_release(clone);
  if (status == HX_STATUS_OUT_OF_MEMORY) return status;
  const bool is_open = status != HX_STATUS_OK && !rules->is_last && hx_program_verify(program, NULL) == HX_STATUS_OK;
  return is_open ? hx_program_refresh(program, env->report) : hx_program_infer(program, env->ring, env->report);
}

hx_status_t hx_mend_program(hx_program_t *program, const hx_pass_env_t *env, const hx_mend_rules_t *rules,
                            void *argument, bool *out_changed) {
  hx_mender_t mender = {.rules = rules, .argument = argument};
  hx_names_init(&mender.functions);
  if (hx_rewriter_init(&mender.rewriter, program, env) == HX_STATUS_OK) fail(&mender, list_functions(&mender));
  if (is_ok(&mender)) mend_functions(&mender);
  hx_names_deinit(&mender.functions);
  hx_free(mender.function_ops);
  hx_free(mender.visited);
  HX_TRY(hx_rewriter_finish(&mender.rewriter, out_changed));
  return check_state(program, env, rules);
}

// ------------------------------------------------------------------ edits

void hx_mend_set_operand(hx_mender_t *mender, hx_ir_op_t *op, size_t index, hx_ir_value_t *value) {
  hx_ir_value_t **operands = hx_zalloc(op->operand_count + 1, sizeof(hx_ir_value_t *));
  if (operands == NULL) {
    fail(mender, HX_STATUS_OUT_OF_MEMORY);
    return;
  }
  for (size_t i = 0; i < op->operand_count; ++i) operands[i] = i == index ? value : op->operands[i];
  hx_rewriter_set_operands(&mender->rewriter, op, operands, op->operand_count);
  hx_free(operands);
}

void hx_mend_operand(hx_mender_t *mender, hx_ir_op_t *op, size_t index, hx_op_id_t id, const hx_named_attr_t *items,
                     size_t item_count) {
  if (!is_ok(mender)) return;
  const hx_ir_op_t *built =
      hx_rewriter_build(&mender->rewriter, op, op, id, &op->operands[index], 1, items, item_count, 1);
  if (built != NULL) hx_mend_set_operand(mender, op, index, built->results[0]);
}

// The new operation is built on the result and put behind; then the two exchange their result values, so that all that
// read the old one read the new operation's.
hx_ir_op_t *hx_mend_interpose(hx_mender_t *mender, hx_ir_op_t *op, size_t index, hx_op_id_t id,
                              const hx_named_attr_t *items, size_t item_count) {
  if (!is_ok(mender) || op->next == NULL) return NULL;
  hx_ir_value_t *result = op->results[index];
  hx_ir_op_t *built = hx_rewriter_build(&mender->rewriter, op->next, op, id, &result, 1, items, item_count, 1);
  if (built == NULL) return NULL;
  hx_ir_value_t *fresh = built->results[0];
  const hx_type_t *type = fresh->type;
  const uint32_t uses = mender->rewriter.uses[result->id].count - 1;
  fresh->type = result->type;
  fresh->op = op;
  fresh->index = (uint32_t)index;
  op->results[index] = fresh;
  result->type = type;
  result->op = built;
  result->index = 0;
  built->results[0] = result;
  built->operands[0] = fresh;
  mender->rewriter.uses[result->id].count = uses;
  mender->rewriter.uses[fresh->id] =
      (hx_value_uses_t){.user = built, .count = 1, .position = mender->rewriter.uses[result->id].position};
  if (mender->rewriter.uses[result->id].user == built) mender->rewriter.uses[result->id].user = NULL;
  return built;
}
