// SPDX-License-Identifier: Apache-2.0
// The entry point: what the plugin offers, and the note that says the same without running anything.
#include "group.h"
#include "heliox/plugin_note.h"
#include "heliox/support/host.h"
#include "heliox/support/query.h"
#include "heliox_plugin_facts.h"

HELIOX_PLUGIN_NOTE(HELIOX_PLUGIN_ID, HELIOX_PLUGIN_VERSION, HELIOX_PLUGIN_OPERATIONS);

static void shut_down(void) {
  hx_mpi_shutdown();
  hxs_host_clear();
}

static const hx_plugin table = {.struct_size = HX_END_OF(hx_plugin, collectives),
                                .id = HELIOX_PLUGIN_ID,
                                .version = HELIOX_PLUGIN_VERSION,
                                .shutdown = shut_down,
                                .collectives = &hx_mpi_collective_ops};

int32_t heliox_plugin_query(const hx_host *host, hx_plugin *out) { return hxs_query("mpi", &table, host, out); }
