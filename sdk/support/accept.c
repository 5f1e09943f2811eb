// SPDX-License-Identifier: Apache-2.0
#include "heliox/support/accept.h"

int32_t hxs_accept_transform(const hxs_build *build, uint32_t from, uint32_t to) {
  HXS_TRY(hxs_expect_counts(build, 1, 1, 1, 1));
  hxs_view *a = &build->prepared->operands[0], *out = &build->prepared->results[0];
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
  return HX_OK;
}

int32_t hxs_accept_linear(const hxs_build *build, uint32_t operands, bool plain) {
  hxs_prepared *p = build->prepared;
  HXS_TRY(hxs_expect_counts(build, operands, operands, 1, 1));
  hxs_view *out = &p->results[0];
  HXS_TRY(hxs_expect_residues(build, out));
  if (plain) {
    HXS_TRY(hxs_expect_repr(build, out, HX_STANDARD));
    HXS_TRY(hxs_expect_factor(build, &p->operands[1], out));
  } else if (operands == 2) {
    HXS_TRY(hxs_expect_like(build, &p->operands[1], out));
  }
  HXS_TRY(hxs_expect_like(build, &p->operands[0], out));
  hxs_allow_alias(build, 0, 0);
  return HX_OK;
}

int32_t hxs_accept_reduce(const hxs_build *build) {
  HXS_TRY(hxs_expect_counts(build, 1, 1, 1, 1));
  HXS_TRY(hxs_expect_residues(build, &build->prepared->results[0]));
  HXS_TRY(hxs_expect_repr(build, &build->prepared->results[0], HX_STANDARD));
  build->prepared->operands[0].repr = HX_STANDARD;  // any words, whatever they are called
  return hxs_accept_linear(build, 1, false);
}

int32_t hxs_accept_product(const hxs_build *build, uint32_t operands, uint32_t repr, bool plain) {
  hxs_prepared *p = build->prepared;
  HXS_TRY(hxs_expect_counts(build, operands, operands, 1, 1));
  hxs_view *out = &p->results[0];
  HXS_TRY(hxs_expect_residues(build, out));
  HXS_TRY(hxs_expect_repr(build, out, repr));
  for (uint32_t i = 0; i < operands; i++) {
    HXS_TRY(plain && i == 1 ? hxs_expect_factor(build, &p->operands[i], out)
                            : hxs_expect_like(build, &p->operands[i], out));
  }
  hxs_allow_alias(build, 0, 0);
  return HX_OK;
}

int32_t hxs_accept_tensor(const hxs_build *build, uint32_t operands) {
  hxs_prepared *p = build->prepared;
  HXS_TRY(hxs_expect_counts(build, operands, operands, 1, 1));
  hxs_view *out = &p->results[0];
  HXS_TRY(hxs_expect_residues(build, out));
  HXS_TRY(hxs_expect_repr(build, out, HX_STANDARD));
  HXS_TRY(hxs_expect_components(build, out, 3));
  hxs_view shape = *out;
  shape.components = 2;
  for (uint32_t i = 0; i < operands; i++) {
    HXS_TRY(hxs_expect_like(build, &p->operands[i], &shape));
  }
  return HX_OK;
}

int32_t hxs_accept_automorphism(const hxs_build *build, uint32_t *out_element) {
  hxs_prepared *p = build->prepared;
  int64_t element = 0;
  HXS_TRY(hxs_expect_counts(build, 1, 1, 1, 1));
  hxs_view *out = &p->results[0];
  HXS_TRY(hxs_expect_residues(build, out));
  HXS_TRY(hxs_expect_repr(build, out, HX_STANDARD));
  HXS_TRY(hxs_expect_like(build, &p->operands[0], out));
  HXS_TRY(hxs_attr_i64(build, "element", 1, ((int64_t)2 << p->log_n) - 1, &element));
  if (element % 2 == 0) {
    return hxs_refuse(build, HX_INVALID, "attribute element is %lld, must be odd", (long long)element);
  }
  *out_element = (uint32_t)element;
  return HX_OK;
}

int32_t hxs_accept_expand(const hxs_build *build, uint32_t *out_index) {
  int64_t index = 0;
  HXS_TRY(hxs_expect_counts(build, 1, 1, 1, 1));
  hxs_view *seed = &build->prepared->operands[0], *out = &build->prepared->results[0];
  HXS_TRY(hxs_expect_seed(build, seed));
  HXS_TRY(hxs_expect_residues(build, out));
  HXS_TRY(hxs_expect_components(build, out, 1));
  HXS_TRY(hxs_expect_repr(build, out, HX_STANDARD));
  HXS_TRY(hxs_expect_batch(build, seed, out));
  HXS_TRY(hxs_attr_i64(build, "index", 0, UINT32_MAX, &index));
  *out_index = (uint32_t)index;
  return hxs_expect_listed(build);
}

