// SPDX-License-Identifier: Apache-2.0
// Arithmetic of exact scales. Text is in scale_text.c, rounding to doubles in scale_value.c.
#include "core/ops/scale.h"

#include <math.h>
#include <string.h>

#include "core/base/memory.h"

__extension__ typedef unsigned __int128 u128;

#define WORDS 4
#define EXPONENT_LIMIT ((int64_t)1 << 31)  // exponents are below this in magnitude

void hx_scale_set_one(hx_scale_t *scale) {
  memset(scale->m, 0, sizeof scale->m);
  scale->m[0] = 1;
  scale->e = 0;
  scale->term_count = 0;
}

void hx_scale_copy(hx_scale_t *to, const hx_scale_t *from) {
  if (to == from) return;
  memcpy(to->m, from->m, sizeof to->m);
  to->e = from->e;
  to->term_count = from->term_count;
  memcpy(to->terms, from->terms, from->term_count * sizeof *from->terms);
}

bool hx_scale_equal(const hx_scale_t *a, const hx_scale_t *b) {
  if (a->e != b->e || a->term_count != b->term_count) return false;
  if (memcmp(a->m, b->m, sizeof a->m) != 0) return false;
  for (uint32_t i = 0; i < a->term_count; ++i) {
    if (a->terms[i].id != b->terms[i].id || a->terms[i].exponent != b->terms[i].exponent) return false;
  }
  return true;
}

// out = a * b; false if the product does not fit.
static bool multiply_words(const uint64_t a[WORDS], const uint64_t b[WORDS], uint64_t out[WORDS]) {
  uint64_t product[2 * WORDS] = {0};
  for (int i = 0; i < WORDS; ++i) {
    uint64_t carry = 0;
    for (int j = 0; j < WORDS; ++j) {
      const u128 sum = (u128)a[i] * b[j] + product[i + j] + carry;  // <= (2^64-1)^2 + 2*(2^64-1) < 2^128
      product[i + j] = (uint64_t)sum;
      carry = (uint64_t)(sum >> 64);
    }
    product[i + WORDS] = carry;
  }
  if ((product[4] | product[5] | product[6] | product[7]) != 0) return false;
  memcpy(out, product, WORDS * sizeof *out);
  return true;
}

static uint64_t divide_words(const uint64_t m[WORDS], uint64_t divisor, uint64_t quotient[WORDS]) {
  uint64_t rest = 0;
  for (int i = WORDS; i-- > 0;) {
    const u128 part = ((u128)rest << 64) | m[i];
    quotient[i] = (uint64_t)(part / divisor);  // rest < divisor, so this fits in a word
    rest = (uint64_t)(part % divisor);
  }
  return rest;
}

static bool in_range(int64_t exponent) { return exponent > -EXPONENT_LIMIT && exponent < EXPONENT_LIMIT; }

static hx_status_t exponent_fault(hx_report_t *report, const char *factor, int64_t exponent) {
  return hx_report_fail(report, HX_CODE_SCALE_RANGE,
                        "the scale's exponent of %s would be %lld; it must stay below 2^31 in magnitude", factor,
                        (long long)exponent);
}

static hx_status_t prime_fault(hx_report_t *report, uint32_t id, int64_t exponent) {
  char factor[16] = {'q'};
  size_t end = 1;
  if (id >= 100) factor[end++] = (char)('0' + id / 100 % 10);
  if (id >= 10) factor[end++] = (char)('0' + id / 10 % 10);
  factor[end] = (char)('0' + id % 10);
  return exponent_fault(report, factor, exponent);
}

// Merges the ascending terms of a and b; exponents add, zeros vanish.
static hx_status_t merge_terms(const hx_scale_t *a, const hx_scale_t *b, hx_scale_t *out, hx_report_t *report) {
  hx_scale_term_t merged[HX_PRIMES_MAX];
  uint32_t count = 0, i = 0, j = 0;
  while (i < a->term_count || j < b->term_count) {
    const uint32_t left = i < a->term_count ? a->terms[i].id : HX_PRIMES_MAX;
    const uint32_t right = j < b->term_count ? b->terms[j].id : HX_PRIMES_MAX;
    const uint32_t id = left < right ? left : right;
    int64_t exponent = 0;
    if (left == id) exponent += a->terms[i++].exponent;
    if (right == id) exponent += b->terms[j++].exponent;
    if (!in_range(exponent)) return prime_fault(report, id, exponent);
    if (exponent != 0) merged[count++] = (hx_scale_term_t){.id = id, .exponent = (int32_t)exponent};
  }
  memcpy(out->terms, merged, count * sizeof *merged);
  out->term_count = count;
  return HX_STATUS_OK;
}

