// SPDX-License-Identifier: Apache-2.0
// One operand or result of a prepared operation: its descriptor, checked and copied.
#ifndef HX_CUDA_VIEW_H
#define HX_CUDA_VIEW_H

#include <stdbool.h>

#include "tables.h"

#define HX_CUDA_BATCH_RANK_MAX 8u

typedef struct hx_cuda_view {
  const char *side;  // "operand" or "result"
  uint32_t index;    // in the operation
  uint32_t slot;     // in the call's inputs or outputs
  uint32_t dtype, element_bytes, log_n;
  uint32_t domain, repr;  // 0 where dtype is no residue
  uint32_t digits, components, limbs;
  uint32_t batch_rank;
  uint64_t batch_shape[HX_CUDA_BATCH_RANK_MAX], batch_strides[HX_CUDA_BATCH_RANK_MAX];
  uint64_t items;  // product of batch_shape
  uint64_t digit_stride, component_stride;
  uint64_t *limb_offsets;  // [limbs], in elements
  uint32_t *ids;           // [limbs]; NULL where dtype is no residue
  uint64_t bytes;          // from the span's offset to the end of the last element
} hx_cuda_view_t;

// Fills a view from a descriptor. view->limb_offsets and view->ids are the caller's, room for desc->limbs each (the
// caller has checked desc->limbs with hx_cuda_view_limbs). Checks what holds for every tensor: sizes, dtype, ids below
// the ring's counts and ascending, known domain and representation, an extent that fits; for results also that no
// place is written twice.
int32_t hx_cuda_view_read(hx_cuda_view_t *view, const hx_tensor_desc *desc, const hx_tables *tables, const char *op,
                          hx_error *error);
// The number of limbs, or 0 with an error: struct too short, none, or more than a ring can have.
uint32_t hx_cuda_view_limbs(const hx_cuda_view_t *view, const hx_tensor_desc *desc, const char *op, hx_error *error);

static inline bool hx_cuda_view_is_residue(const hx_cuda_view_t *view) {
  return view->dtype == HX_U64 || view->dtype == HX_U32;
}
// The limb of a prime id, or HX_NONE.
uint32_t hx_cuda_view_limb_of(const hx_cuda_view_t *view, uint32_t id);
// Equal shape, rows and strides: one may lie exactly on the other.
bool hx_cuda_view_same_layout(const hx_cuda_view_t *a, const hx_cuda_view_t *b);
// Elements from the start to item `item`.
uint64_t hx_cuda_view_item_offset(const hx_cuda_view_t *view, uint64_t item);

#endif
