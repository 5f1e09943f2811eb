// SPDX-License-Identifier: Apache-2.0
// Memory role. On a device that shares the host's memory every buffer is host memory that the device works on as it
// is. Elsewhere device memory is the device's; pinned and host memory are the driver's own and stay mapped, since there
// are drivers that read pageable memory when a write is made and not when its turn comes. Kernels take device memory
// alone, so nothing is transferred unasked.
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "heliox/support/error.h"

static int32_t no_memory(const hx_device *device, uint64_t bytes, int32_t result, hx_error *error) {
  return hxs_fail(error, HX_OUT_OF_MEMORY,
                  "alloc: %s: %llu bytes asked for, the device has %llu in all and gives at most %llu at once",
                  result != 0 ? hx_opencl_result_name(result) : "refused", (unsigned long long)bytes,
                  (unsigned long long)device->facts.memory_bytes, (unsigned long long)device->facts.alloc_bytes);
}

// Memory is given when it is first used; it is used here, so that what is not to be had is missed here.
static int32_t create(hx_device *device, uint64_t flags, uint64_t bytes, void *host, void **out, hx_error *error) {
  const hx_opencl_cl_t *cl = device->cl;
  const unsigned char zero = 0;
  int32_t result = 0;
  HXS_TRY(hx_opencl_device_usable(device, error));
  if (device->facts.alloc_bytes != 0 && bytes > device->facts.alloc_bytes) {
    return no_memory(device, bytes, 0, error);
  }
  void *memory = cl->clCreateBuffer(device->context, HX_CL_MEM_READ_WRITE | flags, bytes, host, &result);
  if (memory != NULL && host == NULL) {
    result = cl->clEnqueueFillBuffer(device->service, memory, &zero, 1, 0, 1, 0, NULL, NULL);
    result = result == 0 ? cl->clFinish(device->service) : result;
  }
  if (memory == NULL || result != 0) {
    if (memory != NULL) {
      cl->clReleaseMemObject(memory);
    }
    const bool full = hx_opencl_code_of(result) == HX_OUT_OF_MEMORY || result == HX_OPENCL_OUT_OF_RESOURCES;
    return full ? no_memory(device, bytes, result, error)
                : hx_opencl_device_fail(device, "clCreateBuffer", result, error);
  }
  *out = memory;
  return HX_OK;
}

int32_t hx_opencl_device_upload(hx_device *device, const void *from, uint64_t bytes, void **out, hx_error *error) {
  void *memory = NULL;
  HXS_TRY(create(device, 0, bytes, NULL, &memory, error));
  const int32_t result = device->cl->clEnqueueWriteBuffer(device->service, memory, 1, 0, bytes, from, 0, NULL, NULL);
  if (result != 0) {
    device->cl->clReleaseMemObject(memory);
    return hx_opencl_device_fail(device, "clEnqueueWriteBuffer", result, error);
  }
  *out = memory;
  return HX_OK;
}

static int32_t fill_host(hx_buffer *buffer, hx_error *error) {
  const uint64_t size = (buffer->bytes + HX_OPENCL_PAGE - 1) / HX_OPENCL_PAGE * HX_OPENCL_PAGE;
  buffer->address = aligned_alloc(HX_OPENCL_PAGE, size);
  if (buffer->address == NULL) {
    return hxs_fail(error, HX_OUT_OF_MEMORY, "alloc: %llu bytes of host memory are not to be had",
                    (unsigned long long)buffer->bytes);
  }
  return HX_OK;
}

static int32_t fill_pinned(hx_buffer *buffer, hx_error *error) {
  hx_device *device = buffer->device;
  int32_t result = 0;
  HXS_TRY(create(device, HX_CL_MEM_ALLOC_HOST_PTR, buffer->bytes, NULL, &buffer->memory, error));
  buffer->address = device->cl->clEnqueueMapBuffer(device->service, buffer->memory, 1, HX_CL_MAP_READ_WRITE, 0,
                                                   buffer->bytes, 0, NULL, NULL, &result);
  return buffer->address != NULL ? HX_OK : hx_opencl_device_fail(device, "clEnqueueMapBuffer", result, error);
}

static int32_t fill_buffer(hx_buffer *buffer, hx_error *error) {
  hx_device *device = buffer->device;
  if (device->shared) {
    if (device->facts.alloc_bytes != 0 && buffer->bytes > device->facts.alloc_bytes) {
      return no_memory(device, buffer->bytes, 0, error);
    }
    HXS_TRY(fill_host(buffer, error));
    return create(device, HX_CL_MEM_USE_HOST_PTR, buffer->bytes, buffer->address, &buffer->memory, error);
  }
  if (buffer->space == HX_SPACE_DEVICE) {
    return create(device, 0, buffer->bytes, NULL, &buffer->memory, error);
  }
  return fill_pinned(buffer, error);
}

