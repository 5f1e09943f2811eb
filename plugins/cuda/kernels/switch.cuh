// SPDX-License-Identifier: Apache-2.0
// Kernels of key switching and of divisions, real path: what lies between two transforms is done by the kernels that
// transform, so that it never leaves the multiprocessor.
//
//   raise      conversions between bases, then the columns of the transforms (raise.cuh)
//   key_rows   the rows of the transforms, then key products, then the rows of the inverse transforms where those
//   follow end_rows   the rows of the transforms, then what ends a division
#ifndef HX_CUDA_KERNELS_SWITCH_CUH
#define HX_CUDA_KERNELS_SWITCH_CUH

#include "copy.cuh"
#include "ntt.cuh"

// ---- what is added to a division's result

// Row `row` of what is added, at place i, as a double below q: a row (more 0), or one or two products of rows (0 and 1,
// 2 and 3). The first table says whether there is anything, the third whether there is a second product.
template <class Word>
struct addend {
  const Word *rows[4];
  bool product, pair;

  __device__ __forceinline__ addend(const hx_cuda_args_t &args, uint32_t row)
      : rows{}, product(args.more[1] != 0), pair(false) {
    if (args.more[0] == 0) return;
    uint64_t at[4] = {};
#pragma unroll
    for (int m = 0; m < 4; m++) {
      if (m == 0 || product) at[m] = ((const uint64_t *)args.more_rows[m])[row];
    }
    if (at[0] == HX_CUDA_NO_ROW) return;
    pair = product && at[2] != HX_CUDA_NO_ROW;
#pragma unroll
    for (int m = 0; m < 4; m++) {
      if (m == 0 || (m == 1 ? product : pair)) rows[m] = (const Word *)args.more[m] + at[m];
    }
  }
  __device__ __forceinline__ bool present() const { return rows[0] != NULL; }
  // 16 values, 16 places apart: `fetch` asks for the first rows' words, `finish` works with them.
  __device__ __forceinline__ void fetch(int first_row, uint32_t first, Word (&x)[16], Word (&y)[16]) const {
    const Word *p = rows[first_row] + first, *r = product ? rows[first_row + 1] + first : p;
#pragma unroll
    for (int k = 0; k < 16; k++) {
      x[k] = p[k * 16];
      y[k] = product ? r[k * 16] : 0;
    }
  }
  __device__ __forceinline__ void finish(const real_path &path, uint32_t first, Word (&x)[16], Word (&y)[16],
                                         double (&v)[16]) const {
#pragma unroll
    for (int k = 0; k < 16; k++) {
      v[k] = product ? one(path, x[k], y[k]) : path.load(x[k]);
    }
    if (!pair) return;
    fetch(2, first, x, y);
#pragma unroll
    for (int k = 0; k < 16; k++) {
      v[k] += one(path, x[k], y[k]);
    }
  }
  __device__ __forceinline__ void load(const real_path &path, uint32_t first, double (&v)[16]) const {
    Word x[16], y[16];
    fetch(0, first, x, y);
    finish(path, first, x, y, v);
  }
  __device__ __forceinline__ double one(const real_path &path, uint64_t x, uint64_t y) const {
    return real_mul(path.load(x), path.reduce(path.load(y)), path.q, path.inverse);
  }
};

// A residue as a centred double.
__device__ __forceinline__ double centred(const real_path &path, uint64_t x) {
  const double r = real_load(x);
  return r + r > path.q ? r - path.q : r;
}

// ---- key products

// Twiddles of 256 points in shared memory: those of the second step but its last stage, stage by stage, 16 threads
// apart; behind them the 15 of the first step.
#define KEY_TWIDDLES 128
struct first_source {
  const double *held;
  template <int T, int COUNT>
  __device__ __forceinline__ void get(double (&w)[COUNT]) const {
#pragma unroll
    for (int j = 0; j < COUNT; j++) {
      w[j] = held[112 + (1 << T) - 1 + j];
    }
  }
};
struct second_source {
  const double *held;  // of the thread
  const double *last;  // the last stage's, in the table
  template <int T, int COUNT>
  __device__ __forceinline__ void get(double (&w)[COUNT]) const {
    if constexpr (T == 3) {
#pragma unroll
      for (int j = 0; j < COUNT; j += 2) {
        const double2 pair = __ldg((const double2 *)(last + j));
        w[j] = pair.x;
        w[j + 1] = pair.y;
      }
    } else {
#pragma unroll
      for (int j = 0; j < COUNT; j++) {
        w[j] = held[((1 << T) - 1 + j) * 16];
      }
    }
  }
};

