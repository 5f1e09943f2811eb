// SPDX-License-Identifier: Apache-2.0
#include "core/passes/noise.h"

#include <math.h>
#include <string.h>

typedef struct hx_walk {
  const hx_noise_plan_t *plan;
  hx_noise_t **noises;  // by value id; NULL: not known, or not needed any more
  uint32_t *uses;       // by value id: how often the value is still read by @main's own operations
  uint64_t calls;       // operations so far
} hx_walk_t;

static bool carries_noise(const hx_type_t *type) {
  return (type->kind == HX_TYPE_CIPHERTEXT || type->kind == HX_TYPE_PLAINTEXT) && hx_type_is_complete(type);
}

static hx_status_t keep(hx_walk_t *walk, const hx_ir_value_t *value, const hx_noise_t *noise) {
  if (!noise->known || walk->uses[value->id] == 0) return HX_STATUS_OK;
  hx_noise_t *copy = hx_alloc(sizeof *copy);
  if (copy == NULL) return HX_STATUS_OUT_OF_MEMORY;
  *copy = *noise;
  walk->noises[value->id] = copy;
  return HX_STATUS_OK;
}

static void drop(hx_walk_t *walk, const hx_ir_value_t *value) {
  if (--walk->uses[value->id] > 0) return;
  hx_free(walk->noises[value->id]);
  walk->noises[value->id] = NULL;
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

static hx_status_t visit_op(hx_walk_t *walk, const hx_ir_op_t *op) {
  const hx_type_t **types = hx_zalloc(op->operand_count + 1, sizeof *types);
  const hx_noise_t **operands = hx_zalloc(op->operand_count + 1, sizeof *operands);
  hx_noise_t *results = hx_zalloc(op->result_count + 1, sizeof *results);
  hx_status_t status = types == NULL || operands == NULL || results == NULL ? HX_STATUS_OUT_OF_MEMORY : HX_STATUS_OK;
  if (status == HX_STATUS_OK) infer(walk, op, types, operands, results);
  walk->calls += 1;
  for (size_t r = 0; r < op->result_count && status == HX_STATUS_OK; ++r) {
    if (walk->plan->visit != NULL) walk->plan->visit(walk->plan->context, op, r, &results[r]);
    status = keep(walk, op->results[r], &results[r]);
  }
  for (size_t i = 0; i < op->operand_count; ++i) drop(walk, op->operands[i]);
  hx_free((void *)types);
  hx_free((void *)operands);
  hx_free(results);
  return status;
}

static hx_status_t walk_block(hx_walk_t *walk, const hx_ir_block_t *block, hx_noise_t *out_outputs) {
  static const hx_noise_t unknown;
  for (const hx_ir_op_t *op = block->first; op != NULL; op = op->next)
    for (size_t i = 0; i < op->operand_count; ++i) walk->uses[op->operands[i]->id] += 1;
  HX_TRY(start(walk, block));
  for (const hx_ir_op_t *op = block->first; op != NULL; op = op->next) {
    if (op->info->id == HX_OP_RETURN) {
      for (size_t i = 0; i < op->operand_count; ++i) {
        const hx_noise_t *noise = walk->noises[op->operands[i]->id];
        out_outputs[i] = noise == NULL ? unknown : *noise;
      }
      return HX_STATUS_OK;
    }
    HX_TRY(visit_op(walk, op));
  }
  return HX_STATUS_OK;
}

hx_status_t hx_program_predict_noise(hx_program_t *program, const hx_noise_plan_t *plan, hx_noise_t *out_outputs,
                                     hx_report_t *report) {
  const hx_ir_op_t *main = hx_program_find(program, "main");
  if (main == NULL) return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "the program has no function @main");
  const size_t count = hx_ir_number(program->module);
  hx_walk_t walk = {.plan = plan,
                    .noises = hx_zalloc(count + 1, sizeof *walk.noises),
                    .uses = hx_zalloc(count + 1, sizeof *walk.uses)};
  hx_status_t status = walk.noises == NULL || walk.uses == NULL ? HX_STATUS_OUT_OF_MEMORY
                                                                : walk_block(&walk, hx_func_block(main), out_outputs);
  for (size_t i = 0; walk.noises != NULL && i < count; ++i) hx_free(walk.noises[i]);
  hx_free(walk.noises);
  hx_free(walk.uses);
  if (status == HX_STATUS_OUT_OF_MEMORY)
    status = hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory to predict the noise of a program");
  return status;
}
