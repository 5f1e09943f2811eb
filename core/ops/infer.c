// SPDX-License-Identifier: Apache-2.0
#include "core/ops/infer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TEXT_MAX 4096

// ------------------------------------------------------------------ faults

static hx_status_t fail_with(const hx_infer_t *call, hx_code_t code, const char *hint, const char *format,
                             va_list arguments) {
  if (call->report == NULL) return hx_code_info(code)->status;
  char text[TEXT_MAX];
  const size_t size = (size_t)snprintf(text, sizeof text, "%s: ", call->op->name);
  if (vsnprintf(text + size, sizeof text - size, format, arguments) < 0) text[size] = '\0';
  return hx_report_add(call->report, &(hx_fault_t){.code = code,
                                                   .source = call->source,
                                                   .line = call->line,
                                                   .column = call->column,
                                                   .text = text,
                                                   .hint = hint});
}

hx_status_t hx_infer_fail(const hx_infer_t *call, hx_code_t code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const hx_status_t status = fail_with(call, code, NULL, format, arguments);
  va_end(arguments);
  return status;
}

hx_status_t hx_infer_refuse(const hx_infer_t *call, hx_code_t code, const char *hint, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const hx_status_t status = fail_with(call, code, hint, format, arguments);
  va_end(arguments);
  return status;
}

hx_status_t hx_infer_retell(const hx_infer_t *call, const hx_report_t *inner, hx_code_t fallback, const char *what) {
  const hx_fault_t *fault = hx_report_get(inner, 0);
  if (fault == NULL) return hx_infer_fail(call, fallback, "%s is refused", what);
  return hx_infer_refuse(call, fault->code, fault->hint, "%s: %s", what, fault->text);
}

const char *hx_infer_operand_name(const hx_infer_t *call, size_t index, char out_name[HX_NAME_MAX]) {
  return hx_op_operand_name(call->op, index, call->operand_count, out_name);
}

// ------------------------------------------------------------------ loading and joining

void hx_state_load(const hx_infer_t *call, size_t index, hx_type_kind_t kind, hx_state_t *out) {
  hx_type_t operand;
  hx_type_copy(&operand, call->operands[index]);
  hx_type_derive(&operand, call->ring);
  hx_type_init(&out->type, kind);
  for (hx_part_t part = 0; part < HX_PART_COUNT; ++part) {
    out->from[part] = index;
    if ((hx_type_parts(kind) & hx_part_bit(part)) != 0) hx_part_copy(part, &out->type, &operand);
  }
  if (kind == HX_TYPE_TENSOR && operand.kind != HX_TYPE_TENSOR && call->ring != NULL) {
    hx_type_set_word(&out->type, HX_PART_DTYPE, call->ring->word == 32 ? HX_U32 : HX_U64);
  }
}

// What to say where two operands differ in a part: "operand a <verb> <phrase> VALUE, operand b <phrase> VALUE".
typedef struct difference {
  hx_code_t code;
  const char *verb, *phrase;
  const char *hint;  // NULL: made from the operands
} difference_t;

static const difference_t differences[HX_PART_COUNT] = {
    [HX_PART_DTYPE] = {HX_CODE_TYPE, "has", "dtype", "use values of one parameter set"},
    [HX_PART_BATCH] = {HX_CODE_SHAPE, "has", "batch", "operands have equal batches, or one has none"},
    [HX_PART_COMPONENTS] = {HX_CODE_COMPONENTS, "has", "components", NULL},
    [HX_PART_DEPTH] = {HX_CODE_DEPTH_MISMATCH, "is", "at depth", NULL},
    [HX_PART_SCALE] = {HX_CODE_SCALE_MISMATCH, "has", "scale", NULL},
    [HX_PART_PRIMES] = {HX_CODE_PRIMES, "lies", "on primes", "select the same rows of both"},
    [HX_PART_BASIS] = {HX_CODE_PRIMES, "lies", "on basis", "bring both to one basis with mod_down or prepare_plain"},
    [HX_PART_DOMAIN] = {HX_CODE_DOMAIN, "is", "in domain",
                        "transform it with to_ntt or from_ntt (ntt.forward, ntt.inverse)"},
    [HX_PART_REPR] = {HX_CODE_DOMAIN, "is", "in representation",
                      "end the lazy form with reduce, the montgomery form with from_montgomery"},
    [HX_PART_SLOTS] = {HX_CODE_SLOTS_MISMATCH, "is", "packed with slots", "encode both with the same slots"},
};

