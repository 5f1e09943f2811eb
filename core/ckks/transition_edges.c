// SPDX-License-Identifier: Apache-2.0
// Transitions between messages, plaintexts and ciphertexts.
#include "core/ckks/transition.h"

#include <string.h>

// Slots of an encoding: as written, else N/2 where the ring is known, else 0.
static hx_status_t read_slots(const hx_infer_t *call, uint32_t *out) {
  const uint32_t most = call->ring == NULL ? HX_SLOTS_MAX : 1u << (call->ring->log_n - 1);
  *out = (uint32_t)hx_infer_integer(call, "slots", call->ring == NULL ? 0 : most);
  if (*out > most || (*out & (*out - 1)) != 0) {
    return hx_infer_fail(call, HX_CODE_SLOTS, "attribute slots is %u; it has to be a power of two up to %u", *out,
                         most);
  }
  return HX_STATUS_OK;
}

hx_status_t hx_infer_ckks_encode(hx_infer_t *call) {
  hx_str_t text = {0};
  hx_scale_t scale;
  hx_attrs_get_text(call->attrs, "scale", &text);
  HX_TRY(hx_scale_parse(text, call->ring, &scale, call->report));
  const uint32_t depth = (uint32_t)hx_infer_integer(call, "depth", 0);
  if (call->ring != NULL && depth > hx_ring_max_depth(call->ring)) {
    return hx_infer_refuse(call, HX_CODE_NO_DEPTH, "choose parameters with more depths, or a smaller depth",
                           "attribute depth is %u, but the parameters have depths 0 to %u", depth,
                           hx_ring_max_depth(call->ring));
  }
  uint32_t slots = 0;
  HX_TRY(read_slots(call, &slots));
  const uint64_t count = call->operands[0]->count;
  if (slots != 0 && count > slots) {
    return hx_infer_refuse(call, HX_CODE_LENGTH, "give fewer values, or more slots where the parameters have them",
                           "operand message has %llu values, but there are %u slots", (unsigned long long)count, slots);
  }
  hx_type_t *result = &call->results[0];
  hx_type_init(result, HX_TYPE_PLAINTEXT);
  hx_type_set_batch(result, 0, NULL);
  hx_type_set_word(result, HX_PART_COMPONENTS, 1);
  hx_type_set_word(result, HX_PART_DEPTH, depth);
  hx_type_set_scale(result, &scale);
  hx_type_set_word(result, HX_PART_BASIS, HX_BASIS_Q);
  hx_type_set_word(result, HX_PART_DOMAIN, HX_NTT);
  hx_type_set_word(result, HX_PART_REPR, HX_STANDARD);
  if (slots != 0) hx_type_set_word(result, HX_PART_SLOTS, slots);
  return HX_STATUS_OK;
}

hx_status_t hx_infer_ckks_decode(hx_infer_t *call) {
  hx_state_t state;
  HX_TRY(hx_ckks_load_plain(call, 0, HX_BASIS_Q, &state));
  hx_type_t *result = &call->results[0];
  hx_type_init(result, HX_TYPE_MESSAGE);
  result->count = state.type.slots;
  result->is_complex = true;
  // A program may take the first values alone, and their real parts alone.
  const hx_type_t *written = call->written == NULL ? NULL : call->written[0];
  if (written == NULL || written->kind != HX_TYPE_MESSAGE) return HX_STATUS_OK;
  result->is_complex = written->is_complex;
  if (written->count == 0) return HX_STATUS_OK;
  if (result->count != 0 && written->count > result->count) {
    return hx_infer_refuse(call, HX_CODE_LENGTH, "ask for at most as many values as there are slots",
                           "result message is written with %llu values, but operand a has %u slots",
                           (unsigned long long)written->count, state.type.slots);
  }
  result->count = written->count;
  return HX_STATUS_OK;
}

// The state of a plaintext as that of a ciphertext, or the other way; both lie on Q in ntt domain.
static void convert(const hx_state_t *from, hx_type_kind_t kind, hx_type_t *out) {
  static const hx_part_t kept[] = {HX_PART_BATCH, HX_PART_DEPTH, HX_PART_SCALE, HX_PART_PRIMES, HX_PART_SLOTS};
  hx_type_init(out, kind);
  for (size_t i = 0; i < HX_COUNT_OF(kept); ++i) hx_part_copy(kept[i], out, &from->type);
  hx_type_set_word(out, HX_PART_COMPONENTS, kind == HX_TYPE_CIPHERTEXT ? 2 : 1);
  hx_type_set_word(out, HX_PART_BASIS, HX_BASIS_Q);
  hx_type_set_word(out, HX_PART_DOMAIN, HX_NTT);
  hx_type_set_word(out, HX_PART_REPR, HX_STANDARD);
}

hx_status_t hx_infer_ckks_encrypt(hx_infer_t *call) {
  hx_state_t state;
  HX_TRY(hx_ckks_load_plain(call, 0, HX_BASIS_Q, &state));
  if (call->operand_count > 1) {
    HX_TRY(hx_infer_want_key(call, 1, 1u << HX_KEY_PUBLIC | 1u << HX_KEY_SECRET, "the public or secret key"));
  }
  convert(&state, HX_TYPE_CIPHERTEXT, &call->results[0]);
  return HX_STATUS_OK;
}

hx_status_t hx_infer_ckks_decrypt(hx_infer_t *call) {
  hx_state_t state;
  HX_TRY(hx_ckks_load(call, 0, &state));
  if (call->operand_count > 1) HX_TRY(hx_infer_want_key(call, 1, 1u << HX_KEY_SECRET, "the secret key"));
  convert(&state, HX_TYPE_PLAINTEXT, &call->results[0]);
  return HX_STATUS_OK;
}

hx_status_t hx_infer_ckks_prepare_plain(hx_infer_t *call) {
  hx_str_t purpose = {0};
  hx_attrs_get_text(call->attrs, "for", &purpose);
  const bool weighted = hx_str_equal(purpose, hx_str("weighted"));
  hx_state_t state;
  HX_TRY(hx_ckks_load_plain(call, 0, HX_BASIS_Q, &state));
  hx_type_set_word(&state.type, HX_PART_DOMAIN, HX_NTT);
  if (weighted) {
    if (call->ring != NULL && call->ring->p_count == 0) {
      return hx_infer_refuse(call, HX_CODE_PRIMES, "choose parameters with special primes",
                             "weighted sums are taken on Q and P, but the parameters have no special primes");
    }
    hx_type_forget(&state.type, HX_PART_PRIMES);
    hx_type_set_word(&state.type, HX_PART_BASIS, HX_BASIS_QP);
  }
  hx_ckks_finish(call, 0, &state);
  return HX_STATUS_OK;
}
