// SPDX-License-Identifier: Apache-2.0
#include "device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heliox/support/error.h"
#include "heliox/support/host.h"
#include "image.h"
#include "nvrtc.h"
#include "tables.h"

// Attributes of a device.
enum { ATTRIBUTE_UNITS = 16, ATTRIBUTE_MAJOR = 75, ATTRIBUTE_MINOR = 76, ATTRIBUTE_SHARED = 97, ATTRIBUTE_POOLS = 115 };
enum { POOL_RELEASE_THRESHOLD = 4, FUNCTION_SHARED_MAX = 8 };
enum { PEER_NATIVE_ATOMICS = 3 };  // between devices: links have them, the system's bus has not
enum { LOCATION_DEVICE = 1, ACCESS_READ_WRITE = 3 };

const uint32_t hx_cuda_kernel_threads[] = {
#define KERNEL(id_, name_, body_, threads_) threads_,
#include "kernels/kernels.def"
};

static const char *const kernel_names[][2] = {
#define KERNEL(id_, name_, body_, threads_) {"hx_" #name_ "_64", "hx_" #name_ "_32"},
#define KERNEL_32(id_, name_, body_, threads_) {NULL, "hx_" #name_ "_32"},
#include "kernels/kernels.def"
};

int32_t hx_cuda_device_fail(hx_device *device, const char *what, int32_t result, hx_error *error) {
  if (hx_cuda_is_sticky(result)) {
    atomic_store(&device->lost, result);
  }
  return hx_cuda_driver_fail(device->driver, what, result, error);
}

int32_t hx_cuda_enter(hx_device *device, hx_error *error) {
  const int32_t lost = atomic_load(&device->lost);
  if (lost != 0) {
    return hx_cuda_driver_fail(device->driver, "an earlier operation", lost, error);
  }
  const int32_t result = device->driver->cuCtxPushCurrent(device->context);
  return result == 0 ? HX_OK : hx_cuda_device_fail(device, "cuCtxPushCurrent", result, error);
}

void hx_cuda_leave(hx_device *device) {
  void *context = NULL;
  device->driver->cuCtxPopCurrent(&context);
}

static uint32_t device_count(hx_error *error) {
  const hx_cuda_driver_t *driver = NULL;
  int32_t count = 0;
  if (hx_cuda_driver_open(&driver, error) != HX_OK) {
    return 0;
  }
  const int32_t result = driver->cuDeviceGetCount(&count);
  if (result != 0 || count <= 0) {
    hx_cuda_driver_fail(driver, "cuDeviceGetCount", result != 0 ? result : 100, error);
    return 0;
  }
  return (uint32_t)count;
}

typedef struct facts {
  const hx_cuda_driver_t *driver;
  int32_t handle, units, major, minor, pools, shared;
} facts_t;

static int32_t read_facts(uint32_t index, facts_t *out, hx_error *error) {
  int32_t count = 0;
  HXS_TRY(hx_cuda_driver_open(&out->driver, error));
  const hx_cuda_driver_t *driver = out->driver;
  int32_t result = driver->cuDeviceGetCount(&count);
  if (result == 0 && index >= (uint32_t)count) {
    return hxs_fail(error, HX_INVALID, "device %u does not exist; cuda finds %d", index, count);
  }
  result = result != 0 ? result : driver->cuDeviceGet(&out->handle, (int32_t)index);
  result = result != 0 ? result : driver->cuDeviceGetAttribute(&out->units, ATTRIBUTE_UNITS, out->handle);
  result = result != 0 ? result : driver->cuDeviceGetAttribute(&out->major, ATTRIBUTE_MAJOR, out->handle);
  result = result != 0 ? result : driver->cuDeviceGetAttribute(&out->minor, ATTRIBUTE_MINOR, out->handle);
  result = result != 0 ? result : driver->cuDeviceGetAttribute(&out->shared, ATTRIBUTE_SHARED, out->handle);
  result = result != 0 ? result : driver->cuDeviceGetAttribute(&out->pools, ATTRIBUTE_POOLS, out->handle);
  return result == 0 ? HX_OK : hx_cuda_driver_fail(driver, "cuDeviceGetAttribute", result, error);
}

// The other device, of the first 64, where copies to and from it go straight.
static bool is_peer(const hx_cuda_driver_t *driver, int32_t handle, uint32_t other, int32_t *out_handle) {
  int32_t can = 0, back = 0;
  return driver->cuDeviceGet(out_handle, (int32_t)other) == 0 && *out_handle != handle &&
         driver->cuDeviceCanAccessPeer(&can, handle, *out_handle) == 0 && can != 0 &&
         driver->cuDeviceCanAccessPeer(&back, *out_handle, handle) == 0 && back != 0;
}

