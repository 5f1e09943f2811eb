// SPDX-License-Identifier: Apache-2.0
// The entry point's work: is the host one that this plugin can talk to, and how much may be written for it.
#ifndef HELIOX_SUPPORT_QUERY_H
#define HELIOX_SUPPORT_QUERY_H

#include "heliox/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

// [I] For heliox_plugin_query: `own` is the plugin's table, of which abi_major, minors and layout_hash are filled in
// here (they are those of the heliox/plugin.h that the library was built with) and whose struct_size says how far it
// goes. Copies to `out` what the host has room for. The host's table is kept (hxs_host_set, with `plugin` as the short
// name), so own->shutdown must end with hxs_host_clear.
// HX_ARGS_SIZE: a table is missing or shorter than its mandatory fields. HX_UNSUPPORTED: no common version.
int32_t hxs_query(const char *plugin, const hx_plugin *own, const hx_host *host, hx_plugin *out);

#ifdef __cplusplus
}
#endif

#endif
