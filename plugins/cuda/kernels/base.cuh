// SPDX-License-Identifier: Apache-2.0
// Conversions between bases, and rows from seeds.
#ifndef HX_CUDA_KERNELS_BASE_CUH
#define HX_CUDA_KERNELS_BASE_CUH

#include "arith.h"
#include "rows.cuh"

#define BASE_THREADS 256

// start + sum of weights[s] * y_s; numbers in the form that product_sum's conversions have. first: rows of y in the table.
template <class Word>
__device__ __forceinline__ Word combine(const hx_cuda_args_t &args, const hx_cuda_prime_t *p,
                                            const hx_cuda_target_t &target, const uint64_t *weights, uint32_t first,
                                            uint32_t count, uint32_t i, const Word *x) {
  product_sum<Word> sum(target.start);
  fold_turn<Word> turn;
  const uint64_t *rows = (const uint64_t *)args.rows[HX_CUDA_B];
  const Word *base = (const Word *)args.base[HX_CUDA_B];
  for (uint32_t s = 0; s < count; s++) {
    if (turn.due()) sum.fold(p);
    sum.add(base[rows[first + s] + i], (Word)weights[s]);
  }
  if (x != NULL) {
    if (turn.due()) sum.fold(p);
    sum.add(x[i], (Word)target.factor);
  }
  return sum.converted(p);
}

// Targets of fast conversions. A launch has polynomials of `count` rows y (table B, count a polynomial) and `y` targets
// (result rows, table OUT); x (table A) has a row for each target that needs one. Polynomials repeat every args.z
// plans: extra is hx_cuda_target_t [z][y], then weights uint64_t [z][y][count]. args.x: log of the blocks a row;
// args.op: targets that one block makes.
template <class Word>
__device__ __forceinline__ void convert_kernel(const hx_cuda_args_t &args) {
  const uint32_t tile = blockIdx.x & ((1u << args.x) - 1), rest = blockIdx.x >> args.x;
  const uint32_t parts = (args.y + args.op - 1) / args.op, polynomial = rest / parts, part = rest % parts;
  const uint32_t n = 1u << args.log_n, i = tile * BASE_THREADS + threadIdx.x, plan = polynomial % args.z;
  const hx_cuda_target_t *targets = (const hx_cuda_target_t *)args.extra;
  const uint64_t *weights = (const uint64_t *)(targets + args.z * args.y);
  if (i >= n) return;
  for (uint32_t t = part * args.op; t < args.y && t < (part + 1) * args.op; t++) {
    const uint32_t row = polynomial * args.y + t, at = plan * args.y + t;
    const hx_cuda_target_t target = targets[at];
    if (target.kind == HX_CUDA_TARGET_SKIP) continue;
    const hx_cuda_prime_t *p = (const hx_cuda_prime_t *)args.primes + target.prime;
    const Word *x = target.kind == HX_CUDA_TARGET_CONVERT ? NULL : operand_row<Word>(args, HX_CUDA_A, row);
    Word *out = (Word *)operand_row<Word>(args, HX_CUDA_OUT, row);
    if (target.kind == HX_CUDA_TARGET_COPY) {
      out[i] = x[i];
    } else {
      out[i] = combine<Word>(args, p, target, weights + (uint64_t)at * args.count, polynomial * args.count, args.count, i,
                             x);
    }
  }
}

