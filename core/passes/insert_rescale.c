// SPDX-License-Identifier: Apache-2.0
// insert-rescale - puts rescale behind every product (behind its relinearize, where it has one) whose scale stays at
// the waterline: option waterline=SCALE, else the scale of the first ciphertext input ([CHKKS18], section 4).
// In: a verified program under parameters. Keeps: messages up to the rounding of each rescale; depth and scale of what
// follows change, and results have the state that comes of it. Operands of different depth are manage-scales' work.
// Legal where a depth is left; where none is, the value stays as it is and inference tells what does not fit.
#include "core/passes/scales.h"

static void rescale(hx_mender_t *mender, hx_ir_op_t *op) { hx_scales_rescale(mender, op, mender->argument); }

hx_status_t hx_pass_insert_rescale(hx_program_t *program, hx_pass_env_t *env, bool *out_changed) {
  static const hx_mend_rules_t rules = {.after = rescale};
  hx_scales_t scales;
  *out_changed = false;
  HX_TRY(hx_scales_init(&scales, program, env));
  return hx_mend_program(program, env, &rules, &scales, out_changed);
}