static hx_status_t scales_differ(const hx_infer_t *call, const hx_state_t *state, const hx_state_t *other) {
  const hx_scale_t *scales[2] = {&state->type.scale, &other->type.scale};
  char names[2][HX_NAME_MAX], texts[2][HX_SCALE_TEXT_MAX], sizes[2][32] = {"", ""}, ratio[64] = "";
  // Without parameters the size of a prime is not known.
  const bool sized = call->ring != NULL || (scales[0]->term_count == 0 && scales[1]->term_count == 0);
  double log2[2] = {0, 0};
  for (int i = 0; i < 2; ++i) {
    hx_infer_operand_name(call, (i == 0 ? state : other)->from[HX_PART_SCALE], names[i]);
    hx_scale_print(scales[i], texts[i]);
    log2[i] = hx_scale_log2(scales[i], call->ring);
    if (sized) snprintf(sizes[i], sizeof sizes[i], " (2^%.6f)", log2[i]);
  }
  if (sized) snprintf(ratio, sizeof ratio, ", a ratio of 2^%.3g", log2[0] - log2[1]);
  return hx_infer_refuse(
      call, HX_CODE_SCALE_MISMATCH,
      sized && fabs(log2[0] - log2[1]) < 0.5
          ? "give both one exact scale (encode at the other's scale, or multiply and rescale alike), or declare them "
            "equal "
            "with reinterpret_scale where the ratio may count as error"
          : "rescale the operand with the larger scale, or multiply the other by a constant at the missing scale",
      "operand %s has scale %.1000s%s, operand %s %.1000s%s%s", names[0], texts[0], sizes[0], names[1], texts[1],
      sizes[1], ratio);
}

static hx_status_t part_differs(const hx_infer_t *call, hx_part_t part, const hx_state_t *state,
                                const hx_state_t *other) {
  if (part == HX_PART_SCALE) return scales_differ(call, state, other);
  const difference_t *row = &differences[part];
  char names[2][HX_NAME_MAX], hint[160];
  hx_infer_operand_name(call, state->from[part], names[0]);
  hx_infer_operand_name(call, other->from[part], names[1]);
  if (part == HX_PART_DEPTH) {
    const bool first = state->type.depth < other->type.depth;
    snprintf(hint, sizeof hint, "level_drop operand %s to depth %u", names[first ? 0 : 1],
             first ? other->type.depth : state->type.depth);
  } else if (part == HX_PART_COMPONENTS) {
    const bool first = state->type.components > other->type.components;
    snprintf(hint, sizeof hint, "relinearize operand %s first", names[first ? 0 : 1]);
  } else {
    snprintf(hint, sizeof hint, "%s", row->hint);
  }
  hx_text_t values[2];
  hx_text_init(&values[0]);
  hx_text_init(&values[1]);
  hx_part_print(part, &state->type, &values[0]);
  hx_part_print(part, &other->type, &values[1]);
  const hx_status_t status =
      values[0].failed || values[1].failed
          ? hx_infer_refuse(call, row->code, hint, "operands %s and %s differ in %s", names[0], names[1],
                            hx_part_name(part))
          : hx_infer_refuse(call, row->code, hint, "operand %s %s %s %s, operand %s %s %s", names[0], row->verb,
                            row->phrase, values[0].data, names[1], row->phrase, values[1].data);
  hx_text_deinit(&values[0]);
  hx_text_deinit(&values[1]);
  return status;
}

