// SPDX-License-Identifier: Apache-2.0
// Preparing: a region of one operation is checked once and becomes views, constants and a function to run.
//
// hx_cpu_prepare reads what holds for every operation; the operation's build function (impls.def) checks the rest,
// computes its constants and fills in `run`, `plan`, `scratch_bytes` and `cost`. A prepared object never changes
// afterwards: any number of threads may execute it, each on its own queue.
#ifndef HX_CPU_PREPARE_H
#define HX_CPU_PREPARE_H

#include "error.h"
#include "kernels/variants.h"
#include "view.h"

typedef struct hx_cpu_run hx_cpu_run_t;

struct hx_prepared {
  const hx_device *device;
  const hx_tables *tables;  // the host keeps them while this lives
  hx_cpu_kernels_t kernels;
  uint32_t log_n;
  size_t n;
  uint32_t operand_count, result_count;
  hx_cpu_view_t *operands, *results;
  uint64_t scratch_bytes;
  uint64_t cost;  // element steps in all, about a nanosecond each
  int32_t (*run)(hx_cpu_run_t *run);
  const void *plan;  // the operation's own
  struct hx_cpu_block *blocks;
};

typedef struct hx_cpu_build {
  hx_prepared *prepared;
  const hx_tables *tables;
  const hx_op *op;
  hx_plan *plan;
  hx_error *error;
} hx_cpu_build_t;

typedef int32_t hx_cpu_build_fn(hx_cpu_build_t *build);

// A row of impls.def.
typedef struct hx_cpu_impl_row {
  hx_cpu_build_fn *build;
  const char *attributes;  // names that the operation may have, each followed by a blank
  uint32_t others;         // dtype of an operand that is no residue, 0: none
  uint32_t domains;        // bit (1 << HX_NTT) and so on
  bool in_place;
} hx_cpu_impl_row_t;

// Registered implementations, in the order of impls.def.
extern const hx_impl *const hx_cpu_impls[];
extern const hx_cpu_impl_row_t hx_cpu_impl_rows[];
extern const uint32_t hx_cpu_impl_count;

// hx_impl, the same three functions for all rows.
int32_t hx_cpu_prepare(hx_device *device, const hx_region *region, hx_plan *plan, hx_prepared **out, hx_error *error);
int32_t hx_cpu_execute(hx_prepared *prepared, const hx_call *call, hx_error *error);
void hx_cpu_destroy(hx_prepared *prepared);

// ---- for build functions

// "rns.add: ..." into the error; returns the code.
int32_t hx_cpu_refuse(const hx_cpu_build_t *build, int32_t code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// Zeroed memory that lives as long as the prepared object, 64-byte aligned; NULL when there is none. count * size fits.
void *hx_cpu_keep(hx_prepared *prepared, size_t count, size_t size);
// The same, reporting HX_OUT_OF_MEMORY.
int32_t hx_cpu_keep_or_fail(const hx_cpu_build_t *build, size_t count, size_t size, void *out_pointer);

// Operands and results that the operation has.
int32_t hx_cpu_expect_counts(const hx_cpu_build_t *build, uint32_t operands_min, uint32_t operands_max,
                             uint32_t results_min, uint32_t results_max);
int32_t hx_cpu_expect_residues(const hx_cpu_build_t *build, const hx_cpu_view_t *view);
int32_t hx_cpu_expect_components(const hx_cpu_build_t *build, const hx_cpu_view_t *view, uint32_t components);
int32_t hx_cpu_expect_domain(const hx_cpu_build_t *build, const hx_cpu_view_t *view, uint32_t domain);
int32_t hx_cpu_expect_repr(const hx_cpu_build_t *build, const hx_cpu_view_t *view, uint32_t repr);
// The same prime ids, in order.
int32_t hx_cpu_expect_ids(const hx_cpu_build_t *build, const hx_cpu_view_t *view, uint32_t count, const uint32_t *ids);
// The batch of `shape`, or none: then it repeats.
int32_t hx_cpu_expect_batch(const hx_cpu_build_t *build, hx_cpu_view_t *view, const hx_cpu_view_t *shape);
// Residues with batch, components, ids, domain and representation of `shape`.
int32_t hx_cpu_expect_like(const hx_cpu_build_t *build, hx_cpu_view_t *view, const hx_cpu_view_t *shape);
// One component, repeated for all of `shape`; the rest alike.
int32_t hx_cpu_expect_factor(const hx_cpu_build_t *build, hx_cpu_view_t *view, const hx_cpu_view_t *shape);
// The result may lie exactly on the operand, if their layouts are the same.
void hx_cpu_allow_alias(const hx_cpu_build_t *build, uint32_t result, uint32_t operand);

// ---- attributes: HX_INVALID where missing, of another kind, or out of range

const hx_attr *hx_cpu_attr_find(const hx_cpu_build_t *build, const char *name);
int32_t hx_cpu_attr_i64(const hx_cpu_build_t *build, const char *name, int64_t low, int64_t high, int64_t *out);
// Ascending prime ids below the ring's count.
int32_t hx_cpu_attr_ids(const hx_cpu_build_t *build, const char *name, const int64_t **out_ids, uint32_t *out_count);
// nearest: true; truncating: false.
int32_t hx_cpu_attr_rounding(const hx_cpu_build_t *build, bool *out_nearest);
bool hx_cpu_attr_is_text(const hx_attr *attr, const char *text);
// `words` constants a row of the view, each below its prime.
int32_t hx_cpu_attr_residues(const hx_cpu_build_t *build, uint32_t words, const hx_cpu_view_t *view,
                             const uint64_t **out);

#endif
