// SPDX-License-Identifier: Apache-2.0
// The OpenCL devices of this machine, all platforms' in their order, each with the reason why it cannot be used.
#ifndef HX_OPENCL_DEVICES_H
#define HX_OPENCL_DEVICES_H

#include "loader.h"

#define HX_OPENCL_DEVICES_MAX 64u

// What kernels need of a device.
#define HX_OPENCL_GROUP_MIN 128u
#define HX_OPENCL_GROUP_MAX 256u
#define HX_OPENCL_LOCAL_MIN 17408u  // bytes of local memory: 8 rows of 256 values and a place after every 16
#define HX_OPENCL_ARGS_ROOM 512u    // bytes of a kernel's arguments

typedef struct hx_opencl_found {
  void *platform, *device;
  char platform_name[64], name[128], vendor[64], version[64], driver[64], uuid[64];
  uint64_t type;
  uint64_t memory_bytes, alloc_bytes, local_bytes, argument_bytes;
  uint32_t units, group;  // compute units, largest work-group
  bool unified;           // shares memory with the host
  bool out_of_order;      // has such queues
  bool real;              // fused multiply-add and rounding to nearest in double precision
  char reason[160];       // why it cannot be used; empty: it can
} hx_opencl_found_t;

// Lists up to `room` devices. HX_UNAVAILABLE where there is no platform or no device, saying so.
int32_t hx_opencl_devices_list(const hx_opencl_cl_t *cl, hx_opencl_found_t *out, uint32_t room, uint32_t *out_count,
                               hx_error *error);
// Fills in `reason` from the other fields: what of the facts is missing first.
void hx_opencl_devices_judge(hx_opencl_found_t *found, bool available, bool compiler, bool little, bool full);

#endif
