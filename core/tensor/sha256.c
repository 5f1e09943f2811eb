// SPDX-License-Identifier: Apache-2.0
#include "core/tensor/sha256.h"

#include <string.h>

#include "core/base/memory.h"

#define BLOCK 64

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

// The SHA extension, with the byte shuffles and blends (SSSE3, SSE4.1) that its users need.
static bool has_instructions(void) {
  unsigned a, b, c, d;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_SSSE3) == 0 || (c & bit_SSE4_1) == 0) return false;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & (1u << 29)) != 0;
}

// FIPS 180-4, section 4.2.2.
static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

// The instructions want the state as (a, b, e, f) and (c, d, g, h), highest word first.
__attribute__((target("sha,sse4.1"))) static void compress(uint32_t state[8], const uint8_t *bytes, size_t blocks) {
  const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);  // words are big-endian
  __m128i abef = _mm_set_epi32((int)state[0], (int)state[1], (int)state[4], (int)state[5]);
  __m128i cdgh = _mm_set_epi32((int)state[2], (int)state[3], (int)state[6], (int)state[7]);
  for (; blocks > 0; --blocks, bytes += BLOCK) {
    const __m128i abef_before = abef, cdgh_before = cdgh;
    __m128i w[4];  // the last sixteen words of the schedule, four each
    for (int i = 0; i < 16; ++i) {
      __m128i *const now = &w[i % 4];
      if (i < 4) {
        *now = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)(bytes + 16 * i)), swap);
      } else {
        const __m128i back1 = w[(i + 3) % 4], back2 = w[(i + 2) % 4], back3 = w[(i + 1) % 4];
        // w[t-16] + s0(w[t-15]) + w[t-7], then + s1(w[t-2])
        const __m128i partial = _mm_add_epi32(_mm_sha256msg1_epu32(*now, back3), _mm_alignr_epi8(back1, back2, 4));
        *now = _mm_sha256msg2_epu32(partial, back1);
      }
      const __m128i sum =
          _mm_add_epi32(*now, _mm_loadu_si128((const __m128i *)(const void *)(round_constants + 4 * i)));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  state[0] = (uint32_t)_mm_extract_epi32(abef, 3);
  state[1] = (uint32_t)_mm_extract_epi32(abef, 2);
  state[2] = (uint32_t)_mm_extract_epi32(cdgh, 3);
  state[3] = (uint32_t)_mm_extract_epi32(cdgh, 2);
  state[4] = (uint32_t)_mm_extract_epi32(abef, 1);
  state[5] = (uint32_t)_mm_extract_epi32(abef, 0);
  state[6] = (uint32_t)_mm_extract_epi32(cdgh, 1);
  state[7] = (uint32_t)_mm_extract_epi32(cdgh, 0);
}
#else
static bool has_instructions(void) { return false; }
static void compress(uint32_t state[8], const uint8_t *bytes, size_t blocks) {
  (void)state;
  (void)bytes;
  (void)blocks;
}
#endif

void hx_sha256_init_portable(hx_sha256_t *hash) {
  *hash = (hx_sha256_t){.hardware = false};
  crypto_hash_sha256_init(&hash->portable);
}

void hx_sha256_init(hx_sha256_t *hash) {
  if (!has_instructions()) {
    hx_sha256_init_portable(hash);
    return;
  }
  *hash = (hx_sha256_t){
      .hardware = true,
      .state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void hx_sha256_update(hx_sha256_t *hash, const void *bytes, size_t size) {
  if (!hash->hardware) {
    crypto_hash_sha256_update(&hash->portable, bytes, size);
    return;
  }
  const uint8_t *at = bytes;
  size_t used = (size_t)(hash->bytes % BLOCK);
  hash->bytes += size;
  if (used > 0) {
    const size_t part = size < BLOCK - used ? size : BLOCK - used;
    memcpy(hash->block + used, at, part);
    at += part;
    size -= part;
    used += part;
    if (used < BLOCK) return;
    compress(hash->state, hash->block, 1);
  }
  compress(hash->state, at, size / BLOCK);
  if (size % BLOCK > 0) memcpy(hash->block, at + size / BLOCK * BLOCK, size % BLOCK);
}

void hx_sha256_final(hx_sha256_t *hash, uint8_t digest[HX_SHA256_BYTES]) {
  if (!hash->hardware) {
    crypto_hash_sha256_final(&hash->portable, digest);
    hx_wipe(hash, sizeof *hash);
    return;
  }
  // One bit, zeros, and the length in bits as the last eight bytes of a block.
  static const uint8_t padding[BLOCK] = {0x80};
  const uint64_t bits = hash->bytes * 8;
  const size_t used = (size_t)(hash->bytes % BLOCK);
  uint8_t length[8];
  for (uint32_t i = 0; i < 8; ++i) length[i] = (uint8_t)(bits >> (56 - 8 * i));
  hx_sha256_update(hash, padding, used < 56 ? 56 - used : BLOCK + 56 - used);
  hx_sha256_update(hash, length, sizeof length);
  for (uint32_t i = 0; i < HX_SHA256_BYTES; ++i) digest[i] = (uint8_t)(hash->state[i / 4] >> (24 - 8 * (i % 4)));
  hx_wipe(hash, sizeof *hash);
}
