// SPDX-License-Identifier: Apache-2.0
// The loops themselves, over vectors of eight doubles; included once by each encode_kernels_<isa>.c, whose compiler
// flags say what a vector is made of.
//
// The last four levels of a transform work inside 16 numbers that lie together. In two vectors (v0, v1), taking the
// even places of both into one and the odd ones into the other brings the partners of the next level together: partners
// lie 1 apart, then 2, 4 and 8, and after four such steps the order is natural again.
#ifndef HELIOX_CORE_CKKS_ENCODE_VECTOR_H
#define HELIOX_CORE_CKKS_ENCODE_VECTOR_H

#include <string.h>
#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include "core/ckks/encode_kernels.h"
#include "core/ckks/fft_roots.h"

typedef double v8_t __attribute__((vector_size(64), aligned(8)));
typedef int64_t i8_t __attribute__((vector_size(64), aligned(8)));
enum { LANES = 8, GROUP = 16, GROUP_LEVELS = 4 };

#define INLINE static inline __attribute__((always_inline))

INLINE v8_t all_of(double x) { return (v8_t){x, x, x, x, x, x, x, x}; }
INLINE v8_t at(const double *from) {
  v8_t v;
  memcpy(&v, from, sizeof v);
  return v;
}
INLINE void put(double *to, v8_t v) { memcpy(to, &v, sizeof v); }
INLINE v8_t evens(v8_t a, v8_t b) { return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14); }
INLINE v8_t odds(v8_t a, v8_t b) { return __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15); }
INLINE v8_t zip_low(v8_t a, v8_t b) { return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11); }
INLINE v8_t zip_high(v8_t a, v8_t b) { return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15); }

// Roots of the blocks of group g at a level of 2^spread blocks a group, as the partners lie: repeated.
INLINE v8_t roots_of(const double *numbers, uint32_t group, int spread) {
  if (spread == 3) return at(numbers + 8 * (size_t)group);
  if (spread == 2) {
    const double *r = numbers + 4 * (size_t)group;
    return (v8_t){r[0], r[1], r[2], r[3], r[0], r[1], r[2], r[3]};
  }
  if (spread == 1) {
    const double *r = numbers + 2 * (size_t)group;
    return (v8_t){r[0], r[1], r[0], r[1], r[0], r[1], r[0], r[1]};
  }
  return all_of(numbers[group]);
}

// ------------------------------------------------------------------ doubles

typedef struct complex8 {
  v8_t re, im;
} complex8_t;

// a + c b, a - c b
INLINE void forward_pair(complex8_t *a, complex8_t *b, v8_t c, v8_t s) {
  const v8_t x = b->re * c - b->im * s, y = b->re * s + b->im * c;
  b->re = a->re - x, b->im = a->im - y;
  a->re += x, a->im += y;
}

// a + b, (a - b) times the conjugate of c
INLINE void backward_pair(complex8_t *a, complex8_t *b, v8_t c, v8_t s) {
  const v8_t x = a->re - b->re, y = a->im - b->im;
  a->re += b->re, a->im += b->im;
  b->re = x * c + y * s, b->im = y * c - x * s;
}

INLINE complex8_t load8(hx_fft_vector_t v, size_t k) { return (complex8_t){at(v.re + k), at(v.im + k)}; }
INLINE void store8(hx_fft_vector_t v, size_t k, complex8_t x) {
  put(v.re + k, x.re);
  put(v.im + k, x.im);
}

// One level; `half` is the distance of partners. Numbers one by one where it is below 8.
INLINE void level_double(hx_fft_vector_t v, uint32_t log_blocks, uint32_t half, int backward) {
  const hx_fft_level_t *roots = hx_fft_level(log_blocks);
  for (uint32_t b = 0; b < (uint32_t)1 << log_blocks; ++b) {
    const double c = roots->re[b], s = roots->im[b];
    const size_t low = 2 * (size_t)b * half, high = low + half;
    if (half >= LANES) {
      const v8_t cs = all_of(c), ss = all_of(s);
      for (uint32_t k = 0; k < half; k += LANES) {
        complex8_t x = load8(v, low + k), y = load8(v, high + k);
        if (backward) backward_pair(&x, &y, cs, ss);
        if (!backward) forward_pair(&x, &y, cs, ss);
        store8(v, low + k, x);
        store8(v, high + k, y);
      }
      continue;
    }
    for (uint32_t k = 0; k < half; ++k) {
      double *ar = v.re + low + k, *ai = v.im + low + k, *br = v.re + high + k, *bi = v.im + high + k;
      if (backward) {
        const double x = *ar - *br, y = *ai - *bi;
        *ar += *br, *ai += *bi;
        *br = x * c + y * s, *bi = y * c - x * s;
      } else {
        const double x = *br * c - *bi * s, y = *br * s + *bi * c;
        *br = *ar - x, *bi = *ai - y;
        *ar += x, *ai += y;
      }
    }
  }
}

