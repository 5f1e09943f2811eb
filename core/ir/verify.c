// SPDX-License-Identifier: Apache-2.0
// The verifier: every operation against its row, every operand against what is visible. All faults are told.
#include "core/ir/verify.h"

#include <stdarg.h>
#include <stdio.h>

void hx_verify_check(hx_verifier_t *verifier, hx_status_t status) {
  if (status == HX_STATUS_OUT_OF_MEMORY) verifier->first = status;
}

void hx_verify_fault(hx_verifier_t *verifier, const hx_ir_op_t *op, hx_code_t code, const char *format, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  if (vsnprintf(text, sizeof text, format, arguments) < 0) text[0] = '\0';
  va_end(arguments);
  const hx_status_t status = hx_report_fail_at(verifier->report, code, verifier->program->source, op->line, op->column,
                                               "%s: %s", op->info->name, text);
  if (verifier->first == HX_STATUS_OK) verifier->first = status;
}

bool hx_ir_types_agree(const hx_type_t *a, const hx_type_t *b, const char **out_part) {
  *out_part = "kind";
  if (a == b) return true;
  return a->kind == b->kind && hx_type_agrees(a, b, out_part);
}

// Operands, results and attributes against the row.
static void check_row(hx_verifier_t *verifier, const hx_ir_op_t *op) {
  if (op->info->id == HX_OP_UNKNOWN) return;
  const size_t count = op->operand_count + op->result_count;
  const hx_status_t grown = hx_grow(&verifier->types, &verifier->type_capacity, count + 1, sizeof(hx_type_t *));
  if (grown != HX_STATUS_OK) {
    hx_verify_check(verifier, grown);
    return;
  }
  for (size_t i = 0; i < op->operand_count; ++i) verifier->types[i] = op->operands[i]->type;
  for (size_t i = 0; i < op->result_count; ++i) verifier->types[op->operand_count + i] = op->results[i]->type;
  const hx_infer_t call = {.op = op->info,
                           .attrs = op->attrs,
                           .operands = verifier->types,
                           .operand_count = op->operand_count,
                           .result_count = op->result_count,
                           .written = verifier->types + op->operand_count,
                           .report = verifier->report,
                           .source = verifier->program->source,
                           .line = op->line,
                           .column = op->column};
  const hx_status_t status = hx_op_check(&call);
  if (verifier->first == HX_STATUS_OK) verifier->first = status;
  hx_verify_check(verifier, status);
}

static void show(hx_verifier_t *verifier, const hx_ir_value_t *value) {
  hx_status_t status = hx_pointers_set(&verifier->visible, value, verifier->scope);
  if (status == HX_STATUS_OK)
    status = hx_grow(&verifier->seen, &verifier->seen_capacity, verifier->seen_count + 1, sizeof(hx_ir_value_t *));
  if (status == HX_STATUS_OK) verifier->seen[verifier->seen_count++] = value;
  hx_verify_check(verifier, status);
}

static void hide(hx_verifier_t *verifier, size_t mark) {
  while (verifier->seen_count > mark) {
    // The value has its place in the table already, so nothing is allocated.
    hx_verify_check(verifier, hx_pointers_set(&verifier->visible, verifier->seen[--verifier->seen_count], 0));
  }
}

// Why an operand is not visible.
static const char *reason(const hx_ir_op_t *op, const hx_ir_value_t *value) {
  const hx_ir_block_t *home = value->op != NULL ? value->op->block : value->block;
  bool crossed = false;
  for (const hx_ir_block_t *block = op->block; block != NULL; block = block->region->op->block) {
    if (block == home)
      return crossed ? "belongs to a region around this function, which sees no values of others"
                     : "is used before its definition";
    crossed = crossed || hx_ir_is_isolated(block->region->op->info);
  }
  return home == NULL ? "is no value of this program" : "is defined in a region that does not enclose this use";
}

static void check_operands(hx_verifier_t *verifier, const hx_ir_op_t *op) {
  for (size_t i = 0; i < op->operand_count; ++i) {
    const hx_ir_value_t *value = op->operands[i];
    if (hx_pointers_get(&verifier->visible, value) == verifier->scope) continue;
    if (verifier->undefined_is_told && value->op == NULL && value->block == NULL) continue;
    const int shown = (int)(value->name.size < 100 ? value->name.size : 100);
    if (value->name.size > 0) {
      hx_verify_fault(verifier, op, HX_CODE_SSA, "operand %zu, %%%.*s, %s", i, shown, value->name.data,
                      reason(op, value));
    } else {
      hx_verify_fault(verifier, op, HX_CODE_SSA, "operand %zu %s", i, reason(op, value));
    }
  }
}

static void check_op(hx_verifier_t *verifier, const hx_ir_op_t *op);

static void check_region(hx_verifier_t *verifier, const hx_ir_op_t *op, const hx_ir_block_t *block) {
  const size_t mark = verifier->seen_count;
  const uint32_t outer = verifier->scope;
  if (hx_ir_is_isolated(op->info)) verifier->scope = ++verifier->last_scope;
  for (size_t i = 0; i < block->argument_count; ++i) show(verifier, block->arguments[i]);
  for (const hx_ir_op_t *inner = block->first; inner != NULL; inner = inner->next) {
    if ((inner->info->flags & HX_OP_FLAG_TERMINATOR) != 0 && inner->next != NULL)
      hx_verify_fault(verifier, inner, HX_CODE_OPERANDS, "it ends a block, but operations follow");
    check_op(verifier, inner);
  }
  hide(verifier, mark);
  verifier->scope = outer;
}

static void check_op(hx_verifier_t *verifier, const hx_ir_op_t *op) {
  if (verifier->depth > HX_IR_NESTING_MAX) {
    hx_verify_fault(verifier, op, HX_CODE_LIMIT, "regions nest deeper than %d", HX_IR_NESTING_MAX);
    return;
  }
  check_row(verifier, op);
  check_operands(verifier, op);
  hx_verify_shape(verifier, op);
  ++verifier->depth;
  for (size_t i = 0; i < op->region_count; ++i) check_region(verifier, op, op->regions[i]->block);
  --verifier->depth;
  for (size_t i = 0; i < op->result_count; ++i) show(verifier, op->results[i]);
}

hx_status_t hx_ir_verify(const hx_program_t *program, bool undefined_is_told, hx_report_t *report) {
  hx_verifier_t verifier = {
      .program = program, .report = report, .undefined_is_told = undefined_is_told, .scope = 1, .last_scope = 1};
  hx_pointers_init(&verifier.visible);
  hx_names_init(&verifier.functions);
  hx_verify_module(&verifier);
  check_op(&verifier, program->module);
  hx_verify_recursion(&verifier);
  hx_pointers_deinit(&verifier.visible);
  hx_names_deinit(&verifier.functions);
  hx_free(verifier.seen);
  hx_free(verifier.types);
  hx_free(verifier.function_ops);
  if (verifier.first == HX_STATUS_OUT_OF_MEMORY)
    (void)hx_report_fail_at(report, HX_CODE_OUT_OF_MEMORY, program->source, 0, 0,
                            "memory is exhausted while verifying");
  return verifier.first;
}

hx_status_t hx_program_verify(const hx_program_t *program, hx_report_t *report) {
  return hx_ir_verify(program, false, report);
}
