// SPDX-License-Identifier: Apache-2.0
// Arithmetic of one prime, branch-free in the residues: what kernels are built from.
//
// A row holds residues of one prime as u64 (q < 2^61) or u32 (q < 2^31). `word` is 64 or 32 and a constant at every
// call, so each function compiles to the code of one width. With word = 32 all intermediates fit 64 bits.
#ifndef HELIOX_SUPPORT_MODULAR_H
#define HELIOX_SUPPORT_MODULAR_H

#include <stddef.h>
#include <stdint.h>

// Small functions of hot loops.
#define HXS_INLINE static inline __attribute__((always_inline))

// A double word.
__extension__ typedef unsigned __int128 hxs_u128;

// What reductions mod q need. L = bits: 2^(L-1) < q < 2^L; w = word.
typedef struct hxs_modulus {
  uint64_t q;               // the prime
  uint64_t two_q;           // 2q
  uint64_t ratio;           // floor(2^64 / q)
  uint64_t barrett;         // w = 64: floor(2^(L+62) / q); w = 32: floor(2^(L+31) / q)
  uint64_t radix;           // 2^w mod q
  uint64_t radix_quotient;  // floor(radix * 2^w / q)
  uint64_t inverse;         // q^-1 mod 2^w
  uint32_t bits;            // L
  uint32_t word;            // w
} hxs_modulus;

// A constant c < q with its Shoup quotient floor(c * 2^w / q).
typedef struct hxs_factor {
  uint64_t value;     // c
  uint64_t quotient;  // of it
} hxs_factor;

// start + sum of weights[k] * in[k] mod one prime. Inputs are residues of any primes of the ring's word.
typedef struct hxs_affine {
  uint32_t count;     // of weights
  uint64_t start;     // a residue
  uint64_t *weights;  // [count]
} hxs_affine;

// Element i of a row of 32-bit or 64-bit words.
HXS_INLINE uint64_t hxs_row_load(const void *row, size_t i, uint32_t word) {
  return word == 64 ? ((const uint64_t *)row)[i] : ((const uint32_t *)row)[i];
}

// Sets element i.
HXS_INLINE void hxs_row_store(void *row, size_t i, uint64_t value, uint32_t word) {
  if (word == 64) {
    ((uint64_t *)row)[i] = value;
  } else {
    ((uint32_t *)row)[i] = (uint32_t)value;
  }
}

// The high word of a product.
HXS_INLINE uint64_t hxs_mul_high(uint64_t a, uint64_t b) { return (uint64_t)(((hxs_u128)a * b) >> 64); }

// x - q if x >= q, else x. Needs |x - q| < 2^63, which holds for x < 4q and q < 2^61.
HXS_INLINE uint64_t hxs_mod_once(uint64_t x, uint64_t q) {
  uint64_t d = x - q;
  return d + (q & (0 - (d >> 63)));
}

// x * c mod q in [0, 2q), for any word x. The quotient is at most one short of floor(x * c / q): it loses less than
// x / 2^w < 1 through its own rounding down and less than 1 through the shift.
HXS_INLINE uint64_t hxs_mod_shoup_lazy(uint64_t x, hxs_factor c, uint64_t q, uint32_t word) {
  uint64_t estimate = word == 64 ? hxs_mul_high(x, c.quotient) : (x * c.quotient) >> 32;
  return x * c.value - estimate * q;
}

// Any word x (w bits) mod q in [0, 2q): x/q - x*ratio/2^w < x/2^w + 1 < 2.
HXS_INLINE uint64_t hxs_mod_word_lazy(uint64_t x, const hxs_modulus *m, uint32_t word) {
  uint64_t estimate = word == 64 ? hxs_mul_high(x, m->ratio) : (x * (m->ratio >> 32)) >> 32;
  return x - estimate * m->q;
}

// a * b + c mod q for a, b, c in [0, q); a * b + c < q^2 < 2^2L.
// w = 64: top = floor(z / 2^(L-2)) < 2^(L+2) <= 2^63. z/q - top*barrett/2^64 is below
//   2^(L-2)/q + top/2^64 < 1/2 + 1/2, and the shift loses below 1: the rest is in [0, 2q).
// w = 32: top = floor(z / 2^(L-1)) < 2^(L+1) <= 2^32, barrett < 2^32. The loss is below
//   2^(L-1)/q + top/2^32 + 1 < 3: the rest is in [0, 3q).
HXS_INLINE uint64_t hxs_mod_mul_add(uint64_t a, uint64_t b, uint64_t c, const hxs_modulus *m, uint32_t word) {
  if (word == 64) {
    hxs_u128 z = (hxs_u128)a * b + c;
    uint64_t low = (uint64_t)z;
    uint32_t shift = m->bits - 2;
    uint64_t top = low >> shift | (uint64_t)(z >> 64) << (64 - shift);
    return hxs_mod_once(low - hxs_mul_high(top, m->barrett) * m->q, m->q);
  }
  uint64_t z = a * b + c;
  uint64_t estimate = ((z >> (m->bits - 1)) * m->barrett) >> 32;
  return hxs_mod_once(hxs_mod_once(z - estimate * m->q, m->two_q), m->q);
}

// Any double word (high, low) mod q: high * 2^w by Shoup in [0, 2q), low in [0, 2q), their sum below 4q.
HXS_INLINE uint64_t hxs_mod_wide(uint64_t high, uint64_t low, const hxs_modulus *m, uint32_t word) {
  hxs_factor radix = {m->radix, m->radix_quotient};
  uint64_t sum = hxs_mod_shoup_lazy(high, radix, m->q, word) + hxs_mod_word_lazy(low, m, word);
  return hxs_mod_once(hxs_mod_once(sum, m->two_q), m->q);
}

// Montgomery: (high, low) * 2^-w mod q in (0, 2q), for high < q. low*inverse*q has the same low word, so the
// difference of the high words is exact and in (-q, q).
HXS_INLINE uint64_t hxs_mod_redc_lazy(uint64_t high, uint64_t low, const hxs_modulus *m, uint32_t word) {
  if (word == 64) {
    return high - hxs_mul_high(low * m->inverse, m->q) + m->q;
  }
  uint64_t k = (uint32_t)(low * m->inverse);
  return high - ((k * m->q) >> 32) + m->q;
}

#endif
