// SPDX-License-Identifier: Apache-2.0
// Operations between bases: center_lift, mod_up, mod_down, rescale, mixed_radix, extend_exact, prepare_plain.
#include "base.h"

// ---- center_lift of signed words

static int32_t add_lift(hxs_build *build) {
  const hxs_view *a = &build->prepared->operands[0], *out = &build->prepared->results[0];
  const uint32_t log = hx_cuda_log_blocks(build, 1024);
  hx_cuda_rows_t to, from;
  HXS_TRY(hx_cuda_rows_of(build, out, &to));
  HXS_TRY(hx_cuda_rows_begin(build, a, to.count, &from));
  for (uint32_t i = 0; i < to.count; i++) {
    const uint32_t polynomial = i / out->limbs;
    from.offsets[i] = hx_cuda_row_offset(a, polynomial / out->components, polynomial % out->components, 0);
  }
  hx_cuda_step_t *step = hx_cuda_step_add(build, HX_CUDA_KERNEL_LIFT, (uint64_t)to.count << log);
  if (step == NULL) {
    return hx_cuda_build_code(build);
  }
  step->args.x = log;
  HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_OUT, &to));
  HXS_TRY(hx_cuda_step_rows(build, step, HX_CUDA_A, &from));
  return hx_cuda_step_primes(build, step, to.ids, to.count);
}

static int32_t build_lift_words(hxs_build *build) {
  HXS_TRY(hxs_accept_lift_words(build));
  return add_lift(build);
}

// ---- conversions

int32_t hx_cuda_build_center_lift(hxs_build *build) {
  HXS_TRY(hxs_expect_counts(build, 1, 1, 1, 1));
  return build->prepared->operands[0].dtype == HX_I64 ? build_lift_words(build)
                                                      : hx_cuda_build_base(build, hxs_base_lift_limb);
}

int32_t hx_cuda_build_mixed_radix(hxs_build *build) {
  HXS_TRY(hx_cuda_build_base(build, hxs_base_mixed_radix));
  hxs_allow_alias(build, 0, 0);
  return HX_OK;
}

int32_t hx_cuda_build_extend_exact(hxs_build *build) { return hx_cuda_build_base(build, hxs_base_extend_exact); }
int32_t hx_cuda_build_mod_up(hxs_build *build) { return hx_cuda_build_base(build, hxs_base_mod_up); }
int32_t hx_cuda_build_mod_down(hxs_build *build) { return hx_cuda_build_base(build, hxs_base_mod_down); }
int32_t hx_cuda_build_rescale(hxs_build *build) { return hx_cuda_build_base(build, hxs_base_rescale); }

// Rows that came from coefficients enter ntt domain at the end, all of them.
int32_t hx_cuda_build_prepare_plain(hxs_build *build) {
  const hxs_view *result = &build->prepared->results[0];
  hx_cuda_rows_t out;
  HXS_TRY(hxs_expect_residues(build, result));
  HXS_TRY(hxs_expect_domain(build, result, HX_NTT));
  HXS_TRY(hx_cuda_build_base(build, hxs_base_prepare_plain));
  if (build->prepared->operands[0].domain == HX_NTT) {
    return HX_OK;
  }
  HXS_TRY(hx_cuda_rows_of(build, result, &out));
  return hx_cuda_steps_forward(build, &out, &out, NULL);
}
