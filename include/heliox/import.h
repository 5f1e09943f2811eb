// SPDX-License-Identifier: Apache-2.0
/// @file
/// Programs of other compilers: HEIR's ckks and lwe dialects in MLIR's generic form (docs/heir.md).
#ifndef HELIOX_IMPORT_H
#define HELIOX_IMPORT_H

#include "heliox/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Numbers that the program encodes itself: they become material @symbol. Owned by the import.
typedef struct hx_import_constant {
  const char *symbol;    ///< "constant0"
  const double *values;  ///< its numbers
  size_t count;          ///< how many
} hx_import_constant_t;

/// What was read. Immutable.
typedef struct hx_import hx_import_t;

/// Reads a module of HEIR in generic form and gives the program of one of its functions as @main. Limits: 16 MiB of
/// text, 1 Mi operations. Every operation that is not imported is a fault (unsupported) at its place.
/// @param entry name of the function; NULL: the only one with a body, or "main"
HX_API HX_MUST_USE hx_status_t hx_import_heir(hx_str_t text, const char *source, const char *entry, hx_import_t **out,
                                              hx_report_t *report);
/// Frees it; NULL is allowed.
HX_API void hx_import_release(hx_import_t *import);
/// The program; borrowed.
HX_API const hx_program_t *hx_import_program(const hx_import_t *import);
/// Constants of the module, in order; borrowed. Returns their number.
HX_API size_t hx_import_constants(const hx_import_t *import, const hx_import_constant_t **out_constants);
/// Encodes and binds all constants to a compilation of the program.
HX_API HX_MUST_USE hx_status_t hx_import_bind(const hx_import_t *import, hx_compilation_t *compilation,
                                              hx_report_t *report);

#ifdef __cplusplus
}
#endif
#endif
