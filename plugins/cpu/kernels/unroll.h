// SPDX-License-Identifier: Apache-2.0
// Loops over registers, which must disappear.
#ifndef HX_CPU_KERNELS_UNROLL_H
#define HX_CPU_KERNELS_UNROLL_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define UNROLL  // gcc cannot follow it where code is instrumented, and says so
#elif defined(__clang__)
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif

#endif
