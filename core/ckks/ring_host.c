// SPDX-License-Identifier: Apache-2.0
#include "core/ckks/ring_host.h"

uint64_t *hx_ring_rows_alloc(const hx_ref_ring *ring, size_t rows) {
  return hx_zalloc(rows * hx_ref_ring_degree(ring), sizeof(uint64_t));
}

void hx_ring_rows_free(const hx_ref_ring *ring, uint64_t *block, size_t rows) {
  if (block == NULL) return;
  hx_wipe(block, rows * hx_ref_ring_degree(ring) * sizeof *block);
  hx_free(block);
}

void hx_ring_lift_small(const hx_ref_ring *ring, uint32_t prime_id, const int8_t *small, uint64_t *words,
                        uint64_t *out) {
  const uint32_t n = hx_ref_ring_degree(ring);
  int64_t *signed_words = (int64_t *)words;
  for (uint32_t k = 0; k < n; ++k) signed_words[k] = small[k];
  hx_ring_lift_words(ring, prime_id, signed_words, out);
}

void hx_ring_lift_words(const hx_ref_ring *ring, uint32_t prime_id, const int64_t *words, uint64_t *out) {
  hx_ref_row_center_lift_signed(ring, prime_id, words, out);
  hx_ref_ntt_forward(ring, prime_id, out);
}

void hx_ring_load(const hx_ref_ring *ring, const hx_tensor_t *tensor, uint64_t item, uint32_t digit, uint32_t component,
                  uint32_t limb, uint64_t *row) {
  hx_ref_row_load(ring, tensor->layout.dtype, hx_tensor_row(tensor, item, digit, component, limb), row);
}

void hx_ring_store(const hx_ref_ring *ring, const uint64_t *row, const hx_tensor_t *tensor, uint64_t item,
                   uint32_t digit, uint32_t component, uint32_t limb) {
  hx_ref_row_store(ring, tensor->layout.dtype, row, hx_tensor_row(tensor, item, digit, component, limb));
}
