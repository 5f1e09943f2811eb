// SPDX-License-Identifier: Apache-2.0
// Operations on rows by themselves: transforms, arithmetic element by element, sums, and shapes.
#include <string.h>

#include "sdk/conformance/suite.h"

static uint32_t every_prime(const sweep_t *s) { return s->ring->ring.q_count + s->ring->ring.p_count; }

// ------------------------------------------------------------------ transforms

static void ntt_forward(sweep_t *s) {
  tensor_t *a = sweep_operand(s, 2, every_prime(s), NULL, HX_COEFFICIENT),
           *out = sweep_result(s, 2, every_prime(s), NULL, HX_NTT);
  sweep_check(s, NULL, 0, &a, 1, &out, 1);
}

static void ntt_inverse(sweep_t *s) {
  tensor_t *a = sweep_operand(s, 2, every_prime(s), NULL, HX_NTT),
           *out = sweep_result(s, 2, every_prime(s), NULL, HX_COEFFICIENT);
  sweep_check(s, NULL, 0, &a, 1, &out, 1);
}

// ------------------------------------------------------------------ sums and differences, standard and lazy

static void linear(sweep_t *s, uint32_t operands, bool with_lazy) {
  for (uint32_t domain = HX_COEFFICIENT; domain <= HX_NTT; ++domain) {
    for (uint32_t repr = HX_STANDARD; sweep_has_domain(s, domain) && repr <= (with_lazy ? HX_LAZY : HX_STANDARD);
         ++repr) {
      shape_t shape = sweep_shape(s, s->in, 2, every_prime(s), NULL, domain);
      shape.repr = repr;
      tensor_t *const both[] = {
          suite_tensor(s->suite, s->ring, &shape, s->pattern),
          suite_tensor(s->suite, s->ring, &shape, s->pattern == FILL_TOP ? FILL_TOP : FILL_EDGES)};
      shape.arrangement = s->out;
      tensor_t *out = suite_tensor(s->suite, s->ring, &shape, FILL_RANDOM);
      sweep_check(s, NULL, 0, both, operands, &out, 1);
      suite_drop_tensors(s->suite);
    }
  }
}

static void two_operands(sweep_t *s) { linear(s, 2, true); }
static void one_operand(sweep_t *s) { linear(s, 1, true); }
static void ckks_two(sweep_t *s) { linear(s, 2, false); }
static void ckks_one(sweep_t *s) { linear(s, 1, false); }

// The largest words there are, and the lazy range.
static void reduce(sweep_t *s) {
  for (uint32_t repr = HX_STANDARD; repr <= HX_LAZY; ++repr) {
    const uint32_t domain = sweep_has_domain(s, HX_COEFFICIENT) ? HX_COEFFICIENT : HX_NTT;
    shape_t shape = sweep_shape(s, s->in, 2, every_prime(s), NULL, domain);
    shape.repr = repr;
    tensor_t *a = suite_tensor(s->suite, s->ring, &shape, s->pattern),
             *out = sweep_result(s, 2, every_prime(s), NULL, domain);
    if (repr == HX_LAZY && s->pattern == FILL_TOP)
      memset(tensor_row(a, 0, 0, 0, 0), 0xff, (size_t)(s->ring->ring.word / 8) << s->ring->ring.log_n);
    sweep_check(s, NULL, 0, &a, 1, &out, 1);
  }
}

// ------------------------------------------------------------------ products

static tensor_t *partner(sweep_t *s, uint32_t components, uint32_t domain) {
  const shape_t shape = sweep_shape(s, s->in, components, every_prime(s), NULL, domain);
  return suite_tensor(s->suite, s->ring, &shape, s->pattern == FILL_TOP ? FILL_TOP : FILL_EDGES);
}

// One component for all: as the host describes it, by a stride of 0.
static tensor_t *repeated(sweep_t *s, uint32_t components, uint32_t domain) {
  tensor_t *plain = partner(s, 1, domain);
  plain->desc.components = components;
  plain->desc.component_stride = 0;
  return plain;
}

