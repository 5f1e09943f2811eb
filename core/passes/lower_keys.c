// SPDX-License-Identifier: Apache-2.0
// Lowered forms of ckks operations that switch keys.
//
// Sums over several rotations are taken over Q and P with one mod_down, as CKKS.md defines them. There P * c0 is added
// to the accumulator on the rows of Q (it is 0 on those of P); mod_down divides by P, and (x + P * y - c) / P is (x -
// c) / P + y mod each prime. So c0's share is added behind mod_down instead: equal bits, and no multiplication by P.
#include "core/ckks/transition.h"
#include "core/passes/keys.h"
#include "core/passes/lower.h"

#define DIGITS_MAX HX_PRIMES_MAX

// A polynomial as its digits raised to Q and P, ntt domain: shared by all keys that it meets.
typedef struct hx_digits {
  hx_ir_value_t *raised[DIGITS_MAX];
  uint32_t count;
} hx_digits_t;

static void decompose(hx_lowering_t *lowering, hx_ir_value_t *x, hx_digits_t *out) {
  hx_ir_value_t *coefficients = hx_lower_domain(lowering, x, HX_COEFFICIENT);
  out->count = hx_ring_digit_count(lowering->ring, lowering->op->operands[0]->type->depth);
  for (uint32_t j = 0; j < out->count; ++j) {
    hx_ir_value_t *raised = hx_lower_with(lowering, HX_OP_RNS_MOD_UP, coefficients, "digit", j);
    out->raised[j] = hx_lower_domain(lowering, raised, HX_NTT);
  }
}

// Sum over the digits of digit times key, over Q and P: two components, ntt domain.
static hx_ir_value_t *accumulate(hx_lowering_t *lowering, const hx_digits_t *digits, hx_ir_value_t *key) {
  hx_ir_value_t *acc = NULL;
  for (uint32_t j = 0; j < digits->count && lowering->status == HX_STATUS_OK; ++j) {
    hx_ir_value_t *const operands[] = {digits->raised[j], key, acc};
    const hx_named_attr_t item = {.name = hx_str("digit"), .value = {.kind = HX_ATTRIBUTE_INTEGER, .integer = j}};
    acc = hx_lower_emit(lowering, HX_OP_RNS_KEY_PRODUCT, operands, acc == NULL ? 2 : 3, &item, 1);
  }
  return acc;
}

// Division by P into a domain. In ntt domain it stays one operation, which has a lowered form of its own.
static hx_ir_value_t *divide(hx_lowering_t *lowering, hx_ir_value_t *acc, uint32_t domain) {
  hx_ir_value_t *value = hx_lower_domain(lowering, acc, domain);
  const hx_named_attr_t item = {.name = hx_str("rounding"),
                                .value = {.kind = HX_ATTRIBUTE_TEXT, .text = hx_str("nearest")}};
  return hx_lower_emit(lowering, HX_OP_RNS_MOD_DOWN, &value, 1, &item, 1);
}

static hx_ir_value_t *rotate(hx_lowering_t *lowering, hx_ir_value_t *value, uint64_t element) {
  return hx_lower_with(lowering, HX_OP_RNS_AUTOMORPHISM, value, "element", (int64_t)element);
}

static uint32_t output_domain(const hx_lowering_t *lowering) { return lowering->op->results[0]->type->domain; }

// Key operand `index` behind the others, or a fault.
static hx_ir_value_t *key_at(hx_lowering_t *lowering, size_t index) {
  const hx_ir_op_t *op = lowering->op;
  const size_t first = hx_op_first_key(op);
  if (lowering->status != HX_STATUS_OK) return NULL;
  if (first + index < op->operand_count) return op->operands[first + index];
  hx_lower_fail(lowering, HX_CODE_MISSING_KEY, "its key operands are missing; run resolve-keys before lower");
  return NULL;
}

static void lower_relinearize(hx_lowering_t *lowering) {
  hx_ir_value_t *a = lowering->op->operands[0], *key = key_at(lowering, 0);
  hx_digits_t digits;
  if (lowering->status != HX_STATUS_OK) return;
  decompose(lowering, hx_lower_components(lowering, a, 2, 1), &digits);
  hx_ir_value_t *switched = divide(lowering, accumulate(lowering, &digits, key), output_domain(lowering));
  hx_ir_value_t *rest = hx_lower_domain(lowering, hx_lower_components(lowering, a, 0, 2), output_domain(lowering));
  hx_lower_finish(lowering, 0, hx_lower_binary(lowering, HX_OP_RNS_ADD, rest, switched));
}

