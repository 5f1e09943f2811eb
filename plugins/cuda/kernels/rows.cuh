// SPDX-License-Identifier: Apache-2.0
// Pointwise kernels: a block takes 8 KiB of one row, or 1024 elements, each thread four of them, 256 apart. args.x: log
// of the blocks a row.
#ifndef HX_CUDA_KERNELS_ROWS_CUH
#define HX_CUDA_KERNELS_ROWS_CUH

#include "arith.h"
#include "wait.cuh"

#define ROW_THREADS 256
#define ROW_EACH 4

template <class Word>
__device__ __forceinline__ const Word *operand_row(const hx_cuda_args_t &args, int place, uint32_t row) {
  return (const Word *)args.base[place] + ((const uint64_t *)args.rows[place])[row];
}

__device__ __forceinline__ const hx_cuda_prime_t *prime_of(const hx_cuda_args_t &args, uint32_t row) {
  return (const hx_cuda_prime_t *)args.primes + ((const uint32_t *)args.row_prime)[row];
}

// Sums of products of residues that begin with a word; they are folded after every `terms` products (fold_turn). Of 64-bit
// words, below 2^122, 32 stay below 2^128 beside a folded sum; of 32-bit ones, below 2^62, 2 stay below 2^64.
template <class Word>
struct product_sum {
  static constexpr uint32_t terms = 32;
  hx_cuda_wide_t z;

  __device__ __forceinline__ explicit product_sum(uint64_t start = 0) : z{0, start} {}
  __device__ __forceinline__ void add(uint64_t a, uint64_t b) { wide_mul_add(&z, a, b); }
  __device__ __forceinline__ void fold(const hx_cuda_prime_t *p) { z.high = mod_word(z.high, p->ratio, p->q); }
  __device__ __forceinline__ Word residue(const hx_cuda_prime_t *p) const { return (Word)mod_wide(z, p); }
  // Of a conversion, whose weights are in Montgomery form.
  __device__ __forceinline__ Word converted(const hx_cuda_prime_t *p) const { return (Word)mod_redc(z, p); }
};
template <>
struct product_sum<uint32_t> {
  static constexpr uint32_t terms = 2;
  uint64_t z;

  __device__ __forceinline__ explicit product_sum(uint64_t start = 0) : z(start) {}
  __device__ __forceinline__ void add(uint32_t a, uint32_t b) { z += (uint64_t)a * b; }
  __device__ __forceinline__ void fold(const hx_cuda_prime_t *p) { z = word_fold(z, (uint32_t)p->q, p->ratio); }
  __device__ __forceinline__ uint32_t residue(const hx_cuda_prime_t *p) const {
    return word_mod(z, (uint32_t)p->q, p->ratio);
  }
  __device__ __forceinline__ uint32_t converted(const hx_cuda_prime_t *p) const { return residue(p); }
};

// Says before each term of sums whether they must be folded first.
template <class Word>
struct fold_turn {
  uint32_t left = product_sum<Word>::terms;

  __device__ __forceinline__ bool due() {
    const bool now = left == 0;
    left = (now ? product_sum<Word>::terms : left) - 1;
    return now;
  }
};

// a * b + c mod q.
template <class Word>
__device__ __forceinline__ Word product(Word a, Word b, const hx_cuda_prime_t *p, Word c = 0) {
  if constexpr (sizeof(Word) == 4) {
    return word_mod((uint64_t)a * b + c, (uint32_t)p->q, p->ratio);
  } else {
    hx_cuda_wide_t z = {0, c};
    wide_mul_add(&z, a, b);
    return mod_product(z, p);
  }
}

// x times a constant, in [0, q).
template <class Word>
__device__ __forceinline__ Word scaled(Word x, const hx_cuda_factor_t &f, uint64_t q) {
  if constexpr (sizeof(Word) == 4) {
    return word_once(word_shoup(x, (uint32_t)f.value, (uint32_t)(f.quotient >> 32), (uint32_t)q), (uint32_t)q);
  } else {
    return mod_once(mod_shoup(x, f.value, f.quotient, q), q);
  }
}

// Sixteen bytes of a row. A thread of the kernels of rows and tensors takes ROW_CELLS of each row, ROW_THREADS cells apart.
#define ROW_CELLS 2
template <class Word>
struct alignas(16) row_cell {
  static constexpr int words = 16 / sizeof(Word);
  Word x[words];
};

// Whether rows begin at multiples of 16 bytes: views may lie at any.
__device__ __forceinline__ bool begins_whole(const void *row) { return ((uint64_t)row & 15) == 0; }