// Two factors, one factor twice, a factor of one component for all, a factor that is the same for the whole batch.
static void multiply(sweep_t *s) {
  const uint32_t domain = sweep_has_domain(s, HX_NTT) ? HX_NTT : HX_COEFFICIENT, limbs = every_prime(s);
  tensor_t *a = sweep_operand(s, 2, limbs, NULL, domain), *b = partner(s, 2, domain), *plain = repeated(s, 2, domain);
  tensor_t *out = sweep_result(s, 2, limbs, NULL, domain);
  sweep_check(s, NULL, 0, (tensor_t *const[]){a, b}, 2, &out, 1);
  if (s->brief) return;
  sweep_check(s, NULL, 0, (tensor_t *const[]){a, a}, 2, &out, 1);
  sweep_check(s, NULL, 0, (tensor_t *const[]){a, plain}, 2, &out, 1);
  sweep_check(s, NULL, 0, (tensor_t *const[]){plain, b}, 2, &out, 1);
  const shape_t shape = sweep_shape(s, REPEAT, 2, limbs, NULL, domain);
  tensor_t *single = suite_tensor(s->suite, s->ring, &shape, s->pattern);
  sweep_check(s, NULL, 0, (tensor_t *const[]){a, single}, 2, &out, 1);
}

static void multiply_add(sweep_t *s) {
  const uint32_t domain = sweep_has_domain(s, HX_NTT) ? HX_NTT : HX_COEFFICIENT, limbs = every_prime(s);
  tensor_t *acc = sweep_operand(s, 2, limbs, NULL, domain), *a = sweep_operand(s, 2, limbs, NULL, domain);
  tensor_t *b = partner(s, 2, domain), *plain = repeated(s, 2, domain), *out = sweep_result(s, 2, limbs, NULL, domain);
  sweep_check(s, NULL, 0, (tensor_t *const[]){acc, a, b}, 3, &out, 1);
  if (!s->brief) sweep_check(s, NULL, 0, (tensor_t *const[]){acc, a, plain}, 3, &out, 1);
}

static void montgomery(sweep_t *s, uint32_t operands, uint32_t from, uint32_t to) {
  shape_t shape = sweep_shape(s, s->in, 2, every_prime(s), NULL, HX_NTT);
  shape.repr = from;
  tensor_t *const both[] = {suite_tensor(s->suite, s->ring, &shape, s->pattern),
                            suite_tensor(s->suite, s->ring, &shape, s->pattern)};
  shape.repr = to;
  shape.arrangement = s->out;
  tensor_t *out = suite_tensor(s->suite, s->ring, &shape, FILL_RANDOM);
  sweep_check(s, NULL, 0, both, operands, &out, 1);
}

static void to_montgomery(sweep_t *s) { montgomery(s, 1, HX_STANDARD, HX_MONTGOMERY); }
static void from_montgomery(sweep_t *s) { montgomery(s, 1, HX_MONTGOMERY, HX_STANDARD); }
static void mul_montgomery(sweep_t *s) { montgomery(s, 2, HX_MONTGOMERY, HX_MONTGOMERY); }

static void scalar(sweep_t *s) {
  const uint32_t limbs = every_prime(s);
  uint64_t residues[RING_PRIMES_MAX];
  for (uint32_t i = 0; i < limbs; ++i) {
    const uint64_t q = s->ring->primes[i];
    residues[i] = s->pattern == FILL_ZERO  ? 0
                  : s->pattern == FILL_ONE ? 1
                  : s->pattern == FILL_TOP ? q - 1
                                           : suite_random(s->suite) % q;
  }
  const hx_attr attr = attr_u64("residues", residues, limbs);
  for (uint32_t domain = HX_COEFFICIENT; domain <= HX_NTT; ++domain) {
    if (!sweep_has_domain(s, domain)) continue;
    tensor_t *a = sweep_operand(s, 2, limbs, NULL, domain), *out = sweep_result(s, 2, limbs, NULL, domain);
    sweep_check(s, &attr, 1, &a, 1, &out, 1);
  }
}

// ------------------------------------------------------------------ sums

static void sum(sweep_t *s) {
  for (int64_t axis = 0; axis < 2; ++axis) {
    shape_t shape = sweep_shape(s, s->in, 2, every_prime(s), NULL, HX_NTT);
    shape.batch_rank = 2;
    tensor_t *a = suite_tensor(s->suite, s->ring, &shape, s->pattern);
    shape.arrangement = s->out;
    shape.batch_rank = 1;
    shape.batch[0] = axis == 0 ? 3 : 2;
    tensor_t *out = suite_tensor(s->suite, s->ring, &shape, FILL_RANDOM);
    const hx_attr attr = attr_i64("axis", &axis, 1);
    sweep_check(s, &attr, 1, &a, 1, &out, 1);
  }
}

