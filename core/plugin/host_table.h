// SPDX-License-Identifier: Apache-2.0
// The function table that a plugin is given, and what stands behind it.
#ifndef HELIOX_CORE_PLUGIN_HOST_TABLE_H
#define HELIOX_CORE_PLUGIN_HOST_TABLE_H

#include "core/plugin/plugin.h"

struct hx_plugin_host {
  hx_host table;
  char area[160];  // "plugin.<id>", of its log lines
  atomic_bool cancelled;
};

// NULL: out of memory.
struct hx_plugin_host *hx_plugin_host_create(const char *id);
void hx_plugin_host_release(struct hx_plugin_host *host);

#endif
