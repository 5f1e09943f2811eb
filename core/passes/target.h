// SPDX-License-Identifier: Apache-2.0
// A backend as the target of passes: which operations it implements.
#ifndef HELIOX_CORE_PASSES_TARGET_H
#define HELIOX_CORE_PASSES_TARGET_H

#include "core/backend/backend.h"
#include "core/passes/passes.h"

typedef struct hx_pass_target {
  const hx_backend_t *backend;
  const hx_ring *ring;
} hx_pass_target_t;

// For hx_pass_env.is_native: structure, references, views and operations that ask for an implementation by name are
// native; so is what the backend covers. Open types are left alone. argument: hx_pass_target_t.
bool hx_target_is_native(void *argument, const hx_ir_op_t *op);
// For hx_pass_env.fuses: a kind that exactly one implementation of the first device prepares, operations that its
// declared ranges cover. argument: hx_pass_target_t.
bool hx_target_fuses(void *argument, const char *kind, const hx_ir_op_t *op);
// An operation as the registry sees it. types has room for all operands and results; false where one is open.
bool hx_op_invocation(const hx_ir_op_t *op, const hx_ring *ring, const hx_type_t **types, hx_invocation_t *out);

#endif
