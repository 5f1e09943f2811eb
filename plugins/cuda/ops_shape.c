// SPDX-License-Identifier: Apache-2.0
// select_limbs, concat_limbs, select_components, pack_components: copies of whole rows. (Where strides allow, the host
// makes views instead and never asks.)
#include "heliox/support/rowmap.h"
#include "ops.h"
#include "step.h"

// A copy for each operand of the rows that come from it.
static int32_t add_copies(hxs_build *build, const hxs_source *map) {
  const hxs_prepared *p = build->prepared;
  const hxs_view *out = &p->results[0];
  const uint32_t rows = out->components * out->limbs;
  for (uint32_t operand = 0; operand < p->operand_count; operand++) {
    const hxs_view *view = &p->operands[operand];
    uint32_t count = 0;
    for (uint32_t i = 0; i < rows; i++) {
      count += map[i].operand == operand ? 1 : 0;
    }
    hx_cuda_rows_t to, from;
    HXS_TRY(hx_cuda_rows_begin(build, out, (uint32_t)out->items * count, &to));
    HXS_TRY(hx_cuda_rows_begin(build, view, (uint32_t)out->items * count, &from));
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
    HXS_TRY(hx_cuda_step_pointwise(build, HX_CUDA_DO_COPY, &to, &from, NULL, NULL, NULL, false));
  }
  return HX_OK;
}

typedef int32_t rowmap_t(hxs_build *build, hxs_source **out);

static int32_t build_copy(hxs_build *build, rowmap_t *rowmap) {
  hxs_source *map = NULL;
  HXS_TRY(rowmap(build, &map));
  return add_copies(build, map);
}

int32_t hx_cuda_build_select_limbs(hxs_build *build) { return build_copy(build, hxs_rowmap_select_limbs); }
int32_t hx_cuda_build_concat_limbs(hxs_build *build) { return build_copy(build, hxs_rowmap_concat_limbs); }
int32_t hx_cuda_build_select_components(hxs_build *build) { return build_copy(build, hxs_rowmap_select_components); }
int32_t hx_cuda_build_pack_components(hxs_build *build) { return build_copy(build, hxs_rowmap_pack_components); }
