// SPDX-License-Identifier: Apache-2.0
// What is computed once for a ring: reductions and twiddles of every prime.
#ifndef HX_CPU_TABLES_H
#define HX_CPU_TABLES_H

#include "heliox/support/ring.h"
#include "kernels/ntt/ntt.h"

typedef struct hx_cpu_prime {
  hxs_modulus m;  // the ring's, beside what is used with it
  hx_cpu_twiddles_t twiddles;
} hx_cpu_prime_t;

struct hx_tables {
  hxs_ring ring;
  const hx_device *device;
  hx_cpu_prime_t *primes;  // by id
  void *words;             // all twiddles
};

// [A] hx_device_ops. Refuses a ring that breaks its contract (hxs_ring_init).
int32_t hx_cpu_tables_create(hx_device *device, const hx_ring *ring, hx_tables **out, hx_error *error);
void hx_cpu_tables_destroy(hx_tables *tables);

#endif
