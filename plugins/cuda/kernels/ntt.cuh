// SPDX-License-Identifier: Apache-2.0
// Transforms. A row of 2^log_n points, log_n >= 12, is a matrix of 2^a rows of 256: forward, the columns are
// transformed first (in one kernel), then the rows (in another); backward the other way round. Each thread holds 16
// values and does up to four stages on them in registers; one exchange through shared memory lies between two such
// steps.
//
// Node v of the tree of stages has twiddle table[v]; stage t below it has the nodes (v << t) + j. The whole row is node
// 1; of 2^17 points the first stage is done apart and the columns begin at nodes 2 and 3.
#ifndef HX_CUDA_KERNELS_NTT_CUH
#define HX_CUDA_KERNELS_NTT_CUH

#include "arith.h"
#include "copy.cuh"
#include "rows.cuh"

#define NTT_THREADS 128
#define HALF_THREADS 256

// Integer path: forward values in [0, 4q), backward in [0, 2q).
struct integer_path {
  typedef uint64_t value;
  typedef ulonglong2 twiddle;
  uint64_t q, two_q;
  const twiddle *table;
  bool tight;

  __device__ __forceinline__ integer_path(const hx_cuda_prime_t *p, bool backward)
      : q(p->q), two_q(p->two_q), table((const twiddle *)(backward ? p->backward : p->forward)), tight(false) {}
  __device__ __forceinline__ value load(uint64_t word) const { return word; }
  __device__ __forceinline__ value load_bits(uint64_t bits) const { return bits; }
  __device__ __forceinline__ uint64_t bits(value x) const { return x; }
  __device__ __forceinline__ uint64_t store(value x) const { return mod_once(mod_once(x, two_q), q); }
  __device__ __forceinline__ value reduce(value x) const { return x; }
  __device__ __forceinline__ void stores_follow() const {}
  __device__ __forceinline__ twiddle at(uint32_t node) const { return __ldg(table + node); }
  template <int COUNT>
  __device__ __forceinline__ void fetch(uint32_t node, twiddle (&w)[COUNT]) const {
#pragma unroll
    for (int j = 0; j < COUNT; j++) {
      w[j] = at(node + j);
    }
  }
  // x + y w, x - y w: x is brought below 2q first.
  __device__ __forceinline__ void split(value &x, value &y, twiddle w) const {
    const uint64_t a = mod_once(x, two_q), b = mod_shoup(y, w.x, w.y, q);
    x = a + b;
    y = a - b + two_q;
  }
  // x + y, (x - y) w: sums are brought below 2q.
  __device__ __forceinline__ void join(value &x, value &y, twiddle w) const {
    const uint64_t a = x, b = y;
    x = mod_once(a + b, two_q);
    y = mod_shoup(a - b + two_q, w.x, w.y, q);
  }
  __device__ __forceinline__ uint64_t product(uint64_t x, uint64_t y, const hx_cuda_prime_t *p) const {
    return mod_mul(x, y, p);
  }
  __device__ __forceinline__ uint64_t finish(value x, const hx_cuda_finish_t &f) const {
    return mod_once(mod_once(mod_shoup(x, f.factor.value, f.factor.quotient, q), q) + f.add, q);
  }
};

// Two twiddles by one load.
__device__ __forceinline__ void load_pair(const double *from, double *w) {
  const double2 pair = __ldg((const double2 *)from);
  w[0] = pair.x;
  w[1] = pair.y;
}
__device__ __forceinline__ void load_pair(const uint2 *from, uint2 *w) {
  const uint4 pair = __ldg((const uint4 *)from);
  w[0] = uint2{pair.x, pair.y};
  w[1] = uint2{pair.z, pair.w};
}

// Neighbours by pairs; from lies at an even place where COUNT is even.
template <class Twiddle, int COUNT>
__device__ __forceinline__ void load_neighbours(const Twiddle *from, Twiddle (&w)[COUNT]) {
  if constexpr (COUNT == 1) {
    w[0] = __ldg(from);
  } else {
#pragma unroll
    for (int j = 0; j < COUNT; j += 2) {
      load_pair(from + j, w + j);
    }
  }
}

