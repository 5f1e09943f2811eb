// SPDX-License-Identifier: Apache-2.0
// Keys satisfy their equations on every row; sets are built, searched and viewed right.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/ckks/keys.h"
#include "core/ckks/ring_host.h"
#include "core/ckks/sampling.h"
#include "tests/unit/case_sets.h"

enum { N = 64, DIGITS_MAX = 8 };

static const uint8_t key_seed[32] = {9, 8, 7};

// Seven primes of Q in digits of two (the last has one), two special primes.
static hx_params_t *small_set(void) { return case_set_make(6, 60, 50, 6, 60, 2, 4, "2^40"); }

typedef struct material {
  int8_t secret[N];
  int8_t errors[DIGITS_MAX][N];
} material_t;

static material_t draw(void) {
  material_t m;
  hx_random_t random;
  hx_random_init_seeded(&random, key_seed);
  hx_sample_ternary(&random, N, m.secret);
  hx_sample_error(&random, sizeof m.errors, &m.errors[0][0]);
  hx_random_deinit(&random);
  return m;
}

// b + a * target - gadget * source on one row, as centred coefficients, must be the error.
static void check_row(const hx_params_t *params, const hx_tensor_t *key, uint32_t digit, uint32_t id,
                      const int64_t *source, uint64_t gadget, const int8_t *target, const int8_t *error) {
  const hx_ref_ring *ring = NULL;
  assert_int_equal(hx_params_reference(params, &ring, NULL), HX_STATUS_OK);
  uint64_t a[N], b[N], t[N], words[N];
  hx_ring_load(ring, key, 0, digit, 0, id, b);
  hx_ring_load(ring, key, 0, digit, 1, id, a);
  hx_ring_lift_small(ring, id, target, words, t);
  hx_ref_row_mul_add(ring, id, b, a, t, b);
  hx_ring_lift_words(ring, id, source, t);
  hx_ref_row_mul_scalar(ring, id, t, gadget, t);
  hx_ref_row_sub(ring, id, b, t, b);
  hx_ref_ntt_inverse(ring, id, b);
  for (uint32_t k = 0; k < N; ++k) assert_int_equal(b[k], hx_ref_word_reduce_signed(ring, id, error[k]));
  uint64_t expanded[N];
  hx_ref_row_expand_uniform(ring, id, key_seed, digit, expanded);
  assert_memory_equal(a, expanded, sizeof a);
}

static void check_switch_key(const hx_params_t *params, const hx_tensor_t *key, const int64_t *source,
                             const int8_t *target, const material_t *m) {
  const hx_ring *shape = hx_params_ring(params);
  const hx_ref_ring *ring = NULL;
  assert_int_equal(hx_params_reference(params, &ring, NULL), HX_STATUS_OK);
  assert_int_equal(key->layout.digits, 4);
  assert_int_equal(key->layout.components, 2);
  assert_int_equal(key->layout.limbs, 9);
  for (uint32_t j = 0; j < 4; ++j) {
    for (uint32_t id = 0; id < 9; ++id) {
      uint64_t gadget = 0;
      if (id < 7 && id / 2 == j) {  // P on the digit's own rows
        gadget = 1;
        for (uint32_t p = 7; p < 9; ++p)
          gadget = hx_ref_word_mul(ring, id, gadget, hx_ref_word_reduce(ring, id, shape->primes[p]));
      }
      check_row(params, key, j, id, source, gadget, target, m->errors[j]);
    }
  }
}

static void public_key_hides_its_error_only(void **state) {
  (void)state;
  hx_params_t *params = small_set();
  const material_t m = draw();
  const int64_t none[N] = {0};
  hx_tensor_t *key = NULL;
  assert_int_equal(hx_public_key_make(params, m.secret, key_seed, m.errors[0], &key), HX_STATUS_OK);
  assert_int_equal(key->layout.digits, 0);
  assert_int_equal(key->layout.limbs, 8);  // Q and the first special prime
  assert_false(key->storage->secret);
  for (uint32_t id = 0; id < 8; ++id) check_row(params, key, 0, id, none, 0, m.secret, m.errors[0]);
  hx_tensor_release(key);
  hx_params_release(params);
}

