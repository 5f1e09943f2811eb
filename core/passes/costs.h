// SPDX-License-Identifier: Apache-2.0
// The table of measured costs: one row for each operation of one shape, executed in one way on one device by one build
// of a plugin. Filled by measuring (core/compile/tune.c), read by select-by-cost and by plan reports. Nothing in it is
// a guess.
#ifndef HELIOX_CORE_PASSES_COSTS_H
#define HELIOX_CORE_PASSES_COSTS_H

#include "core/ir/ir.h"
#include "heliox/tune.h"

#define HX_COSTS_ROWS_MAX 100000
#define HX_COST_PROGRAM "program"  // the operation of rows about whole programs

struct hx_costs {
  hx_arena_t arena;
  hx_cost_t *rows;  // texts in the arena
  size_t count, capacity;
  const char *device, *digest;  // whose rows are looked up; NULL: nobody's
};

// The shape of an operation as text: ring, state and number of operands and results, and attributes that decide what is
// computed. Equal shapes cost the same. INVALID where a type is open.
hx_status_t hx_cost_shape(const hx_ir_op_t *op, const hx_ring *ring, hx_text_t *out);
// From now on rows of this device and plugin build are looked up.
hx_status_t hx_costs_use(hx_costs_t *costs, const char *device, const char *digest);
// Nanoseconds of an operation executed in one way on the device in use, or a negative number where none was measured.
double hx_costs_find(const hx_costs_t *costs, const char *operation, const char *shape, const char *candidate);
// Adds or replaces a row.
hx_status_t hx_costs_set(hx_costs_t *costs, const hx_cost_t *row);

#endif
