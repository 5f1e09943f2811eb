// SPDX-License-Identifier: Apache-2.0
// Uniform rows from a seed (CKKS.md, "Keys"), in vector code: the same bits as hx_ref_row_expand_uniform. Seeds are
// public.
#ifndef HELIOX_CORE_CKKS_EXPAND_H
#define HELIOX_CORE_CKKS_EXPAND_H

#include "core/ckks/expand_kernels.h"
#include "heliox/plugin.h"

// The row of prime `prime_id` of the uniform polynomial number `index`, in ntt domain order: N words of the ring's
// residue word at `out`, in [0, q).
void hx_expand_uniform_row(const hx_ring *ring, uint32_t prime_id, const uint8_t seed[32], uint32_t index, void *out);
// With kernels of one's choice.
void hx_expand_uniform_row_with(const hx_expand_kernels_t *kernels, const hx_ring *ring, uint32_t prime_id,
                                const uint8_t seed[32], uint32_t index, void *out);

#endif
