// SPDX-License-Identifier: Apache-2.0
// Automorphisms in ntt domain, eight values at a time. With i = 8b + j, the numbers 2 brv(i) + 1 of one b differ by
// multiples of n/4, and so do their products with an odd g: aligned groups of eight go to aligned groups of eight.
#include "kernels/ifma.h"
#include "kernels/permute/permute.h"

static void gather(void *out, const void *in, const uint32_t *index, size_t n) {
  const uint64_t *from = in;
  uint64_t *to = out;
  for (size_t i = 0; i < n; i += 8) {
    hx_vec places = _mm512_cvtepu32_epi64(_mm256_loadu_si256((const __m256i *)(const void *)(index + i)));
    store(to + i, _mm512_permutexvar_epi64(places, load(from + (index[i] & ~7u))));
  }
}

static void substitute(void *out, const void *in, uint32_t element, uint64_t q, size_t n) {
  hx_cpu_permute_portable64.substitute(out, in, element, q, n);
}

const hx_cpu_permute_t hx_cpu_permute_avx512ifma = {.gather = gather, .substitute = substitute};