// Real path. Forward, in units of q: loads are at most 1, four stages bring 1 to 4.0 (each adds 1/2 + B/8), so where q
// is above 2^46 (`tight`) values are reduced after four stages; below it seventeen stages stay under 12 q < 2^50.
// Backward: two stages bring sums from 1 to 4, then they are reduced; not tight: after four stages, below 16 q.
struct real_path {
  typedef double value;
  typedef double twiddle;
  double q, inverse;
  const double *table;
  bool tight;

  __device__ __forceinline__ real_path(const hx_cuda_prime_t *p, bool backward)
      : q(p->real_q),
        inverse(p->real_inverse),
        table((const double *)(backward ? p->real_backward : p->real_forward)),
        tight(p->tight != 0) {}
  __device__ __forceinline__ value load(uint64_t word) const { return real_load(word); }
  __device__ __forceinline__ value load_bits(uint64_t bits) const { return real_of_bits(bits); }
  __device__ __forceinline__ uint64_t bits(value x) const { return real_bits(x); }
  __device__ __forceinline__ uint64_t store(value x) const { return real_store(x, q, inverse); }
  __device__ __forceinline__ value reduce(value x) const { return real_reduce(x, q, inverse); }
  __device__ __forceinline__ void stores_follow() const {}
  __device__ __forceinline__ twiddle at(uint32_t node) const { return __ldg(table + node); }
  // Neighbours by pairs: `node` is even where COUNT is.
  template <int COUNT>
  __device__ __forceinline__ void fetch(uint32_t node, twiddle (&w)[COUNT]) const {
    load_neighbours(table + node, w);
  }
  __device__ __forceinline__ void split(value &x, value &y, twiddle w) const {
    const double a = x, b = real_mul(y, w, q, inverse);
    x = a + b;
    y = a - b;
  }
  __device__ __forceinline__ void join(value &x, value &y, twiddle w) const {
    const double a = x, b = y;
    x = a + b;
    y = real_mul(a - b, w, q, inverse);
  }
  // Of residues.
  __device__ __forceinline__ uint64_t product(uint64_t x, uint64_t y, const hx_cuda_prime_t *) const {
    return real_word(real_mul(real_load(x), reduce(real_load(y)), q, inverse), q);
  }
  __device__ __forceinline__ uint64_t finish(value x, const hx_cuda_finish_t &f) const {
    return mod_once(real_word(real_mul(x, f.real, q, inverse), q) + f.add, (uint64_t)q);
  }
};

// Waits for the launch before, once a kernel knows where it works: row tables, primes and twiddles are no launch's
// result.
template <class P>
__device__ __forceinline__ void wait_late(const P &) {
  wait_for_previous();
}

// R stages on 16 values: 16 >> R groups of 2^R adjacent ones, whose nodes are `node` and the next ones. Every index is
// a constant, so that values stay in registers: stages are written by recursion, pairs by one flat loop.
// Twiddles come from a `source`: get<T> gives those of stage T.
template <class P>
struct table_source {
  const P &path;
  uint32_t node;
  template <int T, int COUNT>
  __device__ __forceinline__ void get(typename P::twiddle (&w)[COUNT]) const {
    path.fetch(node << T, w);
  }
};

// Twiddles of the last four stages of a row, to which 15 of 16 nodes belong: as many bytes as the row has, if all are
// read. Node (u << t) + j, j < 2^t, has table[u << t] * table[j], since a power's exponent is its node's bits reversed,
// and table[u << t] is the square of table[u << (t + 1)]. On the real path table[u << 3] alone is read, with table[1]
// to table[7] that all threads share.
//
// In units of q: a product of a twiddle of at most 1/2 by one, and products of such, are at most 1/2 + e (9/16)^2 <
// 0.58. A factor of 0.58 in place of 1/2 makes a stage's product at most 1/2 + 0.58 B e: forward, values below 3/4 when
// these stages begin (tight: reduced) reach 2.9 before the last of them and 3.8 after it, backward sums are reduced at
// 4; so every product is below q and what is stored or reduced below 4 q. Not tight, e <= 2^-6 and B <= 16: below 0.65
// q.
template <class P>
struct last_source : table_source<P> {
  __device__ __forceinline__ last_source(const P &p, uint32_t n) : table_source<P>{p, n} {}
};
template <>
struct last_source<real_path> {
  const real_path &path;
  double first[4];  // of each stage

