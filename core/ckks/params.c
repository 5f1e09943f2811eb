// SPDX-License-Identifier: Apache-2.0
// The parameter object: built once from a checked spec, then immutable.
#include "core/ckks/params.h"

#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "core/base/log.h"
#include "core/base/memory.h"
#include "core/ckks/params_spec.h"
#include "core/ckks/primes.h"
#include "core/ckks/security.h"

static void destroy(hx_params_t *params) {
  hx_ref_ring_destroy(atomic_load(&params->reference));
  hx_free(params->scale_text);
  hx_free(params->json);
  hx_free(params);
}

static void fill_ring(hx_params_t *params) {
  const hx_params_spec_t *spec = &params->spec;
  for (uint32_t id = 0; id < spec->q_count + spec->p_count; ++id) {
    params->psi[id] = hx_prime_psi(spec->primes[id], spec->log_n);
    *(id < spec->q_count ? &params->log2_q : &params->log2_p) += log2((double)spec->primes[id]);
  }
  params->ring = (hx_ring){.struct_size = HX_END_OF(hx_ring, digest),
                           .log_n = spec->log_n,
                           .word = spec->word,
                           .q_count = spec->q_count,
                           .p_count = spec->p_count,
                           .digit_run = hx_params_spec_run(spec),
                           .group_count = spec->group_count,
                           .primes = spec->primes,
                           .psi = params->psi,
                           .group_sizes = spec->group_sizes};
}

// The default scale must be canonical, and a number that encoding can use.
static hx_status_t fill_scale(hx_params_t *params, hx_report_t *report) {
  HX_TRY(hx_scale_parse(params->spec.scale, &params->ring, &params->scale, report));
  double hi, lo;
  HX_TRY(hx_scale_value(&params->scale, &params->ring, &hi, &lo, report));
  char text[HX_SCALE_TEXT_MAX];
  hx_scale_print(&params->scale, text);
  params->scale_text = hx_strdup(text);
  if (params->scale_text == NULL) return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for parameters");
  params->spec.scale = hx_str(params->scale_text);
  return HX_STATUS_OK;
}

static hx_status_t fill_texts(hx_params_t *params, hx_report_t *report) {
  params->json = hx_params_spec_json(&params->spec);
  if (params->json == NULL) return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for parameters");
  hx_params_json_digest(params->json, params->ring.digest);
  sodium_bin2hex(params->digest_hex, sizeof params->digest_hex, params->ring.digest, sizeof params->ring.digest);
  const char *name = hx_params_preset_by_digest(params->ring.digest);
  snprintf(params->name, sizeof params->name, "%s", name == NULL ? "" : name);
  if (params->spec.weight == 0) {
    snprintf(params->secret, sizeof params->secret, "ternary");
  } else {
    snprintf(params->secret, sizeof params->secret, "ternary:%u", params->spec.weight);
  }
  return HX_STATUS_OK;
}

hx_status_t hx_params_build(const hx_params_spec_t *spec, uint32_t flags, hx_params_t **out, hx_report_t *report) {
  HX_TRY(hx_params_check_ring(spec, report));
  bool insecure = false;
  const hx_status_t special = hx_params_check_special(spec, report);
  const hx_status_t security = hx_params_check_security(spec, flags, &insecure, report);
  if (special != HX_STATUS_OK) return special;
  if (security != HX_STATUS_OK) return security;
  hx_params_t *params = hx_zalloc(1, sizeof *params);
  if (params == NULL) return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for parameters");
  atomic_init(&params->refs, 1);
  atomic_init(&params->reference, NULL);
  params->spec = *spec;
  params->insecure = insecure;
  fill_ring(params);
  hx_status_t status = fill_scale(params, report);
  if (status == HX_STATUS_OK) status = fill_texts(params, report);
  if (status != HX_STATUS_OK) {
    destroy(params);
    return status;
  }
  params->spec.source = NULL;
  if (insecure)
    hx_log(HX_LOG_WARNING, "params", "parameters %.16s... are insecure: accepted because the insecure flag was given",
           params->digest_hex);
  *out = params;
  return HX_STATUS_OK;
}

hx_params_t *hx_params_retain(const hx_params_t *params) {
  hx_params_t *self = (hx_params_t *)(uintptr_t)params;
  if (self != NULL) atomic_fetch_add_explicit(&self->refs, 1, memory_order_relaxed);
  return self;
}

void hx_params_release(hx_params_t *params) {
  if (params != NULL && atomic_fetch_sub_explicit(&params->refs, 1, memory_order_acq_rel) == 1) destroy(params);
}

