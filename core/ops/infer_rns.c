// SPDX-License-Identifier: Apache-2.0
// Inference of the ntt and rns dialects: residues in, residues out. Rows that change their primes are in infer_rows.c.
#include "core/ops/infer_rns.h"

#include <string.h>

// Everything that two operands of one element-wise operation share.
#define ALIKE (HX_KNOWN_DTYPE | HX_KNOWN_PRIMES | HX_KNOWN_BASIS | HX_KNOWN_DOMAIN | HX_KNOWN_REPR | HX_KNOWN_BATCH)

hx_status_t hx_rns_load(const hx_infer_t *call, size_t index, hx_state_t *out) {
  hx_state_load(call, index, HX_TYPE_TENSOR, out);
  if (call->ring != NULL) return hx_state_want(call, out, HX_PART_DTYPE, call->ring->word == 32 ? HX_U32 : HX_U64);
  if (!hx_type_knows(&out->type, HX_PART_DTYPE) || out->type.dtype == HX_U64 || out->type.dtype == HX_U32)
    return HX_STATUS_OK;
  return hx_state_want(call, out, HX_PART_DTYPE, HX_U64);
}

hx_status_t hx_rns_load_standard(const hx_infer_t *call, size_t index, hx_state_t *out) {
  HX_TRY(hx_rns_load(call, index, out));
  return hx_state_want(call, out, HX_PART_REPR, HX_STANDARD);
}

hx_status_t hx_rns_join(const hx_infer_t *call, hx_state_t *state, size_t index) {
  hx_state_t other;
  HX_TRY(hx_rns_load(call, index, &other));
  HX_TRY(hx_state_join(call, state, &other, ALIKE));
  return hx_state_join_broadcast(call, state, &other);
}

hx_status_t hx_rns_finish(hx_infer_t *call, const hx_state_t *state) {
  hx_type_copy(&call->results[0], &state->type);
  return HX_STATUS_OK;
}

hx_status_t hx_infer_ntt(hx_infer_t *call) {
  const bool forward = call->op->id == HX_OP_NTT_FORWARD;
  hx_state_t state;
  HX_TRY(hx_rns_load_standard(call, 0, &state));
  HX_TRY(hx_state_want(call, &state, HX_PART_DOMAIN, forward ? HX_COEFFICIENT : HX_NTT));
  hx_type_set_word(&state.type, HX_PART_DOMAIN, forward ? HX_NTT : HX_COEFFICIENT);
  return hx_rns_finish(call, &state);
}

// The montgomery form is left to its own rows.
static hx_status_t refuse_montgomery(const hx_infer_t *call, hx_state_t *state) {
  const bool found = hx_type_knows(&state->type, HX_PART_REPR) && state->type.repr == HX_MONTGOMERY;
  return found ? hx_state_want(call, state, HX_PART_REPR, HX_STANDARD) : HX_STATUS_OK;
}

hx_status_t hx_infer_rns_linear(hx_infer_t *call) {
  hx_state_t state;
  HX_TRY(hx_rns_load(call, 0, &state));
  HX_TRY(refuse_montgomery(call, &state));
  for (size_t i = 1; i < call->operand_count; ++i) HX_TRY(hx_rns_join(call, &state, i));
  HX_TRY(refuse_montgomery(call, &state));
  return hx_rns_finish(call, &state);
}

hx_status_t hx_infer_rns_product(hx_infer_t *call) {
  hx_state_t state;
  HX_TRY(hx_rns_load_standard(call, 0, &state));
  for (size_t i = 1; i < call->operand_count; ++i) HX_TRY(hx_rns_join(call, &state, i));
  return hx_rns_finish(call, &state);
}

hx_status_t hx_rns_check_residues(const hx_infer_t *call, const hx_type_t *type, size_t words) {
  const hx_attribute_t *list = hx_attrs_find(call->attrs, "residues");
  if (!hx_type_knows(type, HX_PART_PRIMES)) return HX_STATUS_OK;
  uint32_t ids[HX_PRIMES_MAX];
  const size_t rows = hx_primes_list(&type->primes, ids);
  if (list->count != rows * words) {
    return hx_infer_fail(call, HX_CODE_ATTRIBUTE, "attribute residues has %zu words, its %zu rows need %zu",
                         list->count, rows, rows * words);
  }
  for (size_t i = 0; i < list->count && call->ring != NULL; ++i) {
    const uint64_t residue = (uint64_t)list->list[i].integer, prime = call->ring->primes[ids[i / words]];
    if (residue >= prime) {
      return hx_infer_fail(call, HX_CODE_ATTRIBUTE,
                           "attribute residues has %llu for q%u, which is not below the prime %llu",
                           (unsigned long long)residue, ids[i / words], (unsigned long long)prime);
    }
  }
  return HX_STATUS_OK;
}

