// SPDX-License-Identifier: Apache-2.0
// The entry point: what the plugin offers, and the note that says the same without running anything.
#include <string.h>

#include "device.h"
#include "heliox/plugin_note.h"
#include "heliox/support/host.h"
#include "heliox_plugin_facts.h"
#include "prepare.h"

HELIOX_PLUGIN_NOTE(HELIOX_PLUGIN_ID, HELIOX_PLUGIN_VERSION, HELIOX_PLUGIN_OPERATIONS);

static void plugin_shutdown(void) { hxs_host_clear(); }

int32_t heliox_plugin_query(const hx_host *host, hx_plugin *out) {
  if (host == NULL || out == NULL || host->struct_size < HX_END_OF(hx_host, self) ||
      out->struct_size < HX_END_OF(hx_plugin, impls)) {
    return HX_ARGS_SIZE;
  }
  if (host->abi_major != HX_ABI_MAJOR || host->minor_min > HX_ABI_MINOR) {
    return HX_UNSUPPORTED;
  }
  hxs_host_set(host, "cuda");
  hx_plugin plugin = {.struct_size = HX_END_OF(hx_plugin, shutdown),
                      .abi_major = HX_ABI_MAJOR,
                      .minor_min = 0,
                      .minor_max = HX_ABI_MINOR,
                      .id = HELIOX_PLUGIN_ID,
                      .version = HELIOX_PLUGIN_VERSION,
                      .impl_count = hx_cuda_plugin.row_count,
                      .impls = hx_cuda_impls,
                      .device = &hx_cuda_device_ops,
                      .memory = &hx_cuda_memory_ops,
                      .queue = &hx_cuda_queue_ops,
                      .shutdown = plugin_shutdown};
  // The negotiated minor is the highest that both speak.
  static const uint8_t layout_hashes[][32] = HX_LAYOUT_HASHES;
  const uint32_t minor = host->minor_max < HX_ABI_MINOR ? host->minor_max : HX_ABI_MINOR;
  memcpy(plugin.layout_hash, layout_hashes[minor], sizeof plugin.layout_hash);
  const uint32_t size = out->struct_size < plugin.struct_size ? out->struct_size : plugin.struct_size;
  memcpy(out, &plugin, size);
  out->struct_size = size;
  return HX_OK;
}