// The same with y held in registers, for at most MOST rows: one thread makes all targets of a part for one coefficient.
template <class Word, int MOST>
__device__ __forceinline__ void convert_held_kernel(const hx_cuda_args_t &args) {
  const uint32_t tile = blockIdx.x & ((1u << args.x) - 1), rest = blockIdx.x >> args.x;
  const uint32_t parts = (args.y + args.op - 1) / args.op, polynomial = rest / parts, part = rest % parts;
  const uint32_t n = 1u << args.log_n, i = tile * BASE_THREADS + threadIdx.x, plan = polynomial % args.z;
  const hx_cuda_target_t *targets = (const hx_cuda_target_t *)args.extra;
  const uint64_t *weights = (const uint64_t *)(targets + args.z * args.y);
  if (i >= n) return;
  uint64_t y[MOST];
#pragma unroll
  for (int s = 0; s < MOST; s++) {
    y[s] = (uint32_t)s < args.count ? operand_row<Word>(args, HX_CUDA_B, polynomial * args.count + s)[i] : 0;
  }
  for (uint32_t t = part * args.op; t < args.y && t < (part + 1) * args.op; t++) {
    const uint32_t row = polynomial * args.y + t, at = plan * args.y + t;
    const hx_cuda_target_t target = targets[at];
    if (target.kind == HX_CUDA_TARGET_SKIP) continue;
    const hx_cuda_prime_t *p = (const hx_cuda_prime_t *)args.primes + target.prime;
    const uint64_t *w = weights + (uint64_t)at * args.count;
    Word *out = (Word *)operand_row<Word>(args, HX_CUDA_OUT, row);
    if (target.kind == HX_CUDA_TARGET_COPY) {
      out[i] = operand_row<Word>(args, HX_CUDA_A, row)[i];
      continue;
    }
    hx_cuda_wide_t sum = {0, target.start};
#pragma unroll
    for (int s = 0; s < MOST; s++) {
      if ((uint32_t)s < args.count) wide_mul_add(&sum, y[s], w[s]);
    }
    if (target.kind == HX_CUDA_TARGET_DIVIDE)
      wide_mul_add(&sum, operand_row<Word>(args, HX_CUDA_A, row)[i], target.factor);
    out[i] = (Word)mod_redc(sum, p);
  }
}

// The same for 32-bit words: a block gathers its targets in shared memory, a thread makes them for some coefficients,
// four rows at a time, in sums of three words. A target that is not divided has the factor 0.
struct word_target {
  uint64_t out, x;  // row offsets
  hx_cuda_word_numbers_t prime;
  uint32_t start, factor, kind;
  alignas(16) uint32_t weights[HX_CUDA_WORD_TERMS];
};
static_assert(sizeof(word_target) <= HX_CUDA_WORD_TARGET_BYTES, "shared memory of a target");

template <int MOST>
__device__ __forceinline__ void convert_words_kernel(const hx_cuda_args_t &args, word_target *held) {
  constexpr int each = HX_CUDA_WORD_COEFFICIENTS(MOST);
  const uint32_t tile = blockIdx.x & ((1u << args.x) - 1), rest = blockIdx.x >> args.x;
  const uint32_t parts = (args.y + args.op - 1) / args.op, polynomial = rest / parts, part = rest % parts;
  const uint32_t n = 1u << args.log_n, i = tile * (BASE_THREADS * each) + threadIdx.x, plan = polynomial % args.z;
  const hx_cuda_target_t *targets = (const hx_cuda_target_t *)args.extra;
  const uint64_t *weights = (const uint64_t *)(targets + args.z * args.y);
  const uint32_t first = part * args.op, count = min(args.op, args.y - first), stages = args.count;
  for (uint32_t t = threadIdx.x; t < count; t += BASE_THREADS) {
    const uint32_t row = polynomial * args.y + first + t;
    const hx_cuda_target_t from = targets[plan * args.y + first + t];
    held[t].prime = word_numbers((const hx_cuda_prime_t *)args.primes + from.prime);
    held[t].kind = from.kind;
    held[t].start = (uint32_t)from.start;
    held[t].factor = from.kind == HX_CUDA_TARGET_DIVIDE ? (uint32_t)from.factor : 0;
    held[t].out = ((const uint64_t *)args.rows[HX_CUDA_OUT])[row];
    held[t].x = args.rows[HX_CUDA_A] != 0 ? ((const uint64_t *)args.rows[HX_CUDA_A])[row] : 0;
  }
  for (uint32_t w = threadIdx.x; w < count * MOST; w += BASE_THREADS) {
    const uint32_t t = w / MOST, s = w % MOST;
    held[t].weights[s] = s < stages ? (uint32_t)weights[(uint64_t)(plan * args.y + first + t) * stages + s] : 0;
  }
  uint32_t y[MOST][each];
#pragma unroll
  for (int s = 0; s < MOST; s++) {
    const bool there = (uint32_t)s < stages;
    const uint32_t *from = operand_row<uint32_t>(args, HX_CUDA_B, polynomial * stages + (there ? s : 0));
#pragma unroll
    for (int e = 0; e < each; e++) {
      y[s][e] = there && i + e * BASE_THREADS < n ? from[i + e * BASE_THREADS] : 0;
    }
  }
  __syncthreads();
  for (uint32_t t = 0; t < count; t++) {
    const word_target &to = held[t];
    if (to.kind == HX_CUDA_TARGET_SKIP) continue;
    const uint32_t *x = (const uint32_t *)args.base[HX_CUDA_A] + to.x;
    uint32_t *out = (uint32_t *)args.base[HX_CUDA_OUT] + to.out;
    hx_cuda_word_sum_t sum[each];
#pragma unroll
    for (int e = 0; e < each; e++) {
      sum[e] = hx_cuda_word_sum_t{to.start, 0, 0};
    }
#pragma unroll
    for (int s = 0; s < MOST; s += 4) {
      if ((uint32_t)s >= stages) break;
      const row_cell<uint32_t> w = *(const row_cell<uint32_t> *)(to.weights + s);
#pragma unroll
      for (int k = 0; k < 4; k++) {
#pragma unroll
        for (int e = 0; e < each; e++) {
          word_mul_add(&sum[e], y[s + k][e], w.x[k]);
        }
      }
    }
#pragma unroll
    for (int e = 0; e < each; e++) {
      const uint32_t at = i + e * BASE_THREADS;
      if (at < n) {
        const uint32_t own = to.kind != HX_CUDA_TARGET_CONVERT ? x[at] : 0;
        word_mul_add(&sum[e], own, to.factor);
        out[at] = to.kind == HX_CUDA_TARGET_COPY ? own : word_rest(&sum[e], to.prime);
      }
    }
  }
}

