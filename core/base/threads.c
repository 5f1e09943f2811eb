// SPDX-License-Identifier: Apache-2.0
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "heliox/base.h"

#define THREADS_MAX 1024

static atomic_uint thread_budget;  // 0: not decided

static uint32_t decide(void) {
  const char *text = getenv("HELIOX_NUM_THREADS");
  if (text != NULL) {
    char *end;
    const unsigned long count = strtoul(text, &end, 10);
    if (end != text && *end == '\0' && count >= 1 && count <= THREADS_MAX) return (uint32_t)count;
  }
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) return (uint32_t)CPU_COUNT(&set);
  return 1;
}

void hx_threads_set(uint32_t count) { atomic_store(&thread_budget, count > THREADS_MAX ? THREADS_MAX : count); }

uint32_t hx_threads_get(void) {
  uint32_t count = atomic_load(&thread_budget);
  if (count == 0) {
    count = decide();
    atomic_store(&thread_budget, count);
  }
  return count;
}
