// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/ckks/encode.h"
#include "core/ckks/keys.h"
#include "core/ckks/ring_host.h"
#include "core/ckks/sampling.h"
#include "tests/unit/case_sets.h"

static hx_params_t *small_set(void) { return case_set_make(6, 60, 50, 6, 60, 2, 4, "2^40"); }

static hx_keys_t *make_keys(const hx_params_t *params) {
  hx_keys_t *keys = NULL;
  assert_int_equal(hx_keys_generate(params, &(hx_keygen_options_t){.parts = HX_KEYS_PUBLIC}, &keys, NULL),
                   HX_STATUS_OK);
  return keys;
}

static hx_value_t *encode_ramp(const hx_params_t *params, uint32_t depth) {
  double values[32];
  for (size_t i = 0; i < 32; ++i) values[i] = (double)i / 8 - 2.0;
  hx_value_t *value = NULL;
  const hx_encode_options_t options = {.depth = depth, .secret = true};
  assert_int_equal(hx_encode(params, values, 32, false, &options, &value, NULL), HX_STATUS_OK);
  return value;
}

static hx_value_t *encrypt(const hx_keys_t *keys, const hx_value_t *plaintext, bool symmetric) {
  hx_value_t *value = NULL;
  hx_report_t *report = hx_report_create();
  if (hx_encrypt(keys, plaintext, symmetric, &value, report) != HX_STATUS_OK)
    fail_msg("%s", hx_report_get(report, 0)->text);
  hx_report_release(report);
  return value;
}

static void check_ramp(const hx_value_t *plaintext, double factor, double tolerance) {
  double found[64];
  assert_int_equal(hx_decode(plaintext, found, NULL), HX_STATUS_OK);
  for (size_t i = 0; i < 32; ++i) {
    assert_true(fabs(found[2 * i] - factor * ((double)i / 8 - 2.0)) < tolerance);
    assert_true(fabs(found[2 * i + 1]) < tolerance);
  }
}

static void decrypt_inverts_encrypt_at_every_depth(void **state) {
  (void)state;
  hx_params_t *params = small_set();
  hx_keys_t *keys = make_keys(params);
  for (uint32_t depth = 0; depth <= 6; ++depth) {
    for (uint32_t symmetric = 0; symmetric < 2; ++symmetric) {
      hx_value_t *plaintext = encode_ramp(params, depth);
      hx_value_t *ciphertext = encrypt(keys, plaintext, symmetric != 0), *decrypted = NULL;
      assert_int_equal(hx_value_kind(ciphertext), HX_VALUE_CIPHERTEXT);
      assert_int_equal(hx_value_components(ciphertext), 2);
      assert_int_equal(hx_value_depth(ciphertext), depth);
      assert_int_equal(hx_value_limbs(ciphertext), 7 - depth);
      assert_int_equal(hx_value_count(ciphertext), 32);
      assert_memory_equal(hx_value_key_id(ciphertext), hx_keys_id(keys), 16);
      assert_false(hx_value_is_secret(ciphertext));
      assert_false(ciphertext->tensor->storage->secret);
      assert_int_equal(hx_decrypt(keys, ciphertext, &decrypted, NULL), HX_STATUS_OK);
      assert_int_equal(hx_value_kind(decrypted), HX_VALUE_PLAINTEXT);
      assert_true(hx_value_is_secret(decrypted));
      assert_int_equal(hx_value_count(decrypted), 32);
      assert_true(hx_scale_equal(&decrypted->type.scale, &plaintext->type.scale));
      static const uint8_t none[16];
      assert_memory_equal(hx_value_key_id(decrypted), none, 16);
      check_ramp(decrypted, 1.0, 0x1p-28);
      hx_value_release(decrypted);
      hx_value_release(ciphertext);
      hx_value_release(plaintext);
    }
  }
  hx_keys_release(keys);
  hx_params_release(params);
}

