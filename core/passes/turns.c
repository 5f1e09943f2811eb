// SPDX-License-Identifier: Apache-2.0
#include "core/passes/turns.h"

bool hx_value_constant(const hx_ir_value_t *value, int64_t *out) {
  const hx_attribute_t *number = value->op != NULL && value->op->info->id == HX_OP_ARITH_CONSTANT
                                     ? hx_attrs_find(value->op->attrs, "value")
                                     : NULL;
  if (number == NULL || (number->kind != HX_ATTRIBUTE_INTEGER && number->kind != HX_ATTRIBUTE_BOOL)) return false;
  *out = number->kind == HX_ATTRIBUTE_BOOL ? (number->boolean ? 1 : 0) : number->integer;
  return true;
}

bool hx_loop_turns(const hx_ir_op_t *op, uint64_t *out, bool *out_exact) {
  int64_t lower, upper, step, written = 0;
  const hx_type_t *type = op->operand_count > 0 ? op->operands[0]->type : NULL;
  const bool is_unsigned = type != NULL && type->kind == HX_TYPE_INTEGER && type->signedness == HX_UNSIGNED;
  if (op->info->id == HX_OP_SCF_FOR && !is_unsigned && hx_value_constant(op->operands[0], &lower) &&
      hx_value_constant(op->operands[1], &upper) && hx_value_constant(op->operands[2], &step) && step > 0) {
    *out_exact = true;
    *out = upper <= lower ? 0 : ((uint64_t)upper - (uint64_t)lower - 1) / (uint64_t)step + 1;
    return true;
  }
  *out_exact = false;
  if (!hx_attrs_get_i64(op->attrs, HX_TURNS_ATTR, &written) || written < 0) return false;
  *out = (uint64_t)written;
  return true;
}
