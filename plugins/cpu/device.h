// SPDX-License-Identifier: Apache-2.0
// Device, memory and queue roles: one device, this machine's processors; all its memory is host memory.
#ifndef HX_CPU_DEVICE_H
#define HX_CPU_DEVICE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "heliox/plugin.h"

#define HX_CPU_ALIGNMENT 64u
#define HX_CPU_MASK_MAX 256u  // bytes of the option cpu-mask with its NUL

struct hx_device {
  // Variants that may be chosen, a comma list from the option cpu-mask; empty: all.
  char mask[HX_CPU_MASK_MAX];
};

struct hx_buffer {
  const hx_device *device;
  void *address;
  uint64_t bytes;
  bool borrowed;
};

struct hx_queue {
  hx_device *device;
  atomic_flag busy;
  int32_t failed;  // code of the first late failure; HX_OK: none
  uint32_t failed_call;
  uint32_t calls;  // executes since the last sync
  char message[240];
};

extern const hx_device_ops hx_cpu_device_ops;
extern const hx_memory_ops hx_cpu_memory_ops;
extern const hx_queue_ops hx_cpu_queue_ops;

// The address of `bytes` bytes at a span of this device; HX_INVALID where the span does not hold them or is not
// aligned to `unit`. `what` names the span in the message.
int32_t hx_cpu_span_address(const hx_device *device, hx_span span, uint64_t bytes, uint64_t unit, const char *what,
                            void **out, hx_error *error);

// Begins a call on a queue: HX_BUSY while another one is inside, the late failure where the queue is poisoned.
// HX_OK must be followed by hx_cpu_queue_leave.
int32_t hx_cpu_queue_enter(hx_queue *queue, hx_error *error);
void hx_cpu_queue_leave(hx_queue *queue);
// Inside a call: work that was accepted has failed, so what follows it on the queue must not run.
void hx_cpu_queue_poison(hx_queue *queue, int32_t code, const char *message);

#endif
