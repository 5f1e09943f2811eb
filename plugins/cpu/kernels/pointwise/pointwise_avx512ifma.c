// SPDX-License-Identifier: Apache-2.0
// Pointwise kernels with 52-bit products, q < 2^50. Rows have a multiple of 8 residues, since n >= 8; the two kernels
// that also get half rows leave shorter ones to portable.
#include "kernels/ifma.h"
#include "kernels/pointwise/pointwise.h"
#include "kernels/unroll.h"

// Products that a pair of accumulators takes before it is reduced: the sum of the high halves, 12 * 2^48 and carries,
// stays below 2^52.
#define CHUNK 12u
// Words that dot asks for in advance; beyond a row's end that does nothing.
#define AHEAD 128u

static void add(void *out, const void *a, const void *b, uint64_t modulus, size_t n) {
  const uint64_t *x = a, *y = b;
  uint64_t *to = out;
  const hx_vec q = splat(modulus);
  for (size_t i = 0; i < n; i += 8) {
    store(to + i, ifma_once(_mm512_add_epi64(load(x + i), load(y + i)), q));
  }
}

// a - b + q where a < b: the smaller one as unsigned words.
static void sub(void *out, const void *a, const void *b, uint64_t modulus, size_t n) {
  const uint64_t *x = a, *y = b;
  uint64_t *to = out;
  const hx_vec q = splat(modulus);
  for (size_t i = 0; i < n; i += 8) {
    hx_vec d = _mm512_sub_epi64(load(x + i), load(y + i));
    store(to + i, _mm512_min_epu64(d, _mm512_add_epi64(d, q)));
  }
}

static void neg(void *out, const void *a, uint64_t modulus, size_t n) {
  const uint64_t *x = a;
  uint64_t *to = out;
  const hx_vec q = splat(modulus);
  for (size_t i = 0; i < n; i += 8) {
    store(to + i, ifma_once(_mm512_sub_epi64(q, load(x + i)), q));
  }
}

static void add_scalar(void *out, const void *a, uint64_t c, uint64_t modulus, size_t n) {
  if (n % 8 != 0) {
    hx_cpu_pointwise_portable64.add_scalar(out, a, c, modulus, n);
    return;
  }
  const uint64_t *x = a;
  uint64_t *to = out;
  const hx_vec q = splat(modulus), term = splat(c);
  for (size_t i = 0; i < n; i += 8) {
    store(to + i, ifma_once(_mm512_add_epi64(load(x + i), term), q));
  }
}

// hi * 2^52 + lo mod q, clean and in [0, q), for hi (carry included) below 2^52.
HXS_INLINE hx_vec wide(hx_vec hi, hx_vec lo, ifma_factor_t radix, const ifma_modulus_t *m) {
  hx_vec top = _mm512_add_epi64(hi, _mm512_srli_epi64(lo, 52));
  hx_vec sum = _mm512_add_epi64(ifma_times(top, radix.value, radix.quotient, m), ifma_reduce(lo, m));  // < 4q
  return ifma_normal(sum, m);
}

static void reduce(void *out, const void *a, const hxs_modulus *modulus, size_t n) {
  const uint64_t *x = a;
  uint64_t *to = out;
  const ifma_modulus_t m = ifma_modulus(modulus->q);
  const ifma_factor_t radix = ifma_radix(modulus->q);
  for (size_t i = 0; i < n; i += 8) {
    store(to + i, wide(_mm512_setzero_si512(), load(x + i), radix, &m));
  }
}

// a * b + c in [0, q^2): top = floor(z / 2^(L-2)) < 2^(L+2) <= 2^52, barrett = floor(2^(L+50) / q) < 2^51. The
// quotient falls short of z/q by less than 2^(L-2)/q + top/2^52 + 1 < 1/2 + 1 + 1: the rest is below 3q < 2^52.
typedef struct barrett {
  hx_vec factor;
  __m128i up, down;
} barrett_t;

static barrett_t barrett_of(const hxs_modulus *m) {
  barrett_t b = {splat((uint64_t)(((hxs_u128)1 << (m->bits + 50)) / m->q)),
                 _mm_cvtsi64_si128((long long)(54 - m->bits)), _mm_cvtsi64_si128((long long)(m->bits - 2))};
  return b;
}

HXS_INLINE hx_vec product(hx_vec a, hx_vec b, hx_vec c, const barrett_t *barrett, const ifma_modulus_t *m) {
  hx_vec lo = low_add(c, a, b), hi = high(a, b);
  hx_vec top = _mm512_add_epi64(_mm512_sll_epi64(hi, barrett->up), _mm512_srl_epi64(lo, barrett->down));
  hx_vec r = _mm512_and_si512(low_add(lo, high(top, barrett->factor), m->minus_q), m->mask);
  return ifma_once(ifma_once(r, m->two_q), m->q);
}

static void mul(void *out, const void *a, const void *b, const hxs_modulus *modulus, size_t n) {
  const uint64_t *x = a, *y = b;
  uint64_t *to = out;
  const ifma_modulus_t m = ifma_modulus(modulus->q);
  const barrett_t barrett = barrett_of(modulus);
  for (size_t i = 0; i < n; i += 8) {
    store(to + i, product(load(x + i), load(y + i), _mm512_setzero_si512(), &barrett, &m));
  }
}

static void mul_add(void *out, const void *acc, const void *a, const void *b, const hxs_modulus *modulus, size_t n) {
  const uint64_t *x = a, *y = b, *z = acc;
  uint64_t *to = out;
  const ifma_modulus_t m = ifma_modulus(modulus->q);
  const barrett_t barrett = barrett_of(modulus);
  for (size_t i = 0; i < n; i += 8) {
    store(to + i, product(load(x + i), load(y + i), load(z + i), &barrett, &m));
  }
}

