// SPDX-License-Identifier: Apache-2.0
// Queue role. Work is done before the call that asks for it returns, in the caller's thread, so order needs no care,
// an event is past as soon as it is recorded, and wait and sync find nothing to wait for.
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "heliox/support/error.h"

struct hx_event {
  const hx_device *device;
};

static int32_t enter(hx_queue *queue, hx_error *error) {
  return queue != NULL ? hxs_gate_enter(&queue->gate, error) : hxs_fail(error, HX_INVALID, "the queue is missing");
}

static int32_t hold(hx_queue *queue, hx_error *error) {
  return queue != NULL ? hxs_gate_hold(&queue->gate, error) : hxs_fail(error, HX_INVALID, "the queue is missing");
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
  *out = queue;
  return HX_OK;
}

static void queue_destroy(hx_queue *queue) { free(queue); }

static int32_t queue_copy(hx_queue *queue, hx_span to, hx_span from, uint64_t bytes, hx_error *error) {
  HXS_TRY(enter(queue, error));
  void *target = NULL, *source = NULL;
  int32_t code = hx_cpu_span_address(queue->device, to, bytes, 1, "the target of a copy", &target, error);
  if (code == HX_OK) {
    code = hx_cpu_span_address(queue->device, from, bytes, 1, "the source of a copy", &source, error);
  }
  if (code == HX_OK) {
    memmove(target, source, (size_t)bytes);
  }
  hxs_gate_leave(&queue->gate);
  return code;
}

static int32_t queue_fill(hx_queue *queue, hx_span span, uint8_t value, uint64_t bytes, hx_error *error) {
  HXS_TRY(enter(queue, error));
  void *target = NULL;
  int32_t code = hx_cpu_span_address(queue->device, span, bytes, 1, "the target of a fill", &target, error);
  if (code == HX_OK) {
    memset(target, value, (size_t)bytes);
  }
  hxs_gate_leave(&queue->gate);
  return code;
}

static int32_t queue_record(hx_queue *queue, hx_event **out, hx_error *error) {
  HXS_TRY(enter(queue, error));
  hx_event *event = malloc(sizeof *event);
  if (event != NULL) {
    event->device = queue->device;
    *out = event;
  }
  hxs_gate_leave(&queue->gate);
  return event != NULL ? HX_OK : hxs_fail(error, HX_OUT_OF_MEMORY, "no memory for an event");
}

static int32_t queue_wait(hx_queue *queue, hx_event *event, hx_error *error) {
  HXS_TRY(enter(queue, error));
  int32_t code = HX_OK;
  if (event == NULL) {
    code = hxs_fail(error, HX_INVALID, "wait: the event is missing");
  } else if (event->device != queue->device) {
    code = hxs_fail(error, HX_INVALID, "wait: the event is of another device");
  }
  hxs_gate_leave(&queue->gate);
  return code;
}

static void event_destroy(hx_event *event) { free(event); }

static int32_t queue_sync(hx_queue *queue, hx_error *error) {
  HXS_TRY(hold(queue, error));
  const int32_t code = hxs_gate_report(&queue->gate, error);
  hxs_gate_leave(&queue->gate);
  return code;
}

static int32_t queue_reset(hx_queue *queue, hx_error *error) {
  HXS_TRY(hold(queue, error));
  hxs_gate_reset(&queue->gate);
  hxs_gate_leave(&queue->gate);
  return HX_OK;
}

const hx_queue_ops hx_cpu_queue_ops = {.struct_size = HX_END_OF(hx_queue_ops, reset),
                                       .create = queue_create,
                                       .destroy = queue_destroy,
                                       .copy = queue_copy,
                                       .fill = queue_fill,
                                       .record = queue_record,
                                       .wait = queue_wait,
                                       .event_destroy = event_destroy,
                                       .sync = queue_sync,
                                       .reset = queue_reset};