// keyswitch(c1) + (c0, 0) in a domain.
static hx_ir_value_t *switch_key(hx_lowering_t *lowering, const hx_digits_t *digits, hx_ir_value_t *c0,
                                 hx_ir_value_t *key, uint32_t domain) {
  hx_ir_value_t *switched = divide(lowering, accumulate(lowering, digits, key), domain);
  hx_ir_value_t *first = hx_lower_binary(lowering, HX_OP_RNS_ADD, hx_lower_components(lowering, switched, 0, 1), c0);
  return hx_lower_pack(lowering, first, hx_lower_components(lowering, switched, 1, 1));
}

static void lower_key_switch(hx_lowering_t *lowering) {
  hx_ir_value_t *a = lowering->op->operands[0], *key = key_at(lowering, 0);
  hx_digits_t digits;
  if (lowering->status != HX_STATUS_OK) return;
  decompose(lowering, hx_lower_components(lowering, a, 1, 1), &digits);
  hx_ir_value_t *c0 = hx_lower_domain(lowering, hx_lower_components(lowering, a, 0, 1), output_domain(lowering));
  hx_lower_finish(lowering, 0, switch_key(lowering, &digits, c0, key, output_domain(lowering)));
}

// One rotation or conjugation by its element.
static void switch_and_rotate(hx_lowering_t *lowering, uint64_t element) {
  hx_ir_value_t *a = lowering->op->operands[0], *key = key_at(lowering, 0);
  hx_digits_t digits;
  if (lowering->status != HX_STATUS_OK) return;
  decompose(lowering, hx_lower_components(lowering, a, 1, 1), &digits);
  hx_ir_value_t *c0 = hx_lower_domain(lowering, hx_lower_components(lowering, a, 0, 1), output_domain(lowering));
  hx_lower_finish(lowering, 0,
                  rotate(lowering, switch_key(lowering, &digits, c0, key, output_domain(lowering)), element));
}

static void lower_rotate(hx_lowering_t *lowering) {
  hx_ir_value_t *a = lowering->op->operands[0];
  int64_t step = 0;
  (void)hx_attrs_get_i64(lowering->op->attrs, "step", &step);  // required: verified
  const uint32_t reduced = hx_rotation_reduce(step, a->type->slots);
  if (reduced == 0) {
    hx_lower_finish(lowering, 0, hx_lower_domain(lowering, a, output_domain(lowering)));
  } else {
    switch_and_rotate(lowering, hx_galois_element(lowering->ring->log_n, a->type->slots, reduced));
  }
}

static void lower_conjugate(hx_lowering_t *lowering) {
  switch_and_rotate(lowering, ((uint64_t)2 << lowering->ring->log_n) - 1);
}

// Steps of an operation, each reduced, with the place of its key; steps that are 0 have none.
typedef struct hx_step_list {
  uint32_t *steps, *keys;  // [count]; keys: HX_NONE for step 0
  size_t count;
  hx_ir_value_t **values;  // [count] by key place: what has been made for it
} hx_step_list_t;

static void free_steps(hx_step_list_t *list) {
  hx_free(list->steps);
  hx_free(list->keys);
  hx_free(list->values);
}

static void read_steps(hx_lowering_t *lowering, hx_step_list_t *out) {
  const uint32_t slots = lowering->op->operands[0]->type->slots;
  const hx_attribute_t *items = NULL;
  size_t count = 0;
  (void)hx_attrs_get_list(lowering->op->attrs, "steps", &items, &count);  // required: verified
  *out = (hx_step_list_t){.steps = hx_zalloc(count + 1, sizeof(uint32_t)),
                          .keys = hx_zalloc(count + 1, sizeof(uint32_t)),
                          .count = count,
                          .values = hx_zalloc(count + 1, sizeof(hx_ir_value_t *))};
  uint32_t *places = hx_zalloc(slots, sizeof *places);  // 1 + place of a step's key; slots is at most 2^16
  if (out->steps == NULL || out->keys == NULL || out->values == NULL || places == NULL) {
    lowering->status = HX_STATUS_OUT_OF_MEMORY;
  } else {
    uint32_t next = 0;
    for (size_t i = 0; i < count; ++i) {
      const uint32_t step = out->steps[i] = hx_rotation_reduce(items[i].integer, slots);
      if (step != 0 && places[step] == 0) places[step] = ++next;
      out->keys[i] = step == 0 ? HX_NONE : places[step] - 1;
    }
  }
  hx_free(places);
}

static uint64_t element_of(const hx_lowering_t *lowering, uint32_t step) {
  return hx_galois_element(lowering->ring->log_n, lowering->op->operands[0]->type->slots, step);
}

