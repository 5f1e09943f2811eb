// SPDX-License-Identifier: Apache-2.0
// Operations on rows of one prime, element by element or by place.
#include <string.h>

#include "reference/modulus.h"

void hx_ref_row_add(const hx_ref_ring *ring, uint32_t prime_id, const uint64_t *a, const uint64_t *b, uint64_t *out) {
  const uint64_t q = prime_of(ring, prime_id)->q;
  for (uint32_t i = 0; i < ring->n; ++i) out[i] = mod_add(a[i], b[i], q);
}

void hx_ref_row_sub(const hx_ref_ring *ring, uint32_t prime_id, const uint64_t *a, const uint64_t *b, uint64_t *out) {
  const uint64_t q = prime_of(ring, prime_id)->q;
  for (uint32_t i = 0; i < ring->n; ++i) out[i] = mod_sub(a[i], b[i], q);
}

void hx_ref_row_neg(const hx_ref_ring *ring, uint32_t prime_id, const uint64_t *a, uint64_t *out) {
  const uint64_t q = prime_of(ring, prime_id)->q;
  for (uint32_t i = 0; i < ring->n; ++i) out[i] = mod_neg(a[i], q);
}

void hx_ref_row_mul(const hx_ref_ring *ring, uint32_t prime_id, const uint64_t *a, const uint64_t *b, uint64_t *out) {
  const hx_ref_prime *p = prime_of(ring, prime_id);
  for (uint32_t i = 0; i < ring->n; ++i) out[i] = mod_mul(a[i], b[i], p);
}

void hx_ref_row_mul_add(const hx_ref_ring *ring, uint32_t prime_id, const uint64_t *acc, const uint64_t *a,
                        const uint64_t *b, uint64_t *out) {
  const hx_ref_prime *p = prime_of(ring, prime_id);
  for (uint32_t i = 0; i < ring->n; ++i) out[i] = mod_add(acc[i], mod_mul(a[i], b[i], p), p->q);
}

void hx_ref_row_mul_scalar(const hx_ref_ring *ring, uint32_t prime_id, const uint64_t *a, uint64_t scalar,
                           uint64_t *out) {
  const hx_ref_prime *p = prime_of(ring, prime_id);
  for (uint32_t i = 0; i < ring->n; ++i) out[i] = mod_mul(a[i], scalar, p);
}

void hx_ref_row_add_scalar(const hx_ref_ring *ring, uint32_t prime_id, const uint64_t *a, uint64_t scalar,
                           uint64_t *out) {
  const uint64_t q = prime_of(ring, prime_id)->q;
  for (uint32_t i = 0; i < ring->n; ++i) out[i] = mod_add(a[i], scalar, q);
}

// 2q < 2^62, as the arithmetic needs.
void hx_ref_row_add_lazy(const hx_ref_ring *ring, uint32_t prime_id, const uint64_t *a, const uint64_t *b,
                         uint64_t *out) {
  const uint64_t m = 2 * prime_of(ring, prime_id)->q;
  for (uint32_t i = 0; i < ring->n; ++i) out[i] = mod_add(a[i], b[i], m);
}

void hx_ref_row_sub_lazy(const hx_ref_ring *ring, uint32_t prime_id, const uint64_t *a, const uint64_t *b,
                         uint64_t *out) {
  const uint64_t m = 2 * prime_of(ring, prime_id)->q;
  for (uint32_t i = 0; i < ring->n; ++i) out[i] = mod_sub(a[i], b[i], m);
}

void hx_ref_row_neg_lazy(const hx_ref_ring *ring, uint32_t prime_id, const uint64_t *a, uint64_t *out) {
  const uint64_t m = 2 * prime_of(ring, prime_id)->q;
  for (uint32_t i = 0; i < ring->n; ++i) out[i] = mod_neg(a[i], m);
}

void hx_ref_row_reduce(const hx_ref_ring *ring, uint32_t prime_id, const uint64_t *a, uint64_t *out) {
  const hx_ref_prime *p = prime_of(ring, prime_id);
  for (uint32_t i = 0; i < ring->n; ++i) out[i] = mod_reduce(a[i], p);
}