  __device__ __forceinline__ last_source(const real_path &p, uint32_t node) : path(p) {
    first[3] = p.at(node << 3);
#pragma unroll
    for (int t = 2; t >= 0; t--) {
      first[t] = times(first[t + 1], first[t + 1]);
    }
  }
  __device__ __forceinline__ double times(double x, double y) const { return real_mul(x, y, path.q, path.inverse); }
  template <int T, int COUNT>
  __device__ __forceinline__ void get(double (&w)[COUNT]) const {
    path.fetch(0, w);
    w[0] = first[T];
#pragma unroll
    for (int j = 1; j < COUNT; j++) {
      w[j] = times(first[T], w[j]);
    }
  }
};

template <int R, int T, class P, class S>
__device__ __forceinline__ void forward_stages(const P &path, const S &source, typename P::value (&v)[16]) {
  if constexpr (T < R) {
    constexpr int half = 1 << (R - 1 - T), blocks = 8 / half;
    typename P::twiddle w[blocks];
    source.template get<T>(w);
#pragma unroll
    for (int k = 0; k < 8; k++) {
      const int low = k / half * 2 * half + k % half;
      path.split(v[low], v[low + half], w[k / half]);
    }
    forward_stages<R, T + 1>(path, source, v);
  }
}

template <int R, class P>
__device__ __forceinline__ void forward_step(const P &path, typename P::value (&v)[16], uint32_t node) {
  forward_stages<R, 0>(path, table_source<P>{path, node}, v);
}

template <class P>
__device__ __forceinline__ void reduce_all(const P &path, typename P::value (&v)[16]) {
#pragma unroll
  for (int k = 0; k < 16; k++) {
    v[k] = path.reduce(v[k]);
  }
}

// Stages T to LAST.
template <int R, int T, int LAST, class P, class S>
__device__ __forceinline__ void backward_stages(const P &path, const S &source, typename P::value (&v)[16]) {
  if constexpr (T >= LAST) {
    constexpr int half = 1 << (R - 1 - T), blocks = 8 / half;
    typename P::twiddle w[blocks];
    source.template get<T>(w);
#pragma unroll
    for (int k = 0; k < 8; k++) {
      const int low = k / half * 2 * half + k % half;
      path.join(v[low], v[low + half], w[k / half]);
    }
    if (T == 0 || ((R - T) % 2 == 0 && path.tight)) {
      reduce_all(path, v);
    }
    backward_stages<R, T - 1, LAST>(path, source, v);
  }
}

template <int R, class P>
__device__ __forceinline__ void backward_step(const P &path, typename P::value (&v)[16], uint32_t node) {
  backward_stages<R, R - 1, 0>(path, table_source<P>{path, node}, v);
}

// Where a block works.
template <class Word>
struct ntt_place {
  const hx_cuda_prime_t *prime;
  Word *out;
  const Word *in;
  uint32_t row, tile;

  __device__ __forceinline__ ntt_place(const hx_cuda_args_t &args, uint32_t log_tiles) {
    row = blockIdx.x >> log_tiles;
    tile = blockIdx.x & ((1u << log_tiles) - 1);
    prime = (const hx_cuda_prime_t *)args.primes + ((const uint32_t *)args.row_prime)[row];
    out = (Word *)args.base[HX_CUDA_OUT] + ((const uint64_t *)args.rows[HX_CUDA_OUT])[row];
    in = (const Word *)args.base[HX_CUDA_A] + ((const uint64_t *)args.rows[HX_CUDA_A])[row];
  }
};

