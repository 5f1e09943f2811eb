// SPDX-License-Identifier: Apache-2.0
#include "core/ckks/expand.h"

#include <sodium.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the keystream is read as little-endian words in place");

#define BLOCK 64   // bytes of ChaCha20's counter
#define PIECE 512  // computed at a time where single words are wanted: as much as vector code does at once

// Words of the keystream by place; keeps the piece last used.
typedef struct hx_keystream {
  const uint8_t *seed;
  uint8_t nonce[12];
  uint32_t word_bytes;
  uint64_t piece_index;
  uint8_t piece[PIECE];
} hx_keystream_t;

// At most 2^18 attempts at N = 2^17 (each leaves less than half), so that the block counter stays below 2^32.
static uint64_t word_at(hx_keystream_t *stream, uint64_t place) {
  const uint64_t byte = place * stream->word_bytes;
  if (byte / PIECE != stream->piece_index) {
    static const uint8_t zeros[PIECE] = {0};
    stream->piece_index = byte / PIECE;
    crypto_stream_chacha20_ietf_xor_ic(stream->piece, zeros, PIECE, stream->nonce,
                                       (uint32_t)(stream->piece_index * (PIECE / BLOCK)), stream->seed);
  }
  uint64_t word = 0;
  memcpy(&word, stream->piece + byte % PIECE, stream->word_bytes);
  return word;
}

// Element c takes the first of the words c, N + c, 2N + c, ... that is below q when masked. A masked word is below 2q,
// so it waits in the row until its next turn; attempts are passed one by one, as neighbours share pieces of the
// keystream.
static void finish_u64(hx_keystream_t *stream, uint64_t n, uint64_t mask, uint64_t q, uint64_t *row) {
  uint64_t open = 0;
  for (uint64_t c = 0; c < n; ++c) {
    row[c] &= mask;
    open += (uint64_t)(row[c] >= q);
  }
  for (uint64_t first = n; open != 0; first += n) {
    for (uint64_t c = 0; c < n; ++c) {
      if (row[c] < q) continue;
      row[c] = word_at(stream, first + c) & mask;
      open -= (uint64_t)(row[c] < q);
    }
  }
}

static void finish_u32(hx_keystream_t *stream, uint64_t n, uint32_t mask, uint32_t q, uint32_t *row) {
  uint64_t open = 0;
  for (uint64_t c = 0; c < n; ++c) {
    row[c] &= mask;
    open += (uint64_t)(row[c] >= q);
  }
  for (uint64_t first = n; open != 0; first += n) {
    for (uint64_t c = 0; c < n; ++c) {
      if (row[c] < q) continue;
      row[c] = (uint32_t)word_at(stream, first + c) & mask;
      open -= (uint64_t)(row[c] < q);
    }
  }
}

void hx_expand_uniform_row(const hx_ring *ring, uint32_t prime_id, const uint8_t seed[32], uint32_t index, void *out) {
  const uint64_t n = (uint64_t)1 << ring->log_n, q = ring->primes[prime_id];
  const uint64_t mask = UINT64_MAX >> __builtin_clzll(q);
  hx_keystream_t stream = {.seed = seed, .word_bytes = ring->word / 8, .piece_index = UINT64_MAX};
  for (uint32_t i = 0; i < 4; ++i) {
    stream.nonce[i] = (uint8_t)(index >> (8 * i));
    stream.nonce[4 + i] = (uint8_t)(prime_id >> (8 * i));
  }
  crypto_stream_chacha20_ietf(out, n * stream.word_bytes, stream.nonce, seed);
  if (ring->word == 32) {
    finish_u32(&stream, n, (uint32_t)mask, (uint32_t)q, out);
  } else {
    finish_u64(&stream, n, mask, q, out);
  }
}
