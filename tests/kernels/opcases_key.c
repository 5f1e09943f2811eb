// SPDX-License-Identifier: Apache-2.0
// Cases of operations with switching keys.
#include "opcheck.h"

void oc_case_key_product(const oc_sweep_t *s) {
  const uint32_t nq = s->kc->ring.q_count, np = s->kc->ring.p_count, n_all = nq + np;
  uint32_t ids[KC_PRIMES_MAX], rows[KC_PRIMES_MAX], count = 0;
  for (uint32_t i = 0; i < n_all; i++) {  // one depth down: the last of Q's primes is gone
    if (i != nq - 1) {
      rows[count] = i;
      ids[count++] = i;
    }
  }
  kc_shape_t shape = {
      .digits = 3, .components = 2, .limbs = n_all, .domain = HX_NTT, .repr = HX_STANDARD, .layout = s->in};
  if (shape.layout == KC_REPEAT) {
    shape.layout = KC_DENSE;
  }
  kc_tensor_t *key = kc_tensor(s->kc, &shape, KC_EDGES);
  kc_tensor_t *d = oc_operand(s, 1, count, ids, HX_NTT), *acc = oc_operand(s, 2, count, ids, HX_NTT);
  kc_tensor_t *out = oc_result(s, 2, count, ids, HX_NTT);
  for (int64_t digit = 0; digit < 3; digit += 2) {
    const hx_attr attr = kc_i64("digit", &digit, 1);
    oc_check(s, "rns.key_product", &attr, 1, (kc_tensor_t *const[]){d, key}, 2, &out, 1);
    oc_check(s, "rns.key_product", &attr, 1, (kc_tensor_t *const[]){d, key, acc}, 3, &out, 1);
  }
  // The same key as the host's view of the rows at this depth.
  memcpy(key->ids, ids, sizeof ids);
  key->desc.limbs = count;
  key->desc.rows = rows;
  const int64_t digit = 1;
  const hx_attr attr = kc_i64("digit", &digit, 1);
  oc_check(s, "rns.key_product", &attr, 1, (kc_tensor_t *const[]){d, key, acc}, 3, &out, 1);
}

// Whole operations with a key, from and to either domain; the last of Q's primes is gone.
void oc_case_switch(const oc_sweep_t *s) {
  static const char *const names[] = {"ckks.relinearize", "ckks.key_switch", "ckks.conjugate",
                                      "ckks.rotate",      "ckks.rotate",     "ckks.rotate"};
  static const int64_t steps[] = {0, 0, 0, 1, -3, 0};
  const uint32_t limbs = s->kc->ring.q_count - 1;
  kc_shape_t shape = {.digits = 3,
                      .components = 2,
                      .limbs = oc_primes(s),
                      .domain = HX_NTT,
                      .repr = HX_STANDARD,
                      .layout = s->in == KC_REPEAT ? KC_DENSE : s->in};
  kc_tensor_t *key = kc_tensor(s->kc, &shape, KC_EDGES);
  for (uint32_t domains = 0; domains < 4; domains++) {
    const uint32_t from = domains % 2 == 0 ? HX_NTT : HX_COEFFICIENT, to = domains < 2 ? HX_NTT : HX_COEFFICIENT;
    kc_tensor_t *out = oc_result(s, 2, limbs, NULL, to);
    for (uint32_t i = 0; i < 6; i++) {
      kc_tensor_t *a = oc_operand(s, i == 0 ? 3 : 2, limbs, NULL, from);
      const hx_attr attrs[] = {kc_text("output_domain", to == HX_NTT ? "ntt" : "coefficient"),
                               kc_i64("step", &steps[i], 1)};
      oc_check(s, names[i], attrs, i < 3 ? 1 : 2, (kc_tensor_t *const[]){a, key}, i == 5 ? 1 : 2, &out, 1);
    }
  }
}

static kc_tensor_t *key_of(const oc_sweep_t *s, kc_pattern_t pattern) {
  const kc_shape_t shape = {.digits = 3,
                            .components = 2,
                            .limbs = oc_primes(s),
                            .domain = HX_NTT,
                            .repr = HX_STANDARD,
                            .layout = s->in == KC_REPEAT ? KC_DENSE : s->in};
  return kc_tensor(s->kc, &shape, pattern);
}

