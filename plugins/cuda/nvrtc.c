// SPDX-License-Identifier: Apache-2.0
#include "nvrtc.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heliox/support/compiler_log.h"
#include "heliox/support/error.h"
#include "heliox/support/host.h"

#define LOG_MAX ((size_t)1 << 20)
#define HEADERS_MAX 16u

// ---- the library

int32_t hx_cuda_nvrtc_fill(hx_cuda_nvrtc_lookup_fn *lookup, void *self, hx_cuda_nvrtc_t *out, hx_error *error) {
  void *found = NULL;
  int32_t count = 0;
  memset(out, 0, sizeof *out);
#define LIBRARY(name_)
#define SYMBOL(result_, name_, parameters_)                                                            \
  found = lookup(self, #name_);                                                                        \
  if (found == NULL) {                                                                                 \
    return hxs_fail(error, HX_UNAVAILABLE, "NVRTC has no %s; version %d.0 or newer is needed", #name_, \
                    HX_CUDA_NVRTC_MIN);                                                                \
  }                                                                                                    \
  memcpy(&out->name_, &found, sizeof found);
#include "nvrtc.def"
  if (out->nvrtcVersion(&out->major, &out->minor) != 0 || out->major < HX_CUDA_NVRTC_MIN) {
    return hxs_fail(error, HX_UNAVAILABLE, "NVRTC has version %d.%d; %d.0 or newer is needed", out->major, out->minor,
                    HX_CUDA_NVRTC_MIN);
  }
  if (out->nvrtcGetNumSupportedArchs(&count) != 0 || count <= 0 || count > HX_CUDA_NVRTC_ARCHS_MAX ||
      out->nvrtcGetSupportedArchs(out->archs) != 0) {
    return hxs_fail(error, HX_UNAVAILABLE, "NVRTC %d.%d does not say what it compiles for (%d architectures)",
                    out->major, out->minor, count);
  }
  out->arch_count = (uint32_t)count;
  return HX_OK;
}

static void *look_up(void *self, const char *name) { return dlsym(self, name); }

// The first of the names that can be opened; the message is the first one's.
static void *open_library(const char *named, hx_error *error) {
  static const char *const names[] = {
#define LIBRARY(name_) name_,
#define SYMBOL(result_, name_, parameters_)
#include "nvrtc.def"
  };
  if (named != NULL) {
    void *library = dlopen(named, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
      hxs_fail(error, HX_UNAVAILABLE, "no NVRTC: %.180s", dlerror());
    }
    return library;
  }
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (library != NULL) {
      return library;
    }
  }
  hxs_fail(error, HX_UNAVAILABLE, "no NVRTC: %s and older are not found; install it, or name it with option cuda-nvrtc",
           names[0]);
  return NULL;
}

// What was found for each value of the option: a table in use never changes.
#define NAMES_MAX 8u
#define NAME_BYTES 1024u
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct found {
  char name[NAME_BYTES];  // the option, or empty
  int32_t outcome;
  hx_error error;
  hx_cuda_nvrtc_t table;
} founds[NAMES_MAX];
static uint32_t found_count;

static int32_t open_named(const char *name, hx_cuda_nvrtc_t *out, hx_error *error) {
  if (strcmp(name, "off") == 0) {
    return hxs_fail(error, HX_UNAVAILABLE, "no NVRTC: option cuda-nvrtc is off");
  }
  void *library = open_library(name[0] != 0 ? name : NULL, error);
  return library == NULL ? HX_UNAVAILABLE : hx_cuda_nvrtc_fill(look_up, library, out, error);
}

static int32_t find(const char *name, const hx_cuda_nvrtc_t **out, hx_error *error) {
  uint32_t i = 0;
  while (i < found_count && strcmp(founds[i].name, name) != 0) {
    i++;
  }
  if (i == NAMES_MAX) {
    return hxs_fail(error, HX_UNAVAILABLE, "no NVRTC: option cuda-nvrtc has named %u libraries already", NAMES_MAX);
  }
  struct found *found = &founds[i];
  if (i == found_count) {
    found_count++;
    snprintf(found->name, sizeof found->name, "%s", name);
    found->error = (hx_error){.struct_size = HX_END_OF(hx_error, message)};
    found->outcome = open_named(name, &found->table, &found->error);
  }
  *out = &found->table;
  return found->outcome == HX_OK ? HX_OK : hxs_fail(error, found->outcome, "%s", found->error.message);
}

