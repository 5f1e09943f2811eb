// SPDX-License-Identifier: Apache-2.0
// insert-relinearize - puts relinearize behind every product of two ciphertexts that has three components, unless a
// relinearize alone reads it.
// In: a verified program. Keeps: the decrypted message up to the noise of a key switch; scale, depth. The number of
// components of products changes, so results that had three have two. late-relinearize moves them behind sums.
// Legal everywhere under parameters with special primes; a product that no key can bring down is told by inference.
#include "core/passes/mend.h"

static void relinearize(hx_mender_t *mender, hx_ir_op_t *op) {
  if (op->info->id != HX_OP_CKKS_MUL && op->info->id != HX_OP_CKKS_SQUARE) return;
  const hx_type_t *type = op->results[0]->type;
  if ((type->known & HX_KNOWN_COMPONENTS) == 0 || type->components != 3) return;
  const hx_ir_op_t *user = hx_rewriter_sole_user(&mender->rewriter, op->results[0]);
  if (user != NULL && user->info->id == HX_OP_CKKS_RELINEARIZE) return;
  if (hx_rewriter_uses(&mender->rewriter, op->results[0]) == 0) return;  // nobody reads it
  hx_decide(mender->rewriter.env, op, "relinearize", "three components, relinearize",
            "what reads the product takes two components");
  (void)hx_mend_interpose(mender, op, 0, HX_OP_CKKS_RELINEARIZE, NULL, 0);
}

hx_status_t hx_pass_insert_relinearize(hx_program_t *program, hx_pass_env_t *env, bool *out_changed) {
  static const hx_mend_rules_t rules = {.after = relinearize};
  return hx_mend_program(program, env, &rules, NULL, out_changed);
}
