// SPDX-License-Identifier: Apache-2.0
// ChaCha20 in vectors, compiled once for each instruction set, and the choice among residues that it feeds. Public
// data: nothing here is constant time.
#ifndef HELIOX_CORE_CKKS_EXPAND_KERNELS_H
#define HELIOX_CORE_CKKS_EXPAND_KERNELS_H

#include <stddef.h>
#include <stdint.h>

enum { HX_CHACHA_LANES = 16, HX_CHACHA_WORDS = 16 };  // blocks at once; 32-bit words of a block

typedef struct hx_expand_kernels {
  const char *name;
  // out[b] is keystream block counters[b] of the state, whose counter word (12) is ignored.
  void (*blocks)(const uint32_t state[HX_CHACHA_WORDS], const uint32_t counters[HX_CHACHA_LANES],
                 uint32_t out[HX_CHACHA_LANES][HX_CHACHA_WORDS]);
  // row[i] = words[i] & mask where row[i] >= q, i < 8; how many stay at or above q.
  uint32_t (*draw64)(uint64_t *row, const uint32_t *words, uint64_t mask, uint64_t q);
  // The same of 16 32-bit residues.
  uint32_t (*draw32)(uint32_t *row, const uint32_t *words, uint32_t mask, uint32_t q);
} hx_expand_kernels_t;

// For this processor; and all that it runs, the portable ones first: returns their number.
const hx_expand_kernels_t *hx_expand_kernels(void);
size_t hx_expand_kernels_list(const hx_expand_kernels_t *out[3]);

extern const hx_expand_kernels_t hx_expand_kernels_portable;
#ifdef HELIOX_X86
extern const hx_expand_kernels_t hx_expand_kernels_avx2, hx_expand_kernels_avx512;
#endif

#endif
