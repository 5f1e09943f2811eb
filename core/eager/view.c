// SPDX-License-Identifier: Apache-2.0
// Calls that only select rows or change state share the operand's memory: values are immutable.
#include <string.h>

#include "core/ckks/transition.h"
#include "core/eager/engine.h"

bool hx_engine_is_view(const hx_engine_call_t *call, const hx_type_t *result) {
  int64_t step = 1;
  const hx_type_t *operand = &call->operands[0]->type;
  if (call->id == HX_OP_CKKS_REINTERPRET_SCALE) return true;
  // A plaintext over QP keeps P's rows too, so its rows would not lie side by side: that one is copied.
  if (call->id == HX_OP_CKKS_LEVEL_DROP) return operand->basis == HX_BASIS_Q;
  return call->id == HX_OP_CKKS_ROTATE &&
         hx_attrs_get_i64((hx_attrs_t){.items = call->attrs, .count = call->attr_count}, "step", &step) &&
         hx_rotation_reduce(step, operand->slots) == 0 && operand->domain == result->domain;
}

hx_status_t hx_engine_view(const hx_engine_t *engine, const hx_engine_call_t *call, const hx_type_t *result,
                           hx_value_t **out, hx_report_t *report) {
  const hx_value_t *operand = call->operands[0];
  hx_layout_t layout = operand->tensor->layout;
  layout.limbs = hx_primes_count(&result->primes);  // a deeper value has the first rows of a shallower one
  hx_tensor_t *tensor;
  HX_TRY(hx_tensor_view(operand->tensor, operand->tensor->offset, &layout, &tensor, report));
  hx_value_t *value = NULL;
  const hx_status_t status = hx_value_wrap(engine->params, result, tensor, operand->secret, &value, report);
  hx_tensor_release(tensor);
  if (status != HX_STATUS_OK) return status;
  memcpy(value->key_id, operand->key_id, sizeof value->key_id);
  value->count = operand->count;
  value->is_complex = operand->is_complex;
  *out = value;
  return HX_STATUS_OK;
}
