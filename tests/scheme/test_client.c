// SPDX-License-Identifier: Apache-2.0
// Encoding, encryption, decryption and keys on the cpu plugin against the library's own routines: the same bits from
// the same randomness, in both words, with and without special primes, sparse slots, wide messages, batches; and the
// engine's calls together from several threads.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>

#include "core/ckks/encode.h"
#include "core/ckks/encrypt.h"
#include "core/ckks/sampling.h"
#include "tests/scheme/scheme.h"

// N = 1024 in 32-bit words: base of two primes, two depth groups.
#define NARROW_RING                                                                                                    \
  "{\"log_n\":10,\"word\":32,\"base\":[\"2147473409\",\"2147389441\"],\"groups\":[[\"1073707009\"],[\"1073698817\"]]," \
  "\"special\":[\"2147387393\",\"2147377153\"],\"digits\":2,\"secret\":\"ternary\",\"sigma\":\"3.2\",\"scale\":\"2^"   \
  "30\"}"

typedef struct bench {
  hx_params_t *params;
  hx_rows_t own, plugin;
  hx_plugins_t *plugins;
  hx_backend_t *backend;
  int8_t *secret, *errors, *v;
  size_t n;
  uint8_t seed[32];
} bench_t;

static void open_bench(bench_t *b, hx_params_t *params) {
  const hx_plugins_options_t place = {.path = HELIOX_BUILD_DIR "/lib/heliox/plugins", .only_path = true};
  *b = (bench_t){.params = params, .n = (size_t)1 << hx_params_log_n(params), .seed = {7, 1}};
  assert_int_equal(hx_plugins_discover(&place, &b->plugins, NULL), HX_STATUS_OK);
  assert_int_equal(hx_backend_create(b->plugins, "cpu", &b->backend, NULL), HX_STATUS_OK);
  assert_int_equal(hx_rows_init(&b->own, params, NULL, NULL), HX_STATUS_OK);
  assert_int_equal(hx_rows_init(&b->plugin, params, b->backend, NULL), HX_STATUS_OK);
  assert_non_null(b->plugin.plugin);
  const size_t digits = 16;
  b->secret = calloc(b->n, 1);
  b->v = calloc(b->n, 1);
  b->errors = calloc(digits * b->n, 1);
  hx_random_t random;
  hx_random_init_seeded(&random, b->seed);
  hx_sample_ternary(&random, b->n, b->secret);
  hx_sample_ternary(&random, b->n, b->v);
  hx_sample_error(&random, digits * b->n, b->errors);
  hx_random_deinit(&random);
}

static void close_bench(bench_t *b) {
  hx_rows_deinit(&b->own);
  hx_rows_deinit(&b->plugin);
  hx_backend_release(b->backend);
  hx_plugins_release(b->plugins);
  hx_params_release(b->params);
  free(b->secret), free(b->v), free(b->errors);
}

static void same_tensor(const hx_tensor_t *a, const hx_tensor_t *b) {
  assert_int_equal(a->storage->bytes, b->storage->bytes);
  assert_memory_equal(a->storage->address, b->storage->address, a->storage->bytes);
}

static void check_keys(const bench_t *b) {
  hx_tensor_t *keys[2] = {NULL};
  const hx_rows_t *both[2] = {&b->own, &b->plugin};
  for (int k = 0; k < 2; ++k)
    assert_int_equal(hx_public_key_make_on(both[k], b->secret, b->seed, b->errors, &keys[k]), HX_STATUS_OK);
  same_tensor(keys[0], keys[1]);
  hx_tensor_release(keys[0]), hx_tensor_release(keys[1]);
  if (hx_params_p_count(b->params) == 0) return;
  for (int k = 0; k < 2; ++k)
    assert_int_equal(hx_relin_key_make_on(both[k], b->secret, b->seed, b->errors, &keys[k]), HX_STATUS_OK);
  same_tensor(keys[0], keys[1]);
  hx_tensor_release(keys[0]), hx_tensor_release(keys[1]);
  for (int k = 0; k < 2; ++k)
    assert_int_equal(hx_galois_key_make_on(both[k], b->secret, 25, b->seed, b->errors, &keys[k]), HX_STATUS_OK);
  same_tensor(keys[0], keys[1]);
  hx_tensor_release(keys[0]), hx_tensor_release(keys[1]);
}

