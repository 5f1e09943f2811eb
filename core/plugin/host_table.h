// SPDX-License-Identifier: Apache-2.0
// The function table that a plugin is given, and what stands behind it.
#ifndef HELIOX_CORE_PLUGIN_HOST_TABLE_H
#define HELIOX_CORE_PLUGIN_HOST_TABLE_H

#include "core/plugin/plugin.h"

struct hx_plugin_host {
  hx_host table;
  char area[160];   // "plugin.<id>", of its log lines
  char *directory;  // where its library lies; answers option "plugin-directory"
  atomic_bool cancelled;
};

// NULL: out of memory. library_path: the library's file, as found.
struct hx_plugin_host *hx_plugin_host_create(const char *id, const char *library_path);
void hx_plugin_host_release(struct hx_plugin_host *host);

#endif
