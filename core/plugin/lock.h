// SPDX-License-Identifier: Apache-2.0
// Deployment lockfiles: which plugins may be used, by digests. The format is manifests/schema/plugin-lock.schema.json.
#ifndef HELIOX_CORE_PLUGIN_LOCK_H
#define HELIOX_CORE_PLUGIN_LOCK_H

#include "core/plugin/candidate.h"

// What identifies a plugin in a deployment. Texts are borrowed; digests in hexadecimal.
typedef struct hx_lock_entry {
  const char *id, *version, *library, *manifest, *operations;
} hx_lock_entry_t;

typedef struct hx_lock {
  json_t *root;              // owns the texts
  hx_lock_entry_t *entries;  // ascending ids
  size_t count;
  char *source;  // path, for messages
} hx_lock_t;

// Strict JSON, the schema, and the order of the entries; faults are of code lock with line and column or pointer.
hx_status_t hx_lock_parse(hx_str_t text, const char *source, hx_lock_t **out, hx_report_t *report);
// Reads a file that nobody else may change: what a manifest must be, and no directory above it group-writable.
hx_status_t hx_lock_read(const char *path, hx_lock_t **out, hx_report_t *report);
void hx_lock_release(hx_lock_t *lock);
// The entry of an id, or NULL.
const hx_lock_entry_t *hx_lock_find(const hx_lock_t *lock, const char *id);
// Gate digest, code lock: the candidate is in the lockfile with these digests. Library and manifest have been read.
void hx_lock_check(const hx_lock_t *lock, hx_candidate_t *candidate);

#endif
