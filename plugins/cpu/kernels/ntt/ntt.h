// SPDX-License-Identifier: Apache-2.0
// The negacyclic transform of one row. See README.md for the ranges inside.
#ifndef HX_CPU_KERNELS_NTT_H
#define HX_CPU_KERNELS_NTT_H

#include "heliox/support/modular.h"

// Twiddles of one prime, as rows of the residue word, in bit-reversed order: forward[i] = psi^brv(i),
// inverse[i] = psi^-brv(i), i in [0, n), each with its Shoup quotients. last holds the factors of the final inverse
// stage: 1/n for the sum, inverse[1]/n for the difference.
typedef struct hx_cpu_twiddles {
  const void *forward, *forward_quotient;
  const void *inverse, *inverse_quotient;
  hxs_factor last[2];
  const uint64_t *forward52, *inverse52, *constants52;  // what 52-bit products take (ntt_ifma.h), or NULL
  const uint64_t *forward_tail, *inverse_tail;          // the same of large primes (ntt_ifma.h), or NULL
} hx_cpu_twiddles_t;

// Both transform one row of 2^log_n residues, log_n >= 3; out may be in.
typedef struct hx_cpu_ntt {
  // Coefficients in [0, 2q) to A[i] = a(psi^(2*brv(i)+1)) in [0, q).
  void (*forward)(void *out, const void *in, const hxs_modulus *m, const hx_cpu_twiddles_t *t, uint32_t log_n);
  // Values in [0, 2q) to coefficients in [0, q), 1/n included.
  void (*inverse)(void *out, const void *in, const hxs_modulus *m, const hx_cpu_twiddles_t *t, uint32_t log_n);
} hx_cpu_ntt_t;

extern const hx_cpu_ntt_t hx_cpu_ntt_portable64, hx_cpu_ntt_portable32;
#if defined(__x86_64__)
extern const hx_cpu_ntt_t hx_cpu_ntt_avx2, hx_cpu_ntt_avx512dq;
// Rows whose prime has no 52-bit twiddles go to large_avx512ifma, where it has those of large primes, or to avx512dq.
extern const hx_cpu_ntt_t hx_cpu_ntt_avx512ifma, hx_cpu_ntt_large_avx512ifma;
#endif

#endif
