// SPDX-License-Identifier: Apache-2.0
// Regions as wholes: copies within a program, where values are visible, and how they flow through control flow.
#include <string.h>

#include "core/ir/internal.h"

// ------------------------------------------------------------------ maps

void hx_ir_map_init(hx_ir_map_t *map) {
  *map = (hx_ir_map_t){0};
  hx_pointers_init(&map->numbers);
}

void hx_ir_map_deinit(hx_ir_map_t *map) {
  hx_pointers_deinit(&map->numbers);
  hx_free((void *)map->values);
  map->values = NULL;
}

hx_status_t hx_ir_map_set(hx_ir_map_t *map, const hx_ir_value_t *from, hx_ir_value_t *to) {
  const uint32_t known = hx_pointers_get(&map->numbers, from);
  if (known != HX_NONE) {
    map->values[known] = to;
    return HX_STATUS_OK;
  }
  if (map->count >= HX_NONE - 1) return HX_STATUS_OUT_OF_MEMORY;
  HX_TRY(hx_grow(&map->values, &map->capacity, map->count + 1, sizeof(hx_ir_value_t *)));
  HX_TRY(hx_pointers_set(&map->numbers, from, (uint32_t)map->count));
  map->values[map->count++] = to;
  return HX_STATUS_OK;
}

hx_ir_value_t *hx_ir_map_get(const hx_ir_map_t *map, hx_ir_value_t *value) {
  const uint32_t number = hx_pointers_get(&map->numbers, value);
  return number == HX_NONE ? value : map->values[number];
}

// ------------------------------------------------------------------ copies

typedef struct copier {
  hx_program_t *program;  // where copies live
  bool foreign;           // what is copied belongs to another program: its types, names and attributes are brought over
  hx_ir_map_t *map;
} copier_t;

static hx_status_t copy_value(const copier_t *copier, const hx_ir_value_t *from, hx_ir_value_t **out) {
  hx_ir_value_t *value = hx_arena_alloc(&copier->program->arena, sizeof *value);
  if (value == NULL) return HX_STATUS_OUT_OF_MEMORY;
  *value = (hx_ir_value_t){.type = from->type, .index = from->index, .name = from->name};
  if (copier->foreign) {
    value->type = hx_program_type(copier->program, from->type);
    if (value->type == NULL) return HX_STATUS_OUT_OF_MEMORY;
    if (from->name.size > 0) value->name = hx_arena_str(&copier->program->arena, from->name);
    if (from->name.size > 0 && value->name.data == NULL) return HX_STATUS_OUT_OF_MEMORY;
  }
  *out = value;
  return hx_ir_map_set(copier->map, from, value);
}

static hx_status_t copy_range(const copier_t *copier, const hx_ir_op_t *first, const hx_ir_op_t *end,
                              hx_ir_block_t *block, hx_ir_op_t *before);

static hx_status_t copy_block(const copier_t *copier, const hx_ir_block_t *from, hx_ir_block_t *to) {
  to->arguments = hx_arena_alloc(&copier->program->arena, from->argument_count * sizeof(hx_ir_value_t *));
  if (to->arguments == NULL) return HX_STATUS_OUT_OF_MEMORY;
  for (size_t i = 0; i < from->argument_count; ++i) {
    HX_TRY(copy_value(copier, from->arguments[i], &to->arguments[i]));
    to->arguments[i]->block = to;
    to->argument_count = i + 1;
  }
  return from->first == NULL ? HX_STATUS_OK : copy_range(copier, from->first, NULL, to, NULL);
}

