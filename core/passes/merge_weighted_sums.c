// SPDX-License-Identifier: Apache-2.0
// merge-weighted-sums - the inner and outer steps of baby-step giant-step products ([HS14]) as one operation each.
//   inner: sums over t of plaintext (g,t) times the rotation of one value by step t become one rotate_weighted_sum with
//          a group for each sum of the same steps: one ModUp in all, one ModDown a group instead of one a rotation;
//   outer: a sum of rotations of several values becomes one rotate_sum: one ModDown in all;
//   sums of plaintext products without rotations become weighted_sum (equal bits).
// In: a verified program, state inferred; parameters (without them nothing is done). Keeps: results up to rounding:
// what was rounded once for each rotation is rounded once for each group, so the error only falls; types.
// Legal where the sums, products and rotations are read nowhere else (a rotation may be: then it stays, and counts as
// no gain), where all rotations have keys or none, and where the plaintexts can be defined in front of the first sum.
#include "core/passes/sums.h"

static void merge_block(hx_rewriter_t *rewriter, hx_ir_block_t *block, void *argument) {
  void (*const *merge)(hx_rewriter_t *, hx_sums_t *) = argument;
  hx_sums_t sums;
  hx_sums_find(rewriter, block, &sums);
  if (rewriter->status == HX_STATUS_OK) (*merge)(rewriter, &sums);
  hx_sums_free(&sums);
}

hx_status_t hx_pass_merge_weighted_sums(hx_program_t *program, hx_pass_env_t *env, bool *out_changed) {
  void (*const steps[])(hx_rewriter_t *, hx_sums_t *) = {hx_sums_merge_rotated, hx_sums_merge_rotations,
                                                         hx_sums_merge_products};
  *out_changed = false;
  for (size_t i = 0; i < HX_COUNT_OF(steps) && env->ring != NULL; ++i) {
    hx_rewriter_t rewriter;
    bool changed = false;
    void (*merge)(hx_rewriter_t *, hx_sums_t *) = steps[i];
    if (hx_rewriter_init(&rewriter, program, env) == HX_STATUS_OK) hx_rewriter_blocks(&rewriter, merge_block, &merge);
    HX_TRY(hx_rewriter_finish(&rewriter, &changed));
    *out_changed = *out_changed || changed;
  }
  return HX_STATUS_OK;
}
