// SPDX-License-Identifier: Apache-2.0
#include "tables.h"

#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "error.h"

static int32_t check_prime(const hx_ring *ring, uint32_t id, hx_error *error) {
  const uint64_t q = ring->primes[id], order = (uint64_t)2 << ring->log_n;
  const uint32_t limit = ring->word == 64 ? 61 : 31;
  const unsigned long long shown = q;
  if (q >> limit != 0) {
    return hx_cuda_fail(error, HX_INVALID, "prime %u is %llu; it must be below 2^%u in %u-bit words", id, shown, limit,
                        ring->word);
  }
  if (q % order != 1 || !hx_cuda_is_prime(q)) {
    return hx_cuda_fail(error, HX_INVALID, "prime %u is %llu, which is not a prime that is 1 mod %llu", id, shown,
                        (unsigned long long)order);
  }
  for (uint32_t other = 0; other < id; other++) {
    if (ring->primes[other] == q) {
      return hx_cuda_fail(error, HX_INVALID, "primes %u and %u are both %llu", other, id, shown);
    }
  }
  if (ring->psi[id] >= q || hx_cuda_pow_mod(q, ring->psi[id], order / 2) != q - 1) {
    return hx_cuda_fail(error, HX_INVALID, "psi of prime %u is %llu, which is no primitive root of unity of order %llu",
                        id, (unsigned long long)ring->psi[id], (unsigned long long)order);
  }
  return HX_OK;
}

