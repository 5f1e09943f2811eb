// SPDX-License-Identifier: Apache-2.0
// Queue role. Work is done before the call that asks for it returns, in the caller's thread, so order needs no care,
// an event is past as soon as it is recorded, and wait and sync find nothing to wait for.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "error.h"

struct hx_event {
  const hx_device *device;
};

static int32_t enter(hx_queue *queue, hx_error *error) {
  if (queue == NULL) {
    return hx_cpu_fail(error, HX_INVALID, "the queue is missing");
  }
  if (atomic_flag_test_and_set_explicit(&queue->busy, memory_order_acquire)) {
    return hx_cpu_fail(error, HX_BUSY, "another call is inside this queue; a queue serves one caller at a time");
  }
  return HX_OK;
}

void hx_cpu_queue_leave(hx_queue *queue) { atomic_flag_clear_explicit(&queue->busy, memory_order_release); }

static int32_t late_failure(const hx_queue *queue, hx_error *error) {
  int32_t code = hx_cpu_fail(error, queue->failed, "%s; the queue takes no work until it is reset", queue->message);
  if (error != NULL && error->struct_size >= HX_END_OF(hx_error, op)) {
    error->op = queue->failed_call;
  }
  return code;
}

int32_t hx_cpu_queue_enter(hx_queue *queue, hx_error *error) {
  HX_CPU_TRY(enter(queue, error));
  if (queue->failed == HX_OK) {
    return HX_OK;
  }
  int32_t code = late_failure(queue, error);
  hx_cpu_queue_leave(queue);
  return code;
}

void hx_cpu_queue_poison(hx_queue *queue, int32_t code, const char *message) {
  if (queue->failed == HX_OK) {
    queue->failed = code;
    queue->failed_call = queue->calls > 0 ? queue->calls - 1 : HX_NONE;
    snprintf(queue->message, sizeof queue->message, "%s", message);
  }
}

static int32_t queue_create(hx_device *device, hx_queue **out, hx_error *error) {
  if (device == NULL || out == NULL) {
    return hx_cpu_fail(error, HX_INVALID, "create: device or result is missing");
  }
  hx_queue *queue = calloc(1, sizeof *queue);
  if (queue == NULL) {
    return hx_cpu_fail(error, HX_OUT_OF_MEMORY, "no memory for a queue");
  }
  queue->device = device;
  atomic_flag_clear(&queue->busy);
  *out = queue;
  return HX_OK;
}

static void queue_destroy(hx_queue *queue) { free(queue); }

static int32_t queue_copy(hx_queue *queue, hx_span to, hx_span from, uint64_t bytes, hx_error *error) {
  HX_CPU_TRY(hx_cpu_queue_enter(queue, error));
  void *target = NULL, *source = NULL;
  int32_t code = hx_cpu_span_address(queue->device, to, bytes, 1, "the target of a copy", &target, error);
  if (code == HX_OK) {
    code = hx_cpu_span_address(queue->device, from, bytes, 1, "the source of a copy", &source, error);
  }
  if (code == HX_OK) {
    memmove(target, source, (size_t)bytes);
  }
  hx_cpu_queue_leave(queue);
  return code;
}

static int32_t queue_fill(hx_queue *queue, hx_span span, uint8_t value, uint64_t bytes, hx_error *error) {
  HX_CPU_TRY(hx_cpu_queue_enter(queue, error));
  void *target = NULL;
  int32_t code = hx_cpu_span_address(queue->device, span, bytes, 1, "the target of a fill", &target, error);
  if (code == HX_OK) {
    memset(target, value, (size_t)bytes);
  }
  hx_cpu_queue_leave(queue);
  return code;
}

static int32_t queue_record(hx_queue *queue, hx_event **out, hx_error *error) {
  HX_CPU_TRY(hx_cpu_queue_enter(queue, error));
  hx_event *event = malloc(sizeof *event);
  if (event != NULL) {
    event->device = queue->device;
    *out = event;
  }
  hx_cpu_queue_leave(queue);
  return event != NULL ? HX_OK : hx_cpu_fail(error, HX_OUT_OF_MEMORY, "no memory for an event");
}

static int32_t queue_wait(hx_queue *queue, hx_event *event, hx_error *error) {
  HX_CPU_TRY(hx_cpu_queue_enter(queue, error));
  int32_t code = HX_OK;
  if (event == NULL) {
    code = hx_cpu_fail(error, HX_INVALID, "wait: the event is missing");
  } else if (event->device != queue->device) {
    code = hx_cpu_fail(error, HX_INVALID, "wait: the event is of another device");
  }
  hx_cpu_queue_leave(queue);
  return code;
}

static void event_destroy(hx_event *event) { free(event); }

static int32_t queue_sync(hx_queue *queue, hx_error *error) {
  HX_CPU_TRY(enter(queue, error));
  int32_t code = queue->failed == HX_OK ? HX_OK : late_failure(queue, error);
  queue->calls = 0;
  hx_cpu_queue_leave(queue);
  return code;
}

static int32_t queue_reset(hx_queue *queue, hx_error *error) {
  HX_CPU_TRY(enter(queue, error));
  queue->failed = HX_OK;
  queue->calls = 0;
  queue->message[0] = 0;
  hx_cpu_queue_leave(queue);
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
