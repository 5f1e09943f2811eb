// SPDX-License-Identifier: Apache-2.0
// Device, memory and queue roles: one device, this machine's processors; all its memory is host memory.
#ifndef HX_CPU_DEVICE_H
#define HX_CPU_DEVICE_H

#include <stdbool.h>

#include "heliox/support/gate.h"

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
  hxs_gate gate;
  hx_device *device;
};

extern const hx_device_ops hx_cpu_device_ops;
extern const hx_memory_ops hx_cpu_memory_ops;
extern const hx_queue_ops hx_cpu_queue_ops;

// The address of `bytes` bytes at a span of this device; HX_INVALID where the span does not hold them or is not
// aligned to `unit`. `what` names the span in the message.
int32_t hx_cpu_span_address(const hx_device *device, hx_span span, uint64_t bytes, uint64_t unit, const char *what,
                            void **out, hx_error *error);

#endif
