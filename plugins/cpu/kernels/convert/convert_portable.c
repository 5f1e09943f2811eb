// SPDX-License-Identifier: Apache-2.0
// Affine combinations of rows, both residue words: double-word accumulation, one Montgomery reduction an output.
#include "kernels/convert/convert.h"

// Terms between two corrections of the high word. Inputs are below 2^61 and weights below q, so CHUNK terms sum below
// q * 2^64; with the accumulator below q * 2^64 before, the high word stays below 2q, and one subtraction brings it
// below q again, as hxs_mod_redc_lazy asks. The first chunk starts from `start` < q and is below q * 2^64 - 8 * (q - 1)
// + q <= q * 2^64: no correction is needed after it.
#define CHUNK 8u

HXS_INLINE uint64_t sum64(const void *const *in, size_t i, const hxs_affine *map, uint32_t count,
                          const hxs_modulus *m) {
  hxs_u128 sum = map->start;
  for (uint32_t k = 0; k < count; k++) {
    sum += (hxs_u128)hxs_row_load(in[k], i, 64) * map->weights[k];
    if (k >= CHUNK && k % CHUNK == CHUNK - 1) {
      sum = (hxs_u128)hxs_mod_once((uint64_t)(sum >> 64), m->q) << 64 | (uint64_t)sum;
    }
  }
  if (count > CHUNK && count % CHUNK != 0) {
    sum = (hxs_u128)hxs_mod_once((uint64_t)(sum >> 64), m->q) << 64 | (uint64_t)sum;
  }
  return hxs_mod_redc_lazy((uint64_t)(sum >> 64), (uint64_t)sum, m, 64);
}

// Inputs are below 2^31: a term is below q * 2^31. With the sum below q * 2^32 before a term, it is below
// q * (2^32 + 2^31) < 2^63 + 2^62 after it, and the correction by q * 2^32 < 2^63 is exact. The start and the first
// term need none.
HXS_INLINE uint64_t sum32(const void *const *in, size_t i, const hxs_affine *map, uint32_t count,
                          const hxs_modulus *m) {
  uint64_t sum = map->start;
  for (uint32_t k = 0; k < count; k++) {
    sum += hxs_row_load(in[k], i, 32) * map->weights[k];
    if (k > 0) {
      sum = hxs_mod_once(sum, m->q << 32);
    }
  }
  return hxs_mod_redc_lazy(sum >> 32, (uint32_t)sum, m, 32);
}

// `count` is a constant where it is small, so that the loop over the terms disappears.
HXS_INLINE void combine_count(void *out, const void *const *in, const hxs_affine *map, uint32_t count,
                              const hxs_modulus *modulus, size_t n, uint32_t word, int full) {
  const hxs_modulus m = *modulus;
  for (size_t i = 0; i < n; i++) {
    uint64_t x = word == 64 ? sum64(in, i, map, count, &m) : sum32(in, i, map, count, &m);
    hxs_row_store(out, i, full ? hxs_mod_once(x, m.q) : x, word);
  }
}

HXS_INLINE void combine_row(void *out, const void *const *in, const hxs_affine *map, const hxs_modulus *m, size_t n,
                            uint32_t word, int full) {
  switch (map->count) {
    case 1:
      combine_count(out, in, map, 1, m, n, word, full);
      break;
    case 2:
      combine_count(out, in, map, 2, m, n, word, full);
      break;
    case 3:
      combine_count(out, in, map, 3, m, n, word, full);
      break;
    case 4:
      combine_count(out, in, map, 4, m, n, word, full);
      break;
    case 5:
      combine_count(out, in, map, 5, m, n, word, full);
      break;
    case 6:
      combine_count(out, in, map, 6, m, n, word, full);
      break;
    case 7:
      combine_count(out, in, map, 7, m, n, word, full);
      break;
    case 8:
      combine_count(out, in, map, 8, m, n, word, full);
      break;
    default:
      combine_count(out, in, map, map->count, m, n, word, full);
      break;
  }
}

static void combine64(void *out, const void *const *in, const hxs_affine *map, const hxs_modulus *m, size_t n) {
  combine_row(out, in, map, m, n, 64, 1);
}
static void combine32(void *out, const void *const *in, const hxs_affine *map, const hxs_modulus *m, size_t n) {
  combine_row(out, in, map, m, n, 32, 1);
}
static void combine_lazy64(void *out, const void *const *in, const hxs_affine *map, const hxs_modulus *m, size_t n) {
  combine_row(out, in, map, m, n, 64, 0);
}
static void combine_lazy32(void *out, const void *const *in, const hxs_affine *map, const hxs_modulus *m, size_t n) {
  combine_row(out, in, map, m, n, 32, 0);
}

// x + 2^63 is an unsigned word; its residue less that of 2^63 is x's.
HXS_INLINE void lift_signed_row(void *out, const int64_t *in, const hxs_modulus *modulus, size_t n, uint32_t word) {
  const hxs_modulus m = *modulus;
  const uint64_t offset = (uint64_t)1 << 63;
  const uint64_t back = m.q - hxs_mod_once(hxs_mod_word_lazy(offset, &m, 64), m.q);  // in (0, q]
  for (size_t i = 0; i < n; i++) {
    uint64_t x = hxs_mod_word_lazy((uint64_t)in[i] ^ offset, &m, 64) + back;  // < 3q
    hxs_row_store(out, i, hxs_mod_once(hxs_mod_once(x, m.two_q), m.q), word);
  }
}
static void lift_signed64(void *out, const int64_t *in, const hxs_modulus *m, size_t n) {
  lift_signed_row(out, in, m, n, 64);
}
static void lift_signed32(void *out, const int64_t *in, const hxs_modulus *m, size_t n) {
  lift_signed_row(out, in, m, n, 32);
}

const hx_cpu_convert_t hx_cpu_convert_portable64 = {
    .combine = combine64, .combine_lazy = combine_lazy64, .lift_signed = lift_signed64};
const hx_cpu_convert_t hx_cpu_convert_portable32 = {
    .combine = combine32, .combine_lazy = combine_lazy32, .lift_signed = lift_signed32};
