// SPDX-License-Identifier: Apache-2.0
// What is computed once for a ring: reductions and twiddles of every prime.
#ifndef HX_CPU_TABLES_H
#define HX_CPU_TABLES_H

#include <stdbool.h>

#include "heliox/plugin.h"
#include "kernels/ntt/ntt.h"
#include "number.h"

#define HX_CPU_LOG_N_MIN 3u
#define HX_CPU_LOG_N_MAX 17u
#define HX_CPU_PRIMES_MAX 256u

typedef struct hx_cpu_prime {
  hx_cpu_modulus_t m;
  hx_cpu_twiddles_t twiddles;
} hx_cpu_prime_t;

struct hx_tables {
  const hx_device *device;
  uint32_t log_n, word;
  uint32_t q_count, p_count, digit_run;
  uint32_t bits;  // of the largest prime
  uint8_t digest[32];
  hx_cpu_prime_t *primes;  // [q_count + p_count], by id
  void *words;             // all twiddles
};

// [A] hx_device_ops. Refuses a ring that breaks its contract: sizes, primes that are no primes, not 1 mod 2N, too
// large or twice there, a psi that is no primitive 2N-th root, a digit_run of 0, groups that do not add up to q_count.
int32_t hx_cpu_tables_create(hx_device *device, const hx_ring *ring, hx_tables **out, hx_error *error);
void hx_cpu_tables_destroy(hx_tables *tables);
// Whether the tables were made for this ring.
bool hx_cpu_tables_fit(const hx_tables *tables, const hx_ring *ring);

#endif