template <class Word, bool WHOLE>
__device__ __forceinline__ row_cell<Word> load_cell(const Word *row, uint32_t i) {
  row_cell<Word> cell;
  if constexpr (WHOLE) {
    cell = *(const row_cell<Word> *)(row + i);
  } else {
#pragma unroll
    for (int l = 0; l < cell.words; l++) {
      cell.x[l] = row[i + l];
    }
  }
  return cell;
}
template <class Word, bool WHOLE>
__device__ __forceinline__ void store_cell(Word *row, uint32_t i, row_cell<Word> cell) {
  if constexpr (WHOLE) {
    *(row_cell<Word> *)(row + i) = cell;
  } else {
#pragma unroll
    for (int l = 0; l < cell.words; l++) {
      row[i + l] = cell.x[l];
    }
  }
}

template <class Word, class F>
__device__ __forceinline__ row_cell<Word> each_of(F of) {
  row_cell<Word> cell;
#pragma unroll
  for (int l = 0; l < cell.words; l++) {
    cell.x[l] = (Word)of(l);
  }
  return cell;
}

// args.z: the modulus is q << z (lazy residues). Place i on.
template <class Word>
__device__ __forceinline__ row_cell<Word> row_value(const hx_cuda_args_t &args, const hx_cuda_prime_t *p, uint32_t row,
                                                    uint32_t i, const row_cell<Word> &a, const row_cell<Word> &b,
                                                    const row_cell<Word> &c) {
  const uint64_t m = p->q << args.z;
  const hx_cuda_factor_t *f = (const hx_cuda_factor_t *)args.extra + 2 * row;
  switch (args.op) {
    case HX_CUDA_DO_ADD:
      return each_of<Word>([&](int l) { return mod_once((uint64_t)a.x[l] + b.x[l], m); });
    case HX_CUDA_DO_SUB:
      return each_of<Word>([&](int l) { return mod_once(a.x[l] + m - b.x[l], m); });
    case HX_CUDA_DO_NEG:
      return each_of<Word>([&](int l) { return mod_once(m - a.x[l], m); });
    case HX_CUDA_DO_REDUCE:
      return each_of<Word>([&](int l) { return mod_once(mod_word(a.x[l], p->ratio, m), m); });
    case HX_CUDA_DO_MUL:
      return each_of<Word>([&](int l) { return product<Word>(a.x[l], b.x[l], p); });
    case HX_CUDA_DO_MUL_ADD:
      return each_of<Word>([&](int l) { return product<Word>(a.x[l], b.x[l], p, c.x[l]); });
    case HX_CUDA_DO_SCALE: {
      const hx_cuda_factor_t half = f[i >> (args.log_n - 1)];
      return each_of<Word>([&](int l) { return scaled<Word>(a.x[l], half, m); });
    }
    case HX_CUDA_DO_OFFSET: {
      const uint64_t half = f[i >> (args.log_n - 1)].value;
      return each_of<Word>([&](int l) { return mod_once(a.x[l] + half, m); });
    }
    case HX_CUDA_DO_MUL_SCALE:
      return each_of<Word>([&](int l) { return scaled<Word>(product<Word>(a.x[l], b.x[l], p), f[0], m); });
    case HX_CUDA_DO_SCALE_ADD:
      return each_of<Word>([&](int l) { return mod_once((uint64_t)scaled<Word>(a.x[l], f[0], m) + b.x[l], m); });
    case HX_CUDA_DO_AFFINE:
      return each_of<Word>([&](int l) { return mod_once(scaled<Word>(a.x[l], f[0], m) + f[1].value, m); });
    default:
      return a;
  }
}

template <class Word, bool WHOLE>
__device__ __forceinline__ void row_cells(const hx_cuda_args_t &args, uint32_t row, const Word *a, const Word *b,
                                          const Word *c, Word *out) {
  constexpr uint32_t words = row_cell<Word>::words;
  const uint32_t n = 1u << args.log_n;
  const uint32_t first = ((blockIdx.x & ((1u << args.x) - 1)) * ROW_CELLS * ROW_THREADS + threadIdx.x) * words;
  const hx_cuda_prime_t *p = prime_of(args, row);
  row_cell<Word> x[ROW_CELLS] = {}, y[ROW_CELLS] = {}, z[ROW_CELLS] = {};
#pragma unroll
  for (int k = 0; k < ROW_CELLS; k++) {
    const uint32_t i = first + k * ROW_THREADS * words;
    if (i < n) x[k] = load_cell<Word, WHOLE>(a, i);
    if (i < n && b != NULL) y[k] = load_cell<Word, WHOLE>(b, i);
    if (i < n && c != NULL) z[k] = load_cell<Word, WHOLE>(c, i);
  }
#pragma unroll
  for (int k = 0; k < ROW_CELLS; k++) {
    const uint32_t i = first + k * ROW_THREADS * words;
    if (i < n) store_cell<Word, WHOLE>(out, i, row_value<Word>(args, p, row, i, x[k], y[k], z[k]));
  }
}

