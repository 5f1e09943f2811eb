// SPDX-License-Identifier: Apache-2.0
// Memory role. Device memory comes from the device's stream-ordered pool, on a stream that carries nothing but
// allocations, so that waiting for it waits for no work. Pinned and host memory are both page-locked: every copy of a
// queue is asynchronous.
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "heliox/support/error.h"

int32_t hx_cuda_device_alloc(hx_device *device, uint64_t bytes, uint64_t *out, hx_error *error) {
  const hx_cuda_driver_t *driver = device->driver;
  HXS_TRY(hx_cuda_enter(device, error));
  size_t available = 0, total = 0;
  uint64_t address = 0;
  int32_t result = driver->cuMemAllocAsync(&address, bytes, device->stream);
  if (result == 0) {
    result = driver->cuStreamSynchronize(device->stream);
  }
  int32_t code = HX_OK;
  if (hx_cuda_code_of(result) == HX_OUT_OF_MEMORY) {
    driver->cuMemGetInfo(&available, &total);
    code = hxs_fail(error, HX_OUT_OF_MEMORY,
                    "alloc: CUDA_ERROR_OUT_OF_MEMORY: %llu bytes asked for, %zu of the device's %zu are free",
                    (unsigned long long)bytes, available, total);
  } else if (result != 0) {
    code = hx_cuda_device_fail(device, "cuMemAllocAsync", result, error);
  }
  if (code == HX_OK) {
    *out = address;
  }
  hx_cuda_leave(device);
  return code;
}

void hx_cuda_device_free(hx_device *device, uint64_t address) {
  if (hx_cuda_enter(device, NULL) == HX_OK) {
    device->driver->cuMemFreeAsync(address, device->stream);
    hx_cuda_leave(device);
  }
}

// From pageable memory the driver stages by itself; the wait is for this copy alone.
int32_t hx_cuda_device_upload(hx_device *device, uint64_t to, const void *from, uint64_t bytes, hx_error *error) {
  HXS_TRY(hx_cuda_enter(device, error));
  int32_t result = device->driver->cuMemcpyAsync(to, (uint64_t)(uintptr_t)from, bytes, device->stream);
  if (result == 0) {
    result = device->driver->cuStreamSynchronize(device->stream);
  }
  const int32_t code = result == 0 ? HX_OK : hx_cuda_device_fail(device, "cuMemcpyAsync", result, error);
  hx_cuda_leave(device);
  return code;
}

static int32_t alloc_pinned(hx_device *device, uint64_t bytes, uint64_t *out, hx_error *error) {
  int32_t result = 0;
  HXS_TRY(hx_cuda_enter(device, error));
  void *address = hx_cuda_pinned_take(&device->pinned, device->driver, bytes, &result);
  const int32_t code = result == 0 ? HX_OK : hx_cuda_device_fail(device, "alloc: cuMemHostAlloc", result, error);
  hx_cuda_leave(device);
  *out = (uint64_t)(uintptr_t)address;
  return code;
}

static int32_t memory_alloc(hx_device *device, uint32_t space, uint64_t bytes, hx_buffer **out, hx_error *error) {
  if (device == NULL || out == NULL) {
    return hxs_fail(error, HX_INVALID, "alloc: device or result is missing");
  }
  if (space < HX_SPACE_DEVICE || space > HX_SPACE_HOST) {
    return hxs_fail(error, HX_INVALID, "alloc: memory space %u is unknown; device is 1, pinned 2, host 3", space);
  }
  if (bytes == 0) {
    return hxs_fail(error, HX_INVALID, "alloc: 0 bytes asked for");
  }
  if (bytes > (uint64_t)1 << 56) {
    return hxs_fail(error, HX_OUT_OF_MEMORY, "alloc: %llu bytes are not to be had", (unsigned long long)bytes);
  }
  hx_buffer *buffer = calloc(1, sizeof *buffer);
  if (buffer == NULL) {
    return hxs_fail(error, HX_OUT_OF_MEMORY, "no memory for a buffer's record");
  }
  *buffer = (hx_buffer){.device = device, .space = space, .bytes = bytes};
  const int32_t code = space == HX_SPACE_DEVICE ? hx_cuda_device_alloc(device, bytes, &buffer->address, error)
                                                : alloc_pinned(device, bytes, &buffer->address, error);
  if (code != HX_OK) {
    free(buffer);
    return code;
  }
  *out = buffer;
  return HX_OK;
}

static void *memory_address(hx_buffer *buffer) {
  return buffer != NULL && buffer->space != HX_SPACE_DEVICE ? (void *)(uintptr_t)buffer->address : NULL;
}

static void memory_free(hx_buffer *buffer) {
  if (buffer == NULL) {
    return;
  }
  if (buffer->space == HX_SPACE_DEVICE) {
    hx_cuda_device_free(buffer->device, buffer->address);
  } else if (hx_cuda_enter(buffer->device, NULL) == HX_OK) {
    hx_cuda_pinned_give(&buffer->device->pinned, buffer->device->driver, (void *)(uintptr_t)buffer->address,
                        buffer->bytes);
    hx_cuda_leave(buffer->device);
  }
  free(buffer);
}

int32_t hx_cuda_span_address(const hx_device *device, hx_span span, uint64_t bytes, uint64_t unit, bool on_device,
                             const char *what, uint64_t *out, hx_error *error) {
  if (span.buffer == NULL) {
    return hxs_fail(error, HX_INVALID, "%s has no buffer", what);
  }
  if (span.buffer->device != device) {
    return hxs_fail(error, HX_INVALID, "%s is memory of another device; transfer it first", what);
  }
  if (on_device && span.buffer->space != HX_SPACE_DEVICE) {
    return hxs_fail(error, HX_INVALID, "%s is host memory; operations work on device memory, transfer it first", what);
  }
  if (span.offset > span.buffer->bytes || bytes > span.buffer->bytes - span.offset) {
    return hxs_fail(error, HX_INVALID, "%s needs %llu bytes at offset %llu, its buffer has %llu", what,
                    (unsigned long long)bytes, (unsigned long long)span.offset, (unsigned long long)span.buffer->bytes);
  }
  const uint64_t address = span.buffer->address + span.offset;
  if (address % unit != 0) {
    return hxs_fail(error, HX_INVALID, "%s at offset %llu is not aligned to %llu bytes", what,
                    (unsigned long long)span.offset, (unsigned long long)unit);
  }
  *out = address;
  return HX_OK;
}

// Without import_host the host copies: kernels do not read host memory.
const hx_memory_ops hx_cuda_memory_ops = {.struct_size = HX_END_OF(hx_memory_ops, free),
                                          .alloc = memory_alloc,
                                          .address = memory_address,
                                          .free = memory_free};
