// SPDX-License-Identifier: Apache-2.0
// Affine combinations of rows with AVX-512 DQ. See convert_lanes.h.
#include "kernels/lanes_avx512.h"

// After the lanes.
#include "kernels/convert/convert_lanes.h"

const hx_cpu_convert_t hx_cpu_convert_avx512dq = {
    .combine = combine, .combine_lazy = combine_lazy, .lift_signed = lift_signed};
