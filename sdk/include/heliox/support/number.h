// SPDX-License-Identifier: Apache-2.0
// Number theory on public values, when tables and plans are made. Everything here may branch and divide.
#ifndef HELIOX_SUPPORT_NUMBER_H
#define HELIOX_SUPPORT_NUMBER_H

#include <stdbool.h>

#include "heliox/support/modular.h"

#ifdef __cplusplus
extern "C" {
#endif

// Certain for every 64-bit word.
bool hxs_is_prime(uint64_t q);
// The inverse of an odd number mod 2^64; its low bits are the inverse mod every smaller power of two.
uint64_t hxs_odd_inverse(uint64_t x);
// Fills in all that reductions mod the prime q need; q < 2^61 (word 64) or q < 2^31 (word 32), q >= 5.
void hxs_modulus_init(hxs_modulus *m, uint64_t q, uint32_t word);

// a, b < q; the results too.
uint64_t hxs_mul_mod(const hxs_modulus *m, uint64_t a, uint64_t b);
// a + b mod q, residues.
uint64_t hxs_add_mod(const hxs_modulus *m, uint64_t a, uint64_t b);
// -a mod q, a residue.
uint64_t hxs_neg_mod(const hxs_modulus *m, uint64_t a);
// a^exponent mod q.
uint64_t hxs_pow_mod(const hxs_modulus *m, uint64_t a, uint64_t exponent);
// The inverse of a != 0.
uint64_t hxs_inverse_mod(const hxs_modulus *m, uint64_t a);
// c < q with its Shoup quotient, in the modulus' word; without a division.
hxs_factor hxs_factor_of(const hxs_modulus *m, uint64_t c);
// c * 2^w mod q: the form of constants that one Montgomery reduction takes off.
uint64_t hxs_to_montgomery(const hxs_modulus *m, uint64_t c);
// The smallest primitive 2N-th root of unity, N = 2^log_n: psi of rings. The prime is 1 mod 2N; N products.
uint64_t hxs_root_of_unity(const hxs_modulus *m, uint32_t log_n);

// The lowest `bits` bits of i in reverse order; bits <= 32.
uint32_t hxs_bit_reverse(uint32_t i, uint32_t bits);
// Powers of a root in the order of transforms, root^brv(i) for i in [0, 2^log_n): calls put(self, i, power) once each.
void hxs_powers(const hxs_modulus *m, uint64_t root, uint32_t log_n,
                void (*put)(void *self, uint32_t i, uint64_t power), void *self);
// 5^step mod 2n, the step taken modulo the n/2 slots: the automorphism that rotates slots by `step`.
uint32_t hxs_rotation_element(uint32_t log_n, int64_t step);
// X -> X^element in ntt domain is out[i] = in[index[i]]; element odd and below 2n, room for n entries.
void hxs_automorphism_index(uint32_t log_n, uint32_t element, uint32_t *index);

#ifdef __cplusplus
}
#endif

#endif