hx_status_t hx_infer_rns_scalar(hx_infer_t *call) {
  hx_state_t state;
  HX_TRY(hx_rns_load_standard(call, 0, &state));
  HX_TRY(hx_rns_check_residues(call, &state.type, 1));
  return hx_rns_finish(call, &state);
}

hx_status_t hx_infer_rns_reduce(hx_infer_t *call) {
  hx_state_t state;
  HX_TRY(hx_rns_load(call, 0, &state));
  HX_TRY(refuse_montgomery(call, &state));
  hx_type_set_word(&state.type, HX_PART_REPR, HX_STANDARD);
  return hx_rns_finish(call, &state);
}

hx_status_t hx_infer_rns_montgomery(hx_infer_t *call) {
  const bool to = call->op->id == HX_OP_RNS_TO_MONTGOMERY, from = call->op->id == HX_OP_RNS_FROM_MONTGOMERY;
  hx_state_t state;
  HX_TRY(hx_rns_load(call, 0, &state));
  for (size_t i = 1; i < call->operand_count; ++i) HX_TRY(hx_rns_join(call, &state, i));
  HX_TRY(hx_state_want(call, &state, HX_PART_REPR, to ? HX_STANDARD : HX_MONTGOMERY));
  hx_type_set_word(&state.type, HX_PART_REPR, from ? HX_STANDARD : HX_MONTGOMERY);
  return hx_rns_finish(call, &state);
}

hx_status_t hx_infer_rns_automorphism(hx_infer_t *call) {
  const int64_t element = hx_infer_integer(call, "element", 0);
  if (element % 2 == 0 || (call->ring != NULL && element >> (call->ring->log_n + 1) != 0)) {
    return hx_infer_fail(call, HX_CODE_ATTRIBUTE, "attribute element is %lld; a Galois element is odd and below 2N",
                         (long long)element);
  }
  hx_state_t state;
  HX_TRY(hx_rns_load_standard(call, 0, &state));
  return hx_rns_finish(call, &state);
}

hx_status_t hx_infer_drop_axis(const hx_infer_t *call, hx_type_t *type) {
  if (!hx_type_knows(type, HX_PART_BATCH)) return HX_STATUS_OK;
  const uint32_t axis = (uint32_t)hx_infer_integer(call, "axis", 0);
  if (axis >= type->batch_rank) {
    return hx_infer_fail(call, HX_CODE_ATTRIBUTE, "attribute axis is %u, but the operand has %u batch axes", axis,
                         type->batch_rank);
  }
  uint64_t shape[HX_BATCH_RANK_MAX] = {0};
  for (uint32_t from = 0, to = 0; from < type->batch_rank; ++from) {
    if (from != axis) shape[to++] = type->batch_shape[from];
  }
  hx_type_set_batch(type, type->batch_rank - 1, shape);
  return HX_STATUS_OK;
}

hx_status_t hx_infer_rns_sum(hx_infer_t *call) {
  hx_state_t state;
  HX_TRY(hx_rns_load_standard(call, 0, &state));
  HX_TRY(hx_infer_drop_axis(call, &state.type));
  return hx_rns_finish(call, &state);
}

hx_status_t hx_infer_rns_weighted_sum(hx_infer_t *call) {
  const size_t groups = (size_t)hx_infer_integer(call, "groups", 1);
  size_t terms = 0;
  HX_TRY(hx_infer_split_terms(call, groups, &terms));
  hx_state_t values;
  HX_TRY(hx_rns_load_standard(call, 0, &values));
  for (size_t t = 1; t < terms; ++t) {
    hx_state_t value;
    HX_TRY(hx_rns_load_standard(call, t, &value));
    HX_TRY(hx_state_join(call, &values, &value, ALIKE | HX_KNOWN_COMPONENTS));
  }
  for (size_t group = 0; group < groups; ++group) {
    hx_state_t sum = values;
    for (size_t t = 0; t < terms; ++t) {
      hx_state_t weight;
      HX_TRY(hx_rns_load_standard(call, terms * (group + 1) + t, &weight));
      HX_TRY(hx_state_want(call, &weight, HX_PART_COMPONENTS, 1));
      HX_TRY(hx_state_join(call, &sum, &weight, ALIKE));
    }
    hx_type_copy(&call->results[group], &sum.type);
  }
  return HX_STATUS_OK;
}

