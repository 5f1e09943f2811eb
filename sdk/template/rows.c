/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic on rows: n residues of one prime as 64-bit words. Written to be read; these are the loops that a vendor
 * replaces by kernels of the device. */
#include <string.h>

#include "plugin.h"

/* ------------------------------------------------------------------ transforms */

/* A[i] = a(psi^(2*brv(i)+1)), in place. Each stage splits a mod (X^(2h) - r^2) into a mod (X^h - r) and a mod
 * (X^h + r); with the roots in bit-reversed order, block b of a stage of `blocks` takes roots[blocks + b]. */
void ntt_forward(const hx_tables *tables, const prime *p, uint64_t *row) {
  const uint64_t q = p->m.q;
  uint32_t blocks, half, b, k;
  for (blocks = 1, half = tables->n / 2; half != 0; blocks *= 2, half /= 2) {
    for (b = 0; b < blocks; ++b) {
      const hxs_factor root = p->roots[blocks + b];
      uint64_t *low = row + (size_t)2 * b * half, *high = low + half;
      for (k = 0; k < half; ++k) {
        const uint64_t u = low[k], v = mod_mul_factor(high[k], root, q);
        low[k] = mod_add(u, v, q);
        high[k] = mod_sub(u, v, q);
      }
    }
  }
}

/* The stages backwards, each but for a factor 2; 1/n at the end takes all of them out. The inverse of roots[blocks + b]
 * is -roots[2 * blocks - 1 - b], because their exponents add up to n and psi^n = -1. */
void ntt_inverse(const hx_tables *tables, const prime *p, uint64_t *row) {
  const uint64_t q = p->m.q;
  uint32_t blocks, half, b, k;
  for (blocks = tables->n / 2, half = 1; blocks != 0; blocks /= 2, half *= 2) {
    for (b = 0; b < blocks; ++b) {
      const hxs_factor root = p->roots[2 * blocks - 1 - b];
      uint64_t *low = row + (size_t)2 * b * half, *high = low + half;
      for (k = 0; k < half; ++k) {
        const uint64_t u = low[k], v = high[k];
        low[k] = mod_add(u, v, q);
        high[k] = mod_mul_factor(mod_sub(v, u, q), root, q);
      }
    }
  }
  for (k = 0; k < tables->n; ++k) row[k] = mod_mul_factor(row[k], p->n_inverse, q);
}

/* ------------------------------------------------------------------ automorphism X -> X^g */

/* The coefficient of X^i goes to X^(i*g mod 2n), and X^n = -1. */
void substitute(const hx_tables *tables, const prime *p, uint64_t element, const uint64_t *in, uint64_t *out) {
  const uint64_t n = tables->n;
  uint64_t i;
  for (i = 0; i < n; ++i) {
    const uint64_t e = i * element & (2 * n - 1);
    out[e & (n - 1)] = e < n ? in[i] : mod_neg(in[i], p->m.q);
  }
}

/* ------------------------------------------------------------------ conversion between bases */

void affine(const hx_tables *tables, const prime *p, const hxs_affine *map, uint64_t *const *rows, uint64_t *out) {
  uint32_t s, k;
  for (k = 0; k < tables->n; ++k) {
    uint64_t sum = map->start;
    for (s = 0; s < map->count; ++s) sum = mod_mul_add(rows[s][k] % p->m.q, map->weights[s], sum, &p->m);
    out[k] = sum;
  }
}

/* ------------------------------------------------------------------ ChaCha20 (RFC 8439) */

static uint32_t load32(const unsigned char *bytes) {
  return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static uint32_t turn_left(uint32_t word, uint32_t by) { return word << by | word >> (32 - by); }

static void quarter_round(uint32_t *a, uint32_t *b, uint32_t *c, uint32_t *d) {
  *a += *b, *d = turn_left(*d ^ *a, 16);
  *c += *d, *b = turn_left(*b ^ *c, 12);
  *a += *b, *d = turn_left(*d ^ *a, 8);
  *c += *d, *b = turn_left(*b ^ *c, 7);
}

/* One block of keystream, as sixteen words of 32 bits. */
static void chacha_block(const uint32_t key[8], uint32_t counter, const uint32_t nonce[3], uint32_t out[16]) {
  uint32_t state[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
  uint32_t i;
  memcpy(state + 4, key, 8 * sizeof *key);
  state[12] = counter;
  memcpy(state + 13, nonce, 3 * sizeof *nonce);
  memcpy(out, state, sizeof state);
  for (i = 0; i < 10; ++i) {
    uint32_t k;
    for (k = 0; k < 4; ++k) quarter_round(out + k, out + 4 + k, out + 8 + k, out + 12 + k);
    for (k = 0; k < 4; ++k)
      quarter_round(out + k, out + 4 + (k + 1) % 4, out + 8 + (k + 2) % 4, out + 12 + (k + 3) % 4);
  }
  for (i = 0; i < 16; ++i) out[i] += state[i];
}

/* The keystream as residue words of the ring; keeps the block used last. */
typedef struct {
  uint32_t key[8], nonce[3], block[16];
  uint64_t counter;
  uint32_t words; /* 32-bit words in one residue word: 1 or 2 */
} stream;

static uint64_t stream_word(stream *s, uint64_t place) {
  const uint64_t first = place * s->words;
  if (first / 16 != s->counter) {
    s->counter = first / 16;
    chacha_block(s->key, (uint32_t)s->counter, s->nonce, s->block);
  }
  return s->words == 1 ? s->block[first % 16] : s->block[first % 16] | (uint64_t)s->block[first % 16 + 1] << 32;
}

/* Element c is the first of the words c, n + c, 2n + c, ... that is below q when cut to q's bits. Each round leaves
 * less than half of the elements open, so the counter of 32 bits does not run out. */
void expand_uniform(const hx_tables *tables, uint32_t id, const unsigned char *seed, uint32_t index, uint64_t *out) {
  const prime *p = &tables->primes[id];
  const uint64_t mask = ((uint64_t)1 << p->m.bits) - 1;
  uint64_t round;
  uint32_t open = tables->n, i;
  stream s;
  for (i = 0; i < 8; ++i) s.key[i] = load32(seed + 4 * i);
  s.nonce[0] = index;
  s.nonce[1] = id;
  s.nonce[2] = 0;
  s.counter = UINT64_MAX;
  s.words = tables->ring.word / 32;
  for (round = 0; open != 0; ++round) {
    open = 0;
    for (i = 0; i < tables->n; ++i) {
      if (round != 0 && out[i] < p->m.q) continue;
      out[i] = stream_word(&s, round * tables->n + i) & mask;
      open += out[i] >= p->m.q;
    }
  }
}
