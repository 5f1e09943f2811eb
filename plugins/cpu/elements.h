// SPDX-License-Identifier: Apache-2.0
// Regions of operations element by element (rns.add, sub, neg, mul, mul_add, mul_scalar, add_scalar and their kin),
// prepared as one: a part of a row goes through all of them while it is in cache, and what only the region reads has a
// part's memory, in scratch, not a tensor's.
#ifndef HX_CPU_ELEMENTS_H
#define HX_CPU_ELEMENTS_H

#include "prepare.h"

// A region of several operations, checked by hxs_region_check. HX_UNSUPPORTED: one of them is of another kind, or
// their results have not all one shape.
int32_t hx_cpu_elements_prepare(hx_device *device, const hx_region *region, hx_plan *plan, hx_prepared **out,
                                hx_error *error);

// hxs_plugin.release: the operations of a region.
void hx_cpu_elements_release(hx_prepared *prepared);

#endif
