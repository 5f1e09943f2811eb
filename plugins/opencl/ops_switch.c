// SPDX-License-Identifier: Apache-2.0
// Whole operations with a switching key, and rescale, ntt domain to ntt domain; chains of them prepared as one.
#include "heliox/support/switched.h"
#include "ops.h"
#include "switch.h"

// Switches component `switched` of operand 0 and adds the first `added` components.
static int32_t build_switch(hxs_build *build, uint32_t switched, uint32_t added, uint32_t element) {
  const hxs_prepared *p = build->prepared;
  const hxs_view *a = &p->operands[0], *out = &p->results[0];
  hx_opencl_switch_t s;
  hx_opencl_rows_t x, add, to;
  HXS_TRY(hx_opencl_switch_begin(build, out->items, out->limbs, &s));
  HXS_TRY(hx_opencl_switch_key(build, &s, &p->operands[1]));
  HXS_TRY(hx_opencl_rows_components(build, a, switched, 1, false, &x));
  HXS_TRY(hx_opencl_rows_components(build, a, 0, 2, false, &add));
  for (uint32_t i = 0; i < add.count; i++) {
    if (i / out->limbs % 2 >= added) {
      add.offsets[i] = HX_OPENCL_NO_ROW;
    }
  }
  HXS_TRY(hx_opencl_rows_of(build, out, &to));
  HXS_TRY(hx_opencl_switch_raise(build, &s, &x, true));
  HXS_TRY(hx_opencl_switch_products(build, &s, &x, &p->operands[1]));
  return hx_opencl_switch_lower(build, &s, &s.acc, &add, element, &to);
}

int32_t hx_opencl_build_relinearize(hxs_build *build) {
  HXS_TRY(hxs_expect_counts(build, 2, 2, 1, 1));
  HXS_TRY(hxs_accept_switched(build, 1, 3, 1));
  return build_switch(build, 2, 2, 1);
}

int32_t hx_opencl_build_key_switch(hxs_build *build) {
  HXS_TRY(hxs_expect_counts(build, 2, 2, 1, 1));
  HXS_TRY(hxs_accept_switched(build, 1, 2, 1));
  return build_switch(build, 1, 1, 1);
}

int32_t hx_opencl_build_conjugate(hxs_build *build) {
  HXS_TRY(hxs_expect_counts(build, 2, 2, 1, 1));
  HXS_TRY(hxs_accept_switched(build, 1, 2, 1));
  return build_switch(build, 1, 1, (2u << build->prepared->log_n) - 1);
}

int32_t hx_opencl_build_rotate(hxs_build *build) {
  int64_t step = 0;
  HXS_TRY(hxs_attr_i64(build, "step", INT64_MIN, INT64_MAX, &step));
  const uint32_t element = hxs_rotation_element(build->prepared->log_n, step);
  const uint32_t operands = element == 1 ? 1 : 2;
  HXS_TRY(hxs_expect_counts(build, operands, operands, 1, 1));
  HXS_TRY(hxs_accept_switched(build, 1, 2, 1));
  if (element == 1) {
    hx_opencl_rows_t to, from;
    HXS_TRY(hx_opencl_rows_of(build, &build->prepared->results[0], &to));
    HXS_TRY(hx_opencl_rows_of(build, &build->prepared->operands[0], &from));
    return hx_opencl_step_pointwise(build, HX_OPENCL_DO_COPY, &to, &from, NULL, NULL, NULL, false);
  }
  return build_switch(build, 1, 1, element);
}

int32_t hx_opencl_build_ckks_rescale(hxs_build *build) {
  hxs_base *base = NULL;
  uint32_t group = 0;
  HXS_TRY(hxs_expect_counts(build, 1, 1, 1, 1));
  HXS_TRY(hxs_expect_residues(build, &build->prepared->operands[0]));
  HXS_TRY(hxs_expect_residues(build, &build->prepared->results[0]));
  HXS_TRY(hxs_accept_last_group(build, &build->prepared->operands[0], &group));
  HXS_TRY(hxs_base_rescale_rows(build, group, true, &base));
  return hx_opencl_base_steps(build, base);
}

// ------------------------------------------------------------------ chains

// Rows [component][items][limbs] of the product in scratch memory, or of operand 0 where there is no product.
static int32_t three_rows(hxs_build *build, hx_opencl_rows_t *out) {
  const hxs_prepared *p = build->prepared;
  const hxs_view *a = &p->operands[0];
  hx_opencl_rows_t first, second;
  if (p->operand_count == 2) {
    return hx_opencl_rows_components(build, a, 0, 3, true, out);
  }
  HXS_TRY(hx_opencl_rows_components(build, a, 0, 2, true, &first));
  HXS_TRY(hx_opencl_rows_components(build, &p->operands[1], 0, 2, true, &second));
  HXS_TRY(hx_opencl_rows_scratch(build, 3 * a->items * a->limbs, out));
  for (uint32_t i = 0; i < out->count; i++) {
    out->ids[i] = a->ids[i % a->limbs];
  }
  return hx_opencl_step_tensor(build, out, &first, &second);
}

int32_t hx_opencl_build_fused(hxs_build *build) {
  const hxs_prepared *p = build->prepared;
  HXS_TRY(hxs_accept_fused(build));
  const hxs_view *a = &p->operands[0], *out = &p->results[0], *key = &p->operands[p->operand_count - 1];
  const uint32_t rows = (uint32_t)(out->items * a->limbs);
  hx_opencl_switch_t s;
  hx_opencl_rows_t three, x, add, last;
  uint32_t *indices = NULL;
  HXS_TRY(hx_opencl_switch_begin(build, out->items, a->limbs, &s));
  HXS_TRY(hx_opencl_switch_key(build, &s, key));
  HXS_TRY(three_rows(build, &three));
  HXS_TRY(hxs_keep_or_fail(build, 2 * (size_t)rows, sizeof *indices, &indices));
  for (uint32_t i = 0; i < rows; i++) {
    indices[i] = 2 * rows + i;
  }
  HXS_TRY(hx_opencl_rows_pick(build, &three, rows, indices, &x));
  for (uint32_t i = 0; i < 2 * rows; i++) {  // [items][2][limbs] from [2][items][limbs]
    const uint32_t limb = i % a->limbs, component = i / a->limbs % 2, item = i / a->limbs / 2;
    indices[i] = component * rows + item * a->limbs + limb;
  }
  HXS_TRY(hx_opencl_rows_pick(build, &three, 2 * rows, indices, &add));
  HXS_TRY(hx_opencl_switch_raise(build, &s, &x, true));
  HXS_TRY(hx_opencl_switch_products(build, &s, &x, key));
  HXS_TRY(hx_opencl_rows_of(build, out, &last));
  return hx_opencl_switch_lower_rescaled(build, &s, &add, &last);
}
