// SPDX-License-Identifier: Apache-2.0
// Word-sized modular arithmetic, primality, roots of unity, and exact products of primes. Nothing here is for secrets:
// running times depend on the operands.
#ifndef HELIOX_CORE_CKKS_PRIMES_H
#define HELIOX_CORE_CKKS_PRIMES_H

#include "core/base/limits.h"
#include "heliox/base.h"

// a * b mod q, for any words a, b and q > 0.
uint64_t hx_modular_multiply(uint64_t a, uint64_t b, uint64_t q);
// base^exponent mod q; 0^0 is 1 mod q.
uint64_t hx_modular_power(uint64_t base, uint64_t exponent, uint64_t q);

// Certain for every 64-bit word (Miller-Rabin with the first twelve primes as bases).
bool hx_prime_is(uint64_t number);
// The largest prime q = 1 mod 2^(log_n + 1) below `bound`, or 0 if there is none. log_n at most 60.
uint64_t hx_prime_below(uint64_t bound, uint32_t log_n);
// psi(q, N) of CKKS.md: the smallest primitive 2N-th root of unity mod q, N = 2^log_n.
// log_n at least 1, q a prime below 2^63 and 1 mod 2N. N / 2 modular multiplications.
uint64_t hx_prime_psi(uint64_t q, uint32_t log_n);

// A product of at most HX_PRIMES_MAX words and two, exact, little-endian; word[words - 1] is not 0.
typedef struct hx_product {
  uint32_t words;
  uint64_t word[HX_PRIMES_MAX + 2];
} hx_product_t;

void hx_product_set_one(hx_product_t *product);
// product *= factor, factor > 0. The caller multiplies at most HX_PRIMES_MAX + 1 times.
void hx_product_multiply(hx_product_t *product, uint64_t factor);
// Bits of the number: the least b with product < 2^b.
uint32_t hx_product_bits(const hx_product_t *product);
// Negative, 0, positive as a < b, a = b, a > b.
int hx_product_compare(const hx_product_t *a, const hx_product_t *b);
// log2 within 2^-40 of the number, for messages.
double hx_product_log2(const hx_product_t *product);

#endif
