// SPDX-License-Identifier: Apache-2.0
// Gate elf: what a library's bytes say about how it would be loaded.
#ifndef HELIOX_CORE_PLUGIN_INSPECT_H
#define HELIOX_CORE_PLUGIN_INSPECT_H

#include "core/plugin/elf.h"
#include "core/plugin/manifest.h"

#define HX_LIBRARY_BYTES_MAX ((size_t)1 << 30)

// Parses; failures are elf-format or elf-arch. `what` names the file in messages.
bool hx_inspect_format(const void *bytes, size_t size, const char *what, hx_gates_t *gates, hx_elf_t *out);
// Executable stack, text relocations, writable code, search paths, filters, nodelete.
void hx_inspect_policy(const hx_elf_t *elf, const char *what, hx_gates_t *gates);
// Exactly heliox_plugin_query, a function.
void hx_inspect_exports(const hx_elf_t *elf, hx_gates_t *gates);
// Sanitizer runtimes, allowed and present libraries, versions and symbols that they provide. `bundled` are the
// manifest's, read from `directory`. No library is loaded for this.
void hx_inspect_needs(const hx_elf_t *elf, const hx_manifest_t *manifest, const char *directory, hx_gates_t *gates);
// Newest version "GLIBC_x.y" that the library needs, as "x.y"; "" where it needs none. Static room of the caller.
void hx_inspect_libc_min(const hx_elf_t *elf, char version[32]);
// Sanitizers whose runtime it calls, as in -fsanitize= ("address,undefined"); "" for none.
void hx_inspect_sanitizers(const hx_elf_t *elf, char list[64]);

#endif
