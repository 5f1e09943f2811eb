// SPDX-License-Identifier: Apache-2.0
// Slots to integers: normalise, interpolate, multiply by the scale, round.
//
// Exponents are taken out first, so that the arithmetic runs on numbers below 1 whatever the sizes of values and
// scale: z = 2^E * z', |z'| < 1, and scale = 2^S * s', 1/2 <= s' < 1. With c the interpolation of z' (not yet divided
// by n), |c| < sqrt(2) n, coefficient k is c_k * s' * 2^(E + S - log2 n), below 2^(E + S + 1).
#include "core/ckks/encode_round.h"

#include <math.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/ckks/constant_time.h"
#include "core/ckks/encode_kernels.h"

enum { BITS = 118, NARROW_BITS = 61 };  // of the integers before shift; of those that fit a word

// Nearest integer to |x| <= 2^51, ties to even.
static double nearest(double x) {
  const double big = 0x1.8p52;
  return (x + big) - big;
}

hx_i128 hx_encode_nearest(hx_dd_t v) {
  // hi in three places of 2^40: each rest is exact, as it is the distance to the nearest multiple of a power of two.
  const double hi2 = nearest(v.hi * 0x1p-80);  // |.| <= 2^40
  const double rest2 = v.hi - hi2 * 0x1p80;    // |.| <= 2^79
  const double hi1 = nearest(rest2 * 0x1p-40);
  const double rest1 = rest2 - hi1 * 0x1p40;  // |.| <= 2^39
  const double hi0 = nearest(rest1);
  const double hi_rest = rest1 - hi0;
  // |lo| <= 2^67: two places.
  const double lo1 = nearest(v.lo * 0x1p-40);
  const double lo_rest1 = v.lo - lo1 * 0x1p40;
  const double lo0 = nearest(lo_rest1);
  const double lo_rest = lo_rest1 - lo0;

  hx_i128 integer = (hx_i128)(int64_t)hi2 * ((hx_i128)1 << 80) +
                    (hx_i128)((int64_t)hi1 + (int64_t)lo1) * ((hx_i128)1 << 40) + (int64_t)hi0 + (int64_t)lo0;
  // The fraction is sum + error exactly, |sum| <= 1. Rounding sum decides, except at a half: there the sign of the
  // error does, and without one the parity of the integer.
  const hx_dd_t fraction = hx_dd_sum(hi_rest, lo_rest);
  const double whole = nearest(fraction.hi);
  const double part = fraction.hi - whole;  // exact, in [-1/2, 1/2]
  integer += (int64_t)whole;
  const int64_t half_up = (part == 0.5), half_down = (part == -0.5);
  const int64_t above = (fraction.lo > 0.0), below = (fraction.lo < 0.0);
  const int64_t tie = 1 - above - below;
  const int64_t odd = (int64_t)(integer & 1);
  return integer + (half_up & (above | (tie & odd))) - (half_down & (below | (tie & odd)));
}

// Smallest E >= -1022 with |z| < 2^E for all z: from the bits, without branches. Magnitudes are ordered as their bits;
// eight running maxima, so that compilers use vectors.
static int32_t common_exponent(const double *values, size_t count) {
  uint64_t most[8] = {0};
  for (size_t i = 0; i < count; i += 8) {
    uint64_t bits[8] = {0};
    memcpy(bits, values + i, (count - i < 8 ? count - i : 8) * sizeof *bits);
    for (size_t j = 0; j < 8; ++j) {
      const uint64_t b = bits[j] & (UINT64_MAX >> 1);
      const uint64_t larger = 0 - ((most[j] - b) >> 63);  // both below 2^63
      most[j] ^= (most[j] ^ b) & larger;
    }
  }
  uint64_t all = 0;
  for (size_t j = 0; j < 8; ++j) all = hx_select(hx_mask_less(all, most[j]), most[j], all);
  return (int32_t)(all >> 52) - 1022;
}

// x * 2^exponent for |exponent| <= 2046, in two exact steps (the second may meet the subnormal range).
typedef struct power {
  double first, second;
} power_t;

static power_t power_of(int32_t exponent) {
  const int32_t half = exponent / 2;
  return (power_t){hx_exp2_exact(half), hx_exp2_exact(exponent - half)};
}

static double times(double x, power_t power) { return x * power.first * power.second; }

// Values divided by 2^exponent, at the positions of their slots; the rest is zero already.
static void load(const double *values, size_t count, bool is_complex, int32_t exponent, const uint32_t *positions,
                 hx_fft_vector_t to) {
  const power_t power = power_of(-exponent);
  for (size_t j = 0; j < count; ++j) {
    to.re[positions[j]] = times(values[is_complex ? 2 * j : j], power);
    if (is_complex) to.im[positions[j]] = times(values[2 * j + 1], power);
  }
}

// Where doubles are enough: their error is below 4 u log2(n) of the largest value, and 4 * 15 u + u < 2^-47.
static bool is_double_enough(const hx_packing_t *packing) {
  return packing->scale_hi <= 0x1p52 && packing->log_slots <= 15;
}

