// SPDX-License-Identifier: Apache-2.0
// A plaintext's coefficients as exact integers: mixed-radix digits to words, centred mod Q_d. All sizes are public; no
// branch or address depends on a residue.
#include <string.h>

#include "core/ckks/constant_time.h"
#include "core/ckks/encode.h"
#include "core/ckks/ring_host.h"

// Coefficients that pass through the words together, so that rows are read in runs; it divides every ring degree (8
// up).
enum { TILE = 8 };

// v_0 + d_0 (v_1 + d_1 (v_2 + ...)) of one tile, by Horner: digits[l][k] become words [w][k]. The sum of digits below
// l is under d_0 .. d_(l-1), so nothing leaves `limbs` words.
static void compose_tile(uint64_t *rows, size_t stride, const uint64_t *primes, uint32_t limbs) {
  uint64_t words[HX_PRIMES_MAX][TILE];
  memset(words, 0, limbs * sizeof *words);
  for (uint32_t l = limbs; l-- > 0;) {
    uint64_t carry[TILE];
    memcpy(carry, rows + l * stride, sizeof carry);
    for (uint32_t w = 0; w < limbs - l; ++w) {
      for (uint32_t k = 0; k < TILE; ++k) {
        const hx_u128 sum = (hx_u128)words[w][k] * primes[l] + carry[k];
        words[w][k] = (uint64_t)sum;
        carry[k] = (uint64_t)(sum >> 64);
      }
    }
  }
  for (uint32_t w = 0; w < limbs; ++w) memcpy(rows + w * stride, words[w], sizeof words[w]);
  hx_wipe(words, limbs * sizeof *words);
}

// All ones where x > (Q - 1) / 2 = floor(Q / 2), for one tile: the borrow of floor(Q / 2) - x.
static void mark_negative(const uint64_t *rows, size_t stride, const hx_product_t *modulus, uint32_t limbs,
                          uint64_t *negative) {
  uint64_t borrow[TILE] = {0};
  for (uint32_t w = 0; w < limbs; ++w) {
    const uint64_t half = hx_product_bits_at(modulus, 64 * w + 1);
    for (uint32_t k = 0; k < TILE; ++k) {
      const hx_u128 rest = (hx_u128)half - rows[w * stride + k] - borrow[k];
      borrow[k] = (uint64_t)(rest >> 64) & 1;
    }
  }
  for (uint32_t k = 0; k < TILE; ++k) negative[k] = hx_mask(borrow[k]);
}

// Q - x where negative.
static void take_magnitude(uint64_t *rows, size_t stride, const hx_product_t *modulus, uint32_t limbs,
                           const uint64_t *negative) {
  uint64_t borrow[TILE] = {0};
  for (uint32_t w = 0; w < limbs; ++w) {
    const uint64_t word = w < modulus->words ? modulus->word[w] : 0;
    for (uint32_t k = 0; k < TILE; ++k) {
      const uint64_t x = rows[w * stride + k];
      const hx_u128 rest = (hx_u128)word - x - borrow[k];
      borrow[k] = (uint64_t)(rest >> 64) & 1;
      rows[w * stride + k] = hx_select(negative[k], (uint64_t)rest, x);
    }
  }
}

hx_status_t hx_plaintext_coefficients(const hx_value_t *plaintext, hx_coefficients_t *out, hx_report_t *report) {
  *out = (hx_coefficients_t){0};
  const hx_ref_ring *ring = NULL;
  HX_TRY(hx_params_reference(plaintext->params, &ring, report));
  const uint32_t n = hx_ref_ring_degree(ring);
  uint32_t ids[HX_PRIMES_MAX];
  const uint32_t limbs = hx_primes_list(&plaintext->type.primes, ids);
  out->block = hx_ring_rows_alloc(ring, (size_t)limbs + 1);
  if (out->block == NULL) return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for coefficients");
  out->count = n;
  out->words = limbs;
  out->magnitude = out->block;
  out->negative = out->block + (size_t)limbs * n;

  uint64_t primes[HX_PRIMES_MAX], *rows[HX_PRIMES_MAX];
  for (uint32_t l = 0; l < limbs; ++l) {
    primes[l] = hx_ref_ring_prime(ring, ids[l]);
    rows[l] = out->magnitude + (size_t)l * n;
    hx_ring_load(ring, plaintext->tensor, 0, 0, 0, l, rows[l]);
    if (plaintext->type.domain == HX_NTT) hx_ref_ntt_inverse(ring, ids[l], rows[l]);
  }
  hx_ref_mixed_radix(ring, &(hx_ref_rows){limbs, ids, rows});
  hx_product_t modulus;
  hx_product_set_primes(&modulus, hx_params_ring(plaintext->params), &plaintext->type.primes);
  for (uint32_t first = 0; first < n; first += TILE) {
    compose_tile(out->magnitude + first, n, primes, limbs);
    mark_negative(out->magnitude + first, n, &modulus, limbs, out->negative + first);
    take_magnitude(out->magnitude + first, n, &modulus, limbs, out->negative + first);
  }
  return HX_STATUS_OK;
}

void hx_coefficients_deinit(hx_coefficients_t *coefficients) {
  if (coefficients->block != NULL) {
    hx_wipe(coefficients->block, (size_t)(coefficients->words + 1) * coefficients->count * sizeof(uint64_t));
    hx_free(coefficients->block);
  }
  *coefficients = (hx_coefficients_t){0};
}
