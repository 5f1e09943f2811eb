// SPDX-License-Identifier: Apache-2.0
#include "core/ckks/sampling.h"

#include "core/base/memory.h"
#include "core/ckks/constant_time.h"
#include "core/ckks/encode_kernels.h"

enum { BATCH = 256 };  // words drawn at a time

// round(2^63 * P(|e| <= k)), k = 0..18, e from the discrete Gaussian of sigma 3.2 cut at 19:
// check: 2^63 * (1 + 2 * sum(exp(-j^2 / 20.48), j = 1..k)) / (1 + 2 * sum(exp(-j^2 / 20.48), j = 1..19))
static const uint64_t cumulative[HX_ERROR_MAX] = {
    0x0ff52b40a5917f1d, 0x2e5a25d4bf0e400e, 0x489ae26955b04bd6, 0x5d2bc20f621bf185, 0x6bc8694c3cc80ff5,
    0x7532d89ac6ba7dcf, 0x7ab396cb74436799, 0x7d9e4e916643eb08, 0x7f05495819eb2051, 0x7fa1ce9c0039a957,
    0x7fdfb3f212e8c4e9, 0x7ff5e6f9d2314fcc, 0x7ffd1f97bc4406a3, 0x7fff40fa0088d11e, 0x7fffd2e835e1c57e,
    0x7ffff6524386ff1e, 0x7ffffe1db4769da5, 0x7fffffac0a1dcb09, 0x7ffffff428673853};

void hx_sample_ternary(hx_random_t *random, size_t count, int8_t *out) {
  uint64_t words[BATCH];
  for (size_t first = 0; first < count; first += BATCH) {
    const size_t size = count - first < BATCH ? count - first : BATCH;
    hx_random_bytes(random, words, size * sizeof *words);
    hx_encode_kernels()->ternary(words, size, out + first);
  }
  hx_wipe(words, sizeof words);
}

void hx_sample_error(hx_random_t *random, size_t count, int8_t *out) {
  uint64_t words[BATCH];
  for (size_t first = 0; first < count; first += BATCH) {
    const size_t size = count - first < BATCH ? count - first : BATCH;
    hx_random_bytes(random, words, size * sizeof *words);
    hx_encode_kernels()->gaussian(words, size, cumulative, HX_ERROR_MAX, out + first);
  }
  hx_wipe(words, sizeof words);
}

// keys[i] <= keys[j] afterwards, but for their low two bits.
static void order(uint64_t *keys, size_t i, size_t j) {
  const uint64_t a = keys[i], b = keys[j];
  const uint64_t swap = (a ^ b) & hx_mask_less(b >> 2, a >> 2);
  keys[i] = a ^ swap;
  keys[j] = b ^ swap;
}

// Batcher's merge exchange [KNU98, 5.2.2 M]: which pairs are ordered depends on count alone, a power of two.
static void sort(uint64_t *keys, size_t count) {
  for (size_t p = 1; p < count; p *= 2)
    for (size_t k = p; k >= 1; k /= 2)
      for (size_t j = k % p; j + k < count; j += 2 * k)
        for (size_t i = j; i < j + k && i + k < count; ++i)
          if (i / (2 * p) == (i + k) / (2 * p)) order(keys, i, i + k);
}

bool hx_sample_weight(hx_random_t *random, size_t count, size_t weight, int8_t *out) {
  uint64_t *keys = hx_alloc(count * sizeof *keys);
  if (keys == NULL) return false;
  uint64_t equal;
  do {
    hx_random_bytes(random, keys, count * sizeof *keys);
    for (size_t i = 0; i < count; ++i) {
      // The low two bits become the coefficient: 0, or 1 or 3 (for -1) by a random bit.
      const uint64_t low = i < weight ? 1 | (keys[i] & 2) : 0;
      keys[i] = (keys[i] & ~(uint64_t)3) | low;
    }
    sort(keys, count);
    equal = 0;
    for (size_t i = 1; i < count; ++i) equal |= (uint64_t)((keys[i] ^ keys[i - 1]) < 4);
  } while (equal != 0);
  for (size_t i = 0; i < count; ++i) out[i] = (int8_t)((int64_t)(keys[i] & 1) - (int64_t)(keys[i] & 2));
  hx_wipe(keys, count * sizeof *keys);
  hx_free(keys);
  return true;
}
