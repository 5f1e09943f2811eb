// SPDX-License-Identifier: Apache-2.0
// The entry point: what the plugin offers, and the note that says the same without running anything.
#include "device.h"
#include "graph.h"
#include "heliox/plugin_note.h"
#include "heliox/support/host.h"
#include "heliox/support/query.h"
#include "heliox_plugin_facts.h"
#include "prepare.h"
#include "variant.h"

HELIOX_PLUGIN_NOTE(HELIOX_PLUGIN_ID, HELIOX_PLUGIN_VERSION, HELIOX_PLUGIN_OPERATIONS);

enum {
#define IMPL(id_, op_, signature_, build_, attributes_, others_, domains_, in_place_) ROW_##id_,
#include "impls.def"
  ROW_COUNT
};

static const hx_plugin table = {.struct_size = HX_END_OF(hx_plugin, codec),
                                .id = HELIOX_PLUGIN_ID,
                                .version = HELIOX_PLUGIN_VERSION,
                                .impl_count = ROW_COUNT + 2 * HX_CUDA_VARIANT_COUNT,
                                .impls = hx_cuda_impls,
                                .device = &hx_cuda_device_ops,
                                .memory = &hx_cuda_memory_ops,
                                .queue = &hx_cuda_queue_ops,
                                .shutdown = hxs_host_clear,
                                .graph = &hx_cuda_graph_ops,
                                .codec = &hx_cuda_codec_ops};

int32_t heliox_plugin_query(const hx_host *host, hx_plugin *out) { return hxs_query("cuda", &table, host, out); }
