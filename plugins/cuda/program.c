// SPDX-License-Identifier: Apache-2.0
#include "program.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "heliox/support/cache.h"
#include "heliox/support/error.h"
#include "heliox/support/host.h"
#include "nvrtc.h"

// ---- what a source includes

static const char args_text[] = {
#include "args.inc"
    0};
static const char arith_text[] = {
#include "arith.inc"
    0};
static const char wait_text[] = {
#include "wait.inc"
    0};
static const char region_text[] = {
#include "region.inc"
    0};

// NVRTC has no files: the plugin's own headers, and of the C library what these use.
static const hx_cuda_header_t headers[] = {
    {"args.h", args_text},
    {"arith.h", arith_text},
    {"wait.cuh", wait_text},
    {"region.cuh", region_text},
    {"stdint.h",
     "typedef unsigned char uint8_t;\ntypedef int int32_t;\ntypedef unsigned int uint32_t;\n"
     "typedef long long int64_t;\ntypedef unsigned long long uint64_t;\n#define UINT32_MAX 0xffffffffu\n"
     "#define UINT64_MAX 0xffffffffffffffffull\n"},
    {"stdbool.h", ""},
    {"math.h", ""},
    {"string.h", ""},
};
#define HEADER_COUNT ((uint32_t)(sizeof headers / sizeof headers[0]))

// ---- cubins

// Digest of everything that decides what the compiler makes of a source, and whether the driver takes it.
static void key_of(const hx_cuda_nvrtc_t *nvrtc, const char *source, uint32_t arch, int32_t driver_version,
                   char out[65]) {
  const char *texts[HEADER_COUNT];
  char included[65], facts[160];
  for (uint32_t i = 0; i < HEADER_COUNT; i++) {
    texts[i] = headers[i].text;
  }
  _Static_assert(sizeof headers / sizeof headers[0] <= HXS_CACHE_TEXTS_MAX, "the key has room for every header");
  hxs_cache_key(texts, HEADER_COUNT, included);
  snprintf(facts, sizeof facts, "sm_%u, NVRTC %d.%d, driver %d, heliox " HX_CUDA_VERSION, arch, nvrtc->major,
           nvrtc->minor, driver_version);
  const char *const all[] = {source, included, facts};
  hxs_cache_key(all, sizeof all / sizeof all[0], out);
}

int32_t hx_cuda_job_begin(const char *source, uint32_t arch, int32_t driver_version, hx_cuda_job_t *out,
                          hx_error *error) {
  HXS_TRY(hx_cuda_nvrtc_open(&out->nvrtc, error));
  out->source = source;
  out->arch = hx_cuda_nvrtc_arch(out->nvrtc, arch);
  if (out->arch == 0) {
    return hxs_fail(error, HX_UNAVAILABLE, "NVRTC %d.%d compiles nothing for capability %u.%u", out->nvrtc->major,
                    out->nvrtc->minor, arch / 10, arch % 10);
  }
  key_of(out->nvrtc, source, out->arch, driver_version, out->key);
  return HX_OK;
}

char *hx_cuda_job_kept(const hx_cuda_job_t *job, size_t *out_bytes) {
  const char *why = NULL;
  hxs_cache cache;
  hxs_cache_init(&cache, "cuda", ".cubin");
  char *kept = (char *)hxs_cache_load(&cache, job->key, out_bytes, &why);
  if (kept == NULL && strcmp(why, "absent") != 0) {
    char text[200];
    snprintf(text, sizeof text, "a kept kernel is compiled again: %s", why);
    hxs_host_log(HX_LOG_INFO, text);
  }
  return kept;
}

int32_t hx_cuda_job_compile(const hx_cuda_job_t *job, char **out, size_t *out_bytes, hx_error *error) {
  hxs_cache cache;
  HXS_TRY(hx_cuda_nvrtc_compile(job->nvrtc, job->source, headers, HEADER_COUNT, job->arch, out, out_bytes, error));
  hxs_cache_init(&cache, "cuda", ".cubin");
  if (cache.directory[0] != 0 && !hxs_cache_store(&cache, job->key, (const unsigned char *)*out, *out_bytes)) {
    hxs_host_log(HX_LOG_WARNING, "a compiled kernel could not be written to the cache; it is compiled again next time");
  }
  return HX_OK;
}

// ---- loaded programs

void hx_cuda_programs_init(hx_cuda_programs_t *programs) {
  pthread_mutex_init(&programs->lock, NULL);
  programs->first = NULL;
}

static void discard(const hx_device *device, hx_cuda_program_t *program) {
  if (program->module != NULL) {
    device->driver->cuModuleUnload(program->module);
    program->module = NULL;
  }
}

