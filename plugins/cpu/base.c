// SPDX-License-Identifier: Apache-2.0
// Running stages and targets. See base.h.
#include "base.h"

#include <string.h>

// Scratch memory that a large batch is cut to.
#define SCRATCH_MAX ((uint64_t)32 << 20)
// Coefficients of a task where rows cannot be made independently of each other.
#define TILE 1024u

typedef struct part {
  const hxs_base *base;
  bool crosses;    // the result is in the other domain than the operand
  uint64_t items;  // batch items whose y rows the scratch memory holds at once
} part_t;

static const hxs_base *plan_of(const hx_cpu_run_t *run) { return ((const part_t *)run->prepared->plan)->base; }

// Row y_s of batch item `item`.
static void *stage_row(const hx_cpu_run_t *run, uint64_t item, uint32_t component, uint32_t s) {
  const hxs_base *base = plan_of(run);
  const hxs_view *out = &run->prepared->results[0];
  if (base->in_result) {
    return hx_cpu_result_row(run, out, item, component, s);
  }
  return hx_cpu_scratch_row(run, ((item - run->first_item) * out->components + component) * base->stage_count + s);
}

// One y row that needs no other: the operand's row, out of ntt domain where it is there, times and plus constants.
// Of a chained stage only the first half of that.
static void stage_body(const hx_cpu_run_t *run, uint64_t index) {
  const hxs_prepared *p = run->prepared;
  const hxs_base *base = plan_of(run);
  hx_cpu_place_t at = hx_cpu_place_of(index, p->results[0].components, base->stage_count);
  at.item += run->first_item;
  const hxs_stage_row *row = &base->stage[at.limb];
  const hx_cpu_prime_t *prime = hx_cpu_prime_of(run, row->prime);
  void *y = stage_row(run, at.item, at.component, at.limb);
  const void *x = hx_cpu_operand_row(run, &p->operands[0], at.item, at.component, row->limb);
  if (base->transform) {
    run->kernels->ntt->inverse(y, x, &prime->m, &prime->twiddles, p->log_n);
    x = y;
  }
  if (!base->chained) {
    run->kernels->convert->combine(y, &x, &row->map, &prime->m, p->n);
  }
}

// A tile of all y rows, each from those before it.
static void chain_body(const hx_cpu_run_t *run, uint64_t index) {
  const hxs_prepared *p = run->prepared;
  const hxs_base *base = plan_of(run);
  const size_t tile = p->n < TILE ? p->n : TILE, offset = tile * (p->ring->word / 8);
  hx_cpu_place_t at = hx_cpu_place_of(index, p->results[0].components, (uint32_t)(p->n / tile));
  at.item += run->first_item;
  const void *inputs[HXS_PRIMES_MAX];
  for (uint32_t s = 0; s < base->stage_count; s++) {
    const hxs_stage_row *row = &base->stage[s];
    char *y = (char *)stage_row(run, at.item, at.component, s) + at.limb * offset;
    const char *x = hx_cpu_operand_row(run, &p->operands[0], at.item, at.component, row->limb);
    inputs[s] = base->transform ? y : x + at.limb * offset;
    run->kernels->convert->combine(y, inputs, &row->map, &hx_cpu_prime_of(run, row->prime)->m, tile);
    inputs[s] = y;
  }
}

static void divide(const hx_cpu_run_t *run, const hxs_target *target, const hx_cpu_prime_t *prime, void *out,
                   const void **inputs, const void *x) {
  const hxs_prepared *p = run->prepared;
  if (!plan_of(run)->transform) {
    inputs[target->map.count - 1] = x;
    run->kernels->convert->combine(out, inputs, &target->map, &prime->m, p->n);
    return;
  }
  const hxs_factor scale = hxs_factor_of(&prime->m, target->scale);
  const size_t block = hx_cpu_raise_block(p->log_n), bytes = block * (p->ring->word / 8);
  run->kernels->raise->begin(out, inputs, &target->map, &prime->m, &prime->twiddles, p->log_n, 0, 1);
  for (size_t at = 0; at < p->n; at += block) {
    const char *taken = (const char *)x + at / block * bytes;
    char *made = (char *)out + at / block * bytes;
    const hx_cpu_ahead_t ahead = {{taken, taken + bytes / 2}};
    run->kernels->raise->end(out, &prime->m, &prime->twiddles, p->log_n, at, &ahead);
    run->kernels->pointwise->mul_scalar_add(made, made, taken, scale, &prime->m, block);
  }
}

// A row of the operand, in the result's domain.
static void copy(const hx_cpu_run_t *run, const hx_cpu_prime_t *prime, void *out, const void *x) {
  const hxs_prepared *p = run->prepared;
  if (!((const part_t *)p->plan)->crosses) {
    memcpy(out, x, hx_cpu_row_bytes(p));
  } else if (plan_of(run)->transform) {
    run->kernels->ntt->inverse(out, x, &prime->m, &prime->twiddles, p->log_n);
  } else {
    run->kernels->ntt->forward(out, x, &prime->m, &prime->twiddles, p->log_n);
  }
}

