// SPDX-License-Identifier: Apache-2.0
// The operations of base.h: what each accepts, and its rows.
#include "base_plan.h"

static const hxs_modulus *modulus(const hxs_build *build, uint32_t id) { return &build->ring->moduli[id]; }

// One operand and one result, residues both.
static int32_t expect_one(const hxs_build *build) {
  HXS_TRY(hxs_expect_counts(build, 1, 1, 1, 1));
  HXS_TRY(hxs_expect_residues(build, &build->prepared->operands[0]));
  return hxs_expect_residues(build, &build->prepared->results[0]);
}

// The checks that all share, and a plan without rows yet.
static int32_t begin(const hxs_build *build, hxs_base **out) {
  hxs_view *a = &build->prepared->operands[0], *result = &build->prepared->results[0];
  hxs_base *base = NULL;
  HXS_TRY(hxs_expect_repr(build, a, HX_STANDARD));
  HXS_TRY(hxs_expect_repr(build, result, HX_STANDARD));
  HXS_TRY(hxs_expect_batch(build, a, result));
  HXS_TRY(hxs_expect_components(build, a, result->components));
  HXS_TRY(hxs_expect_domain(build, result, a->domain));
  HXS_TRY(hxs_keep_or_fail(build, 1, sizeof *base, &base));
  base->transform = a->domain == HX_NTT;
  *out = base;
  return HX_OK;
}

// The same with room for stage_count rows and the result's targets.
static int32_t begin_rows(const hxs_build *build, uint32_t stage_count, hxs_base **out) {
  const hxs_view *result = &build->prepared->results[0];
  HXS_TRY(begin(build, out));
  return hxs_base_room(build, stage_count, result->limbs, result->ids, *out);
}

// ---- mod_up

// The operand stands on Q_d, the result on Q_d and all of P.
static int32_t expect_extended(const hxs_build *build, const hxs_view *a, const hxs_view *out) {
  const hxs_ring *ring = build->ring;
  uint32_t ids[HXS_PRIMES_MAX];
  HXS_TRY(hxs_expect_leading(build, a));
  for (uint32_t i = 0; i < a->limbs + ring->p_count; i++) {
    ids[i] = i < a->limbs ? i : ring->q_count + i - a->limbs;
  }
  return hxs_expect_ids(build, out, a->limbs + ring->p_count, ids);
}

int32_t hxs_base_mod_up(hxs_build *build, hxs_base **out) {
  const hxs_view *a = &build->prepared->operands[0], *result = &build->prepared->results[0];
  const uint32_t run = build->ring->digit_run;
  int64_t digit = 0;
  HXS_TRY(expect_one(build));
  HXS_TRY(expect_extended(build, a, result));
  HXS_TRY(hxs_attr_i64(build, "digit", 0, (a->limbs + run - 1) / run - 1, &digit));
  const uint32_t first = (uint32_t)digit * run, left = a->limbs - first;
  HXS_TRY(begin(build, out));
  return hxs_base_raise(build, first, left < run ? left : run, result->ids, result->limbs, *out);
}

// ---- mod_down and rescale

// The result has the operand's rows but for `count` dropped ones.
static int32_t expect_kept(const hxs_build *build, const uint32_t *dropped, uint32_t count) {
  const hxs_view *a = &build->prepared->operands[0], *out = &build->prepared->results[0];
  uint32_t kept[HXS_PRIMES_MAX], kept_count = 0;
  for (uint32_t limb = 0; limb < a->limbs; limb++) {
    bool drops = false;
    for (uint32_t i = 0; i < count && !drops; i++) {
      drops = dropped[i] == a->ids[limb];
    }
    if (!drops) {
      kept[kept_count++] = a->ids[limb];
    }
  }
  if (kept_count + count != a->limbs) {
    return hxs_refuse(build, HX_INVALID, "%u rows are to be dropped, operand 0 has %u of them", count,
                      a->limbs - kept_count);
  }
  if (count == 0 || kept_count == 0) {
    return hxs_refuse(build, HX_INVALID, "%u of %u rows are to be dropped; at least one must be dropped and one kept",
                      count, a->limbs);
  }
  return hxs_expect_ids(build, out, kept_count, kept);
}

