// SPDX-License-Identifier: Apache-2.0
// For processors with AVX2.
#include "core/ckks/expand_vector.h"

const hx_expand_kernels_t hx_expand_kernels_avx2 = KERNELS("avx2");
