// SPDX-License-Identifier: Apache-2.0
// sum over a batch axis; weighted_sum; key_product.
#include <string.h>

#include "ops.h"
#include "run.h"

// ---- sum

typedef struct sum {
  uint64_t count, stride;  // of the axis, stride in elements
} sum_t;

static void sum_row(const hx_cpu_run_t *run, uint64_t index) {
  const hxs_prepared *p = run->prepared;
  const sum_t *plan = p->plan;
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
  const sum_t *plan = run->prepared->plan;
  const hxs_view *out = &run->prepared->results[0];
  return hx_cpu_for(run, out->items * out->components * out->limbs, run->prepared->n * plan->count, sum_row);
}

int32_t hx_cpu_build_sum(hxs_build *build) {
  hxs_prepared *p = build->prepared;
  int64_t axis = 0;
  sum_t *plan = NULL;
  HXS_TRY(hxs_expect_counts(build, 1, 1, 1, 1));
  hxs_view *a = &p->operands[0], *out = &p->results[0];
  if (a->batch_rank == 0) {
    return hxs_refuse(build, HX_INVALID, "operand 0 has no batch axis to sum over");
  }
  HXS_TRY(hxs_attr_i64(build, "axis", 0, (int64_t)a->batch_rank - 1, &axis));
  HXS_TRY(hxs_expect_residues(build, out));
  HXS_TRY(hxs_expect_repr(build, out, HX_STANDARD));
  HXS_TRY(hxs_keep_or_fail(build, 1, sizeof *plan, &plan));
  *plan = (sum_t){a->batch_shape[axis], a->batch_strides[axis]};
  // Without the axis the operand has the result's shape.
  a->items /= plan->count;
  a->batch_rank--;
  for (uint32_t i = (uint32_t)axis; i < a->batch_rank; i++) {
    a->batch_shape[i] = a->batch_shape[i + 1];
    a->batch_strides[i] = a->batch_strides[i + 1];
  }
  if (a->batch_rank != out->batch_rank) {
    return hxs_refuse(build, HX_INVALID, "result 0 has %u batch axes, must have %u", out->batch_rank, a->batch_rank);
  }
  HXS_TRY(hxs_expect_like(build, a, out));
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
  int64_t groups = 0;
  weighted_t *plan = NULL;
  HXS_TRY(hxs_attr_i64(build, "groups", 1, (int64_t)p->operand_count, &groups));
  const uint32_t results = (uint32_t)groups;
  HXS_TRY(hxs_expect_counts(build, 2, UINT32_MAX, results, results));
  if (p->operand_count % (results + 1) != 0) {
    return hxs_refuse(build, HX_INVALID, "%u operands are no T values with %u times T weights", p->operand_count,
                      results);
  }
  HXS_TRY(hxs_keep_or_fail(build, 1, sizeof *plan, &plan));
  plan->terms = p->operand_count / (results + 1);
  hxs_view *shape = &p->results[0];
  HXS_TRY(hxs_expect_residues(build, shape));
  HXS_TRY(hxs_expect_repr(build, shape, HX_STANDARD));
  for (uint32_t i = 0; i < p->operand_count; i++) {
    HXS_TRY(i < plan->terms ? hxs_expect_like(build, &p->operands[i], shape)
                            : hxs_expect_factor(build, &p->operands[i], shape));
  }
  for (uint32_t i = 1; i < results; i++) {
    HXS_TRY(hxs_expect_like(build, &p->results[i], shape));
  }
  p->plan = plan;
  hx_cpu_set_run(build, run_weighted);
  p->cost = shape->items * shape->components * shape->limbs * results * p->n * (plan->terms + 3u);
  return HX_OK;
}

// ---- key_product: (d * b_j, d * a_j), added to acc where given

typedef struct key_product {
  uint64_t digit_offset;  // elements
  uint32_t *key_limbs;    // of each row of d
} key_product_t;

static void key_product_row(const hx_cpu_run_t *run, uint64_t index) {
  const hxs_prepared *p = run->prepared;
  const key_product_t *plan = p->plan;
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

// A key: two components in ntt domain, standard, no batch, with the digit and a row for each of d's primes.
static int32_t read_key(hxs_build *build, int64_t digit, key_product_t *plan) {
  const hxs_prepared *p = build->prepared;
  const hxs_view *key = &p->operands[1], *d = &p->operands[0];
  if (!hxs_view_is_residue(key) || key->batch_rank != 0) {
    return hxs_refuse(build, HX_INVALID, "operand 1 has dtype %u and %u batch axes; a key has residues and no batch",
                      key->dtype, key->batch_rank);
  }
  HXS_TRY(hxs_expect_components(build, key, 2));
  HXS_TRY(hxs_expect_repr(build, key, HX_STANDARD));
  if (digit >= (int64_t)key->digits) {
    return hxs_refuse(build, HX_INVALID, "digit %lld is asked for, the key has %u digits", (long long)digit,
                      key->digits);
  }
  plan->digit_offset = (uint64_t)digit * key->digit_stride;
  HXS_TRY(hxs_keep_or_fail(build, d->limbs, sizeof *plan->key_limbs, &plan->key_limbs));
  for (uint32_t limb = 0; limb < d->limbs; limb++) {
    plan->key_limbs[limb] = hxs_view_limb_of(key, d->ids[limb]);
    if (plan->key_limbs[limb] == HX_NONE) {
      return hxs_refuse(build, HX_INVALID, "operand 1 is a key without a row of prime %u, which operand 0 has",
                        d->ids[limb]);
    }
  }
  return HX_OK;
}

int32_t hx_cpu_build_key_product(hxs_build *build) {
  hxs_prepared *p = build->prepared;
  int64_t digit = 0;
  key_product_t *plan = NULL;
  HXS_TRY(hxs_expect_counts(build, 2, 3, 1, 1));
  HXS_TRY(hxs_attr_i64(build, "digit", 0, HXS_PRIMES_MAX - 1, &digit));
  hxs_view *out = &p->results[0];
  HXS_TRY(hxs_expect_residues(build, out));
  HXS_TRY(hxs_expect_components(build, out, 2));
  HXS_TRY(hxs_expect_repr(build, out, HX_STANDARD));
  HXS_TRY(hxs_expect_factor(build, &p->operands[0], out));
  HXS_TRY(hxs_keep_or_fail(build, 1, sizeof *plan, &plan));
  HXS_TRY(read_key(build, digit, plan));
  if (p->operand_count == 3) {
    HXS_TRY(hxs_expect_like(build, &p->operands[2], out));
    hxs_allow_alias(build, 0, 2);
  }
  p->plan = plan;
  hx_cpu_set_run(build, run_key_product);
  p->cost = out->items * 2 * out->limbs * p->n * 3;
  return HX_OK;
}