__device__ __forceinline__ void stage_twiddles(double *held, const double *table, uint32_t root, uint32_t g) {
#pragma unroll
  for (int t = 0; t < 3; t++) {
#pragma unroll
    for (int j = 0; j < 1 << t; j++) {
      copy_8(held + ((1 << t) - 1 + j) * 16 + g, table + ((((root << 4) + g) << t) + j));
    }
  }
  if (g < 15) {
    const uint32_t t = g < 1 ? 0 : g < 3 ? 1 : g < 7 ? 2 : 3;
    copy_8(held + 112 + g, table + ((root << t) + (g + 1 - (1u << t))));
  }
}

// A block takes 4 chunks of 256 points of one row for all digits. Rows are [items][rows of Q_d and P]; row r has its
// digits' values at table B (count a row; what the columns have left), of which digit own is row r of A instead, in ntt
// domain; keys at table C, [count][2] a row; results at table OUT, [2] a row. extra: hx_cuda_key_row_t [rows].
//
// Transformed values are reduced, so that of the two factors of a product one is at most q/2 + e and the other, a word,
// below q (for own rows both are below q): products are below q, four of them below 4q < 2^53, and then sums are
// reduced. Key words and the next digit's values are on their way while a digit is worked on; only the 16 threads of a
// chunk share anything.
template <class Word>
__device__ __forceinline__ void key_rows(const hx_cuda_args_t &args, uint64_t *shared) {
  const uint32_t row = blockIdx.x >> args.x, tile = blockIdx.x & ((1u << args.x) - 1);
  const uint32_t g = threadIdx.x % 16, at = threadIdx.x / 16, chunk = tile * HX_CUDA_KEY_CHUNKS + at;
  const uint32_t root = (1u << (args.log_n - 8)) + chunk, first = chunk * 256;
  const real_path path(prime_of(args, row), false);
  const hx_cuda_key_row_t to = ((const hx_cuda_key_row_t *)args.extra)[row];
  constexpr uint32_t words = 256 * HX_CUDA_KEY_CHUNKS;
  uint64_t *own = shared + at * 256, *keys = shared + words + at * 256;
  double *held = (double *)(shared + 3 * words) + at * KEY_TWIDDLES;
  double v[16], sum[2][16] = {};
  const auto stage_values = [&](uint32_t t) {
    const Word *from = t == to.own ? operand_row<Word>(args, HX_CUDA_A, row)
                                   : operand_row<Word>(args, HX_CUDA_B, row * args.count + t);
    stage_256(own, from + first, g);
  };
  const auto stage_keys = [&](uint32_t t) {
    const Word *b = operand_row<Word>(args, HX_CUDA_C, 2 * (row * args.count + t)) + first;
    const Word *a = operand_row<Word>(args, HX_CUDA_C, 2 * (row * args.count + t) + 1) + first;
    stage_256(keys, b, g);
    stage_256(keys + words, a, g);
  };
  stage_keys(0);
  stage_twiddles(held, path.table, root, g);
  end_copies();
  wait_for_previous();
  stage_values(0);
  end_copies();
  for (uint32_t t = 0; t < args.count; t++) {
    if (t == 0) {
      copies_left<0>();
    } else {
      copies_left<1>();
    }
    __syncwarp();
#pragma unroll
    for (int k = 0; k < 16; k++) {
      const uint64_t word = own[k * 16 + g];
      v[k] = t == to.own || sizeof(Word) == 4 ? path.load(word) : path.load_bits(word);
    }
    __syncwarp();
    if (t != to.own) {
      forward_256(path, first_source{held}, second_source{held + g, path.table + (((root << 4) + g) << 3)}, v,
                  (double *)own, g);
      reduce_all(path, v);
      __syncwarp();
    }
    if (t + 1 < args.count) {
      stage_values(t + 1);
    }
    end_copies();
    copies_left<1>();
    __syncwarp();
#pragma unroll
    for (int c = 0; c < 2; c++) {
#pragma unroll
      for (int k = 0; k < 16; k++) {
        sum[c][k] += real_mul(v[k], path.load(keys[c * words + k * 16 + g]), path.q, path.inverse);
      }
      if (t % 4 == 3) {
        reduce_all(path, sum[c]);
      }
    }
    __syncwarp();
    if (t + 1 < args.count) {
      stage_keys(t + 1);
    }
    end_copies();
  }
  if (to.kind == HX_CUDA_KEY_SUM) {
#pragma unroll
    for (int c = 0; c < 2; c++) {
      Word *out = (Word *)operand_row<Word>(args, HX_CUDA_OUT, 2 * row + c) + first + g;
#pragma unroll
      for (int k = 0; k < 16; k++) {
        out[k * 16] = (Word)path.store(sum[c][k]);
      }
    }
    return;
  }
  // The key words are used up: their places take the sums, so that few registers do for what follows.
#pragma unroll
  for (int c = 0; c < 2; c++) {
#pragma unroll
    for (int k = 0; k < 16; k++) {
      keys[c * words + k * 16 + g] = path.bits(path.reduce(sum[c][k]));
    }
  }
  const real_path back(prime_of(args, row), true);
#pragma unroll 1
  for (int c = 0; c < 2; c++) {
    const uint64_t *from = keys + c * words + g;
    if (to.kind == HX_CUDA_KEY_DIVIDED) {
      const double scale = centred(path, to.scale);
      const addend<Word> plus(args, 2 * row + c);
      if (plus.present()) {
        plus.load(path, first + g, v);
      } else {
#pragma unroll
        for (int k = 0; k < 16; k++) {
          v[k] = 0;
        }
      }
#pragma unroll
      for (int k = 0; k < 16; k++) {
        v[k] = path.reduce(v[k] + real_mul(path.load_bits(from[k * 16]), scale, path.q, path.inverse));
      }
    } else {
#pragma unroll
      for (int k = 0; k < 16; k++) {
        v[k] = path.load_bits(from[k * 16]);
      }
    }
    backward_256(back, table_source<real_path>{back, (root << 4) + g}, v, (double *)own, root, g);
    Word *out = (Word *)operand_row<Word>(args, HX_CUDA_OUT, 2 * row + c) + first + g;
#pragma unroll
    for (int k = 0; k < 16; k++) {
      store_middle(back, &out[k * 16], v[k]);
    }
  }
}

