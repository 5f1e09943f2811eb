// SPDX-License-Identifier: Apache-2.0
// Transforms of rows of 32-bit words in 32-bit arithmetic, primes below 2^31. The columns are those of ntt.cuh, the rows
// are here.
//
// Twiddles are pairs of words (value, Shoup's quotient). Node v = (u << t) + j, j < 2^t, of a tree has table[u << t] *
// table[j], since a power's exponent is v's bits reversed. So the last four stages, to which 15 of 16 nodes belong, need
// four twiddles for 16 values, table[u], table[2u], table[4u] and table[8u], and table[1] to table[7], which all threads
// share: a third of the bytes for a seventh more products. A table of n points is
//   n < 4096    table[0 .. n)
//   else        table[0 .. n/16), then those four of u = n/16, n/16 + 1, ... n/8 - 1
#ifndef HX_CUDA_KERNELS_WORDS_CUH
#define HX_CUDA_KERNELS_WORDS_CUH

#include "copy.cuh"
#include "ntt.cuh"

// COUNT neighbours of a row.
template <int COUNT>
struct alignas(4 * COUNT) words {
  uint32_t x[COUNT];
};

// Forward values in [0, 2q), backward in [0, q).
struct word_path {
  static constexpr bool tight = false;
  typedef uint32_t value;
  typedef uint2 twiddle;
  uint32_t q;
  const twiddle *table;

  __device__ __forceinline__ word_path(const hx_cuda_prime_t *p, bool backward)
      : q((uint32_t)p->q), table((const twiddle *)(backward ? p->word_backward : p->word_forward)) {}
  __device__ __forceinline__ value load(uint32_t word) const { return word; }
  __device__ __forceinline__ value reduce(value x) const { return x; }
  __device__ __forceinline__ void stores_follow() const { let_next_begin(); }
  __device__ __forceinline__ uint32_t store(value x) const { return word_once(x, q); }
  __device__ __forceinline__ twiddle at(uint32_t node) const { return __ldg(table + node); }
  template <int COUNT>
  __device__ __forceinline__ void fetch(uint32_t node, twiddle (&w)[COUNT]) const {
    load_neighbours(table + node, w);
  }
  __device__ __forceinline__ value times(value x, twiddle w) const { return word_shoup(x, w.x, w.y, q); }
  __device__ __forceinline__ value times(value x, const hx_cuda_factor_t &f) const {
    return word_shoup(x, (uint32_t)f.value, (uint32_t)(f.quotient >> 32), q);
  }
  // x + y w, x - y w: both terms are brought below q first.
  __device__ __forceinline__ void split(value &x, value &y, twiddle w) const {
    const uint32_t a = word_once(x, q), b = word_once(times(y, w), q);
    x = a + b;
    y = a + q - b;
  }
  // x + y, (x - y) w: both are brought below q.
  __device__ __forceinline__ void join(value &x, value &y, twiddle w) const {
    const uint32_t a = x, b = y;
    x = word_once(a + b, q);
    y = word_once(times(a + q - b, w), q);
  }
  __device__ __forceinline__ uint32_t finish(value x, const hx_cuda_finish_t &f) const {
    return word_once(word_once(times(x, f.factor), q) + (uint32_t)f.add, q);
  }
};

// They have waited when they begin.
__device__ __forceinline__ void wait_late(const word_path &) {}

// Middle results need no reduction.
__device__ __forceinline__ void store_middle(const word_path &, uint32_t *to, uint32_t x) { *to = x; }

// The last four stages of node u's subtree: a twiddle is one of u's four, times one that does not depend on u but for
// the first of each stage.
struct word_step : word_path {
  struct twiddle {
    uint2 own, shared;
    bool first;
  };
  uint2 own[4], shared[8];

