// SPDX-License-Identifier: Apache-2.0
// Queue role. Nothing here waits but sync and destroy. Where the queue is out of order each command waits for the one
// before it by its event, so that the order is the same. Copies between two places of the host, which no command does,
// are made by a callback that holds the queue back through an event of the plugin's own.
//
// Commands that read or write memory of the host do so in queues that are in order too: there are drivers that move
// pageable memory while such a command is made, or after later ones have run, unless an event says what it waits for.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "heliox/support/error.h"

struct hx_event {
  hx_device *device;
  void *event;
};

// ------------------------------------------------------------------ order

// Of a command that touches memory of the host.
static void order_begin_host(const hx_queue *queue, hx_opencl_order_t *out) {
  *out = (hx_opencl_order_t){.count = queue->last != NULL ? 1 : 0, .wait = {queue->last}};
  out->event_at = &out->event;
}

void hx_opencl_order_begin(const hx_queue *queue, hx_opencl_order_t *out) {
  *out = (hx_opencl_order_t){0};
  if (queue->device->out_of_order) {
    order_begin_host(queue, out);
  }
}

static void set_last(hx_queue *queue, void *event) {
  if (queue->last != NULL) {
    queue->device->cl->clReleaseEvent(queue->last);
  }
  queue->last = event;
}

void hx_opencl_order_end(hx_queue *queue, hx_opencl_order_t *order) {
  if (order->event_at != NULL) {
    set_last(queue, order->event);
  }
}

#define WAIT(order_) (order_).count, (order_).count > 0 ? (order_).wait : NULL

static int32_t ended(hx_queue *queue, hx_opencl_order_t *order, const char *what, int32_t result, hx_error *error) {
  if (result != 0) {
    return hx_opencl_device_fail(queue->device, what, result, error);
  }
  hx_opencl_order_end(queue, order);
  return HX_OK;
}

// An event that is complete when all commands so far are. A marker with a list of events need not wait for others, so
// in a queue that is in order the last event of host memory comes into a second one.
static int32_t mark(const hx_queue *queue, void **out) {
  const hx_opencl_cl_t *cl = queue->device->cl;
  if (queue->device->out_of_order || queue->last == NULL) {
    return cl->clEnqueueMarkerWithWaitList(queue->queue, queue->last != NULL ? 1 : 0,
                                           queue->last != NULL ? &queue->last : NULL, out);
  }
  void *both[2] = {NULL, queue->last};
  int32_t result = cl->clEnqueueMarkerWithWaitList(queue->queue, 0, NULL, &both[0]);
  if (result == 0) {
    result = cl->clEnqueueMarkerWithWaitList(queue->queue, 2, both, out);
    cl->clReleaseEvent(both[0]);
  }
  return result;
}

// ------------------------------------------------------------------ queues

static int32_t enter(hx_queue *queue, bool hold, hx_error *error) {
  if (queue == NULL) {
    return hxs_fail(error, HX_INVALID, "the queue is missing");
  }
  HXS_TRY(hold ? hxs_gate_hold(&queue->gate, error) : hxs_gate_enter(&queue->gate, error));
  const int32_t code = hold ? HX_OK : hx_opencl_device_usable(queue->device, error);
  if (code != HX_OK) {
    hxs_gate_leave(&queue->gate);
  }
  return code;
}

static int32_t queue_create(hx_device *device, hx_queue **out, hx_error *error) {
  if (device == NULL || out == NULL) {
    return hxs_fail(error, HX_INVALID, "create: device or result is missing");
  }
  HXS_TRY(hx_opencl_device_usable(device, error));
  hx_queue *queue = calloc(1, sizeof *queue);
  if (queue == NULL) {
    return hxs_fail(error, HX_OUT_OF_MEMORY, "no memory for a queue");
  }
  int32_t result = 0;
  queue->device = device;
  queue->queue = device->cl->clCreateCommandQueue(device->context, device->facts.device,
                                                  device->out_of_order ? HX_CL_QUEUE_OUT_OF_ORDER : 0, &result);
  if (queue->queue == NULL) {
    free(queue);
    return hx_opencl_device_fail(device, "clCreateCommandQueue", result, error);
  }
  *out = queue;
  return HX_OK;
}

static void queue_destroy(hx_queue *queue) {
  if (queue == NULL) {
    return;
  }
  queue->device->cl->clFinish(queue->queue);
  set_last(queue, NULL);
  queue->device->cl->clReleaseCommandQueue(queue->queue);
  free(queue);
}

// ------------------------------------------------------------------ work of the host in a queue

typedef struct host_work {
  const hx_opencl_cl_t *cl;
  void *before, *done;  // events: all that came before; ours
  void *to;
  const void *from;  // NULL: fill
  uint8_t value;
  uint64_t bytes;
} host_work_t;

static void run_host_work(void *event, int32_t status, void *user) {
  host_work_t *work = user;
  (void)event;
  if (status >= 0 && work->from != NULL) {
    memmove(work->to, work->from, work->bytes);
  } else if (status >= 0) {
    memset(work->to, work->value, work->bytes);
  }
  work->cl->clSetUserEventStatus(work->done, status < 0 ? status : 0);
  work->cl->clReleaseEvent(work->done);
  work->cl->clReleaseEvent(work->before);
  free(work);
}

