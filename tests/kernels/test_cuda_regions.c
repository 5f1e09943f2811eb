// SPDX-License-Identifier: Apache-2.0
// Regions of operations element by element on the cuda plugin, compiled while it runs, against the operations one by
// one on the reference. Runs on a device with NVRTC, and without one over a driver and a compiler of the host
// (fixtures/cuda).
#include "regioncheck.h"

#define OPS_MAX 24u

// ------------------------------------------------------------------ a region in the making

typedef struct sketch {
  kc_t *kc;
  kc_pattern_t pattern;
  kc_layout_t layout;
  uint32_t batch_rank;
  uint64_t residues[OPS_MAX][2 * LIMBS];
  hx_attr attrs[OPS_MAX];
  kc_tensor_t *operands[OPS_MAX][8], *results[OPS_MAX];
  kc_op_t ops[OPS_MAX];
  uint32_t count;
} sketch_t;

static const int64_t one_group = 1, times = -12345;

static kc_tensor_t *tensor(const sketch_t *s, uint32_t components, uint32_t repr, kc_layout_t layout) {
  const kc_shape_t shape = {.components = components,
                            .limbs = LIMBS,
                            .domain = HX_NTT,
                            .repr = repr,
                            .batch_rank = s->batch_rank,
                            .batch = {2, 2},
                            .layout = layout};
  return kc_tensor(s->kc, &shape, s->pattern);
}

// What the operations take: operands by letters (c: two components, p: one), constants a row (parts), forms.
static const struct shape {
  const char *op, *operands;
  uint32_t parts;
  uint32_t from, to;
} shapes[] = {{"rns.add", "cc", 0, HX_STANDARD, HX_STANDARD},
              {"rns.sub", "cc", 0, HX_STANDARD, HX_STANDARD},
              {"rns.neg", "c", 0, HX_STANDARD, HX_STANDARD},
              {"rns.mul", "cc", 0, HX_STANDARD, HX_STANDARD},
              {"rns.mul_add", "ccc", 0, HX_STANDARD, HX_STANDARD},
              {"rns.mul_scalar", "c", 1, HX_STANDARD, HX_STANDARD},
              {"rns.add_scalar", "c", 1, HX_STANDARD, HX_STANDARD},
              {"rns.weighted_sum", "ccpp", 0, HX_STANDARD, HX_STANDARD},
              {"ckks.add", "cc", 0, HX_STANDARD, HX_STANDARD},
              {"ckks.sub", "cc", 0, HX_STANDARD, HX_STANDARD},
              {"ckks.neg", "c", 0, HX_STANDARD, HX_STANDARD},
              {"ckks.add_plain", "cp", 0, HX_STANDARD, HX_STANDARD},
              {"ckks.sub_plain", "cp", 0, HX_STANDARD, HX_STANDARD},
              {"ckks.mul_plain", "cp", 0, HX_STANDARD, HX_STANDARD},
              {"ckks.add_scalar", "c", 2, HX_STANDARD, HX_STANDARD},
              {"ckks.mul_scalar", "c", 2, HX_STANDARD, HX_STANDARD},
              {"ckks.mul_integer", "c", 0, HX_STANDARD, HX_STANDARD},
              {"ckks.weighted_sum", "cccppp", 0, HX_STANDARD, HX_STANDARD},
              {"rns.reduce", "c", 0, HX_LAZY, HX_STANDARD},
              {"rns.add", "cc", 0, HX_LAZY, HX_LAZY},
              {"rns.sub", "cc", 0, HX_LAZY, HX_LAZY},
              {"rns.neg", "c", 0, HX_LAZY, HX_LAZY},
              {"rns.mul_montgomery", "cc", 0, HX_MONTGOMERY, HX_MONTGOMERY},
              {"rns.to_montgomery", "c", 0, HX_STANDARD, HX_MONTGOMERY},
              {"rns.from_montgomery", "c", 0, HX_MONTGOMERY, HX_STANDARD}};

#define SHAPE_COUNT ((uint32_t)(sizeof shapes / sizeof shapes[0]))
#define STANDARD_COUNT 18u  // the first ones