// Two levels in one pass: blocks B of four quarters; level 2B has partners `quarter` apart. quarter >= 8.
INLINE void two_levels_double(hx_fft_vector_t v, uint32_t log_blocks, uint32_t quarter, int backward) {
  const hx_fft_level_t *outer = hx_fft_level(log_blocks), *inner = hx_fft_level(log_blocks + 1);
  for (uint32_t b = 0; b < (uint32_t)1 << log_blocks; ++b) {
    const v8_t c = all_of(outer->re[b]), s = all_of(outer->im[b]);
    const v8_t c0 = all_of(inner->re[2 * b]), s0 = all_of(inner->im[2 * b]);
    const v8_t c1 = all_of(inner->re[2 * b + 1]), s1 = all_of(inner->im[2 * b + 1]);
    const size_t first = 4 * (size_t)b * quarter;
    for (size_t k = first; k < first + quarter; k += LANES) {
      complex8_t x0 = load8(v, k), x1 = load8(v, k + quarter), x2 = load8(v, k + 2 * (size_t)quarter),
                 x3 = load8(v, k + 3 * (size_t)quarter);
      if (backward) {
        backward_pair(&x0, &x1, c0, s0);
        backward_pair(&x2, &x3, c1, s1);
        backward_pair(&x0, &x2, c, s);
        backward_pair(&x1, &x3, c, s);
      } else {
        forward_pair(&x0, &x2, c, s);
        forward_pair(&x1, &x3, c, s);
        forward_pair(&x0, &x1, c0, s0);
        forward_pair(&x2, &x3, c1, s1);
      }
      store8(v, k, x0);
      store8(v, k + quarter, x1);
      store8(v, k + 2 * (size_t)quarter, x2);
      store8(v, k + 3 * (size_t)quarter, x3);
    }
  }
}

// The last four levels, of 16 numbers together. spread falls from 3 to 0 on the way back.
INLINE void group_double(hx_fft_vector_t v, uint32_t log_slots, int backward) {
  const uint32_t top = log_slots - GROUP_LEVELS;  // level of one block a group
  for (uint32_t g = 0; g < (uint32_t)1 << top; ++g) {
    complex8_t a = load8(v, GROUP * (size_t)g), b = load8(v, GROUP * (size_t)g + LANES);
    for (int i = 0; i < GROUP_LEVELS; ++i) {
      const int spread = backward ? GROUP_LEVELS - 1 - i : i;
      const hx_fft_level_t *roots = hx_fft_level(top + (uint32_t)spread);
      const v8_t c = roots_of(roots->re, g, spread), s = roots_of(roots->im, g, spread);
      if (backward) {
        complex8_t x = {evens(a.re, b.re), evens(a.im, b.im)}, y = {odds(a.re, b.re), odds(a.im, b.im)};
        backward_pair(&x, &y, c, s);
        a = x, b = y;
      } else {
        forward_pair(&a, &b, c, s);
        const complex8_t x = {zip_low(a.re, b.re), zip_low(a.im, b.im)};
        b = (complex8_t){zip_high(a.re, b.re), zip_high(a.im, b.im)};
        a = x;
      }
    }
    store8(v, GROUP * (size_t)g, a);
    store8(v, GROUP * (size_t)g + LANES, b);
  }
}

static void evaluate_double(uint32_t log_slots, hx_fft_vector_t v) {
  const uint32_t end = log_slots >= GROUP_LEVELS ? log_slots - GROUP_LEVELS : log_slots;
  uint32_t level = 0;
  if (log_slots < GROUP_LEVELS || end % 2 == 1) {
    for (; level < (log_slots < GROUP_LEVELS ? end : 1); ++level)
      level_double(v, level, (uint32_t)1 << (log_slots - level - 1), 0);
  }
  for (; level < end; level += 2) two_levels_double(v, level, (uint32_t)1 << (log_slots - level - 2), 0);
  if (log_slots >= GROUP_LEVELS) group_double(v, log_slots, 0);
}

