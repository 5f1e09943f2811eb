// SPDX-License-Identifier: Apache-2.0
// late-rescale - sums are rescaled once: rescale moves behind add, sub, neg and mul_integer, and behind the relinearize
// of what it rescales (two components instead of three).
// In: a verified program, state inferred. Keeps: messages; the error falls, since one rounding stands where several
// did, so bits differ; types. Legal where nobody else reads what is rescaled and both sides have one depth, scale and
// domain; a sum has at most one bit more than its terms for each addition, which the program's own depth allows or not
// before and after alike.
#include "core/passes/sink.h"

// relinearize(rescale(x)) becomes rescale(relinearize(x)).
static void swap_block(hx_rewriter_t *rewriter, hx_ir_block_t *block, void *argument) {
  (void)argument;
  for (hx_ir_op_t *op = block->first, *next; op != NULL && rewriter->status == HX_STATUS_OK; op = next) {
    next = op->next;
    hx_rewriter_take(rewriter, op);
    if (op->info->id != HX_OP_CKKS_RELINEARIZE || hx_attrs_find(op->attrs, "heliox.implementation") != NULL) continue;
    hx_ir_op_t *rescale = hx_value_op(op->operands[0], HX_OP_CKKS_RESCALE);
    if (rescale == NULL || rescale->block != block || hx_rewriter_sole_user(rewriter, op->operands[0]) == NULL ||
        hx_attrs_find(rescale->attrs, "heliox.implementation") != NULL) {
      continue;
    }
    hx_rewriter_take(rewriter, rescale);
    hx_ir_value_t *operands[2] = {rescale->operands[0], op->operand_count > 1 ? op->operands[1] : NULL};
    const hx_ir_op_t *first = hx_rewriter_build(rewriter, op, op, HX_OP_CKKS_RELINEARIZE, operands,
                                                op->operand_count > 1 ? 2 : 1, NULL, 0, 1);
    if (first == NULL) return;
    const hx_ir_op_t *last =
        hx_rewriter_build_like(rewriter, op, rescale, HX_OP_CKKS_RESCALE, first->results, 1, op->attrs, 1);
    if (last == NULL) return;
    hx_decide(rewriter->env, op, "relinearize first", "rescale first, relinearize first",
              "a rescale of two components is cheaper than one of three");
    last->results[0]->name = op->results[0]->name;
    hx_rewriter_replace(rewriter, op->results[0], last->results[0]);
    hx_rewriter_remove(rewriter, op);
    hx_rewriter_remove(rewriter, rescale);
  }
}

hx_status_t hx_pass_late_rescale(hx_program_t *program, hx_pass_env_t *env, bool *out_changed) {
  hx_rewriter_t rewriter;
  bool swapped = false, sunk = false;
  if (hx_rewriter_init(&rewriter, program, env) == HX_STATUS_OK) hx_rewriter_blocks(&rewriter, swap_block, NULL);
  HX_TRY(hx_rewriter_finish(&rewriter, &swapped));
  HX_TRY(hx_sink_operation(program, env, HX_OP_CKKS_RESCALE, &sunk));
  *out_changed = swapped || sunk;
  return HX_STATUS_OK;
}