static void encrypt_works_without_special_primes_and_in_32_bits(void **state) {
  (void)state;
  char json[512];
  snprintf(
      json, sizeof json,
      "{\"log_n\":6,\"word\":32,\"base\":[\"%llu\"],\"groups\":[[\"%llu\"]],\"special\":[],\"digits\":1,\"secret\":"
      "\"ternary\",\"sigma\":\"3.2\",\"scale\":\"2^30\"}",
      (unsigned long long)hx_prime_below((uint64_t)1 << 31, 6),
      (unsigned long long)hx_prime_below((uint64_t)1 << 30, 6));
  hx_params_t *params = NULL;
  assert_int_equal(hx_params_parse(hx_str(json), "test", HX_PARAMS_INSECURE, &params, NULL), HX_STATUS_OK);
  hx_keys_t *keys = make_keys(params);
  hx_value_t *plaintext = encode_ramp(params, 0);
  assert_int_equal(plaintext->tensor->layout.dtype, HX_U32);
  for (uint32_t symmetric = 0; symmetric < 2; ++symmetric) {
    hx_value_t *ciphertext = encrypt(keys, plaintext, symmetric != 0), *decrypted = NULL;
    assert_int_equal(hx_value_check_residues(ciphertext, NULL), HX_STATUS_OK);
    assert_int_equal(hx_decrypt(keys, ciphertext, &decrypted, NULL), HX_STATUS_OK);
    check_ramp(decrypted, 1.0, 0x1p-18);
    hx_value_release(decrypted);
    hx_value_release(ciphertext);
  }
  hx_value_release(plaintext);
  hx_keys_release(keys);
  hx_params_release(params);
}

static void encrypt_draws_fresh_randomness_every_time(void **state) {
  (void)state;
  hx_params_t *params = small_set();
  hx_keys_t *keys = make_keys(params);
  hx_value_t *plaintext = encode_ramp(params, 0);
  for (uint32_t symmetric = 0; symmetric < 2; ++symmetric) {
    hx_value_t *a = encrypt(keys, plaintext, symmetric != 0), *b = encrypt(keys, plaintext, symmetric != 0);
    for (uint32_t c = 0; c < 2; ++c)
      for (uint32_t l = 0; l < 7; ++l)
        assert_memory_not_equal(hx_tensor_row(a->tensor, 0, 0, c, l), hx_tensor_row(b->tensor, 0, 0, c, l), 64);
    hx_value_release(a);
    hx_value_release(b);
  }
  hx_value_release(plaintext);
  hx_keys_release(keys);
  hx_params_release(params);
}

// c0 + c1 s, coefficients, must be m + e / exactly what the definition says: here for the symmetric form, row by row.
static void encrypt_secret_with_follows_the_definition(void **state) {
  (void)state;
  enum { N = 64 };
  hx_params_t *params = small_set();
  hx_value_t *plaintext = encode_ramp(params, 2), *ciphertext = NULL, *decrypted = NULL;
  const uint8_t seed[32] = {3};
  int8_t secret[N], error[N];
  hx_random_t random;
  hx_random_init_seeded(&random, seed);
  hx_sample_ternary(&random, N, secret);
  hx_sample_error(&random, N, error);
  assert_int_equal(hx_encrypt_secret_with(params, secret, plaintext, seed, 5, error, &ciphertext), HX_STATUS_OK);
  assert_int_equal(hx_decrypt_with(params, secret, ciphertext, &decrypted), HX_STATUS_OK);
  const hx_ref_ring *ring = NULL;
  assert_int_equal(hx_params_reference(params, &ring, NULL), HX_STATUS_OK);
  for (uint32_t l = 0; l < 5; ++l) {
    uint64_t a[N], expected[N], m[N];
    hx_ring_load(ring, ciphertext->tensor, 0, 0, 1, l, a);
    hx_ref_row_expand_uniform(ring, l, seed, 5, expected);
    assert_memory_equal(a, expected, sizeof a);
    hx_ring_load(ring, decrypted->tensor, 0, 0, 0, l, a);
    hx_ring_load(ring, plaintext->tensor, 0, 0, 0, l, m);
    hx_ref_row_sub(ring, l, a, m, a);
    hx_ref_ntt_inverse(ring, l, a);
    for (uint32_t k = 0; k < N; ++k) assert_int_equal(a[k], hx_ref_word_reduce_signed(ring, l, error[k]));
  }
  hx_value_release(decrypted);
  hx_value_release(ciphertext);
  hx_value_release(plaintext);
  hx_params_release(params);
}

