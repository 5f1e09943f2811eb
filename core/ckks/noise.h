// SPDX-License-Identifier: Apache-2.0
// Predicted noise: variances of a ciphertext's error per coefficient, average case, for use in tests and reports.
//
// Model. Errors are independent between coefficients and operations; a rounding to nearest leaves a uniform rest,
// variance 1/12. A product of two polynomials mod X^N + 1 with independent coefficients of variances a and b has
// coefficients of variance N a b. s^2 is taken as such a product. The secret has variance t = 2/3 (uniform ternary) or
// h / N.
//
// A slot is a sum of the 2 * slots coefficients of the packing times roots of unity, so its error has
// E|error|^2 = 2 slots V / scale^2, V the variance per coefficient. It is a product with the secret's value at the
// slot: heavier-tailed than Gaussian, so tests allow 12 of these sigmas. Where the product is with the square of that
// value, a rescale of three components, the tail is heavier still: 12 sigmas are passed in two of five runs with 4096
// slots, 40 as rarely as 12 elsewhere.
//
// [HPS18] and [KPP22] derive the parts; docs of each function say what is summed.
#ifndef HELIOX_CORE_CKKS_NOISE_H
#define HELIOX_CORE_CKKS_NOISE_H

#include "core/ckks/params.h"

// Rounding of an encoding: 1/12 on each coefficient of the packing.
double hx_noise_encode(void);

// Fresh encryption. Public: (e v + e0 + e1 s) / p from the key, r0 + r1 s from rounding the division by the first
// special prime p: (2/3 N + 1 + N t) sigma^2 / p^2 + (1 + N t) / 12; without P the first sum alone, not divided.
double hx_noise_fresh_public(const hx_params_t *params);
// Symmetric: sigma^2.
double hx_noise_fresh_secret(const hx_params_t *params);

// Sum or difference of independent errors.
double hx_noise_add(double a, double b);
// Sum or difference of errors that may depend on each other (a + a has four times the variance): (sqrt a + sqrt b)^2,
// an upper bound by the triangle inequality, at most twice the independent sum.
double hx_noise_add_dependent(double a, double b);

// Product of ciphertexts with mean squared slots (of |z|^2, before scaling) power_a, power_b and these scales:
// V_a scale_b^2 power_b + V_b scale_a^2 power_a + N V_a V_b. A plaintext is a factor with V = 1/12 in its packing.
typedef struct hx_noise_factor {
  double variance, scale, power;
} hx_noise_factor_t;
double hx_noise_multiply(const hx_params_t *params, hx_noise_factor_t a, hx_noise_factor_t b);
// The same for operands whose errors depend on each other, as in a square: an upper bound, the three parts added as
// sigmas, with 2 N V_a V_b for the last (the fourth moment of one and the same error). Powers are then best the largest
// squared slots: an error may sit where the other factor is large.
double hx_noise_multiply_dependent(const hx_params_t *params, hx_noise_factor_t a, hx_noise_factor_t b);

// Key switch at a depth (relinearize, rotate, conjugate): what it adds. Digit j's value after mod_up is a sum of one
// term for each of its n_j primes, uniform within its product D_j: n_j D_j^2 / 12, times the key's error, over P^2; and
// the rounding of mod_down, one uniform rest for each special prime in both components: N sigma^2 sum_j n_j D_j^2 / 12
// / P^2 + p_count (1 + N t) / 12. Without P: not a number (no keys).
double hx_noise_key_switch(const hx_params_t *params, uint32_t depth);
// Its two halves: what the product with the key leaves (over P), and the rounding of mod_down. Sums on Q and P take one
// of the first for each term and one of the second in all.
double hx_noise_key_product(const hx_params_t *params, uint32_t depth);
double hx_noise_mod_down(const hx_params_t *params);

// Rescale from a depth: for each prime q dropped V / q^2 + (1 + N t [+ N^2 t^2]) / 12, the bracket with three
// components.
double hx_noise_rescale(const hx_params_t *params, uint32_t depth, uint32_t components, double variance);

// sqrt(2 slots V) / scale: the sigma of a slot's error.
double hx_noise_slot_sigma(uint32_t slots, double scale, double variance);

#endif