// Middle results: 64-bit rows keep the path's own form, 32-bit rows hold residues.
template <class P>
__device__ __forceinline__ typename P::value load_middle(const P &path, uint64_t word) {
  return path.load_bits(word);
}
template <class P>
__device__ __forceinline__ typename P::value load_middle(const P &path, uint32_t word) {
  return path.load(word);
}
template <class P>
__device__ __forceinline__ void store_middle(const P &path, uint64_t *to, typename P::value x) {
  *to = path.bits(x);
}
template <class P>
__device__ __forceinline__ void store_middle(const P &path, uint32_t *to, typename P::value x) {
  *to = (uint32_t)path.store(x);
}

// What follows a forward transform: plus b times the row's first constant (args.z > 0), plus c times its second (args.z
// > 1, where the row has a c), stored at the places of an automorphism. Aligned blocks stay blocks under it, so stores
// stay coalesced.
template <class Word>
struct forward_end {
  hx_cuda_factor_t scale[2];
  const Word *b, *c;
  uint32_t element, log_n;

  __device__ __forceinline__ forward_end(const hx_cuda_args_t &args, uint32_t row)
      : b(NULL), c(NULL), element(args.element), log_n(args.log_n) {
    scale[0] = ((const hx_cuda_factor_t *)args.extra)[2 * row];
    scale[1] = ((const hx_cuda_factor_t *)args.extra)[2 * row + 1];
    b = (const Word *)args.base[HX_CUDA_B] + ((const uint64_t *)args.rows[HX_CUDA_B])[row];
    if (args.z > 1 && ((const uint64_t *)args.rows[HX_CUDA_C])[row] != HX_CUDA_NO_ROW) {
      c = (const Word *)args.base[HX_CUDA_C] + ((const uint64_t *)args.rows[HX_CUDA_C])[row];
    }
  }
  __device__ __forceinline__ uint32_t place(uint32_t i) const {
    return element == 0 ? i : permuted_place(i, element, log_n);
  }
  __device__ __forceinline__ uint64_t add(uint64_t x, uint64_t y, const hx_cuda_factor_t &f, uint64_t q) const {
    return mod_once(mod_once(x + mod_shoup(y, f.value, f.quotient, q), 2 * q), q);
  }
};

// Value k of thread g of a column of 2^(4 + R) points is point (k << R) + g in the stages next to the root and g * 16 + k
// in the others. DOWN: from the former to the latter. In shared memory, of 17 * 2^R points, there is a gap after every 16
// points, so that threads of different g do not touch the same banks.
template <int R, bool DOWN, class V>
__device__ __forceinline__ void exchange_columns(V *shared, V (&v)[16], uint32_t column, uint32_t g) {
  constexpr uint32_t columns = NTT_THREADS >> R;
  V *top = shared + g * columns + column, *low = shared + g * 17 * columns + column;
#pragma unroll
  for (int k = 0; k < 16; k++) {
    (DOWN ? top[((k << R) + (k << R >> 4)) * columns] : low[k * columns]) = v[k];
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < 16; k++) {
    v[k] = DOWN ? low[k * columns] : top[((k << R) + (k << R >> 4)) * columns];
  }
}

// Columns of 2^(4 + R) points; args.x: log of the tiles a row, args.y: root node of the first half (1, or 2 of two).
template <class P, class Word, int R>
__device__ __forceinline__ void forward_columns(const hx_cuda_args_t &args, typename P::value *shared) {
  const ntt_place<Word> at(args, args.x);
  const P path(at.prime, false);
  wait_late(path);
  constexpr uint32_t columns = NTT_THREADS >> R, per = 256 / columns;
  const uint32_t column = threadIdx.x % columns, g = threadIdx.x / columns;
  const uint32_t half = at.tile / per, first = half * (4096u << R) + at.tile % per * columns + column;
  const uint32_t root = args.y + half;
  const Word *in = at.in + first + g * 256;
  typename P::value v[16];
#pragma unroll
  for (int k = 0; k < 16; k++) {
    v[k] = path.load(in[(k << R) * 256]);
  }
  forward_step<4>(path, v, root);
  if (R > 0) {
    if (path.tight) {
      reduce_all(path, v);
    }
    exchange_columns<R, true>(shared, v, column, g);
    forward_step<R>(path, v, (root << 4) + g * (16 >> R));
  }
  if (path.tight) {
    reduce_all(path, v);
  }
  path.stores_follow();
  Word *out = at.out + first + (R > 0 ? g * 4096 : 0);
#pragma unroll
  for (int k = 0; k < 16; k++) {
    store_middle(path, out + k * 256, v[k]);
  }
}

