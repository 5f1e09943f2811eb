// SPDX-License-Identifier: Apache-2.0
// Transforms, automorphisms, rows from seeds, signed words, sums, key products, and copies of whole rows.
#include "heliox/support/rowmap.h"
#include "ops.h"
#include "step.h"

#define EACH 4u  // elements of a work-item

// ------------------------------------------------------------------ transforms, automorphisms

static int32_t build_ntt(hxs_build *build, uint32_t from, uint32_t to) {
  hxs_prepared *p = build->prepared;
  HXS_TRY(hxs_expect_counts(build, 1, 1, 1, 1));
  hxs_view *a = &p->operands[0];
  const hxs_view *out = &p->results[0];
  HXS_TRY(hxs_expect_residues(build, a));
  HXS_TRY(hxs_expect_residues(build, out));
  HXS_TRY(hxs_expect_domain(build, a, from));
  HXS_TRY(hxs_expect_domain(build, out, to));
  HXS_TRY(hxs_expect_repr(build, out, HX_STANDARD));
  a->domain = to;
  HXS_TRY(hxs_expect_like(build, a, out));
  hxs_allow_alias(build, 0, 0);
  hx_opencl_rows_t from_rows, to_rows;
  HXS_TRY(hx_opencl_rows_of(build, a, &from_rows));
  HXS_TRY(hx_opencl_rows_of(build, out, &to_rows));
  return to == HX_NTT ? hx_opencl_steps_forward(build, &to_rows, &from_rows, NULL)
                      : hx_opencl_steps_backward(build, &to_rows, &from_rows, NULL, NULL);
}

int32_t hx_opencl_build_ntt_forward(hxs_build *build) { return build_ntt(build, HX_COEFFICIENT, HX_NTT); }
int32_t hx_opencl_build_ntt_inverse(hxs_build *build) { return build_ntt(build, HX_NTT, HX_COEFFICIENT); }

// From either domain.
static int32_t build_to(hxs_build *build, uint32_t to) {
  const hxs_prepared *p = build->prepared;
  HXS_TRY(hxs_expect_counts(build, 1, 1, 1, 1));
  if (p->operands[0].domain != to) {
    return build_ntt(build, p->operands[0].domain, to);
  }
  hx_opencl_rows_t from_rows, to_rows;
  HXS_TRY(hxs_expect_residues(build, &p->results[0]));
  HXS_TRY(hxs_expect_domain(build, &p->results[0], to));
  HXS_TRY(hxs_expect_repr(build, &p->results[0], HX_STANDARD));
  HXS_TRY(hxs_expect_like(build, &p->operands[0], &p->results[0]));
  hxs_allow_alias(build, 0, 0);
  HXS_TRY(hx_opencl_rows_of(build, &p->operands[0], &from_rows));
  HXS_TRY(hx_opencl_rows_of(build, &p->results[0], &to_rows));
  return hx_opencl_step_pointwise(build, HX_OPENCL_DO_COPY, &to_rows, &from_rows, NULL, NULL, NULL, false);
}

int32_t hx_opencl_build_to_ntt(hxs_build *build) { return build_to(build, HX_NTT); }
int32_t hx_opencl_build_from_ntt(hxs_build *build) { return build_to(build, HX_COEFFICIENT); }

