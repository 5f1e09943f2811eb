// SPDX-License-Identifier: Apache-2.0
// Whole operations of ckks that transform or switch keys. Keys are random: the arithmetic is what is compared.
#include "sdk/conformance/suite.h"

static tensor_t *make_key(sweep_t *s) {
  const hx_ring *ring = &s->ring->ring;
  const shape_t shape = {.digits = (ring->q_count + ring->digit_run - 1) / ring->digit_run,
                         .components = 2,
                         .limbs = ring->q_count + ring->p_count,
                         .domain = HX_NTT,
                         .repr = HX_STANDARD};
  return suite_tensor(s->suite, s->ring, &shape, s->pattern == FILL_TOP ? FILL_TOP : FILL_EDGES);
}

// For each domain of operand and result that is declared.
static void in_domains(sweep_t *s, void (*run)(sweep_t *s, uint32_t from, uint32_t to)) {
  for (uint32_t from = HX_COEFFICIENT; from <= HX_NTT; ++from) {
    for (uint32_t to = HX_COEFFICIENT; to <= HX_NTT; ++to) {
      if (!sweep_has_domain(s, from) || !sweep_has_domain(s, to)) continue;
      run(s, from, to);
      suite_drop_tensors(s->suite);
    }
  }
}

static hx_attr domain_attr(uint32_t domain) {
  return attr_text("output_domain", domain == HX_NTT ? "ntt" : "coefficient");
}

static void switched(sweep_t *s, uint32_t from, uint32_t to, uint32_t components) {
  const uint32_t limbs = s->ring->ring.q_count;
  const hx_attr attr = domain_attr(to);
  tensor_t *a = sweep_operand(s, components, limbs, NULL, from), *out = sweep_result(s, 2, limbs, NULL, to);
  sweep_check(s, &attr, to == HX_NTT ? 0 : 1, (tensor_t *const[]){a, make_key(s)}, 2, &out, 1);
}

static void run_relinearize(sweep_t *s, uint32_t from, uint32_t to) { switched(s, from, to, 3); }
static void run_two(sweep_t *s, uint32_t from, uint32_t to) { switched(s, from, to, 2); }
static void relinearize(sweep_t *s) { in_domains(s, run_relinearize); }
static void key_switch(sweep_t *s) { in_domains(s, run_two); }
static void conjugate(sweep_t *s) { in_domains(s, run_two); }

static void run_rotate(sweep_t *s, uint32_t from, uint32_t to) {
  static const int64_t steps[] = {1, -1, 0};
  const uint32_t limbs = s->ring->ring.q_count;
  for (size_t i = 0; i < HX_COUNT_OF(steps); ++i) {
    const hx_attr attrs[] = {attr_i64("step", &steps[i], 1), domain_attr(to)};
    tensor_t *a = sweep_operand(s, 2, limbs, NULL, from), *out = sweep_result(s, 2, limbs, NULL, to);
    sweep_check(s, attrs, 2, (tensor_t *const[]){a, make_key(s)}, steps[i] == 0 ? 1 : 2, &out, 1);
  }
}

static void rotate(sweep_t *s) { in_domains(s, run_rotate); }

static const int64_t some_steps[] = {1, 0, -1};

static void run_rotate_many(sweep_t *s, uint32_t from, uint32_t to) {
  const uint32_t limbs = s->ring->ring.q_count;
  const hx_attr attrs[] = {attr_i64("steps", some_steps, 3), domain_attr(to)};
  tensor_t *results[3];
  for (size_t i = 0; i < 3; ++i) results[i] = sweep_result(s, 2, limbs, NULL, to);
  sweep_check(s, attrs, 2, (tensor_t *const[]){sweep_operand(s, 2, limbs, NULL, from), make_key(s), make_key(s)}, 3,
              results, 3);
}

static void rotate_many(sweep_t *s) { in_domains(s, run_rotate_many); }

static void rotate_sum(sweep_t *s) {
  const uint32_t limbs = s->ring->ring.q_count;
  const hx_attr attr = attr_i64("steps", some_steps, 3);
  tensor_t *operands[5], *out = sweep_result(s, 2, limbs, NULL, HX_NTT);
  for (size_t i = 0; i < 3; ++i) operands[i] = sweep_operand(s, 2, limbs, NULL, HX_NTT);
  operands[3] = make_key(s);
  operands[4] = make_key(s);
  sweep_check(s, &attr, 1, operands, 5, &out, 1);
}

