// SPDX-License-Identifier: Apache-2.0
// center_lift, mixed_radix, extend_exact.
#include "base.h"

static uint64_t modulus(const hx_cuda_build_t *build, uint32_t id) { return build->tables->primes[id].q; }

// The result's rows are those of attribute `ids`.
static int32_t expect_listed(const hx_cuda_build_t *build) {
  const int64_t *ids = NULL;
  uint32_t listed[HX_CUDA_PRIMES_MAX], count = 0;
  HX_CUDA_TRY(hx_cuda_attr_ids(build, "ids", &ids, &count));
  for (uint32_t i = 0; i < count; i++) {
    listed[i] = (uint32_t)ids[i];
  }
  return hx_cuda_expect_ids(build, &build->prepared->results[0], count, listed);
}

// ---- center_lift of signed words

static int32_t add_lift(hx_cuda_build_t *build) {
  const hx_cuda_view_t *a = &build->prepared->operands[0], *out = &build->prepared->results[0];
  const uint32_t log = hx_cuda_log_blocks(build, 1024);
  hx_cuda_rows_t to, from;
  HX_CUDA_TRY(hx_cuda_rows_of(build, out, &to));
  HX_CUDA_TRY(hx_cuda_rows_begin(build, a, to.count, &from));
  for (uint32_t i = 0; i < to.count; i++) {
    const uint32_t polynomial = i / out->limbs;
    from.offsets[i] = hx_cuda_row_offset(a, polynomial / out->components, polynomial % out->components, 0);
  }
  hx_cuda_step_t *step = hx_cuda_step_add(build, HX_CUDA_KERNEL_LIFT, (uint64_t)to.count << log);
  if (step == NULL) {
    return hx_cuda_build_code(build);
  }
  step->args.x = log;
  HX_CUDA_TRY(hx_cuda_step_rows(build, step, HX_CUDA_OUT, &to));
  HX_CUDA_TRY(hx_cuda_step_rows(build, step, HX_CUDA_A, &from));
  return hx_cuda_step_primes(build, step, to.ids, to.count);
}

static int32_t build_lift_signed(hx_cuda_build_t *build) {
  hx_prepared *p = build->prepared;
  hx_cuda_view_t *a = &p->operands[0], *out = &p->results[0];
  if (a->log_n != p->log_n || a->limbs != 1 || a->digits != 0) {
    return hx_cuda_refuse(build, HX_INVALID,
                          "operand 0 has log_n %u and %u limbs of signed words, must have log_n %u and 1", a->log_n,
                          a->limbs, p->log_n);
  }
  HX_CUDA_TRY(hx_cuda_expect_residues(build, out));
  HX_CUDA_TRY(hx_cuda_expect_repr(build, out, HX_STANDARD));
  HX_CUDA_TRY(hx_cuda_expect_batch(build, a, out));
  HX_CUDA_TRY(hx_cuda_expect_components(build, a, out->components));
  return add_lift(build);
}

// ---- center_lift of one limb: y = x + h mod d, and y - h mod each prime

static int32_t build_lift_limb(hx_cuda_build_t *build) {
  const hx_prepared *p = build->prepared;
  HX_CUDA_TRY(hx_cuda_expect_residues(build, &p->operands[0]));
  if (p->operands[0].limbs != 1) {
    return hx_cuda_refuse(build, HX_INVALID, "operand 0 has %u limbs, must have 1", p->operands[0].limbs);
  }
  hx_cuda_base_t *base = NULL;
  HX_CUDA_TRY(hx_cuda_base_begin(build, 1, false, &base));
  const uint32_t from = p->operands[0].ids[0];
  const uint64_t half = (modulus(build, from) - 1) / 2;
  base->stage[0] = (hx_cuda_stage_row_t){.prime = from, .limb = 0};
  HX_CUDA_TRY(hx_cuda_affine_begin(build, 1, &base->stage[0].map));
  base->stage[0].map.weights[0] = 1;
  base->stage[0].map.start = half;
  for (uint32_t limb = 0; limb < p->results[0].limbs; limb++) {
    const uint32_t prime = p->results[0].ids[limb];
    const uint64_t q = modulus(build, prime);
    hx_cuda_base_target_t *target = &base->targets[limb];
    target->kind = prime == from ? HX_CUDA_TARGET_COPY : HX_CUDA_TARGET_CONVERT;
    if (prime != from) {
      HX_CUDA_TRY(hx_cuda_affine_begin(build, 1, &target->map));
      target->map.weights[0] = 1;
      target->map.start = hx_cuda_neg_mod(q, half % q);
    }
  }
  return hx_cuda_base_end(build, base);
}

