// SPDX-License-Identifier: Apache-2.0
// What the kinds of `shard` build with.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/passes/shard.h"

void hx_shard_fail(hx_shard_t *shard, hx_status_t status) {
  if (shard->status == HX_STATUS_OK) shard->status = status;
}

void hx_shard_refuse(hx_shard_t *shard, hx_code_t code, const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  if (vsnprintf(text, sizeof text, format, arguments) < 0) text[0] = '\0';
  va_end(arguments);
  const hx_ir_op_t *op = shard->op;
  hx_shard_fail(shard, hx_report_fail_at(shard->env->report, code, shard->program->source, op->line, op->column,
                                         "%s: %s", op->info->name, text));
}

// ------------------------------------------------------------------ attributes

hx_named_attr_t hx_shard_list(hx_shard_t *shard, const char *name, const int64_t *numbers, size_t count) {
  hx_named_attr_t attr = {.name = hx_str(name), .value = {.kind = HX_ATTRIBUTE_LIST, .count = count}};
  hx_attribute_t *list = hx_arena_alloc(&shard->program->arena, (count + 1) * sizeof *list);
  if (list == NULL) {
    hx_shard_fail(shard, HX_STATUS_OUT_OF_MEMORY);
    attr.value.count = 0;
    return attr;
  }
  for (size_t i = 0; i < count; ++i) list[i] = (hx_attribute_t){.kind = HX_ATTRIBUTE_INTEGER, .integer = numbers[i]};
  attr.value.list = list;
  return attr;
}

hx_named_attr_t hx_shard_ids(hx_shard_t *shard, const char *name, const hx_primes_t *primes) {
  uint32_t ids[HX_PRIMES_MAX];
  int64_t numbers[HX_PRIMES_MAX];
  const uint32_t count = hx_primes_list(primes, ids);
  for (uint32_t i = 0; i < count; ++i) numbers[i] = ids[i];
  return hx_shard_list(shard, name, numbers, count);
}

hx_named_attr_t hx_shard_number(const char *name, int64_t number) {
  return (hx_named_attr_t){.name = hx_str(name), .value = {.kind = HX_ATTRIBUTE_INTEGER, .integer = number}};
}

// ------------------------------------------------------------------ operations

static hx_status_t build(hx_shard_t *shard, hx_ir_op_t *before, hx_op_id_t id, hx_ir_value_t *const *operands,
                         size_t operand_count, const hx_named_attr_t *items, size_t item_count, const hx_type_t *type,
                         hx_ir_value_t **out) {
  hx_attrs_t attrs;
  hx_ir_op_t *op;
  HX_TRY(hx_program_attrs(shard->program, items, item_count, &attrs));
  if (type != NULL) {
    HX_TRY(hx_ir_create(shard->program, id, operands, operand_count, type, 1, attrs, 0, &op));
    hx_ir_insert(before->block, before, op);
  } else {
    HX_TRY(hx_ir_build(shard->program, before->block, before, id, operands, operand_count, attrs, 1, shard->env->ring,
                       shard->env->report, &op));
  }
  if (shard->op != NULL) {
    op->line = shard->op->line;
    op->column = shard->op->column;
  }
  *out = op->results[0];
  return HX_STATUS_OK;
}

hx_ir_value_t *hx_shard_build(hx_shard_t *shard, hx_ir_op_t *before, hx_op_id_t id, hx_ir_value_t *const *operands,
                              size_t operand_count, const hx_named_attr_t *items, size_t item_count,
                              const hx_type_t *type) {
  hx_ir_value_t *value = NULL;
  for (size_t i = 0; i < operand_count; ++i) {
    if (operands[i] == NULL) return NULL;
  }
  if (shard->status == HX_STATUS_OK)
    hx_shard_fail(shard, build(shard, before, id, operands, operand_count, items, item_count, type, &value));
  return value;
}

hx_ir_value_t *hx_shard_collective(hx_shard_t *shard, hx_ir_op_t *before, hx_op_id_t id, hx_ir_value_t *value,
                                   const hx_named_attr_t *items, size_t item_count, const hx_type_t *type) {
  hx_ir_value_t *const operands[] = {shard->group, value};
  shard->collectives += 1;
  return hx_shard_build(shard, before, id, operands, value == NULL ? 1 : 2, items, item_count, type);
}

// ------------------------------------------------------------------ zeros

static bool is_like(const hx_ir_value_t *value, const hx_type_t *wanted) {
  const hx_type_t *type = value->type;
  const size_t bytes = wanted->batch_rank * sizeof *type->batch_shape;
  if (hx_type_parts(type->kind) == 0 || !hx_type_is_complete(type)) return false;
  return (type->batch_rank == wanted->batch_rank && memcmp(type->batch_shape, wanted->batch_shape, bytes) == 0) ||
         (type->batch_rank == wanted->batch_rank + 1 && memcmp(type->batch_shape + 1, wanted->batch_shape, bytes) == 0);
}

