// SPDX-License-Identifier: Apache-2.0
#ifndef HELIOX_CORE_CKKS_KEYS_H
#define HELIOX_CORE_CKKS_KEYS_H

#include "core/base/text.h"
#include "core/ckks/rows.h"
#include "core/ckks/value.h"
#include "heliox/keys.h"

// A switching key [digit, 2, limb, n] over Q and P, ntt domain. The a half can be re-made from the seed.
typedef struct hx_switch_key {
  hx_key_kind_t kind;
  uint64_t element;  // galois and conjugation
  hx_tensor_t *tensor;
  uint8_t seed[32];
} hx_switch_key_t;

struct hx_keys {
  atomic_uint refs;
  hx_params_t *params;
  uint8_t id[16];
  uint32_t parts;
  int8_t *secret;           // [n], -1, 0, 1; wiped
  hx_tensor_t *public_key;  // [2, limb, n] over Q and the first special prime
  uint8_t public_seed[32];
  hx_switch_key_t *relin;  // or NULL
  hx_switch_key_t *conj;
  hx_switch_key_t *galois;  // [galois_count], elements ascending
  size_t galois_count;
};

// From one secret to another.
struct hx_switch {
  atomic_uint refs;
  hx_params_t *params;
  uint8_t from_id[16], id[16];
  hx_switch_key_t key;
};
// Takes the tensor's reference, also where memory runs out (NULL).
hx_switch_t *hx_switch_create(const hx_params_t *params, const uint8_t from_id[16], const uint8_t id[16],
                              hx_tensor_t *tensor, const uint8_t seed[32]);

// The key of a kind and element, or NULL. Conjugation is found as element 2N-1 too.
const hx_switch_key_t *hx_keys_find(const hx_keys_t *keys, hx_key_kind_t kind, uint64_t element);
// "steps 1, 2, 4" as they are in the set, for messages.
void hx_keys_describe_steps(const hx_keys_t *keys, uint32_t slots, hx_text_t *out);
// The view of a key at a depth: rows Q_d and P (hx_layout_t.rows), digits that are left.
hx_status_t hx_switch_key_at(const hx_switch_key_t *key, const hx_ring *ring, uint32_t depth, hx_tensor_t **out);

// An empty set under parameters (retained), one reference, no parts. NULL: out of memory.
hx_keys_t *hx_keys_create(const hx_params_t *params, const uint8_t id[16]);

// Deterministic cores of key generation, encryption and decryption, for known answers: all randomness is given.
// secret, error, v: [n] small signed integers; errors: [digits][n]. Nothing is checked but memory; constant time in all
// secrets. Keys carry no secret flag: they are made to be published.

// The forms ending in _on compute where `rows` says, the others on reference/.
hx_status_t hx_switch_key_make_on(const hx_rows_t *rows, const int64_t *source, const int8_t *target,
                                  const uint8_t seed[32], const int8_t *errors, hx_tensor_t **out);
hx_status_t hx_relin_key_make_on(const hx_rows_t *rows, const int8_t *secret, const uint8_t seed[32],
                                 const int8_t *errors, hx_tensor_t **out);
hx_status_t hx_galois_key_make_on(const hx_rows_t *rows, const int8_t *secret, uint64_t element, const uint8_t seed[32],
                                  const int8_t *errors, hx_tensor_t **out);
hx_status_t hx_public_key_make_on(const hx_rows_t *rows, const int8_t *secret, const uint8_t seed[32],
                                  const int8_t *error, hx_tensor_t **out);
// hx_keys_generate with arithmetic where `rows` says.
hx_status_t hx_keys_generate_on(const hx_rows_t *rows, const hx_keygen_options_t *options, hx_keys_t **out,
                                hx_report_t *report);

// From `source` to `target`. Refused (params) for a set without special primes.
hx_status_t hx_switch_key_make(const hx_params_t *params, const int64_t *source, const int8_t *target,
                               const uint8_t seed[32], const int8_t *errors, hx_tensor_t **out);
// source s^2, target s.
hx_status_t hx_relin_key_make(const hx_params_t *params, const int8_t *secret, const uint8_t seed[32],
                              const int8_t *errors, hx_tensor_t **out);
// source s, target sigma_g^-1(s); conjugation is element 2N-1. `element` is odd, below 2N.
hx_status_t hx_galois_key_make(const hx_params_t *params, const int8_t *secret, uint64_t element,
                               const uint8_t seed[32], const int8_t *errors, hx_tensor_t **out);
hx_status_t hx_public_key_make(const hx_params_t *params, const int8_t *secret, const uint8_t seed[32],
                               const int8_t *error, hx_tensor_t **out);

// Plaintexts on Q, ntt domain, standard, without batch (the public calls check it).
hx_status_t hx_encrypt_public_with(const hx_params_t *params, const hx_tensor_t *public_key,
                                   const hx_value_t *plaintext, const int8_t *v, const int8_t *e0, const int8_t *e1,
                                   hx_value_t **out);
hx_status_t hx_encrypt_secret_with(const hx_params_t *params, const int8_t *secret, const hx_value_t *plaintext,
                                   const uint8_t seed[32], uint32_t index, const int8_t *error, hx_value_t **out);
// Two or three components, on Q, standard, either domain; the plaintext is in ntt domain and secret.
hx_status_t hx_decrypt_with(const hx_params_t *params, const int8_t *secret, const hx_value_t *ciphertext,
                            hx_value_t **out);

#endif
