// SPDX-License-Identifier: Apache-2.0
#include "loader.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "heliox/support/error.h"

static int32_t write_all(int file, const unsigned char *bytes, size_t size, hx_error *error) {
  for (size_t done = 0; done < size;) {
    const ssize_t written = write(file, bytes + done, size - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return hxs_fail(error, HX_UNAVAILABLE, "the MPI shim cannot be written: %s", strerror(errno));
    done += (size_t)written;
  }
  return HX_OK;
}

// The descriptor stays open: the loader knows libraries by name, and a number that is used again would name this one.
int32_t hx_mpi_shim_load(const unsigned char *bytes, size_t size, const hx_mpi_shim **out, hx_error *error) {
  if (size == 0)
    return hxs_fail(error, HX_UNAVAILABLE,
                    "this build has no MPI shim: MPI's headers were missing; install libopenmpi-dev and build again");
  const int file = memfd_create("heliox-mpi-shim", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file < 0) return hxs_fail(error, HX_UNAVAILABLE, "no memory file for the MPI shim: %s", strerror(errno));
  const int32_t code = write_all(file, bytes, size, error);
  if (code != HX_OK) {
    close(file);
    return code;
  }
  (void)fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    close(file);
    return hxs_fail(error, HX_UNAVAILABLE, "no MPI library of the flavour that this build is for: %.150s", dlerror());
  }
  const hx_mpi_shim *shim = dlsym(library, HX_MPI_SHIM_SYMBOL);
  if (shim == NULL) return hxs_fail(error, HX_INTERNAL, "the MPI shim has no table");
  *out = shim;
  return HX_OK;
}

// "Open MPI v4.1.4, package: ...": flavour and major version decide, since both are compiled into the shim.
int32_t hx_mpi_shim_check(const hx_mpi_shim *shim, hx_error *error) {
  char said[512] = {0};
  if (shim->version != HX_MPI_SHIM_VERSION)
    return hxs_fail(error, HX_INTERNAL, "the MPI shim has version %u, the plugin %u", shim->version,
                    HX_MPI_SHIM_VERSION);
  shim->library(said);
  const size_t length = strlen(shim->flavour);
  const char *version = said + length;
  char *end = NULL;
  const bool same = strncmp(said, shim->flavour, length) == 0 && strncmp(version, " v", 2) == 0;
  const unsigned long major = same ? strtoul(version + 2, &end, 10) : 0;
  if (same && end != version + 2 && *end == '.' && major == shim->major) return HX_OK;
  said[strcspn(said, ",\n")] = '\0';
  return hxs_fail(error, HX_UNAVAILABLE,
                  "the MPI library is %.80s; this build is for %s %u.%u: install that, or build Heliox here", said,
                  shim->flavour, shim->major, shim->minor);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const hx_mpi_shim *opened;
static int32_t outcome;
static hx_error outcome_error = {.struct_size = HX_END_OF(hx_error, message)};

static void open_once(void) {
  outcome = hx_mpi_shim_load(hx_mpi_shim_bytes, hx_mpi_shim_size, &opened, &outcome_error);
  if (outcome == HX_OK) outcome = hx_mpi_shim_check(opened, &outcome_error);
}

int32_t hx_mpi_shim_open(const hx_mpi_shim **out, hx_error *error) {
  pthread_once(&once, open_once);
  if (outcome != HX_OK) return hxs_fail(error, outcome, "%s", outcome_error.message);
  *out = opened;
  return HX_OK;
}
