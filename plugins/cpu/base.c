// SPDX-License-Identifier: Apache-2.0
// Running stages and targets. See base.h.
#include "base.h"

#include <string.h>

// Scratch memory that a large batch is cut to.
#define SCRATCH_MAX ((uint64_t)32 << 20)
// Coefficients of a task where rows cannot be made independently of each other.
#define TILE 1024u

static const hx_cpu_base_t *plan_of(const hx_cpu_run_t *run) { return run->prepared->plan; }

// Row y_s of batch item `item`.
static void *stage_row(const hx_cpu_run_t *run, uint64_t item, uint32_t component, uint32_t s) {
  const hx_cpu_base_t *base = plan_of(run);
  const hx_cpu_view_t *out = &run->prepared->results[0];
  if (base->in_result) {
    return hx_cpu_result_row(run, out, item, component, s);
  }
  return hx_cpu_scratch_row(run, ((item - run->first_item) * out->components + component) * base->stage_count + s);
}

// One y row that needs no other: the operand's row, out of ntt domain where it is there, times and plus constants.
// Of a chained stage only the first half of that.
static void stage_body(const hx_cpu_run_t *run, uint64_t index) {
  const hx_prepared *p = run->prepared;
  const hx_cpu_base_t *base = p->plan;
  hx_cpu_place_t at = hx_cpu_place_of(index, p->results[0].components, base->stage_count);
  at.item += run->first_item;
  const hx_cpu_stage_row_t *row = &base->stage[at.limb];
  const hx_cpu_prime_t *prime = hx_cpu_prime_of(run, row->prime);
  void *y = stage_row(run, at.item, at.component, at.limb);
  const void *x = hx_cpu_operand_row(run, &p->operands[0], at.item, at.component, row->limb);
  if (base->transform) {
    p->kernels.ntt->inverse(y, x, &prime->m, &prime->twiddles, p->log_n);
    x = y;
  }
  if (!base->chained) {
    p->kernels.convert->combine(y, &x, &row->map, &prime->m, p->n);
  }
}

// A tile of all y rows, each from those before it.
static void chain_body(const hx_cpu_run_t *run, uint64_t index) {
  const hx_prepared *p = run->prepared;
  const hx_cpu_base_t *base = p->plan;
  const size_t tile = p->n < TILE ? p->n : TILE, offset = tile * (p->tables->word / 8);
  hx_cpu_place_t at = hx_cpu_place_of(index, p->results[0].components, (uint32_t)(p->n / tile));
  at.item += run->first_item;
  const void *inputs[HX_CPU_PRIMES_MAX];
  for (uint32_t s = 0; s < base->stage_count; s++) {
    const hx_cpu_stage_row_t *row = &base->stage[s];
    char *y = (char *)stage_row(run, at.item, at.component, s) + at.limb * offset;
    const char *x = hx_cpu_operand_row(run, &p->operands[0], at.item, at.component, row->limb);
    inputs[s] = base->transform ? y : x + at.limb * offset;
    p->kernels.convert->combine(y, inputs, &row->map, &hx_cpu_prime_of(run, row->prime)->m, tile);
    inputs[s] = y;
  }
}

static void divide(const hx_cpu_run_t *run, const hx_cpu_target_t *target, const hx_cpu_prime_t *prime, void *out,
                   const void **inputs, const void *x) {
  const hx_prepared *p = run->prepared;
  if (!plan_of(run)->transform) {
    inputs[target->map.count - 1] = x;
    p->kernels.convert->combine(out, inputs, &target->map, &prime->m, p->n);
    return;
  }
  p->kernels.convert->combine_lazy(out, inputs, &target->map, &prime->m, p->n);
  p->kernels.ntt->forward(out, out, &prime->m, &prime->twiddles, p->log_n);
  p->kernels.pointwise->mul_scalar_add(out, out, x, target->scale, &prime->m, p->n);
}

static void target_body(const hx_cpu_run_t *run, uint64_t index) {
  const hx_prepared *p = run->prepared;
  const hx_cpu_base_t *base = p->plan;
  const hx_cpu_view_t *view = &p->results[0];
  hx_cpu_place_t at = hx_cpu_place_of(index, view->components, view->limbs);
  at.item += run->first_item;
  const hx_cpu_target_t *target = &base->targets[at.limb];
  const hx_cpu_prime_t *prime = hx_cpu_prime_of(run, view->ids[at.limb]);
  void *out = hx_cpu_result_row(run, view, at.item, at.component, at.limb);
  const void *inputs[HX_CPU_PRIMES_MAX + 1], *x = NULL;
  if (target->kind != HX_CPU_TARGET_CONVERT) {
    x = hx_cpu_operand_row(run, &p->operands[0], at.item, at.component, target->limb);
  }
  if (target->kind == HX_CPU_TARGET_COPY) {
    memcpy(out, x, hx_cpu_row_bytes(p));
    return;
  }
  for (uint32_t s = 0; s < base->stage_count; s++) {
    inputs[s] = stage_row(run, at.item, at.component, s);
  }
  if (target->kind == HX_CPU_TARGET_DIVIDE) {
    divide(run, target, prime, out, inputs, x);
  } else if (base->transform) {
    p->kernels.convert->combine_lazy(out, inputs, &target->map, &prime->m, p->n);
    p->kernels.ntt->forward(out, out, &prime->m, &prime->twiddles, p->log_n);
  } else {
    p->kernels.convert->combine(out, inputs, &target->map, &prime->m, p->n);
  }
}

