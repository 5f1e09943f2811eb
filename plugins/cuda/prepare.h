// SPDX-License-Identifier: Apache-2.0
// Preparing: a region of one operation is checked once and becomes a list of kernel launches.
//
// hx_cuda_prepare reads what holds for every operation; the operation's build function (impls.def) checks the rest and
// adds steps (step.h), each a launch whose arguments are complete but for the addresses of a call's buffers. What
// kernels read beside rows (row tables, constants) is gathered and put into device memory once, at the end. A prepared
// object never changes afterwards: any number of threads may execute it, each on its own queue.
#ifndef HX_CUDA_PREPARE_H
#define HX_CUDA_PREPARE_H

#include "device.h"
#include "error.h"
#include "view.h"

typedef struct hx_cuda_step hx_cuda_step_t;

struct hx_prepared {
  hx_device *device;
  const hx_tables *tables;  // the host keeps them while this lives
  const char *name;         // of the operation
  uint32_t log_n;
  size_t n;
  bool real;  // rows of primes that have the real path take it
  uint32_t operand_count, result_count;
  hx_cuda_view_t *operands, *results;
  uint64_t scratch_bytes;
  hx_cuda_step_t *steps;
  uint32_t step_count, step_room;
  uint64_t constants;  // device address; 0: none
  struct hx_cuda_block *blocks;
};

typedef struct hx_cuda_build {
  hx_prepared *prepared;
  const hx_tables *tables;
  const hx_op *op;
  hx_plan *plan;
  hx_error *error;
  uint8_t *constants;  // gathered so far
  uint64_t constant_bytes, constant_room;
} hx_cuda_build_t;

typedef int32_t hx_cuda_build_fn(hx_cuda_build_t *build);

// A row of impls.def.
typedef struct hx_cuda_impl_row {
  hx_cuda_build_fn *build;
  const char *attributes;  // names that the operation may have, each followed by a blank
  uint32_t others;         // dtype of an operand that is no residue; 0: none
  uint32_t domains;        // bit (1 << HX_NTT) and so on
  bool in_place;
} hx_cuda_impl_row_t;

// Registered implementations, in the order of impls.def.
extern const hx_impl *const hx_cuda_impls[];
extern const hx_cuda_impl_row_t hx_cuda_impl_rows[];
extern const uint32_t hx_cuda_impl_count;

// hx_impl, the same three functions for all rows.
int32_t hx_cuda_prepare(hx_device *device, const hx_region *region, hx_plan *plan, hx_prepared **out, hx_error *error);
int32_t hx_cuda_execute(hx_prepared *prepared, const hx_call *call, hx_error *error);
void hx_cuda_destroy(hx_prepared *prepared);

// ---- for build functions

// "rns.add: ..." into the error; returns the code.
int32_t hx_cuda_refuse(const hx_cuda_build_t *build, int32_t code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// Zeroed memory that lives as long as the prepared object, 64-byte aligned; NULL when there is none. count * size fits.
void *hx_cuda_keep(hx_prepared *prepared, size_t count, size_t size);
// The same, reporting HX_OUT_OF_MEMORY.
int32_t hx_cuda_keep_or_fail(const hx_cuda_build_t *build, size_t count, size_t size, void *out_pointer);

// Operands and results that the operation has.
int32_t hx_cuda_expect_counts(const hx_cuda_build_t *build, uint32_t operands_min, uint32_t operands_max,
                              uint32_t results_min, uint32_t results_max);
int32_t hx_cuda_expect_residues(const hx_cuda_build_t *build, const hx_cuda_view_t *view);
int32_t hx_cuda_expect_components(const hx_cuda_build_t *build, const hx_cuda_view_t *view, uint32_t components);
int32_t hx_cuda_expect_domain(const hx_cuda_build_t *build, const hx_cuda_view_t *view, uint32_t domain);
int32_t hx_cuda_expect_repr(const hx_cuda_build_t *build, const hx_cuda_view_t *view, uint32_t repr);
// The same prime ids, in order.
int32_t hx_cuda_expect_ids(const hx_cuda_build_t *build, const hx_cuda_view_t *view, uint32_t count,
                           const uint32_t *ids);
// The batch of `shape`, or none: then it repeats.
int32_t hx_cuda_expect_batch(const hx_cuda_build_t *build, hx_cuda_view_t *view, const hx_cuda_view_t *shape);
// Residues with batch, components, ids, domain and representation of `shape`.
int32_t hx_cuda_expect_like(const hx_cuda_build_t *build, hx_cuda_view_t *view, const hx_cuda_view_t *shape);
// One component, repeated for all of `shape`; the rest alike.
int32_t hx_cuda_expect_factor(const hx_cuda_build_t *build, hx_cuda_view_t *view, const hx_cuda_view_t *shape);
// The result may lie exactly on the operand, if their layouts are the same.
void hx_cuda_allow_alias(const hx_cuda_build_t *build, uint32_t result, uint32_t operand);

// ---- attributes: HX_INVALID where missing, of another kind, or out of range

const hx_attr *hx_cuda_attr_find(const hx_cuda_build_t *build, const char *name);
int32_t hx_cuda_attr_i64(const hx_cuda_build_t *build, const char *name, int64_t low, int64_t high, int64_t *out);
// Ascending prime ids below the ring's count.
int32_t hx_cuda_attr_ids(const hx_cuda_build_t *build, const char *name, const int64_t **out_ids, uint32_t *out_count);
// nearest: true; truncating: false.
int32_t hx_cuda_attr_rounding(const hx_cuda_build_t *build, bool *out_nearest);
bool hx_cuda_attr_is_text(const hx_attr *attr, const char *text);
// `words` constants a row of the view, each below its prime.
int32_t hx_cuda_attr_residues(const hx_cuda_build_t *build, uint32_t words, const hx_cuda_view_t *view,
                              const uint64_t **out);

#endif
