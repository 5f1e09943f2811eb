// SPDX-License-Identifier: Apache-2.0
// Encoding and decoding: the halving transform modulo X^slots - i in double-double, one level a launch. Slot j belongs to
// the root zeta^(5^j); coefficients k and k + slots of the packing are one complex number.
//
// In every kernel args.y is the log of the slots, args.x the log of the blocks an item (or row), more[0] the address of
// the roots, more[1] that of a word of host memory that becomes 1 where a number cannot be told, extra a
// hx_cuda_code_t. Items' numbers in double-double are hx_cuda_complex_t.
#ifndef HX_CUDA_KERNELS_CODE_CUH
#define HX_CUDA_KERNELS_CODE_CUH

#include <float.h>

#include "dd.h"
#include "rows.cuh"

#define CODE_THREADS 256

__device__ __forceinline__ uint32_t code_index(const hx_cuda_args_t &args) {
  return (blockIdx.x & ((1u << args.x) - 1)) * CODE_THREADS + threadIdx.x;
}

template <class Word>
__device__ __forceinline__ hx_cuda_complex_t *code_numbers(const hx_cuda_args_t &args, int place, uint32_t row) {
  return (hx_cuda_complex_t *)operand_row<Word>(args, place, row);
}

// Where slot j stands: the reversal of 5^j / 4 mod the slots.
__device__ __forceinline__ uint32_t code_place(uint32_t j, uint32_t log_slots) {
  uint32_t power = 1, five = 5;
  for (uint32_t bit = 0; bit < log_slots; bit++) {
    power *= (j >> bit & 1) != 0 ? five : 1;
    five *= five;
  }
  power &= (4u << log_slots) - 1;
  return log_slots == 0 ? 0 : reverse_bits(power >> 2, log_slots);
}

// Doubles of A, pairs where args.z, into numbers.
template <class Word>
__device__ __forceinline__ void code_load_kernel(const hx_cuda_args_t &args) {
  const uint32_t item = blockIdx.x >> args.x, j = code_index(args);
  if (j >= 1u << args.y) return;
  const double *values = (const double *)args.base[HX_CUDA_A] + ((const uint64_t *)args.rows[HX_CUDA_A])[item];
  hx_cuda_complex_t number;
  number.re = dd_make(args.z != 0 ? values[2 * j] : values[j], 0);
  number.im = dd_make(args.z != 0 ? values[2 * j + 1] : 0, 0);
  code_numbers<Word>(args, HX_CUDA_OUT, item)[code_place(j, args.y)] = number;
}

// Level args.count of the transform in OUT; args.op: backward, from slots to coefficients.
template <class Word>
__device__ __forceinline__ void code_level_kernel(const hx_cuda_args_t &args) {
  const uint32_t item = blockIdx.x >> args.x, at = code_index(args);
  if (at >= 1u << args.y >> 1) return;
  const uint32_t half_log = args.y - args.count - 1, block = at >> half_log;
  const uint32_t low = (block << (half_log + 1)) + (at & ((1u << half_log) - 1)), high = low + (1u << half_log);
  const hx_cuda_complex_t root = ((const hx_cuda_complex_t *)args.more[0])[(1u << args.count) + block];
  hx_cuda_complex_t *numbers = code_numbers<Word>(args, HX_CUDA_OUT, item);
  const hx_cuda_complex_t a = numbers[low], b = numbers[high];
  if (args.op != 0) {
    numbers[low] = complex_add(a, b);
    numbers[high] = complex_multiply(complex_subtract(a, b), complex_conjugate(root));
  } else {
    const hx_cuda_complex_t product = complex_multiply(b, root);
    numbers[low] = complex_add(a, product);
    numbers[high] = complex_subtract(a, product);
  }
}

// Numbers of A, times the scale, rounded, as coefficients of the row.
template <class Word>
__device__ __forceinline__ void code_round_kernel(const hx_cuda_args_t &args) {
  const uint32_t row = blockIdx.x >> args.x, i = code_index(args), gap_log = args.log_n - 1 - args.y;
  if (i >= 1u << args.log_n) return;
  const hx_cuda_prime_t *p = prime_of(args, row);
  Word *out = (Word *)operand_row<Word>(args, HX_CUDA_OUT, row);
  const uint32_t k = i >> gap_log, at = k & ((1u << args.y) - 1);
  if (i != k << gap_log) {
    out[i] = 0;
    return;
  }
  const hx_cuda_complex_t *number = code_numbers<Word>(args, HX_CUDA_A, row) + at;
  const hx_cuda_code_t code = *(const hx_cuda_code_t *)args.extra;
  const hx_cuda_dd_t value = dd_multiply(k == at ? number->re : number->im, dd_make(code.scale_hi, code.scale_lo));
  const hx_cuda_dd_t scaled = dd_scaled(dd_scaled(value, code.power[0]), code.power[1]);
  const bool fits = fabs(scaled.hi) < 0x1p96;
  if (!fits) *(volatile uint32_t *)args.more[1] = 1;
  out[i] = (Word)mod_integer(dd_nearest(fits ? scaled : dd_make(0, 0)), p);
}

