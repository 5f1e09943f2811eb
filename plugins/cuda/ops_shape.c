// SPDX-License-Identifier: Apache-2.0
// select_limbs, concat_limbs, select_components, pack_components: copies of whole rows. (Where strides allow, the host
// makes views instead and never asks.)
#include "ops.h"
#include "step.h"

typedef struct source {
  uint32_t operand, component, limb;
} source_t;

// A copy for each operand of the rows that come from it.
static int32_t add_copies(hx_cuda_build_t *build, const source_t *map) {
  const hx_prepared *p = build->prepared;
  const hx_cuda_view_t *out = &p->results[0];
  const uint32_t rows = out->components * out->limbs;
  for (uint32_t operand = 0; operand < p->operand_count; operand++) {
    const hx_cuda_view_t *view = &p->operands[operand];
    uint32_t count = 0;
    for (uint32_t i = 0; i < rows; i++) {
      count += map[i].operand == operand ? 1 : 0;
    }
    hx_cuda_rows_t to, from;
    HX_CUDA_TRY(hx_cuda_rows_begin(build, out, (uint32_t)out->items * count, &to));
    HX_CUDA_TRY(hx_cuda_rows_begin(build, view, (uint32_t)out->items * count, &from));
    uint32_t at = 0;
    for (uint64_t item = 0; item < out->items; item++) {
      for (uint32_t i = 0; i < rows; i++) {
        if (map[i].operand == operand) {
          to.offsets[at] = hx_cuda_row_offset(out, item, i / out->limbs, i % out->limbs);
          to.ids[at] = out->ids[i % out->limbs];
          from.offsets[at++] = hx_cuda_row_offset(view, item, map[i].component, map[i].limb);
        }
      }
    }
    HX_CUDA_TRY(hx_cuda_step_pointwise(build, HX_CUDA_DO_COPY, &to, &from, NULL, NULL, NULL, false));
  }
  return HX_OK;
}

// Operands of the result's domain, representation and batch; a map to fill in.
static int32_t begin(hx_cuda_build_t *build, uint32_t operands_max, source_t **out_map) {
  hx_prepared *p = build->prepared;
  HX_CUDA_TRY(hx_cuda_expect_counts(build, 1, operands_max, 1, 1));
  hx_cuda_view_t *out = &p->results[0];
  HX_CUDA_TRY(hx_cuda_expect_residues(build, out));
  for (uint32_t i = 0; i < p->operand_count; i++) {
    HX_CUDA_TRY(hx_cuda_expect_residues(build, &p->operands[i]));
    HX_CUDA_TRY(hx_cuda_expect_domain(build, &p->operands[i], out->domain));
    HX_CUDA_TRY(hx_cuda_expect_repr(build, &p->operands[i], out->repr));
    HX_CUDA_TRY(hx_cuda_expect_batch(build, &p->operands[i], out));
  }
  HX_CUDA_TRY(hx_cuda_keep_or_fail(build, (size_t)out->components * out->limbs, sizeof **out_map, out_map));
  return HX_OK;
}

int32_t hx_cuda_build_select_limbs(hx_cuda_build_t *build) {
  const hx_prepared *p = build->prepared;
  source_t *map = NULL;
  const int64_t *ids = NULL;
  uint32_t count = 0;
  HX_CUDA_TRY(begin(build, 1, &map));
  const hx_cuda_view_t *a = &p->operands[0], *out = &p->results[0];
  HX_CUDA_TRY(hx_cuda_expect_components(build, a, out->components));
  HX_CUDA_TRY(hx_cuda_attr_ids(build, "ids", &ids, &count));
  uint32_t wanted[HX_CUDA_PRIMES_MAX];
  for (uint32_t i = 0; i < count; i++) {
    wanted[i] = (uint32_t)ids[i];
  }
  HX_CUDA_TRY(hx_cuda_expect_ids(build, out, count, wanted));
  for (uint32_t limb = 0; limb < count; limb++) {
    uint32_t from = hx_cuda_view_limb_of(a, wanted[limb]);
    if (from == HX_NONE) {
      return hx_cuda_refuse(build, HX_INVALID, "attribute ids has prime %u, operand 0 has no row of it", wanted[limb]);
    }
    for (uint32_t component = 0; component < out->components; component++) {
      map[(size_t)component * out->limbs + limb] = (source_t){0, component, from};
    }
  }
  return add_copies(build, map);
}

