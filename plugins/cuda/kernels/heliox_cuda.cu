// SPDX-License-Identifier: Apache-2.0
// The entry points, from kernels.def. Every kernel takes one hx_cuda_args_t by value and the same shared memory.
#include "base.cuh"
#include "code.cuh"
#include "copy.cuh"
#include "ntt.cuh"
#include "radix.cuh"
#include "raise.cuh"
#include "rows.cuh"
#include "switch.cuh"
#include "turn.cuh"

extern __shared__ uint64_t shared[];

#define KERNEL(id_, name_, body_, threads_) ID_##id_,
enum kernel_id {
#include "kernels.def"
};

// Blocks that a multiprocessor must have room for: what registers are divided by. Those of the real path by measurement on
// an H200.
constexpr int blocks_of(int id, int threads) {
  if (id == ID_END_ROWS) return 4;
  if (id >= ID_RAISE_0 && id <= ID_RAISE_4) return 2;
  if (id >= ID_RAISE_TENSOR_0 && id <= ID_RAISE_TENSOR_4) return 1;
  if (id >= ID_REAL_FORWARD_COLUMNS_0 && id <= ID_KEY_ROWS) return 6;
  return threads == 128 ? 3 : 1;
}

#define KERNEL(id_, name_, body_, threads_)                                          \
  template <class Word>                                                              \
  __device__ __forceinline__ void run_##name_(const hx_cuda_args_t &args) {          \
    body_;                                                                           \
  }                                                                                  \
  extern "C" __global__ void __launch_bounds__(threads_, blocks_of(ID_##id_, threads_)) \
      hx_##name_##_64(const __grid_constant__ hx_cuda_args_t args) {                 \
    wait_for_previous();                                                             \
    run_##name_<uint64_t>(args);                                                     \
  }                                                                                  \
  extern "C" __global__ void __launch_bounds__(threads_, blocks_of(ID_##id_, threads_)) \
      hx_##name_##_32(const __grid_constant__ hx_cuda_args_t args) {                 \
    wait_for_previous();                                                             \
    run_##name_<uint32_t>(args);                                                     \
  }
#include "kernels.def"