// The short way (only the dropped prime leaves the ntt domain) must give the bits of the definition: everything to
// coefficients, mod_down, back.
static void encrypt_public_with_follows_the_definition(void **state) {
  (void)state;
  enum { N = 64, LIMBS = 6 };
  hx_params_t *params = small_set();
  const hx_ref_ring *ring = NULL;
  assert_int_equal(hx_params_reference(params, &ring, NULL), HX_STATUS_OK);
  const uint8_t seed[32] = {4};
  int8_t secret[N], v[N], e[3][N];
  hx_random_t random;
  hx_random_init_seeded(&random, seed);
  hx_sample_ternary(&random, N, secret);
  hx_sample_ternary(&random, N, v);
  hx_sample_error(&random, sizeof e, &e[0][0]);
  hx_tensor_t *key = NULL;
  assert_int_equal(hx_public_key_make(params, secret, seed, e[2], &key), HX_STATUS_OK);
  hx_value_t *plaintext = encode_ramp(params, 1), *ciphertext = NULL;
  assert_int_equal(hx_encrypt_public_with(params, key, plaintext, v, e[0], e[1], &ciphertext), HX_STATUS_OK);
  for (uint32_t c = 0; c < 2; ++c) {
    static uint64_t block[LIMBS + 1][N];
    uint64_t *rows[LIMBS + 1], t[N], words[N];
    const uint32_t ids[LIMBS + 1] = {0, 1, 2, 3, 4, 5, 7};  // Q at depth 1, the first special prime
    for (uint32_t l = 0; l <= LIMBS; ++l) {
      rows[l] = block[l];
      hx_ring_load(ring, key, 0, 0, c, ids[l], block[l]);
      hx_ring_lift_small(ring, ids[l], v, words, t);
      hx_ref_row_mul(ring, ids[l], block[l], t, block[l]);
      hx_ring_lift_small(ring, ids[l], e[c], words, t);
      hx_ref_row_add(ring, ids[l], block[l], t, block[l]);
      hx_ref_ntt_inverse(ring, ids[l], block[l]);
    }
    const hx_ref_rows keep = {LIMBS, ids, rows}, drop = {1, ids + LIMBS, rows + LIMBS};
    hx_ref_mod_down(ring, &keep, &drop, HX_REF_NEAREST);
    for (uint32_t l = 0; l < LIMBS; ++l) {
      hx_ref_ntt_forward(ring, l, block[l]);
      if (c == 0) {
        hx_ring_load(ring, plaintext->tensor, 0, 0, 0, l, t);
        hx_ref_row_add(ring, l, block[l], t, block[l]);
      }
      hx_ring_load(ring, ciphertext->tensor, 0, 0, c, l, t);
      assert_memory_equal(t, block[l], sizeof t);
    }
  }
  hx_value_release(ciphertext);
  hx_value_release(plaintext);
  hx_tensor_release(key);
  hx_params_release(params);
}