void hx_cuda_programs_unload(const hx_device *device) {
  for (hx_cuda_program_t *program = device->programs.first; program != NULL; program = program->next) {
    discard(device, program);
  }
}

void hx_cuda_programs_clear(hx_device *device) {
  hx_cuda_programs_t *programs = &device->programs;
  while (programs->first != NULL) {
    hx_cuda_program_t *program = programs->first;
    programs->first = program->next;
    free(program);
  }
  pthread_mutex_destroy(&programs->lock);
}

// The loaded program of a key, put first; NULL: none.
static hx_cuda_program_t *find(hx_cuda_programs_t *programs, const char *key) {
  for (hx_cuda_program_t **at = &programs->first; *at != NULL; at = &(*at)->next) {
    hx_cuda_program_t *program = *at;
    if (strcmp(program->key, key) == 0) {
      *at = program->next;
      program->next = programs->first;
      programs->first = program;
      return program;
    }
  }
  return NULL;
}

// Unloads what nothing has used for longest.
static void keep_few(const hx_device *device, hx_cuda_programs_t *programs) {
  uint32_t idle = 0;
  for (hx_cuda_program_t **at = &programs->first; *at != NULL;) {
    hx_cuda_program_t *program = *at;
    if (program->users == 0 && ++idle > HX_CUDA_PROGRAMS_IDLE) {
      *at = program->next;
      discard(device, program);
      free(program);
    } else {
      at = &program->next;
    }
  }
}

static int32_t load(hx_device *device, const char *cubin, hx_cuda_program_t *program, hx_error *error) {
  const hx_cuda_driver_t *driver = device->driver;
  int32_t result = driver->cuModuleLoadData(&program->module, cubin);
  if (result != 0) {
    program->module = NULL;
    return hx_cuda_device_fail(device, "cuModuleLoadData of a compiled region", result, error);
  }
  result = driver->cuModuleGetFunction(&program->function, program->module, "hx_region");
  return result == 0 ? HX_OK : hx_cuda_device_fail(device, "cuModuleGetFunction of hx_region", result, error);
}

// A kept cubin that the driver does not take, though its digest is right, is as good as none.
static int32_t fill(hx_device *device, const hx_cuda_job_t *job, hx_cuda_program_t *program, hx_error *error) {
  size_t bytes = 0;
  char *cubin = hx_cuda_job_kept(job, &bytes);
  if (cubin != NULL) {
    const int32_t code = load(device, cubin, program, error);
    free(cubin);
    if (code == HX_OK || code == HX_DEVICE_LOST || code == HX_OUT_OF_MEMORY) {
      return code;
    }
    discard(device, program);
    hxs_host_log(HX_LOG_INFO, "a kept kernel is compiled again: the driver does not take it");
  }
  HXS_TRY(hx_cuda_job_compile(job, &cubin, &bytes, error));
  const int32_t code = load(device, cubin, program, error);
  free(cubin);
  return code;
}

static int32_t make(hx_device *device, const hx_cuda_job_t *job, hx_cuda_program_t **out, hx_error *error) {
  hx_cuda_program_t *program = calloc(1, sizeof *program);
  if (program == NULL) {
    return hxs_fail(error, HX_OUT_OF_MEMORY, "no memory for a compiled region");
  }
  memcpy(program->key, job->key, sizeof program->key);
  int32_t code = hx_cuda_enter(device, error);
  if (code == HX_OK) {
    code = fill(device, job, program, error);
    if (code != HX_OK) {
      discard(device, program);
    }
    hx_cuda_leave(device);
  }
  if (code != HX_OK) {
    free(program);
    return code;
  }
  program->next = device->programs.first;
  device->programs.first = program;
  *out = program;
  return HX_OK;
}

int32_t hx_cuda_program_get(hx_device *device, const char *source, hx_cuda_program_t **out, hx_error *error) {
  hx_cuda_job_t job;
  HXS_TRY(hx_cuda_job_begin(source, device->arch, device->driver->version, &job, error));
  pthread_mutex_lock(&device->programs.lock);
  hx_cuda_program_t *program = find(&device->programs, job.key);
  const int32_t code = program != NULL ? HX_OK : make(device, &job, &program, error);
  if (code == HX_OK) {
    program->users++;
    *out = program;
  }
  pthread_mutex_unlock(&device->programs.lock);
  return code;
}

void hx_cuda_program_put(hx_device *device, hx_cuda_program_t *program) {
  const bool current = hx_cuda_enter(device, NULL) == HX_OK;  // else the device is lost, and unloading only fails
  pthread_mutex_lock(&device->programs.lock);
  program->users--;
  keep_few(device, &device->programs);
  pthread_mutex_unlock(&device->programs.lock);
  if (current) {
    hx_cuda_leave(device);
  }
}
