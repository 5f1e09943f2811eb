// SPDX-License-Identifier: Apache-2.0
// OpenCL, found at run time: libOpenCL.so.1, the loader of the installed platforms, is opened when the plugin is
// probed. Nothing of it is linked and no header of it is needed.
#ifndef HX_OPENCL_LOADER_H
#define HX_OPENCL_LOADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heliox/plugin.h"

typedef struct hx_opencl_cl {
#define SYMBOL(result_, name_, parameters_) result_(*name_) parameters_;
#include "loader.def"
} hx_opencl_cl_t;

// Results that the plugin tells apart; names of all are in results.def.
enum {
#define RESULT(name_, value_, code_) HX_OPENCL_##name_ = (value_),
#include "results.def"
};

// Constants of the standard.
enum {
  HX_CL_PLATFORM_NAME = 0x0902,
  HX_CL_DEVICE_TYPE = 0x1000,
  HX_CL_DEVICE_MAX_COMPUTE_UNITS = 0x1002,
  HX_CL_DEVICE_MAX_WORK_GROUP_SIZE = 0x1004,
  HX_CL_DEVICE_MAX_MEM_ALLOC_SIZE = 0x1010,
  HX_CL_DEVICE_MAX_PARAMETER_SIZE = 0x1017,
  HX_CL_DEVICE_GLOBAL_MEM_SIZE = 0x101F,
  HX_CL_DEVICE_LOCAL_MEM_SIZE = 0x1023,
  HX_CL_DEVICE_ENDIAN_LITTLE = 0x1026,
  HX_CL_DEVICE_AVAILABLE = 0x1027,
  HX_CL_DEVICE_COMPILER_AVAILABLE = 0x1028,
  HX_CL_DEVICE_QUEUE_PROPERTIES = 0x102A,
  HX_CL_DEVICE_NAME = 0x102B,
  HX_CL_DEVICE_VENDOR = 0x102C,
  HX_CL_DRIVER_VERSION = 0x102D,
  HX_CL_DEVICE_PROFILE = 0x102E,
  HX_CL_DEVICE_VERSION = 0x102F,
  HX_CL_DEVICE_DOUBLE_FP_CONFIG = 0x1032,
  HX_CL_DEVICE_HOST_UNIFIED_MEMORY = 0x1035,
  HX_CL_DEVICE_UUID = 0x106A,  // cl_khr_device_uuid
  HX_CL_PROGRAM_BINARY_SIZES = 0x1165,
  HX_CL_PROGRAM_BINARIES = 0x1166,
  HX_CL_PROGRAM_BUILD_LOG = 0x1183,
  HX_CL_KERNEL_WORK_GROUP_SIZE = 0x11B0,
  HX_CL_EVENT_STATUS = 0x11D3,
  HX_CL_CONTEXT_PLATFORM = 0x1084,
  HX_CL_TYPE_CPU = 2,
  HX_CL_QUEUE_OUT_OF_ORDER = 1,
  HX_CL_FP_REAL = 1 << 2 | 1 << 5,  // round to nearest, fused multiply-add
  HX_CL_MEM_READ_WRITE = 1,
  HX_CL_MEM_USE_HOST_PTR = 8,
  HX_CL_MEM_ALLOC_HOST_PTR = 16,
  HX_CL_MAP_READ_WRITE = 3
};
#define HX_CL_TYPE_ALL 0xFFFFFFFFu

// dlsym, or in tests what stands for it; NULL: the library lacks the function.
typedef void *hx_opencl_lookup_fn(void *self, const char *name);

// Fills the table by `lookup`. HX_UNAVAILABLE names the first function that is missing.
int32_t hx_opencl_cl_fill(hx_opencl_lookup_fn *lookup, void *self, hx_opencl_cl_t *out, hx_error *error);
// Opens a library by its name and fills the table. HX_UNAVAILABLE says what is missing. The library stays open.
int32_t hx_opencl_cl_load(const char *library, hx_opencl_cl_t *out, hx_error *error);
// [A] libOpenCL.so.1, once in the process; later calls give the first outcome again.
int32_t hx_opencl_cl_open(const hx_opencl_cl_t **out, hx_error *error);

// The code of the contract for a result, and the result's name.
int32_t hx_opencl_code_of(int32_t result);
const char *hx_opencl_result_name(int32_t result);
// "clFinish: CL_OUT_OF_RESOURCES (-5)" into the error; returns the code.
int32_t hx_opencl_cl_fail(const char *what, int32_t result, hx_error *error);

#endif
