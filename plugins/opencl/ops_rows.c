// SPDX-License-Identifier: Apache-2.0
// Transforms, automorphisms, rows from seeds, signed words, sums, key products, and copies of whole rows.
#include "heliox/support/rowmap.h"
#include "ops.h"
#include "step.h"

#define EACH 4u  // elements of a work-item

// ------------------------------------------------------------------ transforms, automorphisms

// Operand and result in the domains given; equal ones are a copy.
static int32_t build_ntt(hxs_build *build, uint32_t from, uint32_t to) {
  const hxs_prepared *p = build->prepared;
  hx_opencl_rows_t from_rows, to_rows;
  HXS_TRY(hxs_accept_transform(build, from, to));
  HXS_TRY(hx_opencl_rows_of(build, &p->operands[0], &from_rows));
  HXS_TRY(hx_opencl_rows_of(build, &p->results[0], &to_rows));
  if (from == to) {
    return hx_opencl_step_pointwise(build, HX_OPENCL_DO_COPY, &to_rows, &from_rows, NULL, NULL, NULL, false);
  }
  return to == HX_NTT ? hx_opencl_steps_forward(build, &to_rows, &from_rows, NULL)
                      : hx_opencl_steps_backward(build, &to_rows, &from_rows, NULL, NULL);
}

int32_t hx_opencl_build_ntt_forward(hxs_build *build) { return build_ntt(build, HX_COEFFICIENT, HX_NTT); }
int32_t hx_opencl_build_ntt_inverse(hxs_build *build) { return build_ntt(build, HX_NTT, HX_COEFFICIENT); }

// From either domain.
static int32_t build_to(hxs_build *build, uint32_t to) {
  HXS_TRY(hxs_expect_counts(build, 1, 1, 1, 1));
  return build_ntt(build, build->prepared->operands[0].domain, to);
}

int32_t hx_opencl_build_to_ntt(hxs_build *build) { return build_to(build, HX_NTT); }
int32_t hx_opencl_build_from_ntt(hxs_build *build) { return build_to(build, HX_COEFFICIENT); }

int32_t hx_opencl_build_automorphism(hxs_build *build) {
  const hxs_prepared *p = build->prepared;
  uint32_t element = 0;
  hx_opencl_rows_t to, from;
  HXS_TRY(hxs_accept_automorphism(build, &element));
  HXS_TRY(hx_opencl_rows_of(build, &p->results[0], &to));
  HXS_TRY(hx_opencl_rows_of(build, &p->operands[0], &from));
  return hx_opencl_step_permute(build, p->results[0].domain, element, &to, &from);
}

// ------------------------------------------------------------------ rows that are no residues yet

// Rows of an operand with one limb, for each row of the result.
static int32_t repeat_limb(const hxs_build *build, const hxs_view *view, const hx_opencl_rows_t *to,
                           hx_opencl_rows_t *out) {
  const hxs_view *result = &build->prepared->results[0];
  HXS_TRY(hx_opencl_rows_begin(build, view, to->count, out));
  for (uint32_t i = 0; i < to->count; i++) {
    const uint32_t polynomial = i / result->limbs;
    out->offsets[i] = hx_opencl_row_offset(view, polynomial / result->components, polynomial % view->components, 0);
  }
  return HX_OK;
}

int32_t hx_opencl_build_expand_uniform(hxs_build *build) {
  const hxs_prepared *p = build->prepared;
  hx_opencl_args_t args = {0};
  hx_opencl_rows_t to, from;
  HXS_TRY(hxs_accept_expand(build, &args.y));
  HXS_TRY(hx_opencl_rows_of(build, &p->results[0], &to));
  HXS_TRY(repeat_limb(build, &p->operands[0], &to, &from));
  return hx_opencl_step_plain(build, HX_OPENCL_KERNEL_EXPAND, 512 / build->ring->word, &to, &from, &args);
}

int32_t hx_opencl_build_lift_signed(hxs_build *build) {
  const hxs_prepared *p = build->prepared;
  hx_opencl_rows_t to, from;
  HXS_TRY(hxs_accept_lift_words(build));
  HXS_TRY(hx_opencl_rows_of(build, &p->results[0], &to));
  HXS_TRY(repeat_limb(build, &p->operands[0], &to, &from));
  return hx_opencl_step_plain(build, HX_OPENCL_KERNEL_LIFT, EACH, &to, &from, &(hx_opencl_args_t){0});
}

// ------------------------------------------------------------------ sums

int32_t hx_opencl_build_sum(hxs_build *build) {
  const hxs_prepared *p = build->prepared;
  hxs_sum sum;
  hx_opencl_rows_t to, from;
  HXS_TRY(hxs_accept_sum(build, &sum));
  if (sum.count > UINT32_MAX) {
    return hxs_refuse(build, HX_UNSUPPORTED, "the axis has %llu items, opencl sums at most %u",
                      (unsigned long long)sum.count, UINT32_MAX);
  }
  HXS_TRY(hx_opencl_rows_of(build, &p->results[0], &to));
  HXS_TRY(hx_opencl_rows_of(build, &p->operands[0], &from));
  const hx_opencl_args_t args = {.count = (uint32_t)sum.count, .stride = sum.stride};
  return hx_opencl_step_plain(build, HX_OPENCL_KERNEL_SUM, EACH, &to, &from, &args);
}