hx_status_t hx_infer_rns_mixed_radix(hx_infer_t *call) {
  hx_state_t state;
  HX_TRY(hx_rns_load_standard(call, 0, &state));
  HX_TRY(hx_state_want(call, &state, HX_PART_DOMAIN, HX_COEFFICIENT));
  return hx_rns_finish(call, &state);
}

hx_status_t hx_infer_rns_select_components(hx_infer_t *call) {
  const int64_t first = hx_infer_integer(call, "first", 0), count = hx_infer_integer(call, "count", 1);
  hx_state_t state;
  HX_TRY(hx_rns_load(call, 0, &state));
  if (hx_type_knows(&state.type, HX_PART_COMPONENTS) && first + count > state.type.components) {
    return hx_infer_fail(call, HX_CODE_ATTRIBUTE, "components %lld to %lld are asked for, but the operand has %u",
                         (long long)first, (long long)(first + count - 1), state.type.components);
  }
  hx_type_set_word(&state.type, HX_PART_COMPONENTS, (uint32_t)count);
  return hx_rns_finish(call, &state);
}

hx_status_t hx_infer_rns_pack_components(hx_infer_t *call) {
  if (call->operand_count == 0) return hx_infer_fail(call, HX_CODE_OPERANDS, "it has at least 1 operand, not 0");
  hx_state_t state;
  uint64_t components = 0;
  bool known = true;
  for (size_t i = 0; i < call->operand_count; ++i) {
    hx_state_t part;
    HX_TRY(hx_rns_load(call, i, &part));
    known = known && hx_type_knows(&part.type, HX_PART_COMPONENTS);
    components += part.type.components;
    if (i == 0) state = part;
    if (i > 0) HX_TRY(hx_state_join(call, &state, &part, ALIKE));
  }
  if (components > HX_COMPONENTS_MAX) {
    return hx_infer_fail(call, HX_CODE_COMPONENTS, "%llu components are more than the %u that a value may have",
                         (unsigned long long)components, HX_COMPONENTS_MAX);
  }
  hx_type_forget(&state.type, HX_PART_COMPONENTS);
  if (known) hx_type_set_word(&state.type, HX_PART_COMPONENTS, (uint32_t)components);
  return hx_rns_finish(call, &state);
}

hx_status_t hx_infer_rns_select_batch(hx_infer_t *call) {
  const int64_t start = hx_infer_integer(call, "start", 0), items = hx_infer_integer(call, "items", 1);
  const uint32_t axis = (uint32_t)hx_infer_integer(call, "axis", 0);
  hx_state_t state;
  HX_TRY(hx_rns_load(call, 0, &state));
  if (!hx_type_knows(&state.type, HX_PART_BATCH)) return hx_rns_finish(call, &state);
  const uint64_t size = axis < state.type.batch_rank ? state.type.batch_shape[axis] : 0;
  if (size == 0) {
    return hx_infer_fail(call, HX_CODE_ATTRIBUTE, "attribute axis is %u, but the operand has %u batch axes", axis,
                         state.type.batch_rank);
  }
  if (start < 0 || items < 1 || (uint64_t)start >= size || (uint64_t)items > size - (uint64_t)start) {
    return hx_infer_fail(call, HX_CODE_ATTRIBUTE, "%lld items from %lld on are asked for, but axis %u has %llu",
                         (long long)items, (long long)start, axis, (unsigned long long)size);
  }
  if (hx_attrs_find(call->attrs, "items") == NULL) {
    HX_TRY(hx_infer_drop_axis(call, &state.type));
  } else {
    state.type.batch_shape[axis] = (uint64_t)items;
  }
  return hx_rns_finish(call, &state);
}

hx_status_t hx_infer_rns_reinterpret(hx_infer_t *call) {
  hx_str_t text = {0};
  hx_attrs_get_text(call->attrs, "repr", &text);
  size_t count = 0;
  const char *const *words = hx_part_words(HX_PART_REPR, &count);
  hx_state_t state;
  HX_TRY(hx_rns_load(call, 0, &state));
  for (uint32_t i = 0; i < count; ++i) {
    if (words[i] == NULL || !hx_str_equal(text, hx_str(words[i]))) continue;
    hx_type_set_word(&state.type, HX_PART_REPR, i);
    return hx_rns_finish(call, &state);
  }
  return hx_infer_fail(call, HX_CODE_ATTRIBUTE, "attribute repr is \"%.*s\"; it has to be standard, lazy or montgomery",
                       (int)(text.size < 64 ? text.size : 64), text.data);
}
