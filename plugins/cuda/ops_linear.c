// SPDX-License-Identifier: Apache-2.0
// add, sub, neg, with and without plaintexts, and reduce.
#include "ops.h"
#include "step.h"

// Rows of a view whose component is 0, or those of all others.
static int32_t pick_components(hxs_build *build, const hxs_view *view, const hx_cuda_rows_t *rows, bool first,
                               hx_cuda_rows_t *out) {
  uint32_t *indices = NULL, count = 0;
  HXS_TRY(hxs_keep_or_fail(build, rows->count, sizeof *indices, &indices));
  for (uint32_t i = 0; i < rows->count; i++) {
    if ((i / view->limbs % view->components == 0) == first) {
      indices[count++] = i;
    }
  }
  return hx_cuda_rows_pick(build, rows, count, indices, out);
}

int32_t hx_cuda_step_components(hxs_build *build, uint32_t op, bool first_only, const hx_cuda_factor_t *halves,
                                bool lazy) {
  const hxs_prepared *p = build->prepared;
  const hxs_view *view = &p->results[0];
  hx_cuda_rows_t out, a, b, c, part[3];
  HXS_TRY(hx_cuda_rows_of(build, view, &out));
  HXS_TRY(hx_cuda_rows_of(build, &p->operands[0], &a));
  if (p->operand_count > 1) {
    HXS_TRY(hx_cuda_rows_of(build, &p->operands[1], &b));
  }
  if (p->operand_count > 2) {
    HXS_TRY(hx_cuda_rows_of(build, &p->operands[2], &c));
  }
  if (!first_only) {
    return hx_cuda_step_pointwise(build, op, &out, &a, p->operand_count > 1 ? &b : NULL,
                                  p->operand_count > 2 ? &c : NULL, halves, lazy);
  }
  for (uint32_t first = 0; first < 2; first++) {
    HXS_TRY(pick_components(build, view, &out, first == 1, &part[0]));
    HXS_TRY(pick_components(build, view, &a, first == 1, &part[1]));
    if (p->operand_count > 1) {
      HXS_TRY(pick_components(build, view, &b, first == 1, &part[2]));
    }
    const hx_cuda_rows_t *second = first == 1 && p->operand_count > 1 ? &part[2] : NULL;
    HXS_TRY(hx_cuda_step_pointwise(build, first == 1 ? op : HX_CUDA_DO_COPY, &part[0], &part[1], second, NULL,
                                   first == 1 ? halves : NULL, lazy));
  }
  return HX_OK;
}

static int32_t build_linear(hxs_build *build, uint32_t kind, bool plain) {
  const uint32_t operands = kind == HX_CUDA_DO_ADD || kind == HX_CUDA_DO_SUB ? 2 : 1;
  HXS_TRY(kind == HX_CUDA_DO_REDUCE ? hxs_accept_reduce(build) : hxs_accept_linear(build, operands, plain));
  return hx_cuda_step_components(build, kind, plain, NULL, build->prepared->results[0].repr == HX_LAZY);
}

int32_t hx_cuda_build_add(hxs_build *build) { return build_linear(build, HX_CUDA_DO_ADD, false); }
int32_t hx_cuda_build_sub(hxs_build *build) { return build_linear(build, HX_CUDA_DO_SUB, false); }
int32_t hx_cuda_build_neg(hxs_build *build) { return build_linear(build, HX_CUDA_DO_NEG, false); }
int32_t hx_cuda_build_reduce(hxs_build *build) { return build_linear(build, HX_CUDA_DO_REDUCE, false); }
int32_t hx_cuda_build_add_plain(hxs_build *build) { return build_linear(build, HX_CUDA_DO_ADD, true); }
int32_t hx_cuda_build_sub_plain(hxs_build *build) { return build_linear(build, HX_CUDA_DO_SUB, true); }
