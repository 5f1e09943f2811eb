// SPDX-License-Identifier: Apache-2.0
#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heliox/support/cache.h"
#include "heliox/support/compiler_log.h"
#include "heliox/support/error.h"
#include "heliox/support/host.h"

#define LOG_MAX ((size_t)1 << 20)
#define OPTIONS_MAX 160u

const char *const hx_opencl_kernel_names[] = {
#define KERNEL(id_, name_, group_, places_, real_) "hx_" #name_,
#include "kernels/kernels.def"
};

const uint32_t hx_opencl_kernel_groups[] = {
#define KERNEL(id_, name_, group_, places_, real_) group_,
#include "kernels/kernels.def"
};

const uint32_t hx_opencl_kernel_places[] = {
#define KERNEL(id_, name_, group_, places_, real_) places_,
#include "kernels/kernels.def"
};

static const bool kernel_is_real[] = {
#define KERNEL(id_, name_, group_, places_, real_) real_ != 0,
#include "kernels/kernels.def"
};

static const char source[] = {
#include "opencl_source.inc"
    0};

const char *hx_opencl_source_instead;

const char *hx_opencl_source(void) { return hx_opencl_source_instead != NULL ? hx_opencl_source_instead : source; }

// ------------------------------------------------------------------ programs

static int32_t build_failed(hx_device *device, void *program, int32_t result, hx_error *error) {
  char brief[140] = "its log is empty";
  size_t bytes = 0;
  const hx_opencl_cl_t *cl = device->cl;
  if (result != HX_OPENCL_BUILD_PROGRAM_FAILURE && result != HX_OPENCL_INVALID_BINARY) {
    return hx_opencl_device_fail(device, "clBuildProgram", result, error);
  }
  cl->clGetProgramBuildInfo(program, device->facts.device, HX_CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes);
  char *log = bytes > 1 && bytes <= LOG_MAX ? calloc(1, bytes + 1) : NULL;
  if (log != NULL &&
      cl->clGetProgramBuildInfo(program, device->facts.device, HX_CL_PROGRAM_BUILD_LOG, bytes, log, NULL) == 0) {
    hxs_host_log(HX_LOG_DEBUG, log);
    hxs_compiler_log_shorten(log, brief, sizeof brief);
  }
  free(log);
  return hxs_fail(error, HX_UNAVAILABLE, "the compiler of %.40s refuses the kernels: %s", device->facts.name, brief);
}

static void options_of(const hx_device *device, uint32_t word, char out[OPTIONS_MAX]) {
  snprintf(out, OPTIONS_MAX, "-cl-std=CL1.2 -DHX_OPENCL_WORD=%u -DHX_OPENCL_GROUP=%u%s", word, device->group,
           device->facts.real ? " -DHX_OPENCL_REAL" : "");
}

static int32_t build(hx_device *device, const char *options, void **out, hx_error *error) {
  const hx_opencl_cl_t *cl = device->cl;
  const char *text = hx_opencl_source();
  const size_t length = strlen(text);
  int32_t result = 0;
  void *program = cl->clCreateProgramWithSource(device->context, 1, &text, &length, &result);
  if (program == NULL) {
    return hx_opencl_device_fail(device, "clCreateProgramWithSource", result, error);
  }
  result = cl->clBuildProgram(program, 1, &device->facts.device, options, NULL, NULL);
  if (result != 0) {
    const int32_t code = build_failed(device, program, result, error);
    cl->clReleaseProgram(program);
    return code;
  }
  *out = program;
  return HX_OK;
}

// Compilers for processors may have 128-bit integers, whose product is one instruction there; where this one has not,
// the kernels do without.
static int32_t compile(hx_device *device, const char *options, void **out, hx_error *error) {
  char wide[OPTIONS_MAX + 32];
  snprintf(wide, sizeof wide, "%s -DHX_OPENCL_WIDE", options);
  if ((device->facts.type & HX_CL_TYPE_CPU) != 0 && hx_opencl_source_instead == NULL &&
      build(device, wide, out, NULL) == HX_OK) {
    return HX_OK;
  }
  return build(device, options, out, error);
}

// A program from what the compiler made once; NULL where the driver does not take it.
static void *load_binary(hx_device *device, const char *options, const unsigned char *content, size_t bytes) {
  const hx_opencl_cl_t *cl = device->cl;
  int32_t status = 0, result = 0;
  void *program =
      cl->clCreateProgramWithBinary(device->context, 1, &device->facts.device, &bytes, &content, &status, &result);
  if (program == NULL) {
    return NULL;
  }
  if (result != 0 || status != 0 || cl->clBuildProgram(program, 1, &device->facts.device, options, NULL, NULL) != 0) {
    cl->clReleaseProgram(program);
    return NULL;
  }
  return program;
}

