// SPDX-License-Identifier: Apache-2.0
// Whole operations on the rows of a value: rescale, prepare_plain; and what operations that contain a rescale share.
#include "base.h"

int32_t hx_cpu_expect_output(const hxs_build *build, const hxs_view *out) {
  const hx_attr *attr = hxs_attr_find(build, "output_domain");
  const bool coefficient = attr != NULL && hxs_attr_is_text(attr, "coefficient");
  if (attr != NULL && !coefficient && !hxs_attr_is_text(attr, "ntt")) {
    return hxs_refuse(build, HX_INVALID, "attribute output_domain must be the text ntt or coefficient");
  }
  return hxs_expect_domain(build, out, coefficient ? HX_COEFFICIENT : HX_NTT);
}

int32_t hx_cpu_last_group(const hxs_build *build, const hxs_view *a, uint32_t *out_count) {
  const hxs_ring *ring = build->ring;
  uint32_t group = 0, end = ring->group_sizes[0];  // ids below end belong to the groups up to `group`
  HXS_TRY(hxs_expect_leading(build, a));
  while (end < a->limbs) {
    end += ring->group_sizes[++group];
  }
  if (end != a->limbs) {
    return hxs_refuse(build, HX_INVALID, "operand %u has %u rows, which end within a depth group", a->index, a->limbs);
  }
  if (group == 0) {
    return hxs_refuse(build, HX_INVALID, "operand %u has only the base primes, no depth is left", a->index);
  }
  *out_count = ring->group_sizes[group];
  return HX_OK;
}

static int32_t plan_rescale(hxs_build *build, hxs_base **out) {
  uint32_t count = 0;
  HXS_TRY(hx_cpu_last_group(build, &build->prepared->operands[0], &count));
  return hxs_base_rescale_rows(build, count, true, out);
}

static int32_t expect_one(const hxs_build *build) {
  HXS_TRY(hxs_expect_counts(build, 1, 1, 1, 1));
  HXS_TRY(hxs_expect_residues(build, &build->prepared->operands[0]));
  return hxs_expect_residues(build, &build->prepared->results[0]);
}

int32_t hx_cpu_build_ckks_rescale(hxs_build *build) {
  HXS_TRY(expect_one(build));
  HXS_TRY(hx_cpu_expect_output(build, &build->prepared->results[0]));
  return hx_cpu_build_crossing(build, plan_rescale);
}

int32_t hx_cpu_build_prepare_plain(hxs_build *build) {
  HXS_TRY(expect_one(build));
  HXS_TRY(hxs_expect_domain(build, &build->prepared->results[0], HX_NTT));
  return hx_cpu_build_crossing(build, hxs_base_prepare_plain);
}
