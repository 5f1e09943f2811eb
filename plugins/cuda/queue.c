// SPDX-License-Identifier: Apache-2.0
// Queue role: a stream. Nothing here waits but sync and destroy.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "graph.h"
#include "heliox/support/error.h"

struct hx_event {
  hx_device *device;
  void *event;
};

// The gate, then the device's context; for sync and reset, which look at failures themselves.
int32_t hx_cuda_queue_hold(hx_queue *queue, hx_error *error) {
  if (queue == NULL) {
    return hxs_fail(error, HX_INVALID, "the queue is missing");
  }
  HXS_TRY(hxs_gate_hold(&queue->gate, error));
  const int32_t code = hx_cuda_enter(queue->device, error);
  if (code != HX_OK) {
    hxs_gate_leave(&queue->gate);
  }
  return code;
}

int32_t hx_cuda_queue_enter(hx_queue *queue, hx_error *error) {
  HXS_TRY(hx_cuda_queue_hold(queue, error));
  const int32_t code = hxs_gate_failure(&queue->gate, error);
  if (code != HX_OK) {
    hx_cuda_queue_leave(queue);
  }
  return code;
}

void hx_cuda_queue_leave(hx_queue *queue) {
  hx_cuda_leave(queue->device);
  hxs_gate_leave(&queue->gate);
}

#define FLAG_BYTES 64u

int32_t hx_cuda_queue_flag(hx_queue *queue, hx_error *error) {
  int32_t result = 0;
  if (queue->flag == NULL) {
    void *memory = hx_cuda_pinned_take(&queue->device->pinned, queue->device->driver, FLAG_BYTES, &result);
    if (result != 0) {
      return hx_cuda_device_fail(queue->device, "cuMemHostAlloc", result, error);
    }
    memset(memory, 0, FLAG_BYTES);
    queue->flag = memory;
  }
  return HX_OK;
}

static int32_t queue_create(hx_device *device, hx_queue **out, hx_error *error) {
  if (device == NULL || out == NULL) {
    return hxs_fail(error, HX_INVALID, "create: device or result is missing");
  }
  hx_queue *queue = calloc(1, sizeof *queue);
  if (queue == NULL) {
    return hxs_fail(error, HX_OUT_OF_MEMORY, "no memory for a queue");
  }
  queue->device = device;
  int32_t code = hx_cuda_enter(device, error);
  if (code == HX_OK) {
    const int32_t result = device->driver->cuStreamCreate(&queue->stream, 1);
    code = result == 0 ? HX_OK : hx_cuda_device_fail(device, "cuStreamCreate", result, error);
    hx_cuda_leave(device);
  }
  if (code != HX_OK) {
    free(queue);
    return code;
  }
  *out = queue;
  return HX_OK;
}

static void queue_destroy(hx_queue *queue) {
  if (queue != NULL && hx_cuda_enter(queue->device, NULL) == HX_OK) {
    hx_cuda_graph_abandon(queue);
    queue->device->driver->cuStreamSynchronize(queue->stream);
    queue->device->driver->cuStreamDestroy(queue->stream);
    if (queue->flag != NULL) {
      hx_cuda_pinned_give(&queue->device->pinned, queue->device->driver, (void *)(uintptr_t)queue->flag, FLAG_BYTES);
    }
    hx_cuda_leave(queue->device);
  }
  free(queue);
}

// One end may be memory of another device of this plugin: what is enqueued there must be over, or waited for by event.
static int32_t copy_between(hx_queue *queue, hx_span to, hx_span from, uint64_t bytes, hx_error *error) {
  const hx_cuda_driver_t *driver = queue->device->driver;
  const hx_device *target = to.buffer != NULL ? to.buffer->device : queue->device;
  const hx_device *source = from.buffer != NULL ? from.buffer->device : queue->device;
  uint64_t target_address = 0, source_address = 0;
  if (target != queue->device && source != queue->device) {
    return hxs_fail(error, HX_INVALID, "copy: neither end is memory of the queue's device");
  }
  HXS_TRY(hx_cuda_span_address(target, to, bytes, 1, false, "the target of a copy", &target_address, error));
  HXS_TRY(hx_cuda_span_address(source, from, bytes, 1, false, "the source of a copy", &source_address, error));
  if (bytes == 0) {
    return HX_OK;
  }
  if (queue->recording != NULL) {
    return target == source ? hx_cuda_graph_note_copy(queue, to, from, bytes, error)
                            : hxs_fail(error, HX_UNSUPPORTED, "copy: copies between devices are not recorded");
  }
  if (target != source && to.buffer->space == HX_SPACE_DEVICE && from.buffer->space == HX_SPACE_DEVICE) {
    const int32_t result = driver->cuMemcpyPeerAsync(target_address, target->context, source_address, source->context,
                                                     bytes, queue->stream);
    return result == 0 ? HX_OK : hx_cuda_device_fail(queue->device, "copy: cuMemcpyPeerAsync", result, error);
  }
  const int32_t result = driver->cuMemcpyAsync(target_address, source_address, bytes, queue->stream);
  return result == 0 ? HX_OK : hx_cuda_device_fail(queue->device, "copy: cuMemcpyAsync", result, error);
}

static int32_t queue_copy(hx_queue *queue, hx_span to, hx_span from, uint64_t bytes, hx_error *error) {
  HXS_TRY(hx_cuda_queue_enter(queue, error));
  queue->follows_launch = false;
  const int32_t code = copy_between(queue, to, from, bytes, error);
  hx_cuda_queue_leave(queue);
  return code;
}

