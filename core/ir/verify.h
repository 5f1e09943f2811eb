// SPDX-License-Identifier: Apache-2.0
// State of the verifier, shared by verify.c (rows, SSA, regions), verify_shape.c (functions and control flow) and
// verify_module.c (the module, symbols, calls).
#ifndef HELIOX_CORE_IR_VERIFY_H
#define HELIOX_CORE_IR_VERIFY_H

#include "core/ir/internal.h"

typedef struct hx_verifier {
  const hx_program_t *program;
  hx_report_t *report;
  hx_status_t first;           // status of the first fault; out-of-memory wins
  bool undefined_is_told;      // values without a definition have been reported already
  hx_pointers_t visible;       // value to the scope that sees it, or 0
  const hx_ir_value_t **seen;  // stack of values made visible, to hide when their region ends
  size_t seen_count, seen_capacity;
  uint32_t scope, last_scope;  // an isolated region is a scope of its own
  uint32_t depth;
  const hx_type_t **types;  // operand types, then result types, of the operation being checked
  size_t type_capacity;
  hx_names_t functions;  // names of the module's functions
  const hx_ir_op_t **function_ops;
  size_t function_capacity;
} hx_verifier_t;

// "OPERATION: text" at an operation's place.
void hx_verify_fault(hx_verifier_t *verifier, const hx_ir_op_t *op, hx_code_t code, const char *format, ...)
    HX_PRINTF(4, 5);
// Remembers that memory ran out.
void hx_verify_check(hx_verifier_t *verifier, hx_status_t status);

// Number of regions, and for functions and control flow arguments, terminators and types.
void hx_verify_shape(hx_verifier_t *verifier, const hx_ir_op_t *op);
// The module's own attributes and functions; fills `functions`.
void hx_verify_module(hx_verifier_t *verifier);
// A call's target and signature.
void hx_verify_call(hx_verifier_t *verifier, const hx_ir_op_t *op);
// No function reaches itself, and calls nest at most HX_IR_NESTING_MAX deep.
void hx_verify_recursion(hx_verifier_t *verifier);

#endif
