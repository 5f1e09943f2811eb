// SPDX-License-Identifier: Apache-2.0
// Uniform rows from a seed, sixteen blocks at once. See expand_rows.h.
#define EXPAND_BLOCKS 16u
#include "kernels/expand/expand_rows.h"

const hx_cpu_expand_t hx_cpu_expand_avx512dq = {.row = expand64};
const hx_cpu_expand_t hx_cpu_expand_avx512dq_32 = {.row = expand32};