template <class Word>
__device__ __forceinline__ void row_kernel(const hx_cuda_args_t &args) {
  const uint32_t row = blockIdx.x >> args.x;
  const Word *a = operand_row<Word>(args, HX_CUDA_A, row);
  const Word *b = args.base[HX_CUDA_B] != 0 ? operand_row<Word>(args, HX_CUDA_B, row) : NULL;
  const Word *c = args.base[HX_CUDA_C] != 0 ? operand_row<Word>(args, HX_CUDA_C, row) : NULL;
  Word *out = (Word *)operand_row<Word>(args, HX_CUDA_OUT, row);
  wait_for_previous();
  if (begins_whole(a) && begins_whole(b) && begins_whole(c) && begins_whole(out)) {
    row_cells<Word, true>(args, row, a, b, c, out);
  } else {
    row_cells<Word, false>(args, row, a, b, c, out);
  }
}

// x0 y1 + x1 y0 mod q.
template <class Word>
__device__ __forceinline__ Word tensor_middle(Word x0, Word x1, Word y0, Word y1, const hx_cuda_prime_t *p) {
  if constexpr (sizeof(Word) == 4) {
    return word_mod((uint64_t)x0 * y1 + (uint64_t)x1 * y0, (uint32_t)p->q, p->ratio);
  } else {
    hx_cuda_wide_t z = {0, 0};
    wide_mul_add(&z, x0, y1);
    wide_mul_add(&z, x1, y0);
    return mod_product(z, p);
  }
}

template <class Word, bool WHOLE>
__device__ __forceinline__ void tensor_cells(const hx_cuda_args_t &args, const hx_cuda_prime_t *p,
                                             const Word *const (&in)[4], Word *const (&out)[3]) {
  constexpr uint32_t words = row_cell<Word>::words;
  const uint32_t n = 1u << args.log_n;
  const uint32_t first = ((blockIdx.x & ((1u << args.x) - 1)) * ROW_CELLS * ROW_THREADS + threadIdx.x) * words;
  row_cell<Word> x[ROW_CELLS][4] = {};
#pragma unroll
  for (int k = 0; k < ROW_CELLS; k++) {
#pragma unroll
    for (int m = 0; m < 4; m++) {
      const uint32_t i = first + k * ROW_THREADS * words;
      if (i < n) x[k][m] = load_cell<Word, WHOLE>(in[m], i);
    }
  }
#pragma unroll
  for (int k = 0; k < ROW_CELLS; k++) {
    const uint32_t i = first + k * ROW_THREADS * words;
    const row_cell<Word>(&v)[4] = x[k];
    if (i < n) {
      store_cell<Word, WHOLE>(out[0], i, each_of<Word>([&](int l) { return product<Word>(v[0].x[l], v[2].x[l], p); }));
      store_cell<Word, WHOLE>(out[1], i, each_of<Word>([&](int l) {
                                return tensor_middle<Word>(v[0].x[l], v[1].x[l], v[2].x[l], v[3].x[l], p);
                              }));
      store_cell<Word, WHOLE>(out[2], i, each_of<Word>([&](int l) { return product<Word>(v[1].x[l], v[3].x[l], p); }));
    }
  }
}

// (a0 b0, a0 b1 + a1 b0, a1 b1). Row tables are [3][launch rows] for the result, [2][launch rows] for a and b; count is
// the number of launch rows.
template <class Word>
__device__ __forceinline__ void tensor_kernel(const hx_cuda_args_t &args) {
  const uint32_t row = blockIdx.x >> args.x, rows = args.count;
  const hx_cuda_prime_t *p = prime_of(args, row);
  const Word *in[4];
  Word *out[3];
  bool whole = true;
#pragma unroll
  for (int m = 0; m < 4; m++) {
    in[m] = operand_row<Word>(args, m < 2 ? HX_CUDA_A : HX_CUDA_B, row + m % 2 * rows);
    whole = whole && begins_whole(in[m]);
  }
#pragma unroll
  for (int c = 0; c < 3; c++) {
    out[c] = (Word *)operand_row<Word>(args, HX_CUDA_OUT, row + c * rows);
    whole = whole && begins_whole(out[c]);
  }
  if (whole) {
    tensor_cells<Word, true>(args, p, in, out);
  } else {
    tensor_cells<Word, false>(args, p, in, out);
  }
}

