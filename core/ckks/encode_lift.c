// SPDX-License-Identifier: Apache-2.0
// A plaintext's coefficients as exact integers: mixed-radix digits to words, centred mod Q_d. All sizes are public; no
// branch or address depends on a residue.
#include <string.h>

#include "core/ckks/constant_time.h"
#include "core/ckks/encode.h"
#include "core/ckks/encode_kernels.h"
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

// Rows in coefficient domain as 64-bit words.
static hx_status_t load_rows(const hx_rows_t *rows, const hx_value_t *plaintext, const uint32_t *ids, uint32_t limbs,
                             uint64_t *const *to) {
  hx_row_session_t *session = hx_rows_open(rows, 1);
  if (session == NULL) return HX_STATUS_OUT_OF_MEMORY;
  for (uint32_t l = 0; l < limbs; ++l) {
    const hx_row_t row = hx_row_of(plaintext->tensor, 0, 0, 0, l), scratch = hx_row_scratch(session, 0);
    const bool is_ntt = plaintext->type.domain == HX_NTT;
    if (is_ntt) hx_row_inverse(session, ids[l], row, scratch);
    hx_row_wait(session);
    hx_ref_row_load(rows->reference, plaintext->tensor->layout.dtype, hx_row_address(is_ntt ? scratch : row), to[l]);
  }
  return hx_rows_close(session);
}

hx_status_t hx_plaintext_coefficients_on(const hx_rows_t *rows, const hx_value_t *plaintext, hx_coefficients_t *out,
                                         hx_report_t *report) {
  *out = (hx_coefficients_t){0};
  const hx_ref_ring *ring = rows->reference;
  const uint32_t n = hx_ref_ring_degree(ring);
  uint32_t ids[HX_PRIMES_MAX];
  const uint32_t limbs = hx_primes_list(&plaintext->type.primes, ids);
  out->block = hx_ring_rows_alloc(ring, (size_t)limbs + 1);
  if (out->block == NULL) return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for coefficients");
  out->count = n;
  out->words = limbs;
  out->magnitude = out->block;
  out->negative = out->block + (size_t)limbs * n;

  uint64_t primes[HX_PRIMES_MAX], *each[HX_PRIMES_MAX];
  for (uint32_t l = 0; l < limbs; ++l) {
    primes[l] = hx_ref_ring_prime(ring, ids[l]);
    each[l] = out->magnitude + (size_t)l * n;
  }
  if (load_rows(rows, plaintext, ids, limbs, each) != HX_STATUS_OK) {
    hx_coefficients_deinit(out);
    return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for coefficients");
  }
  hx_ref_mixed_radix(ring, &(hx_ref_rows){limbs, ids, each});
  hx_product_t modulus;
  hx_product_set_primes(&modulus, hx_params_ring(plaintext->params), &plaintext->type.primes);
  for (uint32_t first = 0; first < n; first += TILE) {
    compose_tile(out->magnitude + first, n, primes, limbs);
    mark_negative(out->magnitude + first, n, &modulus, limbs, out->negative + first);
    take_magnitude(out->magnitude + first, n, &modulus, limbs, out->negative + first);
  }
  return HX_STATUS_OK;
}

hx_status_t hx_plaintext_coefficients(const hx_value_t *plaintext, hx_coefficients_t *out, hx_report_t *report) {
  hx_rows_t rows;
  *out = (hx_coefficients_t){0};
  HX_TRY(hx_rows_init(&rows, plaintext->params, NULL, report));
  const hx_status_t status = hx_plaintext_coefficients_on(&rows, plaintext, out, report);
  hx_rows_deinit(&rows);
  return status;
}

// ------------------------------------------------------------------ narrow messages

// Residues of prime 0, centred, as signed words; in place where they are 64-bit words.
static void center_words(const void *residues, bool is_narrow, uint64_t q, uint32_t n, int64_t *out) {
  const uint64_t half = q / 2;  // (q - 1) / 2
  for (uint32_t k = 0; k < n; ++k) {
    const uint64_t x = is_narrow ? ((const uint32_t *)residues)[k] : ((const uint64_t *)residues)[k];
    out[k] = (int64_t)(x - (q & (0 - ((half - x) >> 63))));
  }
}

bool hx_plaintext_words(hx_row_session_t *session, const hx_value_t *plaintext) {
  const hx_ring *ring = hx_params_ring(plaintext->params);
  const uint32_t n = (uint32_t)1 << ring->log_n;
  const hx_row_t words = hx_row_scratch(session, 0), row = hx_row_scratch(session, 1);
  const bool is_ntt = plaintext->type.domain == HX_NTT, is_narrow = ring->word == 32;
  uint32_t ids[HX_PRIMES_MAX];
  const uint32_t limbs = hx_primes_list(&plaintext->type.primes, ids);
  hx_row_t first = hx_row_of(plaintext->tensor, 0, 0, 0, 0);
  if (is_ntt) {
    hx_row_inverse(session, ids[0], first, row);
    first = row;
  }
  hx_row_wait(session);
  center_words(hx_row_address(first), is_narrow, ring->primes[ids[0]], n, hx_row_address(words));
  uint64_t differing = 0;
  for (uint32_t l = 1; l < limbs; ++l) {
    hx_row_lift_signed(session, ids[l], words, row);
    if (is_ntt) hx_row_forward(session, ids[l], row, row);
    hx_row_wait(session);
    differing |=
        hx_encode_kernels()->differ(hx_row_address(row), hx_row_address(hx_row_of(plaintext->tensor, 0, 0, 0, l)),
                                    n * (is_narrow ? sizeof(uint32_t) : sizeof(uint64_t)));
  }
  return differing == 0;
}

void hx_coefficients_deinit(hx_coefficients_t *coefficients) {
  if (coefficients->block != NULL) {
    hx_wipe(coefficients->block, (size_t)(coefficients->words + 1) * coefficients->count * sizeof(uint64_t));
    hx_free(coefficients->block);
  }
  *coefficients = (hx_coefficients_t){0};
}
