// SPDX-License-Identifier: Apache-2.0
#include "devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heliox/support/error.h"

#define PLATFORMS_MAX 16u

static void read_text(const hx_opencl_cl_t *cl, void *device, uint32_t what, char *out, size_t room) {
  char text[512] = {0};
  size_t bytes = 0;
  if (cl->clGetDeviceInfo(device, what, sizeof text - 1, text, &bytes) != 0) {
    text[0] = 0;
  }
  size_t begin = strspn(text, " ");
  snprintf(out, room, "%.*s", (int)room - 1, text + begin);
}

// 0 where the device does not say.
static uint64_t read_number(const hx_opencl_cl_t *cl, void *device, uint32_t what) {
  uint64_t value = 0;
  uint32_t small = 0;
  size_t bytes = 0;
  if (cl->clGetDeviceInfo(device, what, 0, NULL, &bytes) != 0 || (bytes != sizeof value && bytes != sizeof small)) {
    return 0;
  }
  if (bytes == sizeof value) {
    return cl->clGetDeviceInfo(device, what, sizeof value, &value, NULL) == 0 ? value : 0;
  }
  return cl->clGetDeviceInfo(device, what, sizeof small, &small, NULL) == 0 ? small : 0;
}

static void read_uuid(const hx_opencl_cl_t *cl, void *device, char *out, size_t room) {
  unsigned char uuid[16] = {0};
  out[0] = 0;
  if (cl->clGetDeviceInfo(device, HX_CL_DEVICE_UUID, sizeof uuid, uuid, NULL) != 0) {
    return;
  }
  for (size_t i = 0, at = 0; i < sizeof uuid && at < room; i++) {
    const char *dash = i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "";
    at += (size_t)snprintf(out + at, room - at, "%s%02x", dash, uuid[i]);
  }
}

void hx_opencl_devices_judge(hx_opencl_found_t *found, bool available, bool compiler, bool little, bool full) {
  unsigned major = 0, minor = 0;
  char *out = found->reason;
  const size_t room = sizeof found->reason;
  out[0] = 0;
  if (!available) {
    snprintf(out, room, "the driver says that it is not available");
  } else if (sscanf(found->version, "OpenCL %u.%u", &major, &minor) != 2 || major * 10 + minor < 12) {
    snprintf(out, room, "it has '%.40s', OpenCL 1.2 or newer is needed", found->version);
  } else if (!compiler) {
    snprintf(out, room, "it has no compiler for OpenCL C");
  } else if (!full) {
    snprintf(out, room, "it has the embedded profile, which need not have 64-bit integers");
  } else if (!little) {
    snprintf(out, room, "it is big-endian");
  } else if (found->local_bytes < HX_OPENCL_LOCAL_MIN) {
    snprintf(out, room, "it has %llu bytes of local memory, %u are needed", (unsigned long long)found->local_bytes,
             HX_OPENCL_LOCAL_MIN);
  } else if (found->group < HX_OPENCL_GROUP_MIN) {
    snprintf(out, room, "its work-groups have at most %u work-items, the transforms need %u", found->group,
             HX_OPENCL_GROUP_MIN);
  } else if (found->argument_bytes < HX_OPENCL_ARGS_ROOM) {
    snprintf(out, room, "its kernels take at most %llu bytes of arguments, %u are needed",
             (unsigned long long)found->argument_bytes, HX_OPENCL_ARGS_ROOM);
  }
}