static void relin_key_leads_from_the_square(void **state) {
  (void)state;
  hx_params_t *params = small_set();
  const material_t m = draw();
  int64_t square[N] = {0};
  for (size_t i = 0; i < N; ++i)
    for (size_t j = 0; j < N; ++j) square[(i + j) % N] += (i + j < N ? 1 : -1) * m.secret[i] * m.secret[j];
  hx_tensor_t *key = NULL;
  assert_int_equal(hx_relin_key_make(params, m.secret, key_seed, &m.errors[0][0], &key), HX_STATUS_OK);
  check_switch_key(params, key, square, m.secret, &m);
  hx_tensor_release(key);
  hx_params_release(params);
}

static void galois_key_leads_to_the_inverse_automorphism(void **state) {
  (void)state;
  hx_params_t *params = small_set();
  const material_t m = draw();
  int64_t source[N];
  for (size_t k = 0; k < N; ++k) source[k] = m.secret[k];
  static const uint64_t elements[] = {5, 25, 77, 2 * N - 1};
  for (size_t i = 0; i < HX_COUNT_OF(elements); ++i) {
    // sigma_g of the target is the secret again: target[k] goes to place g k.
    int8_t target[N];
    for (size_t k = 0; k < N; ++k) {
      const uint64_t place = k * elements[i] % (2 * N);
      target[k] = (int8_t)(place < N ? m.secret[place] : -m.secret[place - N]);
    }
    hx_tensor_t *key = NULL;
    assert_int_equal(hx_galois_key_make(params, m.secret, elements[i], key_seed, &m.errors[0][0], &key), HX_STATUS_OK);
    check_switch_key(params, key, source, target, &m);
    hx_tensor_release(key);
  }
  hx_params_release(params);
}

static hx_keys_t *generate(const hx_params_t *params, const hx_keygen_options_t *options) {
  hx_keys_t *keys = NULL;
  hx_report_t *report = hx_report_create();
  if (hx_keys_generate(params, options, &keys, report) != HX_STATUS_OK) fail_msg("%s", hx_report_get(report, 0)->text);
  hx_report_release(report);
  return keys;
}

static void generate_makes_each_element_once_in_order(void **state) {
  (void)state;
  hx_params_t *params = small_set();
  const int64_t steps[] = {3, 1, -31, 33, 0, 32, 3, -1};  // 32 slots: -31 and 33 are 1; 0 and 32 need no key
  hx_keys_t *keys =
      generate(params, &(hx_keygen_options_t){.parts = HX_KEYS_ALL, .rotations = steps, .rotation_count = 8});
  assert_int_equal(hx_keys_parts(keys), HX_KEYS_ALL);
  uint64_t elements[8];
  assert_int_equal(hx_keys_galois_elements(keys, elements, 8), 3);
  assert_true(elements[0] < elements[1] && elements[1] < elements[2]);
  for (int64_t step = -40; step <= 40; ++step) {
    const hx_switch_key_t *key = hx_keys_find(keys, HX_KEY_GALOIS, hx_galois_element(6, 32, step));
    const int64_t k = (step % 32 + 32) % 32;
    assert_int_equal(key != NULL, k == 1 || k == 3 || k == 31);
    if (key != NULL) assert_int_equal(key->kind, HX_KEY_GALOIS);
  }
  assert_ptr_equal(hx_keys_find(keys, HX_KEY_GALOIS, 2 * N - 1), keys->conj);
  assert_ptr_equal(hx_keys_find(keys, HX_KEY_CONJ, 0), keys->conj);
  assert_ptr_equal(hx_keys_find(keys, HX_KEY_RELIN, 0), keys->relin);
  assert_null(hx_keys_find(keys, HX_KEY_SWITCH, 0));
  hx_keys_release(keys);
  hx_params_release(params);
}

