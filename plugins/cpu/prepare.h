// SPDX-License-Identifier: Apache-2.0
// What an operation becomes: the library's views and constants (heliox/support/prepare.h), kernels and a function to
// run. A build function (impls.def) checks its operation, computes its constants and fills in `plan`, `scratch_bytes`,
// `cost` and the function.
#ifndef HX_CPU_PREPARE_H
#define HX_CPU_PREPARE_H

#include "heliox/support/prepare.h"
#include "kernels/variants.h"

typedef struct hx_cpu_run hx_cpu_run_t;
typedef int32_t hx_cpu_run_fn(hx_cpu_run_t *run);
typedef void hx_cpu_row_fn(const hx_cpu_run_t *run, uint64_t index);  // of items, components and limbs of result 0

struct hx_prepared {
  hxs_prepared base;
  hx_cpu_kernels_t kernels;
  hx_cpu_run_fn *run;
  hx_cpu_row_fn *row;  // of operations that do one row after the other: what `run` calls for each; else NULL
  uint64_t row_cost;   // element steps of a row, for hx_cpu_for
};

// Rows of impls.def, and the registered implementations in the same order.
extern const hxs_plugin hx_cpu_plugin;
extern const hx_impl *const hx_cpu_impls[];

// Of hx_cpu_plugin.
const hxs_ring *hx_cpu_ring_of(const hx_device *device, const hx_tables *tables);
int32_t hx_cpu_choose_kernels(hxs_build *build, const hx_region *region);

// hx_impl, the same functions for all rows; hxs_destroy is the third.
int32_t hx_cpu_prepare(hx_device *device, const hx_region *region, hx_plan *plan, hx_prepared **out, hx_error *error);
int32_t hx_cpu_execute(hx_prepared *prepared, const hx_call *call, hx_error *error);

// For build functions: what the operation runs; or what it does to every row of result 0 on its own, and at what cost
// in element steps.
void hx_cpu_set_run(const hxs_build *build, hx_cpu_run_fn *run);
void hx_cpu_set_rows(const hxs_build *build, hx_cpu_row_fn *row, uint64_t row_cost);

#endif
