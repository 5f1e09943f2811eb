// SPDX-License-Identifier: Apache-2.0
// What tests of compiled regions share: the options, and rings that are skipped where nothing can be compiled.
#ifndef HX_REGIONCHECK_H
#define HX_REGIONCHECK_H

#include <unistd.h>

#include "device.h"
#include "kernelcheck.h"
#include "nvrtc.h"

#define LIMBS 3u

static char region_directory[256];

static inline int region_set_up(void **state) {
  (void)state;
  snprintf(region_directory, sizeof region_directory, "%s/cuda-regions-%ld",
           getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp", (long)getpid());
  kc_set_option("cuda-nvrtc", getenv("HELIOX_TEST_NVRTC"));
  kc_set_option("cuda-cache", region_directory);
  return 0;
}

static inline int region_tear_down(void **state) {
  char command[300];
  (void)state;
  snprintf(command, sizeof command, "rm -rf '%s'", region_directory);
  return system(command);  // NOLINT(cert-env33-c): a path of our own
}

// Opens a ring; skips where there is no device, or no NVRTC.
static inline void open_ring(kc_t *kc, uint32_t log_n, uint32_t word, const uint32_t *bits, const char *variant) {
  const hx_cuda_nvrtc_t *nvrtc = NULL;
  hx_error error = kc_error();
  kc_open(kc, log_n, word, LIMBS, 1, 1, bits);
  kc->variant = variant;
  if (hx_cuda_nvrtc_open(&nvrtc, &error) != HX_OK) {
    print_message("%s\n", error.message);
    kc_close(kc);
    skip();
  }
}

#endif