static int32_t drop_rows(hxs_build *build, const uint32_t *dropped, uint32_t count, bool chained, bool nearest,
                         hxs_base **out) {
  const hxs_view *a = &build->prepared->operands[0];
  hxs_base *base = NULL;
  HXS_TRY(expect_kept(build, dropped, count));
  HXS_TRY(begin_rows(build, count, &base));
  base->chained = chained;
  for (uint32_t s = 0; s < count; s++) {
    base->stage[s].prime = dropped[s];
    base->stage[s].limb = hxs_view_limb_of(a, dropped[s]);
  }
  for (uint32_t t = 0; t < base->target_count; t++) {
    base->targets[t].limb = hxs_view_limb_of(a, base->targets[t].prime);
  }
  *out = base;
  return hxs_base_division(build, base, nearest);
}

// Attribute drop: absent or "P": P's rows of the operand; else a list of ids.
static int32_t read_dropped(const hxs_build *build, uint32_t *out_ids, uint32_t *out_count) {
  const hxs_view *a = &build->prepared->operands[0];
  const hx_attr *attr = hxs_attr_find(build, "drop");
  *out_count = 0;
  if (attr == NULL || hxs_attr_is_text(attr, "P")) {
    for (uint32_t limb = 0; limb < a->limbs; limb++) {
      if (a->ids[limb] >= build->ring->q_count) {
        out_ids[(*out_count)++] = a->ids[limb];
      }
    }
    return HX_OK;
  }
  if (attr->kind == HX_ATTR_TEXT) {
    return hxs_refuse(build, HX_INVALID, "attribute drop is \"%.*s\", must be P or a list of prime ids",
                      (int)(attr->count < 32 ? attr->count : 32), attr->data != NULL ? (const char *)attr->data : "");
  }
  return hxs_attr_ids(build, "drop", out_ids, out_count);
}

int32_t hxs_base_mod_down(hxs_build *build, hxs_base **out) {
  uint32_t dropped[HXS_PRIMES_MAX], count = 0;
  bool nearest = false;
  HXS_TRY(expect_one(build));
  HXS_TRY(hxs_attr_rounding(build, &nearest));
  HXS_TRY(read_dropped(build, dropped, &count));
  return drop_rows(build, dropped, count, false, nearest, out);
}

int32_t hxs_base_rescale_rows(hxs_build *build, uint32_t count, bool nearest, hxs_base **out) {
  const hxs_view *a = &build->prepared->operands[0];
  uint32_t dropped[HXS_PRIMES_MAX];
  for (uint32_t s = 0; s < count; s++) {
    dropped[s] = a->ids[a->limbs - 1 - s];
  }
  return drop_rows(build, dropped, count, count > 1, nearest, out);
}

int32_t hxs_base_rescale(hxs_build *build, hxs_base **out) {
  bool nearest = false;
  int64_t count = 0;
  HXS_TRY(expect_one(build));
  HXS_TRY(hxs_attr_rounding(build, &nearest));
  HXS_TRY(hxs_attr_i64(build, "count", 1, (int64_t)build->prepared->operands[0].limbs - 1, &count));
  return hxs_base_rescale_rows(build, (uint32_t)count, nearest, out);
}

// ---- center_lift of one limb: y = x + h mod d, and y - h mod each prime

