// SPDX-License-Identifier: Apache-2.0
// One scheme file at work: keys, values by name, steps.
#ifndef HELIOX_TESTS_KAT_SCHEME_H
#define HELIOX_TESTS_KAT_SCHEME_H

#include "tests/kat/kat.h"

#define KAT_CIPHERTEXT "!ckks.ciphertext<>"
#define KAT_STEPS_MAX 256

typedef struct kat_scheme {
  kat_t *kat;
  const json_t *file;
  hx_params_t *params;
  hx_keys_t *keys, *other;  // of `secret`; of `other_secret`, for decryption alone
  hx_switch_t *leads;       // from the first to the second
  const hx_ref_ring *ring;
  size_t n;
  struct {
    const char *name;
    hx_value_t *value;
  } values[KAT_STEPS_MAX];
  size_t value_count;
  hx_report_t *report;
} kat_scheme_t;

// ---- scheme_keys.c

// n small coefficients; the caller frees them.
int8_t *kat_scheme_small(const json_t *list, size_t n);
// Makes the file's keys from its secrets, errors and seeds, and compares each with what the file has.
void kat_scheme_keys(kat_scheme_t *s);
// The second secret and the switching key to it.
void kat_scheme_other(kat_scheme_t *s);

// ---- scheme_values.c

// Keeps a value under the name of its step; the scheme owns it then.
void kat_scheme_put(kat_scheme_t *s, const char *name, hx_value_t *value);
// The value of a step, NULL where it was skipped; borrowed.
hx_value_t *kat_scheme_find(const kat_scheme_t *s, const char *name);
// Operand `index` of a step, NULL where its step was skipped.
hx_value_t *kat_scheme_operand(const kat_scheme_t *s, const json_t *step, size_t index);
// A message of the file as a plaintext at a depth; the caller releases it.
hx_value_t *kat_scheme_message(kat_scheme_t *s, const char *name, uint32_t depth);
hx_status_t kat_scheme_encrypt_public(kat_scheme_t *s, const json_t *step, hx_value_t **out);
hx_status_t kat_scheme_encrypt_secret(kat_scheme_t *s, const json_t *step, hx_value_t **out);
// Compares what a value decrypts to with the step.
void kat_scheme_decrypts(kat_scheme_t *s, const char *name, const hx_value_t *value, const hx_keys_t *keys,
                         const json_t *step);
// A step's value: compares its bits, state and decryption, and keeps it.
void kat_scheme_finish(kat_scheme_t *s, const json_t *step, const char *name, hx_value_t *value, const hx_keys_t *keys);

// ---- scheme_steps.c: a step each, run and compared

void kat_scheme_key_switch(kat_scheme_t *s, const json_t *step, const char *name);
void kat_scheme_rotate_many(kat_scheme_t *s, const json_t *step);
void kat_scheme_rotate_weighted_sum(kat_scheme_t *s, const json_t *step, const char *name);
// Every other operation of one result.
void kat_scheme_plain_step(kat_scheme_t *s, const json_t *step, const char *name);

#endif
