// SPDX-License-Identifier: Apache-2.0
// Device role. The list of devices is read anew each time: drivers keep it, and tests put other tables in its place.
#include "device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heliox/support/error.h"
#include "heliox/support/host.h"
#include "program.h"
#include "selftest.h"
#include "tables.h"

int32_t hx_opencl_device_fail(hx_device *device, const char *what, int32_t result, hx_error *error) {
  if (hx_opencl_code_of(result) == HX_DEVICE_LOST) {
    atomic_store(&device->lost, result);
  }
  return hx_opencl_cl_fail(what, result, error);
}

int32_t hx_opencl_device_usable(hx_device *device, hx_error *error) {
  const int32_t lost = atomic_load(&device->lost);
  return lost == 0 ? HX_OK : hx_opencl_cl_fail("an earlier operation", lost, error);
}

static int32_t list(const hx_opencl_cl_t *cl, hx_opencl_found_t **out, uint32_t *out_count, hx_error *error) {
  hx_opencl_found_t *found = calloc(HX_OPENCL_DEVICES_MAX, sizeof *found);
  if (found == NULL) {
    return hxs_fail(error, HX_OUT_OF_MEMORY, "no memory for a list of devices");
  }
  const int32_t code = hx_opencl_devices_list(cl, found, HX_OPENCL_DEVICES_MAX, out_count, error);
  if (code != HX_OK) {
    free(found);
    return code;
  }
  *out = found;
  return HX_OK;
}

// The facts of a device that can be used.
static int32_t find(const hx_opencl_cl_t *cl, uint32_t index, hx_opencl_found_t *out, hx_error *error) {
  hx_opencl_found_t *found = NULL;
  uint32_t count = 0;
  HXS_TRY(list(cl, &found, &count, error));
  int32_t code = HX_OK;
  if (index >= count) {
    code = hxs_fail(error, HX_INVALID, "device %u does not exist; opencl finds %u", index, count);
  } else {
    *out = found[index];
    if (out->reason[0] != 0) {
      code = hxs_fail(error, HX_UNAVAILABLE, "device %u (%.48s) cannot be used: %s", index, out->name, out->reason);
    }
  }
  free(found);
  return code;
}

static uint32_t device_count(hx_error *error) {
  const hx_opencl_cl_t *cl = NULL;
  hx_opencl_found_t *found = NULL;
  uint32_t count = 0, usable = 0;
  if (hx_opencl_cl_open(&cl, error) != HX_OK || list(cl, &found, &count, error) != HX_OK) {
    return 0;
  }
  for (uint32_t i = 0; i < count; i++) {
    char text[512];
    usable += found[i].reason[0] == 0 ? 1 : 0;
    snprintf(text, sizeof text, "device %u: %s (%s, %s)%s%s", i, found[i].name, found[i].platform_name, found[i].driver,
             found[i].reason[0] != 0 ? " cannot be used: " : "", found[i].reason);
    hxs_host_log(HX_LOG_INFO, text);
  }
  if (usable == 0) {
    hxs_fail(error, HX_UNAVAILABLE, "none of %u OpenCL devices can be used; %.48s: %s", count, found[0].name,
             found[0].reason);
    count = 0;
  }
  free(found);
  return count;
}

static int32_t device_info(uint32_t index, hx_device_info *out, hx_error *error) {
  const hx_opencl_cl_t *cl = NULL;
  hx_opencl_found_t found;
  HXS_NEED(hx_device_info, name, out);
  HXS_TRY(hx_opencl_cl_open(&cl, error));
  HXS_TRY(find(cl, index, &found, error));
  hx_device_info info;
  memset(&info, 0, sizeof info);
  info.int64_ok = 1;
  info.compute_units = found.units;
  info.memory_bytes = found.memory_bytes;
  info.alignment = HX_OPENCL_ALIGNMENT;
  snprintf(info.name, sizeof info.name, "%s", found.name);
  snprintf(info.uuid, sizeof info.uuid, "%s", found.uuid);
  snprintf(info.driver, sizeof info.driver, "%.20s %.40s", found.platform_name, found.driver);
  info.struct_size = out->struct_size < HX_END_OF(hx_device_info, peers_linked)
                         ? out->struct_size
                         : HX_END_OF(hx_device_info, peers_linked);
  memcpy(out, &info, info.struct_size);
  return HX_OK;
}

static bool option_is(const char *name, const char *value) {
  const char *option = hxs_host_option(name);
  return option != NULL && strcmp(option, value) == 0;
}

// Writes of the device into the caller's memory are seen by it, and the other way round, without a transfer.
static bool sees_host_memory(hx_device *device, unsigned char *memory) {
  const hx_opencl_cl_t *cl = device->cl;
  const unsigned char pattern = 0x5a;
  const size_t half = HX_OPENCL_PAGE / 2;
  int32_t result = 0;
  bool sees = false;
  memset(memory, 0, HX_OPENCL_PAGE);
  void *buffer = cl->clCreateBuffer(device->context, HX_CL_MEM_READ_WRITE | HX_CL_MEM_USE_HOST_PTR, HX_OPENCL_PAGE,
                                    memory, &result);
  if (buffer == NULL) {
    return false;
  }
  if (cl->clEnqueueFillBuffer(device->service, buffer, &pattern, 1, 0, half, 0, NULL, NULL) == 0 &&
      cl->clFinish(device->service) == 0) {
    sees = memory[0] == pattern && memory[half - 1] == pattern && memory[half] == 0;
    memset(memory, 0x33, half);
    sees = sees && cl->clEnqueueCopyBuffer(device->service, buffer, buffer, 0, half, half, 0, NULL, NULL) == 0 &&
           cl->clFinish(device->service) == 0 && memory[half] == 0x33 && memory[HX_OPENCL_PAGE - 1] == 0x33;
  }
  cl->clReleaseMemObject(buffer);
  return sees;
}