static void interpolate_double(uint32_t log_slots, hx_fft_vector_t v) {
  uint32_t level = log_slots;
  if (log_slots >= GROUP_LEVELS) {
    group_double(v, log_slots, 1);
    level -= GROUP_LEVELS;
    for (; level >= 2; level -= 2) two_levels_double(v, level - 2, (uint32_t)1 << (log_slots - level), 1);
  }
  while (level-- > 0) level_double(v, level, (uint32_t)1 << (log_slots - level - 1), 1);
}

// ------------------------------------------------------------------ double-double, as core/ckks/fft_dd.h has it

typedef struct dd8 {
  v8_t hi, lo;
} dd8_t;

INLINE dd8_t dd_fast_sum(v8_t a, v8_t b) {
  const v8_t sum = a + b;
  return (dd8_t){sum, b - (sum - a)};
}

INLINE dd8_t dd_sum(v8_t a, v8_t b) {
  const v8_t sum = a + b, part = sum - a;
  return (dd8_t){sum, (a - (sum - part)) + (b - part)};
}

INLINE dd8_t dd_product(v8_t a, v8_t b) {
  const v8_t product = a * b;
#ifdef __AVX512F__
  return (dd8_t){product, (v8_t)_mm512_fmsub_pd((__m512d)a, (__m512d)b, (__m512d)product)};
#else
  const v8_t as = 134217729.0 * a, ah = as - (as - a), al = a - ah;
  const v8_t bs = 134217729.0 * b, bh = bs - (bs - b), bl = b - bh;
  return (dd8_t){product, ((ah * bh - product) + ah * bl + al * bh) + al * bl};
#endif
}

INLINE dd8_t dd_add(dd8_t a, dd8_t b) {
  const dd8_t sum = dd_sum(a.hi, b.hi);
  return dd_fast_sum(sum.hi, sum.lo + (a.lo + b.lo));
}

INLINE dd8_t dd_sub(dd8_t a, dd8_t b) { return dd_add(a, (dd8_t){-b.hi, -b.lo}); }

INLINE dd8_t dd_mul(dd8_t a, dd8_t b) {
  const dd8_t product = dd_product(a.hi, b.hi);
  return dd_fast_sum(product.hi, product.lo + (a.hi * b.lo + a.lo * b.hi));
}

typedef struct complex_dd {
  dd8_t re, im;
} complex_dd_t;

INLINE void forward_pair_dd(complex_dd_t *a, complex_dd_t *b, dd8_t c, dd8_t s) {
  const dd8_t x = dd_sub(dd_mul(b->re, c), dd_mul(b->im, s)), y = dd_add(dd_mul(b->re, s), dd_mul(b->im, c));
  b->re = dd_sub(a->re, x), b->im = dd_sub(a->im, y);
  a->re = dd_add(a->re, x), a->im = dd_add(a->im, y);
}

INLINE void backward_pair_dd(complex_dd_t *a, complex_dd_t *b, dd8_t c, dd8_t s) {
  const dd8_t x = dd_sub(a->re, b->re), y = dd_sub(a->im, b->im);
  a->re = dd_add(a->re, b->re), a->im = dd_add(a->im, b->im);
  b->re = dd_add(dd_mul(x, c), dd_mul(y, s)), b->im = dd_sub(dd_mul(y, c), dd_mul(x, s));
}

INLINE complex_dd_t load_dd(hx_fft_vector_t v, size_t k) {
  return (complex_dd_t){{at(v.re + k), at(v.re_low + k)}, {at(v.im + k), at(v.im_low + k)}};
}

INLINE void store_dd(hx_fft_vector_t v, size_t k, complex_dd_t x) {
  put(v.re + k, x.re.hi);
  put(v.re_low + k, x.re.lo);
  put(v.im + k, x.im.hi);
  put(v.im_low + k, x.im.lo);
}

INLINE void level_dd(hx_fft_vector_t v, uint32_t log_blocks, uint32_t half, int backward) {
  const hx_fft_level_t *roots = hx_fft_level(log_blocks);
  for (uint32_t b = 0; b < (uint32_t)1 << log_blocks; ++b) {
    const dd8_t c = {all_of(roots->re[b]), all_of(roots->re_low[b])};
    const dd8_t s = {all_of(roots->im[b]), all_of(roots->im_low[b])};
    const size_t low = 2 * (size_t)b * half;
    for (size_t k = low; k < low + half; k += LANES) {
      complex_dd_t x = load_dd(v, k), y = load_dd(v, k + half);
      if (backward) backward_pair_dd(&x, &y, c, s);
      if (!backward) forward_pair_dd(&x, &y, c, s);
      store_dd(v, k, x);
      store_dd(v, k + half, y);
    }
  }
}

