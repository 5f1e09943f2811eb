// SPDX-License-Identifier: Apache-2.0
// The module's attributes, names of functions, and calls between them.
#include "core/ir/verify.h"

static void check_version(hx_verifier_t *verifier, const hx_ir_op_t *module) {
  const hx_attribute_t *version = hx_attrs_find(module->attrs, "heliox.version");
  if (version == NULL) {
    hx_verify_fault(verifier, module, HX_CODE_ATTRIBUTE, "heliox.version is missing; write {heliox.version = %d : i64}",
                    HX_IR_VERSION);
  } else if (version->kind != HX_ATTRIBUTE_INTEGER || version->type != NULL) {
    hx_verify_fault(verifier, module, HX_CODE_ATTRIBUTE, "heliox.version has to be an i64");
  } else if (version->integer != HX_IR_VERSION) {
    hx_verify_fault(verifier, module, HX_CODE_FILE_VERSION, "heliox.version is %lld; this build reads %d",
                    (long long)version->integer, HX_IR_VERSION);
  }
  const hx_attribute_t *params = hx_attrs_find(module->attrs, "heliox.params");
  if (params != NULL && (params->kind != HX_ATTRIBUTE_TEXT || params->text.size == 0))
    hx_verify_fault(verifier, module, HX_CODE_ATTRIBUTE,
                    "heliox.params has to be the name or digest of parameters, in quotes");
}

static void add_function(hx_verifier_t *verifier, const hx_ir_op_t *op) {
  hx_str_t name;
  if (!hx_attrs_get_text(op->attrs, "sym_name", &name)) return;  // told by the row
  const size_t known = verifier->functions.count;
  uint32_t id = 0;
  // Room first, so that every name has its function even where memory runs out.
  hx_status_t status = hx_grow(&verifier->function_ops, &verifier->function_capacity, known + 1, sizeof(hx_ir_op_t *));
  if (status == HX_STATUS_OK) status = hx_names_add(&verifier->functions, name, &id);
  hx_verify_check(verifier, status);
  if (status != HX_STATUS_OK) return;
  if (verifier->functions.count == known) {
    const hx_ir_op_t *earlier = verifier->function_ops[id];
    hx_verify_fault(verifier, op, HX_CODE_SYMBOL_NAME, "function @%.*s is defined twice, first at %u:%u",
                    (int)(name.size < 100 ? name.size : 100), name.data, earlier->line, earlier->column);
  } else {
    verifier->function_ops[id] = op;
  }
}

void hx_verify_module(hx_verifier_t *verifier) {
  const hx_ir_op_t *module = verifier->program->module;
  check_version(verifier, module);
  if (module->region_count == 0) return;  // told by its shape
  const hx_ir_block_t *block = module->regions[0]->block;
  if (block->argument_count > 0) hx_verify_fault(verifier, module, HX_CODE_OPERANDS, "its region takes no arguments");
  for (const hx_ir_op_t *op = block->first; op != NULL; op = op->next) {
    if (op->info->id == HX_OP_FUNC) add_function(verifier, op);
  }
  if (hx_names_find(&verifier->functions, hx_str("main")) == HX_NONE)
    hx_verify_fault(verifier, module, HX_CODE_SYMBOL_NAME, "there is no function @main, where a run begins");
}

static uint32_t target_of(const hx_verifier_t *verifier, const hx_ir_op_t *call, hx_str_t *out_name) {
  const hx_attribute_t *callee = hx_attrs_find(call->attrs, "callee");
  if (callee == NULL || callee->kind != HX_ATTRIBUTE_SYMBOL) return HX_NONE;
  *out_name = callee->text;
  return hx_names_find(&verifier->functions, callee->text);
}

static void check_call_types(hx_verifier_t *verifier, const hx_ir_op_t *op, const char *what,
                             hx_ir_value_t *const *values, size_t count, const hx_type_t *const *types,
                             size_t type_count) {
  if (count != type_count) {
    hx_verify_fault(verifier, op, HX_CODE_OPERANDS, "%s count is %zu, but the function has %zu", what, count,
                    type_count);
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    const char *part;
    if (hx_ir_types_agree(values[i]->type, types[i], &part)) continue;
    hx_text_t a, b;
    hx_text_init(&a);
    hx_text_init(&b);
    hx_verify_fault(verifier, op, HX_CODE_TYPE, "%s %zu has type %s, but the function has %s: they differ in %s", what,
                    i, hx_ir_type_text(values[i]->type, &a), hx_ir_type_text(types[i], &b), part);
    hx_text_deinit(&a);
    hx_text_deinit(&b);
  }
}

