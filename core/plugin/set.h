// SPDX-License-Identifier: Apache-2.0
// Inside of hx_plugins_t, shared by discovery and loading.
#ifndef HELIOX_CORE_PLUGIN_SET_H
#define HELIOX_CORE_PLUGIN_SET_H

#include "core/plugin/candidate.h"

typedef struct hx_plugin_entry {
  hx_candidate_t candidate;
  hx_plugin_record_t record;
} hx_plugin_entry_t;

struct hx_plugins {
  hx_plugin_entry_t *entries;  // in search order
  size_t count, capacity;
  const char **places;
  size_t place_count, place_capacity;
  hx_arena_t arena;  // places
};

// Fills the record from the candidate's identity and the first failed gate, which it refuses with.
// false: out of memory.
bool hx_plugin_entry_conclude(hx_plugin_entry_t *entry);
// Ends the record otherwise; texts are copied. false: out of memory.
bool hx_plugin_entry_end(hx_plugin_entry_t *entry, hx_plugin_state_t state, hx_gate_t gate, hx_code_t code,
                         const char *expected, const char *found, const char *format, ...) HX_PRINTF(7, 8);

#endif
