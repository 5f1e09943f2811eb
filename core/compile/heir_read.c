// SPDX-License-Identifier: Apache-2.0
// The module of another compiler as text: functions, blocks and operations in generic form.
#include <string.h>

#include "core/compile/heir.h"

static void read_operands(hx_heir_t *heir, hx_heir_op_t *op) {
  hx_heir_reader_t *reader = &heir->reader;
  hx_heir_expect(reader, "(", "in front of operands");
  while (!reader->failed && !hx_heir_is(reader, ")")) {
    if (op->operand_count == HX_HEIR_OPERANDS_MAX) {
      hx_heir_refuse(heir, op, HX_CODE_LIMIT, "it has more than %d operands", HX_HEIR_OPERANDS_MAX);
      return;
    }
    hx_heir_expect(reader, "%", "in front of an operand");
    op->operands[op->operand_count++] = hx_heir_word(reader);
    if (!hx_heir_accept(reader, ",")) break;
  }
  hx_heir_expect(reader, ")", "behind operands");
}

// Attributes in either place that the generic form has them, as the inside of a dictionary.
static void read_attributes(hx_heir_t *heir, hx_heir_op_t *op) {
  hx_heir_reader_t *reader = &heir->reader;
  const bool are_properties = hx_heir_accept(reader, "<{");
  if (!are_properties && !hx_heir_accept(reader, "{")) return;
  const hx_str_t inside = hx_heir_balanced(reader, "}");
  hx_heir_expect(reader, are_properties ? "}>" : "}", "behind attributes");
  if (op->attributes.size == 0) op->attributes = inside;
}

static void read_types(hx_heir_t *heir, hx_heir_op_t *op) {
  hx_heir_reader_t *reader = &heir->reader;
  hx_heir_expect(reader, ":", "in front of types");
  op->types = hx_heir_balanced(reader, "\n");
  // A type may go on in the next line.
  while (!reader->failed && op->types.size > 1 && memcmp(op->types.data + op->types.size - 2, "->", 2) == 0) {
    const char *start = op->types.data;
    const hx_str_t more = hx_heir_balanced(reader, "\n");
    if (more.size == 0) break;
    op->types = (hx_str_t){.data = start, .size = (size_t)(more.data + more.size - start)};
  }
}

static void read_block(hx_heir_t *heir);

static bool add_argument(hx_heir_t *heir, const hx_heir_op_t *at, hx_str_t name, hx_str_t written) {
  hx_type_t type;
  hx_ir_value_t *argument = NULL;
  if (heir->is_skipped) return true;
  if (!hx_heir_read_type(heir, written, &type)) return false;
  if (!hx_heir_must(heir, hx_ir_add_argument(heir->import->program, heir->block, &type, &argument))) return false;
  hx_heir_define(heir, at, name, (hx_heir_value_t){.value = argument, .constant = HX_NONE});
  return !heir->reader.failed;
}

static void read_arguments(hx_heir_t *heir, const hx_heir_op_t *at) {
  hx_heir_reader_t *reader = &heir->reader;
  if (!hx_heir_accept(reader, "^")) return;
  (void)hx_heir_word(reader);
  if (hx_heir_accept(reader, "(")) {
    while (!reader->failed && !hx_heir_is(reader, ")")) {
      hx_heir_expect(reader, "%", "in front of an argument");
      const hx_str_t name = hx_heir_word(reader);
      hx_heir_expect(reader, ":", "behind an argument");
      const hx_str_t type = hx_heir_balanced(reader, ",)");
      if (reader->failed) return;
      if (!heir->is_inside) {
        hx_heir_refuse(heir, at, HX_CODE_UNSUPPORTED, "the block of a module takes no arguments");
        return;
      }
      if (!add_argument(heir, at, name, type)) return;
      if (!hx_heir_accept(reader, ",")) break;
    }
    hx_heir_expect(reader, ")", "behind arguments");
  }
  hx_heir_expect(reader, ":", "behind a block's label");
}

