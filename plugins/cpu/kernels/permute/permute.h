// SPDX-License-Identifier: Apache-2.0
// Automorphisms of one row of n residues in [0, q). out and in are different rows.
#ifndef HX_CPU_KERNELS_PERMUTE_H
#define HX_CPU_KERNELS_PERMUTE_H

#include "heliox/support/modular.h"

// An automorphism in ntt domain by where values go. With i = 8b + j, the numbers 2 brv(i) + 1 of one b differ by
// multiples of n/4, and so do their products with an odd number: aligned groups of eight go to aligned groups of eight,
// and the place of the first of them says where the others go.
typedef struct hx_cpu_turn {
  size_t count;          // n
  uint32_t *groups;      // [n / 8] where value 8b goes
  uint64_t lanes[8][8];  // where it goes to place r of its group: which of the eight goes to place l
} hx_cpu_turn_t;

typedef struct hx_cpu_permute {
  // ntt domain: out[i] = in[index[i]]; index is that of an automorphism.
  void (*gather)(void *out, const void *in, const uint32_t *index, size_t n);
  // ntt domain, a part of a row: `count` values from `at` on (multiples of eight), which are in[0] and following, to
  // their places in the whole row `out`. In ascending order: the row is written when its last part is.
  void (*scatter)(void *out, const void *in, const hx_cpu_turn_t *turn, size_t at, size_t count);
  // Coefficients: X -> X^element, element odd and below 2n; n is a power of two.
  void (*substitute)(void *out, const void *in, uint32_t element, uint64_t q, size_t n);
} hx_cpu_permute_t;

// From places[i], where value i of n goes: the index of the inverse automorphism. turn->groups has room.
void hx_cpu_turn_fill(hx_cpu_turn_t *turn, const uint32_t *places, size_t n);

extern const hx_cpu_permute_t hx_cpu_permute_portable64, hx_cpu_permute_portable32;
#if defined(__x86_64__)
extern const hx_cpu_permute_t hx_cpu_permute_avx512ifma;
#endif

#endif
