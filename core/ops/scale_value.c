// SPDX-License-Identifier: Apache-2.0
// The nearest double-double of an exact scale, by integers of bounded size: value = up / low * 2^e with up and low
// odd products. Each rounding is one binary division with as many quotient bits as the double holds, the remainder
// deciding ties; what remains after hi is again an exact fraction over low.
#include <math.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/ops/scale.h"

__extension__ typedef unsigned __int128 u128;

// up and low are below 2^HX_SCALE_VALUE_BITS; aligning and the remainder after hi add at most 64 bits, rounded up to
// whole words, and one more word catches carries.
#define WORDS (HX_SCALE_VALUE_BITS / 64 + 4)

typedef struct number {
  size_t count;  // words used; the highest is not 0; 0: the number 0
  uint64_t words[WORDS];
} number_t;

static void set_words(number_t *x, const uint64_t *words, size_t count) {
  memcpy(x->words, words, count * sizeof *words);
  while (count > 0 && x->words[count - 1] == 0) --count;
  x->count = count;
}

static void multiply_word(number_t *x, uint64_t factor) {
  uint64_t carry = 0;
  for (size_t i = 0; i < x->count; ++i) {
    const u128 product = (u128)x->words[i] * factor + carry;
    x->words[i] = (uint64_t)product;
    carry = (uint64_t)(product >> 64);
  }
  if (carry != 0) x->words[x->count++] = carry;
}

// x *= base^exponent, several factors at a time.
static void multiply_power(number_t *x, uint64_t base, uint32_t exponent) {
  while (exponent > 0) {
    uint64_t chunk = base;
    uint32_t factors = 1;
    while (factors < exponent && chunk <= UINT64_MAX / base) {
      chunk *= base;
      ++factors;
    }
    multiply_word(x, chunk);
    exponent -= factors;
  }
}

static int64_t bit_length(const number_t *x) {
  if (x->count == 0) return 0;
  return 64 * (int64_t)x->count - __builtin_clzll(x->words[x->count - 1]);
}

static void shift_left(number_t *x, uint64_t bits) {
  if (x->count == 0 || bits == 0) return;
  const size_t words = bits / 64;
  const unsigned rest = (unsigned)(bits % 64);
  x->words[x->count] = 0;
  for (size_t i = x->count + 1; i-- > 0;) {
    const uint64_t below = i > 0 && rest != 0 ? x->words[i - 1] >> (64 - rest) : 0;
    x->words[i + words] = (x->words[i] << rest) | below;
  }
  memset(x->words, 0, words * sizeof *x->words);
  x->count += words + (x->words[x->count + words] != 0 ? 1 : 0);
}

static int compare(const number_t *a, const number_t *b) {
  if (a->count != b->count) return a->count < b->count ? -1 : 1;
  for (size_t i = a->count; i-- > 0;) {
    if (a->words[i] != b->words[i]) return a->words[i] < b->words[i] ? -1 : 1;
  }
  return 0;
}

// a -= b, a >= b.
static void subtract(number_t *a, const number_t *b) {
  uint64_t borrow = 0;
  for (size_t i = 0; i < a->count; ++i) {
    const uint64_t other = i < b->count ? b->words[i] : 0;
    const u128 difference = (u128)a->words[i] - other - borrow;
    a->words[i] = (uint64_t)difference;
    borrow = (uint64_t)(difference >> 64) & 1;
  }
  while (a->count > 0 && a->words[a->count - 1] == 0) --a->count;
}

// A double as whole * 2^exponent, whole at most 2^53.
typedef struct rounded {
  uint64_t whole;
  int64_t exponent;
} rounded_t;

// up / low * 2^e rounded to a double, ties to even, subnormals included; infinity shows as exponent > 1023. up is
// not 0; up and low are used up.
static rounded_t round_fraction(number_t *up, number_t *low, int64_t e) {
  // Bring up / low into [1, 2), the value being that times 2^top.
  const int64_t gap = bit_length(up) - bit_length(low);
  if (gap > 0) shift_left(low, (uint64_t)gap);
  if (gap < 0) shift_left(up, (uint64_t)-gap);
  int64_t top = e + gap;
  if (compare(up, low) < 0) {
    shift_left(up, 1);
    --top;
  }
  // Quotient bits that the double keeps: 53, fewer where it is subnormal; 0 leaves only the half that may round up.
  int64_t keep = top >= -1022 ? 53 : top + 1075;
  if (keep < 0) return (rounded_t){0, 0};
  uint64_t whole = 0;
  for (int64_t i = 0; i < keep; ++i) {
    whole <<= 1;
    if (compare(up, low) >= 0) {
      subtract(up, low);
      whole |= 1;
    }
    shift_left(up, 1);
  }
  // up / low in [0, 2) is now what remains, in halves of the last bit.
  const int half = compare(up, low);
  if (half > 0 || (half == 0 && (whole & 1) != 0)) ++whole;
  return (rounded_t){whole, top - keep + 1};
}