// func.func: with properties in front of its region, or attributes behind it.
static void read_function(hx_heir_t *heir, hx_heir_op_t *op) {
  hx_heir_reader_t *reader = &heir->reader;
  if (heir->is_inside) {
    hx_heir_refuse(heir, op, HX_CODE_UNSUPPORTED, "a function inside a function is not imported");
    return;
  }
  hx_names_deinit(&heir->names);
  hx_names_init(&heir->names);
  hx_str_t name = hx_heir_attribute(op->attributes, "sym_name");
  if (name.size > 1) name = (hx_str_t){.data = name.data + 1, .size = name.size - 2};
  hx_heir_expect(reader, "(", "in front of a function's body");
  hx_heir_expect(reader, "{", "in front of a function's body");
  const bool is_empty = hx_heir_is(reader, "}");
  heir->is_skipped = is_empty || (heir->entry != NULL && name.size > 0 && !hx_str_equal(name, hx_str(heir->entry)));
  if (!heir->is_skipped && heir->functions++ > 0) {
    hx_heir_refuse(heir, op, HX_CODE_SYMBOL_NAME, "the module has several functions: name the one to import%s",
                   name.size == 0 ? " (their names have to stand in front of their bodies)" : "");
    return;
  }
  if (!heir->is_skipped) {
    const hx_named_attr_t items[] = {
        {.name = hx_str("function_type"), .value = {.kind = HX_ATTRIBUTE_TYPE}},
        {.name = hx_str("sym_name"), .value = {.kind = HX_ATTRIBUTE_TEXT, .text = hx_str("main")}}};
    hx_attrs_t attrs;
    if (!hx_heir_must(heir, hx_program_attrs(heir->import->program, items, 2, &attrs)) ||
        !hx_heir_must(heir,
                      hx_ir_create(heir->import->program, HX_OP_FUNC, NULL, 0, NULL, 0, attrs, 1, &heir->found))) {
      return;
    }
    heir->found->line = op->line;
    heir->found->column = op->column;
    hx_ir_insert(heir->import->program->module->regions[0]->block, NULL, heir->found);
    heir->block = hx_func_block(heir->found);
  }
  heir->is_inside = true;
  read_arguments(heir, op);
  read_block(heir);
  heir->is_inside = false;
  hx_heir_expect(reader, "}", "behind a function's body");
  hx_heir_expect(reader, ")", "behind a function's body");
}

static void read_op(hx_heir_t *heir) {
  hx_heir_reader_t *reader = &heir->reader;
  hx_heir_op_t op = {.line = 0};
  hx_heir_skip(reader);
  op.line = reader->line;
  op.column = hx_heir_column(reader);
  if (hx_heir_accept(reader, "%")) {
    op.result = hx_heir_word(reader);
    hx_heir_expect(reader, "=", "behind a result");
  }
  op.name = hx_heir_string(reader);
  read_operands(heir, &op);
  read_attributes(heir, &op);
  if (reader->failed) return;
  if (hx_str_equal(op.name, hx_str("func.func"))) {
    read_function(heir, &op);
    read_attributes(heir, &op);
    read_types(heir, &op);
    return;
  }
  if (!heir->is_inside) {
    hx_heir_refuse(heir, &op, HX_CODE_UNSUPPORTED, "operations outside functions are not imported");
    return;
  }
  if (hx_heir_is(reader, "({")) {
    hx_heir_refuse(heir, &op, HX_CODE_UNSUPPORTED, "operations with regions are not imported, unroll loops beforehand");
    return;
  }
  read_attributes(heir, &op);
  read_types(heir, &op);
  if (!reader->failed) hx_heir_import_op(heir, &op);
}

static void read_block(hx_heir_t *heir) {
  while (!heir->reader.failed && !hx_heir_is(&heir->reader, "}") && heir->reader.at < heir->reader.end) read_op(heir);
}

void hx_heir_read_module(hx_heir_t *heir) {
  hx_heir_reader_t *reader = &heir->reader;
  while (hx_heir_alias(reader)) continue;
  hx_heir_expect(reader, "\"builtin.module\"", "at the start of a module");
  hx_heir_expect(reader, "(", "behind builtin.module");
  hx_heir_expect(reader, ")", "behind builtin.module");
  hx_heir_op_t module = {.name = hx_str("builtin.module"), .line = 1, .column = 1};
  read_attributes(heir, &module);
  hx_heir_expect(reader, "(", "in front of the module's body");
  hx_heir_expect(reader, "{", "in front of the module's body");
  read_arguments(heir, &module);
  read_block(heir);
  hx_heir_expect(reader, "}", "behind the module's body");
  hx_heir_expect(reader, ")", "behind the module's body");
  read_attributes(heir, &module);
  read_types(heir, &module);
  while (hx_heir_alias(reader)) continue;
  hx_heir_skip(reader);
  if (!reader->failed && reader->at < reader->end) hx_heir_fail(reader, HX_CODE_SYNTAX, "text behind the module");
  if (!reader->failed && heir->found == NULL)
    hx_heir_fail(reader, HX_CODE_SYMBOL_NAME, "the module has no function%s%s with a body",
                 heir->entry == NULL ? "" : " ", heir->entry == NULL ? "" : heir->entry);
}