// (c0, c1)^2 without relinearization: three components.
static void decrypt_takes_three_components_and_either_domain(void **state) {
  (void)state;
  enum { N = 64 };
  hx_params_t *params = small_set();
  hx_keys_t *keys = make_keys(params);
  hx_value_t *plaintext = encode_ramp(params, 0), *a = encrypt(keys, plaintext, false), *square = NULL;
  const hx_ref_ring *ring = NULL;
  assert_int_equal(hx_params_reference(params, &ring, NULL), HX_STATUS_OK);
  hx_type_t type;
  hx_type_copy(&type, &a->type);
  type.components = 3;
  assert_int_equal(hx_scale_multiply(&a->type.scale, &a->type.scale, &type.scale, NULL), HX_STATUS_OK);
  assert_int_equal(hx_value_create(params, &type, false, &square), HX_STATUS_OK);
  memcpy(square->key_id, a->key_id, 16);
  for (uint32_t l = 0; l < 7; ++l) {
    uint64_t c0[N], c1[N], x[N];
    hx_ring_load(ring, a->tensor, 0, 0, 0, l, c0);
    hx_ring_load(ring, a->tensor, 0, 0, 1, l, c1);
    hx_ref_row_mul(ring, l, c0, c0, x);
    hx_ring_store(ring, x, square->tensor, 0, 0, 0, l);
    hx_ref_row_mul(ring, l, c0, c1, x);
    hx_ref_row_add(ring, l, x, x, x);
    hx_ring_store(ring, x, square->tensor, 0, 0, 1, l);
    hx_ref_row_mul(ring, l, c1, c1, x);
    hx_ring_store(ring, x, square->tensor, 0, 0, 2, l);
  }
  for (uint32_t domain = HX_NTT; domain >= HX_COEFFICIENT; --domain) {
    hx_value_t *decrypted = NULL;
    double found[64];
    assert_int_equal(hx_decrypt(keys, square, &decrypted, NULL), HX_STATUS_OK);
    assert_int_equal(decrypted->type.domain, HX_NTT);
    assert_int_equal(hx_decode(decrypted, found, NULL), HX_STATUS_OK);
    for (size_t i = 0; i < 32; ++i) {
      const double x = (double)i / 8 - 2.0;
      assert_true(fabs(found[2 * i] - x * x) < 0x1p-25);
    }
    hx_value_release(decrypted);
    for (uint32_t c = 0; c < 3; ++c) {
      for (uint32_t l = 0; l < 7; ++l) {
        uint64_t x[N];
        hx_ring_load(ring, square->tensor, 0, 0, c, l, x);
        hx_ref_ntt_inverse(ring, l, x);
        hx_ring_store(ring, x, square->tensor, 0, 0, c, l);
      }
    }
    square->type.domain = HX_COEFFICIENT;
  }
  hx_value_release(square);
  hx_value_release(a);
  hx_value_release(plaintext);
  hx_keys_release(keys);
  hx_params_release(params);
}

static void encrypt_and_decrypt_take_batches(void **state) {
  (void)state;
  hx_params_t *params = small_set();
  hx_keys_t *keys = make_keys(params);
  hx_value_t *one = encode_ramp(params, 3), *batch = NULL;
  hx_type_t type;
  hx_type_copy(&type, &one->type);
  type.batch_rank = 2;
  type.batch_shape[0] = 2, type.batch_shape[1] = 3;
  assert_int_equal(hx_value_create(params, &type, true, &batch), HX_STATUS_OK);
  const hx_ref_ring *ring = NULL;
  assert_int_equal(hx_params_reference(params, &ring, NULL), HX_STATUS_OK);
  for (uint64_t item = 0; item < 6; ++item) {  // item i holds i + 1 times the ramp
    for (uint32_t l = 0; l < 4; ++l) {
      uint64_t x[64];
      hx_ring_load(ring, one->tensor, 0, 0, 0, l, x);
      hx_ref_row_mul_scalar(ring, l, x, item + 1, x);
      hx_ring_store(ring, x, batch->tensor, item, 0, 0, l);
    }
  }
  for (uint32_t symmetric = 0; symmetric < 2; ++symmetric) {
    hx_value_t *ciphertext = encrypt(keys, batch, symmetric != 0), *decrypted = NULL;
    assert_int_equal(hx_decrypt(keys, ciphertext, &decrypted, NULL), HX_STATUS_OK);
    // Items are independent: their second components all differ.
    for (uint64_t item = 1; item < 6; ++item)
      assert_memory_not_equal(hx_tensor_row(ciphertext->tensor, item, 0, 1, 0),
                              hx_tensor_row(ciphertext->tensor, item - 1, 0, 1, 0), 64);
    for (uint64_t item = 0; item < 6; ++item) {
      hx_value_t *single = NULL;
      assert_int_equal(hx_value_create(params, &one->type, true, &single), HX_STATUS_OK);
      for (uint32_t l = 0; l < 4; ++l) {
        uint64_t x[64];
        hx_ring_load(ring, decrypted->tensor, item, 0, 0, l, x);
        hx_ring_store(ring, x, single->tensor, 0, 0, 0, l);
      }
      check_ramp(single, (double)item + 1.0, 0x1p-28);
      hx_value_release(single);
    }
    double found[64];
    hx_report_t *report = hx_report_create();
    assert_int_equal(hx_decode(decrypted, found, report), HX_STATUS_INVALID);
    assert_fault(report, HX_CODE_SHAPE, WORDS("batch"));
    hx_report_release(report);
    hx_value_release(decrypted);
    hx_value_release(ciphertext);
  }
  hx_value_release(batch);
  hx_value_release(one);
  hx_keys_release(keys);
  hx_params_release(params);
}

