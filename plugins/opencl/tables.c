// SPDX-License-Identifier: Apache-2.0
#include "tables.h"

#include <stdlib.h>
#include <string.h>

#include "heliox/support/error.h"
#include "kernels/arith.h"
#include "program.h"
#include "selftest.h"

hx_opencl_factor_t hx_opencl_factor_of(const hxs_modulus *wide, uint64_t residue) {
  const hxs_factor factor = hxs_factor_of(wide, residue);
  return (hx_opencl_factor_t){factor.value, factor.quotient};
}

hx_opencl_prime_t hx_opencl_prime_of(const hxs_modulus *wide) {
  return (hx_opencl_prime_t){.q = wide->q,
                             .two_q = wide->two_q,
                             .ratio = wide->ratio,
                             .barrett = wide->barrett,
                             .radix = wide->radix,
                             .radix_quotient = wide->radix_quotient,
                             .inverse = wide->inverse,
                             .bits = wide->bits,
                             .real_q = real_bits((double)wide->q),
                             .real_inverse = real_bits(1.0 / (double)wide->q)};
}

double hx_opencl_centred(uint64_t q, uint64_t residue) {
  return residue > q / 2 ? -(double)(q - residue) : (double)residue;
}

uint64_t hx_opencl_real_of(uint64_t q, uint64_t residue) { return real_bits(hx_opencl_centred(q, residue)); }

typedef struct powers {
  const hxs_modulus *wide;
  hx_opencl_factor_t *out;
  double *reals;  // NULL: the prime is too large
} powers_t;

static void put_power(void *self, uint32_t i, uint64_t power) {
  const powers_t *powers = self;
  powers->out[i] = hx_opencl_factor_of(powers->wide, power);
  if (powers->reals != NULL) {
    powers->reals[i] = hx_opencl_centred(powers->wide->q, power);
  }
}

// The tables' bytes: primes, then for each of them twiddles forward and backward, and the same as doubles where the
// prime may take the real path. Without `bytes` it is their number alone.
static size_t fill_bytes(const hx_tables *tables, unsigned char *bytes) {
  const uint32_t log_n = tables->ring.log_n, count = hxs_ring_primes(&tables->ring);
  const size_t each = sizeof(hx_opencl_factor_t) << log_n, real_each = sizeof(double) << log_n;
  size_t at = (count * sizeof(hx_opencl_prime_t) + 63) / 64 * 64;
  for (uint32_t id = 0; id < count; id++) {
    const hxs_modulus *wide = &tables->wide[id];
    const bool real = tables->real && wide->bits <= HX_OPENCL_REAL_BITS;
    hx_opencl_prime_t prime = hx_opencl_prime_of(wide);
    prime.forward = at;
    prime.backward = at + each;
    prime.real_forward = real ? at + 2 * each : 0;
    prime.real_backward = real ? at + 2 * each + real_each : 0;
    at += 2 * each + (real ? 2 * real_each : 0);
    if (bytes != NULL) {
      const uint64_t psi = tables->ring.psi[id];
      powers_t forward = {wide, (void *)(bytes + prime.forward), real ? (void *)(bytes + prime.real_forward) : NULL};
      powers_t backward = {wide, (void *)(bytes + prime.backward), real ? (void *)(bytes + prime.real_backward) : NULL};
      hxs_powers(wide, psi, log_n, put_power, &forward);
      hxs_powers(wide, hxs_inverse_mod(wide, psi), log_n, put_power, &backward);
      memcpy(bytes + id * sizeof prime, &prime, sizeof prime);
    }
  }
  return at;
}

static int32_t fill_tables(hx_device *device, const hx_ring *ring, hx_tables *tables, hx_error *error) {
  HXS_TRY(hxs_ring_init(&tables->ring, ring, "opencl", error));
  const uint32_t count = hxs_ring_primes(&tables->ring);
  HXS_TRY(hx_opencl_program_get(device, ring->word, &tables->program, error));
  tables->real = device->facts.real && device->path != HX_OPENCL_PATH_INTEGER;
  tables->wide = calloc(count, sizeof *tables->wide);
  if (tables->wide == NULL) {
    return hxs_fail(error, HX_OUT_OF_MEMORY, "no memory for the numbers of %u primes", count);
  }
  for (uint32_t id = 0; id < count; id++) {
    hxs_modulus_init(&tables->wide[id], ring->primes[id], 64);
  }
  const size_t size = fill_bytes(tables, NULL);
  unsigned char *bytes = malloc(size);
  if (bytes == NULL) {
    return hxs_fail(error, HX_OUT_OF_MEMORY, "no memory for %zu bytes of twiddles", size);
  }
  fill_bytes(tables, bytes);
  const int32_t code = hx_opencl_device_upload(device, bytes, size, &tables->memory, error);
  free(bytes);
  return code;
}

int32_t hx_opencl_tables_make(hx_device *device, const hx_ring *ring, hx_tables **out, hx_error *error) {
  hx_tables *tables = calloc(1, sizeof *tables);
  if (tables == NULL) {
    return hxs_fail(error, HX_OUT_OF_MEMORY, "no memory for a ring's tables");
  }
  tables->device = device;
  const int32_t code = fill_tables(device, ring, tables, error);
  if (code != HX_OK) {
    hx_opencl_tables_destroy(tables);
    return code;
  }
  *out = tables;
  return HX_OK;
}

int32_t hx_opencl_tables_create(hx_device *device, const hx_ring *ring, hx_tables **out, hx_error *error) {
  hx_tables *tables = NULL;
  if (device == NULL || out == NULL) {
    return hxs_fail(error, HX_INVALID, "tables_create: device or result is missing");
  }
  HXS_TRY(hx_opencl_tables_make(device, ring, &tables, error));
  const int32_t code = hx_opencl_self_test(device, ring->word, error);
  if (code != HX_OK) {
    hx_opencl_tables_destroy(tables);
    return code;
  }
  *out = tables;
  return HX_OK;
}

void hx_opencl_tables_destroy(hx_tables *tables) {
  if (tables == NULL) {
    return;
  }
  if (tables->memory != NULL) {
    tables->device->cl->clReleaseMemObject(tables->memory);
  }
  hxs_ring_clear(&tables->ring);
  free(tables->wide);
  free(tables);
}

const hxs_ring *hx_opencl_tables_ring(const hx_device *device, const hx_tables *tables) {
  return tables != NULL && tables->device == device ? &tables->ring : NULL;
}