int32_t hx_cuda_build_concat_limbs(hx_cuda_build_t *build) {
  const hx_prepared *p = build->prepared;
  source_t *map = NULL;
  HX_CUDA_TRY(begin(build, UINT32_MAX, &map));
  const hx_cuda_view_t *out = &p->results[0];
  uint64_t rows = 0;
  for (uint32_t i = 0; i < p->operand_count; i++) {
    HX_CUDA_TRY(hx_cuda_expect_components(build, &p->operands[i], out->components));
    rows += p->operands[i].limbs;
  }
  if (rows != out->limbs) {
    return hx_cuda_refuse(build, HX_INVALID, "the operands have %llu rows in all, result 0 has %u",
                          (unsigned long long)rows, out->limbs);
  }
  for (uint32_t limb = 0; limb < out->limbs; limb++) {
    uint32_t from = HX_NONE, operand = 0;
    for (uint32_t i = 0; i < p->operand_count && from == HX_NONE; i++) {
      operand = i;
      from = hx_cuda_view_limb_of(&p->operands[i], out->ids[limb]);
    }
    if (from == HX_NONE) {
      return hx_cuda_refuse(build, HX_INVALID, "result 0 has a row of prime %u, which no operand has", out->ids[limb]);
    }
    for (uint32_t component = 0; component < out->components; component++) {
      map[(size_t)component * out->limbs + limb] = (source_t){operand, component, from};
    }
  }
  return add_copies(build, map);
}

// Components first .. of an operand to the next of the result.
static void map_components(const hx_cuda_view_t *out, source_t *map, uint32_t to, uint32_t operand, uint32_t first,
                           uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    for (uint32_t limb = 0; limb < out->limbs; limb++) {
      map[(size_t)(to + i) * out->limbs + limb] = (source_t){operand, first + i, limb};
    }
  }
}

int32_t hx_cuda_build_select_components(hx_cuda_build_t *build) {
  const hx_prepared *p = build->prepared;
  source_t *map = NULL;
  int64_t first = 0, count = 0;
  HX_CUDA_TRY(begin(build, 1, &map));
  const hx_cuda_view_t *a = &p->operands[0], *out = &p->results[0];
  HX_CUDA_TRY(hx_cuda_expect_ids(build, a, out->limbs, out->ids));
  HX_CUDA_TRY(hx_cuda_attr_i64(build, "first", 0, (int64_t)a->components - 1, &first));
  HX_CUDA_TRY(hx_cuda_attr_i64(build, "count", 1, (int64_t)a->components - first, &count));
  HX_CUDA_TRY(hx_cuda_expect_components(build, out, (uint32_t)count));
  map_components(out, map, 0, 0, (uint32_t)first, (uint32_t)count);
  return add_copies(build, map);
}

int32_t hx_cuda_build_pack_components(hx_cuda_build_t *build) {
  const hx_prepared *p = build->prepared;
  source_t *map = NULL;
  HX_CUDA_TRY(begin(build, UINT32_MAX, &map));
  const hx_cuda_view_t *out = &p->results[0];
  uint64_t components = 0;
  for (uint32_t i = 0; i < p->operand_count; i++) {
    HX_CUDA_TRY(hx_cuda_expect_ids(build, &p->operands[i], out->limbs, out->ids));
    components += p->operands[i].components;
  }
  if (components != out->components) {
    return hx_cuda_refuse(build, HX_INVALID, "the operands have %llu components in all, result 0 has %u",
                          (unsigned long long)components, out->components);
  }
  for (uint32_t i = 0, to = 0; i < p->operand_count; to += p->operands[i++].components) {
    map_components(out, map, to, i, 0, p->operands[i].components);
  }
  return add_copies(build, map);
}
