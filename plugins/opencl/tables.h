// SPDX-License-Identifier: Apache-2.0
// What is computed once for a ring: its numbers and, on the device, reductions and twiddles of every prime.
#ifndef HX_OPENCL_TABLES_H
#define HX_OPENCL_TABLES_H

#include "device.h"
#include "heliox/support/ring.h"

struct hx_tables {
  hxs_ring ring;
  hx_device *device;
  const hx_opencl_program_t *program;  // the kernels of the ring's word
  hxs_modulus *wide;                   // [primes]: for the 64-bit arithmetic that kernels have for both words
  void *memory;                        // hx_opencl_prime_t [primes], then the twiddles
  bool real;                           // with doubles for primes of at most 50 bits
};

// [A] hx_device_ops; see hxs_ring_init for what is refused.
int32_t hx_opencl_tables_create(hx_device *device, const hx_ring *ring, hx_tables **out, hx_error *error);
// The same without the self-test of the ring's word: for the self-test.
int32_t hx_opencl_tables_make(hx_device *device, const hx_ring *ring, hx_tables **out, hx_error *error);
void hx_opencl_tables_destroy(hx_tables *tables);
// The ring of tables that this device made; NULL where they are another device's.
const hxs_ring *hx_opencl_tables_ring(const hx_device *device, const hx_tables *tables);

// A residue below the prime, centred, and its bits; exact for primes below 2^53.
double hx_opencl_centred(uint64_t q, uint64_t residue);
uint64_t hx_opencl_real_of(uint64_t q, uint64_t residue);
// A residue below the prime as kernels take it.
hx_opencl_factor_t hx_opencl_factor_of(const hxs_modulus *wide, uint64_t residue);
// The numbers of a prime; addresses of twiddles stay 0.
hx_opencl_prime_t hx_opencl_prime_of(const hxs_modulus *wide);

#endif