// out = [out +] sum of `count` products of rows; args.op: 1 adds to what out holds.
template <class Word>
__device__ __forceinline__ void dot_kernel(const hx_cuda_args_t &args) {
  const uint32_t row = blockIdx.x >> args.x, n = 1u << args.log_n;
  const uint32_t first = (blockIdx.x & ((1u << args.x) - 1)) * (ROW_THREADS * ROW_EACH) + threadIdx.x;
  const hx_cuda_prime_t *p = prime_of(args, row);
  Word *out = (Word *)operand_row<Word>(args, HX_CUDA_OUT, row);
  fold_turn<Word> turn;
  product_sum<Word> sum[ROW_EACH];
#pragma unroll
  for (int k = 0; k < ROW_EACH; k++) {
    const uint32_t i = first + k * ROW_THREADS;
    sum[k] = product_sum<Word>(args.op == 1 && i < n ? out[i] : 0);
  }
  for (uint32_t t = 0; t < args.count; t++) {
    if (turn.due()) {
#pragma unroll
      for (int k = 0; k < ROW_EACH; k++) {
        sum[k].fold(p);
      }
    }
    const Word *a = (const Word *)args.more[t] + ((const uint64_t *)args.more_rows[t])[row];
    const Word *b =
        (const Word *)args.more[HX_CUDA_DOT_MAX + t] + ((const uint64_t *)args.more_rows[HX_CUDA_DOT_MAX + t])[row];
#pragma unroll
    for (int k = 0; k < ROW_EACH; k++) {
      const uint32_t i = first + k * ROW_THREADS;
      if (i < n) sum[k].add(a[i], b[i]);
    }
  }
#pragma unroll
  for (int k = 0; k < ROW_EACH; k++) {
    const uint32_t i = first + k * ROW_THREADS;
    if (i < n) out[i] = sum[k].residue(p);
  }
}

// Two neighbouring elements of a row.
template <class Word>
struct pair_of;
template <>
struct pair_of<uint64_t> {
  typedef ulonglong2 type;
};
template <>
struct pair_of<uint32_t> {
  typedef uint2 type;
};

// Key products of a polynomial's digits. Launch rows are [items][rows of Q_d and P]; row r has its digits' values at
// table B (count a row), of which digit table[r] (table: extra, uint32_t [rows]) is row r of A instead; keys at table
// C, [count][2] a row; results at table OUT, [2] a row. Each thread takes KEY_PAIRS pairs of neighbours; all rows begin
// at even places.
#define KEY_THREADS 128
#define KEY_PAIRS 2

template <class Word>
__device__ __forceinline__ void key_kernel(const hx_cuda_args_t &args) {
  typedef typename pair_of<Word>::type pair;
  const uint32_t row = blockIdx.x >> args.x, pairs = 1u << (args.log_n - 1);
  const uint32_t first = (blockIdx.x & ((1u << args.x) - 1)) * (KEY_THREADS * KEY_PAIRS) + threadIdx.x;
  const hx_cuda_prime_t *p = prime_of(args, row);
  const uint32_t own = ((const uint32_t *)args.extra)[row];
  fold_turn<Word> turn;
  product_sum<Word> sum[2][2 * KEY_PAIRS];
#pragma unroll 2
  for (uint32_t t = 0; t < args.count; t++) {
    const uint32_t at = row * args.count + t;
    const pair *d =
        (const pair *)(t == own ? operand_row<Word>(args, HX_CUDA_A, row) : operand_row<Word>(args, HX_CUDA_B, at));
    const pair *b = (const pair *)operand_row<Word>(args, HX_CUDA_C, 2 * at);
    const pair *a = (const pair *)operand_row<Word>(args, HX_CUDA_C, 2 * at + 1);
    pair x[KEY_PAIRS], y[KEY_PAIRS], z[KEY_PAIRS];
#pragma unroll
    for (int k = 0; k < KEY_PAIRS; k++) {
      const uint32_t i = min(first + k * KEY_THREADS, pairs - 1);
      x[k] = d[i];
      y[k] = __ldcs(b + i);
      z[k] = __ldcs(a + i);
    }
    if (turn.due()) {
#pragma unroll
      for (int k = 0; k < 4 * KEY_PAIRS; k++) {
        sum[k % 2][k / 2].fold(p);
      }
    }
#pragma unroll
    for (int k = 0; k < KEY_PAIRS; k++) {
      sum[0][2 * k].add(x[k].x, y[k].x);
      sum[0][2 * k + 1].add(x[k].y, y[k].y);
      sum[1][2 * k].add(x[k].x, z[k].x);
      sum[1][2 * k + 1].add(x[k].y, z[k].y);
    }
  }
#pragma unroll
  for (int c = 0; c < 2; c++) {
    pair *out = (pair *)operand_row<Word>(args, HX_CUDA_OUT, 2 * row + c);
#pragma unroll
    for (int k = 0; k < KEY_PAIRS; k++) {
      const uint32_t i = first + k * KEY_THREADS;
      pair result;
      result.x = sum[c][2 * k].residue(p);
      result.y = sum[c][2 * k + 1].residue(p);
      if (i < pairs) out[i] = result;
    }
  }
}

