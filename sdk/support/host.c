// SPDX-License-Identifier: Apache-2.0
#include "heliox/support/host.h"

#include <string.h>

#include "heliox/support/error.h"

static hx_host current;
static const char *plugin_name;

void hxs_host_set(const hx_host *host, const char *plugin) {
  size_t bytes = host->struct_size < sizeof current ? host->struct_size : sizeof current;
  memset(&current, 0, sizeof current);
  memcpy(&current, host, bytes);
  plugin_name = plugin;
}

void hxs_host_clear(void) { memset(&current, 0, sizeof current); }

const char *hxs_host_option(const char *name) {
  return current.option != NULL ? current.option(current.self, name) : NULL;
}

uint32_t hxs_host_threads(void) {
  uint32_t threads = current.threads != NULL ? current.threads(current.self) : 1;
  return threads > 0 ? threads : 1;
}

bool hxs_host_cancelled(void) { return current.cancelled != NULL && current.cancelled(current.self) != 0; }

void hxs_host_log(int32_t level, const char *text) {
  if (current.log != NULL) {
    current.log(current.self, level, plugin_name, text);
  }
}

int32_t hxs_host_run_region(hx_callable *callable, const hx_call *call, hx_error *error) {
  if (current.run_region == NULL) return hxs_fail(error, HX_UNSUPPORTED, "the host runs no regions of other plugins");
  return current.run_region(current.self, callable, call, error);
}
