// SPDX-License-Identifier: Apache-2.0
#include "heliox/support/number.h"

static uint64_t mul_mod(uint64_t a, uint64_t b, uint64_t q) { return (uint64_t)((hxs_u128)a * b % q); }

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
bool hxs_is_prime(uint64_t q) {
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

uint64_t hxs_odd_inverse(uint64_t x) {
  uint64_t inverse = x;  // right in 3 bits: x * x = 1 mod 8; every step doubles them
  for (int i = 0; i < 5; i++) {
    inverse *= 2 - x * inverse;
  }
  return inverse;
}

void hxs_modulus_init(hxs_modulus *m, uint64_t q, uint32_t word) {
  const hxs_u128 one = 1;
  m->q = q;
  m->two_q = 2 * q;
  m->word = word;
  m->bits = 64 - (uint32_t)__builtin_clzll(q);
  m->ratio = (uint64_t)((one << 64) / q);
  m->barrett = (uint64_t)((one << (m->bits + (word == 64 ? 62 : 31))) / q);
  m->radix = (uint64_t)((one << word) % q);
  m->radix_quotient = (uint64_t)(((hxs_u128)m->radix << word) / q);
  const uint64_t inverse = hxs_odd_inverse(q);
  m->inverse = word == 64 ? inverse : (uint32_t)inverse;
}

uint64_t hxs_mul_mod(const hxs_modulus *m, uint64_t a, uint64_t b) {
  return m->word == 64 ? hxs_mod_mul_add(a, b, 0, m, 64) : hxs_mod_mul_add(a, b, 0, m, 32);
}

uint64_t hxs_add_mod(const hxs_modulus *m, uint64_t a, uint64_t b) { return hxs_mod_once(a + b, m->q); }

uint64_t hxs_neg_mod(const hxs_modulus *m, uint64_t a) { return a == 0 ? 0 : m->q - a; }

uint64_t hxs_pow_mod(const hxs_modulus *m, uint64_t a, uint64_t exponent) { return pow_mod(a, exponent, m->q); }

uint64_t hxs_inverse_mod(const hxs_modulus *m, uint64_t a) { return pow_mod(a, m->q - 2, m->q); }

// floor(c * 2^w / q) for c < q without a division: c * 2^w = (c * floor(2^w/q)) * q + c * (2^w mod q), and what the
// second term adds is (c * rest - (c * rest mod q)) / q, where the division is exact: times q^-1 mod 2^w.
hxs_factor hxs_factor_of(const hxs_modulus *m, uint64_t c) {
  const uint64_t part = c * m->radix - hxs_mul_mod(m, c, m->radix);
  const uint64_t ratio = m->word == 64 ? m->ratio : m->ratio >> 32;
  const uint64_t quotient = c * ratio + part * m->inverse;
  const hxs_factor factor = {c, m->word == 64 ? quotient : (uint32_t)quotient};
  return factor;
}

uint64_t hxs_to_montgomery(const hxs_modulus *m, uint64_t c) { return hxs_mul_mod(m, c, m->radix); }

// x^((q-1)/2N) has an order that divides 2N, and 2N exactly when its N-th power is -1; half of all x have such a root.
// The others are its odd powers.
uint64_t hxs_root_of_unity(const hxs_modulus *m, uint32_t log_n) {
  const uint64_t order = (uint64_t)2 << log_n;
  uint64_t root = 0;
  for (uint64_t x = 2; root == 0 || hxs_pow_mod(m, root, order / 2) != m->q - 1; x++) {
    root = hxs_pow_mod(m, x, (m->q - 1) / order);
  }
  const uint64_t square = hxs_mul_mod(m, root, root);
  uint64_t best = root, power = root;
  for (uint64_t i = 1; i < order / 2; i++) {
    power = hxs_mul_mod(m, power, square);
    best = power < best ? power : best;
  }
  return best;
}

uint32_t hxs_bit_reverse(uint32_t i, uint32_t bits) {
  uint32_t result = 0;
  for (uint32_t k = 0; k < bits; k++, i >>= 1) {
    result = result << 1 | (i & 1);
  }
  return result;
}

void hxs_powers(const hxs_modulus *m, uint64_t root, uint32_t log_n,
                void (*put)(void *self, uint32_t i, uint64_t power), void *self) {
  uint64_t power = 1;
  for (uint32_t i = 0; i < (uint32_t)1 << log_n; i++) {
    put(self, hxs_bit_reverse(i, log_n), power);
    power = hxs_mul_mod(m, power, root);
  }
}

uint32_t hxs_rotation_element(uint32_t log_n, int64_t step) {
  const uint32_t n = (uint32_t)1 << log_n;
  uint32_t element = 1;
  for (uint64_t i = (uint64_t)step & (n / 2 - 1); i != 0; i--) {
    element = element * 5 & (2 * n - 1);
  }
  return element;
}

// out[i] = in[brv(((g * (2 brv(i) + 1)) mod 2N - 1) / 2)], filled for i = brv(k), k ascending: the odd numbers 2k + 1
// in turn. 2N divides 2^32, so products may wrap.
void hxs_automorphism_index(uint32_t log_n, uint32_t element, uint32_t *index) {
  const uint32_t n = (uint32_t)1 << log_n;
  for (uint32_t k = 0; k < n; k++) {
    const uint32_t odd = element * (2 * k + 1) & (2 * n - 1);
    index[hxs_bit_reverse(k, log_n)] = hxs_bit_reverse(odd / 2, log_n);
  }
}
