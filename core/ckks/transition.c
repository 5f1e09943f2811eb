// SPDX-License-Identifier: Apache-2.0
// Transitions of arithmetic: sums, products, constants.
#include "core/ckks/transition.h"

#include "core/ops/infer_rns.h"

hx_status_t hx_ckks_load(const hx_infer_t *call, size_t index, hx_state_t *out) {
  hx_state_load(call, index, HX_TYPE_CIPHERTEXT, out);
  return hx_state_want(call, out, HX_PART_REPR, HX_STANDARD);
}

hx_status_t hx_ckks_load_plain(const hx_infer_t *call, size_t index, uint32_t basis, hx_state_t *out) {
  hx_state_load(call, index, HX_TYPE_PLAINTEXT, out);
  if (basis != 0) HX_TRY(hx_state_want(call, out, HX_PART_BASIS, basis));
  hx_type_derive(&out->type, call->ring);
  return hx_state_want(call, out, HX_PART_REPR, HX_STANDARD);
}

void hx_ckks_finish(hx_infer_t *call, size_t result, const hx_state_t *state) {
  hx_type_copy(&call->results[result], &state->type);
}

hx_status_t hx_ckks_scale_by(const hx_infer_t *call, hx_state_t *state, const hx_type_t *factor) {
  if (!hx_type_knows(&state->type, HX_PART_SCALE) || !hx_type_knows(factor, HX_PART_SCALE)) {
    hx_type_forget(&state->type, HX_PART_SCALE);
    return HX_STATUS_OK;
  }
  hx_report_t *inner = call->report == NULL ? NULL : hx_report_create();
  hx_status_t status = hx_scale_multiply(&state->type.scale, &factor->scale, &state->type.scale, inner);
  if (status != HX_STATUS_OK) status = hx_infer_retell(call, inner, HX_CODE_SCALE_RANGE, "the product's scale");
  hx_report_release(inner);
  return status;
}

void hx_ckks_set_depth(hx_state_t *state, uint32_t depth) {
  if (hx_type_knows(&state->type, HX_PART_DEPTH) && state->type.depth == depth) return;
  hx_type_forget(&state->type, HX_PART_PRIMES);  // filled in from depth and basis where the ring is known
  hx_type_set_word(&state->type, HX_PART_DEPTH, depth);
}

void hx_ckks_set_output_domain(const hx_infer_t *call, hx_state_t *state) {
  hx_str_t text = hx_str("ntt");
  hx_attrs_get_text(call->attrs, "output_domain", &text);
  hx_type_set_word(&state->type, HX_PART_DOMAIN, hx_str_equal(text, hx_str("ntt")) ? HX_NTT : HX_COEFFICIENT);
}

// Joins operand 1 as a plaintext of ntt domain on Q; `parts` beyond those always shared.
static hx_status_t join_plain(const hx_infer_t *call, hx_state_t *state, hx_state_t *plain, uint32_t parts) {
  HX_TRY(hx_state_want(call, state, HX_PART_DOMAIN, HX_NTT));
  HX_TRY(hx_ckks_load_plain(call, 1, HX_BASIS_Q, plain));
  HX_TRY(hx_state_want(call, plain, HX_PART_DOMAIN, HX_NTT));
  return hx_state_join(call, state, plain, HX_CKKS_ALIKE | parts);
}

hx_status_t hx_infer_ckks_linear(hx_infer_t *call) {
  const hx_op_id_t id = call->op->id;
  hx_state_t state, other;
  HX_TRY(hx_ckks_load(call, 0, &state));
  if (id == HX_OP_CKKS_ADD || id == HX_OP_CKKS_SUB) {
    HX_TRY(hx_ckks_load(call, 1, &other));
    HX_TRY(hx_state_join(call, &state, &other, HX_CKKS_ALIKE | HX_KNOWN_COMPONENTS | HX_KNOWN_SCALE));
  } else if (id == HX_OP_CKKS_ADD_PLAIN || id == HX_OP_CKKS_SUB_PLAIN) {
    HX_TRY(join_plain(call, &state, &other, HX_KNOWN_SCALE));
  }
  hx_ckks_finish(call, 0, &state);
  return HX_STATUS_OK;
}

hx_status_t hx_infer_ckks_product(hx_infer_t *call) {
  hx_state_t state, other;
  HX_TRY(hx_ckks_load(call, 0, &state));
  if (call->op->id == HX_OP_CKKS_MUL_PLAIN) {
    HX_TRY(join_plain(call, &state, &other, 0));
  } else {
    // square is mul of operand 0 with itself.
    HX_TRY(hx_ckks_load(call, call->operand_count - 1, &other));
    HX_TRY(hx_state_want(call, &state, HX_PART_COMPONENTS, 2));
    HX_TRY(hx_state_want(call, &other, HX_PART_COMPONENTS, 2));
    HX_TRY(hx_state_want(call, &state, HX_PART_DOMAIN, HX_NTT));
    HX_TRY(hx_state_want(call, &other, HX_PART_DOMAIN, HX_NTT));
    HX_TRY(hx_state_join(call, &state, &other, HX_CKKS_ALIKE));
    hx_type_set_word(&state.type, HX_PART_COMPONENTS, 3);
  }
  HX_TRY(hx_ckks_scale_by(call, &state, &other.type));
  hx_ckks_finish(call, 0, &state);
  return HX_STATUS_OK;
}

hx_status_t hx_infer_ckks_add_scalar(hx_infer_t *call) {
  hx_state_t state;
  HX_TRY(hx_ckks_load(call, 0, &state));
  HX_TRY(hx_state_want(call, &state, HX_PART_DOMAIN, HX_NTT));
  hx_ckks_finish(call, 0, &state);
  return HX_STATUS_OK;
}

