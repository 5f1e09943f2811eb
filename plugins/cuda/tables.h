// SPDX-License-Identifier: Apache-2.0
// What is computed once for a ring: reductions and twiddles of every prime.
#ifndef HX_CUDA_TABLES_H
#define HX_CUDA_TABLES_H

#include <stdbool.h>

#include "heliox/plugin.h"
#include "number.h"

#define HX_CUDA_LOG_N_MIN 3u
#define HX_CUDA_LOG_N_MAX 17u
#define HX_CUDA_PRIMES_MAX 256u
#define HX_CUDA_REAL_BITS 50u  // primes of at most so many bits have the real path

struct hx_tables {
  hx_device *device;
  uint32_t log_n, word;
  uint32_t q_count, p_count, digit_run, group_count;
  uint8_t digest[32];
  hx_cuda_prime_t *primes;  // [q_count + p_count], by id; addresses of twiddles are the device's
  uint32_t *group_sizes;    // [group_count]
  uint64_t memory;          // device address of the primes' copy and of all twiddles
};

// [A] hx_device_ops. Refuses a ring that breaks its contract: sizes, primes that are no primes, not 1 mod 2N, too
// large or twice there, a psi that is no primitive 2N-th root, a digit_run of 0, groups that do not add up to q_count.
int32_t hx_cuda_tables_create(hx_device *device, const hx_ring *ring, hx_tables **out, hx_error *error);
void hx_cuda_tables_destroy(hx_tables *tables);
// Whether the tables were made for this ring.
bool hx_cuda_tables_fit(const hx_tables *tables, const hx_ring *ring);

#endif
