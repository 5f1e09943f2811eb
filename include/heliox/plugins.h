// SPDX-License-Identifier: Apache-2.0
/// @file
/// Plugins: discovery, checks, records; backends assembled from them; devices.
#ifndef HELIOX_PLUGINS_H
#define HELIOX_PLUGINS_H

#include "heliox/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// What became of a manifest that was found.
typedef enum hx_plugin_state {
  HX_PLUGIN_USABLE,
  HX_PLUGIN_UNAVAILABLE,
  HX_PLUGIN_REFUSED,
  HX_PLUGIN_DISABLED,
  HX_PLUGIN_SHADOWED
} hx_plugin_state_t;  ///< see hx_plugin_state

/// How one candidate ended. Text is owned by its set and never NULL. As one line:
/// `STATE id (manifest): code: text; hint`, where text is one sentence without code and hint.
typedef struct hx_plugin_record {
  const char *id;           ///< "com.example.heliox"
  const char *name;         ///< short name, as in --backend
  const char *version;      ///< its own, semantic
  const char *vendor;       ///< who made it
  const char *description;  ///< one line
  const char *manifest;     ///< path
  const char *library;      ///< path
  hx_plugin_state_t state;  ///< usable, refused, unavailable, ..
  hx_gate_t gate;           ///< that ended it; HX_GATE_NONE for usable
  hx_code_t code;           ///< why, where it cannot be used
  const char *text;         ///< the reason in words
  const char *expected;     ///< what a gate wanted; "" where nothing was compared
  const char *found;        ///< what it found
  const char *hint;         ///< what to do
  int priority;             ///< of the manifest; higher ones are preferred
} hx_plugin_record_t;

/// Verdict of one gate in a full check.
typedef struct hx_gate_result {
  hx_gate_t gate;        ///< which
  hx_code_t code;        ///< HX_CODE_NONE: passed
  const char *text;      ///< in words
  const char *expected;  ///< what the gate wanted
  const char *found;     ///< what it found
  const char *hint;      ///< what to do
} hx_gate_result_t;

/// One operation that a plugin declares.
typedef struct hx_plugin_operation {
  const char *type;            ///< operation: "rns.add"
  const char *implementation;  ///< its name in the plugin
  uint32_t signature;          ///< version in the catalogue
  uint32_t log_n_min;          ///< least log2 N
  uint32_t log_n_max;          ///< greatest log2 N
  uint32_t prime_bits_min;     ///< bits of the smallest primes
  uint32_t prime_bits_max;     ///< bits of the largest primes
  bool in_place;               ///< a result may lie on an operand
  bool bit_exact;              ///< equal bits as the reference
  bool explicit_only;          ///< only taken by name
} hx_plugin_operation_t;

/// What is asked of a manifest's detached signature (FILE.json.sig, Ed25519). DEFAULT: HELIOX_SIGNATURES (off, warn or
/// require), else off.
typedef enum hx_signatures {
  HX_SIGNATURES_DEFAULT,
  HX_SIGNATURES_OFF,
  HX_SIGNATURES_WARN,
  HX_SIGNATURES_REQUIRE
} hx_signatures_t;

/// Where to look and what to ask for. Zero-initialise for the defaults. A privileged process takes nothing from the
/// environment.
typedef struct hx_plugins_options {
  const char *path;            ///< instead of HELIOX_PLUGIN_PATH; NULL: the variable
  bool only_path;              ///< look nowhere else
  bool ignore_environment;     ///< no variable of the environment counts
  const char *lock;            ///< lockfile: nothing that it lacks is usable (lock); NULL: HELIOX_LOCK; "": none
  hx_signatures_t signatures;  ///< policy for manifests' signatures
  const char *trust;           ///< directories of trusted keys (*.pub), colon-separated; NULL: /etc/heliox/trust and
                               ///< heliox/trust below $XDG_CONFIG_HOME (~/.config)
} hx_plugins_options_t;

/// The candidates of this machine with the verdicts of the gates that run no plugin code. One thread at a time
/// while discovering; reading is free.
typedef struct hx_plugins hx_plugins_t;

