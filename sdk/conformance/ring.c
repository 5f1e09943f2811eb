// SPDX-License-Identifier: Apache-2.0
// Rings at the edges of what a row declares.
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/ckks/primes.h"
#include "sdk/conformance/suite.h"

static bool is_taken(const ring_t *ring, uint32_t count, uint64_t q) {
  for (uint32_t i = 0; i < count; ++i) {
    if (ring->primes[i] == q) return true;
  }
  return false;
}

// A prime 1 mod 2N of exactly `bits` bits that is not taken: the smallest or the largest one. 0: there is none.
static uint64_t find_prime(const ring_t *ring, uint32_t count, uint32_t bits, bool smallest) {
  const uint64_t step = (uint64_t)2 << ring->ring.log_n, low = (uint64_t)1 << (bits - 1);
  if (!smallest) {
    uint64_t q = hx_prime_below(low * 2, ring->ring.log_n);
    while (q > low && is_taken(ring, count, q)) q = hx_prime_below(q, ring->ring.log_n);
    return q > low ? q : 0;
  }
  for (uint64_t q = low / step * step + 1; q < low * 2; q += step) {
    if (q > low && hx_prime_is(q) && !is_taken(ring, count, q)) return q;
  }
  return 0;
}

// Primes of the largest and of the smallest size in turn; where a size has no more of them, the next one inwards.
static bool fill_primes(ring_t *ring, uint32_t count) {
  for (uint32_t id = 0; id < count; ++id) {
    const bool smallest = id % 2 == 1;
    uint64_t q = 0;
    for (uint32_t bits = smallest ? ring->bits_min : ring->bits_max;
         q == 0 && bits >= ring->bits_min && bits <= ring->bits_max; bits += smallest ? 1u : UINT32_MAX) {
      q = find_prime(ring, id, bits, smallest);
    }
    if (q == 0) return false;
    ring->primes[id] = q;
    ring->psi[id] = hx_prime_psi(q, ring->ring.log_n);
  }
  return true;
}

static void describe(ring_t *ring, uint32_t log_n, uint32_t word) {
  const bool large = log_n > 12;
  ring->ring = (hx_ring){.struct_size = HX_END_OF(hx_ring, digest),
                         .log_n = log_n,
                         .word = word,
                         .q_count = large ? 2 : 4,
                         .p_count = large ? 1 : 2,
                         .digit_run = large ? 1 : 2,
                         .primes = ring->primes,
                         .psi = ring->psi,
                         .group_sizes = ring->groups};
  ring->ring.group_count = ring->ring.q_count;
  for (uint32_t i = 0; i < ring->ring.q_count; ++i) ring->groups[i] = 1;
}

static bool make_tables(suite_t *suite, ring_t *ring) {
  hx_error error = error_init();
  if (hx_ref_ring_create(&ring->ring, &ring->reference, &error) != HX_OK)
    return case_fail(suite, "the reference has no such ring: %s", error.message);
  if (suite->table->device->tables_create == NULL) return true;
  const int32_t code = suite->table->device->tables_create(suite->device, &ring->ring, &ring->tables, &error);
  if (code == HX_OK) return true;
  return case_fail(suite,
                   "tables_create of log_n %u, %u-bit words, primes of %u to %u bits, which are declared: %s: %s",
                   ring->ring.log_n, ring->ring.word, ring->bits_min, ring->bits_max, result_word(code), error.message);
}

static void destroy(suite_t *suite, ring_t *ring) {
  if (ring->tables != NULL && suite->table->device->tables_destroy != NULL)
    suite->table->device->tables_destroy(ring->tables);
  hx_ref_ring_destroy(ring->reference);
  free(ring);
}

ring_t *suite_ring(suite_t *suite, uint32_t log_n, uint32_t word, uint32_t bits_min, uint32_t bits_max) {
  const uint32_t most = word == 64 ? 61 : 31;
  bits_max = bits_max < most ? bits_max : most;
  bits_min = bits_min > log_n + 2 ? bits_min : log_n + 2;
  if (bits_min > bits_max) {
    case_skip(suite, "no prime of up to %u bits is 1 mod 2^%u", bits_max, log_n + 1);
    return NULL;
  }
  for (uint32_t i = 0; i < suite->ring_count; ++i) {
    ring_t *have = suite->rings[i];
    if (have->ring.log_n == log_n && have->ring.word == word && have->bits_min == bits_min &&
        have->bits_max == bits_max)
      return have;
  }
  if (suite->ring_count == RINGS_MAX) suite_drop_rings(suite);
  ring_t *ring = suite_alloc(sizeof *ring);
  memset(ring, 0, sizeof *ring);
  ring->bits_min = bits_min;
  ring->bits_max = bits_max;
  describe(ring, log_n, word);
  if (!fill_primes(ring, ring->ring.q_count + ring->ring.p_count)) {
    case_skip(suite, "there are not enough primes of %u to %u bits that are 1 mod 2^%u", bits_min, bits_max, log_n + 1);
    free(ring);
    return NULL;
  }
  crypto_hash_sha256(ring->ring.digest, (const unsigned char *)ring->primes, sizeof ring->primes);
  ring->ring.digest[0] = (uint8_t)log_n;
  ring->ring.digest[1] = (uint8_t)word;
  if (!make_tables(suite, ring)) {
    destroy(suite, ring);
    return NULL;
  }
  suite->rings[suite->ring_count++] = ring;
  return ring;
}

void suite_drop_rings(suite_t *suite) {
  while (suite->ring_count > 0) destroy(suite, suite->rings[--suite->ring_count]);
}