static void check_message(const bench_t *b, const hx_encode_options_t *options, double size) {
  const uint32_t slots = options->slots != 0 ? options->slots : (uint32_t)b->n / 2;
  const hx_rows_t *both[2] = {&b->own, &b->plugin};
  uint64_t seed = 3;
  scheme_number_t *z = scheme_message(&seed, slots), *found[2] = {scheme_numbers(slots), scheme_numbers(slots)};
  for (uint32_t i = 0; i < slots; ++i) z[i] *= size;
  hx_value_t *plain[2] = {NULL}, *cipher[2] = {NULL}, *symmetric[2] = {NULL}, *opened[2] = {NULL};
  hx_tensor_t *key = NULL;
  assert_int_equal(hx_public_key_make_on(&b->own, b->secret, b->seed, b->errors, &key), HX_STATUS_OK);
  const hx_draws_t draws = {.v = b->v, .e = {b->errors + b->n, b->errors + 2 * b->n}};
  for (int k = 0; k < 2; ++k) {
    assert_int_equal(hx_encode_on(both[k], (const double *)z, slots, true, options, &plain[k], NULL), HX_STATUS_OK);
    assert_int_equal(hx_ciphertext_create(b->params, plain[k], &cipher[k]), HX_STATUS_OK);
    assert_int_equal(hx_ciphertext_create(b->params, plain[k], &symmetric[k]), HX_STATUS_OK);
    assert_int_equal(hx_encrypt_public_item(both[k], key, plain[k], 0, &draws, cipher[k]), HX_STATUS_OK);
    assert_int_equal(hx_encrypt_secret_item(both[k], b->secret, plain[k], 0, b->seed, 4, b->errors, symmetric[k]),
                     HX_STATUS_OK);
    hx_keys_t *keys = hx_keys_create(b->params, b->seed);
    keys->secret = hx_alloc(b->n);
    memcpy(keys->secret, b->secret, b->n);
    memcpy(cipher[k]->key_id, keys->id, sizeof keys->id);
    assert_int_equal(hx_decrypt_on(both[k], keys, cipher[k], &opened[k], NULL), HX_STATUS_OK);
    assert_int_equal(hx_decode_on(both[k], opened[k], (double *)found[k], NULL), HX_STATUS_OK);
    hx_keys_release(keys);
  }
  assert_true(hx_value_equal(plain[0], plain[1]));
  assert_true(hx_value_equal(cipher[0], cipher[1]));
  assert_true(hx_value_equal(symmetric[0], symmetric[1]));
  assert_true(hx_value_equal(opened[0], opened[1]));
  assert_memory_equal(found[0], found[1], slots * sizeof *z);
  for (uint32_t i = 0; i < slots; ++i) assert_true(cabs(found[0][i] - z[i]) < 1e-3 * size);
  for (int k = 0; k < 2; ++k) {
    hx_value_release(plain[k]), hx_value_release(cipher[k]), hx_value_release(symmetric[k]);
    hx_value_release(opened[k]);
    free(found[k]);
  }
  hx_tensor_release(key);
  free(z);
}

static void plugin_gives_the_bits_of_the_library(void **state) {
  (void)state;
  hx_params_t *narrow = NULL;
  assert_int_equal(hx_params_parse(hx_str(NARROW_RING), "narrow", HX_PARAMS_INSECURE, &narrow, NULL), HX_STATUS_OK);
  hx_params_t *sets[] = {case_set_make(10, 60, 50, 3, 60, 2, 3, "2^50"), case_set_make(11, 50, 40, 4, 50, 2, 4, "2^40"),
                         case_set_make(4, 60, 50, 2, 60, 1, 3, "2^50"), narrow};
  for (size_t i = 0; i < HX_COUNT_OF(sets); ++i) {
    bench_t b;
    open_bench(&b, sets[i]);
    check_keys(&b);
    check_message(&b, &(hx_encode_options_t){.secret = true}, 1.0);
    check_message(&b, &(hx_encode_options_t){.slots = 4, .depth = 1}, 1.0);
    if (hx_params_word(sets[i]) == 64) {
      check_message(&b, &(hx_encode_options_t){.scale = "2^62"}, 1.0);     // above the first prime
      check_message(&b, &(hx_encode_options_t){.scale = "2^40"}, 0x1p40);  // wide by its values
      check_message(&b, &(hx_encode_options_t){.scale = "5*2^45"}, 0.25);
    }
    close_bench(&b);
  }
}

// ------------------------------------------------------------------ the engine's calls

