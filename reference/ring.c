// SPDX-License-Identifier: Apache-2.0
// Tables of a ring and arithmetic on single residues. All that is computed here comes from public numbers.
#include <stdlib.h>
#include <string.h>

#include "reference/fault.h"
#include "reference/modulus.h"

static uint64_t power(uint64_t a, uint64_t exponent, const hx_ref_prime *p) {
  uint64_t result = 1, square = a;
  for (; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) result = mod_mul(result, square, p);
    square = mod_mul(square, square, p);
  }
  return result;
}

// Constants of arithmetic mod q.
static void prime_init(hx_ref_prime *p, uint64_t q) {
  p->q = q;
  p->bits = 0;
  while (q >> p->bits != 0) ++p->bits;
  p->word_ratio = UINT64_MAX / q;  // q is odd, so 2^64 is no multiple of it
  p->product_ratio = (uint64_t)(((hx_ref_u128)1 << (2 * p->bits)) / q);
}

static int32_t check_header(const hx_ring *ring, hx_error *error) {
  if (ring->log_n < 3 || ring->log_n > 17)
    return hx_ref_fail(error, HX_INVALID, "ring: log_n is %u, must be 3 to 17", ring->log_n);
  if (ring->word != 64 && ring->word != 32)
    return hx_ref_fail(error, HX_INVALID, "ring: word is %u, must be 64 or 32", ring->word);
  const uint64_t count = (uint64_t)ring->q_count + ring->p_count;
  if (ring->q_count == 0 || count > HX_REF_PRIMES_MAX)
    return hx_ref_fail(error, HX_INVALID, "ring: %u primes of Q and %u of P; Q needs one, both may have %u",
                       ring->q_count, ring->p_count, HX_REF_PRIMES_MAX);
  if (ring->digit_run == 0)
    return hx_ref_fail(error, HX_INVALID, "ring: digit_run is 0; a digit has at least one prime");
  if (ring->primes == NULL || ring->psi == NULL || ring->group_sizes == NULL)
    return hx_ref_fail(error, HX_INVALID, "ring: primes, psi or group_sizes is NULL");
  if (ring->group_count > ring->q_count)
    return hx_ref_fail(error, HX_INVALID, "ring: %u groups for %u primes of Q", ring->group_count, ring->q_count);
  uint64_t grouped = 0;
  for (uint32_t g = 0; g < ring->group_count; ++g) {
    if (ring->group_sizes[g] == 0) return hx_ref_fail(error, HX_INVALID, "ring: group %u has no prime", g);
    grouped += ring->group_sizes[g];
  }
  if (grouped != ring->q_count)
    return hx_ref_fail(error, HX_INVALID, "ring: groups hold %llu primes, Q has %u", (unsigned long long)grouped,
                       ring->q_count);
  return HX_OK;
}

static int32_t check_prime(const hx_ring *ring, uint32_t id, hx_error *error) {
  const uint64_t q = ring->primes[id];
  const uint64_t limit = (uint64_t)1 << (ring->word == 64 ? 61 : 31);
  const uint64_t order = (uint64_t)2 << ring->log_n;
  if (q >= limit || q < order || q % order != 1)
    return hx_ref_fail(error, HX_INVALID, "ring: prime %u is %llu; must be 1 mod %llu and below 2^%d", id,
                       (unsigned long long)q, (unsigned long long)order, ring->word == 64 ? 61 : 31);
  for (uint32_t other = 0; other < id; ++other)
    if (ring->primes[other] == q)
      return hx_ref_fail(error, HX_INVALID, "ring: prime %llu is there twice, as %u and %u", (unsigned long long)q,
                         other, id);
  return HX_OK;
}

// The constants and twiddles of one prime.
static int32_t fill_prime(hx_ref_ring *ring, uint32_t id, uint64_t q, uint64_t psi, hx_error *error) {
  hx_ref_prime *p = &ring->primes[id];
  const uint32_t n = ring->n;
  prime_init(p, q);
  // psi^n = -1 makes psi a unit of order exactly 2n, as n is a power of two.
  if (psi >= q || power(psi, n, p) != q - 1)
    return hx_ref_fail(error, HX_INVALID, "ring: psi %llu of prime %u is no primitive %u-th root of unity mod %llu",
                       (unsigned long long)psi, id, 2 * n, (unsigned long long)q);
  const uint64_t n_inverse = power(n, q - 2, p);
  const uint64_t word_power = power(2, ring->word, p);
  const uint64_t word_inverse = power(word_power, q - 2, p);
  if (mod_mul(n, n_inverse, p) != 1 || mod_mul(word_power, word_inverse, p) != 1)
    return hx_ref_fail(error, HX_INVALID, "ring: %llu, prime %u, is not prime", (unsigned long long)q, id);
  p->n_inverse = factor_of(n_inverse, q);
  p->to_montgomery = factor_of(word_power, q);
  p->from_montgomery = factor_of(word_inverse, q);
  uint64_t root = 1;
  for (uint32_t k = 0; k < n; ++k) {
    p->roots[bit_reverse(k, ring->log_n)] = factor_of(root, q);
    root = mod_mul(root, psi, p);
  }
  return HX_OK;
}

