// SPDX-License-Identifier: Apache-2.0
// The entry points, from kernels.def. Every kernel takes one hx_cuda_args_t by value and the same shared memory.
#include "base.cuh"
#include "code.cuh"
#include "copy.cuh"
#include "divide.cuh"
#include "ntt.cuh"
#include "radix.cuh"
#include "raise.cuh"
#include "rows.cuh"
#include "switch.cuh"
#include "turn.cuh"
#include "words.cuh"

extern __shared__ uint64_t shared[];

#define KERNEL(id_, name_, body_, threads_) ID_##id_,
enum kernel_id {
#include "kernels.def"
};

// Blocks that a multiprocessor must have room for: what registers are divided by. Those of the real path by measurement
// on an H200.
constexpr int blocks_of(int id, int threads) {
  if (id == ID_TURN_REAL) return 4;
  if (id == ID_REAL_FORWARD_ROWS || id == ID_REAL_BACKWARD_ROWS) return 4;
  if (id >= ID_DROP_COLUMNS_0 && id <= ID_END_ROWS) return 4;
  if (id >= ID_RAISE_0 && id <= ID_RAISE_4) return 2;
  if (id >= ID_RAISE_TENSOR_0 && id <= ID_RAISE_TENSOR_4) return 1;
  if (id == ID_WORD_KEY_ROWS) return 4;
  if (id == ID_CONVERT_WORDS_8 || id == ID_CONVERT_WORDS_16) return 3;
  if (id >= ID_WORD_FORWARD_COLUMNS_0 && id <= ID_WORD_BACKWARD_ROWS) return 8;
  if (id >= ID_REAL_FORWARD_COLUMNS_0 && id <= ID_KEY_ROWS) return 6;
  return threads == 128 ? 3 : 1;
}

// Kernels that wait for the launch before by themselves, once they know where they work.
template <int ID>
constexpr bool waits_late = ID == ID_ROWS || ID == ID_KEY_ROWS || (ID >= ID_DROP_COLUMNS_0 && ID <= ID_END_ROWS) ||
                            (ID >= ID_INTEGER_FORWARD_COLUMNS_0 && ID <= ID_INTEGER_BACKWARD_ROWS) ||
                            (ID >= ID_REAL_FORWARD_COLUMNS_0 && ID <= ID_REAL_BACKWARD_ROWS) ||
                            (ID >= ID_RAISE_0 && ID <= ID_RAISE_4) ||
                            (ID >= ID_RAISE_TENSOR_0 && ID <= ID_RAISE_TENSOR_4);
// Kernels that say themselves when the next launch may begin.
template <int ID>
constexpr bool says_when = ID >= ID_WORD_FORWARD_COLUMNS_0 && ID <= ID_WORD_BACKWARD_ROWS;

#define ENTRY(id_, name_, word_, bits_, threads_)                                       \
  extern "C" __global__ void __launch_bounds__(threads_, blocks_of(ID_##id_, threads_)) \
      hx_##name_##_##bits_(const __grid_constant__ hx_cuda_args_t args) {               \
    if constexpr (says_when<ID_##id_>) {                                                \
      wait_until_previous_is_done();                                                    \
    } else if constexpr (!waits_late<ID_##id_>) {                                       \
      wait_for_previous();                                                              \
    }                                                                                   \
    run_##name_<word_>(args);                                                           \
  }
#define BODY(name_, body_)                                                  \
  template <class Word>                                                     \
  __device__ __forceinline__ void run_##name_(const hx_cuda_args_t &args) { \
    body_;                                                                  \
  }
#define KERNEL_32(id_, name_, body_, threads_) BODY(name_, body_) ENTRY(id_, name_, uint32_t, 32, threads_)
#define KERNEL(id_, name_, body_, threads_) \
  BODY(name_, body_) ENTRY(id_, name_, uint64_t, 64, threads_) ENTRY(id_, name_, uint32_t, 32, threads_)
#include "kernels.def"
