// SPDX-License-Identifier: Apache-2.0
// What the source of every fused region begins with. The rest is made by generate.c; NVRTC compiles both, and what this
// includes, without a file.
//
// A block takes REGION_THREADS * EACH pairs of neighbouring elements of one row, thread by thread with that distance.
// args.extra has a record of 64-bit words for each row: its prime, whether it is of component 0, where it lies from the
// address of each place, and constants. args.more and more_rows are the places' addresses, args.x the log of the blocks a
// row.
#ifndef HX_CUDA_KERNELS_REGION_CUH
#define HX_CUDA_KERNELS_REGION_CUH

#include "wait.cuh"

#define REGION_THREADS 256

#if REGION_WORD == 64
typedef uint64_t region_word;
typedef ulonglong2 region_pair;
#else
typedef uint32_t region_word;
typedef uint2 region_pair;
#endif

// A row of a place, from the place's address and the row's offset in elements.
__device__ __forceinline__ region_pair *region_row(uint64_t address, uint64_t offset) {
  return (region_pair *)((region_word *)address + offset);
}

// A constant of the real path: the centred residue, as a double's bits.
__device__ __forceinline__ double region_real(uint64_t word) { return real_of_bits(word); }

#endif
