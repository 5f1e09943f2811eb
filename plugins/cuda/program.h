// SPDX-License-Identifier: Apache-2.0
// Compiled regions of a device: each source once, in memory while something uses it and a while after, and on disk by
// the digest of all that decides what the compiler makes.
#ifndef HX_CUDA_PROGRAM_H
#define HX_CUDA_PROGRAM_H

#include <pthread.h>
#include <stdint.h>

#include "heliox/plugin.h"

#define HX_CUDA_PROGRAMS_IDLE 16u  // kept loaded though nothing uses them

typedef struct hx_cuda_program {
  struct hx_cuda_program *next;
  char key[65];
  void *module, *function;
  uint32_t users;
} hx_cuda_program_t;

typedef struct hx_cuda_programs {
  pthread_mutex_t lock;
  hx_cuda_program_t *first;  // used last
} hx_cuda_programs_t;

void hx_cuda_programs_init(hx_cuda_programs_t *programs);
// Unloads all, for a device that ends; its context is current.
void hx_cuda_programs_unload(const hx_device *device);
// Frees what is left.
void hx_cuda_programs_clear(hx_device *device);

// [A] The program of a source with the entry point hx_region: one that is loaded, or from the disk, or compiled now.
// Must be given back. HX_UNAVAILABLE: NVRTC is not there, does not know the device's architecture, or refuses the
// source, or the driver does not take the cubin; HX_OUT_OF_MEMORY, HX_DEVICE_LOST.
int32_t hx_cuda_program_get(hx_device *device, const char *source, hx_cuda_program_t **out, hx_error *error);
void hx_cuda_program_put(hx_device *device, hx_cuda_program_t *program);

// ---- what needs no device

// One source for one architecture.
typedef struct hx_cuda_job {
  const char *source;  // borrowed
  const struct hx_cuda_nvrtc *nvrtc;
  uint32_t arch;  // compiled for
  char key[65];   // digest of source, what it includes, architecture, versions of NVRTC, driver and plugin
} hx_cuda_job_t;

// For a device of capability `arch` (90). HX_UNAVAILABLE: NVRTC is not there, or has no architecture that fits.
int32_t hx_cuda_job_begin(const char *source, uint32_t arch, int32_t driver_version, hx_cuda_job_t *out,
                          hx_error *error);
// The cubin kept on disk (free); NULL: none that can be trusted.
char *hx_cuda_job_kept(const hx_cuda_job_t *job, size_t *out_bytes);
// The cubin, compiled (free), and kept where that is possible. HX_UNAVAILABLE: the source is refused.
int32_t hx_cuda_job_compile(const hx_cuda_job_t *job, char **out, size_t *out_bytes, hx_error *error);

#endif