void hx_verify_call(hx_verifier_t *verifier, const hx_ir_op_t *op) {
  hx_str_t name = {0};
  const uint32_t target = target_of(verifier, op, &name);
  if (target == HX_NONE) {
    if (name.size > 0)
      hx_verify_fault(verifier, op, HX_CODE_SYMBOL_NAME, "there is no function @%.*s",
                      (int)(name.size < 100 ? name.size : 100), name.data);
    return;
  }
  const hx_attribute_t *type = hx_attrs_find(verifier->function_ops[target]->attrs, "function_type");
  if (type == NULL || type->kind != HX_ATTRIBUTE_TYPE || type->type != NULL) return;  // told at the function
  check_call_types(verifier, op, "operand", op->operands, op->operand_count, type->types, type->input_count);
  check_call_types(verifier, op, "result", op->results, op->result_count, type->types + type->input_count,
                   type->result_count);
}

enum { NEW = 0, ACTIVE = 255 };  // states of a function; between them: how many calls nest below it, itself included

typedef struct hx_call_search {
  hx_verifier_t *verifier;
  unsigned char *states;  // [functions]
  uint32_t depth;         // calls that are being followed
  unsigned char tallest;  // state of the tallest function called so far by the one being visited
} hx_call_search_t;

static hx_status_t visit_call(hx_ir_op_t *op, void *argument);

static hx_status_t visit_function(hx_call_search_t *search, uint32_t function) {
  const unsigned char before = search->tallest;
  search->states[function] = ACTIVE;
  search->tallest = 0;
  ++search->depth;
  HX_TRY(hx_ir_walk((hx_ir_op_t *)(uintptr_t)search->verifier->function_ops[function], visit_call, search));
  --search->depth;
  search->states[function] = ++search->tallest;  // at most HX_IR_NESTING_MAX + 1
  if (search->tallest < before) search->tallest = before;
  return HX_STATUS_OK;
}

// Recursion as deep as calls nest, cut at the limit. REFUSED ends the search: one fault of this kind is enough.
static hx_status_t visit_call(hx_ir_op_t *op, void *argument) {
  hx_call_search_t *search = argument;
  hx_verifier_t *verifier = search->verifier;
  hx_str_t name;
  const uint32_t target = op->info->id == HX_OP_CALL ? target_of(verifier, op, &name) : HX_NONE;
  if (target == HX_NONE) return HX_STATUS_OK;
  if (search->states[target] == ACTIVE) {
    hx_verify_fault(verifier, op, HX_CODE_LIMIT,
                    "function @%.*s calls itself, directly or through others; programs do not recurse",
                    (int)(name.size < 100 ? name.size : 100), name.data);
    return HX_STATUS_REFUSED;
  }
  if (search->states[target] == NEW && search->depth < HX_IR_NESTING_MAX) {
    HX_TRY(visit_function(search, target));
  } else if (search->states[target] > search->tallest) {
    search->tallest = search->states[target];
  }
  if (search->states[target] != NEW && search->tallest < HX_IR_NESTING_MAX) return HX_STATUS_OK;
  hx_verify_fault(verifier, op, HX_CODE_LIMIT, "calls nest deeper than %d here", HX_IR_NESTING_MAX);
  return HX_STATUS_REFUSED;
}

void hx_verify_recursion(hx_verifier_t *verifier) {
  const size_t count = verifier->functions.count;
  hx_call_search_t search = {.verifier = verifier, .states = hx_zalloc(count + 1, 1)};
  if (search.states == NULL) {
    hx_verify_check(verifier, HX_STATUS_OUT_OF_MEMORY);
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    search.depth = 0;
    if (search.states[i] == NEW && visit_function(&search, (uint32_t)i) != HX_STATUS_OK) break;
  }
  hx_free(search.states);
}
