// SPDX-License-Identifier: Apache-2.0
// ChaCha20 [RFC8439] and the rows that it expands to.
#include "kernels/expand/expand.h"

#define BLOCK_BYTES 64u

typedef struct stream {
  uint32_t state[16];
} stream_t;

static uint32_t load32(const uint8_t *p) {
  return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint32_t rotate(uint32_t x, uint32_t by) { return x << by | x >> (32 - by); }

static void quarter_round(uint32_t *w, int a, int b, int c, int d) {
  w[a] += w[b], w[d] = rotate(w[d] ^ w[a], 16);
  w[c] += w[d], w[b] = rotate(w[b] ^ w[c], 12);
  w[a] += w[b], w[d] = rotate(w[d] ^ w[a], 8);
  w[c] += w[d], w[b] = rotate(w[b] ^ w[c], 7);
}

static void stream_init(stream_t *s, const uint8_t seed[32], uint32_t index, uint32_t prime_id) {
  static const uint32_t constants[4] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
  for (int i = 0; i < 4; i++) {
    s->state[i] = constants[i];
  }
  for (int i = 0; i < 8; i++) {
    s->state[4 + i] = load32(seed + 4 * i);
  }
  s->state[12] = 0;
  s->state[13] = index;
  s->state[14] = prime_id;
  s->state[15] = 0;
}

// Keystream block `counter` as sixteen words.
static void stream_block(const stream_t *s, uint32_t counter, uint32_t out[16]) {
  uint32_t w[16];
  for (int i = 0; i < 16; i++) {
    w[i] = s->state[i];
  }
  w[12] = counter;
  for (int round = 0; round < 10; round++) {
    for (int i = 0; i < 4; i++) {
      quarter_round(w, i, 4 + i, 8 + i, 12 + i);
    }
    for (int i = 0; i < 4; i++) {
      quarter_round(w, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4);
    }
  }
  for (int i = 0; i < 16; i++) {
    out[i] = w[i] + (i == 12 ? counter : s->state[i]);
  }
}

// Residue word `at` of a block.
HXS_INLINE uint64_t block_word(const uint32_t *block, size_t at, uint32_t word) {
  return word == 64 ? block[2 * at] | (uint64_t)block[2 * at + 1] << 32 : block[at];
}

// An element that is still to be drawn holds a masked word of at least q (masked words are below 2^L <= 2^w, so every
// row can hold them). Attempt t draws from words t*n ..: the elements of one block are looked at together, and a block
// is only made where one of them is missing.
HXS_INLINE void expand_row(void *out, const uint8_t seed[32], uint32_t index, uint32_t prime_id, const hxs_modulus *m,
                           size_t n, uint32_t word) {
  const uint64_t q = m->q, mask = ((uint64_t)1 << m->bits) - 1;
  const size_t per = BLOCK_BYTES * 8 / word, group = n < per ? n : per;
  stream_t stream;
  uint32_t block[16];
  stream_init(&stream, seed, index, prime_id);
  for (size_t i = 0; i < n; i++) {
    hxs_row_store(out, i, mask, word);
  }
  size_t missing = n;
  for (uint64_t attempt = 0; missing > 0; attempt++) {
    missing = 0;
    for (size_t first = 0; first < n; first += group) {
      size_t wanted = 0;
      for (size_t i = first; i < first + group; i++) {
        wanted += hxs_row_load(out, i, word) >= q;
      }
      if (wanted == 0) {
        continue;
      }
      uint64_t at = attempt * n + first;
      stream_block(&stream, (uint32_t)(at / per), block);
      for (size_t i = 0; i < group; i++) {
        if (hxs_row_load(out, first + i, word) >= q) {
          uint64_t x = block_word(block, (size_t)(at % per) + i, word) & mask;
          hxs_row_store(out, first + i, x, word);
          missing += x >= q;
        }
      }
    }
  }
}

static void expand64(void *out, const uint8_t seed[32], uint32_t index, uint32_t prime_id, const hxs_modulus *m,
                     size_t n) {
  expand_row(out, seed, index, prime_id, m, n, 64);
}
static void expand32(void *out, const uint8_t seed[32], uint32_t index, uint32_t prime_id, const hxs_modulus *m,
                     size_t n) {
  expand_row(out, seed, index, prime_id, m, n, 32);
}

const hx_cpu_expand_t hx_cpu_expand_portable64 = {.row = expand64};
const hx_cpu_expand_t hx_cpu_expand_portable32 = {.row = expand32};
