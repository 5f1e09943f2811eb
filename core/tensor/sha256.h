// SPDX-License-Identifier: Apache-2.0
// SHA-256 of long data. Key files are hundreds of megabytes, so the processor's own instructions are used where it has
// them (some ten times as fast); elsewhere libsodium's.
#ifndef HELIOX_CORE_TENSOR_SHA256_H
#define HELIOX_CORE_TENSOR_SHA256_H

#include <sodium.h>

#include "heliox/base.h"

#define HX_SHA256_BYTES 32

// In the caller's storage; one thread.
typedef struct hx_sha256 {
  bool hardware;
  crypto_hash_sha256_state portable;
  uint32_t state[8];
  uint64_t bytes;  // so far
  uint8_t block[64];
} hx_sha256_t;

void hx_sha256_init(hx_sha256_t *hash);
// The same without the processor's instructions: for tests.
void hx_sha256_init_portable(hx_sha256_t *hash);
void hx_sha256_update(hx_sha256_t *hash, const void *bytes, size_t size);
// Wipes the state: it may hold a piece of a secret.
void hx_sha256_final(hx_sha256_t *hash, uint8_t digest[HX_SHA256_BYTES]);

#endif
