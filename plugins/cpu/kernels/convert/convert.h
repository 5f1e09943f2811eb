// SPDX-License-Identifier: Apache-2.0
// Rows of several primes to a row of one: all that base conversion, division and mixed radix need.
#ifndef HX_CPU_KERNELS_CONVERT_H
#define HX_CPU_KERNELS_CONVERT_H

#include "heliox/support/modular.h"

// Affine maps have start and weights in Montgomery form (times 2^w mod q, below q), so that one Montgomery reduction of
// the sum ends it.
typedef struct hx_cpu_convert {
  // Result in [0, q); out may be any of the inputs.
  void (*combine)(void *out, const void *const *in, const hxs_affine *map, const hxs_modulus *m, size_t n);
  // Result in [0, 2q): what the forward transform takes.
  void (*combine_lazy)(void *out, const void *const *in, const hxs_affine *map, const hxs_modulus *m, size_t n);
  // Signed words to residues in [0, q).
  void (*lift_signed)(void *out, const int64_t *in, const hxs_modulus *m, size_t n);
} hx_cpu_convert_t;

extern const hx_cpu_convert_t hx_cpu_convert_portable64, hx_cpu_convert_portable32;
#if defined(__x86_64__)
extern const hx_cpu_convert_t hx_cpu_convert_avx2, hx_cpu_convert_avx512dq, hx_cpu_convert_avx512ifma;
#endif

#endif
