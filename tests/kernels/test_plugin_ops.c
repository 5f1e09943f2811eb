// SPDX-License-Identifier: Apache-2.0
// Every operation of a plugin against the reference: rings of both words, sizes 2^3 to 2^17, primes of 20 to 61 bits,
// edge and random residues, dense, gapped, swapped and repeating layouts, batches, in place where allowed. Compiled
// once a plugin; HELIOX_TEST_PLUGIN names the manifest of another one, which is loaded.
#include "opcheck.h"

static void run_all(kc_t *kc, kc_pattern_t pattern, kc_layout_t in, kc_layout_t out, uint32_t batch_rank) {
  const oc_sweep_t sweep = {kc, pattern, in, out, batch_rank};
  oc_run_all(&sweep);
}

// ------------------------------------------------------------------ rings

// Primes large and small: those that a small ring can have are replaced by the smallest size that a larger one has.
// narrow: all below 2^50.
static void open_ring_of(kc_t *kc, uint32_t log_n, uint32_t word, bool narrow) {
  uint32_t bits64[] = {61, 60, 45, 31, 20, 61, 50}, bits32[] = {31, 30, 28, 24, 20, 31, 29};
  uint32_t bits50[] = {50, 50, 45, 31, 20, 50, 49};
  uint32_t *bits = word == 32 ? bits32 : narrow ? bits50 : bits64;
  for (uint32_t i = 0; i < 7; i++) {
    bits[i] = bits[i] < log_n + 8 ? log_n + 8 : bits[i];
  }
  kc_open(kc, log_n, word, 5, 2, 2, bits);
}

static void open_ring(kc_t *kc, uint32_t log_n, uint32_t word) { open_ring_of(kc, log_n, word, false); }

static void ops_match_reference_in_small_rings(void **state) {
  (void)state;
  static const kc_layout_t layouts[] = {KC_DENSE, KC_GAPS, KC_SWAPPED, KC_REPEAT};
  kc_t kc;
  for (uint32_t word = 64; word >= 32; word -= 32) {
    static const uint32_t sizes[] = {3, 4, 7};
    for (uint32_t size = 0; size < 3; size++) {
      open_ring(&kc, sizes[size], word);
      for (uint32_t pattern = 0; pattern < KC_PATTERN_COUNT; pattern++) {
        for (uint32_t i = 0; i < 4; i++) {
          const kc_layout_t out = i == 3 ? KC_GAPS : layouts[i];
          run_all(&kc, (kc_pattern_t)pattern, layouts[i], out, i == 0 ? 0 : 2);
        }
      }
      kc_close(&kc);
    }
  }
}

static void ops_match_reference_in_large_rings(void **state) {
  (void)state;
  kc_t kc;
  static const struct { uint32_t log_n, word; } rings[] = {{10, 64}, {13, 32}, {16, 64}};
  for (uint32_t i = 0; i < 3; i++) {
    open_ring(&kc, rings[i].log_n, rings[i].word);
    run_all(&kc, KC_EDGES, KC_DENSE, KC_DENSE, 0);
    kc_close(&kc);
  }
}

// Primes of the sizes that parameter sets have, for which plugins have variants: each that can be pinned.
static void ops_match_reference_below_50_bits(void **state) {
  (void)state;
  static const uint32_t sizes[] = {3, 8, 13};
  const char *const *variants = kc_variants();
  kc_t kc;
  for (uint32_t v = 0; v == 0 || variants[v] != NULL; v++) {
    for (uint32_t i = 0; i < 3; i++) {
      open_ring_of(&kc, sizes[i], 64, true);
      kc.variant = variants[v];
      for (uint32_t pattern = i < 2 ? 0 : KC_EDGES; pattern < KC_PATTERN_COUNT; pattern++) {
        run_all(&kc, (kc_pattern_t)pattern, KC_DENSE, i == 0 ? KC_GAPS : KC_DENSE, 0);
      }
      kc_close(&kc);
    }
  }
}

static void transform_ring(uint32_t log_n, bool below_50_bits, const char *variant) {
  kc_t kc;
  open_ring_of(&kc, log_n, 64, below_50_bits);
  kc.variant = variant;
  for (uint32_t pattern = KC_TOP; pattern <= KC_RANDOM; pattern++) {
    const oc_sweep_t sweep = {&kc, (kc_pattern_t)pattern, KC_DENSE, KC_DENSE, 0};
    oc_case_ntt(&sweep);
    kc_clear(&kc);
  }
  kc_close(&kc);
}

// Also with primes of at most 50 bits, for which plugins have variants.
static void ntt_matches_reference_at_every_size(void **state) {
  (void)state;
  const char *const *variants = kc_variants();
  for (uint32_t log_n = 3; log_n <= 17; log_n++) {
    transform_ring(log_n, false, NULL);
    for (uint32_t v = 0; variants[v] != NULL; v++) {
      transform_ring(log_n, true, variants[v]);
    }
  }
}