static void refuse_encrypt(const hx_keys_t *keys, const hx_value_t *value, bool symmetric, hx_code_t code,
                           const char *const *words) {
  hx_value_t *out = NULL;
  hx_report_t *report = hx_report_create();
  assert_int_equal(hx_encrypt(keys, value, symmetric, &out, report), hx_code_info(code)->status);
  assert_null(out);
  assert_fault(report, code, words);
  hx_report_release(report);
}

static void refuse_decrypt(const hx_keys_t *keys, const hx_value_t *value, hx_code_t code, const char *const *words) {
  hx_value_t *out = NULL;
  hx_report_t *report = hx_report_create();
  assert_int_equal(hx_decrypt(keys, value, &out, report), hx_code_info(code)->status);
  assert_null(out);
  assert_fault(report, code, words);
  hx_report_release(report);
}

static void b53_other_parameters_and_secrets_are_refused_by_name(void **state) {
  (void)state;
  hx_params_t *params = small_set(), *longer = case_set_make(6, 60, 50, 7, 60, 2, 4, "2^40");
  hx_keys_t *keys = make_keys(params), *others = make_keys(params), *strangers = make_keys(longer);
  hx_value_t *plaintext = encode_ramp(params, 0), *ciphertext = encrypt(keys, plaintext, false);
  char ours[17], theirs[17];
  snprintf(ours, sizeof ours, "%.16s", hx_params_digest_hex(params));
  snprintf(theirs, sizeof theirs, "%.16s", hx_params_digest_hex(longer));
  refuse_encrypt(strangers, plaintext, false, HX_CODE_PARAMS_DIGEST, WORDS("encrypt", ours, theirs));
  refuse_decrypt(strangers, ciphertext, HX_CODE_PARAMS_DIGEST, WORDS("decrypt", ours, theirs));
  char id[33], other_id[33];
  for (size_t i = 0; i < 16; ++i) {
    snprintf(id + 2 * i, 3, "%02x", hx_keys_id(keys)[i]);
    snprintf(other_id + 2 * i, 3, "%02x", hx_keys_id(others)[i]);
  }
  refuse_decrypt(others, ciphertext, HX_CODE_KEY_ID, WORDS(id, other_id));
  hx_value_release(ciphertext);
  hx_value_release(plaintext);
  hx_keys_release(strangers);
  hx_keys_release(others);
  hx_keys_release(keys);
  hx_params_release(longer);
  hx_params_release(params);
}

static void missing_parts_are_refused_by_name(void **state) {
  (void)state;
  hx_params_t *params = small_set();
  hx_keys_t *keys = make_keys(params);
  hx_value_t *plaintext = encode_ramp(params, 0), *ciphertext = encrypt(keys, plaintext, false);
  hx_keys_t *evaluation = hx_keys_create(params, hx_keys_id(keys));
  assert_non_null(evaluation);
  refuse_encrypt(evaluation, plaintext, false, HX_CODE_MISSING_KEY, WORDS("public key", "public.hx"));
  refuse_encrypt(evaluation, plaintext, true, HX_CODE_MISSING_KEY, WORDS("secret key", "secret.hx"));
  refuse_decrypt(evaluation, ciphertext, HX_CODE_MISSING_KEY, WORDS("secret key", "secret.hx"));
  hx_keys_release(evaluation);
  hx_value_release(ciphertext);
  hx_value_release(plaintext);
  hx_keys_release(keys);
  hx_params_release(params);
}

