// SPDX-License-Identifier: Apache-2.0
// Linking a program to a backend. The source is never changed: everything works on a clone.
#ifndef HELIOX_CORE_LINK_LINK_H
#define HELIOX_CORE_LINK_LINK_H

#include "core/backend/backend.h"
#include "core/ckks/keys.h"
#include "core/ir/ir.h"

// A value bound to a symbol, without the @.
typedef struct hx_binding {
  const char *symbol;
  hx_value_t *value;
} hx_binding_t;

// A switching key bound to a symbol, without the @.
typedef struct hx_switch_binding {
  const char *symbol;
  const hx_switch_t *key;
} hx_switch_binding_t;

// What is linked. Borrowed for the call; the executable retains what it keeps.
typedef struct hx_link_source {
  const hx_program_t *program;
  const hx_params_t *params;
  const hx_keys_t *keys;  // NULL: none bound
  const hx_binding_t *bindings;
  size_t binding_count;
  const hx_switch_binding_t *switches;
  size_t switch_count;
} hx_link_source_t;

// A caller's hard request: this implementation for one operation, or for all where operation is NULL.
typedef struct hx_link_wish {
  const char *operation;
  const char *implementation;
} hx_link_wish_t;

typedef struct hx_link_options {
  const hx_link_pass_t *passes;  // steps of linking instead of the standard ones; NULL: those
  size_t pass_count;
  const char *pipeline;  // NULL: the default
  bool place_materials;  // copy materials to a device that cannot use host memory in place
  bool is_lowered;       // the program is as linking left it: no pass is run, not even those that always are
  bool check_only;       // resolve and check; bind, prepare and return nothing
  const hx_link_wish_t *wishes;
  size_t wish_count;
  // Per input of @main, or NULL for all dense and public: strides to prepare for (NULL entry: dense), secret or not.
  const hx_layout_t *const *input_layouts;
  const bool *secret_inputs;
  // So that two executables have the same calls: an operation is kept only where this backend covers it too (NULL: no
  // other); lower_all: everything to primitives.
  const hx_backend_t *other;
  bool lower_all;
} hx_link_options_t;

// Links. All problems are reported at once, each naming operation, operand and rule with its line. out is untouched on
// failure, and with check_only.
hx_status_t hx_link_program(const hx_link_source_t *source, const hx_backend_t *backend,
                            const hx_link_options_t *options, hx_executable_t **out, hx_report_t *report);

// A result of a prepared call, as it stands when the call is over.
typedef struct hx_watched {
  size_t call;                 // number of the prepared call, from 0
  const char *operation;       // "rns.mul"
  const char *implementation;  // "cpu/cpu"
  const char *value;           // "%x"
  uint32_t result;
  uint32_t line, column;      // of the operation in the program; 0: none
  bool secret;                // then there is no data
  bool inner;                 // of a fused region that alone reads it: it has no memory, so there is no data either
  const hx_layout_t *layout;  // dense
  const uint32_t *prime_ids;  // [limbs]; NULL where dtype is no residue
  const void *data;
} hx_watched_t;

// Called for every result of every prepared call, in order; for a fused region for every result of its operations. The
// run waits for each call and copies its results to the host, so a watched run is slow.
typedef struct hx_watcher {
  void (*watch)(void *argument, const hx_watched_t *watched);
  // Called once all is done, before outputs are given: another status than OK fails the run. May be NULL.
  hx_status_t (*end)(void *argument);
  void *argument;
} hx_watcher_t;

// hx_run_with, watched.
hx_status_t hx_run_watched(hx_executable_t *executable, const hx_value_t *const *inputs, hx_value_t **outputs,
                           const hx_run_options_t *options, const hx_watcher_t *watcher, hx_report_t *report);
// Type of an input as linked, of an index in range.
const hx_type_t *hx_executable_input_type(const hx_executable_t *executable, size_t index);

#endif
