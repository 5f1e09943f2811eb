// SPDX-License-Identifier: Apache-2.0
// Making and editing operations, and walking over them.
#include <string.h>

#include "core/ir/internal.h"

bool hx_ir_is_isolated(const hx_op_info_t *info) {
  return info->id == HX_OP_MODULE || info->id == HX_OP_FUNC || info->id == HX_OP_DISTRIBUTED_ALL_REDUCE;
}

hx_status_t hx_ir_create_region(hx_program_t *program, hx_ir_op_t *op, hx_ir_region_t **out) {
  hx_ir_region_t *region = hx_arena_alloc(&program->arena, sizeof *region);
  hx_ir_block_t *block = hx_arena_alloc(&program->arena, sizeof *block);
  if (region == NULL || block == NULL) return HX_STATUS_OUT_OF_MEMORY;
  *region = (hx_ir_region_t){.op = op, .block = block};
  block->region = region;
  *out = region;
  return HX_STATUS_OK;
}

static hx_status_t add_results(hx_program_t *program, hx_ir_op_t *op, const hx_type_t *types, size_t count) {
  op->results = hx_arena_alloc(&program->arena, count * sizeof(hx_ir_value_t *));
  hx_ir_value_t *values = hx_arena_alloc(&program->arena, count * sizeof *values);
  if (op->results == NULL || values == NULL) return HX_STATUS_OUT_OF_MEMORY;
  for (size_t i = 0; i < count; ++i) {
    values[i] = (hx_ir_value_t){.op = op, .index = (uint32_t)i, .type = hx_program_type(program, &types[i])};
    if (values[i].type == NULL) return HX_STATUS_OUT_OF_MEMORY;
    op->results[i] = &values[i];
  }
  op->result_count = count;
  return HX_STATUS_OK;
}

hx_status_t hx_ir_create(hx_program_t *program, hx_op_id_t id, hx_ir_value_t *const *operands, size_t operand_count,
                         const hx_type_t *result_types, size_t result_count, hx_attrs_t attrs, size_t region_count,
                         hx_ir_op_t **out) {
  hx_ir_op_t *op = hx_arena_alloc(&program->arena, sizeof *op);
  if (op == NULL) return HX_STATUS_OUT_OF_MEMORY;
  op->info = hx_op_info(id);
  op->attrs = attrs;
  HX_TRY(hx_ir_set_operands(program, op, operands, operand_count));
  HX_TRY(add_results(program, op, result_types, result_count));
  op->regions = hx_arena_alloc(&program->arena, region_count * sizeof(hx_ir_region_t *));
  if (op->regions == NULL) return HX_STATUS_OUT_OF_MEMORY;
  for (; op->region_count < region_count; ++op->region_count)
    HX_TRY(hx_ir_create_region(program, op, &op->regions[op->region_count]));
  *out = op;
  return HX_STATUS_OK;
}

hx_status_t hx_ir_build(hx_program_t *program, hx_ir_block_t *block, hx_ir_op_t *before, hx_op_id_t id,
                        hx_ir_value_t *const *operands, size_t operand_count, hx_attrs_t attrs, size_t result_count,
                        const hx_ring *ring, hx_report_t *report, hx_ir_op_t **out) {
  hx_type_t *results = hx_zalloc(result_count + 1, sizeof *results);
  const hx_type_t **types = hx_zalloc(operand_count + 1, sizeof *types);
  hx_status_t status = results == NULL || types == NULL ? HX_STATUS_OUT_OF_MEMORY : HX_STATUS_OK;
  if (status == HX_STATUS_OK) {
    for (size_t i = 0; i < operand_count; ++i) types[i] = operands[i]->type;
    hx_infer_t call = {.op = hx_op_info(id),
                       .attrs = attrs,
                       .operands = types,
                       .operand_count = operand_count,
                       .ring = ring,
                       .results = results,
                       .result_count = result_count,
                       .report = report,
                       .source = program->source};
    status = hx_op_infer(&call);
  }
  hx_ir_op_t *op = NULL;
  if (status == HX_STATUS_OK)
    status = hx_ir_create(program, id, operands, operand_count, results, result_count, attrs, 0, &op);
  if (status == HX_STATUS_OK) {
    hx_ir_insert(block, before, op);
    *out = op;
  }
  hx_free(results);
  hx_free(types);
  return status;
}

void hx_ir_insert(hx_ir_block_t *block, hx_ir_op_t *before, hx_ir_op_t *op) {
  op->block = block;
  op->next = before;
  op->previous = before == NULL ? block->last : before->previous;
  *(op->previous == NULL ? &block->first : &op->previous->next) = op;
  *(before == NULL ? &block->last : &before->previous) = op;
}

void hx_ir_remove(hx_ir_op_t *op) {
  *(op->previous == NULL ? &op->block->first : &op->previous->next) = op->next;
  *(op->next == NULL ? &op->block->last : &op->next->previous) = op->previous;
  op->previous = op->next = NULL;
  op->block = NULL;
}

