// SPDX-License-Identifier: Apache-2.0
#include "heliox/support/switched.h"

int32_t hxs_accept_switched(const hxs_build *build, uint32_t sources, uint32_t components, uint32_t results) {
  hxs_prepared *p = build->prepared;
  HXS_TRY(hxs_expect_counts(build, sources, UINT32_MAX, results, results));
  const hxs_view *out = &p->results[0];
  HXS_TRY(hxs_expect_residues(build, out));
  HXS_TRY(hxs_expect_repr(build, out, HX_STANDARD));
  HXS_TRY(hxs_expect_components(build, out, 2));
  HXS_TRY(hxs_expect_leading(build, out));
  hxs_view shape = *out;
  shape.components = components;
  for (uint32_t i = 0; i < sources; i++) {
    HXS_TRY(hxs_expect_like(build, &p->operands[i], &shape));
  }
  for (uint32_t i = 1; i < results; i++) {
    HXS_TRY(hxs_expect_like(build, &p->results[i], out));
  }
  return HX_OK;
}

int32_t hxs_accept_fused(const hxs_build *build) {
  hxs_prepared *p = build->prepared;
  HXS_TRY(hxs_expect_counts(build, 2, 3, 1, 1));
  hxs_view *a = &p->operands[0];
  const hxs_view *out = &p->results[0];
  uint32_t group = 0;
  HXS_TRY(hxs_expect_residues(build, a));
  HXS_TRY(hxs_accept_last_group(build, a, &group));
  if (group != 1) {
    return hxs_refuse(build, HX_UNSUPPORTED, "the last depth group has %u primes, must have 1", group);
  }
  HXS_TRY(hxs_expect_residues(build, out));
  HXS_TRY(hxs_expect_repr(build, out, HX_STANDARD));
  HXS_TRY(hxs_expect_components(build, out, 2));
  HXS_TRY(hxs_expect_ids(build, out, a->limbs - 1, a->ids));
  hxs_view shape = *out;
  shape.components = p->operand_count == 2 ? 3 : 2;
  shape.limbs = a->limbs;
  shape.ids = a->ids;
  for (uint32_t i = 0; i + 1 < p->operand_count; i++) {
    HXS_TRY(hxs_expect_like(build, &p->operands[i], &shape));
  }
  return HX_OK;
}

// ---- several rotations

int32_t hxs_accept_steps(const hxs_build *build, const int64_t **out_steps, uint32_t *out_count) {
  const hx_attr *attr = hxs_attr_find(build, "steps");
  if (attr == NULL || attr->kind != HX_ATTR_I64 || attr->count == 0 || attr->data == NULL) {
    return hxs_refuse(build, HX_INVALID, "attribute steps must be a list of one or more integers");
  }
  *out_steps = attr->data;
  *out_count = attr->count;
  return HX_OK;
}

int32_t hxs_accept_rotations(const hxs_build *build, uint32_t others, const int64_t *steps, uint32_t count,
                             hxs_rotation **out) {
  const hxs_prepared *p = build->prepared;
  hxs_rotation *all = NULL;
  uint32_t keys = 0;
  HXS_TRY(hxs_keep_or_fail(build, count, sizeof *all, &all));
  for (uint32_t t = 0; t < count; t++) {
    hxs_rotation *at = &all[t];
    *at = (hxs_rotation){.element = hxs_rotation_element(p->log_n, steps[t]), .key = HX_NONE};
    for (uint32_t i = 0; i < t && at->key == HX_NONE && at->element != 1; i++) {
      at->key = all[i].element == at->element ? all[i].key : HX_NONE;
    }
    if (at->element != 1 && at->key == HX_NONE) {
      at->key = others + keys++;
      if (at->key >= p->operand_count) {
        return hxs_refuse(build, HX_INVALID, "%u operands, but step %lld wants a key in operand %u", p->operand_count,
                          (long long)steps[t], at->key);
      }
    }
  }
  if (p->operand_count != others + keys) {
    return hxs_refuse(build, HX_INVALID, "%u operands, must be %u; the last %u are keys, one a distinct step but 0",
                      p->operand_count, others + keys, keys);
  }
  *out = all;
  return HX_OK;
}

int32_t hxs_accept_groups(const hxs_build *build, uint32_t steps, uint32_t *out_groups, uint32_t *out_others) {
  const uint32_t operands = build->prepared->operand_count;
  int64_t groups = 1;
  if (hxs_attr_find(build, "groups") != NULL) {
    HXS_TRY(hxs_attr_i64(build, "groups", 1, (int64_t)operands, &groups));
  }
  const uint64_t others = 1 + (uint64_t)groups * steps;
  if (operands < others) {
    return hxs_refuse(build, HX_INVALID, "%u operands; %lld groups of %u steps have %llu before their keys", operands,
                      (long long)groups, steps, (unsigned long long)others);
  }
  *out_groups = (uint32_t)groups;
  *out_others = (uint32_t)others;
  return HX_OK;
}

int32_t hxs_accept_weights(const hxs_build *build, uint32_t first, uint32_t end, uint32_t count, const uint32_t *ids) {
  hxs_prepared *p = build->prepared;
  for (uint32_t i = first; i < end; i++) {
    hxs_view *weight = &p->operands[i];
    HXS_TRY(hxs_expect_residues(build, weight));
    HXS_TRY(hxs_expect_repr(build, weight, HX_STANDARD));
    HXS_TRY(hxs_expect_domain(build, weight, HX_NTT));
    HXS_TRY(hxs_expect_components(build, weight, 1));
    HXS_TRY(hxs_expect_batch(build, weight, &p->results[0]));
    HXS_TRY(hxs_expect_ids(build, weight, count, ids));
  }
  return HX_OK;
}
