/* SPDX-License-Identifier: Apache-2.0 */
/* What is computed once for a ring: the constants of its primes and the powers of their roots of unity. The host asks
 * for it once for each device and ring and passes it in every region. */
#include <stdlib.h>
#include <string.h>

#include "plugin.h"

static uint32_t bit_reverse(uint32_t value, uint32_t bits) {
  uint32_t out = 0, i;
  for (i = 0; i < bits; ++i) out |= (value >> i & 1u) << (bits - 1 - i);
  return out;
}

static int32_t check_ring(const hx_ring *ring, hx_error *error) {
  if (ring->log_n < LOG_N_MIN || ring->log_n > LOG_N_MAX)
    return fail(error, HX_UNSUPPORTED, "log_n is %u, must be %u to %u", (unsigned)ring->log_n, LOG_N_MIN, LOG_N_MAX);
  if (ring->word != 64 && ring->word != 32)
    return fail(error, HX_UNSUPPORTED, "residue words have %u bits, must have 64 or 32", (unsigned)ring->word);
  if (ring->q_count == 0 || ring->q_count > PRIMES_MAX || ring->p_count > PRIMES_MAX - ring->q_count)
    return fail(error, HX_UNSUPPORTED, "the ring has %u primes of Q and %u of P; at least 1 of Q and %u in all",
                (unsigned)ring->q_count, (unsigned)ring->p_count, PRIMES_MAX);
  if (ring->digit_run == 0 || ring->primes == NULL || ring->psi == NULL)
    return fail(error, HX_INVALID, "the ring has no primes, no roots or an empty digit");
  return HX_OK;
}

/* roots must have room for n factors. */
static int32_t fill_prime(prime *p, uint32_t log_n, uint32_t word, uint64_t q, uint64_t psi, hx_error *error) {
  const uint32_t n = 1u << log_n;
  uint64_t power = 1;
  uint32_t k;
  if (q % (2 * (uint64_t)n) != 1 || q < 2 * (uint64_t)n || q >> (word == 64 ? 61 : 31) != 0)
    return fail(error, HX_INVALID, "the prime %llu is not 1 mod %lu, or too large for words of %u bits",
                (unsigned long long)q, 2 * (unsigned long)n, (unsigned)word);
  if (psi >= q || mod_power(psi, n, q) != q - 1)
    return fail(error, HX_INVALID, "%llu is no primitive %lu-th root of unity mod %llu", (unsigned long long)psi,
                2 * (unsigned long)n, (unsigned long long)q);
  p->q = q;
  for (p->bits = 0; q >> p->bits != 0;) ++p->bits;
  p->n_inverse = factor_of(mod_inverse(n, q), q);
  for (k = 0; k < n; ++k) {
    p->roots[bit_reverse(k, log_n)] = factor_of(power, q);
    power = mod_mul(power, psi, q);
  }
  return HX_OK;
}

int32_t tables_create(hx_device *device, const hx_ring *ring, hx_tables **out, hx_error *error) {
  hx_tables *tables;
  uint32_t count, id;
  NEED(hx_ring, digest, ring);
  if (device == NULL || out == NULL)
    return fail(error, HX_INVALID, "tables_create: the device or the place for the tables is missing");
  TRY(check_ring(ring, error));
  count = ring->q_count + ring->p_count;
  tables = (hx_tables *)calloc(1, sizeof *tables);
  if (tables != NULL) tables->roots = (factor *)calloc((size_t)count << ring->log_n, sizeof *tables->roots);
  if (tables == NULL || tables->roots == NULL) {
    tables_destroy(tables);
    return fail(error, HX_OUT_OF_MEMORY, "no memory for the tables of %u primes", (unsigned)count);
  }
  tables->device = device;
  tables->log_n = ring->log_n;
  tables->n = 1u << ring->log_n;
  tables->word = ring->word;
  tables->q_count = ring->q_count;
  tables->p_count = ring->p_count;
  tables->digit_run = ring->digit_run;
  memcpy(tables->digest, ring->digest, sizeof tables->digest);
  for (id = 0; id < count; ++id) {
    int32_t code;
    tables->primes[id].roots = tables->roots + ((size_t)id << ring->log_n);
    code = fill_prime(&tables->primes[id], ring->log_n, ring->word, ring->primes[id], ring->psi[id], error);
    if (code != HX_OK) {
      tables_destroy(tables);
      return code;
    }
  }
  *out = tables;
  return HX_OK;
}

void tables_destroy(hx_tables *tables) {
  if (tables == NULL) return;
  free(tables->roots);
  free(tables);
}
