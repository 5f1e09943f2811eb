/* SPDX-License-Identifier: Apache-2.0 */
/* Device, memory and queue. This device is the host's own memory and every queue works in its caller's thread: all is
 * done when a call returns, so that events are past at once and sync finds nothing to wait for.
 *
 * A real device keeps handles of its driver in these structs; execute then enqueues, and failures surface at sync. */
#include <stdlib.h>
#include <string.h>

#include "plugin.h"

/* ------------------------------------------------------------------ device */

static int32_t check_index(uint32_t index, hx_error *error) {
  return index == 0 ? HX_OK : hxs_fail(error, HX_INVALID, "there is no device %u; the only one is 0", (unsigned)index);
}

static uint32_t device_count(hx_error *error) {
  (void)error;
  return 1;
}

static int32_t device_info(uint32_t index, hx_device_info *out, hx_error *error) {
  hx_device_info info;
  HXS_TRY(check_index(index, error));
  HXS_NEED(hx_device_info, alignment, out);
  memset(&info, 0, sizeof info);
  info.int64_ok = 1;
  info.compute_units = 1;
  info.alignment = ALIGNMENT;
  strcpy(info.name, "host memory");
  info.struct_size = out->struct_size < HX_END_OF(hx_device_info, peers_linked)
                         ? out->struct_size
                         : HX_END_OF(hx_device_info, peers_linked);
  memcpy(out, &info, info.struct_size);
  return HX_OK;
}

static int32_t device_open(uint32_t index, hx_device **out, hx_error *error) {
  hx_device *device;
  HXS_TRY(check_index(index, error));
  if (out == NULL) return hxs_fail(error, HX_INVALID, "open: there is no place for the device");
  device = (hx_device *)calloc(1, sizeof *device);
  if (device == NULL) return hxs_fail(error, HX_OUT_OF_MEMORY, "open: no memory for a device");
  device->index = index;
  *out = device;
  return HX_OK;
}

static void device_close(hx_device *device) { free(device); }

const hx_device_ops device_ops = {HX_END_OF(hx_device_ops, tables_destroy),
                                  0,
                                  device_count,
                                  device_info,
                                  device_open,
                                  device_close,
                                  tables_create,
                                  tables_destroy};

/* ------------------------------------------------------------------ memory */

static int32_t buffer_create(hx_device *device, void *address, uint64_t bytes, int borrowed, hx_buffer **out,
                             hx_error *error) {
  hx_buffer *buffer = (hx_buffer *)calloc(1, sizeof *buffer);
  if (buffer == NULL) return hxs_fail(error, HX_OUT_OF_MEMORY, "no memory for a buffer's record");
  buffer->device = device;
  buffer->address = (unsigned char *)address;
  buffer->bytes = bytes;
  buffer->borrowed = borrowed;
  *out = buffer;
  return HX_OK;
}

int posix_memalign(void **out, size_t alignment, size_t size); /* POSIX, hidden by -std=c99 */

static int32_t memory_alloc(hx_device *device, uint32_t space, uint64_t bytes, hx_buffer **out, hx_error *error) {
  void *address = NULL;
  int32_t code;
  if (device == NULL || out == NULL || bytes == 0)
    return hxs_fail(error, HX_INVALID, "alloc: the device, the place for the buffer or a size is missing");
  if (space < HX_SPACE_DEVICE || space > HX_SPACE_HOST)
    return hxs_fail(error, HX_INVALID, "alloc: memory space %u is unknown", (unsigned)space);
  if (bytes > SIZE_MAX - ALIGNMENT || posix_memalign(&address, ALIGNMENT, (size_t)bytes) != 0)
    return hxs_fail(error, HX_OUT_OF_MEMORY, "alloc: %llu bytes are not to be had", (unsigned long long)bytes);
  code = buffer_create(device, address, bytes, 0, out, error);
  if (code != HX_OK) free(address);
  return code;
}

static int32_t memory_import(hx_device *device, void *address, uint64_t bytes, hx_buffer **out, hx_error *error) {
  if (device == NULL || address == NULL || bytes == 0 || out == NULL)
    return hxs_fail(error, HX_INVALID, "import_host: device, address, size or the place for the buffer is missing");
  return buffer_create(device, address, bytes, 1, out, error);
}

static void *memory_address(hx_buffer *buffer) { return buffer == NULL ? NULL : buffer->address; }

static void memory_free(hx_buffer *buffer) {
  if (buffer != NULL && !buffer->borrowed) free(buffer->address);
  free(buffer);
}

