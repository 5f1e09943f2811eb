// SPDX-License-Identifier: Apache-2.0
// select_limbs, concat_limbs, select_components, pack_components: copies of whole rows. (Where strides allow, the host
// makes views instead and never asks.)
#include <string.h>

#include "ops.h"
#include "run.h"

typedef struct source {
  uint32_t operand, component, limb;
} source_t;

// plan: a source for each component and limb of the result.
static void copy_row(const hx_cpu_run_t *run, uint64_t index) {
  const hx_prepared *p = run->prepared;
  const hx_cpu_view_t *out = &p->results[0];
  hx_cpu_place_t at = hx_cpu_place_of(index, out->components, out->limbs);
  const source_t *from = (const source_t *)p->plan + (size_t)at.component * out->limbs + at.limb;
  memcpy(hx_cpu_result_row(run, out, at.item, at.component, at.limb),
         hx_cpu_operand_row(run, &p->operands[from->operand], at.item, from->component, from->limb),
         hx_cpu_row_bytes(p));
}

static int32_t run_copy(hx_cpu_run_t *run) {
  const hx_cpu_view_t *out = &run->prepared->results[0];
  return hx_cpu_for(run, out->items * out->components * out->limbs, run->prepared->n / 2, copy_row);
}

// Operands of the result's domain, representation and batch; a map to fill in.
static int32_t begin(hx_cpu_build_t *build, uint32_t operands_max, source_t **out_map) {
  hx_prepared *p = build->prepared;
  HX_CPU_TRY(hx_cpu_expect_counts(build, 1, operands_max, 1, 1));
  hx_cpu_view_t *out = &p->results[0];
  HX_CPU_TRY(hx_cpu_expect_residues(build, out));
  for (uint32_t i = 0; i < p->operand_count; i++) {
    HX_CPU_TRY(hx_cpu_expect_residues(build, &p->operands[i]));
    HX_CPU_TRY(hx_cpu_expect_domain(build, &p->operands[i], out->domain));
    HX_CPU_TRY(hx_cpu_expect_repr(build, &p->operands[i], out->repr));
    HX_CPU_TRY(hx_cpu_expect_batch(build, &p->operands[i], out));
  }
  HX_CPU_TRY(hx_cpu_keep_or_fail(build, (size_t)out->components * out->limbs, sizeof **out_map, out_map));
  p->plan = *out_map;
  p->run = run_copy;
  p->cost = out->items * out->components * out->limbs * (p->n / 2);
  return HX_OK;
}

int32_t hx_cpu_build_select_limbs(hx_cpu_build_t *build) {
  const hx_prepared *p = build->prepared;
  source_t *map = NULL;
  const int64_t *ids = NULL;
  uint32_t count = 0;
  HX_CPU_TRY(begin(build, 1, &map));
  const hx_cpu_view_t *a = &p->operands[0], *out = &p->results[0];
  HX_CPU_TRY(hx_cpu_expect_components(build, a, out->components));
  HX_CPU_TRY(hx_cpu_attr_ids(build, "ids", &ids, &count));
  uint32_t wanted[HX_CPU_PRIMES_MAX];
  for (uint32_t i = 0; i < count; i++) {
    wanted[i] = (uint32_t)ids[i];
  }
  HX_CPU_TRY(hx_cpu_expect_ids(build, out, count, wanted));
  for (uint32_t limb = 0; limb < count; limb++) {
    uint32_t from = hx_cpu_view_limb_of(a, wanted[limb]);
    if (from == HX_NONE) {
      return hx_cpu_refuse(build, HX_INVALID, "attribute ids has prime %u, operand 0 has no row of it", wanted[limb]);
    }
    for (uint32_t component = 0; component < out->components; component++) {
      map[(size_t)component * out->limbs + limb] = (source_t){0, component, from};
    }
  }
  return HX_OK;
}

int32_t hx_cpu_build_concat_limbs(hx_cpu_build_t *build) {
  const hx_prepared *p = build->prepared;
  source_t *map = NULL;
  HX_CPU_TRY(begin(build, UINT32_MAX, &map));
  const hx_cpu_view_t *out = &p->results[0];
  uint64_t rows = 0;
  for (uint32_t i = 0; i < p->operand_count; i++) {
    HX_CPU_TRY(hx_cpu_expect_components(build, &p->operands[i], out->components));
    rows += p->operands[i].limbs;
  }
  if (rows != out->limbs) {
    return hx_cpu_refuse(build, HX_INVALID, "the operands have %llu rows in all, result 0 has %u",
                         (unsigned long long)rows, out->limbs);
  }
  for (uint32_t limb = 0; limb < out->limbs; limb++) {
    uint32_t from = HX_NONE, operand = 0;
    for (uint32_t i = 0; i < p->operand_count && from == HX_NONE; i++) {
      operand = i;
      from = hx_cpu_view_limb_of(&p->operands[i], out->ids[limb]);
    }
    if (from == HX_NONE) {
      return hx_cpu_refuse(build, HX_INVALID, "result 0 has a row of prime %u, which no operand has", out->ids[limb]);
    }
    for (uint32_t component = 0; component < out->components; component++) {
      map[(size_t)component * out->limbs + limb] = (source_t){operand, component, from};
    }
  }
  return HX_OK;
}

// Components first .. of an operand to the next of the result.
static void map_components(const hx_cpu_view_t *out, source_t *map, uint32_t to, uint32_t operand, uint32_t first,
                           uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    for (uint32_t limb = 0; limb < out->limbs; limb++) {
      map[(size_t)(to + i) * out->limbs + limb] = (source_t){operand, first + i, limb};
    }
  }
}

int32_t hx_cpu_build_select_components(hx_cpu_build_t *build) {
  const hx_prepared *p = build->prepared;
  source_t *map = NULL;
  int64_t first = 0, count = 0;
  HX_CPU_TRY(begin(build, 1, &map));
  const hx_cpu_view_t *a = &p->operands[0], *out = &p->results[0];
  HX_CPU_TRY(hx_cpu_expect_ids(build, a, out->limbs, out->ids));
  HX_CPU_TRY(hx_cpu_attr_i64(build, "first", 0, (int64_t)a->components - 1, &first));
  HX_CPU_TRY(hx_cpu_attr_i64(build, "count", 1, (int64_t)a->components - first, &count));
  HX_CPU_TRY(hx_cpu_expect_components(build, out, (uint32_t)count));
  map_components(out, map, 0, 0, (uint32_t)first, (uint32_t)count);
  return HX_OK;
}

int32_t hx_cpu_build_pack_components(hx_cpu_build_t *build) {
  const hx_prepared *p = build->prepared;
  source_t *map = NULL;
  HX_CPU_TRY(begin(build, UINT32_MAX, &map));
  const hx_cpu_view_t *out = &p->results[0];
  uint64_t components = 0;
  for (uint32_t i = 0; i < p->operand_count; i++) {
    HX_CPU_TRY(hx_cpu_expect_ids(build, &p->operands[i], out->limbs, out->ids));
    components += p->operands[i].components;
  }
  if (components != out->components) {
    return hx_cpu_refuse(build, HX_INVALID, "the operands have %llu components in all, result 0 has %u",
                         (unsigned long long)components, out->components);
  }
  for (uint32_t i = 0, to = 0; i < p->operand_count; to += p->operands[i++].components) {
    map_components(out, map, to, i, 0, p->operands[i].components);
  }
  return HX_OK;
}
