// SPDX-License-Identifier: Apache-2.0
// Device, memory and queue roles.
#ifndef HX_OPENCL_DEVICE_H
#define HX_OPENCL_DEVICE_H

#include <pthread.h>
#include <stdatomic.h>

#include "devices.h"
#include "heliox/support/gate.h"
#include "kernels/args.h"

#define HX_OPENCL_ALIGNMENT 64u
#define HX_OPENCL_PAGE 4096u

typedef enum hx_opencl_kernel {
#define KERNEL(id_, name_, group_, places_, real_) HX_OPENCL_KERNEL_##id_,
#include "kernels/kernels.def"
  HX_OPENCL_KERNEL_COUNT
} hx_opencl_kernel_t;

// The kernels of one residue word, compiled when the first ring of it comes.
typedef struct hx_opencl_program {
  bool ready;
  void *program;
  void *kernels[HX_OPENCL_KERNEL_COUNT];
} hx_opencl_program_t;

// Which path primes of at most 50 bits take: option opencl-path, else what the device does faster.
typedef enum hx_opencl_path { HX_OPENCL_PATH_MEASURED, HX_OPENCL_PATH_INTEGER, HX_OPENCL_PATH_REAL } hx_opencl_path_t;

struct hx_device {
  const hx_opencl_cl_t *cl;
  hx_opencl_found_t facts;
  void *context;
  void *service;      // in-order queue for allocations and uploads; no work of queues
  bool shared;        // host memory is the device's: operands may lie in any buffer, nothing is copied
  bool out_of_order;  // queues are, and chain their commands by events
  uint32_t group;     // work-items of a group of most kernels
  hx_opencl_path_t path;
  atomic_bool real;  // primes of at most 50 bits take the real path unless a variant says otherwise
  atomic_int lost;
  pthread_mutex_t launch;  // arguments of a kernel and its launch are one step
  pthread_mutex_t build;
  hx_opencl_program_t programs[2];  // of 64-bit and of 32-bit words
  atomic_bool tested[2];            // their self-test has passed
};

struct hx_buffer {
  hx_device *device;
  uint32_t space;
  bool borrowed;  // address is the caller's
  uint64_t bytes;
  void *memory;   // cl_mem, NULL for plain host memory
  void *address;  // for the host; NULL: it has none
};

struct hx_queue {
  hx_device *device;
  void *queue;
  void *last;  // event of the last command where the queue is out of order, else of the last that touched host memory
  hxs_gate gate;
  const char *last_name;
};

extern const hx_device_ops hx_opencl_device_ops;
extern const hx_memory_ops hx_opencl_memory_ops;
extern const hx_queue_ops hx_opencl_queue_ops;

// A failed call: error and code, and marks the device where it is lost.
int32_t hx_opencl_device_fail(hx_device *device, const char *what, int32_t result, hx_error *error);
// HX_DEVICE_LOST after such a failure.
int32_t hx_opencl_device_usable(hx_device *device, hx_error *error);
// [A] Opens device `index` of a table that tests may have made.
int32_t hx_opencl_device_open_with(const hx_opencl_cl_t *cl, uint32_t index, hx_device **out, hx_error *error);

// [A] Device memory with these bytes, which are copied before the call returns. Waits for no queue.
int32_t hx_opencl_device_upload(hx_device *device, const void *from, uint64_t bytes, void **out, hx_error *error);

// The span holds `bytes` bytes at a multiple of `unit`, and, with `on_device`, kernels may work on it; HX_INVALID
// otherwise. `what` names the span in the message.
int32_t hx_opencl_span_check(const hx_device *device, hx_span span, uint64_t bytes, uint64_t unit, bool on_device,
                             const char *what, hx_error *error);

// What a command of a queue waits for and leaves behind: nothing in a queue that is in order.
typedef struct hx_opencl_order {
  uint32_t count;
  void *wait[1];
  void *event;
  void **event_at;  // &event, or NULL
} hx_opencl_order_t;

void hx_opencl_order_begin(const hx_queue *queue, hx_opencl_order_t *out);
// After the command was accepted.
void hx_opencl_order_end(hx_queue *queue, hx_opencl_order_t *order);

#endif
