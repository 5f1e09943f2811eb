/* SPDX-License-Identifier: Apache-2.0 */
/* The entry point: what this plugin offers, and the note that says the same without running anything. */
#include "plugin.h"

#include <string.h>

#include "heliox/plugin_note.h"
#include "heliox_plugin_facts.h" /* id, version and operation digest, made from the manifest */

HELIOX_PLUGIN_NOTE(HELIOX_PLUGIN_ID, HELIOX_PLUGIN_VERSION, HELIOX_PLUGIN_OPERATIONS);

/* The host's table, with zeros for what an older host does not have. Valid from query to shutdown. */
static hx_host host;

int host_cancelled(void) { return host.cancelled != NULL && host.cancelled(host.self) != 0; }

/* One implementation an operation. All of them share their entries: prepare looks at the operation's name. */
#define IMPLEMENTATION(op_) \
  { HX_END_OF(hx_impl, destroy), 1, HELIOX_PLUGIN_NAME, op_, prepare, execute, destroy }

static const hx_impl implementations[] = {
    IMPLEMENTATION("ntt.forward"),      IMPLEMENTATION("ntt.inverse"),
    IMPLEMENTATION("rns.add"),          IMPLEMENTATION("rns.sub"),
    IMPLEMENTATION("rns.neg"),          IMPLEMENTATION("rns.mul"),
    IMPLEMENTATION("rns.mul_add"),      IMPLEMENTATION("rns.mul_scalar"),
    IMPLEMENTATION("rns.add_scalar"),   IMPLEMENTATION("rns.reduce"),
    IMPLEMENTATION("rns.center_lift"),  IMPLEMENTATION("rns.mod_up"),
    IMPLEMENTATION("rns.mod_down"),     IMPLEMENTATION("rns.rescale"),
    IMPLEMENTATION("rns.automorphism"), IMPLEMENTATION("rns.expand_uniform"),
};

enum { IMPLEMENTATION_COUNT = sizeof implementations / sizeof *implementations };

static const hx_impl *implementation_list[IMPLEMENTATION_COUNT];

static void shut_down(void) { memset(&host, 0, sizeof host); }

int32_t heliox_plugin_query(const hx_host *given, hx_plugin *out) {
  static const uint8_t layout_hashes[][32] = HX_LAYOUT_HASHES; /* one a minor */
  hx_plugin plugin;
  uint32_t size, minor, i;
  if (given == NULL || out == NULL || given->struct_size < HX_END_OF(hx_host, self) ||
      out->struct_size < HX_END_OF(hx_plugin, impls))
    return HX_ARGS_SIZE;
  if (given->abi_major != HX_ABI_MAJOR || given->minor_min > HX_ABI_MINOR) return HX_UNSUPPORTED;
  memset(&host, 0, sizeof host);
  memcpy(&host, given, given->struct_size < sizeof host ? given->struct_size : sizeof host);
  for (i = 0; i < IMPLEMENTATION_COUNT; ++i) implementation_list[i] = &implementations[i];

  memset(&plugin, 0, sizeof plugin);
  plugin.abi_major = HX_ABI_MAJOR;
  plugin.minor_min = 0;
  plugin.minor_max = HX_ABI_MINOR;
  plugin.id = HELIOX_PLUGIN_ID;
  plugin.version = HELIOX_PLUGIN_VERSION;
  minor = given->minor_max < HX_ABI_MINOR ? given->minor_max : HX_ABI_MINOR; /* the highest that both speak */
  memcpy(plugin.layout_hash, layout_hashes[minor], sizeof plugin.layout_hash);
  plugin.impl_count = IMPLEMENTATION_COUNT;
  plugin.impls = implementation_list;
  plugin.device = &device_ops;
  plugin.memory = &memory_ops;
  plugin.queue = &queue_ops;
  plugin.shutdown = shut_down;

  /* The host says how much room it has; what it does not know is not written. */
  size = out->struct_size < HX_END_OF(hx_plugin, shutdown) ? out->struct_size : HX_END_OF(hx_plugin, shutdown);
  plugin.struct_size = size;
  memcpy(out, &plugin, size);
  return HX_OK;
}
