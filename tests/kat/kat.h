// SPDX-License-Identifier: Apache-2.0
// The known-answer runner: reads a folder of vector files (tests/data/vectors/README.md) and runs every case through a
// backend, as a program of the operation under test. All results are compared to the bit; encoding has its tolerances.
#ifndef HELIOX_TESTS_KAT_KAT_H
#define HELIOX_TESTS_KAT_KAT_H

#include <jansson.h>

#include "core/ckks/keys.h"
#include "core/link/link.h"

#define KAT_VALUES_MAX 64
#define KAT_REASONS_MAX 64

typedef struct kat {
  hx_plugins_t *plugins;
  hx_backend_t *backend;
  uint64_t passed, failed, skipped;
  // Of the current file.
  const char *file;
  uint64_t file_passed, file_failed, file_skipped;
  char reasons[KAT_REASONS_MAX][160];  // distinct reasons of skipping
  size_t reason_count;
} kat_t;

// Counts one case. `ok` false prints the case's name and what was wrong.
void kat_check(kat_t *kat, bool ok, const char *format, ...) HX_PRINTF(3, 4);
void kat_skip(kat_t *kat, const char *reason);

// Vector files.
void kat_roots(kat_t *kat, json_t *cases);
void kat_ntt(kat_t *kat, json_t *cases);
void kat_pointwise(kat_t *kat, json_t *cases);
void kat_bases(kat_t *kat, json_t *cases);
void kat_automorphism(kat_t *kat, json_t *cases);
void kat_seed(kat_t *kat, json_t *cases);
void kat_encode(kat_t *kat, json_t *cases);
void kat_scheme(kat_t *kat, json_t *file);

// ------------------------------------------------------------------ reading

uint64_t kat_u64(const json_t *object, const char *key);  // decimal string or integer
uint32_t kat_u32(const json_t *object, const char *key);
const char *kat_text(const json_t *object, const char *key);
// Decimal integer of any length mod q.
uint64_t kat_decimal_mod(const char *text, uint64_t q);
bool kat_hex_bytes(const char *text, uint8_t *out, size_t size);
// Residues of a row string; false if its length is not n.
bool kat_row(const char *text, uint32_t word, uint64_t *out, size_t n);

// ------------------------------------------------------------------ values

// Test parameters: every prime of `base` and `groups` in the order given; insecure sets are fine here. NULL with a
// failed case where they are refused.
typedef struct kat_chain {
  uint32_t n, word, digits;
  const uint64_t *q;  // [group_count sizes in all]
  const uint32_t *group_sizes;
  uint32_t group_count;
  const uint64_t *p;
  uint32_t p_count;
  const char *scale;
} kat_chain_t;
hx_params_t *kat_params(kat_t *kat, const kat_chain_t *chain);
// One group a prime, no special primes.
hx_params_t *kat_params_of(kat_t *kat, uint32_t n, uint32_t word, const uint64_t *primes, uint32_t count,
                           uint32_t digits);

// A tensor value: rows of `ids` (ascending), `components` of them one after the other. data may be NULL (zeros).
hx_value_t *kat_tensor(const hx_params_t *params, const uint32_t *ids, uint32_t count, uint32_t components,
                       uint32_t domain, uint32_t repr, const uint64_t *data);
// Row of a value's component as 64-bit words.
void kat_read_row(const hx_value_t *value, uint32_t component, uint32_t limb, uint64_t *out);
// True if component `component` of a value is the polynomial of a vector file.
bool kat_poly_equal(const hx_value_t *value, uint32_t component, const json_t *poly);
// True if all components are the list of polynomials.
bool kat_polys_equal(const hx_value_t *value, const json_t *polys);

// ------------------------------------------------------------------ running

// Runs a body over inputs %a0, %a1, ...; it ends in values %r0, ... of the result types given as text. report receives
// faults. Outputs are released by the caller.
hx_status_t kat_run(kat_t *kat, const hx_params_t *params, const hx_keys_t *keys, const char *body,
                    hx_value_t *const *inputs, size_t input_count, const char *const *result_types, size_t result_count,
                    hx_value_t **outputs, hx_report_t *report);
// The same with a switching key bound to @switch.
hx_status_t kat_run_switching(kat_t *kat, const hx_params_t *params, const hx_keys_t *keys, const hx_switch_t *key,
                              const char *body, hx_value_t *const *inputs, size_t input_count,
                              const char *const *result_types, size_t result_count, hx_value_t **outputs,
                              hx_report_t *report);
// One operation with one result of type `result` ("!rns.tensor<>"). attributes: text between the braces, or "".
hx_status_t kat_call(kat_t *kat, const hx_params_t *params, const char *op, const char *attributes, const char *result,
                     hx_value_t *const *inputs, size_t input_count, hx_value_t **out, hx_report_t *report);
// Counts a call's failure: skipped where the backend or this build lacks the operation, else failed.
void kat_count_fault(kat_t *kat, const char *name, const hx_report_t *report);

#endif
