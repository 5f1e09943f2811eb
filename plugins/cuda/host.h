// SPDX-License-Identifier: Apache-2.0
// The host's services. The table of the last query is used; every function of it may be absent.
#ifndef HX_CUDA_HOST_H
#define HX_CUDA_HOST_H

#include <stdbool.h>

#include "heliox/plugin.h"

// [I] Keeps a copy of what the host's struct_size covers.
void hx_cuda_host_set(const hx_host *host);
// [I] Forgets it: afterwards every service answers as if absent.
void hx_cuda_host_clear(void);

// All [A].
const char *hx_cuda_host_option(const char *name);  // NULL where unset
uint32_t hx_cuda_host_threads(void);                // this plugin's share, at least 1
bool hx_cuda_host_cancelled(void);
void hx_cuda_host_log(int32_t level, const char *text);

#endif