static bool is_finite(rounded_t x) {
  return x.whole == 0 || x.exponent < 971 || (x.exponent == 971 && x.whole < (uint64_t)1 << 53);
}

static double to_double(rounded_t x) { return ldexp((double)x.whole, (int)x.exponent); }

// up / low * 2^e - hi as a double.
static double round_rest(const number_t *up, const number_t *low, int64_t e, rounded_t hi) {
  number_t rest = {.count = 0}, taken = {.count = 0};
  set_words(&rest, up->words, up->count);
  set_words(&taken, low->words, low->count);
  multiply_word(&taken, hi.whole);
  // Over low: rest * 2^e - taken * 2^hi.exponent; both are near each other, so the shift is bounded by their lengths.
  const int64_t gap = e - hi.exponent;
  if (gap > 0) shift_left(&rest, (uint64_t)gap);
  if (gap < 0) shift_left(&taken, (uint64_t)-gap);
  const int64_t exponent = gap > 0 ? hi.exponent : e;
  const int order = compare(&rest, &taken);
  if (order == 0) return 0;
  number_t *difference = order > 0 ? &rest : &taken;
  subtract(difference, order > 0 ? &taken : &rest);
  number_t divisor = {.count = 0};
  set_words(&divisor, low->words, low->count);
  const double magnitude = to_double(round_fraction(difference, &divisor, exponent));
  return magnitude == 0 ? 0 : order > 0 ? magnitude : -magnitude;
}

// ------------------------------------------------------------------ numbers too long to be written out

// mantissa * 2^exponent, FAR_WORDS words, the highest bit set: a lower approximation.
#define FAR_WORDS 8
typedef struct far {
  uint64_t words[FAR_WORDS];
  int64_t exponent;
} far_t;

// The highest FAR_WORDS words' worth of bits of `count` words, the highest of which is not 0.
static void far_set(far_t *out, const uint64_t *words, size_t count, int64_t exponent) {
  uint64_t wide[2 * FAR_WORDS + 2] = {0};
  const unsigned shift = (unsigned)__builtin_clzll(words[count - 1]);
  for (size_t i = 0; i < count; ++i) {
    wide[i + 1] |= words[i] << shift;
    if (shift != 0) wide[i + 2] |= words[i] >> (64 - shift);  // 0 beyond the highest word
  }
  // wide = words * 2^(64 + shift); its highest word is number `count`.
  for (size_t i = 0; i < FAR_WORDS; ++i) {
    const size_t at = count + 1 + i;  // of wide, with FAR_WORDS below it
    out->words[i] = at >= FAR_WORDS ? wide[at - FAR_WORDS] : 0;
  }
  out->exponent = exponent + 64 * ((int64_t)count - FAR_WORDS) - (int64_t)shift;
}

// a * b cut off below: loses less than 2^-510 of it.
static void far_multiply(const far_t *a, const far_t *b, far_t *out) {
  uint64_t product[2 * FAR_WORDS] = {0};
  for (size_t i = 0; i < FAR_WORDS; ++i) {
    uint64_t carry = 0;
    for (size_t j = 0; j < FAR_WORDS; ++j) {
      const u128 sum = (u128)a->words[i] * b->words[j] + product[i + j] + carry;  // below 2^128
      product[i + j] = (uint64_t)sum;
      carry = (uint64_t)(sum >> 64);
    }
    product[i + FAR_WORDS] = carry;
  }
  far_set(out, product, 2 * FAR_WORDS, a->exponent + b->exponent);
}

// *x *= base^exponent by squaring: fewer than 2 * 31 products, each error at most doubled with every squaring after it,
// so less than 2^32 * 2^-510 is lost.
static void far_power(far_t *x, uint64_t base, uint32_t exponent) {
  far_t square;
  far_set(&square, &base, 1, 0);
  for (;; exponent >>= 1) {
    if ((exponent & 1) != 0) far_multiply(x, &square, x);
    if (exponent <= 1) return;
    far_multiply(&square, &square, &square);
  }
}

static bool round_far(const far_t *up, const far_t *low, uint64_t more, int64_t e, double *out_hi, double *out_lo) {
  number_t a = {.count = 0}, b = {.count = 0}, x = {.count = 0}, y = {.count = 0};
  uint64_t words[FAR_WORDS];
  memcpy(words, up->words, sizeof words);
  // The 64 bits above 2^64 of 2^512: what was lost lies far below; the bit is counted up where it does not carry out.
  if (more != 0) {
    for (size_t i = 1; i < FAR_WORDS && ++words[i] == 0; ++i) {
    }
  }
  set_words(&a, words, FAR_WORDS);
  set_words(&b, low->words, FAR_WORDS);
  set_words(&x, a.words, a.count);
  set_words(&y, b.words, b.count);
  const int64_t exponent = e + up->exponent - low->exponent;
  const rounded_t hi = round_fraction(&a, &b, exponent);
  if (!is_finite(hi) || hi.whole == 0) return false;
  *out_hi = to_double(hi);
  *out_lo = round_rest(&x, &y, exponent, hi);
  return true;
}

