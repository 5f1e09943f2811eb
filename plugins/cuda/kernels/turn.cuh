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
#define TURN_REAL_EACH 2

// The key products of places at[] with a term's key: values below q.
template <class Word>
__device__ __forceinline__ void turn_products(const hx_cuda_args_t &args, const hx_cuda_prime_t *p, uint32_t row,
                                              uint32_t term, uint64_t own, const uint32_t *at,
                                              Word (*value)[TURN_EACH]) {
  const Word *key = (const Word *)args.more[term];
  const uint64_t *key_rows = (const uint64_t *)args.more_rows[term] + (uint64_t)row * args.y * 2;
  product_sum<Word> sum[2][TURN_EACH];
  fold_turn<Word> turn(p);
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
  fold_turn<Word> turn(p);
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

// As turn_kernel. In units of q: a digit's residue is centred first, so that its product with a key's word is below 1; four
// of them and what is left of earlier ones stay below 5, then they are reduced. A term's sum, reduced, times its weight, a
// word, is below 1 again. The words of four digits are on their way at a time.
template <class Word>
__device__ __forceinline__ void turn_real_kernel(const hx_cuda_args_t &args) {
  const uint32_t row = blockIdx.x >> args.x;
  const uint32_t first = (blockIdx.x & ((1u << args.x) - 1)) * (TURN_THREADS * TURN_REAL_EACH) + threadIdx.x;
  const real_path path(prime_of(args, row), false);
  const double q = path.q, inverse = path.inverse;
  const hx_cuda_turns_t *turns = (const hx_cuda_turns_t *)args.extra;
  const hx_cuda_turn_row_t facts = ((const hx_cuda_turn_row_t *)(turns + 1))[row];
  const bool special = facts.digit == UINT64_MAX;
  const double lift = path.reduce(path.load(facts.lift.value));
  const Word *c0 = operand_row<Word>(args, HX_CUDA_C, row), *c1 = operand_row<Word>(args, HX_CUDA_A, row);
  Word *out[2] = {(Word *)operand_row<Word>(args, HX_CUDA_OUT, 2 * row),
                  (Word *)operand_row<Word>(args, HX_CUDA_OUT, 2 * row + 1)};
  double total[2][TURN_REAL_EACH] = {};
  if ((args.op & 1) != 0) {
#pragma unroll
    for (int k = 0; k < 2 * TURN_REAL_EACH; k++) {
      total[k % 2][k / 2] = path.load(out[k % 2][first + k / 2 * TURN_THREADS]);
    }
  }
#pragma unroll 1
  for (uint32_t t = 0; t < args.count; t++) {
    const uint32_t element = turns->element[t];
    uint32_t at[TURN_REAL_EACH];
    Word weight[TURN_REAL_EACH];
    double value[2][TURN_REAL_EACH] = {};
#pragma unroll
    for (int k = 0; k < TURN_REAL_EACH; k++) {
      const uint32_t place = first + k * TURN_THREADS;
      at[k] = element == 1 ? place : permuted_place(place, element, args.log_n);
      weight[k] = (args.op & 2) != 0 ? ((const Word *)args.more[HX_CUDA_DOT_MAX + t] +
                                        ((const uint64_t *)args.more_rows[HX_CUDA_DOT_MAX + t])[row])[place]
                                     : 1;
    }
    if (element != 1) {
      const Word *key = (const Word *)args.more[t];
      const uint64_t *key_rows = (const uint64_t *)args.more_rows[t] + (uint64_t)row * args.y * 2;
#pragma unroll 4
      for (uint32_t d = 0; d < args.y; d++) {
        const Word *digit = d == facts.digit ? c1 : operand_row<Word>(args, HX_CUDA_B, row * args.y + d);
        const Word *b = key + key_rows[2 * d], *a = key + key_rows[2 * d + 1];
#pragma unroll
        for (int k = 0; k < TURN_REAL_EACH; k++) {
          const double y = path.load(__ldcs(b + at[k])), z = path.load(__ldcs(a + at[k]));
          const double x = path.reduce(path.load(digit[at[k]]));
          value[0][k] += real_mul(y, x, q, inverse);
          value[1][k] += real_mul(z, x, q, inverse);
          if (d % 4 == 3) {
            value[0][k] = path.reduce(value[0][k]);
            value[1][k] = path.reduce(value[1][k]);
          }
        }
      }
    }
#pragma unroll
    for (int k = 0; k < TURN_REAL_EACH; k++) {
      if (!special) {
        value[0][k] += real_mul(path.load(c0[at[k]]), lift, q, inverse);
        if (element == 1) value[1][k] = real_mul(path.load(c1[at[k]]), lift, q, inverse);
      }
      const double w = path.load(weight[k]);
      total[0][k] += real_mul(w, path.reduce(value[0][k]), q, inverse);
      total[1][k] += real_mul(w, path.reduce(value[1][k]), q, inverse);
      if (t % 4 == 3) {
        total[0][k] = path.reduce(total[0][k]);
        total[1][k] = path.reduce(total[1][k]);
      }
    }
  }
#pragma unroll
  for (int k = 0; k < TURN_REAL_EACH; k++) {
    out[0][first + k * TURN_THREADS] = (Word)path.store(total[0][k]);
    out[1][first + k * TURN_THREADS] = (Word)path.store(total[1][k]);
  }
}

#endif