  // `place`: u less n/16.
  __device__ __forceinline__ word_step(const word_path &path, uint32_t log_n, uint32_t place)
      : word_path(path) {
    const uint4 *from = (const uint4 *)(table + (1u << (log_n - 4)) + 4 * place), *all = (const uint4 *)table;
#pragma unroll
    for (int i = 0; i < 2; i++) {
      const uint4 pair = __ldg(from + i);
      own[2 * i] = uint2{pair.x, pair.y};
      own[2 * i + 1] = uint2{pair.z, pair.w};
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const uint4 pair = __ldg(all + i);
      shared[2 * i] = uint2{pair.x, pair.y};
      shared[2 * i + 1] = uint2{pair.z, pair.w};
    }
  }
  template <int COUNT>
  __device__ __forceinline__ void fetch(uint32_t, twiddle (&w)[COUNT]) const {
    constexpr int stage = COUNT == 1 ? 0 : COUNT == 2 ? 1 : COUNT == 4 ? 2 : 3;
#pragma unroll
    for (int j = 0; j < COUNT; j++) {
      w[j] = twiddle{own[stage], shared[j], j == 0};
    }
  }
  __device__ __forceinline__ void split(value &x, value &y, twiddle w) const {
    if (!w.first) y = times(y, w.shared);
    word_path::split(x, y, w.own);
  }
  __device__ __forceinline__ void join(value &x, value &y, twiddle w) const {
    const uint32_t a = x, b = y, d = a + q - b;
    x = word_once(a + b, q);
    y = word_once(times(w.first ? d : times(d, w.shared), w.own), q);
  }
};

// ---- rows of 256 points: 16 threads each, 8 rows a block. Thread g begins with the places k * 16 + g and ends with g * 16
// + k. In the exchange value (g, k) of a row lies at k * 17 + g; 272 words on lies the next row of the warp: both ways of
// reading touch every bank once.

__device__ __forceinline__ void words_across(uint32_t (&v)[16], uint32_t *own, uint32_t g) {
  uint32_t *to = own + g, *from = own + 17 * g;
#pragma unroll
  for (int k = 0; k < 16; k++) {
    to[k * 17] = v[k];
  }
  __syncwarp();
#pragma unroll
  for (int k = 0; k < 16; k++) {
    v[k] = from[k];
  }
  __syncwarp();
}

// The way back.
__device__ __forceinline__ void words_along(uint32_t (&v)[16], uint32_t *own, uint32_t g) {
  uint32_t *to = own + 17 * g, *from = own + g;
#pragma unroll
  for (int k = 0; k < 16; k++) {
    to[k] = v[k];
  }
  __syncwarp();
#pragma unroll
  for (int k = 0; k < 16; k++) {
    v[k] = from[k * 17];
  }
}

// Thread g's places g * 16 + k as fours of words, i of them; the row's pairs of neighbours i * 16 + g, i < 8. Four i of
// thread g lies at i ^ g / 2 mod 4 of its own, so that both ways touch every bank once.
__device__ __forceinline__ words<4> *four_place(uint32_t *own, uint32_t g, uint32_t i) {
  return (words<4> *)own + 4 * g + (i ^ (g >> 1 & 3));
}
__device__ __forceinline__ words<2> *pair_place(uint32_t *own, uint32_t g, uint32_t i) {
  return (words<2> *)own + (g >> 3) * 8 + (g & 1) + 2 * ((g >> 1 & 3) ^ (i & 3)) + 16 * i;
}

__device__ __forceinline__ void words_to_pairs(const uint32_t (&v)[16], words<2> (&pairs)[8], uint32_t *own,
                                               uint32_t g) {
#pragma unroll
  for (int i = 0; i < 4; i++) {
    *four_place(own, g, i) = words<4>{{v[4 * i], v[4 * i + 1], v[4 * i + 2], v[4 * i + 3]}};
  }
  __syncwarp();
#pragma unroll
  for (int i = 0; i < 8; i++) {
    pairs[i] = *pair_place(own, g, i);
  }
}

__device__ __forceinline__ void pairs_to_words(const words<2> (&pairs)[8], uint32_t (&v)[16], uint32_t *own,
                                               uint32_t g) {
#pragma unroll
  for (int i = 0; i < 8; i++) {
    *pair_place(own, g, i) = pairs[i];
  }
  __syncwarp();
#pragma unroll
  for (int i = 0; i < 4; i++) {
    const words<4> four = *four_place(own, g, i);
#pragma unroll
    for (int k = 0; k < 4; k++) {
      v[4 * i + k] = four.x[k];
    }
  }
  __syncwarp();
}

__device__ __forceinline__ words<2> stored(const word_path &path, words<2> x) {
  return words<2>{{path.store(x.x[0]), path.store(x.x[1])}};
}

