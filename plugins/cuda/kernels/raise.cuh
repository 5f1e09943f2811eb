// SPDX-License-Identifier: Apache-2.0
// Conversions between bases with the columns of the transforms that follow, real path. Two forms: sums made by each
// thread for the values that it transforms, and products of matrices on the tensor cores.
#ifndef HX_CUDA_KERNELS_RAISE_CUH
#define HX_CUDA_KERNELS_RAISE_CUH

#include "base.cuh"
#include "copy.cuh"
#include "mma.cuh"
#include "ntt.cuh"

// ---- sums by threads

#define RAISE_GROUPS HX_CUDA_RAISE_GROUPS  // each transforms 1024 points of a target at a time
#define RAISE_THREADS (64 * RAISE_GROUPS)
#define RAISE_CHUNK 8  // values that a thread converts at a time

// start + sum of weights * y mod q: exactly mod 2^64, and its quotient by q. y: `stages` rows of the tile, 1024 places
// apart.
template <int COUNT, int STEP>
__device__ __forceinline__ void convert_tile(const real_target &to, const uint64_t *y, uint32_t stages,
                                             hx_cuda_sum_t (&sum)[COUNT], double (&quotient)[COUNT]) {
#pragma unroll
  for (int k = 0; k < COUNT; k++) {
    sum[k] = hx_cuda_sum_t{to.start, 0};
    quotient[k] = to.start_quotient;
  }
#pragma unroll
  for (int s = 0; s < HX_CUDA_REAL_TERMS - 2; s++) {
    if (s >= (int)stages) break;
    const hx_cuda_weight_t w = to.weights[s];
#pragma unroll
    for (int k = 0; k < COUNT; k++) {
      const uint64_t word = y[s * 1024 + k * STEP];
      sum_add(&sum[k], word, w.value);
      quotient[k] = real_fma(real_load(word), w.quotient, quotient[k]);
    }
  }
}

// 1024 points of a tile through the column stages; values are 2^R rows apart in pairs of steps. The exchange has a gap
// after every 16 columns' worth of values, so that half warps touch every bank once.
template <class Word, int R>
__device__ __forceinline__ void raise_columns(const real_path &path, double (&v)[16], double *exchange, Word *out,
                                              uint32_t thread, uint32_t barrier) {
  constexpr uint32_t columns = 64 >> R;
  const uint32_t column = thread % columns, g = thread / columns;
  forward_step<4>(path, v, 1);
  if (R > 0) {
    if (path.tight) {
      reduce_all(path, v);
    }
    wait_for_group(barrier, 64);
#pragma unroll
    for (int k = 0; k < 16; k++) {
      const uint32_t i = k * 64 + thread;
      exchange[i + i / (16 * columns) * columns] = v[k];
    }
    wait_for_group(barrier, 64);
#pragma unroll
    for (int k = 0; k < 16; k++) {
      const uint32_t i = (g * 16 + k) * columns + column;
      v[k] = exchange[i + i / (16 * columns) * columns];
    }
    forward_step<R>(path, v, 16 + g * (16 >> R));
  }
  if (path.tight) {
    reduce_all(path, v);
  }
  out += column + (R > 0 ? g * 4096 : 0);
#pragma unroll
  for (int k = 0; k < 16; k++) {
    store_middle(path, out + k * 256, v[k]);
  }
}

// 1024 words, rows of COLUMNS neighbours 256 apart, into as many places, by THREADS threads.
template <uint32_t COLUMNS, uint32_t THREADS>
__device__ __forceinline__ void load_tile(uint64_t *to, const uint64_t *from, uint32_t thread) {
  for (uint32_t i = thread; i < 512; i += THREADS) {
    const uint32_t row = i / (COLUMNS / 2), pair = i % (COLUMNS / 2);
    copy_16(to + 2 * i, from + row * 256 + 2 * pair);
  }
}
template <uint32_t COLUMNS, uint32_t THREADS>
__device__ __forceinline__ void load_tile(uint64_t *to, const uint32_t *from, uint32_t thread) {
  for (uint32_t i = thread; i < 1024; i += THREADS) {
    to[i] = from[i / COLUMNS * 256 + i % COLUMNS];
  }
}

