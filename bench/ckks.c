// SPDX-License-Identifier: Apache-2.0
// Operations of the engine on the cpu plugin: what a caller of the library waits for, results' memory included.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "heliox/heliox.h"
#include "region.h"

typedef struct ckks {
  hx_params_t *params;
  hx_keys_t *keys;
  hx_plugins_t *plugins;
  hx_backend_t *backend;
  hx_engine_t *engine;
  hx_value_t *plain, *a, *b, *product, *relinearized;
  double *values, *decoded;
  size_t slots;
  hx_report_t *report;
} ckks_t;

static const int64_t steps[8] = {1, 2, 3, 4, 5, 6, 7, 8};

// Releases *value (NULL: nothing): by address, since it is set by the call that makes `status`.
static bool done(const ckks_t *c, hx_status_t status, hx_value_t *const *value) {
  hx_value_release(value != NULL ? *value : NULL);
  if (status != HX_STATUS_OK) {
    const hx_fault_t *fault = hx_report_get(c->report, 0);
    fprintf(stderr, "bench: %s: %s\n", hx_status_name(status), fault != NULL ? fault->text : "");
  }
  return status == HX_STATUS_OK;
}

static bool encode(void *state) {
  const ckks_t *c = state;
  hx_value_t *out = NULL;
  return done(c, hx_engine_encode(c->engine, c->values, c->slots, false, NULL, &out, c->report), &out);
}
static bool encrypt(void *state) {
  const ckks_t *c = state;
  hx_value_t *out = NULL;
  return done(c, hx_engine_encrypt(c->engine, NULL, c->plain, false, &out, c->report), &out);
}
static bool decrypt(void *state) {
  const ckks_t *c = state;
  hx_value_t *out = NULL;
  hx_status_t status = hx_engine_decrypt(c->engine, NULL, c->a, &out, c->report);
  if (status == HX_STATUS_OK) {
    status = hx_engine_decode(c->engine, out, c->decoded, c->report);
  }
  return done(c, status, &out);
}
static bool add(void *state) {
  const ckks_t *c = state;
  hx_value_t *out = NULL;
  return done(c, hx_engine_add(c->engine, c->a, c->b, &out, c->report), &out);
}
static bool mul_plain(void *state) {
  const ckks_t *c = state;
  hx_value_t *out = NULL;
  return done(c, hx_engine_mul_plain(c->engine, c->a, c->plain, &out, c->report), &out);
}
static bool mul(void *state) {
  const ckks_t *c = state;
  hx_value_t *out = NULL;
  return done(c, hx_engine_mul(c->engine, c->a, c->b, &out, c->report), &out);
}
static bool relinearize(void *state) {
  const ckks_t *c = state;
  hx_value_t *out = NULL;
  return done(c, hx_engine_relinearize(c->engine, c->product, &out, c->report), &out);
}
static bool rescale(void *state) {
  const ckks_t *c = state;
  hx_value_t *out = NULL;
  return done(c, hx_engine_rescale(c->engine, c->relinearized, &out, c->report), &out);
}
static bool multiply_all(void *state) {
  const ckks_t *c = state;
  hx_value_t *product = NULL, *two = NULL, *out = NULL;
  hx_status_t status = hx_engine_mul(c->engine, c->a, c->b, &product, c->report);
  if (status == HX_STATUS_OK) {
    status = hx_engine_relinearize(c->engine, product, &two, c->report);
  }
  if (status == HX_STATUS_OK) {
    status = hx_engine_rescale(c->engine, two, &out, c->report);
  }
  hx_value_release(product);
  hx_value_release(two);
  return done(c, status, &out);
}
static bool rotate(void *state) {
  const ckks_t *c = state;
  hx_value_t *out = NULL;
  return done(c, hx_engine_rotate(c->engine, c->a, 1, &out, c->report), &out);
}
static bool rotate_many(void *state) {
  const ckks_t *c = state;
  hx_value_t *outs[8] = {0};
  const hx_status_t status = hx_engine_rotate_many(c->engine, c->a, steps, 8, outs, c->report);
  for (size_t i = 1; i < 8; i++) {
    hx_value_release(outs[i]);
  }
  return done(c, status, &outs[0]);
}

