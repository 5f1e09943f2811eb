// SPDX-License-Identifier: Apache-2.0
// Backends: opened devices of named plugins, their implementations, and the rules by which a call finds exactly one.
// A backend is immutable; extended copies share its devices. Any thread.
#ifndef HELIOX_CORE_BACKEND_BACKEND_H
#define HELIOX_CORE_BACKEND_BACKEND_H

#include "core/backend/device.h"
#include "core/ops/ops.h"

// One row of the registry.
typedef struct hx_implementation {
  const hx_impl *record;
  hx_op_id_t op;                          // HX_OP_UNKNOWN for fusion.region, which is no operation of programs
  const char *plugin;                     // short name; "application" where the application brought it
  const char *name;                       // of the implementation
  const char *qualified;                  // "plugin/name"
  const hx_manifest_operation_t *limits;  // what the manifest declares; NULL: no declared limits
  hx_opened_device_t *device;             // borrowed from the backend; NULL: the plugin has no device
  bool handles_secrets;
  const char *const *regions;  // of fusion.region: kinds that it prepares; texts of the plugin
  size_t region_count;
} hx_implementation_t;

// A live handle of the workspace. The caller keeps the handle alive as long as any copy of the backend.
typedef struct hx_named_resource {
  const char *name, *kind;
  void *handle;
} hx_named_resource_t;

struct hx_backend {
  atomic_uint refs;
  hx_arena_t arena;
  hx_implementation_t *rows;
  size_t row_count, row_capacity;
  hx_opened_device_t **devices;  // [device_count], retained, in the order of the list; the first one computes
  size_t device_count;
  hx_loaded_plugin_t **plugins;  // [plugin_count], retained, in the order of the list
  size_t plugin_count;
  hx_named_resource_t *resources;  // names and kinds in the arena
  size_t resource_count;
};

// One entry of a backend's list: "name", "name:device-index" or "name:device-name".
#define HX_BACKEND_ENTRIES_MAX 16
typedef struct hx_backend_entry {
  char name[HX_NAME_MAX];
  uint32_t index;
  char device[HX_NAME_MAX];  // a part of the device's name, or its uuid; empty: the index counts
} hx_backend_entry_t;

// Reads "cpu,mpi", "opencl:1" or "opencl:H200" into entries[HX_BACKEND_ENTRIES_MAX]: what follows the colon is a name
// where it begins with a letter. Refused (invalid-argument): empty or long names, an index that is no number of 1 to 4
// digits, a plugin named twice, too many.
hx_status_t hx_backend_parse_list(const char *list, hx_backend_entry_t *entries, size_t *out_count,
                                  hx_report_t *report);

// The device of a loaded plugin whose name has `part` in it, in either case of letters, or whose uuid it is. Refused
// (invalid-argument) where none or several have, with all their names.
hx_status_t hx_backend_device_named(const hx_loaded_plugin_t *plugin, const char *part, uint32_t *out_index,
                                    hx_report_t *report);

// Assembles loaded plugins (retained); device_indexes[i] is the device opened for plugins[i], where it has devices.
// Operations that the catalogue lacks, or has with another signature, are dropped with a warning in the log.
hx_status_t hx_backend_assemble(hx_loaded_plugin_t *const *plugins, const uint32_t *device_indexes, size_t count,
                                hx_backend_t **out, hx_report_t *report);

// A copy with more named handles. A name that is there already is refused (implementation-exists) unless override.
hx_status_t hx_backend_with_resources(const hx_backend_t *backend, const hx_named_resource_t *items, size_t count,
                                      bool override, hx_backend_t **out, hx_report_t *report);
// The handle of a name, or NULL.
const hx_named_resource_t *hx_backend_resource(const hx_backend_t *backend, hx_str_t name);
// The only handle of a kind; NULL where there is none or more than one.
const hx_named_resource_t *hx_backend_resource_of_kind(const hx_backend_t *backend, const char *kind);

// One call as the registry sees it. Types are complete.
typedef struct hx_invocation {
  const hx_op_info_t *op;
  const hx_type_t *const *operands;
  size_t operand_count;
  const hx_type_t *const *results;
  size_t result_count;
  const hx_ring *ring;
  bool secret;                       // any operand is
  bool in_place;                     // only implementations that declare in_place are candidates
  const hx_opened_device_t *device;  // where the call is placed; NULL: any device
} hx_invocation_t;

// Who asks, for faults and constraints. Empty texts: nobody asks. Forms: "implementation", "implementation/variant",
// "plugin/implementation", "plugin/implementation/variant".
typedef struct hx_request {
  hx_str_t program;  // heliox.implementation
  hx_str_t caller;
  const char *source;
  uint32_t line, column;
} hx_request_t;

typedef struct hx_resolution {
  const hx_implementation_t *implementation;
  char variant[HX_NAME_MAX];  // "": the plugin chooses
} hx_resolution_t;

// Exactly one candidate, or a fault: implementation (none of that name, or none covers the call: each one's reason),
// ambiguous (all that remain), constraint (caller against program), capability (only the secret flag stands between).
hx_status_t hx_backend_resolve(const hx_backend_t *backend, const hx_invocation_t *call, const hx_request_t *request,
                               hx_resolution_t *out, hx_report_t *report);
// True if at least one implementation that answers without being named covers the call.
bool hx_backend_supports(const hx_backend_t *backend, const hx_invocation_t *call);
// The implementation of regions of a kind on a device; NULL: none, or several, then *out_several. One that
// answers only to its name is none.
const hx_implementation_t *hx_backend_fusion(const hx_backend_t *backend, const hx_opened_device_t *device,
                                             const char *kind, bool *out_several);
// Number of the device among the backend's that a name stands for: a plugin's short name, or "plugin:index". HX_NONE:
// of none.
uint32_t hx_backend_device_of(const hx_backend_t *backend, hx_str_t name);
// True if an implementation's declared ranges and secret capability cover a call, whatever operation it has.
bool hx_implementation_covers(const hx_implementation_t *implementation, const hx_invocation_t *call);
// One line an implementation of call->op: its name, and "covers" or why it does not.
hx_status_t hx_backend_diagnose(const hx_backend_t *backend, const hx_invocation_t *call, hx_text_t *out);

// A status from an implementation's result; the text names it and adds its own message (bounded, escaped).
hx_status_t hx_implementation_status(const hx_implementation_t *implementation, int32_t result, const hx_error *error,
                                     const char *what, hx_report_t *report);

#endif
