// SPDX-License-Identifier: Apache-2.0
// Fused regions: chains of operations that are prepared as one.
#ifndef HELIOX_SUPPORT_CHAIN_H
#define HELIOX_SUPPORT_CHAIN_H

#include "heliox/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

// The chain as one operation: its outer operands and its last result. Pointers go into itself.
typedef struct hxs_chain {
  hx_op op;              // named "fusion.region"
  uint32_t operands[3];  // value ids
  uint32_t results[1];   // value ids
} hxs_chain;

// [A] Recognises [ckks.mul or ckks.square,] ckks.relinearize, ckks.rescale, each taking what the one before it makes,
// where only the last result leaves the region. Operands are then the factors (one for a square) or the value of three
// components, and the key. HX_UNSUPPORTED, naming the plugin: another region.
// The region has been checked (hxs_region_check).
int32_t hxs_chain_find(const hx_region *region, const char *plugin, hxs_chain *out, hx_error *error);

#ifdef __cplusplus
}
#endif

#endif