#define REAL_THREADS 128
#define REAL_EACH 2  // coefficients a thread

// What a block needs of a target.
struct real_target {
  uint64_t q, start, out, x;  // out, x: row offsets
  double start_quotient;
  hx_cuda_weight_t weights[HX_CUDA_REAL_TERMS];  // the last one used: the factor
  uint64_t kind;
};
static_assert(sizeof(real_target) <= HX_CUDA_REAL_TARGET_BYTES, "shared memory of a target");

// The same for primes of at most 50 bits on both sides and STAGES rows y a polynomial: weights are hx_cuda_weight_t,
// [z][y][STAGES], then the factors [z][y]; start is a residue and the target's `factor` the bits of start / q. The
// part's targets are gathered in shared memory first.
template <class Word, int STAGES>
__device__ __forceinline__ void convert_real_kernel(const hx_cuda_args_t &args, real_target *shared_targets) {
  const uint32_t tile = blockIdx.x & ((1u << args.x) - 1), rest = blockIdx.x >> args.x;
  const uint32_t parts = (args.y + args.op - 1) / args.op, polynomial = rest / parts, part = rest % parts;
  const uint32_t n = 1u << args.log_n, i = tile * (REAL_THREADS * REAL_EACH) + threadIdx.x, plan = polynomial % args.z;
  const hx_cuda_target_t *targets = (const hx_cuda_target_t *)args.extra;
  const hx_cuda_weight_t *weights = (const hx_cuda_weight_t *)(targets + args.z * args.y);
  const hx_cuda_weight_t *factors = weights + (uint64_t)args.z * args.y * STAGES;
  const uint32_t first = part * args.op, count = min(args.op, args.y - first), stages = STAGES;
  for (uint32_t t = threadIdx.x; t < count; t += REAL_THREADS) {
    const uint32_t row = polynomial * args.y + first + t, at = plan * args.y + first + t;
    real_target &to = shared_targets[t];
    const hx_cuda_target_t from = targets[at];
    to.kind = from.kind;
    to.q = ((const hx_cuda_prime_t *)args.primes)[from.prime].q;
    to.start = from.start;
    to.start_quotient = real_of_bits(from.factor);
    to.out = ((const uint64_t *)args.rows[HX_CUDA_OUT])[row];
    to.x = args.rows[HX_CUDA_A] != 0 ? ((const uint64_t *)args.rows[HX_CUDA_A])[row] : 0;
    to.weights[HX_CUDA_REAL_TERMS - 1] = factors[at];
  }
  for (uint32_t w = threadIdx.x; w < count * stages; w += REAL_THREADS) {
    shared_targets[w / stages].weights[w % stages] = weights[(uint64_t)(plan * args.y + first) * stages + w];
  }
  uint64_t y[REAL_EACH][STAGES];
  double real[REAL_EACH][STAGES];
#pragma unroll
  for (int s = 0; s < STAGES; s++) {
    const Word *from = operand_row<Word>(args, HX_CUDA_B, polynomial * stages + s);
#pragma unroll
    for (int e = 0; e < REAL_EACH; e++) {
      y[e][s] = i + e * REAL_THREADS < n ? from[i + e * REAL_THREADS] : 0;
      real[e][s] = real_load(y[e][s]);
    }
  }
  __syncthreads();
  for (uint32_t t = 0; t < count; t++) {
    const real_target &to = shared_targets[t];
    if (to.kind == HX_CUDA_TARGET_SKIP) continue;
    uint64_t x[REAL_EACH], low[REAL_EACH];
    double quotient[REAL_EACH];
#pragma unroll
    for (int e = 0; e < REAL_EACH; e++) {
      low[e] = to.start;
      quotient[e] = to.start_quotient;
    }
    if (to.kind != HX_CUDA_TARGET_CONVERT) {
#pragma unroll
      for (int e = 0; e < REAL_EACH; e++) {
        x[e] = i + e * REAL_THREADS < n ? ((const Word *)args.base[HX_CUDA_A])[to.x + i + e * REAL_THREADS] : 0;
      }
    }
#pragma unroll
    for (int s = 0; s < STAGES; s++) {
      const hx_cuda_weight_t w = to.weights[s];
#pragma unroll
      for (int e = 0; e < REAL_EACH; e++) {
        low[e] += y[e][s] * w.value;
        quotient[e] = real_fma(real[e][s], w.quotient, quotient[e]);
      }
    }
#pragma unroll
    for (int e = 0; e < REAL_EACH; e++) {
      if (to.kind == HX_CUDA_TARGET_DIVIDE) {
        low[e] += x[e] * to.weights[HX_CUDA_REAL_TERMS - 1].value;
        quotient[e] = real_fma(real_load(x[e]), to.weights[HX_CUDA_REAL_TERMS - 1].quotient, quotient[e]);
      }
      const uint64_t result = to.kind == HX_CUDA_TARGET_COPY ? x[e] : real_rest(low[e], quotient[e], to.q);
      if (i + e * REAL_THREADS < n) ((Word *)args.base[HX_CUDA_OUT])[to.out + i + e * REAL_THREADS] = (Word)result;
    }
  }
}