void hx_ref_row_to_montgomery(const hx_ref_ring *ring, uint32_t prime_id, const uint64_t *a, uint64_t *out) {
  const hx_ref_prime *p = prime_of(ring, prime_id);
  for (uint32_t i = 0; i < ring->n; ++i) out[i] = mod_mul_factor(a[i], p->to_montgomery, p->q);
}

void hx_ref_row_from_montgomery(const hx_ref_ring *ring, uint32_t prime_id, const uint64_t *a, uint64_t *out) {
  const hx_ref_prime *p = prime_of(ring, prime_id);
  for (uint32_t i = 0; i < ring->n; ++i) out[i] = mod_mul_factor(a[i], p->from_montgomery, p->q);
}

void hx_ref_row_mul_montgomery(const hx_ref_ring *ring, uint32_t prime_id, const uint64_t *a, const uint64_t *b,
                               uint64_t *out) {
  const hx_ref_prime *p = prime_of(ring, prime_id);
  for (uint32_t i = 0; i < ring->n; ++i) out[i] = mod_mul_factor(mod_mul(a[i], b[i], p), p->from_montgomery, p->q);
}

void hx_ref_row_center_lift(const hx_ref_ring *ring, uint32_t from, const uint64_t *a, uint32_t to, uint64_t *out) {
  const hx_ref_prime *target = prime_of(ring, to);
  const uint64_t q = prime_of(ring, from)->q, q_in_target = mod_reduce(q, target);
  for (uint32_t i = 0; i < ring->n; ++i) out[i] = mod_center_lift(a[i], q, q_in_target, target);
}

void hx_ref_row_center_lift_signed(const hx_ref_ring *ring, uint32_t prime_id, const int64_t *a, uint64_t *out) {
  const hx_ref_prime *p = prime_of(ring, prime_id);
  for (uint32_t i = 0; i < ring->n; ++i) out[i] = mod_reduce_signed(a[i], p);
}

// a_i goes to place e = i * g mod 2n, or as -a_i to e - n. Places depend on g alone; the sign is chosen by a mask.
void hx_ref_row_automorphism(const hx_ref_ring *ring, uint32_t prime_id, uint64_t element, const uint64_t *a,
                             uint64_t *out) {
  const uint64_t q = prime_of(ring, prime_id)->q;
  const uint64_t n = ring->n;
  assert((element & 1) != 0 && element < 2 * n && a != out);
  for (uint64_t i = 0; i < n; ++i) {
    const uint64_t e = i * element & (2 * n - 1);
    const uint64_t negative = 0 - (e / n);  // all ones where e >= n
    out[e & (n - 1)] = (a[i] & ~negative) | (mod_neg(a[i], q) & negative);
  }
}

// sigma_g(a)(x) = a(x^g): place i, of exponent 2*brv(i)+1, takes the value at exponent g * (2*brv(i)+1) mod 2n.
void hx_ref_row_automorphism_ntt(const hx_ref_ring *ring, uint64_t element, const uint64_t *a, uint64_t *out) {
  const uint64_t n = ring->n;
  assert((element & 1) != 0 && element < 2 * n && a != out);
  for (uint32_t i = 0; i < ring->n; ++i) {
    const uint64_t exponent = element * (2 * (uint64_t)bit_reverse(i, ring->log_n) + 1) & (2 * n - 1);
    out[i] = a[bit_reverse((uint32_t)((exponent - 1) / 2), ring->log_n)];
  }
}

void hx_ref_row_load(const hx_ref_ring *ring, uint32_t dtype, const void *memory, uint64_t *row) {
  assert(dtype == HX_U64 || dtype == HX_U32 || dtype == HX_I64);
  if (dtype == HX_U32) {
    const uint32_t *words = memory;
    for (uint32_t i = 0; i < ring->n; ++i) row[i] = words[i];
  } else {
    memmove(row, memory, ring->n * sizeof *row);
  }
}

void hx_ref_row_store(const hx_ref_ring *ring, uint32_t dtype, const uint64_t *row, void *memory) {
  assert(dtype == HX_U64 || dtype == HX_U32 || dtype == HX_I64);
  if (dtype == HX_U32) {
    uint32_t *words = memory;
    for (uint32_t i = 0; i < ring->n; ++i) words[i] = (uint32_t)row[i];
  } else {
    memmove(memory, row, ring->n * sizeof *row);
  }
}