// The last row of a tile becomes a conversion of all.
template <uint32_t THREADS>
__device__ __forceinline__ void replace_last(uint64_t *y, uint32_t stages, const real_target &to) {
  uint64_t *last = y + (stages - 1) * 1024;
  for (uint32_t i = threadIdx.x; i < 1024; i += THREADS) {
    hx_cuda_sum_t sum[1];
    double quotient[1];
    convert_tile<1, 1>(to, y + i, stages, sum, quotient);
    last[i] = real_rest(sum_word(&sum[0]), quotient[0], to.q);
  }
  __syncthreads();
}

// Targets as of convert_real_kernel, kinds CONVERT and SKIP alone. A block takes one tile of 64 >> R columns of a
// polynomial, whose rows y it holds, and args.op of its targets. args.x: log of the tiles a row. args.element: 1: the
// last row y is first replaced by itself plus the conversion of the other rows; its target stands behind all others.
template <class Word, int R>
__device__ __forceinline__ void raise_kernel(const hx_cuda_args_t &args, uint64_t *shared) {
  constexpr uint32_t columns = 64 >> R;
  const uint32_t tile = blockIdx.x & ((1u << args.x) - 1), rest = blockIdx.x >> args.x;
  const uint32_t parts = (args.y + args.op - 1) / args.op, polynomial = rest / parts, part = rest % parts;
  const uint32_t plan = polynomial % args.z, stages = args.count, all = args.z * args.y;
  const uint32_t first = part * args.op, count = min(args.op, args.y - first), own = args.element;
  const hx_cuda_target_t *targets = (const hx_cuda_target_t *)args.extra;
  const hx_cuda_weight_t *weights = (const hx_cuda_weight_t *)(targets + all + own);
  double *exchange = (double *)(shared + stages * 1024);
  real_target *held = (real_target *)(exchange + RAISE_GROUPS * HX_CUDA_RAISE_EXCHANGE);
  for (uint32_t t = threadIdx.x; t < count + own; t += RAISE_THREADS) {
    const uint32_t at = t < count ? plan * args.y + first + t : all;
    real_target &to = held[t];
    const hx_cuda_target_t from = targets[at];
    to.kind = from.kind;
    to.x = from.prime;
    to.q = ((const hx_cuda_prime_t *)args.primes)[from.prime].q;
    to.start = from.start;
    to.start_quotient = real_of_bits(from.factor);
    to.out = t < count ? ((const uint64_t *)args.rows[HX_CUDA_OUT])[polynomial * args.y + first + t] : 0;
  }
  for (uint32_t w = threadIdx.x; w < (count + own) * stages; w += RAISE_THREADS) {
    const uint32_t t = w / stages, at = t < count ? plan * args.y + first + t : all;
    held[t].weights[w % stages] = weights[at * stages + w % stages];
  }
  wait_for_previous();
  for (uint32_t s = 0; s < stages; s++) {
    const Word *from = operand_row<Word>(args, HX_CUDA_B, polynomial * stages + s) + tile * columns;
    load_tile<columns, RAISE_THREADS>(shared + s * 1024, from, threadIdx.x);
  }
  end_copies();
  copies_left<0>();
  __syncthreads();
  if (own != 0) {
    replace_last<RAISE_THREADS>(shared, stages, held[count]);
  }
  const uint32_t group = threadIdx.x / 64, thread = threadIdx.x % 64;
  for (uint32_t t = group; t < count; t += RAISE_GROUPS) {
    const real_target &to = held[t];
    if (to.kind == HX_CUDA_TARGET_SKIP) break;
    const real_path path((const hx_cuda_prime_t *)args.primes + to.x, false);
    double v[16];
#pragma unroll
    for (int half = 0; half < 16; half += RAISE_CHUNK) {
      hx_cuda_sum_t sum[RAISE_CHUNK];
      double quotient[RAISE_CHUNK];
      convert_tile<RAISE_CHUNK, 64>(to, shared + half * 64 + thread, stages, sum, quotient);
#pragma unroll
      for (int k = 0; k < RAISE_CHUNK; k++) {
        v[half + k] = real_rest_centred(sum_word(&sum[k]), quotient[k], to.q, path.q, path.tight);
      }
    }
    if (path.tight) {
      reduce_all(path, v);
    }
    raise_columns<Word, R>(path, v, exchange + group * HX_CUDA_RAISE_EXCHANGE,
                           (Word *)args.base[HX_CUDA_OUT] + to.out + tile * columns, thread, group + 1);
  }
}

