// SPDX-License-Identifier: Apache-2.0
// Sums of rotations before their division by P: key products of one value's raised digits with several keys, each under
// its automorphism and times its weight, summed. An automorphism in ntt domain takes aligned runs of places to aligned
// runs, so that reading under it is as good as in order.
#ifndef HX_CUDA_KERNELS_TURN_CUH
#define HX_CUDA_KERNELS_TURN_CUH

#include "ntt.cuh"
#include "rows.cuh"

#define TURN_THREADS 128
#define TURN_EACH 2

// The key products of places at[] with a term's key: values below q.
template <class Word>
__device__ __forceinline__ void turn_products(const hx_cuda_args_t &args, const hx_cuda_prime_t *p, uint32_t row,
                                              uint32_t term, uint64_t own, const uint32_t *at,
                                              Word (*value)[TURN_EACH]) {
  const Word *key = (const Word *)args.more[term];
  const uint64_t *key_rows = (const uint64_t *)args.more_rows[term] + (uint64_t)row * args.y * 2;
  product_sum<Word> sum[2][TURN_EACH];
  fold_turn<Word> turn;
#pragma unroll 2
  for (uint32_t d = 0; d < args.y; d++) {
    const Word *digit = d == own ? operand_row<Word>(args, HX_CUDA_A, row)
                                 : operand_row<Word>(args, HX_CUDA_B, row * args.y + d);
    const Word *b = key + key_rows[2 * d], *a = key + key_rows[2 * d + 1];
    if (turn.due()) {
#pragma unroll
      for (int k = 0; k < 2 * TURN_EACH; k++) {
        sum[k % 2][k / 2].fold(p);
      }
    }
#pragma unroll
    for (int k = 0; k < TURN_EACH; k++) {
      const Word x = digit[at[k]];
      sum[0][k].add(x, __ldcs(b + at[k]));
      sum[1][k].add(x, __ldcs(a + at[k]));
    }
  }
#pragma unroll
  for (int k = 0; k < 2 * TURN_EACH; k++) {
    value[k % 2][k / 2] = sum[k % 2][k / 2].residue(p);
  }
}

// Launch rows are [items][rows of Q_d and P]. out, [2] a row, = [out +] sum over `count` terms of weight * (P (c0, c1)
// or the key's products + (P c0, 0)) under the term's automorphism. A: rows of c1; C: of c0; B: raised digits, args.y a
// row; more: keys, [args.y][2] a row, then weights. args.op: 1 adds to what out holds, 2 there are weights. Sums: 16
// terms below 2^122 and a word.
template <class Word>
__device__ __forceinline__ void turn_kernel(const hx_cuda_args_t &args) {
  const uint32_t row = blockIdx.x >> args.x, n = 1u << args.log_n;
  const uint32_t first = (blockIdx.x & ((1u << args.x) - 1)) * (TURN_THREADS * TURN_EACH) + threadIdx.x;
  const hx_cuda_prime_t *p = prime_of(args, row);
  const hx_cuda_turns_t *turns = (const hx_cuda_turns_t *)args.extra;
  const hx_cuda_turn_row_t facts = ((const hx_cuda_turn_row_t *)(turns + 1))[row];
  const bool special = facts.digit == UINT64_MAX;
  const Word *c0 = operand_row<Word>(args, HX_CUDA_C, row), *c1 = operand_row<Word>(args, HX_CUDA_A, row);
  Word *out[2] = {(Word *)operand_row<Word>(args, HX_CUDA_OUT, 2 * row),
                  (Word *)operand_row<Word>(args, HX_CUDA_OUT, 2 * row + 1)};
  uint32_t place[TURN_EACH], at[TURN_EACH];
  product_sum<Word> total[2][TURN_EACH];
  fold_turn<Word> turn;
#pragma unroll
  for (int k = 0; k < TURN_EACH; k++) {
    place[k] = min(first + k * TURN_THREADS, n - 1);  // short rows: the last place again, never stored
    for (int c = 0; c < 2 && (args.op & 1) != 0; c++) {
      total[c][k] = product_sum<Word>(out[c][place[k]]);
    }
  }
  for (uint32_t t = 0; t < args.count; t++) {
    const uint32_t element = turns->element[t];
    Word value[2][TURN_EACH] = {};
    if (turn.due()) {
#pragma unroll
      for (int k = 0; k < 2 * TURN_EACH; k++) {
        total[k % 2][k / 2].fold(p);
      }
    }
#pragma unroll
    for (int k = 0; k < TURN_EACH; k++) {
      at[k] = permuted_place(place[k], element, args.log_n);
    }
    if (element != 1) {
      turn_products<Word>(args, p, row, t, facts.digit, at, value);
    }
#pragma unroll
    for (int k = 0; k < TURN_EACH; k++) {
      if (!special) {
        value[0][k] = (Word)mod_once((uint64_t)scaled<Word>(c0[at[k]], facts.lift, p->q) + value[0][k], p->q);
      }
      if (!special && element == 1) {
        value[1][k] = scaled<Word>(c1[at[k]], facts.lift, p->q);
      }
      Word weight = 1;
      if ((args.op & 2) != 0) {
        const uint32_t w = HX_CUDA_DOT_MAX + t;
        weight = ((const Word *)args.more[w] + ((const uint64_t *)args.more_rows[w])[row])[place[k]];
      }
      total[0][k].add(value[0][k], weight);
      total[1][k].add(value[1][k], weight);
    }
  }
#pragma unroll
  for (int k = 0; k < TURN_EACH; k++) {
    if (first + k * TURN_THREADS < n) {
      out[0][place[k]] = total[0][k].residue(p);
      out[1][place[k]] = total[1][k].residue(p);
    }
  }
}