int32_t span_address(const hx_device *device, hx_span span, uint64_t bytes, uint32_t unit, const char *what,
                     unsigned char **out, hx_error *error) {
  if (span.buffer == NULL) return hxs_fail(error, HX_INVALID, "%s has no buffer", what);
  if (span.buffer->device != device) return hxs_fail(error, HX_INVALID, "%s is memory of another device", what);
  if (span.offset > span.buffer->bytes || bytes > span.buffer->bytes - span.offset)
    return hxs_fail(error, HX_INVALID, "%s needs %llu bytes at offset %llu, its buffer has %llu", what,
                    (unsigned long long)bytes, (unsigned long long)span.offset, (unsigned long long)span.buffer->bytes);
  *out = span.buffer->address + span.offset;
  if ((uintptr_t)*out % unit != 0)
    return hxs_fail(error, HX_INVALID, "%s at offset %llu is not aligned to words of %u bytes", what,
                    (unsigned long long)span.offset, (unsigned)unit);
  return HX_OK;
}

const hx_memory_ops memory_ops = {
    HX_END_OF(hx_memory_ops, free), 0, memory_alloc, memory_import, memory_address, memory_free};

/* ------------------------------------------------------------------ queue */

struct hx_event {
  const hx_device *device;
};

static int32_t enter(hx_queue *queue, hx_error *error) {
  if (queue == NULL) return hxs_fail(error, HX_INVALID, "the queue is missing");
  return hxs_gate_enter(&queue->gate, error);
}

static int32_t queue_create(hx_device *device, hx_queue **out, hx_error *error) {
  hx_queue *queue;
  if (device == NULL || out == NULL)
    return hxs_fail(error, HX_INVALID, "create: the device or the place for the queue is missing");
  queue = (hx_queue *)calloc(1, sizeof *queue);
  if (queue == NULL) return hxs_fail(error, HX_OUT_OF_MEMORY, "no memory for a queue");
  queue->device = device;
  *out = queue;
  return HX_OK;
}

static void queue_destroy(hx_queue *queue) { free(queue); }

static int32_t queue_copy(hx_queue *queue, hx_span to, hx_span from, uint64_t bytes, hx_error *error) {
  unsigned char *target = NULL, *source = NULL;
  int32_t code;
  HXS_TRY(enter(queue, error));
  code = span_address(queue->device, to, bytes, 1, "the target of a copy", &target, error);
  if (code == HX_OK) code = span_address(queue->device, from, bytes, 1, "the source of a copy", &source, error);
  if (code == HX_OK) memmove(target, source, (size_t)bytes);
  hxs_gate_leave(&queue->gate);
  return code;
}

static int32_t queue_fill(hx_queue *queue, hx_span span, uint8_t value, uint64_t bytes, hx_error *error) {
  unsigned char *target = NULL;
  int32_t code;
  HXS_TRY(enter(queue, error));
  code = span_address(queue->device, span, bytes, 1, "the target of a fill", &target, error);
  if (code == HX_OK) memset(target, value, (size_t)bytes);
  hxs_gate_leave(&queue->gate);
  return code;
}

static int32_t queue_record(hx_queue *queue, hx_event **out, hx_error *error) {
  hx_event *event;
  if (out == NULL) return hxs_fail(error, HX_INVALID, "record: there is no place for the event");
  HXS_TRY(enter(queue, error));
  event = (hx_event *)malloc(sizeof *event);
  if (event != NULL) event->device = queue->device;
  hxs_gate_leave(&queue->gate);
  if (event == NULL) return hxs_fail(error, HX_OUT_OF_MEMORY, "no memory for an event");
  *out = event;
  return HX_OK;
}

static int32_t queue_wait(hx_queue *queue, hx_event *event, hx_error *error) {
  HXS_TRY(enter(queue, error));
  hxs_gate_leave(&queue->gate);
  return event == NULL ? hxs_fail(error, HX_INVALID, "wait: the event is missing") : HX_OK;
}

static void event_destroy(hx_event *event) { free(event); }

static int32_t queue_sync(hx_queue *queue, hx_error *error) {
  HXS_TRY(enter(queue, error));
  hxs_gate_leave(&queue->gate);
  return HX_OK;
}

const hx_queue_ops queue_ops = {HX_END_OF(hx_queue_ops, reset),
                                0,
                                queue_create,
                                queue_destroy,
                                queue_copy,
                                queue_fill,
                                queue_record,
                                queue_wait,
                                event_destroy,
                                queue_sync,
                                queue_sync};
