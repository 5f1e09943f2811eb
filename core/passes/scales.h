// SPDX-License-Identifier: Apache-2.0
// Rescaling and bringing values to one depth and scale: shared by insert-rescale and manage-scales.
#ifndef HELIOX_CORE_PASSES_SCALES_H
#define HELIOX_CORE_PASSES_SCALES_H

#include "core/passes/mend.h"

typedef struct hx_scales {
  hx_scale_t waterline;  // least scale that a rescale may leave, up to half a bit
  double bits;           // its log2
  bool is_exact;         // every depth has one scale: S_0 = waterline, S_d+1 = S_d^2 / (primes of the group)
} hx_scales_t;

// Reads option waterline; without it the scale of the first ciphertext that @main takes. NOT_FOUND (params): none, or
// no parameters.
hx_status_t hx_scales_init(hx_scales_t *scales, const hx_program_t *program, const hx_pass_env_t *env);
// The scale of a depth in exact mode. False where it leaves its range.
bool hx_scales_at(const hx_scales_t *scales, const hx_ring *ring, uint32_t depth, hx_scale_t *out);
// Puts a rescale behind a product (or the relinearize of one) whose scale allows it.
void hx_scales_rescale(hx_mender_t *mender, hx_ir_op_t *op, const hx_scales_t *scales);
// The value at a depth and scale, in front of an operation: level_drop where the scale is that one, else a product with
// 1 at the scale that is missing, and a rescale. NULL where neither can do it (or after a failure).
hx_ir_value_t *hx_scales_align(hx_mender_t *mender, hx_ir_op_t *before, hx_ir_value_t *value, uint32_t depth,
                               const hx_scale_t *scale);
// The value at a depth, scale unchanged; itself where it is there or beyond.
hx_ir_value_t *hx_scales_drop(hx_mender_t *mender, hx_ir_op_t *before, hx_ir_value_t *value, uint32_t depth);
// True if depth and scale are known.
bool hx_scales_knows(const hx_type_t *type);

#endif