// ---- primes of at most 50 bits, rows of 256 places and more

// Two neighbours of a row that is read once, or of one that is read again.
template <class Word>
__device__ __forceinline__ void load_pair(const Word *from, Word (&to)[2]) {
  const typename pair_of<Word>::type pair = *(const typename pair_of<Word>::type *)from;
  to[0] = pair.x;
  to[1] = pair.y;
}
template <class Word>
__device__ __forceinline__ void load_pair_once(const Word *from, Word (&to)[2]) {
  const typename pair_of<Word>::type pair = __ldcs((const typename pair_of<Word>::type *)from);
  to[0] = pair.x;
  to[1] = pair.y;
}

// The key products of two neighbours from place `at` on, and P times (c0, c1) where that is their part. In units of q: a
// digit's residue is centred first, so that its product with a key's word is below 1; four of them and what is left of
// earlier ones stay below 5, then they are reduced. The words of four digits are on their way at a time.
template <class Word>
__device__ __forceinline__ void turn_real_term(const hx_cuda_args_t &args, const real_path &path, uint32_t row,
                                               uint32_t term, bool keyed, const hx_cuda_turn_row_t &facts, uint32_t at,
                                               double (&value)[2][2]) {
  const double q = path.q, inverse = path.inverse;
  const Word *c0 = operand_row<Word>(args, HX_CUDA_C, row), *c1 = operand_row<Word>(args, HX_CUDA_A, row);
  if (keyed) {
    const Word *key = (const Word *)args.more[term];
    const uint64_t *key_rows = (const uint64_t *)args.more_rows[term] + (uint64_t)row * args.y * 2;
#pragma unroll 4
    for (uint32_t d = 0; d < args.y; d++) {
      Word x[2], y[2], z[2];
      load_pair_once(key + key_rows[2 * d] + at, y);
      load_pair_once(key + key_rows[2 * d + 1] + at, z);
      load_pair((d == facts.digit ? c1 : operand_row<Word>(args, HX_CUDA_B, row * args.y + d)) + at, x);
#pragma unroll
      for (int k = 0; k < 2; k++) {
        const double w = path.reduce(path.load(x[k]));
        value[0][k] += real_mul(path.load(y[k]), w, q, inverse);
        value[1][k] += real_mul(path.load(z[k]), w, q, inverse);
        if (d % 4 == 3) {
          value[0][k] = path.reduce(value[0][k]);
          value[1][k] = path.reduce(value[1][k]);
        }
      }
    }
  }
  if (facts.digit == UINT64_MAX) return;  // a row of P
  const double lift = path.reduce(path.load(facts.lift.value));
  Word x[2], y[2] = {};
  load_pair(c0 + at, x);
  if (!keyed) load_pair(c1 + at, y);
#pragma unroll
  for (int k = 0; k < 2; k++) {
    value[0][k] += real_mul(path.load(x[k]), lift, q, inverse);
    if (!keyed) value[1][k] = real_mul(path.load(y[k]), lift, q, inverse);
  }
}

// As turn_kernel, a thread for two neighbours: an automorphism takes an even place and the next to such two, perhaps the
// other way round, since their odd powers differ by n. A term's sum, reduced, times its weight, a word, is below q; four
// of them and the rest of earlier ones below 5q.
template <class Word>
__device__ __forceinline__ void turn_real_kernel(const hx_cuda_args_t &args) {
  const uint32_t row = blockIdx.x >> args.x;
  const uint32_t first = (blockIdx.x & ((1u << args.x) - 1)) * (TURN_THREADS * 2) + 2 * threadIdx.x;
  const real_path path(prime_of(args, row), false);
  const hx_cuda_turns_t *turns = (const hx_cuda_turns_t *)args.extra;
  const hx_cuda_turn_row_t facts = ((const hx_cuda_turn_row_t *)(turns + 1))[row];
  Word *out[2] = {(Word *)operand_row<Word>(args, HX_CUDA_OUT, 2 * row) + first,
                  (Word *)operand_row<Word>(args, HX_CUDA_OUT, 2 * row + 1) + first};
  double total[2][2] = {};
  if ((args.op & 1) != 0) {
#pragma unroll
    for (int k = 0; k < 4; k++) {
      total[k / 2][k % 2] = path.load(out[k / 2][k % 2]);
    }
  }
#pragma unroll 1
  for (uint32_t t = 0; t < args.count; t++) {
    const uint32_t element = turns->element[t];
    const uint32_t at = element == 1 ? first : permuted_place(first, element, args.log_n);
    Word weight[2] = {1, 1};
    if ((args.op & 2) != 0) {
      const uint32_t w = HX_CUDA_DOT_MAX + t;
      load_pair_once((const Word *)args.more[w] + ((const uint64_t *)args.more_rows[w])[row] + first, weight);
    }
    double value[2][2] = {};
    turn_real_term<Word>(args, path, row, t, element != 1, facts, at & ~1u, value);
#pragma unroll
    for (int c = 0; c < 2; c++) {
#pragma unroll
      for (int k = 0; k < 2; k++) {
        const double x = path.reduce((at & 1) != 0 ? value[c][1 - k] : value[c][k]);
        total[c][k] += real_mul(path.load(weight[k]), x, path.q, path.inverse);
        if (t % 4 == 3) {
          total[c][k] = path.reduce(total[c][k]);
        }
      }
    }
  }
#pragma unroll
  for (int c = 0; c < 2; c++) {
    typename pair_of<Word>::type pair;
    pair.x = (Word)path.store(total[c][0]);
    pair.y = (Word)path.store(total[c][1]);
    *(typename pair_of<Word>::type *)out[c] = pair;
  }
}

#endif