// Where 16 threads work: their row of 256 points among those of the transform, from `first` on.
struct word_chunk {
  uint32_t g, chunk, root, first;
  uint32_t *own;

  __device__ __forceinline__ word_chunk(uint32_t log_n, uint32_t tile, uint32_t *shared)
      : g(threadIdx.x % 16), chunk(tile * (NTT_THREADS / 16) + threadIdx.x / 16) {
    root = (1u << (log_n - 8)) + chunk;
    first = chunk * 256;
    own = shared + threadIdx.x / 16 * HX_CUDA_WORD_EXCHANGE;
  }
  // The thread's words, 16 apart, and pairs, 16 pairs apart.
  template <class T>
  __device__ __forceinline__ T *places(T *row) const {
    return row + first + g;
  }
  __device__ __forceinline__ const words<2> *pairs(const uint32_t *row) const {
    return (const words<2> *)(row + first) + g;
  }
  __device__ __forceinline__ words<2> *pairs(uint32_t *row) const { return (words<2> *)(row + first) + g; }
};

// The places of an automorphism keep pairs of neighbours together, in either order.
__device__ __forceinline__ void store_pair(const forward_end<uint32_t> &end, uint32_t *out, uint32_t i, words<2> x) {
  const uint32_t to = end.place(i);
  *(words<2> *)(out + (to & ~1u)) = (to & 1) == 0 ? x : words<2>{{x.x[1], x.x[0]}};
}

// forward_end follows, as in ntt.cuh.
__device__ __forceinline__ void forward_word_rows(const hx_cuda_args_t &args, uint32_t *shared) {
  const ntt_place<uint32_t> at(args, args.x);
  const word_chunk c(args.log_n, at.tile, shared);
  const word_path path(at.prime, false);
  const word_step step(path, args.log_n, c.chunk * 16 + c.g);
  uint32_t v[16];
  words<2> pairs[8];
  const uint32_t *in = c.places(at.in);
#pragma unroll
  for (int k = 0; k < 16; k++) {
    v[k] = in[k * 16];
  }
  forward_step<4>(path, v, c.root);
  words_across(v, c.own, c.g);
  forward_step<4>(step, v, 0);
  words_to_pairs(v, pairs, c.own, c.g);
  path.stores_follow();
  if (args.z == 0) {
    words<2> *out = c.pairs(at.out);
#pragma unroll
    for (int i = 0; i < 8; i++) {
      out[i * 16] = stored(path, pairs[i]);
    }
    return;
  }
  const forward_end<uint32_t> end(args, at.row);
#pragma unroll
  for (int m = 0; m < 2; m++) {
    const words<2> *from = c.pairs(m == 0 ? end.b : end.c);
    if (m == 1 && end.c == NULL) break;
#pragma unroll
    for (int i = 0; i < 8; i++) {
      const words<2> y = from[i * 16];
#pragma unroll
      for (int l = 0; l < 2; l++) {
        pairs[i].x[l] = word_once(pairs[i].x[l], path.q) + word_once(path.times(y.x[l], end.scale[m]), path.q);
      }
    }
  }
#pragma unroll
  for (int i = 0; i < 8; i++) {
    store_pair(end, at.out, c.first + 2 * (i * 16 + c.g), stored(path, pairs[i]));
  }
}

__device__ __forceinline__ void backward_word_rows(const hx_cuda_args_t &args, uint32_t *shared) {
  const ntt_place<uint32_t> at(args, args.x);
  const word_chunk c(args.log_n, at.tile, shared);
  const word_path path(at.prime, true);
  const word_step step(path, args.log_n, c.chunk * 16 + c.g);
  uint32_t v[16];
  words<2> pairs[8];
  const words<2> *in = c.pairs(at.in);
#pragma unroll
  for (int i = 0; i < 8; i++) {
    pairs[i] = in[i * 16];
  }
  pairs_to_words(pairs, v, c.own, c.g);
  backward_step<4>(step, v, 0);
  words_along(v, c.own, c.g);
  backward_step<4>(path, v, c.root);
  path.stores_follow();
  uint32_t *out = c.places(at.out);
#pragma unroll
  for (int k = 0; k < 16; k++) {
    out[k * 16] = v[k];
  }
}

