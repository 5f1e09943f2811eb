// SPDX-License-Identifier: Apache-2.0
// How often a loop of a program runs, as far as its text says.
#ifndef HELIOX_CORE_PASSES_TURNS_H
#define HELIOX_CORE_PASSES_TURNS_H

#include "core/ir/ir.h"

// Attribute of scf.for and scf.while (i64, at least 0): the loop runs at most so often. Linking holds it to that.
#define HX_TURNS_ATTR "heliox.turns"

// The number that one arith.constant gives; false where it is computed.
bool hx_value_constant(const hx_ir_value_t *value, int64_t *out);
// Turns of scf.for or scf.while. *out_exact: exactly so many, from constant bounds; else at most so many, as
// heliox.turns says. False: the text does not say.
bool hx_loop_turns(const hx_ir_op_t *op, uint64_t *out, bool *out_exact);

#endif
