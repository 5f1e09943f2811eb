// SPDX-License-Identifier: Apache-2.0
// A directory of keys: params.hx and one file a part. Private to keyfile_*.c.
#ifndef HELIOX_CORE_CKKS_KEYFILE_H
#define HELIOX_CORE_CKKS_KEYFILE_H

#include "core/ckks/file.h"
#include "core/ckks/keys.h"

#define HX_KEYFILE_PARAMS "params.hx"

typedef struct hx_keyfile_part {
  uint32_t part;  // HX_KEYS_ bit
  hx_file_kind_t kind;
  const char *file;  // "relin.hx"
} hx_keyfile_part_t;

// All parts, in the order in which they are written.
#define HX_KEYFILE_PARTS 5
extern const hx_keyfile_part_t hx_keyfile_parts[HX_KEYFILE_PARTS];

// "DIRECTORY/FILE", freed by hx_free; NULL: out of memory.
char *hx_keyfile_path(const char *directory, const char *file);

// Between a secret's coefficients, -1, 0, 1, and the bytes of a file, 2, 0, 1. No branch, no address depends on them.
void hx_keyfile_pack_secret(const int8_t *secret, size_t n, uint8_t *out);
// False if a byte is none of 0, 1, 2 or the number of nonzero ones is not `weight` (0: any).
bool hx_keyfile_unpack_secret(const uint8_t *bytes, size_t n, uint32_t weight, int8_t *out);

// One key of a file: PREFIXb and PREFIXseed (or PREFIXa where the seed is zero).
void hx_keyfile_add_half(hx_artifact_writer_t *artifact, const char *prefix, hx_tensor_t *tensor,
                         const uint8_t seed[32]);
// Reads a file that holds one switching key; structure, shapes and residues are checked. *out_tensor is the caller's.
hx_status_t hx_keyfile_read_half(const hx_params_t *params, hx_artifact_t *artifact, const char *prefix,
                                 hx_tensor_t **out_tensor, uint8_t out_seed[32], hx_report_t *report);

// Refused (seed-reuse): two keys of the set, the public one included, have one seed.
hx_status_t hx_keyfile_check_seeds(const hx_keys_t *keys, const char *directory, hx_report_t *report);

#endif
