// SPDX-License-Identifier: Apache-2.0
// Materials that are prepared when they are bound: a material.ref with the attribute heliox.prepare stands for
// ckks.prepare_plain {for = its text} of the plaintext that is bound to its symbol. prepare-plaintexts makes them,
// linking honours them.
#ifndef HELIOX_CORE_PASSES_PREPARED_H
#define HELIOX_CORE_PASSES_PREPARED_H

#include "core/ir/ir.h"

#define HX_PREPARE_ATTR "heliox.prepare"

// Whether an operation is a reference to a prepared plaintext; its purpose ("weighted") then.
bool hx_material_is_prepared(const hx_ir_op_t *op, hx_str_t *out_purpose);
// What has to be bound to the symbol: the reference's own type, or, where it is prepared, a plaintext on Q of its
// scale, slots and batch, at its depth or above.
void hx_material_bound_type(const hx_ir_op_t *op, hx_type_t *out);

#endif
