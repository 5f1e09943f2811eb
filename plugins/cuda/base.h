// SPDX-License-Identifier: Apache-2.0
// Steps of stages and targets (heliox/support/base.h).
#ifndef HX_CUDA_BASE_H
#define HX_CUDA_BASE_H

#include "heliox/support/base.h"
#include "ops.h"
#include "step.h"

typedef int32_t hx_cuda_base_fn(hxs_build *build, hxs_base **out);

// Prepares the operation whose stage and targets `plan` computes.
int32_t hx_cuda_build_base(hxs_build *build, hx_cuda_base_fn *plan);
// The steps of what has been planned.
int32_t hx_cuda_base_steps(hxs_build *build, const hxs_base *base);

#endif
