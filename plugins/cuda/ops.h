// SPDX-License-Identifier: Apache-2.0
// The build functions, one for each row of impls.def.
#ifndef HX_CUDA_OPS_H
#define HX_CUDA_OPS_H

#include "heliox/support/accept.h"
#include "prepare.h"

#define IMPL(id_, op_, signature_, build_, attributes_, others_, domains_, in_place_) hxs_build_fn build_;
#include "impls.def"

// Constants 2^-w of the result's rows, w the ring's word: what a product in Montgomery form is taken times.
int32_t hx_cuda_montgomery_inverses(hxs_build *build, hxs_constants *out);

#endif
