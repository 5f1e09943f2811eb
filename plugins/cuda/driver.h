// SPDX-License-Identifier: Apache-2.0
// The Driver API, found at run time: nothing of CUDA is linked. Opaque handles are void *, device addresses uint64_t.
#ifndef HX_CUDA_DRIVER_H
#define HX_CUDA_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heliox/plugin.h"

// CUlaunchAttribute and CUlaunchConfig of the Driver API.
typedef struct hx_cuda_launch_attribute {
  int32_t id;
  char padding[4];
  union {
    char room[64];
    int32_t flag;
  } value;
} hx_cuda_launch_attribute_t;

typedef struct hx_cuda_launch {
  uint32_t grid[3], block[3];
  uint32_t shared;
  void *stream;
  const hx_cuda_launch_attribute_t *attributes;
  uint32_t attribute_count;
} hx_cuda_launch_t;

// CUmemAccessDesc.
typedef struct hx_cuda_access {
  int32_t kind, device;  // of the location
  int32_t flags;
} hx_cuda_access_t;

// CUDA_KERNEL_NODE_PARAMS of revision 2.
typedef struct hx_cuda_node {
  void *function;
  uint32_t grid[3], block[3];
  uint32_t shared;
  void **arguments, **extra;
  void *kernel, *context;
} hx_cuda_node_t;

// CUgraphExecUpdateResultInfo.
typedef struct hx_cuda_update {
  int32_t result;
  const void *node, *from_node;
} hx_cuda_update_t;

#define HX_CUDA_ATTRIBUTE_OVERLAP 6  // programmatic stream serialization

typedef struct hx_cuda_driver {
#define SYMBOL(name_, parameters_) int32_t(*name_) parameters_;
#include "driver.def"
  int32_t version;  // of the driver, as 12040
} hx_cuda_driver_t;

// A launch that may begin while the one before it ends: kernels wait by themselves.
extern const hx_cuda_launch_attribute_t hx_cuda_overlap;

#define HX_CUDA_DRIVER_MIN 12000  // cuGetProcAddress of version 2, stream-ordered pools

// cuGetProcAddress_v2, or in tests what stands for it. Returns a CUresult; *out NULL: the driver lacks it.
typedef int32_t hx_cuda_lookup_fn(const char *name, void **out, int32_t version, uint64_t flags, uint32_t *status);

// Fills the table by `lookup`. HX_UNAVAILABLE names the first function that is missing.
int32_t hx_cuda_driver_fill(hx_cuda_lookup_fn *lookup, hx_cuda_driver_t *out, hx_error *error);
// [A] Opens libcuda.so.1 and initialises it, once in the process; later calls give the first outcome again.
// HX_UNAVAILABLE says what is missing. The library stays open.
int32_t hx_cuda_driver_open(const hx_cuda_driver_t **out, hx_error *error);

// The code of the contract for a CUresult.
int32_t hx_cuda_code_of(int32_t result);
// Whether the context is beyond use after it.
bool hx_cuda_is_sticky(int32_t result);
// "cuLaunchKernel: CUDA_ERROR_..." into the error; returns the code. driver may be NULL.
int32_t hx_cuda_driver_fail(const hx_cuda_driver_t *driver, const char *what, int32_t result, hx_error *error);

#endif
