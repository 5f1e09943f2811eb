// SPDX-License-Identifier: Apache-2.0
// mod_up, mod_down, rescale, center_lift, mixed_radix, extend_exact: stages and targets as steps.
#include <string.h>

#include "base.h"
#include "ops.h"

// y = x * weight + start, out of ntt domain where x is there.
static int32_t add_affine(const hxs_build *build, const hxs_base *base, const hx_opencl_rows_t *y,
                          const hx_opencl_rows_t *x) {
  uint64_t *factor = NULL, *add = NULL;
  hx_opencl_factor_t *halves = NULL;
  HXS_TRY(hxs_keep_or_fail(build, y->count, sizeof *factor, &factor));
  HXS_TRY(hxs_keep_or_fail(build, y->count, sizeof *add, &add));
  HXS_TRY(hxs_keep_or_fail(build, y->count, 2 * sizeof *halves, &halves));
  for (uint32_t i = 0; i < y->count; i++) {
    const hxs_affine *map = &base->stage[i % base->stage_count].map;
    factor[i] = map->weights[0];
    add[i] = map->start;
    halves[2 * i] = hx_opencl_factor_of(hx_opencl_modulus(build, y->ids[i]), map->weights[0]);
    halves[2 * i + 1].value = map->start;
  }
  if (base->transform) {
    return hx_opencl_steps_backward(build, y, x, factor, add);
  }
  return hx_opencl_step_pointwise(build, HX_OPENCL_DO_AFFINE, y, x, NULL, NULL, halves, false);
}

static int32_t add_chain(const hxs_build *build, const hxs_base *base, const hx_opencl_rows_t *y,
                         const hx_opencl_rows_t *x) {
  const uint32_t stages = base->stage_count, log = hx_opencl_log_groups(build, 1);
  const size_t head = stages * sizeof(hx_opencl_target_t), bytes = head + (size_t)stages * stages * sizeof(uint64_t);
  uint8_t *extra = NULL;
  hx_opencl_step_t *step = NULL;
  if (base->transform) {
    HXS_TRY(hx_opencl_steps_backward(build, y, x, NULL, NULL));
  }
  HXS_TRY(hxs_keep_or_fail(build, 1, bytes, &extra));
  for (uint32_t s = 0; s < stages; s++) {
    const hxs_affine *map = &base->stage[s].map;
    const hxs_modulus *m = hx_opencl_modulus(build, base->stage[s].prime);
    const hx_opencl_target_t target = {.prime = base->stage[s].prime,
                                       .start = hxs_to_montgomery(m, map->start),
                                       .factor = hxs_to_montgomery(m, map->weights[s])};
    memcpy(extra + s * sizeof target, &target, sizeof target);
    for (uint32_t l = 0; l < s; l++) {
      const uint64_t weight = hxs_to_montgomery(m, map->weights[l]);
      memcpy(extra + head + ((size_t)s * stages + l) * sizeof weight, &weight, sizeof weight);
    }
  }
  HXS_TRY(hx_opencl_step_add(build, HX_OPENCL_KERNEL_CHAIN, (uint64_t)(y->count / stages) << log, &step));
  step->args.x = log;
  step->args.count = stages;
  HXS_TRY(hx_opencl_step_rows(build, step, HX_OPENCL_OUT, y));
  HXS_TRY(hx_opencl_step_rows(build, step, HX_OPENCL_A, base->transform ? y : x));
  return hx_opencl_step_extra(build, step, extra, bytes);
}

// The stage's rows, [polynomials][stage]: in scratch memory unless y is given.
static int32_t add_stage(const hxs_build *build, const hxs_base *base, const hx_opencl_rows_t *x,
                         const hx_opencl_rows_t *given, hx_opencl_rows_t *y) {
  if (given != NULL) {
    *y = *given;
  } else {
    HXS_TRY(hx_opencl_rows_scratch(build, x->count, y));
  }
  for (uint32_t i = 0; i < x->count; i++) {
    x->ids[i] = y->ids[i] = base->stage[i % base->stage_count].prime;
  }
  return base->chained ? add_chain(build, base, y, x) : add_affine(build, base, y, x);
}