// ---- the same on the tensor cores
//
// A row y below 2^50 is 2^49 + x, x = h 2^25 + l with |h|, |l| <= 2^24; 2^49 times the weights is in the start. For a
// prime of L bits a weight of l, w, or of h, w 2^25 mod q, centred, is W + V with W a multiple of 2^b, b = L - 26 or 0,
// |W| <= 2^b 2^25, |V| <= 2^(L - 27). The sums of 12 products with W, and with V, are one product of matrices each;
// in units of 2^b the first stay below 12 * 2^49 + 2^25 < 2^53, the second below 12 * 2^(L - 3) < 3.1 q < 2^53, so that
// all partial sums are exact. The first, reduced, plus the second is below 3.7 q.

#define TENSOR_THREADS HX_CUDA_TENSOR_THREADS
#define TENSOR_STRIDE HX_CUDA_TENSOR_STRIDE
#define TENSOR_STEPS (HX_CUDA_TENSOR_PAIRS / 32 - 1)

struct tensor_target {
  uint64_t out;
  uint32_t prime, kind;
};
static_assert(sizeof(tensor_target) == HX_CUDA_TENSOR_TARGET_BYTES, "shared memory of a target");

// The halves of the block's rows y that this thread gives to products: of the values i = (2 j + e) 64 + 4 warp + c,
// column 2 c + e of product j.
__device__ __forceinline__ void split_rows(double (&halves)[TENSOR_STEPS][8], const uint64_t *y, uint32_t stages) {
  const uint32_t lane = threadIdx.x % 32, first = lane / 4 % 2 * 64 + threadIdx.x / 32 * 4 + lane / 8;
#pragma unroll
  for (int k = 0; k < TENSOR_STEPS; k++) {
    const uint32_t s = 2 * k + lane % 4 / 2;
#pragma unroll
    for (int j = 0; j < 8; j++) {
      const uint64_t word = s < stages ? y[s * 1024 + j * 128 + first] : (uint64_t)1 << 49;
      const double x = real_load(word) - 562949953421312.0;
      const double high = real_fma(x, 1.0 / 33554432, HX_CUDA_ROUND) - HX_CUDA_ROUND;
      halves[k][j] = lane % 2 != 0 ? high : real_fma(-high, 33554432.0, x);
    }
  }
}

