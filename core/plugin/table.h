// SPDX-License-Identifier: Apache-2.0
// Gate table: what heliox_plugin_query filled.
#ifndef HELIOX_CORE_PLUGIN_TABLE_H
#define HELIOX_CORE_PLUGIN_TABLE_H

#include "core/plugin/manifest.h"

// Checks the table and every table it points to, and copies all of it, fields beyond each struct_size zero, so that the
// host never reads past what the plugin wrote. Texts stay the plugin's. Failures: abi-field, abi-range, layout-hash,
// note (identity), table-short, null-entry, registration.
bool hx_table_check(const hx_plugin *filled, const hx_manifest_t *manifest, hx_arena_t *arena, hx_plugin *out,
                    hx_gates_t *gates);
// Registered against declared: the same set of (operation, signature, implementation).
bool hx_table_check_registration(const hx_plugin *table, const hx_manifest_t *manifest, hx_gates_t *gates);

#endif