// 256 points held by 16 threads, value k of thread g at place k * 16 + g, before and after. own: 256 places of shared
// memory, where value (k, g) lies at k * 16 + (g ^ k), so that both ways of reading touch every bank once. Threads
// write what they alone have read there, but for the first time.
template <class P, class S, class T>
__device__ __forceinline__ void forward_256(const P &path, const S &first, const T &second, typename P::value (&v)[16],
                                            typename P::value *own, uint32_t g) {
  forward_stages<4, 0>(path, first, v);
  __syncwarp();
#pragma unroll
  for (int k = 0; k < 16; k++) {
    own[k * 16 + (g ^ k)] = path.tight ? path.reduce(v[k]) : v[k];
  }
  __syncwarp();
#pragma unroll
  for (int k = 0; k < 16; k++) {
    v[k] = own[g * 16 + (k ^ g)];
  }
  forward_stages<4, 0>(path, second, v);
#pragma unroll
  for (int k = 0; k < 16; k++) {
    own[g * 16 + (k ^ g)] = v[k];
  }
  __syncwarp();
#pragma unroll
  for (int k = 0; k < 16; k++) {
    v[k] = own[k * 16 + (g ^ k)];
  }
}

// The inverse of it; `first` has the twiddles of the step that comes first, of node (root << 4) + g.
template <class P, class S>
__device__ __forceinline__ void backward_256(const P &path, const S &first, typename P::value (&v)[16],
                                             typename P::value *own, uint32_t root, uint32_t g) {
  __syncwarp();
#pragma unroll
  for (int k = 0; k < 16; k++) {
    own[k * 16 + (g ^ k)] = v[k];
  }
  __syncwarp();
#pragma unroll
  for (int k = 0; k < 16; k++) {
    v[k] = own[g * 16 + (k ^ g)];
  }
  backward_stages<4, 3, 0>(path, first, v);
#pragma unroll
  for (int k = 0; k < 16; k++) {
    own[g * 16 + (k ^ g)] = v[k];
  }
  __syncwarp();
#pragma unroll
  for (int k = 0; k < 16; k++) {
    v[k] = own[k * 16 + (g ^ k)];
  }
  backward_step<4>(path, v, root);
}

// Rows of 256 points, 8 of them a block; every 16 threads exchange among themselves; forward_end follows.
template <class P, class Word>
__device__ __forceinline__ void forward_rows(const hx_cuda_args_t &args, typename P::value *shared) {
  const ntt_place<Word> at(args, args.x);
  const P path(at.prime, false);
  wait_late(path);
  const uint32_t g = threadIdx.x % 16, chunk = at.tile * (NTT_THREADS / 16) + threadIdx.x / 16;
  const uint32_t root = (1u << (args.log_n - 8)) + chunk, first = chunk * 256;
  typename P::value *own = shared + threadIdx.x / 16 * 256, v[16];
  const Word *in = at.in + first + g;
#pragma unroll
  for (int k = 0; k < 16; k++) {
    v[k] = load_middle(path, in[k * 16]);
  }
  forward_256(path, table_source<P>{path, root}, last_source<P>(path, (root << 4) + g), v, own, g);
  if (args.z == 0) {
    Word *out = at.out + first + g;
#pragma unroll
    for (int k = 0; k < 16; k++) {
      out[k * 16] = (Word)path.store(v[k]);
    }
    return;
  }
  const forward_end<Word> end(args, at.row);
  const uint64_t q = at.prime->q;
  uint64_t x[16], y[16];
#pragma unroll
  for (int k = 0; k < 16; k++) {
    y[k] = end.b[first + k * 16 + g];
  }
#pragma unroll
  for (int k = 0; k < 16; k++) {
    x[k] = end.add(path.store(v[k]), y[k], end.scale[0], q);
  }
  if (end.c != NULL) {
#pragma unroll
    for (int k = 0; k < 16; k++) {
      y[k] = end.c[first + k * 16 + g];
    }
#pragma unroll
    for (int k = 0; k < 16; k++) {
      x[k] = end.add(x[k], y[k], end.scale[1], q);
    }
  }
#pragma unroll
  for (int k = 0; k < 16; k++) {
    at.out[end.place(first + k * 16 + g)] = (Word)x[k];
  }
}

