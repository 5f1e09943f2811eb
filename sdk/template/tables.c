/* SPDX-License-Identifier: Apache-2.0 */
/* What is computed once for a ring: the constants of its primes and the powers of their roots of unity. The host asks
 * for it once for each device and ring and passes it in every region. */
#include <stdlib.h>

#include "heliox_plugin_facts.h" /* HELIOX_PLUGIN_NAME */
#include "plugin.h"

static void put_root(void *self, uint32_t i, uint64_t power) {
  prime *p = (prime *)self;
  p->roots[i] = hxs_factor_of(&p->m, power);
}

static int32_t fill(hx_tables *tables, const hx_ring *ring, hx_error *error) {
  HXS_TRY(hxs_ring_init(&tables->ring, ring, HELIOX_PLUGIN_NAME, error)); /* refuses what breaks the contract */
  const uint32_t count = hxs_ring_primes(&tables->ring), log_n = ring->log_n;
  tables->n = 1u << log_n;
  tables->primes = (prime *)calloc(count, sizeof *tables->primes);
  tables->roots = (hxs_factor *)calloc((size_t)count << log_n, sizeof *tables->roots);
  if (tables->primes == NULL || tables->roots == NULL)
    return hxs_fail(error, HX_OUT_OF_MEMORY, "no memory for the tables of %u primes", (unsigned)count);
  for (uint32_t id = 0; id < count; ++id) {
    prime *p = &tables->primes[id];
    hxs_modulus_init(&p->m, ring->primes[id], 64);
    p->n_inverse = hxs_factor_of(&p->m, hxs_inverse_mod(&p->m, tables->n % p->m.q));
    p->roots = tables->roots + ((size_t)id << log_n);
    hxs_powers(&p->m, ring->psi[id], log_n, put_root, p);
  }
  return HX_OK;
}

int32_t tables_create(hx_device *device, const hx_ring *ring, hx_tables **out, hx_error *error) {
  if (device == NULL || out == NULL)
    return hxs_fail(error, HX_INVALID, "tables_create: the device or the place for the tables is missing");
  hx_tables *tables = (hx_tables *)calloc(1, sizeof *tables);
  if (tables == NULL) return hxs_fail(error, HX_OUT_OF_MEMORY, "no memory for a ring's tables");
  tables->device = device;
  const int32_t code = fill(tables, ring, error);
  if (code != HX_OK) {
    tables_destroy(tables);
    return code;
  }
  *out = tables;
  return HX_OK;
}

void tables_destroy(hx_tables *tables) {
  if (tables == NULL) return;
  free(tables->roots);
  free(tables->primes);
  hxs_ring_clear(&tables->ring);
  free(tables);
}