static int32_t add_targets(const hxs_build *build, const hxs_base *base, const hx_opencl_rows_t *y,
                           const hx_opencl_rows_t *own, uint32_t polynomials, const hx_opencl_rows_t *out) {
  const uint32_t targets = base->target_count, stages = base->stage_count;
  hx_opencl_target_t *plan = NULL;
  uint64_t *weights = NULL;
  HXS_TRY(hxs_keep_or_fail(build, targets, sizeof *plan, &plan));
  HXS_TRY(hxs_keep_or_fail(build, (size_t)targets * stages, sizeof *weights, &weights));
  for (uint32_t t = 0; t < targets; t++) {
    const hxs_target *target = &base->targets[t];
    const bool late = base->transform && target->kind == HXS_TARGET_DIVIDE;
    const bool copies = target->kind == HXS_TARGET_COPY;
    plan[t].prime = target->prime;
    plan[t].kind = copies                                       ? HX_OPENCL_TARGET_COPY
                   : late || target->kind == HXS_TARGET_CONVERT ? HX_OPENCL_TARGET_CONVERT
                                                                : HX_OPENCL_TARGET_DIVIDE;
    if (!copies) {
      plan[t].start = target->map.start;
      plan[t].factor = plan[t].kind == HX_OPENCL_TARGET_DIVIDE ? target->scale : 0;
      memcpy(weights + (size_t)t * stages, target->map.weights, stages * sizeof *weights);
    }
  }
  return hx_opencl_step_convert(build, out, y, own, polynomials, stages, targets, 1, plan, weights);
}

// Rows that the conversion has made enter ntt domain, where they are no copies; a division adds scale * operand there,
// and `add` times `plus`.
static int32_t add_forward(const hxs_build *build, const hxs_base *base, const hx_opencl_rows_t *made,
                           const hx_opencl_rows_t *own, const hx_opencl_rows_t *add, uint32_t element,
                           const hx_opencl_rows_t *out) {
  uint32_t *indices = NULL, count = 0;
  hx_opencl_factor_t *scale = NULL;
  hx_opencl_rows_t to, from, kept, plus;
  bool divides = false;
  HXS_TRY(hxs_keep_or_fail(build, out->count, sizeof *indices, &indices));
  HXS_TRY(hxs_keep_or_fail(build, out->count, 2 * sizeof *scale, &scale));
  for (uint32_t i = 0; i < out->count; i++) {
    const hxs_target *target = &base->targets[i % base->target_count];
    if (target->kind != HXS_TARGET_COPY) {
      divides = target->kind == HXS_TARGET_DIVIDE;
      scale[2 * count] = hx_opencl_factor_of(hx_opencl_modulus(build, target->prime), target->scale);
      scale[2 * count + 1] = hx_opencl_factor_of(hx_opencl_modulus(build, target->prime), 1);
      made->ids[i] = out->ids[i] = target->prime;
      indices[count++] = i;
    }
  }
  if (count == 0) {
    return HX_OK;
  }
  HXS_TRY(hx_opencl_rows_pick(build, out, count, indices, &to));
  HXS_TRY(hx_opencl_rows_pick(build, made, count, indices, &from));
  HXS_TRY(hx_opencl_rows_pick(build, own, count, indices, &kept));
  if (add != NULL) {
    HXS_TRY(hx_opencl_rows_pick(build, add, count, indices, &plus));
  }
  const hx_opencl_end_t end = {
      .b = &kept, .c = add != NULL ? &plus : NULL, .middle = &from, .scale = scale, .element = element};
  return hx_opencl_steps_forward(build, &to, &from, divides ? &end : NULL);
}

int32_t hx_opencl_base_run(const hxs_build *build, const hxs_base *base, uint32_t polynomials,
                           const hx_opencl_rows_t *x, const hx_opencl_rows_t *own, const hx_opencl_rows_t *out) {
  hx_opencl_rows_t y = *x;
  if (base->stage_count > 0) {
    HXS_TRY(add_stage(build, base, x, NULL, &y));
  }
  HXS_TRY(add_targets(build, base, &y, own, polynomials, out));
  return base->transform ? add_forward(build, base, out, own, NULL, 0, out) : HX_OK;
}

