// SPDX-License-Identifier: Apache-2.0
// For processors with AVX2.
#include "core/ckks/encode_vector.h"

const hx_encode_kernels_t hx_encode_kernels_avx2 = KERNELS("avx2");
