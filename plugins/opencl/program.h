// SPDX-License-Identifier: Apache-2.0
// The kernels of a device: the .cl files, embedded in the library, compiled at first use or taken from the disk.
#ifndef HX_OPENCL_PROGRAM_H
#define HX_OPENCL_PROGRAM_H

#include "device.h"

// Names of entry points, and work-items of a group and buffers of each kernel; 0 work-items: the device's own number.
extern const char *const hx_opencl_kernel_names[];
extern const uint32_t hx_opencl_kernel_groups[];
extern const uint32_t hx_opencl_kernel_places[];

// [A] The kernels of a residue word (64 or 32), compiled where this device has not needed them before.
// HX_UNAVAILABLE where the compiler refuses them: the message has the first lines of its log, the host's log all.
int32_t hx_opencl_program_get(hx_device *device, uint32_t word, const hx_opencl_program_t **out, hx_error *error);
void hx_opencl_program_release(hx_device *device);

// The source of all kernels and its parts; for tests of failures another text may be put in its place.
const char *hx_opencl_source(void);
extern const char *hx_opencl_source_instead;

#endif
