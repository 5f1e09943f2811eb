// SPDX-License-Identifier: Apache-2.0
// Tensors: shape and strides over shared storage. Storage is host memory or memory of a plugin's device; it carries
// the generation (raised by every write through the API) and the secret flag (its memory is wiped when freed).
#ifndef HELIOX_CORE_TENSOR_TENSOR_H
#define HELIOX_CORE_TENSOR_TENSOR_H

#include <stdatomic.h>

#include "core/base/limits.h"
#include "core/base/memory.h"
#include "heliox/plugin.h"

typedef struct hx_storage hx_storage_t;

// A device's view of foreign storage (import_host), made on first use and freed with the storage.
typedef struct hx_storage_link {
  struct hx_storage_link *next;
  const void *device;  // identity of the core's device object
  hx_buffer *buffer;
  void (*release)(const void *device, hx_buffer *buffer);
} hx_storage_link_t;

struct hx_storage {
  atomic_uint refs;
  uint64_t id;  // never reused in a process
  uint64_t bytes;
  void *address;                           // host address, or NULL for device memory
  const void *device;                      // owner; NULL: host memory of the core
  hx_buffer *buffer;                       // device memory
  void (*release)(hx_storage_t *storage);  // frees address or buffer
  void *context;                           // for release
  bool secret;
  atomic_uint_fast64_t generation;
  _Atomic(hx_storage_link_t *) links;
};

// Zeroed host memory, 64-byte aligned. NULL: out of memory.
hx_storage_t *hx_storage_create(uint64_t bytes, bool secret);
// The same with memory that is not cleared: for what is going to be written whole before anybody reads it.
hx_storage_t *hx_storage_create_unset(uint64_t bytes, bool secret);
// Storage around memory that `release` frees; wiped first if secret and host-visible.
hx_storage_t *hx_storage_wrap(void *address, uint64_t bytes, const void *device, hx_buffer *buffer,
                              void (*release)(hx_storage_t *), void *context, bool secret);
hx_storage_t *hx_storage_retain(hx_storage_t *storage);
void hx_storage_release(hx_storage_t *storage);
void hx_storage_touch(hx_storage_t *storage);  // raises the generation

// Shape and strides, in elements: [*batch][digit][component][limb][2^log_n], as hx_tensor_desc of the ABI.
typedef struct hx_layout {
  uint32_t dtype, log_n;
  uint32_t batch_rank;
  uint64_t batch_shape[HX_BATCH_RANK_MAX], batch_strides[HX_BATCH_RANK_MAX];
  uint32_t digits;  // 0: no digit axis
  uint32_t components, limbs;
  uint64_t digit_stride, component_stride, limb_stride;
  bool has_rows;
  uint16_t rows[HX_PRIMES_MAX];  // where has_rows: limb l lies at rows[l] * limb_stride
} hx_layout_t;

uint32_t hx_dtype_bytes(uint32_t dtype);
// Dense strides for the shape fields already set; returns the elements, or 0 on overflow or a zero extent.
uint64_t hx_layout_pack(hx_layout_t *layout);
// Elements of the shape (not of the span), 0 on overflow.
uint64_t hx_layout_elements(const hx_layout_t *layout);
// Last element touched plus one, from the tensor's offset.
uint64_t hx_layout_extent(const hx_layout_t *layout);
bool hx_layout_same_shape(const hx_layout_t *a, const hx_layout_t *b);
// Same shape, same rows in the same places; strides of axes with one element do not count.
bool hx_layout_equal(const hx_layout_t *a, const hx_layout_t *b);
bool hx_layout_is_dense(const hx_layout_t *layout);

typedef struct hx_tensor {
  atomic_uint refs;
  hx_storage_t *storage;
  uint64_t offset;  // bytes
  hx_layout_t layout;
} hx_tensor_t;

// A new dense host tensor, zeroed. layout's strides are filled in.
hx_status_t hx_tensor_create(const hx_layout_t *layout, bool secret, hx_tensor_t **out);
// The same with memory that is not cleared (hx_storage_create_unset).
hx_status_t hx_tensor_create_unset(const hx_layout_t *layout, bool secret, hx_tensor_t **out);
// A view: shares storage (retained). Refused (shape) where it reaches beyond the storage.
hx_status_t hx_tensor_view(const hx_tensor_t *tensor, uint64_t offset_bytes, const hx_layout_t *layout,
                           hx_tensor_t **out, hx_report_t *report);
hx_tensor_t *hx_tensor_retain(const hx_tensor_t *tensor);
void hx_tensor_release(hx_tensor_t *tensor);
// Host address of element (digit, component, limb, 0) of batch item `item` (0 without batch); NULL on device memory.
void *hx_tensor_row(const hx_tensor_t *tensor, uint64_t item, uint32_t digit, uint32_t component, uint32_t limb);
// Raises the generation: call after writing memory outside this interface.
void hx_tensor_touch(const hx_tensor_t *tensor);
uint64_t hx_tensor_generation(const hx_tensor_t *tensor);
// Batch items in all.
uint64_t hx_layout_items(const hx_layout_t *layout);
// Element offset of batch item `item`.
uint64_t hx_layout_item_offset(const hx_layout_t *layout, uint64_t item);

#endif
