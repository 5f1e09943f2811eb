// SPDX-License-Identifier: Apache-2.0
#include "core/passes/noise.h"

#include <math.h>
#include <string.h>

#include "core/passes/turns.h"

typedef struct hx_walk {
  const hx_noise_plan_t *plan;
  hx_noise_t **noises;  // by value id; NULL: not known, or not needed any more
  uint32_t *uses;       // by value id: how often the value is still read
  uint64_t calls;       // operations so far
  uint32_t nesting;     // structured operations around
  bool is_quiet;        // in a turn that is not the last one: values are not shown
} hx_walk_t;

static hx_status_t visit_op(hx_walk_t *walk, const hx_ir_op_t *op);

static bool carries_noise(const hx_type_t *type) {
  return (type->kind == HX_TYPE_CIPHERTEXT || type->kind == HX_TYPE_PLAINTEXT) && hx_type_is_complete(type);
}

static hx_status_t keep(hx_walk_t *walk, const hx_ir_value_t *value, const hx_noise_t *noise) {
  hx_noise_t **place = &walk->noises[value->id];
  if (!noise->known || walk->uses[value->id] == 0) {
    hx_free(*place);  // of the turn before
    *place = NULL;
    return HX_STATUS_OK;
  }
  if (*place == NULL) *place = hx_alloc(sizeof **place);
  if (*place == NULL) return HX_STATUS_OUT_OF_MEMORY;
  **place = *noise;
  return HX_STATUS_OK;
}

// Once less read. What operations inside regions read is dropped when the structured operation is over: a loop reads it
// again and again.
static void drop(hx_walk_t *walk, const hx_ir_value_t *value) {
  if (walk->nesting > 0 || --walk->uses[value->id] > 0) return;
  hx_free(walk->noises[value->id]);
  walk->noises[value->id] = NULL;
}

static hx_noise_t noise_of(const hx_walk_t *walk, const hx_ir_value_t *value) {
  const hx_noise_t *noise = walk->noises[value->id], none = {0};
  return noise == NULL ? none : *noise;
}

// A value from outside of which only the type is known.
static void assume(const hx_walk_t *walk, const hx_type_t *type, uint64_t id, hx_noise_t *out) {
  const double bound = walk->plan->magnitude > 0 ? walk->plan->magnitude : 1.0;
  *out = (hx_noise_t){0};
  if (!carries_noise(type)) return;
  const double scale = exp2(hx_scale_log2(&type->scale, hx_params_ring(walk->plan->params)));
  hx_noise_of_encoding(walk->plan->params, type->slots, scale, bound * bound, bound * bound, id, out);
  if (type->kind != HX_TYPE_CIPHERTEXT) return;
  const hx_noise_t plaintext = *out;
  hx_noise_of_encryption(walk->plan->params, &plaintext, false, id, out);
}

static hx_status_t start(hx_walk_t *walk, const hx_ir_block_t *block) {
  for (size_t i = 0; i < block->argument_count; ++i) {
    hx_noise_t noise;
    const hx_noise_t *given = walk->plan->inputs == NULL ? NULL : walk->plan->inputs[i];
    assume(walk, block->arguments[i]->type, hx_noise_mix(1, i), &noise);
    HX_TRY(keep(walk, block->arguments[i], given != NULL && given->known ? given : &noise));
  }
  return HX_STATUS_OK;
}

static void infer_material(const hx_walk_t *walk, const hx_ir_op_t *op, hx_noise_t *out) {
  hx_str_t symbol = {0};
  (void)hx_attrs_get_text(op->attrs, "symbol", &symbol);
  uint64_t id = 2;
  for (size_t i = 0; i < symbol.size; ++i) id = hx_noise_mix(id, (unsigned char)symbol.data[i]);
  assume(walk, op->results[0]->type, id, out);
  const hx_noise_t *given = walk->plan->material == NULL ? NULL : walk->plan->material(walk->plan->context, symbol);
  if (given != NULL && given->known) *out = *given;
}

static void infer(const hx_walk_t *walk, const hx_ir_op_t *op, const hx_type_t **types, const hx_noise_t **operands,
                  hx_noise_t *results) {
  bool complete = op->region_count == 0 && hx_noise_has_rule(op->info->id);
  for (size_t i = 0; i < op->operand_count; ++i) {
    types[i] = op->operands[i]->type;
    operands[i] = walk->noises[op->operands[i]->id];
  }
  for (size_t r = 0; r < op->result_count && complete; ++r) complete = carries_noise(op->results[r]->type);
  if (op->info->id == HX_OP_MATERIAL_REF && op->result_count == 1) {
    infer_material(walk, op, results);
  } else if (complete) {
    hx_noise_infer(&(hx_noise_call_t){.params = walk->plan->params,
                                      .id = op->info->id,
                                      .attrs = op->attrs,
                                      .types = types,
                                      .operands = operands,
                                      .operand_count = op->operand_count,
                                      .magnitude = walk->plan->magnitude > 0 ? walk->plan->magnitude : 1.0,
                                      .call_id = walk->calls,
                                      .results = results,
                                      .result_count = op->result_count});
  }
}

