// SPDX-License-Identifier: Apache-2.0
/// @file
/// Key sets, encryption, decryption.
#ifndef HELIOX_KEYS_H
#define HELIOX_KEYS_H

#include "heliox/value.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Keys of one secret under one parameter set. Reference-counted; immutable once made, any thread may read.
typedef struct hx_keys hx_keys_t;

enum {
  HX_KEYS_SECRET = 1,
  HX_KEYS_PUBLIC = 2,
  HX_KEYS_RELIN = 4,
  HX_KEYS_GALOIS = 8,
  HX_KEYS_CONJ = 16,
  HX_KEYS_EVALUATION = HX_KEYS_RELIN | HX_KEYS_GALOIS | HX_KEYS_CONJ,
  HX_KEYS_ALL = 31
};

/// What to generate. Zero-initialise.
typedef struct hx_keygen_options {
  uint32_t parts;            ///< HX_KEYS_ bits; the secret is always made
  const int64_t *rotations;  ///< steps, any integers; equal ones modulo slots are made once
  size_t rotation_count;     ///< of rotations
  uint32_t slots;            ///< that the steps refer to; 0: N/2
} hx_keygen_options_t;

/// Draws a secret and makes the keys asked for. Randomness: the system's generator seeds ChaCha20.
HX_API HX_MUST_USE hx_status_t hx_keys_generate(const hx_params_t *params, const hx_keygen_options_t *options,
                                                hx_keys_t **out, hx_report_t *report);

/// Reads the parts asked for that the directory has (params.hx, secret.hx, public.hx, relin.hx, galois.hx, conj.hx).
/// @param parts HX_KEYS_ bits; a part that is absent is simply not in the set (see hx_keys_parts)
HX_API HX_MUST_USE hx_status_t hx_keys_load(const char *directory, uint32_t parts, hx_keys_t **out,
                                            hx_report_t *report);
/// How a load is watched. Zero-initialise.
typedef struct hx_load_options {
  bool (*cancelled)(void *argument);  ///< polled while bytes are read; true ends the load (cancelled)
  void (*progress)(void *argument, uint64_t done, uint64_t total);  ///< bytes of all files asked for; now and then
  void *argument;                                                   ///< passed to both
} hx_load_options_t;
/// hx_keys_load, watched. Files are read once, from end to end, each byte straight to its place in the set: a set takes
/// its own memory and a buffer of some hundred KiB, whatever its size.
HX_API HX_MUST_USE hx_status_t hx_keys_load_with(const char *directory, uint32_t parts,
                                                 const hx_load_options_t *options, hx_keys_t **out,
                                                 hx_report_t *report);
/// Writes params.hx and those of the parts asked for that the set has, into a directory that is made where it is
/// missing. Without overwrite no existing file is replaced (file-exists), save an equal params.hx. secret.hx is 0600
/// from birth. Files appear whole or not at all.
HX_API HX_MUST_USE hx_status_t hx_keys_save(const hx_keys_t *keys, const char *directory, uint32_t parts,
                                            bool overwrite, hx_report_t *report);

/// One more owner.
HX_API hx_keys_t *hx_keys_retain(const hx_keys_t *keys);
/// One owner less; the last one wipes the secret. NULL is allowed.
HX_API void hx_keys_release(hx_keys_t *keys);
/// Borrowed.
HX_API const hx_params_t *hx_keys_params(const hx_keys_t *keys);
HX_API const uint8_t *hx_keys_id(const hx_keys_t *keys);  ///< 16 bytes
HX_API uint32_t hx_keys_parts(const hx_keys_t *keys);     ///< HX_KEYS_ bits present
/// Galois elements present, ascending. Returns the count; writes at most room of them.
HX_API size_t hx_keys_galois_elements(const hx_keys_t *keys, uint64_t *out_elements, size_t room);

