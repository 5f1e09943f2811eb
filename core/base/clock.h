// SPDX-License-Identifier: Apache-2.0
// The monotonic clock, for figures that are shown: nothing is decided by it but what is measured.
#ifndef HELIOX_CORE_BASE_CLOCK_H
#define HELIOX_CORE_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t hx_clock_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static inline double hx_clock_seconds(void) { return 1e-9 * (double)hx_clock_ns(); }

#endif
