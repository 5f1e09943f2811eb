// SPDX-License-Identifier: Apache-2.0
// Automorphisms of both residue words. Places and signs depend on the public element alone.
#include "kernels/permute/permute.h"

HXS_INLINE void gather_row(void *out, const void *in, const uint32_t *index, size_t n, uint32_t word) {
  for (size_t i = 0; i < n; i++) {
    hxs_row_store(out, i, hxs_row_load(in, index[i], word), word);
  }
}
static void gather64(void *out, const void *in, const uint32_t *index, size_t n) { gather_row(out, in, index, n, 64); }
static void gather32(void *out, const void *in, const uint32_t *index, size_t n) { gather_row(out, in, index, n, 32); }

// a_i goes to e = i * element mod 2n, or as -a_i to e - n where e >= n.
HXS_INLINE void substitute_row(void *out, const void *in, uint32_t element, uint64_t q, size_t n, uint32_t word) {
  size_t e = 0;
  for (size_t i = 0; i < n; i++) {
    uint64_t x = hxs_row_load(in, i, word);
    uint64_t negative = hxs_mod_once(q - x, q);
    hxs_row_store(out, e & (n - 1), e < n ? x : negative, word);
    e = (e + element) & (2 * n - 1);
  }
}
static void substitute64(void *out, const void *in, uint32_t element, uint64_t q, size_t n) {
  substitute_row(out, in, element, q, n, 64);
}
static void substitute32(void *out, const void *in, uint32_t element, uint64_t q, size_t n) {
  substitute_row(out, in, element, q, n, 32);
}

const hx_cpu_permute_t hx_cpu_permute_portable64 = {.gather = gather64, .substitute = substitute64};
const hx_cpu_permute_t hx_cpu_permute_portable32 = {.gather = gather32, .substitute = substitute32};