int32_t hx_opencl_build_automorphism(hxs_build *build) {
  hxs_prepared *p = build->prepared;
  int64_t element = 0;
  HXS_TRY(hxs_expect_counts(build, 1, 1, 1, 1));
  const hxs_view *out = &p->results[0];
  HXS_TRY(hxs_expect_residues(build, out));
  HXS_TRY(hxs_expect_repr(build, out, HX_STANDARD));
  HXS_TRY(hxs_expect_like(build, &p->operands[0], out));
  HXS_TRY(hxs_attr_i64(build, "element", 1, ((int64_t)2 << p->log_n) - 1, &element));
  if (element % 2 == 0) {
    return hxs_refuse(build, HX_INVALID, "attribute element is %lld, must be odd", (long long)element);
  }
  hx_opencl_rows_t to, from;
  HXS_TRY(hx_opencl_rows_of(build, out, &to));
  HXS_TRY(hx_opencl_rows_of(build, &p->operands[0], &from));
  return hx_opencl_step_permute(build, out->domain, (uint32_t)element, &to, &from);
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
  hxs_prepared *p = build->prepared;
  int64_t index = 0;
  HXS_TRY(hxs_expect_counts(build, 1, 1, 1, 1));
  hxs_view *seed = &p->operands[0];
  const hxs_view *out = &p->results[0];
  if (seed->dtype != HX_U8 || seed->log_n != 5 || seed->limbs != 1 || seed->components != 1 || seed->digits != 0) {
    return hxs_refuse(
        build, HX_INVALID,
        "operand 0 has dtype %u, log_n %u, %u limbs and %u components; a seed is 32 bytes: dtype %d, log_n 5, 1 and 1",
        seed->dtype, seed->log_n, seed->limbs, seed->components, HX_U8);
  }
  HXS_TRY(hxs_expect_residues(build, out));
  HXS_TRY(hxs_expect_components(build, out, 1));
  HXS_TRY(hxs_expect_repr(build, out, HX_STANDARD));
  HXS_TRY(hxs_expect_batch(build, seed, out));
  HXS_TRY(hxs_attr_i64(build, "index", 0, UINT32_MAX, &index));
  HXS_TRY(hxs_expect_listed(build));
  hx_opencl_rows_t to, from;
  HXS_TRY(hx_opencl_rows_of(build, out, &to));
  HXS_TRY(repeat_limb(build, seed, &to, &from));
  const hx_opencl_args_t args = {.y = (uint32_t)index};
  return hx_opencl_step_plain(build, HX_OPENCL_KERNEL_EXPAND, 512 / build->ring->word, &to, &from, &args);
}

int32_t hx_opencl_build_lift_signed(hxs_build *build) {
  hxs_prepared *p = build->prepared;
  hxs_view *a = &p->operands[0];
  const hxs_view *out = &p->results[0];
  if (a->log_n != p->log_n || a->limbs != 1 || a->digits != 0) {
    return hxs_refuse(build, HX_INVALID,
                      "operand 0 has log_n %u and %u limbs of signed words, must have log_n %u and 1", a->log_n,
                      a->limbs, p->log_n);
  }
  HXS_TRY(hxs_expect_residues(build, out));
  HXS_TRY(hxs_expect_repr(build, out, HX_STANDARD));
  HXS_TRY(hxs_expect_batch(build, a, out));
  HXS_TRY(hxs_expect_components(build, a, out->components));
  hx_opencl_rows_t to, from;
  HXS_TRY(hx_opencl_rows_of(build, out, &to));
  HXS_TRY(repeat_limb(build, a, &to, &from));
  return hx_opencl_step_plain(build, HX_OPENCL_KERNEL_LIFT, EACH, &to, &from, &(hx_opencl_args_t){0});
}

// ------------------------------------------------------------------ sums

int32_t hx_opencl_build_sum(hxs_build *build) {
  hxs_prepared *p = build->prepared;
  int64_t axis = 0;
  HXS_TRY(hxs_expect_counts(build, 1, 1, 1, 1));
  hxs_view *a = &p->operands[0];
  const hxs_view *out = &p->results[0];
  if (a->batch_rank == 0) {
    return hxs_refuse(build, HX_INVALID, "operand 0 has no batch axis to sum over");
  }
  HXS_TRY(hxs_attr_i64(build, "axis", 0, (int64_t)a->batch_rank - 1, &axis));
  HXS_TRY(hxs_expect_residues(build, out));
  HXS_TRY(hxs_expect_repr(build, out, HX_STANDARD));
  const uint64_t count = a->batch_shape[axis], stride = a->batch_strides[axis];
  if (count > UINT32_MAX) {
    return hxs_refuse(build, HX_UNSUPPORTED, "the axis has %llu items, opencl sums at most %u",
                      (unsigned long long)count, UINT32_MAX);
  }
  // Without the axis the operand has the result's shape.
  a->items /= count;
  a->batch_rank--;
  for (uint32_t i = (uint32_t)axis; i < a->batch_rank; i++) {
    a->batch_shape[i] = a->batch_shape[i + 1];
    a->batch_strides[i] = a->batch_strides[i + 1];
  }
  if (a->batch_rank != out->batch_rank) {
    return hxs_refuse(build, HX_INVALID, "result 0 has %u batch axes, must have %u", out->batch_rank, a->batch_rank);
  }
  HXS_TRY(hxs_expect_like(build, a, out));
  hx_opencl_rows_t to, from;
  HXS_TRY(hx_opencl_rows_of(build, out, &to));
  HXS_TRY(hx_opencl_rows_of(build, a, &from));
  const hx_opencl_args_t args = {.count = (uint32_t)count, .stride = stride};
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
  hxs_prepared *p = build->prepared;
  int64_t groups = 0;
  HXS_TRY(hxs_attr_i64(build, "groups", 1, (int64_t)p->operand_count, &groups));
  const uint32_t results = (uint32_t)groups;
  HXS_TRY(hxs_expect_counts(build, 2, UINT32_MAX, results, results));
  if (p->operand_count % (results + 1) != 0) {
    return hxs_refuse(build, HX_INVALID, "%u operands are no T values with %u times T weights", p->operand_count,
                      results);
  }
  const uint32_t terms = p->operand_count / (results + 1);
  const hxs_view *shape = &p->results[0];
  HXS_TRY(hxs_expect_residues(build, shape));
  HXS_TRY(hxs_expect_repr(build, shape, HX_STANDARD));
  for (uint32_t i = 0; i < p->operand_count; i++) {
    HXS_TRY(i < terms ? hxs_expect_like(build, &p->operands[i], shape)
                      : hxs_expect_factor(build, &p->operands[i], shape));
  }
  for (uint32_t i = 1; i < results; i++) {
    HXS_TRY(hxs_expect_like(build, &p->results[i], shape));
  }
  for (uint32_t group = 0; group < results; group++) {
    HXS_TRY(add_group(build, terms, group));
  }
  return HX_OK;
}