int32_t hxs_accept_lift_words(const hxs_build *build) {
  const hxs_prepared *p = build->prepared;
  HXS_TRY(hxs_expect_counts(build, 1, 1, 1, 1));
  hxs_view *a = &p->operands[0], *out = &p->results[0];
  if (a->dtype != HX_I64 || a->log_n != p->log_n || a->limbs != 1 || a->digits != 0) {
    return hxs_refuse(build, HX_INVALID,
                      "operand 0 has dtype %u, log_n %u and %u limbs; signed words have dtype %d, log_n %u and 1",
                      a->dtype, a->log_n, a->limbs, HX_I64, p->log_n);
  }
  HXS_TRY(hxs_expect_residues(build, out));
  HXS_TRY(hxs_expect_listed(build));
  HXS_TRY(hxs_expect_repr(build, out, HX_STANDARD));
  HXS_TRY(hxs_expect_batch(build, a, out));
  return hxs_expect_components(build, a, out->components);
}

// ---- constants

// Operand and result alike but for their representation.
static int32_t accept_constants(const hxs_build *build, uint32_t parts, uint32_t from, uint32_t to,
                                hxs_constants *out) {
  HXS_TRY(hxs_expect_counts(build, 1, 1, 1, 1));
  hxs_view *a = &build->prepared->operands[0], *result = &build->prepared->results[0];
  HXS_TRY(hxs_expect_residues(build, result));
  HXS_TRY(hxs_expect_residues(build, a));
  HXS_TRY(hxs_expect_repr(build, a, from));
  HXS_TRY(hxs_expect_repr(build, result, to));
  a->repr = to;
  HXS_TRY(hxs_expect_like(build, a, result));
  hxs_allow_alias(build, 0, 0);
  out->parts = parts;
  return hxs_keep_or_fail(build, (size_t)result->limbs * parts, sizeof *out->residues, &out->residues);
}

static const hxs_modulus *row_modulus(const hxs_build *build, uint32_t limb) {
  return &build->ring->moduli[build->prepared->results[0].ids[limb]];
}

int32_t hxs_accept_scalar(const hxs_build *build, uint32_t parts, hxs_constants *out) {
  const hxs_view *result = &build->prepared->results[0];
  const uint64_t *residues = NULL;
  HXS_TRY(accept_constants(build, parts, HX_STANDARD, HX_STANDARD, out));
  HXS_TRY(hxs_attr_residues(build, parts, result, &residues));
  for (uint32_t i = 0; i < result->limbs * parts; i++) {
    out->residues[i] = residues[i];
  }
  return HX_OK;
}

int32_t hxs_accept_integer(const hxs_build *build, hxs_constants *out) {
  int64_t integer = 0;
  HXS_TRY(accept_constants(build, 1, HX_STANDARD, HX_STANDARD, out));
  HXS_TRY(hxs_attr_i64(build, "integer", INT64_MIN, INT64_MAX, &integer));
  const uint64_t size = integer < 0 ? 0 - (uint64_t)integer : (uint64_t)integer;
  for (uint32_t limb = 0; limb < build->prepared->results[0].limbs; limb++) {
    const hxs_modulus *m = row_modulus(build, limb);
    out->residues[limb] = integer < 0 ? hxs_neg_mod(m, size % m->q) : size % m->q;
  }
  return HX_OK;
}

int32_t hxs_accept_montgomery(const hxs_build *build, bool into, hxs_constants *out) {
  HXS_TRY(accept_constants(build, 1, into ? HX_STANDARD : HX_MONTGOMERY, into ? HX_MONTGOMERY : HX_STANDARD, out));
  for (uint32_t limb = 0; limb < build->prepared->results[0].limbs; limb++) {
    const hxs_modulus *m = row_modulus(build, limb);
    out->residues[limb] = into ? m->radix : hxs_inverse_mod(m, m->radix);
  }
  return HX_OK;
}

// ---- sums

int32_t hxs_accept_sum(const hxs_build *build, hxs_sum *out) {
  int64_t axis = 0;
  HXS_TRY(hxs_expect_counts(build, 1, 1, 1, 1));
  hxs_view *a = &build->prepared->operands[0], *result = &build->prepared->results[0];
  if (a->batch_rank == 0) {
    return hxs_refuse(build, HX_INVALID, "operand 0 has no batch axis to sum over");
  }
  HXS_TRY(hxs_attr_i64(build, "axis", 0, (int64_t)a->batch_rank - 1, &axis));
  HXS_TRY(hxs_expect_residues(build, result));
  HXS_TRY(hxs_expect_repr(build, result, HX_STANDARD));
  out->count = a->batch_shape[axis];
  out->stride = a->batch_strides[axis];
  // Without the axis the operand has the result's shape.
  a->items /= out->count;
  a->batch_rank--;
  for (uint32_t i = (uint32_t)axis; i < a->batch_rank; i++) {
    a->batch_shape[i] = a->batch_shape[i + 1];
    a->batch_strides[i] = a->batch_strides[i + 1];
  }
  if (a->batch_rank != result->batch_rank) {
    return hxs_refuse(build, HX_INVALID, "result 0 has %u batch axes, must have %u", result->batch_rank, a->batch_rank);
  }
  return hxs_expect_like(build, a, result);
}