// The preset, or the set with its Q and other digits, secure or not: others are measured with the same.
static hx_status_t open_params(ckks_t *c, const char *preset, uint32_t digits) {
  hx_params_t *given = NULL;
  hx_status_t status = hx_params_preset(preset, digits == 0 ? &c->params : &given, c->report);
  if (status == HX_STATUS_OK && digits != 0) {
    status = hx_params_with_digits(given, digits, HX_PARAMS_INSECURE, &c->params, c->report);
  }
  hx_params_release(given);
  return status;
}

static hx_status_t open_all(ckks_t *c, const char *preset, uint32_t digits) {
  const hx_keygen_options_t options = {
      .parts = HX_KEYS_PUBLIC | HX_KEYS_RELIN | HX_KEYS_GALOIS, .rotations = steps, .rotation_count = 8};
  const hx_encode_options_t secret = {.secret = true};
  hx_status_t status = open_params(c, preset, digits);
  if (status == HX_STATUS_OK) status = hx_plugins_discover(NULL, &c->plugins, c->report);
  if (status == HX_STATUS_OK) status = hx_backend_create(c->plugins, "cpu", &c->backend, c->report);
  if (status == HX_STATUS_OK) status = hx_keys_generate(c->params, &options, &c->keys, c->report);
  if (status == HX_STATUS_OK) status = hx_engine_create(c->params, c->keys, c->backend, &c->engine, c->report);
  if (status != HX_STATUS_OK) return status;
  c->slots = (size_t)1 << (hx_params_log_n(c->params) - 1);
  c->values = malloc(c->slots * sizeof *c->values);
  c->decoded = malloc(2 * c->slots * sizeof *c->decoded);
  if (c->values == NULL || c->decoded == NULL) return HX_STATUS_OUT_OF_MEMORY;
  for (size_t i = 0; i < c->slots; i++) {
    c->values[i] = (double)(i % 1000) / 500 - 1;
  }
  hx_value_t *message = NULL;
  status = hx_encode(c->params, c->values, c->slots, false, &secret, &message, c->report);
  if (status == HX_STATUS_OK) status = hx_encode(c->params, c->values, c->slots, false, NULL, &c->plain, c->report);
  if (status == HX_STATUS_OK) status = hx_encrypt(c->keys, message, false, &c->a, c->report);
  if (status == HX_STATUS_OK) status = hx_encrypt(c->keys, message, false, &c->b, c->report);
  hx_value_release(message);
  if (status == HX_STATUS_OK) status = hx_engine_mul(c->engine, c->a, c->b, &c->product, c->report);
  if (status == HX_STATUS_OK) status = hx_engine_relinearize(c->engine, c->product, &c->relinearized, c->report);
  return status;
}

static void close_all(ckks_t *c) {
  hx_value_t *values[] = {c->plain, c->a, c->b, c->product, c->relinearized};
  for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
    hx_value_release(values[i]);
  }
  free(c->values);
  free(c->decoded);
  hx_engine_release(c->engine);
  hx_keys_release(c->keys);
  hx_backend_release(c->backend);
  hx_plugins_release(c->plugins);
  hx_params_release(c->params);
  hx_report_release(c->report);
}

// Work of key switching at the top: `count` keys after one decomposition.
static bench_work_t switch_work(const ckks_t *c, uint32_t digits, double count) {
  const double n = 2 * (double)c->slots, log_n = hx_params_log_n(c->params), row = n * 8;
  const uint32_t q = hx_params_q_count(c->params), p = hx_params_p_count(c->params), run = (q + digits - 1) / digits;
  double transforms = q, products = 0;
  for (uint32_t first = 0; first < q; first += run) {
    const double size = q - first < run ? q - first : run;
    transforms += q + p - size;
    products += size * (q + p - size);
  }
  const double each = 2 * (double)p + 2 * (double)q, used = (q + run - 1) / run;
  transforms += count * each;
  products += count * 2 * q * p;
  const bench_work_t work = {transforms * n / 2 * log_n, products * n,
                             count * (used * 2 * (q + p) + 2 * (double)q) * row + 2 * (double)q * row};
  return work;
}

static bench_work_t plus(bench_work_t a, bench_work_t b) {
  const bench_work_t sum = {a.butterflies + b.butterflies, a.products + b.products, a.bytes + b.bytes};
  return sum;
}