// ------------------------------------------------------------------ key_product: (d * b_j, d * a_j), added to acc

// Rows of the key's digit for those of the result. A key has two components in ntt domain, standard, no batch, with the
// digit and a row for each of d's primes.
static int32_t key_rows(const hxs_build *build, const hxs_view *key, uint32_t digit, hx_opencl_rows_t *out) {
  const hxs_view *result = &build->prepared->results[0];
  if (!hxs_view_is_residue(key) || key->batch_rank != 0) {
    return hxs_refuse(build, HX_INVALID, "operand 1 has dtype %u and %u batch axes; a key has residues and no batch",
                      key->dtype, key->batch_rank);
  }
  HXS_TRY(hxs_expect_components(build, key, 2));
  HXS_TRY(hxs_expect_repr(build, key, HX_STANDARD));
  if (digit >= key->digits) {
    return hxs_refuse(build, HX_INVALID, "digit %u is asked for, the key has %u digits", digit, key->digits);
  }
  HXS_TRY(hx_opencl_rows_begin(build, key, result->items * 2 * result->limbs, out));
  for (uint32_t i = 0; i < out->count; i++) {
    const uint32_t id = result->ids[i % result->limbs], limb = hxs_view_limb_of(key, id);
    if (limb == HX_NONE) {
      return hxs_refuse(build, HX_INVALID, "operand 1 is a key without a row of prime %u, which operand 0 has", id);
    }
    out->offsets[i] = digit * key->digit_stride + hx_opencl_row_offset(key, 0, i / result->limbs % 2, limb);
    out->ids[i] = id;
  }
  return HX_OK;
}

int32_t hx_opencl_build_key_product(hxs_build *build) {
  hxs_prepared *p = build->prepared;
  int64_t digit = 0;
  HXS_TRY(hxs_expect_counts(build, 2, 3, 1, 1));
  HXS_TRY(hxs_attr_i64(build, "digit", 0, HXS_PRIMES_MAX - 1, &digit));
  const hxs_view *out = &p->results[0];
  HXS_TRY(hxs_expect_residues(build, out));
  HXS_TRY(hxs_expect_components(build, out, 2));
  HXS_TRY(hxs_expect_repr(build, out, HX_STANDARD));
  HXS_TRY(hxs_expect_factor(build, &p->operands[0], out));
  hx_opencl_rows_t to, d, key, acc;
  HXS_TRY(key_rows(build, &p->operands[1], (uint32_t)digit, &key));
  HXS_TRY(hx_opencl_rows_of(build, out, &to));
  HXS_TRY(hx_opencl_rows_of(build, &p->operands[0], &d));
  if (p->operand_count < 3) {
    return hx_opencl_step_pointwise(build, HX_OPENCL_DO_MUL, &to, &d, &key, NULL, NULL, false);
  }
  HXS_TRY(hxs_expect_like(build, &p->operands[2], out));
  hxs_allow_alias(build, 0, 2);
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
