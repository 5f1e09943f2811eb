// SPDX-License-Identifier: Apache-2.0
// Steps of stages and targets. See base.h.
#include "base.h"

#include <string.h>

// The kernels' kinds of targets are the library's.
_Static_assert(HX_CUDA_TARGET_COPY == (int)HXS_TARGET_COPY, "kinds of targets");
_Static_assert(HX_CUDA_TARGET_CONVERT == (int)HXS_TARGET_CONVERT, "kinds of targets");
_Static_assert(HX_CUDA_TARGET_DIVIDE == (int)HXS_TARGET_DIVIDE, "kinds of targets");

// Where the rows of an operation lie: y [polynomials][stage], x of the stage alike, result rows and the operand's rows
// for them [polynomials][targets].
typedef struct places {
  uint32_t polynomials;
  hx_cuda_rows_t y, x, out, own;
} places_t;

static int32_t find_places(hxs_build *build, const hxs_base *base, places_t *out) {
  const hxs_prepared *p = build->prepared;
  const hxs_view *a = &p->operands[0], *result = &p->results[0];
  const uint32_t stages = base->stage_count, targets = result->limbs;
  HXS_TRY(hx_cuda_rows_of(build, result, &out->out));
  out->polynomials = (uint32_t)(result->items * result->components);
  if (base->in_result) {
    out->y = out->out;
  } else {
    HXS_TRY(hx_cuda_rows_scratch(build, out->polynomials * stages, &out->y));
  }
  HXS_TRY(hx_cuda_rows_begin(build, a, out->polynomials * stages, &out->x));
  HXS_TRY(hx_cuda_rows_begin(build, a, out->polynomials * targets, &out->own));
  for (uint32_t i = 0; i < out->polynomials; i++) {
    const uint64_t item = i / result->components;
    const uint32_t component = i % result->components;
    for (uint32_t s = 0; s < stages; s++) {
      out->x.offsets[i * stages + s] = hx_cuda_row_offset(a, item, component, base->stage[s].limb);
      out->x.ids[i * stages + s] = out->y.ids[i * stages + s] = base->stage[s].prime;
    }
    for (uint32_t t = 0; t < targets && !base->in_result; t++) {
      out->own.offsets[i * targets + t] = hx_cuda_row_offset(a, item, component, base->targets[t].limb);
      out->own.ids[i * targets + t] = result->ids[t];
    }
  }
  return HX_OK;
}

// y = x * weight + start, out of ntt domain where x is there.
static int32_t add_affine(hxs_build *build, const hxs_base *base, const places_t *at) {
  const uint32_t rows = at->y.count;
  uint64_t *factor = NULL, *add = NULL;
  hx_cuda_factor_t *halves = NULL;
  HXS_TRY(hxs_keep_or_fail(build, rows, sizeof *factor, &factor));
  HXS_TRY(hxs_keep_or_fail(build, rows, sizeof *add, &add));
  HXS_TRY(hxs_keep_or_fail(build, rows, 2 * sizeof *halves, &halves));
  for (uint32_t i = 0; i < rows; i++) {
    const hxs_affine *map = &base->stage[i % base->stage_count].map;
    factor[i] = map->weights[0];
    add[i] = map->start;
    halves[2 * i] = hx_cuda_factor_of(hx_cuda_modulus_of(build, at->y.ids[i]), map->weights[0]);
    halves[2 * i + 1].value = map->start;
  }
  if (base->transform) {
    return hx_cuda_steps_backward(build, &at->y, &at->x, factor, add);
  }
  return hx_cuda_step_pointwise(build, HX_CUDA_DO_AFFINE, &at->y, &at->x, NULL, NULL, halves, false);
}

static int32_t add_chain(hxs_build *build, const hxs_base *base, const places_t *at) {
  const uint32_t stages = base->stage_count, log = hx_cuda_log_blocks(build, 256);
  const size_t head = stages * sizeof(hx_cuda_target_t), bytes = head + (size_t)stages * stages * sizeof(uint64_t);
  uint8_t *extra = NULL;
  if (base->transform) {
    HXS_TRY(hx_cuda_steps_backward(build, &at->y, &at->x, NULL, NULL));
  }
  HXS_TRY(hxs_keep_or_fail(build, 1, bytes, &extra));
  for (uint32_t s = 0; s < stages; s++) {
    const hxs_affine *map = &base->stage[s].map;
    const hxs_modulus *m = hx_cuda_modulus_of(build, base->stage[s].prime);
    const hx_cuda_target_t target = {.prime = base->stage[s].prime,
                                     .start = hx_cuda_converting(build, m, map->start),
                                     .factor = hx_cuda_converting(build, m, map->weights[s])};
    memcpy(extra + s * sizeof target, &target, sizeof target);
    for (uint32_t l = 0; l < s; l++) {
      const uint64_t weight = hx_cuda_converting(build, m, map->weights[l]);
      memcpy(extra + head + ((size_t)s * stages + l) * sizeof weight, &weight, sizeof weight);
    }
  }
  hx_cuda_step_t *step = hx_cuda_step_add(build, HX_CUDA_KERNEL_CHAIN, (uint64_t)at->polynomials << log);
  if (step == NULL) {
    return hx_cuda_build_code(build);
  }
  step->args.x = log;
  step->args.count = stages;
  HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_OUT, &at->y));
  HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_A, base->transform ? &at->y : &at->x));
  return hx_cuda_step_extra(build, step, extra, bytes);
}

