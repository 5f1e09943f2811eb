// SPDX-License-Identifier: Apache-2.0
// Inference of rns operations that change rows: conversions between bases, selections, keys and seeds.
#include "core/ops/infer_rns.h"

#include <string.h>

static hx_primes_t minus(const hx_primes_t *set, const hx_primes_t *part) {
  hx_primes_t rest = *set;
  for (size_t i = 0; i < HX_COUNT_OF(rest.bits); ++i) rest.bits[i] &= ~part->bits[i];
  return rest;
}

static hx_primes_t plus(const hx_primes_t *set, const hx_primes_t *part) {
  hx_primes_t both = *set;
  for (size_t i = 0; i < HX_COUNT_OF(both.bits); ++i) both.bits[i] |= part->bits[i];
  return both;
}

static hx_primes_t shared(const hx_primes_t *set, const hx_primes_t *part) {
  const hx_primes_t rest = minus(set, part);
  return minus(set, &rest);
}

static bool is_empty(const hx_primes_t *set) { return hx_primes_count(set) == 0; }

// A new tensor of one component on rows `ids`, ntt domain or coefficients.
static hx_status_t fresh(const hx_infer_t *call, uint32_t domain, hx_state_t *out) {
  const hx_primes_t ids = hx_infer_ids(hx_attrs_find(call->attrs, "ids"));
  hx_type_init(&out->type, HX_TYPE_TENSOR);
  memset(out->from, 0, sizeof out->from);
  if (call->ring != NULL) {
    const hx_primes_t all = hx_primes_range(0, call->ring->q_count + call->ring->p_count);
    if (!hx_primes_contain(&all, &ids)) {
      return hx_infer_fail(call, HX_CODE_ATTRIBUTE,
                           "attribute ids reaches beyond the prime ids 0 to %u of the parameters",
                           call->ring->q_count + call->ring->p_count - 1);
    }
    hx_type_set_word(&out->type, HX_PART_DTYPE, call->ring->word == 32 ? HX_U32 : HX_U64);
  }
  hx_type_set_batch(&out->type, 0, NULL);
  hx_type_set_word(&out->type, HX_PART_COMPONENTS, 1);
  hx_type_set_word(&out->type, HX_PART_DOMAIN, domain);
  hx_type_set_word(&out->type, HX_PART_REPR, HX_STANDARD);
  hx_state_set_rows(call, out, &ids);
  return HX_STATUS_OK;
}

hx_status_t hx_infer_core_constant(hx_infer_t *call) {
  hx_state_t state;
  HX_TRY(fresh(call, HX_NTT, &state));
  HX_TRY(hx_rns_check_residues(call, &state.type, 2));
  return hx_rns_finish(call, &state);
}

hx_status_t hx_infer_rns_expand(hx_infer_t *call) {
  hx_state_t state;
  HX_TRY(fresh(call, HX_NTT, &state));
  return hx_rns_finish(call, &state);
}

// The operand of a lift: signed words, or residues (one limb for center_lift).
static hx_status_t load_lifted(const hx_infer_t *call, hx_state_t *out) {
  hx_state_load(call, 0, HX_TYPE_TENSOR, out);
  const bool centred = call->op->id == HX_OP_RNS_CENTER_LIFT;
  if (centred && hx_type_knows(&out->type, HX_PART_DTYPE) && out->type.dtype == HX_I64) return HX_STATUS_OK;
  // Without a dtype it may still turn out to be signed words.
  if (centred && !hx_type_knows(&out->type, HX_PART_DTYPE) && !hx_type_knows(&out->type, HX_PART_PRIMES))
    return HX_STATUS_OK;
  HX_TRY(hx_rns_load_standard(call, 0, out));
  HX_TRY(hx_state_want(call, out, HX_PART_DOMAIN, HX_COEFFICIENT));
  if (centred && hx_type_knows(&out->type, HX_PART_PRIMES) && hx_primes_count(&out->type.primes) != 1) {
    return hx_infer_refuse(call, HX_CODE_PRIMES, "select one row with select_limbs, or use extend_exact",
                           "operand a has %u rows, it needs one", hx_primes_count(&out->type.primes));
  }
  return HX_STATUS_OK;
}