int32_t hx_cuda_build_center_lift(hx_cuda_build_t *build) {
  HX_CUDA_TRY(hx_cuda_expect_counts(build, 1, 1, 1, 1));
  HX_CUDA_TRY(hx_cuda_expect_residues(build, &build->prepared->results[0]));
  HX_CUDA_TRY(expect_listed(build));
  return build->prepared->operands[0].dtype == HX_I64 ? build_lift_signed(build) : build_lift_limb(build);
}

// ---- mixed radix: v_s = (x_s - sum_l<s v_l * W_l) * W_s^-1 mod d_s, W_l = d_0 ... d_l-1

// W_0 .. W_count-1 mod a prime; returns W_count.
static uint64_t fill_weights(const hx_cuda_build_t *build, const hx_cuda_base_t *base, uint32_t prime, uint32_t count,
                             uint64_t *weights) {
  const uint64_t q = modulus(build, prime);
  uint64_t product = 1;
  for (uint32_t l = 0; l < count; l++) {
    weights[l] = product;
    product = hx_cuda_mul_mod(q, product, modulus(build, base->stage[l].prime) % q);
  }
  return product;
}

static int32_t build_radix(hx_cuda_build_t *build, hx_cuda_base_t *base) {
  const hx_cuda_view_t *a = &build->prepared->operands[0];
  uint64_t weights[HX_CUDA_PRIMES_MAX];
  base->chained = true;
  for (uint32_t s = 0; s < base->stage_count; s++) {
    hx_cuda_stage_row_t *row = &base->stage[s];
    row->prime = a->ids[s];
    row->limb = s;
    const uint64_t q = modulus(build, row->prime);
    uint64_t inverse = hx_cuda_inverse_mod(q, fill_weights(build, base, row->prime, s, weights));
    HX_CUDA_TRY(hx_cuda_affine_begin(build, s + 1, &row->map));
    for (uint32_t l = 0; l < s; l++) {
      row->map.weights[l] = hx_cuda_neg_mod(q, hx_cuda_mul_mod(q, weights[l], inverse));
    }
    row->map.weights[s] = inverse;
  }
  return HX_OK;
}

int32_t hx_cuda_build_mixed_radix(hx_cuda_build_t *build) {
  const hx_prepared *p = build->prepared;
  hx_cuda_base_t *base = NULL;
  HX_CUDA_TRY(hx_cuda_base_begin(build, p->operand_count > 0 ? p->operands[0].limbs : 0, true, &base));
  HX_CUDA_TRY(hx_cuda_expect_ids(build, &p->results[0], p->operands[0].limbs, p->operands[0].ids));
  HX_CUDA_TRY(build_radix(build, base));
  hx_cuda_allow_alias(build, 0, 0);
  return hx_cuda_base_end(build, base);
}

int32_t hx_cuda_build_extend_exact(hx_cuda_build_t *build) {
  const hx_prepared *p = build->prepared;
  hx_cuda_base_t *base = NULL;
  uint64_t weights[HX_CUDA_PRIMES_MAX];
  HX_CUDA_TRY(hx_cuda_base_begin(build, p->operand_count > 0 ? p->operands[0].limbs : 0, false, &base));
  HX_CUDA_TRY(expect_listed(build));
  HX_CUDA_TRY(build_radix(build, base));
  for (uint32_t limb = 0; limb < p->results[0].limbs; limb++) {
    const uint32_t prime = p->results[0].ids[limb], own = hx_cuda_view_limb_of(&p->operands[0], prime);
    hx_cuda_base_target_t *target = &base->targets[limb];
    if (own != HX_NONE) {  // the integer is congruent to its own residue
      *target = (hx_cuda_base_target_t){.kind = HX_CUDA_TARGET_COPY, .limb = own};
      continue;
    }
    target->kind = HX_CUDA_TARGET_CONVERT;
    fill_weights(build, base, prime, base->stage_count, weights);
    HX_CUDA_TRY(hx_cuda_affine_begin(build, base->stage_count, &target->map));
    for (uint32_t s = 0; s < base->stage_count; s++) {
      target->map.weights[s] = weights[s];
    }
  }
  return hx_cuda_base_end(build, base);
}
