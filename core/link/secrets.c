// SPDX-License-Identifier: Apache-2.0
// Whose each value is, in a program that switches between secrets: ciphertexts that meet in one operation belong to one
// secret, ckks.key_switch leads from one to another. Classes are joined over @main before anything is lowered; of
// inputs and outputs they are kept, so that a run checks and passes on the right key ids.
#include <stdio.h>
#include <string.h>

#include "core/link/executable.h"
#include "core/passes/keys.h"

typedef struct classes {
  hx_linker_t *linker;
  uint32_t *parent;           // by value id
  hx_secret_class_t *secret;  // of a class, at its root
  hx_key_needs_t needs;
} classes_t;

const hx_switch_t *hx_link_find_switch(const hx_linker_t *linker, hx_str_t symbol) {
  for (size_t i = 0; i < linker->source->switch_count; ++i) {
    if (hx_str_equal(hx_str(linker->source->switches[i].symbol), symbol)) return linker->source->switches[i].key;
  }
  return NULL;
}

static uint32_t find(const classes_t *classes, uint32_t id) {
  while (classes->parent[id] != id) id = classes->parent[id] = classes->parent[classes->parent[id]];
  return id;
}

static void fail_ids(const classes_t *classes, const hx_ir_op_t *op, const hx_secret_class_t *a,
                     const hx_secret_class_t *b) {
  char ids[2][33];
  for (size_t i = 0; i < 16; ++i) {
    snprintf(ids[0] + 2 * i, 3, "%02x", a->id[i]);
    snprintf(ids[1] + 2 * i, 3, "%02x", b->id[i]);
  }
  hx_link_fail(classes->linker, op, HX_CODE_KEY_ID,
               "its operands belong to two secrets: key id %s by %s, %s by %s; switch one to the other's first", ids[0],
               a->owner, ids[1], b->owner);
}

// The value's class is of a known secret.
static void know(classes_t *classes, const hx_ir_op_t *op, const hx_ir_value_t *value, const uint8_t id[16],
                 const char *owner) {
  hx_secret_class_t said = {.is_known = true, .owner = owner};
  memcpy(said.id, id, sizeof said.id);
  hx_secret_class_t *secret = &classes->secret[find(classes, value->id)];
  if (!secret->is_known) {
    *secret = said;
  } else if (memcmp(secret->id, id, sizeof secret->id) != 0) {
    fail_ids(classes, op, secret, &said);
  }
}

static void join(classes_t *classes, const hx_ir_op_t *op, const hx_ir_value_t *a, const hx_ir_value_t *b) {
  const uint32_t to = find(classes, a->id), from = find(classes, b->id);
  if (to == from) return;
  hx_secret_class_t *kept = &classes->secret[to], *other = &classes->secret[from];
  if (kept->is_known && other->is_known && memcmp(kept->id, other->id, sizeof kept->id) != 0)
    fail_ids(classes, op, kept, other);
  if (!kept->is_known) *kept = *other;
  classes->parent[from] = to;
}

static bool is_ciphertext(const hx_ir_value_t *value) { return value->type->kind == HX_TYPE_CIPHERTEXT; }

// ------------------------------------------------------------------ operations

static void visit_switch(classes_t *classes, const hx_ir_op_t *op) {
  const hx_ir_op_t *reference = op->operands[1]->op;
  const hx_attribute_t *symbol = reference == NULL ? NULL : hx_attrs_find(reference->attrs, "symbol");
  const hx_switch_t *key = symbol == NULL ? NULL : hx_link_find_switch(classes->linker, symbol->text);
  if (key == NULL) return;  // told where the key is referred to
  know(classes, op, op->operands[0], key->from_id, "the switching key");
  know(classes, op, op->results[0], key->id, "the switching key");
}

static void visit_material(classes_t *classes, const hx_ir_op_t *op) {
  const hx_attribute_t *symbol = hx_attrs_find(op->attrs, "symbol");
  const hx_link_source_t *source = classes->linker->source;
  for (size_t i = 0; symbol != NULL && i < source->binding_count; ++i) {
    if (hx_str_equal(hx_str(source->bindings[i].symbol), symbol->text))
      know(classes, op, op->results[0], source->bindings[i].value->key_id, "a material");
  }
}

// What flows from one value into another is of one secret.
static hx_status_t join_flow(hx_ir_value_t *from, hx_ir_value_t *to, void *argument) {
  classes_t *classes = argument;
  if (is_ciphertext(from)) join(classes, to->op == NULL ? from->op : to->op, from, to);
  return HX_STATUS_OK;
}

