// SPDX-License-Identifier: Apache-2.0
// inline - puts the body of a function in place of every call of it and removes private functions, which nobody calls
// then; only=main removes all but @main.
// In: a verified program, so no function reaches itself and calls nest at most 64 deep. Keeps: results, their order of
// computation, what is known of types on either side of a call. Legal everywhere: functions see no values from outside.
// A program that would grow beyond the limit of operations is refused, naming the call.
#include "core/passes/passes.h"

#define OPS_MAX ((size_t)1 << 20)  // of a program after inlining

typedef struct hx_inliner {
  hx_program_t *program;
  hx_report_t *report;
  size_t count;         // operations so far
  hx_ir_map_t results;  // of calls that are gone, to what stands for them
  bool changed;
} hx_inliner_t;

// What is known on one side of a call is known on the other. Signatures of functions stay.
static hx_status_t merge_type(hx_inliner_t *inliner, hx_ir_value_t *value, const hx_type_t *known) {
  if (value->op == NULL || value->type == known) return HX_STATUS_OK;
  hx_type_t type;
  hx_type_copy(&type, value->type);
  hx_type_merge(&type, known);
  const hx_type_t *interned = hx_program_type(inliner->program, &type);
  if (interned == NULL) return HX_STATUS_OUT_OF_MEMORY;
  hx_ir_set_type(inliner->program, value, interned);
  return HX_STATUS_OK;
}

static hx_status_t check_size(hx_inliner_t *inliner, const hx_ir_op_t *call, hx_ir_op_t *func) {
  inliner->count += hx_ir_count(func);
  if (inliner->count <= OPS_MAX) return HX_STATUS_OK;
  return hx_report_fail_at(
      inliner->report, HX_CODE_LIMIT, inliner->program->source, call->line, call->column,
      "func.call: with this call in place the program has more than %zu operations; use a loop, or "
      "split the program",
      OPS_MAX);
}

// Arguments become the call's operands, its results what the copy returns.
static hx_status_t copy_body(hx_inliner_t *inliner, hx_ir_op_t *call, const hx_ir_block_t *body, hx_ir_map_t *map) {
  for (size_t i = 0; i < body->argument_count; ++i) {
    HX_TRY(merge_type(inliner, call->operands[i], body->arguments[i]->type));
    HX_TRY(hx_ir_map_set(map, body->arguments[i], call->operands[i]));
  }
  HX_TRY(hx_ir_copy_range(inliner->program, body->first, body->last, map, call->block, call));
  for (size_t i = 0; i < call->result_count; ++i) {
    hx_ir_value_t *returned = hx_ir_map_get(map, body->last->operands[i]);
    HX_TRY(merge_type(inliner, returned, call->results[i]->type));
    HX_TRY(hx_ir_map_set(&inliner->results, call->results[i], returned));
  }
  return HX_STATUS_OK;
}

static hx_status_t inline_block(hx_inliner_t *inliner, hx_ir_block_t *block);

// A called function is inlined into first, so that what is copied has no calls left.
static hx_status_t inline_call(hx_inliner_t *inliner, hx_ir_op_t *call) {
  const hx_attribute_t *callee = hx_attrs_find(call->attrs, "callee");
  hx_ir_op_t *func = callee == NULL ? NULL : hx_program_find(inliner->program, callee->text.data);
  if (func == NULL) return HX_STATUS_INVALID;  // refused by the verifier
  HX_TRY(inline_block(inliner, hx_func_block(func)));
  HX_TRY(check_size(inliner, call, func));
  hx_ir_map_t map;
  hx_ir_map_init(&map);
  const hx_status_t status = copy_body(inliner, call, hx_func_block(func), &map);
  hx_ir_map_deinit(&map);
  if (status != HX_STATUS_OK) return status;
  hx_ir_remove(call);
  inliner->changed = true;
  return HX_STATUS_OK;
}

// Operands of the block's operations may be results of calls that are gone; types of what a function returns may be
// better known than its callers' were.
static hx_status_t inline_block(hx_inliner_t *inliner, hx_ir_block_t *block) {
  for (hx_ir_op_t *op = block->first, *next; op != NULL; op = next) {
    next = op->next;
    for (size_t i = 0; i < op->operand_count; ++i) op->operands[i] = hx_ir_map_get(&inliner->results, op->operands[i]);
    for (size_t i = 0; i < op->region_count; ++i) HX_TRY(inline_block(inliner, op->regions[i]->block));
    if (op->info->id == HX_OP_CALL) HX_TRY(inline_call(inliner, op));
    if (op->info->id == HX_OP_FUNC) HX_TRY(hx_func_refresh_type(inliner->program, op));
  }
  return HX_STATUS_OK;
}

static void remove_functions(hx_inliner_t *inliner, bool all) {
  for (hx_ir_op_t *op = inliner->program->module->regions[0]->block->first, *next; op != NULL; op = next) {
    next = op->next;
    hx_str_t name, visibility;
    if (op->info->id != HX_OP_FUNC || !hx_attrs_get_text(op->attrs, "sym_name", &name) ||
        hx_str_equal(name, hx_str("main")))
      continue;
    const bool is_private =
        hx_attrs_get_text(op->attrs, "sym_visibility", &visibility) && hx_str_equal(visibility, hx_str("private"));
    if (!all && !is_private) continue;
    hx_ir_remove(op);
    inliner->changed = true;
  }
}

hx_status_t hx_pass_inline(hx_program_t *program, hx_pass_env_t *env, bool *out_changed) {
  hx_inliner_t inliner = {.program = program, .report = env->report, .count = hx_ir_count(program->module)};
  hx_ir_map_init(&inliner.results);
  const hx_status_t status = inline_block(&inliner, program->module->regions[0]->block);
  hx_ir_map_deinit(&inliner.results);
  if (status == HX_STATUS_OK) remove_functions(&inliner, env->options.size > 0);  // only=main alone is admitted
  *out_changed = inliner.changed;
  return status;
}
