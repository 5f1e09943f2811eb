// SPDX-License-Identifier: Apache-2.0
// What stands around the builder's fragment of docs/circuits.md.
#include "heliox/heliox.h"

void fragment(hx_params_t *params, hx_builder_t *builder, hx_node_t *x, hx_node_t *y, const hx_matrix_t *matrix,
              hx_polynomial_t sigmoid, hx_program_t *program, hx_compilation_t *compilation, hx_report_t *report);

void fragment(hx_params_t *params, hx_builder_t *builder, hx_node_t *x, hx_node_t *y, const hx_matrix_t *matrix,
              hx_polynomial_t sigmoid, hx_program_t *program, hx_compilation_t *compilation, hx_report_t *report) {
  // SNIPPET
}