// ---- the end of a division

// The rows of a forward transform, plus b times the row's first constant, plus what is added (addend) times its second,
// stored at the places of an automorphism. extra: hx_cuda_factor_t [rows][2], of which values alone are read.
template <class Word>
__device__ __forceinline__ void end_rows(const hx_cuda_args_t &args, uint64_t *shared) {
  const ntt_place<Word> at(args, args.x);
  const real_path path(at.prime, false);
  const uint32_t g = threadIdx.x % 16, chunk = at.tile * (NTT_THREADS / 16) + threadIdx.x / 16;
  const uint32_t root = (1u << (args.log_n - 8)) + chunk, first = chunk * 256;
  uint64_t *own = shared + threadIdx.x / 16 * 256, *b = own + 2048;
  double *c = (double *)(own + 4096);
  const hx_cuda_factor_t *scales = (const hx_cuda_factor_t *)args.extra + 2 * at.row;
  const Word *sums = operand_row<Word>(args, HX_CUDA_B, at.row) + first;
  // What is added is the operation's own; what else is read the launches before this one have made.
  const addend<Word> plus(args, at.row);
  const bool rows = plus.present() && !plus.product, products = plus.present() && plus.product;
  Word x[16], y[16];
  if (rows) {
    stage_256((uint64_t *)c, plus.rows[0] + first, g);
  }
  if (products) {
    plus.fetch(0, first + g, x, y);
  }
  end_copies();
  wait_for_previous();
  stage_256(own, at.in + first, g);
  end_copies();
  stage_256(b, sums, g);
  end_copies();
  double v[16];
  if (products) {
    plus.finish(path, first + g, x, y, v);
#pragma unroll
    for (int k = 0; k < 16; k++) {
      c[k * 16 + g] = v[k];
    }
  }
  copies_left<1>();
  __syncwarp();
#pragma unroll
  for (int k = 0; k < 16; k++) {
    v[k] = sizeof(Word) == 4 ? path.load(own[k * 16 + g]) : path.load_bits(own[k * 16 + g]);
  }
  forward_256(path, table_source<real_path>{path, root}, last_source<real_path>(path, (root << 4) + g), v,
              (double *)own, g);
  copies_left<0>();
  __syncwarp();
  const double scale = centred(path, scales[0].value), more = centred(path, scales[1].value);
#pragma unroll
  for (int k = 0; k < 16; k++) {
    v[k] = path.reduce(v[k]) + real_mul(path.load(b[k * 16 + g]), scale, path.q, path.inverse);
  }
  if (plus.present()) {
#pragma unroll
    for (int k = 0; k < 16; k++) {
      const double x = plus.product ? c[k * 16 + g] : path.load(real_bits(c[k * 16 + g]));
      v[k] += real_mul(x, more, path.q, path.inverse);
    }
  }
  if (args.element == 0) {
    Word *out = at.out + first + g;
#pragma unroll
    for (int k = 0; k < 16; k++) {
      out[k * 16] = (Word)path.store(v[k]);
    }
  } else {
#pragma unroll
    for (int k = 0; k < 16; k++) {
      at.out[permuted_place(first + k * 16 + g, args.element, args.log_n)] = (Word)path.store(v[k]);
    }
  }
}

#endif
