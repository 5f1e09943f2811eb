// SPDX-License-Identifier: Apache-2.0
// resolve-keys - gives every operation that needs keys its key operands: references to @relin, @conj and
// @galois_<element>, one a symbol and function, at the top of the function in order of first use.
// In: a verified program, state inferred where it rotates. Keeps: keys that an operation has already.
#include "core/ir/table.h"
#include "core/passes/keys.h"

typedef struct hx_resolver {
  hx_program_t *program;
  const hx_ring *ring;
  hx_report_t *report;
  hx_status_t first;       // status of the first fault; the others are told too
  hx_ir_block_t *block;    // of the function
  hx_ir_op_t *anchor;      // references stand before it
  hx_names_t symbols;      // of references of this function
  hx_ir_value_t **values;  // [symbols.count]
  size_t value_capacity;
  hx_key_needs_t needs;
  bool changed;
} hx_resolver_t;

static hx_status_t keep_reference(hx_resolver_t *resolver, hx_str_t symbol, hx_ir_value_t *value) {
  uint32_t id;
  HX_TRY(hx_grow(&resolver->values, &resolver->value_capacity, resolver->symbols.count + 1, sizeof(hx_ir_value_t *)));
  HX_TRY(hx_names_add(&resolver->symbols, symbol, &id));
  resolver->values[id] = value;
  return HX_STATUS_OK;
}

// References that the function has already are used, and go to the top, before every use.
static hx_status_t gather_references(hx_resolver_t *resolver) {
  resolver->anchor = resolver->block->first;
  for (hx_ir_op_t *op = resolver->block->first, *next; op != NULL; op = next) {
    next = op->next;
    const hx_attribute_t *symbol = op->info->id == HX_OP_MATERIAL_REF ? hx_attrs_find(op->attrs, "symbol") : NULL;
    if (symbol == NULL || op->results[0]->type->kind != HX_TYPE_KEY) continue;
    if (hx_names_find(&resolver->symbols, symbol->text) != HX_NONE) continue;
    HX_TRY(keep_reference(resolver, symbol->text, op->results[0]));
    if (op == resolver->anchor) {
      resolver->anchor = next;
      continue;
    }
    hx_ir_remove(op);
    hx_ir_insert(resolver->block, resolver->anchor, op);
    resolver->changed = true;
  }
  return HX_STATUS_OK;
}

static hx_status_t reference(hx_resolver_t *resolver, const hx_key_need_t *need, hx_ir_value_t **out) {
  char symbol[HX_NAME_MAX];
  hx_key_need_symbol(need, symbol);
  const uint32_t id = hx_names_find(&resolver->symbols, hx_str(symbol));
  if (id != HX_NONE) {
    *out = resolver->values[id];
    return HX_STATUS_OK;
  }
  const hx_named_attr_t item = {.name = hx_str("symbol"),
                                .value = {.kind = HX_ATTRIBUTE_SYMBOL, .text = hx_str(symbol)}};
  hx_attrs_t attrs;
  hx_type_t type;
  hx_ir_op_t *op;
  hx_key_need_type(need, &type);
  HX_TRY(hx_program_attrs(resolver->program, &item, 1, &attrs));
  HX_TRY(hx_ir_create(resolver->program, HX_OP_MATERIAL_REF, NULL, 0, &type, 1, attrs, 0, &op));
  op->results[0]->name = attrs.items[0].value.text;
  hx_ir_insert(resolver->block, resolver->anchor, op);
  resolver->changed = true;
  *out = op->results[0];
  return keep_reference(resolver, op->results[0]->name, *out);
}

static hx_status_t add_keys(hx_resolver_t *resolver, hx_ir_op_t *op) {
  const size_t count = op->operand_count + resolver->needs.count;
  hx_ir_value_t **operands = hx_zalloc(count + 1, sizeof(hx_ir_value_t *));
  if (operands == NULL) return HX_STATUS_OUT_OF_MEMORY;
  for (size_t i = 0; i < op->operand_count; ++i) operands[i] = op->operands[i];
  hx_status_t status = HX_STATUS_OK;
  for (size_t i = 0; i < resolver->needs.count && status == HX_STATUS_OK; ++i)
    status = reference(resolver, &resolver->needs.items[i], &operands[op->operand_count + i]);
  if (status == HX_STATUS_OK) status = hx_ir_set_operands(resolver->program, op, operands, count);
  hx_free(operands);
  resolver->changed = true;
  return status;
}

static hx_status_t resolve_op(hx_ir_op_t *op, void *argument) {
  hx_resolver_t *resolver = argument;
  resolver->needs.count = 0;
  const hx_status_t status = hx_op_key_needs(resolver->program, op, resolver->ring, &resolver->needs, resolver->report);
  if (status == HX_STATUS_OUT_OF_MEMORY) return status;
  if (status != HX_STATUS_OK) {
    if (resolver->first == HX_STATUS_OK) resolver->first = status;
    return HX_STATUS_OK;
  }
  const bool has_keys = hx_op_first_key(op) < op->operand_count;
  return resolver->needs.count == 0 || has_keys ? HX_STATUS_OK : add_keys(resolver, op);
}

static hx_status_t resolve_function(hx_resolver_t *resolver, hx_ir_op_t *func) {
  resolver->block = hx_func_block(func);
  hx_names_init(&resolver->symbols);
  hx_status_t status = gather_references(resolver);
  if (status == HX_STATUS_OK) status = hx_ir_walk(func, resolve_op, resolver);
  hx_names_deinit(&resolver->symbols);
  return status;
}

hx_status_t hx_pass_resolve_keys(hx_program_t *program, hx_pass_env_t *env, bool *out_changed) {
  hx_resolver_t resolver = {.program = program, .ring = env->ring, .report = env->report};
  hx_status_t status = HX_STATUS_OK;
  for (hx_ir_op_t *op = program->module->regions[0]->block->first; op != NULL && status == HX_STATUS_OK;
       op = op->next) {
    if (op->info->id == HX_OP_FUNC) status = resolve_function(&resolver, op);
  }
  hx_free(resolver.values);
  hx_free(resolver.needs.items);
  *out_changed = resolver.changed;
  return status == HX_STATUS_OK ? resolver.first : status;
}