static void generate_makes_only_what_is_asked_for(void **state) {
  (void)state;
  hx_params_t *params = small_set();
  hx_keys_t *keys = generate(params, &(hx_keygen_options_t){.parts = HX_KEYS_PUBLIC});
  assert_int_equal(hx_keys_parts(keys), HX_KEYS_SECRET | HX_KEYS_PUBLIC);
  assert_non_null(keys->secret);
  assert_null(keys->relin);
  assert_null(hx_keys_find(keys, HX_KEY_CONJ, 0));
  assert_null(hx_keys_find(keys, HX_KEY_GALOIS, 5));
  hx_keys_t *other = generate(params, &(hx_keygen_options_t){.parts = 0});
  assert_int_equal(hx_keys_parts(other), HX_KEYS_SECRET);
  assert_memory_not_equal(hx_keys_id(keys), hx_keys_id(other), 16);
  assert_memory_not_equal(keys->secret, other->secret, N);
  hx_keys_release(other);
  hx_keys_release(keys);
  hx_params_release(params);
}

static void generate_gives_every_key_its_own_seed_and_errors(void **state) {
  (void)state;
  hx_params_t *params = small_set();
  const int64_t steps[] = {1, 2};
  hx_keys_t *keys =
      generate(params, &(hx_keygen_options_t){.parts = HX_KEYS_ALL, .rotations = steps, .rotation_count = 2});
  const uint8_t *seeds[] = {keys->public_seed, keys->relin->seed, keys->conj->seed, keys->galois[0].seed,
                            keys->galois[1].seed};
  for (size_t i = 0; i < HX_COUNT_OF(seeds); ++i)
    for (size_t j = 0; j < i; ++j) assert_memory_not_equal(seeds[i], seeds[j], 32);
  hx_keys_release(keys);
  hx_params_release(params);
}

static void generate_honours_the_weight_of_the_secret(void **state) {
  (void)state;
  char json[512];
  snprintf(
      json, sizeof json,
      "{\"log_n\":6,\"word\":64,\"base\":[\"%llu\"],\"groups\":[],\"special\":[],\"digits\":1,\"secret\":\"ternary:"
      "16\",\"sigma\":\"3.2\",\"scale\":\"2^40\"}",
      (unsigned long long)hx_prime_below((uint64_t)1 << 60, 6));
  hx_params_t *params = NULL;
  assert_int_equal(hx_params_parse(hx_str(json), "test", HX_PARAMS_INSECURE, &params, NULL), HX_STATUS_OK);
  hx_keys_t *keys = generate(params, &(hx_keygen_options_t){.parts = HX_KEYS_PUBLIC});
  size_t weight = 0;
  for (size_t k = 0; k < N; ++k) weight += keys->secret[k] != 0;
  assert_int_equal(weight, 16);
  hx_keys_release(keys);
  hx_params_release(params);
}

static void refuse(const hx_params_t *params, const hx_keygen_options_t *options, hx_code_t code,
                   const char *const *words) {
  hx_keys_t *keys = NULL;
  hx_report_t *report = hx_report_create();
  assert_int_equal(hx_keys_generate(params, options, &keys, report), hx_code_info(code)->status);
  assert_null(keys);
  assert_fault(report, code, words);
  hx_report_release(report);
}

static void generate_refuses_bad_options(void **state) {
  (void)state;
  hx_params_t *params = small_set();
  refuse(params, &(hx_keygen_options_t){.parts = 64}, HX_CODE_INVALID_ARGUMENT, WORDS("0x40"));
  refuse(params, &(hx_keygen_options_t){.parts = HX_KEYS_ALL, .slots = 24}, HX_CODE_SLOTS,
         WORDS("slots is 24", "N/2 = 32"));
  refuse(params, &(hx_keygen_options_t){.parts = HX_KEYS_ALL, .slots = 64}, HX_CODE_SLOTS, WORDS("slots is 64"));
  hx_params_release(params);
  params = case_set_make(6, 60, 50, 1, 60, 0, 1, "2^40");
  refuse(params, &(hx_keygen_options_t){.parts = HX_KEYS_RELIN}, HX_CODE_PARAMS, WORDS("no special primes"));
  hx_keys_t *keys = generate(params, &(hx_keygen_options_t){.parts = HX_KEYS_PUBLIC});
  hx_keys_release(keys);
  hx_params_release(params);
}

