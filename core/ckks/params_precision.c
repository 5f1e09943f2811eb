// SPDX-License-Identifier: Apache-2.0
// What a parameter set lets results be right to: the rules of noise_rules.c on a chain of products.
#include <math.h>

#include "core/ckks/encode.h"
#include "core/ckks/noise.h"
#include "core/ckks/noise_state.h"
#include "core/ckks/transition.h"

// The worst of n slots lies at about 0.55 ln n sigmas: a slot's error is a product with the secret's slot value, so its
// tail falls like an exponential.
static double bits_of(const hx_params_t *params, const hx_noise_t *noise, const hx_type_t *type) {
  const double sigma = hx_noise_slot_sigma(type->slots, exp2(hx_scale_log2(&type->scale, hx_params_ring(params))),
                                           hx_noise_variance(noise));
  const double sigmas = 0.55 * log(type->slots);
  return -log2(sigma * (sigmas < 1 ? 1 : sigmas));
}

// One operation with inference of state and noise; value and type are replaced.
static bool apply(const hx_params_t *params, hx_op_id_t id, const hx_noise_t *other, const hx_type_t *other_type,
                  const hx_named_attr_t *attr, hx_noise_t *noise, hx_type_t *type) {
  const hx_type_t *types[] = {type, other_type};
  const hx_noise_t *noises[] = {noise, other};
  const size_t count = other == NULL ? 1 : 2;
  const hx_attrs_t attrs = {.items = attr, .count = attr != NULL};
  hx_type_t result;
  hx_noise_t made = {0};
  hx_infer_t inference = {.op = hx_op_info(id),
                          .attrs = attrs,
                          .operands = types,
                          .operand_count = count,
                          .ring = hx_params_ring(params),
                          .results = &result,
                          .result_count = 1};
  if (hx_op_infer(&inference) != HX_STATUS_OK) return false;
  hx_noise_infer(&(hx_noise_call_t){.params = params,
                                    .id = id,
                                    .attrs = attrs,
                                    .types = types,
                                    .operands = noises,
                                    .operand_count = count,
                                    .results = &made,
                                    .result_count = 1});
  hx_type_copy(type, &result);
  *noise = made;
  return made.known;
}

static void fresh(const hx_params_t *params, uint32_t depth, const hx_scale_t *scale, uint64_t id, hx_noise_t *noise,
                  hx_type_t *type) {
  const uint32_t slots = (uint32_t)1 << (hx_params_log_n(params) - 1);
  hx_noise_t plaintext;
  hx_plaintext_type(params, depth, slots, scale, type);
  type->kind = HX_TYPE_CIPHERTEXT;
  type->components = 2;
  hx_type_set_word(type, HX_PART_COMPONENTS, 2);
  hx_noise_of_encoding(params, slots, exp2(hx_scale_log2(scale, hx_params_ring(params))), 1.0, 1.0, hx_noise_mix(id, 1),
                       &plaintext);
  hx_noise_of_encryption(params, &plaintext, false, hx_noise_mix(id, 2), noise);
}

static bool multiply(const hx_params_t *params, uint64_t id, hx_noise_t *noise, hx_type_t *type) {
  hx_noise_t other;
  hx_type_t other_type;
  fresh(params, type->depth, hx_params_default_scale(params), id, &other, &other_type);
  if (!apply(params, HX_OP_CKKS_MUL, &other, &other_type, NULL, noise, type)) return false;
  if (hx_params_p_count(params) > 0 && !apply(params, HX_OP_CKKS_RELINEARIZE, NULL, NULL, NULL, noise, type))
    return false;
  return apply(params, HX_OP_CKKS_RESCALE, NULL, NULL, NULL, noise, type);
}

// A chain of squarings: the scale against the default one.
static double drift(const hx_params_t *params) {
  const hx_ring *ring = hx_params_ring(params);
  double worst = 0;
  hx_scale_t scale;
  hx_scale_copy(&scale, hx_params_default_scale(params));
  const double wanted = hx_scale_log2(&scale, ring);
  long double ratio = 0;  // log2 of S over the default scale, of products of primes over it
  for (uint32_t depth = 0; depth < hx_params_max_depth(params); ++depth) {
    const hx_primes_t before = hx_ring_active(ring, depth), after = hx_ring_active(ring, depth + 1);
    long double group = 0;
    for (uint32_t id = 0; id < ring->q_count; ++id) {
      if (hx_primes_has(&before, id) && !hx_primes_has(&after, id)) group += log2l((long double)ring->primes[id]);
    }
    ratio = 2 * ratio + (long double)wanted - group;
    if (fabs((double)ratio) > worst) worst = fabs((double)ratio);
  }
  return worst > 0 ? log2(worst) : -INFINITY;
}

void hx_params_precision(const hx_params_t *params, hx_params_precision_t *out) {
  hx_noise_t noise;
  hx_type_t type;
  *out = (hx_params_precision_t){.multiplied = NAN, .rotated = NAN, .deepest = NAN, .drift_log2 = drift(params)};
  fresh(params, 0, hx_params_default_scale(params), 1, &noise, &type);
  out->fresh = out->deepest = bits_of(params, &noise, &type);
  if (hx_params_p_count(params) > 0) {
    const hx_named_attr_t step = {.name = hx_str("step"), .value = {.kind = HX_ATTRIBUTE_INTEGER, .integer = 1}};
    hx_noise_t rotated = noise;
    hx_type_t rotated_type;
    hx_type_copy(&rotated_type, &type);
    if (apply(params, HX_OP_CKKS_ROTATE, NULL, NULL, &step, &rotated, &rotated_type))
      out->rotated = bits_of(params, &rotated, &rotated_type);
  }
  for (uint32_t depth = 0; depth < hx_params_max_depth(params); ++depth) {
    if (!multiply(params, depth + 2, &noise, &type)) {
      out->deepest = NAN;
      return;
    }
    out->deepest = bits_of(params, &noise, &type);
    if (depth == 0) out->multiplied = out->deepest;
  }
}
