// SPDX-License-Identifier: Apache-2.0
#include "heliox/support/rowmap.h"

// Operands of the result's domain, representation and batch; a map to fill in.
static int32_t begin(hxs_build *build, uint32_t operands_max, hxs_source **out_map) {
  hxs_prepared *p = build->prepared;
  HXS_TRY(hxs_expect_counts(build, 1, operands_max, 1, 1));
  hxs_view *out = &p->results[0];
  HXS_TRY(hxs_expect_residues(build, out));
  for (uint32_t i = 0; i < p->operand_count; i++) {
    HXS_TRY(hxs_expect_residues(build, &p->operands[i]));
    HXS_TRY(hxs_expect_domain(build, &p->operands[i], out->domain));
    HXS_TRY(hxs_expect_repr(build, &p->operands[i], out->repr));
    HXS_TRY(hxs_expect_batch(build, &p->operands[i], out));
  }
  return hxs_keep_or_fail(build, (size_t)out->components * out->limbs, sizeof **out_map, out_map);
}

// One limb of the result from a limb of an operand, in every component.
static void map_limb(const hxs_view *out, hxs_source *map, uint32_t to, uint32_t operand, uint32_t from) {
  for (uint32_t component = 0; component < out->components; component++) {
    map[(size_t)component * out->limbs + to] = (hxs_source){operand, component, from};
  }
}

int32_t hxs_rowmap_select_limbs(hxs_build *build, hxs_source **out_map) {
  const hxs_prepared *p = build->prepared;
  HXS_TRY(begin(build, 1, out_map));
  const hxs_view *a = &p->operands[0], *out = &p->results[0];
  HXS_TRY(hxs_expect_components(build, a, out->components));
  HXS_TRY(hxs_expect_listed(build));
  for (uint32_t limb = 0; limb < out->limbs; limb++) {
    const uint32_t from = hxs_view_limb_of(a, out->ids[limb]);
    if (from == HX_NONE) {
      return hxs_refuse(build, HX_INVALID, "attribute ids has prime %u, operand 0 has no row of it", out->ids[limb]);
    }
    map_limb(out, *out_map, limb, 0, from);
  }
  return HX_OK;
}

int32_t hxs_rowmap_concat_limbs(hxs_build *build, hxs_source **out_map) {
  const hxs_prepared *p = build->prepared;
  HXS_TRY(begin(build, UINT32_MAX, out_map));
  const hxs_view *out = &p->results[0];
  uint64_t rows = 0;
  for (uint32_t i = 0; i < p->operand_count; i++) {
    HXS_TRY(hxs_expect_components(build, &p->operands[i], out->components));
    rows += p->operands[i].limbs;
  }
  if (rows != out->limbs) {
    return hxs_refuse(build, HX_INVALID, "the operands have %llu rows in all, result 0 has %u",
                      (unsigned long long)rows, out->limbs);
  }
  for (uint32_t limb = 0; limb < out->limbs; limb++) {
    uint32_t from = HX_NONE, operand = 0;
    for (uint32_t i = 0; i < p->operand_count && from == HX_NONE; i++) {
      operand = i;
      from = hxs_view_limb_of(&p->operands[i], out->ids[limb]);
    }
    if (from == HX_NONE) {
      return hxs_refuse(build, HX_INVALID, "result 0 has a row of prime %u, which no operand has", out->ids[limb]);
    }
    map_limb(out, *out_map, limb, operand, from);
  }
  return HX_OK;
}

// Components first .. of an operand to the next of the result.
static void map_components(const hxs_view *out, hxs_source *map, uint32_t to, uint32_t operand, uint32_t first,
                           uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    for (uint32_t limb = 0; limb < out->limbs; limb++) {
      map[(size_t)(to + i) * out->limbs + limb] = (hxs_source){operand, first + i, limb};
    }
  }
}

int32_t hxs_rowmap_select_components(hxs_build *build, hxs_source **out_map) {
  const hxs_prepared *p = build->prepared;
  int64_t first = 0, count = 0;
  HXS_TRY(begin(build, 1, out_map));
  const hxs_view *a = &p->operands[0], *out = &p->results[0];
  HXS_TRY(hxs_expect_ids(build, a, out->limbs, out->ids));
  HXS_TRY(hxs_attr_i64(build, "first", 0, (int64_t)a->components - 1, &first));
  HXS_TRY(hxs_attr_i64(build, "count", 1, (int64_t)a->components - first, &count));
  HXS_TRY(hxs_expect_components(build, out, (uint32_t)count));
  map_components(out, *out_map, 0, 0, (uint32_t)first, (uint32_t)count);
  return HX_OK;
}

int32_t hxs_rowmap_pack_components(hxs_build *build, hxs_source **out_map) {
  const hxs_prepared *p = build->prepared;
  HXS_TRY(begin(build, UINT32_MAX, out_map));
  const hxs_view *out = &p->results[0];
  uint64_t components = 0;
  for (uint32_t i = 0; i < p->operand_count; i++) {
    HXS_TRY(hxs_expect_ids(build, &p->operands[i], out->limbs, out->ids));
    components += p->operands[i].components;
  }
  if (components != out->components) {
    return hxs_refuse(build, HX_INVALID, "the operands have %llu components in all, result 0 has %u",
                      (unsigned long long)components, out->components);
  }
  for (uint32_t i = 0, to = 0; i < p->operand_count; to += p->operands[i++].components) {
    map_components(out, *out_map, to, i, 0, p->operands[i].components);
  }
  return HX_OK;
}