static void lower_rotate_many(hx_lowering_t *lowering) {
  hx_ir_value_t *a = lowering->op->operands[0];
  const uint32_t domain = output_domain(lowering);
  hx_step_list_t list;
  hx_digits_t digits = {0};
  read_steps(lowering, &list);
  hx_ir_value_t *c0 = NULL, *copy = NULL;
  for (size_t i = 0; i < list.count && lowering->status == HX_STATUS_OK; ++i) {
    if (list.keys[i] == HX_NONE) {
      if (copy == NULL) copy = hx_lower_domain(lowering, a, domain);
      hx_lower_finish(lowering, i, copy);
      continue;
    }
    hx_ir_value_t **value = &list.values[list.keys[i]];
    if (*value == NULL) {
      hx_ir_value_t *key = key_at(lowering, list.keys[i]);
      if (digits.count == 0 && key != NULL) {
        decompose(lowering, hx_lower_components(lowering, a, 1, 1), &digits);
        c0 = hx_lower_domain(lowering, hx_lower_components(lowering, a, 0, 1), domain);
      }
      if (key != NULL)
        *value = rotate(lowering, switch_key(lowering, &digits, c0, key, domain), element_of(lowering, list.steps[i]));
    }
    if (lowering->status == HX_STATUS_OK) hx_lower_finish(lowering, i, *value);
  }
  free_steps(&list);
}

// A sum of rotations before and behind mod_down (see the head of this file). Any part may be absent.
typedef struct hx_rotation_sum {
  hx_ir_value_t *raised;  // two components over Q and P
  hx_ir_value_t *first;   // added to the first component on Q
  hx_ir_value_t *both;    // added to both components on Q: steps of 0
} hx_rotation_sum_t;

static void finish_sum(hx_lowering_t *lowering, size_t index, const hx_rotation_sum_t *sum) {
  if (lowering->status != HX_STATUS_OK) return;
  if (lowering->across != NULL) {
    hx_ir_value_t *all = lowering->across(lowering, sum->raised, sum->first, sum->both);
    if (lowering->status == HX_STATUS_OK) hx_lower_finish(lowering, index, divide(lowering, all, HX_NTT));
    return;
  }
  hx_ir_value_t *value = sum->both;
  if (sum->raised != NULL) {
    hx_ir_value_t *switched = divide(lowering, sum->raised, HX_NTT);
    hx_ir_value_t *first =
        hx_lower_binary(lowering, HX_OP_RNS_ADD, hx_lower_components(lowering, switched, 0, 1), sum->first);
    hx_ir_value_t *packed = hx_lower_pack(lowering, first, hx_lower_components(lowering, switched, 1, 1));
    value = hx_lower_sum(lowering, packed, sum->both);
  }
  hx_lower_finish(lowering, index, value);
}

// The term in front of `index` that raises the same ciphertext, or `index`.
static size_t first_alike(const hx_lowering_t *lowering, const hx_step_list_t *list, size_t index) {
  for (size_t t = 0; t < index; ++t) {
    if (list->keys[t] != HX_NONE && lowering->op->operands[t] == lowering->op->operands[index]) return t;
  }
  return index;
}

// A ciphertext that is given with several steps is decomposed and raised once.
static void lower_rotate_sum(hx_lowering_t *lowering) {
  hx_ir_value_t *const *operands = lowering->op->operands;
  hx_step_list_t list;
  hx_rotation_sum_t sum = {0};
  read_steps(lowering, &list);
  hx_digits_t *raised_terms = hx_zalloc(list.count + 1, sizeof *raised_terms);
  if (raised_terms == NULL) lowering->status = HX_STATUS_OUT_OF_MEMORY;
  for (size_t t = 0; t < list.count && lowering->status == HX_STATUS_OK; ++t) {
    if (list.keys[t] == HX_NONE) {
      sum.both = hx_lower_sum(lowering, sum.both, hx_lower_domain(lowering, operands[t], HX_NTT));
      continue;
    }
    hx_ir_value_t *key = key_at(lowering, list.keys[t]);
    if (key == NULL) break;
    const uint64_t element = element_of(lowering, list.steps[t]);
    hx_digits_t *digits = &raised_terms[first_alike(lowering, &list, t)];
    if (digits->count == 0) decompose(lowering, hx_lower_components(lowering, operands[t], 1, 1), digits);
    hx_ir_value_t *raised = rotate(lowering, accumulate(lowering, digits, key), element);
    hx_ir_value_t *c0 = hx_lower_domain(lowering, hx_lower_components(lowering, operands[t], 0, 1), HX_NTT);
    sum.raised = hx_lower_sum(lowering, sum.raised, raised);
    sum.first = hx_lower_sum(lowering, sum.first, rotate(lowering, c0, element));
  }
  finish_sum(lowering, 0, &sum);
  hx_free(raised_terms);
  free_steps(&list);
}