int32_t hx_cuda_nvrtc_open(const hx_cuda_nvrtc_t **out, hx_error *error) {
  const char *option = hxs_host_option("cuda-nvrtc");
  option = option != NULL ? option : "";
  if (strlen(option) >= NAME_BYTES) {
    return hxs_fail(error, HX_UNAVAILABLE, "no NVRTC: option cuda-nvrtc has %zu bytes, at most %u are taken",
                    strlen(option), NAME_BYTES - 1);
  }
  pthread_mutex_lock(&lock);
  const int32_t outcome = find(option, out, error);
  pthread_mutex_unlock(&lock);
  return outcome;
}

uint32_t hx_cuda_nvrtc_arch(const hx_cuda_nvrtc_t *nvrtc, uint32_t arch) {
  uint32_t best = 0;
  for (uint32_t i = 0; i < nvrtc->arch_count; i++) {
    const uint32_t one = (uint32_t)nvrtc->archs[i];
    if (one / 10 == arch / 10 && one <= arch && one > best) {
      best = one;
    }
  }
  return best;
}

// ---- compiling

static int32_t fail(const hx_cuda_nvrtc_t *nvrtc, const char *what, int32_t result, hx_error *error) {
  const char *text = nvrtc->nvrtcGetErrorString(result);
  return hxs_fail(error, HX_UNAVAILABLE, "%s: %s (%d)", what, text != NULL ? text : "unknown NVRTC error", result);
}

// What the compiler says goes to the host's log, its gist into the error.
static int32_t refused(const hx_cuda_nvrtc_t *nvrtc, void *program, int32_t result, hx_error *error) {
  char brief[160] = "its log is empty";
  size_t bytes = 0;
  char *log = NULL;
  if (nvrtc->nvrtcGetProgramLogSize(program, &bytes) == 0 && bytes > 1 && bytes <= LOG_MAX) {
    log = calloc(1, bytes + 1);
  }
  if (log != NULL && nvrtc->nvrtcGetProgramLog(program, log) == 0) {
    hxs_host_log(HX_LOG_WARNING, log);
    hxs_compiler_log_shorten(log, brief, sizeof brief);
  }
  free(log);
  const char *text = nvrtc->nvrtcGetErrorString(result);
  return hxs_fail(error, HX_UNAVAILABLE, "NVRTC refuses the kernel (%.40s): %s", text != NULL ? text : "?", brief);
}

static int32_t take_cubin(const hx_cuda_nvrtc_t *nvrtc, void *program, char **out, size_t *out_bytes, hx_error *error) {
  size_t bytes = 0;
  int32_t result = nvrtc->nvrtcGetCUBINSize(program, &bytes);
  if (result != 0 || bytes == 0 || bytes > HX_CUDA_NVRTC_CUBIN_MAX) {
    return result != 0 ? fail(nvrtc, "nvrtcGetCUBINSize", result, error)
                       : hxs_fail(error, HX_UNAVAILABLE, "NVRTC made a cubin of %zu bytes", bytes);
  }
  char *cubin = malloc(bytes);
  if (cubin == NULL) {
    return hxs_fail(error, HX_OUT_OF_MEMORY, "no memory for a cubin of %zu bytes", bytes);
  }
  result = nvrtc->nvrtcGetCUBIN(program, cubin);
  if (result != 0) {
    free(cubin);
    return fail(nvrtc, "nvrtcGetCUBIN", result, error);
  }
  *out = cubin;
  *out_bytes = bytes;
  return HX_OK;
}

// Sums of products are rounded where they are written, as everywhere in the plugin's kernels.
int32_t hx_cuda_nvrtc_compile(const hx_cuda_nvrtc_t *nvrtc, const char *source, const hx_cuda_header_t *headers,
                              uint32_t header_count, uint32_t arch, char **out, size_t *out_bytes, hx_error *error) {
  char architecture[48];
  const char *texts[HEADERS_MAX], *names[HEADERS_MAX];
  const char *const options[] = {architecture, "--std=c++17", "--fmad=false"};
  void *program = NULL;
  if (header_count > HEADERS_MAX) {
    return hxs_fail(error, HX_INTERNAL, "a source has %u headers, at most %u are taken", header_count, HEADERS_MAX);
  }
  snprintf(architecture, sizeof architecture, "--gpu-architecture=sm_%u", arch);
  for (uint32_t i = 0; i < header_count; i++) {
    texts[i] = headers[i].text;
    names[i] = headers[i].name;
  }
  int32_t result = nvrtc->nvrtcCreateProgram(&program, source, "region.cu", (int32_t)header_count, texts, names);
  if (result != 0) {
    return fail(nvrtc, "nvrtcCreateProgram", result, error);
  }
  result = nvrtc->nvrtcCompileProgram(program, (int32_t)(sizeof options / sizeof options[0]), options);
  const int32_t code =
      result == 0 ? take_cubin(nvrtc, program, out, out_bytes, error) : refused(nvrtc, program, result, error);
  nvrtc->nvrtcDestroyProgram(&program);
  return code;
}
