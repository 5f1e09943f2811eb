// SPDX-License-Identifier: Apache-2.0
// sum over a batch axis; weighted_sum; key_product.
#include "ops.h"
#include "step.h"

// ---- sum

int32_t hx_cuda_build_sum(hxs_build *build) {
  const hxs_prepared *p = build->prepared;
  hxs_sum sum;
  hx_cuda_rows_t to, from;
  HXS_TRY(hxs_accept_sum(build, &sum));
  HXS_TRY(hx_cuda_rows_of(build, &p->results[0], &to));
  HXS_TRY(hx_cuda_rows_of(build, &p->operands[0], &from));
  const uint32_t log = hx_cuda_log_blocks(build, 1024);
  hx_cuda_step_t *step = hx_cuda_step_add(build, HX_CUDA_KERNEL_SUM, (uint64_t)to.count << log);
  if (step == NULL) {
    return hx_cuda_build_code(build);
  }
  step->args.x = log;
  step->args.count = (uint32_t)sum.count;
  step->args.stride = sum.stride;
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
  uint32_t terms = 0;
  HXS_TRY(hxs_accept_weighted_sum(build, &terms));
  for (uint32_t group = 0; group < build->prepared->result_count; group++) {
    HXS_TRY(add_group(build, terms, group));
  }
  return HX_OK;
}

// ---- key_product: (d * b_j, d * a_j), added to acc where given

// Rows of the key for those of the result.
static int32_t key_rows(hxs_build *build, const hxs_key_product *plan, hx_cuda_rows_t *out) {
  const hxs_view *result = &build->prepared->results[0], *key = &build->prepared->operands[1];
  HXS_TRY(hx_cuda_rows_begin(build, key, (uint32_t)(result->items * 2 * result->limbs), out));
  for (uint32_t i = 0; i < out->count; i++) {
    const uint32_t limb = i % result->limbs;
    out->offsets[i] = plan->digit_offset + hx_cuda_row_offset(key, 0, i / result->limbs % 2, plan->key_limbs[limb]);
    out->ids[i] = result->ids[limb];
  }
  return HX_OK;
}

int32_t hx_cuda_build_key_product(hxs_build *build) {
  const hxs_prepared *p = build->prepared;
  hxs_key_product plan;
  hx_cuda_rows_t to, d, key, acc;
  HXS_TRY(hxs_accept_key_product(build, &plan));
  HXS_TRY(hx_cuda_rows_of(build, &p->results[0], &to));
  HXS_TRY(hx_cuda_rows_of(build, &p->operands[0], &d));
  HXS_TRY(key_rows(build, &plan, &key));
  if (p->operand_count < 3) {
    return hx_cuda_step_pointwise(build, HX_CUDA_DO_MUL, &to, &d, &key, NULL, NULL, false);
  }
  HXS_TRY(hx_cuda_rows_of(build, &p->operands[2], &acc));
  return hx_cuda_step_pointwise(build, HX_CUDA_DO_MUL_ADD, &to, &d, &key, &acc, NULL, false);
}
