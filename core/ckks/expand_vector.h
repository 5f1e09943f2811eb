// SPDX-License-Identifier: Apache-2.0
// The code behind core/ckks/expand_kernels.h; included once by each expand_kernels_<isa>.c. Sixteen blocks go through
// ChaCha20 [RFC8439] side by side, one in each lane.
#ifndef HELIOX_CORE_CKKS_EXPAND_VECTOR_H
#define HELIOX_CORE_CKKS_EXPAND_VECTOR_H

#include <string.h>

#include "core/ckks/expand_kernels.h"

typedef uint32_t u16_t __attribute__((vector_size(64), aligned(4)));

#define INLINE static inline __attribute__((always_inline))

INLINE u16_t rotate(u16_t x, int by) { return x << by | x >> (32 - by); }

INLINE void quarter_round(u16_t *a, u16_t *b, u16_t *c, u16_t *d) {
  *a += *b, *d = rotate(*d ^ *a, 16);
  *c += *d, *b = rotate(*b ^ *c, 12);
  *a += *b, *d = rotate(*d ^ *a, 8);
  *c += *d, *b = rotate(*b ^ *c, 7);
}

INLINE u16_t zip_low(u16_t a, u16_t b) {
  return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}
INLINE u16_t zip_high(u16_t a, u16_t b) {
  return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}

// Rows and columns change places: four perfect shuffles of the 256 words are a rotation of their places' eight bits by
// four.
INLINE void transpose(u16_t x[16]) {
  for (int round = 0; round < 4; ++round) {
    u16_t y[16];
    for (int i = 0; i < 8; ++i) {
      y[2 * i] = zip_low(x[i], x[i + 8]);
      y[2 * i + 1] = zip_high(x[i], x[i + 8]);
    }
    memcpy(x, y, sizeof y);
  }
}

static void chacha_blocks(const uint32_t state[HX_CHACHA_WORDS], const uint32_t counters[HX_CHACHA_LANES],
                          uint32_t out[HX_CHACHA_LANES][HX_CHACHA_WORDS]) {
  u16_t x[16], start[16];
  for (int i = 0; i < 16; ++i) start[i] = (u16_t){0} + state[i];
  memcpy(&start[12], counters, sizeof start[12]);
  memcpy(x, start, sizeof x);
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 4; ++i) quarter_round(&x[i], &x[4 + i], &x[8 + i], &x[12 + i]);
    for (int i = 0; i < 4; ++i) quarter_round(&x[i], &x[4 + (i + 1) % 4], &x[8 + (i + 2) % 4], &x[12 + (i + 3) % 4]);
  }
  for (int i = 0; i < 16; ++i) x[i] += start[i];
  transpose(x);
  memcpy(out, x, sizeof x);
}

static uint32_t draw64(uint64_t *row, const uint32_t *words, uint64_t mask, uint64_t q) {
  uint64_t drawn[8];
  memcpy(drawn, words, sizeof drawn);
  uint64_t open = 0;
  for (int i = 0; i < 8; ++i) {
    const uint64_t x = row[i] >= q ? drawn[i] & mask : row[i];
    row[i] = x;
    open += x >= q ? 1 : 0;
  }
  return (uint32_t)open;
}

static uint32_t draw32(uint32_t *row, const uint32_t *words, uint32_t mask, uint32_t q) {
  uint32_t open = 0;
  for (int i = 0; i < 16; ++i) {
    const uint32_t x = row[i] >= q ? words[i] & mask : row[i];
    row[i] = x;
    open += x >= q ? 1 : 0;
  }
  return open;
}

#define KERNELS(name_) \
  { .name = (name_), .blocks = chacha_blocks, .draw64 = draw64, .draw32 = draw32 }

#endif
