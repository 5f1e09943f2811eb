// SPDX-License-Identifier: Apache-2.0
#include "heliox/support/ring.h"

#include <stdlib.h>
#include <string.h>

#include "heliox/support/error.h"

static int32_t check_prime(const hx_ring *ring, uint32_t id, hx_error *error) {
  const uint64_t q = ring->primes[id], order = (uint64_t)2 << ring->log_n;
  const uint32_t limit = ring->word == 64 ? 61 : 31;
  const unsigned long long shown = q;
  if (q >> limit != 0) {
    return hxs_fail(error, HX_INVALID, "prime %u is %llu; it must be below 2^%u in %u-bit words", id, shown, limit,
                    ring->word);
  }
  if (q % order != 1 || !hxs_is_prime(q)) {
    return hxs_fail(error, HX_INVALID, "prime %u is %llu, which is not a prime that is 1 mod %llu", id, shown,
                    (unsigned long long)order);
  }
  for (uint32_t other = 0; other < id; other++) {
    if (ring->primes[other] == q) {
      return hxs_fail(error, HX_INVALID, "primes %u and %u are both %llu", other, id, shown);
    }
  }
  hxs_modulus m;
  hxs_modulus_init(&m, q, ring->word);
  if (ring->psi[id] >= q || hxs_pow_mod(&m, ring->psi[id], order / 2) != q - 1) {
    return hxs_fail(error, HX_INVALID, "psi of prime %u is %llu, which is no primitive root of unity of order %llu", id,
                    (unsigned long long)ring->psi[id], (unsigned long long)order);
  }
  return HX_OK;
}

static int32_t check_sizes(const hx_ring *ring, const char *plugin, hx_error *error) {
  if (ring->log_n < HXS_LOG_N_MIN || ring->log_n > HXS_LOG_N_MAX) {
    return hxs_fail(error, HX_UNSUPPORTED, "log_n is %u; %s has %u to %u", ring->log_n, plugin, HXS_LOG_N_MIN,
                    HXS_LOG_N_MAX);
  }
  if (ring->word != 64 && ring->word != 32) {
    return hxs_fail(error, HX_UNSUPPORTED, "the residue word has %u bits; %s has 64 and 32", ring->word, plugin);
  }
  if (ring->q_count == 0 || ring->q_count > HXS_PRIMES_MAX || ring->p_count > HXS_PRIMES_MAX - ring->q_count) {
    return hxs_fail(error, HX_UNSUPPORTED, "the ring has %u primes in Q and %u in P; %s takes 1 to %u in all, one in Q",
                    ring->q_count, ring->p_count, plugin, HXS_PRIMES_MAX);
  }
  if (ring->digit_run == 0 || ring->primes == NULL || ring->psi == NULL ||
      (ring->group_count > 0 && ring->group_sizes == NULL)) {
    return hxs_fail(error, HX_INVALID, "digit_run is 0, or primes, psi or group_sizes are missing");
  }
  uint64_t grouped = 0;
  for (uint32_t i = 0; i < ring->group_count; i++) {
    grouped += ring->group_sizes[i];
  }
  if (grouped != ring->q_count) {
    return hxs_fail(error, HX_INVALID, "the groups hold %llu primes, Q has %u", (unsigned long long)grouped,
                    ring->q_count);
  }
  return HX_OK;
}

static int32_t check_ring(const hx_ring *ring, const char *plugin, hx_error *error) {
  HXS_NEED(hx_ring, digest, ring);
  HXS_TRY(check_sizes(ring, plugin, error));
  for (uint32_t id = 0; id < ring->q_count + ring->p_count; id++) {
    HXS_TRY(check_prime(ring, id, error));
  }
  return HX_OK;
}

int32_t hxs_ring_init(hxs_ring *ring, const hx_ring *from, const char *plugin, hx_error *error) {
  memset(ring, 0, sizeof *ring);
  HXS_TRY(check_ring(from, plugin, error));
  const uint32_t count = from->q_count + from->p_count;
  ring->plugin = plugin;
  ring->log_n = from->log_n;
  ring->word = from->word;
  ring->q_count = from->q_count;
  ring->p_count = from->p_count;
  ring->digit_run = from->digit_run;
  ring->group_count = from->group_count;
  memcpy(ring->digest, from->digest, sizeof ring->digest);
  ring->moduli = calloc(count, sizeof *ring->moduli);
  ring->psi = calloc(count, sizeof *ring->psi);
  ring->group_sizes = calloc((size_t)from->group_count + 1, sizeof *ring->group_sizes);
  if (ring->moduli == NULL || ring->psi == NULL || ring->group_sizes == NULL) {
    return hxs_fail(error, HX_OUT_OF_MEMORY, "no memory for a ring of %u primes", count);
  }
  memcpy(ring->psi, from->psi, count * sizeof *ring->psi);
  for (uint32_t i = 0; i < from->group_count; i++) {
    ring->group_sizes[i] = from->group_sizes[i];
  }
  for (uint32_t id = 0; id < count; id++) {
    hxs_modulus_init(&ring->moduli[id], from->primes[id], from->word);
    ring->bits = ring->moduli[id].bits > ring->bits ? ring->moduli[id].bits : ring->bits;
  }
  return HX_OK;
}

void hxs_ring_clear(hxs_ring *ring) {
  free(ring->moduli);
  free(ring->psi);
  free(ring->group_sizes);
  memset(ring, 0, sizeof *ring);
}

bool hxs_ring_fits(const hxs_ring *ring, const hx_ring *from) {
  if (from->log_n != ring->log_n || from->word != ring->word || from->q_count != ring->q_count ||
      from->p_count != ring->p_count || from->digit_run != ring->digit_run || from->primes == NULL) {
    return false;
  }
  for (uint32_t id = 0; id < hxs_ring_primes(ring); id++) {
    if (from->primes[id] != ring->moduli[id].q) {
      return false;
    }
  }
  return memcmp(from->digest, ring->digest, sizeof ring->digest) == 0;
}
