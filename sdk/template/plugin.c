/* SPDX-License-Identifier: Apache-2.0 */
/* The entry point: what this plugin offers, and the note that says the same without running anything. */
#include "plugin.h"

#include <string.h>

#include "heliox/plugin_note.h"
#include "heliox_plugin_facts.h" /* id, version and operation digest, made from the manifest */

HELIOX_PLUGIN_NOTE(HELIOX_PLUGIN_ID, HELIOX_PLUGIN_VERSION, HELIOX_PLUGIN_OPERATIONS);

/* One implementation an operation. All of them share their entries: prepare looks at the operation's name. */
#define IMPLEMENTATION(op_) \
  { HX_END_OF(hx_impl, destroy), 1, HELIOX_PLUGIN_NAME, op_, prepare, execute, hxs_destroy }

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

int32_t heliox_plugin_query(const hx_host *host, hx_plugin *out) {
  hx_plugin own;
  for (uint32_t i = 0; i < IMPLEMENTATION_COUNT; ++i) implementation_list[i] = &implementations[i];
  memset(&own, 0, sizeof own);
  own.struct_size = HX_END_OF(hx_plugin, shutdown);
  own.id = HELIOX_PLUGIN_ID;
  own.version = HELIOX_PLUGIN_VERSION;
  own.impl_count = IMPLEMENTATION_COUNT;
  own.impls = implementation_list;
  own.device = &device_ops;
  own.memory = &memory_ops;
  own.queue = &queue_ops;
  own.shutdown = hxs_host_clear;
  return hxs_query(HELIOX_PLUGIN_NAME, &own, host, out);
}
