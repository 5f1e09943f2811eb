// SPDX-License-Identifier: Apache-2.0
// Programs as objects: creation, counting of references, deep copies, functions by name.
#include "core/ir/internal.h"

// A program without a module.
static hx_status_t create_bare(const char *source, hx_program_t **out) {
  hx_program_t *program = hx_zalloc(1, sizeof *program);
  if (program == NULL) return HX_STATUS_OUT_OF_MEMORY;
  atomic_init(&program->refs, 1);
  hx_arena_init(&program->arena);
  program->source = hx_strdup(source == NULL ? "" : source);
  program->types = hx_type_table_create();
  if (program->source == NULL || program->types == NULL) {
    hx_program_release(program);
    return HX_STATUS_OUT_OF_MEMORY;
  }
  *out = program;
  return HX_STATUS_OK;
}

static hx_status_t add_module(hx_program_t *program) {
  const hx_named_attr_t version = {.name = hx_str("heliox.version"),
                                   .value = {.kind = HX_ATTRIBUTE_INTEGER, .integer = HX_IR_VERSION}};
  hx_attrs_t attrs;
  HX_TRY(hx_program_attrs(program, &version, 1, &attrs));
  return hx_ir_create(program, HX_OP_MODULE, NULL, 0, NULL, 0, attrs, 1, &program->module);
}

hx_status_t hx_program_create(const char *source, hx_program_t **out) {
  hx_program_t *program;
  HX_TRY(create_bare(source, &program));
  const hx_status_t status = add_module(program);
  if (status == HX_STATUS_OK) {
    *out = program;
  } else {
    hx_program_release(program);
  }
  return status;
}

hx_program_t *hx_program_retain(const hx_program_t *program) {
  hx_program_t *shared = (hx_program_t *)(uintptr_t)program;
  if (shared != NULL) atomic_fetch_add_explicit(&shared->refs, 1, memory_order_relaxed);
  return shared;
}

void hx_program_release(hx_program_t *program) {
  if (program == NULL || atomic_fetch_sub_explicit(&program->refs, 1, memory_order_acq_rel) != 1) return;
  hx_type_table_release(program->types);
  hx_arena_deinit(&program->arena);
  hx_free(program->source);
  hx_free(program);
}

typedef struct hx_clone {
  hx_program_t *to;
  hx_pointers_t numbers;  // old value to its place in values
  hx_ir_value_t **values;
  size_t count, capacity;
} hx_clone_t;

static hx_status_t clone_value(hx_clone_t *clone, const hx_ir_value_t *from, hx_ir_value_t *to) {
  if (clone->count >= HX_NONE) return HX_STATUS_OUT_OF_MEMORY;
  HX_TRY(hx_grow(&clone->values, &clone->capacity, clone->count + 1, sizeof(hx_ir_value_t *)));
  HX_TRY(hx_pointers_set(&clone->numbers, from, (uint32_t)clone->count));
  clone->values[clone->count++] = to;
  if (from->name.size > 0) {
    to->name = hx_arena_str(&clone->to->arena, from->name);
    if (to->name.data == NULL) return HX_STATUS_OUT_OF_MEMORY;
  }
  return HX_STATUS_OK;
}

static hx_status_t clone_block(hx_clone_t *clone, const hx_ir_block_t *from, hx_ir_block_t *to);

// Operands still point to the old values; they are mapped once all new values exist.
static hx_status_t clone_op(hx_clone_t *clone, const hx_ir_op_t *from, hx_ir_op_t **out) {
  hx_attrs_t attrs;
  HX_TRY(hx_program_attrs(clone->to, from->attrs.items, from->attrs.count, &attrs));
  hx_ir_op_t *op;
  HX_TRY(hx_ir_create(clone->to, from->info->id, from->operands, from->operand_count, NULL, 0, attrs,
                      from->region_count, &op));
  op->line = from->line;
  op->column = from->column;
  op->results = hx_arena_alloc(&clone->to->arena, from->result_count * sizeof(hx_ir_value_t *));
  if (op->results == NULL) return HX_STATUS_OUT_OF_MEMORY;
  for (size_t i = 0; i < from->result_count; ++i) {
    hx_ir_value_t *value = hx_arena_alloc(&clone->to->arena, sizeof *value);
    if (value == NULL) return HX_STATUS_OUT_OF_MEMORY;
    *value =
        (hx_ir_value_t){.op = op, .index = (uint32_t)i, .type = hx_program_type(clone->to, from->results[i]->type)};
    if (value->type == NULL) return HX_STATUS_OUT_OF_MEMORY;
    HX_TRY(clone_value(clone, from->results[i], value));
    op->results[op->result_count++] = value;
  }
  for (size_t i = 0; i < from->region_count; ++i)
    HX_TRY(clone_block(clone, from->regions[i]->block, op->regions[i]->block));
  *out = op;
  return HX_STATUS_OK;
}

