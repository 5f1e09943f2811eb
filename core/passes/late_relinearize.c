// SPDX-License-Identifier: Apache-2.0
// late-relinearize - sums of products are relinearized once: relinearize moves behind add, sub, neg and mul_integer.
// In: a verified program, state inferred. Keeps: messages; the error falls, since one key switch adds its noise where
// several did, so bits differ; types. Legal where nobody else reads what is relinearized and both sides have one state,
// one output domain and one key.
#include "core/passes/sink.h"

hx_status_t hx_pass_late_relinearize(hx_program_t *program, hx_pass_env_t *env, bool *out_changed) {
  return hx_sink_operation(program, env, HX_OP_CKKS_RELINEARIZE, out_changed);
}
