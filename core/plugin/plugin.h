// SPDX-License-Identifier: Apache-2.0
// Loaded plugins: what the backend layer builds on.
#ifndef HELIOX_CORE_PLUGIN_PLUGIN_H
#define HELIOX_CORE_PLUGIN_PLUGIN_H

#include <stdatomic.h>

#include "core/base/text.h"
#include "heliox/plugin.h"
#include "heliox/plugins.h"

// A derived form of an operand, or a live handle, that execute wants.
typedef struct hx_manifest_resource {
  const char *kind;     // packed-key, packed-plain, process-group, x-...
  const char *operand;  // name of the operand in the catalogue that it is packed from; NULL: a live handle
  bool packed_only;     // the unpacked tensor is not needed beside it
} hx_manifest_resource_t;

// One operation row of a manifest.
typedef struct hx_manifest_operation {
  const char *type, *implementation;
  uint32_t signature;
  uint32_t dtypes;   // bit (1 << HX_U64) and so on
  uint32_t domains;  // bit (1 << HX_NTT) and so on; 0: any
  uint32_t log_n_min, log_n_max, prime_bits_min, prime_bits_max;
  bool in_place, bit_exact, explicit_only;
  const hx_manifest_resource_t *resources;
  size_t resource_count;
} hx_manifest_operation_t;

// A plugin that passed every gate. Reference-counted; the mapping stays for the life of the process.
typedef struct hx_loaded_plugin {
  atomic_uint refs;
  const hx_plugin_record_t *record;  // copy owned by this object
  char digest[65];                   // sha256 of the library, hex
  const hx_manifest_operation_t *operations;
  size_t operation_count;
  const char *const *regions;  // fusion kinds that it prepares
  size_t region_count;
  bool handles_secrets;         // and constant_time
  hx_plugin table;              // as the plugin filled it; fields beyond its struct_size are zero
  struct hx_plugin_host *host;  // the host table given to it
} hx_loaded_plugin_t;

// Opens the library of a usable record: open, negotiate, table check, probe, init. The record's state changes on
// failure. Equal bytes in one process share one mapping.
hx_status_t hx_plugin_load(hx_plugins_t *plugins, size_t index, hx_loaded_plugin_t **out, hx_report_t *report);
hx_loaded_plugin_t *hx_loaded_plugin_retain(hx_loaded_plugin_t *plugin);
void hx_loaded_plugin_release(hx_loaded_plugin_t *plugin);  // the last one calls shutdown
// The manifest row of an implementation, or NULL.
const hx_manifest_operation_t *hx_loaded_plugin_operation(const hx_loaded_plugin_t *plugin, const char *op,
                                                          const char *implementation);
// Its entry point, good for the life of the process. For tests of negotiation: asked only while nobody has it loaded.
int32_t (*hx_loaded_plugin_query(const hx_loaded_plugin_t *plugin))(const hx_host *host, hx_plugin *out);
// Turns an int32 result of a plugin into a status; adds the plugin's text (bounded, escaped) to the report.
hx_status_t hx_plugin_status(const hx_loaded_plugin_t *plugin, int32_t result, const hx_error *error, const char *what,
                             hx_report_t *report);

// Asks the calls of a plugin to stop (hx_host.cancelled), or clears that. Any thread.
void hx_loaded_plugin_set_cancelled(const hx_loaded_plugin_t *plugin, bool cancelled);
// Who watches the plugin calls that this thread makes: hx_host.cancelled asks, hx_host.progress tells. Either may be
// NULL. Borrowed until another is set.
typedef struct hx_call_watch {
  bool (*cancelled)(void *argument);
  void (*progress)(void *argument, uint64_t done, uint64_t total);
  void *argument;
} hx_call_watch_t;
const hx_call_watch_t *hx_call_watch_set(const hx_call_watch_t *next);  // returns the one before, to be set again
const hx_call_watch_t *hx_call_watch_get(void);
bool hx_call_watch_cancelled(const hx_call_watch_t *one);

// What hx_host.option answers from now on; NULL unsets. Without it "cpu-mask" is HELIOX_CPU_MASK, and so are the
// opencl- options (docs/opencl.md); "plugin-directory" is always where the asking plugin's library lies. Any thread.
hx_status_t hx_plugin_option_set(const char *name, const char *value);

// A prepared region of one plugin that another one may run through hx_host.run_region. Made and kept by the host.
// Scratch is the host's: what a caller writes into hx_call for it is not used.
struct hx_callable {
  int32_t (*execute)(hx_prepared *prepared, const hx_call *call, hx_error *error);
  hx_prepared *prepared;
  hx_span scratch_host, scratch_device;
};

#endif
