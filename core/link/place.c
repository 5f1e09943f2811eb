// SPDX-License-Identifier: Apache-2.0
// Values on devices: explicit copies there and back.
#include <string.h>

#include "core/link/executable.h"

static hx_status_t no_memory(hx_report_t *report) {
  return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for a value");
}

hx_status_t hx_value_create_on(hx_opened_device_t *device, const hx_params_t *params, const hx_type_t *type,
                               bool secret, hx_value_t **out, hx_report_t *report) {
  hx_tensor_t *tensor = hx_zalloc(1, sizeof *tensor);
  if (tensor == NULL) return no_memory(report);
  atomic_init(&tensor->refs, 1);
  hx_status_t status = hx_link_layout(type, hx_params_ring(params), &tensor->layout);
  if (status != HX_STATUS_OK) {
    hx_free(tensor);
    return hx_report_fail(report, HX_CODE_LIMIT, "the value does not fit into memory");
  }
  const uint64_t bytes = hx_layout_elements(&tensor->layout) * hx_dtype_bytes(tensor->layout.dtype);
  status = hx_device_alloc(device, HX_SPACE_DEVICE, bytes, secret, &tensor->storage, report);
  if (status != HX_STATUS_OK) {
    hx_free(tensor);
    return status;
  }
  status = hx_value_wrap(params, type, tensor, secret, out, report);
  hx_tensor_release(tensor);
  return status;
}

static void copy_marks(hx_value_t *to, const hx_value_t *from) {
  memcpy(to->key_id, from->key_id, sizeof to->key_id);
  to->count = from->count;
  to->is_complex = from->is_complex;
  to->noise = from->noise;
}

// Row by row between host memory of any strides; both have the value's shape.
static void copy_host(const hx_tensor_t *to, const hx_tensor_t *from) {
  const uint64_t items = hx_layout_items(&to->layout);
  const size_t bytes = (size_t)hx_dtype_bytes(to->layout.dtype) << to->layout.log_n;
  for (uint64_t item = 0; item < items; ++item) {
    for (uint32_t c = 0; c < to->layout.components; ++c) {
      for (uint32_t l = 0; l < to->layout.limbs; ++l) {
        memcpy(hx_tensor_row(to, item, 0, c, l), hx_tensor_row(from, item, 0, c, l), bytes);
      }
    }
  }
}

// A dense host copy of a value whose rows are read through `from`.
static hx_status_t copy_dense(const hx_value_t *value, const hx_tensor_t *from, hx_value_t **out, hx_report_t *report) {
  const hx_status_t status = hx_value_create(value->params, &value->type, value->secret, out);
  if (status != HX_STATUS_OK) return status == HX_STATUS_OUT_OF_MEMORY ? no_memory(report) : status;
  copy_host((*out)->tensor, from);
  copy_marks(*out, value);
  return HX_STATUS_OK;
}

// Memory of a device that the host cannot read, as it lies; then its rows from there.
static hx_status_t download(const hx_value_t *value, hx_value_t **out, hx_report_t *report) {
  const hx_tensor_t *tensor = value->tensor;
  hx_opened_device_t *device = (hx_opened_device_t *)(uintptr_t)tensor->storage->device;
  hx_storage_t *whole = hx_storage_create(tensor->storage->bytes, value->secret);
  if (whole == NULL) return no_memory(report);
  hx_status_t status = hx_device_download(device, whole->address, tensor->storage, 0, whole->bytes, report);
  if (status == HX_STATUS_OK) {
    const hx_tensor_t as_it_lies = {.storage = whole, .offset = tensor->offset, .layout = tensor->layout};
    status = copy_dense(value, &as_it_lies, out, report);
  }
  hx_storage_release(whole);
  return status;
}

hx_status_t hx_value_to_dense_host(const hx_value_t *value, hx_value_t **out, hx_report_t *report) {
  return value->tensor->storage->address == NULL ? download(value, out, report)
                                                 : copy_dense(value, value->tensor, out, report);
}

hx_status_t hx_value_to_host(const hx_value_t *value, hx_value_t **out, hx_report_t *report) {
  if (value == NULL || out == NULL) {
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_value_to_host: an argument is NULL");
  }
  HX_TRY(hx_value_want_data(value, "hx_value_to_host moves data", report));
  const hx_storage_t *storage = value->tensor->storage;
  if (storage->address == NULL) return download(value, out, report);
  if (storage->device != NULL) return copy_dense(value, value->tensor, out, report);
  *out = hx_value_retain(value);
  return HX_STATUS_OK;
}

static hx_status_t upload(hx_opened_device_t *device, const hx_value_t *value, hx_value_t **out, hx_report_t *report) {
  hx_value_t *dense = NULL, *placed = NULL;
  hx_status_t status = value->tensor->storage->address == NULL ? download(value, &dense, report)
                                                               : copy_dense(value, value->tensor, &dense, report);
  if (status == HX_STATUS_OK) {
    status = hx_value_create_on(device, value->params, &value->type, value->secret, &placed, report);
  }
  if (status == HX_STATUS_OK) {
    const hx_storage_t *from = dense->tensor->storage;
    status = hx_device_upload(device, placed->tensor->storage, 0, from->address, from->bytes, report);
    copy_marks(placed, value);
  }
  hx_value_release(dense);
  if (status != HX_STATUS_OK) {
    hx_value_release(placed);
    return status;
  }
  *out = placed;
  return HX_STATUS_OK;
}

hx_status_t hx_value_to_device(const hx_value_t *value, const hx_backend_t *backend, hx_value_t **out,
                               hx_report_t *report) {
  if (value == NULL || backend == NULL || out == NULL) {
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_value_to_device: an argument is NULL");
  }
  HX_TRY(hx_value_want_data(value, "hx_value_to_device moves data", report));
  hx_opened_device_t *device = backend->devices[0];
  const void *owner = value->tensor->storage->device;
  // Public numbers are read by the host, whatever computes.
  const bool is_number = hx_value_kind(value) == HX_VALUE_NUMBER;
  if (!is_number && owner != device && (owner != NULL || !hx_device_imports(device)))
    return upload(device, value, out, report);
  *out = hx_value_retain(value);
  return HX_STATUS_OK;
}
