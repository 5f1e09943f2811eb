// SPDX-License-Identifier: Apache-2.0
// Transforms of u32 rows, q < 2^31. Between stages values stay in [0, 2q), which is as far as a u32 reaches (4q may
// exceed 2^32), so a butterfly brings both its terms below q first. Products are formed in 64 bits.
#include "kernels/ntt/ntt.h"

typedef struct roots {
  const uint32_t *value, *quotient;
  uint32_t q, two_q;
} roots_t;

// x - q if x >= q, else x; x < 2q, so x - q stays within a signed word.
HXS_INLINE uint32_t once(uint32_t x, uint32_t q) {
  uint32_t d = x - q;
  return d + (q & (0 - (d >> 31)));
}

// x * value mod q in [0, 2q), for any x; 2q < 2^32, so the low words give the difference.
HXS_INLINE uint32_t times(uint32_t x, uint32_t value, uint32_t quotient, uint32_t q) {
  uint32_t estimate = (uint32_t)(((uint64_t)x * quotient) >> 32);
  return x * value - estimate * q;
}

static void forward_stage(uint32_t *out, const uint32_t *in, size_t half, size_t blocks, const roots_t *r) {
  uint32_t q = r->q;
  for (size_t b = 0; b < blocks; b++, in += 2 * half, out += 2 * half) {
    uint32_t value = r->value[blocks + b], quotient = r->quotient[blocks + b];
    for (size_t k = 0; k < half; k++) {
      uint32_t x = once(in[k], q);                                    // < q
      uint32_t y = once(times(in[k + half], value, quotient, q), q);  // < q
      out[k] = x + y;                                                 // < 2q
      out[k + half] = x - y + q;                                      // in (0, 2q)
    }
  }
}

static void inverse_stage(uint32_t *out, const uint32_t *in, size_t half, size_t blocks, const roots_t *r) {
  uint32_t q = r->q;
  for (size_t b = 0; b < blocks; b++, in += 2 * half, out += 2 * half) {
    uint32_t value = r->value[blocks + b], quotient = r->quotient[blocks + b];
    for (size_t k = 0; k < half; k++) {
      uint32_t x = once(in[k], q), y = once(in[k + half], q);
      out[k] = x + y;                                        // < 2q
      out[k + half] = times(x - y + q, value, quotient, q);  // < 2q
    }
  }
}

static void forward32(void *out, const void *in, const hxs_modulus *m, const hx_cpu_twiddles_t *t, uint32_t log_n) {
  roots_t r = {t->forward, t->forward_quotient, (uint32_t)m->q, (uint32_t)m->two_q};
  uint32_t *a = out;
  size_t n = (size_t)1 << log_n;
  forward_stage(a, in, n / 2, 1, &r);
  for (size_t half = n / 4, blocks = 2; half > 0; half /= 2, blocks *= 2) {
    forward_stage(a, a, half, blocks, &r);
  }
  for (size_t i = 0; i < n; i++) {
    a[i] = once(a[i], r.q);
  }
}

static void inverse32(void *out, const void *in, const hxs_modulus *m, const hx_cpu_twiddles_t *t, uint32_t log_n) {
  roots_t r = {t->inverse, t->inverse_quotient, (uint32_t)m->q, (uint32_t)m->two_q};
  uint32_t *a = out;
  size_t n = (size_t)1 << log_n, middle = n / 2;
  inverse_stage(a, in, 1, middle, &r);
  for (size_t half = 2, blocks = n / 4; blocks > 1; half *= 2, blocks /= 2) {
    inverse_stage(a, a, half, blocks, &r);
  }
  uint32_t sum = (uint32_t)t->last[0].value, sum_quotient = (uint32_t)t->last[0].quotient;
  uint32_t difference = (uint32_t)t->last[1].value, difference_quotient = (uint32_t)t->last[1].quotient;
  for (size_t k = 0; k < middle; k++) {
    uint32_t x = once(a[k], r.q), y = once(a[k + middle], r.q);
    a[k] = once(times(x + y, sum, sum_quotient, r.q), r.q);
    a[k + middle] = once(times(x - y + r.q, difference, difference_quotient, r.q), r.q);
  }
}

const hx_cpu_ntt_t hx_cpu_ntt_portable32 = {.forward = forward32, .inverse = inverse32};
