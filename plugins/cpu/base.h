// SPDX-License-Identifier: Apache-2.0
// Running stages and targets (heliox/support/base.h).
#ifndef HX_CPU_BASE_H
#define HX_CPU_BASE_H

#include "heliox/support/base.h"
#include "ops.h"
#include "run.h"

typedef int32_t hx_cpu_base_fn(hxs_build *build, hxs_base **out);

// Prepares the operation whose stage and targets `plan` computes.
int32_t hx_cpu_build_base(hxs_build *build, hx_cpu_base_fn *plan);
// The same for a result that may be in the other domain than the operand: to `plan` it is in the operand's.
int32_t hx_cpu_build_crossing(hxs_build *build, hx_cpu_base_fn *plan);

#endif