/// Finds manifests in search order and runs every static gate. Bad plugins are records, not errors.
/// The report receives warnings: about the search path (search-path, privileged), directories that a group or another
/// user may change (file-permissions), operations that this catalogue lacks (unknown-operation).
HX_API HX_MUST_USE hx_status_t hx_plugins_discover(const hx_plugins_options_t *options, hx_plugins_t **out,
                                                   hx_report_t *report);
/// Frees the list; NULL is allowed. Backends stay.
HX_API void hx_plugins_release(hx_plugins_t *plugins);
/// Manifests that were found.
HX_API size_t hx_plugins_count(const hx_plugins_t *plugins);
/// In search order, borrowed; NULL where there is no such index.
HX_API const hx_plugin_record_t *hx_plugins_get(const hx_plugins_t *plugins, size_t index);
/// Usable record by short name or id, or NULL.
HX_API const hx_plugin_record_t *hx_plugins_find(const hx_plugins_t *plugins, const char *name);
/// Directories and files searched, in order; returns the count.
HX_API size_t hx_plugins_search_path(const hx_plugins_t *plugins, const char *const **out_places);
/// Operations declared in the manifest of a record (empty if it did not parse).
HX_API size_t hx_plugins_operations(const hx_plugins_t *plugins, size_t index, const hx_plugin_operation_t **out);
/// The manifest's JSON text as read, NUL-terminated; "" if unreadable.
HX_API const char *hx_plugins_manifest(const hx_plugins_t *plugins, size_t index);

/// Every static gate of one manifest, all at once: same verdicts as the loader. Maps no plugin code.
/// @param[out] out_results borrowed from the check object
typedef struct hx_plugin_check hx_plugin_check_t;
/// Evaluates the static gates of one manifest; nothing of the plugin is run.
HX_API HX_MUST_USE hx_status_t hx_plugin_check(const char *manifest_path, hx_plugin_check_t **out, hx_report_t *report);
/// The same under a lockfile and a signature policy; search options are not looked at. NULL: the defaults.
HX_API HX_MUST_USE hx_status_t hx_plugin_check_with(const char *manifest_path, const hx_plugins_options_t *options,
                                                    hx_plugin_check_t **out, hx_report_t *report);
/// One a gate, borrowed. Returns their number.
HX_API size_t hx_plugin_check_results(const hx_plugin_check_t *check, const hx_gate_result_t **out_results);
/// Frees it; NULL is allowed.
HX_API void hx_plugin_check_release(hx_plugin_check_t *check);

/// How one device of a plugin did. Texts are owned by the probe and never NULL.
typedef struct hx_device_verdict {
  const char *device;      ///< "cpu:0"
  const char *name;        ///< of the device
  const char *driver;      ///< its version
  uint32_t tested;         ///< declared operations that gave the known answers
  uint32_t skipped;        ///< declared operations that have none
  uint64_t microseconds;   ///< that the self-test took
  hx_code_t code;          ///< HX_CODE_NONE: passed
  const char *text;        ///< why it cannot be used
  const char *expected;    ///< a residue of the self-test that differs
  const char *found;       ///< what the device computed
  const char *uuid;        ///< "" where the device has none
  uint64_t memory_bytes;   ///< 0: not told
  uint64_t alignment;      ///< of every place in its memory
  uint32_t compute_units;  ///< processors of the device
  bool uses_host_memory;   ///< works on host memory in place; else values are copied to it
  bool records_graphs;     ///< the plugin has the graph role
  bool encodes;            ///< the plugin has the codec role
  /// Links to other devices of the plugin, a bit for each index below 64: where copies go straight, not by way of the
  /// host; and those of them that have a link of their own (not the system's bus).
  uint64_t peers;
  uint64_t peers_linked;  ///< of its peers, with a direct link
} hx_device_verdict_t;

