// SPDX-License-Identifier: Apache-2.0
// Constants of ckks.add_scalar and ckks.mul_scalar: exact products with the scale, rounded once.
#include <math.h>
#include <string.h>

#include "core/ckks/encode_big.h"
#include "core/ckks/value.h"

// Fixed point with 36 words of fraction. A product of two doubles is an integer times 2^-2252 or more (twice the
// smallest normalised mantissa's unit, 2^-1126) and below 2^2048, a sum of two of them below 2^2049.
#define FRACTION_WORDS 36
#define WORDS (FRACTION_WORDS + 34)

typedef struct hx_fixed {
  uint64_t word[WORDS];  // little-endian
} hx_fixed_t;

// A finite double as mantissa * 2^*exponent, mantissa below 2^53.
static uint64_t split(double x, int *exponent) {
  const double mantissa = frexp(fabs(x), exponent);
  *exponent -= 53;
  return (uint64_t)ldexp(mantissa, 53);
}

// |a * b|, exactly.
static void set_product(hx_fixed_t *out, double a, double b) {
  memset(out, 0, sizeof *out);
  if (a == 0 || b == 0) return;
  int ea, eb;
  const uint64_t ma = split(a, &ea), mb = split(b, &eb);
  const hx_u128 product = (hx_u128)ma * mb;  // below 2^106
  const uint32_t at = (uint32_t)(ea + eb + FRACTION_WORDS * 64);
  const uint32_t word = at / 64, shift = at % 64;
  const uint64_t low = (uint64_t)product, high = (uint64_t)(product >> 64);
  out->word[word] = low << shift;
  out->word[word + 1] = (high << shift) | (shift == 0 ? 0 : low >> (64 - shift));
  out->word[word + 2] = shift == 0 ? 0 : high >> (64 - shift);
}

static void add(hx_fixed_t *a, const hx_fixed_t *b) {
  uint64_t carry = 0;
  for (uint32_t i = 0; i < WORDS; ++i) {
    const hx_u128 sum = (hx_u128)a->word[i] + b->word[i] + carry;
    a->word[i] = (uint64_t)sum;
    carry = (uint64_t)(sum >> 64);
  }
}

// a >= b
static void subtract(hx_fixed_t *a, const hx_fixed_t *b) {
  uint64_t borrow = 0;
  for (uint32_t i = 0; i < WORDS; ++i) {
    const hx_u128 difference = (hx_u128)a->word[i] - b->word[i] - borrow;
    a->word[i] = (uint64_t)difference;
    borrow = (uint64_t)(difference >> 64) & 1;
  }
}

// The nearest integer, ties to even. words is 0 for the number 0.
static void round_to_integer(const hx_fixed_t *x, hx_product_t *out) {
  const uint64_t half = (uint64_t)1 << 63;
  const uint64_t top = x->word[FRACTION_WORDS - 1];
  uint64_t below = top & (half - 1);
  for (uint32_t i = 0; i + 1 < FRACTION_WORDS; ++i) below |= x->word[i];
  const bool odd = (x->word[FRACTION_WORDS] & 1) != 0;
  uint64_t carry = (top & half) != 0 && (below != 0 || odd) ? 1 : 0;
  out->words = 0;
  for (uint32_t i = 0; i < WORDS - FRACTION_WORDS; ++i) {
    out->word[i] = x->word[FRACTION_WORDS + i] + carry;
    carry = carry != 0 && out->word[i] == 0 ? 1 : 0;
    if (out->word[i] != 0) out->words = i + 1;
  }
}

// round(x * (hi + lo)): magnitude; the sign is x's. hi > 0 and |lo| <= hi.
static void round_product(double x, double hi, double lo, hx_product_t *out) {
  hx_fixed_t sum, rest;
  set_product(&sum, x, hi);
  set_product(&rest, x, lo);
  if (lo < 0) {
    subtract(&sum, &rest);
  } else {
    add(&sum, &rest);
  }
  round_to_integer(&sum, out);
}

static uint64_t residue(const hx_product_t *magnitude, bool negative, uint64_t q) {
  uint64_t rest = 0;
  for (uint32_t i = magnitude->words; i-- > 0;) rest = (uint64_t)((((hx_u128)rest << 64) | magnitude->word[i]) % q);
  return negative && rest != 0 ? q - rest : rest;
}

// 2 * |m| < Q, so that m is |m| <= (Q - 1) / 2.
static bool fits(const hx_product_t *magnitude, const hx_product_t *modulus) {
  if (magnitude->words == 0) return true;
  hx_product_t twice = *magnitude;
  hx_product_multiply(&twice, 2);
  return hx_product_compare(&twice, modulus) < 0;
}

hx_status_t hx_constant_residues(const hx_ring *ring, const hx_primes_t *primes, double re, double im,
                                 const hx_scale_t *scale, uint64_t *out_residues, hx_report_t *report) {
  if (!isfinite(re) || !isfinite(im)) {
    return hx_report_fail(report, HX_CODE_VALUE, "the constant %g + %gi is not finite", re, im);
  }
  double hi, lo;
  HX_TRY(hx_scale_value(scale, ring, &hi, &lo, report));
  hx_product_t real, imaginary, modulus;
  round_product(re, hi, lo, &real);
  round_product(im, hi, lo, &imaginary);
  hx_product_set_primes(&modulus, ring, primes);
  if (!fits(&real, &modulus) || !fits(&imaginary, &modulus)) {
    return hx_report_fail(report, HX_CODE_VALUE,
                          "the constant %g + %gi at scale 2^%.2f is above half of the modulus, 2^%.2f", re, im,
                          hx_scale_log2(scale, ring), hx_product_log2(&modulus) - 1);
  }
  uint32_t ids[HX_PRIMES_MAX];
  const uint32_t rows = hx_primes_list(primes, ids);
  for (uint32_t l = 0; l < rows; ++l) {
    const uint64_t q = ring->primes[ids[l]];
    // X^(N/2) is psi^(N/2) on the first half of a row in ntt domain and its negative on the second.
    const uint64_t turn = hx_modular_power(ring->psi[ids[l]], (uint64_t)1 << (ring->log_n - 1), q);
    const uint64_t a = residue(&real, signbit(re) != 0, q);
    const uint64_t b = hx_modular_multiply(residue(&imaginary, signbit(im) != 0, q), turn, q);
    out_residues[2 * l] = a + b >= q ? a + b - q : a + b;  // below 2^62
    out_residues[2 * l + 1] = a >= b ? a - b : a + q - b;
  }
  return HX_STATUS_OK;
}
