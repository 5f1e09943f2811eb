// SPDX-License-Identifier: Apache-2.0
// Automorphisms in ntt domain, an aligned group of eight at a time: see hx_cpu_turn_t.
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

HXS_INLINE void scatter_part(uint64_t *to, const uint64_t *from, const hx_cpu_turn_t *turn, size_t at, size_t count,
                             int streams) {
  for (size_t i = 0; i < count; i += 8) {
    const uint32_t place = turn->groups[(at + i) / 8];
    const hx_vec values = _mm512_permutexvar_epi64(load(turn->lanes[place & 7]), load(from + i));
    if (streams) {
      _mm512_stream_si512((void *)(to + (place & ~7u)), values);
    } else {
      store(to + (place & ~7u), values);
    }
  }
}

// Whole lines in no order that a processor guesses: it would read each of them first. Written past the caches they are
// not read, and do not push out what the next row needs.
static void scatter(void *out, const void *in, const hx_cpu_turn_t *turn, size_t at, size_t count) {
  if ((uintptr_t)out % sizeof(hx_vec) == 0) {
    scatter_part(out, in, turn, at, count, 1);
    if (at + count == turn->count) {
      _mm_sfence();  // before anybody is told that the row is there
    }
  } else {
    scatter_part(out, in, turn, at, count, 0);
  }
}

static void substitute(void *out, const void *in, uint32_t element, uint64_t q, size_t n) {
  hx_cpu_permute_portable64.substitute(out, in, element, q, n);
}

const hx_cpu_permute_t hx_cpu_permute_avx512ifma = {.gather = gather, .scatter = scatter, .substitute = substitute};
