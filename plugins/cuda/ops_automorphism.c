// SPDX-License-Identifier: Apache-2.0
// X -> X^element, in either domain; and uniform polynomials from a seed.
#include "ops.h"
#include "step.h"

int32_t hx_cuda_step_permute(hxs_build *build, uint32_t domain, uint64_t element, const hx_cuda_rows_t *out,
                             const hx_cuda_rows_t *a) {
  const uint32_t log = hx_cuda_log_blocks(build, 1024);
  hx_cuda_step_t *step = hx_cuda_step_add(build, HX_CUDA_KERNEL_PERMUTE, (uint64_t)out->count << log);
  if (step == NULL) {
    return hx_cuda_build_code(build);
  }
  step->args.x = log;
  step->args.op = domain == HX_NTT ? 0 : 1;
  step->args.y = (uint32_t)(domain == HX_NTT ? element : hxs_odd_inverse(element));
  HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_OUT, out));
  HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_A, a));
  return hx_cuda_step_primes(build, step, out->ids, out->count);
}

int32_t hx_cuda_build_automorphism(hxs_build *build) {
  const hxs_prepared *p = build->prepared;
  uint32_t element = 0;
  hx_cuda_rows_t to, from;
  HXS_TRY(hxs_accept_automorphism(build, &element));
  HXS_TRY(hx_cuda_rows_of(build, &p->results[0], &to));
  HXS_TRY(hx_cuda_rows_of(build, &p->operands[0], &from));
  return hx_cuda_step_permute(build, p->results[0].domain, element, &to, &from);
}

// ---- expand_uniform

static int32_t add_expand(hxs_build *build, uint32_t index) {
  const hxs_prepared *p = build->prepared;
  const hxs_view *out = &p->results[0];
  const uint32_t threads = hx_cuda_kernel_threads[HX_CUDA_KERNEL_EXPAND];
  const uint32_t log = hx_cuda_log_blocks(build, threads * 512 / p->ring->word);
  hx_cuda_rows_t to, from;
  HXS_TRY(hx_cuda_rows_of(build, out, &to));
  HXS_TRY(hx_cuda_rows_begin(build, &p->operands[0], to.count, &from));
  for (uint32_t i = 0; i < to.count; i++) {
    from.offsets[i] = hx_cuda_row_offset(&p->operands[0], i / out->limbs, 0, 0);
  }
  hx_cuda_step_t *step = hx_cuda_step_add(build, HX_CUDA_KERNEL_EXPAND, (uint64_t)to.count << log);
  if (step == NULL) {
    return hx_cuda_build_code(build);
  }
  step->args.x = log;
  step->args.y = index;
  HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_OUT, &to));
  HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_A, &from));
  return hx_cuda_step_primes(build, step, to.ids, to.count);
}

int32_t hx_cuda_build_expand_uniform(hxs_build *build) {
  uint32_t index = 0;
  HXS_TRY(hxs_accept_expand(build, &index));
  return add_expand(build, index);
}
