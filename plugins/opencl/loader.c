// SPDX-License-Identifier: Apache-2.0
#include "loader.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "heliox/support/error.h"

int32_t hx_opencl_cl_fill(hx_opencl_lookup_fn *lookup, void *self, hx_opencl_cl_t *out, hx_error *error) {
  void *found = NULL;
#define SYMBOL(result_, name_, parameters_)                                                                      \
  found = lookup(self, #name_);                                                                                  \
  if (found == NULL) {                                                                                           \
    return hxs_fail(error, HX_UNAVAILABLE, "the OpenCL loader has no %s; one for OpenCL 1.2 or newer is needed", \
                    #name_);                                                                                     \
  }                                                                                                              \
  memcpy(&out->name_, &found, sizeof found);
#include "loader.def"
  return HX_OK;
}

static void *look_up(void *self, const char *name) { return dlsym(self, name); }

int32_t hx_opencl_cl_load(const char *library, hx_opencl_cl_t *out, hx_error *error) {
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) {
    return hxs_fail(error, HX_UNAVAILABLE, "no OpenCL loader: %.160s; install ocl-icd-libopencl1", dlerror());
  }
  return hx_opencl_cl_fill(look_up, handle, out, error);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static hx_opencl_cl_t table;
static int32_t outcome;
static hx_error outcome_error = {.struct_size = HX_END_OF(hx_error, message)};

static void open_once(void) { outcome = hx_opencl_cl_load("libOpenCL.so.1", &table, &outcome_error); }

int32_t hx_opencl_cl_open(const hx_opencl_cl_t **out, hx_error *error) {
  pthread_once(&once, open_once);
  if (outcome != HX_OK) {
    return hxs_fail(error, outcome, "%s", outcome_error.message);
  }
  *out = &table;
  return HX_OK;
}

static const struct {
  int32_t result, code;
  const char *name;
} results[] = {
#define RESULT(name_, value_, code_) {(value_), (code_), "CL_" #name_},
#include "results.def"
};

int32_t hx_opencl_code_of(int32_t result) {
  for (size_t i = 0; i < sizeof results / sizeof results[0]; i++) {
    if (results[i].result == result) {
      return results[i].code;
    }
  }
  return HX_INTERNAL;
}

const char *hx_opencl_result_name(int32_t result) {
  for (size_t i = 0; i < sizeof results / sizeof results[0]; i++) {
    if (results[i].result == result) {
      return results[i].name;
    }
  }
  return "unknown OpenCL error";
}

int32_t hx_opencl_cl_fail(const char *what, int32_t result, hx_error *error) {
  const int32_t code = hx_opencl_code_of(result);
  return hxs_fail(error, code, "%s: %s (%d)%s", what, hx_opencl_result_name(result), result,
                  code == HX_DEVICE_LOST ? "; the device is lost until it is opened again" : "");
}