INLINE dd8_t roots_dd(const double *hi, const double *lo, uint32_t group, int spread) {
  return (dd8_t){roots_of(hi, group, spread), roots_of(lo, group, spread)};
}

INLINE dd8_t evens_dd(dd8_t a, dd8_t b) { return (dd8_t){evens(a.hi, b.hi), evens(a.lo, b.lo)}; }
INLINE dd8_t odds_dd(dd8_t a, dd8_t b) { return (dd8_t){odds(a.hi, b.hi), odds(a.lo, b.lo)}; }
INLINE dd8_t zip_low_dd(dd8_t a, dd8_t b) { return (dd8_t){zip_low(a.hi, b.hi), zip_low(a.lo, b.lo)}; }
INLINE dd8_t zip_high_dd(dd8_t a, dd8_t b) { return (dd8_t){zip_high(a.hi, b.hi), zip_high(a.lo, b.lo)}; }

INLINE void group_dd(hx_fft_vector_t v, uint32_t log_slots, int backward) {
  const uint32_t top = log_slots - GROUP_LEVELS;
  for (uint32_t g = 0; g < (uint32_t)1 << top; ++g) {
    complex_dd_t a = load_dd(v, GROUP * (size_t)g), b = load_dd(v, GROUP * (size_t)g + LANES);
    for (int i = 0; i < GROUP_LEVELS; ++i) {
      const int spread = backward ? GROUP_LEVELS - 1 - i : i;
      const hx_fft_level_t *roots = hx_fft_level(top + (uint32_t)spread);
      const dd8_t c = roots_dd(roots->re, roots->re_low, g, spread), s = roots_dd(roots->im, roots->im_low, g, spread);
      if (backward) {
        complex_dd_t x = {evens_dd(a.re, b.re), evens_dd(a.im, b.im)}, y = {odds_dd(a.re, b.re), odds_dd(a.im, b.im)};
        backward_pair_dd(&x, &y, c, s);
        a = x, b = y;
      } else {
        forward_pair_dd(&a, &b, c, s);
        const complex_dd_t x = {zip_low_dd(a.re, b.re), zip_low_dd(a.im, b.im)};
        b = (complex_dd_t){zip_high_dd(a.re, b.re), zip_high_dd(a.im, b.im)};
        a = x;
      }
    }
    store_dd(v, GROUP * (size_t)g, a);
    store_dd(v, GROUP * (size_t)g + LANES, b);
  }
}

// Below 16 numbers: one by one, in hx_fft_*_small.
static void evaluate_dd(uint32_t log_slots, hx_fft_vector_t v) {
  if (log_slots < GROUP_LEVELS) {
    hx_fft_evaluate_small(log_slots, v);
    return;
  }
  for (uint32_t level = 0; level < log_slots - GROUP_LEVELS; ++level)
    level_dd(v, level, (uint32_t)1 << (log_slots - level - 1), 0);
  group_dd(v, log_slots, 0);
}

static void interpolate_dd(uint32_t log_slots, hx_fft_vector_t v) {
  if (log_slots < GROUP_LEVELS) {
    hx_fft_interpolate_small(log_slots, v);
    return;
  }
  group_dd(v, log_slots, 1);
  for (uint32_t level = log_slots - GROUP_LEVELS; level-- > 0;)
    level_dd(v, level, (uint32_t)1 << (log_slots - level - 1), 1);
}

// ------------------------------------------------------------------ between integers and doubles

// Nearest integer to |x| <= 2^51, ties to even; and that integer as a signed word.
INLINE v8_t nearest8(v8_t x) { return (x + 0x1.8p52) - 0x1.8p52; }
INLINE i8_t integer8(v8_t x) { return (i8_t)(x + 0x1.8p52) - (i8_t)all_of(0x1.8p52); }