static void take_part(hx_state_t *state, hx_part_t part, const hx_state_t *other) {
  hx_part_copy(part, &state->type, &other->type);
  state->from[part] = other->from[part];
}

// Batch: equal, or one has none; if one is unknown and the other is none, the result is unknown.
static hx_status_t join_batch(const hx_infer_t *call, hx_state_t *state, const hx_state_t *other) {
  const bool left = hx_type_knows(&state->type, HX_PART_BATCH), right = hx_type_knows(&other->type, HX_PART_BATCH);
  const bool left_none = left && state->type.batch_rank == 0, right_none = right && other->type.batch_rank == 0;
  if (left && right && !left_none && !right_none && !hx_part_equal(HX_PART_BATCH, &state->type, &other->type)) {
    return part_differs(call, HX_PART_BATCH, state, other);
  }
  if (left_none || (!left && !right_none)) take_part(state, HX_PART_BATCH, other);
  return HX_STATUS_OK;
}

hx_status_t hx_state_join_broadcast(const hx_infer_t *call, hx_state_t *state, const hx_state_t *other) {
  const bool left = hx_type_knows(&state->type, HX_PART_COMPONENTS),
             right = hx_type_knows(&other->type, HX_PART_COMPONENTS);
  const bool left_one = left && state->type.components == 1, right_one = right && other->type.components == 1;
  if (left && right && !left_one && !right_one && state->type.components != other->type.components) {
    return part_differs(call, HX_PART_COMPONENTS, state, other);
  }
  if (left_one || (!left && !right_one)) take_part(state, HX_PART_COMPONENTS, other);
  return HX_STATUS_OK;
}

hx_status_t hx_state_join(const hx_infer_t *call, hx_state_t *state, const hx_state_t *other, uint32_t parts) {
  // A difference in depth explains others, so it is told first; the scale is the last thing to mend.
  static const hx_part_t order[] = {HX_PART_DTYPE, HX_PART_DEPTH,  HX_PART_SLOTS,      HX_PART_BASIS, HX_PART_PRIMES,
                                    HX_PART_REPR,  HX_PART_DOMAIN, HX_PART_COMPONENTS, HX_PART_SCALE};
  for (size_t i = 0; i < HX_COUNT_OF(order); ++i) {
    const hx_part_t part = order[i];
    if ((parts & hx_part_bit(part)) == 0 || !hx_type_knows(&other->type, part)) continue;
    if (!hx_type_knows(&state->type, part)) {
      take_part(state, part, other);
    } else if (!hx_part_equal(part, &state->type, &other->type)) {
      return part_differs(call, part, state, other);
    }
  }
  return (parts & HX_KNOWN_BATCH) != 0 ? join_batch(call, state, other) : HX_STATUS_OK;
}

hx_status_t hx_state_want(const hx_infer_t *call, hx_state_t *state, hx_part_t part, uint32_t value) {
  if (hx_type_knows(&state->type, part)) {
    const uint32_t found = hx_type_get_word(&state->type, part);
    if (found == value) return HX_STATUS_OK;
    char name[HX_NAME_MAX];
    hx_infer_operand_name(call, state->from[part], name);
    const difference_t *row = &differences[part];
    if (part == HX_PART_COMPONENTS) {
      return hx_infer_refuse(call, HX_CODE_COMPONENTS,
                             found == 3 ? "relinearize it first" : "multiply two ciphertexts for three components",
                             "operand %s has %u component%s, it needs %u", name, found, found == 1 ? "" : "s", value);
    }
    size_t count = 0;
    const char *const *words = hx_part_words(part, &count);
    if (words != NULL) {
      return hx_infer_refuse(call, row->code, row->hint, "operand %s %s %s %s, it needs %s", name, row->verb,
                             row->phrase, words[found], words[value]);
    }
    return hx_infer_refuse(call, row->code, row->hint, "operand %s %s %s %u, it needs %u", name, row->verb, row->phrase,
                           found, value);
  }
  hx_type_set_word(&state->type, part, value);
  return HX_STATUS_OK;
}

