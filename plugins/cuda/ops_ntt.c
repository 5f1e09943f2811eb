// SPDX-License-Identifier: Apache-2.0
// ntt.forward, ntt.inverse.
#include "ops.h"
#include "step.h"

static int32_t build_ntt(hx_cuda_build_t *build, uint32_t from, uint32_t to) {
  hx_prepared *p = build->prepared;
  HX_CUDA_TRY(hx_cuda_expect_counts(build, 1, 1, 1, 1));
  hx_cuda_view_t *a = &p->operands[0], *out = &p->results[0];
  HX_CUDA_TRY(hx_cuda_expect_residues(build, a));
  HX_CUDA_TRY(hx_cuda_expect_residues(build, out));
  HX_CUDA_TRY(hx_cuda_expect_domain(build, a, from));
  HX_CUDA_TRY(hx_cuda_expect_domain(build, out, to));
  HX_CUDA_TRY(hx_cuda_expect_repr(build, a, HX_STANDARD));
  HX_CUDA_TRY(hx_cuda_expect_repr(build, out, HX_STANDARD));
  HX_CUDA_TRY(hx_cuda_expect_batch(build, a, out));
  HX_CUDA_TRY(hx_cuda_expect_components(build, a, out->components));
  HX_CUDA_TRY(hx_cuda_expect_ids(build, a, out->limbs, out->ids));
  hx_cuda_allow_alias(build, 0, 0);
  hx_cuda_rows_t from_rows, to_rows;
  HX_CUDA_TRY(hx_cuda_rows_of(build, a, &from_rows));
  HX_CUDA_TRY(hx_cuda_rows_of(build, out, &to_rows));
  return to == HX_NTT ? hx_cuda_steps_forward(build, &to_rows, &from_rows, NULL)
                      : hx_cuda_steps_backward(build, &to_rows, &from_rows, NULL, NULL);
}

int32_t hx_cuda_build_ntt_forward(hx_cuda_build_t *build) { return build_ntt(build, HX_COEFFICIENT, HX_NTT); }

int32_t hx_cuda_build_ntt_inverse(hx_cuda_build_t *build) { return build_ntt(build, HX_NTT, HX_COEFFICIENT); }