// 16 values of the target lane / 4, i = k 64 + 4 warp + lane % 4, from the eight products of its group.
__device__ __forceinline__ void convert_group(const real_path &path, const hx_cuda_pair_t *pairs,
                                              const double (&halves)[TENSOR_STEPS][8], uint32_t stages,
                                              double (&v)[16]) {
  double a[2 * TENSOR_STEPS + 2];
#pragma unroll
  for (int k = 0; k <= TENSOR_STEPS; k++) {
    const double2 pair = __ldg((const double2 *)(pairs + k * 32));
    a[2 * k] = pair.x;
    a[2 * k + 1] = pair.y;
  }
#pragma unroll
  for (int j = 0; j < 8; j++) {
    double c[4] = {a[6], a[6], a[7], a[7]};
    const double first[4] = {a[0], a[1], a[2], a[3]}, last[2] = {a[4], a[5]};
    const double from[2] = {halves[0][j], halves[1][j]};
    mma_add<2>(c, first, from);
    if (stages > 4) {
      const double rest[1] = {halves[2][j]};
      mma_add<1>(c, last, rest);
    }
#pragma unroll
    for (int e = 0; e < 2; e++) {
      const double quotient = real_fma(c[e], path.inverse, HX_CUDA_ROUND) - HX_CUDA_ROUND;
      v[2 * j + e] = real_fma(-quotient, path.q, c[e]) + c[2 + e];
    }
  }
}

// Middle results that the next kernel reads: they are to leave the L2 last.
__device__ __forceinline__ void store_kept(const real_path &path, uint64_t *to, double x) { keep_8(to, path.bits(x)); }
__device__ __forceinline__ void store_kept(const real_path &path, uint32_t *to, double x) {
  store_middle(path, to, x);
}

// Between the steps value i of a target's 1024 has a gap after every 16 columns' worth of values, and targets lie four
// banks apart, so that half warps touch every bank once both ways.
//
// Values k * 64 + i of a target.
template <int R>
__device__ __forceinline__ void put_values(double *exchange, const double (&v)[16], uint32_t i) {
  constexpr uint32_t columns = 64 >> R;
#pragma unroll
  for (uint32_t k = 0; k < 16; k++) {
    exchange[i + (k * 64 + k * 64 / (16 * columns) * columns)] = v[k];
  }
}

// The last step of a target's columns: 64 threads, 16 values each.
template <class Word, int R>
__device__ __forceinline__ void finish_target(const real_path &path, const double *exchange, Word *out,
                                              uint32_t thread) {
  constexpr uint32_t columns = 64 >> R;
  const uint32_t column = thread % columns, g = thread / columns;
  double v[16];
  exchange += g * (17 * columns) + column;
#pragma unroll
  for (int k = 0; k < 16; k++) {
    v[k] = exchange[k * columns];
  }
  forward_step<R>(path, v, 16 + g * (16 >> R));
  if (R > 0 && path.tight) {
    reduce_all(path, v);
  }
  out += column + g * 4096;
#pragma unroll
  for (int k = 0; k < 16; k++) {
    store_kept(path, out + k * 256, v[k]);
  }
}

// Where a block of raise_tensor_kernel works.
template <class Word, int R>
struct tensor_place {
  const hx_cuda_args_t &args;
  uint32_t polynomial, first, count;  // the targets of a part of the polynomial's
  uint64_t *y;
  tensor_target *held;
  real_target *last;  // what the last row y is replaced by

