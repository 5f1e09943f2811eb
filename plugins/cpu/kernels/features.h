// SPDX-License-Identifier: Apache-2.0
// What this processor can run.
#ifndef HX_CPU_KERNELS_FEATURES_H
#define HX_CPU_KERNELS_FEATURES_H

#include <stdbool.h>

bool hx_cpu_has_always(void);
bool hx_cpu_has_avx2(void);
// AVX-512 F, DQ and VL.
bool hx_cpu_has_avx512dq(void);
// The same and the 52-bit products.
bool hx_cpu_has_avx512ifma(void);

#endif
