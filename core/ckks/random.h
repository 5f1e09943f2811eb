// SPDX-License-Identifier: Apache-2.0
// Randomness: ChaCha20 streams, each keyed by 32 fresh bytes of the system's generator. A stream serves one operation
// (one key generation, one encryption) and is wiped with it, so nothing is shared between threads and nothing
// survives a fork: two processes never draw from one stream.
#ifndef HELIOX_CORE_CKKS_RANDOM_H
#define HELIOX_CORE_CKKS_RANDOM_H

#include "heliox/base.h"

#define HX_RANDOM_BLOCK_BYTES 4096

// Bytes in the caller's storage; one thread at a time. Holds secrets: end it with hx_random_deinit.
typedef struct hx_random {
  uint8_t key[32];
  uint64_t counter;  // of 64-byte ChaCha20 blocks
  size_t used;       // bytes of block that were handed out
  uint8_t block[HX_RANDOM_BLOCK_BYTES];
} hx_random_t;

// A stream with a fresh key. Refused (internal) where the system has no generator.
hx_status_t hx_random_init(hx_random_t *random, hx_report_t *report);
// A stream that is the same for the same seed: tests only.
void hx_random_init_seeded(hx_random_t *random, const uint8_t seed[32]);
void hx_random_deinit(hx_random_t *random);

void hx_random_bytes(hx_random_t *random, void *out, size_t size);
uint64_t hx_random_word(hx_random_t *random);

#endif
