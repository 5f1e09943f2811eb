// SPDX-License-Identifier: Apache-2.0
// Transitions of rotations and conjugation, and the order of their keys.
#include "core/ckks/transition.h"

uint32_t hx_rotation_reduce(int64_t step, uint32_t slots) {
  const int64_t rest = step % (int64_t)slots;
  return (uint32_t)(rest < 0 ? rest + (int64_t)slots : rest);
}

size_t hx_rotation_steps(const hx_attribute_t *steps, size_t count, uint32_t slots, uint32_t *out_steps) {
  uint64_t seen[HX_SLOTS_MAX / 64] = {0};
  size_t found = 0;
  for (size_t i = 0; i < count; ++i) {
    const uint32_t step = hx_rotation_reduce(steps[i].integer, slots);
    const uint64_t bit = (uint64_t)1 << (step % 64);
    if (step == 0 || (seen[step / 64] & bit) != 0) continue;
    seen[step / 64] |= bit;
    if (out_steps != NULL) out_steps[found] = step;
    ++found;
  }
  return found;
}

// Operand `index`, where it is a Galois key of a known element, has to be the one for `step`.
static hx_status_t want_rotation_key(const hx_infer_t *call, size_t index, uint32_t slots, uint32_t step) {
  HX_TRY(hx_infer_want_key(call, index, 1u << HX_KEY_GALOIS, "a rotation key (kind = galois)"));
  const uint64_t found = call->operands[index]->element;
  if (call->ring == NULL || found == 0) return HX_STATUS_OK;
  const uint64_t element = hx_galois_element(call->ring->log_n, slots, step);
  if (found == element) return HX_STATUS_OK;
  char name[HX_NAME_MAX];
  return hx_infer_fail(call, HX_CODE_OPERANDS,
                       "operand %s is the rotation key of element %llu; step %u with %u slots needs element %llu",
                       hx_infer_operand_name(call, index, name), (unsigned long long)found, step, slots,
                       (unsigned long long)element);
}

// Keys from operand `first` on: none yet (resolve-keys adds them), or one a distinct step that is not 0.
static hx_status_t want_keys(const hx_infer_t *call, size_t first, const hx_type_t *state) {
  const hx_attribute_t *steps = NULL;
  size_t count = 0;
  hx_attrs_get_list(call->attrs, "steps", &steps, &count);
  const size_t keys = call->operand_count - first;
  const bool known = hx_type_knows(state, HX_PART_SLOTS);
  const size_t needed = known ? hx_rotation_steps(steps, count, state->slots, NULL) : count;
  if (keys > needed || (known && keys != 0 && keys != needed)) {
    return hx_infer_fail(call, HX_CODE_OPERANDS,
                         "it has %zu keys; its steps need %zu, one for each distinct step that is not 0", keys, needed);
  }
  uint64_t seen[HX_SLOTS_MAX / 64] = {0};
  size_t next = first;
  for (size_t i = 0; i < count && next < call->operand_count; ++i) {
    if (!known) {
      HX_TRY(hx_infer_want_key(call, next++, 1u << HX_KEY_GALOIS, "a rotation key (kind = galois)"));
      continue;
    }
    const uint32_t step = hx_rotation_reduce(steps[i].integer, state->slots);
    const uint64_t bit = (uint64_t)1 << (step % 64);
    if (step == 0 || (seen[step / 64] & bit) != 0) continue;
    seen[step / 64] |= bit;
    HX_TRY(want_rotation_key(call, next++, state->slots, step));
  }
  return HX_STATUS_OK;
}

static size_t step_count(const hx_infer_t *call) {
  const hx_attribute_t *steps = NULL;
  size_t count = 0;
  hx_attrs_get_list(call->attrs, "steps", &steps, &count);
  return count;
}

hx_status_t hx_infer_ckks_rotate(hx_infer_t *call) {
  hx_state_t state;
  HX_TRY(hx_ckks_load(call, 0, &state));
  HX_TRY(hx_state_want(call, &state, HX_PART_COMPONENTS, 2));
  if (call->operand_count > 1) {
    HX_TRY(hx_infer_want_key(call, 1, 1u << HX_KEY_GALOIS, "a rotation key (kind = galois)"));
    if (hx_type_knows(&state.type, HX_PART_SLOTS)) {
      const int64_t step = hx_infer_integer(call, "step", 0);
      const uint32_t reduced = hx_rotation_reduce(step, state.type.slots);
      if (reduced == 0) {
        return hx_infer_fail(call, HX_CODE_OPERANDS, "step %lld is 0 modulo %u slots: a copy, which takes no key",
                             (long long)step, state.type.slots);
      }
      HX_TRY(want_rotation_key(call, 1, state.type.slots, reduced));
    }
  }
  hx_ckks_set_output_domain(call, &state);
  hx_ckks_finish(call, 0, &state);
  return HX_STATUS_OK;
}

hx_status_t hx_infer_ckks_rotate_many(hx_infer_t *call) {
  hx_state_t state;
  HX_TRY(hx_ckks_load(call, 0, &state));
  HX_TRY(hx_state_want(call, &state, HX_PART_COMPONENTS, 2));
  HX_TRY(hx_infer_want_results(call, step_count(call), "one a step"));
  HX_TRY(want_keys(call, 1, &state.type));
  hx_ckks_set_output_domain(call, &state);
  for (size_t i = 0; i < call->result_count; ++i) hx_ckks_finish(call, i, &state);
  return HX_STATUS_OK;
}

