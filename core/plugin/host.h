// SPDX-License-Identifier: Apache-2.0
// What this process offers to a plugin: machine, C library, layouts of the ABI, system libraries.
#ifndef HELIOX_CORE_PLUGIN_HOST_H
#define HELIOX_CORE_PLUGIN_HOST_H

#include "core/plugin/manifest.h"

// Minors of HX_ABI_MAJOR that this host speaks.
uint32_t hx_host_minor_min(void);
uint32_t hx_host_minor_max(void);

const char *hx_host_os(void);    // "linux"
const char *hx_host_arch(void);  // "x86_64"
const char *hx_host_libc(void);  // "glibc"
const char *hx_host_libc_version(void);
uint16_t hx_host_machine(void);  // EM_ number
// Gate host-match: os, arch, C library and processor features of a manifest.
void hx_host_match(const hx_manifest_t *manifest, hx_gates_t *gates);

// The layout text of a minor that this host speaks; its hash in hexadecimal. NULL: not spoken. Static.
const char *const *hx_host_layout_lines(uint32_t minor, size_t *out_count);
const char *hx_host_layout_hash(uint32_t minor);

// Path of a shared library by soname, as the dynamic linker would find it: loaded in this process, LD_LIBRARY_PATH
// (unless privileged), the linker's cache, the system directories. *out is hx_free'd by the caller.
// HX_STATUS_NOT_FOUND, HX_STATUS_OUT_OF_MEMORY.
hx_status_t hx_system_library_find(const char *soname, char **out);
// Whether a library of that soname is mapped now.
bool hx_system_library_loaded(const char *soname);

#endif
