// SPDX-License-Identifier: Apache-2.0
#include "core/tensor/tensor.h"

#include <string.h>

uint32_t hx_dtype_bytes(uint32_t dtype) {
  switch (dtype) {
    case HX_U64:
    case HX_I64:
    case HX_F64:
      return 8;
    case HX_U32:
      return 4;
    case HX_U8:
      return 1;
    default:
      return 0;
  }
}

// *product *= factor; false on overflow.
static bool multiply(uint64_t *product, uint64_t factor) { return !__builtin_mul_overflow(*product, factor, product); }

uint64_t hx_layout_items(const hx_layout_t *layout) {
  uint64_t items = 1;
  for (uint32_t a = 0; a < layout->batch_rank; ++a) {
    if (!multiply(&items, layout->batch_shape[a])) return 0;
  }
  return items;
}

uint64_t hx_layout_elements(const hx_layout_t *layout) {
  uint64_t elements = hx_layout_items(layout);
  const bool fits = multiply(&elements, layout->digits == 0 ? 1 : layout->digits) &&
                    multiply(&elements, layout->components) && multiply(&elements, layout->limbs) &&
                    layout->log_n < 48 && multiply(&elements, (uint64_t)1 << layout->log_n);
  return fits ? elements : 0;
}

uint64_t hx_layout_pack(hx_layout_t *layout) {
  const uint64_t elements = hx_layout_elements(layout);
  if (elements == 0 || layout->batch_rank > HX_BATCH_RANK_MAX) return 0;
  layout->has_rows = false;
  layout->limb_stride = (uint64_t)1 << layout->log_n;
  layout->component_stride = layout->limb_stride * layout->limbs;
  layout->digit_stride = layout->component_stride * layout->components;
  uint64_t stride = layout->digit_stride * (layout->digits == 0 ? 1 : layout->digits);
  for (uint32_t a = layout->batch_rank; a-- > 0;) {
    layout->batch_strides[a] = stride;
    stride *= layout->batch_shape[a];
  }
  if (layout->digits == 0) layout->digit_stride = 0;
  return elements;
}

static uint64_t last_row(const hx_layout_t *layout) {
  if (!layout->has_rows) return layout->limbs - 1;
  uint64_t last = 0;
  for (uint32_t l = 0; l < layout->limbs; ++l) last = layout->rows[l] > last ? layout->rows[l] : last;
  return last;
}

// Adds (count - 1) * stride to *end; false on overflow.
static bool advance(uint64_t *end, uint64_t count, uint64_t stride) {
  uint64_t step;
  return !__builtin_mul_overflow(count - 1, stride, &step) && !__builtin_add_overflow(*end, step, end);
}

uint64_t hx_layout_extent(const hx_layout_t *layout) {
  if (hx_layout_elements(layout) == 0) return 0;
  uint64_t end = (uint64_t)1 << layout->log_n;
  bool fits = advance(&end, last_row(layout) + 1, layout->limb_stride) &&
              advance(&end, layout->components, layout->component_stride) &&
              advance(&end, layout->digits == 0 ? 1 : layout->digits, layout->digit_stride);
  for (uint32_t a = 0; fits && a < layout->batch_rank; ++a)
    fits = advance(&end, layout->batch_shape[a], layout->batch_strides[a]);
  return fits ? end : 0;
}

bool hx_layout_same_shape(const hx_layout_t *a, const hx_layout_t *b) {
  return a->dtype == b->dtype && a->log_n == b->log_n && a->batch_rank == b->batch_rank && a->digits == b->digits &&
         a->components == b->components && a->limbs == b->limbs &&
         memcmp(a->batch_shape, b->batch_shape, a->batch_rank * sizeof a->batch_shape[0]) == 0;
}

bool hx_layout_equal(const hx_layout_t *a, const hx_layout_t *b) {
  if (!hx_layout_same_shape(a, b) || a->has_rows != b->has_rows) return false;
  for (uint32_t axis = 0; axis < a->batch_rank; ++axis) {
    if (a->batch_shape[axis] > 1 && a->batch_strides[axis] != b->batch_strides[axis]) return false;
  }
  if (a->digits > 1 && a->digit_stride != b->digit_stride) return false;
  if (a->components > 1 && a->component_stride != b->component_stride) return false;
  if ((a->limbs > 1 || a->has_rows) && a->limb_stride != b->limb_stride) return false;
  return !a->has_rows || memcmp(a->rows, b->rows, a->limbs * sizeof a->rows[0]) == 0;
}

bool hx_layout_is_dense(const hx_layout_t *layout) {
  hx_layout_t dense = *layout;
  if (hx_layout_pack(&dense) == 0 || layout->has_rows) return false;
  const bool strides = dense.limb_stride == layout->limb_stride &&
                       (layout->components == 1 || dense.component_stride == layout->component_stride) &&
                       (layout->digits <= 1 || dense.digit_stride == layout->digit_stride);
  return strides &&
         memcmp(dense.batch_strides, layout->batch_strides, layout->batch_rank * sizeof dense.batch_strides[0]) == 0;
}

