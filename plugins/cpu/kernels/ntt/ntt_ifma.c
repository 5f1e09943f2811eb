// SPDX-License-Identifier: Apache-2.0
#include "kernels/ntt/ntt_ifma.h"

// floor(floor(c * 2^64 / q) / 2^12) = floor(c * 2^52 / q).
static void put(const uint64_t *roots, const uint64_t *quotients, size_t node, uint64_t *value, uint64_t *quotient) {
  *value = roots[node];
  *quotient = quotients[node] >> 12;
}

void hx_cpu_ifma_arrange(const uint64_t *roots, const uint64_t *quotients, uint32_t log_n, uint64_t *out) {
  static const size_t four[4] = {0, 2, 1, 3}, eight[8] = {0, 4, 2, 6, 1, 5, 3, 7};
  const size_t n = (size_t)1 << log_n;
  for (size_t i = 0; i < n / 8; i++) {
    put(roots, quotients, i, &out[2 * i], &out[2 * i + 1]);
  }
  for (size_t block = 0; block < n / 16; block++) {
    const size_t p = block % 4;
    uint64_t *group = out + n / 4 + block / 4 * 112;
    for (size_t i = 0; i < 2; i++) {
      put(roots, quotients, n / 8 + 2 * block + i, &group[4 * p + i], &group[4 * p + 2 + i]);
    }
    for (size_t i = 0; i < 4; i++) {
      put(roots, quotients, n / 4 + 4 * block + four[i], &group[16 + 8 * p + i], &group[16 + 8 * p + 4 + i]);
    }
    for (size_t i = 0; i < 8; i++) {
      put(roots, quotients, n / 2 + 8 * block + eight[i], &group[48 + 16 * p + i], &group[48 + 16 * p + 8 + i]);
    }
  }
}
