// SPDX-License-Identifier: Apache-2.0
// sum over a batch axis; weighted_sum; key_product.
#include "ops.h"
#include "step.h"

// ---- sum

int32_t hx_cuda_build_sum(hxs_build *build) {
  hxs_prepared *p = build->prepared;
  int64_t axis = 0;
  HXS_TRY(hxs_expect_counts(build, 1, 1, 1, 1));
  hxs_view *a = &p->operands[0], *out = &p->results[0];
  if (a->batch_rank == 0) {
    return hxs_refuse(build, HX_INVALID, "operand 0 has no batch axis to sum over");
  }
  HXS_TRY(hxs_attr_i64(build, "axis", 0, (int64_t)a->batch_rank - 1, &axis));
  HXS_TRY(hxs_expect_residues(build, out));
  HXS_TRY(hxs_expect_repr(build, out, HX_STANDARD));
  const uint64_t count = a->batch_shape[axis], stride = a->batch_strides[axis];
  // Without the axis the operand has the result's shape.
  a->items /= count;
  a->batch_rank--;
  for (uint32_t i = (uint32_t)axis; i < a->batch_rank; i++) {
    a->batch_shape[i] = a->batch_shape[i + 1];
    a->batch_strides[i] = a->batch_strides[i + 1];
  }
  if (a->batch_rank != out->batch_rank) {
    return hxs_refuse(build, HX_INVALID, "result 0 has %u batch axes, must have %u", out->batch_rank, a->batch_rank);
  }
  HXS_TRY(hxs_expect_like(build, a, out));
  hx_cuda_rows_t to, from;
  HXS_TRY(hx_cuda_rows_of(build, out, &to));
  HXS_TRY(hx_cuda_rows_of(build, a, &from));
  const uint32_t log = hx_cuda_log_blocks(build, 1024);
  hx_cuda_step_t *step = hx_cuda_step_add(build, HX_CUDA_KERNEL_SUM, (uint64_t)to.count << log);
  if (step == NULL) {
    return hx_cuda_build_code(build);
  }
  step->args.x = log;
  step->args.count = (uint32_t)count;
  step->args.stride = stride;
  HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_OUT, &to));
  HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_A, &from));
  return hx_cuda_step_primes(build, step, to.ids, to.count);
}

// ---- weighted_sum: operands are `terms` values, then for each result `terms` weights

// Sums of at most HX_CUDA_DOT_MAX products a launch, the later ones added to what the first has left.
static int32_t add_group(hxs_build *build, uint32_t terms, uint32_t group) {
  const hxs_prepared *p = build->prepared;
  const uint32_t log = hx_cuda_log_blocks(build, 1024);
  hx_cuda_rows_t out, value, weight;
  HXS_TRY(hx_cuda_rows_of(build, &p->results[group], &out));
  for (uint32_t first = 0; first < terms; first += HX_CUDA_DOT_MAX) {
    const uint32_t count = terms - first < HX_CUDA_DOT_MAX ? terms - first : HX_CUDA_DOT_MAX;
    hx_cuda_step_t *step = hx_cuda_step_add(build, HX_CUDA_KERNEL_DOT, (uint64_t)out.count << log);
    if (step == NULL) {
      return hx_cuda_build_code(build);
    }
    step->args.x = log;
    step->args.op = first > 0 ? 1 : 0;
    step->args.count = count;
    HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_OUT, &out));
    for (uint32_t k = 0; k < count; k++) {
      HXS_TRY(hx_cuda_rows_of(build, &p->operands[first + k], &value));
      HXS_TRY(hx_cuda_rows_of(build, &p->operands[terms * (group + 1) + first + k], &weight));
      HXS_TRY(hx_cuda_step_more(build, step, k, &value));
      HXS_TRY(hx_cuda_step_more(build, step, HX_CUDA_DOT_MAX + k, &weight));
    }
    HXS_TRY(hx_cuda_step_primes(build, step, out.ids, out.count));
  }
  return HX_OK;
}

