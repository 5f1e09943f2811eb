// SPDX-License-Identifier: Apache-2.0
/// @file
/// Containers on disk (safetensors with metadata): parameters and named values. Keys: see keys.h.
#ifndef HELIOX_FILE_H
#define HELIOX_FILE_H

#include "heliox/keys.h"

#ifdef __cplusplus
extern "C" {
#endif

/// What a file holds, read from its header alone.
typedef enum hx_file_kind {
  HX_FILE_PARAMS,
  HX_FILE_SECRET,
  HX_FILE_PUBLIC,
  HX_FILE_RELIN,
  HX_FILE_GALOIS,
  HX_FILE_CONJ,
  HX_FILE_SWITCH,
  HX_FILE_CIPHERTEXT,
  HX_FILE_PLAINTEXT,
  HX_FILE_MESSAGE,
  HX_FILE_BUNDLE
} hx_file_kind_t;

/// A named value of a file.
typedef struct hx_named_value {
  const char *name;   ///< its name in the file or program
  hx_value_t *value;  ///< the value
} hx_named_value_t;

/// What a file of Heliox holds, from its head alone.
HX_API HX_MUST_USE hx_status_t hx_file_kind(const char *path, hx_file_kind_t *out, hx_report_t *report);

/// Writes parameters; appears whole or not at all.
HX_API HX_MUST_USE hx_status_t hx_params_save(const hx_params_t *params, const char *path, hx_report_t *report);
/// Reads parameters. `flags`: HX_PARAMS_INSECURE admits those below 128 bits.
HX_API HX_MUST_USE hx_status_t hx_params_load(const char *path, uint32_t flags, hx_params_t **out, hx_report_t *report);

/// Writes values of one kind (all ciphertexts or all plaintexts) of one parameter set. Secret values are refused
/// unless allow_secret (encode's and decrypt's own outputs).
HX_API HX_MUST_USE hx_status_t hx_values_save(const hx_named_value_t *values, size_t count, bool allow_secret,
                                              const char *path, hx_report_t *report);

/// Reads all values of a ciphertext or plaintext file. Everything is checked: structure, sizes before allocation,
/// integrity digest, parameter digest, residues below their primes.
/// @param params  the parameter set the file must belong to; borrowed
/// @param[out] out_values array and names owned by the caller, freed by hx_values_free
HX_API HX_MUST_USE hx_status_t hx_values_load(const char *path, const hx_params_t *params,
                                              hx_named_value_t **out_values, size_t *out_count, hx_report_t *report);
/// One value of a file: by name, or the only one where name is NULL. Freed by hx_value_release.
/// @retval HX_STATUS_INVALID (input) no value of that name, or several and no name; the text lists them
HX_API HX_MUST_USE hx_status_t hx_value_load(const char *path, const char *name, const hx_params_t *params,
                                             hx_value_t **out, hx_report_t *report);
/// Releases the values and frees the list; NULL is allowed.
HX_API void hx_values_free(hx_named_value_t *values, size_t count);

#ifdef __cplusplus
}
#endif
#endif
