// SPDX-License-Identifier: Apache-2.0
// Number theory on public values, when tables and plans are made. Everything here may branch and divide.
#ifndef HX_CPU_NUMBER_H
#define HX_CPU_NUMBER_H

#include <stdbool.h>

#include "kernels/modular.h"

// Certain for every 64-bit word.
bool hx_cpu_is_prime(uint64_t q);
// Fills in all that reductions mod the prime q need; q < 2^61 (word 64) or q < 2^31 (word 32), q >= 5.
void hx_cpu_modulus_init(hx_cpu_modulus_t *m, uint64_t q, uint32_t word);

// a, b < q; the results too.
uint64_t hx_cpu_mul_mod(const hx_cpu_modulus_t *m, uint64_t a, uint64_t b);
uint64_t hx_cpu_pow_mod(const hx_cpu_modulus_t *m, uint64_t a, uint64_t exponent);
// The inverse of a != 0.
uint64_t hx_cpu_inverse_mod(const hx_cpu_modulus_t *m, uint64_t a);
uint64_t hx_cpu_neg_mod(const hx_cpu_modulus_t *m, uint64_t a);
// c < q with its Shoup quotient.
hx_cpu_factor_t hx_cpu_factor_of(const hx_cpu_modulus_t *m, uint64_t c);
// c * 2^w mod q: the form of an affine map's constants.
uint64_t hx_cpu_to_montgomery(const hx_cpu_modulus_t *m, uint64_t c);

#endif
