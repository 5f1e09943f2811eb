// SPDX-License-Identifier: Apache-2.0
// Cases of operations on rows of their own, sums and shapes.
#include "opcheck.h"

// ------------------------------------------------------------------ rows on their own

void oc_case_ntt(const oc_sweep_t *s) {
  const uint32_t limbs = oc_primes(s);
  kc_tensor_t *a = oc_operand(s, 1, limbs, NULL, HX_COEFFICIENT), *b = oc_operand(s, 1, limbs, NULL, HX_NTT);
  kc_tensor_t *out = oc_result(s, 1, limbs, NULL, HX_NTT), *back = oc_result(s, 1, limbs, NULL, HX_COEFFICIENT);
  oc_check(s, "ntt.forward", NULL, 0, &a, 1, &out, 1);
  oc_check(s, "ntt.inverse", NULL, 0, &b, 1, &back, 1);
}

void oc_case_to_domain(const oc_sweep_t *s) {
  for (uint32_t from = HX_COEFFICIENT; from <= HX_NTT; from++) {
    kc_tensor_t *a = oc_operand(s, 2, 3, NULL, from);
    kc_tensor_t *out = oc_result(s, 2, 3, NULL, HX_NTT), *back = oc_result(s, 2, 3, NULL, HX_COEFFICIENT);
    oc_check(s, "ckks.to_ntt", NULL, 0, &a, 1, &out, 1);
    oc_check(s, "ckks.from_ntt", NULL, 0, &a, 1, &back, 1);
  }
}

void oc_case_linear(const oc_sweep_t *s) {
  static const char *const names[] = {"rns.add", "rns.sub", "rns.neg", "ckks.add", "ckks.sub", "ckks.neg"};
  for (uint32_t lazy = 0; lazy < 2; lazy++) {
    kc_shape_t shape = oc_shape(s, s->in, 2, 3, NULL, HX_NTT);
    shape.repr = lazy ? HX_LAZY : HX_STANDARD;
    kc_tensor_t *operands[] = {kc_tensor(s->kc, &shape, s->pattern), kc_tensor(s->kc, &shape, KC_EDGES)};
    shape.layout = s->out;
    kc_tensor_t *out = kc_tensor(s->kc, &shape, KC_RANDOM);
    for (uint32_t i = 0; i < (lazy ? 3u : 6u); i++) {
      oc_check(s, names[i], NULL, 0, operands, i % 3 == 2 ? 1 : 2, &out, 1);
    }
  }
}

void oc_case_reduce(const oc_sweep_t *s) {
  kc_tensor_t *a = oc_operand(s, 2, 3, NULL, HX_COEFFICIENT), *out = oc_result(s, 2, 3, NULL, HX_COEFFICIENT);
  a->desc.repr = HX_LAZY;
  const size_t word = s->kc->ring.word / 8;
  memset(kc_row(a, 0, 0, 0, 0), 0xff, word << s->kc->ring.log_n);  // the largest words there are
  oc_check(s, "rns.reduce", NULL, 0, &a, 1, &out, 1);
}

void oc_case_products(const oc_sweep_t *s) {
  kc_tensor_t *acc = oc_operand(s, 2, 3, NULL, HX_NTT), *a = oc_operand(s, 2, 3, NULL, HX_NTT);
  const kc_shape_t shape = oc_shape(s, s->in, 2, 3, NULL, HX_NTT);
  kc_tensor_t *b = kc_tensor(s->kc, &shape, s->pattern == KC_TOP ? KC_TOP : KC_EDGES);
  kc_tensor_t *plain = oc_operand(s, 1, 3, NULL, HX_NTT), *out = oc_result(s, 2, 3, NULL, HX_NTT);
  kc_tensor_t *const three[] = {acc, a, b}, *const two[] = {a, b}, *const with_plain[] = {a, plain};
  oc_check(s, "rns.mul", NULL, 0, two, 2, &out, 1);
  oc_check(s, "rns.mul", NULL, 0, (kc_tensor_t *const[]){a, a}, 2, &out, 1);
  oc_check(s, "rns.mul_add", NULL, 0, three, 3, &out, 1);
  oc_check(s, "ckks.add_plain", NULL, 0, with_plain, 2, &out, 1);
  oc_check(s, "ckks.sub_plain", NULL, 0, with_plain, 2, &out, 1);
  oc_check(s, "ckks.mul_plain", NULL, 0, with_plain, 2, &out, 1);
  kc_tensor_t *tensor = oc_result(s, 3, 3, NULL, HX_NTT);
  oc_check(s, "ckks.mul", NULL, 0, two, 2, &tensor, 1);
  oc_check(s, "ckks.square", NULL, 0, &b, 1, &tensor, 1);
}

void oc_case_montgomery(const oc_sweep_t *s) {
  kc_tensor_t *a = oc_operand(s, 2, 3, NULL, HX_NTT), *b = oc_operand(s, 2, 3, NULL, HX_NTT);
  kc_tensor_t *out = oc_result(s, 2, 3, NULL, HX_NTT);
  out->desc.repr = HX_MONTGOMERY;
  oc_check(s, "rns.to_montgomery", NULL, 0, &a, 1, &out, 1);
  a->desc.repr = HX_MONTGOMERY;
  b->desc.repr = HX_MONTGOMERY;
  oc_check(s, "rns.mul_montgomery", NULL, 0, (kc_tensor_t *const[]){a, b}, 2, &out, 1);
  out->desc.repr = HX_STANDARD;
  oc_check(s, "rns.from_montgomery", NULL, 0, &a, 1, &out, 1);
}