static hx_status_t visit(hx_ir_op_t *op, void *argument) {
  classes_t *classes = argument;
  if (op->region_count > 0) return op->info->id == HX_OP_FUNC ? HX_STATUS_OK : hx_ir_flows(op, join_flow, classes);
  if ((op->info->flags & HX_OP_FLAG_TERMINATOR) != 0) return HX_STATUS_OK;  // it joins nothing by itself
  if (op->info->id == HX_OP_CKKS_KEY_SWITCH) {
    visit_switch(classes, op);
    return HX_STATUS_OK;
  }
  const hx_ir_value_t *first = NULL;
  for (size_t i = 0; i < op->operand_count + op->result_count; ++i) {
    const hx_ir_value_t *value = i < op->operand_count ? op->operands[i] : op->results[i - op->operand_count];
    if (!is_ciphertext(value)) continue;
    if (first != NULL) join(classes, op, first, value);
    if (first == NULL) first = value;
  }
  if (first == NULL) return HX_STATUS_OK;
  if (op->info->id == HX_OP_MATERIAL_REF) visit_material(classes, op);
  const hx_keys_t *keys = classes->linker->source->keys;
  if (keys == NULL) return HX_STATUS_OK;
  classes->needs.count = 0;
  const hx_status_t status =
      hx_op_key_needs(classes->linker->exe->program, op, classes->linker->ring, &classes->needs, NULL);
  if (status == HX_STATUS_OUT_OF_MEMORY) return status;  // any other fault is told by resolve-keys
  if (status == HX_STATUS_OK && classes->needs.count > 0) know(classes, op, first, keys->id, "the bound key set");
  return HX_STATUS_OK;
}

// ------------------------------------------------------------------ ports

static hx_status_t keep(const classes_t *classes, const hx_ir_block_t *block, const hx_ir_op_t *ending, size_t count) {
  hx_executable_t *exe = classes->linker->exe;
  exe->secrets = hx_zalloc(count, sizeof *exe->secrets);
  exe->input_secrets = hx_zalloc(block->argument_count, sizeof *exe->input_secrets);
  exe->output_secrets = hx_zalloc(ending->operand_count, sizeof *exe->output_secrets);
  if (exe->secrets == NULL || exe->input_secrets == NULL || exe->output_secrets == NULL) return HX_STATUS_OUT_OF_MEMORY;
  exe->secret_count = count;
  for (size_t i = 0; i < count; ++i) exe->secrets[i] = classes->secret[i];
  for (size_t i = 0; i < block->argument_count; ++i) exe->input_secrets[i] = find(classes, block->arguments[i]->id);
  for (size_t i = 0; i < ending->operand_count; ++i) exe->output_secrets[i] = find(classes, ending->operands[i]->id);
  return HX_STATUS_OK;
}

static hx_status_t look_for_switch(hx_ir_op_t *op, void *argument) {
  if (op->info->id == HX_OP_CKKS_KEY_SWITCH) *(bool *)argument = true;
  return HX_STATUS_OK;
}

hx_status_t hx_link_secrets(hx_linker_t *linker) {
  hx_ir_op_t *func = hx_program_find(linker->exe->program, "main");
  bool switches = false;
  if (func == NULL) return HX_STATUS_OK;  // told when it is linked
  HX_TRY(hx_ir_walk(func, look_for_switch, &switches));
  if (!switches) return HX_STATUS_OK;
  const hx_ir_block_t *block = hx_func_block(func);
  const size_t count = hx_ir_number(func);
  classes_t classes = {.linker = linker,
                       .parent = hx_zalloc(count, sizeof *classes.parent),
                       .secret = hx_zalloc(count, sizeof *classes.secret)};
  hx_status_t status = classes.parent == NULL || classes.secret == NULL ? HX_STATUS_OUT_OF_MEMORY : HX_STATUS_OK;
  for (size_t i = 0; status == HX_STATUS_OK && i < count; ++i) classes.parent[i] = (uint32_t)i;
  if (status == HX_STATUS_OK) status = hx_ir_walk(func, visit, &classes);
  if (status == HX_STATUS_OK) status = keep(&classes, block, hx_func_return(func), count);
  hx_free(classes.parent);
  hx_free(classes.secret);
  hx_free(classes.needs.items);
  return status;
}