hx_status_t hx_infer_rns_lift(hx_infer_t *call) {
  hx_state_t operand, state;
  HX_TRY(load_lifted(call, &operand));
  HX_TRY(fresh(call, HX_COEFFICIENT, &state));
  hx_part_copy(HX_PART_BATCH, &state.type, &operand.type);
  hx_part_copy(HX_PART_COMPONENTS, &state.type, &operand.type);
  return hx_rns_finish(call, &state);
}

hx_status_t hx_infer_rns_mod_up(hx_infer_t *call) {
  const uint32_t digit = (uint32_t)hx_infer_integer(call, "digit", 0);
  hx_state_t state;
  HX_TRY(hx_rns_load_standard(call, 0, &state));
  HX_TRY(hx_state_want(call, &state, HX_PART_BASIS, HX_BASIS_Q));
  if (call->ring == NULL || !hx_type_knows(&state.type, HX_PART_PRIMES)) {
    hx_type_forget(&state.type, HX_PART_PRIMES);
    hx_type_set_word(&state.type, HX_PART_BASIS, HX_BASIS_QP);
    return hx_rns_finish(call, &state);
  }
  const uint32_t rows = hx_primes_count(&state.type.primes);
  const hx_primes_t prefix = hx_primes_range(0, rows);
  if (!hx_primes_equal(&prefix, &state.type.primes)) {
    return hx_infer_fail(call, HX_CODE_PRIMES, "operand a has to lie on the first primes of Q, without gaps");
  }
  const hx_primes_t own = hx_ring_digit(call->ring, digit, &state.type.primes);
  if (is_empty(&own)) {
    return hx_infer_fail(call, HX_CODE_ATTRIBUTE, "attribute digit is %u, but %u primes hold the digits 0 to %u alone",
                         digit, rows, (rows - 1) / call->ring->digit_run);
  }
  const hx_primes_t special = hx_ring_special(call->ring);
  const hx_primes_t raised = plus(&state.type.primes, &special);
  hx_state_set_rows(call, &state, &raised);
  return hx_rns_finish(call, &state);
}

// mod_down of P, without knowing the rows.
static hx_status_t drop_special(hx_infer_t *call, hx_state_t *state) {
  HX_TRY(hx_state_want(call, state, HX_PART_BASIS, HX_BASIS_QP));
  hx_type_forget(&state->type, HX_PART_PRIMES);
  hx_type_set_word(&state->type, HX_PART_BASIS, HX_BASIS_Q);
  return hx_rns_finish(call, state);
}

hx_status_t hx_infer_rns_mod_down(hx_infer_t *call) {
  const hx_attribute_t *list = hx_attrs_find(call->attrs, "drop");
  const bool special = list == NULL || list->kind == HX_ATTRIBUTE_TEXT;
  hx_state_t state;
  HX_TRY(hx_rns_load_standard(call, 0, &state));
  if (special && (call->ring == NULL || !hx_type_knows(&state.type, HX_PART_PRIMES))) return drop_special(call, &state);
  if (!hx_type_knows(&state.type, HX_PART_PRIMES)) {
    hx_type_forget(&state.type, HX_PART_BASIS);
    return hx_rns_finish(call, &state);
  }
  const hx_primes_t dropped = special ? hx_ring_special(call->ring) : hx_infer_ids(list);
  if (is_empty(&dropped)) return hx_infer_fail(call, HX_CODE_PRIMES, "the parameters have no special primes to drop");
  if (!hx_primes_contain(&state.type.primes, &dropped)) {
    return hx_infer_refuse(call, HX_CODE_PRIMES, "list the ids to drop in attribute drop",
                           "operand a lacks some of the primes to drop%s", special ? ", which are all of P" : "");
  }
  const hx_primes_t kept = minus(&state.type.primes, &dropped);
  if (is_empty(&kept)) return hx_infer_fail(call, HX_CODE_PRIMES, "no prime would be left");
  const bool same = hx_type_knows(&state.type, HX_PART_BASIS) && state.type.basis != HX_BASIS_QP;
  const uint32_t basis = state.type.basis;
  hx_state_set_rows(call, &state, &kept);
  if (same) hx_type_set_word(&state.type, HX_PART_BASIS, basis);  // part of Q is Q, part of P is P, under any ring
  return hx_rns_finish(call, &state);
}

