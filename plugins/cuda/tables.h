// SPDX-License-Identifier: Apache-2.0
// What is computed once for a ring: reductions and twiddles of every prime.
#ifndef HX_CUDA_TABLES_H
#define HX_CUDA_TABLES_H

#include <pthread.h>

#include "heliox/support/ring.h"
#include "number.h"

#define HX_CUDA_REAL_BITS 50u  // primes of at most so many bits have the real path

struct hx_tables {
  hxs_ring ring;
  hx_device *device;
  hxs_modulus *moduli;      // by id, of word 64
  hx_cuda_prime_t *primes;  // by id; addresses of twiddles are the device's
  pthread_mutex_t lock;     // of roots
  uint64_t roots;           // device address of the codec's roots; 0: not made yet
  uint64_t memory;          // device address of the primes' copy and of all twiddles
};

// [A] hx_device_ops. Refuses a ring that breaks its contract (hxs_ring_init).
int32_t hx_cuda_tables_create(hx_device *device, const hx_ring *ring, hx_tables **out, hx_error *error);
void hx_cuda_tables_destroy(hx_tables *tables);

#endif