/// The fewest rotations of the set whose sum is a rotation by `step` of `slots` slots: 0 where it is the identity, 1
/// where the key is there. Nothing composes rotations by itself; see hx_engine_rotate_composed.
/// @param out_steps room for `room` steps, in the order in which they are applied; may be NULL
/// @param out_count how many there are
/// Refused: missing-key (no sum of them; the text lists what there is), slots.
HX_API HX_MUST_USE hx_status_t hx_keys_rotation_plan(const hx_keys_t *keys, uint32_t slots, int64_t step,
                                                     int64_t *out_steps, size_t room, size_t *out_count,
                                                     hx_report_t *report);

/// A switching key from one secret to another: what is encrypted under the first becomes readable under the second.
/// Whoever holds it can hand every ciphertext of the first over to the owner of the second. Reference-counted;
/// immutable, any thread may read.
typedef struct hx_switch hx_switch_t;
/// Makes one; both sets have their secrets and one parameter set. Refused: missing-key (a set without its secret),
/// params-digest, params (no special primes).
HX_API HX_MUST_USE hx_status_t hx_switch_generate(const hx_keys_t *from, const hx_keys_t *to, hx_switch_t **out,
                                                  hx_report_t *report);
/// One more owner.
HX_API hx_switch_t *hx_switch_retain(const hx_switch_t *key);
/// One owner less; NULL is allowed.
HX_API void hx_switch_release(hx_switch_t *key);
/// Borrowed.
HX_API const hx_params_t *hx_switch_params(const hx_switch_t *key);
HX_API const uint8_t *hx_switch_from_id(const hx_switch_t *key);  ///< 16 bytes
HX_API const uint8_t *hx_switch_to_id(const hx_switch_t *key);    ///< 16 bytes
/// Writes a file of kind "switch", seed-compressed; appears whole or not at all. Without overwrite no file is replaced
/// (file-exists).
HX_API HX_MUST_USE hx_status_t hx_switch_save(const hx_switch_t *key, const char *path, bool overwrite,
                                              hx_report_t *report);
/// Reads one. Everything is checked as in hx_keys_load.
/// @param params the set that it must belong to; borrowed
HX_API HX_MUST_USE hx_status_t hx_switch_load(const char *path, const hx_params_t *params, hx_switch_t **out,
                                              hx_report_t *report);

/// Encrypts a plaintext with the public key ("public" part) or, symmetric, with the secret.
HX_API HX_MUST_USE hx_status_t hx_encrypt(const hx_keys_t *keys, const hx_value_t *plaintext, bool symmetric,
                                          hx_value_t **out, hx_report_t *report);
/// Decrypts two or three components. Refused for a value of another key id or parameter set.
HX_API HX_MUST_USE hx_status_t hx_decrypt(const hx_keys_t *keys, const hx_value_t *ciphertext, hx_value_t **out,
                                          hx_report_t *report);

/// How a result is decrypted for others to see. Zero-initialise.
typedef struct hx_flood_options {
  double bits;       ///< statistical parameter, 1 to 128: the published results tell of the error less than 2^-bits
  uint64_t queries;  ///< results that will be published under this secret, 0: 1
  double error_rms;  ///< RMS of the error's coefficients in the packing; 0: as predicted (hx_value_noise)
} hx_flood_options_t;

/// Decrypts for publication: what CKKS results carry of the secret (IND-CPA-D [LM21]) is drowned in Gaussian noise of
/// sigma 8 sqrt(queries) 2^(bits/2) t per coefficient, t a bound on the error's length [LMSS22]; coefficients outside
/// the packing become 0. It costs about bits/2 + 4 + log2(2 sqrt(2 slots)) bits of precision: choose parameters for it.
/// Every publication draws anew and counts as a query. Whoever keeps the result to themselves needs hx_decrypt alone.
/// Refused beside what hx_decrypt refuses: bits out of range (invalid-argument), noise that is not predicted (input),
/// no room below Q_d (limit).
/// @param out_sigma  of the noise, in units of the residues; may be NULL
HX_API HX_MUST_USE hx_status_t hx_decrypt_flooded(const hx_keys_t *keys, const hx_value_t *ciphertext,
                                                  const hx_flood_options_t *options, hx_value_t **out,
                                                  double *out_sigma, hx_report_t *report);

#ifdef __cplusplus
}
#endif
#endif