int32_t hxs_accept_weighted_sum(const hxs_build *build, uint32_t *out_terms) {
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
  hxs_view *shape = &p->results[0];
  HXS_TRY(hxs_expect_residues(build, shape));
  HXS_TRY(hxs_expect_repr(build, shape, HX_STANDARD));
  for (uint32_t i = 0; i < p->operand_count; i++) {
    HXS_TRY(i < terms ? hxs_expect_like(build, &p->operands[i], shape)
                      : hxs_expect_factor(build, &p->operands[i], shape));
  }
  for (uint32_t i = 1; i < results; i++) {
    HXS_TRY(hxs_expect_like(build, &p->results[i], shape));
  }
  *out_terms = terms;
  return HX_OK;
}

// ---- keys

int32_t hxs_accept_key(const hxs_build *build, uint32_t operand, uint32_t digits, uint32_t count, const uint32_t *ids,
                       uint32_t **out_limbs) {
  const hxs_view *key = &build->prepared->operands[operand];
  uint32_t *limbs = NULL;
  if (!hxs_view_is_residue(key) || key->batch_rank != 0) {
    return hxs_refuse(build, HX_INVALID, "operand %u has dtype %u and %u batch axes; a key has residues and no batch",
                      operand, key->dtype, key->batch_rank);
  }
  HXS_TRY(hxs_expect_components(build, key, 2));
  HXS_TRY(hxs_expect_repr(build, key, HX_STANDARD));
  HXS_TRY(hxs_expect_domain(build, key, HX_NTT));
  if (key->digits < digits) {
    return hxs_refuse(build, HX_INVALID, "operand %u has %u digits, at least %u are needed", operand, key->digits,
                      digits);
  }
  HXS_TRY(hxs_keep_or_fail(build, count, sizeof *limbs, &limbs));
  for (uint32_t i = 0; i < count; i++) {
    limbs[i] = hxs_view_limb_of(key, ids[i]);
    if (limbs[i] == HX_NONE) {
      return hxs_refuse(build, HX_INVALID, "operand %u is a key without a row of prime %u", operand, ids[i]);
    }
  }
  *out_limbs = limbs;
  return HX_OK;
}

int32_t hxs_accept_key_product(const hxs_build *build, hxs_key_product *out) {
  hxs_prepared *p = build->prepared;
  int64_t digit = 0;
  HXS_TRY(hxs_expect_counts(build, 2, 3, 1, 1));
  HXS_TRY(hxs_attr_i64(build, "digit", 0, HXS_PRIMES_MAX - 1, &digit));
  hxs_view *result = &p->results[0];
  HXS_TRY(hxs_expect_residues(build, result));
  HXS_TRY(hxs_expect_components(build, result, 2));
  HXS_TRY(hxs_expect_repr(build, result, HX_STANDARD));
  HXS_TRY(hxs_expect_factor(build, &p->operands[0], result));
  HXS_TRY(hxs_accept_key(build, 1, (uint32_t)digit + 1, result->limbs, result->ids, &out->key_limbs));
  out->digit_offset = (uint64_t)digit * p->operands[1].digit_stride;
  if (p->operand_count == 3) {
    HXS_TRY(hxs_expect_like(build, &p->operands[2], result));
    hxs_allow_alias(build, 0, 2);
  }
  return HX_OK;
}

// ---- whole operations

int32_t hxs_accept_output(const hxs_build *build, const hxs_view *out) {
  const hx_attr *attr = hxs_attr_find(build, "output_domain");
  const bool coefficient = attr != NULL && hxs_attr_is_text(attr, "coefficient");
  if (attr != NULL && !coefficient && !hxs_attr_is_text(attr, "ntt")) {
    return hxs_refuse(build, HX_INVALID, "attribute output_domain must be the text ntt or coefficient");
  }
  return hxs_expect_domain(build, out, coefficient ? HX_COEFFICIENT : HX_NTT);
}

int32_t hxs_accept_last_group(const hxs_build *build, const hxs_view *view, uint32_t *out_count) {
  const hxs_ring *ring = build->ring;
  uint32_t group = 0, end = ring->group_sizes[0];  // ids below end belong to the groups up to `group`
  HXS_TRY(hxs_expect_leading(build, view));
  while (end < view->limbs && group + 1 < ring->group_count) {
    end += ring->group_sizes[++group];
  }
  if (end != view->limbs) {
    return hxs_refuse(build, HX_INVALID, "%s %u has %u rows, which end within a depth group", view->side, view->index,
                      view->limbs);
  }
  if (group == 0) {
    return hxs_refuse(build, HX_INVALID, "%s %u has only the base primes, no depth is left", view->side, view->index);
  }
  *out_count = ring->group_sizes[group];
  return HX_OK;
}