/// Loads one plugin (its code runs), opens each of its devices and runs the self-test that a device passes before its
/// first use, whatever was remembered of earlier ones. Search options are not looked at.
/// @retval HX_STATUS_OK every device was asked: see the verdicts. Else: the plugin was not loaded, and why
typedef struct hx_plugin_probe hx_plugin_probe_t;
/// Loads one plugin and describes its devices, without the self-test: `tested` and `skipped` are 0.
HX_API HX_MUST_USE hx_status_t hx_plugin_devices(const char *manifest_path, const hx_plugins_options_t *options,
                                                 hx_plugin_probe_t **out, hx_report_t *report);
/// Loads one plugin, asks for its devices and runs the self-test of each.
HX_API HX_MUST_USE hx_status_t hx_plugin_probe(const char *manifest_path, const hx_plugins_options_t *options,
                                               hx_plugin_probe_t **out, hx_report_t *report);
/// One a device, borrowed. Returns their number.
HX_API size_t hx_plugin_probe_devices(const hx_plugin_probe_t *probe, const hx_device_verdict_t **out);
/// Frees it; NULL is allowed.
HX_API void hx_plugin_probe_release(hx_plugin_probe_t *probe);

/// Writes a lockfile of the usable plugins: id, version, digests of library, manifest and operations. Equal sets give
/// equal bytes. An existing file is replaced whole.
HX_API HX_MUST_USE hx_status_t hx_plugins_lock(const hx_plugins_t *plugins, const char *path, hx_report_t *report);
/// Compares the usable plugins with a lockfile. One fault (lock) a difference, its text beginning with "+" for what the
/// lockfile lacks, "-" for what is not usable here, "~" for what has changed.
/// @retval HX_STATUS_REFUSED they differ, or the lockfile is not well-formed
HX_API HX_MUST_USE hx_status_t hx_plugins_verify(const hx_plugins_t *plugins, const char *path, hx_report_t *report);

/// Makes a key pair for signing manifests. The secret file (0600) is never replaced; the public one is.
HX_API HX_MUST_USE hx_status_t hx_signing_key_create(const char *secret_path, const char *public_path,
                                                     hx_report_t *report);
/// Signs a manifest as it is: writes its path with .sig appended.
HX_API HX_MUST_USE hx_status_t hx_manifest_sign(const char *manifest_path, const char *secret_path,
                                                hx_report_t *report);

/// Fills digest, target, ABI and note facts of a manifest from its binary and writes the result.
/// @param library  path of the shared library; nothing of it is executed
HX_API HX_MUST_USE hx_status_t hx_manifest_complete(const char *template_path, const char *library,
                                                    const char *out_path, hx_report_t *report);

/// Named plugins, loaded and opened. Reference-counted, immutable, any thread.
typedef struct hx_backend hx_backend_t;

/// Loads the plugins of a list ("cpu", "cpu,mpi", "opencl:1": name or name:device-index); only theirs are candidates.
/// A device computes known answers before its first use; one that errs is refused (self-test).
/// @retval HX_STATUS_NOT_FOUND (backend) naming every place searched and the record of the plugin asked for
HX_API HX_MUST_USE hx_status_t hx_backend_create(hx_plugins_t *plugins, const char *list, hx_backend_t **out,
                                                 hx_report_t *report);
/// One more owner.
HX_API hx_backend_t *hx_backend_retain(const hx_backend_t *backend);
/// One owner less; NULL is allowed.
HX_API void hx_backend_release(hx_backend_t *backend);

struct hx_impl;  // heliox/plugin.h

/// A copy extended by one implementation that the application brings itself (no .so). The record is borrowed and must
/// outlive everything linked with the copy. It runs on the backend's first device.
/// @retval HX_STATUS_EXISTS the pair (operation, name) is there already
HX_API HX_MUST_USE hx_status_t hx_backend_with_implementation(const hx_backend_t *backend, const void *hx_impl_record,
                                                              hx_backend_t **out, hx_report_t *report);

/// Names "plugin/implementation" that an operation could use, in discovery order; returns the count.
HX_API size_t hx_backend_available(const hx_backend_t *backend, const char *operation, const char **out_names,
                                   size_t room);

#ifdef __cplusplus
}
#endif
#endif
