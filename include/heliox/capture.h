// SPDX-License-Identifier: Apache-2.0
/// @file
/// Capture: a C function that computes with an engine becomes a program. The same function runs eagerly.
#ifndef HELIOX_CAPTURE_H
#define HELIOX_CAPTURE_H

#include "heliox/engine.h"
#include "heliox/file.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A computation. With an engine of a backend it computes; with a capturing engine every call of a method is recorded.
/// It uses the engine that it is given, fills all outputs with new values (or inputs, retained) and returns what its
/// calls return. What it decides by `argument`, by static inputs or by data of its own is decided once, when captured.
typedef hx_status_t (*hx_function_t)(hx_engine_t *engine, const hx_value_t *const *inputs, hx_value_t **outputs,
                                     void *argument, hx_report_t *report);

/// An input of a captured function.
typedef struct hx_input_spec {
  const char *name;  ///< NULL: argN
  const char *role;  ///< "ciphertext", "plaintext", "message" or "static"; NULL: what the type says
  const char *type;  ///< the IR type's text. ciphertext, plaintext: complete, or with `?` where the parameters say it;
                     ///< message: of the plaintext that it is encoded to when the program is called
  const hx_value_t *number;  ///< static: the number, a constant of the program; NULL otherwise
} hx_input_spec_t;

/// What is captured. Zero-initialise.
typedef struct hx_capture_spec {
  hx_function_t function;           ///< called once
  void *argument;                   ///< passed to the function
  const hx_input_spec_t *inputs;    ///< in the order of the function's inputs
  size_t input_count;               ///< their number
  size_t output_count;              ///< values that the function fills in
  const char *const *output_names;  ///< [output_count] or NULL; NULL entries: resultN
  /// Names of values that the function uses besides its inputs. They, and all other values with data that it uses, are
  /// bound to the compilation as materials; those without a name are called m0, m1, ... in order of first use.
  const hx_named_value_t *materials;
  size_t material_count;  ///< of materials
} hx_capture_spec_t;

/// Runs the function once with a capturing engine and gives the program that it is, with all data bound. There is no
/// global state: several captures may run at once, in several threads, and the function may use other engines on its
/// own data. A callable that is called with recorded values is put in place.
///
/// Refused by name (unsupported): encryption, decryption, decoding and saving of recorded values, key generation under
/// the capturing engine's parameters. Refused: secret data (secret), an output that is not set or belongs to another
/// capture (invalid-argument), whatever the methods refuse.
HX_API HX_MUST_USE hx_status_t hx_capture(const hx_params_t *params, const hx_capture_spec_t *spec,
                                          hx_compilation_t **out, hx_report_t *report);

#ifdef __cplusplus
}
#endif
#endif
