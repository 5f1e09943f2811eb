// SPDX-License-Identifier: Apache-2.0
#include "number.h"

#include "kernels/arith.h"

static uint64_t multiply(uint64_t a, uint64_t b, uint64_t q) { return (uint64_t)((hx_cuda_u128)a * b % q); }

static uint64_t power(uint64_t a, uint64_t exponent, uint64_t q) {
  uint64_t result = 1 % q;
  for (; exponent > 0; exponent >>= 1) {
    if ((exponent & 1) != 0) {
      result = multiply(result, a, q);
    }
    a = multiply(a, a, q);
  }
  return result;
}

// Miller-Rabin with the first twelve primes as bases decides every number below 2^64 [SW17].
bool hx_cuda_is_prime(uint64_t q) {
  static const uint64_t bases[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};
  const size_t count = sizeof bases / sizeof bases[0];
  if (q < 2) {
    return false;
  }
  for (size_t i = 0; i < count; i++) {
    if (q % bases[i] == 0) {
      return q == bases[i];
    }
  }
  uint64_t odd = q - 1;
  uint32_t twos = 0;
  for (; odd % 2 == 0; odd /= 2) {
    twos++;
  }
  for (size_t i = 0; i < count; i++) {
    uint64_t x = power(bases[i], odd, q);
    bool passes = x == 1 || x == q - 1;
    for (uint32_t k = 1; k < twos && !passes; k++) {
      x = multiply(x, x, q);
      passes = x == q - 1;
    }
    if (!passes) {
      return false;
    }
  }
  return true;
}

uint64_t hx_cuda_mul_mod(uint64_t q, uint64_t a, uint64_t b) { return multiply(a, b, q); }
uint64_t hx_cuda_add_mod(uint64_t q, uint64_t a, uint64_t b) { return a + b < q ? a + b : a + b - q; }
uint64_t hx_cuda_neg_mod(uint64_t q, uint64_t a) { return a == 0 ? 0 : q - a; }
uint64_t hx_cuda_pow_mod(uint64_t q, uint64_t a, uint64_t exponent) { return power(a, exponent, q); }
uint64_t hx_cuda_inverse_mod(uint64_t q, uint64_t a) { return power(a, q - 2, q); }

hx_cuda_factor_t hx_cuda_factor_of(uint64_t q, uint64_t c) {
  return (hx_cuda_factor_t){c, (uint64_t)(((hx_cuda_u128)c << 64) / q)};
}

uint64_t hx_cuda_to_montgomery(uint64_t q, uint64_t c) { return (uint64_t)(((hx_cuda_u128)c << 64) % q); }

double hx_cuda_centred(uint64_t q, uint64_t c) { return c > q / 2 ? -(double)(q - c) : (double)c; }

void hx_cuda_prime_init(hx_cuda_prime_t *prime, uint64_t q) {
  const hx_cuda_u128 one = 1;
  const uint32_t bits = 64 - (uint32_t)__builtin_clzll(q);
  uint64_t inverse = q;  // right in 3 bits: q * q = 1 mod 8; every step doubles them
  for (int i = 0; i < 5; i++) {
    inverse *= 2 - q * inverse;
  }
  const uint64_t radix = (uint64_t)((one << 64) % q);
  *prime = (hx_cuda_prime_t){.q = q,
                             .two_q = 2 * q,
                             .ratio = (uint64_t)((one << 64) / q),
                             .barrett = (uint64_t)((one << (bits + 62)) / q),
                             .radix = radix,
                             .radix_quotient = hx_cuda_factor_of(q, radix).quotient,
                             .inverse = inverse,
                             .bits = bits,
                             .tight = bits > 46,
                             .real_q = (double)q,
                             .real_inverse = 1.0 / (double)q};
}

// c * 2^64 = (c * floor(2^64/q)) q + c * (2^64 mod q), and what the second term adds is (c * rest - (c * rest mod q)) /
// q, where the division is exact: times q^-1 mod 2^64.
uint64_t hx_cuda_quotient_of(const hx_cuda_prime_t *prime, uint64_t c) {
  const uint64_t part = c * prime->radix - mod_mul(c, prime->radix, prime);
  return c * prime->ratio + part * prime->inverse;
}

uint64_t hx_cuda_product_of(const hx_cuda_prime_t *prime, uint64_t a, uint64_t b) { return mod_mul(a, b, prime); }
