// SPDX-License-Identifier: Apache-2.0
// Affine combinations of rows with AVX2. See convert_lanes.h.
#include "kernels/lanes_avx2.h"

// After the lanes.
#include "kernels/convert/convert_lanes.h"

const hx_cpu_convert_t hx_cpu_convert_avx2 = {
    .combine = combine, .combine_lazy = combine_lazy, .lift_signed = lift_signed};