// A result's row changes domain after it was computed in the operand's.
static void cross(const hx_cpu_run_t *run, const hx_cpu_prime_t *prime, void *out) {
  if (((const part_t *)run->prepared->plan)->crosses) {
    copy(run, prime, out, out);
  }
}

static void target_body(const hx_cpu_run_t *run, uint64_t index) {
  const hxs_prepared *p = run->prepared;
  const hxs_base *base = plan_of(run);
  const hxs_view *view = &p->results[0];
  hx_cpu_place_t at = hx_cpu_place_of(index, view->components, view->limbs);
  at.item += run->first_item;
  const hxs_target *target = &base->targets[at.limb];
  const hx_cpu_prime_t *prime = hx_cpu_prime_of(run, view->ids[at.limb]);
  void *out = hx_cpu_result_row(run, view, at.item, at.component, at.limb);
  const void *inputs[HXS_PRIMES_MAX + 1], *x = NULL;
  if (target->kind != HXS_TARGET_CONVERT) {
    x = hx_cpu_operand_row(run, &p->operands[0], at.item, at.component, target->limb);
  }
  if (target->kind == HXS_TARGET_COPY) {
    copy(run, prime, out, x);
    return;
  }
  for (uint32_t s = 0; s < base->stage_count; s++) {
    inputs[s] = stage_row(run, at.item, at.component, s);
  }
  if (target->kind == HXS_TARGET_DIVIDE) {
    divide(run, target, prime, out, inputs, x);
    cross(run, prime, out);
  } else if (base->transform) {
    hx_cpu_raise_whole(run->kernels->raise, out, inputs, &target->map, &prime->m, &prime->twiddles, p->log_n);
    cross(run, prime, out);
  } else {
    run->kernels->convert->combine(out, inputs, &target->map, &prime->m, p->n);
    cross(run, prime, out);
  }
}

static uint64_t transform_cost(const hxs_prepared *p, const hxs_base *base) {
  return base->transform ? p->n * p->log_n : 0;
}

static int32_t run_part(const hx_cpu_run_t *run) {
  const hxs_prepared *p = run->prepared;
  const hxs_base *base = plan_of(run);
  const uint64_t polynomials = run->item_count * p->results[0].components;
  const uint64_t tile = p->n < TILE ? p->n : TILE, transform = transform_cost(p, base);
  if (base->transform || !base->chained) {
    HXS_TRY(hx_cpu_for(run, polynomials * base->stage_count, transform + p->n * 3, stage_body));
  }
  if (base->chained) {
    const uint64_t steps = (uint64_t)base->stage_count * (base->stage_count + 1) / 2;
    HXS_TRY(hx_cpu_for(run, polynomials * (p->n / tile), tile * steps, chain_body));
  }
  if (base->in_result) {
    return HX_OK;
  }
  return hx_cpu_for(run, polynomials * p->results[0].limbs, transform + p->n * (base->stage_count + 4u), target_body);
}

static int32_t run_base(hx_cpu_run_t *run) {
  const part_t *part = run->prepared->plan;
  const uint64_t items = run->prepared->results[0].items;
  for (run->first_item = 0; run->first_item < items; run->first_item += part->items) {
    const uint64_t left = items - run->first_item;
    run->item_count = left < part->items ? left : part->items;
    HXS_TRY(run_part(run));
  }
  return HX_OK;
}

static int32_t build_base(hxs_build *build, hx_cpu_base_fn *plan, bool crosses) {
  hxs_prepared *p = build->prepared;
  part_t *part = NULL;
  hxs_base *base = NULL;
  HXS_TRY(plan(build, &base));
  HXS_TRY(hxs_keep_or_fail(build, 1, sizeof *part, &part));
  hxs_base_to_montgomery(build->ring, base, true);
  part->base = base;
  part->crosses = crosses;
  const hxs_view *out = &p->results[0];
  const uint64_t rows = (uint64_t)out->components * base->stage_count, bytes = rows * hx_cpu_scratch_stride(p);
  const uint64_t fit = bytes == 0 ? out->items : bytes < SCRATCH_MAX ? SCRATCH_MAX / bytes : 1;
  part->items = base->in_result || fit > out->items ? out->items : fit;
  p->scratch_bytes = base->in_result ? 0 : part->items * bytes;
  p->cost = out->items * out->components *
            (base->stage_count * (transform_cost(p, base) + p->n * 3) +
             base->target_count * (transform_cost(p, base) + p->n * (base->stage_count + 4u)));
  p->plan = part;
  hx_cpu_set_run(build, run_base);
  return HX_OK;
}

int32_t hx_cpu_build_base(hxs_build *build, hx_cpu_base_fn *plan) { return build_base(build, plan, false); }

int32_t hx_cpu_build_crossing(hxs_build *build, hx_cpu_base_fn *plan) {
  hxs_prepared *p = build->prepared;
  HXS_TRY(hxs_expect_counts(build, 1, 1, 1, 1));
  const uint32_t from = p->operands[0].domain, to = p->results[0].domain;
  p->results[0].domain = from;
  HXS_TRY(build_base(build, plan, from != to));
  p->results[0].domain = to;
  return HX_OK;
}
