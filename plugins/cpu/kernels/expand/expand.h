// SPDX-License-Identifier: Apache-2.0
// Uniform rows from a seed. The row is public by construction (half of a key or ciphertext), so rejection may branch.
#ifndef HX_CPU_KERNELS_EXPAND_H
#define HX_CPU_KERNELS_EXPAND_H

#include "heliox/support/modular.h"

typedef struct hx_cpu_expand {
  // ChaCha20 with key `seed`, nonce index | prime_id | 0 (little-endian words) and block counter from 0: element c is
  // the first of keystream words c, n + c, 2n + c, ... whose low L bits are below q.
  void (*row)(void *out, const uint8_t seed[32], uint32_t index, uint32_t prime_id, const hxs_modulus *m, size_t n);
} hx_cpu_expand_t;

extern const hx_cpu_expand_t hx_cpu_expand_portable64, hx_cpu_expand_portable32;
#if defined(__x86_64__)
extern const hx_cpu_expand_t hx_cpu_expand_avx2, hx_cpu_expand_avx2_32, hx_cpu_expand_avx512dq,
    hx_cpu_expand_avx512dq_32;
#endif

#endif