static int32_t start_host_work(hx_queue *queue, host_work_t *work, hx_error *error) {
  hx_device *device = queue->device;
  const hx_opencl_cl_t *cl = device->cl;
  hx_opencl_order_t order;
  int32_t result = 0;
  order_begin_host(queue, &order);
  work->cl = cl;
  work->done = cl->clCreateUserEvent(device->context, &result);
  if (work->done == NULL) {
    free(work);
    return hx_opencl_device_fail(device, "clCreateUserEvent", result, error);
  }
  result = mark(queue, &work->before);
  if (result != 0) {
    cl->clReleaseEvent(work->done);
    free(work);
    return hx_opencl_device_fail(device, "clEnqueueMarkerWithWaitList", result, error);
  }
  void *done = work->done;
  result = cl->clEnqueueBarrierWithWaitList(queue->queue, 1, &done, order.event_at);
  if (result == 0) {
    hx_opencl_order_end(queue, &order);
    result = cl->clSetEventCallback(work->before, 0, run_host_work, work);
  }
  if (result != 0) {  // nobody will call: what waits must not wait for ever
    run_host_work(NULL, result < 0 ? result : -1, work);
    return hx_opencl_device_fail(device, "clSetEventCallback", result, error);
  }
  result = cl->clFlush(queue->queue);
  return result == 0 ? HX_OK : hx_opencl_device_fail(device, "clFlush", result, error);
}

static int32_t copy_on_host(hx_queue *queue, hx_span to, hx_span from, uint8_t value, uint64_t bytes, hx_error *error) {
  host_work_t *work = calloc(1, sizeof *work);
  if (work == NULL) {
    return hxs_fail(error, HX_OUT_OF_MEMORY, "no memory for a copy");
  }
  work->to = (uint8_t *)to.buffer->address + to.offset;
  work->from = from.buffer != NULL ? (const uint8_t *)from.buffer->address + from.offset : NULL;
  work->value = value;
  work->bytes = bytes;
  return start_host_work(queue, work, error);
}

// ------------------------------------------------------------------ copies

// Whether commands name the buffer by its cl_mem; else by its address.
static bool is_device(const hx_buffer *buffer) { return buffer->device->shared || buffer->space == HX_SPACE_DEVICE; }

static int32_t copy(hx_queue *queue, hx_span to, hx_span from, uint64_t bytes, hx_error *error) {
  const hx_opencl_cl_t *cl = queue->device->cl;
  const bool to_device = is_device(to.buffer), from_device = is_device(from.buffer);
  hx_opencl_order_t order;
  if (!to_device && !from_device) {
    return copy_on_host(queue, to, from, 0, bytes, error);
  }
  int32_t result = 0;
  if (to_device && from_device) {
    hx_opencl_order_begin(queue, &order);
    result = cl->clEnqueueCopyBuffer(queue->queue, from.buffer->memory, to.buffer->memory, from.offset, to.offset,
                                     bytes, WAIT(order), order.event_at);
  } else if (to_device) {
    order_begin_host(queue, &order);
    result = cl->clEnqueueWriteBuffer(queue->queue, to.buffer->memory, 0, to.offset, bytes,
                                      (const uint8_t *)from.buffer->address + from.offset, WAIT(order), order.event_at);
  } else {
    order_begin_host(queue, &order);
    result = cl->clEnqueueReadBuffer(queue->queue, from.buffer->memory, 0, from.offset, bytes,
                                     (uint8_t *)to.buffer->address + to.offset, WAIT(order), order.event_at);
  }
  return ended(queue, &order, "copy", result, error);
}

static bool overlap(hx_span to, hx_span from, uint64_t bytes) {
  return to.buffer == from.buffer && to.offset < from.offset + bytes && from.offset < to.offset + bytes;
}

static int32_t queue_copy(hx_queue *queue, hx_span to, hx_span from, uint64_t bytes, hx_error *error) {
  HXS_TRY(enter(queue, false, error));
  int32_t code = hx_opencl_span_check(queue->device, to, bytes, 1, false, "the target of a copy", error);
  if (code == HX_OK) {
    code = hx_opencl_span_check(queue->device, from, bytes, 1, false, "the source of a copy", error);
  }
  if (code == HX_OK && bytes > 0 && is_device(to.buffer) && overlap(to, from, bytes)) {
    code = hxs_fail(error, HX_INVALID, "copy: source and target are %llu overlapping bytes of one buffer",
                    (unsigned long long)bytes);
  }
  if (code == HX_OK && bytes > 0) {
    code = copy(queue, to, from, bytes, error);
  }
  hxs_gate_leave(&queue->gate);
  return code;
}