uint64_t hx_layout_item_offset(const hx_layout_t *layout, uint64_t item) {
  uint64_t offset = 0;
  for (uint32_t a = layout->batch_rank; a-- > 0;) {
    offset += item % layout->batch_shape[a] * layout->batch_strides[a];
    item /= layout->batch_shape[a];
  }
  return offset;
}

static hx_status_t make(hx_storage_t *storage, uint64_t offset, const hx_layout_t *layout, hx_tensor_t **out) {
  hx_tensor_t *tensor = hx_zalloc(1, sizeof *tensor);
  if (tensor == NULL) return HX_STATUS_OUT_OF_MEMORY;
  atomic_init(&tensor->refs, 1);
  tensor->storage = storage;
  tensor->offset = offset;
  tensor->layout = *layout;
  *out = tensor;
  return HX_STATUS_OK;
}

static hx_status_t create(const hx_layout_t *layout, bool secret, hx_storage_t *(*storage_create)(uint64_t, bool),
                          hx_tensor_t **out) {
  hx_layout_t dense = *layout;
  uint64_t bytes = hx_layout_pack(&dense);
  if (bytes == 0 || hx_dtype_bytes(dense.dtype) == 0) return HX_STATUS_INVALID;
  if (!multiply(&bytes, hx_dtype_bytes(dense.dtype))) return HX_STATUS_OUT_OF_MEMORY;
  hx_storage_t *storage = storage_create(bytes, secret);
  if (storage == NULL) return HX_STATUS_OUT_OF_MEMORY;
  const hx_status_t status = make(storage, 0, &dense, out);
  if (status != HX_STATUS_OK) hx_storage_release(storage);
  return status;
}

hx_status_t hx_tensor_create(const hx_layout_t *layout, bool secret, hx_tensor_t **out) {
  return create(layout, secret, hx_storage_create, out);
}

hx_status_t hx_tensor_create_unset(const hx_layout_t *layout, bool secret, hx_tensor_t **out) {
  return create(layout, secret, hx_storage_create_unset, out);
}

hx_status_t hx_tensor_view(const hx_tensor_t *tensor, uint64_t offset_bytes, const hx_layout_t *layout,
                           hx_tensor_t **out, hx_report_t *report) {
  uint64_t end = hx_layout_extent(layout);
  const uint32_t size = hx_dtype_bytes(layout->dtype);
  if (end == 0 || size == 0 || !multiply(&end, size) || __builtin_add_overflow(end, offset_bytes, &end) ||
      end > tensor->storage->bytes || offset_bytes % size != 0) {
    return hx_report_fail(
        report, HX_CODE_SHAPE, "a view of %llu bytes from offset %llu reaches beyond its storage of %llu bytes",
        (unsigned long long)end, (unsigned long long)offset_bytes, (unsigned long long)tensor->storage->bytes);
  }
  hx_storage_t *storage = hx_storage_retain(tensor->storage);
  const hx_status_t status = make(storage, offset_bytes, layout, out);
  if (status != HX_STATUS_OK) hx_storage_release(storage);
  return status;
}

hx_tensor_t *hx_tensor_retain(const hx_tensor_t *tensor) {
  hx_tensor_t *owner = (hx_tensor_t *)(uintptr_t)tensor;  // the count alone changes
  atomic_fetch_add_explicit(&owner->refs, 1, memory_order_relaxed);
  return owner;
}

void hx_tensor_release(hx_tensor_t *tensor) {
  if (tensor == NULL || atomic_fetch_sub_explicit(&tensor->refs, 1, memory_order_acq_rel) != 1) return;
  hx_storage_release(tensor->storage);
  hx_free(tensor);
}

void *hx_tensor_row(const hx_tensor_t *tensor, uint64_t item, uint32_t digit, uint32_t component, uint32_t limb) {
  if (tensor->storage->address == NULL) return NULL;
  const hx_layout_t *layout = &tensor->layout;
  const uint64_t row = layout->has_rows ? layout->rows[limb] : limb;
  const uint64_t element = hx_layout_item_offset(layout, item) + digit * layout->digit_stride +
                           component * layout->component_stride + row * layout->limb_stride;
  return (unsigned char *)tensor->storage->address + tensor->offset + element * hx_dtype_bytes(layout->dtype);
}

void hx_tensor_touch(const hx_tensor_t *tensor) { hx_storage_touch(tensor->storage); }

uint64_t hx_tensor_generation(const hx_tensor_t *tensor) { return atomic_load(&tensor->storage->generation); }
