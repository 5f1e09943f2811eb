// SPDX-License-Identifier: Apache-2.0
// Rows from seeds. Element c takes the first of the words c, N + c, 2N + c, ... that is below q when masked. A masked
// word is below 2q, so it waits in the row until its next turn. The elements whose words share a block of the keystream
// are looked at together; blocks without an open element leave the list, and sixteen of those that are left are
// computed at a time, wherever they lie.
#include "core/ckks/expand.h"

#include <stdbool.h>
#include <string.h>

#include "core/ckks/expand_kernels.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the keystream is read as little-endian words in place");

enum { BLOCK_BYTES = 64, ROWS_MAX = 1 << 17 };

size_t hx_expand_kernels_list(const hx_expand_kernels_t *out[3]) {
  size_t count = 0;
  out[count++] = &hx_expand_kernels_portable;
#ifdef HELIOX_X86
  if (__builtin_cpu_supports("avx2")) out[count++] = &hx_expand_kernels_avx2;
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    out[count++] = &hx_expand_kernels_avx512;
#endif
  return count;
}

const hx_expand_kernels_t *hx_expand_kernels(void) {
  const hx_expand_kernels_t *all[3] = {NULL};
  return all[hx_expand_kernels_list(all) - 1];
}

// One row being drawn.
typedef struct drawing {
  const hx_expand_kernels_t *kernels;
  uint32_t state[HX_CHACHA_WORDS];
  void *row;
  uint64_t n, q, mask;
  uint32_t word;  // bits
  uint32_t per;   // elements of a block
} drawing_t;

// The block's elements take their turn; true if one of them stays open.
static bool draw(const drawing_t *d, uint32_t block, const uint32_t *words) {
  const uint64_t first = (uint64_t)block * d->per;
  if (d->word == 64) return d->kernels->draw64((uint64_t *)d->row + first, words, d->mask, d->q) != 0;
  return d->kernels->draw32((uint32_t *)d->row + first, words, (uint32_t)d->mask, (uint32_t)d->q) != 0;
}

// One attempt for the blocks of the list; returns how many stay in it. The counter stays below 2^32: at most 2^18
// attempts of 2^14 blocks, as each leaves less than half.
static uint32_t attempt(const drawing_t *d, uint32_t base, uint16_t *list, uint32_t count) {
  uint32_t kept = 0;
  for (uint32_t at = 0; at < count; at += HX_CHACHA_LANES) {
    const uint32_t size = count - at < HX_CHACHA_LANES ? count - at : HX_CHACHA_LANES;
    uint32_t counters[HX_CHACHA_LANES] = {0}, blocks[HX_CHACHA_LANES][HX_CHACHA_WORDS];
    for (uint32_t i = 0; i < size; ++i) counters[i] = base + list[at + i];
    d->kernels->blocks(d->state, counters, blocks);
    for (uint32_t i = 0; i < size; ++i) {
      const uint16_t block = list[at + i];  // kept is at most at + i: what is overwritten has been read
      if (draw(d, block, blocks[i])) list[kept++] = block;
    }
  }
  return kept;
}

// Rings of fewer elements than a block has: element by element.
static void expand_small(const drawing_t *d) {
  for (uint64_t c = 0; c < d->n; ++c) {
    uint64_t x = d->q;
    for (uint64_t place = c; x >= d->q; place += d->n) {
      const uint64_t byte = place * d->word / 8;
      uint32_t counters[HX_CHACHA_LANES] = {(uint32_t)(byte / BLOCK_BYTES)}, blocks[HX_CHACHA_LANES][HX_CHACHA_WORDS];
      d->kernels->blocks(d->state, counters, blocks);
      x = 0;
      memcpy(&x, (const char *)blocks[0] + byte % BLOCK_BYTES, d->word / 8);
      x &= d->mask;
    }
    memcpy((char *)d->row + c * d->word / 8, &x, d->word / 8);
  }
}

void hx_expand_uniform_row_with(const hx_expand_kernels_t *kernels, const hx_ring *ring, uint32_t prime_id,
                                const uint8_t seed[32], uint32_t index, void *out) {
  const uint64_t q = ring->primes[prime_id];
  drawing_t d = {.kernels = kernels,
                 .state = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574},
                 .row = out,
                 .n = (uint64_t)1 << ring->log_n,
                 .q = q,
                 .mask = UINT64_MAX >> __builtin_clzll(q),
                 .word = ring->word,
                 .per = BLOCK_BYTES * 8 / ring->word};
  memcpy(&d.state[4], seed, 32);
  d.state[13] = index;
  d.state[14] = prime_id;
  if (d.n < d.per) {
    expand_small(&d);
    return;
  }
  memset(out, 0xff, d.n * ring->word / 8);  // above every q: all are open
  uint16_t list[ROWS_MAX / 8];
  uint32_t count = (uint32_t)(d.n / d.per);
  const uint32_t stride = count;
  for (uint32_t i = 0; i < count; ++i) list[i] = (uint16_t)i;
  for (uint32_t base = 0; count > 0; base += stride) count = attempt(&d, base, list, count);
}

void hx_expand_uniform_row(const hx_ring *ring, uint32_t prime_id, const uint8_t seed[32], uint32_t index, void *out) {
  hx_expand_uniform_row_with(hx_expand_kernels(), ring, prime_id, seed, index, out);
}
