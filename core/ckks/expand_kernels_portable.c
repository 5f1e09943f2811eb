// SPDX-License-Identifier: Apache-2.0
// For every processor.
#include "core/ckks/expand_vector.h"

const hx_expand_kernels_t hx_expand_kernels_portable = KERNELS("portable");