// What one distinct step of rotate_weighted_sum gives all groups.
typedef struct hx_turn {
  hx_ir_value_t *raised;  // sigma of the accumulator, over Q and P
  hx_ir_value_t *first;   // sigma of c0, on Q
} hx_turn_t;

static void make_turns(hx_lowering_t *lowering, const hx_step_list_t *list, hx_turn_t *turns) {
  hx_ir_value_t *a = lowering->op->operands[0];
  hx_digits_t digits = {0};
  hx_ir_value_t *c0 = NULL;
  for (size_t t = 0; t < list->count && lowering->status == HX_STATUS_OK; ++t) {
    if (list->keys[t] == HX_NONE || turns[list->keys[t]].raised != NULL) continue;
    hx_ir_value_t *key = key_at(lowering, list->keys[t]);
    if (key == NULL) return;
    if (c0 == NULL) {
      decompose(lowering, hx_lower_components(lowering, a, 1, 1), &digits);
      c0 = hx_lower_domain(lowering, hx_lower_components(lowering, a, 0, 1), HX_NTT);
    }
    const uint64_t element = element_of(lowering, list->steps[t]);
    turns[list->keys[t]] = (hx_turn_t){.raised = rotate(lowering, accumulate(lowering, &digits, key), element),
                                       .first = rotate(lowering, c0, element)};
  }
}

static void weigh_group(hx_lowering_t *lowering, const hx_step_list_t *list, const hx_turn_t *turns, size_t group) {
  const hx_ir_op_t *op = lowering->op;
  hx_ir_value_t *a = op->operands[0];
  const hx_primes_t active = a->type->primes;
  hx_rotation_sum_t sum = {0};
  for (size_t t = 0; t < list->count && lowering->status == HX_STATUS_OK; ++t) {
    hx_ir_value_t *weight = op->operands[1 + group * list->count + t];
    hx_ir_value_t *on_q = hx_lower_limbs(lowering, weight, &active);
    if (list->keys[t] == HX_NONE) {
      sum.both = hx_lower_mul_add(lowering, sum.both, hx_lower_domain(lowering, a, HX_NTT), on_q);
      continue;
    }
    const hx_turn_t *turn = &turns[list->keys[t]];
    sum.raised = hx_lower_mul_add(lowering, sum.raised, turn->raised, weight);
    if (lowering->status == HX_STATUS_OK) sum.first = hx_lower_mul_add(lowering, sum.first, turn->first, on_q);
  }
  finish_sum(lowering, group, &sum);
}

static void lower_rotate_weighted_sum(hx_lowering_t *lowering) {
  hx_step_list_t list;
  read_steps(lowering, &list);
  hx_turn_t *turns = hx_zalloc(list.count + 1, sizeof *turns);
  if (turns == NULL) lowering->status = HX_STATUS_OUT_OF_MEMORY;
  if (lowering->status == HX_STATUS_OK) make_turns(lowering, &list, turns);
  for (size_t group = 0; group < lowering->op->result_count && lowering->status == HX_STATUS_OK; ++group)
    weigh_group(lowering, &list, turns, group);
  hx_free(turns);
  free_steps(&list);
}

void hx_lower_rotations(hx_lowering_t *lowering, bool has_terms) {
  const hx_rotation_sum_t nothing = {0};
  if (!has_terms) {
    for (size_t i = 0; i < lowering->op->result_count; ++i) finish_sum(lowering, i, &nothing);
  } else if (lowering->op->info->id == HX_OP_CKKS_ROTATE_SUM) {
    lower_rotate_sum(lowering);
  } else {
    lower_rotate_weighted_sum(lowering);
  }
}

const hx_lower_rule_t hx_lower_key_rules[] = {
    {HX_OP_CKKS_RELINEARIZE, lower_relinearize, NULL},
    {HX_OP_CKKS_KEY_SWITCH, lower_key_switch, NULL},
    {HX_OP_CKKS_ROTATE, lower_rotate, NULL},
    {HX_OP_CKKS_ROTATE_MANY, lower_rotate_many, NULL},
    {HX_OP_CKKS_CONJUGATE, lower_conjugate, NULL},
    {HX_OP_CKKS_ROTATE_WEIGHTED_SUM, lower_rotate_weighted_sum, NULL},
    {HX_OP_CKKS_ROTATE_SUM, lower_rotate_sum, NULL},
};
const size_t hx_lower_key_rule_count = HX_COUNT_OF(hx_lower_key_rules);