// ------------------------------------------------------------------ control flow

// Operations of a block in order, up to its terminator.
static hx_status_t walk_ops(hx_walk_t *walk, const hx_ir_block_t *block) {
  for (const hx_ir_op_t *op = block->first; op != NULL && op->info->id != HX_OP_RETURN; op = op->next) {
    if ((op->info->flags & HX_OP_FLAG_TERMINATOR) == 0) HX_TRY(visit_op(walk, op));
  }
  return HX_STATUS_OK;
}

// Both regions, or the one that a constant condition takes; then either of their values.
static hx_status_t follow_if(hx_walk_t *walk, const hx_ir_op_t *op, hx_noise_t *results) {
  int64_t condition = 0;
  const bool is_known = hx_value_constant(op->operands[0], &condition);
  for (size_t r = 0; r < op->region_count; ++r) {
    if (is_known && r != ((condition & 1) != 0 ? 0u : 1u)) continue;
    const hx_ir_block_t *block = op->regions[r]->block;
    HX_TRY(walk_ops(walk, block));
    for (size_t i = 0; i < op->result_count; ++i) {
      const hx_noise_t noise = noise_of(walk, block->last->operands[i]);
      if (r == 0 || is_known) {
        results[i] = noise;
      } else {
        hx_noise_join(&results[i], &noise, hx_noise_mix(walk->calls, i));
      }
    }
  }
  return HX_STATUS_OK;
}

static hx_status_t enter(hx_walk_t *walk, hx_ir_value_t *const *arguments, const hx_noise_t *noises, size_t count) {
  for (size_t i = 0; i < count; ++i) HX_TRY(keep(walk, arguments[i], &noises[i]));
  return HX_STATUS_OK;
}

// Turn by turn. carried[count]: what goes in, and what comes out of the last turn; either[count]: any of the values
// that the loop may end with, where it may end before that.
static hx_status_t follow_turns(hx_walk_t *walk, const hx_ir_op_t *op, uint64_t turns, hx_noise_t *carried,
                                hx_noise_t *either, hx_noise_t *results) {
  const bool is_while = op->info->id == HX_OP_SCF_WHILE, was_quiet = walk->is_quiet;
  const hx_ir_block_t *before = op->regions[0]->block, *body = op->regions[is_while ? 1 : 0]->block;
  const size_t count = is_while ? before->argument_count : op->result_count;
  for (uint64_t turn = 0; turn < turns + (is_while ? 1 : 0); ++turn) {
    walk->is_quiet = was_quiet || turn + 1 < turns;
    if (is_while) {
      HX_TRY(enter(walk, before->arguments, carried, count));
      HX_TRY(walk_ops(walk, before));
      for (size_t i = 0; i < op->result_count; ++i) {
        const hx_noise_t noise = noise_of(walk, before->last->operands[i + 1]);
        if (turn == 0) either[i] = noise;
        hx_noise_join(&either[i], &noise, hx_noise_mix(walk->calls, i));
        HX_TRY(keep(walk, body->arguments[i], &noise));
      }
      if (turn == turns) break;
    } else {
      HX_TRY(enter(walk, body->arguments + 1, carried, count));
    }
    HX_TRY(walk_ops(walk, body));
    for (size_t i = 0; i < count; ++i) {
      carried[i] = noise_of(walk, body->last->operands[i]);
      if (!is_while) hx_noise_join(&either[i], &carried[i], hx_noise_mix(walk->calls, i));
    }
  }
  walk->is_quiet = was_quiet;
  for (size_t i = 0; i < op->result_count; ++i) results[i] = either[i];
  return HX_STATUS_OK;
}

static hx_status_t follow_loop(hx_walk_t *walk, const hx_ir_op_t *op, hx_noise_t *results) {
  const uint64_t size = hx_ir_count(op);
  uint64_t turns = 0;
  bool is_exact = false;
  if (!hx_loop_turns(op, &turns, &is_exact) || turns > HX_NOISE_STEPS_MAX / size) return HX_STATUS_OK;
  const size_t first = op->info->id == HX_OP_SCF_FOR ? 3 : 0, count = op->operand_count - first;
  const size_t room = (count > op->result_count ? count : op->result_count) + 1;
  hx_noise_t *carried = hx_zalloc(room, sizeof *carried), *either = hx_zalloc(room, sizeof *either);
  hx_status_t status = carried == NULL || either == NULL ? HX_STATUS_OUT_OF_MEMORY : HX_STATUS_OK;
  for (size_t i = 0; i < count && status == HX_STATUS_OK; ++i)
    carried[i] = either[i] = noise_of(walk, op->operands[first + i]);
  if (status == HX_STATUS_OK) status = follow_turns(walk, op, turns, carried, either, results);
  for (size_t i = 0; i < op->result_count && status == HX_STATUS_OK && is_exact; ++i) results[i] = carried[i];
  hx_free(carried);
  hx_free(either);
  return status;
}

