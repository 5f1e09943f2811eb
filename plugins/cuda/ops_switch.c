// SPDX-License-Identifier: Apache-2.0
// ckks.relinearize, key_switch, rotate, conjugate and rescale, whole, in ntt domain.
#include "base.h"
#include "heliox/support/switched.h"
#include "switch.h"

// Rows of one component, items outermost.
static int32_t component_rows(hxs_build *build, const hxs_view *view, uint32_t component, hx_cuda_rows_t *out) {
  HXS_TRY(hx_cuda_rows_begin(build, view, (uint32_t)(view->items * view->limbs), out));
  for (uint32_t i = 0; i < out->count; i++) {
    out->offsets[i] = hx_cuda_row_offset(view, i / view->limbs, component, i % view->limbs);
    out->ids[i] = view->ids[i % view->limbs];
  }
  return HX_OK;
}

// Switches component `switched` of operand 0 and adds the first `added` components.
static int32_t add_switch(hxs_build *build, uint32_t switched, uint32_t added, uint32_t element) {
  const hxs_prepared *p = build->prepared;
  const hxs_view *a = &p->operands[0], *out = &p->results[0];
  hx_cuda_switch_t s;
  HXS_TRY(hx_cuda_switch_begin(build, out->items, out->limbs, &s));
  HXS_TRY(hx_cuda_switch_key(build, &s, 1));
  s.element = element;
  HXS_TRY(component_rows(build, a, switched, &s.x));
  hx_cuda_rows_t *add = &s.add.rows[0];
  s.add.count = 1;
  HXS_TRY(hx_cuda_rows_begin(build, a, (uint32_t)(out->items * 2 * out->limbs), add));
  for (uint32_t i = 0; i < add->count; i++) {
    const uint32_t component = i / out->limbs % 2;
    add->offsets[i] =
        component >= added ? HX_CUDA_NO_ROW : hx_cuda_row_offset(a, i / out->limbs / 2, component, i % out->limbs);
    add->ids[i] = out->ids[i % out->limbs];
  }
  HXS_TRY(hx_cuda_rows_of(build, out, &s.out));
  return hx_cuda_switch_steps(build, &s);
}

int32_t hx_cuda_build_relinearize(hxs_build *build) {
  HXS_TRY(hxs_expect_counts(build, 2, 2, 1, 1));
  HXS_TRY(hxs_accept_switched(build, 1, 3, 1));
  return add_switch(build, 2, 2, 1);
}

int32_t hx_cuda_build_key_switch(hxs_build *build) {
  HXS_TRY(hxs_expect_counts(build, 2, 2, 1, 1));
  HXS_TRY(hxs_accept_switched(build, 1, 2, 1));
  return add_switch(build, 1, 1, 1);
}

int32_t hx_cuda_build_conjugate(hxs_build *build) {
  HXS_TRY(hxs_expect_counts(build, 2, 2, 1, 1));
  HXS_TRY(hxs_accept_switched(build, 1, 2, 1));
  return add_switch(build, 1, 1, (2u << build->prepared->log_n) - 1);
}

int32_t hx_cuda_build_rotate(hxs_build *build) {
  int64_t step = 0;
  HXS_TRY(hxs_attr_i64(build, "step", INT64_MIN, INT64_MAX, &step));
  const uint32_t n = (uint32_t)build->prepared->n, slots = n / 2;
  const uint32_t left = (uint32_t)((uint64_t)step & (slots - 1));
  const uint32_t operands = left == 0 ? 1 : 2;
  HXS_TRY(hxs_expect_counts(build, operands, operands, 1, 1));
  HXS_TRY(hxs_accept_switched(build, 1, 2, 1));
  if (left == 0) {
    return hx_cuda_step_components(build, HX_CUDA_DO_COPY, false, NULL, false);
  }
  return add_switch(build, 1, 1, hxs_rotation_element(build->ring->log_n, step));
}

// The last depth group: rns.rescale of as many rows, nearest.
int32_t hx_cuda_build_ckks_rescale(hxs_build *build) {
  uint32_t rows = 0;
  hxs_base *base = NULL;
  HXS_TRY(hxs_expect_counts(build, 1, 1, 1, 1));
  HXS_TRY(hxs_expect_residues(build, &build->prepared->operands[0]));
  HXS_TRY(hxs_expect_residues(build, &build->prepared->results[0]));
  HXS_TRY(hxs_accept_last_group(build, &build->prepared->operands[0], &rows));
  HXS_TRY(hxs_base_rescale_rows(build, rows, true, &base));
  return hx_cuda_base_steps(build, base);
}

