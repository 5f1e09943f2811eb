// SPDX-License-Identifier: Apache-2.0
#include "tables.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "device.h"
#include "heliox/support/error.h"
#include "kernels/features.h"
#include "kernels/ntt/ntt_ifma.h"

// Powers of a root with their quotients, in rows of the residue word.
typedef struct powers {
  const hxs_modulus *m;
  void *values, *quotients;
} powers_t;

static void put_power(void *self, uint32_t i, uint64_t power) {
  const powers_t *to = self;
  hxs_row_store(to->values, i, power, to->m->word);
  hxs_row_store(to->quotients, i, hxs_factor_of(to->m, power).quotient, to->m->word);
}

static void fill_powers(const hxs_modulus *m, uint64_t root, uint32_t log_n, void *values, void *quotients) {
  powers_t to = {m, values, quotients};
  hxs_powers(m, root, log_n, put_power, &to);
}

// Whether the prime's roots are also arranged for 52-bit products.
static bool has_52(const hxs_modulus *m, uint32_t log_n) {
  return hx_cpu_has_avx512ifma() && hx_cpu_ifma_fits(m, log_n);
}

// Whether the roots of the last stages are, though the prime is too large for that.
static bool has_tail(const hxs_modulus *m, uint32_t log_n) {
  return hx_cpu_has_avx512ifma() && hx_cpu_ifma_fits_large(m, log_n);
}

// Bytes of one prime's twiddles.
static size_t prime_bytes(const hxs_modulus *m, uint32_t log_n) {
  size_t bytes = ((size_t)4 << log_n) * (m->word / 8);
  if (has_52(m, log_n)) {
    bytes +=
        (HX_CPU_IFMA_CONSTANTS * 8 + hx_cpu_ifma_words(log_n) + hx_cpu_ifma_inverse_words(log_n)) * sizeof(uint64_t);
  }
  if (has_tail(m, log_n)) {
    bytes += 2 * hx_cpu_ifma_tail_words(log_n) * sizeof(uint64_t);
  }
  return (bytes + HX_CPU_ALIGNMENT - 1) / HX_CPU_ALIGNMENT * HX_CPU_ALIGNMENT;
}

static void fill_prime(hx_cpu_prime_t *prime, uint64_t psi, uint32_t log_n, char *words) {
  const hxs_modulus *m = &prime->m;
  const size_t row = ((size_t)1 << log_n) * (m->word / 8);
  uint64_t back = hxs_inverse_mod(m, psi);
  fill_powers(m, psi, log_n, words, words + row);
  fill_powers(m, back, log_n, words + 2 * row, words + 3 * row);
  uint64_t degree = hxs_inverse_mod(m, (uint64_t)1 << log_n);
  uint64_t first = hxs_row_load(words + 2 * row, 1, m->word);
  prime->twiddles =
      (hx_cpu_twiddles_t){.forward = words,
                          .forward_quotient = words + row,
                          .inverse = words + 2 * row,
                          .inverse_quotient = words + 3 * row,
                          .last = {hxs_factor_of(m, degree), hxs_factor_of(m, hxs_mul_mod(m, degree, first))}};
  if (has_52(m, log_n)) {
    const void *rows[4] = {words, words + row, words + 2 * row, words + 3 * row};
    uint64_t *constants = (void *)(words + 4 * row);
    uint64_t *there = constants + (size_t)8 * HX_CPU_IFMA_CONSTANTS, *back52 = there + hx_cpu_ifma_words(log_n);
    hx_cpu_ifma_constants(m->q, constants);
    hx_cpu_ifma_arrange(rows[0], rows[1], log_n, there);
    hx_cpu_ifma_arrange_inverse(m, rows[2], rows[3], log_n, back52);
    prime->twiddles.constants52 = constants;
    prime->twiddles.forward52 = there;
    prime->twiddles.inverse52 = back52;
  }
  if (has_tail(m, log_n)) {
    uint64_t *there = (void *)(words + 4 * row), *back_tail = there + hx_cpu_ifma_tail_words(log_n);
    hx_cpu_ifma_arrange_tail((void *)words, (void *)(words + row), log_n, there);
    hx_cpu_ifma_arrange_tail((void *)(words + 2 * row), (void *)(words + 3 * row), log_n, back_tail);
    prime->twiddles.forward_tail = there;
    prime->twiddles.inverse_tail = back_tail;
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

static int32_t fill_tables(hx_tables *tables, const hx_ring *ring, hx_error *error) {
  HXS_TRY(hxs_ring_init(&tables->ring, ring, "cpu", error));
  const uint32_t count = hxs_ring_primes(&tables->ring), log_n = ring->log_n;
  size_t bytes = 0;
  for (uint32_t id = 0; id < count; id++) {
    bytes += prime_bytes(&tables->ring.moduli[id], log_n);
  }
  tables->primes = calloc(count, sizeof *tables->primes);
  tables->words = tables->primes != NULL ? alloc_words(bytes) : NULL;
  if (tables->words == NULL) {
    return hxs_fail(error, HX_OUT_OF_MEMORY, "no memory for %zu bytes of twiddles", bytes);
  }
  char *words = tables->words;
  for (uint32_t id = 0; id < count; id++) {
    tables->primes[id].m = tables->ring.moduli[id];
    fill_prime(&tables->primes[id], ring->psi[id], log_n, words);
    words += prime_bytes(&tables->primes[id].m, log_n);
  }
  return HX_OK;
}

int32_t hx_cpu_tables_create(hx_device *device, const hx_ring *ring, hx_tables **out, hx_error *error) {
  if (device == NULL || out == NULL) {
    return hxs_fail(error, HX_INVALID, "tables_create: device or result is missing");
  }
  hx_tables *tables = calloc(1, sizeof *tables);
  if (tables == NULL) {
    return hxs_fail(error, HX_OUT_OF_MEMORY, "no memory for a ring's tables");
  }
  tables->device = device;
  const int32_t code = fill_tables(tables, ring, error);
  if (code != HX_OK) {
    hx_cpu_tables_destroy(tables);
    return code;
  }
  *out = tables;
  return HX_OK;
}

void hx_cpu_tables_destroy(hx_tables *tables) {
  if (tables == NULL) {
    return;
  }
  free(tables->words);
  free(tables->primes);
  hxs_ring_clear(&tables->ring);
  free(tables);
}
