// SPDX-License-Identifier: Apache-2.0
// The numbers of encoding that the host makes: scales and roots, in double-double.
#include "code.h"

static hx_cuda_dd_t of_word(uint64_t x) { return dd_fast_sum((double)(x >> 32) * 0x1p32, (double)(x & 0xffffffffu)); }

// a / b: the quotient of the high parts, and what is left over it, twice. Error at most 10 u^2.
static hx_cuda_dd_t divide(hx_cuda_dd_t a, hx_cuda_dd_t b) {
  const double first = a.hi / b.hi;
  const hx_cuda_dd_t left = dd_subtract(a, dd_multiply(b, dd_make(first, 0)));
  const double second = left.hi / b.hi;
  const hx_cuda_dd_t rest = dd_subtract(left, dd_multiply(b, dd_make(second, 0)));
  return dd_add(dd_fast_sum(first, second), dd_make(rest.hi / b.hi, 0));
}

static hx_cuda_dd_t normal(hx_cuda_dd_t a, int32_t *exponent) {
  int by = 0;
  const double hi = frexp(a.hi, &by);
  *exponent += by;
  return dd_make(hi, ldexp(a.lo, -by));
}

hx_cuda_dd_t hx_cuda_code_scale(const hx_encoding *encoding, bool inverse, int32_t *out_exponent) {
  const hx_ring *ring = encoding->ring;
  int32_t exponent = encoding->scale_exponent;
  hx_cuda_dd_t scale = normal(of_word(encoding->scale_mantissa), &exponent);
  for (uint32_t i = 0; i < ring->q_count + ring->p_count; i++) {
    int32_t by = 0;
    const hx_cuda_dd_t prime = normal(of_word(ring->primes[i]), &by);
    const int32_t power = encoding->prime_powers != NULL ? encoding->prime_powers[i] : 0;
    for (int32_t k = 0; k < power; k++) {
      exponent += by;
      scale = normal(dd_multiply(scale, prime), &exponent);
    }
    for (int32_t k = 0; k > power; k--) {
      exponent -= by;
      scale = normal(divide(scale, prime), &exponent);
    }
  }
  if (inverse) {
    exponent = -exponent;
    scale = normal(divide(dd_make(1, 0), scale), &exponent);
  }
  *out_exponent = exponent;
  return scale;
}

// ---- roots

// cos and sin of pi * numerator / 2^log, at most pi / 4, by their series; the terms left out are below 2^-130.
static hx_cuda_complex_t first_octant(uint32_t numerator, uint32_t log) {
  const hx_cuda_dd_t pi = {3.141592653589793116, 1.2246467991473532e-16};
  const hx_cuda_dd_t x = dd_multiply(pi, dd_make(ldexp((double)numerator, -(int)log), 0));
  const hx_cuda_dd_t square = dd_multiply(x, x), one = {1, 0};
  hx_cuda_complex_t out = {one, one};
  for (int k = 16; k >= 1; k--) {  // 1 - x^2 / (2k (2k -+ 1)) (1 - ...)
    out.re = dd_subtract(one, dd_multiply(divide(square, dd_make(2.0 * k * (2.0 * k - 1), 0)), out.re));
    out.im = dd_subtract(one, dd_multiply(divide(square, dd_make(2.0 * k * (2.0 * k + 1), 0)), out.im));
  }
  out.im = dd_multiply(x, out.im);
  return out;
}

// exp(i pi numerator / 2^log), numerator below 2^log, log at least 2: mirrored at pi / 2, then at pi / 4.
static hx_cuda_complex_t unit_root(uint32_t numerator, uint32_t log) {
  const uint32_t whole = 1u << log;
  const bool left = numerator > whole / 2;
  const uint32_t right = left ? whole - numerator : numerator;
  const bool steep = right > whole / 4;
  hx_cuda_complex_t out = first_octant(steep ? whole / 2 - right : right, log);
  if (steep) {
    out = (hx_cuda_complex_t){out.im, out.re};
  }
  out.re = left ? dd_negative(out.re) : out.re;
  return out;
}

#define PARTS 512u

// Every angle is pi * m / 2^log_n, m below 2^log_n: the product of two roots, of the high and of the low bits of m.
void hx_cuda_code_roots(uint32_t log_n, hx_cuda_complex_t *out) {
  const uint32_t low_log = log_n / 2, high_count = 1u << (log_n - low_log);
  hx_cuda_complex_t high[PARTS], low[PARTS];
  for (uint32_t i = 0; i < high_count && i < PARTS; i++) {
    high[i] = unit_root(i << low_log, log_n);
  }
  for (uint32_t i = 0; i < 1u << low_log; i++) {
    low[i] = unit_root(i, log_n);
  }
  out[0] = (hx_cuda_complex_t){{1, 0}, {0, 0}};
  for (uint32_t level = 0; level + 1 < log_n; level++) {
    for (uint32_t block = 0; block < 1u << level; block++) {
      const uint32_t m = (1 + 4 * (level == 0 ? 0 : reverse_bits(block, level))) << (log_n - level - 2);
      out[(1u << level) + block] = complex_multiply(high[m >> low_log], low[m & ((1u << low_log) - 1)]);
    }
  }
}
