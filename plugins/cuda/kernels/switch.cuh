// SPDX-License-Identifier: Apache-2.0
// Kernels of key switching and of divisions, real path: what lies between two transforms is done by the kernels that
// transform, so that it never leaves the multiprocessor.
//
//   raise      conversions between bases, then the columns of the transforms
//   key_rows   the rows of the transforms, then key products, then the rows of the inverse transforms where those follow
//   end_rows   the rows of the transforms, then what ends a division
#ifndef HX_CUDA_KERNELS_SWITCH_CUH
#define HX_CUDA_KERNELS_SWITCH_CUH

#include "base.cuh"
#include "copy.cuh"
#include "ntt.cuh"

// ---- raise

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

// 1024 words, `points` rows of `columns` neighbours 256 apart, into as many places.
template <uint32_t COLUMNS>
__device__ __forceinline__ void load_tile(uint64_t *to, const uint64_t *from, uint32_t thread) {
  for (uint32_t i = thread; i < 512; i += RAISE_THREADS) {
    const uint32_t row = i / (COLUMNS / 2), pair = i % (COLUMNS / 2);
    copy_16(to + 2 * i, from + row * 256 + 2 * pair);
  }
}
template <uint32_t COLUMNS>
__device__ __forceinline__ void load_tile(uint64_t *to, const uint32_t *from, uint32_t thread) {
  for (uint32_t i = thread; i < 1024; i += RAISE_THREADS) {
    to[i] = from[i / COLUMNS * 256 + i % COLUMNS];
  }
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
  for (uint32_t s = 0; s < stages; s++) {
    const Word *from = operand_row<Word>(args, HX_CUDA_B, polynomial * stages + s) + tile * columns;
    load_tile<columns>(shared + s * 1024, from, threadIdx.x);
  }
  end_copies();
  copies_left<0>();
  __syncthreads();
  if (own != 0) {
    uint64_t *last = shared + (stages - 1) * 1024;
    for (uint32_t i = threadIdx.x; i < 1024; i += RAISE_THREADS) {
      hx_cuda_sum_t sum[1];
      double quotient[1];
      convert_tile<1, 1>(held[count], shared + i, stages, sum, quotient);
      last[i] = real_rest(sum_word(&sum[0]), quotient[0], held[count].q);
    }
    __syncthreads();
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

// ---- what is added to a division's result

// Row `row` of what is added, at place i, as a double below q: a row (more 0), or one or two products of rows (0 and 1,
// 2 and 3). The first table says whether there is anything, the third whether there is a second product.
template <class Word>
struct addend {
  const Word *rows[4];
  bool product, pair;

  __device__ __forceinline__ addend(const hx_cuda_args_t &args, uint32_t row)
      : rows{}, product(args.more[1] != 0), pair(false) {
    if (args.more[0] == 0 || ((const uint64_t *)args.more_rows[0])[row] == HX_CUDA_NO_ROW) return;
    pair = product && ((const uint64_t *)args.more_rows[2])[row] != HX_CUDA_NO_ROW;
    for (int m = 0; m < (pair ? 4 : product ? 2 : 1); m++) {
      rows[m] = (const Word *)args.more[m] + ((const uint64_t *)args.more_rows[m])[row];
    }
  }
  __device__ __forceinline__ bool present() const { return rows[0] != NULL; }
  // 16 values, 16 places apart.
  __device__ __forceinline__ void load(const real_path &path, uint32_t first, double (&v)[16]) const {
    Word x[16], y[16];
    const Word *p = rows[0] + first, *r = product ? rows[1] + first : p;
#pragma unroll
    for (int k = 0; k < 16; k++) {
      x[k] = p[k * 16];
      y[k] = product ? r[k * 16] : 0;
    }
#pragma unroll
    for (int k = 0; k < 16; k++) {
      v[k] = product ? one(path, x[k], y[k]) : path.load(x[k]);
    }
    if (!pair) return;
    p = rows[2] + first;
    r = rows[3] + first;
#pragma unroll
    for (int k = 0; k < 16; k++) {
      x[k] = p[k * 16];
      y[k] = r[k * 16];
    }
#pragma unroll
    for (int k = 0; k < 16; k++) {
      v[k] += one(path, x[k], y[k]);
    }
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

// Twiddles of 256 points in shared memory: those of the second step but its last stage, stage by stage, 16 threads apart;
// behind them the 15 of the first step.
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
#pragma unroll
    for (int c = 0; c < 2; c++) {
      stage_256(keys + c * words, operand_row<Word>(args, HX_CUDA_C, 2 * (row * args.count + t) + c) + first, g);
    }
  };
  stage_twiddles(held, path.table, root, g);
  stage_values(0);
  end_copies();
  stage_keys(0);
  end_copies();
  for (uint32_t t = 0; t < args.count; t++) {
    copies_left<1>();
    __syncwarp();
#pragma unroll
    for (int k = 0; k < 16; k++) {
      const uint64_t word = own[k * 16 + g];
      v[k] = t == to.own || sizeof(Word) == 4 ? path.load(word) : path.load_bits(word);
    }
    __syncwarp();
    if (t != to.own) {
      forward_256(path, first_source{held}, second_source{held + g, path.table + (((root << 4) + g) << 3)}, v, (double *)own, g);
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
    backward_256(back, v, (double *)own, root, g);
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
  stage_256(own, at.in + first, g);
  end_copies();
  stage_256(b, operand_row<Word>(args, HX_CUDA_B, at.row) + first, g);
  const addend<Word> plus(args, at.row);
  const bool rows = plus.present() && !plus.product;
  if (rows) stage_256((uint64_t *)c, plus.rows[0] + first, g);
  end_copies();
  double v[16];
  if (plus.present() && plus.product) {
    plus.load(path, first + g, v);
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
  forward_256(path, table_source<real_path>{path, root}, table_source<real_path>{path, (root << 4) + g}, v,
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
