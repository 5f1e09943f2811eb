// SPDX-License-Identifier: Apache-2.0
// Transitions of maintenance: components, depth, domain.
#include "core/ckks/transition.h"

hx_status_t hx_infer_ckks_relinearize(hx_infer_t *call) {
  hx_state_t state;
  HX_TRY(hx_ckks_load(call, 0, &state));
  HX_TRY(hx_state_want(call, &state, HX_PART_COMPONENTS, 3));
  if (call->operand_count > 1) HX_TRY(hx_infer_want_key(call, 1, 1u << HX_KEY_RELIN, "the relinearization key"));
  hx_type_set_word(&state.type, HX_PART_COMPONENTS, 2);
  hx_ckks_set_output_domain(call, &state);
  hx_ckks_finish(call, 0, &state);
  return HX_STATUS_OK;
}

// The scale over each prime of the group that goes from `depth` to the next.
static hx_status_t divide_by_group(const hx_infer_t *call, hx_state_t *state, uint32_t depth) {
  if (!hx_type_knows(&state->type, HX_PART_SCALE)) return HX_STATUS_OK;
  const hx_primes_t before = hx_ring_active(call->ring, depth), after = hx_ring_active(call->ring, depth + 1);
  for (uint32_t id = hx_primes_count(&after); id < hx_primes_count(&before); ++id) {
    if (hx_scale_multiply_prime(&state->type.scale, id, -1, NULL) != HX_STATUS_OK) {
      return hx_infer_fail(call, HX_CODE_SCALE_RANGE, "the scale's exponent of q%u would reach -2^31", id);
    }
  }
  return HX_STATUS_OK;
}

hx_status_t hx_infer_ckks_rescale(hx_infer_t *call) {
  hx_state_t state;
  HX_TRY(hx_ckks_load(call, 0, &state));
  hx_ckks_set_output_domain(call, &state);
  if (!hx_type_knows(&state.type, HX_PART_DEPTH)) {
    hx_type_forget(&state.type, HX_PART_PRIMES);
    hx_type_forget(&state.type, HX_PART_SCALE);
    hx_ckks_finish(call, 0, &state);
    return HX_STATUS_OK;
  }
  const uint32_t depth = state.type.depth;
  if (call->ring == NULL) {
    hx_type_forget(&state.type, HX_PART_SCALE);
  } else if (depth >= hx_ring_max_depth(call->ring)) {
    return hx_infer_refuse(call, HX_CODE_NO_DEPTH, "choose parameters with more depths, or rescale fewer times",
                           "operand a is at depth %u, the last of %u, so there is no depth group to drop", depth,
                           hx_ring_max_depth(call->ring));
  } else {
    HX_TRY(divide_by_group(call, &state, depth));
  }
  hx_ckks_set_depth(&state, depth + 1);
  hx_ckks_finish(call, 0, &state);
  return HX_STATUS_OK;
}

// Operand 0 as what it is, ciphertext or plaintext on any basis.
static hx_status_t load_either(const hx_infer_t *call, hx_state_t *out) {
  return call->operands[0]->kind == HX_TYPE_PLAINTEXT ? hx_ckks_load_plain(call, 0, 0, out)
                                                      : hx_ckks_load(call, 0, out);
}

hx_status_t hx_infer_ckks_level_drop(hx_infer_t *call) {
  const uint32_t depth = (uint32_t)hx_infer_integer(call, "depth", 0);
  hx_state_t state;
  HX_TRY(load_either(call, &state));
  if (hx_type_knows(&state.type, HX_PART_DEPTH) && depth < state.type.depth) {
    return hx_infer_refuse(call, HX_CODE_DEPTH_MISMATCH,
                           "depth only grows; take the value from before it was rescaled or dropped",
                           "operand a is at depth %u, which is beyond attribute depth %u", state.type.depth, depth);
  }
  if (call->ring != NULL && depth > hx_ring_max_depth(call->ring)) {
    return hx_infer_refuse(call, HX_CODE_NO_DEPTH, "choose parameters with more depths, or a smaller depth",
                           "attribute depth is %u, but the parameters have depths 0 to %u", depth,
                           hx_ring_max_depth(call->ring));
  }
  hx_ckks_set_depth(&state, depth);
  hx_ckks_finish(call, 0, &state);
  return HX_STATUS_OK;
}

hx_status_t hx_infer_ckks_transform(hx_infer_t *call) {
  const bool forward = call->op->id == HX_OP_CKKS_TO_NTT;
  hx_state_t state;
  HX_TRY(load_either(call, &state));
  HX_TRY(hx_state_want(call, &state, HX_PART_DOMAIN, forward ? HX_COEFFICIENT : HX_NTT));
  hx_type_set_word(&state.type, HX_PART_DOMAIN, forward ? HX_NTT : HX_COEFFICIENT);
  hx_ckks_finish(call, 0, &state);
  return HX_STATUS_OK;
}

hx_status_t hx_infer_ckks_key_switch(hx_infer_t *call) {
  hx_state_t state;
  HX_TRY(hx_ckks_load(call, 0, &state));
  HX_TRY(hx_state_want(call, &state, HX_PART_COMPONENTS, 2));
  HX_TRY(hx_infer_want_key(call, 1, 1u << HX_KEY_SWITCH, "a switching key to another secret"));
  hx_ckks_set_output_domain(call, &state);
  hx_ckks_finish(call, 0, &state);
  return HX_STATUS_OK;
}