static void read_device(const hx_opencl_cl_t *cl, void *platform, void *device, hx_opencl_found_t *out) {
  char profile[64];
  memset(out, 0, sizeof *out);
  out->platform = platform;
  out->device = device;
  cl->clGetPlatformInfo(platform, HX_CL_PLATFORM_NAME, sizeof out->platform_name - 1, out->platform_name, NULL);
  read_text(cl, device, HX_CL_DEVICE_NAME, out->name, sizeof out->name);
  read_text(cl, device, HX_CL_DEVICE_VENDOR, out->vendor, sizeof out->vendor);
  read_text(cl, device, HX_CL_DEVICE_VERSION, out->version, sizeof out->version);
  read_text(cl, device, HX_CL_DRIVER_VERSION, out->driver, sizeof out->driver);
  read_text(cl, device, HX_CL_DEVICE_PROFILE, profile, sizeof profile);
  read_uuid(cl, device, out->uuid, sizeof out->uuid);
  out->type = read_number(cl, device, HX_CL_DEVICE_TYPE);
  out->memory_bytes = read_number(cl, device, HX_CL_DEVICE_GLOBAL_MEM_SIZE);
  out->alloc_bytes = read_number(cl, device, HX_CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  out->local_bytes = read_number(cl, device, HX_CL_DEVICE_LOCAL_MEM_SIZE);
  out->argument_bytes = read_number(cl, device, HX_CL_DEVICE_MAX_PARAMETER_SIZE);
  out->units = (uint32_t)read_number(cl, device, HX_CL_DEVICE_MAX_COMPUTE_UNITS);
  out->group = (uint32_t)read_number(cl, device, HX_CL_DEVICE_MAX_WORK_GROUP_SIZE);
  out->unified = read_number(cl, device, HX_CL_DEVICE_HOST_UNIFIED_MEMORY) != 0;
  const uint64_t doubles = read_number(cl, device, HX_CL_DEVICE_DOUBLE_FP_CONFIG);
  out->real = (doubles & HX_CL_FP_REAL) == HX_CL_FP_REAL;
  out->out_of_order = (read_number(cl, device, HX_CL_DEVICE_QUEUE_PROPERTIES) & HX_CL_QUEUE_OUT_OF_ORDER) != 0;
  hx_opencl_devices_judge(out, read_number(cl, device, HX_CL_DEVICE_AVAILABLE) != 0,
                          read_number(cl, device, HX_CL_DEVICE_COMPILER_AVAILABLE) != 0,
                          read_number(cl, device, HX_CL_DEVICE_ENDIAN_LITTLE) != 0,
                          strcmp(profile, "FULL_PROFILE") == 0);
}

int32_t hx_opencl_devices_list(const hx_opencl_cl_t *cl, hx_opencl_found_t *out, uint32_t room, uint32_t *out_count,
                               hx_error *error) {
  void *platforms[PLATFORMS_MAX], *devices[HX_OPENCL_DEVICES_MAX];
  uint32_t platform_count = 0, count = 0;
  const int32_t result = cl->clGetPlatformIDs(PLATFORMS_MAX, platforms, &platform_count);
  if (result != HX_OPENCL_SUCCESS && result != HX_OPENCL_PLATFORM_NOT_FOUND_KHR) {
    return hx_opencl_cl_fail("clGetPlatformIDs", result, error);
  }
  if (result != HX_OPENCL_SUCCESS || platform_count == 0) {
    return hxs_fail(error, HX_UNAVAILABLE,
                    "the OpenCL loader finds no platform; install the device's driver or pocl-opencl-icd");
  }
  platform_count = platform_count < PLATFORMS_MAX ? platform_count : PLATFORMS_MAX;
  for (uint32_t p = 0; p < platform_count; p++) {
    uint32_t found = 0;
    if (cl->clGetDeviceIDs(platforms[p], HX_CL_TYPE_ALL, HX_OPENCL_DEVICES_MAX, devices, &found) != 0) {
      continue;  // a platform without a device says so by a failure
    }
    found = found < HX_OPENCL_DEVICES_MAX ? found : HX_OPENCL_DEVICES_MAX;
    for (uint32_t i = 0; i < found && count < room; i++) {
      read_device(cl, platforms[p], devices[i], &out[count++]);
    }
  }
  if (count == 0) {
    return hxs_fail(error, HX_UNAVAILABLE, "%u OpenCL platform%s, no device", platform_count,
                    platform_count == 1 ? "" : "s");
  }
  *out_count = count;
  return HX_OK;
}
