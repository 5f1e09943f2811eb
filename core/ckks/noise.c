// SPDX-License-Identifier: Apache-2.0
#include "core/ckks/noise.h"

#include <math.h>

static const double error_variance = 3.2 * 3.2;
static const double rounding = 1.0 / 12.0;

static double degree(const hx_params_t *params) { return ldexp(1.0, (int)hx_params_log_n(params)); }

// Variance of a coefficient of the secret.
static double secret_variance(const hx_params_t *params) {
  const uint32_t weight = hx_params_secret_weight(params);
  return weight == 0 ? 2.0 / 3.0 : weight / degree(params);
}

// What one rounded component, and one more times the secret, leave: (1 + N t) / 12.
static double rounded_pair(const hx_params_t *params) {
  return (1.0 + degree(params) * secret_variance(params)) * rounding;
}

double hx_noise_encode(void) { return rounding; }

double hx_noise_fresh_public(const hx_params_t *params) {
  const double n = degree(params);
  const double key = (n * 2.0 / 3.0 + 1.0 + n * secret_variance(params)) * error_variance;
  if (hx_params_p_count(params) == 0) return key;
  const double p = (double)hx_params_prime(params, hx_params_q_count(params));
  return key / p / p + rounded_pair(params);
}

double hx_noise_fresh_secret(const hx_params_t *params) {
  (void)params;  // sigma is the same for all
  return error_variance;
}

double hx_noise_add(double a, double b) { return a + b; }

double hx_noise_multiply(const hx_params_t *params, hx_noise_factor_t a, hx_noise_factor_t b) {
  return a.variance * b.scale * b.scale * b.power + b.variance * a.scale * a.scale * a.power +
         degree(params) * a.variance * b.variance;
}

double hx_noise_add_dependent(double a, double b) {
  const double sigma = sqrt(a) + sqrt(b);
  return sigma * sigma;
}

double hx_noise_multiply_dependent(const hx_params_t *params, hx_noise_factor_t a, hx_noise_factor_t b) {
  const double first = sqrt(a.variance * b.power) * b.scale, second = sqrt(b.variance * a.power) * a.scale;
  const double sigma = first + second + sqrt(2.0 * degree(params) * a.variance * b.variance);
  return sigma * sigma;
}

double hx_noise_key_product(const hx_params_t *params, uint32_t depth) {
  const hx_ring *ring = hx_params_ring(params);
  if (ring->p_count == 0) return NAN;
  double special_log2 = 0.0;
  for (uint32_t i = 0; i < ring->p_count; ++i) special_log2 += log2((double)ring->primes[ring->q_count + i]);
  const hx_primes_t active = hx_ring_active(ring, depth);
  double sum = 0.0;
  for (uint32_t j = 0; j < hx_ring_digit_count(ring, depth); ++j) {
    const hx_primes_t digit = hx_ring_digit(ring, j, &active);
    uint32_t ids[HX_PRIMES_MAX];
    const uint32_t count = hx_primes_list(&digit, ids);
    double digit_log2 = 0.0;
    for (uint32_t i = 0; i < count; ++i) digit_log2 += log2((double)ring->primes[ids[i]]);
    sum += count * rounding * exp2(2.0 * (digit_log2 - special_log2));
  }
  return degree(params) * error_variance * sum;
}

double hx_noise_mod_down(const hx_params_t *params) { return hx_params_p_count(params) * rounded_pair(params); }

double hx_noise_key_switch(const hx_params_t *params, uint32_t depth) {
  return hx_noise_key_product(params, depth) + hx_noise_mod_down(params);
}

double hx_noise_rescale(const hx_params_t *params, uint32_t depth, uint32_t components, double variance) {
  const hx_ring *ring = hx_params_ring(params);
  const hx_primes_t before = hx_ring_active(ring, depth), after = hx_ring_active(ring, depth + 1);
  const double n = degree(params), t = secret_variance(params);
  const double rest = rounded_pair(params) + (components == 3 ? n * n * t * t * rounding : 0.0);
  for (uint32_t id = ring->q_count; id-- > 0;) {
    if (!hx_primes_has(&before, id) || hx_primes_has(&after, id)) continue;
    const double q = (double)ring->primes[id];
    variance = variance / q / q + rest;
  }
  return variance;
}

double hx_noise_slot_sigma(uint32_t slots, double scale, double variance) {
  return sqrt(2.0 * slots * variance) / scale;
}
