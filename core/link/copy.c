// SPDX-License-Identifier: Apache-2.0
// Copies of tensors between places of one device, as few pieces as the strides allow.
#include "core/link/executable.h"

typedef struct copier {
  const hx_opened_device_t *device;
  hx_queue *queue;
  hx_error *error;
  uint32_t size;       // bytes of an element
  uint64_t row_bytes;  // of one row
} copier_t;

static int32_t copy_piece(const copier_t *copier, hx_span to, uint64_t to_element, hx_span from, uint64_t from_element,
                          uint64_t bytes) {
  to.offset += to_element * copier->size;
  from.offset += from_element * copier->size;
  return copier->device->queue.copy(copier->queue, to, from, bytes, copier->error);
}

static bool has_adjacent_rows(const hx_layout_t *layout) {
  return !layout->has_rows && layout->limb_stride == (uint64_t)1 << layout->log_n;
}

static uint64_t row_of(const hx_layout_t *layout, uint32_t limb) {
  return (layout->has_rows ? layout->rows[limb] : limb) * layout->limb_stride;
}

static int32_t copy_limbs(const copier_t *copier, const hx_layout_t *to_layout, hx_span to, uint64_t to_base,
                          const hx_layout_t *from_layout, hx_span from, uint64_t from_base) {
  if (has_adjacent_rows(to_layout) && has_adjacent_rows(from_layout)) {
    return copy_piece(copier, to, to_base, from, from_base, copier->row_bytes * to_layout->limbs);
  }
  for (uint32_t l = 0; l < to_layout->limbs; ++l) {
    const int32_t result = copy_piece(copier, to, to_base + row_of(to_layout, l), from,
                                      from_base + row_of(from_layout, l), copier->row_bytes);
    if (result != HX_OK) return result;
  }
  return HX_OK;
}

int32_t hx_copy_rows(const hx_opened_device_t *device, hx_queue *queue, const hx_layout_t *to_layout, hx_span to,
                     const hx_layout_t *from_layout, hx_span from, hx_error *error) {
  const uint32_t size = hx_dtype_bytes(to_layout->dtype);
  const copier_t copier = {
      .device = device, .queue = queue, .error = error, .size = size, .row_bytes = (uint64_t)size << to_layout->log_n};
  const uint64_t items = hx_layout_items(to_layout);
  const bool same_batch = from_layout->batch_rank == to_layout->batch_rank;  // else the source repeats
  if (same_batch && hx_layout_is_dense(to_layout) && hx_layout_is_dense(from_layout)) {
    return copy_piece(&copier, to, 0, from, 0, hx_layout_elements(to_layout) * size);
  }
  const uint32_t digits = to_layout->digits == 0 ? 1 : to_layout->digits;
  for (uint64_t item = 0; item < items; ++item) {
    const uint64_t to_item = hx_layout_item_offset(to_layout, item);
    const uint64_t from_item = same_batch ? hx_layout_item_offset(from_layout, item) : 0;
    for (uint32_t j = 0; j < digits * to_layout->components; ++j) {
      const uint32_t digit = j / to_layout->components, component = j % to_layout->components;
      const uint64_t to_base = to_item + digit * to_layout->digit_stride + component * to_layout->component_stride;
      const uint64_t from_base =
          from_item + digit * from_layout->digit_stride + component * from_layout->component_stride;
      const int32_t result = copy_limbs(&copier, to_layout, to, to_base, from_layout, from, from_base);
      if (result != HX_OK) return result;
    }
  }
  return HX_OK;
}
