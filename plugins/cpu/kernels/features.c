// SPDX-License-Identifier: Apache-2.0
#include "kernels/features.h"

bool hx_cpu_has_always(void) { return true; }

bool hx_cpu_has_avx2(void) {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2");
#else
  return false;
#endif
}

bool hx_cpu_has_avx512dq(void) {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#else
  return false;
#endif
}

bool hx_cpu_has_avx512ifma(void) {
#if defined(__x86_64__)
  return hx_cpu_has_avx512dq() && __builtin_cpu_supports("avx512ifma");
#else
  return false;
#endif
}
