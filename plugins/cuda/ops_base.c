// SPDX-License-Identifier: Apache-2.0
// mod_up, mod_down, rescale: constants of their stages and targets. Everything here is about public numbers.
#include "base.h"

static uint64_t modulus(const hx_cuda_build_t *build, uint32_t id) { return build->tables->primes[id].q; }

// Product of the primes of the stage but row `skip` (HX_NONE: of all), mod a prime.
static uint64_t product_of_stage(const hx_cuda_build_t *build, const hx_cuda_base_t *base, uint32_t skip,
                                 uint32_t prime) {
  const uint64_t q = modulus(build, prime);
  uint64_t product = 1;
  for (uint32_t s = 0; s < base->stage_count; s++) {
    if (s != skip) {
      product = hx_cuda_mul_mod(q, product, modulus(build, base->stage[s].prime) % q);
    }
  }
  return product;
}

static uint64_t half(const hx_cuda_build_t *build, uint32_t prime) { return (modulus(build, prime) - 1) / 2; }

// y_s = x_s * (D/d_s)^-1 + h_s mod d_s, h_s = 0 unless centred: the digits of a fast conversion.
static int32_t build_digits(hx_cuda_build_t *build, hx_cuda_base_t *base, bool centred) {
  for (uint32_t s = 0; s < base->stage_count; s++) {
    hx_cuda_stage_row_t *row = &base->stage[s];
    uint64_t cofactor = product_of_stage(build, base, s, row->prime);
    HX_CUDA_TRY(hx_cuda_affine_begin(build, 1, &row->map));
    row->map.weights[0] = hx_cuda_inverse_mod(modulus(build, row->prime), cofactor);
    row->map.start = centred ? half(build, row->prime) : 0;
  }
  return HX_OK;
}

// sum_s y_s * (D/d_s) - sum_s h_s * (D/d_s) mod the target's prime.
static int32_t build_conversion(hx_cuda_build_t *build, const hx_cuda_base_t *base, uint32_t prime,
                                hx_cuda_base_target_t *out) {
  const uint64_t q = modulus(build, prime);
  uint64_t offset = 0;
  out->kind = HX_CUDA_TARGET_CONVERT;
  HX_CUDA_TRY(hx_cuda_affine_begin(build, base->stage_count, &out->map));
  for (uint32_t s = 0; s < base->stage_count; s++) {
    uint64_t cofactor = product_of_stage(build, base, s, prime);
    out->map.weights[s] = cofactor;
    uint64_t part = hx_cuda_mul_mod(q, half(build, base->stage[s].prime) % q, cofactor);
    offset = hx_cuda_add_mod(q, offset, part);
  }
  out->map.start = hx_cuda_neg_mod(q, offset);
  return HX_OK;
}

// The operand stands on Q_d, the result on Q_d and all of P.
static int32_t expect_extended(const hx_cuda_build_t *build, const hx_cuda_view_t *a, const hx_cuda_view_t *out) {
  const hx_tables *t = build->tables;
  for (uint32_t limb = 0; limb < a->limbs; limb++) {
    if (a->ids[limb] != limb || limb >= t->q_count) {
      return hx_cuda_refuse(build, HX_INVALID,
                            "row %u of operand 0 is of prime %u; the operand stands on the first primes of Q, in order",
                            limb, a->ids[limb]);
    }
  }
  uint32_t ids[HX_CUDA_PRIMES_MAX];
  for (uint32_t i = 0; i < a->limbs + t->p_count; i++) {
    ids[i] = i < a->limbs ? i : t->q_count + i - a->limbs;
  }
  return hx_cuda_expect_ids(build, out, a->limbs + t->p_count, ids);
}

int32_t hx_cuda_build_mod_up(hx_cuda_build_t *build) {
  hx_prepared *p = build->prepared;
  const hx_tables *t = build->tables;
  int64_t digit = 0;
  HX_CUDA_TRY(hx_cuda_expect_counts(build, 1, 1, 1, 1));
  HX_CUDA_TRY(hx_cuda_expect_residues(build, &p->operands[0]));
  HX_CUDA_TRY(hx_cuda_expect_residues(build, &p->results[0]));
  HX_CUDA_TRY(expect_extended(build, &p->operands[0], &p->results[0]));
  const uint32_t active = p->operands[0].limbs, digits = (active + t->digit_run - 1) / t->digit_run;
  HX_CUDA_TRY(hx_cuda_attr_i64(build, "digit", 0, digits - 1, &digit));
  const uint32_t first = (uint32_t)digit * t->digit_run;
  const uint32_t count = active - first < t->digit_run ? active - first : t->digit_run;
  hx_cuda_base_t *base = NULL;
  HX_CUDA_TRY(hx_cuda_base_begin(build, count, false, &base));
  for (uint32_t s = 0; s < count; s++) {
    base->stage[s].prime = base->stage[s].limb = first + s;
  }
  HX_CUDA_TRY(build_digits(build, base, true));
  for (uint32_t limb = 0; limb < p->results[0].limbs; limb++) {
    hx_cuda_base_target_t *target = &base->targets[limb];
    if (limb >= first && limb < first + count) {
      *target = (hx_cuda_base_target_t){.kind = HX_CUDA_TARGET_COPY, .limb = limb};
    } else {
      HX_CUDA_TRY(build_conversion(build, base, p->results[0].ids[limb], target));
    }
  }
  return hx_cuda_base_end(build, base);
}

