// SPDX-License-Identifier: Apache-2.0
// The build functions, one for each row of impls.def, and the plugin that they are.
#ifndef HX_OPENCL_OPS_H
#define HX_OPENCL_OPS_H

#include "heliox/support/accept.h"

extern const hxs_plugin hx_opencl_plugin;
extern const hx_impl *const hx_opencl_impls[];  // [row_count], in the order of the rows

// hx_impl, the same functions for all rows; destroy is hxs_destroy.
int32_t hx_opencl_prepare(hx_device *device, const hx_region *region, hx_plan *plan, hx_prepared **out,
                          hx_error *error);
int32_t hx_opencl_execute(hx_prepared *prepared, const hx_call *call, hx_error *error);

// hxs_plugin
int32_t hx_opencl_begin(hxs_build *build, const hx_region *region);
void hx_opencl_release(hx_prepared *prepared);

// rns.center_lift of signed words.
int32_t hx_opencl_build_lift_signed(hxs_build *build);

#define IMPL(id_, op_, signature_, build_, attributes_, others_, domains_, in_place_) hxs_build_fn build_;
#include "impls.def"

#endif
