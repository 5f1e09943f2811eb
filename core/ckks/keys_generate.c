// SPDX-License-Identifier: Apache-2.0
// hx_keys_generate: one stream of randomness, one secret, the keys asked for.
#include <stdlib.h>
#include <string.h>

#include "core/ckks/keys.h"
#include "core/ckks/sampling.h"

// What one generation needs at hand.
typedef struct generation {
  const hx_rows_t *rows;
  const hx_params_t *params;
  hx_keys_t *keys;
  hx_random_t random;
  int8_t *errors;  // [digits][n], wiped
  size_t errors_bytes;
} generation_t;

static hx_status_t no_memory(hx_report_t *report) {
  return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for keys");
}

static hx_status_t make_secret(generation_t *g, hx_report_t *report) {
  const size_t n = (size_t)1 << hx_params_log_n(g->params);
  const uint32_t weight = hx_params_secret_weight(g->params);
  g->keys->secret = hx_alloc(n);
  if (g->keys->secret == NULL) return no_memory(report);
  if (weight == 0) {
    hx_sample_ternary(&g->random, n, g->keys->secret);
  } else if (!hx_sample_weight(&g->random, n, weight, g->keys->secret)) {
    return no_memory(report);
  }
  g->keys->parts |= HX_KEYS_SECRET;
  return HX_STATUS_OK;
}

static hx_status_t make_public(generation_t *g, hx_report_t *report) {
  hx_random_bytes(&g->random, g->keys->public_seed, sizeof g->keys->public_seed);
  hx_sample_error(&g->random, (size_t)1 << hx_params_log_n(g->params), g->errors);
  if (hx_public_key_make_on(g->rows, g->keys->secret, g->keys->public_seed, g->errors, &g->keys->public_key) !=
      HX_STATUS_OK)
    return no_memory(report);
  g->keys->parts |= HX_KEYS_PUBLIC;
  return HX_STATUS_OK;
}

// One switching key into `key`: a fresh seed and fresh errors, never shared with another key.
static hx_status_t make_switch(generation_t *g, hx_key_kind_t kind, uint64_t element, hx_switch_key_t *key,
                               hx_report_t *report) {
  key->kind = kind;
  key->element = element;
  hx_random_bytes(&g->random, key->seed, sizeof key->seed);
  hx_sample_error(&g->random, g->errors_bytes, g->errors);
  const hx_status_t status =
      kind == HX_KEY_RELIN
          ? hx_relin_key_make_on(g->rows, g->keys->secret, key->seed, g->errors, &key->tensor)
          : hx_galois_key_make_on(g->rows, g->keys->secret, element, key->seed, g->errors, &key->tensor);
  return status == HX_STATUS_OK ? status : no_memory(report);
}

static hx_status_t make_one(generation_t *g, hx_key_kind_t kind, uint64_t element, hx_switch_key_t **out,
                            hx_report_t *report) {
  hx_switch_key_t *key = hx_zalloc(1, sizeof *key);
  if (key == NULL) return no_memory(report);
  const hx_status_t status = make_switch(g, kind, element, key, report);
  if (status != HX_STATUS_OK) {
    hx_free(key);
    return status;
  }
  *out = key;
  return HX_STATUS_OK;
}