// ---- key products

// The rows of the transforms, then the key products of a row: key_kernel over what the columns have left (table B), with
// the same tables. A thread's values and key words of the next steps are copied to places of shared memory that it alone
// reads.
__device__ __forceinline__ void key_word_rows(const hx_cuda_args_t &args, uint32_t *shared) {
  const uint32_t row = blockIdx.x >> args.x, tile = blockIdx.x & ((1u << args.x) - 1);
  const word_chunk c(args.log_n, tile, shared);
  const hx_cuda_prime_t *p = prime_of(args, row);
  const word_path path(p, false);
  const word_step step(path, args.log_n, c.chunk * 16 + c.g);
  const uint32_t own = ((const uint32_t *)args.extra)[row];
  uint32_t *values = shared + 8 * HX_CUDA_WORD_EXCHANGE + 2 * threadIdx.x;  // where the thread's own pairs are
  words<2> *pairs = (words<2> *)(shared + 8 * HX_CUDA_WORD_EXCHANGE) + threadIdx.x, *keys = pairs + 8 * NTT_THREADS;
  product_sum<uint32_t> sum[2][16];
  fold_turn<uint32_t> turn;
  const auto stage_pairs = [&](words<2> *to, const uint32_t *from) {
#pragma unroll
    for (int i = 0; i < 8; i++) {
      copy_8(to + i * NTT_THREADS, c.pairs(from) + i * 16);
    }
  };
  const auto stage_values = [&](uint32_t t) {
    if (t == own) {
      stage_pairs(pairs, operand_row<uint32_t>(args, HX_CUDA_A, row));
      return;
    }
    const uint32_t *from = c.places(operand_row<uint32_t>(args, HX_CUDA_B, row * args.count + t));
#pragma unroll
    for (int k = 0; k < 16; k++) {
      copy_4(values + k / 2 * 2 * NTT_THREADS + k % 2, from + k * 16);
    }
  };
  const auto stage_keys = [&](uint32_t t) {
    for (int m = 0; m < 2; m++) {
      stage_pairs(keys + m * 8 * NTT_THREADS, operand_row<uint32_t>(args, HX_CUDA_C, 2 * (row * args.count + t) + m));
    }
  };
  stage_values(0);
  end_copies();
  stage_keys(0);
  end_copies();
  for (uint32_t t = 0; t < args.count; t++) {
    words<2> x[8];
    copies_left<1>();
    if (t == own) {
#pragma unroll
      for (int i = 0; i < 8; i++) {
        x[i] = pairs[i * NTT_THREADS];
      }
    } else {
      uint32_t v[16];
#pragma unroll
      for (int k = 0; k < 16; k++) {
        v[k] = values[k / 2 * 2 * NTT_THREADS + k % 2];
      }
      forward_step<4>(path, v, c.root);
      words_across(v, c.own, c.g);
      forward_step<4>(step, v, 0);
      words_to_pairs(v, x, c.own, c.g);
      __syncwarp();
    }
    if (t + 1 < args.count) {
      stage_values(t + 1);
    }
    end_copies();
    copies_left<1>();
    if (turn.due()) {
#pragma unroll
      for (int i = 0; i < 32; i++) {
        sum[i / 16][i % 16].fold(p);
      }
    }
#pragma unroll
    for (int i = 0; i < 8; i++) {
      x[i] = stored(path, x[i]);
#pragma unroll
      for (int m = 0; m < 2; m++) {
        const words<2> key = keys[(m * 8 + i) * NTT_THREADS];
#pragma unroll
        for (int l = 0; l < 2; l++) {
          sum[m][2 * i + l].add(x[i].x[l], key.x[l]);
        }
      }
    }
    if (t + 1 < args.count) {
      stage_keys(t + 1);
    }
    end_copies();
  }
#pragma unroll
  for (int m = 0; m < 2; m++) {
    words<2> *out = c.pairs((uint32_t *)operand_row<uint32_t>(args, HX_CUDA_OUT, 2 * row + m));
#pragma unroll
    for (int i = 0; i < 8; i++) {
      out[i * 16] = words<2>{{sum[m][2 * i].residue(p), sum[m][2 * i + 1].residue(p)}};
    }
  }
}

#endif