void oc_case_scalars(const oc_sweep_t *s) {
  kc_tensor_t *a = oc_operand(s, 2, 3, NULL, HX_NTT), *out = oc_result(s, 2, 3, NULL, HX_NTT);
  uint64_t residues[6];
  for (uint32_t i = 0; i < 6; i++) {
    const uint64_t q = s->kc->primes[i / 2];
    residues[i] = s->pattern == KC_TOP ? q - 1 : s->pattern == KC_ZERO ? 0 : kc_next(s->kc) % q;
  }
  const uint64_t rows[3] = {residues[0], residues[2], residues[4]};
  const hx_attr one = kc_u64("residues", rows, 3), two = kc_u64("residues", residues, 6);
  oc_check(s, "rns.mul_scalar", &one, 1, &a, 1, &out, 1);
  oc_check(s, "rns.add_scalar", &one, 1, &a, 1, &out, 1);
  oc_check(s, "ckks.mul_scalar", &two, 1, &a, 1, &out, 1);
  oc_check(s, "ckks.add_scalar", &two, 1, &a, 1, &out, 1);
  const int64_t integers[] = {0, 1, -1, -3, INT64_MIN, INT64_MAX};
  for (uint32_t i = 0; i < 6; i++) {
    const hx_attr integer = kc_i64("integer", &integers[i], 1);
    oc_check(s, "ckks.mul_integer", &integer, 1, &a, 1, &out, 1);
  }
}

void oc_case_automorphism(const oc_sweep_t *s) {
  const int64_t n = (int64_t)1 << s->kc->ring.log_n, elements[] = {1, 5, 2 * n - 1, n + 1, 25 % (2 * n)};
  for (uint32_t domain = HX_COEFFICIENT; domain <= HX_NTT; domain++) {
    kc_tensor_t *a = oc_operand(s, 2, 2, NULL, domain), *out = oc_result(s, 2, 2, NULL, domain);
    for (uint32_t i = 0; i < 5; i++) {
      const hx_attr element = kc_i64("element", &elements[i], 1);
      oc_check(s, "rns.automorphism", &element, 1, &a, 1, &out, 1);
    }
  }
}

// ------------------------------------------------------------------ sums and shapes

void oc_case_sums(const oc_sweep_t *s) {
  for (int64_t axis = 0; axis < 2; axis++) {
    kc_shape_t shape = oc_shape(s, s->in, 2, 3, NULL, HX_NTT);
    shape.batch_rank = 2;
    shape.batch[0] = 3;
    kc_tensor_t *a = kc_tensor(s->kc, &shape, s->pattern);
    shape.layout = s->out;
    shape.batch_rank = 1;
    shape.batch[0] = axis == 0 ? 2 : 3;
    kc_tensor_t *out = kc_tensor(s->kc, &shape, KC_RANDOM);
    const hx_attr attr = kc_i64("axis", &axis, 1);
    oc_check(s, "rns.sum", &attr, 1, &a, 1, &out, 1);
    oc_check(s, "ckks.sum", &attr, 1, &a, 1, &out, 1);
  }
}

static void weighted_sum(const oc_sweep_t *s, uint32_t terms, int64_t groups) {
  kc_tensor_t *operands[KC_TENSORS_MAX], *results[2];
  uint32_t count = 0;
  for (uint32_t t = 0; t < terms; t++) {
    operands[count++] = oc_operand(s, 2, 2, NULL, HX_NTT);
  }
  for (uint32_t t = 0; t < terms * (uint32_t)groups; t++) {
    operands[count++] = oc_operand(s, 1, 2, NULL, HX_NTT);
  }
  for (uint32_t g = 0; g < (uint32_t)groups; g++) {
    results[g] = oc_result(s, 2, 2, NULL, HX_NTT);
  }
  const hx_attr attr = kc_i64("groups", &groups, 1);
  oc_check(s, "rns.weighted_sum", &attr, 1, operands, count, results, (uint32_t)groups);
  oc_check(s, "ckks.weighted_sum", &attr, 1, operands, count, results, (uint32_t)groups);
}

void oc_case_weighted_sum(const oc_sweep_t *s) {
  weighted_sum(s, 1, 1);
  weighted_sum(s, 5, 2);
  if (s->kc->ring.log_n < 6) {  // beyond what one pass sums
    kc_clear(s->kc);
    weighted_sum(s, 67, 1);
  }
}

void oc_case_shapes(const oc_sweep_t *s) {
  static const uint32_t low[] = {0, 3}, high[] = {1, 2, 5}, all[] = {0, 1, 2, 3, 5};
  const int64_t wanted[] = {1, 3, 5}, first = 1, count = 2;
  static const uint32_t kept[] = {1, 3, 5};
  kc_tensor_t *a = oc_operand(s, 3, 2, low, HX_NTT), *b = oc_operand(s, 3, 3, high, HX_NTT);
  kc_tensor_t *joined = oc_result(s, 3, 5, all, HX_NTT);
  oc_check(s, "rns.concat_limbs", NULL, 0, (kc_tensor_t *const[]){a, b}, 2, &joined, 1);
  kc_tensor_t *out = oc_result(s, 3, 3, kept, HX_NTT), *from = oc_operand(s, 3, 5, all, HX_NTT);
  const hx_attr ids = kc_i64("ids", wanted, 3);
  oc_check(s, "rns.select_limbs", &ids, 1, &from, 1, &out, 1);
  kc_tensor_t *two = oc_result(s, 2, 5, all, HX_NTT), *five = oc_result(s, 5, 5, all, HX_NTT);
  const hx_attr range[] = {kc_i64("first", &first, 1), kc_i64("count", &count, 1)};
  oc_check(s, "rns.select_components", range, 2, &from, 1, &two, 1);
  kc_tensor_t *pair = oc_operand(s, 2, 5, all, HX_NTT);
  oc_check(s, "rns.pack_components", NULL, 0, (kc_tensor_t *const[]){pair, from}, 2, &five, 1);
}
