// SPDX-License-Identifier: Apache-2.0
/// @file
/// Programs as pictures and as C.
#ifndef HELIOX_EMIT_H
#define HELIOX_EMIT_H

#include "heliox/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/// What a program is written as.
typedef enum hx_emit_form {
  HX_EMIT_DOT,     ///< Graphviz
  HX_EMIT_SVG,     ///< a picture: colour by dialect, rows by depth, the state of every value at its edge
  HX_EMIT_HTML,    ///< a page with the picture, search and tooltips; needs nothing besides itself
  HX_EMIT_EAGER_C  ///< a C function of engine calls
} hx_emit_form_t;  ///< see hx_emit_form

/// Writes a program. Deterministic; freed by hx_text_free. States are shown as far as they are known: run infer-state
/// before. EAGER_C has an operation for every method of the engine and control flow over public numbers.
/// @retval HX_STATUS_UNSUPPORTED EAGER_C: an operation that no method of the engine does, named
/// @retval HX_STATUS_REFUSED (limit) a picture of more than 20,000 operations
HX_API HX_MUST_USE hx_status_t hx_emit(const hx_program_t *program, hx_emit_form_t form, char **out_text,
                                       hx_report_t *report);
/// A linked program as a C file (backend-c): tables of its operations, types and chosen implementations, and a function
/// that links them to a backend with neither text nor passes. Built against heliox/heliox.h and libheliox. `name` is a
/// C identifier, the prefix of what the file defines; NULL: "program".
/// @retval HX_STATUS_UNSUPPORTED the program switches between secrets
HX_API HX_MUST_USE hx_status_t hx_emit_executable(const hx_executable_t *executable, const char *name, char **out_text,
                                                  hx_report_t *report);

#ifdef __cplusplus
}
#endif
#endif
