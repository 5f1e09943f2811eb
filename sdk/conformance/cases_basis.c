// SPDX-License-Identifier: Apache-2.0
// Operations that move values between bases, move elements, or make rows from a seed.
#include "sdk/conformance/suite.h"

static uint32_t every_prime(const sweep_t *s) { return s->ring->ring.q_count + s->ring->ring.p_count; }

static const int64_t every_id[RING_PRIMES_MAX] = {0, 1, 2, 3, 4, 5, 6, 7};

// From every digit of every depth, in each domain.
static void mod_up(sweep_t *s) {
  const hx_ring *ring = &s->ring->ring;
  for (uint32_t domain = HX_COEFFICIENT; domain <= HX_NTT; ++domain) {
    for (uint32_t active = ring->q_count; sweep_has_domain(s, domain) && active >= 1; --active) {
      uint32_t ids[RING_PRIMES_MAX];
      for (uint32_t i = 0; i < active + ring->p_count; ++i) ids[i] = i < active ? i : ring->q_count + i - active;
      tensor_t *a = sweep_operand(s, 1, active, NULL, domain),
               *out = sweep_result(s, 1, active + ring->p_count, ids, domain);
      for (int64_t digit = 0; digit * ring->digit_run < active; ++digit) {
        const hx_attr attr = attr_i64("digit", &digit, 1);
        sweep_check(s, &attr, 1, &a, 1, &out, 1);
      }
    }
  }
}

static void mod_down_listed(sweep_t *s, hx_attr rounding, tensor_t *a, uint32_t domain) {
  const uint32_t limbs = every_prime(s);
  const int64_t drop[] = {1, (int64_t)limbs - 1};
  uint32_t kept[RING_PRIMES_MAX], count = 0;
  for (uint32_t i = 0; i + 1 < limbs; ++i) {
    if (i != 1) kept[count++] = i;
  }
  const hx_attr attrs[] = {rounding, attr_i64("drop", drop, 2)};
  tensor_t *out = sweep_result(s, 2, count, kept, domain);
  sweep_check(s, attrs, 2, &a, 1, &out, 1);
}

static void mod_down(sweep_t *s) {
  for (uint32_t domain = HX_COEFFICIENT; domain <= HX_NTT; ++domain) {
    if (!sweep_has_domain(s, domain)) continue;
    tensor_t *a = sweep_operand(s, 2, every_prime(s), NULL, domain),
             *out = sweep_result(s, 2, s->ring->ring.q_count, NULL, domain);
    for (uint32_t truncating = 0; truncating < 2; ++truncating) {
      const hx_attr attrs[] = {attr_text("rounding", truncating != 0 ? "truncating" : "nearest"),
                               attr_text("drop", "P")};
      sweep_check(s, attrs, 1, &a, 1, &out, 1);
      sweep_check(s, attrs, 2, &a, 1, &out, 1);
      mod_down_listed(s, attrs[0], a, domain);
    }
  }
}

static void rescale(sweep_t *s) {
  const uint32_t limbs = s->ring->ring.q_count;
  for (uint32_t domain = HX_COEFFICIENT; domain <= HX_NTT; ++domain) {
    if (!sweep_has_domain(s, domain)) continue;
    tensor_t *a = sweep_operand(s, 2, limbs, NULL, domain);
    for (int64_t count = 1; count < (int64_t)limbs; ++count) {
      tensor_t *out = sweep_result(s, 2, limbs - (uint32_t)count, NULL, domain);
      for (uint32_t truncating = 0; truncating < 2; ++truncating) {
        const hx_attr attrs[] = {attr_text("rounding", truncating != 0 ? "truncating" : "nearest"),
                                 attr_i64("count", &count, 1)};
        sweep_check(s, attrs, 2, &a, 1, &out, 1);
      }
    }
  }
}

