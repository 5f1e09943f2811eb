// SPDX-License-Identifier: Apache-2.0
// Inference of references, public numbers and control flow.
#include "core/ops/infer.h"

#include <stdio.h>

static hx_status_t take_written(hx_infer_t *call, size_t index, const char *why) {
  const hx_type_t *written = call->written == NULL ? NULL : call->written[index];
  if (written == NULL || written->kind == HX_TYPE_NONE) {
    return hx_infer_fail(call, HX_CODE_TYPE, "result %zu needs a written type: %s", index, why);
  }
  hx_type_copy(&call->results[index], written);
  return HX_STATUS_OK;
}

hx_status_t hx_infer_written(hx_infer_t *call) {
  HX_TRY(take_written(call, 0, "nothing else says what is bound to the symbol"));
  if (call->op->id != HX_OP_RESOURCE_REF) return HX_STATUS_OK;
  hx_str_t kind = {0};
  hx_attrs_get_text(call->attrs, "kind", &kind);
  hx_type_t *result = &call->results[0];
  if (kind.size >= sizeof result->name) {
    return hx_infer_fail(call, HX_CODE_ATTRIBUTE, "attribute kind has %zu bytes; a handle's kind has at most %zu",
                         kind.size, sizeof result->name - 1);
  }
  if (result->name[0] == '\0') snprintf(result->name, sizeof result->name, "%.*s", (int)kind.size, kind.data);
  if (hx_str_equal(kind, hx_str(result->name))) return HX_STATUS_OK;
  return hx_infer_fail(call, HX_CODE_TYPE, "attribute kind is \"%.*s\", but the result is a handle of kind \"%s\"",
                       (int)kind.size, kind.data, result->name);
}

// The called function's signature is checked by the verifier, which sees the module.
hx_status_t hx_infer_call(hx_infer_t *call) {
  for (size_t i = 0; i < call->result_count; ++i) HX_TRY(take_written(call, i, "the called function gives it"));
  return HX_STATUS_OK;
}

// Results of if and while come from their regions, so they are as written; those of for are the carried operands'.
hx_status_t hx_infer_region(hx_infer_t *call) {
  if (call->op->id != HX_OP_SCF_FOR) {
    for (size_t i = 0; i < call->result_count; ++i) HX_TRY(take_written(call, i, "its regions give it"));
    return HX_STATUS_OK;
  }
  HX_TRY(hx_infer_want_results(call, call->operand_count - 3, "one a carried value"));
  for (size_t i = 0; i < call->result_count; ++i) hx_type_copy(&call->results[i], call->operands[3 + i]);
  return HX_STATUS_OK;
}

hx_status_t hx_infer_constant(hx_infer_t *call) {
  const hx_attribute_t *value = hx_attrs_find(call->attrs, "value");
  hx_type_t *result = &call->results[0];
  const bool is_integer = value->kind == HX_ATTRIBUTE_INTEGER;
  if (value->kind == HX_ATTRIBUTE_BOOL) {  // how MLIR writes a number of type i1
    hx_type_init(result, HX_TYPE_INTEGER);
    result->bits = 1;
    return HX_STATUS_OK;
  }
  if (value->type != NULL) {
    hx_type_copy(result, value->type);
  } else {
    hx_type_init(result, is_integer ? HX_TYPE_INTEGER : HX_TYPE_F64);
    if (is_integer) result->bits = 64;
  }
  if (is_integer == (result->kind == HX_TYPE_INTEGER || result->kind == HX_TYPE_INDEX) &&
      (is_integer || result->kind == HX_TYPE_F64)) {
    return HX_STATUS_OK;
  }
  return hx_infer_fail(call, HX_CODE_ATTRIBUTE, "attribute value is %s, but its type is %s",
                       is_integer ? "an integer" : "an f64", hx_type_kind_name(result->kind));
}

// Both operands of one integer type or index.
static hx_status_t want_integers(const hx_infer_t *call) {
  for (size_t i = 0; i < call->operand_count; ++i) {
    const hx_type_t *type = call->operands[i];
    char name[HX_NAME_MAX];
    if (type->kind != HX_TYPE_INTEGER && type->kind != HX_TYPE_INDEX) {
      return hx_infer_fail(call, HX_CODE_OPERANDS, "operand %s has to be an integer or index, not %s",
                           hx_infer_operand_name(call, i, name), hx_type_kind_name(type->kind));
    }
    if (!hx_type_equal(type, call->operands[0])) {
      return hx_infer_fail(call, HX_CODE_OPERANDS, "operands a and b have different integer types");
    }
  }
  return HX_STATUS_OK;
}

hx_status_t hx_infer_arith(hx_infer_t *call) {
  HX_TRY(want_integers(call));
  hx_type_copy(&call->results[0], call->operands[0]);
  return HX_STATUS_OK;
}

hx_status_t hx_infer_compare(hx_infer_t *call) {
  HX_TRY(want_integers(call));
  hx_type_init(&call->results[0], HX_TYPE_INTEGER);
  call->results[0].bits = 1;
  return HX_STATUS_OK;
}

hx_status_t hx_infer_select(hx_infer_t *call) {
  const hx_type_t *condition = call->operands[0];
  if (condition->kind != HX_TYPE_INTEGER || condition->bits != 1)
    return hx_infer_fail(call, HX_CODE_OPERANDS, "operand condition has to be an i1");
  if (!hx_type_equal(call->operands[1], call->operands[2]))
    return hx_infer_fail(call, HX_CODE_OPERANDS, "operands a and b have different types");
  hx_type_copy(&call->results[0], call->operands[1]);
  return HX_STATUS_OK;
}

// Between index and an integer; which integer is written.
hx_status_t hx_infer_index_cast(hx_infer_t *call) {
  const hx_type_kind_t from = call->operands[0]->kind;
  if (from != HX_TYPE_INDEX && from != HX_TYPE_INTEGER)
    return hx_infer_fail(call, HX_CODE_OPERANDS, "operand a has to be an integer or index, not %s",
                         hx_type_kind_name(from));
  HX_TRY(take_written(call, 0, "it says which integer is meant"));
  const hx_type_kind_t to = call->results[0].kind;
  if ((from == HX_TYPE_INDEX && to == HX_TYPE_INTEGER) || (from == HX_TYPE_INTEGER && to == HX_TYPE_INDEX))
    return HX_STATUS_OK;
  return hx_infer_fail(call, HX_CODE_OPERANDS, "it goes from an integer to index or back, not from %s to %s",
                       hx_type_kind_name(from), hx_type_kind_name(to));
}

hx_status_t hx_infer_transfer(hx_infer_t *call) {
  hx_str_t space = {0};
  hx_attrs_get_text(call->attrs, "space", &space);
  hx_type_copy(&call->results[0], call->operands[0]);
  if (hx_str_equal(space, hx_str("device")) || hx_str_equal(space, hx_str("host"))) return HX_STATUS_OK;
  return hx_infer_fail(
      call, HX_CODE_ATTRIBUTE,
      "attribute space is \"%.*s\"; values of a program lie in device or host memory (pinned memory is "
      "what transfers are staged in)",
      (int)(space.size < 64 ? space.size : 64), space.data);
}
