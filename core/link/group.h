// SPDX-License-Identifier: Apache-2.0
// The inside of a group of processes: what the public calls and the collectives of programs share.
#ifndef HELIOX_CORE_LINK_GROUP_H
#define HELIOX_CORE_LINK_GROUP_H

#include "core/backend/backend.h"
#include "heliox/group.h"

struct hx_process_group {
  hx_backend_t *backend;       // retained
  hx_loaded_plugin_t *plugin;  // borrowed from it: with the collective role
  hx_group *handle;
  uint32_t rank, size;
  uint8_t plugins[32];  // digest of what every rank must have loaded
  char facts[96];       // the same in words
  hx_group_volume_t volume;
  atomic_flag busy;  // a caller is inside
};

// One caller at a time: HX_STATUS_BUSY for a second one. After OK, hx_group_leave follows.
hx_status_t hx_group_enter(hx_group_t *group, hx_report_t *report);
void hx_group_leave(hx_group_t *group);

// What the plugin says of the other ranks has codes of its own: `differs`, rank-missing.
hx_status_t hx_group_status(const hx_group_t *group, int32_t result, const hx_error *error, hx_code_t differs,
                            const char *what, hx_report_t *report);
// Equal facts on every rank, or the same fault on every rank: which ranks differ from rank 0, and in what.
// The group is entered.
hx_status_t hx_group_compare(hx_group_t *group, const void *facts, size_t bytes, hx_code_t differs, const char *what,
                             hx_report_t *report);

#endif
