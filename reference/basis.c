// SPDX-License-Identifier: Apache-2.0
// Moving between bases, coefficient domain: fast conversion, division by a product of primes, mixed radix.
// Products of primes mod a prime are public and computed where they are needed.
#include "reference/modulus.h"

// The product mod p of the primes of rows first..last-1, without row `without`.
static uint64_t product_in(const hx_ref_ring *ring, const hx_ref_rows *rows, uint32_t last, uint32_t without,
                           const hx_ref_prime *p) {
  uint64_t product = 1;
  for (uint32_t i = 0; i < last; ++i)
    if (i != without) product = mod_mul(product, mod_reduce(prime_of(ring, rows->prime_ids[i])->q, p), p);
  return product;
}

// product_in's inverse; the primes are distinct, so it is there.
static uint64_t inverse_in(const hx_ref_ring *ring, const hx_ref_rows *rows, uint32_t last, uint32_t without,
                           uint32_t prime_id) {
  const hx_ref_prime *p = prime_of(ring, prime_id);
  return hx_ref_word_inverse(ring, prime_id, product_in(ring, rows, last, without, p));
}

// What the conversion needs to know of source row i for one target.
typedef struct {
  const hx_ref_prime *prime;
  const uint64_t *row;
  hx_ref_factor inverse;   // (D/d)^-1 mod d
  hx_ref_factor cofactor;  // D/d mod t
  uint64_t in_target;      // d mod t where y is centred, else 0: nothing is taken off
} term;

// Coefficient k of the conversion to t.
static uint64_t convert_one(const term *terms, uint32_t count, const hx_ref_prime *t, uint32_t k) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t d = terms[i].prime->q;
    const uint64_t y = mod_mul_factor(terms[i].row[k], terms[i].inverse, d);
    const uint64_t y_in_t = mod_center_lift(y, d, terms[i].in_target, t);
    sum = mod_add(sum, mod_mul_factor(y_in_t, terms[i].cofactor, t->q), t->q);
  }
  return sum;
}

static void fill_inverses(const hx_ref_ring *ring, const hx_ref_rows *from, term *terms) {
  assert(from->count <= HX_REF_PRIMES_MAX);
  for (uint32_t i = 0; i < from->count; ++i) {
    terms[i].prime = prime_of(ring, from->prime_ids[i]);
    terms[i].row = from->rows[i];
    terms[i].inverse = factor_of(inverse_in(ring, from, from->count, i, from->prime_ids[i]), terms[i].prime->q);
  }
}

static void fill_target(const hx_ref_ring *ring, const hx_ref_rows *from, const hx_ref_prime *t, uint32_t rounding,
                        term *terms) {
  assert(rounding == HX_REF_NEAREST || rounding == HX_REF_TRUNCATING);
  for (uint32_t i = 0; i < from->count; ++i) {
    terms[i].cofactor = factor_of(product_in(ring, from, from->count, i, t), t->q);
    terms[i].in_target = rounding == HX_REF_NEAREST ? mod_reduce(terms[i].prime->q, t) : 0;
  }
}

void hx_ref_convert(const hx_ref_ring *ring, const hx_ref_rows *from, const hx_ref_rows *to, uint32_t rounding) {
  term terms[HX_REF_PRIMES_MAX];
  fill_inverses(ring, from, terms);
  for (uint32_t j = 0; j < to->count; ++j) {
    const hx_ref_prime *t = prime_of(ring, to->prime_ids[j]);
    fill_target(ring, from, t, rounding, terms);
    for (uint32_t k = 0; k < ring->n; ++k) to->rows[j][k] = convert_one(terms, from->count, t, k);
  }
}

void hx_ref_mod_down(const hx_ref_ring *ring, const hx_ref_rows *keep, const hx_ref_rows *drop, uint32_t rounding) {
  assert(drop->count != 0);
  term terms[HX_REF_PRIMES_MAX];
  fill_inverses(ring, drop, terms);
  for (uint32_t j = 0; j < keep->count; ++j) {
    const hx_ref_prime *t = prime_of(ring, keep->prime_ids[j]);
    fill_target(ring, drop, t, rounding, terms);
    const hx_ref_factor inverse = factor_of(inverse_in(ring, drop, drop->count, HX_NONE, keep->prime_ids[j]), t->q);
    uint64_t *row = keep->rows[j];
    for (uint32_t k = 0; k < ring->n; ++k) {
      const uint64_t rest = mod_sub(row[k], convert_one(terms, drop->count, t, k), t->q);
      row[k] = mod_mul_factor(rest, inverse, t->q);
    }
  }
}

void hx_ref_rescale(const hx_ref_ring *ring, const hx_ref_rows *x, uint32_t count, uint32_t rounding) {
  assert(count < x->count);
  for (uint32_t left = x->count; left > x->count - count; --left) {
    const hx_ref_rows keep = {left - 1, x->prime_ids, x->rows};
    const hx_ref_rows drop = {1, x->prime_ids + left - 1, x->rows + left - 1};
    hx_ref_mod_down(ring, &keep, &drop, rounding);
  }
}

// v_0 + v_1 d_0 + ... + v_(count-1) d_0 ... d_(count-2) mod p, of coefficient k; weights[l] is d_0 ... d_(l-1) mod p.
static uint64_t radix_value(const hx_ref_rows *digits, uint32_t count, const hx_ref_factor *weights,
                            const hx_ref_prime *p, uint32_t k) {
  uint64_t value = 0;
  for (uint32_t l = 0; l < count; ++l)  // the product takes any word, so digits of larger primes need no reduction
    value = mod_add(value, mod_mul_factor(digits->rows[l][k], weights[l], p->q), p->q);
  return value;
}

static void fill_weights(const hx_ref_ring *ring, const hx_ref_rows *rows, uint32_t count, const hx_ref_prime *p,
                         hx_ref_factor *weights) {
  assert(rows->count <= HX_REF_PRIMES_MAX);
  for (uint32_t l = 0; l < count; ++l) weights[l] = factor_of(product_in(ring, rows, l, HX_NONE, p), p->q);
}

// v_m = (x_m - (v_0 + ... + v_(m-1) d_0 ... d_(m-2))) * (d_0 ... d_(m-1))^-1 mod d_m; rows below m are digits already.
void hx_ref_mixed_radix(const hx_ref_ring *ring, const hx_ref_rows *x) {
  hx_ref_factor weights[HX_REF_PRIMES_MAX];
  for (uint32_t m = 0; m < x->count; ++m) {
    const hx_ref_prime *p = prime_of(ring, x->prime_ids[m]);
    fill_weights(ring, x, m, p, weights);
    const hx_ref_factor inverse = factor_of(inverse_in(ring, x, m, HX_NONE, x->prime_ids[m]), p->q);
    uint64_t *row = x->rows[m];
    for (uint32_t k = 0; k < ring->n; ++k)
      row[k] = mod_mul_factor(mod_sub(row[k], radix_value(x, m, weights, p, k), p->q), inverse, p->q);
  }
}

void hx_ref_mixed_radix_residue(const hx_ref_ring *ring, const hx_ref_rows *digits, uint32_t to, uint64_t *out) {
  hx_ref_factor weights[HX_REF_PRIMES_MAX];
  const hx_ref_prime *p = prime_of(ring, to);
  fill_weights(ring, digits, digits->count, p, weights);
  for (uint32_t k = 0; k < ring->n; ++k) out[k] = radix_value(digits, digits->count, weights, p, k);
}