// What every kept row (or later dropped row) mod q gets: x * K + sum_s y_s * w_s + start, from factors f_s mod q that
// say by how much -y_s counts, and K. The offsets h_s of the y_s are taken off again.
static int32_t build_remainder(hx_cuda_build_t *build, const hx_cuda_base_t *base, uint32_t prime, uint32_t count,
                               const uint64_t *factors, bool centred, bool with_x, uint64_t scale, uint64_t start,
                               hx_cuda_affine_t *out) {
  const uint64_t q = modulus(build, prime);
  HX_CUDA_TRY(hx_cuda_affine_begin(build, count + (with_x ? 1 : 0), out));
  for (uint32_t s = 0; s < count; s++) {
    out->weights[s] = hx_cuda_neg_mod(q, factors[s]);
    if (centred) {
      uint64_t offset = hx_cuda_mul_mod(q, half(build, base->stage[s].prime) % q, factors[s]);
      start = hx_cuda_add_mod(q, start, offset);
    }
  }
  if (with_x) {
    out->weights[count] = scale;
  }
  out->start = start;
  return HX_OK;
}

// d_s^-1 mod a prime.
static uint64_t inverse_of(const hx_cuda_build_t *build, const hx_cuda_base_t *base, uint32_t s, uint32_t prime) {
  const uint64_t q = modulus(build, prime);
  return hx_cuda_inverse_mod(q, modulus(build, base->stage[s].prime) % q);
}

// factors[s] for the first `count` rows, returns K. mod_down takes c = sum y_s D/d_s off and divides by D, so y_s
// counts d_s^-1. rescale takes y_0 off and divides by d_0, then y_1 and d_1, ...: y_s counts the inverse of d_s d_s+1
// ...
static uint64_t fill_factors(const hx_cuda_build_t *build, const hx_cuda_base_t *base, uint32_t prime, uint32_t count,
                             uint64_t *factors) {
  const uint64_t q = modulus(build, prime);
  uint64_t all = 1;
  for (uint32_t s = count; s-- > 0;) {
    uint64_t inverse = inverse_of(build, base, s, prime);
    all = hx_cuda_mul_mod(q, all, inverse);
    factors[s] = base->chained ? all : inverse;
  }
  return all;
}

// Division by the stage's primes, whose rows are set: in one step, or one after the other where chained.
static int32_t build_division(hx_cuda_build_t *build, hx_cuda_base_t *base, bool centred) {
  const hx_prepared *p = build->prepared;
  uint64_t factors[HX_CUDA_PRIMES_MAX];
  if (!base->chained) {
    HX_CUDA_TRY(build_digits(build, base, centred));
  }
  for (uint32_t s = 0; base->chained && s < base->stage_count; s++) {
    hx_cuda_stage_row_t *row = &base->stage[s];
    uint64_t scale = fill_factors(build, base, row->prime, s, factors);
    uint64_t start = centred ? half(build, row->prime) : 0;
    HX_CUDA_TRY(build_remainder(build, base, row->prime, s, factors, centred, true, scale, start, &row->map));
  }
  for (uint32_t limb = 0; limb < p->results[0].limbs; limb++) {
    hx_cuda_base_target_t *target = &base->targets[limb];
    const uint32_t prime = p->results[0].ids[limb];
    uint64_t scale = fill_factors(build, base, prime, base->stage_count, factors);
    target->kind = HX_CUDA_TARGET_DIVIDE;
    target->limb = hx_cuda_view_limb_of(&p->operands[0], prime);
    target->scale = scale;
    HX_CUDA_TRY(
        build_remainder(build, base, prime, base->stage_count, factors, centred, false, scale, 0, &target->map));
  }
  return hx_cuda_base_end(build, base);
}