static int by_value(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

// Elements of the steps, ascending, each once; step 0 needs no key.
static size_t collect_elements(uint32_t log_n, uint32_t slots, const hx_keygen_options_t *options, uint64_t *out) {
  size_t count = 0;
  for (size_t i = 0; i < options->rotation_count; ++i) {
    const uint64_t element = hx_galois_element(log_n, slots, options->rotations[i]);
    if (element != 1) out[count++] = element;
  }
  if (count == 0) return 0;
  qsort(out, count, sizeof *out, by_value);
  size_t kept = 1;
  for (size_t i = 1; i < count; ++i)
    if (out[i] != out[kept - 1]) out[kept++] = out[i];
  return kept;
}

static hx_status_t make_rotations(generation_t *g, const hx_keygen_options_t *options, hx_report_t *report) {
  const uint32_t log_n = hx_params_log_n(g->params);
  const uint32_t slots = options->slots != 0 ? options->slots : (uint32_t)1 << (log_n - 1);
  uint64_t *elements = hx_zalloc(options->rotation_count, sizeof *elements);
  if (elements == NULL) return no_memory(report);
  const size_t count = collect_elements(log_n, slots, options, elements);
  g->keys->galois = hx_zalloc(count, sizeof *g->keys->galois);
  hx_status_t status = g->keys->galois == NULL ? no_memory(report) : HX_STATUS_OK;
  for (size_t i = 0; i < count && status == HX_STATUS_OK; ++i) {
    status = make_switch(g, HX_KEY_GALOIS, elements[i], &g->keys->galois[i], report);
    if (status == HX_STATUS_OK) g->keys->galois_count = i + 1;
  }
  hx_free(elements);
  if (g->keys->galois_count > 0) g->keys->parts |= HX_KEYS_GALOIS;
  return status;
}

static hx_status_t make_parts(generation_t *g, const hx_keygen_options_t *options, hx_report_t *report) {
  const uint64_t conjugation = ((uint64_t)2 << hx_params_log_n(g->params)) - 1;
  HX_TRY(make_secret(g, report));
  if ((options->parts & HX_KEYS_PUBLIC) != 0) HX_TRY(make_public(g, report));
  if ((options->parts & HX_KEYS_RELIN) != 0) {
    HX_TRY(make_one(g, HX_KEY_RELIN, 0, &g->keys->relin, report));
    g->keys->parts |= HX_KEYS_RELIN;
  }
  if ((options->parts & HX_KEYS_CONJ) != 0) {
    HX_TRY(make_one(g, HX_KEY_CONJ, conjugation, &g->keys->conj, report));
    g->keys->parts |= HX_KEYS_CONJ;
  }
  if ((options->parts & HX_KEYS_GALOIS) != 0) HX_TRY(make_rotations(g, options, report));
  return HX_STATUS_OK;
}

static hx_status_t check_options(const hx_params_t *params, const hx_keygen_options_t *options, hx_report_t *report) {
  const uint32_t most = (uint32_t)1 << (hx_params_log_n(params) - 1);
  if ((options->parts & ~(uint32_t)HX_KEYS_ALL) != 0)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "parts is 0x%x; only the bits 0x%x are known",
                          options->parts, (uint32_t)HX_KEYS_ALL);
  if (options->slots > most || (options->slots & (options->slots - 1)) != 0)
    return hx_report_fail(report, HX_CODE_SLOTS,
                          "slots is %u; it must be a power of two from 1 to N/2 = %u (0 stands for N/2)",
                          options->slots, most);
  if ((options->parts & HX_KEYS_EVALUATION) != 0 && hx_params_p_count(params) == 0)
    return hx_report_fail(report, HX_CODE_PARAMS,
                          "these parameters have no special primes, so relinearization, rotation and conjugation keys "
                          "do not exist; add special primes, or ask for the public key alone");
  return HX_STATUS_OK;
}

hx_status_t hx_keys_generate_on(const hx_rows_t *rows, const hx_keygen_options_t *options, hx_keys_t **out,
                                hx_report_t *report) {
  const hx_params_t *params = rows->params;
  HX_TRY(hx_params_want_live(params, "hx_keys_generate", report));
  HX_TRY(check_options(params, options, report));
  const size_t n = (size_t)1 << hx_params_log_n(params);
  const uint32_t digits = hx_params_digits(params);
  generation_t g = {.rows = rows, .params = params, .errors_bytes = n * (digits > 0 ? digits : 1)};
  HX_TRY(hx_random_init(&g.random, report));
  uint8_t id[16];
  hx_random_bytes(&g.random, id, sizeof id);
  g.keys = hx_keys_create(params, id);
  g.errors = hx_alloc(g.errors_bytes);
  hx_status_t status = g.keys == NULL || g.errors == NULL ? no_memory(report) : make_parts(&g, options, report);
  if (g.errors != NULL) hx_wipe(g.errors, g.errors_bytes);
  hx_free(g.errors);
  hx_random_deinit(&g.random);
  if (status != HX_STATUS_OK) {
    hx_keys_release(g.keys);
    return status;
  }
  *out = g.keys;
  return HX_STATUS_OK;
}

hx_status_t hx_keys_generate(const hx_params_t *params, const hx_keygen_options_t *options, hx_keys_t **out,
                             hx_report_t *report) {
  hx_rows_t rows;
  HX_TRY(hx_rows_init(&rows, params, NULL, report));
  const hx_status_t status = hx_keys_generate_on(&rows, options, out, report);
  hx_rows_deinit(&rows);
  return status;
}