// The attribute passed its rule, so it parses.
static hx_status_t read_scale(const hx_infer_t *call, hx_type_t *out) {
  hx_str_t text = {0};
  hx_scale_t scale;
  hx_attrs_get_text(call->attrs, "scale", &text);
  HX_TRY(hx_scale_parse(text, call->ring, &scale, call->report));
  hx_type_set_scale(out, &scale);
  return HX_STATUS_OK;
}

hx_status_t hx_infer_ckks_mul_scalar(hx_infer_t *call) {
  hx_state_t state;
  hx_type_t constant;
  hx_type_init(&constant, HX_TYPE_PLAINTEXT);
  HX_TRY(hx_ckks_load(call, 0, &state));
  HX_TRY(hx_state_want(call, &state, HX_PART_DOMAIN, HX_NTT));
  HX_TRY(read_scale(call, &constant));
  HX_TRY(hx_ckks_scale_by(call, &state, &constant));
  hx_ckks_finish(call, 0, &state);
  return HX_STATUS_OK;
}

hx_status_t hx_infer_ckks_reinterpret_scale(hx_infer_t *call) {
  hx_state_t state;
  if (call->operands[0]->kind == HX_TYPE_PLAINTEXT) {
    HX_TRY(hx_ckks_load_plain(call, 0, 0, &state));
  } else {
    HX_TRY(hx_ckks_load(call, 0, &state));
  }
  HX_TRY(read_scale(call, &state.type));
  hx_ckks_finish(call, 0, &state);
  return HX_STATUS_OK;
}

hx_status_t hx_infer_ckks_sum(hx_infer_t *call) {
  hx_state_t state;
  HX_TRY(hx_ckks_load(call, 0, &state));
  HX_TRY(hx_infer_drop_axis(call, &state.type));
  hx_ckks_finish(call, 0, &state);
  return HX_STATUS_OK;
}

static hx_status_t want_kind(const hx_infer_t *call, size_t index, hx_type_kind_t kind) {
  if (call->operands[index]->kind == kind) return HX_STATUS_OK;
  char name[HX_NAME_MAX];
  return hx_infer_fail(call, HX_CODE_OPERANDS, "operand %s has to be a %s, not a %s",
                       hx_infer_operand_name(call, index, name), hx_type_kind_name(kind),
                       hx_type_kind_name(call->operands[index]->kind));
}

// Adds product t of a group to its sum: all products of a group have one scale.
static hx_status_t add_product(const hx_infer_t *call, hx_state_t *sum, size_t term, size_t weight) {
  hx_state_t plain, product;
  HX_TRY(want_kind(call, weight, HX_TYPE_PLAINTEXT));
  HX_TRY(hx_ckks_load_plain(call, weight, HX_BASIS_Q, &plain));
  HX_TRY(hx_state_want(call, &plain, HX_PART_DOMAIN, HX_NTT));
  HX_TRY(hx_state_join(call, sum, &plain, HX_CKKS_ALIKE));
  HX_TRY(hx_ckks_load(call, term, &product));
  HX_TRY(hx_ckks_scale_by(call, &product, &plain.type));
  const bool known = hx_type_knows(&sum->type, HX_PART_SCALE) && hx_type_knows(&product.type, HX_PART_SCALE);
  if (known && !hx_scale_equal(&sum->type.scale, &product.type.scale)) {
    char texts[2][HX_SCALE_TEXT_MAX], name[HX_NAME_MAX];
    hx_scale_print(&sum->type.scale, texts[0]);
    hx_scale_print(&product.type.scale, texts[1]);
    return hx_infer_refuse(
        call, HX_CODE_SCALE_MISMATCH, "encode that plaintext at the scale that gives the group's product scale",
        "the product with operand %s has scale %.1000s (2^%.6f), the products before it %.1000s (2^%.6f), a ratio of "
        "2^%.3g",
        hx_infer_operand_name(call, weight, name), texts[1], hx_scale_log2(&product.type.scale, call->ring), texts[0],
        hx_scale_log2(&sum->type.scale, call->ring),
        hx_scale_log2(&product.type.scale, call->ring) - hx_scale_log2(&sum->type.scale, call->ring));
  }
  if (!hx_type_knows(&sum->type, HX_PART_SCALE)) hx_part_copy(HX_PART_SCALE, &sum->type, &product.type);
  return HX_STATUS_OK;
}

hx_status_t hx_infer_ckks_weighted_sum(hx_infer_t *call) {
  const size_t groups = (size_t)hx_infer_integer(call, "groups", 1);
  size_t terms = 0;
  HX_TRY(hx_infer_split_terms(call, groups, &terms));
  hx_state_t values, value;
  for (size_t t = 0; t < terms; ++t) {
    HX_TRY(want_kind(call, t, HX_TYPE_CIPHERTEXT));
    HX_TRY(hx_ckks_load(call, t, t == 0 ? &values : &value));
    if (t > 0) HX_TRY(hx_state_join(call, &values, &value, HX_CKKS_ALIKE | HX_KNOWN_COMPONENTS));
  }
  HX_TRY(hx_state_want(call, &values, HX_PART_DOMAIN, HX_NTT));
  hx_type_forget(&values.type, HX_PART_SCALE);
  for (size_t group = 0; group < groups; ++group) {
    hx_state_t sum = values;
    for (size_t t = 0; t < terms; ++t) HX_TRY(add_product(call, &sum, t, terms * (group + 1) + t));
    hx_ckks_finish(call, group, &sum);
  }
  return HX_STATUS_OK;
}