static hx_status_t copy_op(const copier_t *copier, const hx_ir_op_t *op, hx_ir_op_t **out) {
  hx_ir_op_t *copy;
  hx_attrs_t attrs = op->attrs;
  if (copier->foreign) HX_TRY(hx_program_attrs(copier->program, op->attrs.items, op->attrs.count, &attrs));
  HX_TRY(hx_ir_create(copier->program, op->info->id, op->operands, op->operand_count, NULL, 0, attrs, op->region_count,
                      &copy));
  copy->line = copier->foreign ? 0 : op->line;  // places are those of this program's text
  copy->column = copier->foreign ? 0 : op->column;
  for (size_t i = 0; i < copy->operand_count; ++i) copy->operands[i] = hx_ir_map_get(copier->map, op->operands[i]);
  copy->results = hx_arena_alloc(&copier->program->arena, op->result_count * sizeof(hx_ir_value_t *));
  if (copy->results == NULL) return HX_STATUS_OUT_OF_MEMORY;
  for (size_t i = 0; i < op->result_count; ++i) {
    HX_TRY(copy_value(copier, op->results[i], &copy->results[i]));
    copy->results[i]->op = copy;
    copy->result_count = i + 1;
  }
  for (size_t i = 0; i < op->region_count; ++i)
    HX_TRY(copy_block(copier, op->regions[i]->block, copy->regions[i]->block));
  *out = copy;
  return HX_STATUS_OK;
}

static hx_status_t copy_range(const copier_t *copier, const hx_ir_op_t *first, const hx_ir_op_t *end,
                              hx_ir_block_t *block, hx_ir_op_t *before) {
  if (first == end) return HX_STATUS_OK;
  // Found beforehand: copies may be put between the last one and `end`.
  const hx_ir_op_t *last = end == NULL ? first->block->last : end->previous;
  for (const hx_ir_op_t *op = first;; op = op->next) {
    hx_ir_op_t *copy;
    HX_TRY(copy_op(copier, op, &copy));
    hx_ir_insert(block, before, copy);
    if (op == last) return HX_STATUS_OK;
  }
}

hx_status_t hx_ir_copy_op(hx_program_t *program, const hx_ir_op_t *op, hx_ir_map_t *map, hx_ir_op_t **out) {
  const copier_t copier = {.program = program, .map = map};
  return copy_op(&copier, op, out);
}

hx_status_t hx_ir_copy_range(hx_program_t *program, const hx_ir_op_t *first, const hx_ir_op_t *end, hx_ir_map_t *map,
                             hx_ir_block_t *block, hx_ir_op_t *before) {
  const copier_t copier = {.program = program, .map = map};
  return copy_range(&copier, first, end, block, before);
}

hx_status_t hx_ir_import_op(hx_program_t *program, const hx_ir_op_t *op, hx_ir_map_t *map, hx_ir_op_t **out) {
  const copier_t copier = {.program = program, .foreign = true, .map = map};
  return copy_op(&copier, op, out);
}

// ------------------------------------------------------------------ uses

typedef struct exchange {
  const hx_ir_value_t *from;
  hx_ir_value_t *to;  // NULL: count only
  size_t count;
} exchange_t;

static hx_status_t exchange_in(hx_ir_op_t *op, void *argument) {
  exchange_t *exchange = argument;
  for (size_t i = 0; i < op->operand_count; ++i) {
    if (op->operands[i] != exchange->from) continue;
    exchange->count += 1;
    if (exchange->to != NULL) op->operands[i] = exchange->to;
  }
  return HX_STATUS_OK;
}

void hx_ir_replace_uses_in(hx_ir_op_t *root, hx_ir_value_t *from, hx_ir_value_t *to) {
  exchange_t exchange = {.from = from, .to = to};
  (void)hx_ir_walk(root, exchange_in, &exchange);
}

size_t hx_ir_count_uses(hx_ir_op_t *root, const hx_ir_value_t *value) {
  exchange_t exchange = {.from = value};
  (void)hx_ir_walk(root, exchange_in, &exchange);
  return exchange.count;
}

// ------------------------------------------------------------------ dominance

hx_ir_block_t *hx_ir_home(const hx_ir_value_t *value) { return value->op != NULL ? value->op->block : value->block; }

