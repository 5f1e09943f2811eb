// SPDX-License-Identifier: Apache-2.0
// Emitters of `lower`.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/passes/lower.h"

void hx_lower_fail(hx_lowering_t *lowering, hx_code_t code, const char *format, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  if (vsnprintf(text, sizeof text, format, arguments) < 0) text[0] = '\0';
  va_end(arguments);
  const hx_ir_op_t *op = lowering->op;
  const hx_status_t status = hx_report_fail_at(lowering->report, code, lowering->program->source, op->line, op->column,
                                               "%s: %s", op->info->name, text);
  if (lowering->status == HX_STATUS_OK) lowering->status = status;
}

static hx_status_t emit(hx_lowering_t *lowering, hx_op_id_t id, hx_ir_value_t *const *operands, size_t operand_count,
                        const hx_named_attr_t *items, size_t item_count, hx_ir_value_t **out) {
  hx_ir_op_t *before = lowering->op, *op;
  hx_attrs_t attrs;
  hx_named_attr_t placed[HX_OP_ATTRS_MAX + 1];
  const hx_attribute_t *device = hx_attrs_find(before->attrs, HX_DEVICE_ATTR);
  for (size_t i = 0; i < item_count; ++i) {
    if (hx_str_equal(items[i].name, hx_str(HX_DEVICE_ATTR))) device = NULL;  // a rule took all attributes over
  }
  if (device != NULL && item_count <= HX_OP_ATTRS_MAX) {  // where an operation was placed, its parts are
    if (item_count > 0) memcpy(placed, items, item_count * sizeof *items);
    placed[item_count++] = (hx_named_attr_t){.name = hx_str(HX_DEVICE_ATTR), .value = *device};
    items = placed;
  }
  HX_TRY(hx_program_attrs(lowering->program, items, item_count, &attrs));
  HX_TRY(hx_ir_build(lowering->program, before->block, before, id, operands, operand_count, attrs, 1, lowering->ring,
                     lowering->report, &op));
  op->line = before->line;
  op->column = before->column;
  if (lowering->first == NULL) lowering->first = op;
  *out = op->results[0];
  return HX_STATUS_OK;
}

hx_ir_value_t *hx_lower_emit(hx_lowering_t *lowering, hx_op_id_t id, hx_ir_value_t *const *operands,
                             size_t operand_count, const hx_named_attr_t *items, size_t item_count) {
  if (lowering->status != HX_STATUS_OK) return NULL;
  hx_ir_value_t *value = NULL;
  lowering->status = emit(lowering, id, operands, operand_count, items, item_count, &value);
  return value;
}

hx_ir_value_t *hx_lower_unary(hx_lowering_t *lowering, hx_op_id_t id, hx_ir_value_t *a) {
  return hx_lower_emit(lowering, id, &a, 1, NULL, 0);
}

hx_ir_value_t *hx_lower_binary(hx_lowering_t *lowering, hx_op_id_t id, hx_ir_value_t *a, hx_ir_value_t *b) {
  hx_ir_value_t *const operands[] = {a, b};
  return hx_lower_emit(lowering, id, operands, 2, NULL, 0);
}

hx_ir_value_t *hx_lower_with(hx_lowering_t *lowering, hx_op_id_t id, hx_ir_value_t *a, const char *name,
                             int64_t value) {
  const hx_named_attr_t item = {.name = hx_str(name), .value = {.kind = HX_ATTRIBUTE_INTEGER, .integer = value}};
  return hx_lower_emit(lowering, id, &a, 1, &item, 1);
}

hx_ir_value_t *hx_lower_components(hx_lowering_t *lowering, hx_ir_value_t *a, uint32_t first, uint32_t count) {
  if (lowering->status != HX_STATUS_OK) return NULL;
  if (first == 0 && count == a->type->components) return a;
  const hx_named_attr_t items[] = {
      {.name = hx_str("first"), .value = {.kind = HX_ATTRIBUTE_INTEGER, .integer = first}},
      {.name = hx_str("count"), .value = {.kind = HX_ATTRIBUTE_INTEGER, .integer = count}}};
  return hx_lower_emit(lowering, HX_OP_RNS_SELECT_COMPONENTS, &a, 1, items, 2);
}

static hx_ir_value_t *select_limbs(hx_lowering_t *lowering, hx_ir_value_t *a, const hx_primes_t *primes) {
  const hx_named_attr_t item = {.name = hx_str("ids"), .value = hx_lower_ids(lowering, primes)};
  return hx_lower_emit(lowering, HX_OP_RNS_SELECT_LIMBS, &a, 1, &item, 1);
}

hx_ir_value_t *hx_lower_limbs(hx_lowering_t *lowering, hx_ir_value_t *a, const hx_primes_t *primes) {
  if (lowering->status != HX_STATUS_OK) return NULL;
  return hx_primes_equal(primes, &a->type->primes) ? a : select_limbs(lowering, a, primes);
}

hx_ir_value_t *hx_lower_domain(hx_lowering_t *lowering, hx_ir_value_t *a, uint32_t domain) {
  if (lowering->status != HX_STATUS_OK || a->type->domain == domain) return a;
  return hx_lower_unary(lowering, domain == HX_NTT ? HX_OP_NTT_FORWARD : HX_OP_NTT_INVERSE, a);
}

