// SPDX-License-Identifier: Apache-2.0
// A compilation: a program of its own, its parameters, and what is bound to its symbols.
#ifndef HELIOX_CORE_COMPILE_COMPILATION_H
#define HELIOX_CORE_COMPILE_COMPILATION_H

#include "core/link/link.h"

struct hx_compilation {
  hx_program_t *program;  // own copy, changed by transform
  hx_params_t *params;
  hx_keys_t *keys;         // or NULL
  hx_binding_t *bindings;  // symbols owned here, values retained
  size_t binding_count, binding_capacity;
  hx_switch_binding_t *switches;  // symbols owned here, keys retained
  size_t switch_count, switch_capacity;
  hx_arena_t arena;  // of the ports
  hx_port_t *ports;  // materials of the program as it is now
  size_t port_count, port_capacity;
};

// The first material.ref of a symbol, or NULL.
const hx_ir_op_t *hx_compilation_find(const hx_compilation_t *compilation, hx_str_t symbol);
// Lists the materials anew; call after the program changed.
hx_status_t hx_compilation_list_materials(hx_compilation_t *compilation);
// What hx_link_program takes. Borrowed from the compilation.
hx_link_source_t hx_compilation_source(const hx_compilation_t *compilation);

#endif
