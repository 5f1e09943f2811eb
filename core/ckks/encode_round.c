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

enum { BITS = 118 };  // of the integers before shift

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

// Smallest E >= -1022 with |z| < 2^E for all z: from the bits, without branches.
static int32_t common_exponent(const double *values, size_t count) {
  uint64_t most = 0;
  for (size_t i = 0; i < count; ++i) {
    uint64_t bits;
    memcpy(&bits, &values[i], sizeof bits);
    bits &= UINT64_MAX >> 1;
    most = hx_select(hx_mask_less(most, bits), bits, most);  // magnitudes are ordered as their bits
  }
  return (int32_t)(most >> 52) - 1022;
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

static void round_all(const hx_packing_t *packing, const hx_fft_vector_t *c, int32_t exponent, hx_i128 *out_integers,
                      uint32_t *out_shift) {
  const size_t slots = (size_t)1 << packing->log_slots;
  int scale_exponent;
  (void)frexp(packing->scale_hi, &scale_exponent);
  const power_t to_unit = power_of(-scale_exponent);
  const hx_dd_t scale = {times(packing->scale_hi, to_unit), times(packing->scale_lo, to_unit)};

  const int32_t bits = exponent + scale_exponent + 1;
  const int32_t over = bits - BITS;
  const int32_t shift = over & ~(over >> 31);  // max(over, 0)
  int32_t down = exponent + scale_exponent - (int32_t)packing->log_slots - shift;
  const int32_t least = -400;  // below it everything rounds to 0 anyway
  down = least + ((down - least) & ~((down - least) >> 31));
  const double factor = hx_exp2_exact(down);  // down < BITS

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
  const size_t slots = (size_t)1 << packing->log_slots;
  const size_t bytes = 4 * slots * sizeof(double);
  HX_TRY(hx_fft_prepare(packing->log_slots));
  uint32_t *positions = hx_alloc(slots * sizeof *positions);
  double *numbers = hx_zalloc(4 * slots, sizeof *numbers);
  if (positions == NULL || numbers == NULL) {
    hx_free(positions);
    hx_free(numbers);
    return HX_STATUS_OUT_OF_MEMORY;
  }
  const hx_fft_vector_t vector = {numbers, numbers + slots, numbers + 2 * slots, numbers + 3 * slots};
  const int32_t exponent = common_exponent(values, is_complex ? 2 * count : count);
  hx_fft_slot_positions(packing->log_slots, positions);
  load(values, count, is_complex, exponent, positions, vector);
  if (is_double_enough(packing)) {
    hx_fft_interpolate_double(packing->log_slots, vector);  // low halves stay zero
  } else {
    hx_fft_interpolate(packing->log_slots, vector);
  }
  round_all(packing, &vector, exponent, out_integers, out_shift);
  hx_wipe(numbers, bytes);
  hx_free(numbers);
  hx_free(positions);
  return HX_STATUS_OK;
}
