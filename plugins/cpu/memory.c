// SPDX-License-Identifier: Apache-2.0
// Memory role: every space is host memory.
#include <stdlib.h>
#include <sys/mman.h>

#include "device.h"
#include "heliox/support/error.h"

// Of x86-64 and of arm64 with small pages of 4 KiB.
#define LARGE_PAGE ((size_t)2 << 20)

static int32_t buffer_of(const hx_device *device, void *address, uint64_t bytes, bool borrowed, hx_buffer **out,
                         hx_error *error) {
  hx_buffer *buffer = malloc(sizeof *buffer);
  if (buffer == NULL) {
    return hxs_fail(error, HX_OUT_OF_MEMORY, "no memory for a buffer's record");
  }
  *buffer = (hx_buffer){.device = device, .address = address, .bytes = bytes, .borrowed = borrowed};
  *out = buffer;
  return HX_OK;
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
  void *address = NULL;
  const size_t alignment = bytes < 2 * LARGE_PAGE ? HX_CPU_ALIGNMENT : LARGE_PAGE;
  if (bytes > SIZE_MAX - alignment || posix_memalign(&address, alignment, (size_t)bytes) != 0) {
    return hxs_fail(error, HX_OUT_OF_MEMORY, "alloc: %llu bytes are not to be had", (unsigned long long)bytes);
  }
  if (alignment == LARGE_PAGE) {
    (void)madvise(address, (size_t)bytes, MADV_HUGEPAGE);  // advice: without it the pages are small
  }
  int32_t code = buffer_of(device, address, bytes, false, out, error);
  if (code != HX_OK) {
    free(address);
  }
  return code;
}

static int32_t memory_import(hx_device *device, void *address, uint64_t bytes, hx_buffer **out, hx_error *error) {
  if (device == NULL || address == NULL || out == NULL || bytes == 0) {
    return hxs_fail(error, HX_INVALID, "import_host: device, address, bytes or result is missing");
  }
  if ((uintptr_t)address % sizeof(uint64_t) != 0) {
    return hxs_fail(error, HX_UNSUPPORTED, "import_host: the address is not aligned to %zu bytes", sizeof(uint64_t));
  }
  return buffer_of(device, address, bytes, true, out, error);
}

static void *memory_address(hx_buffer *buffer) { return buffer != NULL ? buffer->address : NULL; }

static void memory_free(hx_buffer *buffer) {
  if (buffer != NULL && !buffer->borrowed) {
    free(buffer->address);
  }
  free(buffer);
}

int32_t hx_cpu_span_address(const hx_device *device, hx_span span, uint64_t bytes, uint64_t unit, const char *what,
                            void **out, hx_error *error) {
  if (span.buffer == NULL) {
    return hxs_fail(error, HX_INVALID, "%s has no buffer", what);
  }
  if (span.buffer->device != device) {
    return hxs_fail(error, HX_INVALID, "%s is memory of another device; transfer it first", what);
  }
  if (span.offset > span.buffer->bytes || bytes > span.buffer->bytes - span.offset) {
    return hxs_fail(error, HX_INVALID, "%s needs %llu bytes at offset %llu, its buffer has %llu", what,
                    (unsigned long long)bytes, (unsigned long long)span.offset, (unsigned long long)span.buffer->bytes);
  }
  char *address = (char *)span.buffer->address + span.offset;
  if ((uintptr_t)address % unit != 0) {
    return hxs_fail(error, HX_INVALID, "%s at offset %llu is not aligned to its words of %llu bytes", what,
                    (unsigned long long)span.offset, (unsigned long long)unit);
  }
  *out = address;
  return HX_OK;
}

const hx_memory_ops hx_cpu_memory_ops = {.struct_size = HX_END_OF(hx_memory_ops, free),
                                         .alloc = memory_alloc,
                                         .import_host = memory_import,
                                         .address = memory_address,
                                         .free = memory_free};