static void center_lift(sweep_t *s) {
  const uint32_t limbs = every_prime(s), from[] = {1};
  const hx_attr all = attr_i64("ids", every_id, limbs), one = attr_i64("ids", every_id, 1);
  tensor_t *a = sweep_operand(s, 2, 1, from, HX_COEFFICIENT), *out = sweep_result(s, 2, limbs, NULL, HX_COEFFICIENT);
  tensor_t *single = sweep_result(s, 2, 1, NULL, HX_COEFFICIENT);
  sweep_check(s, &all, 1, &a, 1, &out, 1);
  sweep_check(s, &one, 1, &a, 1, &single, 1);
  if ((s->row->dtypes >> HX_I64 & 1) == 0) return;
  shape_t words = sweep_shape(s, s->in, 2, 1, NULL, 0);
  words.dtype = HX_I64;
  words.repr = 0;
  tensor_t *integers = suite_tensor(s->suite, s->ring, &words, s->pattern);
  sweep_check(s, &all, 1, &integers, 1, &out, 1);
}

static void mixed_radix(sweep_t *s) {
  tensor_t *a = sweep_operand(s, 2, every_prime(s), NULL, HX_COEFFICIENT),
           *out = sweep_result(s, 2, every_prime(s), NULL, HX_COEFFICIENT);
  sweep_check(s, NULL, 0, &a, 1, &out, 1);
}

static void extend_exact(sweep_t *s) {
  const uint32_t source[] = {0, 2}, limbs = every_prime(s);
  const hx_attr all = attr_i64("ids", every_id, limbs);
  tensor_t *a = sweep_operand(s, 2, 2, source, HX_COEFFICIENT), *out = sweep_result(s, 2, limbs, NULL, HX_COEFFICIENT);
  sweep_check(s, &all, 1, &a, 1, &out, 1);
}

static void automorphism(sweep_t *s) {
  const int64_t n = (int64_t)1 << s->ring->ring.log_n, elements[] = {1, 5, 2 * n - 1, n + 1, 25 % (2 * n)};
  for (uint32_t domain = HX_COEFFICIENT; domain <= HX_NTT; ++domain) {
    if (!sweep_has_domain(s, domain)) continue;
    tensor_t *a = sweep_operand(s, 2, 2, NULL, domain), *out = sweep_result(s, 2, 2, NULL, domain);
    for (size_t i = 0; i < HX_COUNT_OF(elements); ++i) {
      const hx_attr attr = attr_i64("element", &elements[i], 1);
      sweep_check(s, &attr, 1, &a, 1, &out, 1);
    }
  }
}

// One seed, and where the sweep has a batch one seed an item.
static void expand_uniform(sweep_t *s) {
  const shape_t seed = {
      .dtype = HX_U8, .log_n = 5, .components = 1, .limbs = 1, .batch_rank = s->batch_rank, .batch = {2, 3}};
  const uint32_t limbs = every_prime(s);
  const int64_t indices[] = {0, 7, UINT32_MAX};
  tensor_t *a = suite_tensor(s->suite, s->ring, &seed, s->pattern), *out = sweep_result(s, 1, limbs, NULL, HX_NTT);
  for (size_t i = 0; i < HX_COUNT_OF(indices); ++i) {
    const hx_attr attrs[] = {attr_i64("index", &indices[i], 1), attr_i64("ids", every_id, limbs)};
    sweep_check(s, attrs, 2, &a, 1, &out, 1);
  }
}

const op_case_t cases_basis[] = {{"rns.mod_up", mod_up},
                                 {"rns.mod_down", mod_down},
                                 {"rns.rescale", rescale},
                                 {"rns.center_lift", center_lift},
                                 {"rns.mixed_radix", mixed_radix},
                                 {"rns.extend_exact", extend_exact},
                                 {"rns.automorphism", automorphism},
                                 {"rns.expand_uniform", expand_uniform}};
const size_t cases_basis_count = HX_COUNT_OF(cases_basis);
