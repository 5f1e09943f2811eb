// SPDX-License-Identifier: Apache-2.0
// The inside of a callable: callable.c (life, matching, calls), variant.c (from a source to a transformed program and
// its executable), in_place.c (calls inside a capture).
#ifndef HELIOX_CORE_COMPILE_CALLABLE_H
#define HELIOX_CORE_COMPILE_CALLABLE_H

#include <pthread.h>

#include "core/compile/compilation.h"
#include "core/compile/signature.h"

// What callables made by with_backend share. Reference-counted, immutable.
typedef struct hx_callable_source {
  atomic_uint refs;
  hx_arena_t arena;  // of texts
  hx_function_t function;
  void *argument;
  hx_program_t *program;  // or NULL
  hx_params_t *params;
  hx_keys_t *keys;         // or NULL
  hx_binding_t *bindings;  // of a program: what its symbols stand for; values retained
  size_t binding_count;
  hx_switch_binding_t *switches;
  size_t switch_count;
  hx_named_value_t *names;  // of a function's data; values retained
  size_t name_count;
  hx_input_spec_t *inputs;  // of a function
  bool *is_static;          // [input_count]; NULL: of a program
  size_t input_count, output_count;
  const char **output_names;
  const char *pipeline;  // NULL: the default
  const char *(*choose_pipeline)(void *argument, const hx_signature_t *signature);
  void *choose_argument;
} hx_callable_source_t;

hx_callable_source_t *hx_callable_source_retain(hx_callable_source_t *source);
void hx_callable_source_release(hx_callable_source_t *source);

// A transformed program for one signature, shared by callables. Reference-counted, immutable.
typedef struct hx_variant {
  atomic_uint refs;
  hx_signature_t *signature;
  char *text, *pipeline;          // of the signature; the passes
  hx_compilation_t *compilation;  // transformed, with all bindings
  size_t input_count;             // of the program: arguments that are not static
} hx_variant_t;

hx_status_t hx_variant_create(const hx_callable_source_t *source, const hx_backend_t *backend,
                              const hx_value_t *const *inputs, hx_variant_t **out, hx_report_t *report);
hx_variant_t *hx_variant_retain(hx_variant_t *variant);
void hx_variant_release(hx_variant_t *variant);
hx_status_t hx_variant_link(const hx_variant_t *variant, const hx_backend_t *backend, hx_executable_t **out,
                            hx_report_t *report);
// The source's program for arguments of these types, and a compilation with its bindings. Not for functions.
hx_status_t hx_callable_source_compile(const hx_callable_source_t *source, const hx_value_t *const *inputs,
                                       hx_compilation_t **out, hx_report_t *report);

typedef struct hx_specialized {
  hx_variant_t *variant;
  hx_executable_t *executable;  // NULL: not linked yet
} hx_specialized_t;

struct hx_compiled_callable {
  atomic_uint refs;
  hx_callable_source_t *source;
  hx_backend_t *backend;
  hx_on_miss_t on_miss;
  pthread_mutex_t prepare_lock;  // one preparation at a time; taken before `lock`
  pthread_mutex_t lock;          // what follows
  hx_specialized_t *items;
  size_t count, capacity;
};

// The executable of a call, retained; NULL where there is none. For calls and for measuring.
hx_executable_t *hx_callable_find(hx_callable_t *callable, const hx_value_t *const *inputs);

// in_place.c
struct hx_capture;
hx_status_t hx_callable_put_in_place(const hx_callable_t *callable, struct hx_capture *capture,
                                     const hx_value_t *const *inputs, hx_value_t **outputs, hx_report_t *report);

#endif
