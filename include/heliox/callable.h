// SPDX-License-Identifier: Apache-2.0
/// @file
/// Callables: a computation that is captured, transformed and linked when it is first called with arguments of a kind,
/// and run from then on.
#ifndef HELIOX_CALLABLE_H
#define HELIOX_CALLABLE_H

#include "heliox/capture.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Reference-counted; any thread.
typedef struct hx_compiled_callable hx_callable_t;

/// What a call without a specialization does.
typedef enum hx_on_miss {
  HX_ON_MISS_COMPILE,  ///< prepares one
  HX_ON_MISS_ERROR     ///< fails (unprepared); hx_callable_prepare stays allowed
} hx_on_miss_t;

/// What a call looks like: of each argument its type, shape and strides, its device, whether it is secret, and the
/// number of a static one. Never contents or addresses. Borrowed for the call.
typedef struct hx_signature hx_signature_t;
/// Arguments.
HX_API size_t hx_signature_count(const hx_signature_t *signature);
/// The IR type's text of an argument; the text is valid until the next call with this signature.
HX_API const char *hx_signature_type(const hx_signature_t *signature, size_t index);
/// True, and its number, if the argument is a static one of a captured function.
HX_API bool hx_signature_number(const hx_signature_t *signature, size_t index, int64_t *out);

/// What is called. Zero-initialise; exactly one of function, program and compilation is set. Everything is copied or
/// retained; nothing is captured, compiled or executed.
typedef struct hx_callable_spec {
  hx_function_t function;               ///< what is captured; NULL where it is a program or compilation
  void *argument;                       ///< of the function; kept by the caller as long as the callable
  const hx_program_t *program;          ///< what is compiled
  const hx_compilation_t *compilation;  ///< its program and all that is bound to it, as they are now
  const hx_params_t *params;            ///< of a function or program; a program that names its parameters needs none
  const hx_keys_t *keys;                ///< bound to every variant; NULL: a compilation's, else none
  const hx_backend_t *backend;          ///< needed
  const char *pipeline;                 ///< passes instead of the default ones; "" for none
  /// Chooses a pipeline for a signature instead (NULL: the default one). The text is borrowed until the next call.
  const char *(*choose_pipeline)(void *argument, const hx_signature_t *signature);
  void *choose_argument;  ///< passed to choose_pipeline
  hx_on_miss_t on_miss;   ///< what a call without a specialization does
  /// Of a function: names and roles. Types come from the arguments; a type that is given must agree with them. A
  /// program has its own (NULL here).
  const hx_input_spec_t *inputs;
  size_t input_count;               ///< of a function
  size_t output_count;              ///< of a function
  const char *const *output_names;  ///< [output_count] or NULL
  const hx_named_value_t
      *materials;         ///< of a function: names of data that it uses; of a program: what its symbols stand for
  size_t material_count;  ///< of materials
} hx_callable_spec_t;

/// Makes one. Refused (invalid-argument): none or several sources, no backend, inputs given for a program.
HX_API HX_MUST_USE hx_status_t hx_callable_create(const hx_callable_spec_t *spec, hx_callable_t **out,
                                                  hx_report_t *report);
/// One more owner.
HX_API hx_callable_t *hx_callable_retain(const hx_callable_t *callable);
/// One owner less; NULL is allowed.
HX_API void hx_callable_release(hx_callable_t *callable);
/// Arguments of a call; outputs.
HX_API size_t hx_callable_inputs(const hx_callable_t *callable);
/// Outputs of a call.
HX_API size_t hx_callable_outputs(const hx_callable_t *callable);

/// Captures, transforms and links for calls that look like this one, without executing anything. Nothing happens where
/// that has been done. Of the arguments only what a signature has counts.
HX_API HX_MUST_USE hx_status_t hx_callable_prepare(hx_callable_t *callable, const hx_value_t *const *inputs,
                                                   hx_report_t *report);
/// Runs. Inside a capture, where an input is a recorded value, the computation is put in place instead and the outputs
/// are recorded values: the outer pipeline and backend govern it.
/// @param outputs as those of hx_run
HX_API HX_MUST_USE hx_status_t hx_callable_call(hx_callable_t *callable, const hx_value_t *const *inputs,
                                                hx_value_t **outputs, hx_report_t *report);
/// A callable of the same source whose specializations are those of now, to be linked to another backend: their
/// programs are transformed already and no pass runs again. They are unlinked until prepared or called.
HX_API HX_MUST_USE hx_status_t hx_callable_with_backend(const hx_callable_t *callable, const hx_backend_t *backend,
                                                        hx_callable_t **out, hx_report_t *report);
/// Forgets all specializations. Runs in progress finish; callables made by with_backend keep theirs.
HX_API void hx_callable_clear(hx_callable_t *callable);

/// One specialization. Everything is borrowed until the callable is cleared or released.
typedef struct hx_specialization {
  const char *signature;              ///< "(TYPE, TYPE, 3)", for people
  const char *pipeline;               ///< the passes that were run
  const hx_backend_t *backend;        ///< that it is linked to, or will be
  const hx_program_t *program;        ///< transformed
  const hx_executable_t *executable;  ///< NULL: not linked yet
} hx_specialization_t;
/// In the order in which they were prepared.
HX_API size_t hx_callable_specializations(const hx_callable_t *callable);
/// One of them; false where there is no such index.
HX_API bool hx_callable_specialization(const hx_callable_t *callable, size_t index, hx_specialization_t *out);

#ifdef __cplusplus
}
#endif
#endif
