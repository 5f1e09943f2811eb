// SPDX-License-Identifier: Apache-2.0
// Regions of operations element by element on the cpu plugin, against the operations one by one on the reference.
#include "kernelcheck.h"

typedef struct sweep {
  kc_t *kc;
  kc_pattern_t pattern;
  kc_layout_t layout;
  uint32_t batch_rank;
} sweep_t;

static kc_tensor_t *tensor(const sweep_t *s, kc_layout_t layout, uint32_t limbs) {
  const kc_shape_t shape = {.components = 2,
                            .limbs = limbs,
                            .domain = HX_NTT,
                            .repr = HX_STANDARD,
                            .batch_rank = s->batch_rank,
                            .batch = {2, 2},
                            .layout = layout};
  return kc_tensor(s->kc, &shape, s->pattern);
}

// ((a + b) * c + (a + b) * b) * residues: a value that two operations read, one that the last alone reads.
static void check_region(const sweep_t *s) {
  kc_tensor_t *a = tensor(s, s->layout, 3), *b = tensor(s, s->layout, 3), *c = tensor(s, KC_DENSE, 3);
  kc_tensor_t *sum = tensor(s, KC_DENSE, 3), *product = tensor(s, KC_GAPS, 3), *both = tensor(s, KC_DENSE, 3);
  kc_tensor_t *out = tensor(s, s->layout == KC_REPEAT ? KC_GAPS : s->layout, 3);
  uint64_t residues[3];
  for (uint32_t i = 0; i < 3; i++) {
    residues[i] = kc_next(s->kc) % s->kc->primes[i];
  }
  const hx_attr scalar = kc_u64("residues", residues, 3);
  const kc_op_t ops[] = {{"rns.add", NULL, 0, (kc_tensor_t *const[]){a, b}, 2, &sum, 1},
                         {"rns.mul", NULL, 0, (kc_tensor_t *const[]){sum, c}, 2, &product, 1},
                         {"rns.mul_add", NULL, 0, (kc_tensor_t *const[]){product, sum, b}, 3, &both, 1},
                         {"rns.mul_scalar", &scalar, 1, &both, 1, &out, 1}};
  kc_check_chain(s->kc, ops, 4);
  const kc_op_t others[] = {{"rns.sub", NULL, 0, (kc_tensor_t *const[]){a, b}, 2, &sum, 1},
                            {"rns.neg", NULL, 0, &sum, 1, &product, 1},
                            {"rns.add_scalar", &scalar, 1, &product, 1, &out, 1}};
  kc_check_chain(s->kc, others, 3);
  kc_clear(s->kc);
}

static void region_matches_reference_element_by_element(void **state) {
  (void)state;
  static const kc_layout_t layouts[] = {KC_DENSE, KC_GAPS, KC_SWAPPED, KC_REPEAT};
  static const uint32_t sizes[] = {4, 11, 13};  // below, at and above what goes through all operations at a time
  static const uint32_t bits64[] = {50, 45, 61, 50}, bits32[] = {31, 28, 24, 31};
  for (uint32_t word = 64; word >= 32; word -= 32) {
    for (uint32_t size = 0; size < 3; size++) {
      kc_t kc;
      kc_open(&kc, sizes[size], word, 3, 1, 1, word == 64 ? bits64 : bits32);
      for (uint32_t pattern = 0; pattern < KC_PATTERN_COUNT; pattern++) {
        for (uint32_t i = 0; i < (size == 0 ? 4u : 1u); i++) {
          const sweep_t s = {&kc, (kc_pattern_t)pattern, layouts[i], i == 0 ? 0 : 2};
          check_region(&s);
        }
      }
      kc_close(&kc);
    }
  }
}

static void region_refuses_what_is_not_element_by_element(void **state) {
  (void)state;
  static const uint32_t bits[] = {50, 45, 40, 50};
  kc_t kc;
  kc_open(&kc, 6, 64, 3, 1, 1, bits);
  const sweep_t s = {&kc, KC_RANDOM, KC_DENSE, 0};
  kc_tensor_t *a = tensor(&s, KC_DENSE, 3), *sum = tensor(&s, KC_DENSE, 3), *out = tensor(&s, KC_DENSE, 3);
  kc_tensor_t *less = tensor(&s, KC_DENSE, 2), *little = tensor(&s, KC_DENSE, 2);
  const int64_t element = 5;
  const hx_attr turn = kc_i64("element", &element, 1);
  const kc_op_t add = {"rns.add", NULL, 0, (kc_tensor_t *const[]){a, a}, 2, &sum, 1};
  const kc_op_t turned[] = {add, {"rns.automorphism", &turn, 1, &sum, 1, &out, 1}};
  kc_refuses_chain(&kc, turned, 2, HX_UNSUPPORTED, "rns.automorphism is not element by element");
  const kc_op_t other_kind[] = {add, {"ckks.neg", NULL, 0, &sum, 1, &out, 1}};
  kc_refuses_chain(&kc, other_kind, 2, HX_UNSUPPORTED, "ckks.neg is not element by element");
  const kc_op_t other_shape[] = {add, {"rns.neg", NULL, 0, &less, 1, &little, 1}};
  kc_refuses_chain(&kc, other_shape, 2, HX_UNSUPPORTED, "in the shape of the operations before it");
  kc_close(&kc);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(region_matches_reference_element_by_element),
      cmocka_unit_test(region_refuses_what_is_not_element_by_element),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
