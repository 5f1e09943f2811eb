// SPDX-License-Identifier: Apache-2.0
// Division by one prime in ntt domain, real path: (b - ntt(r)) * factor, where r is the dropped row's coefficients,
// centred. |r| is below half the dropped prime, so that it serves as it is for every prime that is not smaller: nothing
// is converted.
//
//   drop_columns   the columns of ntt(r) for several primes, r read once for all
//   drop_rows      the rows, then the difference and the product
#ifndef HX_CUDA_KERNELS_DIVIDE_CUH
#define HX_CUDA_KERNELS_DIVIDE_CUH

#include "copy.cuh"
#include "ntt.cuh"

// A block takes a tile of columns of 2^(4 + R) points of a dropped row and args.op of its targets. args.x: log of the
// tiles a row, args.y: targets of a row; row r of A (r + (dropped prime - 1) / 2 as residues) has targets r * args.y
// and the next. extra: that half, a double.
template <class Word, int R>
__device__ __forceinline__ void drop_columns(const hx_cuda_args_t &args, double *shared) {
  constexpr uint32_t columns = NTT_THREADS >> R;
  const uint32_t parts = (args.y + args.op - 1) / args.op, tile = blockIdx.x & ((1u << args.x) - 1);
  const uint32_t row = (blockIdx.x >> args.x) / parts, part = (blockIdx.x >> args.x) % parts;
  const uint32_t first = row * args.y + part * args.op, last = min(first + args.op, (row + 1) * args.y);
  const uint32_t column = threadIdx.x % columns, g = threadIdx.x / columns, place = tile * columns + column;
  const double half = __ldg((const double *)args.extra);
  const Word *in = operand_row<Word>(args, HX_CUDA_A, row) + place + g * 256;
  wait_for_previous();
  double r[16];
#pragma unroll
  for (int k = 0; k < 16; k++) {
    r[k] = real_load(in[(k << R) * 256]) - half;
  }
#pragma unroll 1
  for (uint32_t t = first; t < last; t++) {
    const real_path path(prime_of(args, t), false);
    double v[16];
#pragma unroll
    for (int k = 0; k < 16; k++) {
      v[k] = r[k];
    }
    if (half > path.q) {
      reduce_all(path, v);
    }
    forward_step<4>(path, v, 1);
    if (path.tight) {
      reduce_all(path, v);
    }
    if (R > 0) {
      if (t > first) {
        __syncthreads();
      }
      exchange_columns<R, true>(shared, v, column, g);
      forward_step<R>(path, v, 16 + g * (16 >> R));
      if (path.tight) {
        reduce_all(path, v);
      }
    }
    Word *out = (Word *)operand_row<Word>(args, HX_CUDA_OUT, t) + place + (R > 0 ? g * 4096 : 0);
#pragma unroll
    for (int k = 0; k < 16; k++) {
      store_middle(path, out + k * 256, v[k]);
    }
  }
}

// Rows of OUT, where the columns are, in place. B: what is divided. extra: the factor of each row, a centred double.
// Not tight: ntt(r) is below 12 q, the difference below 13 q and its product below (1/2 + 13/2 * 2^-6) q; tight:
// reduced.
template <class Word>
__device__ __forceinline__ void drop_rows(const hx_cuda_args_t &args, uint64_t *shared) {
  const ntt_place<Word> at(args, args.x);
  const real_path path(at.prime, false);
  const uint32_t g = threadIdx.x % 16, chunk = at.tile * (NTT_THREADS / 16) + threadIdx.x / 16;
  const uint32_t root = (1u << (args.log_n - 8)) + chunk, first = chunk * 256;
  uint64_t *own = shared + threadIdx.x / 16 * 256, *b = own + 16 * NTT_THREADS;
  Word *out = at.out + first + g;
  const double factor = __ldg((const double *)args.extra + at.row);
  const last_source<real_path> source(path, (root << 4) + g);
  wait_for_previous();
  double v[16];
#pragma unroll
  for (int k = 0; k < 16; k++) {
    v[k] = load_middle(path, out[k * 16]);
  }
  stage_256(b, operand_row<Word>(args, HX_CUDA_B, at.row) + first, g);
  end_copies();
  forward_256(path, table_source<real_path>{path, root}, source, v, (double *)own, g);
  if (path.tight) {
    reduce_all(path, v);
  }
  copies_left<0>();
  __syncwarp();
#pragma unroll
  for (int k = 0; k < 16; k++) {
    const double difference = path.load(b[k * 16 + g]) - v[k];
    out[k * 16] = (Word)real_word(real_mul(difference, factor, path.q, path.inverse), path.q);
  }
}

#endif