// A digit of twelve primes and as many special ones: sums of more terms than one chunk of the accumulation.
static void bases_match_reference_with_many_primes(void **state) {
  (void)state;
  kc_t kc;
  for (uint32_t word = 64; word >= 32; word -= 32) {
    uint32_t bits[36];
    for (uint32_t i = 0; i < 36; i++) {
      bits[i] = word == 64 ? 61 : 31;
    }
    kc_open(&kc, 4, word, 24, 12, 12, bits);
    for (uint32_t pattern = KC_TOP; pattern < KC_PATTERN_COUNT; pattern++) {
      const oc_sweep_t sweep = {&kc, (kc_pattern_t)pattern, KC_DENSE, KC_GAPS, 0};
      oc_case_mod_up(&sweep);
      oc_case_mod_down(&sweep);
      kc_clear(&kc);
      oc_case_rescale(&sweep);
      oc_case_lifts(&sweep);
      kc_clear(&kc);
      int64_t wanted[36];
      for (uint32_t i = 0; i < 36; i++) {
        wanted[i] = i;
      }
      kc_tensor_t *a = oc_operand(&sweep, 1, 20, NULL, HX_COEFFICIENT),
                  *out = oc_result(&sweep, 1, 36, NULL, HX_COEFFICIENT);
      const hx_attr attr = kc_i64("ids", wanted, 36);
      oc_check(&sweep, "rns.extend_exact", &attr, 1, &a, 1, &out, 1);
      kc_clear(&kc);
    }
    kc_close(&kc);
  }
}

// Depth groups of two primes, digits of three: the rescale of a group, one step after the other.
static void groups_of_primes_match_reference(void **state) {
  (void)state;
  static const uint32_t bits[] = {61, 50, 45, 40, 38, 61, 61, 60}, groups[] = {1, 2, 2};
  kc_t kc;
  for (uint32_t log_n = 4; log_n <= 11; log_n += 7) {
    kc_open_groups(&kc, log_n, 64, 5, 3, 3, bits, groups, 3);
    for (uint32_t pattern = 0; pattern < KC_PATTERN_COUNT; pattern++) {
      const oc_sweep_t sweep = {&kc, (kc_pattern_t)pattern, KC_DENSE, KC_DENSE, 0};
      oc_case_ckks_rescale(&sweep);
      oc_case_switch(&sweep);
      kc_clear(&kc);
    }
    kc_close(&kc);
  }
}

// Digits of six primes of rows that are more than a cache holds together: a plugin may convert to several rows at
// once.
static void long_digits_of_large_rows_match_reference(void **state) {
  (void)state;
  uint32_t bits[23];
  kc_t kc;
  for (uint32_t narrow = 0; narrow < 2; narrow++) {
    for (uint32_t i = 0; i < 23; i++) {
      bits[i] = narrow == 0 ? 61 : i < 17 ? 49 : 50;
    }
    kc_open(&kc, 13, 64, 17, 6, 6, bits);
    const oc_sweep_t sweep = {&kc, narrow == 0 ? KC_EDGES : KC_RANDOM, KC_DENSE, KC_DENSE, 0};
    void (*const cases[])(const oc_sweep_t *) = {oc_case_switch, oc_case_switch_depths, oc_case_rotate_many,
                                                 oc_case_rotate_sum, oc_case_rotate_weighted_sum};
    for (size_t i = 0; i < (narrow == 0 ? 2 : sizeof cases / sizeof cases[0]); i++) {
      cases[i](&sweep);
      kc_clear(&kc);
    }
    kc_close(&kc);
  }
}

static void every_registered_operation_was_compared(void **state) {
  (void)state;
  kc_t kc;
  open_ring(&kc, 4, 64);  // skips where there is no device
  kc_close(&kc);
  const hx_plugin *plugin = kc_plugin();
  for (uint32_t i = 0; i < plugin->impl_count; i++) {
    const kc_row_t *row = kc_row_of(plugin->impls[i]->op);
    assert_non_null(row);
    if (!oc_was_checked(row->index)) {
      fail_msg("%s has no case", row->op);
    }
    if (oc_was_aliased(row->index) != row->in_place) {
      fail_msg("%s: in_place is declared %d, found %d", row->op, row->in_place, oc_was_aliased(row->index));
    }
  }
}

// An argument is a filter of cases.
int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ops_match_reference_in_small_rings),
      cmocka_unit_test(ops_match_reference_in_large_rings),
      cmocka_unit_test(ops_match_reference_below_50_bits),
      cmocka_unit_test(ntt_matches_reference_at_every_size),
      cmocka_unit_test(bases_match_reference_with_many_primes),
      cmocka_unit_test(groups_of_primes_match_reference),
      cmocka_unit_test(long_digits_of_large_rows_match_reference),
      cmocka_unit_test(every_registered_operation_was_compared),
  };
  if (argc > 1) {
    cmocka_set_test_filter(argv[1]);
  }
  return cmocka_run_group_tests(tests, NULL, NULL);
}
