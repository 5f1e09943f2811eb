// SPDX-License-Identifier: Apache-2.0
// Constants of stages and targets. Everything here is about public numbers.
#include "heliox/support/base.h"

#include "base_plan.h"

static const hxs_modulus *modulus(const hxs_build *build, uint32_t id) { return &build->ring->moduli[id]; }

static uint64_t half(const hxs_build *build, uint32_t prime) { return (modulus(build, prime)->q - 1) / 2; }

int32_t hxs_base_affine(const hxs_build *build, uint32_t count, hxs_affine *out) {
  out->count = count;
  out->start = 0;
  return hxs_keep_or_fail(build, (size_t)count + 1, sizeof *out->weights, &out->weights);
}

int32_t hxs_base_room(const hxs_build *build, uint32_t stage_count, uint32_t target_count, const uint32_t *ids,
                      hxs_base *base) {
  base->stage_count = stage_count;
  base->target_count = target_count;
  HXS_TRY(hxs_keep_or_fail(build, stage_count, sizeof *base->stage, &base->stage));
  HXS_TRY(hxs_keep_or_fail(build, target_count, sizeof *base->targets, &base->targets));
  for (uint32_t t = 0; t < target_count; t++) {
    base->targets[t].prime = ids[t];
  }
  return HX_OK;
}

// Product of the primes of the stage but row `skip` (HX_NONE: of all), mod a prime.
static uint64_t product_of_stage(const hxs_build *build, const hxs_base *base, uint32_t skip, uint32_t prime) {
  const hxs_modulus *m = modulus(build, prime);
  uint64_t product = 1;
  for (uint32_t s = 0; s < base->stage_count; s++) {
    if (s != skip) {
      product = hxs_mul_mod(m, product, modulus(build, base->stage[s].prime)->q % m->q);
    }
  }
  return product;
}

// y_s = x_s * (D/d_s)^-1 + h_s mod d_s, h_s = 0 unless centred: the digits of a fast conversion.
static int32_t fill_digits(const hxs_build *build, hxs_base *base, bool centred) {
  for (uint32_t s = 0; s < base->stage_count; s++) {
    hxs_stage_row *row = &base->stage[s];
    const uint64_t cofactor = product_of_stage(build, base, s, row->prime);
    HXS_TRY(hxs_base_affine(build, 1, &row->map));
    row->map.weights[0] = hxs_inverse_mod(modulus(build, row->prime), cofactor);
    row->map.start = centred ? half(build, row->prime) : 0;
  }
  return HX_OK;
}

// sum_s y_s * (D/d_s) - sum_s h_s * (D/d_s) mod the target's prime.
static int32_t fill_conversion(const hxs_build *build, const hxs_base *base, hxs_target *target) {
  const hxs_modulus *m = modulus(build, target->prime);
  uint64_t offset = 0;
  target->kind = HXS_TARGET_CONVERT;
  HXS_TRY(hxs_base_affine(build, base->stage_count, &target->map));
  for (uint32_t s = 0; s < base->stage_count; s++) {
    const uint64_t cofactor = product_of_stage(build, base, s, target->prime);
    target->map.weights[s] = cofactor;
    offset = hxs_add_mod(m, offset, hxs_mul_mod(m, half(build, base->stage[s].prime) % m->q, cofactor));
  }
  target->map.start = hxs_neg_mod(m, offset);
  return HX_OK;
}

int32_t hxs_base_raise(const hxs_build *build, uint32_t first, uint32_t count, const uint32_t *ids,
                       uint32_t target_count, hxs_base *out) {
  HXS_TRY(hxs_base_room(build, count, target_count, ids, out));
  for (uint32_t s = 0; s < count; s++) {
    out->stage[s].prime = out->stage[s].limb = first + s;
  }
  HXS_TRY(fill_digits(build, out, true));
  for (uint32_t t = 0; t < target_count; t++) {
    if (ids[t] >= first && ids[t] < first + count) {
      out->targets[t].kind = HXS_TARGET_COPY;
      out->targets[t].limb = ids[t];
    } else {
      HXS_TRY(fill_conversion(build, out, &out->targets[t]));
    }
  }
  return HX_OK;
}