// Each side loses less than 2^-470 (256 terms of 2^-478). The fraction therefore lies between up / low with low one
// part in 2^447 larger and with up one part larger; where both round alike, that is the exact value's rounding.
static hx_status_t value_far(const hx_scale_t *scale, const hx_ring *ring, double *out_hi, double *out_lo,
                             hx_report_t *report) {
  static const uint64_t one = 1;
  far_t up, low;
  size_t count = HX_COUNT_OF(scale->m);
  while (count > 1 && scale->m[count - 1] == 0) --count;
  if (scale->m[count - 1] == 0) return hx_report_fail(report, HX_CODE_SCALE_RANGE, "the scale is 0");
  far_set(&up, scale->m, count, 0);
  far_set(&low, &one, 1, 0);
  for (uint32_t i = 0; i < scale->term_count; ++i) {
    const hx_scale_term_t *term = &scale->terms[i];
    const uint64_t prime = ring->primes[term->id];
    if (term->exponent > 0) far_power(&up, prime, (uint32_t)term->exponent);
    if (term->exponent < 0) far_power(&low, prime, (uint32_t)(-(int64_t)term->exponent));
  }
  double bounds[2][2];
  far_t wide = low;
  for (size_t i = 1; i < FAR_WORDS && ++wide.words[i] == 0; ++i) {
  }
  const bool in_range = round_far(&up, &wide, 0, scale->e, &bounds[0][0], &bounds[0][1]) &&
                        round_far(&up, &low, 1, scale->e, &bounds[1][0], &bounds[1][1]);
  if (!in_range) {
    return hx_report_fail(report, HX_CODE_SCALE_RANGE, "the scale is about 2^%.0f, outside the range of a double",
                          hx_scale_log2(scale, ring));
  }
  if (bounds[0][0] != bounds[1][0] || bounds[0][1] != bounds[1][1]) {
    return hx_report_fail(report, HX_CODE_SCALE_RANGE,
                          "the scale's value lies too near the middle of two double-doubles to be rounded");
  }
  *out_hi = bounds[0][0];
  *out_lo = bounds[0][1];
  return HX_STATUS_OK;
}

// Checks that every term is a prime of Q; says whether both sides of the fraction can be written out.
static hx_status_t check_size(const hx_scale_t *scale, const hx_ring *ring, bool *out_is_far, hx_report_t *report) {
  uint64_t bits[2] = {256, 0};  // above and below the line
  for (uint32_t i = 0; i < scale->term_count; ++i) {
    const hx_scale_term_t *term = &scale->terms[i];
    if (ring == NULL) {
      return hx_report_fail(report, HX_CODE_SCALE_RANGE, "the scale has a power of q%u, whose value needs parameters",
                            term->id);
    }
    if (term->id >= ring->q_count) {
      return hx_report_fail(report, HX_CODE_SCALE_RANGE, "the scale has a power of q%u, but Q has the ids 0 to %u",
                            term->id, ring->q_count - 1);
    }
    const uint64_t length = 64 - (uint64_t)__builtin_clzll(ring->primes[term->id]);
    bits[term->exponent < 0] += length * (uint64_t)(term->exponent < 0 ? -(int64_t)term->exponent : term->exponent);
  }
  const uint64_t most = bits[0] > bits[1] ? bits[0] : bits[1];
  *out_is_far = most > HX_SCALE_VALUE_BITS;
  return HX_STATUS_OK;
}

hx_status_t hx_scale_value(const hx_scale_t *scale, const hx_ring *ring, double *out_hi, double *out_lo,
                           hx_report_t *report) {
  bool is_far = false;
  HX_TRY(check_size(scale, ring, &is_far, report));
  if (is_far) return value_far(scale, ring, out_hi, out_lo, report);
  static const uint64_t one = 1;
  number_t up = {.count = 0}, low = {.count = 0};
  set_words(&up, scale->m, HX_COUNT_OF(scale->m));
  set_words(&low, &one, 1);
  for (uint32_t i = 0; i < scale->term_count; ++i) {
    const hx_scale_term_t *term = &scale->terms[i];
    const uint64_t prime = ring->primes[term->id];
    if (term->exponent > 0) multiply_power(&up, prime, (uint32_t)term->exponent);
    if (term->exponent < 0) multiply_power(&low, prime, (uint32_t)-term->exponent);
  }
  if (up.count == 0) return hx_report_fail(report, HX_CODE_SCALE_RANGE, "the scale is 0");

  number_t a = {.count = 0}, b = {.count = 0};
  set_words(&a, up.words, up.count);
  set_words(&b, low.words, low.count);
  const rounded_t hi = round_fraction(&a, &b, scale->e);
  if (!is_finite(hi) || hi.whole == 0) {
    return hx_report_fail(report, HX_CODE_SCALE_RANGE, "the scale is about 2^%.0f, outside the range of a double",
                          hx_scale_log2(scale, ring));
  }
  const double lo = round_rest(&up, &low, scale->e, hi);
  *out_hi = to_double(hi);
  *out_lo = lo;
  return HX_STATUS_OK;
}
