// SPDX-License-Identifier: Apache-2.0
#include "driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "heliox/support/error.h"

const hx_cuda_launch_attribute_t hx_cuda_overlap = {.id = HX_CUDA_ATTRIBUTE_OVERLAP, .value.flag = 1};

int32_t hx_cuda_driver_fill(hx_cuda_lookup_fn *lookup, hx_cuda_driver_t *out, hx_error *error) {
  void *found = NULL;
  uint32_t status = 0;
#define SYMBOL(name_, parameters_)                                                                                 \
  found = NULL;                                                                                                    \
  if (lookup(#name_, &found, HX_CUDA_DRIVER_MIN, 0, &status) != 0 || found == NULL) {                              \
    return hxs_fail(error, HX_UNAVAILABLE, "the CUDA driver has no %s; a driver for CUDA 12.0 or newer is needed", \
                    #name_);                                                                                       \
  }                                                                                                                \
  memcpy(&out->name_, &found, sizeof found);
#include "driver.def"
  return HX_OK;
}

static int32_t open_driver(hx_cuda_driver_t *out, hx_error *error) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    return hxs_fail(error, HX_UNAVAILABLE, "no CUDA driver: %s", dlerror());
  }
  void *symbol = dlsym(library, "cuGetProcAddress_v2");
  hx_cuda_lookup_fn *lookup = NULL;
  if (symbol == NULL) {
    return hxs_fail(error, HX_UNAVAILABLE,
                    "the CUDA driver is too old: it has no cuGetProcAddress_v2; CUDA 12.0 or newer is needed");
  }
  memcpy(&lookup, &symbol, sizeof lookup);
  HXS_TRY(hx_cuda_driver_fill(lookup, out, error));
  int32_t result = out->cuInit(0);
  if (result == 0) {
    result = out->cuDriverGetVersion(&out->version);
  }
  if (result != 0) {
    hx_cuda_driver_fail(out, "cuInit", result, error);
    if (error != NULL && error->struct_size >= HX_END_OF(hx_error, code)) {
      error->code = HX_UNAVAILABLE;
    }
    return HX_UNAVAILABLE;
  }
  return HX_OK;
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static hx_cuda_driver_t driver;
static int32_t outcome;
static hx_error outcome_error = {.struct_size = HX_END_OF(hx_error, message)};

static void open_once(void) { outcome = open_driver(&driver, &outcome_error); }

int32_t hx_cuda_driver_open(const hx_cuda_driver_t **out, hx_error *error) {
  pthread_once(&once, open_once);
  if (outcome != HX_OK) {
    return hxs_fail(error, outcome, "%s", outcome_error.message);
  }
  *out = &driver;
  return HX_OK;
}

// Results of the Driver API that have a code of their own in the contract.
enum {
  OUT_OF_MEMORY = 2,
  NOT_INITIALIZED = 3,
  DEINITIALIZED = 4,
  STUB_LIBRARY = 34,
  DEVICE_UNAVAILABLE = 46,
  NO_DEVICE = 100,
  NO_BINARY = 209,
  ECC = 214,
  ILLEGAL_ADDRESS = 700,
  LAUNCH_TIMEOUT = 702,
  ASSERT = 710,
  HARDWARE_STACK = 714,
  LAUNCH_FAILED = 719,
  SYSTEM_NOT_READY = 802,
  SYSTEM_DRIVER_MISMATCH = 803
};

bool hx_cuda_is_sticky(int32_t result) {
  return result == ECC || result == ILLEGAL_ADDRESS || result == LAUNCH_TIMEOUT || result == ASSERT ||
         (result >= HARDWARE_STACK && result <= LAUNCH_FAILED);
}

int32_t hx_cuda_code_of(int32_t result) {
  if (hx_cuda_is_sticky(result)) {
    return HX_DEVICE_LOST;
  }
  switch (result) {
    case 0:
      return HX_OK;
    case OUT_OF_MEMORY:
      return HX_OUT_OF_MEMORY;
    case NOT_INITIALIZED:
    case DEINITIALIZED:
    case STUB_LIBRARY:
    case DEVICE_UNAVAILABLE:
    case NO_DEVICE:
    case NO_BINARY:
    case SYSTEM_NOT_READY:
    case SYSTEM_DRIVER_MISMATCH:
      return HX_UNAVAILABLE;
    default:
      return HX_INTERNAL;
  }
}

int32_t hx_cuda_driver_fail(const hx_cuda_driver_t *table, const char *what, int32_t result, hx_error *error) {
  const char *name = NULL;
  if (table == NULL || table->cuGetErrorName == NULL || table->cuGetErrorName(result, &name) != 0 || name == NULL) {
    name = "unknown CUDA error";
  }
  const int32_t code = hx_cuda_code_of(result);
  return hxs_fail(error, code, "%s: %s (%d)%s", what, name, result,
                  code == HX_DEVICE_LOST ? "; the device is lost until the process ends" : "");
}