// Processors work on the host's memory itself, unless the option opencl-memory says "device".
static int32_t choose_memory(hx_device *device, hx_error *error) {
  if ((device->facts.type & HX_CL_TYPE_CPU) == 0 || !device->facts.unified || option_is("opencl-memory", "device")) {
    return HX_OK;
  }
  unsigned char *memory = aligned_alloc(HX_OPENCL_PAGE, HX_OPENCL_PAGE);
  if (memory == NULL) {
    return hxs_fail(error, HX_OUT_OF_MEMORY, "no memory to test a device with");
  }
  device->shared = sees_host_memory(device, memory);
  free(memory);
  return HX_OK;
}

// The option opencl-path; measured where it says nothing.
static int32_t choose_path(hx_device *device, hx_error *error) {
  const char *option = hxs_host_option("opencl-path");
  device->path = device->facts.real ? HX_OPENCL_PATH_MEASURED : HX_OPENCL_PATH_INTEGER;
  if (option == NULL || option[0] == 0 || strcmp(option, "measured") == 0) {
    return HX_OK;
  }
  const bool real = strcmp(option, "real") == 0;
  if (!real && strcmp(option, "integer") != 0) {
    return hxs_fail(error, HX_INVALID, "option opencl-path is '%.32s'; it is measured, integer or real", option);
  }
  if (real && !device->facts.real) {
    return hxs_fail(error, HX_UNSUPPORTED,
                    "option opencl-path is real, %.48s has no fused multiply-add in double precision",
                    device->facts.name);
  }
  device->path = real ? HX_OPENCL_PATH_REAL : HX_OPENCL_PATH_INTEGER;
  return HX_OK;
}

static int32_t fill_device(hx_device *device, hx_error *error) {
  const hx_opencl_cl_t *cl = device->cl;
  int32_t result = 0;
  const intptr_t properties[] = {HX_CL_CONTEXT_PLATFORM, (intptr_t)device->facts.platform, 0};
  device->context = cl->clCreateContext(properties, 1, &device->facts.device, NULL, NULL, &result);
  if (device->context == NULL) {
    return hx_opencl_device_fail(device, "clCreateContext", result, error);
  }
  device->service = cl->clCreateCommandQueue(device->context, device->facts.device, 0, &result);
  if (device->service == NULL) {
    return hx_opencl_device_fail(device, "clCreateCommandQueue", result, error);
  }
  device->group = device->facts.group < HX_OPENCL_GROUP_MAX ? HX_OPENCL_GROUP_MIN : HX_OPENCL_GROUP_MAX;
  device->out_of_order = option_is("opencl-queue", "out-of-order");
  if (device->out_of_order && !device->facts.out_of_order) {
    return hxs_fail(error, HX_UNSUPPORTED, "option opencl-queue is out-of-order, %.48s has no such queues",
                    device->facts.name);
  }
  HXS_TRY(choose_path(device, error));
  return choose_memory(device, error);
}

static void device_close(hx_device *device) {
  if (device == NULL) {
    return;
  }
  hx_opencl_program_release(device);
  if (device->service != NULL) {
    device->cl->clReleaseCommandQueue(device->service);
  }
  if (device->context != NULL) {
    device->cl->clReleaseContext(device->context);
  }
  pthread_mutex_destroy(&device->launch);
  pthread_mutex_destroy(&device->build);
  free(device);
}

int32_t hx_opencl_device_open_with(const hx_opencl_cl_t *cl, uint32_t index, hx_device **out, hx_error *error) {
  hx_opencl_found_t found;
  HXS_TRY(find(cl, index, &found, error));
  hx_device *device = calloc(1, sizeof *device);
  if (device == NULL) {
    return hxs_fail(error, HX_OUT_OF_MEMORY, "no memory for a device");
  }
  device->cl = cl;
  device->facts = found;
  atomic_init(&device->lost, 0);
  atomic_init(&device->real, false);
  pthread_mutex_init(&device->launch, NULL);
  pthread_mutex_init(&device->build, NULL);
  int32_t code = fill_device(device, error);
  if (code == HX_OK) {
    code = hx_opencl_self_test(device, 64, error);
  }
  if (code != HX_OK) {
    device_close(device);
    return code;
  }
  *out = device;
  return HX_OK;
}

static int32_t device_open(uint32_t index, hx_device **out, hx_error *error) {
  const hx_opencl_cl_t *cl = NULL;
  if (out == NULL) {
    return hxs_fail(error, HX_INVALID, "open: the result is missing");
  }
  HXS_TRY(hx_opencl_cl_open(&cl, error));
  return hx_opencl_device_open_with(cl, index, out, error);
}

const hx_device_ops hx_opencl_device_ops = {.struct_size = HX_END_OF(hx_device_ops, tables_destroy),
                                            .count = device_count,
                                            .info = device_info,
                                            .open = device_open,
                                            .close = device_close,
                                            .tables_create = hx_opencl_tables_create,
                                            .tables_destroy = hx_opencl_tables_destroy};
