// SPDX-License-Identifier: Apache-2.0
#include "core/ckks/random.h"

#include <sodium.h>
#include <string.h>

#include "core/base/memory.h"

hx_status_t hx_random_init(hx_random_t *random, hx_report_t *report) {
  if (sodium_init() < 0)
    return hx_report_fail(report, HX_CODE_INTERNAL, "the system's random generator is not available (libsodium)");
  uint8_t key[32];
  randombytes_buf(key, sizeof key);
  hx_random_init_seeded(random, key);
  hx_wipe(key, sizeof key);
  return HX_STATUS_OK;
}

void hx_random_init_seeded(hx_random_t *random, const uint8_t seed[32]) {
  memcpy(random->key, seed, sizeof random->key);
  random->counter = 0;
  random->used = sizeof random->block;
}

void hx_random_deinit(hx_random_t *random) { hx_wipe(random, sizeof *random); }

// The next bytes of the keystream [BER08]: 64-bit block counter, nonce 0, as a key is used for one stream only.
static void refill(hx_random_t *random) {
  static const uint8_t nonce[crypto_stream_chacha20_NONCEBYTES];
  memset(random->block, 0, sizeof random->block);
  (void)crypto_stream_chacha20_xor_ic(random->block, random->block, sizeof random->block, nonce, random->counter,
                                      random->key);
  random->counter += sizeof random->block / 64;
  random->used = 0;
}

void hx_random_bytes(hx_random_t *random, void *out, size_t size) {
  uint8_t *to = out;
  while (size > 0) {
    if (random->used == sizeof random->block) refill(random);
    const size_t left = sizeof random->block - random->used;
    const size_t piece = size < left ? size : left;
    memcpy(to, random->block + random->used, piece);
    random->used += piece;
    to += piece;
    size -= piece;
  }
}

uint64_t hx_random_word(hx_random_t *random) {
  uint8_t bytes[8];
  hx_random_bytes(random, bytes, sizeof bytes);
  uint64_t word = 0;
  for (uint32_t i = 8; i-- > 0;) word = word << 8 | bytes[i];
  return word;
}
