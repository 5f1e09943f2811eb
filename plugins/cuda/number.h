// SPDX-License-Identifier: Apache-2.0
// The forms of constants that kernels take, from the library's number theory. All are of 64-bit words.
#ifndef HX_CUDA_NUMBER_H
#define HX_CUDA_NUMBER_H

#include "heliox/support/number.h"
#include "kernels/args.h"

// c < q with its Shoup quotient; a modulus of word 64.
hx_cuda_factor_t hx_cuda_factor_of(const hxs_modulus *m, uint64_t c);
// c or c - q, whichever is nearer to 0; q < 2^50.
double hx_cuda_centred(uint64_t q, uint64_t c);
// The numbers of a prime that kernels need, of a modulus of word 64; addresses of tables stay 0.
void hx_cuda_prime_init(hx_cuda_prime_t *prime, const hxs_modulus *m);

#endif
