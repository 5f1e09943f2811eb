// SPDX-License-Identifier: Apache-2.0
// Which keys an operation needs: shared by resolve-keys, lower and the needs of a program.
#ifndef HELIOX_CORE_PASSES_KEYS_H
#define HELIOX_CORE_PASSES_KEYS_H

#include "core/passes/passes.h"

// One key: relin, conj, or galois with its element and a step that gives it.
typedef struct hx_key_need {
  hx_key_kind_t kind;
  uint64_t element;  // galois
  uint32_t step;     // galois, in [1, slots)
} hx_key_need_t;

// A growing list of needs.
typedef struct hx_key_needs {
  hx_key_need_t *items;
  size_t count, capacity;
} hx_key_needs_t;

// Appends the keys that the operation takes as last operands, in their order, whether it has them or not. Nothing for
// operations without keys. Refused: no ring, or slots that are not known, where rotations need them.
hx_status_t hx_op_key_needs(const hx_program_t *program, const hx_ir_op_t *op, const hx_ring *ring,
                            hx_key_needs_t *needs, hx_report_t *report);
// Index of the first operand that is a key; operand_count where there is none.
size_t hx_op_first_key(const hx_ir_op_t *op);
// The need that a key of this type meets; false: none of these kinds.
bool hx_key_need_of_type(const hx_type_t *type, const hx_ring *ring, hx_key_need_t *out);
// Symbol and type of a key: @relin, @conj, @galois_<element>.
void hx_key_need_symbol(const hx_key_need_t *need, char out_symbol[HX_NAME_MAX]);
void hx_key_need_type(const hx_key_need_t *need, hx_type_t *out);

#endif
