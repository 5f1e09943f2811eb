// SPDX-License-Identifier: Apache-2.0
// The plan of ckks.prepare_plain.
#include "heliox/support/base.h"

// For weighted sums also P's rows, each coefficient taken centred mod Q_d. With
// h = (D-1)/2, which is (d_i-1)/2 mod d_i: x centred is the representative of x + h in [0, D), less h. The stage makes
// the mixed radix digits of x + h: v_s = (x_s + h_s - sum_l<s v_l W_l) * W_s^-1, W_l = d_0 ... d_l-1.

static const hxs_modulus *modulus(const hxs_build *build, uint32_t id) { return &build->ring->moduli[id]; }

// W_0 .. W_count-1 mod a prime; returns W_count.
static uint64_t fill_weights(const hxs_build *build, uint32_t prime, uint32_t count, uint64_t *weights) {
  const hxs_modulus *m = modulus(build, prime);
  uint64_t product = 1;
  for (uint32_t l = 0; l < count; l++) {
    weights[l] = product;
    product = hxs_mul_mod(m, product, modulus(build, l)->q % m->q);
  }
  return product;
}

static int32_t plan_digit(const hxs_build *build, uint32_t s, hxs_stage_row *row) {
  const hxs_modulus *m = modulus(build, s);
  *row = (hxs_stage_row){.prime = s, .limb = s, .map = {.count = s + 1}};
  HXS_TRY(hxs_keep_or_fail(build, s + 1, sizeof *row->map.weights, &row->map.weights));
  const uint64_t inverse = hxs_inverse_mod(m, fill_weights(build, s, s, row->map.weights));
  for (uint32_t l = 0; l < s; l++) {
    row->map.weights[l] = hxs_neg_mod(m, hxs_mul_mod(m, row->map.weights[l], inverse));
  }
  row->map.weights[s] = inverse;
  row->map.start = hxs_mul_mod(m, (m->q - 1) / 2, inverse);
  return HX_OK;
}

static int32_t plan_special(const hxs_build *build, uint32_t prime, uint32_t active, hxs_target *target) {
  const hxs_modulus *m = modulus(build, prime);
  *target = (hxs_target){.kind = HXS_TARGET_CONVERT, .prime = prime, .map = {.count = active}};
  HXS_TRY(hxs_keep_or_fail(build, active, sizeof *target->map.weights, &target->map.weights));
  const uint64_t product = fill_weights(build, prime, active, target->map.weights);
  // (D - 1) / 2: (q + 1) / 2 is the inverse of 2.
  const uint64_t half = hxs_mul_mod(m, hxs_add_mod(m, product, m->q - 1), (m->q + 1) / 2);
  target->map.start = hxs_neg_mod(m, half);
  return HX_OK;
}

static int32_t plan_plain(hxs_build *build, hxs_base **out) {
  const hxs_view *a = &build->prepared->operands[0], *result = &build->prepared->results[0];
  hxs_base *base = NULL;
  HXS_TRY(hxs_keep_or_fail(build, 1, sizeof *base, &base));
  base->transform = a->domain == HX_NTT;
  base->chained = true;
  base->stage_count = result->limbs > a->limbs ? a->limbs : 0;
  base->target_count = result->limbs;
  HXS_TRY(hxs_keep_or_fail(build, base->stage_count, sizeof *base->stage, &base->stage));
  HXS_TRY(hxs_keep_or_fail(build, base->target_count, sizeof *base->targets, &base->targets));
  for (uint32_t s = 0; s < base->stage_count; s++) {
    HXS_TRY(plan_digit(build, s, &base->stage[s]));
  }
  for (uint32_t limb = 0; limb < result->limbs; limb++) {
    if (limb < a->limbs) {
      base->targets[limb] = (hxs_target){.kind = HXS_TARGET_COPY, .prime = limb, .limb = limb};
    } else {
      HXS_TRY(plan_special(build, result->ids[limb], a->limbs, &base->targets[limb]));
    }
  }
  *out = base;
  return HX_OK;
}

int32_t hxs_base_prepare_plain(hxs_build *build, hxs_base **out) {
  const hxs_ring *ring = build->ring;
  hxs_view *a = &build->prepared->operands[0], *result = &build->prepared->results[0];
  HXS_TRY(hxs_expect_counts(build, 1, 1, 1, 1));
  HXS_TRY(hxs_expect_residues(build, a));
  HXS_TRY(hxs_expect_residues(build, result));
  HXS_TRY(hxs_expect_leading(build, a));
  HXS_TRY(hxs_expect_repr(build, a, HX_STANDARD));
  HXS_TRY(hxs_expect_repr(build, result, HX_STANDARD));
  HXS_TRY(hxs_expect_batch(build, a, result));
  HXS_TRY(hxs_expect_components(build, a, result->components));
  const hx_attr *purpose = hxs_attr_find(build, "for");
  const bool weighted = purpose != NULL && hxs_attr_is_text(purpose, "weighted");
  if (purpose == NULL || (!weighted && !hxs_attr_is_text(purpose, "add") && !hxs_attr_is_text(purpose, "mul"))) {
    return hxs_refuse(build, HX_INVALID, "attribute for must be the text add, mul or weighted");
  }
  uint32_t ids[HXS_PRIMES_MAX];
  const uint32_t count = a->limbs + (weighted ? ring->p_count : 0);
  for (uint32_t i = 0; i < count; i++) {
    ids[i] = i < a->limbs ? i : ring->q_count + i - a->limbs;
  }
  HXS_TRY(hxs_expect_ids(build, result, count, ids));
  return plan_plain(build, out);
}