// As hx_encode_nearest (core/ckks/encode_round.c), whose comments prove the steps; here |v| < 2^61, so that one place
// of 2^40 is enough.
INLINE i8_t round8(dd8_t v) {
  const v8_t hi1 = nearest8(v.hi * 0x1p-40), rest = v.hi - hi1 * 0x1p40;
  const v8_t hi0 = nearest8(rest), hi_rest = rest - hi0;
  const v8_t lo0 = nearest8(v.lo), lo_rest = v.lo - lo0;
  const dd8_t fraction = dd_sum(hi_rest, lo_rest);
  const v8_t whole = nearest8(fraction.hi), part = fraction.hi - whole;
  const i8_t integer = (integer8(hi1) << 40) + integer8(hi0) + integer8(lo0) + integer8(whole);
  const i8_t above = fraction.lo > 0.0, below = fraction.lo < 0.0, odd = -(integer & 1);  // all ones or 0
  const i8_t tie = ~(above | below) & odd;
  const i8_t up = (part == 0.5) & (above | tie), down = (part == -0.5) & (below | tie);
  return integer - up + down;
}

static void round_words(const double *c, const double *low, size_t count, hx_dd_t scale, double factor, int64_t *out) {
  const dd8_t scale8 = {all_of(scale.hi), all_of(scale.lo)};
  for (size_t k = 0; k < count; k += LANES) {
    double hi[LANES] = {0}, lo[LANES] = {0};
    const size_t size = count - k < LANES ? count - k : LANES;
    dd8_t x;
    if (size == LANES) {
      x = (dd8_t){at(c + k), at(low + k)};
    } else {
      memcpy(hi, c + k, size * sizeof *hi);
      memcpy(lo, low + k, size * sizeof *lo);
      x = (dd8_t){at(hi), at(lo)};
    }
    x = dd_mul(x, scale8);
    const i8_t words = round8((dd8_t){x.hi * factor, x.lo * factor});
    memcpy(out + k, &words, size * sizeof *out);
  }
}

// A word is w1 * 2^31 + w0 with 0 <= w0 < 2^31, |w1| < 2^31: both exact as doubles, and so is their sum as hi + lo.
static void widen_words(const int64_t *words, size_t count, size_t gap, double *hi, double *lo) {
  for (size_t k = 0; k < count; k += LANES) {
    const size_t size = count - k < LANES ? count - k : LANES;
    i8_t w = {0};
    if (gap == 1) memcpy(&w, words + k, size * sizeof *words);
    if (gap != 1)
      for (size_t i = 0; i < size; ++i) w[i] = words[(k + i) * gap];
    const i8_t magic = (i8_t)all_of(0x1.8p52);
    const v8_t low = (v8_t)((w & 0x7fffffff) + magic) - 0x1.8p52, high = (v8_t)((w >> 31) + magic) - 0x1.8p52;
    const dd8_t x = dd_fast_sum(high * 0x1p-31, low * 0x1p-62);
    memcpy(hi + k, &x.hi, size * sizeof *hi);
    memcpy(lo + k, &x.lo, size * sizeof *lo);
  }
}

static void scale_numbers(double *hi, const double *lo, size_t count, hx_dd_t scale) {
  const dd8_t scale8 = {all_of(scale.hi), all_of(scale.lo)};
  size_t k = 0;
  for (; k + LANES <= count; k += LANES) put(hi + k, dd_mul((dd8_t){at(hi + k), at(lo + k)}, scale8).hi);
  for (; k < count; ++k) hi[k] = hx_dd_mul((hx_dd_t){hi[k], lo[k]}, scale).hi;
}

// The less of two unsigned words: of a, below 2^63, and b, which is a minus less than 2^63 and may have passed 0.
INLINE i8_t least8(i8_t a, i8_t b) {
#ifdef __AVX512F__
  return (i8_t)_mm512_min_epu64((__m512i)a, (__m512i)b);
#else
  return b + ((a - b) & (b >> 63));
#endif
}

// w - q * nearest(w / q), then into [0, q). The quotient is below 2^51, and its error, from rounding w, 1/q and the
// product, below 2^-1 + 2^51 * 3 * 2^-53 + 2^-53 < 2: the rest is above -2q and below 2q, exact mod 2^64; with 2q more
// it is in [0, 4q), below 2^63, and two subtractions are taken back where they pass 0.
INLINE i8_t reduce8(i8_t w, double inverse, int64_t q) {
  const v8_t quotient = __builtin_convertvector(w, v8_t) * inverse;
  i8_t rest = w - integer8(quotient) * q + 2 * q;
  rest = least8(rest, rest - 2 * q);
  return least8(rest, rest - q);
}