hx_ir_op_t *hx_ir_ancestor_in(const hx_ir_op_t *op, const hx_ir_block_t *block) {
  while (op != NULL && op->block != block) op = op->block == NULL ? NULL : op->block->region->op;
  return (hx_ir_op_t *)(uintptr_t)op;
}

bool hx_ir_is_inside(const hx_ir_op_t *op, const hx_ir_op_t *root) {
  while (op != NULL && op != root) op = op->block == NULL ? NULL : op->block->region->op;
  return op != NULL;
}

bool hx_ir_is_visible(const hx_ir_value_t *value, const hx_ir_op_t *op) {
  const hx_ir_block_t *home = hx_ir_home(value);
  for (const hx_ir_block_t *block = op->block; block != NULL; block = op->block) {
    if (block == home) return value->op == NULL || value->op->id < op->id;
    op = block->region->op;
    if (hx_ir_is_isolated(op->info)) return false;
  }
  return false;
}

// ------------------------------------------------------------------ control flow

typedef hx_status_t (*visit_t)(hx_ir_value_t *from, hx_ir_value_t *to, void *argument);

static hx_status_t visit_pairs(hx_ir_value_t *const *from, hx_ir_value_t *const *to, size_t count, visit_t visit,
                               void *argument) {
  for (size_t i = 0; i < count; ++i) HX_TRY(visit(from[i], to[i], argument));
  return HX_STATUS_OK;
}

static hx_status_t visit_if(const hx_ir_op_t *op, visit_t visit, void *argument) {
  for (size_t i = 0; i < op->region_count; ++i) {
    const hx_ir_op_t *last = op->regions[i]->block->last;
    if (last != NULL) HX_TRY(visit_pairs(last->operands, op->results, op->result_count, visit, argument));
  }
  return HX_STATUS_OK;
}

static hx_status_t visit_for(const hx_ir_op_t *op, visit_t visit, void *argument) {
  const hx_ir_block_t *block = op->regions[0]->block;
  const size_t count = op->result_count;
  HX_TRY(visit(op->operands[0], block->arguments[0], argument));
  HX_TRY(visit_pairs(op->operands + 3, block->arguments + 1, count, visit, argument));
  HX_TRY(visit_pairs(block->last->operands, block->arguments + 1, count, visit, argument));
  return visit_pairs(block->arguments + 1, op->results, count, visit, argument);
}

static hx_status_t visit_while(const hx_ir_op_t *op, visit_t visit, void *argument) {
  const hx_ir_block_t *before = op->regions[0]->block, *after = op->regions[1]->block;
  HX_TRY(visit_pairs(op->operands, before->arguments, op->operand_count, visit, argument));
  HX_TRY(visit_pairs(before->last->operands + 1, after->arguments, after->argument_count, visit, argument));
  HX_TRY(visit_pairs(before->last->operands + 1, op->results, op->result_count, visit, argument));
  return visit_pairs(after->last->operands, before->arguments, before->argument_count, visit, argument);
}

static hx_status_t visit_reduce(const hx_ir_op_t *op, visit_t visit, void *argument) {
  const hx_ir_block_t *block = op->regions[0]->block;
  for (size_t i = 0; i < block->argument_count; ++i) HX_TRY(visit(op->operands[1], block->arguments[i], argument));
  HX_TRY(visit(op->operands[1], op->results[0], argument));  // of one rank it is the result
  return visit_pairs(block->last->operands, op->results, op->result_count, visit, argument);
}

hx_status_t hx_ir_flows(const hx_ir_op_t *op, visit_t visit, void *argument) {
  switch (op->info->id) {
    case HX_OP_SCF_IF:
      return visit_if(op, visit, argument);
    case HX_OP_SCF_FOR:
      return visit_for(op, visit, argument);
    case HX_OP_SCF_WHILE:
      return visit_while(op, visit, argument);
    case HX_OP_DISTRIBUTED_ALL_REDUCE:
      return visit_reduce(op, visit, argument);
    default:
      return HX_STATUS_OK;
  }
}