hx_status_t hx_scale_multiply(const hx_scale_t *a, const hx_scale_t *b, hx_scale_t *out, hx_report_t *report) {
  uint64_t m[WORDS];
  if (!multiply_words(a->m, b->m, m)) {
    return hx_report_fail(report, HX_CODE_SCALE_RANGE,
                          "the scale's odd factor would reach 2^256, above which it is not kept exactly");
  }
  const int64_t e = a->e + b->e;
  if (!in_range(e)) return exponent_fault(report, "2", e);
  HX_TRY(merge_terms(a, b, out, report));
  memcpy(out->m, m, sizeof m);
  out->e = e;
  return HX_STATUS_OK;
}

hx_status_t hx_scale_multiply_prime(hx_scale_t *scale, uint32_t id, int32_t exponent, hx_report_t *report) {
  if (id >= HX_PRIMES_MAX) {
    return hx_report_fail(report, HX_CODE_SCALE_RANGE, "prime id %u is not below %d", id, HX_PRIMES_MAX);
  }
  if (exponent == 0) return HX_STATUS_OK;
  uint32_t at = 0;
  while (at < scale->term_count && scale->terms[at].id < id) ++at;
  const bool present = at < scale->term_count && scale->terms[at].id == id;
  const int64_t sum = (present ? scale->terms[at].exponent : 0) + (int64_t)exponent;
  if (!in_range(sum)) return prime_fault(report, id, sum);

  hx_scale_term_t *place = &scale->terms[at];
  const size_t behind = scale->term_count - at;
  if (present && sum == 0) {
    memmove(place, place + 1, (behind - 1) * sizeof *place);
    --scale->term_count;
    return HX_STATUS_OK;
  }
  if (!present) {
    // Ids are distinct and below HX_PRIMES_MAX and this one is absent, so there is room.
    memmove(place + 1, place, behind * sizeof *place);
    ++scale->term_count;
  }
  *place = (hx_scale_term_t){.id = id, .exponent = (int32_t)sum};
  return HX_STATUS_OK;
}

static void shift_out_twos(hx_scale_t *scale) {
  while ((scale->m[0] & 1) == 0 && in_range(scale->e + 1)) {
    for (int i = 0; i < WORDS - 1; ++i) scale->m[i] = (scale->m[i] >> 1) | (scale->m[i + 1] << 63);
    scale->m[WORDS - 1] >>= 1;
    ++scale->e;
  }
}

static bool is_one(const uint64_t m[WORDS]) { return m[0] == 1 && (m[1] | m[2] | m[3]) == 0; }

void hx_scale_canonicalize(hx_scale_t *scale, const hx_ring *ring) {
  if ((scale->m[0] | scale->m[1] | scale->m[2] | scale->m[3]) == 0) return;
  shift_out_twos(scale);
  if (ring == NULL) return;
  for (uint32_t id = 0; id < ring->q_count && !is_one(scale->m); ++id) {
    uint64_t quotient[WORDS];
    while (divide_words(scale->m, ring->primes[id], quotient) == 0) {
      if (hx_scale_multiply_prime(scale, id, 1, NULL) != HX_STATUS_OK) break;
      memcpy(scale->m, quotient, sizeof quotient);
    }
  }
}

uint32_t hx_scale_find_foreign(const hx_scale_t *scale, const hx_ring *ring) {
  if (!is_one(scale->m)) {
    for (uint32_t id = 0; id < ring->q_count; ++id) {
      uint64_t quotient[WORDS];
      if (divide_words(scale->m, ring->primes[id], quotient) == 0) return id;
    }
  }
  for (uint32_t i = 0; i < scale->term_count; ++i) {
    if (scale->terms[i].id >= ring->q_count) return scale->terms[i].id;
  }
  return HX_PRIMES_MAX;
}

hx_status_t hx_scale_set_number(hx_scale_t *scale, double number, const hx_ring *ring, hx_report_t *report) {
  if (!isfinite(number) || number <= 0) {
    return hx_report_fail(report, HX_CODE_SCALE_RANGE, "a scale is positive and finite, not %g", number);
  }
  int exponent = 0;
  const double fraction = frexp(number, &exponent);  // in [1/2, 1), 53 significant bits at most
  hx_scale_set_one(scale);
  scale->m[0] = (uint64_t)ldexp(fraction, 53);
  scale->e = exponent - 53;
  hx_scale_canonicalize(scale, ring);
  return HX_STATUS_OK;
}

double hx_scale_log2(const hx_scale_t *scale, const hx_ring *ring) {
  double m = 0;
  for (int i = WORDS; i-- > 0;) m = ldexp(m, 64) + (double)scale->m[i];
  double sum = log2(m) + (double)scale->e;
  if (ring == NULL) return sum;
  for (uint32_t i = 0; i < scale->term_count; ++i) {
    const hx_scale_term_t *term = &scale->terms[i];
    if (term->id < ring->q_count) sum += (double)term->exponent * log2((double)ring->primes[term->id]);
  }
  return sum;
}