hx_status_t hx_ir_add_argument(hx_program_t *program, hx_ir_block_t *block, const hx_type_t *type,
                               hx_ir_value_t **out) {
  const size_t count = block->argument_count + 1;
  hx_ir_value_t **arguments = hx_arena_alloc(&program->arena, count * sizeof(hx_ir_value_t *));
  hx_ir_value_t *value = hx_arena_alloc(&program->arena, sizeof *value);
  const hx_type_t *interned = hx_program_type(program, type);
  if (arguments == NULL || value == NULL || interned == NULL) return HX_STATUS_OUT_OF_MEMORY;
  if (count > 1) memcpy(arguments, block->arguments, (count - 1) * sizeof(hx_ir_value_t *));
  *value = (hx_ir_value_t){.type = interned, .block = block, .index = (uint32_t)(count - 1)};
  arguments[count - 1] = value;
  block->arguments = arguments;
  block->argument_count = count;
  *out = value;
  return HX_STATUS_OK;
}

hx_status_t hx_ir_set_operands(hx_program_t *program, hx_ir_op_t *op, hx_ir_value_t *const *operands, size_t count) {
  hx_ir_value_t **copy = hx_arena_alloc(&program->arena, count * sizeof(hx_ir_value_t *));
  if (copy == NULL) return HX_STATUS_OUT_OF_MEMORY;
  if (count > 0) memcpy(copy, operands, count * sizeof(hx_ir_value_t *));
  op->operands = copy;
  op->operand_count = count;
  return HX_STATUS_OK;
}

hx_status_t hx_ir_set_attr(hx_program_t *program, hx_ir_op_t *op, const char *name, const hx_attribute_t *value) {
  hx_named_attr_t *items = hx_zalloc(op->attrs.count + 1, sizeof *items);
  if (items == NULL) return HX_STATUS_OUT_OF_MEMORY;
  size_t count = 0;
  for (size_t i = 0; i < op->attrs.count; ++i) {
    if (!hx_str_equal(op->attrs.items[i].name, hx_str(name))) items[count++] = op->attrs.items[i];
  }
  items[count++] = (hx_named_attr_t){.name = hx_str(name), .value = *value};
  hx_attrs_t attrs;
  const hx_status_t status = hx_program_attrs(program, items, count, &attrs);
  if (status == HX_STATUS_OK) op->attrs = attrs;
  hx_free(items);
  return status;
}

void hx_ir_set_type(hx_program_t *program, hx_ir_value_t *value, const hx_type_t *interned) {
  (void)program;
  value->type = interned;
}

typedef struct hx_replacement {
  hx_ir_value_t *from, *to;
} hx_replacement_t;

static hx_status_t replace_in(hx_ir_op_t *op, void *argument) {
  const hx_replacement_t *replacement = argument;
  for (size_t i = 0; i < op->operand_count; ++i) {
    if (op->operands[i] == replacement->from) op->operands[i] = replacement->to;
  }
  return HX_STATUS_OK;
}

void hx_ir_replace_uses(hx_program_t *program, hx_ir_value_t *from, hx_ir_value_t *to) {
  hx_replacement_t replacement = {.from = from, .to = to};
  (void)hx_ir_walk(program->module, replace_in, &replacement);
}

hx_status_t hx_ir_walk(hx_ir_op_t *root, hx_status_t (*visit)(hx_ir_op_t *op, void *argument), void *argument) {
  const hx_ir_block_t *block = root->block;
  HX_TRY(visit(root, argument));
  if (block != NULL && root->block == NULL) return HX_STATUS_OK;  // removed by the callback
  for (size_t i = 0; i < root->region_count; ++i) {
    for (hx_ir_op_t *op = root->regions[i]->block->first, *next; op != NULL; op = next) {
      next = op->next;
      HX_TRY(hx_ir_walk(op, visit, argument));
    }
  }
  return HX_STATUS_OK;
}

static hx_status_t count_op(hx_ir_op_t *op, void *argument) {
  (void)op;
  ++*(size_t *)argument;
  return HX_STATUS_OK;
}

size_t hx_ir_count(const hx_ir_op_t *root) {
  size_t count = 0;
  (void)hx_ir_walk((hx_ir_op_t *)(uintptr_t)root, count_op, &count);  // it changes nothing
  return count;
}

hx_status_t hx_ir_walk_post(hx_ir_op_t *root, hx_status_t (*visit)(hx_ir_op_t *op, void *argument), void *argument) {
  for (size_t i = 0; i < root->region_count; ++i) {
    for (hx_ir_op_t *op = root->regions[i]->block->first, *next; op != NULL; op = next) {
      next = op->next;
      HX_TRY(hx_ir_walk_post(op, visit, argument));
    }
  }
  return visit(root, argument);
}

static hx_status_t number_values(hx_ir_op_t *op, void *argument) {
  size_t *count = argument;
  for (size_t i = 0; i < op->result_count; ++i) op->results[i]->id = (uint32_t)(*count)++;
  for (size_t i = 0; i < op->region_count; ++i) {
    const hx_ir_block_t *block = op->regions[i]->block;
    for (size_t j = 0; j < block->argument_count; ++j) block->arguments[j]->id = (uint32_t)(*count)++;
  }
  return HX_STATUS_OK;
}

size_t hx_ir_number(hx_ir_op_t *root) {
  size_t count = 0;
  (void)hx_ir_walk(root, number_values, &count);
  return count;
}

static hx_status_t number_op(hx_ir_op_t *op, void *argument) {
  size_t *count = argument;
  op->id = (uint32_t)(*count)++;  // below HX_IR_OPS_MAX
  return HX_STATUS_OK;
}

size_t hx_ir_number_ops(hx_ir_op_t *root) {
  size_t count = 0;
  (void)hx_ir_walk(root, number_op, &count);
  return count;
}
