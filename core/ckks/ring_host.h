// SPDX-License-Identifier: Apache-2.0
// Rows for the core's own arithmetic on secrets, which runs on reference/ (constant time), never on a plugin. The
// tables are the parameters' (hx_params_reference).
#ifndef HELIOX_CORE_CKKS_RING_HOST_H
#define HELIOX_CORE_CKKS_RING_HOST_H

#include "core/tensor/tensor.h"
#include "reference/reference.h"

// A zeroed block of 64-bit rows; hx_ring_rows_free wipes it. NULL: out of memory.
uint64_t *hx_ring_rows_alloc(const hx_ref_ring *ring, size_t rows);
void hx_ring_rows_free(const hx_ref_ring *ring, uint64_t *block, size_t rows);

// Small signed coefficients to residues of one prime in ntt domain. `words` is scratch, one row; it holds the
// coefficients afterwards.
void hx_ring_lift_small(const hx_ref_ring *ring, uint32_t prime_id, const int8_t *small, uint64_t *words,
                        uint64_t *out);
// The same of signed words.
void hx_ring_lift_words(const hx_ref_ring *ring, uint32_t prime_id, const int64_t *words, uint64_t *out);

// Rows of a host tensor of residues, whatever its word.
void hx_ring_load(const hx_ref_ring *ring, const hx_tensor_t *tensor, uint64_t item, uint32_t digit, uint32_t component,
                  uint32_t limb, uint64_t *row);
void hx_ring_store(const hx_ref_ring *ring, const uint64_t *row, const hx_tensor_t *tensor, uint64_t item,
                   uint32_t digit, uint32_t component, uint32_t limb);

#endif