static void weighted(sweep_t *s, uint32_t terms, int64_t groups) {
  tensor_t *operands[OPERANDS_MAX], *results[2];
  uint32_t count = 0;
  for (uint32_t t = 0; t < terms; ++t) operands[count++] = sweep_operand(s, 2, 2, NULL, HX_NTT);
  for (uint32_t t = 0; t < terms * (uint32_t)groups; ++t) operands[count++] = sweep_operand(s, 1, 2, NULL, HX_NTT);
  for (uint32_t g = 0; g < (uint32_t)groups; ++g) results[g] = sweep_result(s, 2, 2, NULL, HX_NTT);
  const hx_attr attr = attr_i64("groups", &groups, 1);
  sweep_check(s, &attr, 1, operands, count, results, (uint32_t)groups);
  suite_drop_tensors(s->suite);
}

static void weighted_sum(sweep_t *s) {
  weighted(s, 1, 1);
  weighted(s, 5, 2);
  if (!s->brief && s->ring->ring.log_n < 8) weighted(s, 19, 1);
}

static void key_product(sweep_t *s) {
  const uint32_t limbs = every_prime(s);
  const shape_t shape = {.digits = 3,
                         .components = 2,
                         .limbs = limbs,
                         .domain = HX_NTT,
                         .repr = HX_STANDARD,
                         .arrangement = s->in == REPEAT ? DENSE : s->in};
  tensor_t *key = suite_tensor(s->suite, s->ring, &shape, s->pattern == FILL_TOP ? FILL_TOP : FILL_EDGES);
  tensor_t *d = sweep_operand(s, 1, limbs, NULL, HX_NTT), *acc = sweep_operand(s, 2, limbs, NULL, HX_NTT);
  tensor_t *out = sweep_result(s, 2, limbs, NULL, HX_NTT);
  for (int64_t digit = 0; digit < 3; digit += 2) {
    const hx_attr attr = attr_i64("digit", &digit, 1);
    sweep_check(s, &attr, 1, (tensor_t *const[]){d, key}, 2, &out, 1);
    sweep_check(s, &attr, 1, (tensor_t *const[]){d, key, acc}, 3, &out, 1);
  }
}

// ------------------------------------------------------------------ shapes

static void select_limbs(sweep_t *s) {
  const int64_t wanted[] = {0, every_prime(s) - 1};
  const uint32_t kept[] = {0, every_prime(s) - 1};
  const hx_attr ids = attr_i64("ids", wanted, 2);
  tensor_t *a = sweep_operand(s, 2, every_prime(s), NULL, HX_NTT), *out = sweep_result(s, 2, 2, kept, HX_NTT);
  sweep_check(s, &ids, 1, &a, 1, &out, 1);
}

static void concat_limbs(sweep_t *s) {
  const uint32_t low[] = {1}, high[] = {0, 2};
  tensor_t *a = sweep_operand(s, 2, 1, low, HX_NTT), *b = sweep_operand(s, 2, 2, high, HX_NTT),
           *out = sweep_result(s, 2, 3, NULL, HX_NTT);
  sweep_check(s, NULL, 0, (tensor_t *const[]){a, b}, 2, &out, 1);
}

static void select_components(sweep_t *s) {
  const int64_t first = 1, count = 2;
  const hx_attr range[] = {attr_i64("first", &first, 1), attr_i64("count", &count, 1)};
  tensor_t *a = sweep_operand(s, 3, 2, NULL, HX_NTT), *out = sweep_result(s, 2, 2, NULL, HX_NTT);
  sweep_check(s, range, 2, &a, 1, &out, 1);
}

static void pack_components(sweep_t *s) {
  tensor_t *a = sweep_operand(s, 1, 2, NULL, HX_NTT), *b = sweep_operand(s, 2, 2, NULL, HX_NTT),
           *out = sweep_result(s, 3, 2, NULL, HX_NTT);
  sweep_check(s, NULL, 0, (tensor_t *const[]){a, b}, 2, &out, 1);
}

// ------------------------------------------------------------------ ckks forms of the same