// Steps in all forms: 0, negative, beyond the slots, twice there; three keys for them.
static const int64_t many_steps[] = {1, 0, -1, 1, 2};

void oc_case_rotate_many(const oc_sweep_t *s) {
  const uint32_t limbs = s->kc->ring.q_count - 1;
  kc_tensor_t *operands[4] = {NULL, key_of(s, KC_EDGES), key_of(s, KC_RANDOM), key_of(s, KC_RANDOM)};
  for (uint32_t domains = 0; domains < 4; domains++) {
    const uint32_t from = domains % 2 == 0 ? HX_NTT : HX_COEFFICIENT, to = domains < 2 ? HX_NTT : HX_COEFFICIENT;
    kc_tensor_t *results[5];
    for (uint32_t t = 0; t < 5; t++) {
      results[t] = oc_result(s, 2, limbs, NULL, to);
    }
    operands[0] = oc_operand(s, 2, limbs, NULL, from);
    const int64_t same[] = {0, 0};
    const hx_attr attrs[] = {kc_text("output_domain", to == HX_NTT ? "ntt" : "coefficient"),
                             kc_i64("steps", many_steps, 5)};
    const hx_attr copies[] = {attrs[0], kc_i64("steps", same, 2)};
    oc_check(s, "ckks.rotate_many", attrs, 2, operands, 4, results, 5);
    oc_check(s, "ckks.rotate_many", copies, 2, operands, 1, results, 2);
  }
}

void oc_case_rotate_sum(const oc_sweep_t *s) {
  const uint32_t limbs = s->kc->ring.q_count - 1;
  for (uint32_t from = HX_COEFFICIENT; from <= HX_NTT; from++) {
    kc_tensor_t *operands[8];
    for (uint32_t t = 0; t < 5; t++) {
      operands[t] = oc_operand(s, 2, limbs, NULL, from);
    }
    for (uint32_t k = 0; k < 3; k++) {
      operands[5 + k] = key_of(s, k == 0 ? KC_EDGES : KC_RANDOM);
    }
    kc_tensor_t *out = oc_result(s, 2, limbs, NULL, HX_NTT);
    const hx_attr attr = kc_i64("steps", many_steps, 5), copy = kc_i64("steps", &many_steps[1], 1);
    oc_check(s, "ckks.rotate_sum", &attr, 1, operands, 8, &out, 1);
    oc_check(s, "ckks.rotate_sum", &copy, 1, operands, 1, &out, 1);
  }
}

void oc_case_rotate_weighted_sum(const oc_sweep_t *s) {
  const uint32_t limbs = s->kc->ring.q_count - 1, nq = s->kc->ring.q_count;
  uint32_t ids[KC_PRIMES_MAX], count = 0;
  for (uint32_t i = 0; i < oc_primes(s); i++) {
    if (i < limbs || i >= nq) {
      ids[count++] = i;
    }
  }
  for (uint32_t from = HX_COEFFICIENT; from <= HX_NTT; from++) {
    kc_tensor_t *operands[14], *results[2];
    operands[0] = oc_operand(s, 2, limbs, NULL, from);
    for (uint32_t i = 0; i < 10; i++) {
      operands[1 + i] = oc_operand(s, 1, count, ids, HX_NTT);
    }
    for (uint32_t k = 0; k < 3; k++) {
      operands[11 + k] = key_of(s, k == 0 ? KC_EDGES : KC_RANDOM);
    }
    for (uint32_t g = 0; g < 2; g++) {
      results[g] = oc_result(s, 2, limbs, NULL, HX_NTT);
    }
    const int64_t groups = 2;
    const hx_attr attrs[] = {kc_i64("steps", many_steps, 5), kc_i64("groups", &groups, 1)};
    const hx_attr copy = kc_i64("steps", &many_steps[1], 1);
    oc_check(s, "ckks.rotate_weighted_sum", attrs, 2, operands, 14, results, 2);
    oc_check(s, "ckks.rotate_weighted_sum", &copy, 1, operands, 2, results, 1);
  }
}