static void wrong_states_are_refused_by_name(void **state) {
  (void)state;
  hx_params_t *params = small_set();
  hx_keys_t *keys = make_keys(params);
  hx_value_t *plaintext = encode_ramp(params, 0), *ciphertext = encrypt(keys, plaintext, false);
  refuse_encrypt(keys, ciphertext, false, HX_CODE_TYPE, WORDS("a ciphertext already"));
  refuse_decrypt(keys, plaintext, HX_CODE_TYPE, WORDS("a plaintext already"));
  plaintext->type.domain = HX_COEFFICIENT;
  refuse_encrypt(keys, plaintext, false, HX_CODE_DOMAIN, WORDS("ntt domain", "to_ntt"));
  plaintext->type.domain = HX_NTT;
  plaintext->type.repr = HX_LAZY;
  refuse_encrypt(keys, plaintext, false, HX_CODE_DOMAIN, WORDS("lazy"));
  ciphertext->type.repr = HX_MONTGOMERY;
  refuse_decrypt(keys, ciphertext, HX_CODE_DOMAIN, WORDS("montgomery"));
  ciphertext->type.repr = HX_STANDARD;
  ciphertext->type.basis = HX_BASIS_QP;
  refuse_decrypt(keys, ciphertext, HX_CODE_PRIMES, WORDS("Q and P"));
  ciphertext->type.basis = HX_BASIS_Q;
  ciphertext->type.components = 1;
  refuse_decrypt(keys, ciphertext, HX_CODE_COMPONENTS, WORDS("2 or 3", "has 1"));
  hx_value_release(ciphertext);
  hx_value_release(plaintext);
  hx_keys_release(keys);
  hx_params_release(params);
}

static void encrypt_and_decrypt_report_exhausted_memory(void **state) {
  (void)state;
  hx_params_t *params = small_set();
  hx_keys_t *keys = make_keys(params);
  hx_value_t *plaintext = encode_ramp(params, 0), *ciphertext = NULL, *decrypted = NULL;
  for (uint32_t symmetric = 0; symmetric < 2; ++symmetric) {
    hx_value_release(ciphertext);
    ciphertext = NULL;
    uint64_t n = 1;
    for (;; ++n) {
      hx_alloc_fail_at(n);
      const hx_status_t status = hx_encrypt(keys, plaintext, symmetric != 0, &ciphertext, NULL);
      hx_alloc_fail_at(0);
      if (status == HX_STATUS_OK) break;
      assert_int_equal(status, HX_STATUS_OUT_OF_MEMORY);
      assert_null(ciphertext);
    }
    assert_in_range(n, 4, 50);
  }
  uint64_t n = 1;
  for (;; ++n) {
    hx_alloc_fail_at(n);
    const hx_status_t status = hx_decrypt(keys, ciphertext, &decrypted, NULL);
    hx_alloc_fail_at(0);
    if (status == HX_STATUS_OK) break;
    assert_int_equal(status, HX_STATUS_OUT_OF_MEMORY);
    assert_null(decrypted);
  }
  assert_in_range(n, 3, 50);
  hx_value_release(decrypted);
  hx_value_release(ciphertext);
  hx_value_release(plaintext);
  hx_keys_release(keys);
  hx_params_release(params);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(decrypt_inverts_encrypt_at_every_depth),
      cmocka_unit_test(encrypt_works_without_special_primes_and_in_32_bits),
      cmocka_unit_test(encrypt_draws_fresh_randomness_every_time),
      cmocka_unit_test(encrypt_secret_with_follows_the_definition),
      cmocka_unit_test(encrypt_public_with_follows_the_definition),
      cmocka_unit_test(decrypt_takes_three_components_and_either_domain),
      cmocka_unit_test(encrypt_and_decrypt_take_batches),
      cmocka_unit_test(b53_other_parameters_and_secrets_are_refused_by_name),
      cmocka_unit_test(missing_parts_are_refused_by_name),
      cmocka_unit_test(wrong_states_are_refused_by_name),
      cmocka_unit_test(encrypt_and_decrypt_report_exhausted_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
