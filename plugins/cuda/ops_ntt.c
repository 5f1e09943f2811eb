// SPDX-License-Identifier: Apache-2.0
// ntt.forward, ntt.inverse.
#include "ops.h"
#include "step.h"

static int32_t build_ntt(hxs_build *build, uint32_t from, uint32_t to) {
  hxs_prepared *p = build->prepared;
  HXS_TRY(hxs_expect_counts(build, 1, 1, 1, 1));
  hxs_view *a = &p->operands[0], *out = &p->results[0];
  HXS_TRY(hxs_expect_residues(build, a));
  HXS_TRY(hxs_expect_residues(build, out));
  HXS_TRY(hxs_expect_domain(build, a, from));
  HXS_TRY(hxs_expect_domain(build, out, to));
  HXS_TRY(hxs_expect_repr(build, a, HX_STANDARD));
  HXS_TRY(hxs_expect_repr(build, out, HX_STANDARD));
  HXS_TRY(hxs_expect_batch(build, a, out));
  HXS_TRY(hxs_expect_components(build, a, out->components));
  HXS_TRY(hxs_expect_ids(build, a, out->limbs, out->ids));
  hxs_allow_alias(build, 0, 0);
  hx_cuda_rows_t from_rows, to_rows;
  HXS_TRY(hx_cuda_rows_of(build, a, &from_rows));
  HXS_TRY(hx_cuda_rows_of(build, out, &to_rows));
  return to == HX_NTT ? hx_cuda_steps_forward(build, &to_rows, &from_rows, NULL)
                      : hx_cuda_steps_backward(build, &to_rows, &from_rows, NULL, NULL);
}

int32_t hx_cuda_build_ntt_forward(hxs_build *build) { return build_ntt(build, HX_COEFFICIENT, HX_NTT); }

int32_t hx_cuda_build_ntt_inverse(hxs_build *build) { return build_ntt(build, HX_NTT, HX_COEFFICIENT); }
