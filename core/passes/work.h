// SPDX-License-Identifier: Apache-2.0
// The expensive parts of an operation, counted: what executables report and plans predict.
#ifndef HELIOX_CORE_PASSES_WORK_H
#define HELIOX_CORE_PASSES_WORK_H

#include "core/ir/ir.h"

// Per execution and item of the batch.
typedef struct hx_work {
  uint32_t mod_ups;    // polynomials decomposed into digits and raised to Q and P
  uint32_t mod_downs;  // values divided by P
  uint32_t switches;   // sums of digits times a key
} hx_work_t;

// Of one operation, whole or primitive: a primitive rns.mod_up counts where it raises the first digit, rns.mod_down
// where it drops P. A rotation by 0 modulo the slots counts nothing.
hx_work_t hx_op_work(const hx_ir_op_t *op);
// Turns of a loop (turns.h); *exact false where they are a bound, and 1 where the text does not say. *exact is left
// alone else.
uint64_t hx_op_trips(const hx_ir_op_t *op, bool *exact);
// What one operation takes, counted in multiplications of a row of residues with another one (n of them): a transform
// of a row counts log2(n) / 2, additions and moves of rows count 1. All items of its batch. What has an open type, and
// operations that the core does on the host, count 0. A count, not a time.
double hx_op_row_products(const hx_ir_op_t *op, const hx_ring *ring);

#endif
