// SPDX-License-Identifier: Apache-2.0
// Rings for known answers. The primes are constants, so that every run on every machine asks the same questions.
#include <sodium.h>
#include <string.h>

#include "core/backend/self_test.h"

#define SMALL 8  // log2 of N

__extension__ typedef unsigned __int128 wide_t;

typedef struct prime_row {
  uint32_t bits;
  uint64_t primes[3];
} prime_row_t;

static const prime_row_t prime_rows[] = {
#define PRIMES(bits_, a_, b_, c_) {(bits_), {(a_), (b_), (c_)}},
#include "core/backend/self_test_primes.def"
};

static uint64_t multiply(uint64_t a, uint64_t b, uint64_t q) { return (uint64_t)((wide_t)a * b % q); }

static uint64_t power(uint64_t base, uint64_t exponent, uint64_t q) {
  uint64_t result = 1;
  for (; exponent > 0; exponent >>= 1) {
    if ((exponent & 1) != 0) result = multiply(result, base, q);
    base = multiply(base, base, q);
  }
  return result;
}

// The smallest primitive 2N-th root of unity: one is found, all are its odd powers.
static uint64_t smallest_root(uint64_t q, uint32_t log_n) {
  const uint64_t n = (uint64_t)1 << log_n;
  uint64_t root = 0;
  for (uint64_t base = 2; root == 0; ++base) {
    const uint64_t candidate = power(base, (q - 1) / (2 * n), q);
    if (power(candidate, n, q) == q - 1) root = candidate;  // half of all bases do
  }
  const uint64_t square = multiply(root, root, q);
  uint64_t smallest = root;
  for (uint64_t i = 1; i < n; ++i) {
    root = multiply(root, square, q);
    if (root < smallest) smallest = root;
  }
  return smallest;
}

static uint32_t choose_primes(uint32_t bits_min, uint32_t bits_max, uint64_t *primes) {
  uint32_t count = 0;
  uint64_t last = 0;
  for (size_t i = 0; i < HX_COUNT_OF(prime_rows); ++i) {
    const prime_row_t *row = &prime_rows[i];
    for (int j = 0; j < 3 && row->bits <= bits_max && row->bits >= bits_min; ++j) {
      if (count < HX_SELF_TEST_PRIMES) primes[count++] = row->primes[j];
      last = row->primes[j];
    }
  }
  if (count == HX_SELF_TEST_PRIMES) primes[1] = last;  // the other end of the range, in Q
  return count;
}

bool hx_self_test_choose(const hx_manifest_operation_t *row, uint32_t word, hx_self_test_choice_t *out) {
  const uint32_t most = word == 32 ? 31 : 61;
  const uint32_t bits_max = row->prime_bits_max < most ? row->prime_bits_max : most;
  *out = (hx_self_test_choice_t){.word = word};
  out->log_n = row->log_n_min > SMALL ? row->log_n_min : row->log_n_max < SMALL ? row->log_n_max : SMALL;
  return out->log_n >= 3 && out->log_n <= 17 && choose_primes(row->prime_bits_min, bits_max, out->primes) >= 3;
}

void hx_self_test_ring(const hx_self_test_choice_t *choice, hx_self_test_ring_t *out) {
  *out = (hx_self_test_ring_t){.choice = *choice};
  uint32_t count = 0;
  while (count < HX_SELF_TEST_PRIMES && choice->primes[count] != 0) ++count;
  for (uint32_t i = 0; i < count; ++i) {
    out->primes[i] = choice->primes[i];
    out->psi[i] = smallest_root(choice->primes[i], choice->log_n);
    out->groups[i] = 1;
    out->ids[i] = i;
  }
  const uint32_t special = count > 4 ? 2 : 1;
  out->ring = (hx_ring){.struct_size = HX_END_OF(hx_ring, digest),
                        .log_n = choice->log_n,
                        .word = choice->word,
                        .q_count = count - special,
                        .p_count = special,
                        .digit_run = special,
                        .group_count = count - special,
                        .primes = out->primes,
                        .psi = out->psi,
                        .group_sizes = out->groups};
  crypto_hash_sha256_state hash;
  crypto_hash_sha256_init(&hash);
  crypto_hash_sha256_update(&hash, (const unsigned char *)"heliox self-test", 16);
  crypto_hash_sha256_update(&hash, (const unsigned char *)choice, sizeof *choice);
  crypto_hash_sha256_final(&hash, out->ring.digest);
}
