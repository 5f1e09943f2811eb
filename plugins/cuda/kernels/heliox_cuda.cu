// SPDX-License-Identifier: Apache-2.0
// The entry points, from kernels.def. Every kernel takes one hx_cuda_args_t by value and the same shared memory.
#include "base.cuh"
#include "code.cuh"
#include "ntt.cuh"
#include "radix.cuh"
#include "rows.cuh"
#include "turn.cuh"

extern __shared__ uint64_t shared[];

// Where the device can, a launch begins while the one before it on the stream ends; here it waits until that one is
// done and its writes are seen.
__device__ __forceinline__ void wait_for_previous() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

#define KERNEL(id_, name_, body_, threads_)                                       \
  template <class Word>                                                           \
  __device__ __forceinline__ void run_##name_(const hx_cuda_args_t &args) {       \
    body_;                                                                        \
  }                                                                               \
  extern "C" __global__ void __launch_bounds__(threads_, threads_ == 128 ? 3 : 1) \
      hx_##name_##_64(const __grid_constant__ hx_cuda_args_t args) {              \
    wait_for_previous();                                                          \
    run_##name_<uint64_t>(args);                                                  \
  }                                                                               \
  extern "C" __global__ void __launch_bounds__(threads_, threads_ == 128 ? 3 : 1) \
      hx_##name_##_32(const __grid_constant__ hx_cuda_args_t args) {              \
    wait_for_previous();                                                          \
    run_##name_<uint32_t>(args);                                                  \
  }
#include "kernels.def"
