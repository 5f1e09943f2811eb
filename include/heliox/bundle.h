// SPDX-License-Identifier: Apache-2.0
/// @file
/// Bundles: a transformed program, chosen materials, its interface, the passes that were run and what it requires, in
/// one file (a container of kind bundle).
#ifndef HELIOX_BUNDLE_H
#define HELIOX_BUNDLE_H

#include "heliox/file.h"
#include "heliox/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/// What goes into a bundle. Zero-initialise.
typedef struct hx_bundle_options {
  const char *pipeline;          ///< recorded: the passes that made the program; NULL: ""
  const char *const *materials;  ///< symbols to store; NULL: all that are bound
  size_t material_count;         ///< 0 with materials not NULL: none
} hx_bundle_options_t;

/// Writes the compilation's program as it is now and the values bound to its symbols. Values that share memory are
/// stored once and stay views of each other. Keys are never stored. The file appears whole or not at all. Refused: a
/// secret value (secret), a symbol that is not bound (material), a value in device memory (device-mix).
HX_API HX_MUST_USE hx_status_t hx_bundle_save(const hx_compilation_t *compilation, const hx_bundle_options_t *options,
                                              const char *path, hx_report_t *report);

/// A material of a bundle.
typedef struct hx_bundle_material {
  const char *symbol;  ///< without @
  const char *type;    ///< the IR type's text
  uint64_t bytes;      ///< in the file; 0 for a view
  const char *of;      ///< symbol whose memory it is a view of; NULL: its own
} hx_bundle_material_t;

/// A bundle's header. Texts live as long as the object.
typedef struct hx_bundle hx_bundle_t;
/// What a bundle says about itself; texts belong to the bundle.
typedef struct hx_bundle_info {
  const char *params_digest;  ///< 64 digits
  const char *pipeline;       ///< passes that were run
  const char *requires_text;  ///< JSON: params, operations, keys, materials that are not stored, inputs, outputs
  bool insecure;              ///< made with parameters below 128 bits
  uint64_t program_bytes;     ///< of the program's text
  const hx_bundle_material_t *materials;  ///< those that it has
  size_t material_count;                  ///< their number
} hx_bundle_info_t;                       ///< see hx_bundle_info

/// Reads the header alone: no payload is read, so its digest is not compared yet.
HX_API HX_MUST_USE hx_status_t hx_bundle_inspect(const char *path, hx_bundle_t **out, hx_report_t *report);
/// Closes it; NULL is allowed.
HX_API void hx_bundle_release(hx_bundle_t *bundle);
/// Fills in what it says.
HX_API void hx_bundle_info(const hx_bundle_t *bundle, hx_bundle_info_t *out);

/// Reads all: structure, sizes before allocation, the digest, the program (as hx_program_parse), residues. Gives a
/// compilation with the stored materials bound.
/// @param params NULL: the preset that the program names. Refused (params-digest): others than the bundle's
HX_API HX_MUST_USE hx_status_t hx_bundle_load(const char *path, const hx_params_t *params, hx_compilation_t **out,
                                              hx_report_t *report);

#ifdef __cplusplus
}
#endif
#endif
