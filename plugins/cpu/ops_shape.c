// SPDX-License-Identifier: Apache-2.0
// select_limbs, concat_limbs, select_components, pack_components: copies of whole rows. (Where strides allow, the host
// makes views instead and never asks.)
#include <string.h>

#include "heliox/support/rowmap.h"
#include "ops.h"
#include "run.h"

// plan: a source for each component and limb of the result.
static void copy_row(const hx_cpu_run_t *run, uint64_t index) {
  const hxs_prepared *p = run->prepared;
  const hxs_view *out = &p->results[0];
  hx_cpu_place_t at = hx_cpu_place_of(index, out->components, out->limbs);
  const hxs_source *from = (const hxs_source *)p->plan + (size_t)at.component * out->limbs + at.limb;
  memcpy(hx_cpu_result_row(run, out, at.item, at.component, at.limb),
         hx_cpu_operand_row(run, &p->operands[from->operand], at.item, from->component, from->limb),
         hx_cpu_row_bytes(p));
}

static int32_t run_copy(hx_cpu_run_t *run) {
  const hxs_view *out = &run->prepared->results[0];
  return hx_cpu_for(run, out->items * out->components * out->limbs, run->prepared->n / 2, copy_row);
}

typedef int32_t rowmap_t(hxs_build *build, hxs_source **out);

static int32_t build_copy(hxs_build *build, rowmap_t *rowmap) {
  hxs_prepared *p = build->prepared;
  const hxs_view *out = &p->results[0];
  hxs_source *map = NULL;
  HXS_TRY(rowmap(build, &map));
  p->plan = map;
  p->cost = out->items * out->components * out->limbs * (p->n / 2);
  hx_cpu_set_run(build, run_copy);
  return HX_OK;
}

int32_t hx_cpu_build_select_limbs(hxs_build *build) { return build_copy(build, hxs_rowmap_select_limbs); }
int32_t hx_cpu_build_concat_limbs(hxs_build *build) { return build_copy(build, hxs_rowmap_concat_limbs); }
int32_t hx_cpu_build_select_components(hxs_build *build) { return build_copy(build, hxs_rowmap_select_components); }
int32_t hx_cpu_build_pack_components(hxs_build *build) { return build_copy(build, hxs_rowmap_pack_components); }