// What an inverse transform begins with: the rows of A; or, where there are rows of B, their products, which are kept
// in the rows of C.
template <class Word, class P>
__device__ __forceinline__ void load_backward(const hx_cuda_args_t &args, const P &path, const ntt_place<Word> &at,
                                              uint32_t first, typename P::value (&v)[16]) {
  const Word *a = at.in + first;
  if (args.base[HX_CUDA_B] == 0) {
#pragma unroll
    for (int k = 0; k < 16; k++) {
      v[k] = path.load(a[k * 16]);
    }
    return;
  }
  const Word *b = operand_row<Word>(args, HX_CUDA_B, at.row) + first;
  Word *product = (Word *)operand_row<Word>(args, HX_CUDA_C, at.row) + first;
  Word x[16], y[16];
#pragma unroll
  for (int k = 0; k < 16; k++) {
    x[k] = a[k * 16];
    y[k] = b[k * 16];
  }
#pragma unroll
  for (int k = 0; k < 16; k++) {
    const uint64_t z = path.product(x[k], y[k], at.prime);
    product[k * 16] = (Word)z;
    v[k] = path.load(z);
  }
}

template <class P, class Word>
__device__ __forceinline__ void backward_rows(const hx_cuda_args_t &args, typename P::value *shared) {
  const ntt_place<Word> at(args, args.x);
  const P path(at.prime, true);
  const uint32_t g = threadIdx.x % 16, chunk = at.tile * (NTT_THREADS / 16) + threadIdx.x / 16;
  const uint32_t root = (1u << (args.log_n - 8)) + chunk, first = chunk * 256;
  typename P::value *own = shared + threadIdx.x / 16 * 256, v[16];
  const last_source<P> source(path, (root << 4) + g);
  wait_late(path);
  load_backward<Word>(args, path, at, first + g, v);
  backward_256(path, source, v, own, root, g);
  Word *out = at.out + first + g;
#pragma unroll
  for (int k = 0; k < 16; k++) {
    store_middle(path, out + k * 16, v[k]);
  }
}

// The last step of a column and what ends the transform; value k goes to out[k * step].
template <class P, class Cell>
__device__ __forceinline__ void end_columns(const P &path, typename P::value (&v)[16], uint32_t root,
                                            const hx_cuda_finish_t &finish, Cell *out, uint32_t step) {
  backward_step<4>(path, v, root);
  path.stores_follow();
#pragma unroll
  for (int k = 0; k < 16; k++) {
    out[k * step] = (Cell)path.finish(v[k], finish);
  }
}
// Real path: the last stage takes the factor into its products, of sums and differences up to 2 q (tight) or 8 q.
template <class Cell>
__device__ __forceinline__ void end_columns(const real_path &path, double (&v)[16], uint32_t root,
                                            const hx_cuda_finish_t &finish, Cell *out, uint32_t step) {
  backward_stages<4, 3, 1>(path, table_source<real_path>{path, root}, v);
  const double last = real_mul(path.at(root), finish.real, path.q, path.inverse);
  const uint64_t q = real_bits(path.q + 4503599627370496.0) & 0xfffffffffffffu;
#pragma unroll
  for (int k = 0; k < 8; k++) {
    const double sum = real_mul(v[k] + v[k + 8], finish.real, path.q, path.inverse);
    const double difference = real_mul(v[k] - v[k + 8], last, path.q, path.inverse);
    out[k * step] = (Cell)mod_once(real_word(sum, path.q) + finish.add, q);
    out[(k + 8) * step] = (Cell)mod_once(real_word(difference, path.q) + finish.add, q);
  }
}

