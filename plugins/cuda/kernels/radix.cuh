// SPDX-License-Identifier: Apache-2.0
// Transforms as plain passes: each launch does R stages of all rows, 2^R points a thread, by way of device memory. They
// are slower than those of ntt.cuh and are there to compare with. Words between passes are residues.
#ifndef HX_CUDA_KERNELS_RADIX_CUH
#define HX_CUDA_KERNELS_RADIX_CUH

#include "ntt.cuh"

#define RADIX_THREADS 256

// Stages s .. s + R - 1, s = args.y: node j of 2^s has the points o + k L / 2^R of its L = n / 2^s, k < 2^R. args.x: log
// of the blocks a row. Backward the other way round; args.z: the last pass, which ends with extra[row].
template <class Word, int R, bool BACKWARD>
__device__ __forceinline__ void radix_pass(const hx_cuda_args_t &args) {
  const uint32_t row = blockIdx.x >> args.x, length = 1u << (args.log_n - args.y), each = length >> R;
  const uint32_t at = (blockIdx.x & ((1u << args.x) - 1)) * RADIX_THREADS + threadIdx.x;
  if (at >= 1u << (args.log_n - R)) return;
  const uint32_t j = at / each, first = j * length + at % each, node = (1u << args.y) + j;
  const integer_path path(prime_of(args, row), BACKWARD);
  const Word *a = operand_row<Word>(args, HX_CUDA_A, row);
  Word *out = (Word *)operand_row<Word>(args, HX_CUDA_OUT, row);
  uint64_t v[1 << R];
#pragma unroll
  for (int k = 0; k < 1 << R; k++) {
    v[k] = a[first + k * each];
  }
#pragma unroll
  for (int step = 0; step < R; step++) {
    const int t = BACKWARD ? R - 1 - step : step, half = 1 << (R - 1 - t);
#pragma unroll
    for (int k = 0; k < 1 << (R - 1); k++) {
      const int low = k / half * 2 * half + k % half;
      const integer_path::twiddle w = path.at((node << t) + k / half);
      if (BACKWARD) {
        path.join(v[low], v[low + half], w);
      } else {
        path.split(v[low], v[low + half], w);
      }
    }
  }
#pragma unroll
  for (int k = 0; k < 1 << R; k++) {
    out[first + k * each] = (Word)(args.z != 0 ? path.finish(v[k], ((const hx_cuda_finish_t *)args.extra)[row])
                                               : path.store(v[k]));
  }
}

#endif
