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
  const char *pipeline;  // NULL: the default
  bool place_materials;  // copy materials to a device that cannot use host memory in place
  bool check_only;       // resolve and check; bind, prepare and return nothing
  const hx_link_wish_t *wishes;
  size_t wish_count;
  // Per input of @main, or NULL for all dense and public: strides to prepare for (NULL entry: dense), secret or not.
  const hx_layout_t *const *input_layouts;
  const bool *secret_inputs;
} hx_link_options_t;

// Links. All problems are reported at once, each naming operation, operand and rule with its line. out is untouched on
// failure, and with check_only.
hx_status_t hx_link_program(const hx_link_source_t *source, const hx_backend_t *backend,
                            const hx_link_options_t *options, hx_executable_t **out, hx_report_t *report);

#endif
