// SPDX-License-Identifier: Apache-2.0
// What only a device can say: copies into shared memory that run on while threads compute, barriers of a part of a
// block. Elsewhere, so for tests on the host, plain copies and the test's own barriers.
#ifndef HX_CUDA_KERNELS_COPY_CUH
#define HX_CUDA_KERNELS_COPY_CUH

#include "wait.cuh"

#if HX_CUDA_ON_DEVICE
__device__ __forceinline__ uint32_t shared_address(const void *place) {
  return (uint32_t)__cvta_generic_to_shared(place);
}
#endif

// 16 bytes, both ends at multiples of 16.
__device__ __forceinline__ void copy_16(void *to, const void *from) {
#if HX_CUDA_ON_DEVICE
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from) : "memory");
#else
  memcpy(to, from, 16);
#endif
}

__device__ __forceinline__ void copy_8(void *to, const void *from) {
#if HX_CUDA_ON_DEVICE
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(shared_address(to)), "l"(from) : "memory");
#else
  memcpy(to, from, 8);
#endif
}

__device__ __forceinline__ void copy_4(void *to, const void *from) {
#if HX_CUDA_ON_DEVICE
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared_address(to)), "l"(from) : "memory");
#else
  memcpy(to, from, 4);
#endif
}

// A word that leaves the L2 after others.
__device__ __forceinline__ void keep_8(uint64_t *to, uint64_t word) {
#if HX_CUDA_ON_DEVICE
  uint64_t policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  asm volatile("st.global.L2::cache_hint.u64 [%0], %1, %2;" ::"l"(to), "l"(word), "l"(policy) : "memory");
#else
  *to = word;
#endif
}

// Ends a group of copies of this thread; copies_left<N> waits until at most the last N groups run.
__device__ __forceinline__ void end_copies() {
#if HX_CUDA_ON_DEVICE
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
template <int N>
__device__ __forceinline__ void copies_left() {
#if HX_CUDA_ON_DEVICE
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
#endif
}

// Waits for the `threads` threads that name this barrier (1 to 15).
__device__ __forceinline__ void wait_for_group(uint32_t barrier, uint32_t threads) {
#if HX_CUDA_ON_DEVICE
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
#else
  (void)barrier, (void)threads;
  __syncwarp();
#endif
}

// 256 words of a row into 256 places of shared memory by 16 threads, g of them. Words of 32 bits become 64.
__device__ __forceinline__ void stage_256(uint64_t *to, const uint64_t *from, uint32_t g) {
  to += 2 * g;
  from += 2 * g;
#pragma unroll
  for (int i = 0; i < 8; i++) {
    copy_16(to + i * 32, from + i * 32);
  }
}
__device__ __forceinline__ void stage_256(uint64_t *to, const uint32_t *from, uint32_t g) {
  to += g;
  from += g;
#pragma unroll
  for (int i = 0; i < 16; i++) {
    to[i * 16] = from[i * 16];
  }
}

#endif
