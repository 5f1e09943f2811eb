// SPDX-License-Identifier: Apache-2.0
// cse - merges equal pure operations: one name, equal attributes, operands and result types. The first one stays.
// In: a verified program. Keeps: order, types. An operation is visible in the regions below its own block.
#include <stdlib.h>

#include "core/ir/table.h"
#include "core/passes/passes.h"

typedef struct hx_merger {
  hx_arena_t arena;      // of keys
  hx_names_t keys;       // everything that makes two operations equal, as bytes
  hx_ir_op_t **visible;  // [keys.count] the operation of a key that is visible here, or NULL
  size_t visible_capacity;
  uint32_t *open;  // stack of keys made visible
  size_t open_count, open_capacity;
  hx_ir_value_t **stand_ins;  // by value id: what is read instead, or NULL
  hx_text_t key;
  bool changed;
} hx_merger_t;

static void put(hx_text_t *key, const void *data, size_t size) {
  hx_text_append(key, (hx_str_t){.data = data, .size = size});
}

static void put_text(hx_text_t *key, hx_str_t text) {
  put(key, &text.size, sizeof text.size);
  put(key, text.data, text.size);
}

// Types are interned, so their addresses say all.
static void put_attribute(hx_text_t *key, const hx_attribute_t *attribute) {
  put(key, &attribute->kind, sizeof attribute->kind);
  put(key, &attribute->boolean, sizeof attribute->boolean);
  put(key, &attribute->integer, sizeof attribute->integer);
  put(key, &attribute->number, sizeof attribute->number);
  put(key, &attribute->type, sizeof attribute->type);
  put_text(key, attribute->text);
  put(key, &attribute->count, sizeof attribute->count);
  put(key, &attribute->input_count, sizeof attribute->input_count);
  put(key, &attribute->result_count, sizeof attribute->result_count);
  const size_t types = attribute->input_count + attribute->result_count;
  if (types > 0) put(key, attribute->types, types * sizeof *attribute->types);
  for (size_t i = 0; i < attribute->count; ++i) {
    if (attribute->kind == HX_ATTRIBUTE_LIST) put_attribute(key, &attribute->list[i]);
    if (attribute->kind != HX_ATTRIBUTE_DICT) continue;
    put_text(key, attribute->dict[i].name);
    put_attribute(key, &attribute->dict[i].value);
  }
}

static int by_number(const void *left, const void *right) {
  const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
  return (a > b) - (a < b);
}

static hx_status_t make_key(hx_merger_t *merger, const hx_ir_op_t *op) {
  hx_text_t *key = &merger->key;
  hx_text_clear(key);
  put(key, &op->info->id, sizeof op->info->id);
  put(key, &op->operand_count, sizeof op->operand_count);
  const bool commutes = (op->info->flags & HX_OP_FLAG_COMMUTES) != 0 && op->operand_count == 2;
  uint32_t pair[2] = {0};
  for (size_t i = 0; i < op->operand_count; ++i) {
    if (commutes) {
      pair[i] = op->operands[i]->id;
    } else {
      put(key, &op->operands[i]->id, sizeof op->operands[i]->id);
    }
  }
  if (commutes) {
    qsort(pair, 2, sizeof *pair, by_number);
    put(key, pair, sizeof pair);
  }
  for (size_t i = 0; i < op->result_count; ++i) put(key, &op->results[i]->type, sizeof op->results[i]->type);
  for (size_t i = 0; i < op->attrs.count; ++i) {
    put_text(key, op->attrs.items[i].name);
    put_attribute(key, &op->attrs.items[i].value);
  }
  return key->failed ? HX_STATUS_OUT_OF_MEMORY : HX_STATUS_OK;
}

static bool is_mergeable(const hx_ir_op_t *op) {
  return op->info->effect == HX_EFFECT_PURE && op->region_count == 0 && op->result_count > 0 &&
         (op->info->flags & HX_OP_FLAG_TERMINATOR) == 0 && op->info->id != HX_OP_CALL;
}

// The equal operation that is visible here; else `op` itself, visible from now on.
static hx_status_t find_equal(hx_merger_t *merger, hx_ir_op_t *op, hx_ir_op_t **out) {
  HX_TRY(make_key(merger, op));
  hx_str_t key = {.data = merger->key.data, .size = merger->key.size};
  uint32_t id = hx_names_find(&merger->keys, key);
  if (id == HX_NONE) {
    key = hx_arena_str(&merger->arena, key);
    if (key.data == NULL) return HX_STATUS_OUT_OF_MEMORY;
    HX_TRY(hx_grow(&merger->visible, &merger->visible_capacity, merger->keys.count + 1, sizeof(hx_ir_op_t *)));
    merger->visible[merger->keys.count] = NULL;
    HX_TRY(hx_names_add(&merger->keys, key, &id));
  }
  *out = merger->visible[id] == NULL ? op : merger->visible[id];
  if (*out != op) return HX_STATUS_OK;
  HX_TRY(hx_grow(&merger->open, &merger->open_capacity, merger->open_count + 1, sizeof *merger->open));
  merger->open[merger->open_count++] = id;
  merger->visible[id] = op;
  return HX_STATUS_OK;
}

static hx_status_t merge_block(hx_merger_t *merger, const hx_ir_block_t *block) {
  const size_t mark = merger->open_count;
  for (hx_ir_op_t *op = block->first, *next; op != NULL; op = next) {
    next = op->next;
    for (size_t i = 0; i < op->operand_count; ++i) {
      hx_ir_value_t *stand_in = merger->stand_ins[op->operands[i]->id];
      if (stand_in != NULL) op->operands[i] = stand_in;
    }
    for (size_t i = 0; i < op->region_count; ++i) HX_TRY(merge_block(merger, op->regions[i]->block));
    if (!is_mergeable(op)) continue;
    hx_ir_op_t *equal;
    HX_TRY(find_equal(merger, op, &equal));
    if (equal == op) continue;
    for (size_t i = 0; i < op->result_count; ++i) merger->stand_ins[op->results[i]->id] = equal->results[i];
    hx_ir_remove(op);
    merger->changed = true;
  }
  while (merger->open_count > mark) merger->visible[merger->open[--merger->open_count]] = NULL;
  return HX_STATUS_OK;
}

hx_status_t hx_pass_cse(hx_program_t *program, hx_pass_env_t *env, bool *out_changed) {
  (void)env;
  hx_merger_t merger = {.stand_ins = hx_zalloc(hx_ir_number(program->module) + 1, sizeof(hx_ir_value_t *))};
  if (merger.stand_ins == NULL) return HX_STATUS_OUT_OF_MEMORY;
  hx_arena_init(&merger.arena);
  hx_names_init(&merger.keys);
  hx_text_init(&merger.key);
  const hx_status_t status = merge_block(&merger, program->module->regions[0]->block);
  hx_arena_deinit(&merger.arena);
  hx_names_deinit(&merger.keys);
  hx_text_deinit(&merger.key);
  hx_free(merger.visible);
  hx_free(merger.open);
  hx_free(merger.stand_ins);
  *out_changed = merger.changed;
  return status;
}