static void describe_lists_steps_the_short_way_round(void **state) {
  (void)state;
  hx_params_t *params = small_set();
  const int64_t steps[] = {31, 4, 1};
  hx_keys_t *keys =
      generate(params, &(hx_keygen_options_t){.parts = HX_KEYS_GALOIS, .rotations = steps, .rotation_count = 3});
  hx_text_t text;
  hx_text_init(&text);
  hx_keys_describe_steps(keys, 32, &text);
  assert_string_equal(text.data, "steps 1, 4, -1");
  hx_text_clear(&text);
  hx_keys_describe_steps(keys, 4, &text);  // of 4 slots only step 1 has its key here: 4 and 31 lie beyond
  assert_string_equal(text.data, "steps 1 (and 2 for more slots)");
  hx_text_clear(&text);
  hx_keys_release(keys);
  keys = generate(params, &(hx_keygen_options_t){0});
  hx_keys_describe_steps(keys, 32, &text);
  assert_string_equal(text.data, "no steps");
  hx_text_deinit(&text);
  hx_keys_release(keys);
  hx_params_release(params);
}

static void switch_key_at_a_depth_has_the_rows_that_are_left(void **state) {
  (void)state;
  hx_params_t *params = small_set();
  hx_keys_t *keys = generate(params, &(hx_keygen_options_t){.parts = HX_KEYS_RELIN});
  static const uint32_t digits[] = {4, 3, 3, 2, 2, 1, 1};
  for (uint32_t depth = 0; depth <= 6; ++depth) {
    hx_tensor_t *view = NULL;
    assert_int_equal(hx_switch_key_at(keys->relin, hx_params_ring(params), depth, &view), HX_STATUS_OK);
    assert_int_equal(view->layout.limbs, 9 - depth);
    assert_int_equal(view->layout.digits, digits[depth]);
    for (uint32_t j = 0; j < digits[depth]; ++j) {
      for (uint32_t l = 0; l < 9 - depth; ++l) {
        const uint32_t id = l < 7 - depth ? l : l + depth;
        for (uint32_t c = 0; c < 2; ++c)
          assert_ptr_equal(hx_tensor_row(view, 0, j, c, l), hx_tensor_row(keys->relin->tensor, 0, j, c, id));
      }
    }
    hx_tensor_release(view);
  }
  hx_keys_release(keys);
  hx_params_release(params);
}

static void generate_reports_exhausted_memory(void **state) {
  (void)state;
  hx_params_t *params = small_set();
  const hx_ref_ring *ring = NULL;
  assert_int_equal(hx_params_reference(params, &ring, NULL), HX_STATUS_OK);
  const int64_t steps[] = {1, 2};
  const hx_keygen_options_t options = {.parts = HX_KEYS_ALL, .rotations = steps, .rotation_count = 2};
  hx_keys_t *keys = NULL;
  uint64_t n = 1;
  for (;; ++n) {
    hx_alloc_fail_at(n);
    const hx_status_t status = hx_keys_generate(params, &options, &keys, NULL);
    hx_alloc_fail_at(0);
    if (status == HX_STATUS_OK) break;
    assert_int_equal(status, HX_STATUS_OUT_OF_MEMORY);
    assert_null(keys);
  }
  assert_in_range(n, 20, 200);
  hx_keys_release(keys);
  hx_params_release(params);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(public_key_hides_its_error_only),
      cmocka_unit_test(relin_key_leads_from_the_square),
      cmocka_unit_test(galois_key_leads_to_the_inverse_automorphism),
      cmocka_unit_test(generate_makes_each_element_once_in_order),
      cmocka_unit_test(generate_makes_only_what_is_asked_for),
      cmocka_unit_test(generate_gives_every_key_its_own_seed_and_errors),
      cmocka_unit_test(generate_honours_the_weight_of_the_secret),
      cmocka_unit_test(generate_refuses_bad_options),
      cmocka_unit_test(describe_lists_steps_the_short_way_round),
      cmocka_unit_test(switch_key_at_a_depth_has_the_rows_that_are_left),
      cmocka_unit_test(generate_reports_exhausted_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