hx_status_t hx_infer_rns_rescale(hx_infer_t *call) {
  const uint32_t count = (uint32_t)hx_infer_integer(call, "count", 1);
  hx_state_t state;
  HX_TRY(hx_rns_load_standard(call, 0, &state));
  const bool same = hx_type_knows(&state.type, HX_PART_BASIS) && state.type.basis != HX_BASIS_QP;
  const uint32_t basis = state.type.basis;
  if (hx_type_knows(&state.type, HX_PART_PRIMES)) {
    uint32_t ids[HX_PRIMES_MAX];
    const uint32_t rows = hx_primes_list(&state.type.primes, ids);
    if (count >= rows) {
      return hx_infer_refuse(call, HX_CODE_NO_DEPTH, "drop fewer rows, or choose parameters with more primes",
                             "%u rows are to be dropped of %u; one has to stay", count, rows);
    }
    hx_primes_t kept = {0};
    for (uint32_t i = 0; i < rows - count; ++i) hx_primes_add(&kept, ids[i]);
    hx_state_set_rows(call, &state, &kept);
  } else {
    hx_type_forget(&state.type, HX_PART_BASIS);
  }
  if (same) hx_type_set_word(&state.type, HX_PART_BASIS, basis);
  return hx_rns_finish(call, &state);
}

hx_status_t hx_infer_rns_select_limbs(hx_infer_t *call) {
  const hx_primes_t ids = hx_infer_ids(hx_attrs_find(call->attrs, "ids"));
  hx_state_t state;
  HX_TRY(hx_rns_load(call, 0, &state));
  if (hx_type_knows(&state.type, HX_PART_PRIMES) && !hx_primes_contain(&state.type.primes, &ids)) {
    return hx_infer_fail(call, HX_CODE_PRIMES, "attribute ids names primes that operand a does not lie on");
  }
  const bool same = hx_type_knows(&state.type, HX_PART_BASIS) && state.type.basis != HX_BASIS_QP;
  const uint32_t basis = state.type.basis;
  hx_state_set_rows(call, &state, &ids);
  if (same) hx_type_set_word(&state.type, HX_PART_BASIS, basis);
  return hx_rns_finish(call, &state);
}

// Adds the rows of a part to those gathered; they may not overlap.
static hx_status_t add_rows(const hx_infer_t *call, hx_state_t *state, const hx_state_t *part, size_t index) {
  const bool bases = hx_type_knows(&state->type, HX_PART_BASIS) && hx_type_knows(&part->type, HX_PART_BASIS);
  const uint32_t basis = state->type.basis | part->type.basis;  // the constants are bits
  if (hx_type_knows(&state->type, HX_PART_PRIMES) && hx_type_knows(&part->type, HX_PART_PRIMES)) {
    const hx_primes_t twice = shared(&state->type.primes, &part->type.primes);
    if (!is_empty(&twice)) {
      uint32_t ids[HX_PRIMES_MAX];
      char name[HX_NAME_MAX];
      hx_primes_list(&twice, ids);
      return hx_infer_fail(call, HX_CODE_PRIMES,
                           "operand %s has a row for prime id %u, which an operand before it has too",
                           hx_infer_operand_name(call, index, name), ids[0]);
    }
    const hx_primes_t both = plus(&state->type.primes, &part->type.primes);
    hx_type_set_primes(&state->type, &both);
  } else {
    hx_type_forget(&state->type, HX_PART_PRIMES);
  }
  hx_type_forget(&state->type, HX_PART_BASIS);
  if (bases) hx_type_set_word(&state->type, HX_PART_BASIS, basis);
  return HX_STATUS_OK;
}

