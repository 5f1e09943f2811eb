// SPDX-License-Identifier: Apache-2.0
// Operations of the cpu plugin by its own tables: regions of one operation or a chain, without the library around them.
#ifndef HX_BENCH_REGION_H
#define HX_BENCH_REGION_H

#include "bench.h"
#include "device.h"
#include "prepare.h"

#define BENCH_PRIMES_MAX 64u
#define BENCH_VALUES_MAX 24u

// Shape of a switching ring: Q's primes, P's, primes of a digit.
typedef struct bench_ring {
  uint32_t log_n, q_count, p_count, digit_run;
  uint64_t primes[BENCH_PRIMES_MAX];
} bench_ring_t;

typedef enum bench_chain { BENCH_FUSED, BENCH_ROTATE, BENCH_ROTATE_MANY, BENCH_CHAIN_COUNT } bench_chain_t;

typedef struct bench_region bench_region_t;

// The largest primes of `bits`, and of 50 bits for P.
void bench_ring_fill(bench_ring_t *ring, uint32_t bits);
// NULL, having said why, where it cannot be made. threads: the plugin's share.
bench_region_t *bench_region_open(const bench_ring_t *ring, bench_chain_t chain, uint32_t threads);
bool bench_region_run(void *region);
void bench_region_close(bench_region_t *region);
const char *bench_chain_name(bench_chain_t chain);
// Work by the same model for all: see bench.h.
bench_work_t bench_chain_work(const bench_ring_t *ring, bench_chain_t chain);

#endif