static uint32_t count_peers(const hx_cuda_driver_t *driver) {
  int32_t count = 0;
  if (driver->cuDeviceGetCount(&count) != 0 || count < 0) {
    return 0;
  }
  return count < 64 ? (uint32_t)count : 64;
}

static void fill_peers(const facts_t *facts, uint32_t index, hx_device_info *info) {
  const uint32_t count = count_peers(facts->driver);
  for (uint32_t i = 0; i < count; i++) {
    int32_t handle = 0, atomics = 0;
    if (i != index && is_peer(facts->driver, facts->handle, i, &handle)) {
      info->peers |= (uint64_t)1 << i;
      if (facts->driver->cuDeviceGetP2PAttribute(&atomics, PEER_NATIVE_ATOMICS, facts->handle, handle) == 0 &&
          atomics != 0) {
        info->peers_linked |= (uint64_t)1 << i;
      }
    }
  }
}

// The driver's version, and that of NVRTC, which regions need.
static void describe_driver(const hx_cuda_driver_t *driver, char *out, size_t room) {
  const hx_cuda_nvrtc_t *nvrtc = NULL;
  char text[32] = "no NVRTC";
  if (hx_cuda_nvrtc_open(&nvrtc, NULL) == HX_OK) {
    snprintf(text, sizeof text, "NVRTC %d.%d", nvrtc->major, nvrtc->minor);
  }
  snprintf(out, room, "CUDA %d.%d, %s", driver->version / 1000, driver->version % 1000 / 10, text);
}

static int32_t device_info(uint32_t index, hx_device_info *out, hx_error *error) {
  facts_t facts = {0};
  if (out == NULL || out->struct_size < HX_END_OF(hx_device_info, name)) {
    return hxs_fail(error, HX_ARGS_SIZE, "hx_device_info has %u bytes, at least %u are needed",
                    out == NULL ? 0 : out->struct_size, HX_END_OF(hx_device_info, name));
  }
  HXS_TRY(read_facts(index, &facts, error));
  const uint32_t arch = (uint32_t)(facts.major * 10 + facts.minor);
  if (hx_cuda_image_choose(hx_cuda_images, hx_cuda_image_count, arch, facts.driver->version) == NULL) {
    return hxs_fail(error, HX_UNAVAILABLE,
                    "device %u has compute capability %d.%d; no kernel image fits it under driver %d", index,
                    facts.major, facts.minor, facts.driver->version);
  }
  if (facts.pools == 0) {
    return hxs_fail(error, HX_UNAVAILABLE, "device %u has no stream-ordered memory pools", index);
  }
  hx_device_info info;
  unsigned char uuid[16] = {0};
  size_t bytes = 0;
  memset(&info, 0, sizeof info);
  facts.driver->cuDeviceTotalMem(&bytes, facts.handle);
  facts.driver->cuDeviceGetName(info.name, (int32_t)sizeof info.name, facts.handle);
  facts.driver->cuDeviceGetUuid(uuid, facts.handle);
  info.int64_ok = 1;
  info.compute_units = (uint32_t)facts.units;
  info.memory_bytes = bytes;
  info.alignment = HX_CUDA_ALIGNMENT;
  for (size_t i = 0, at = 0; i < sizeof uuid; i++) {
    const char *dash = i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "";
    at += (size_t)snprintf(info.uuid + at, sizeof info.uuid - at, "%s%02x", dash, uuid[i]);
  }
  fill_peers(&facts, index, &info);
  describe_driver(facts.driver, info.driver, sizeof info.driver);
  const uint32_t end = HX_END_OF(hx_device_info, peers_linked);
  info.struct_size = out->struct_size < end ? out->struct_size : end;
  memcpy(out, &info, info.struct_size);
  return HX_OK;
}

// Kernels whose blocks take more shared memory than is given unasked, 48 KiB.
static bool takes_more(uint32_t kernel) {
  return kernel == HX_CUDA_KERNEL_KEY_ROWS ||
         (kernel >= HX_CUDA_KERNEL_RAISE_0 && kernel <= HX_CUDA_KERNEL_RAISE_TENSOR_4);
}

