// SPDX-License-Identifier: Apache-2.0
// One manifest on its way through the gates that run no plugin code.
#ifndef HELIOX_CORE_PLUGIN_CANDIDATE_H
#define HELIOX_CORE_PLUGIN_CANDIDATE_H

#include "core/plugin/file.h"
#include "core/plugin/note.h"

typedef struct hx_policy hx_policy_t;  // core/plugin/policy.h; NULL: none

typedef struct hx_candidate {
  char *path;          // of the manifest, as found
  char *directory;     // of the manifest, links resolved; NULL until examined
  char *library_path;  // NULL while the manifest names none
  char *text;          // of the manifest, NUL-terminated; NULL if unreadable
  size_t text_size;
  hx_manifest_t *manifest;  // NULL: did not parse
  hx_gates_t gates;
  uint64_t device, inode;    // of the manifest's file; 0: not opened
  char digest[65];           // of the library's bytes, "" until read
  char manifest_digest[65];  // of the text, likewise
} hx_candidate_t;

// HX_STATUS_OUT_OF_MEMORY leaves nothing to deinit.
hx_status_t hx_candidate_init(hx_candidate_t *candidate, const char *path);
void hx_candidate_deinit(hx_candidate_t *candidate);
// Reads the manifest: gates discover, file-safety of it and its directory, parse, schema.
// HX_STATUS_OK even where a gate failed; HX_STATUS_NOT_FOUND: no such file; HX_STATUS_OUT_OF_MEMORY.
hx_status_t hx_candidate_read(hx_candidate_t *candidate, const hx_policy_t *policy, hx_report_t *warnings);
// Gates file-safety of the library to negotiate. `all`: evaluates what can be evaluated after a failure; else stops at
// the first one. HX_STATUS_OK or HX_STATUS_OUT_OF_MEMORY.
hx_status_t hx_candidate_examine(hx_candidate_t *candidate, const hx_policy_t *policy, bool all, hx_report_t *warnings);
bool hx_candidate_failed(const hx_candidate_t *candidate);

#endif
