// SPDX-License-Identifier: Apache-2.0
// infer-state - forward inference over all functions.
// In: a verified program. Keeps: everything but the types of values, which only become better known.
#include "core/passes/passes.h"

typedef struct hx_type_list {
  const hx_type_t **types;  // by value id, or NULL: count only
  bool changed;
} hx_type_list_t;

static void note_type(hx_type_list_t *list, const hx_ir_value_t *value, bool compare) {
  if (compare) {
    list->changed = list->changed || list->types[value->id] != value->type;
  } else {
    list->types[value->id] = value->type;
  }
}

static void note_types(hx_type_list_t *list, const hx_ir_op_t *op, bool compare) {
  for (size_t i = 0; i < op->result_count; ++i) note_type(list, op->results[i], compare);
  for (size_t i = 0; i < op->region_count; ++i) {
    const hx_ir_block_t *block = op->regions[i]->block;
    for (size_t j = 0; j < block->argument_count; ++j) note_type(list, block->arguments[j], compare);
  }
}

static hx_status_t keep_types(hx_ir_op_t *op, void *argument) {
  note_types(argument, op, false);
  return HX_STATUS_OK;
}

static hx_status_t compare_types(hx_ir_op_t *op, void *argument) {
  note_types(argument, op, true);
  return HX_STATUS_OK;
}

hx_status_t hx_pass_infer_state(hx_program_t *program, hx_pass_env_t *env, bool *out_changed) {
  hx_type_list_t list = {.types = hx_zalloc(hx_ir_number(program->module) + 1, sizeof *list.types)};
  if (list.types == NULL) return HX_STATUS_OUT_OF_MEMORY;
  (void)hx_ir_walk(program->module, keep_types, &list);
  const hx_status_t status = hx_program_infer(program, env->ring, env->report);
  (void)hx_ir_walk(program->module, compare_types, &list);
  hx_free(list.types);
  *out_changed = list.changed;
  return status;
}