// Coefficients of a centred integer from its residues in rows OUT, [args.count] an item, whose words become digits of
// the mixed radix; and its value as a number of A. extra: hx_cuda_code_t, uint32_t prime ids [count, even], the digits of
// (Q - 1) / 2 [count], and factors [count][count]: 1 / q_j mod q_i. Q - x has the digits q - 1 - v, and 1 more.
template <class Word>
__device__ __forceinline__ void code_digits_kernel(const hx_cuda_args_t &args) {
  const uint32_t item = blockIdx.x >> args.x, k = code_index(args), count = args.count;
  const uint32_t i = k << (args.log_n - 1 - args.y), even = (count + 1) & ~1u, at = k & ((1u << args.y) - 1);
  if (k >= 2u << args.y) return;
  const uint32_t *ids = (const uint32_t *)((const hx_cuda_code_t *)args.extra + 1);
  const uint64_t *half = (const uint64_t *)(ids + even);
  const hx_cuda_factor_t *inverse = (const hx_cuda_factor_t *)(half + even);
  const hx_cuda_prime_t *primes = (const hx_cuda_prime_t *)args.primes;
  for (uint32_t s = 0; s < count; s++) {
    const uint64_t q = primes[ids[s]].q, ratio = primes[ids[s]].ratio;
    Word *place = (Word *)operand_row<Word>(args, HX_CUDA_OUT, item * count + s) + i;
    uint64_t v = *place;
    for (uint32_t l = 0; l < s; l++) {
      const uint64_t digit = operand_row<Word>(args, HX_CUDA_OUT, item * count + l)[i];
      const hx_cuda_factor_t f = inverse[s * count + l];
      const uint64_t rest = mod_once(v + q - mod_once(mod_word(digit, ratio, q), q), q);
      v = mod_once(mod_shoup(rest, f.value, f.quotient, q), q);
    }
    *place = (Word)v;
  }
  uint64_t greater = 0, decided = 0;
  for (uint32_t s = count; s-- > 0;) {
    const uint64_t v = operand_row<Word>(args, HX_CUDA_OUT, item * count + s)[i];
    const uint64_t above = 0 - ((half[s] - v) >> 63), below = 0 - ((v - half[s]) >> 63);
    greater |= above & ~decided;
    decided |= above | below;
  }
  hx_cuda_dd_t sum = dd_make(0, 0);
  for (uint32_t s = count; s-- > 0;) {
    const uint64_t q = primes[ids[s]].q, v = operand_row<Word>(args, HX_CUDA_OUT, item * count + s)[i];
    const uint64_t digit = (v & ~greater) | ((q - 1 - v) & greater);
    const hx_cuda_dd_t radix = dd_fast_sum((double)(q >> 32) * 0x1p32, (double)(q & 0xffffffffu));
    const hx_cuda_dd_t word = dd_fast_sum((double)(digit >> 32) * 0x1p32, (double)(digit & 0xffffffffu));
    sum = dd_add(dd_multiply(sum, radix), word);
  }
  sum = dd_add(sum, dd_make((double)(greater & 1), 0));
  const double sign = 1.0 - 2.0 * (double)(greater & 1);
  hx_cuda_complex_t *number = code_numbers<Word>(args, HX_CUDA_A, item) + at;
  *(k == at ? &number->re : &number->im) = dd_scaled(sum, sign);
}

// Numbers of A over the scale, into doubles of OUT, pairs where args.z.
template <class Word>
__device__ __forceinline__ void code_store_kernel(const hx_cuda_args_t &args) {
  const uint32_t item = blockIdx.x >> args.x, j = code_index(args);
  if (j >= 1u << args.y) return;
  const hx_cuda_code_t code = *(const hx_cuda_code_t *)args.extra;
  const hx_cuda_complex_t number = code_numbers<Word>(args, HX_CUDA_A, item)[code_place(j, args.y)];
  double *values = (double *)args.base[HX_CUDA_OUT] + ((const uint64_t *)args.rows[HX_CUDA_OUT])[item];
  const hx_cuda_dd_t scale = dd_make(code.scale_hi, code.scale_lo);
  const double re = dd_multiply(number.re, scale).hi * code.power[0] * code.power[1];
  const double im = dd_multiply(number.im, scale).hi * code.power[0] * code.power[1];
  if (!(fabs(re) <= DBL_MAX && fabs(im) <= DBL_MAX)) *(volatile uint32_t *)args.more[1] = 1;
  if (args.z != 0) {
    values[2 * j] = re;
    values[2 * j + 1] = im;
  } else {
    values[j] = re;
  }
}

#endif