// The scale as scale * 2^exponent, 1/2 <= scale < 1.
static hx_dd_t unit_scale(const hx_packing_t *packing, int *out_exponent) {
  (void)frexp(packing->scale_hi, out_exponent);
  const power_t to_unit = power_of(-*out_exponent);
  return (hx_dd_t){times(packing->scale_hi, to_unit), times(packing->scale_lo, to_unit)};
}

// Zeroed numbers; the exponent of the values.
static hx_status_t begin(const hx_packing_t *packing, const double *values, size_t count, int32_t spread,
                         hx_interpolation_t *out) {
  const size_t slots = (size_t)1 << packing->log_slots;
  HX_TRY(hx_fft_prepare(packing->log_slots));
  double *numbers = hx_zalloc(4 * slots, sizeof *numbers);
  if (numbers == NULL) return HX_STATUS_OUT_OF_MEMORY;
  *out = (hx_interpolation_t){.packing = packing, .slots = slots, .numbers = numbers, .spread = spread};
  out->c = (hx_fft_vector_t){numbers, numbers + slots, numbers + 2 * slots, numbers + 3 * slots};
  out->exponent = common_exponent(values, count);
  int scale_exponent;
  (void)unit_scale(packing, &scale_exponent);
  out->bits = out->exponent + scale_exponent + 1;
  out->is_narrow = out->bits <= NARROW_BITS;
  return HX_STATUS_OK;
}

hx_status_t hx_encode_interpolate(const hx_packing_t *packing, const double *values, size_t count, bool is_complex,
                                  hx_interpolation_t *out) {
  HX_TRY(begin(packing, values, is_complex ? 2 * count : count, (int32_t)packing->log_slots, out));
  load(values, count, is_complex, out->exponent, hx_fft_positions(packing->log_slots), out->c);
  if (is_double_enough(packing)) {
    hx_fft_interpolate_double(packing->log_slots, out->c);  // low halves stay zero
  } else {
    hx_fft_interpolate(packing->log_slots, out->c);
  }
  return HX_STATUS_OK;
}

hx_status_t hx_encode_take(const hx_packing_t *packing, const double *values, size_t count, hx_interpolation_t *out) {
  HX_TRY(begin(packing, values, count, 0, out));
  const power_t power = power_of(-out->exponent);
  for (size_t k = 0; k < count; ++k) (k < out->slots ? out->c.re : out->c.im - out->slots)[k] = times(values[k], power);
  return HX_STATUS_OK;
}

void hx_interpolation_deinit(hx_interpolation_t *interpolation) {
  hx_wipe(interpolation->numbers, 4 * interpolation->slots * sizeof(double));
  hx_free(interpolation->numbers);
}

static int32_t at_least(int32_t x, int32_t least) { return least + ((x - least) & ~((x - least) >> 31)); }

// Below this power everything rounds to 0 anyway.
enum { LEAST_DOWN = -400 };

void hx_encode_narrow(const hx_interpolation_t *interpolation, int64_t *out_words) {
  const hx_packing_t *packing = interpolation->packing;
  const hx_encode_kernels_t *kernels = hx_encode_kernels();
  const size_t slots = interpolation->slots;
  int scale_exponent;
  const hx_dd_t scale = unit_scale(packing, &scale_exponent);
  const int32_t down = interpolation->exponent + scale_exponent - interpolation->spread;
  const double factor = hx_exp2_exact(at_least(down, LEAST_DOWN));
  const hx_fft_vector_t *c = &interpolation->c;
  kernels->round(c->re, c->re_low, slots, scale, factor, out_words);
  kernels->round(c->im, c->im_low, slots, scale, factor, out_words + slots);
}

void hx_encode_wide(const hx_interpolation_t *interpolation, hx_i128 *out_integers, uint32_t *out_shift) {
  const hx_packing_t *packing = interpolation->packing;
  const size_t slots = interpolation->slots;
  int scale_exponent;
  const hx_dd_t scale = unit_scale(packing, &scale_exponent);
  const int32_t over = interpolation->bits - BITS;
  const int32_t shift = over & ~(over >> 31);  // max(over, 0)
  const int32_t down = interpolation->exponent + scale_exponent - interpolation->spread - shift;
  const double factor = hx_exp2_exact(at_least(down, LEAST_DOWN));  // below 2^BITS
  const hx_fft_vector_t *c = &interpolation->c;
  for (size_t k = 0; k < slots; ++k) {
    const hx_dd_t re = hx_dd_mul((hx_dd_t){c->re[k], c->re_low[k]}, scale);
    const hx_dd_t im = hx_dd_mul((hx_dd_t){c->im[k], c->im_low[k]}, scale);
    out_integers[k] = hx_encode_nearest((hx_dd_t){re.hi * factor, re.lo * factor});
    out_integers[k + slots] = hx_encode_nearest((hx_dd_t){im.hi * factor, im.lo * factor});
  }
  *out_shift = (uint32_t)shift;
}

hx_status_t hx_encode_integers(const hx_packing_t *packing, const double *values, size_t count, bool is_complex,
                               hx_i128 *out_integers, uint32_t *out_shift) {
  hx_interpolation_t interpolation;
  HX_TRY(hx_encode_interpolate(packing, values, count, is_complex, &interpolation));
  hx_encode_wide(&interpolation, out_integers, out_shift);
  hx_interpolation_deinit(&interpolation);
  return HX_STATUS_OK;
}
