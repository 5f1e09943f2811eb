// SPDX-License-Identifier: Apache-2.0
// Moving a maintenance operation behind the sums that read it: shared by late-relinearize and late-rescale.
#ifndef HELIOX_CORE_PASSES_SINK_H
#define HELIOX_CORE_PASSES_SINK_H

#include "core/passes/rewrite.h"

// op(a) + op(b) becomes op(a + b), op(a) - op(b) alike, -op(a) and k op(a) too, where nobody else reads op's results
// and the operations have equal attributes, keys and operand types.
hx_status_t hx_sink_operation(hx_program_t *program, const hx_pass_env_t *env, hx_op_id_t id, bool *out_changed);

#endif
