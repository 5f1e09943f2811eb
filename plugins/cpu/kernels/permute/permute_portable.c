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

HXS_INLINE void scatter_row(void *out, const void *in, const hx_cpu_turn_t *turn, size_t at, size_t count,
                            uint32_t word) {
  for (size_t i = 0; i < count; i += 8) {
    const uint32_t place = turn->groups[(at + i) / 8];
    const uint64_t *lanes = turn->lanes[place % 8];
    for (size_t l = 0; l < 8; l++) {
      hxs_row_store(out, place / 8 * 8 + l, hxs_row_load(in, i + lanes[l], word), word);
    }
  }
}
static void scatter64(void *out, const void *in, const hx_cpu_turn_t *turn, size_t at, size_t count) {
  scatter_row(out, in, turn, at, count, 64);
}
static void scatter32(void *out, const void *in, const hx_cpu_turn_t *turn, size_t at, size_t count) {
  scatter_row(out, in, turn, at, count, 32);
}

void hx_cpu_turn_fill(hx_cpu_turn_t *turn, const uint32_t *places, size_t n) {
  turn->count = n;
  for (size_t i = 0; i < n; i += 8) {
    turn->groups[i / 8] = places[i];
    for (size_t j = 0; j < 8; j++) {
      turn->lanes[places[i] % 8][places[i + j] % 8] = j;
    }
  }
}

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

const hx_cpu_permute_t hx_cpu_permute_portable64 = {
    .gather = gather64, .scatter = scatter64, .substitute = substitute64};
const hx_cpu_permute_t hx_cpu_permute_portable32 = {
    .gather = gather32, .scatter = scatter32, .substitute = substitute32};