static bool is_inside(const hx_ir_value_t *value, const hx_ir_op_t *op) {
  return hx_ir_is_inside(value->op != NULL ? value->op : value->block->region->op, op);
}

typedef struct hx_leaving {
  hx_walk_t *walk;
  const hx_ir_op_t *op;
} hx_leaving_t;

static void forget(hx_walk_t *walk, hx_ir_value_t *const *values, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    hx_free(walk->noises[values[i]->id]);
    walk->noises[values[i]->id] = NULL;
  }
}

static hx_status_t leave_op(hx_ir_op_t *op, void *argument) {
  const hx_leaving_t *leaving = argument;
  for (size_t r = 0; r < op->region_count; ++r) {
    const hx_ir_block_t *block = op->regions[r]->block;
    forget(leaving->walk, block->arguments, block->argument_count);
  }
  if (op == leaving->op) return HX_STATUS_OK;  // visit_op drops what it reads itself
  for (size_t i = 0; i < op->operand_count; ++i) {
    if (!is_inside(op->operands[i], leaving->op)) drop(leaving->walk, op->operands[i]);
  }
  forget(leaving->walk, op->results, op->result_count);
  return HX_STATUS_OK;
}

static hx_status_t follow(hx_walk_t *walk, const hx_ir_op_t *op, hx_noise_t *results) {
  const bool is_loop = op->info->id == HX_OP_SCF_FOR || op->info->id == HX_OP_SCF_WHILE;
  if (!is_loop && op->info->id != HX_OP_SCF_IF) return HX_STATUS_OK;
  walk->nesting += 1;
  const hx_status_t status = is_loop ? follow_loop(walk, op, results) : follow_if(walk, op, results);
  walk->nesting -= 1;
  hx_leaving_t leaving = {.walk = walk, .op = op};
  if (walk->nesting == 0) (void)hx_ir_walk((hx_ir_op_t *)(uintptr_t)op, leave_op, &leaving);
  return status;
}

// ------------------------------------------------------------------ the walk

static hx_status_t visit_op(hx_walk_t *walk, const hx_ir_op_t *op) {
  const hx_type_t **types = hx_zalloc(op->operand_count + 1, sizeof *types);
  const hx_noise_t **operands = hx_zalloc(op->operand_count + 1, sizeof *operands);
  hx_noise_t *results = hx_zalloc(op->result_count + 1, sizeof *results);
  hx_status_t status = types == NULL || operands == NULL || results == NULL ? HX_STATUS_OUT_OF_MEMORY : HX_STATUS_OK;
  walk->calls += 1;
  if (status == HX_STATUS_OK && op->region_count > 0) {
    status = follow(walk, op, results);
  } else if (status == HX_STATUS_OK) {
    infer(walk, op, types, operands, results);
  }
  for (size_t r = 0; r < op->result_count && status == HX_STATUS_OK; ++r) {
    if (walk->plan->visit != NULL && !walk->is_quiet) walk->plan->visit(walk->plan->context, op, r, &results[r]);
    status = keep(walk, op->results[r], &results[r]);
  }
  for (size_t i = 0; i < op->operand_count; ++i) drop(walk, op->operands[i]);
  hx_free((void *)types);
  hx_free((void *)operands);
  hx_free(results);
  return status;
}

static hx_status_t count_uses(hx_ir_op_t *op, void *argument) {
  const hx_walk_t *walk = argument;
  for (size_t i = 0; i < op->operand_count; ++i) walk->uses[op->operands[i]->id] += 1;
  return HX_STATUS_OK;
}

static hx_status_t walk_main(hx_walk_t *walk, hx_ir_op_t *main, hx_noise_t *out_outputs) {
  const hx_ir_op_t *last = hx_func_return(main);
  (void)hx_ir_walk(main, count_uses, walk);
  HX_TRY(start(walk, hx_func_block(main)));
  HX_TRY(walk_ops(walk, hx_func_block(main)));
  for (size_t i = 0; i < last->operand_count; ++i) out_outputs[i] = noise_of(walk, last->operands[i]);
  return HX_STATUS_OK;
}

hx_status_t hx_program_predict_noise(hx_program_t *program, const hx_noise_plan_t *plan, hx_noise_t *out_outputs,
                                     hx_report_t *report) {
  hx_ir_op_t *main = hx_program_find(program, "main");
  if (main == NULL) return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "the program has no function @main");
  const size_t count = hx_ir_number(program->module);
  hx_walk_t walk = {.plan = plan,
                    .noises = hx_zalloc(count + 1, sizeof *walk.noises),
                    .uses = hx_zalloc(count + 1, sizeof *walk.uses)};
  hx_status_t status =
      walk.noises == NULL || walk.uses == NULL ? HX_STATUS_OUT_OF_MEMORY : walk_main(&walk, main, out_outputs);
  for (size_t i = 0; walk.noises != NULL && i < count; ++i) hx_free(walk.noises[i]);
  hx_free(walk.noises);
  hx_free(walk.uses);
  if (status == HX_STATUS_OUT_OF_MEMORY)
    status = hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory to predict the noise of a program");
  return status;
}
