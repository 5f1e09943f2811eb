// SPDX-License-Identifier: Apache-2.0
// Regions of functions and control flow: their number, arguments, terminators, and the types that go in and out.
#include "core/ir/verify.h"

static void types_differ(hx_verifier_t *verifier, const hx_ir_op_t *op, const char *what, size_t index,
                         const hx_type_t *found, const char *wanted_by, const hx_type_t *wanted) {
  const char *part;
  if (hx_ir_types_agree(found, wanted, &part)) part = "what is known";
  hx_text_t a, b;
  hx_text_init(&a);
  hx_text_init(&b);
  hx_verify_fault(verifier, op, HX_CODE_TYPE, "%s %zu has type %s, but %s %zu has type %s: they differ in %s", what,
                  index, hx_ir_type_text(found, &a), wanted_by, index, hx_ir_type_text(wanted, &b), part);
  hx_text_deinit(&a);
  hx_text_deinit(&b);
}

// Types of values that flow from one list into another.
static void check_flow(hx_verifier_t *verifier, const hx_ir_op_t *op, const char *what, hx_ir_value_t *const *from,
                       size_t from_count, const char *wanted_by, hx_ir_value_t *const *to, size_t to_count) {
  if (from_count != to_count) {
    hx_verify_fault(verifier, op, HX_CODE_OPERANDS, "%s count is %zu, but %s count is %zu", what, from_count, wanted_by,
                    to_count);
    return;
  }
  for (size_t i = 0; i < from_count; ++i) {
    const char *part;
    if (!hx_ir_types_agree(from[i]->type, to[i]->type, &part))
      types_differ(verifier, op, what, i, from[i]->type, wanted_by, to[i]->type);
  }
}

static const hx_ir_op_t *terminator(const hx_ir_op_t *op, size_t region, hx_op_id_t id) {
  const hx_ir_op_t *last = op->regions[region]->block->last;
  return last != NULL && last->info->id == id ? last : NULL;
}

static const hx_attribute_t *function_type(const hx_ir_op_t *func) {
  const hx_attribute_t *type = hx_attrs_find(func->attrs, "function_type");
  return type != NULL && type->kind == HX_ATTRIBUTE_TYPE && type->type == NULL ? type : NULL;
}

// A function's type is written twice: in function_type, and on its block and return. Both are equal.
static void check_func_types(hx_verifier_t *verifier, const hx_ir_op_t *at, const char *what,
                             hx_ir_value_t *const *values, size_t count, const hx_type_t *const *types,
                             size_t type_count) {
  if (count != type_count) {
    hx_verify_fault(verifier, at, HX_CODE_OPERANDS, "%s count is %zu, but function_type has %zu", what, count,
                    type_count);
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    if (values[i]->type != types[i]) types_differ(verifier, at, what, i, values[i]->type, "function_type's", types[i]);
  }
}

