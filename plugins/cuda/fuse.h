// SPDX-License-Identifier: Apache-2.0
// Fused regions: chains of operations that are prepared as one.
#ifndef HX_CUDA_FUSE_H
#define HX_CUDA_FUSE_H

#include "heliox/plugin.h"

// The chain as one operation: its outer operands and its last result. Pointers go into itself.
typedef struct hx_cuda_chain {
  hx_op op;  // named "fusion.region"
  uint32_t operands[3], results[1];
} hx_cuda_chain_t;

// Recognises [ckks.mul or ckks.square,] ckks.relinearize, ckks.rescale, each taking what the one before it makes, where
// only the last result leaves the region. Operands are then the factors (one for a square) or the value of three
// components, and the key. HX_UNSUPPORTED: another region.
int32_t hx_cuda_fuse(const hx_region *region, hx_cuda_chain_t *out, hx_error *error);

#endif