// Chained stages: row y_s from y_0 .. y_s-1 and row x_s, one coefficient a thread. Tables OUT (y) and A (x), count rows
// a polynomial; extra is hx_cuda_target_t [count], then weights [count][count]; y_s has s weights and its factor.
template <class Word>
__device__ __forceinline__ void chain_kernel(const hx_cuda_args_t &args) {
  const uint32_t tile = blockIdx.x & ((1u << args.x) - 1), polynomial = blockIdx.x >> args.x;
  const uint32_t n = 1u << args.log_n, i = tile * BASE_THREADS + threadIdx.x;
  const hx_cuda_target_t *targets = (const hx_cuda_target_t *)args.extra;
  const uint64_t *weights = (const uint64_t *)(targets + args.count);
  if (i >= n) return;
  for (uint32_t s = 0; s < args.count; s++) {
    const uint32_t first = polynomial * args.count;
    const hx_cuda_prime_t *p = (const hx_cuda_prime_t *)args.primes + targets[s].prime;
    const Word x = operand_row<Word>(args, HX_CUDA_A, first + s)[i];
    product_sum<Word> sum(targets[s].start);
    fold_turn<Word> turn;
    for (uint32_t l = 0; l <= s; l++) {
      if (turn.due()) sum.fold(p);
      sum.add(l < s ? operand_row<Word>(args, HX_CUDA_OUT, first + l)[i] : x,
              (Word)(l < s ? weights[s * args.count + l] : targets[s].factor));
    }
    ((Word *)operand_row<Word>(args, HX_CUDA_OUT, first + s))[i] = sum.converted(p);
  }
}