hx_status_t hx_infer_rns_concat_limbs(hx_infer_t *call) {
  if (call->operand_count == 0) return hx_infer_fail(call, HX_CODE_OPERANDS, "it has at least 1 operand, not 0");
  hx_state_t state;
  HX_TRY(hx_rns_load(call, 0, &state));
  for (size_t i = 1; i < call->operand_count; ++i) {
    hx_state_t part;
    HX_TRY(hx_rns_load(call, i, &part));
    HX_TRY(hx_state_join(call, &state, &part,
                         HX_KNOWN_DTYPE | HX_KNOWN_DOMAIN | HX_KNOWN_REPR | HX_KNOWN_COMPONENTS | HX_KNOWN_BATCH));
    HX_TRY(add_rows(call, &state, &part, i));
  }
  return hx_rns_finish(call, &state);
}

hx_status_t hx_infer_rns_key_product(hx_infer_t *call) {
  const uint32_t digit = (uint32_t)hx_infer_integer(call, "digit", 0);
  hx_state_t state;
  HX_TRY(hx_rns_load_standard(call, 0, &state));
  HX_TRY(hx_state_want(call, &state, HX_PART_DOMAIN, HX_NTT));
  HX_TRY(hx_state_want(call, &state, HX_PART_COMPONENTS, 1));
  HX_TRY(hx_infer_want_key(call, 1, 1u << HX_KEY_RELIN | 1u << HX_KEY_GALOIS | 1u << HX_KEY_CONJ | 1u << HX_KEY_SWITCH,
                           "a switching key: relin, galois, conj or switch"));
  if (call->ring != NULL && hx_type_knows(&state.type, HX_PART_PRIMES)) {
    const hx_primes_t own = hx_ring_digit(call->ring, digit, &state.type.primes);
    if (is_empty(&own)) {
      return hx_infer_fail(call, HX_CODE_ATTRIBUTE, "attribute digit is %u, but operand d has no row of that digit",
                           digit);
    }
  }
  if (call->operand_count > 2) {
    hx_state_t acc;
    HX_TRY(hx_rns_load_standard(call, 2, &acc));
    HX_TRY(hx_state_want(call, &acc, HX_PART_COMPONENTS, 2));
    HX_TRY(hx_state_join(
        call, &state, &acc,
        HX_KNOWN_DTYPE | HX_KNOWN_PRIMES | HX_KNOWN_BASIS | HX_KNOWN_DOMAIN | HX_KNOWN_REPR | HX_KNOWN_BATCH));
  }
  hx_type_set_word(&state.type, HX_PART_COMPONENTS, 2);
  return hx_rns_finish(call, &state);
}

hx_status_t hx_infer_rns_key_slice(hx_infer_t *call) {
  const uint32_t digit = (uint32_t)hx_infer_integer(call, "digit", 0);
  HX_TRY(hx_infer_want_key(call, 0, 1u << HX_KEY_RELIN | 1u << HX_KEY_GALOIS | 1u << HX_KEY_CONJ | 1u << HX_KEY_SWITCH,
                           "a switching key: relin, galois, conj or switch"));
  if (call->ring != NULL && digit >= hx_ring_digit_count(call->ring, 0)) {
    return hx_infer_fail(call, HX_CODE_ATTRIBUTE, "attribute digit is %u, but the parameters have %u digits", digit,
                         hx_ring_digit_count(call->ring, 0));
  }
  hx_state_t state;
  HX_TRY(fresh(call, HX_NTT, &state));
  hx_type_set_word(&state.type, HX_PART_COMPONENTS, 2);
  return hx_rns_finish(call, &state);
}
