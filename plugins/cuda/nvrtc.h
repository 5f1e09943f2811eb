// SPDX-License-Identifier: Apache-2.0
// NVRTC: compiles kernels for the device while the plugin runs. Nothing of it is linked; where it is not found, regions
// that need it are not prepared, and everything else works.
#ifndef HX_CUDA_NVRTC_H
#define HX_CUDA_NVRTC_H

#include <stddef.h>
#include <stdint.h>

#include "heliox/plugin.h"

#define HX_CUDA_NVRTC_MIN 12  // major version
#define HX_CUDA_NVRTC_ARCHS_MAX 64
#define HX_CUDA_NVRTC_CUBIN_MAX ((size_t)32 << 20)

typedef struct hx_cuda_nvrtc {
#define LIBRARY(name_)
#define SYMBOL(result_, name_, parameters_) result_(*name_) parameters_;
#include "nvrtc.def"
  int32_t major, minor;                    // of the library
  int32_t archs[HX_CUDA_NVRTC_ARCHS_MAX];  // that it compiles for, as 90
  uint32_t arch_count;
} hx_cuda_nvrtc_t;

// dlsym, or in tests what stands for it; NULL: there is no such function.
typedef void *hx_cuda_nvrtc_lookup_fn(void *self, const char *name);

// Fills the table and asks for version and architectures. HX_UNAVAILABLE names what is missing, or the version that is
// too old.
int32_t hx_cuda_nvrtc_fill(hx_cuda_nvrtc_lookup_fn *lookup, void *self, hx_cuda_nvrtc_t *out, hx_error *error);
// [A] The library: option cuda-nvrtc names it ("off": none), else the first of nvrtc.def that is found. Looked for once
// for each value of the option; it stays open. HX_UNAVAILABLE says why there is none.
int32_t hx_cuda_nvrtc_open(const hx_cuda_nvrtc_t **out, hx_error *error);

// The architecture to compile for a device of capability `arch` (90): its own, else the newest of the same major
// capability that is not newer; 0: none.
uint32_t hx_cuda_nvrtc_arch(const hx_cuda_nvrtc_t *nvrtc, uint32_t arch);

// A file that a source may include by its name.
typedef struct hx_cuda_header {
  const char *name, *text;
} hx_cuda_header_t;

// Compiles a source to a cubin of an architecture; *out is the caller's (free). HX_UNAVAILABLE: the message has the
// lines of the compiler's log that say what is wrong, the host's log all of it. HX_OUT_OF_MEMORY.
int32_t hx_cuda_nvrtc_compile(const hx_cuda_nvrtc_t *nvrtc, const char *source, const hx_cuda_header_t *headers,
                              uint32_t header_count, uint32_t arch, char **out, size_t *out_bytes, hx_error *error);

#endif
