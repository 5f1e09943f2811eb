// SPDX-License-Identifier: Apache-2.0
// Device, memory and queue roles.
#ifndef HX_CUDA_DEVICE_H
#define HX_CUDA_DEVICE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "driver.h"
#include "heliox/support/gate.h"
#include "pinned.h"
#include "program.h"

#define HX_CUDA_ALIGNMENT 256u

typedef enum hx_cuda_kernel {
#define KERNEL(id_, name_, body_, threads_) HX_CUDA_KERNEL_##id_,
#include "kernels/kernels.def"
  HX_CUDA_KERNEL_COUNT
} hx_cuda_kernel_t;

// Threads of a block of each kernel.
extern const uint32_t hx_cuda_kernel_threads[];

struct hx_device {
  const hx_cuda_driver_t *driver;
  int32_t handle;
  uint32_t arch;        // 90: compute capability 9.0
  uint32_t units;       // multiprocessors
  uint32_t shared_max;  // bytes of shared memory that a block may ask for
  void *context;
  void *module;
  void *stream;  // allocations and uploads; no work of queues
  hx_cuda_pinned_t pinned;
  hx_cuda_programs_t programs;  // compiled regions
  atomic_int lost;
  void *functions[HX_CUDA_KERNEL_COUNT][2];  // of 64-bit and of 32-bit words; NULL: there is none
};

struct hx_buffer {
  hx_device *device;
  uint32_t space;
  uint64_t address;
  uint64_t bytes;
};

struct hx_queue {
  hxs_gate gate;
  hx_device *device;
  void *stream;
  const char *last_name;
  volatile uint32_t *flag;  // page-locked; kernels set it where a number cannot be told; NULL: not made yet
  hx_graph *recording;      // NULL: what the queue is given is done
  bool follows_launch;      // the stream's last work is a kernel of this plugin
};

extern const hx_device_ops hx_cuda_device_ops;
extern const hx_memory_ops hx_cuda_memory_ops;
extern const hx_queue_ops hx_cuda_queue_ops;
extern const hx_codec_ops hx_cuda_codec_ops;

// Makes the device's context current for this thread; HX_DEVICE_LOST where the device is lost. HX_OK must be followed
// by hx_cuda_leave, which gives the thread back what it had.
int32_t hx_cuda_enter(hx_device *device, hx_error *error);
void hx_cuda_leave(hx_device *device);
// A failed call of the driver: error and code, and marks the device where it is lost.
int32_t hx_cuda_device_fail(hx_device *device, const char *what, int32_t result, hx_error *error);

// [A] Device memory outside any queue: ready when the call returns. Waits for no queue.
int32_t hx_cuda_device_alloc(hx_device *device, uint64_t bytes, uint64_t *out, hx_error *error);
void hx_cuda_device_free(hx_device *device, uint64_t address);
// [A] Copies to device memory; done when the call returns.
int32_t hx_cuda_device_upload(hx_device *device, uint64_t to, const void *from, uint64_t bytes, hx_error *error);

// The address of `bytes` bytes at a span of this device; HX_INVALID where the span does not hold them, is not aligned
// to `unit`, or, with `on_device`, is not device memory. `what` names the span in the message.
int32_t hx_cuda_span_address(const hx_device *device, hx_span span, uint64_t bytes, uint64_t unit, bool on_device,
                             const char *what, uint64_t *out, hx_error *error);

// Begins a call on a queue: HX_BUSY while another one is inside, the failure where the queue is poisoned. HX_OK must be
// followed by hx_cuda_queue_leave.
int32_t hx_cuda_queue_enter(hx_queue *queue, hx_error *error);
void hx_cuda_queue_leave(hx_queue *queue);
// Makes the queue's flag, within such a call.
int32_t hx_cuda_queue_flag(hx_queue *queue, hx_error *error);
// The same where the queue may be poisoned.
int32_t hx_cuda_queue_hold(hx_queue *queue, hx_error *error);

#endif