static void engine_calls_fit_together(void **state) {
  (void)state;
  scheme_t s;
  scheme_open(&s, case_set_make(10, 55, 45, 2, 55, 1, 3, "2^45"), NULL, 0);
  double x[64], pairs[1024];
  for (size_t i = 0; i < 64; ++i) x[i] = sin((double)i);
  const hx_encode_options_t options = {.slots = 512, .secret = true};
  for (int symmetric = 0; symmetric < 2; ++symmetric) {
    hx_value_t *plain = NULL, *own = NULL, *cipher = NULL, *opened = NULL;
    SCHEME_OK(&s, hx_engine_encode(s.engine, x, 64, false, &options, &plain, s.report));
    SCHEME_OK(&s, hx_encode(s.params, x, 64, false, &options, &own, s.report));
    assert_true(hx_value_equal(plain, own));
    assert_true(hx_value_is_secret(plain));
    SCHEME_OK(&s, hx_engine_encrypt(s.engine, NULL, plain, symmetric != 0, &cipher, s.report));
    SCHEME_OK(&s, hx_engine_decrypt(s.engine, s.keys, cipher, &opened, s.report));
    SCHEME_OK(&s, hx_engine_decode(s.engine, opened, pairs, s.report));
    for (size_t i = 0; i < 64; ++i) assert_true(fabs(pairs[2 * i] - x[i]) < 1e-6);
    hx_value_release(plain), hx_value_release(own), hx_value_release(cipher), hx_value_release(opened);
  }
  const int64_t step = 3;
  const hx_keygen_options_t wanted = {.parts = HX_KEYS_ALL, .rotations = &step, .rotation_count = 1};
  hx_keys_t *keys = NULL, *other = NULL;
  SCHEME_OK(&s, hx_engine_generate_keys(s.engine, &wanted, &keys, s.report));
  assert_int_equal(hx_keys_parts(keys), HX_KEYS_ALL);
  hx_params_t *foreign = case_set_make(10, 55, 44, 2, 55, 1, 3, "2^44");
  SCHEME_OK(&s, hx_keys_generate(foreign, &wanted, &other, s.report));
  hx_value_t *plain = NULL, *out = NULL;
  SCHEME_OK(&s, hx_engine_encode(s.engine, x, 64, false, &options, &plain, s.report));
  assert_int_not_equal(hx_engine_encrypt(s.engine, other, plain, false, &out, s.report), HX_STATUS_OK);
  assert_int_equal(hx_report_get(s.report, 0)->code, HX_CODE_PARAMS_DIGEST);
  hx_report_clear(s.report);
  assert_int_not_equal(hx_engine_encode(s.engine, NULL, 1, false, NULL, &out, s.report), HX_STATUS_OK);
  assert_int_equal(hx_report_get(s.report, 0)->code, HX_CODE_INVALID_ARGUMENT);
  assert_null(out);
  hx_value_release(plain);
  hx_keys_release(keys), hx_keys_release(other);
  hx_params_release(foreign);
  scheme_close(&s);
}

typedef struct worker {
  pthread_t thread;
  const scheme_t *s;
  uint64_t seed;
  double worst;
} worker_t;

static void *work(void *argument) {
  worker_t *w = argument;
  scheme_number_t *z = scheme_message(&w->seed, 512), *found = scheme_numbers(512);
  w->worst = 0;
  for (int round = 0; round < 8; ++round) {
    hx_value_t *plain = NULL, *cipher = NULL, *opened = NULL;
    const bool good =
        hx_engine_encode(w->s->engine, (const double *)z, 512, true, NULL, &plain, NULL) == HX_STATUS_OK &&
        hx_engine_encrypt(w->s->engine, NULL, plain, round % 2 == 1, &cipher, NULL) == HX_STATUS_OK &&
        hx_engine_decrypt(w->s->engine, NULL, cipher, &opened, NULL) == HX_STATUS_OK &&
        hx_engine_decode(w->s->engine, opened, (double *)found, NULL) == HX_STATUS_OK;
    w->worst = good ? fmax(w->worst, scheme_worst(found, z, 512)) : INFINITY;
    hx_value_release(plain), hx_value_release(cipher), hx_value_release(opened);
  }
  free(z), free(found);
  return NULL;
}

static void engine_calls_run_from_several_threads(void **state) {
  (void)state;
  scheme_t s;
  scheme_open(&s, case_set_make(10, 55, 45, 2, 55, 1, 3, "2^45"), NULL, 0);
  worker_t workers[4];
  for (size_t i = 0; i < HX_COUNT_OF(workers); ++i) {
    workers[i] = (worker_t){.s = &s, .seed = i + 1};
    assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
  }
  for (size_t i = 0; i < HX_COUNT_OF(workers); ++i) {
    assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
    assert_true(workers[i].worst < 1e-6);
  }
  scheme_close(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(plugin_gives_the_bits_of_the_library),
      cmocka_unit_test(engine_calls_fit_together),
      cmocka_unit_test(engine_calls_run_from_several_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