static hx_status_t clone_block(hx_clone_t *clone, const hx_ir_block_t *from, hx_ir_block_t *to) {
  to->arguments = hx_arena_alloc(&clone->to->arena, from->argument_count * sizeof(hx_ir_value_t *));
  if (to->arguments == NULL) return HX_STATUS_OUT_OF_MEMORY;
  for (size_t i = 0; i < from->argument_count; ++i) {
    hx_ir_value_t *value = hx_arena_alloc(&clone->to->arena, sizeof *value);
    if (value == NULL) return HX_STATUS_OUT_OF_MEMORY;
    *value = (hx_ir_value_t){
        .block = to, .index = (uint32_t)i, .type = hx_program_type(clone->to, from->arguments[i]->type)};
    if (value->type == NULL) return HX_STATUS_OUT_OF_MEMORY;
    HX_TRY(clone_value(clone, from->arguments[i], value));
    to->arguments[to->argument_count++] = value;
  }
  for (const hx_ir_op_t *op = from->first; op != NULL; op = op->next) {
    hx_ir_op_t *copy;
    HX_TRY(clone_op(clone, op, &copy));
    hx_ir_insert(to, NULL, copy);
  }
  return HX_STATUS_OK;
}

static hx_status_t map_operands(hx_ir_op_t *op, void *argument) {
  const hx_clone_t *clone = argument;
  for (size_t i = 0; i < op->operand_count; ++i) {
    const uint32_t number = hx_pointers_get(&clone->numbers, op->operands[i]);
    if (number == HX_NONE) return HX_STATUS_INVALID;
    op->operands[i] = clone->values[number];
  }
  return HX_STATUS_OK;
}

hx_status_t hx_program_clone(const hx_program_t *program, hx_program_t **out) {
  hx_program_t *to;
  HX_TRY(create_bare(program->source, &to));
  hx_clone_t clone = {.to = to};
  hx_pointers_init(&clone.numbers);
  hx_status_t status = clone_op(&clone, program->module, &to->module);
  if (status == HX_STATUS_OK) status = hx_ir_walk(to->module, map_operands, &clone);
  if (status == HX_STATUS_OK) status = hx_program_refresh(to, NULL);
  hx_pointers_deinit(&clone.numbers);
  hx_free(clone.values);
  if (status == HX_STATUS_OK) {
    *out = to;
  } else {
    hx_program_release(to);
  }
  return status;
}

hx_ir_op_t *hx_program_find(const hx_program_t *program, const char *name) {
  if (program->module->region_count == 0) return NULL;
  for (hx_ir_op_t *op = program->module->regions[0]->block->first; op != NULL; op = op->next) {
    hx_str_t found;
    if (op->info->id == HX_OP_FUNC && hx_attrs_get_text(op->attrs, "sym_name", &found) &&
        hx_str_equal(found, hx_str(name)))
      return op;
  }
  return NULL;
}

hx_ir_block_t *hx_func_block(const hx_ir_op_t *func) { return func->regions[0]->block; }

hx_ir_op_t *hx_func_return(const hx_ir_op_t *func) { return hx_func_block(func)->last; }

hx_status_t hx_func_refresh_type(hx_program_t *program, hx_ir_op_t *func) {
  const hx_ir_block_t *block = hx_func_block(func);
  const hx_ir_op_t *last = block->last;
  const hx_attribute_t *written = hx_attrs_find(func->attrs, "function_type");
  const size_t count = block->argument_count + last->operand_count;
  const hx_type_t **types = hx_arena_alloc(&program->arena, count * sizeof *types);
  if (types == NULL) return HX_STATUS_OUT_OF_MEMORY;
  bool changed = written->input_count != block->argument_count || written->result_count != last->operand_count;
  for (size_t i = 0; i < count; ++i) {
    types[i] = i < block->argument_count ? block->arguments[i]->type : last->operands[i - block->argument_count]->type;
    changed = changed || types[i] != written->types[i];
  }
  if (!changed) return HX_STATUS_OK;
  const hx_attribute_t type = {.kind = HX_ATTRIBUTE_TYPE,
                               .types = types,
                               .input_count = block->argument_count,
                               .result_count = last->operand_count};
  return hx_ir_set_attr(program, func, "function_type", &type);
}
