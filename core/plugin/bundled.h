// SPDX-License-Identifier: Apache-2.0
// Libraries that a manifest brings along.
#ifndef HELIOX_CORE_PLUGIN_BUNDLED_H
#define HELIOX_CORE_PLUGIN_BUNDLED_H

#include "core/plugin/manifest.h"

// File safety, digest, format, policy and soname of each bundled library.
void hx_bundled_check(const hx_manifest_t *manifest, const char *directory, hx_gates_t *gates);

#endif
