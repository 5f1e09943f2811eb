// SPDX-License-Identifier: Apache-2.0
#include "core/passes/target.h"

bool hx_op_invocation(const hx_ir_op_t *op, const hx_ring *ring, const hx_type_t **types, hx_invocation_t *out) {
  const size_t count = op->operand_count + op->result_count;
  for (size_t i = 0; i < count; ++i) {
    types[i] = i < op->operand_count ? op->operands[i]->type : op->results[i - op->operand_count]->type;
    if (!hx_type_is_complete(types[i])) return false;
  }
  *out = (hx_invocation_t){.op = op->info,
                           .operands = types,
                           .operand_count = op->operand_count,
                           .results = types + op->operand_count,
                           .result_count = op->result_count,
                           .ring = ring};
  return true;
}

bool hx_target_is_native(void *argument, const hx_ir_op_t *op) {
  const hx_pass_target_t *target = argument;
  const hx_op_tier_t tier = op->info->tier;
  if (tier == HX_TIER_STRUCTURE || tier == HX_TIER_HOST || (op->info->flags & HX_OP_FLAG_VIEW) != 0 ||
      hx_attrs_find(op->attrs, "heliox.implementation") != NULL) {
    return true;
  }
  const hx_type_t **types = hx_zalloc(op->operand_count + op->result_count + 1, sizeof *types);
  hx_invocation_t call;
  const bool is_native =
      types == NULL || !hx_op_invocation(op, target->ring, types, &call) || hx_backend_supports(target->backend, &call);
  hx_free((void *)types);
  return is_native;
}

bool hx_target_fuses(void *argument, const char *kind, const hx_ir_op_t *op) {
  const hx_pass_target_t *target = argument;
  bool several = false;
  const hx_implementation_t *row = hx_backend_fusion(target->backend, target->backend->devices[0], kind, &several);
  const hx_type_t *types[16];
  hx_invocation_t call;
  return row != NULL && op->operand_count + op->result_count <= HX_COUNT_OF(types) &&
         hx_op_invocation(op, target->ring, types, &call) && hx_implementation_covers(row, &call);
}
