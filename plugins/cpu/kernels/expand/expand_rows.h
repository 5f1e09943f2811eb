// SPDX-License-Identifier: Apache-2.0
// Rows from ChaCha20 [RFC8439], EXPAND_BLOCKS blocks of the keystream at once: word i of all of them is one vector.
// Files expand_*.c define EXPAND_BLOCKS, a power of two of at most 16, as the vectors of their instruction set have
// words.
#ifndef HX_CPU_KERNELS_EXPAND_ROWS_H
#define HX_CPU_KERNELS_EXPAND_ROWS_H

#include "kernels/expand/expand.h"
#include "kernels/unroll.h"

#define BLOCK_BYTES 64u

typedef uint32_t blocks_t __attribute__((vector_size(4 * EXPAND_BLOCKS)));

static uint32_t load32(const uint8_t *p) {
  return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

HXS_INLINE blocks_t rotate(blocks_t x, uint32_t by) { return x << by | x >> (32 - by); }

HXS_INLINE void quarter_round(blocks_t *w, int a, int b, int c, int d) {
  w[a] += w[b], w[d] = rotate(w[d] ^ w[a], 16);
  w[c] += w[d], w[b] = rotate(w[b] ^ w[c], 12);
  w[a] += w[b], w[d] = rotate(w[d] ^ w[a], 8);
  w[c] += w[d], w[b] = rotate(w[b] ^ w[c], 7);
}

static void stream_init(uint32_t state[16], const uint8_t seed[32], uint32_t index, uint32_t prime_id) {
  static const uint32_t constants[4] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
  for (int i = 0; i < 4; i++) {
    state[i] = constants[i];
  }
  for (int i = 0; i < 8; i++) {
    state[4 + i] = load32(seed + 4 * i);
  }
  state[12] = 0;
  state[13] = index;
  state[14] = prime_id;
  state[15] = 0;
}

// Word i of keystream block counter + b at out[i][b].
static void stream_blocks(const uint32_t state[16], uint32_t counter, blocks_t out[16]) {
  blocks_t w[16], at = {0};
  for (uint32_t b = 0; b < EXPAND_BLOCKS; b++) {
    at[b] = counter + b;
  }
  UNROLL for (int i = 0; i < 16; i++) { w[i] = i == 12 ? at : (blocks_t){0} + state[i]; }
  for (int round = 0; round < 10; round++) {
    UNROLL for (int i = 0; i < 4; i++) { quarter_round(w, i, 4 + i, 8 + i, 12 + i); }
    UNROLL for (int i = 0; i < 4; i++) { quarter_round(w, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4); }
  }
  UNROLL for (int i = 0; i < 16; i++) { out[i] = w[i] + (i == 12 ? at : (blocks_t){0} + state[i]); }
}

// Residue word `at` of a batch.
HXS_INLINE uint64_t batch_word(const blocks_t batch[16], size_t at, uint32_t word) {
  if (word == 64) {
    const size_t block = at / 8, i = at % 8 * 2;
    return batch[i][block] | (uint64_t)batch[i + 1][block] << 32;
  }
  return batch[at % 16][at / 16];
}

// An element that is still to be drawn holds a masked word of at least q (masked words are below 2^L <= 2^w, so every
// row can hold them). Attempt t draws from words t*n ..: the elements of one batch are looked at together, and a batch
// is only made where one of them is missing.
HXS_INLINE void expand_row(void *out, const uint8_t seed[32], uint32_t index, uint32_t prime_id, const hxs_modulus *m,
                           size_t n, uint32_t word) {
  const uint64_t q = m->q, mask = ((uint64_t)1 << m->bits) - 1;
  const size_t per = BLOCK_BYTES * 8 / word, most = per * EXPAND_BLOCKS, group = n < most ? n : most;
  uint32_t state[16];
  blocks_t batch[16];
  stream_init(state, seed, index, prime_id);
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
      const uint64_t at = attempt * n + first;
      stream_blocks(state, (uint32_t)(at / per), batch);
      for (size_t i = 0; i < group; i++) {
        if (hxs_row_load(out, first + i, word) >= q) {
          const uint64_t x = batch_word(batch, (size_t)(at % per) + i, word) & mask;
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

#endif