// Rows that the conversion has made enter ntt domain, where they are no copies; a division adds scale * operand there.
// raised: the real path's kernel has begun these transforms, and what is left ends a division.
static int32_t add_forward(hxs_build *build, const hxs_base *base, const places_t *at, bool raised) {
  const uint32_t targets = build->prepared->results[0].limbs;
  uint32_t *indices = NULL, count = 0;
  hx_cuda_factor_t *scale = NULL;
  bool divides = false;
  HXS_TRY(hxs_keep_or_fail(build, at->out.count, sizeof *indices, &indices));
  HXS_TRY(hxs_keep_or_fail(build, at->out.count, 2 * sizeof *scale, &scale));
  for (uint32_t i = 0; i < at->out.count; i++) {
    const hxs_target *target = &base->targets[i % targets];
    if (target->kind != HXS_TARGET_COPY) {
      divides = target->kind == HXS_TARGET_DIVIDE;
      scale[2 * count] = hx_cuda_factor_of(hx_cuda_modulus_of(build, at->out.ids[i]), target->scale);
      indices[count++] = i;
    }
  }
  if (count == 0) {
    return HX_OK;
  }
  hx_cuda_rows_t out, own;
  HXS_TRY(hx_cuda_rows_pick(build, &at->out, count, indices, &out));
  HXS_TRY(hx_cuda_rows_pick(build, &at->own, count, indices, &own));
  if (raised) {
    return hx_cuda_step_end(build, &out, &out, &own, scale, NULL, 0);
  }
  const hx_cuda_end_t end = {.b = &own, .scale = scale};
  return hx_cuda_steps_forward(build, &out, &out, divides ? &end : NULL);
}

// Whether all rows are the division of an operand's row by one prime, nearest, in ntt domain: b * scale - (y - half) *
// scale, where y - half are the dropped row's coefficients, centred.
static bool drops_one(const hxs_build *build, const hxs_base *base, const places_t *at) {
  if (!base->transform || base->chained || base->stage_count != 1 || !hx_cuda_can_drop(build, &at->y, &at->out)) {
    return false;
  }
  const uint64_t half = (hx_cuda_modulus_of(build, base->stage[0].prime)->q - 1) / 2;
  bool drops = base->stage[0].map.start == half;
  for (uint32_t t = 0; t < base->target_count && drops; t++) {
    const hxs_target *target = &base->targets[t];
    const hxs_modulus *m = hx_cuda_modulus_of(build, target->prime);
    drops = target->kind == HXS_TARGET_DIVIDE && target->map.weights[0] == hxs_neg_mod(m, target->scale) &&
            target->map.start == hxs_mul_mod(m, target->scale, half % m->q);
  }
  return drops;
}

static int32_t add_drop(hxs_build *build, const hxs_base *base, const places_t *at) {
  uint64_t *factor = NULL;
  HXS_TRY(hxs_keep_or_fail(build, at->out.count, sizeof *factor, &factor));
  for (uint32_t i = 0; i < at->out.count; i++) {
    factor[i] = base->targets[i % base->target_count].scale;
  }
  return hx_cuda_steps_drop(build, &at->out, &at->y, &at->own, base->target_count, factor);
}

static int32_t add_targets(hxs_build *build, const hxs_base *base, const places_t *at) {
  const hxs_view *result = &build->prepared->results[0];
  const uint32_t targets = result->limbs, stages = base->stage_count;
  hx_cuda_target_t *plan = NULL;
  uint64_t *weights = NULL;
  bool divides = true;  // all of them
  if (drops_one(build, base, at)) {
    return add_drop(build, base, at);
  }
  HXS_TRY(hxs_keep_or_fail(build, targets, sizeof *plan, &plan));
  HXS_TRY(hxs_keep_or_fail(build, (size_t)targets * stages, sizeof *weights, &weights));
  for (uint32_t t = 0; t < targets; t++) {
    const hxs_target *target = &base->targets[t];
    const bool late = base->transform && target->kind == HXS_TARGET_DIVIDE;
    divides = divides && late;
    plan[t] = (hx_cuda_target_t){.prime = result->ids[t],
                                 .kind = late ? HX_CUDA_TARGET_CONVERT : target->kind,
                                 .start = target->map.start,
                                 .factor = target->scale};
    if (target->kind != HXS_TARGET_COPY) {
      memcpy(weights + (size_t)t * stages, target->map.weights, stages * sizeof *weights);
    }
  }
  const hx_cuda_raise_t raise = {.out = &at->out,
                                 .y = &at->y,
                                 .polynomials = at->polynomials,
                                 .stages = stages,
                                 .targets = targets,
                                 .plans = 1,
                                 .plan = plan,
                                 .weights = weights};
  if (base->transform && divides && hx_cuda_can_raise(build, &raise)) {
    HXS_TRY(hx_cuda_step_raise(build, &raise));
    return add_forward(build, base, at, true);
  }
  HXS_TRY(hx_cuda_step_convert(build, &at->out, &at->y, &at->own, at->polynomials, stages, targets, 1, plan, weights));
  return base->transform ? add_forward(build, base, at, false) : HX_OK;
}

int32_t hx_cuda_base_steps(hxs_build *build, const hxs_base *base) {
  places_t at;
  HXS_TRY(find_places(build, base, &at));
  if (base->stage_count == 0) {  // copies alone
    return hx_cuda_step_pointwise(build, HX_CUDA_DO_COPY, &at.out, &at.own, NULL, NULL, NULL, false);
  }
  HXS_TRY(base->chained ? add_chain(build, base, &at) : add_affine(build, base, &at));
  return base->in_result ? HX_OK : add_targets(build, base, &at);
}

int32_t hx_cuda_build_base(hxs_build *build, hx_cuda_base_fn *plan) {
  hxs_base *base = NULL;
  HXS_TRY(plan(build, &base));
  return hx_cuda_base_steps(build, base);
}
