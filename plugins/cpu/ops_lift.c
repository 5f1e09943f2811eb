// SPDX-License-Identifier: Apache-2.0
// Operations between bases: center_lift, mod_up, mod_down, rescale, mixed_radix, extend_exact.
#include "base.h"

// ---- center_lift of signed words

static void lift_row(const hx_cpu_run_t *run, uint64_t index) {
  const hxs_prepared *p = run->prepared;
  const hxs_view *out = &p->results[0];
  hx_cpu_place_t at = hx_cpu_place_of(index, out->components, out->limbs);
  run->kernels->convert->lift_signed(hx_cpu_result_row(run, out, at.item, at.component, at.limb),
                                     hx_cpu_operand_row(run, &p->operands[0], at.item, at.component, 0),
                                     &hx_cpu_prime_of(run, out->ids[at.limb])->m, p->n);
}

static int32_t run_lift(hx_cpu_run_t *run) {
  const hxs_view *out = &run->prepared->results[0];
  return hx_cpu_for(run, out->items * out->components * out->limbs, run->prepared->n * 2, lift_row);
}

static int32_t build_lift_signed(hxs_build *build) {
  hxs_prepared *p = build->prepared;
  HXS_TRY(hxs_accept_lift_words(build));
  hx_cpu_set_run(build, run_lift);
  p->cost = p->results[0].items * p->results[0].components * p->results[0].limbs * p->n * 2;
  return HX_OK;
}

// ---- conversions

int32_t hx_cpu_build_center_lift(hxs_build *build) {
  HXS_TRY(hxs_expect_counts(build, 1, 1, 1, 1));
  return build->prepared->operands[0].dtype == HX_I64 ? build_lift_signed(build)
                                                      : hx_cpu_build_base(build, hxs_base_lift_limb);
}

int32_t hx_cpu_build_mixed_radix(hxs_build *build) {
  HXS_TRY(hx_cpu_build_base(build, hxs_base_mixed_radix));
  hxs_allow_alias(build, 0, 0);
  return HX_OK;
}

int32_t hx_cpu_build_extend_exact(hxs_build *build) { return hx_cpu_build_base(build, hxs_base_extend_exact); }
int32_t hx_cpu_build_mod_up(hxs_build *build) { return hx_cpu_build_base(build, hxs_base_mod_up); }
int32_t hx_cpu_build_mod_down(hxs_build *build) { return hx_cpu_build_base(build, hxs_base_mod_down); }
int32_t hx_cpu_build_rescale(hxs_build *build) { return hx_cpu_build_base(build, hxs_base_rescale); }
