// SPDX-License-Identifier: Apache-2.0
// For every processor.
#include "core/ckks/encode_vector.h"

const hx_encode_kernels_t hx_encode_kernels_portable = KERNELS("portable");