static void memory_free(hx_buffer *buffer) {
  if (buffer == NULL) {
    return;
  }
  const hx_opencl_cl_t *cl = buffer->device->cl;
  const bool mapped = buffer->memory != NULL && !buffer->device->shared && buffer->address != NULL;
  if (mapped &&
      cl->clEnqueueUnmapMemObject(buffer->device->service, buffer->memory, buffer->address, 0, NULL, NULL) == 0) {
    cl->clFinish(buffer->device->service);
  }
  if (buffer->memory != NULL) {
    cl->clReleaseMemObject(buffer->memory);
  }
  if (!mapped && !buffer->borrowed) {
    free(buffer->address);
  }
  free(buffer);
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
    return no_memory(device, bytes, 0, error);
  }
  HXS_TRY(hx_opencl_device_usable(device, error));
  hx_buffer *buffer = calloc(1, sizeof *buffer);
  if (buffer == NULL) {
    return hxs_fail(error, HX_OUT_OF_MEMORY, "no memory for a buffer's record");
  }
  *buffer = (hx_buffer){.device = device, .space = space, .bytes = bytes};
  const int32_t code = fill_buffer(buffer, error);
  if (code != HX_OK) {
    memory_free(buffer);
    return code;
  }
  *out = buffer;
  return HX_OK;
}

static int32_t memory_import(hx_device *device, void *address, uint64_t bytes, hx_buffer **out, hx_error *error) {
  if (device == NULL || out == NULL || address == NULL || bytes == 0) {
    return hxs_fail(error, HX_INVALID, "import_host: device, memory or result is missing, or 0 bytes are given");
  }
  if (!device->shared) {
    return hxs_fail(error, HX_UNSUPPORTED, "import_host: the device has memory of its own");
  }
  if ((uintptr_t)address % HX_OPENCL_ALIGNMENT != 0) {
    return hxs_fail(error, HX_UNSUPPORTED, "import_host: the memory is not aligned to %u bytes", HX_OPENCL_ALIGNMENT);
  }
  hx_buffer *buffer = calloc(1, sizeof *buffer);
  if (buffer == NULL) {
    return hxs_fail(error, HX_OUT_OF_MEMORY, "no memory for a buffer's record");
  }
  *buffer = (hx_buffer){.device = device, .space = HX_SPACE_HOST, .borrowed = true, .bytes = bytes, .address = address};
  const int32_t code = create(device, HX_CL_MEM_USE_HOST_PTR, bytes, address, &buffer->memory, error);
  if (code != HX_OK) {
    memory_free(buffer);
    return code;
  }
  *out = buffer;
  return HX_OK;
}

static void *memory_address(hx_buffer *buffer) {
  // On a shared device too: what the host writes there is what kernels read.
  return buffer != NULL ? buffer->address : NULL;
}

int32_t hx_opencl_span_check(const hx_device *device, hx_span span, uint64_t bytes, uint64_t unit, bool on_device,
                             const char *what, hx_error *error) {
  if (span.buffer == NULL) {
    return hxs_fail(error, HX_INVALID, "%s has no buffer", what);
  }
  if (span.buffer->device != device) {
    return hxs_fail(error, HX_INVALID, "%s is memory of another device; transfer it first", what);
  }
  if (on_device && !device->shared && span.buffer->space != HX_SPACE_DEVICE) {
    return hxs_fail(error, HX_INVALID, "%s is host memory; operations work on device memory, transfer it first", what);
  }
  if (span.offset > span.buffer->bytes || bytes > span.buffer->bytes - span.offset) {
    return hxs_fail(error, HX_INVALID, "%s needs %llu bytes at offset %llu, its buffer has %llu", what,
                    (unsigned long long)bytes, (unsigned long long)span.offset, (unsigned long long)span.buffer->bytes);
  }
  if (span.offset % unit != 0) {
    return hxs_fail(error, HX_INVALID, "%s at offset %llu is not aligned to %llu bytes", what,
                    (unsigned long long)span.offset, (unsigned long long)unit);
  }
  return HX_OK;
}

const hx_memory_ops hx_opencl_memory_ops = {.struct_size = HX_END_OF(hx_memory_ops, free),
                                            .alloc = memory_alloc,
                                            .import_host = memory_import,
                                            .address = memory_address,
                                            .free = memory_free};