static void ckks_plain(sweep_t *s) {
  for (uint32_t domain = HX_COEFFICIENT; domain <= HX_NTT; ++domain) {
    if (!sweep_has_domain(s, domain) || (domain == HX_COEFFICIENT && strcmp(s->row->type, "ckks.mul_plain") == 0))
      continue;
    tensor_t *a = sweep_operand(s, 2, 2, NULL, domain), *out = sweep_result(s, 2, 2, NULL, domain);
    const shape_t shape = sweep_shape(s, s->in, 1, 2, NULL, domain);
    tensor_t *plain = suite_tensor(s->suite, s->ring, &shape, s->pattern);
    sweep_check(s, NULL, 0, (tensor_t *const[]){a, plain}, 2, &out, 1);
  }
}

// The constant on the first and on the second half of each row.
static void ckks_scalar(sweep_t *s) {
  uint64_t residues[2 * RING_PRIMES_MAX];
  for (uint32_t i = 0; i < 4; ++i) {
    const uint64_t q = s->ring->primes[i / 2];
    residues[i] = s->pattern == FILL_ZERO ? 0 : s->pattern == FILL_TOP ? q - 1 : suite_random(s->suite) % q;
  }
  const hx_attr attr = attr_u64("residues", residues, 4);
  tensor_t *a = sweep_operand(s, 2, 2, NULL, HX_NTT), *out = sweep_result(s, 2, 2, NULL, HX_NTT);
  sweep_check(s, &attr, 1, &a, 1, &out, 1);
}

static void ckks_integer(sweep_t *s) {
  static const int64_t integers[] = {0, 1, -1, -3, INT64_MIN, INT64_MAX};
  tensor_t *a = sweep_operand(s, 2, 2, NULL, HX_NTT), *out = sweep_result(s, 2, 2, NULL, HX_NTT);
  for (size_t i = 0; i < HX_COUNT_OF(integers); ++i) {
    const hx_attr attr = attr_i64("integer", &integers[i], 1);
    sweep_check(s, &attr, 1, &a, 1, &out, 1);
  }
}

static void ckks_mul(sweep_t *s) {
  tensor_t *a = sweep_operand(s, 2, 2, NULL, HX_NTT), *b = sweep_operand(s, 2, 2, NULL, HX_NTT),
           *out = sweep_result(s, 3, 2, NULL, HX_NTT);
  sweep_check(s, NULL, 0, (tensor_t *const[]){a, b}, 2, &out, 1);
  sweep_check(s, NULL, 0, (tensor_t *const[]){a, a}, 2, &out, 1);
}

static void ckks_square(sweep_t *s) {
  tensor_t *a = sweep_operand(s, 2, 2, NULL, HX_NTT), *out = sweep_result(s, 3, 2, NULL, HX_NTT);
  sweep_check(s, NULL, 0, &a, 1, &out, 1);
}

const op_case_t cases_rns[] = {{"ntt.forward", ntt_forward},
                               {"ntt.inverse", ntt_inverse},
                               {"rns.add", two_operands},
                               {"rns.sub", two_operands},
                               {"rns.neg", one_operand},
                               {"rns.mul", multiply},
                               {"rns.mul_add", multiply_add},
                               {"rns.mul_scalar", scalar},
                               {"rns.add_scalar", scalar},
                               {"rns.reduce", reduce},
                               {"rns.sum", sum},
                               {"rns.weighted_sum", weighted_sum},
                               {"rns.to_montgomery", to_montgomery},
                               {"rns.from_montgomery", from_montgomery},
                               {"rns.mul_montgomery", mul_montgomery},
                               {"rns.select_limbs", select_limbs},
                               {"rns.concat_limbs", concat_limbs},
                               {"rns.select_components", select_components},
                               {"rns.pack_components", pack_components},
                               {"rns.key_product", key_product},
                               {"ckks.add", ckks_two},
                               {"ckks.sub", ckks_two},
                               {"ckks.neg", ckks_one},
                               {"ckks.add_plain", ckks_plain},
                               {"ckks.sub_plain", ckks_plain},
                               {"ckks.mul_plain", ckks_plain},
                               {"ckks.add_scalar", ckks_scalar},
                               {"ckks.mul_scalar", ckks_scalar},
                               {"ckks.mul_integer", ckks_integer},
                               {"ckks.mul", ckks_mul},
                               {"ckks.square", ckks_square},
                               {"ckks.sum", sum},
                               {"ckks.weighted_sum", weighted_sum}};
const size_t cases_rns_count = HX_COUNT_OF(cases_rns);
