// SPDX-License-Identifier: Apache-2.0
// center_lift, mixed_radix, extend_exact.
#include "base.h"

static const hx_cpu_modulus_t *modulus(const hx_cpu_build_t *build, uint32_t id) {
  return &build->tables->primes[id].m;
}

// The result's rows are those of attribute `ids`.
static int32_t expect_listed(const hx_cpu_build_t *build) {
  const int64_t *ids = NULL;
  uint32_t listed[HX_CPU_PRIMES_MAX], count = 0;
  HX_CPU_TRY(hx_cpu_attr_ids(build, "ids", &ids, &count));
  for (uint32_t i = 0; i < count; i++) {
    listed[i] = (uint32_t)ids[i];
  }
  return hx_cpu_expect_ids(build, &build->prepared->results[0], count, listed);
}

// ---- center_lift of signed words

static void lift_row(const hx_cpu_run_t *run, uint64_t index) {
  const hx_prepared *p = run->prepared;
  const hx_cpu_view_t *out = &p->results[0];
  hx_cpu_place_t at = hx_cpu_place_of(index, out->components, out->limbs);
  p->kernels.convert->lift_signed(hx_cpu_result_row(run, out, at.item, at.component, at.limb),
                                  hx_cpu_operand_row(run, &p->operands[0], at.item, at.component, 0),
                                  &hx_cpu_prime_of(run, out->ids[at.limb])->m, p->n);
}

static int32_t run_lift(hx_cpu_run_t *run) {
  const hx_cpu_view_t *out = &run->prepared->results[0];
  return hx_cpu_for(run, out->items * out->components * out->limbs, run->prepared->n * 2, lift_row);
}

static int32_t build_lift_signed(hx_cpu_build_t *build) {
  hx_prepared *p = build->prepared;
  hx_cpu_view_t *a = &p->operands[0], *out = &p->results[0];
  if (a->log_n != p->log_n || a->limbs != 1 || a->digits != 0) {
    return hx_cpu_refuse(build, HX_INVALID,
                         "operand 0 has log_n %u and %u limbs of signed words, must have log_n %u and 1", a->log_n,
                         a->limbs, p->log_n);
  }
  HX_CPU_TRY(hx_cpu_expect_residues(build, out));
  HX_CPU_TRY(hx_cpu_expect_repr(build, out, HX_STANDARD));
  HX_CPU_TRY(hx_cpu_expect_batch(build, a, out));
  HX_CPU_TRY(hx_cpu_expect_components(build, a, out->components));
  p->run = run_lift;
  p->cost = out->items * out->components * out->limbs * p->n * 2;
  return HX_OK;
}

// ---- center_lift of one limb: y = x + h mod d, and y - h mod each prime

static int32_t build_lift_limb(hx_cpu_build_t *build) {
  const hx_prepared *p = build->prepared;
  HX_CPU_TRY(hx_cpu_expect_residues(build, &p->operands[0]));
  if (p->operands[0].limbs != 1) {
    return hx_cpu_refuse(build, HX_INVALID, "operand 0 has %u limbs, must have 1", p->operands[0].limbs);
  }
  hx_cpu_base_t *base = NULL;
  HX_CPU_TRY(hx_cpu_base_begin(build, 1, false, &base));
  const uint32_t from = p->operands[0].ids[0];
  const uint64_t half = (modulus(build, from)->q - 1) / 2;
  base->stage[0] = (hx_cpu_stage_row_t){.prime = from, .limb = 0};
  HX_CPU_TRY(hx_cpu_affine_begin(build, 1, &base->stage[0].map));
  hx_cpu_affine_set(build, &base->stage[0].map, from, 0, 1);
  hx_cpu_affine_start(build, &base->stage[0].map, from, half);
  for (uint32_t limb = 0; limb < p->results[0].limbs; limb++) {
    const uint32_t prime = p->results[0].ids[limb];
    const hx_cpu_modulus_t *m = modulus(build, prime);
    hx_cpu_target_t *target = &base->targets[limb];
    target->kind = prime == from ? HX_CPU_TARGET_COPY : HX_CPU_TARGET_CONVERT;
    if (prime != from) {
      HX_CPU_TRY(hx_cpu_affine_begin(build, 1, &target->map));
      hx_cpu_affine_set(build, &target->map, prime, 0, 1);
      hx_cpu_affine_start(build, &target->map, prime, hx_cpu_neg_mod(m, half % m->q));
    }
  }
  hx_cpu_base_end(build, base);
  return HX_OK;
}