__device__ __forceinline__ uint32_t rotate_left(uint32_t x, int by) { return __funnelshift_l(x, x, by); }

__device__ __forceinline__ void quarter_round(uint32_t &a, uint32_t &b, uint32_t &c, uint32_t &d) {
  a += b, d = rotate_left(d ^ a, 16);
  c += d, b = rotate_left(b ^ c, 12);
  a += b, d = rotate_left(d ^ a, 8);
  c += d, b = rotate_left(b ^ c, 7);
}

__device__ __forceinline__ void chacha_block(const uint32_t (&state)[16], uint32_t counter, uint32_t (&out)[16]) {
  uint32_t w[16];
#pragma unroll
  for (int i = 0; i < 16; i++) {
    w[i] = i == 12 ? counter : state[i];
  }
#pragma unroll 1
  for (int round = 0; round < 10; round++) {
#pragma unroll
    for (int i = 0; i < 4; i++) {
      quarter_round(w[i], w[4 + i], w[8 + i], w[12 + i]);
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
      quarter_round(w[i], w[4 + (i + 1) % 4], w[8 + (i + 2) % 4], w[12 + (i + 3) % 4]);
    }
  }
#pragma unroll
  for (int i = 0; i < 16; i++) {
    out[i] = w[i] + (i == 12 ? counter : state[i]);
  }
}

// Uniform rows [RFC8439]: one thread a block of the keystream's first attempt; what it rejects is drawn again from word
// attempt * n + c, that is, from another block. Seeds are public, so the loops may depend on what they hold. args.y:
// the polynomial's index; seed: table A, bytes.
template <class Word>
__device__ __forceinline__ void expand_kernel(const hx_cuda_args_t &args) {
  constexpr uint32_t per = 64 / sizeof(Word);
  const uint32_t row = blockIdx.x >> args.x, n = 1u << args.log_n;
  const uint32_t first = ((blockIdx.x & ((1u << args.x) - 1)) * blockDim.x + threadIdx.x) * per;
  const uint32_t id = ((const uint32_t *)args.row_prime)[row];
  const hx_cuda_prime_t *p = (const hx_cuda_prime_t *)args.primes + id;
  const uint8_t *seed = (const uint8_t *)args.base[HX_CUDA_A] + ((const uint64_t *)args.rows[HX_CUDA_A])[row];
  Word *out = (Word *)operand_row<Word>(args, HX_CUDA_OUT, row);
  if (first >= n) return;
  const uint64_t mask = (1ull << p->bits) - 1;
  uint32_t state[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574}, block[16], again[16];
#pragma unroll
  for (int i = 0; i < 8; i++) {
    state[4 + i] = seed[4 * i] | (uint32_t)seed[4 * i + 1] << 8 | (uint32_t)seed[4 * i + 2] << 16 |
                   (uint32_t)seed[4 * i + 3] << 24;
  }
  state[12] = 0;
  state[13] = args.y;
  state[14] = id;
  state[15] = 0;
  chacha_block(state, first / per, block);
#pragma unroll
  for (uint32_t k = 0; k < per; k++) {
    if (first + k >= n) break;
    uint64_t x =
        (sizeof(Word) == 8 ? block[2 * k % 16] | (uint64_t)block[(2 * k + 1) % 16] << 32 : block[k % 16]) & mask;
    for (uint64_t attempt = 1; x >= p->q; attempt++) {
      const uint64_t at = attempt * n + first + k;
      chacha_block(state, (uint32_t)(at / per), again);
      const uint32_t place = (uint32_t)(at % per);
      uint64_t word = 0;
#pragma unroll
      for (uint32_t j = 0; j < per; j++) {
        if (j == place)
          word = sizeof(Word) == 8 ? again[2 * j % 16] | (uint64_t)again[(2 * j + 1) % 16] << 32 : again[j % 16];
      }
      x = word & mask;
    }
    out[first + k] = (Word)x;
  }
}

#endif
