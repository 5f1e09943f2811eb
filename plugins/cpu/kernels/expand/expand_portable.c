// SPDX-License-Identifier: Apache-2.0
// Uniform rows from a seed, four blocks at once, which processors without vectors make one by one. See expand_rows.h.
#define EXPAND_BLOCKS 4u
#include "kernels/expand/expand_rows.h"

const hx_cpu_expand_t hx_cpu_expand_portable64 = {.row = expand64};
const hx_cpu_expand_t hx_cpu_expand_portable32 = {.row = expand32};
