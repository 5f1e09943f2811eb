// SPDX-License-Identifier: Apache-2.0
#include "tables.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "device.h"
#include "error.h"
#include "kernels/features.h"
#include "kernels/ntt/ntt_ifma.h"

static int32_t check_prime(const hx_ring *ring, uint32_t id, hx_error *error) {
  const uint64_t q = ring->primes[id], order = (uint64_t)2 << ring->log_n;
  const uint32_t limit = ring->word == 64 ? 61 : 31;
  const unsigned long long shown = q;
  if (q >> limit != 0) {
    return hx_cpu_fail(error, HX_INVALID, "prime %u is %llu; it must be below 2^%u in %u-bit words", id, shown, limit,
                       ring->word);
  }
  if (q % order != 1 || !hx_cpu_is_prime(q)) {
    return hx_cpu_fail(error, HX_INVALID, "prime %u is %llu, which is not a prime that is 1 mod %llu", id, shown,
                       (unsigned long long)order);
  }
  for (uint32_t other = 0; other < id; other++) {
    if (ring->primes[other] == q) {
      return hx_cpu_fail(error, HX_INVALID, "primes %u and %u are both %llu", other, id, shown);
    }
  }
  hx_cpu_modulus_t m;
  hx_cpu_modulus_init(&m, q, ring->word);
  if (ring->psi[id] >= q || hx_cpu_pow_mod(&m, ring->psi[id], order / 2) != q - 1) {
    return hx_cpu_fail(error, HX_INVALID, "psi of prime %u is %llu, which is no primitive root of unity of order %llu",
                       id, (unsigned long long)ring->psi[id], (unsigned long long)order);
  }
  return HX_OK;
}

static int32_t check_ring(const hx_ring *ring, hx_error *error) {
  if (ring == NULL || ring->struct_size < HX_END_OF(hx_ring, digest)) {
    return hx_cpu_fail(error, HX_ARGS_SIZE, "hx_ring has %u bytes, at least %u are needed",
                       ring == NULL ? 0 : ring->struct_size, HX_END_OF(hx_ring, digest));
  }
  if (ring->log_n < HX_CPU_LOG_N_MIN || ring->log_n > HX_CPU_LOG_N_MAX) {
    return hx_cpu_fail(error, HX_UNSUPPORTED, "log_n is %u; cpu has %u to %u", ring->log_n, HX_CPU_LOG_N_MIN,
                       HX_CPU_LOG_N_MAX);
  }
  if (ring->word != 64 && ring->word != 32) {
    return hx_cpu_fail(error, HX_UNSUPPORTED, "the residue word has %u bits; cpu has 64 and 32", ring->word);
  }
  if (ring->q_count == 0 || ring->q_count > HX_CPU_PRIMES_MAX || ring->p_count > HX_CPU_PRIMES_MAX - ring->q_count) {
    return hx_cpu_fail(error, HX_UNSUPPORTED,
                       "the ring has %u primes in Q and %u in P; cpu takes 1 to %u in all, one in Q", ring->q_count,
                       ring->p_count, HX_CPU_PRIMES_MAX);
  }
  if (ring->digit_run == 0 || ring->primes == NULL || ring->psi == NULL ||
      (ring->group_count > 0 && ring->group_sizes == NULL)) {
    return hx_cpu_fail(error, HX_INVALID, "digit_run is 0, or primes, psi or group_sizes are missing");
  }
  uint64_t grouped = 0;
  for (uint32_t i = 0; i < ring->group_count; i++) {
    grouped += ring->group_sizes[i];
  }
  if (grouped != ring->q_count) {
    return hx_cpu_fail(error, HX_INVALID, "the groups hold %llu primes, Q has %u", (unsigned long long)grouped,
                       ring->q_count);
  }
  for (uint32_t id = 0; id < ring->q_count + ring->p_count; id++) {
    HX_CPU_TRY(check_prime(ring, id, error));
  }
  return HX_OK;
}

static uint32_t reverse(uint32_t i, uint32_t bits) {
  uint32_t result = 0;
  for (uint32_t k = 0; k < bits; k++, i >>= 1) {
    result = result << 1 | (i & 1);
  }
  return result;
}

// floor(c * 2^w / q) for c < q without a division: c * 2^w = (c * floor(2^w/q)) * q + c * (2^w mod q), and what the
// second term adds is (c * rest - (c * rest mod q)) / q, where the division is exact: times q^-1 mod 2^w.
static uint64_t quotient_of(const hx_cpu_modulus_t *m, uint64_t c) {
  uint64_t part = c * m->radix - hx_cpu_mul_mod(m, c, m->radix);
  uint64_t ratio = m->word == 64 ? m->ratio : m->ratio >> 32;
  uint64_t quotient = c * ratio + part * m->inverse;
  return m->word == 64 ? quotient : (uint32_t)quotient;
}

// values[i] = root^brv(i), with quotients.
static void fill_powers(const hx_cpu_modulus_t *m, uint64_t root, uint32_t log_n, void *values, void *quotients) {
  uint64_t power = 1;
  for (uint32_t i = 0; i < (uint32_t)1 << log_n; i++) {
    uint32_t at = reverse(i, log_n);
    row_store(values, at, power, m->word);
    row_store(quotients, at, quotient_of(m, power), m->word);
    power = hx_cpu_mul_mod(m, power, root);
  }
}