static void reduce_words(const int64_t *words, size_t count, uint64_t q, uint64_t *out) {
  const double inverse = 1.0 / (double)q;
  size_t k = 0;
  for (; k + LANES <= count; k += LANES) {
    i8_t w;
    memcpy(&w, words + k, sizeof w);
    w = reduce8(w, inverse, (int64_t)q);
    memcpy(out + k, &w, sizeof w);
  }
  i8_t w = {0};
  if (k == count) return;
  memcpy(&w, words + k, (count - k) * sizeof *words);
  w = reduce8(w, inverse, (int64_t)q);
  memcpy(out + k, &w, (count - k) * sizeof *words);
}

static void reduce_words32(const int64_t *words, size_t count, uint64_t q, uint32_t *out) {
  const double inverse = 1.0 / (double)q;
  for (size_t k = 0; k < count; k += LANES) {
    const size_t size = count - k < LANES ? count - k : LANES;
    i8_t w = {0};
    memcpy(&w, words + k, size * sizeof *words);
    w = reduce8(w, inverse, (int64_t)q);
    for (size_t i = 0; i < size; ++i) out[k + i] = (uint32_t)w[i];
  }
}

INLINE i8_t difference8(const unsigned char *a, const unsigned char *b) {
  i8_t x, y;
  memcpy(&x, a, sizeof x);
  memcpy(&y, b, sizeof y);
  return x ^ y;
}

static uint64_t differ_rows(const void *a, const void *b, size_t bytes) {
  const unsigned char *x = a, *y = b;
  i8_t all[4] = {{0}, {0}, {0}, {0}};
  size_t k = 0;
  for (; k + 4 * sizeof(i8_t) <= bytes; k += 4 * sizeof(i8_t)) {
    for (size_t i = 0; i < 4; ++i) all[i] |= difference8(x + k + i * sizeof(i8_t), y + k + i * sizeof(i8_t));
  }
  uint64_t words[LANES], rest = 0;
  const i8_t sum = all[0] | all[1] | all[2] | all[3];
  memcpy(words, &sum, sizeof words);
  for (; k < bytes; k += sizeof rest) {
    uint64_t u, v;
    memcpy(&u, x + k, sizeof u);
    memcpy(&v, y + k, sizeof v);
    rest |= u ^ v;
  }
  for (size_t i = 0; i < LANES; ++i) rest |= words[i];
  return rest;
}

// ------------------------------------------------------------------ sampling

typedef uint64_t w8_t __attribute__((vector_size(64), aligned(8)));
typedef int8_t b8_t __attribute__((vector_size(8)));

INLINE w8_t words8(const uint64_t *words, size_t count) {
  w8_t w = {0};
  memcpy(&w, words, (count < LANES ? count : LANES) * sizeof *words);
  return w;
}

INLINE void put_small(int8_t *out, w8_t numbers, size_t count) {
  const b8_t bytes = __builtin_convertvector(numbers, b8_t);
  memcpy(out, &bytes, count < LANES ? count : LANES);
}

// By halves of 32 bits: 3 times either is below 2^34.
static void ternary_words(const uint64_t *words, size_t count, int8_t *out) {
  for (size_t k = 0; k < count; k += LANES) {
    const w8_t w = words8(words + k, count - k);
    const w8_t third = ((w >> 32) * 3 + (((w & UINT32_MAX) * 3) >> 32)) >> 32;
    put_small(out + k, third - 1, count - k);
  }
}

// How many entries are at most the upper 63 bits: both sides are below 2^63, so the top bit of the difference says it.
// The lowest bit is the sign.
static void gaussian_words(const uint64_t *words, size_t count, const uint64_t *cumulative, uint32_t entries,
                           int8_t *out) {
  for (size_t k = 0; k < count; k += LANES) {
    const w8_t w = words8(words + k, count - k), x = w >> 1;
    w8_t magnitude = {0};
    for (uint32_t i = 0; i < entries; ++i) magnitude += (cumulative[i] - 1 - x) >> 63;
    const w8_t sign = -(w & 1);
    put_small(out + k, (magnitude ^ sign) - sign, count - k);
  }
}

#define KERNELS(name_)                                                                                  \
  {                                                                                                     \
    .name = (name_), .evaluate_double = evaluate_double, .interpolate_double = interpolate_double,      \
    .evaluate = evaluate_dd, .interpolate = interpolate_dd, .round = round_words, .widen = widen_words, \
    .scale = scale_numbers, .reduce = reduce_words, .reduce32 = reduce_words32, .differ = differ_rows,  \
    .ternary = ternary_words, .gaussian = gaussian_words                                                \
  }

#endif
