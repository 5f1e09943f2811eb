// SPDX-License-Identifier: Apache-2.0
// The choice of kernels.
#include "core/ckks/encode_kernels.h"

size_t hx_encode_kernels_list(const hx_encode_kernels_t *out[3]) {
  size_t count = 0;
  out[count++] = &hx_encode_kernels_portable;
#ifdef HELIOX_X86
  if (__builtin_cpu_supports("avx2")) out[count++] = &hx_encode_kernels_avx2;
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    out[count++] = &hx_encode_kernels_avx512;
#endif
  return count;
}

const hx_encode_kernels_t *hx_encode_kernels(void) {
  const hx_encode_kernels_t *all[3] = {NULL};
  return all[hx_encode_kernels_list(all) - 1];
}