const char *hx_params_name(const hx_params_t *params) { return params->name; }
const char *hx_params_json(const hx_params_t *params) { return params->json; }
const uint8_t *hx_params_digest(const hx_params_t *params) { return params->ring.digest; }
const char *hx_params_digest_hex(const hx_params_t *params) { return params->digest_hex; }
bool hx_params_is_insecure(const hx_params_t *params) { return params->insecure; }
uint32_t hx_params_log_n(const hx_params_t *params) { return params->spec.log_n; }
uint32_t hx_params_word(const hx_params_t *params) { return params->spec.word; }
uint32_t hx_params_q_count(const hx_params_t *params) { return params->spec.q_count; }
uint32_t hx_params_p_count(const hx_params_t *params) { return params->spec.p_count; }

uint64_t hx_params_prime(const hx_params_t *params, uint32_t id) {
  return id < params->spec.q_count + params->spec.p_count ? params->spec.primes[id] : 0;
}

uint32_t hx_params_group_count(const hx_params_t *params) { return params->spec.group_count; }

uint32_t hx_params_group_size(const hx_params_t *params, uint32_t group) {
  return group < params->spec.group_count ? params->spec.group_sizes[group] : 0;
}

uint32_t hx_params_max_depth(const hx_params_t *params) { return params->spec.group_count - 1; }
uint32_t hx_params_digits_asked(const hx_params_t *params) { return params->spec.digits; }
uint32_t hx_params_digits(const hx_params_t *params) { return hx_params_spec_digits(&params->spec); }
const char *hx_params_scale(const hx_params_t *params) { return params->scale_text; }
const char *hx_params_secret(const hx_params_t *params) { return params->secret; }
double hx_params_log2_q(const hx_params_t *params) { return params->log2_q; }
double hx_params_log2_p(const hx_params_t *params) { return params->log2_p; }
uint32_t hx_params_security_limit(const hx_params_t *params) { return hx_security_limit(params->spec.log_n); }

// Bytes of one row: at most 2^20.
static uint64_t row_bytes(const hx_params_t *params) {
  return ((uint64_t)1 << params->spec.log_n) * (params->spec.word / 8);
}

uint64_t hx_params_key_bytes(const hx_params_t *params) {
  if (params->spec.p_count == 0) return 0;  // no special primes, no switching keys
  return row_bytes(params) * 2 * hx_params_digits(params) * (params->spec.q_count + params->spec.p_count);
}

uint64_t hx_params_ciphertext_bytes(const hx_params_t *params) { return row_bytes(params) * 2 * params->spec.q_count; }

const hx_ring *hx_params_ring(const hx_params_t *params) { return &params->ring; }
const hx_scale_t *hx_params_default_scale(const hx_params_t *params) { return &params->scale; }
uint32_t hx_params_secret_weight(const hx_params_t *params) { return params->spec.weight; }

hx_status_t hx_params_reference(const hx_params_t *params, const hx_ref_ring **out, hx_report_t *report) {
  _Atomic(hx_ref_ring *) *const slot = &((hx_params_t *)(uintptr_t)params)->reference;
  hx_ref_ring *ring = atomic_load_explicit(slot, memory_order_acquire);
  if (ring == NULL) {
    hx_ref_ring *fresh = NULL;
    hx_error error = {.struct_size = HX_END_OF(hx_error, message)};
    const int32_t code = hx_ref_ring_create(&params->ring, &fresh, &error);
    if (code == HX_OUT_OF_MEMORY)
      return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for the ring's tables");
    if (code != HX_OK) return hx_report_fail(report, HX_CODE_INTERNAL, "the ring's tables: %s", error.message);
    // Two threads may both have made them: one set wins, the other goes.
    if (atomic_compare_exchange_strong(slot, &ring, fresh)) {
      ring = fresh;
    } else {
      hx_ref_ring_destroy(fresh);
    }
  }
  *out = ring;
  return HX_STATUS_OK;
}

bool hx_params_same(const hx_params_t *a, const hx_params_t *b) {
  return a == b || memcmp(a->ring.digest, b->ring.digest, sizeof a->ring.digest) == 0;
}

hx_status_t hx_params_copy_capturing(const hx_params_t *params, hx_params_t **out, hx_report_t *report) {
  hx_params_t *copy = NULL;
  HX_TRY(hx_params_parse(hx_str(params->json), "captured parameters", params->insecure ? HX_PARAMS_INSECURE : 0, &copy,
                         report));
  memcpy(copy->name, params->name, sizeof copy->name);
  copy->is_capturing = true;
  *out = copy;
  return HX_STATUS_OK;
}

hx_status_t hx_params_want_live(const hx_params_t *params, const char *what, hx_report_t *report) {
  if (!params->is_capturing) return HX_STATUS_OK;
  return hx_report_fail(report, HX_CODE_UNSUPPORTED,
                        "%s draws keys at random, so it is not recorded: make keys before a function is captured",
                        what);
}
