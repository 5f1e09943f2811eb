// SPDX-License-Identifier: Apache-2.0
// A capture: the program that a capturing engine writes while a function runs, and the data that it meets.
#ifndef HELIOX_CORE_EAGER_CAPTURE_H
#define HELIOX_CORE_EAGER_CAPTURE_H

#include "core/eager/engine.h"
#include "core/ir/ir.h"
#include "heliox/capture.h"

// Reference-counted: recorded values hold it. One thread at a time.
typedef struct hx_capture {
  atomic_uint refs;
  hx_engine_t engine;     // what the function is given
  hx_program_t *program;  // @main, growing
  hx_ir_block_t *block;
  hx_binding_t *bindings;      // data met so far; symbols in the program's arena, values retained
  hx_ir_value_t **references;  // [binding_count] their material.ref
  size_t binding_count, binding_capacity, reference_capacity;
  hx_switch_binding_t *switches;  // the same of switching keys
  hx_ir_value_t **switch_references;
  size_t switch_count, switch_capacity, switch_reference_capacity;
  const hx_named_value_t *names;  // of data, by the caller; borrowed
  size_t name_count;
} hx_capture_t;

hx_status_t hx_capture_create(const hx_params_t *params, hx_capture_t **out, hx_report_t *report);
void hx_capture_release(hx_capture_t *capture);
// A new argument of @main as a recorded value. Complete type.
hx_status_t hx_capture_argument(hx_capture_t *capture, const hx_type_t *type, hx_value_t **out, hx_report_t *report);
// A value of the program as a recorded value. count, complexity: of what it depends on.
hx_status_t hx_capture_wrap(hx_capture_t *capture, hx_ir_value_t *ir_value, uint64_t count, bool is_complex,
                            hx_value_t **out, hx_report_t *report);
// The IR value of an operand: recorded here, or data that becomes a material.
hx_status_t hx_capture_operand(hx_capture_t *capture, const hx_value_t *value, const char *what, hx_ir_value_t **out,
                               hx_report_t *report);
// The reference to a switching key, which is bound.
hx_status_t hx_capture_switch(hx_capture_t *capture, const hx_switch_t *key, hx_ir_value_t **out, hx_report_t *report);
// Records one engine call; outs receive recorded values.
hx_status_t hx_capture_call(hx_capture_t *capture, const hx_engine_call_t *call, hx_value_t **outs,
                            hx_report_t *report);
// The capture that some value of a list is recorded by, or NULL. Refused (invalid-argument): by several.
hx_status_t hx_capture_of(const hx_value_t *const *values, size_t count, hx_capture_t **out, hx_report_t *report);

#endif