// Sums of at most HX_OPENCL_DOT_MAX products a launch, the later ones added to what the first has left.
static int32_t add_group(const hxs_build *build, uint32_t terms, uint32_t group) {
  const hxs_prepared *p = build->prepared;
  const uint32_t log = hx_opencl_log_groups(build, EACH);
  hx_opencl_rows_t out, value, weight;
  HXS_TRY(hx_opencl_rows_of(build, &p->results[group], &out));
  for (uint32_t first = 0; first < terms; first += HX_OPENCL_DOT_MAX) {
    const uint32_t count = terms - first < HX_OPENCL_DOT_MAX ? terms - first : HX_OPENCL_DOT_MAX;
    hx_opencl_step_t *step = NULL;
    HXS_TRY(hx_opencl_step_add(build, HX_OPENCL_KERNEL_DOT, (uint64_t)out.count << log, &step));
    step->args.x = log;
    step->args.op = first > 0 ? 1 : 0;
    step->args.count = count;
    HXS_TRY(hx_opencl_step_rows(build, step, HX_OPENCL_OUT, &out));
    for (uint32_t k = 0; k < count; k++) {
      HXS_TRY(hx_opencl_rows_of(build, &p->operands[first + k], &value));
      HXS_TRY(hx_opencl_rows_of(build, &p->operands[terms * (group + 1) + first + k], &weight));
      HXS_TRY(hx_opencl_step_rows(build, step, 1 + k, &value));
      HXS_TRY(hx_opencl_step_rows(build, step, 1 + HX_OPENCL_DOT_MAX + k, &weight));
    }
    HXS_TRY(hx_opencl_step_primes(build, step, out.ids, out.count));
  }
  return HX_OK;
}

// Operands are `terms` values, then for each result `terms` weights.
int32_t hx_opencl_build_weighted_sum(hxs_build *build) {
  uint32_t terms = 0;
  HXS_TRY(hxs_accept_weighted_sum(build, &terms));
  for (uint32_t group = 0; group < build->prepared->result_count; group++) {
    HXS_TRY(add_group(build, terms, group));
  }
  return HX_OK;
}

// ------------------------------------------------------------------ key_product: (d * b_j, d * a_j), added to acc

// Rows of the key's digit for those of the result.
static int32_t key_rows(const hxs_build *build, const hxs_key_product *plan, hx_opencl_rows_t *out) {
  const hxs_view *result = &build->prepared->results[0], *key = &build->prepared->operands[1];
  HXS_TRY(hx_opencl_rows_begin(build, key, result->items * 2 * result->limbs, out));
  for (uint32_t i = 0; i < out->count; i++) {
    const uint32_t limb = i % result->limbs;
    out->offsets[i] = plan->digit_offset + hx_opencl_row_offset(key, 0, i / result->limbs % 2, plan->key_limbs[limb]);
    out->ids[i] = result->ids[limb];
  }
  return HX_OK;
}

int32_t hx_opencl_build_key_product(hxs_build *build) {
  const hxs_prepared *p = build->prepared;
  hxs_key_product plan;
  hx_opencl_rows_t to, d, key, acc;
  HXS_TRY(hxs_accept_key_product(build, &plan));
  HXS_TRY(key_rows(build, &plan, &key));
  HXS_TRY(hx_opencl_rows_of(build, &p->results[0], &to));
  HXS_TRY(hx_opencl_rows_of(build, &p->operands[0], &d));
  if (p->operand_count < 3) {
    return hx_opencl_step_pointwise(build, HX_OPENCL_DO_MUL, &to, &d, &key, NULL, NULL, false);
  }
  HXS_TRY(hx_opencl_rows_of(build, &p->operands[2], &acc));
  return hx_opencl_step_pointwise(build, HX_OPENCL_DO_MUL_ADD, &to, &d, &key, &acc, NULL, false);
}

// ------------------------------------------------------------------ copies of whole rows

// A copy for each operand of the rows that come from it.
static int32_t add_copies(hxs_build *build, int32_t (*make_map)(hxs_build *, hxs_source **)) {
  const hxs_prepared *p = build->prepared;
  const hxs_view *out = &p->results[0];
  hxs_source *map = NULL;
  HXS_TRY(make_map(build, &map));
  const uint32_t rows = out->components * out->limbs;
  for (uint32_t operand = 0; operand < p->operand_count; operand++) {
    hx_opencl_rows_t to, from;
    HXS_TRY(hx_opencl_rows_begin(build, out, out->items * rows, &to));
    HXS_TRY(hx_opencl_rows_begin(build, &p->operands[operand], out->items * rows, &from));
    uint32_t at = 0;
    for (uint64_t i = 0; i < out->items * rows; i++) {
      const uint64_t item = i / rows;
      const uint32_t row = (uint32_t)(i % rows), limb = row % out->limbs;
      if (map[row].operand == operand) {
        to.offsets[at] = hx_opencl_row_offset(out, item, row / out->limbs, limb);
        to.ids[at] = out->ids[limb];
        from.offsets[at++] = hx_opencl_row_offset(&p->operands[operand], item, map[row].component, map[row].limb);
      }
    }
    to.count = from.count = at;
    HXS_TRY(hx_opencl_step_pointwise(build, HX_OPENCL_DO_COPY, &to, &from, NULL, NULL, NULL, false));
  }
  return HX_OK;
}

int32_t hx_opencl_build_select_limbs(hxs_build *build) { return add_copies(build, hxs_rowmap_select_limbs); }
int32_t hx_opencl_build_concat_limbs(hxs_build *build) { return add_copies(build, hxs_rowmap_concat_limbs); }
int32_t hx_opencl_build_select_components(hxs_build *build) { return add_copies(build, hxs_rowmap_select_components); }
int32_t hx_opencl_build_pack_components(hxs_build *build) { return add_copies(build, hxs_rowmap_pack_components); }
