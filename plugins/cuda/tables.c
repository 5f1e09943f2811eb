// SPDX-License-Identifier: Apache-2.0
#include "tables.h"

#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "heliox/support/error.h"

#define STEPS_LOG 12u  // rings from this size on keep the last four stages' twiddles of words by four

typedef struct pair {
  uint32_t value, quotient;
} pair_t;

// Powers of a root with their quotients and, where these are there, as centred doubles and as pairs of words too.
typedef struct powers {
  const hxs_modulus *m;
  uint32_t log_n;
  hx_cuda_factor_t *values;
  double *reals;
  pair_t *words;
} powers_t;

static uint32_t word_count(uint32_t log_n) { return log_n < STEPS_LOG ? 1u << log_n : 5u << (log_n - 4); }

// Where kernels/words.cuh has twiddle i; UINT32_MAX: it is a product of others there.
static uint32_t word_place(uint32_t log_n, uint32_t i) {
  const uint32_t head = log_n < STEPS_LOG ? 1u << log_n : 1u << (log_n - 4);
  if (i < head) {
    return i;
  }
  uint32_t t = 0;
  while (i >> t >= 2 * head) {
    t++;
  }
  return i % (1u << t) == 0 ? head + 4 * ((i >> t) - head) + t : UINT32_MAX;
}

static void put_power(void *self, uint32_t i, uint64_t power) {
  const powers_t *to = self;
  to->values[i] = hx_cuda_factor_of(to->m, power);
  if (to->reals != NULL) {
    to->reals[i] = hx_cuda_centred(to->m->q, power);
  }
  const uint32_t place = to->words != NULL ? word_place(to->log_n, i) : UINT32_MAX;
  if (place != UINT32_MAX) {
    to->words[place] = (pair_t){(uint32_t)power, (uint32_t)(to->values[i].quotient >> 32)};
  }
}

static void fill_powers(const hxs_modulus *m, uint64_t root, uint32_t log_n, void *values, void *reals, void *words) {
  powers_t to = {m, log_n, values, reals, words};
  hxs_powers(m, root, log_n, put_power, &to);
}

// Twiddles of one prime, in host memory at `bytes` and later on the device at `address`; their bytes.
static size_t fill_prime(hx_cuda_prime_t *prime, const hxs_modulus *m, uint64_t psi, const hx_ring *ring, char *bytes,
                         uint64_t address) {
  const size_t n = (size_t)1 << ring->log_n, factors = n * sizeof(hx_cuda_factor_t);
  hx_cuda_prime_init(prime, m);
  const bool real = prime->bits <= HX_CUDA_REAL_BITS;
  const size_t reals = real ? n * sizeof(double) : 0;
  const size_t words = ring->word == 32 ? word_count(ring->log_n) * sizeof(pair_t) : 0;
  size_t at = 0;
  for (uint32_t backward = 0; backward < 2; backward++) {
    fill_powers(m, backward ? hxs_inverse_mod(m, psi) : psi, ring->log_n, bytes + at,
                real ? bytes + at + factors : NULL, words > 0 ? bytes + at + factors + reals : NULL);
    *(backward ? &prime->backward : &prime->forward) = address + at;
    *(backward ? &prime->real_backward : &prime->real_forward) = real ? address + at + factors : 0;
    *(backward ? &prime->word_backward : &prime->word_forward) = words > 0 ? address + at + factors + reals : 0;
    at += factors + reals + words;
  }
  return at;
}

static int32_t fill_tables(hx_device *device, const hx_ring *ring, hx_tables *tables, hx_error *error) {
  HXS_TRY(hxs_ring_init(&tables->ring, ring, "cuda", error));
  const uint32_t count = hxs_ring_primes(&tables->ring);
  const size_t head = (count * sizeof *tables->primes + 255) / 256 * 256;
  const size_t each = ((size_t)24 << ring->log_n) + (ring->word == 32 ? word_count(ring->log_n) * sizeof(pair_t) : 0);
  const size_t most = head + 2 * each * count;
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
      at += fill_prime(&tables->primes[id], &tables->moduli[id], ring->psi[id], ring, bytes + at, tables->memory + at);
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
