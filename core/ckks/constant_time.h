// SPDX-License-Identifier: Apache-2.0
// Selection without branches. Compilers know that a mask of a comparison is all ones or zero, and some then make a
// branch of it; the barrier takes that knowledge away.
#ifndef HELIOX_CORE_CKKS_CONSTANT_TIME_H
#define HELIOX_CORE_CKKS_CONSTANT_TIME_H

#include <stdint.h>

static inline uint64_t hx_barrier(uint64_t x) {
  __asm__("" : "+r"(x));
  return x;
}

// All ones for 1, 0 for 0.
static inline uint64_t hx_mask(uint64_t bit) { return hx_barrier(0 - bit); }

// All ones where a < b; both below 2^63, so that the top bit of the difference says it.
static inline uint64_t hx_mask_less(uint64_t a, uint64_t b) { return hx_mask((a - b) >> 63); }

// All ones where a == b.
static inline uint64_t hx_mask_equal(uint64_t a, uint64_t b) {
  const uint64_t other = a ^ b;
  return ~hx_mask((other | (0 - other)) >> 63);
}

// a where the mask is all ones, else b.
static inline uint64_t hx_select(uint64_t mask, uint64_t a, uint64_t b) { return b ^ ((a ^ b) & mask); }

#endif