static void rotate_weighted_sum(sweep_t *s) {
  const uint32_t limbs = s->ring->ring.q_count, all = limbs + s->ring->ring.p_count;
  const int64_t groups = 2;
  const hx_attr attrs[] = {attr_i64("steps", some_steps, 3), attr_i64("groups", &groups, 1)};
  tensor_t *operands[9], *results[2];
  operands[0] = sweep_operand(s, 2, limbs, NULL, HX_NTT);
  for (size_t i = 1; i < 7; ++i) operands[i] = sweep_operand(s, 1, all, NULL, HX_NTT);
  operands[7] = make_key(s);
  operands[8] = make_key(s);
  for (size_t i = 0; i < 2; ++i) results[i] = sweep_result(s, 2, limbs, NULL, HX_NTT);
  sweep_check(s, attrs, 2, operands, 9, results, 2);
}

static void run_rescale(sweep_t *s, uint32_t from, uint32_t to) {
  const uint32_t limbs = s->ring->ring.q_count;
  const hx_attr attr = domain_attr(to);
  tensor_t *a = sweep_operand(s, 2, limbs, NULL, from), *out = sweep_result(s, 2, limbs - 1, NULL, to);
  sweep_check(s, &attr, 1, &a, 1, &out, 1);
}

static void rescale(sweep_t *s) { in_domains(s, run_rescale); }

static void to_domain(sweep_t *s, uint32_t to) {
  for (uint32_t from = HX_COEFFICIENT; from <= HX_NTT; ++from) {
    if (!sweep_has_domain(s, from)) continue;
    tensor_t *a = sweep_operand(s, 2, s->ring->ring.q_count, NULL, from),
             *out = sweep_result(s, 2, s->ring->ring.q_count, NULL, to);
    sweep_check(s, NULL, 0, &a, 1, &out, 1);
  }
}

static void to_ntt(sweep_t *s) { to_domain(s, HX_NTT); }
static void from_ntt(sweep_t *s) { to_domain(s, HX_COEFFICIENT); }

static void level_drop(sweep_t *s) {
  const int64_t depth = 1;
  const hx_attr attr = attr_i64("depth", &depth, 1);
  tensor_t *a = sweep_operand(s, 2, s->ring->ring.q_count, NULL, HX_NTT),
           *out = sweep_result(s, 2, s->ring->ring.q_count - 1, NULL, HX_NTT);
  sweep_check(s, &attr, 1, &a, 1, &out, 1);
}

static void reinterpret_scale(sweep_t *s) {
  tensor_t *a = sweep_operand(s, 2, 2, NULL, HX_NTT), *out = sweep_result(s, 2, 2, NULL, HX_NTT);
  sweep_check(s, NULL, 0, &a, 1, &out, 1);
}

static void prepare_plain(sweep_t *s) {
  static const char *const purposes[] = {"add", "mul", "weighted"};
  const uint32_t limbs = s->ring->ring.q_count;
  for (size_t i = 0; i < HX_COUNT_OF(purposes); ++i) {
    const hx_attr attr = attr_text("for", purposes[i]);
    tensor_t *a = sweep_operand(s, 1, limbs, NULL, HX_COEFFICIENT);
    tensor_t *out = sweep_result(s, 1, i == 2 ? limbs + s->ring->ring.p_count : limbs, NULL, HX_NTT);
    if (sweep_has_domain(s, HX_COEFFICIENT)) sweep_check(s, &attr, 1, &a, 1, &out, 1);
    tensor_t *values = sweep_operand(s, 1, limbs, NULL, HX_NTT);
    if (sweep_has_domain(s, HX_NTT)) sweep_check(s, &attr, 1, &values, 1, &out, 1);
  }
}

const op_case_t cases_ckks[] = {{"ckks.relinearize", relinearize},
                                {"ckks.key_switch", key_switch},
                                {"ckks.conjugate", conjugate},
                                {"ckks.rotate", rotate},
                                {"ckks.rotate_many", rotate_many},
                                {"ckks.rotate_sum", rotate_sum},
                                {"ckks.rotate_weighted_sum", rotate_weighted_sum},
                                {"ckks.rescale", rescale},
                                {"ckks.to_ntt", to_ntt},
                                {"ckks.from_ntt", from_ntt},
                                {"ckks.level_drop", level_drop},
                                {"ckks.reinterpret_scale", reinterpret_scale},
                                {"ckks.prepare_plain", prepare_plain}};
const size_t cases_ckks_count = HX_COUNT_OF(cases_ckks);
