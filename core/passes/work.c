// SPDX-License-Identifier: Apache-2.0
#include "core/passes/work.h"

#include "core/passes/turns.h"

#include "core/ckks/transition.h"

// A step modulo the slots of the operand; as written where they are not known.
static bool is_zero_step(const hx_ir_op_t *op, int64_t step) {
  const hx_type_t *type = op->operands[0]->type;
  if ((type->known & HX_KNOWN_SLOTS) == 0 || type->slots == 0) return step == 0;
  return hx_rotation_reduce(step, type->slots) == 0;
}

// Items that rotate, of a list of steps: each step once, where `distinct` says so.
static uint32_t rotating_steps(const hx_ir_op_t *op, bool distinct) {
  const hx_attribute_t *items = NULL;
  size_t count = 0;
  uint32_t rotating = 0;
  (void)hx_attrs_get_list(op->attrs, "steps", &items, &count);  // required: verified
  const hx_type_t *type = op->operands[0]->type;
  if (distinct && (type->known & HX_KNOWN_SLOTS) != 0 && type->slots > 0)
    return (uint32_t)hx_rotation_steps(items, count, type->slots, NULL);
  for (size_t i = 0; i < count; ++i) rotating += is_zero_step(op, items[i].integer) ? 0 : 1;
  return rotating;
}

// Ciphertexts of rotate_sum that are raised, each once.
static uint32_t raised_terms(const hx_ir_op_t *op) {
  const hx_attribute_t *items = NULL;
  size_t count = 0;
  uint32_t raised = 0;
  (void)hx_attrs_get_list(op->attrs, "steps", &items, &count);  // required: verified
  for (size_t i = 0; i < count && i < op->operand_count; ++i) {
    bool is_new = !is_zero_step(op, items[i].integer);
    for (size_t k = 0; k < i && is_new; ++k)
      is_new = op->operands[k] != op->operands[i] || is_zero_step(op, items[k].integer);
    raised += is_new ? 1 : 0;
  }
  return raised;
}

static bool drops_special(const hx_ir_op_t *op) {
  const hx_attribute_t *drop = hx_attrs_find(op->attrs, "drop");
  return drop == NULL || drop->kind == HX_ATTRIBUTE_TEXT;
}

hx_work_t hx_op_work(const hx_ir_op_t *op) {
  int64_t number = 0;
  switch (op->info->id) {
    case HX_OP_CKKS_RELINEARIZE:
    case HX_OP_CKKS_KEY_SWITCH:
    case HX_OP_CKKS_CONJUGATE:
      return (hx_work_t){.mod_ups = 1, .mod_downs = 1, .switches = 1};
    case HX_OP_CKKS_ROTATE: {
      (void)hx_attrs_get_i64(op->attrs, "step", &number);  // required: verified
      const uint32_t one = is_zero_step(op, number) ? 0 : 1;
      return (hx_work_t){.mod_ups = one, .mod_downs = one, .switches = one};
    }
    case HX_OP_CKKS_ROTATE_MANY: {
      const uint32_t steps = rotating_steps(op, true);
      return (hx_work_t){.mod_ups = steps > 0 ? 1 : 0, .mod_downs = steps, .switches = steps};
    }
    case HX_OP_CKKS_ROTATE_WEIGHTED_SUM: {
      const uint32_t steps = rotating_steps(op, true), one = steps > 0 ? 1 : 0;
      return (hx_work_t){.mod_ups = one, .mod_downs = one * (uint32_t)op->result_count, .switches = steps};
    }
    case HX_OP_CKKS_ROTATE_SUM: {
      const uint32_t raised = raised_terms(op);
      return (hx_work_t){.mod_ups = raised, .mod_downs = raised > 0 ? 1 : 0, .switches = rotating_steps(op, false)};
    }
    case HX_OP_RNS_MOD_UP:
      return (hx_work_t){.mod_ups = hx_attrs_get_i64(op->attrs, "digit", &number) && number == 0 ? 1 : 0};
    case HX_OP_RNS_KEY_PRODUCT:
      return (hx_work_t){.switches = hx_attrs_get_i64(op->attrs, "digit", &number) && number == 0 ? 1 : 0};
    case HX_OP_RNS_MOD_DOWN:
      return (hx_work_t){.mod_downs = drops_special(op) ? 1 : 0};
    default:
      return (hx_work_t){0};
  }
}

uint64_t hx_op_trips(const hx_ir_op_t *op, bool *exact) {
  uint64_t turns = 1;
  bool is_exact = false;
  const bool is_known = hx_loop_turns(op, &turns, &is_exact);
  if (!is_exact) *exact = false;
  return is_known ? turns : 1;
}
