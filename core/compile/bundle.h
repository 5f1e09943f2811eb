// SPDX-License-Identifier: Apache-2.0
// The form of bundles, shared by bundle_save.c and bundle_load.c.
#ifndef HELIOX_CORE_COMPILE_BUNDLE_H
#define HELIOX_CORE_COMPILE_BUNDLE_H

#include "core/ckks/file.h"
#include "core/compile/compilation.h"
#include "heliox/bundle.h"

#define HX_BUNDLE_PROGRAM_MAX ((uint64_t)64 << 20)  // as of any program's text

// Requirements of a program as canonical JSON; NULL: memory is exhausted. `stored` says which symbols are in the file.
char *hx_bundle_requires(const hx_compilation_t *compilation, const hx_binding_t *stored, size_t stored_count);

// A bundle whose bytes are given: fuzzed.
hx_status_t hx_bundle_read(hx_artifact_t *artifact, const hx_params_t *params, hx_compilation_t **out,
                           hx_report_t *report);

#endif