// Whether the prime's roots are also arranged for 52-bit products.
static bool has_52(const hx_cpu_modulus_t *m, uint32_t log_n) {
  return hx_cpu_has_avx512ifma() && hx_cpu_ifma_fits(m, log_n);
}

// Bytes of one prime's twiddles.
static size_t prime_bytes(const hx_cpu_modulus_t *m, uint32_t log_n) {
  size_t bytes = ((size_t)4 << log_n) * (m->word / 8);
  if (has_52(m, log_n)) {
    bytes += 2 * hx_cpu_ifma_words(log_n) * sizeof(uint64_t);
  }
  return (bytes + HX_CPU_ALIGNMENT - 1) / HX_CPU_ALIGNMENT * HX_CPU_ALIGNMENT;
}

static void fill_prime(hx_cpu_prime_t *prime, uint64_t psi, uint32_t log_n, char *words) {
  const hx_cpu_modulus_t *m = &prime->m;
  const size_t row = ((size_t)1 << log_n) * (m->word / 8);
  uint64_t back = hx_cpu_inverse_mod(m, psi);
  fill_powers(m, psi, log_n, words, words + row);
  fill_powers(m, back, log_n, words + 2 * row, words + 3 * row);
  uint64_t degree = hx_cpu_inverse_mod(m, (uint64_t)1 << log_n);
  uint64_t first = row_load(words + 2 * row, 1, m->word);
  prime->twiddles =
      (hx_cpu_twiddles_t){.forward = words,
                          .forward_quotient = words + row,
                          .inverse = words + 2 * row,
                          .inverse_quotient = words + 3 * row,
                          .last = {hx_cpu_factor_of(m, degree), hx_cpu_factor_of(m, hx_cpu_mul_mod(m, degree, first))}};
  if (has_52(m, log_n)) {
    const void *rows[4] = {words, words + row, words + 2 * row, words + 3 * row};
    uint64_t *arranged = (void *)(words + 4 * row);
    hx_cpu_ifma_arrange(rows[0], rows[1], log_n, arranged);
    hx_cpu_ifma_arrange(rows[2], rows[3], log_n, arranged + hx_cpu_ifma_words(log_n));
    prime->twiddles.forward52 = arranged;
    prime->twiddles.inverse52 = arranged + hx_cpu_ifma_words(log_n);
  }
}

// Memory for all twiddles: in large pages where there is so much of it, since a transform reads all of one prime's.
static void *alloc_words(size_t bytes) {
  const size_t large = (size_t)2 << 20;
  void *words = NULL;
  if (posix_memalign(&words, bytes < large ? HX_CPU_ALIGNMENT : large, bytes) != 0) {
    return NULL;
  }
  if (bytes >= large) {
    (void)madvise(words, bytes, MADV_HUGEPAGE);  // advice: without it the pages are small
  }
  return words;
}

int32_t hx_cpu_tables_create(hx_device *device, const hx_ring *ring, hx_tables **out, hx_error *error) {
  if (device == NULL || out == NULL) {
    return hx_cpu_fail(error, HX_INVALID, "tables_create: device or result is missing");
  }
  HX_CPU_TRY(check_ring(ring, error));
  const uint32_t count = ring->q_count + ring->p_count;
  hx_tables *tables = calloc(1, sizeof *tables);
  hx_cpu_prime_t *primes = calloc(count, sizeof *primes);
  size_t bytes = 0;
  for (uint32_t id = 0; primes != NULL && id < count; id++) {
    hx_cpu_modulus_init(&primes[id].m, ring->primes[id], ring->word);
    bytes += prime_bytes(&primes[id].m, ring->log_n);
  }
  char *words = tables != NULL && primes != NULL ? alloc_words(bytes) : NULL;
  if (words == NULL) {
    free(tables);
    free(primes);
    return hx_cpu_fail(error, HX_OUT_OF_MEMORY, "no memory for %zu bytes of twiddles", bytes);
  }
  *tables = (hx_tables){.device = device,
                        .log_n = ring->log_n,
                        .word = ring->word,
                        .q_count = ring->q_count,
                        .p_count = ring->p_count,
                        .digit_run = ring->digit_run,
                        .primes = primes,
                        .words = words};
  memcpy(tables->digest, ring->digest, sizeof tables->digest);
  for (uint32_t id = 0; id < count; id++) {
    fill_prime(&primes[id], ring->psi[id], ring->log_n, words);
    words += prime_bytes(&primes[id].m, ring->log_n);
    tables->bits = primes[id].m.bits > tables->bits ? primes[id].m.bits : tables->bits;
  }
  *out = tables;
  return HX_OK;
}

void hx_cpu_tables_destroy(hx_tables *tables) {
  if (tables != NULL) {
    free(tables->words);
    free(tables->primes);
  }
  free(tables);
}

bool hx_cpu_tables_fit(const hx_tables *tables, const hx_ring *ring) {
  if (ring->log_n != tables->log_n || ring->word != tables->word || ring->q_count != tables->q_count ||
      ring->p_count != tables->p_count || ring->digit_run != tables->digit_run || ring->primes == NULL) {
    return false;
  }
  for (uint32_t id = 0; id < tables->q_count + tables->p_count; id++) {
    if (ring->primes[id] != tables->primes[id].m.q) {
      return false;
    }
  }
  return memcmp(ring->digest, tables->digest, sizeof tables->digest) == 0;
}