// Adds an operation: its operands are values made before where `known` has one of the form that fits, else new ones.
static void add_op(sketch_t *s, const struct shape *shape, uint32_t known) {
  const uint32_t k = s->count++;
  const uint32_t operands = (uint32_t)strlen(shape->operands);
  for (uint32_t i = 0; i < operands; i++) {
    const uint32_t from = known > 0 ? (uint32_t)(kc_next(s->kc) % (2 * known)) : 1;
    kc_tensor_t *made = from < known && shape->operands[i] == 'c' ? s->results[from] : NULL;
    // An outer operand of an operation before may be read again.
    if (made == NULL && from % 3 == 0 && k > 0 && shape->operands[i] == 'c') made = s->operands[k - 1][0];
    s->operands[k][i] = made != NULL && made->desc.repr == shape->from
                            ? made
                            : tensor(s, shape->operands[i] == 'c' ? 2 : 1, shape->from, s->layout);
  }
  s->results[k] = tensor(s, 2, shape->to, k % 2 == 0 || s->layout == KC_REPEAT ? KC_GAPS : s->layout);
  s->ops[k] = (kc_op_t){shape->op, NULL, 0, s->operands[k], operands, &s->results[k], 1};
  for (uint32_t i = 0; i < shape->parts * LIMBS; i++) {
    const uint64_t q = s->kc->primes[i / shape->parts];
    s->residues[k][i] = s->pattern == KC_TOP ? q - 1 : kc_next(s->kc) % q;
  }
  if (shape->parts > 0) s->attrs[k] = kc_u64("residues", s->residues[k], shape->parts * LIMBS);
  if (strstr(shape->op, "weighted_sum") != NULL) s->attrs[k] = kc_i64("groups", &one_group, 1);
  if (strcmp(shape->op, "ckks.mul_integer") == 0) s->attrs[k] = kc_i64("integer", &times, 1);
  if (s->attrs[k].name != NULL) {
    s->ops[k].attrs = &s->attrs[k];
    s->ops[k].attr_count = 1;
  }
}

static void begin(sketch_t *s, kc_t *kc, kc_pattern_t pattern, kc_layout_t layout, uint32_t batch_rank) {
  memset(s, 0, sizeof *s);
  s->kc = kc;
  s->pattern = pattern;
  s->layout = layout;
  s->batch_rank = batch_rank;
}

static const struct shape to_montgomery = {"rns.to_montgomery", "c", 0, HX_STANDARD, HX_MONTGOMERY};

// Each operation after one that makes what it takes, one or both results leaving; returns how many were done in place.
static uint32_t check_each(kc_t *kc, kc_pattern_t pattern, kc_layout_t layout, uint32_t batch_rank) {
  uint32_t in_place = 0;
  sketch_t *s = calloc(1, sizeof *s);
  for (uint32_t i = 0; i < SHAPE_COUNT; i++) {
    begin(s, kc, pattern, layout, batch_rank);
    const struct shape before = {"rns.neg", "c", 0, shapes[i].from, shapes[i].from};
    add_op(s, shapes[i].from == HX_MONTGOMERY ? &to_montgomery : &before, 0);
    add_op(s, &shapes[i], 1);
    in_place += kc_check_region(kc, s->ops, s->count, i % 2 == 0 ? 3 : 2) ? 1 : 0;
    kc_clear(kc);
  }
  free(s);
  return in_place;
}

// `count` operations at random, of which some leave.
static void check_random(kc_t *kc, kc_pattern_t pattern, uint32_t count) {
  sketch_t *s = calloc(1, sizeof *s);
  begin(s, kc, pattern, kc_next(kc) % 2 == 0 ? KC_DENSE : KC_SWAPPED, 1);
  for (uint32_t i = 0; i < count; i++) {
    add_op(s, &shapes[kc_next(kc) % STANDARD_COUNT], s->count);
  }
  const uint64_t leave = kc_next(kc) & (((uint64_t)1 << count) - 1);
  kc_check_region(kc, s->ops, s->count, leave | (uint64_t)1 << (count - 1));
  kc_clear(kc);
  free(s);
}

