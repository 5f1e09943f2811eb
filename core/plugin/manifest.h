// SPDX-License-Identifier: Apache-2.0
// A plugin's manifest: strict JSON, the published schema, and a plain model of it.
#ifndef HELIOX_CORE_PLUGIN_MANIFEST_H
#define HELIOX_CORE_PLUGIN_MANIFEST_H

#include "core/plugin/gates.h"
#include "core/plugin/json.h"
#include "core/plugin/plugin.h"

#define HX_MANIFEST_BUNDLED_MAX 16  // the schema's maxItems

typedef struct hx_manifest_bundled {
  const char *file, *sha256, *soname;
} hx_manifest_bundled_t;

// Texts are borrowed from the tree and never NULL; "" where the manifest has none.
typedef struct hx_manifest {
  json_t *root;
  hx_arena_t arena;
  bool valid;  // it passed the schema; else only id, name, version, vendor and description may be there
  const char *id, *name, *vendor, *version, *description, *license, *library;
  const char *sha256;
  uint64_t size;
  const char *abi_min, *abi_max;
  const json_t *layouts;  // hash by minor
  const char *os, *arch, *libc, *libc_min;
  const json_t *isa;
  hx_manifest_operation_t *operations;
  hx_plugin_operation_t *rows;  // the same, as the public header shows them
  size_t operation_count;
  hx_manifest_bundled_t *bundled;
  size_t bundled_count;
  bool handles_secrets, constant_time;
  int priority;
  const json_t *conflicts, *replaces;
  const json_t *regions;  // fusion kinds
} hx_manifest_t;

// Parses and checks; failures go to the gates parse and schema. NULL: no tree could be built (or memory ran out, which
// the gates note). The text is not kept.
hx_manifest_t *hx_manifest_create(hx_str_t text, hx_gates_t *gates);
// The model of a template's tree; what completion fills is empty. Keeps a reference to the tree. NULL: out of memory.
hx_manifest_t *hx_manifest_from_tree(json_t *root);
void hx_manifest_release(hx_manifest_t *manifest);

// Reads what an author writes: as a manifest, but keys that completion fills may be missing. On success *out is a tree
// with those keys absent as written, that passes the schema once they are there. Faults carry source and place.
hx_status_t hx_manifest_read_template(hx_str_t text, const char *source, json_t **out, hx_report_t *report);

// SHA-256 over the sorted lines type/signature/implementation, in hexadecimal.
hx_status_t hx_operations_digest(const hx_manifest_operation_t *operations, size_t count, char hex[65]);

// Whether a list of strings holds one.
bool hx_json_list_has(const json_t *list, const char *text);

#endif
