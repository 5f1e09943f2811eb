// SPDX-License-Identifier: Apache-2.0
// ChaCha20, and uniform rows made of its keystream.
#include "reference/chacha.h"

#include "reference/modulus.h"

static uint32_t load_word(const uint8_t *bytes) {
  return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static void store_word(uint32_t word, uint8_t *bytes) {
  for (uint32_t i = 0; i < 4; ++i) bytes[i] = (uint8_t)(word >> (8 * i));
}

static uint32_t turn_left(uint32_t word, uint32_t by) { return word << by | word >> (32 - by); }

static void quarter_round(uint32_t *w, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  w[a] += w[b], w[d] = turn_left(w[d] ^ w[a], 16);
  w[c] += w[d], w[b] = turn_left(w[b] ^ w[c], 12);
  w[a] += w[b], w[d] = turn_left(w[d] ^ w[a], 8);
  w[c] += w[d], w[b] = turn_left(w[b] ^ w[c], 7);
}

void hx_ref_chacha20_block(const uint8_t key[32], uint32_t counter, const uint8_t nonce[12],
                           uint8_t out[HX_REF_CHACHA_BLOCK]) {
  uint32_t state[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};  // "expand 32-byte k"
  for (uint32_t i = 0; i < 8; ++i) state[4 + i] = load_word(key + (size_t)4 * i);
  state[12] = counter;
  for (uint32_t i = 0; i < 3; ++i) state[13 + i] = load_word(nonce + (size_t)4 * i);
  uint32_t w[16];
  for (uint32_t i = 0; i < 16; ++i) w[i] = state[i];
  for (uint32_t round = 0; round < 10; ++round) {
    for (uint32_t i = 0; i < 4; ++i) quarter_round(w, i, 4 + i, 8 + i, 12 + i);
    for (uint32_t i = 0; i < 4; ++i) quarter_round(w, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4);
  }
  for (uint32_t i = 0; i < 16; ++i) store_word(w[i] + state[i], out + (size_t)4 * i);
}

// Words of the keystream by place; keeps the block last used.
typedef struct {
  const uint8_t *seed;
  uint8_t nonce[12];
  uint32_t word_bytes;
  uint64_t block_index;
  uint8_t block[HX_REF_CHACHA_BLOCK];
} stream;

static uint64_t stream_word(stream *s, uint64_t place) {
  const uint64_t byte = place * s->word_bytes;
  if (byte / HX_REF_CHACHA_BLOCK != s->block_index) {
    s->block_index = byte / HX_REF_CHACHA_BLOCK;
    hx_ref_chacha20_block(s->seed, (uint32_t)s->block_index, s->nonce, s->block);
  }
  const uint8_t *bytes = s->block + byte % HX_REF_CHACHA_BLOCK;
  const uint64_t low = load_word(bytes);
  return s->word_bytes == 4 ? low : low | (uint64_t)load_word(bytes + 4) << 32;
}

// Element c takes the first of the words c, n + c, 2n + c, ... that is below q when masked. The seed is public, so the
// choice may show. A masked word is below 2q, hence fits the row until its turn comes again; each attempt leaves less
// than half, so the block counter of 32 bits never runs out: it lasts 2^18 attempts.
void hx_ref_row_expand_uniform(const hx_ref_ring *ring, uint32_t prime_id, const uint8_t seed[32], uint32_t index,
                               uint64_t *out) {
  const hx_ref_prime *p = prime_of(ring, prime_id);
  const uint64_t mask = ((uint64_t)1 << p->bits) - 1;
  stream s = {.seed = seed, .word_bytes = ring->word / 8, .block_index = UINT64_MAX};
  store_word(index, s.nonce);
  store_word(prime_id, s.nonce + 4);

  for (uint32_t c = 0; c < ring->n; ++c) out[c] = stream_word(&s, c) & mask;
  uint32_t open = ring->n;
  for (uint64_t attempt = 1; open != 0; ++attempt) {
    open = 0;
    for (uint32_t c = 0; c < ring->n; ++c) {
      if (out[c] < p->q) continue;
      out[c] = stream_word(&s, attempt * ring->n + c) & mask;
      open += out[c] >= p->q;
    }
  }
}
