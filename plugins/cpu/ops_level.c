// SPDX-License-Identifier: Apache-2.0
// Whole operations on the rows of a value: rescale, prepare_plain; and what operations that contain a rescale share.
#include "base.h"

static int32_t plan_rescale(hxs_build *build, hxs_base **out) {
  uint32_t count = 0;
  HXS_TRY(hxs_accept_last_group(build, &build->prepared->operands[0], &count));
  return hxs_base_rescale_rows(build, count, true, out);
}

static int32_t expect_one(const hxs_build *build) {
  HXS_TRY(hxs_expect_counts(build, 1, 1, 1, 1));
  HXS_TRY(hxs_expect_residues(build, &build->prepared->operands[0]));
  return hxs_expect_residues(build, &build->prepared->results[0]);
}

int32_t hx_cpu_build_ckks_rescale(hxs_build *build) {
  HXS_TRY(expect_one(build));
  HXS_TRY(hxs_accept_output(build, &build->prepared->results[0]));
  return hx_cpu_build_crossing(build, plan_rescale);
}

int32_t hx_cpu_build_prepare_plain(hxs_build *build) {
  HXS_TRY(expect_one(build));
  HXS_TRY(hxs_expect_domain(build, &build->prepared->results[0], HX_NTT));
  return hx_cpu_build_crossing(build, hxs_base_prepare_plain);
}