hx_ir_value_t *hx_lower_pack(hx_lowering_t *lowering, hx_ir_value_t *first, hx_ir_value_t *rest) {
  return hx_lower_binary(lowering, HX_OP_RNS_PACK_COMPONENTS, first, rest);
}

hx_ir_value_t *hx_lower_rows(hx_lowering_t *lowering, hx_op_id_t id, hx_ir_value_t *a, const uint64_t *residues) {
  if (lowering->status != HX_STATUS_OK) return NULL;
  const hx_named_attr_t item = {.name = hx_str("residues"),
                                .value = hx_lower_list(lowering, residues, hx_primes_count(&a->type->primes))};
  return hx_lower_emit(lowering, id, &a, 1, &item, 1);
}

hx_ir_value_t *hx_lower_mul_add(hx_lowering_t *lowering, hx_ir_value_t *acc, hx_ir_value_t *a, hx_ir_value_t *b) {
  hx_ir_value_t *const operands[] = {acc, a, b};
  return acc == NULL ? hx_lower_binary(lowering, HX_OP_RNS_MUL, a, b)
                     : hx_lower_emit(lowering, HX_OP_RNS_MUL_ADD, operands, 3, NULL, 0);
}

hx_ir_value_t *hx_lower_sum(hx_lowering_t *lowering, hx_ir_value_t *a, hx_ir_value_t *b) {
  if (a == NULL || b == NULL) return a == NULL ? b : a;
  return hx_lower_binary(lowering, HX_OP_RNS_ADD, a, b);
}

hx_attribute_t hx_lower_list(hx_lowering_t *lowering, const uint64_t *numbers, size_t count) {
  hx_attribute_t *list =
      lowering->status == HX_STATUS_OK ? hx_arena_alloc(&lowering->program->arena, count * sizeof *list) : NULL;
  if (list == NULL) {
    if (lowering->status == HX_STATUS_OK) lowering->status = HX_STATUS_OUT_OF_MEMORY;
    return (hx_attribute_t){.kind = HX_ATTRIBUTE_UNIT};
  }
  for (size_t i = 0; i < count; ++i)
    list[i] = (hx_attribute_t){.kind = HX_ATTRIBUTE_INTEGER, .integer = (int64_t)numbers[i]};
  return (hx_attribute_t){.kind = HX_ATTRIBUTE_LIST, .list = list, .count = count};
}

hx_attribute_t hx_lower_ids(hx_lowering_t *lowering, const hx_primes_t *primes) {
  uint32_t ids[HX_PRIMES_MAX];
  uint64_t numbers[HX_PRIMES_MAX];
  const uint32_t count = hx_primes_list(primes, ids);
  for (uint32_t i = 0; i < count; ++i) numbers[i] = ids[i];
  return hx_lower_list(lowering, numbers, count);
}

// Emitted operations stand between `first` and the rewritten one, without a gap.
static bool is_emitted_here(const hx_lowering_t *lowering, const hx_ir_value_t *value) {
  if (value->op == NULL || lowering->first == NULL || value->op->block != lowering->op->block) return false;
  for (const hx_ir_op_t *op = lowering->op->previous; op != NULL; op = op->previous) {
    if (op == value->op) return true;
    if (op == lowering->first) break;
  }
  return false;
}

// The result's type fits the operation that gives it now: a ciphertext where that gives a tensor.
static hx_status_t check_type(hx_lowering_t *lowering, hx_ir_op_t *op, const hx_type_t *type) {
  const hx_type_t **types = hx_zalloc(op->operand_count + 1, sizeof *types);
  hx_type_t *result = hx_zalloc(1, sizeof *result);
  hx_status_t status = types == NULL || result == NULL ? HX_STATUS_OUT_OF_MEMORY : HX_STATUS_OK;
  if (status == HX_STATUS_OK) {
    for (size_t i = 0; i < op->operand_count; ++i) types[i] = op->operands[i]->type;
    hx_infer_t call = {.op = op->info,
                       .attrs = op->attrs,
                       .operands = types,
                       .operand_count = op->operand_count,
                       .ring = lowering->ring,
                       .results = result,
                       .result_count = 1,
                       .written = &type,
                       .report = lowering->report,
                       .source = lowering->program->source,
                       .line = op->line,
                       .column = op->column};
    status = hx_op_infer(&call);
  }
  hx_free(types);
  hx_free(result);
  return status;
}

void hx_lower_finish(hx_lowering_t *lowering, size_t index, hx_ir_value_t *value) {
  if (lowering->status != HX_STATUS_OK) return;
  // A value that became a result already has that result's place.
  if (value->op != NULL) value = value->op->results[value->index];
  for (size_t i = 0; i < index; ++i) {
    if (lowering->op->results[i] == value) value = select_limbs(lowering, value, &value->type->primes);
    if (lowering->status != HX_STATUS_OK) return;
  }
  if (!is_emitted_here(lowering, value)) value = select_limbs(lowering, value, &value->type->primes);
  if (lowering->status != HX_STATUS_OK) return;
  hx_ir_value_t *result = lowering->op->results[index];
  hx_ir_op_t *op = value->op;
  lowering->status = op == NULL ? HX_STATUS_INTERNAL : check_type(lowering, op, result->type);
  if (lowering->status != HX_STATUS_OK || op == NULL) return;
  op->results[value->index] = result;
  result->op = op;
  result->index = value->index;
}
