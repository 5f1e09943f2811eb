// SPDX-License-Identifier: Apache-2.0
// Which path of transforms a device does faster: its rate in double precision is nowhere to be asked for.
#ifndef HX_OPENCL_PACE_H
#define HX_OPENCL_PACE_H

#include "device.h"

// [A] Times forward transforms on both paths, each the best of three, on rows enough to fill the device; *out_real says
// whether doubles take less. Device memory of 128 KiB a compute unit for the time. A device is measured once in a
// process.
int32_t hx_opencl_pace_measure(hx_device *device, bool *out_real, hx_error *error);

#endif
