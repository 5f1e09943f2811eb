// SPDX-License-Identifier: Apache-2.0
// Mending a program in the order of its computation: state flows forward, and where a rule puts operations in between,
// what follows has the state that comes of it. Written types of results are replaced by inferred ones, so a pass may
// change state; references and inputs keep theirs. Structured control flow is followed; a rule may bring the values
// that flow together to one state.
#ifndef HELIOX_CORE_PASSES_MEND_H
#define HELIOX_CORE_PASSES_MEND_H

#include "core/passes/rewrite.h"

typedef struct hx_mender hx_mender_t;

typedef struct hx_mend_rules {
  // Before the state of op's results is inferred: its operands have theirs. May build in front of it and set operands.
  // NULL: nothing is done.
  void (*before)(hx_mender_t *mender, hx_ir_op_t *op);
  // Afterwards; may interpose. NULL: nothing.
  void (*after)(hx_mender_t *mender, hx_ir_op_t *op);
  // The value in the state that `wanted` has, made in front of an operation; the value itself where that is not
  // possible (inference then tells). NULL: values are left as they are.
  hx_ir_value_t *(*align)(hx_mender_t *mender, hx_ir_op_t *before, hx_ir_value_t *value, const hx_type_t *wanted);
  // Which of two states values should meet in; false: the first. NULL: the first.
  bool (*prefers_second)(const hx_mender_t *mender, const hx_type_t *first, const hx_type_t *second);
  bool is_last;  // state that does not fit afterwards is a fault
} hx_mend_rules_t;

struct hx_mender {
  hx_rewriter_t rewriter;
  const hx_mend_rules_t *rules;
  void *argument;  // the pass's own
  hx_names_t functions;
  hx_ir_op_t **function_ops;
  bool *visited;
  size_t function_capacity, visited_capacity;
  uint32_t depth;
};

// Mends all functions and infers state once more. What does not fit is told with its place where rules->is_last says
// so; else only where the program would not verify.
hx_status_t hx_mend_program(hx_program_t *program, const hx_pass_env_t *env, const hx_mend_rules_t *rules,
                            void *argument, bool *out_changed);

// Puts a unary operation behind result `index`: it takes the result, and all that read the result read it.
// Returns the new operation; NULL after a failure.
hx_ir_op_t *hx_mend_interpose(hx_mender_t *mender, hx_ir_op_t *op, size_t index, hx_op_id_t id,
                              const hx_named_attr_t *items, size_t item_count);
// A unary operation on an operand, in front of the operation.
void hx_mend_operand(hx_mender_t *mender, hx_ir_op_t *op, size_t index, hx_op_id_t id, const hx_named_attr_t *items,
                     size_t item_count);
// Sets one operand.
void hx_mend_set_operand(hx_mender_t *mender, hx_ir_op_t *op, size_t index, hx_ir_value_t *value);

#endif