// out = sum over `count` items of a, `stride` elements apart.
template <class Word>
__device__ __forceinline__ void sum_kernel(const hx_cuda_args_t &args) {
  const uint32_t row = blockIdx.x >> args.x, n = 1u << args.log_n;
  const uint32_t first = (blockIdx.x & ((1u << args.x) - 1)) * (ROW_THREADS * ROW_EACH) + threadIdx.x;
  const uint64_t q = prime_of(args, row)->q;
  const Word *a = operand_row<Word>(args, HX_CUDA_A, row);
  Word *out = (Word *)operand_row<Word>(args, HX_CUDA_OUT, row);
  for (int k = 0; k < ROW_EACH; k++) {
    const uint32_t i = first + k * ROW_THREADS;
    if (i < n) {
      uint64_t sum = 0;
      for (uint32_t t = 0; t < args.count; t++) {
        sum = mod_once(sum + a[t * args.stride + i], q);
      }
      out[i] = (Word)sum;
    }
  }
}

// args.op: 0 ntt domain, 1 coefficients; args.y: the element, or for coefficients its inverse mod 2n: out[j] is a[t]
// for t = j * inverse mod 2n below n, else -a[t - n].
template <class Word>
__device__ __forceinline__ void permute_kernel(const hx_cuda_args_t &args) {
  const uint32_t row = blockIdx.x >> args.x, n = 1u << args.log_n;
  const uint32_t first = (blockIdx.x & ((1u << args.x) - 1)) * (ROW_THREADS * ROW_EACH) + threadIdx.x;
  const Word *a = operand_row<Word>(args, HX_CUDA_A, row);
  Word *out = (Word *)operand_row<Word>(args, HX_CUDA_OUT, row);
#pragma unroll
  for (int k = 0; k < ROW_EACH; k++) {
    const uint32_t i = first + k * ROW_THREADS;
    if (i < n) {
      if (args.op == 0) {
        out[i] = a[permuted_place(i, args.y, args.log_n)];
      } else {
        const uint64_t q = prime_of(args, row)->q;
        const uint32_t t = i * args.y & (2 * n - 1);
        const uint64_t x = a[t & (n - 1)];
        out[i] = (Word)(t < n ? x : mod_once(q - x, q));
      }
    }
  }
}

// Signed words to residues: |x| mod q, or its negative.
template <class Word>
__device__ __forceinline__ void lift_kernel(const hx_cuda_args_t &args) {
  const uint32_t row = blockIdx.x >> args.x, n = 1u << args.log_n;
  const uint32_t first = (blockIdx.x & ((1u << args.x) - 1)) * (ROW_THREADS * ROW_EACH) + threadIdx.x;
  const hx_cuda_prime_t *p = prime_of(args, row);
  const int64_t *a = (const int64_t *)args.base[HX_CUDA_A] + ((const uint64_t *)args.rows[HX_CUDA_A])[row];
  Word *out = (Word *)operand_row<Word>(args, HX_CUDA_OUT, row);
  for (int k = 0; k < ROW_EACH; k++) {
    const uint32_t i = first + k * ROW_THREADS;
    if (i < n) {
      const uint64_t x = (uint64_t)a[i], sign = 0 - (x >> 63), size = (x ^ sign) - sign;
      const uint64_t r = mod_once(mod_word(size, p->ratio, p->q), p->q), negative = mod_once(p->q - r, p->q);
      out[i] = (Word)((r & ~sign) | (negative & sign));
    }
  }
}

#endif
