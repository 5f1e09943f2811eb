// SPDX-License-Identifier: Apache-2.0
// The host's services. The table of the last query is used; every function of it may be absent.
#ifndef HELIOX_SUPPORT_HOST_H
#define HELIOX_SUPPORT_HOST_H

#include <stdbool.h>

#include "heliox/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

// [I] Keeps a copy of what the host's struct_size covers. `plugin` is the short name that log lines carry; borrowed.
void hxs_host_set(const hx_host *host, const char *plugin);
// [I] Forgets it: afterwards every service answers as if absent.
void hxs_host_clear(void);

// All [A].
const char *hxs_host_option(const char *name);  // NULL where unset
uint32_t hxs_host_threads(void);                // this plugin's share, at least 1
// True: stop as soon as may be.
bool hxs_host_cancelled(void);
// A line; levels HX_LOG_.
void hxs_host_log(int32_t level, const char *text);
// Runs a callable of another plugin on the queue of the call. HX_UNSUPPORTED: the host runs no regions.
int32_t hxs_host_run_region(hx_callable *callable, const hx_call *call, hx_error *error);

#ifdef __cplusplus
}
#endif

#endif
