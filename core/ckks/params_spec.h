// SPDX-License-Identifier: Apache-2.0
// How parameter sets are made: every source (preset, JSON text, another set) fills a spec, one function checks it
// against every rule and builds the object. Private to core/ckks/params*.c.
#ifndef HELIOX_CORE_CKKS_PARAMS_SPEC_H
#define HELIOX_CORE_CKKS_PARAMS_SPEC_H

#include <stdatomic.h>

#include "core/ckks/params.h"

// Plain data. Primes of Q (base group, then depth groups), then P's; group_sizes[0] is the base group.
typedef struct hx_params_spec {
  uint32_t log_n, word;
  uint32_t q_count, p_count, group_count;
  uint32_t digits;  // as asked for
  uint32_t weight;  // nonzero coefficients of the secret; 0: uniform ternary
  uint64_t primes[HX_PRIMES_MAX];
  uint32_t group_sizes[HX_PRIMES_MAX];
  hx_str_t scale;      // canonical text, borrowed
  const char *source;  // for faults: file or preset name; may be NULL
} hx_params_spec_t;

struct hx_params {
  atomic_uint refs;
  hx_params_spec_t spec;  // scale and source point into this object or are NULL
  hx_ring ring;
  uint64_t psi[HX_PRIMES_MAX];
  hx_scale_t scale;
  char *scale_text;
  char *json;
  char secret[24];
  char digest_hex[65];
  char name[HX_NAME_MAX];
  bool insecure;
  bool is_capturing;  // of a capturing engine: no keys are drawn under it
  double log2_q, log2_p;
  _Atomic(hx_ref_ring *) reference;  // NULL until asked for
};

// The digits that `digits` asked for give: primes each (run) and their count.
uint32_t hx_params_spec_run(const hx_params_spec_t *spec);
uint32_t hx_params_spec_digits(const hx_params_spec_t *spec);
// Range and shape of every field, then of every prime (params): one fault a broken rule.
hx_status_t hx_params_check_ring(const hx_params_spec_t *spec, hx_report_t *report);
// 2P >= product of each digit (special-size).
hx_status_t hx_params_check_special(const hx_params_spec_t *spec, hx_report_t *report);
// The 128-bit table, small rings, sparse secrets. Without HX_PARAMS_INSECURE each is a fault (insecure); with it
// *out_insecure says whether any applied.
hx_status_t hx_params_check_security(const hx_params_spec_t *spec, uint32_t flags, bool *out_insecure,
                                     hx_report_t *report);
// Chooses special primes below 2^bits that are not in Q, the largest first, until they suffice for every digit.
hx_status_t hx_params_choose_special(hx_params_spec_t *spec, uint32_t bits, hx_report_t *report);
// Canonical JSON text and its digest. The scale's text is taken as it is.
char *hx_params_spec_json(const hx_params_spec_t *spec);
void hx_params_json_digest(const char *json, uint8_t digest[32]);
// The preset with this digest, or NULL.
const char *hx_params_preset_by_digest(const uint8_t digest[32]);
// All rules, then the object. The name is the preset's with the same digest, else "".
hx_status_t hx_params_build(const hx_params_spec_t *spec, uint32_t flags, hx_params_t **out, hx_report_t *report);

#endif
