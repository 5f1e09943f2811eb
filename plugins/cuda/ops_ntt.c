// SPDX-License-Identifier: Apache-2.0
// ntt.forward, ntt.inverse.
#include "ops.h"
#include "step.h"

static int32_t build_ntt(hxs_build *build, uint32_t from, uint32_t to) {
  const hxs_prepared *p = build->prepared;
  hx_cuda_rows_t from_rows, to_rows;
  HXS_TRY(hxs_accept_transform(build, from, to));
  HXS_TRY(hx_cuda_rows_of(build, &p->operands[0], &from_rows));
  HXS_TRY(hx_cuda_rows_of(build, &p->results[0], &to_rows));
  return to == HX_NTT ? hx_cuda_steps_forward(build, &to_rows, &from_rows, NULL)
                      : hx_cuda_steps_backward(build, &to_rows, &from_rows, NULL, NULL);
}

int32_t hx_cuda_build_ntt_forward(hxs_build *build) { return build_ntt(build, HX_COEFFICIENT, HX_NTT); }

int32_t hx_cuda_build_ntt_inverse(hxs_build *build) { return build_ntt(build, HX_NTT, HX_COEFFICIENT); }