int32_t hx_cuda_build_weighted_sum(hxs_build *build) {
  hxs_prepared *p = build->prepared;
  int64_t groups = 0;
  HXS_TRY(hxs_attr_i64(build, "groups", 1, (int64_t)p->operand_count, &groups));
  const uint32_t results = (uint32_t)groups;
  HXS_TRY(hxs_expect_counts(build, 2, UINT32_MAX, results, results));
  if (p->operand_count % (results + 1) != 0) {
    return hxs_refuse(build, HX_INVALID, "%u operands are no T values with %u times T weights", p->operand_count,
                      results);
  }
  const uint32_t terms = p->operand_count / (results + 1);
  hxs_view *shape = &p->results[0];
  HXS_TRY(hxs_expect_residues(build, shape));
  HXS_TRY(hxs_expect_repr(build, shape, HX_STANDARD));
  for (uint32_t i = 0; i < p->operand_count; i++) {
    HXS_TRY(i < terms ? hxs_expect_like(build, &p->operands[i], shape)
                      : hxs_expect_factor(build, &p->operands[i], shape));
  }
  for (uint32_t i = 1; i < results; i++) {
    HXS_TRY(hxs_expect_like(build, &p->results[i], shape));
  }
  for (uint32_t group = 0; group < results; group++) {
    HXS_TRY(add_group(build, terms, group));
  }
  return HX_OK;
}

// ---- key_product: (d * b_j, d * a_j), added to acc where given

typedef struct key_product {
  uint64_t digit_offset;  // elements
  uint32_t *key_limbs;    // of each row of d
} key_product_t;

// Rows of the key for those of the result.
static int32_t key_rows(hxs_build *build, const key_product_t *plan, hx_cuda_rows_t *out) {
  const hxs_view *result = &build->prepared->results[0], *key = &build->prepared->operands[1];
  HXS_TRY(hx_cuda_rows_begin(build, key, (uint32_t)(result->items * 2 * result->limbs), out));
  for (uint32_t i = 0; i < out->count; i++) {
    const uint32_t limb = i % result->limbs;
    out->offsets[i] = plan->digit_offset + hx_cuda_row_offset(key, 0, i / result->limbs % 2, plan->key_limbs[limb]);
    out->ids[i] = result->ids[limb];
  }
  return HX_OK;
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

int32_t hx_cuda_build_key_product(hxs_build *build) {
  hxs_prepared *p = build->prepared;
  int64_t digit = 0;
  HXS_TRY(hxs_expect_counts(build, 2, 3, 1, 1));
  HXS_TRY(hxs_attr_i64(build, "digit", 0, HXS_PRIMES_MAX - 1, &digit));
  hxs_view *out = &p->results[0];
  HXS_TRY(hxs_expect_residues(build, out));
  HXS_TRY(hxs_expect_components(build, out, 2));
  HXS_TRY(hxs_expect_repr(build, out, HX_STANDARD));
  HXS_TRY(hxs_expect_factor(build, &p->operands[0], out));
  key_product_t plan = {0};
  HXS_TRY(read_key(build, digit, &plan));
  hx_cuda_rows_t to, d, key, acc;
  HXS_TRY(hx_cuda_rows_of(build, out, &to));
  HXS_TRY(hx_cuda_rows_of(build, &p->operands[0], &d));
  HXS_TRY(key_rows(build, &plan, &key));
  if (p->operand_count < 3) {
    return hx_cuda_step_pointwise(build, HX_CUDA_DO_MUL, &to, &d, &key, NULL, NULL, false);
  }
  HXS_TRY(hxs_expect_like(build, &p->operands[2], out));
  hxs_allow_alias(build, 0, 2);
  HXS_TRY(hx_cuda_rows_of(build, &p->operands[2], &acc));
  return hx_cuda_step_pointwise(build, HX_CUDA_DO_MUL_ADD, &to, &d, &key, &acc, NULL, false);
}