static void keep_binary(hx_device *device, const hxs_cache *cache, const char *key, void *program) {
  size_t bytes = 0;
  const hx_opencl_cl_t *cl = device->cl;
  if (cache->directory[0] == 0 ||
      cl->clGetProgramInfo(program, HX_CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, NULL) != 0 || bytes == 0 ||
      bytes > HXS_CACHE_FILE_MAX) {
    return;
  }
  unsigned char *content = malloc(bytes);
  if (content != NULL && cl->clGetProgramInfo(program, HX_CL_PROGRAM_BINARIES, sizeof content, &content, NULL) == 0 &&
      !hxs_cache_store(cache, key, content, bytes)) {
    hxs_host_log(HX_LOG_WARNING,
                 "a compiled program could not be written to the cache; it is compiled again next time");
  }
  free(content);
}

static int32_t create_kernels(hx_device *device, hx_opencl_program_t *program, hx_error *error) {
  const hx_opencl_cl_t *cl = device->cl;
  for (uint32_t i = 0; i < HX_OPENCL_KERNEL_COUNT; i++) {
    int32_t result = 0;
    size_t most = 0;
    if (kernel_is_real[i] && !device->facts.real) {
      continue;
    }
    program->kernels[i] = cl->clCreateKernel(program->program, hx_opencl_kernel_names[i], &result);
    if (program->kernels[i] == NULL) {
      return hx_opencl_device_fail(device, hx_opencl_kernel_names[i], result, error);
    }
    const uint32_t needed = hx_opencl_kernel_groups[i] != 0 ? hx_opencl_kernel_groups[i] : device->group;
    result = cl->clGetKernelWorkGroupInfo(program->kernels[i], device->facts.device, HX_CL_KERNEL_WORK_GROUP_SIZE,
                                          sizeof most, &most, NULL);
    if (result == 0 && most < needed) {
      return hxs_fail(error, HX_UNAVAILABLE, "%.40s runs %s with at most %zu work-items a group, %u are needed",
                      device->facts.name, hx_opencl_kernel_names[i], most, needed);
    }
  }
  return HX_OK;
}

static void release(const hx_device *device, hx_opencl_program_t *program) {
  for (uint32_t i = 0; i < HX_OPENCL_KERNEL_COUNT; i++) {
    if (program->kernels[i] != NULL) {
      device->cl->clReleaseKernel(program->kernels[i]);
    }
  }
  if (program->program != NULL) {
    device->cl->clReleaseProgram(program->program);
  }
  memset(program, 0, sizeof *program);
}

static int32_t make(hx_device *device, uint32_t word, hx_opencl_program_t *program, hx_error *error) {
  char options[OPTIONS_MAX], key[65];
  hxs_cache cache;
  const char *why = NULL;
  size_t bytes = 0;
  options_of(device, word, options);
  const hx_opencl_found_t *f = &device->facts;
  const char *const texts[] = {f->platform_name, f->name, f->vendor, f->version,
                               f->driver,        f->uuid, options,   hx_opencl_source()};
  hxs_cache_init(&cache, "opencl", ".clbin");
  hxs_cache_key(texts, sizeof texts / sizeof texts[0], key);
  unsigned char *content = hxs_cache_load(&cache, key, &bytes, &why);
  if (content != NULL) {
    program->program = load_binary(device, options, content, bytes);
    free(content);
    if (program->program != NULL && create_kernels(device, program, NULL) == HX_OK) {
      return HX_OK;
    }
    release(device, program);
    why = "the driver does not take it";
    hxs_cache_drop(&cache, key);
  }
  if (strcmp(why, "absent") != 0) {
    char text[200];
    snprintf(text, sizeof text, "a kept program is compiled again: %s", why);
    hxs_host_log(HX_LOG_INFO, text);
  }
  HXS_TRY(compile(device, options, &program->program, error));
  keep_binary(device, &cache, key, program->program);
  return create_kernels(device, program, error);
}

int32_t hx_opencl_program_get(hx_device *device, uint32_t word, const hx_opencl_program_t **out, hx_error *error) {
  hx_opencl_program_t *program = &device->programs[word == 64 ? 0 : 1];
  int32_t code = HX_OK;
  pthread_mutex_lock(&device->build);
  if (!program->ready) {
    code = make(device, word, program, error);
    program->ready = code == HX_OK;
    if (code != HX_OK) {
      release(device, program);
    }
  }
  pthread_mutex_unlock(&device->build);
  *out = program;
  return code;
}

void hx_opencl_program_release(hx_device *device) {
  release(device, &device->programs[0]);
  release(device, &device->programs[1]);
}
