// SPDX-License-Identifier: Apache-2.0
#include "tables.h"

#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "heliox/support/error.h"

// Powers of a root with their quotients and, where `reals` is there, as centred doubles too.
typedef struct powers {
  const hxs_modulus *m;
  hx_cuda_factor_t *values;
  double *reals;
} powers_t;

static void put_power(void *self, uint32_t i, uint64_t power) {
  const powers_t *to = self;
  to->values[i] = hx_cuda_factor_of(to->m, power);
  if (to->reals != NULL) {
    to->reals[i] = hx_cuda_centred(to->m->q, power);
  }
}

static void fill_powers(const hxs_modulus *m, uint64_t root, uint32_t log_n, void *values, void *reals) {
  powers_t to = {m, values, reals};
  hxs_powers(m, root, log_n, put_power, &to);
}

// Twiddles of one prime, in host memory at `bytes` and later on the device at `address`.
static size_t fill_prime(hx_cuda_prime_t *prime, const hxs_modulus *m, uint64_t psi, uint32_t log_n, char *bytes,
                         uint64_t address) {
  const size_t n = (size_t)1 << log_n;
  hx_cuda_prime_init(prime, m);
  const bool real = prime->bits <= HX_CUDA_REAL_BITS;
  const size_t forward = 0, backward = n * sizeof(hx_cuda_factor_t), real_forward = 2 * backward,
               real_backward = real_forward + n * sizeof(double);
  fill_powers(m, psi, log_n, bytes + forward, real ? bytes + real_forward : NULL);
  fill_powers(m, hxs_inverse_mod(m, psi), log_n, bytes + backward, real ? bytes + real_backward : NULL);
  prime->forward = address + forward;
  prime->backward = address + backward;
  prime->real_forward = real ? address + real_forward : 0;
  prime->real_backward = real ? address + real_backward : 0;
  return real ? real_backward + n * sizeof(double) : real_forward;
}

static int32_t fill_tables(hx_device *device, const hx_ring *ring, hx_tables *tables, hx_error *error) {
  HXS_TRY(hxs_ring_init(&tables->ring, ring, "cuda", error));
  const uint32_t count = hxs_ring_primes(&tables->ring);
  const size_t head = (count * sizeof *tables->primes + 255) / 256 * 256;
  const size_t most = head + ((size_t)48 << ring->log_n) * count;
  tables->primes = calloc(count, sizeof *tables->primes);
  tables->moduli = calloc(count, sizeof *tables->moduli);
  char *bytes = tables->primes != NULL && tables->moduli != NULL ? malloc(most) : NULL;
  if (bytes == NULL) {
    return hxs_fail(error, HX_OUT_OF_MEMORY, "no memory for %zu bytes of twiddles", most);
  }
  int32_t code = hx_cuda_device_alloc(device, most, &tables->memory, error);
  if (code == HX_OK) {
    size_t at = head;
    for (uint32_t id = 0; id < count; id++) {
      hxs_modulus_init(&tables->moduli[id], ring->primes[id], 64);
      at += fill_prime(&tables->primes[id], &tables->moduli[id], ring->psi[id], ring->log_n, bytes + at,
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
    return hxs_fail(error, HX_INVALID, "tables_create: device or result is missing");
  }
  hx_tables *tables = calloc(1, sizeof *tables);
  if (tables == NULL) {
    return hxs_fail(error, HX_OUT_OF_MEMORY, "no memory for a ring's tables");
  }
  tables->device = device;
  pthread_mutex_init(&tables->lock, NULL);
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
  if (tables->roots != 0) {
    hx_cuda_device_free(tables->device, tables->roots);
  }
  pthread_mutex_destroy(&tables->lock);
  free(tables->primes);
  free(tables->moduli);
  hxs_ring_clear(&tables->ring);
  free(tables);
}