// Rows [component][items][limbs] of the product in scratch memory, or of operand 0 where there is no product.
static int32_t three_rows(hxs_build *build, const hxs_view *shape, hx_cuda_rows_t *out) {
  const hxs_prepared *p = build->prepared;
  hx_cuda_rows_t a, b;
  HXS_TRY(hx_cuda_rows_by_component(build, &p->operands[0], &a));
  if (p->operand_count == 2) {
    *out = a;
    return HX_OK;
  }
  HXS_TRY(hx_cuda_rows_by_component(build, &p->operands[1], &b));
  HXS_TRY(hx_cuda_rows_scratch(build, (uint32_t)(3 * shape->items * shape->limbs), out));
  for (uint32_t i = 0; i < out->count; i++) {
    out->ids[i] = shape->ids[i % shape->limbs];
  }
  return hx_cuda_step_tensor(build, out, &a, &b);
}

// Components of x and of what is added: rows of `three`.
static int32_t use_three(hxs_build *build, const hx_cuda_rows_t *three, uint32_t rows, uint32_t limbs,
                         hx_cuda_switch_t *s) {
  uint32_t *third = NULL, *first = NULL;
  HXS_TRY(hxs_keep_or_fail(build, rows, sizeof *third, &third));
  HXS_TRY(hxs_keep_or_fail(build, 2 * (size_t)rows, sizeof *first, &first));
  for (uint32_t i = 0; i < rows; i++) {
    third[i] = 2 * rows + i;
  }
  for (uint32_t i = 0; i < 2 * rows; i++) {  // [items][2][limbs] from [2][items][limbs]
    first[i] = i / limbs % 2 * rows + i / limbs / 2 * limbs + i % limbs;
  }
  s->add.count = 1;
  HXS_TRY(hx_cuda_rows_pick(build, three, rows, third, &s->x));
  return hx_cuda_rows_pick(build, three, 2 * rows, first, &s->add.rows[0]);
}

// The product's components are never whole in memory: x is made by the kernel that transforms it first, a1 b1; the
// others are added by the last one, a0 b0 and a0 b1 + a1 b0.
static int32_t use_factors(hxs_build *build, uint32_t rows, uint32_t limbs, hx_cuda_switch_t *s) {
  const hxs_prepared *p = build->prepared;
  static const uint32_t components[4][2] = {{0, 0}, {0, 1}, {1, 1}, {1, 0}};  // of a, b, a, b for results 0 and 1
  hx_cuda_rows_t factors[2];
  uint32_t *second = NULL, *indices = NULL;
  HXS_TRY(hxs_keep_or_fail(build, rows, sizeof *second, &second));
  HXS_TRY(hxs_keep_or_fail(build, 2 * (size_t)rows, sizeof *indices, &indices));
  HXS_TRY(hx_cuda_rows_scratch(build, rows, &s->x));
  for (uint32_t i = 0; i < rows; i++) {
    second[i] = rows + i;
    s->x.ids[i] = s->ids[i % limbs];
  }
  for (uint32_t f = 0; f < 2; f++) {
    HXS_TRY(hx_cuda_rows_by_component(build, &p->operands[f], &factors[f]));
    HXS_TRY(hx_cuda_rows_pick(build, &factors[f], rows, second, &s->x_of[f]));
  }
  s->add.count = 4;
  for (uint32_t m = 0; m < 4; m++) {
    for (uint32_t i = 0; i < 2 * rows; i++) {
      indices[i] = components[m][i / limbs % 2] * rows + i / limbs / 2 * limbs + i % limbs;
    }
    HXS_TRY(hx_cuda_rows_pick(build, &factors[m % 2], 2 * rows, indices, &s->add.rows[m]));
    for (uint32_t i = 0; i < 2 * rows && m >= 2; i++) {
      if (i / limbs % 2 == 0) {
        s->add.rows[m].offsets[i] = HX_CUDA_NO_ROW;
      }
    }
  }
  return HX_OK;
}

int32_t hx_cuda_build_fused(hxs_build *build) {
  const hxs_prepared *p = build->prepared;
  HXS_TRY(hxs_accept_fused(build));
  const hxs_view *a = &p->operands[0], *out = &p->results[0];
  const uint32_t rows = (uint32_t)(out->items * a->limbs);
  hx_cuda_switch_t s;
  hx_cuda_rows_t three;
  HXS_TRY(hx_cuda_switch_begin(build, out->items, a->limbs, &s));
  HXS_TRY(hx_cuda_switch_key(build, &s, p->operand_count - 1));
  s.rescaled = true;
  if (p->operand_count == 3 && hx_cuda_takes_real(build, s.ids, s.extended)) {
    HXS_TRY(use_factors(build, rows, a->limbs, &s));
  } else {
    HXS_TRY(three_rows(build, a, &three));
    HXS_TRY(use_three(build, &three, rows, a->limbs, &s));
  }
  HXS_TRY(hx_cuda_rows_of(build, out, &s.out));
  return hx_cuda_switch_steps(build, &s);
}
