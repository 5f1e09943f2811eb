// SPDX-License-Identifier: Apache-2.0
// Moving between bases: every such operation is a stage and a list of targets.
//
// The stage makes rows y_s in scratch memory (or, for mixed_radix, in the result): each an affine combination of one
// operand row, in coefficient domain, and, where `chained`, of the rows y_0 .. y_s-1 before it. The targets make the
// result's rows from them. All that CKKS.md defines by sums of centred residues fits: with h = (d-1)/2 the row
// y + h mod d stands for the centred y, and what h adds is taken off by the constant of each affine map.
#ifndef HX_CUDA_BASE_H
#define HX_CUDA_BASE_H

#include "ops.h"
#include "step.h"

// start + sum of weights times inputs, residues of one prime.
typedef struct hx_cuda_affine {
  uint32_t count;
  uint64_t start;
  uint64_t *weights;
} hx_cuda_affine_t;

typedef struct hx_cuda_stage_row {
  uint32_t prime;        // id of the row
  uint32_t limb;         // of the operand
  hx_cuda_affine_t map;  // inputs: y_0 .. y_s-1 where chained, then the operand's row
} hx_cuda_stage_row_t;

typedef struct hx_cuda_base_target {
  uint32_t kind;         // HX_CUDA_TARGET_COPY, CONVERT or DIVIDE
  uint32_t limb;         // of the operand; for COPY and DIVIDE
  uint64_t scale;        // DIVIDE: what the operand's limb is multiplied with
  hx_cuda_affine_t map;  // of all y
} hx_cuda_base_target_t;

typedef struct hx_cuda_base {
  bool transform;  // operand and result in ntt domain: rows leave and enter it on the way
  bool chained;
  bool in_result;  // the stage writes the result's rows; there are no targets
  uint32_t stage_count;
  hx_cuda_stage_row_t *stage;
  hx_cuda_base_target_t *targets;  // [limbs of the result]
} hx_cuda_base_t;

// The checks that all share (one operand, one result, residues of standard representation, equal batch and
// components, equal domain), and a plan with room for stage_count rows and, unless in_result, the result's targets.
int32_t hx_cuda_base_begin(hx_cuda_build_t *build, uint32_t stage_count, bool in_result, hx_cuda_base_t **out);
// Makes the steps once all is filled in.
int32_t hx_cuda_base_end(hx_cuda_build_t *build, const hx_cuda_base_t *base);
// rns.rescale of the last `count` rows, whose operands and result hold residues and are one each.
int32_t hx_cuda_build_rescale_rows(hx_cuda_build_t *build, uint32_t count, bool nearest);
// Room for the weights of a map; start is 0.
int32_t hx_cuda_affine_begin(const hx_cuda_build_t *build, uint32_t count, hx_cuda_affine_t *out);

#endif