static void check_ports(hx_verifier_t *verifier, const hx_ir_op_t *op, const char *name, size_t count) {
  static const char *const roles[] = {"ciphertext", "plaintext", "message", "static"};
  const hx_attribute_t *list = hx_attrs_find(op->attrs, name);
  if (list == NULL || list->kind != HX_ATTRIBUTE_LIST) return;
  if (list->count != count) {
    hx_verify_fault(verifier, op, HX_CODE_ATTRIBUTE, "%s has %zu entries for %zu values", name, list->count, count);
    return;
  }
  hx_names_t names;
  hx_names_init(&names);
  for (size_t i = 0; i < count; ++i) {
    if (list->list[i].kind != HX_ATTRIBUTE_DICT) continue;  // told by the row
    const hx_attrs_t dict = {.items = list->list[i].dict, .count = list->list[i].count};
    hx_str_t text;
    const bool has_name = hx_attrs_find(dict, "heliox.name") != NULL;
    if (has_name && (!hx_attrs_get_text(dict, "heliox.name", &text) || text.size == 0)) {
      hx_verify_fault(verifier, op, HX_CODE_ATTRIBUTE, "heliox.name of %s[%zu] is no text, or empty", name, i);
    } else if (has_name) {
      const size_t known = names.count;
      uint32_t id = 0;
      hx_verify_check(verifier, hx_names_add(&names, text, &id));
      if (names.count == known)
        hx_verify_fault(verifier, op, HX_CODE_SYMBOL_NAME, "%s gives the name %.*s twice", name,
                        (int)(text.size < 100 ? text.size : 100), text.data);
    }
    if (hx_attrs_find(dict, "heliox.role") == NULL) continue;
    bool known_role = false;
    if (hx_attrs_get_text(dict, "heliox.role", &text)) {
      for (size_t j = 0; j < HX_COUNT_OF(roles); ++j) known_role = known_role || hx_str_equal(text, hx_str(roles[j]));
    }
    if (!known_role)
      hx_verify_fault(verifier, op, HX_CODE_ATTRIBUTE,
                      "heliox.role of %s[%zu] has to be ciphertext, plaintext, message or static", name, i);
  }
  hx_names_deinit(&names);
}

static void check_func(hx_verifier_t *verifier, const hx_ir_op_t *op) {
  const hx_ir_block_t *block = hx_func_block(op);
  const hx_attribute_t *type = function_type(op);
  if (type == NULL) {
    hx_verify_fault(verifier, op, HX_CODE_ATTRIBUTE, "function_type has to be a function type, as (T, T) -> T");
    return;
  }
  check_func_types(verifier, op, "argument", block->arguments, block->argument_count, type->types, type->input_count);
  const hx_ir_op_t *last = terminator(op, 0, HX_OP_RETURN);
  if (last != NULL) {
    check_func_types(verifier, last, "operand", last->operands, last->operand_count, type->types + type->input_count,
                     type->result_count);
  }
  check_ports(verifier, op, "arg_attrs", type->input_count);
  check_ports(verifier, op, "res_attrs", type->result_count);
  hx_str_t visibility;
  if (hx_attrs_get_text(op->attrs, "sym_visibility", &visibility) && !hx_str_equal(visibility, hx_str("public")) &&
      !hx_str_equal(visibility, hx_str("private")))
    hx_verify_fault(verifier, op, HX_CODE_ATTRIBUTE, "sym_visibility has to be public or private");
}

static bool is_bit(const hx_type_t *type) {
  return type->kind == HX_TYPE_INTEGER && type->bits == 1 && type->signedness == HX_SIGNLESS;
}

static void check_if(hx_verifier_t *verifier, const hx_ir_op_t *op) {
  if (op->operand_count == 1 && !is_bit(op->operands[0]->type))
    hx_verify_fault(verifier, op, HX_CODE_TYPE, "the condition has to be of type i1");
  for (size_t i = 0; i < 2; ++i) {
    const hx_ir_op_t *last = terminator(op, i, HX_OP_SCF_YIELD);
    if (op->regions[i]->block->argument_count > 0)
      hx_verify_fault(verifier, op, HX_CODE_OPERANDS, "its regions take no arguments");
    if (last != NULL)
      check_flow(verifier, last, "yielded value", last->operands, last->operand_count, "result", op->results,
                 op->result_count);
  }
}