// The result has the operand's rows but for `count` dropped ones.
static int32_t expect_kept(const hx_cuda_build_t *build, const uint32_t *dropped, uint32_t count) {
  const hx_cuda_view_t *a = &build->prepared->operands[0], *out = &build->prepared->results[0];
  uint32_t kept[HX_CUDA_PRIMES_MAX], kept_count = 0;
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
    return hx_cuda_refuse(build, HX_INVALID, "%u rows are to be dropped, operand 0 has %u of them", count,
                          a->limbs - kept_count);
  }
  if (count == 0 || kept_count == 0) {
    return hx_cuda_refuse(build, HX_INVALID,
                          "%u of %u rows are to be dropped; at least one must be dropped and one kept", count,
                          a->limbs);
  }
  return hx_cuda_expect_ids(build, out, kept_count, kept);
}

// Attribute drop: absent or "P": P's rows of the operand; else a list of ids.
static int32_t read_dropped(const hx_cuda_build_t *build, uint32_t *out_ids, uint32_t *out_count) {
  const hx_cuda_view_t *a = &build->prepared->operands[0];
  const hx_attr *attr = hx_cuda_attr_find(build, "drop");
  *out_count = 0;
  if (attr == NULL || hx_cuda_attr_is_text(attr, "P")) {
    for (uint32_t limb = 0; limb < a->limbs; limb++) {
      if (a->ids[limb] >= build->tables->q_count) {
        out_ids[(*out_count)++] = a->ids[limb];
      }
    }
    return HX_OK;
  }
  if (attr->kind == HX_ATTR_TEXT) {
    return hx_cuda_refuse(build, HX_INVALID, "attribute drop is \"%.*s\", must be P or a list of prime ids",
                          (int)(attr->count < 32 ? attr->count : 32),
                          attr->data != NULL ? (const char *)attr->data : "");
  }
  const int64_t *ids = NULL;
  uint32_t count = 0;
  HX_CUDA_TRY(hx_cuda_attr_ids(build, "drop", &ids, &count));
  for (uint32_t i = 0; i < count; i++) {
    out_ids[i] = (uint32_t)ids[i];
  }
  *out_count = count;
  return HX_OK;
}

int32_t hx_cuda_build_mod_down(hx_cuda_build_t *build) {
  uint32_t dropped[HX_CUDA_PRIMES_MAX], count = 0;
  bool nearest = false;
  HX_CUDA_TRY(hx_cuda_expect_counts(build, 1, 1, 1, 1));
  HX_CUDA_TRY(hx_cuda_expect_residues(build, &build->prepared->operands[0]));
  HX_CUDA_TRY(hx_cuda_expect_residues(build, &build->prepared->results[0]));
  HX_CUDA_TRY(hx_cuda_attr_rounding(build, &nearest));
  HX_CUDA_TRY(read_dropped(build, dropped, &count));
  HX_CUDA_TRY(expect_kept(build, dropped, count));
  hx_cuda_base_t *base = NULL;
  HX_CUDA_TRY(hx_cuda_base_begin(build, count, false, &base));
  for (uint32_t s = 0; s < count; s++) {
    base->stage[s].prime = dropped[s];
    base->stage[s].limb = hx_cuda_view_limb_of(&build->prepared->operands[0], dropped[s]);
  }
  return build_division(build, base, nearest);
}

int32_t hx_cuda_build_rescale_rows(hx_cuda_build_t *build, uint32_t count, bool nearest) {
  const hx_cuda_view_t *a = &build->prepared->operands[0];
  uint32_t dropped[HX_CUDA_PRIMES_MAX];
  for (uint32_t s = 0; s < count; s++) {
    dropped[s] = a->ids[a->limbs - 1 - s];
  }
  HX_CUDA_TRY(expect_kept(build, dropped, count));
  hx_cuda_base_t *base = NULL;
  HX_CUDA_TRY(hx_cuda_base_begin(build, count, false, &base));
  base->chained = count > 1;
  for (uint32_t s = 0; s < count; s++) {
    base->stage[s].prime = dropped[s];
    base->stage[s].limb = a->limbs - 1 - s;
  }
  return build_division(build, base, nearest);
}

int32_t hx_cuda_build_rescale(hx_cuda_build_t *build) {
  const hx_cuda_view_t *a = &build->prepared->operands[0];
  bool nearest = false;
  int64_t count = 0;
  HX_CUDA_TRY(hx_cuda_expect_counts(build, 1, 1, 1, 1));
  HX_CUDA_TRY(hx_cuda_expect_residues(build, a));
  HX_CUDA_TRY(hx_cuda_expect_residues(build, &build->prepared->results[0]));
  HX_CUDA_TRY(hx_cuda_attr_rounding(build, &nearest));
  HX_CUDA_TRY(hx_cuda_attr_i64(build, "count", 1, (int64_t)a->limbs - 1, &count));
  return hx_cuda_build_rescale_rows(build, (uint32_t)count, nearest);
}