// What every kept row (or later dropped row) mod q gets from the y: sum_s y_s * w_s + start, from factors f_s mod q
// that say by how much -y_s counts. The offsets h_s of the y_s are taken off again. Room for one more weight is left.
static int32_t fill_remainder(const hxs_build *build, const hxs_base *base, uint32_t prime, uint32_t count,
                              const uint64_t *factors, bool centred, uint64_t start, hxs_affine *out) {
  const hxs_modulus *m = modulus(build, prime);
  HXS_TRY(hxs_base_affine(build, count, out));
  for (uint32_t s = 0; s < count; s++) {
    out->weights[s] = hxs_neg_mod(m, factors[s]);
    if (centred) {
      start = hxs_add_mod(m, start, hxs_mul_mod(m, half(build, base->stage[s].prime) % m->q, factors[s]));
    }
  }
  out->start = start;
  return HX_OK;
}

// d_s^-1 mod a prime.
static uint64_t inverse_of(const hxs_build *build, const hxs_base *base, uint32_t s, uint32_t prime) {
  const hxs_modulus *m = modulus(build, prime);
  return hxs_inverse_mod(m, modulus(build, base->stage[s].prime)->q % m->q);
}

// factors[s] for the first `count` rows, returns K. mod_down takes c = sum y_s D/d_s off and divides by D, so y_s
// counts d_s^-1. rescale takes y_0 off and divides by d_0, then y_1 and d_1, ...: y_s counts the inverse of d_s d_s+1
// ...
static uint64_t fill_factors(const hxs_build *build, const hxs_base *base, uint32_t prime, uint32_t count,
                             uint64_t *factors) {
  const hxs_modulus *m = modulus(build, prime);
  uint64_t all = 1;
  for (uint32_t s = count; s-- > 0;) {
    const uint64_t inverse = inverse_of(build, base, s, prime);
    all = hxs_mul_mod(m, all, inverse);
    factors[s] = base->chained ? all : inverse;
  }
  return all;
}

int32_t hxs_base_division(const hxs_build *build, hxs_base *base, bool centred) {
  uint64_t factors[HXS_PRIMES_MAX];
  if (!base->chained) {
    HXS_TRY(fill_digits(build, base, centred));
  }
  for (uint32_t s = 0; base->chained && s < base->stage_count; s++) {
    hxs_stage_row *row = &base->stage[s];
    const uint64_t scale = fill_factors(build, base, row->prime, s, factors);
    const uint64_t start = centred ? half(build, row->prime) : 0;
    HXS_TRY(fill_remainder(build, base, row->prime, s, factors, centred, start, &row->map));
    row->map.weights[row->map.count++] = scale;  // the operand's row comes last
  }
  for (uint32_t t = 0; t < base->target_count; t++) {
    hxs_target *target = &base->targets[t];
    target->kind = HXS_TARGET_DIVIDE;
    target->scale = fill_factors(build, base, target->prime, base->stage_count, factors);
    HXS_TRY(fill_remainder(build, base, target->prime, base->stage_count, factors, centred, 0, &target->map));
  }
  return HX_OK;
}

int32_t hxs_base_lower(const hxs_build *build, bool transform, const uint32_t *ids, uint32_t target_count,
                       hxs_base *out) {
  out->transform = transform;
  HXS_TRY(hxs_base_room(build, build->ring->p_count, target_count, ids, out));
  for (uint32_t i = 0; i < out->stage_count; i++) {
    out->stage[i].prime = build->ring->q_count + i;
    out->stage[i].limb = target_count + i;
  }
  for (uint32_t t = 0; t < target_count; t++) {
    out->targets[t].limb = t;
  }
  return hxs_base_division(build, out, true);
}

static void to_montgomery(const hxs_modulus *m, hxs_affine *map) {
  map->start = hxs_to_montgomery(m, map->start);
  for (uint32_t k = 0; k < map->count; k++) {
    map->weights[k] = hxs_to_montgomery(m, map->weights[k]);
  }
}

void hxs_base_to_montgomery(const hxs_ring *ring, hxs_base *base, bool fold) {
  for (uint32_t s = 0; s < base->stage_count; s++) {
    to_montgomery(&ring->moduli[base->stage[s].prime], &base->stage[s].map);
  }
  for (uint32_t t = 0; t < base->target_count; t++) {
    hxs_target *target = &base->targets[t];
    if (fold && target->kind == HXS_TARGET_DIVIDE && !base->transform) {
      target->map.weights[target->map.count++] = target->scale;
    }
    to_montgomery(&ring->moduli[target->prime], &target->map);
  }
}