int32_t hx_ref_ring_create(const hx_ring *ring, hx_ref_ring **out, hx_error *error) {
  *out = NULL;
  int32_t code = check_header(ring, error);
  if (code != HX_OK) return code;
  const uint32_t count = ring->q_count + ring->p_count;
  for (uint32_t id = 0; id < count; ++id)
    if ((code = check_prime(ring, id, error)) != HX_OK) return code;

  hx_ref_ring *made = calloc(1, sizeof *made);
  const uint32_t n = (uint32_t)1 << ring->log_n;
  hx_ref_factor *roots = calloc((size_t)count * n, sizeof *roots);
  if (made == NULL || roots == NULL) {
    free(made);
    free(roots);
    return hx_ref_fail(error, HX_OUT_OF_MEMORY, "ring: no memory for the tables of %u primes", count);
  }
  made->log_n = ring->log_n;
  made->n = n;
  made->word = ring->word;
  made->q_count = ring->q_count;
  made->p_count = ring->p_count;
  made->digit_run = ring->digit_run;
  made->group_count = ring->group_count;
  for (uint32_t g = 0; g < ring->group_count; ++g) made->group_sizes[g] = ring->group_sizes[g];
  made->roots = roots;
  for (uint32_t id = 0; id < count; ++id) {
    made->primes[id].roots = roots + (size_t)id * n;
    if ((code = fill_prime(made, id, ring->primes[id], ring->psi[id], error)) != HX_OK) {
      hx_ref_ring_destroy(made);
      return code;
    }
  }
  *out = made;
  return HX_OK;
}

void hx_ref_ring_destroy(hx_ref_ring *ring) {
  if (ring == NULL) return;
  free(ring->roots);
  free(ring);
}

uint32_t hx_ref_ring_degree(const hx_ref_ring *ring) { return ring->n; }

uint32_t hx_ref_ring_word(const hx_ref_ring *ring) { return ring->word; }

uint32_t hx_ref_ring_prime_count(const hx_ref_ring *ring) { return ring->q_count + ring->p_count; }

uint64_t hx_ref_ring_prime(const hx_ref_ring *ring, uint32_t prime_id) { return prime_of(ring, prime_id)->q; }

uint64_t hx_ref_word_reduce(const hx_ref_ring *ring, uint32_t prime_id, uint64_t x) {
  return mod_reduce(x, prime_of(ring, prime_id));
}

uint64_t hx_ref_word_reduce_signed(const hx_ref_ring *ring, uint32_t prime_id, int64_t x) {
  return mod_reduce_signed(x, prime_of(ring, prime_id));
}

uint64_t hx_ref_word_add(const hx_ref_ring *ring, uint32_t prime_id, uint64_t a, uint64_t b) {
  return mod_add(a, b, prime_of(ring, prime_id)->q);
}

uint64_t hx_ref_word_sub(const hx_ref_ring *ring, uint32_t prime_id, uint64_t a, uint64_t b) {
  return mod_sub(a, b, prime_of(ring, prime_id)->q);
}

uint64_t hx_ref_word_mul(const hx_ref_ring *ring, uint32_t prime_id, uint64_t a, uint64_t b) {
  return mod_mul(a, b, prime_of(ring, prime_id));
}

uint64_t hx_ref_word_power(const hx_ref_ring *ring, uint32_t prime_id, uint64_t a, uint64_t exponent) {
  return power(a, exponent, prime_of(ring, prime_id));
}

// Fermat: a^(q-2).
uint64_t hx_ref_word_inverse(const hx_ref_ring *ring, uint32_t prime_id, uint64_t a) {
  const hx_ref_prime *p = prime_of(ring, prime_id);
  return power(a, p->q - 2, p);
}

uint64_t hx_ref_word_half_turn(const hx_ref_ring *ring, uint32_t prime_id) {
  return prime_of(ring, prime_id)->roots[1].value;  // brv(1) = n / 2
}
