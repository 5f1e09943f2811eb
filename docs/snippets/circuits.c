// SPDX-License-Identifier: Apache-2.0
// What stands around the engine's fragments of docs/circuits.md.
#include "heliox/heliox.h"

double logistic(double x, void *argument);
void fragment(hx_engine_t *engine, hx_value_t *x, hx_value_t *y, const double *entries, hx_matrix_t *matrix,
              int64_t *list, size_t room, size_t steps, hx_report_t *report);

void fragment(hx_engine_t *engine, hx_value_t *x, hx_value_t *y, const double *entries, hx_matrix_t *matrix,
              int64_t *list, size_t room, size_t steps, hx_report_t *report) {
  (void)entries, (void)matrix, (void)list, (void)room, (void)steps;
  // SNIPPET
}
