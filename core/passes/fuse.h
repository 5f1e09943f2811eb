// SPDX-License-Identifier: Apache-2.0
// Chains of core/passes/fusion.def in a program: what fuse marks, tuning measures and select-by-cost decides about.
#ifndef HELIOX_CORE_PASSES_FUSE_H
#define HELIOX_CORE_PASSES_FUSE_H

#include "core/passes/passes.h"

#define HX_FUSED_MAX 24                 // operations of a region
#define HX_REGION_ATTR "heliox.region"  // number of the region that an operation belongs to
#define HX_APART_ATTR "heliox.apart"    // unit: the operation begins no region; measured, or asked for

// The chain that begins at `first` and that the target prepares as one region: its operations into ops[HX_FUSED_MAX],
// their count; 0 where there is none. func: the function around. Operations that belong to a region, ask for an
// implementation, or are to stay apart are in none.
size_t hx_fusion_match(const hx_pass_env_t *env, const hx_ir_op_t *func, hx_ir_op_t *first, hx_ir_op_t **ops,
                       const char **out_kind);
// What a chain costs depends on: its kind and the shapes of its operations. INVALID where a type is open.
hx_status_t hx_fusion_shape(const char *kind, hx_ir_op_t *const *ops, size_t count, const hx_ring *ring,
                            hx_text_t *out);
// The next number for regions of a program.
int64_t hx_fusion_next_region(hx_program_t *program);

#endif
