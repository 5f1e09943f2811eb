// SPDX-License-Identifier: Apache-2.0
// check-state - refuses a program in which the state of a value is wrong or not known, naming the value and what is
// missing; tells all of them.
// In: a verified program. Keeps: everything; state is inferred on a copy. Without parameters what depends on them
// counts as known where it is written.
#include "core/ops/parts.h"
#include "core/passes/passes.h"

typedef struct hx_state_check {
  const hx_program_t *program;
  hx_report_t *report;
  hx_status_t first;
} hx_state_check_t;

static hx_status_t tell(hx_state_check_t *check, const hx_ir_op_t *op, const hx_ir_value_t *value, const char *what) {
  const uint32_t missing = hx_type_parts(value->type->kind) & ~value->type->known;
  if (missing == 0) return HX_STATUS_OK;
  hx_text_t parts;
  hx_text_init(&parts);
  for (hx_part_t part = 0; part < HX_PART_COUNT; ++part) {
    if ((missing & hx_part_bit(part)) == 0) continue;
    hx_text_printf(&parts, "%s%s", parts.size == 0 ? "" : ", ", hx_part_name(part));
  }
  const hx_status_t status =
      hx_report_fail_at(check->report, HX_CODE_TYPE, check->program->source, op->line, op->column,
                        "%s: the state of %s %u%s%.*s is not known: %s", op->info->name, what, value->index,
                        value->name.size > 0 ? ", %" : "", (int)value->name.size,
                        value->name.size > 0 ? value->name.data : "", parts.failed ? "some parts" : parts.data);
  hx_text_deinit(&parts);
  if (check->first == HX_STATUS_OK) check->first = status;
  return status == HX_STATUS_OUT_OF_MEMORY ? status : HX_STATUS_OK;
}

static hx_status_t visit(hx_ir_op_t *op, void *argument) {
  hx_state_check_t *check = argument;
  for (size_t i = 0; i < op->result_count; ++i) HX_TRY(tell(check, op, op->results[i], "result"));
  for (size_t r = 0; r < op->region_count; ++r) {
    const hx_ir_block_t *block = op->regions[r]->block;
    for (size_t i = 0; i < block->argument_count; ++i) HX_TRY(tell(check, op, block->arguments[i], "argument"));
  }
  return HX_STATUS_OK;
}

hx_status_t hx_pass_check_state(hx_program_t *program, hx_pass_env_t *env, bool *out_changed) {
  hx_program_t *clone = NULL;
  *out_changed = false;
  HX_TRY(hx_program_clone(program, &clone));
  hx_state_check_t check = {.program = clone, .report = env->report};
  check.first = hx_program_infer(clone, env->ring, env->report);
  hx_status_t status = check.first;
  if (status == HX_STATUS_OK) status = hx_ir_walk(clone->module, visit, &check);
  hx_program_release(clone);
  return status == HX_STATUS_OK ? check.first : status;
}
