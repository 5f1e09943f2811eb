// SPDX-License-Identifier: Apache-2.0
// One operand or result of a prepared operation: its descriptor, checked and copied.
#ifndef HELIOX_SUPPORT_VIEW_H
#define HELIOX_SUPPORT_VIEW_H

#include <stdbool.h>

#include "heliox/support/ring.h"

#ifdef __cplusplus
extern "C" {
#endif

// Axes of a batch at most.
#define HXS_BATCH_RANK_MAX 8u

// A tensor of an operation, checked and laid out.
typedef struct hxs_view {
  const char *side;                            // "operand" or "result"
  uint32_t index;                              // in the operation
  uint32_t slot;                               // in the call's inputs or outputs
  uint32_t dtype;                              // of elements
  uint32_t element_bytes;                      // of one
  uint32_t log_n;                              // 2^log_n elements a row
  uint32_t domain;                             // 0 where dtype is no residue
  uint32_t repr;                               // 0 where dtype is no residue
  uint32_t flags;                              // HX_SECRET, HX_IMMUTABLE
  uint32_t digits;                             // 0: no such axis
  uint32_t components;                         // polynomials
  uint32_t limbs;                              // rows of each
  uint32_t batch_rank;                         // axes of the batch
  uint64_t batch_shape[HXS_BATCH_RANK_MAX];    // [batch_rank]
  uint64_t batch_strides[HXS_BATCH_RANK_MAX];  // [batch_rank], in elements
  uint64_t items;                              // product of batch_shape
  uint64_t digit_stride;                       // in elements
  uint64_t component_stride;                   // in elements
  uint64_t *limb_offsets;                      // [limbs], in elements
  uint32_t *ids;                               // [limbs]; NULL where dtype is no residue
  uint64_t bytes;                              // from the span's offset to the end of the last element
} hxs_view;

// Fills a view from a descriptor. view->limb_offsets and view->ids are the caller's, room for desc->limbs each (the
// caller has checked desc->limbs with hxs_view_limbs). Checks what holds for every tensor: sizes, dtype, ids below
// the ring's counts and ascending, known domain and representation, an extent that fits; for results also that no
// place is written twice.
int32_t hxs_view_read(hxs_view *view, const hx_tensor_desc *desc, const hxs_ring *ring, const char *op,
                      hx_error *error);
// The number of limbs, or 0 with an error: struct too short, none, or more than a ring can have.
uint32_t hxs_view_limbs(const hxs_view *view, const hx_tensor_desc *desc, const char *op, hx_error *error);

static inline bool hxs_view_is_residue(const hxs_view *view) { return view->dtype == HX_U64 || view->dtype == HX_U32; }
// The limb of a prime id, or HX_NONE.
uint32_t hxs_view_limb_of(const hxs_view *view, uint32_t id);
// Equal shape, rows and strides: one may lie exactly on the other.
bool hxs_view_same_layout(const hxs_view *a, const hxs_view *b);
// Elements from the start to item `item`.
uint64_t hxs_view_item_offset(const hxs_view *view, uint64_t item);

#ifdef __cplusplus
}
#endif

#endif