// ------------------------------------------------------------------ cases

static const uint32_t wide[] = {61, 45, 60, 61}, narrow[] = {50, 40, 49, 50}, mixed[] = {50, 61, 28, 61},
                      words[] = {31, 24, 28, 31};

static const struct ring {
  uint32_t log_n, word;
  const uint32_t *bits;
  const char *variant;
} rings[] = {{4, 64, wide, "integer"},  {4, 64, narrow, "real"}, {4, 64, mixed, "real"},
             {4, 32, words, "integer"}, {4, 32, words, "real"},  {4, 32, words, "word32"}};

#define RING_COUNT (sizeof rings / sizeof rings[0])

static void every_operation_matches_reference_in_a_region(void **state) {
  (void)state;
  for (size_t i = 0; i < RING_COUNT; i++) {
    kc_t kc;
    open_ring(&kc, rings[i].log_n, rings[i].word, rings[i].bits, rings[i].variant);
    for (uint32_t pattern = i < 3 ? 0 : KC_RANDOM; pattern < KC_PATTERN_COUNT; pattern++) {
      const uint32_t in_place = check_each(&kc, (kc_pattern_t)pattern, KC_DENSE, pattern % 3);
      assert_true(in_place > 0);
    }
    check_each(&kc, KC_EDGES, KC_GAPS, 2);
    check_each(&kc, KC_EDGES, KC_SWAPPED, 1);
    check_each(&kc, KC_EDGES, KC_REPEAT, 2);
    kc_close(&kc);
  }
}

static void random_regions_match_reference(void **state) {
  (void)state;
  static const uint32_t counts[] = {2, 3, 5, 9, 14};
  for (size_t i = 0; i < RING_COUNT; i++) {
    kc_t kc;
    open_ring(&kc, rings[i].log_n, rings[i].word, rings[i].bits, rings[i].variant);
    for (uint32_t k = 0; k < sizeof counts / sizeof counts[0]; k++) {
      kc.random = 1000 * i + k + 1;  // the same region for every pattern
      check_random(&kc, KC_RANDOM, counts[k]);
      kc.random = 1000 * i + k + 1;
      check_random(&kc, KC_TOP, counts[k]);
    }
    kc_close(&kc);
  }
}

// Blocks at the end of a row and beyond, and the two halves' constants; the path that the device takes by itself.
static void regions_match_reference_at_every_size(void **state) {
  (void)state;
  for (uint32_t log_n = 3; log_n <= 13; log_n++) {
    kc_t kc;
    open_ring(&kc, log_n, 64, narrow, NULL);
    sketch_t *s = calloc(1, sizeof *s);
    begin(s, &kc, KC_EDGES, KC_DENSE, 0);
    static const char *const names[] = {"ckks.mul_plain", "ckks.mul_scalar", "ckks.add_scalar", "ckks.sub_plain"};
    for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++) {
      for (uint32_t k = 0; k < STANDARD_COUNT; k++) {
        if (strcmp(shapes[k].op, names[i]) == 0) add_op(s, &shapes[k], s->count);
      }
    }
    kc_check_region(&kc, s->ops, s->count, 0xf);
    free(s);
    kc_close(&kc);
  }
}

// ------------------------------------------------------------------ refusals