hx_status_t hx_infer_ckks_conjugate(hx_infer_t *call) {
  hx_state_t state;
  HX_TRY(hx_ckks_load(call, 0, &state));
  HX_TRY(hx_state_want(call, &state, HX_PART_COMPONENTS, 2));
  if (call->operand_count > 1) {
    HX_TRY(hx_infer_want_key(call, 1, 1u << HX_KEY_CONJ | 1u << HX_KEY_GALOIS, "the conjugation key (kind = conj)"));
    const uint64_t element = call->operands[1]->element;
    if (call->ring != NULL && element != 0 && element != ((uint64_t)2 << call->ring->log_n) - 1) {
      return hx_infer_fail(call, HX_CODE_OPERANDS,
                           "operand key is the key of element %llu; conjugation needs element %llu",
                           (unsigned long long)element, (unsigned long long)(((uint64_t)2 << call->ring->log_n) - 1));
    }
  }
  hx_ckks_set_output_domain(call, &state);
  hx_ckks_finish(call, 0, &state);
  return HX_STATUS_OK;
}

// Operands first .. first+count-1 have to be of a kind.
static hx_status_t want_kinds(const hx_infer_t *call, size_t first, size_t count, hx_type_kind_t kind,
                              const char *what) {
  if (first + count > call->operand_count) {
    return hx_infer_fail(call, HX_CODE_OPERANDS, "it needs %zu %ss (%s), but has %zu operands in all", count,
                         hx_type_kind_name(kind), what, call->operand_count);
  }
  for (size_t i = first; i < first + count; ++i) {
    if (call->operands[i]->kind == kind) continue;
    char name[HX_NAME_MAX];
    return hx_infer_fail(call, HX_CODE_OPERANDS, "operand %s has to be a %s (%s), not a %s",
                         hx_infer_operand_name(call, i, name), hx_type_kind_name(kind), what,
                         hx_type_kind_name(call->operands[i]->kind));
  }
  return HX_STATUS_OK;
}

// One group: its plaintexts on Q and P have one scale.
static hx_status_t weigh_group(const hx_infer_t *call, size_t first, size_t terms, hx_state_t *sum) {
  hx_state_t weights, weight;
  for (size_t t = 0; t < terms; ++t) {
    hx_state_t *plain = t == 0 ? &weights : &weight;
    HX_TRY(hx_ckks_load_plain(call, first + t, HX_BASIS_QP, plain));
    HX_TRY(hx_state_want(call, plain, HX_PART_DOMAIN, HX_NTT));
    HX_TRY(hx_state_join(call, sum, plain, HX_KNOWN_DEPTH | HX_KNOWN_SLOTS | HX_KNOWN_BATCH));
    if (t > 0) HX_TRY(hx_state_join(call, &weights, &weight, HX_KNOWN_SCALE | HX_KNOWN_PRIMES));
  }
  return hx_ckks_scale_by(call, sum, &weights.type);
}

hx_status_t hx_infer_ckks_rotate_weighted_sum(hx_infer_t *call) {
  const size_t terms = step_count(call), groups = (size_t)hx_infer_integer(call, "groups", 1);
  hx_state_t state;
  HX_TRY(hx_ckks_load(call, 0, &state));
  HX_TRY(hx_state_want(call, &state, HX_PART_COMPONENTS, 2));
  HX_TRY(hx_infer_want_results(call, groups, "one a group"));
  HX_TRY(want_kinds(call, 1, terms * groups, HX_TYPE_PLAINTEXT, "one a step and group"));
  hx_type_set_word(&state.type, HX_PART_DOMAIN, HX_NTT);
  for (size_t group = 0; group < groups; ++group) {
    hx_state_t sum = state;
    HX_TRY(weigh_group(call, 1 + group * terms, terms, &sum));
    hx_ckks_finish(call, group, &sum);
  }
  HX_TRY(want_kinds(call, 1 + terms * groups, call->operand_count - 1 - terms * groups, HX_TYPE_KEY,
                    "one a distinct step"));
  return want_keys(call, 1 + terms * groups, &state.type);
}

hx_status_t hx_infer_ckks_rotate_sum(hx_infer_t *call) {
  const size_t terms = step_count(call);
  HX_TRY(want_kinds(call, 0, terms, HX_TYPE_CIPHERTEXT, "one a step"));
  HX_TRY(want_kinds(call, terms, call->operand_count - terms, HX_TYPE_KEY, "one a distinct step"));
  hx_state_t sum, term;
  for (size_t t = 0; t < terms; ++t) {
    hx_state_t *state = t == 0 ? &sum : &term;
    HX_TRY(hx_ckks_load(call, t, state));
    HX_TRY(hx_state_want(call, state, HX_PART_COMPONENTS, 2));
    if (t > 0) HX_TRY(hx_state_join(call, &sum, &term, HX_CKKS_ALIKE | HX_KNOWN_SCALE));
  }
  hx_type_set_word(&sum.type, HX_PART_DOMAIN, HX_NTT);
  HX_TRY(want_keys(call, terms, &sum.type));
  hx_ckks_finish(call, 0, &sum);
  return HX_STATUS_OK;
}