int32_t hx_cpu_build_center_lift(hx_cpu_build_t *build) {
  HX_CPU_TRY(hx_cpu_expect_counts(build, 1, 1, 1, 1));
  HX_CPU_TRY(hx_cpu_expect_residues(build, &build->prepared->results[0]));
  HX_CPU_TRY(expect_listed(build));
  return build->prepared->operands[0].dtype == HX_I64 ? build_lift_signed(build) : build_lift_limb(build);
}

// ---- mixed radix: v_s = (x_s - sum_l<s v_l * W_l) * W_s^-1 mod d_s, W_l = d_0 ... d_l-1

// W_0 .. W_count-1 mod a prime; returns W_count.
static uint64_t fill_weights(const hx_cpu_build_t *build, const hx_cpu_base_t *base, uint32_t prime, uint32_t count,
                             uint64_t *weights) {
  const hx_cpu_modulus_t *m = modulus(build, prime);
  uint64_t product = 1;
  for (uint32_t l = 0; l < count; l++) {
    weights[l] = product;
    product = hx_cpu_mul_mod(m, product, modulus(build, base->stage[l].prime)->q % m->q);
  }
  return product;
}

static int32_t build_radix(hx_cpu_build_t *build, hx_cpu_base_t *base) {
  const hx_cpu_view_t *a = &build->prepared->operands[0];
  uint64_t weights[HX_CPU_PRIMES_MAX];
  base->chained = true;
  for (uint32_t s = 0; s < base->stage_count; s++) {
    hx_cpu_stage_row_t *row = &base->stage[s];
    row->prime = a->ids[s];
    row->limb = s;
    const hx_cpu_modulus_t *m = modulus(build, row->prime);
    uint64_t inverse = hx_cpu_inverse_mod(m, fill_weights(build, base, row->prime, s, weights));
    HX_CPU_TRY(hx_cpu_affine_begin(build, s + 1, &row->map));
    for (uint32_t l = 0; l < s; l++) {
      hx_cpu_affine_set(build, &row->map, row->prime, l, hx_cpu_neg_mod(m, hx_cpu_mul_mod(m, weights[l], inverse)));
    }
    hx_cpu_affine_set(build, &row->map, row->prime, s, inverse);
  }
  return HX_OK;
}

int32_t hx_cpu_build_mixed_radix(hx_cpu_build_t *build) {
  const hx_prepared *p = build->prepared;
  hx_cpu_base_t *base = NULL;
  HX_CPU_TRY(hx_cpu_base_begin(build, p->operand_count > 0 ? p->operands[0].limbs : 0, true, &base));
  HX_CPU_TRY(hx_cpu_expect_ids(build, &p->results[0], p->operands[0].limbs, p->operands[0].ids));
  HX_CPU_TRY(build_radix(build, base));
  hx_cpu_allow_alias(build, 0, 0);
  hx_cpu_base_end(build, base);
  return HX_OK;
}

int32_t hx_cpu_build_extend_exact(hx_cpu_build_t *build) {
  const hx_prepared *p = build->prepared;
  hx_cpu_base_t *base = NULL;
  uint64_t weights[HX_CPU_PRIMES_MAX];
  HX_CPU_TRY(hx_cpu_base_begin(build, p->operand_count > 0 ? p->operands[0].limbs : 0, false, &base));
  HX_CPU_TRY(expect_listed(build));
  HX_CPU_TRY(build_radix(build, base));
  for (uint32_t limb = 0; limb < p->results[0].limbs; limb++) {
    const uint32_t prime = p->results[0].ids[limb], own = hx_cpu_view_limb_of(&p->operands[0], prime);
    hx_cpu_target_t *target = &base->targets[limb];
    if (own != HX_NONE) {  // the integer is congruent to its own residue
      *target = (hx_cpu_target_t){.kind = HX_CPU_TARGET_COPY, .limb = own};
      continue;
    }
    target->kind = HX_CPU_TARGET_CONVERT;
    fill_weights(build, base, prime, base->stage_count, weights);
    HX_CPU_TRY(hx_cpu_affine_begin(build, base->stage_count, &target->map));
    for (uint32_t s = 0; s < base->stage_count; s++) {
      hx_cpu_affine_set(build, &target->map, prime, s, weights[s]);
    }
  }
  hx_cpu_base_end(build, base);
  return HX_OK;
}