static int32_t check_ring(const hx_ring *ring, hx_error *error) {
  if (ring == NULL || ring->struct_size < HX_END_OF(hx_ring, digest)) {
    return hx_cuda_fail(error, HX_ARGS_SIZE, "hx_ring has %u bytes, at least %u are needed",
                        ring == NULL ? 0 : ring->struct_size, HX_END_OF(hx_ring, digest));
  }
  if (ring->log_n < HX_CUDA_LOG_N_MIN || ring->log_n > HX_CUDA_LOG_N_MAX) {
    return hx_cuda_fail(error, HX_UNSUPPORTED, "log_n is %u; cuda has %u to %u", ring->log_n, HX_CUDA_LOG_N_MIN,
                        HX_CUDA_LOG_N_MAX);
  }
  if (ring->word != 64 && ring->word != 32) {
    return hx_cuda_fail(error, HX_UNSUPPORTED, "the residue word has %u bits; cuda has 64 and 32", ring->word);
  }
  if (ring->q_count == 0 || ring->q_count > HX_CUDA_PRIMES_MAX || ring->p_count > HX_CUDA_PRIMES_MAX - ring->q_count) {
    return hx_cuda_fail(error, HX_UNSUPPORTED,
                        "the ring has %u primes in Q and %u in P; cuda takes 1 to %u in all, one in Q", ring->q_count,
                        ring->p_count, HX_CUDA_PRIMES_MAX);
  }
  if (ring->digit_run == 0 || ring->primes == NULL || ring->psi == NULL ||
      (ring->group_count > 0 && ring->group_sizes == NULL)) {
    return hx_cuda_fail(error, HX_INVALID, "digit_run is 0, or primes, psi or group_sizes are missing");
  }
  uint64_t grouped = 0;
  for (uint32_t i = 0; i < ring->group_count; i++) {
    grouped += ring->group_sizes[i];
  }
  if (grouped != ring->q_count) {
    return hx_cuda_fail(error, HX_INVALID, "the groups hold %llu primes, Q has %u", (unsigned long long)grouped,
                        ring->q_count);
  }
  for (uint32_t id = 0; id < ring->q_count + ring->p_count; id++) {
    HX_CUDA_TRY(check_prime(ring, id, error));
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

// values[i] = root^brv(i): with quotients, and where `reals` is there as centred doubles too.
static void fill_powers(const hx_cuda_prime_t *prime, uint64_t root, uint32_t log_n, hx_cuda_factor_t *values,
                        double *reals) {
  uint64_t power = 1;
  for (uint32_t i = 0; i < (uint32_t)1 << log_n; i++) {
    const uint32_t at = reverse(i, log_n);
    values[at] = (hx_cuda_factor_t){power, hx_cuda_quotient_of(prime, power)};
    if (reals != NULL) {
      reals[at] = hx_cuda_centred(prime->q, power);
    }
    power = hx_cuda_product_of(prime, power, root);
  }
}

// Twiddles of one prime, in host memory at `bytes` and later on the device at `address`.
static size_t fill_prime(hx_cuda_prime_t *prime, uint64_t q, uint64_t psi, uint32_t log_n, char *bytes,
                         uint64_t address) {
  const size_t n = (size_t)1 << log_n;
  hx_cuda_prime_init(prime, q);
  const bool real = prime->bits <= HX_CUDA_REAL_BITS;
  const size_t forward = 0, backward = n * sizeof(hx_cuda_factor_t), real_forward = 2 * backward,
               real_backward = real_forward + n * sizeof(double);
  fill_powers(prime, psi, log_n, (void *)(bytes + forward), real ? (void *)(bytes + real_forward) : NULL);
  fill_powers(prime, hx_cuda_inverse_mod(q, psi), log_n, (void *)(bytes + backward),
              real ? (void *)(bytes + real_backward) : NULL);
  prime->forward = address + forward;
  prime->backward = address + backward;
  prime->real_forward = real ? address + real_forward : 0;
  prime->real_backward = real ? address + real_backward : 0;
  return real ? real_backward + n * sizeof(double) : real_forward;
}

static int32_t keep_ring(const hx_ring *ring, hx_tables *tables, hx_error *error) {
  tables->log_n = ring->log_n;
  tables->word = ring->word;
  tables->q_count = ring->q_count;
  tables->p_count = ring->p_count;
  tables->digit_run = ring->digit_run;
  tables->group_count = ring->group_count;
  memcpy(tables->digest, ring->digest, sizeof tables->digest);
  tables->primes = calloc(ring->q_count + ring->p_count, sizeof *tables->primes);
  tables->group_sizes = calloc((size_t)ring->group_count + 1, sizeof *tables->group_sizes);
  if (tables->primes == NULL || tables->group_sizes == NULL) {
    return hx_cuda_fail(error, HX_OUT_OF_MEMORY, "no memory for a ring of %u primes", ring->q_count + ring->p_count);
  }
  memcpy(tables->group_sizes, ring->group_sizes, ring->group_count * sizeof *tables->group_sizes);
  return HX_OK;
}

static int32_t fill_tables(hx_device *device, const hx_ring *ring, hx_tables *tables, hx_error *error) {
  HX_CUDA_TRY(keep_ring(ring, tables, error));
  const uint32_t count = ring->q_count + ring->p_count;
  const size_t head = (count * sizeof *tables->primes + 255) / 256 * 256;
  const size_t most = head + ((size_t)48 << ring->log_n) * count;
  char *bytes = malloc(most);
  if (bytes == NULL) {
    return hx_cuda_fail(error, HX_OUT_OF_MEMORY, "no memory for %zu bytes of twiddles", most);
  }
  int32_t code = hx_cuda_device_alloc(device, most, &tables->memory, error);
  if (code == HX_OK) {
    size_t at = head;
    for (uint32_t id = 0; id < count; id++) {
      at += fill_prime(&tables->primes[id], ring->primes[id], ring->psi[id], ring->log_n, bytes + at,
                       tables->memory + at);
    }
    memcpy(bytes, tables->primes, count * sizeof *tables->primes);
    code = hx_cuda_device_upload(device, tables->memory, bytes, at, error);
  }
  free(bytes);
  return code;
}

int32_t hx_cuda_tables_create(hx_device *device, const hx_ring *ring, hx_tables **out, hx_error *error) {
  if (device == NULL || out == NULL) {
    return hx_cuda_fail(error, HX_INVALID, "tables_create: device or result is missing");
  }
  HX_CUDA_TRY(check_ring(ring, error));
  hx_tables *tables = calloc(1, sizeof *tables);
  if (tables == NULL) {
    return hx_cuda_fail(error, HX_OUT_OF_MEMORY, "no memory for a ring's tables");
  }
  tables->device = device;
  const int32_t code = fill_tables(device, ring, tables, error);
  if (code != HX_OK) {
    hx_cuda_tables_destroy(tables);
    return code;
  }
  *out = tables;
  return HX_OK;
}

void hx_cuda_tables_destroy(hx_tables *tables) {
  if (tables == NULL) {
    return;
  }
  if (tables->memory != 0) {
    hx_cuda_device_free(tables->device, tables->memory);
  }
  free(tables->primes);
  free(tables->group_sizes);
  free(tables);
}

bool hx_cuda_tables_fit(const hx_tables *tables, const hx_ring *ring) {
  if (ring->log_n != tables->log_n || ring->word != tables->word || ring->q_count != tables->q_count ||
      ring->p_count != tables->p_count || ring->digit_run != tables->digit_run || ring->primes == NULL) {
    return false;
  }
  for (uint32_t id = 0; id < tables->q_count + tables->p_count; id++) {
    if (ring->primes[id] != tables->primes[id].q) {
      return false;
    }
  }
  return memcmp(ring->digest, tables->digest, sizeof tables->digest) == 0;
}
