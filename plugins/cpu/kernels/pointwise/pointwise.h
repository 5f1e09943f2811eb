// SPDX-License-Identifier: Apache-2.0
// Element by element on rows of n residues. out may be any of the operands. Standard residues in [0, q) in and out,
// unless a line says otherwise.
#ifndef HX_CPU_KERNELS_POINTWISE_H
#define HX_CPU_KERNELS_POINTWISE_H

#include "heliox/support/modular.h"

// Most pairs that one call of dot may sum: 64 products below 2^122, or 4 below 2^62, stay below two words.
#define HX_CPU_DOT_MAX(word) ((word) == 64 ? 64u : 4u)

typedef struct hx_cpu_pointwise {
  // modulus: q for standard residues, 2q for lazy ones (operands and result in [0, 2q)).
  void (*add)(void *out, const void *a, const void *b, uint64_t modulus, size_t n);
  void (*sub)(void *out, const void *a, const void *b, uint64_t modulus, size_t n);
  void (*neg)(void *out, const void *a, uint64_t modulus, size_t n);
  void (*add_scalar)(void *out, const void *a, uint64_t c, uint64_t modulus, size_t n);
  // Any words a to a mod q.
  void (*reduce)(void *out, const void *a, const hxs_modulus *m, size_t n);
  void (*mul)(void *out, const void *a, const void *b, const hxs_modulus *m, size_t n);
  void (*mul_add)(void *out, const void *acc, const void *a, const void *b, const hxs_modulus *m, size_t n);
  // a * b * 2^-w.
  void (*mul_montgomery)(void *out, const void *a, const void *b, const hxs_modulus *m, size_t n);
  // a * c; any words a.
  void (*mul_scalar)(void *out, const void *a, hxs_factor c, const hxs_modulus *m, size_t n);
  // acc + a * c, a in [0, 2q).
  void (*mul_scalar_add)(void *out, const void *acc, const void *a, hxs_factor c, const hxs_modulus *m, size_t n);
  // acc (NULL: 0) + sum of a[k] * b[k], k < count <= HX_CPU_DOT_MAX.
  void (*dot)(void *out, const void *acc, const void *const *a, const void *const *b, uint32_t count,
              const hxs_modulus *m, size_t n);
} hx_cpu_pointwise_t;

extern const hx_cpu_pointwise_t hx_cpu_pointwise_portable64, hx_cpu_pointwise_portable32;
#if defined(__x86_64__)
extern const hx_cpu_pointwise_t hx_cpu_pointwise_avx2, hx_cpu_pointwise_avx512dq, hx_cpu_pointwise_avx512ifma;
#endif

#endif