int32_t hx_opencl_base_divide(const hxs_build *build, const hxs_base *base, uint32_t polynomials,
                              const hx_opencl_rows_t *x, const hx_opencl_rows_t *kept, const hx_opencl_rows_t *add,
                              uint32_t element, const hx_opencl_rows_t *out) {
  hx_opencl_rows_t y, taken;
  HXS_TRY(add_stage(build, base, x, NULL, &y));
  HXS_TRY(hx_opencl_rows_scratch(build, out->count, &taken));
  HXS_TRY(add_targets(build, base, &y, NULL, polynomials, &taken));
  const uint32_t inverse = (uint32_t)hxs_odd_inverse(element) & ((2u << build->prepared->log_n) - 1);
  return add_forward(build, base, &taken, kept, add, element == 1 ? 0 : inverse, out);
}

// ------------------------------------------------------------------ whole operations

int32_t hx_opencl_base_steps(const hxs_build *build, const hxs_base *base) {
  const hxs_prepared *p = build->prepared;
  const hxs_view *a = &p->operands[0], *result = &p->results[0];
  const uint32_t stages = base->stage_count, targets = base->in_result ? 0 : base->target_count;
  const uint64_t polynomials = result->items * result->components;
  hx_opencl_rows_t x, own, out, y;
  HXS_TRY(hx_opencl_rows_of(build, result, &out));
  HXS_TRY(hx_opencl_rows_begin(build, a, polynomials * stages, &x));
  HXS_TRY(hx_opencl_rows_begin(build, a, polynomials * targets, &own));
  for (uint32_t i = 0; i < polynomials; i++) {
    const uint64_t item = i / result->components;
    const uint32_t component = i % result->components;
    for (uint32_t s = 0; s < stages; s++) {
      x.offsets[i * stages + s] = hx_opencl_row_offset(a, item, component, base->stage[s].limb);
    }
    for (uint32_t t = 0; t < targets; t++) {
      own.offsets[i * targets + t] = hx_opencl_row_offset(a, item, component, base->targets[t].limb);
    }
  }
  if (base->in_result) {
    return add_stage(build, base, &x, &out, &y);
  }
  return hx_opencl_base_run(build, base, (uint32_t)polynomials, &x, &own, &out);
}

static int32_t build_base(hxs_build *build, int32_t (*make)(hxs_build *, hxs_base **)) {
  hxs_base *base = NULL;
  HXS_TRY(make(build, &base));
  return hx_opencl_base_steps(build, base);
}

int32_t hx_opencl_build_mod_up(hxs_build *build) { return build_base(build, hxs_base_mod_up); }
int32_t hx_opencl_build_mod_down(hxs_build *build) { return build_base(build, hxs_base_mod_down); }
int32_t hx_opencl_build_rescale(hxs_build *build) { return build_base(build, hxs_base_rescale); }
int32_t hx_opencl_build_extend_exact(hxs_build *build) { return build_base(build, hxs_base_extend_exact); }

int32_t hx_opencl_build_mixed_radix(hxs_build *build) {
  hxs_base *base = NULL;
  HXS_TRY(hxs_base_mixed_radix(build, &base));
  hxs_allow_alias(build, 0, 0);
  return hx_opencl_base_steps(build, base);
}

// Rows that came from coefficients enter ntt domain at the end, all of them.
int32_t hx_opencl_build_prepare_plain(hxs_build *build) {
  hx_opencl_rows_t out;
  HXS_TRY(hxs_expect_residues(build, &build->prepared->results[0]));
  HXS_TRY(hxs_expect_domain(build, &build->prepared->results[0], HX_NTT));
  HXS_TRY(build_base(build, hxs_base_prepare_plain));
  if (build->prepared->operands[0].domain == HX_NTT) {
    return HX_OK;
  }
  HXS_TRY(hx_opencl_rows_of(build, &build->prepared->results[0], &out));
  return hx_opencl_steps_forward(build, &out, &out, NULL);
}

int32_t hx_opencl_build_center_lift(hxs_build *build) {
  HXS_TRY(hxs_expect_counts(build, 1, 1, 1, 1));
  if (build->prepared->operands[0].dtype != HX_I64) {
    return build_base(build, hxs_base_lift_limb);
  }
  HXS_TRY(hxs_expect_residues(build, &build->prepared->results[0]));
  HXS_TRY(hxs_expect_listed(build));
  return hx_opencl_build_lift_signed(build);
}
