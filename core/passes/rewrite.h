// SPDX-License-Identifier: Apache-2.0
// Rewriting a program in one walk: what is read instead of a value, who reads a value, new operations with inferred
// types. Replacements are taken in at once by hx_rewriter_take and, at the end, everywhere by hx_rewriter_finish, so a
// pass costs time proportional to the program and not to its square. After a failure functions do nothing and `status`
// has the first one.
#ifndef HELIOX_CORE_PASSES_REWRITE_H
#define HELIOX_CORE_PASSES_REWRITE_H

#include "core/passes/passes.h"

typedef struct hx_value_uses {
  hx_ir_value_t *stand_in;  // read instead, or NULL
  hx_ir_op_t *user;         // one of those that read it
  uint32_t count;           // operands that are this value
  uint32_t position;        // in the program; see hx_rewriter_is_available
} hx_value_uses_t;

typedef struct hx_rewriter {
  hx_program_t *program;
  const hx_pass_env_t *env;
  hx_value_uses_t *uses;  // by value id
  size_t count, capacity;
  bool changed;
  hx_status_t status;  // of the first failure
} hx_rewriter_t;

// Numbers all values and counts who reads them.
hx_status_t hx_rewriter_init(hx_rewriter_t *rewriter, hx_program_t *program, const hx_pass_env_t *env);
// Applies all replacements, frees, tells whether anything changed; returns the first failure.
hx_status_t hx_rewriter_finish(hx_rewriter_t *rewriter, bool *out_changed);

// What is read instead of a value; itself where nothing is.
hx_ir_value_t *hx_rewriter_current(const hx_rewriter_t *rewriter, hx_ir_value_t *value);
// Brings an operation's operands up to date.
void hx_rewriter_take(const hx_rewriter_t *rewriter, hx_ir_op_t *op);
uint32_t hx_rewriter_uses(const hx_rewriter_t *rewriter, const hx_ir_value_t *value);
// The operation that alone reads the value, once; NULL otherwise.
hx_ir_op_t *hx_rewriter_sole_user(const hx_rewriter_t *rewriter, const hx_ir_value_t *value);
// The operation that gives the value, where it is of this kind; NULL otherwise.
hx_ir_op_t *hx_value_op(const hx_ir_value_t *value, hx_op_id_t id);

// Everything that reads `from` reads `to`, which is defined before every use of `from`.
void hx_rewriter_replace(hx_rewriter_t *rewriter, hx_ir_value_t *from, hx_ir_value_t *to);
// A new operation in front of `before`, results inferred, at the place of `origin` in the source. NULL after a failure.
hx_ir_op_t *hx_rewriter_build(hx_rewriter_t *rewriter, hx_ir_op_t *before, const hx_ir_op_t *origin, hx_op_id_t id,
                              hx_ir_value_t *const *operands, size_t operand_count, const hx_named_attr_t *items,
                              size_t item_count, size_t result_count);
// The same with the attributes of an operation.
hx_ir_op_t *hx_rewriter_build_like(hx_rewriter_t *rewriter, hx_ir_op_t *before, const hx_ir_op_t *origin, hx_op_id_t id,
                                   hx_ir_value_t *const *operands, size_t operand_count, hx_attrs_t attrs,
                                   size_t result_count);
// The operation's operands become these.
void hx_rewriter_set_operands(hx_rewriter_t *rewriter, hx_ir_op_t *op, hx_ir_value_t *const *operands, size_t count);
// Removes an operation whose results nobody reads; what it read is read once less.
void hx_rewriter_remove(hx_rewriter_t *rewriter, hx_ir_op_t *op);
// Moves an operation in front of another one of the same block.
void hx_rewriter_move(hx_rewriter_t *rewriter, hx_ir_op_t *op, hx_ir_op_t *before);

// Numbers the values of a copy that was inserted and counts what it reads.
void hx_rewriter_adopt(hx_rewriter_t *rewriter, hx_ir_op_t *op);

// Calls visit for every block, outer ones first, until a failure.
void hx_rewriter_blocks(hx_rewriter_t *rewriter,
                        void (*visit)(hx_rewriter_t *rewriter, hx_ir_block_t *block, void *argument), void *argument);
// A list of integers as an attribute, in the program's arena; UNIT kind after a failure.
hx_attribute_t hx_rewriter_list(hx_rewriter_t *rewriter, const int64_t *numbers, size_t count);
// Items of a list attribute of an operation; 0 where it is absent.
size_t hx_op_list(const hx_ir_op_t *op, const char *name, const hx_attribute_t **out_items);
// HX_NTT or HX_COEFFICIENT, as output_domain says (default ntt).
uint32_t hx_op_output_domain(const hx_ir_op_t *op);
// Whether a value that is visible somewhere behind `before` in its block, or below it, is defined in front of `before`.
bool hx_rewriter_is_available(const hx_rewriter_t *rewriter, const hx_ir_value_t *value, const hx_ir_op_t *before);
// Makes a plaintext, key or scalar available in front of `before` by moving the pure operations that give it. False
// where one of them cannot be moved; nothing has moved then.
bool hx_rewriter_make_available(hx_rewriter_t *rewriter, hx_ir_value_t *value, hx_ir_op_t *before);

#endif
