// SPDX-License-Identifier: Apache-2.0
// Automorphisms of one row of n residues in [0, q). out and in are different rows.
#ifndef HX_CPU_KERNELS_PERMUTE_H
#define HX_CPU_KERNELS_PERMUTE_H

#include "heliox/support/modular.h"

typedef struct hx_cpu_permute {
  // ntt domain: out[i] = in[index[i]]; index is that of an automorphism.
  void (*gather)(void *out, const void *in, const uint32_t *index, size_t n);
  // Coefficients: X -> X^element, element odd and below 2n; n is a power of two.
  void (*substitute)(void *out, const void *in, uint32_t element, uint64_t q, size_t n);
} hx_cpu_permute_t;

extern const hx_cpu_permute_t hx_cpu_permute_portable64, hx_cpu_permute_portable32;
#if defined(__x86_64__)
extern const hx_cpu_permute_t hx_cpu_permute_avx512ifma;
#endif

#endif