int32_t hxs_base_lift_limb(hxs_build *build, hxs_base **out) {
  const hxs_view *a = &build->prepared->operands[0];
  hxs_base *base = NULL;
  HXS_TRY(expect_one(build));
  HXS_TRY(hxs_expect_listed(build));
  if (a->limbs != 1) {
    return hxs_refuse(build, HX_INVALID, "operand 0 has %u limbs, must have 1", a->limbs);
  }
  HXS_TRY(begin_rows(build, 1, &base));
  const uint32_t from = a->ids[0];
  const uint64_t half = (modulus(build, from)->q - 1) / 2;
  base->stage[0].prime = from;
  HXS_TRY(hxs_base_affine(build, 1, &base->stage[0].map));
  base->stage[0].map.weights[0] = 1;
  base->stage[0].map.start = half;
  for (uint32_t t = 0; t < base->target_count; t++) {
    hxs_target *target = &base->targets[t];
    const hxs_modulus *m = modulus(build, target->prime);
    target->kind = target->prime == from ? HXS_TARGET_COPY : HXS_TARGET_CONVERT;
    if (target->prime != from) {
      HXS_TRY(hxs_base_affine(build, 1, &target->map));
      target->map.weights[0] = 1;
      target->map.start = hxs_neg_mod(m, half % m->q);
    }
  }
  *out = base;
  return HX_OK;
}

// ---- mixed radix: v_s = (x_s - sum_l<s v_l * W_l) * W_s^-1 mod d_s, W_l = d_0 ... d_l-1

// W_0 .. W_count-1 mod a prime; returns W_count.
static uint64_t fill_weights(const hxs_build *build, const hxs_base *base, uint32_t prime, uint32_t count,
                             uint64_t *weights) {
  const hxs_modulus *m = modulus(build, prime);
  uint64_t product = 1;
  for (uint32_t l = 0; l < count; l++) {
    weights[l] = product;
    product = hxs_mul_mod(m, product, modulus(build, base->stage[l].prime)->q % m->q);
  }
  return product;
}

static int32_t fill_radix(const hxs_build *build, hxs_base *base) {
  const hxs_view *a = &build->prepared->operands[0];
  uint64_t weights[HXS_PRIMES_MAX];
  base->chained = true;
  for (uint32_t s = 0; s < base->stage_count; s++) {
    hxs_stage_row *row = &base->stage[s];
    row->prime = a->ids[s];
    row->limb = s;
    const hxs_modulus *m = modulus(build, row->prime);
    const uint64_t inverse = hxs_inverse_mod(m, fill_weights(build, base, row->prime, s, weights));
    HXS_TRY(hxs_base_affine(build, s + 1, &row->map));
    for (uint32_t l = 0; l < s; l++) {
      row->map.weights[l] = hxs_neg_mod(m, hxs_mul_mod(m, weights[l], inverse));
    }
    row->map.weights[s] = inverse;
  }
  return HX_OK;
}

int32_t hxs_base_mixed_radix(hxs_build *build, hxs_base **out) {
  const hxs_view *a = &build->prepared->operands[0];
  HXS_TRY(expect_one(build));
  HXS_TRY(begin(build, out));
  (*out)->in_result = true;
  HXS_TRY(hxs_base_room(build, a->limbs, 0, NULL, *out));
  HXS_TRY(hxs_expect_ids(build, &build->prepared->results[0], a->limbs, a->ids));
  return fill_radix(build, *out);
}

int32_t hxs_base_extend_exact(hxs_build *build, hxs_base **out) {
  const hxs_view *a = &build->prepared->operands[0];
  hxs_base *base = NULL;
  HXS_TRY(expect_one(build));
  HXS_TRY(begin_rows(build, a->limbs, &base));
  HXS_TRY(hxs_expect_listed(build));
  HXS_TRY(fill_radix(build, base));
  for (uint32_t t = 0; t < base->target_count; t++) {
    hxs_target *target = &base->targets[t];
    const uint32_t own = hxs_view_limb_of(a, target->prime);
    if (own != HX_NONE) {  // the integer is congruent to its own residue
      target->kind = HXS_TARGET_COPY;
      target->limb = own;
      continue;
    }
    target->kind = HXS_TARGET_CONVERT;
    HXS_TRY(hxs_base_affine(build, base->stage_count, &target->map));
    fill_weights(build, base, target->prime, base->stage_count, target->map.weights);
  }
  *out = base;
  return HX_OK;
}
