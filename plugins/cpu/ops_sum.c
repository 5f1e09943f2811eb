// SPDX-License-Identifier: Apache-2.0
// sum over a batch axis; weighted_sum; key_product.
#include <string.h>

#include "ops.h"
#include "run.h"

// ---- sum

static void sum_row(const hx_cpu_run_t *run, uint64_t index) {
  const hxs_prepared *p = run->prepared;
  const hxs_sum *plan = p->plan;
  const hxs_view *out = &p->results[0], *a = &p->operands[0];
  hx_cpu_place_t at = hx_cpu_place_of(index, out->components, out->limbs);
  const uint64_t q = hx_cpu_prime_of(run, out->ids[at.limb])->m.q, step = plan->stride * a->element_bytes;
  void *to = hx_cpu_result_row(run, out, at.item, at.component, at.limb);
  const char *from = hx_cpu_operand_row(run, a, at.item, at.component, at.limb);
  if (plan->count == 1) {
    memcpy(to, from, hx_cpu_row_bytes(p));
    return;
  }
  run->kernels->pointwise->add(to, from, from + step, q, p->n);
  for (uint64_t i = 2; i < plan->count; i++) {
    run->kernels->pointwise->add(to, to, from + i * step, q, p->n);
  }
}

static int32_t run_sum(hx_cpu_run_t *run) {
  const hxs_sum *plan = run->prepared->plan;
  const hxs_view *out = &run->prepared->results[0];
  return hx_cpu_for(run, out->items * out->components * out->limbs, run->prepared->n * plan->count, sum_row);
}

int32_t hx_cpu_build_sum(hxs_build *build) {
  hxs_prepared *p = build->prepared;
  hxs_sum *plan = NULL;
  HXS_TRY(hxs_keep_or_fail(build, 1, sizeof *plan, &plan));
  HXS_TRY(hxs_accept_sum(build, plan));
  const hxs_view *out = &p->results[0];
  p->plan = plan;
  hx_cpu_set_run(build, run_sum);
  p->cost = out->items * out->components * out->limbs * p->n * plan->count;
  return HX_OK;
}

// ---- weighted_sum: operands are `terms` values, then for each result `terms` weights

#define DOT_MAX 64u  // not less than HX_CPU_DOT_MAX of either word

typedef struct weighted {
  uint32_t terms;
} weighted_t;

// index runs over groups outermost.
static void weighted_row(const hx_cpu_run_t *run, uint64_t index) {
  const hxs_prepared *p = run->prepared;
  const uint32_t terms = ((const weighted_t *)p->plan)->terms, most = HX_CPU_DOT_MAX(p->ring->word);
  const hxs_view *shape = &p->results[0];
  const uint64_t rows = shape->items * shape->components * shape->limbs;
  const uint32_t group = (uint32_t)(index / rows);
  const hxs_view *out = &p->results[group];
  hx_cpu_place_t at = hx_cpu_place_of(index % rows, out->components, out->limbs);
  void *to = hx_cpu_result_row(run, out, at.item, at.component, at.limb);
  const void *values[DOT_MAX], *weights[DOT_MAX];
  for (uint32_t first = 0; first < terms; first += most) {
    const uint32_t count = terms - first < most ? terms - first : most;
    for (uint32_t k = 0; k < count; k++) {
      const hxs_view *value = &p->operands[first + k], *weight = &p->operands[terms * (group + 1) + first + k];
      values[k] = hx_cpu_operand_row(run, value, at.item, at.component, at.limb);
      weights[k] = hx_cpu_operand_row(run, weight, at.item, at.component, at.limb);
    }
    run->kernels->pointwise->dot(to, first == 0 ? NULL : to, values, weights, count,
                                 &hx_cpu_prime_of(run, out->ids[at.limb])->m, p->n);
  }
}

static int32_t run_weighted(hx_cpu_run_t *run) {
  const hxs_prepared *p = run->prepared;
  const hxs_view *out = &p->results[0];
  const uint64_t rows = out->items * out->components * out->limbs;
  return hx_cpu_for(run, rows * p->result_count, p->n * (((const weighted_t *)p->plan)->terms + 3u), weighted_row);
}

int32_t hx_cpu_build_weighted_sum(hxs_build *build) {
  hxs_prepared *p = build->prepared;
  weighted_t *plan = NULL;
  HXS_TRY(hxs_keep_or_fail(build, 1, sizeof *plan, &plan));
  HXS_TRY(hxs_accept_weighted_sum(build, &plan->terms));
  const hxs_view *shape = &p->results[0];
  p->plan = plan;
  hx_cpu_set_run(build, run_weighted);
  p->cost = shape->items * shape->components * shape->limbs * p->result_count * p->n * (plan->terms + 3u);
  return HX_OK;
}

// ---- key_product: (d * b_j, d * a_j), added to acc where given

static void key_product_row(const hx_cpu_run_t *run, uint64_t index) {
  const hxs_prepared *p = run->prepared;
  const hxs_key_product *plan = p->plan;
  const hxs_view *out = &p->results[0], *key = &p->operands[1];
  hx_cpu_place_t at = hx_cpu_place_of(index, 2, out->limbs);
  const hxs_modulus *m = &hx_cpu_prime_of(run, out->ids[at.limb])->m;
  void *to = hx_cpu_result_row(run, out, at.item, at.component, at.limb);
  const void *d = hx_cpu_operand_row(run, &p->operands[0], at.item, 0, at.limb);
  const char *row = hx_cpu_operand_row(run, key, 0, at.component, plan->key_limbs[at.limb]);
  row += plan->digit_offset * key->element_bytes;
  if (p->operand_count == 3) {
    const void *acc = hx_cpu_operand_row(run, &p->operands[2], at.item, at.component, at.limb);
    run->kernels->pointwise->mul_add(to, acc, d, row, m, p->n);
  } else {
    run->kernels->pointwise->mul(to, d, row, m, p->n);
  }
}

static int32_t run_key_product(hx_cpu_run_t *run) {
  const hxs_view *out = &run->prepared->results[0];
  return hx_cpu_for(run, out->items * 2 * out->limbs, run->prepared->n * 3, key_product_row);
}

int32_t hx_cpu_build_key_product(hxs_build *build) {
  hxs_prepared *p = build->prepared;
  hxs_key_product *plan = NULL;
  HXS_TRY(hxs_keep_or_fail(build, 1, sizeof *plan, &plan));
  HXS_TRY(hxs_accept_key_product(build, plan));
  p->plan = plan;
  hx_cpu_set_run(build, run_key_product);
  p->cost = p->results[0].items * 2 * p->results[0].limbs * p->n * 3;
  return HX_OK;
}