// Defined by 2^64, not 2^52.
static void mul_montgomery(void *out, const void *a, const void *b, const hxs_modulus *m, size_t n) {
  hx_cpu_pointwise_portable64.mul_montgomery(out, a, b, m, n);
}

// Any word x = high 12 bits times 2^52 + low 52: two products, each below 2q.
typedef struct scalar {
  ifma_factor_t low, high;
} scalar_t;

static scalar_t scalar_of(hxs_factor c, uint64_t q) {
  const uint64_t up = (uint64_t)((hxs_u128)c.value * (HX_CPU_IFMA_LIMIT % q) % q);
  scalar_t s = {ifma_factor(c), {splat(up), splat((uint64_t)(((hxs_u128)up << 52) / q))}};
  return s;
}

HXS_INLINE hx_vec scaled(hx_vec x, const scalar_t *c, const ifma_modulus_t *m) {
  return _mm512_add_epi64(ifma_times(x, c->low.value, c->low.quotient, m),
                          ifma_times(_mm512_srli_epi64(x, 52), c->high.value, c->high.quotient, m));
}

static void mul_scalar(void *out, const void *a, hxs_factor c, const hxs_modulus *modulus, size_t n) {
  if (n % 8 != 0) {
    hx_cpu_pointwise_portable64.mul_scalar(out, a, c, modulus, n);
    return;
  }
  const uint64_t *x = a;
  uint64_t *to = out;
  const ifma_modulus_t m = ifma_modulus(modulus->q);
  const scalar_t s = scalar_of(c, modulus->q);
  for (size_t i = 0; i < n; i += 8) {
    store(to + i, ifma_normal(scaled(load(x + i), &s, &m), &m));
  }
}

// The product, in [0, 2q), gathers in acc: below 3q.
static void mul_scalar_add(void *out, const void *acc, const void *a, hxs_factor c, const hxs_modulus *modulus,
                           size_t n) {
  const uint64_t *x = a, *y = acc;
  uint64_t *to = out;
  const ifma_modulus_t m = ifma_modulus(modulus->q);
  const ifma_factor_t f = ifma_factor(c);
  for (size_t i = 0; i < n; i += 8) {
    const hx_vec v = load(x + i), t = high(v, f.quotient);
    const hx_vec sum = _mm512_and_si512(low_add(low_add(load(y + i), v, f.value), t, m.minus_q), m.mask);
    store(to + i, ifma_once(ifma_once(sum, m.two_q), m.q));
  }
}

// Vectors of a row that dot takes from one operand before the next: operands are rows a power of two apart, so that the
// same place of all of them falls into the same few sets of a cache, and what is asked for one vector at a time is
// thrown out by the next operand before it is read.
#define BLOCK 4u

// Sums on `vectors` (1 or BLOCK) vectors from word `at` on.
HXS_INLINE void dot_block(uint64_t *to, const uint64_t *start, const void *const *a, const void *const *b,
                          uint32_t count, size_t at, uint32_t vectors, ifma_factor_t radix, const ifma_modulus_t *m) {
  hx_vec lo[BLOCK], hi[BLOCK];
  UNROLL for (uint32_t v = 0; v < vectors; v++) {
    lo[v] = start != NULL ? load(start + at + 8 * v) : _mm512_setzero_si512();
    hi[v] = _mm512_setzero_si512();
  }
  for (uint32_t k = 0; k < count;) {
    const uint32_t end = count - k < CHUNK ? count : k + CHUNK;
    for (; k < end; k++) {
      const uint64_t *x = (const uint64_t *)a[k] + at, *y = (const uint64_t *)b[k] + at;
      UNROLL for (uint32_t v = 0; v < vectors; v++) {
        // Rows of keys come from far away, many at a time, each for a few pages' length: no processor guesses that.
        _mm_prefetch((const char *)(y + 8 * v + AHEAD), _MM_HINT_T0);
        const hx_vec left = load(x + 8 * v), right = load(y + 8 * v);
        lo[v] = low_add(lo[v], left, right);
        hi[v] = high_add(hi[v], left, right);
      }
    }
    UNROLL for (uint32_t v = 0; v < vectors; v++) {
      lo[v] = wide(hi[v], lo[v], radix, m);
      hi[v] = _mm512_setzero_si512();
    }
  }
  UNROLL for (uint32_t v = 0; v < vectors; v++) store(to + at + 8 * v, lo[v]);
}

static void dot(void *out, const void *acc, const void *const *a, const void *const *b, uint32_t count,
                const hxs_modulus *modulus, size_t n) {
  const ifma_modulus_t m = ifma_modulus(modulus->q);
  const ifma_factor_t radix = ifma_radix(modulus->q);
  size_t i = 0;
  for (; i + 8 * BLOCK <= n; i += 8 * BLOCK) dot_block(out, acc, a, b, count, i, BLOCK, radix, &m);
  for (; i < n; i += 8) dot_block(out, acc, a, b, count, i, 1, radix, &m);
}

const hx_cpu_pointwise_t hx_cpu_pointwise_avx512ifma = {.add = add,
                                                        .sub = sub,
                                                        .neg = neg,
                                                        .add_scalar = add_scalar,
                                                        .reduce = reduce,
                                                        .mul = mul,
                                                        .mul_add = mul_add,
                                                        .mul_montgomery = mul_montgomery,
                                                        .mul_scalar = mul_scalar,
                                                        .mul_scalar_add = mul_scalar_add,
                                                        .dot = dot};