static bool is_wanted(const bench_suite_t *suite, const char *name) {
  return strncmp(name, suite->only, strlen(suite->only)) == 0;
}

// What the plugin alone takes, by its own tables, on the set's primes: results' memory is there already.
static bool measure_native(bench_suite_t *suite, const ckks_t *c, const char *preset) {
  const uint32_t q = hx_params_q_count(c->params), asked = hx_params_digits_asked(c->params);
  bench_ring_t ring = {.log_n = hx_params_log_n(c->params),
                       .q_count = q,
                       .p_count = hx_params_p_count(c->params),
                       .digit_run = (q + asked - 1) / asked};
  bool good = ring.p_count > 0 && q + ring.p_count <= BENCH_PRIMES_MAX;
  for (uint32_t i = 0; good && i < q + ring.p_count; i++) {
    ring.primes[i] = hx_params_prime(c->params, i);
  }
  const char *threads = getenv("HELIOX_NUM_THREADS");
  const uint32_t count = threads != NULL && atoi(threads) > 0 ? (uint32_t)atoi(threads) : 1;
  for (int chain = 0; good && chain < BENCH_CHAIN_COUNT; chain++) {
    if (!is_wanted(suite, bench_chain_name((bench_chain_t)chain))) {
      continue;
    }
    bench_region_t *region = bench_region_open(&ring, (bench_chain_t)chain, count);
    const bench_work_t work = bench_chain_work(&ring, (bench_chain_t)chain);
    json_t *facts = json_pack("{s:s, s:s, s:i, s:i}", "operation", bench_chain_name((bench_chain_t)chain), "params",
                              preset, "digits", (int)hx_params_digits(c->params), "threads", (int)count);
    good =
        region != NULL ? bench_measure(suite, facts, &work, 1, bench_region_run, region) : (json_decref(facts), false);
    bench_region_close(region);
  }
  return good;
}

bool bench_ckks(bench_suite_t *suite, const char *preset, uint32_t digits_wanted) {
  ckks_t c = {.report = hx_report_create()};
  if (!done(&c, open_all(&c, preset, digits_wanted), NULL)) {
    close_all(&c);
    return false;
  }
  const double n = 2 * (double)c.slots, log_n = hx_params_log_n(c.params), q = hx_params_q_count(c.params), row = n * 8;
  const uint32_t digits = hx_params_digits(c.params);
  const bench_work_t one = switch_work(&c, digits, 1), many = switch_work(&c, digits, 8);
  const bench_work_t divided = {(2 + 2 * (q - 1)) * n / 2 * log_n, 2 * (q - 1) * n, (4 * q - 2) * row};
  const bench_work_t tensor = {0, 0, 7 * q * row}, sum = {0, 0, 6 * q * row}, scaled = {0, 0, 5 * q * row};
  const bench_work_t transform = {q * n / 2 * log_n, 0, q * row}, opened = {(q + 2) * n / 2 * log_n, 0, 2 * q * row};
  const bench_work_t sealed = {(3 * (q + 1) + 2 * q) * n / 2 * log_n, 2 * q * n, 4 * q * row};
  const struct {
    const char *name;
    bool (*body)(void *);
    bench_work_t work;
  } rows[] = {{"encode", encode, transform},
              {"encrypt", encrypt, sealed},
              {"decrypt+decode", decrypt, opened},
              {"add", add, sum},
              {"mul_plain", mul_plain, scaled},
              {"mul", mul, tensor},
              {"relinearize", relinearize, one},
              {"rescale", rescale, divided},
              {"mul+relinearize+rescale", multiply_all, plus(plus(one, divided), tensor)},
              {"rotate", rotate, one},
              {"rotate_many 8", rotate_many, many}};
  bool good = true;
  for (size_t i = 0; good && i < sizeof rows / sizeof rows[0]; i++) {
    if (!is_wanted(suite, rows[i].name)) {
      continue;
    }
    json_t *facts = json_pack("{s:s, s:s, s:i}", "operation", rows[i].name, "params", preset, "digits", (int)digits);
    good = bench_measure(suite, facts, &rows[i].work, 1, rows[i].body, &c);
  }
  good = good && measure_native(suite, &c, preset);
  close_all(&c);
  return good;
}
