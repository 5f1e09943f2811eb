// SPDX-License-Identifier: Apache-2.0
// Number theory on public values, when tables and plans are made. Everything here may branch and divide.
#ifndef HX_CUDA_NUMBER_H
#define HX_CUDA_NUMBER_H

#include <stdbool.h>

#include "kernels/args.h"

__extension__ typedef unsigned __int128 hx_cuda_u128;

// Certain for every 64-bit word.
bool hx_cuda_is_prime(uint64_t q);

// All that follow: q is a prime, 5 <= q < 2^61; a, b, c < q and so are the results.
uint64_t hx_cuda_mul_mod(uint64_t q, uint64_t a, uint64_t b);
uint64_t hx_cuda_add_mod(uint64_t q, uint64_t a, uint64_t b);
uint64_t hx_cuda_neg_mod(uint64_t q, uint64_t a);
uint64_t hx_cuda_pow_mod(uint64_t q, uint64_t a, uint64_t exponent);
uint64_t hx_cuda_inverse_mod(uint64_t q, uint64_t a);  // a != 0
// With its Shoup quotient.
hx_cuda_factor_t hx_cuda_factor_of(uint64_t q, uint64_t c);
// c * 2^64 mod q: the form of conversion constants.
uint64_t hx_cuda_to_montgomery(uint64_t q, uint64_t c);
// c or c - q, whichever is nearer to 0; q < 2^50.
double hx_cuda_centred(uint64_t q, uint64_t c);

// The numbers of a prime that kernels need; addresses of tables stay 0.
void hx_cuda_prime_init(hx_cuda_prime_t *prime, uint64_t q);
// floor(c * 2^64 / q) for c < q without a division, from the prime's numbers.
uint64_t hx_cuda_quotient_of(const hx_cuda_prime_t *prime, uint64_t c);
// a * b mod q without a division.
uint64_t hx_cuda_product_of(const hx_cuda_prime_t *prime, uint64_t a, uint64_t b);

#endif
