// SPDX-License-Identifier: Apache-2.0
// For processors with AVX-512 (F, DQ, VL).
#include "core/ckks/expand_vector.h"

const hx_expand_kernels_t hx_expand_kernels_avx512 = KERNELS("avx512");