static int32_t queue_fill(hx_queue *queue, hx_span to, uint8_t value, uint64_t bytes, hx_error *error) {
  uint64_t target = 0;
  HXS_TRY(hx_cuda_queue_enter(queue, error));
  int32_t code = hx_cuda_span_address(queue->device, to, bytes, 1, false, "the target of a fill", &target, error);
  if (code == HX_OK && bytes > 0 && queue->recording != NULL) {
    code = hx_cuda_graph_note_fill(queue, to, value, bytes, error);
  } else if (code == HX_OK && bytes > 0) {
    queue->follows_launch = false;
    const int32_t result = queue->device->driver->cuMemsetD8Async(target, value, bytes, queue->stream);
    code = result == 0 ? HX_OK : hx_cuda_device_fail(queue->device, "fill: cuMemsetD8Async", result, error);
  }
  hx_cuda_queue_leave(queue);
  return code;
}

static int32_t record_event(hx_queue *queue, hx_event *event, hx_error *error) {
  const hx_cuda_driver_t *driver = queue->device->driver;
  const uint32_t no_timing = 2;
  int32_t result = driver->cuEventCreate(&event->event, no_timing);
  if (result != 0) {
    return hx_cuda_device_fail(queue->device, "cuEventCreate", result, error);
  }
  result = driver->cuEventRecord(event->event, queue->stream);
  if (result != 0) {
    driver->cuEventDestroy(event->event);
    return hx_cuda_device_fail(queue->device, "cuEventRecord", result, error);
  }
  return HX_OK;
}

// Events and waiting are not for what is recorded.
static int32_t enter_unrecorded(hx_queue *queue, const char *what, hx_error *error) {
  HXS_TRY(hx_cuda_queue_enter(queue, error));
  if (queue->recording == NULL) {
    queue->follows_launch = false;
    return HX_OK;
  }
  hx_cuda_queue_leave(queue);
  return hxs_fail(error, HX_INVALID, "%s: the queue is recording; execute, copy and fill are recorded", what);
}

static int32_t queue_record(hx_queue *queue, hx_event **out, hx_error *error) {
  HXS_TRY(enter_unrecorded(queue, "record", error));
  hx_event *event = calloc(1, sizeof *event);
  int32_t code = event != NULL ? HX_OK : hxs_fail(error, HX_OUT_OF_MEMORY, "no memory for an event");
  if (code == HX_OK) {
    event->device = queue->device;
    code = record_event(queue, event, error);
  }
  hx_cuda_queue_leave(queue);
  if (code != HX_OK) {
    free(event);
    return code;
  }
  *out = event;
  return HX_OK;
}

// The event may be of another device of this plugin.
static int32_t queue_wait(hx_queue *queue, hx_event *event, hx_error *error) {
  HXS_TRY(enter_unrecorded(queue, "wait", error));
  int32_t code = HX_OK;
  if (event == NULL) {
    code = hxs_fail(error, HX_INVALID, "wait: the event is missing");
  } else {
    const int32_t result = queue->device->driver->cuStreamWaitEvent(queue->stream, event->event, 0);
    code = result == 0 ? HX_OK : hx_cuda_device_fail(queue->device, "cuStreamWaitEvent", result, error);
  }
  hx_cuda_queue_leave(queue);
  return code;
}

static void event_destroy(hx_event *event) {
  if (event != NULL && hx_cuda_enter(event->device, NULL) == HX_OK) {
    event->device->driver->cuEventDestroy(event->event);
    hx_cuda_leave(event->device);
  }
  free(event);
}

// A fault on the device is known for one launch only where one was made since the last wait.
static int32_t wait_for_work(hx_queue *queue) {
  char message[sizeof queue->gate.message];
  hx_error error = {.struct_size = HX_END_OF(hx_error, message)};
  const int32_t result = queue->device->driver->cuStreamSynchronize(queue->stream);
  if (result == 0 && queue->flag != NULL && *queue->flag != 0) {
    *queue->flag = 0;
    snprintf(message, sizeof message, "%s: a coefficient is 2^96 or more, or a slot is no number that a double holds",
             queue->last_name);
    hxs_gate_poison(&queue->gate, HX_INVALID, message);
    return HX_INVALID;
  }
  if (result == 0) {
    return HX_OK;
  }
  const int32_t code = hx_cuda_device_fail(queue->device, "cuStreamSynchronize", result, &error);
  snprintf(message, sizeof message, "%.140s, in one of %u operations, the last %s", error.message, queue->gate.calls,
           queue->last_name != NULL ? queue->last_name : "a copy");
  hxs_gate_poison(&queue->gate, code, message);
  queue->gate.failed_call = queue->gate.calls == 1 ? 0 : HX_NONE;
  return code;
}

static int32_t queue_sync(hx_queue *queue, hx_error *error) {
  HXS_TRY(hx_cuda_queue_hold(queue, error));
  int32_t code = HX_OK;
  if (queue->recording != NULL) {
    code = hxs_fail(error, HX_INVALID, "sync: the queue is recording; end that first");
  } else {
    wait_for_work(queue);
    code = hxs_gate_report(&queue->gate, error);
  }
  hx_cuda_queue_leave(queue);
  return code;
}

static int32_t queue_reset(hx_queue *queue, hx_error *error) {
  HXS_TRY(hx_cuda_queue_hold(queue, error));
  hx_cuda_graph_abandon(queue);
  hxs_gate_reset(&queue->gate);
  hx_cuda_queue_leave(queue);
  return HX_OK;
}

const hx_queue_ops hx_cuda_queue_ops = {.struct_size = HX_END_OF(hx_queue_ops, reset),
                                        .create = queue_create,
                                        .destroy = queue_destroy,
                                        .copy = queue_copy,
                                        .fill = queue_fill,
                                        .record = queue_record,
                                        .wait = queue_wait,
                                        .event_destroy = event_destroy,
                                        .sync = queue_sync,
                                        .reset = queue_reset};
