// SPDX-License-Identifier: Apache-2.0
// For processors with AVX-512 (F, DQ, VL).
#include "core/ckks/encode_vector.h"

const hx_encode_kernels_t hx_encode_kernels_avx512 = KERNELS("avx512");
