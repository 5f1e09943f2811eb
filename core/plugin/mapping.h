// SPDX-License-Identifier: Apache-2.0
// Libraries mapped in this process, one mapping for equal bytes. The caller holds the loader's lock.
#ifndef HELIOX_CORE_PLUGIN_MAPPING_H
#define HELIOX_CORE_PLUGIN_MAPPING_H

#include "core/plugin/candidate.h"
#include "core/plugin/plugin.h"

typedef struct hx_mapping {
  struct hx_mapping *next;
  char digest[65];
  int descriptor;  // of the bytes; open as long as they may be mapped, since the linker knows them by its number
  void *handle;
  int32_t (*query)(const hx_host *host, hx_plugin *out);
  struct hx_plugin_host *host;                          // lives as long as the mapping, whatever is queried again
  bool pinned;                                          // passed the table check once: never unmapped
  struct hx_mapping *bundled[HX_MANIFEST_BUNDLED_MAX];  // opened before it, each with it as a user
  size_t bundled_count;
  // While it is in use:
  size_t users;  // loaded plugins, or mappings that it is bundled with
  hx_plugin table;
  hx_arena_t tables;
} hx_mapping_t;

// The mapping of these bytes, opened where there is none. Failures go to the gates file-safety, digest and open.
// Bundled libraries are opened before. NULL: failed.
hx_mapping_t *hx_mapping_open(const hx_candidate_t *candidate, hx_gates_t *gates);
// Keeps the library, and what is bundled with it, for the life of the process.
void hx_mapping_pin(hx_mapping_t *mapping);
// Unmaps what was refused; a pinned mapping stays. What does not let itself be unmapped stays known, with its
// descriptor.
void hx_mapping_drop(hx_mapping_t *mapping);

#endif
