// SPDX-License-Identifier: Apache-2.0
// Products of matrices of doubles by the 32 threads of a warp, on the tensor cores. For exact integers below 2^53 in
// every partial sum the order of the sums does not matter, so that all forms give the same.
#ifndef HX_CUDA_KERNELS_MMA_CUH
#define HX_CUDA_KERNELS_MMA_CUH

#include "copy.cuh"

#if !HX_CUDA_ON_DEVICE
// What the threads of a block hold of the factors of a product, by thread.
static struct mma_held {
  double a[4], b[2];
} mma_held[1024];
#endif

// c += a * b: a has 16 rows of 4 * STEPS, b 8 columns. Of a thread's numbers, lane l: a[2 s] and a[2 s + 1] are of rows
// l / 4 and l / 4 + 8, place 4 s + l % 4; b[s] of that place, column l / 4; c[0], c[1] and c[2], c[3] of those two rows,
// columns 2 (l % 4) and the next. All threads of a warp call it, and on the host all of a block.
template <int STEPS>
__device__ __forceinline__ void mma_add(double (&c)[4], const double (&a)[2 * STEPS], const double (&b)[STEPS]) {
  static_assert(STEPS == 1 || STEPS == 2, "one or two steps of four");
#if HX_CUDA_ON_DEVICE && __CUDA_ARCH__ >= 900
  if constexpr (STEPS == 1) {
    asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(a[0]), "d"(a[1]), "d"(b[0]));
  } else {
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
        "%3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
  }
#elif HX_CUDA_ON_DEVICE
#pragma unroll
  for (int s = 0; s < STEPS; s++) {
#pragma unroll
    for (int half = 0; half < 2; half++) {
      asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
          : "+d"(c[2 * half]), "+d"(c[2 * half + 1])
          : "d"(a[2 * s + half]), "d"(b[s]));
    }
  }
#else
  const uint32_t lane = threadIdx.x % 32;
  struct mma_held *const warp = mma_held + (threadIdx.x - lane);
  memcpy(warp[lane].a, a, sizeof a);
  memcpy(warp[lane].b, b, sizeof b);
  __syncwarp();
  for (uint32_t s = 0; s < STEPS; s++) {
    for (uint32_t k = 0; k < 4; k++) {
      for (uint32_t i = 0; i < 4; i++) {
        c[i] += warp[lane / 4 * 4 + k].a[2 * s + i / 2] * warp[(2 * (lane % 4) + i % 2) * 4 + k].b[s];
      }
    }
  }
  __syncwarp();
#endif
}

#endif
