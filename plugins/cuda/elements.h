// SPDX-License-Identifier: Apache-2.0
// Regions of operations element by element (elements.def), as one kernel that NVRTC compiles when they are prepared.
#ifndef HX_CUDA_ELEMENTS_H
#define HX_CUDA_ELEMENTS_H

#include "generate.h"
#include "prepare.h"

// Whether a region begins with such an operation: then it is one, or none that the plugin prepares.
bool hx_cuda_elements_begin(const hx_region *region);
// Prepares a region that has been checked (hxs_region_check). HX_UNSUPPORTED: an operation is no such, or of another
// shape, the region is too large, or NVRTC cannot compile it; the message says which.
int32_t hx_cuda_elements_prepare(hx_device *device, const hx_region *region, hx_plan *plan, hx_prepared **out,
                                 hx_error *error);
// Before a prepared object is freed: what it has of a region, if anything.
void hx_cuda_elements_release(hx_prepared *prepared);
#endif