static uint64_t transform_cost(const hx_prepared *p, const hx_cpu_base_t *base) {
  return base->transform ? p->n * p->log_n : 0;
}

static int32_t run_part(const hx_cpu_run_t *run) {
  const hx_prepared *p = run->prepared;
  const hx_cpu_base_t *base = p->plan;
  const uint64_t polynomials = run->item_count * p->results[0].components;
  const uint64_t tile = p->n < TILE ? p->n : TILE, transform = transform_cost(p, base);
  if (base->transform || !base->chained) {
    HX_CPU_TRY(hx_cpu_for(run, polynomials * base->stage_count, transform + p->n * 3, stage_body));
  }
  if (base->chained) {
    const uint64_t steps = (uint64_t)base->stage_count * (base->stage_count + 1) / 2;
    HX_CPU_TRY(hx_cpu_for(run, polynomials * (p->n / tile), tile * steps, chain_body));
  }
  if (base->in_result) {
    return HX_OK;
  }
  return hx_cpu_for(run, polynomials * p->results[0].limbs, transform + p->n * (base->stage_count + 4u), target_body);
}

static int32_t run_base(hx_cpu_run_t *run) {
  const hx_cpu_base_t *base = plan_of(run);
  const uint64_t items = run->prepared->results[0].items;
  for (run->first_item = 0; run->first_item < items; run->first_item += base->part_items) {
    const uint64_t left = items - run->first_item;
    run->item_count = left < base->part_items ? left : base->part_items;
    HX_CPU_TRY(run_part(run));
  }
  return HX_OK;
}

int32_t hx_cpu_base_begin(hx_cpu_build_t *build, uint32_t stage_count, bool in_result, hx_cpu_base_t **out) {
  hx_prepared *p = build->prepared;
  hx_cpu_base_t *base = NULL;
  HX_CPU_TRY(hx_cpu_expect_counts(build, 1, 1, 1, 1));
  hx_cpu_view_t *a = &p->operands[0], *result = &p->results[0];
  HX_CPU_TRY(hx_cpu_expect_residues(build, a));
  HX_CPU_TRY(hx_cpu_expect_residues(build, result));
  HX_CPU_TRY(hx_cpu_expect_repr(build, a, HX_STANDARD));
  HX_CPU_TRY(hx_cpu_expect_repr(build, result, HX_STANDARD));
  HX_CPU_TRY(hx_cpu_expect_batch(build, a, result));
  HX_CPU_TRY(hx_cpu_expect_components(build, a, result->components));
  HX_CPU_TRY(hx_cpu_expect_domain(build, result, a->domain));
  HX_CPU_TRY(hx_cpu_keep_or_fail(build, 1, sizeof *base, &base));
  base->transform = a->domain == HX_NTT;
  base->in_result = in_result;
  base->stage_count = stage_count;
  HX_CPU_TRY(hx_cpu_keep_or_fail(build, stage_count, sizeof *base->stage, &base->stage));
  if (!in_result) {
    HX_CPU_TRY(hx_cpu_keep_or_fail(build, result->limbs, sizeof *base->targets, &base->targets));
  }
  p->plan = base;
  *out = base;
  return HX_OK;
}

void hx_cpu_base_end(hx_cpu_build_t *build, hx_cpu_base_t *base) {
  hx_prepared *p = build->prepared;
  const hx_cpu_view_t *out = &p->results[0];
  const uint64_t rows = (uint64_t)out->components * base->stage_count, bytes = rows * hx_cpu_row_bytes(p);
  const uint64_t fit = bytes < SCRATCH_MAX ? SCRATCH_MAX / bytes : 1;
  base->part_items = base->in_result || fit > out->items ? out->items : fit;
  p->scratch_bytes = base->in_result ? 0 : base->part_items * bytes;
  const uint64_t targets = base->in_result ? 0 : out->limbs;
  p->cost = out->items * out->components *
            (base->stage_count * (transform_cost(p, base) + p->n * 3) +
             targets * (transform_cost(p, base) + p->n * (base->stage_count + 4u)));
  p->run = run_base;
}

int32_t hx_cpu_affine_begin(const hx_cpu_build_t *build, uint32_t count, hx_cpu_affine_t *out) {
  uint64_t *weights = NULL;
  HX_CPU_TRY(hx_cpu_keep_or_fail(build, count, sizeof *weights, &weights));
  *out = (hx_cpu_affine_t){.count = count, .start = 0, .weights = weights};
  return HX_OK;
}

void hx_cpu_affine_set(const hx_cpu_build_t *build, hx_cpu_affine_t *map, uint32_t prime, uint32_t at,
                       uint64_t weight) {
  map->weights[at] = hx_cpu_to_montgomery(&build->tables->primes[prime].m, weight);
}

void hx_cpu_affine_start(const hx_cpu_build_t *build, hx_cpu_affine_t *map, uint32_t prime, uint64_t start) {
  map->start = hx_cpu_to_montgomery(&build->tables->primes[prime].m, start);
}
