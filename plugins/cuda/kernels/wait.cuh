// SPDX-License-Identifier: Apache-2.0
// Order between launches, for the kernels of the images and of compiled regions.
#ifndef HX_CUDA_KERNELS_WAIT_CUH
#define HX_CUDA_KERNELS_WAIT_CUH

#include "arith.h"

#if defined(__CUDACC__) && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800)
#define HX_CUDA_ON_DEVICE 1
#else
#define HX_CUDA_ON_DEVICE 0
#endif

// Where the device can, a launch begins while the one before it on the stream ends; here it waits until that one is
// done and its writes are seen. Then the next launch may take what room is left: it waits in the same way.
__device__ __forceinline__ void wait_for_previous() {
#if HX_CUDA_ON_DEVICE && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;\n\tgriddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// The two halves of it. Where blocks of the next launch do not all fit beside those that run, they spread unevenly over
// the multiprocessors: then it had better begin when results are stored.
__device__ __forceinline__ void wait_until_previous_is_done() {
#if HX_CUDA_ON_DEVICE && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
__device__ __forceinline__ void let_next_begin() {
#if HX_CUDA_ON_DEVICE && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

#endif
