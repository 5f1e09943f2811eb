// SPDX-License-Identifier: Apache-2.0
#include "host.h"

#include <string.h>

static hx_host current;

void hx_cuda_host_set(const hx_host *host) {
  size_t bytes = host->struct_size < sizeof current ? host->struct_size : sizeof current;
  memset(&current, 0, sizeof current);
  memcpy(&current, host, bytes);
}

void hx_cuda_host_clear(void) { memset(&current, 0, sizeof current); }

const char *hx_cuda_host_option(const char *name) {
  return current.option != NULL ? current.option(current.self, name) : NULL;
}

uint32_t hx_cuda_host_threads(void) {
  uint32_t threads = current.threads != NULL ? current.threads(current.self) : 1;
  return threads > 0 ? threads : 1;
}

bool hx_cuda_host_cancelled(void) { return current.cancelled != NULL && current.cancelled(current.self) != 0; }

void hx_cuda_host_log(int32_t level, const char *text) {
  if (current.log != NULL) {
    current.log(current.self, level, "cuda", text);
  }
}