  __device__ __forceinline__ const hx_cuda_pair_t *pairs() const {
    const uint32_t groups = (args.y + 7) / 8;
    return (const hx_cuda_pair_t *)args.extra + (polynomial % args.z * groups + first / 8) * HX_CUDA_TENSOR_PAIRS;
  }
  __device__ __forceinline__ void load_rows(uint32_t tile) const {
    constexpr uint32_t columns = 64 >> R;
    const Word *from[2 * TENSOR_STEPS];
#pragma unroll
    for (uint32_t s = 0; s < 2 * TENSOR_STEPS; s++) {
      from[s] = operand_row<Word>(args, HX_CUDA_B, polynomial * args.count + min(s, args.count - 1)) + tile * columns;
    }
#pragma unroll
    for (uint32_t s = 0; s < 2 * TENSOR_STEPS; s++) {
      if (s < args.count) load_tile<columns, TENSOR_THREADS>(y + s * 1024, from[s], threadIdx.x);
    }
    end_copies();
  }
  __device__ __forceinline__ void load_targets() const {
    const uint32_t all = args.z * args.y, groups = (args.y + 7) / 8;
    const hx_cuda_target_t *targets =
        (const hx_cuda_target_t *)((const hx_cuda_pair_t *)args.extra + args.z * groups * HX_CUDA_TENSOR_PAIRS);
    for (uint32_t t = threadIdx.x; t < (count + 7) / 8 * 8; t += TENSOR_THREADS) {
      const uint32_t at = first + min(t, count - 1);
      const hx_cuda_target_t from = targets[polynomial % args.z * args.y + at];
      held[t].out = ((const uint64_t *)args.rows[HX_CUDA_OUT])[polynomial * args.y + at];
      held[t].prime = from.prime;
      held[t].kind = t < count ? from.kind : HX_CUDA_TARGET_SKIP;
    }
    if (args.element != 0 && threadIdx.x < args.count) {
      const hx_cuda_target_t from = targets[all];
      last->weights[threadIdx.x] = ((const hx_cuda_weight_t *)(targets + all + 1))[threadIdx.x];
      if (threadIdx.x == 0) {
        last->q = ((const hx_cuda_prime_t *)args.primes)[from.prime].q;
        last->start = from.start;
        last->start_quotient = real_of_bits(from.factor);
      }
    }
  }
};

// As raise_kernel; extra: hx_cuda_pair_t [plans][groups of 8 targets][HX_CUDA_TENSOR_PAIRS], then the targets, then the
// weights of what the last row is replaced by. args.op is args.y or a multiple of 8. A warp converts 64 values of eight
// targets at a time and does the first step of their columns; the exchange lies where the rows y were.
template <class Word, int R>
__device__ __forceinline__ void raise_tensor_kernel(const hx_cuda_args_t &args, uint64_t *shared) {
  const uint32_t tile = blockIdx.x & ((1u << args.x) - 1), rest = blockIdx.x >> args.x;
  const uint32_t parts = (args.y + args.op - 1) / args.op, first = rest % parts * args.op;
  double *exchange = (double *)shared;
  real_target *last = (real_target *)(exchange + 8 * TENSOR_STRIDE);
  const tensor_place<Word, R> at{args, rest / parts, first, min(args.op, args.y - first), shared,
                                 (tensor_target *)(last + 1), last};
  const hx_cuda_prime_t *primes = (const hx_cuda_prime_t *)args.primes;
  const uint32_t lane = threadIdx.x % 32, target = threadIdx.x / 64;
  at.load_targets();  // constants, before what the launch before this one has made
  wait_for_previous();
  at.load_rows(tile);
  copies_left<0>();
  __syncthreads();
  if (args.element != 0) {
    replace_last<TENSOR_THREADS>(at.y, args.count, *at.last);
  }
  double halves[TENSOR_STEPS][8];
  split_rows(halves, at.y, args.count);
  for (uint32_t m = 0; m < at.count; m += 8) {
    const real_path path(primes + at.held[m + lane / 4].prime, false);
    double v[16];
    convert_group(path, at.pairs() + m * (HX_CUDA_TENSOR_PAIRS / 8) + lane, halves, args.count, v);
    if (path.tight) {
      reduce_all(path, v);
    }
    forward_step<4>(path, v, 1);
    if (path.tight) {
      reduce_all(path, v);
    }
    __syncthreads();
    put_values<R>(exchange + lane / 4 * TENSOR_STRIDE, v, threadIdx.x / 32 * 4 + lane % 4);
    __syncthreads();
    const tensor_target to = at.held[m + target];
    if (to.kind != HX_CUDA_TARGET_SKIP) {
      finish_target<Word, R>(real_path(primes + to.prime, false), exchange + target * TENSOR_STRIDE,
                             (Word *)args.base[HX_CUDA_OUT] + to.out + tile * (64 >> R), threadIdx.x % 64);
    }
  }
}

#endif
