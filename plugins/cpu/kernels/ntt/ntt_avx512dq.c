// SPDX-License-Identifier: Apache-2.0
// Transforms of u64 rows with AVX-512 DQ. See ntt_lanes.h.
#include "kernels/lanes_avx512.h"
#include "kernels/ntt/ntt_lanes.h"

const hx_cpu_ntt_t hx_cpu_ntt_avx512dq = {.forward = forward, .inverse = inverse};