void hx_state_set_rows(const hx_infer_t *call, hx_state_t *state, const hx_primes_t *primes) {
  hx_type_set_primes(&state->type, primes);
  hx_type_forget(&state->type, HX_PART_BASIS);
  if (call->ring != NULL) hx_type_set_word(&state->type, HX_PART_BASIS, hx_ring_basis(call->ring, primes));
}

// ------------------------------------------------------------------ attributes and counts

int64_t hx_infer_integer(const hx_infer_t *call, const char *name, int64_t fallback) {
  int64_t value = fallback;
  hx_attrs_get_i64(call->attrs, name, &value);
  return value;
}

hx_primes_t hx_infer_ids(const hx_attribute_t *list) {
  hx_primes_t set = {0};
  for (size_t i = 0; list != NULL && i < list->count; ++i) hx_primes_add(&set, (uint32_t)list->list[i].integer);
  return set;
}

bool hx_primes_contain(const hx_primes_t *set, const hx_primes_t *part) {
  for (size_t i = 0; i < HX_COUNT_OF(set->bits); ++i) {
    if ((part->bits[i] & ~set->bits[i]) != 0) return false;
  }
  return true;
}

hx_status_t hx_infer_want_results(const hx_infer_t *call, size_t count, const char *what) {
  if (call->result_count == count) return HX_STATUS_OK;
  return hx_infer_fail(call, HX_CODE_OPERANDS, "it has %zu results (%s), not %zu", count, what, call->result_count);
}

hx_status_t hx_infer_want_key(const hx_infer_t *call, size_t index, uint32_t kinds, const char *what) {
  const hx_type_t *key = call->operands[index];
  if (key->kind == HX_TYPE_KEY && (key->key_kind == HX_KEY_NONE || ((kinds >> key->key_kind) & 1) != 0))
    return HX_STATUS_OK;
  char name[HX_NAME_MAX];
  hx_text_t type;
  hx_text_init(&type);
  hx_type_print_short(key, &type);
  const hx_status_t status =
      hx_infer_fail(call, HX_CODE_OPERANDS, "operand %s is %s, it needs %s", hx_infer_operand_name(call, index, name),
                    type.failed ? "another value" : type.data, what);
  hx_text_deinit(&type);
  return status;
}

hx_status_t hx_infer_split_terms(const hx_infer_t *call, size_t groups, size_t *out_terms) {
  const size_t terms = call->operand_count / (groups + 1);
  if (terms == 0 || terms * (groups + 1) != call->operand_count) {
    return hx_infer_fail(call, HX_CODE_OPERANDS, "%zu operands are no T values and %zu times T weights",
                         call->operand_count, groups);
  }
  *out_terms = terms;
  return hx_infer_want_results(call, groups, "one a group");
}

// ------------------------------------------------------------------ running a hook

// A tensor result written as a ciphertext or plaintext becomes one: what both have is inferred, the rest as written.
static void adopt_kind(hx_type_t *result, hx_type_kind_t kind) {
  hx_type_t adopted;
  hx_type_init(&adopted, kind);
  for (hx_part_t part = 0; part < HX_PART_COUNT; ++part) {
    if ((hx_type_parts(kind) & hx_part_bit(part)) != 0) hx_part_copy(part, &adopted, result);
  }
  hx_type_copy(result, &adopted);
}