static void check_for(hx_verifier_t *verifier, const hx_ir_op_t *op) {
  const hx_ir_block_t *block = op->regions[0]->block;
  if (op->operand_count < 3) return;  // told by the row
  const hx_type_t *counter = op->operands[0]->type;
  if (counter->kind != HX_TYPE_INDEX && counter->kind != HX_TYPE_INTEGER)
    hx_verify_fault(verifier, op, HX_CODE_TYPE, "the bounds have to be integers or index");
  if (op->operands[1]->type != counter || op->operands[2]->type != counter)
    hx_verify_fault(verifier, op, HX_CODE_TYPE, "lower bound, upper bound and step have different types");
  if (block->argument_count == 0 || block->arguments[0]->type != counter) {
    hx_verify_fault(verifier, op, HX_CODE_OPERANDS,
                    "the body's first argument has to be the counter, of the bounds' type");
    return;
  }
  hx_ir_value_t *const *carried = op->operands + 3;
  const size_t count = op->operand_count - 3;
  check_flow(verifier, op, "carried operand", carried, count, "carried argument", block->arguments + 1,
             block->argument_count - 1);
  check_flow(verifier, op, "carried operand", carried, count, "result", op->results, op->result_count);
  const hx_ir_op_t *last = terminator(op, 0, HX_OP_SCF_YIELD);
  if (last != NULL)
    check_flow(verifier, last, "yielded value", last->operands, last->operand_count, "carried operand", carried, count);
}

static void check_while(hx_verifier_t *verifier, const hx_ir_op_t *op) {
  const hx_ir_block_t *before = op->regions[0]->block;
  const hx_ir_block_t *after = op->regions[1]->block;
  check_flow(verifier, op, "carried operand", op->operands, op->operand_count, "argument of the first region",
             before->arguments, before->argument_count);
  const hx_ir_op_t *condition = terminator(op, 0, HX_OP_SCF_CONDITION);
  if (condition != NULL && condition->operand_count > 0) {
    if (!is_bit(condition->operands[0]->type))
      hx_verify_fault(verifier, condition, HX_CODE_TYPE, "the condition has to be of type i1");
    hx_ir_value_t *const *values = condition->operands + 1;
    const size_t count = condition->operand_count - 1;
    check_flow(verifier, condition, "passed value", values, count, "argument of the second region", after->arguments,
               after->argument_count);
    check_flow(verifier, condition, "passed value", values, count, "result", op->results, op->result_count);
  }
  const hx_ir_op_t *last = terminator(op, 1, HX_OP_SCF_YIELD);
  if (last != NULL)
    check_flow(verifier, last, "yielded value", last->operands, last->operand_count, "argument of the first region",
               before->arguments, before->argument_count);
}

// The region combines two values of the operand's type into one, element by element, so that it can be prepared apart
// from the program. It is isolated: hx_verify sees to it that it reads nothing from outside.
static void check_reduce(hx_verifier_t *verifier, const hx_ir_op_t *op) {
  const hx_ir_block_t *block = op->regions[0]->block;
  if (op->operand_count != 2) return;  // told by the row
  hx_ir_value_t *const pair[2] = {op->operands[1], op->operands[1]};
  check_flow(verifier, op, "combined operand", pair, 2, "argument of the region", block->arguments,
             block->argument_count);
  check_flow(verifier, op, "combined operand", pair, 1, "result", op->results, op->result_count);
  const hx_ir_op_t *last = terminator(op, 0, HX_OP_DISTRIBUTED_YIELD);
  if (last != NULL)
    check_flow(verifier, last, "yielded value", last->operands, last->operand_count, "combined operand", pair, 1);
  for (const hx_ir_op_t *inner = block->first; inner != NULL; inner = inner->next) {
    const hx_op_info_t *info = inner->info;
    bool fits = info->effect == HX_EFFECT_PURE && info->tier != HX_TIER_HOST && inner->operand_count > 0 &&
                (info->tier != HX_TIER_STRUCTURE || info->id == HX_OP_DISTRIBUTED_YIELD);
    for (size_t i = 0; fits && i < inner->operand_count; ++i) {
      const hx_op_operand_t *row = hx_op_operand_at(info, i, inner->operand_count);
      fits = row == NULL || row->dependency == HX_DEPENDS_ELEMENT;
    }
    if (!fits)
      hx_verify_fault(verifier, inner, HX_CODE_OPERANDS, "the region of %s takes element-wise operations alone",
                      op->info->name);
  }
}

