// SPDX-License-Identifier: Apache-2.0
#include "number.h"

static uint64_t mul_mod(uint64_t a, uint64_t b, uint64_t q) { return (uint64_t)((hx_u128)a * b % q); }

static uint64_t pow_mod(uint64_t a, uint64_t exponent, uint64_t q) {
  uint64_t result = 1 % q;
  for (; exponent > 0; exponent >>= 1) {
    if ((exponent & 1) != 0) {
      result = mul_mod(result, a, q);
    }
    a = mul_mod(a, a, q);
  }
  return result;
}

// Miller-Rabin with the first twelve primes as bases decides every number below 2^64 [SW17].
bool hx_cpu_is_prime(uint64_t q) {
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
    uint64_t x = pow_mod(bases[i], odd, q);
    bool passes = x == 1 || x == q - 1;
    for (uint32_t k = 1; k < twos && !passes; k++) {
      x = mul_mod(x, x, q);
      passes = x == q - 1;
    }
    if (!passes) {
      return false;
    }
  }
  return true;
}

void hx_cpu_modulus_init(hx_cpu_modulus_t *m, uint64_t q, uint32_t word) {
  const hx_u128 one = 1;
  m->q = q;
  m->two_q = 2 * q;
  m->word = word;
  m->bits = 64 - (uint32_t)__builtin_clzll(q);
  m->ratio = (uint64_t)((one << 64) / q);
  m->barrett = (uint64_t)((one << (m->bits + (word == 64 ? 62 : 31))) / q);
  m->radix = (uint64_t)((one << word) % q);
  m->radix_quotient = (uint64_t)(((hx_u128)m->radix << word) / q);
  uint64_t inverse = q;  // right in 3 bits: q * q = 1 mod 8; every step doubles them
  for (int i = 0; i < 5; i++) {
    inverse *= 2 - q * inverse;
  }
  m->inverse = word == 64 ? inverse : (uint32_t)inverse;
}

uint64_t hx_cpu_mul_mod(const hx_cpu_modulus_t *m, uint64_t a, uint64_t b) {
  return m->word == 64 ? mod_mul_add(a, b, 0, m, 64) : mod_mul_add(a, b, 0, m, 32);
}

uint64_t hx_cpu_pow_mod(const hx_cpu_modulus_t *m, uint64_t a, uint64_t exponent) { return pow_mod(a, exponent, m->q); }

uint64_t hx_cpu_inverse_mod(const hx_cpu_modulus_t *m, uint64_t a) { return pow_mod(a, m->q - 2, m->q); }

uint64_t hx_cpu_neg_mod(const hx_cpu_modulus_t *m, uint64_t a) { return a == 0 ? 0 : m->q - a; }

hx_cpu_factor_t hx_cpu_factor_of(const hx_cpu_modulus_t *m, uint64_t c) {
  hx_cpu_factor_t factor = {c, (uint64_t)(((hx_u128)c << m->word) / m->q)};
  return factor;
}

uint64_t hx_cpu_to_montgomery(const hx_cpu_modulus_t *m, uint64_t c) { return hx_cpu_mul_mod(m, c, m->radix); }