static void regions_that_are_none_are_refused(void **state) {
  (void)state;
  kc_t kc;
  open_ring(&kc, 6, 64, narrow, NULL);
  const sketch_t s = {.kc = &kc, .pattern = KC_RANDOM};
  const int64_t element = 5;
  const hx_attr turn = kc_i64("element", &element, 1);
  kc_tensor_t *a = tensor(&s, 2, HX_STANDARD, KC_DENSE), *sum = tensor(&s, 2, HX_STANDARD, KC_DENSE),
              *out = tensor(&s, 2, HX_STANDARD, KC_DENSE), *one = tensor(&s, 1, HX_STANDARD, KC_DENSE),
              *two = tensor(&s, 1, HX_STANDARD, KC_DENSE);
  const kc_op_t add = {"rns.add", NULL, 0, (kc_tensor_t *const[]){a, a}, 2, &sum, 1};
  const kc_op_t turned[] = {add, {"rns.automorphism", &turn, 1, &sum, 1, &out, 1}};
  kc_refuses_chain(&kc, turned, 2, HX_UNSUPPORTED, "rns.automorphism is not element by element");
  const kc_op_t other_shape[] = {add, {"rns.neg", NULL, 0, &one, 1, &two, 1}};
  kc_refuses_chain(&kc, other_shape, 2, HX_UNSUPPORTED, "in the shape of the operations before it");
  const kc_op_t broken[] = {add, {"rns.mul", NULL, 0, (kc_tensor_t *const[]){sum, one}, 2, &out, 1}};
  kc_refuses_chain(&kc, broken, 2, HX_INVALID, "rns.mul");
  kc_close(&kc);
}

// A chain of products, each with two operands more. Every operand that is read and
// every result that leaves has an address among the arguments.
static void regions_are_as_large_as_the_arguments_have_room(void **state) {
  (void)state;
  enum { COUNT = 33 };
  kc_t kc;
  open_ring(&kc, 3, 64, narrow, NULL);
  const sketch_t s = {.kc = &kc, .pattern = KC_RANDOM};
  kc_op_t ops[COUNT];
  kc_tensor_t *operands[COUNT][3], *results[COUNT];
  for (uint32_t i = 0; i < COUNT; i++) {
    operands[i][0] = i > 0 ? results[i - 1] : tensor(&s, 2, HX_STANDARD, KC_DENSE);
    operands[i][1] = tensor(&s, 2, HX_STANDARD, KC_DENSE);
    operands[i][2] = tensor(&s, 2, HX_STANDARD, KC_DENSE);
    results[i] = tensor(&s, 2, HX_STANDARD, KC_DENSE);
    ops[i] = (kc_op_t){"rns.mul_add", NULL, 0, operands[i], 3, &results[i], 1};
  }
  kc_check_region(&kc, ops, 21, 0x1fffff);           // 43 operands, 21 results
  kc_check_region(&kc, ops, 31, (uint64_t)1 << 30);  // 63 operands, a result
  kc_refuses_chain(&kc, ops, 32, HX_UNSUPPORTED,
                   "the region has 65 operands to read; cuda takes regions of at most 64");
  kc_close(&kc);
}

static void region_without_nvrtc_is_left_to_its_operations(void **state) {
  (void)state;
  kc_t kc;
  open_ring(&kc, 4, 64, narrow, NULL);
  sketch_t *s = calloc(1, sizeof *s);
  begin(s, &kc, KC_RANDOM, KC_DENSE, 0);
  add_op(s, &shapes[0], 0);
  add_op(s, &shapes[3], 1);
  kc_set_option("cuda-nvrtc", "off");
  kc_refuses_chain(&kc, s->ops, 2, HX_UNSUPPORTED, "no NVRTC: option cuda-nvrtc is off");
  kc_set_option("cuda-nvrtc", "/nonexistent/libnvrtc.so");
  kc_refuses_chain(&kc, s->ops, 2, HX_UNSUPPORTED, "no NVRTC: /nonexistent/libnvrtc.so");
  kc_set_option("cuda-nvrtc", getenv("HELIOX_TEST_NVRTC"));
  kc_check_region(&kc, s->ops, 2, 2);
  free(s);
  kc_close(&kc);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_operation_matches_reference_in_a_region),
      cmocka_unit_test(random_regions_match_reference),
      cmocka_unit_test(regions_match_reference_at_every_size),
      cmocka_unit_test(regions_that_are_none_are_refused),
      cmocka_unit_test(regions_are_as_large_as_the_arguments_have_room),
      cmocka_unit_test(region_without_nvrtc_is_left_to_its_operations),
  };
  if (argc > 1) {
    cmocka_set_test_filter(argv[1]);
  }
  return cmocka_run_group_tests(tests, region_set_up, region_tear_down);
}