// What operations with regions look like; every other operation has none.
static const struct {
  hx_op_id_t id;
  size_t region_count;
  hx_op_id_t terminators[2];  // of each region
  void (*check)(hx_verifier_t *verifier, const hx_ir_op_t *op);
} shapes[] = {
    {HX_OP_MODULE, 1, {HX_OP_UNKNOWN, HX_OP_UNKNOWN}, NULL},  // checked by hx_verify_module
    {HX_OP_FUNC, 1, {HX_OP_RETURN, HX_OP_UNKNOWN}, check_func},
    {HX_OP_SCF_IF, 2, {HX_OP_SCF_YIELD, HX_OP_SCF_YIELD}, check_if},
    {HX_OP_SCF_FOR, 1, {HX_OP_SCF_YIELD, HX_OP_UNKNOWN}, check_for},
    {HX_OP_SCF_WHILE, 2, {HX_OP_SCF_CONDITION, HX_OP_SCF_YIELD}, check_while},
    {HX_OP_DISTRIBUTED_ALL_REDUCE, 1, {HX_OP_DISTRIBUTED_YIELD, HX_OP_UNKNOWN}, check_reduce},
};

static void check_terminator(hx_verifier_t *verifier, const hx_ir_op_t *op, size_t region, hx_op_id_t id) {
  const hx_ir_block_t *block = op->regions[region]->block;
  // MLIR writes an scf.if without results and without an else part with an empty region.
  if (op->info->id == HX_OP_SCF_IF && region == 1 && op->result_count == 0 && block->last == NULL) return;
  if (terminator(op, region, id) != NULL) return;
  hx_verify_fault(verifier, op, HX_CODE_OPERANDS, "region %zu has to end in %s, not in %s", region,
                  hx_op_info(id)->name, block->last == NULL ? "nothing" : block->last->info->name);
}

// Terminators and functions stand only where they belong.
static void check_place(hx_verifier_t *verifier, const hx_ir_op_t *op) {
  const hx_ir_op_t *parent = op->block == NULL ? NULL : op->block->region->op;
  const bool in_module = parent != NULL && parent->info->id == HX_OP_MODULE;
  if (op->info->id == HX_OP_MODULE) {
    if (parent != NULL) hx_verify_fault(verifier, op, HX_CODE_OPERANDS, "a module inside another operation");
  } else if (op->info->id == HX_OP_FUNC ? !in_module : in_module) {
    hx_verify_fault(
        verifier, op, HX_CODE_OPERANDS,
        in_module ? "a module holds functions alone; put it into a func.func" : "functions stand in the module alone");
  }
  if ((op->info->flags & HX_OP_FLAG_TERMINATOR) == 0 || parent == NULL || op->next != NULL) return;
  for (size_t i = 0; i < HX_COUNT_OF(shapes); ++i) {
    if (shapes[i].id == parent->info->id) return;  // the parent tells what it wants
  }
  hx_verify_fault(verifier, op, HX_CODE_OPERANDS, "it ends no region of %s", parent->info->name);
}

void hx_verify_shape(hx_verifier_t *verifier, const hx_ir_op_t *op) {
  check_place(verifier, op);
  if (op->info->id == HX_OP_CALL) hx_verify_call(verifier, op);
  if (op->info->id == HX_OP_UNKNOWN) return;
  size_t wanted = 0, row = HX_COUNT_OF(shapes);
  for (size_t i = 0; i < HX_COUNT_OF(shapes); ++i) {
    if (shapes[i].id == op->info->id) row = i;
  }
  if (row < HX_COUNT_OF(shapes)) wanted = shapes[row].region_count;
  if (op->region_count != wanted) {
    hx_verify_fault(verifier, op, HX_CODE_OPERANDS, "it has %zu regions, not %zu", wanted, op->region_count);
    return;
  }
  if (wanted == 0 || shapes[row].check == NULL) return;
  for (size_t i = 0; i < wanted; ++i) check_terminator(verifier, op, i, shapes[row].terminators[i]);
  shapes[row].check(verifier, op);
}
