// SPDX-License-Identifier: Apache-2.0
// ntt.forward, ntt.inverse, ckks.to_ntt, ckks.from_ntt.
#include "ops.h"
#include "step.h"

// Equal domains are a copy.
static int32_t build_ntt(hxs_build *build, uint32_t from, uint32_t to) {
  const hxs_prepared *p = build->prepared;
  hx_cuda_rows_t from_rows, to_rows;
  HXS_TRY(hxs_accept_transform(build, from, to));
  HXS_TRY(hx_cuda_rows_of(build, &p->operands[0], &from_rows));
  HXS_TRY(hx_cuda_rows_of(build, &p->results[0], &to_rows));
  if (from == to) {
    return hx_cuda_step_pointwise(build, HX_CUDA_DO_COPY, &to_rows, &from_rows, NULL, NULL, NULL, false);
  }
  const uint32_t radix = hx_cuda_whole(build)->radix;
  if (radix > 0) {
    return hx_cuda_steps_radix(build, radix, to == HX_COEFFICIENT, &to_rows, &from_rows);
  }
  return to == HX_NTT ? hx_cuda_steps_forward(build, &to_rows, &from_rows, NULL)
                      : hx_cuda_steps_backward(build, &to_rows, &from_rows, NULL, NULL);
}

int32_t hx_cuda_build_ntt_forward(hxs_build *build) { return build_ntt(build, HX_COEFFICIENT, HX_NTT); }

int32_t hx_cuda_build_ntt_inverse(hxs_build *build) { return build_ntt(build, HX_NTT, HX_COEFFICIENT); }

// From either domain.
static int32_t build_to(hxs_build *build, uint32_t to) {
  HXS_TRY(hxs_expect_counts(build, 1, 1, 1, 1));
  return build_ntt(build, build->prepared->operands[0].domain, to);
}

int32_t hx_cuda_build_to_ntt(hxs_build *build) { return build_to(build, HX_NTT); }
int32_t hx_cuda_build_from_ntt(hxs_build *build) { return build_to(build, HX_COEFFICIENT); }