hx_ir_value_t *hx_shard_find_like(const hx_shard_t *shard, const hx_type_t *type) {
  const hx_ir_block_t *block = hx_func_block(shard->func);
  const hx_ir_op_t *end = hx_ir_ancestor_in(shard->op, block);
  for (size_t i = 0; i < block->argument_count; ++i) {
    if (is_like(block->arguments[i], type)) return block->arguments[i];
  }
  for (const hx_ir_op_t *op = block->first; op != NULL && op != end; op = op->next) {
    if (op->info->id == HX_OP_MATERIAL_REF && is_like(op->results[0], type)) return op->results[0];
  }
  return NULL;
}

// One row of zeros with the batch of `like`: a row of it, times 0. The domain is `like`'s.
static hx_ir_value_t *zero_row(hx_shard_t *shard, hx_ir_op_t *before, const hx_type_t *type, hx_ir_value_t *like) {
  uint32_t ids[HX_PRIMES_MAX];
  const hx_named_attr_t items[] = {hx_shard_number("axis", 0), hx_shard_number("start", 0)};
  if (like->type->batch_rank > type->batch_rank)
    like = hx_shard_build(shard, before, HX_OP_RNS_SELECT_BATCH, &like, 1, items, 2, NULL);
  const hx_named_attr_t first[] = {hx_shard_number("count", 1), hx_shard_number("first", 0)};
  if (like != NULL) like = hx_shard_build(shard, before, HX_OP_RNS_SELECT_COMPONENTS, &like, 1, first, 2, NULL);
  if (like == NULL) return NULL;
  hx_primes_list(&like->type->primes, ids);
  const hx_primes_t one = hx_primes_range(ids[0], 1);
  const hx_named_attr_t rows = hx_shard_ids(shard, "ids", &one),
                        residues = hx_shard_list(shard, "residues", &(int64_t){0}, 1);
  like = hx_shard_build(shard, before, HX_OP_RNS_SELECT_LIMBS, &like, 1, &rows, 1, NULL);
  return hx_shard_build(shard, before, HX_OP_RNS_MUL_SCALAR, &like, 1, &residues, 1, NULL);
}

// The same zeros on all rows of the type, in coefficients: 0 lifts to 0.
static hx_ir_value_t *zero_with_batch(hx_shard_t *shard, hx_ir_op_t *before, const hx_type_t *type,
                                      hx_ir_value_t *like) {
  hx_ir_value_t *row = zero_row(shard, before, type, like);
  if (row != NULL && row->type->domain == HX_NTT)
    row = hx_shard_build(shard, before, HX_OP_NTT_INVERSE, &row, 1, NULL, 0, NULL);
  const hx_named_attr_t ids = hx_shard_ids(shard, "ids", &type->primes);
  return hx_shard_build(shard, before, HX_OP_RNS_CENTER_LIFT, &row, 1, &ids, 1, NULL);
}

static hx_ir_value_t *zero_constant(hx_shard_t *shard, hx_ir_op_t *before, const hx_type_t *type) {
  static const int64_t zeros[2 * HX_PRIMES_MAX];
  const hx_named_attr_t items[] = {hx_shard_ids(shard, "ids", &type->primes),
                                   hx_shard_list(shard, "residues", zeros, (size_t)2 * hx_primes_count(&type->primes))};
  return hx_shard_build(shard, before, HX_OP_CORE_CONSTANT, NULL, 0, items, 2, NULL);
}

hx_ir_value_t *hx_shard_zero(hx_shard_t *shard, hx_ir_op_t *before, const hx_type_t *type, hx_ir_value_t *like) {
  hx_ir_value_t *zero =
      type->batch_rank == 0 ? zero_constant(shard, before, type) : zero_with_batch(shard, before, type, like);
  if (zero == NULL) return NULL;
  if (zero->type->domain != type->domain) {
    const hx_op_id_t id = type->domain == HX_NTT ? HX_OP_NTT_FORWARD : HX_OP_NTT_INVERSE;
    zero = hx_shard_build(shard, before, id, &zero, 1, NULL, 0, NULL);
  }
  // The last operation gives the value its type: all components at once, or the same rows by that name.
  hx_ir_value_t *parts[HX_PRIMES_MAX];
  const uint32_t count = type->components < HX_PRIMES_MAX ? type->components : HX_PRIMES_MAX;
  for (uint32_t i = 0; i < count; ++i) parts[i] = zero;
  const hx_named_attr_t ids = hx_shard_ids(shard, "ids", &type->primes);
  return count == 1 ? hx_shard_build(shard, before, HX_OP_RNS_SELECT_LIMBS, &zero, 1, &ids, 1, type)
                    : hx_shard_build(shard, before, HX_OP_RNS_PACK_COMPONENTS, parts, count, NULL, 0, type);
}
