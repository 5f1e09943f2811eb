// SPDX-License-Identifier: Apache-2.0
#include "core/ckks/primes.h"

#include <assert.h>
#include <math.h>

#include "core/base/memory.h"

__extension__ typedef unsigned __int128 hx_u128;

uint64_t hx_modular_multiply(uint64_t a, uint64_t b, uint64_t q) { return (uint64_t)((hx_u128)a * b % q); }

uint64_t hx_modular_power(uint64_t base, uint64_t exponent, uint64_t q) {
  uint64_t result = 1 % q;
  for (base %= q; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) result = hx_modular_multiply(result, base, q);
    base = hx_modular_multiply(base, base, q);
  }
  return result;
}

// One round: true if `base` does not prove that number = odd * 2^twos + 1 is composite.
static bool passes_miller_rabin(uint64_t number, uint64_t base, uint64_t odd, uint32_t twos) {
  uint64_t x = hx_modular_power(base, odd, number);
  if (x == 1 || x == number - 1) return true;
  for (uint32_t i = 1; i < twos; ++i) {
    x = hx_modular_multiply(x, x, number);
    if (x == number - 1) return true;
  }
  return false;
}

bool hx_prime_is(uint64_t number) {
  // No composite below 3.3 * 10^24 passes all of these, so none below 2^64 does.
  static const uint64_t bases[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};
  if (number < 2) return false;
  for (size_t i = 0; i < HX_COUNT_OF(bases); ++i) {
    if (number % bases[i] == 0) return number == bases[i];
  }
  const uint32_t twos = (uint32_t)__builtin_ctzll(number - 1);
  const uint64_t odd = (number - 1) >> twos;
  for (size_t i = 0; i < HX_COUNT_OF(bases); ++i) {
    if (!passes_miller_rabin(number, bases[i], odd, twos)) return false;
  }
  return true;
}

uint64_t hx_prime_below(uint64_t bound, uint32_t log_n) {
  assert(log_n <= 60);
  const uint64_t step = (uint64_t)1 << (log_n + 1);
  if (bound <= step + 1) return 0;
  uint64_t candidate = (bound - 2) / step * step + 1;  // the largest 1 mod step that is at most bound - 1
  for (; candidate > step; candidate -= step) {
    if (hx_prime_is(candidate)) return candidate;
  }
  return 0;
}

// Some primitive 2N-th root: x^((q-1)/2N) is one exactly if its N-th power is -1, as it is for half of all x.
static uint64_t find_root(uint64_t q, uint32_t log_n) {
  const uint64_t n = (uint64_t)1 << log_n;
  for (uint64_t x = 2;; ++x) {
    const uint64_t root = hx_modular_power(x, (q - 1) >> (log_n + 1), q);
    if (hx_modular_power(root, n, q) == q - 1) return root;
  }
}

uint64_t hx_prime_psi(uint64_t q, uint32_t log_n) {
  assert(log_n >= 1 && q < (uint64_t)1 << 63 && (q - 1) % ((uint64_t)1 << (log_n + 1)) == 0);
  const uint64_t n = (uint64_t)1 << log_n;
  const uint64_t root = find_root(q, log_n);
  const uint64_t square = hx_modular_multiply(root, root, q);
  // Multiplication by the constant `square` with its quotient floor(square * 2^64 / q): power * square minus the
  // estimated multiple of q lies in [0, 2q), and 2q < 2^64.
  const uint64_t quotient = (uint64_t)(((hx_u128)square << 64) / q);
  // All primitive roots are root^odd, and root^(odd + N) = -root^odd, so N / 2 powers and their negatives are all.
  uint64_t best = q, power = root;
  for (uint64_t i = 0; i < n / 2; ++i) {
    const uint64_t negative = q - power;
    const uint64_t smaller = power < negative ? power : negative;
    if (smaller < best) best = smaller;
    const uint64_t estimate = (uint64_t)(((hx_u128)power * quotient) >> 64);
    power = power * square - estimate * q;
    if (power >= q) power -= q;
  }
  return best;
}

// ------------------------------------------------------------------ products

void hx_product_set_one(hx_product_t *product) {
  product->words = 1;
  product->word[0] = 1;
}

void hx_product_multiply(hx_product_t *product, uint64_t factor) {
  assert(factor > 0);
  uint64_t carry = 0;
  for (uint32_t i = 0; i < product->words; ++i) {
    // (2^64-1)^2 + 2^64-1 < 2^128
    const hx_u128 part = (hx_u128)product->word[i] * factor + carry;
    product->word[i] = (uint64_t)part;
    carry = (uint64_t)(part >> 64);
  }
  if (carry != 0) {
    assert(product->words < HX_COUNT_OF(product->word));
    product->word[product->words++] = carry;
  }
}

uint32_t hx_product_bits(const hx_product_t *product) {
  return product->words * 64 - (uint32_t)__builtin_clzll(product->word[product->words - 1]);
}

int hx_product_compare(const hx_product_t *a, const hx_product_t *b) {
  if (a->words != b->words) return a->words < b->words ? -1 : 1;
  for (uint32_t i = a->words; i-- > 0;) {
    if (a->word[i] != b->word[i]) return a->word[i] < b->word[i] ? -1 : 1;
  }
  return 0;
}

double hx_product_log2(const hx_product_t *product) {
  // The two highest words hold at least 65 bits of the number, or all of it.
  const uint32_t top = product->words - 1;
  double value = (double)product->word[top];
  if (top == 0) return log2(value);
  value += ldexp((double)product->word[top - 1], -64);
  return log2(value) + 64.0 * top;
}
