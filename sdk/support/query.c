// SPDX-License-Identifier: Apache-2.0
#include "heliox/support/query.h"

#include <string.h>

#include "heliox/plugin_layout.h"
#include "heliox/support/host.h"

int32_t hxs_query(const char *plugin, const hx_plugin *own, const hx_host *host, hx_plugin *out) {
  if (host == NULL || out == NULL || host->struct_size < HX_END_OF(hx_host, self) ||
      out->struct_size < HX_END_OF(hx_plugin, impls)) {
    return HX_ARGS_SIZE;
  }
  if (host->abi_major != HX_ABI_MAJOR || host->minor_min > HX_ABI_MINOR) {
    return HX_UNSUPPORTED;
  }
  hxs_host_set(host, plugin);
  hx_plugin table = *own;
  table.abi_major = HX_ABI_MAJOR;
  table.minor_min = 0;
  table.minor_max = HX_ABI_MINOR;
  // The negotiated minor is the highest that both speak.
  static const uint8_t layout_hashes[][32] = HX_LAYOUT_HASHES;
  const uint32_t minor = host->minor_max < HX_ABI_MINOR ? host->minor_max : HX_ABI_MINOR;
  memcpy(table.layout_hash, layout_hashes[minor], sizeof table.layout_hash);
  table.struct_size = out->struct_size < own->struct_size ? out->struct_size : own->struct_size;
  memcpy(out, &table, table.struct_size);
  return HX_OK;
}
