// SPDX-License-Identifier: Apache-2.0
// Inside of encryption: one item of a batch at a time, all randomness given. Constant time in secrets, randomness and
// messages.
#ifndef HELIOX_CORE_CKKS_ENCRYPT_H
#define HELIOX_CORE_CKKS_ENCRYPT_H

#include "core/ckks/keys.h"
#include "core/ckks/rows.h"

// Randomness of one public-key encryption, [n] each.
typedef struct hx_draws {
  const int8_t *v;     // uniform ternary
  const int8_t *e[2];  // errors
} hx_draws_t;

// A ciphertext of two components with the plaintext's state, not yet written; not secret.
hx_status_t hx_ciphertext_create(const hx_params_t *params, const hx_value_t *plaintext, hx_value_t **out);

// Fill batch item `item` of a ciphertext made for the plaintext. Fail for want of memory, or where a plugin fails.
hx_status_t hx_encrypt_public_item(const hx_rows_t *rows, const hx_tensor_t *public_key, const hx_value_t *plaintext,
                                   uint64_t item, const hx_draws_t *draws, hx_value_t *ciphertext);
hx_status_t hx_encrypt_secret_item(const hx_rows_t *rows, const int8_t *secret, const hx_value_t *plaintext,
                                   uint64_t item, const uint8_t seed[32], uint32_t index, const int8_t *error,
                                   hx_value_t *ciphertext);

// hx_encrypt, hx_decrypt with arithmetic where `rows` says; rows are for the keys' parameters.
hx_status_t hx_encrypt_on(const hx_rows_t *rows, const hx_keys_t *keys, const hx_value_t *plaintext, bool symmetric,
                          hx_value_t **out, hx_report_t *report);
hx_status_t hx_decrypt_on(const hx_rows_t *rows, const hx_keys_t *keys, const hx_value_t *ciphertext, hx_value_t **out,
                          hx_report_t *report);

// Checks that encryption and decryption share; `what` is "encrypt" or "decrypt".
// Same parameters (params-digest, naming both), standard residues on Q (domain, primes), memory of the host
// (device-mix).
hx_status_t hx_encrypt_check_operand(const hx_keys_t *keys, const hx_value_t *value, const char *what,
                                     hx_report_t *report);

#endif
