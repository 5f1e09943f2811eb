// SPDX-License-Identifier: Apache-2.0
#ifndef HELIOX_CORE_CIRCUITS_BUILDER_H
#define HELIOX_CORE_CIRCUITS_BUILDER_H

#include "core/circuits/target.h"
#include "core/ir/ir.h"

// Numbers behind material weight<i>, owned.
typedef struct hx_builder_weight {
  double *values;
  size_t count;
  bool is_complex;
  uint32_t period;  // 0: all slots
} hx_builder_weight_t;

typedef struct hx_builder_port {
  char *name;
  hx_ir_value_t *value;  // of an output
} hx_builder_port_t;

struct hx_builder {
  hx_params_t *params;
  hx_program_t *program;
  hx_ir_op_t *func;
  hx_ir_block_t *block;
  bool finished;
  hx_builder_port_t *inputs, *outputs;
  size_t input_count, input_capacity, output_count, output_capacity;
  hx_builder_weight_t *weights;
  size_t weight_count, weight_capacity;
};

// The builder as a target of circuits. Nodes are values of its program; retain and release do nothing. Refused
// (invalid-argument): NULL, or a builder that has finished; `what` names the call.
hx_status_t hx_builder_target(hx_builder_t *builder, const char *what, hx_target_t *out, hx_report_t *report);

#endif
