// SPDX-License-Identifier: Apache-2.0
// check-keys - the exact set of keys that a program needs, as decisions: each key with the number of operations that
// use it, whole ones and those of lowered programs that read a part of it. Refuses rotations whose keys cannot be
// known, and key operands that are not those that the operation needs. In: a verified program, state inferred where it
// rotates; parameters where it needs keys. Keeps: everything.
#include <inttypes.h>
#include <stdio.h>

#include "core/passes/keys.h"

typedef struct hx_key_use {
  hx_key_need_t need;
  size_t count;
} hx_key_use_t;

typedef struct hx_key_check {
  const hx_program_t *program;
  const hx_pass_env_t *env;
  hx_key_needs_t needs;  // of one operation
  hx_key_use_t *uses;
  size_t count, capacity;
  hx_status_t first;
} hx_key_check_t;

static hx_status_t count_use(hx_key_check_t *check, const hx_key_need_t *need) {
  for (size_t i = 0; i < check->count; ++i) {
    hx_key_use_t *use = &check->uses[i];
    if (use->need.kind != need->kind || use->need.element != need->element) continue;
    ++use->count;
    return HX_STATUS_OK;
  }
  HX_TRY(hx_grow(&check->uses, &check->capacity, check->count + 1, sizeof *check->uses));
  check->uses[check->count++] = (hx_key_use_t){.need = *need, .count = 1};
  return HX_STATUS_OK;
}

static hx_status_t check_operand(hx_key_check_t *check, const hx_ir_op_t *op, size_t index, const hx_key_need_t *need) {
  const hx_type_t *type = op->operands[index]->type;
  const bool fits = type->key_kind == need->kind && (need->kind != HX_KEY_GALOIS || type->element == need->element);
  if (fits || type->key_kind == HX_KEY_NONE) return HX_STATUS_OK;
  char symbol[HX_NAME_MAX];
  hx_key_need_symbol(need, symbol);
  return hx_report_fail_at(check->env->report, HX_CODE_MISSING_KEY, check->program->source, op->line, op->column,
                           "%s: operand %zu is another key than @%s, which it needs", op->info->name, index, symbol);
}

// A key that an operation reads which does not switch keys as a whole.
static hx_status_t count_reference(hx_key_check_t *check, const hx_ir_value_t *operand) {
  hx_key_need_t need;
  if (check->env->ring == NULL || !hx_key_need_of_type(operand->type, check->env->ring, &need)) return HX_STATUS_OK;
  return count_use(check, &need);
}

static hx_status_t visit(hx_ir_op_t *op, void *argument) {
  hx_key_check_t *check = argument;
  check->needs.count = 0;
  hx_status_t status = hx_op_key_needs(check->program, op, check->env->ring, &check->needs, check->env->report);
  const size_t first = hx_op_first_key(op);
  for (size_t i = 0; i < check->needs.count && status == HX_STATUS_OK; ++i) {
    status = count_use(check, &check->needs.items[i]);
    if (status == HX_STATUS_OK && first + i < op->operand_count)
      status = check_operand(check, op, first + i, &check->needs.items[i]);
  }
  for (size_t i = 0; i < op->operand_count && check->needs.count == 0 && status == HX_STATUS_OK; ++i)
    status = count_reference(check, op->operands[i]);
  if (status != HX_STATUS_OK && check->first == HX_STATUS_OK) check->first = status;
  return status == HX_STATUS_OUT_OF_MEMORY ? status : HX_STATUS_OK;
}

static void tell(const hx_key_check_t *check) {
  for (size_t i = 0; i < check->count; ++i) {
    const hx_key_use_t *use = &check->uses[i];
    char symbol[HX_NAME_MAX];
    hx_key_need_symbol(&use->need, symbol);
    if (use->need.kind == HX_KEY_GALOIS) {
      hx_decide(check->env, NULL, symbol, "keys of the program", "rotation by %" PRIu32 ", in %zu operations",
                use->need.step, use->count);
    } else {
      hx_decide(check->env, NULL, symbol, "keys of the program", "in %zu operations", use->count);
    }
  }
  if (check->count == 0) hx_decide(check->env, NULL, "none", "keys of the program", "no operation switches keys");
}

hx_status_t hx_pass_check_keys(hx_program_t *program, hx_pass_env_t *env, bool *out_changed) {
  hx_key_check_t check = {.program = program, .env = env};
  *out_changed = false;
  hx_status_t status = hx_ir_walk(program->module, visit, &check);
  if (status == HX_STATUS_OK) status = check.first;
  if (status == HX_STATUS_OK) tell(&check);
  hx_free(check.needs.items);
  hx_free(check.uses);
  return status;
}
