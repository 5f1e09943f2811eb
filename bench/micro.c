// SPDX-License-Identifier: Apache-2.0
// Row kernels: transforms of one row again and again (hot) and of sixteen in turn (sweep), and pointwise products.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bench.h"
#include "device.h"
#include "harness.h"
#include "heliox/support/number.h"
#include "kernels/features.h"
#include "kernels/variants.h"
#include "tables.h"

#define LIMBS 16u

typedef struct micro {
  hx_device *device;
  hx_tables *tables;
  uint64_t *rows;  // [LIMBS][n]
  hx_cpu_kernels_t kernels;
  uint32_t log_n, limbs;  // limbs: how many are worked on in turn
} micro_t;

static uint64_t psi_of(uint64_t q, uint32_t log_n) {
  hxs_modulus m;
  hxs_modulus_init(&m, q, 64);
  return hxs_root_of_unity(&m, log_n);
}

static void close_ring(micro_t *micro) {
  hx_cpu_tables_destroy(micro->tables);
  free(micro->rows);
  micro->tables = NULL;
  micro->rows = NULL;
}

// The largest primes of a size, and rows of residues.
static bool open_ring(micro_t *micro, uint32_t log_n, uint32_t bits) {
  uint64_t primes[LIMBS], psi[LIMBS], q = ((uint64_t)1 << bits) + 1;
  uint32_t groups[LIMBS];
  for (uint32_t i = 0; i < LIMBS; i++) {
    do {
      q -= (uint64_t)2 << log_n;
    } while (!hxs_is_prime(q));
    primes[i] = q;
    psi[i] = psi_of(q, log_n);
    groups[i] = 1;
  }
  const hx_ring ring = {.struct_size = HX_END_OF(hx_ring, digest),
                        .log_n = log_n,
                        .word = 64,
                        .q_count = LIMBS,
                        .digit_run = 1,
                        .group_count = LIMBS,
                        .primes = primes,
                        .psi = psi,
                        .group_sizes = groups};
  hx_error error = {.struct_size = HX_END_OF(hx_error, message)};
  const size_t n = (size_t)1 << log_n, bytes = LIMBS * n * sizeof(uint64_t);
  void *rows = NULL;
  micro->log_n = log_n;
  if (hx_cpu_tables_create(micro->device, &ring, &micro->tables, &error) != HX_OK ||
      posix_memalign(&rows, (size_t)2 << 20, bytes) != 0) {
    fprintf(stderr, "bench: %s\n", error.message);
    return false;
  }
  (void)madvise(rows, bytes, MADV_HUGEPAGE);
  micro->rows = rows;
  for (size_t i = 0; i < LIMBS * n; i++) {
    micro->rows[i] = i * 0x9e3779b97f4a7c15u % primes[i / n];
  }
  return true;
}

static bool forward(void *state) {
  const micro_t *micro = state;
  for (uint32_t i = 0; i < micro->limbs; i++) {
    uint64_t *row = micro->rows + ((size_t)i << micro->log_n);
    const hx_cpu_prime_t *prime = &micro->tables->primes[i];
    micro->kernels.ntt->forward(row, row, &prime->m, &prime->twiddles, micro->log_n);
  }
  return true;
}

static bool inverse(void *state) {
  const micro_t *micro = state;
  for (uint32_t i = 0; i < micro->limbs; i++) {
    uint64_t *row = micro->rows + ((size_t)i << micro->log_n);
    const hx_cpu_prime_t *prime = &micro->tables->primes[i];
    micro->kernels.ntt->inverse(row, row, &prime->m, &prime->twiddles, micro->log_n);
  }
  return true;
}

static bool multiply(void *state) {
  const micro_t *micro = state;
  const size_t n = (size_t)1 << micro->log_n;
  const hxs_modulus *m = &micro->tables->primes[0].m;
  micro->kernels.pointwise->mul(micro->rows + 2 * n, micro->rows, micro->rows, m, n);
  return true;
}

static json_t *facts_of(const micro_t *micro, const char *kernel, const char *variant, const char *order,
                        uint32_t bits) {
  return json_pack("{s:s, s:s, s:s, s:i, s:i}", "kernel", kernel, "variant", variant, "order", order, "bits", (int)bits,
                   "log_n", (int)micro->log_n);
}

static bool measure_variant(bench_suite_t *suite, micro_t *micro, const char *variant, uint32_t bits) {
  const double n = (double)((size_t)1 << micro->log_n);
  bool good = true;
  for (int sweep = 0; good && sweep < 2; sweep++) {
    micro->limbs = sweep ? LIMBS : 1;
    const bench_work_t work = {micro->limbs * n / 2 * micro->log_n, 0, 0};
    const char *order = sweep ? "sweep16" : "hot";
    const int inner = sweep ? 1 : 8;
    good = bench_measure(suite, facts_of(micro, "ntt.forward", variant, order, bits), &work, inner, forward, micro) &&
           bench_measure(suite, facts_of(micro, "ntt.inverse", variant, order, bits), &work, inner, inverse, micro);
  }
  const bench_work_t work = {0, 2 * n, 0};
  return good && bench_measure(suite, facts_of(micro, "mul", variant, "hot", bits), &work, 8, multiply, micro);
}

// 52-bit products take no larger primes: there the variant is another one's name.
static bool has_variant(const char *variant, uint32_t bits) { return bits <= 50 || strcmp(variant, "avx512ifma") != 0; }

// What is measured is right: see harness.h.
static bool is_right(const char *variant, uint32_t log_n, uint32_t bits) {
  char message[BENCH_MESSAGE];
  bool ran = false;
  const bool good = bench_check_variant(variant, log_n, bits, 1, &ran, message);
  if (!good) {
    fprintf(stderr, "bench: %s\n", message);
  }
  return good;
}

bool bench_micro(bench_suite_t *suite) {
  static const char *const variants[] = {"avx512ifma", "avx512dq", "avx2", "portable"};
  static const uint32_t bits[] = {40, 49, 50, 60};
  micro_t micro = {0};
  hx_error error = {.struct_size = HX_END_OF(hx_error, message)};
  if (hx_cpu_device_ops.open(0, &micro.device, &error) != HX_OK) {
    fprintf(stderr, "bench: %s\n", error.message);
    return false;
  }
  bool good = true;
  for (size_t b = 0; good && b < sizeof bits / sizeof bits[0]; b++) {
    for (uint32_t log_n = 12; good && log_n <= 16; log_n++) {
      good = open_ring(&micro, log_n, bits[b]);
      for (size_t v = 0; good && v < sizeof variants / sizeof variants[0]; v++) {
        if (has_variant(variants[v], bits[b]) &&
            hx_cpu_kernels_select("", variants[v], 64, bits[b], &micro.kernels, &error) == HX_OK) {
          good = is_right(variants[v], log_n, bits[b]) && measure_variant(suite, &micro, variants[v], bits[b]);
        }
      }
      close_ring(&micro);
    }
  }
  hx_cpu_device_ops.close(micro.device);
  return good;
}