static int32_t queue_fill(hx_queue *queue, hx_span to, uint8_t value, uint64_t bytes, hx_error *error) {
  HXS_TRY(enter(queue, false, error));
  int32_t code = hx_opencl_span_check(queue->device, to, bytes, 1, false, "the target of a fill", error);
  if (code == HX_OK && bytes > 0 && !is_device(to.buffer)) {
    code = copy_on_host(queue, to, (hx_span){0}, value, bytes, error);
  } else if (code == HX_OK && bytes > 0) {
    hx_opencl_order_t order;
    hx_opencl_order_begin(queue, &order);
    const int32_t result = queue->device->cl->clEnqueueFillBuffer(queue->queue, to.buffer->memory, &value, 1, to.offset,
                                                                  bytes, WAIT(order), order.event_at);
    code = ended(queue, &order, "fill", result, error);
  }
  hxs_gate_leave(&queue->gate);
  return code;
}

// ------------------------------------------------------------------ events

static int32_t queue_record(hx_queue *queue, hx_event **out, hx_error *error) {
  HXS_TRY(enter(queue, false, error));
  hx_event *event = calloc(1, sizeof *event);
  int32_t code = event != NULL ? HX_OK : hxs_fail(error, HX_OUT_OF_MEMORY, "no memory for an event");
  if (code == HX_OK) {
    const hx_opencl_cl_t *cl = queue->device->cl;
    event->device = queue->device;
    int32_t result = mark(queue, &event->event);
    result = result == 0 ? cl->clFlush(queue->queue) : result;  // other queues may wait for it
    code = result == 0 ? HX_OK : hx_opencl_device_fail(queue->device, "clEnqueueMarkerWithWaitList", result, error);
  }
  hxs_gate_leave(&queue->gate);
  if (code != HX_OK) {
    if (event != NULL && event->event != NULL) {
      queue->device->cl->clReleaseEvent(event->event);
    }
    free(event);
    return code;
  }
  *out = event;
  return HX_OK;
}

static int32_t queue_wait(hx_queue *queue, hx_event *event, hx_error *error) {
  HXS_TRY(enter(queue, false, error));
  int32_t code = HX_OK;
  if (event == NULL) {
    code = hxs_fail(error, HX_INVALID, "wait: the event is missing");
  } else if (event->device != queue->device) {
    code = hxs_fail(error, HX_INVALID, "wait: the event is of another device");
  } else {
    void *events[] = {event->event, queue->last};
    void *next = NULL;
    const int32_t result =
        queue->device->cl->clEnqueueBarrierWithWaitList(queue->queue, queue->last != NULL ? 2 : 1, events, &next);
    code = result == 0 ? HX_OK : hx_opencl_device_fail(queue->device, "clEnqueueBarrierWithWaitList", result, error);
    if (code == HX_OK) {
      set_last(queue, next);
    }
  }
  hxs_gate_leave(&queue->gate);
  return code;
}

static void event_destroy(hx_event *event) {
  if (event != NULL) {
    event->device->cl->clReleaseEvent(event->event);
  }
  free(event);
}

// ------------------------------------------------------------------ the end

// A fault on the device is known for one launch only where one was made since the last wait.
static void wait_for_work(hx_queue *queue) {
  const hx_opencl_cl_t *cl = queue->device->cl;
  char message[sizeof queue->gate.message];
  hx_error error = {.struct_size = HX_END_OF(hx_error, message)};
  int32_t status = 0;
  int32_t result = cl->clFinish(queue->queue);
  if (result == 0 && queue->last != NULL &&
      cl->clGetEventInfo(queue->last, HX_CL_EVENT_STATUS, sizeof status, &status, NULL) == 0 && status < 0) {
    result = status;
  }
  set_last(queue, NULL);
  if (result == 0) {
    return;
  }
  const uint32_t calls = queue->gate.calls;
  const int32_t code = hx_opencl_device_fail(queue->device, "clFinish", result, &error);
  snprintf(message, sizeof message, "%.140s, in one of %u operations, the last %.60s", error.message, calls,
           queue->last_name != NULL ? queue->last_name : "a copy");
  const bool first = queue->gate.failed == HX_OK;
  hxs_gate_poison(&queue->gate, code, message);
  if (first) {
    queue->gate.failed_call = calls == 1 ? 0 : HX_NONE;
  }
}

static int32_t queue_sync(hx_queue *queue, hx_error *error) {
  HXS_TRY(enter(queue, true, error));
  wait_for_work(queue);
  const int32_t code = hxs_gate_report(&queue->gate, error);
  hxs_gate_leave(&queue->gate);
  return code;
}

static int32_t queue_reset(hx_queue *queue, hx_error *error) {
  HXS_TRY(enter(queue, true, error));
  hxs_gate_reset(&queue->gate);
  hxs_gate_leave(&queue->gate);
  return HX_OK;
}

const hx_queue_ops hx_opencl_queue_ops = {.struct_size = HX_END_OF(hx_queue_ops, reset),
                                          .create = queue_create,
                                          .destroy = queue_destroy,
                                          .copy = queue_copy,
                                          .fill = queue_fill,
                                          .record = queue_record,
                                          .wait = queue_wait,
                                          .event_destroy = event_destroy,
                                          .sync = queue_sync,
                                          .reset = queue_reset};