// The image's functions. Directory: option cuda-images, else where the library lies.
static int32_t load_module(hx_device *device, hx_error *error) {
  const hx_cuda_image_t *image =
      hx_cuda_image_choose(hx_cuda_images, hx_cuda_image_count, device->arch, device->driver->version);
  const char *directory = hxs_host_option("cuda-images");
  directory = directory != NULL ? directory : hxs_host_option("plugin-directory");
  if (image == NULL || directory == NULL) {
    return hxs_fail(error, HX_UNAVAILABLE, "%s",
                    image == NULL ? "no kernel image fits the device"
                                  : "the directory of the kernel images is unknown; set option cuda-images");
  }
  char *bytes = NULL;
  HXS_TRY(hx_cuda_image_read(image, directory, &bytes, error));
  int32_t result = device->driver->cuModuleLoadData(&device->module, bytes);
  free(bytes);
  if (result != 0) {
    return hx_cuda_device_fail(device, "cuModuleLoadData", result, error);
  }
  for (uint32_t i = 0; i < 2 * HX_CUDA_KERNEL_COUNT; i++) {
    if (kernel_names[i / 2][i % 2] == NULL) {
      continue;
    }
    result = device->driver->cuModuleGetFunction(&device->functions[i / 2][i % 2], device->module,
                                                 kernel_names[i / 2][i % 2]);
    if (result == 0 && takes_more(i / 2)) {
      result = device->driver->cuFuncSetAttribute(device->functions[i / 2][i % 2], FUNCTION_SHARED_MAX,
                                                  (int32_t)device->shared_max);
    }
    if (result != 0) {
      return hx_cuda_device_fail(device, kernel_names[i / 2][i % 2], result, error);
    }
  }
  return HX_OK;
}

// Freed memory stays in the pool, so that the next allocation is quick; peers may copy to and from it.
static void keep_pool(hx_device *device) {
  const hx_cuda_driver_t *driver = device->driver;
  void *pool = NULL;
  uint64_t all = UINT64_MAX;
  if (driver->cuDeviceGetDefaultMemPool(&pool, device->handle) != 0) {
    return;
  }
  driver->cuMemPoolSetAttribute(pool, POOL_RELEASE_THRESHOLD, &all);
  const uint32_t count = count_peers(driver);
  for (uint32_t i = 0; i < count; i++) {
    hx_cuda_access_t access = {.kind = LOCATION_DEVICE, .flags = ACCESS_READ_WRITE};
    if (is_peer(driver, device->handle, i, &access.device)) {
      driver->cuMemPoolSetAccess(pool, &access, 1);  // without it copies are staged by the driver
    }
  }
}

static int32_t fill_device(hx_device *device, hx_error *error) {
  int32_t result = device->driver->cuDevicePrimaryCtxRetain(&device->context, device->handle);
  if (result != 0) {
    return hx_cuda_device_fail(device, "cuDevicePrimaryCtxRetain", result, error);
  }
  HXS_TRY(hx_cuda_enter(device, error));
  result = device->driver->cuStreamCreate(&device->stream, 1);
  int32_t code =
      result == 0 ? load_module(device, error) : hx_cuda_device_fail(device, "cuStreamCreate", result, error);
  keep_pool(device);
  hx_cuda_leave(device);
  return code;
}

static void device_close(hx_device *device) {
  if (device == NULL) {
    return;
  }
  if (device->context != NULL) {
    if (device->driver->cuCtxPushCurrent(device->context) == 0) {
      hx_cuda_pinned_clear(&device->pinned, device->driver);
      hx_cuda_programs_unload(device);
      if (device->module != NULL) {
        device->driver->cuModuleUnload(device->module);
      }
      if (device->stream != NULL) {
        device->driver->cuStreamDestroy(device->stream);
      }
      hx_cuda_leave(device);
    }
    device->driver->cuDevicePrimaryCtxRelease(device->handle);
  }
  hx_cuda_programs_clear(device);
  free(device);
}

static int32_t device_open(uint32_t index, hx_device **out, hx_error *error) {
  facts_t facts = {0};
  if (out == NULL) {
    return hxs_fail(error, HX_INVALID, "open: the result is missing");
  }
  HXS_TRY(read_facts(index, &facts, error));
  hx_device *device = calloc(1, sizeof *device);
  if (device == NULL) {
    return hxs_fail(error, HX_OUT_OF_MEMORY, "no memory for a device");
  }
  device->driver = facts.driver;
  device->handle = facts.handle;
  device->arch = (uint32_t)(facts.major * 10 + facts.minor);
  device->units = (uint32_t)facts.units;
  device->shared_max = facts.shared < HX_CUDA_SHARED_MAX ? (uint32_t)facts.shared : HX_CUDA_SHARED_MAX;
  atomic_init(&device->lost, 0);
  hx_cuda_pinned_init(&device->pinned);
  hx_cuda_programs_init(&device->programs);
  const int32_t code = fill_device(device, error);
  if (code != HX_OK) {
    device_close(device);
    return code;
  }
  *out = device;
  return HX_OK;
}

const hx_device_ops hx_cuda_device_ops = {.struct_size = HX_END_OF(hx_device_ops, tables_destroy),
                                          .count = device_count,
                                          .info = device_info,
                                          .open = device_open,
                                          .close = device_close,
                                          .tables_create = hx_cuda_tables_create,
                                          .tables_destroy = hx_cuda_tables_destroy};