static hx_status_t disagree(const hx_infer_t *call, size_t index, const hx_type_t *written, const char *what) {
  const hx_type_t *inferred = &call->results[index];
  hx_text_t texts[2];
  hx_text_init(&texts[0]);
  hx_text_init(&texts[1]);
  hx_part_t part = 0;
  while (part < HX_PART_COUNT && strcmp(hx_part_name(part), what) != 0) ++part;
  if (part < HX_PART_COUNT && hx_type_parts(inferred->kind) != 0) {
    hx_part_print(part, inferred, &texts[0]);
    hx_part_print(part, written, &texts[1]);
  } else {
    hx_type_print_short(inferred, &texts[0]);
    hx_type_print_short(written, &texts[1]);
  }
  const bool told = !texts[0].failed && !texts[1].failed && texts[0].data != NULL && texts[1].data != NULL;
  const hx_status_t status = hx_infer_refuse(call, HX_CODE_TYPE, "write ? or leave the key out, or correct it",
                                             "result %zu has %s %s, but is written %s", index, what,
                                             told ? texts[0].data : "inferred", told ? texts[1].data : "otherwise");
  hx_text_deinit(&texts[0]);
  hx_text_deinit(&texts[1]);
  return status;
}

static hx_status_t verify_type(const hx_infer_t *call, const hx_type_t *type, const char *what) {
  hx_report_t *inner = call->report == NULL ? NULL : hx_report_create();
  const hx_place_t place = {.source = call->source, .line = call->line, .column = call->column};
  hx_status_t status = hx_type_verify(type, call->ring, place, inner);
  if (status != HX_STATUS_OK && call->report != NULL) status = hx_infer_retell(call, inner, HX_CODE_TYPE, what);
  hx_report_release(inner);
  return status;
}

static hx_status_t settle(const hx_infer_t *call, size_t index) {
  hx_type_t *result = &call->results[index];
  const hx_type_t *written = call->written == NULL ? NULL : call->written[index];
  if (written != NULL) {
    if (result->kind == HX_TYPE_TENSOR && (written->kind == HX_TYPE_CIPHERTEXT || written->kind == HX_TYPE_PLAINTEXT)) {
      adopt_kind(result, written->kind);
    }
    hx_type_derive(result, call->ring);
    const char *part = "";
    if (!hx_type_agrees(written, result, &part)) return disagree(call, index, written, part);
    hx_type_merge(result, written);
  }
  hx_type_derive(result, call->ring);
  char what[32];
  snprintf(what, sizeof what, "result %zu", index);
  return verify_type(call, result, what);
}

// Hooks index the ring's tables by what operands say, so that has to hold under the ring.
static hx_status_t verify_operands(const hx_infer_t *call) {
  for (size_t i = 0; i < call->operand_count && call->ring != NULL; ++i) {
    const hx_type_t *operand = call->operands[i];
    if (hx_type_verify(operand, call->ring, (hx_place_t){0}, NULL) == HX_STATUS_OK) continue;
    char name[HX_NAME_MAX], what[HX_NAME_MAX + 16];
    snprintf(what, sizeof what, "operand %s", hx_infer_operand_name(call, i, name));
    return verify_type(call, operand, what);
  }
  return HX_STATUS_OK;
}

hx_status_t hx_op_infer(hx_infer_t *call) {
  for (size_t i = 0; i < call->result_count; ++i) hx_type_init(&call->results[i], HX_TYPE_NONE);
  HX_TRY(hx_op_check(call));
  HX_TRY(verify_operands(call));
  hx_status_t status = HX_STATUS_OK;
  if (call->op->infer != NULL) {
    status = call->op->infer(call);
    for (size_t i = 0; i < call->result_count && status == HX_STATUS_OK; ++i) status = settle(call, i);
  } else if (call->written != NULL) {
    for (size_t i = 0; i < call->result_count; ++i) hx_type_copy(&call->results[i], call->written[i]);
  }
  if (status != HX_STATUS_OK) {
    for (size_t i = 0; i < call->result_count; ++i) hx_type_init(&call->results[i], HX_TYPE_NONE);
  }
  return status;
}