// args.z: 0: the last stages of the row, finished; 1: one more stage follows, so residues are stored.
template <class P, class Word, int R>
__device__ __forceinline__ void backward_columns(const hx_cuda_args_t &args, typename P::value *shared) {
  const ntt_place<Word> at(args, args.x);
  const P path(at.prime, true);
  wait_late(path);
  constexpr uint32_t columns = NTT_THREADS >> R, per = 256 / columns;
  const uint32_t column = threadIdx.x % columns, g = threadIdx.x / columns;
  const uint32_t half = at.tile / per, first = half * (4096u << R) + at.tile % per * columns + column;
  const uint32_t root = args.y + half;
  const Word *in = at.out + first + (R > 0 ? g * 4096 : 0);
  Word *out = at.out + first + g * 256;
  typename P::value v[16];
#pragma unroll
  for (int k = 0; k < 16; k++) {
    v[k] = load_middle(path, in[k * 256]);
  }
  if (R > 0) {
    backward_step<R>(path, v, (root << 4) + g * (16 >> R));
    exchange_columns<R, false>(shared, v, column, g);
  }
  if (args.z == 0) {
    end_columns(path, v, root, ((const hx_cuda_finish_t *)args.extra)[at.row], out, 256u << R);
    return;
  }
  backward_step<4>(path, v, root);
  path.stores_follow();
#pragma unroll
  for (int k = 0; k < 16; k++) {
    out[(k << R) * 256] = (Word)path.store(v[k]);
  }
}

// The first stage of 2^17 points, forward, or the last, backward, between the halves of a row: residues to residues.
template <class P, class Word>
__device__ __forceinline__ void half_stage(const hx_cuda_args_t &args, bool backward) {
  const ntt_place<Word> at(args, args.x);
  const P path(at.prime, backward);
  const uint32_t i = at.tile * HALF_THREADS + threadIdx.x, half = 1u << (args.log_n - 1);
  typename P::value x = path.load(at.in[i]), y = path.load(at.in[i + half]);
  if (backward) {
    const hx_cuda_finish_t finish = ((const hx_cuda_finish_t *)args.extra)[at.row];
    path.join(x, y, path.at(1));
    at.out[i] = (Word)path.finish(x, finish);
    at.out[i + half] = (Word)path.finish(y, finish);
  } else {
    path.split(x, y, path.at(1));
    at.out[i] = (Word)path.store(x);
    at.out[i + half] = (Word)path.store(y);
  }
}

// Rows of at most 2^11 points, one a block, in shared memory; the same ends as the large ones.
template <class P, class Word>
__device__ __forceinline__ void small_row(const hx_cuda_args_t &args, typename P::value *shared, bool backward) {
  const ntt_place<Word> at(args, 0);
  const P path(at.prime, backward);
  const uint32_t n = 1u << args.log_n, half = n / 2;
  for (uint32_t i = threadIdx.x; i < n; i += blockDim.x) {
    shared[i] = path.load(at.in[i]);
  }
  for (uint32_t s = 0; s < args.log_n; s++) {
    const uint32_t stage = backward ? args.log_n - 1 - s : s, distance = half >> stage;
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < half; i += blockDim.x) {
      const uint32_t block = i / distance, k = block * 2 * distance + i % distance;
      const typename P::twiddle w = path.at((1u << stage) + block);
      if (backward) {
        path.join(shared[k], shared[k + distance], w);
      } else {
        path.split(shared[k], shared[k + distance], w);
      }
    }
  }
  __syncthreads();
  if (backward) {
    const hx_cuda_finish_t finish = ((const hx_cuda_finish_t *)args.extra)[at.row];
    for (uint32_t i = threadIdx.x; i < n; i += blockDim.x) {
      at.out[i] = (Word)path.finish(shared[i], finish);
    }
    return;
  }
  for (uint32_t i = threadIdx.x; i < n; i += blockDim.x) {
    const uint64_t x = path.store(shared[i]);
    if (args.z == 0) {
      at.out[i] = (Word)x;
    } else {
      const forward_end<Word> end(args, at.row);
      uint64_t sum = end.add(x, end.b[i], end.scale[0], at.prime->q);
      if (end.c != NULL) sum = end.add(sum, end.c[i], end.scale[1], at.prime->q);
      at.out[end.place(i)] = (Word)sum;
    }
  }
}

#endif