void oc_case_prepare_plain(const oc_sweep_t *s) {
  static const char *const purposes[] = {"add", "mul", "weighted"};
  const uint32_t nq = s->kc->ring.q_count, limbs = nq - 1;
  uint32_t ids[KC_PRIMES_MAX];
  for (uint32_t i = 0; i < oc_primes(s) - 1; i++) {
    ids[i] = i < limbs ? i : i + 1;
  }
  for (uint32_t from = HX_COEFFICIENT; from <= HX_NTT; from++) {
    kc_tensor_t *a = oc_operand(s, 1, limbs, NULL, from);
    for (uint32_t i = 0; i < 3; i++) {
      const uint32_t rows = i == 2 ? oc_primes(s) - 1 : limbs;
      kc_tensor_t *out = oc_result(s, 1, rows, ids, HX_NTT);
      const hx_attr attr = kc_text("for", purposes[i]);
      oc_check(s, "ckks.prepare_plain", &attr, 1, &a, 1, &out, 1);
    }
  }
}

// Whole key switches at two depths, with the key as it is and as a view of the depth's rows.
void oc_case_switch_depths(const oc_sweep_t *s) {
  const uint32_t nq = s->kc->ring.q_count, np = s->kc->ring.p_count, all = nq + np, run = s->kc->ring.digit_run;
  kc_shape_t shape = {.digits = (nq + run - 1) / run,
                      .components = 2,
                      .limbs = all,
                      .domain = HX_NTT,
                      .repr = HX_STANDARD,
                      .layout = s->in == KC_REPEAT ? KC_DENSE : s->in};
  kc_tensor_t *key = kc_tensor(s->kc, &shape, KC_EDGES);
  for (uint32_t active = nq; active + 1 >= nq; active--) {
    kc_tensor_t *three = oc_operand(s, 3, active, NULL, HX_NTT), *two = oc_operand(s, 2, active, NULL, HX_NTT);
    kc_tensor_t *out = oc_result(s, 2, active, NULL, HX_NTT), *less = oc_result(s, 2, active - 1, NULL, HX_NTT);
    uint32_t rows[KC_PRIMES_MAX];
    for (uint32_t i = 0; i < active + np; i++) {
      rows[i] = key->ids[i] = i < active ? i : nq + i - active;
    }
    key->desc.limbs = active + np;
    key->desc.digits = (active + run - 1) / run;
    key->desc.rows = active < nq ? rows : NULL;
    oc_check(s, "ckks.relinearize", NULL, 0, (kc_tensor_t *const[]){three, key}, 2, &out, 1);
    oc_check(s, "ckks.key_switch", NULL, 0, (kc_tensor_t *const[]){two, key}, 2, &out, 1);
    oc_check(s, "ckks.conjugate", NULL, 0, (kc_tensor_t *const[]){two, key}, 2, &out, 1);
    const int64_t steps[] = {1, -3, 0};
    for (uint32_t i = 0; i < 3; i++) {
      const hx_attr step = kc_i64("step", &steps[i], 1);
      oc_check(s, "ckks.rotate", &step, 1, (kc_tensor_t *const[]){two, key}, i < 2 ? 2 : 1, &out, 1);
    }
    oc_check(s, "ckks.rescale", NULL, 0, &two, 1, &less, 1);
    kc_tensor_t *other = oc_operand(s, 2, active, NULL, HX_NTT), *product = oc_result(s, 3, active, NULL, HX_NTT);
    const kc_op_t chain[] = {{"ckks.mul", NULL, 0, (kc_tensor_t *const[]){two, other}, 2, &product, 1},
                             {"ckks.relinearize", NULL, 0, (kc_tensor_t *const[]){product, key}, 2, &out, 1},
                             {"ckks.rescale", NULL, 0, &out, 1, &less, 1}};
    const kc_op_t square = {"ckks.square", NULL, 0, &two, 1, &product, 1};
    oc_check_chain(s, chain, 3);
    oc_check_chain(s, chain + 1, 2);
    oc_check_chain(s, (const kc_op_t[]){square, chain[1], chain[2]}, 3);
  }
}
