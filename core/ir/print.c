// SPDX-License-Identifier: Apache-2.0
// Programs as text in MLIR's generic form, two blanks a level, deterministic.
#include "core/ir/print.h"

static void indent(hx_printer_t *printer, uint32_t depth) {
  static const char blanks[] = "                                ";  // 16 levels
  for (; depth > 16; depth -= 16) hx_text_puts(printer->out, blanks);
  hx_text_append(printer->out, (hx_str_t){.data = blanks, .size = (size_t)2 * depth});
}

static void print_op(hx_printer_t *printer, const hx_ir_op_t *op, uint32_t depth);

static void print_region(hx_printer_t *printer, const hx_ir_block_t *block, uint32_t depth) {
  const size_t mark = printer->open_count;
  hx_text_puts(printer->out, "{\n");
  if (block->argument_count > 0) {
    indent(printer, depth);
    hx_text_puts(printer->out, "^entry(");
    for (size_t i = 0; i < block->argument_count; ++i) {
      if (i > 0) hx_text_puts(printer->out, ", ");
      hx_print_argument(printer, block->arguments[i]);
    }
    hx_text_puts(printer->out, "):\n");
  }
  for (const hx_ir_op_t *op = block->first; op != NULL; op = op->next) print_op(printer, op, depth + 1);
  indent(printer, depth);
  hx_text_puts(printer->out, "}");
  hx_printer_close(printer, mark);
}

static void print_regions(hx_printer_t *printer, const hx_ir_op_t *op, uint32_t depth) {
  if (op->region_count == 0) return;
  hx_text_puts(printer->out, " (");
  for (size_t i = 0; i < op->region_count; ++i) {
    if (i > 0) hx_text_puts(printer->out, ", ");
    print_region(printer, op->regions[i]->block, depth);
  }
  hx_text_puts(printer->out, ")");
}

// A function's attributes are long: one a line.
static void print_attributes(hx_printer_t *printer, const hx_ir_op_t *op, uint32_t depth) {
  if (op->attrs.count == 0) return;
  hx_text_puts(printer->out, " ");
  if (op->info->id != HX_OP_FUNC) {
    hx_print_attrs(printer, op->attrs);
    return;
  }
  hx_text_puts(printer->out, "{\n");
  for (size_t i = 0; i < op->attrs.count; ++i) {
    indent(printer, depth + 1);
    hx_print_named(printer, &op->attrs.items[i]);
    hx_text_puts(printer->out, i + 1 < op->attrs.count ? ",\n" : "\n");
  }
  indent(printer, depth);
  hx_text_puts(printer->out, "}");
}

static void print_signature(hx_printer_t *printer, const hx_ir_op_t *op) {
  hx_text_puts(printer->out, " : (");
  for (size_t i = 0; i < op->operand_count; ++i) {
    if (i > 0) hx_text_puts(printer->out, ", ");
    hx_print_value_type(printer, op->operands[i]);
  }
  hx_text_puts(printer->out, op->result_count == 1 ? ") -> " : ") -> (");
  for (size_t i = 0; i < op->result_count; ++i) {
    if (i > 0) hx_text_puts(printer->out, ", ");
    hx_print_value_type(printer, op->results[i]);
  }
  hx_text_puts(printer->out, op->result_count == 1 ? "\n" : ")\n");
}

static void print_op(hx_printer_t *printer, const hx_ir_op_t *op, uint32_t depth) {
  if (op->info->id == HX_OP_FUNC) printer->next_number = 0;
  indent(printer, depth);
  hx_print_results(printer, op);
  hx_text_puts(printer->out, "\"");
  hx_text_puts(printer->out, op->info->name);
  hx_text_puts(printer->out, "\"(");
  for (size_t i = 0; i < op->operand_count; ++i) {
    if (i > 0) hx_text_puts(printer->out, ", ");
    hx_print_use(printer, op->operands[i]);
  }
  hx_text_puts(printer->out, ")");
  print_regions(printer, op, depth);
  print_attributes(printer, op, depth);
  print_signature(printer, op);
}

static hx_status_t pin_operands(hx_ir_op_t *op, void *argument) {
  hx_printer_t *printer = argument;
  if (op->info->tier != HX_TIER_STRUCTURE) return HX_STATUS_OK;
  for (size_t i = 0; i < op->operand_count; ++i) HX_TRY(hx_pointers_set(&printer->pinned, op->operands[i], 1));
  return HX_STATUS_OK;
}

static hx_status_t print_once(hx_printer_t *printer, const hx_program_t *program) {
  if ((printer->flags & HX_PRINT_SHORT) != 0) HX_TRY(hx_ir_walk(program->module, pin_operands, printer));
  for (size_t i = 0; i < printer->names.count; ++i) printer->suffix[i] = 0;
  print_op(printer, program->module, 0);
  if (printer->out->failed) return HX_STATUS_OUT_OF_MEMORY;
  return printer->status;
}

// Aliases stand first, so the program is printed twice: once to count the uses of each type.
static hx_status_t print_with_aliases(hx_printer_t *printer, const hx_program_t *program) {
  hx_text_t *out = printer->out;
  hx_text_t scratch;
  hx_text_init(&scratch);
  printer->out = &scratch;
  const hx_status_t status = print_once(printer, program);
  hx_text_deinit(&scratch);
  printer->out = out;
  HX_TRY(status);
  hx_print_aliases(printer);
  return print_once(printer, program);
}

hx_status_t hx_ir_print(const hx_program_t *program, uint32_t flags, hx_text_t *out) {
  hx_printer_t printer;
  hx_printer_init(&printer, flags, out);
  const hx_status_t status =
      (flags & HX_PRINT_ALIASES) != 0 ? print_with_aliases(&printer, program) : print_once(&printer, program);
  hx_printer_deinit(&printer);
  return status;
}

hx_status_t hx_program_print(const hx_program_t *program, uint32_t flags, char **out_text, hx_report_t *report) {
  if ((flags & ~(uint32_t)(HX_PRINT_SHORT | HX_PRINT_ALIASES)) != 0)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_program_print: unknown flags 0x%x", flags);
  hx_text_t text;
  hx_text_init(&text);
  const hx_status_t status = hx_ir_print(program, flags, &text);
  char *taken = status == HX_STATUS_OK ? hx_text_take(&text) : NULL;
  hx_text_deinit(&text);
  if (taken == NULL)
    return status == HX_STATUS_OK || status == HX_STATUS_OUT_OF_MEMORY
               ? hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "memory is exhausted while printing %s", program->source)
               : hx_report_fail(report, HX_CODE_INTERNAL, "%s cannot be printed", program->source);
  *out_text = taken;
  return HX_STATUS_OK;
}

void hx_text_free(char *text) { hx_free(text); }
