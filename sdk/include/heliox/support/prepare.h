// SPDX-License-Identifier: Apache-2.0
// Preparing: a region of one operation is checked once and becomes views, constants and what the plugin runs.
//
// hxs_prepare reads what holds for every operation; the operation's build function (hxs_impl_row) checks the rest,
// computes its constants and says what to run. A plugin's own objects begin with those of this header:
//
//   struct hx_tables { hxs_ring ring; ... };        // what the plugin computes for a ring
//   struct hx_prepared { hxs_prepared base; ... };  // what it runs
//
// A prepared object never changes after hxs_prepare: any number of threads may execute it, each on its own queue.
#ifndef HELIOX_SUPPORT_PREPARE_H
#define HELIOX_SUPPORT_PREPARE_H

#include "heliox/support/error.h"
#include "heliox/support/view.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hxs_plugin;
struct hxs_block;

// What every plugin's hx_prepared begins with.
typedef struct hxs_prepared {
  const struct hxs_plugin *plugin;  // that made it
  hx_device *device;                // it runs on
  const hx_tables *tables;          // the host keeps them while this lives
  const hxs_ring *ring;             // of the tables
  const char *name;                 // of the operation, as its row has it
  uint32_t log_n;                   // of the ring
  size_t n;                         // 2^log_n
  uint32_t operand_count;           // of operands
  uint32_t result_count;            // of results
  hxs_view *operands;               // views
  hxs_view *results;                // views
  uint64_t scratch_bytes;           // of scratch_device
  uint64_t cost;                    // element steps in all, about a nanosecond each; 0: not known
  const void *plan;                 // the operation's own
  struct hxs_block *blocks;         // memory that hxs_keep gave
} hxs_prepared;

// What a build function gets.
typedef struct hxs_build {
  hxs_prepared *prepared;  // what is made
  const hxs_ring *ring;    // of the region
  const hx_op *op;         // the operation
  hx_plan *plan;           // the host's, to be filled in
  hx_error *error;         // the host's
} hxs_build;

// Checks one operation and plans it; HX_OK or the code of hxs_refuse.
typedef int32_t hxs_build_fn(hxs_build *build);

// An implemented operation.
typedef struct hxs_impl_row {
  const char *op;          // of the catalogue
  uint32_t signature;      // version of the operation
  hxs_build_fn *build;     // what checks and plans it
  const char *attributes;  // names that the operation may have, each followed by a blank
  uint32_t others;         // dtype of an operand that is no residue, 0: none
  uint32_t domains;        // bits HXS_DOMAINS_
  bool in_place;           // the first result may lie on an operand of the same layout
} hxs_impl_row;

// Rows that take coefficients.
#define HXS_DOMAINS_COEFFICIENT (1u << HX_COEFFICIENT)
// Rows that take ntt domain.
#define HXS_DOMAINS_NTT (1u << HX_NTT)
// Rows that take both.
#define HXS_DOMAINS_ANY (HXS_DOMAINS_NTT | HXS_DOMAINS_COEFFICIENT)

// What a plugin is, for the functions below. Constant data.
typedef struct hxs_plugin {
  const char *name;          // short name, for messages
  const hxs_impl_row *rows;  // implementations
  uint32_t row_count;        // of rows
  size_t prepared_bytes;     // size of the plugin's hx_prepared, which begins with an hxs_prepared
  // The ring of tables that this device made; NULL where they are another device's.
  const hxs_ring *(*ring_of)(const hx_device *device, const hx_tables *tables);
  // Optional, NULL where there is nothing to do: before the row's build function, after it, and before an object is
  // freed, built to the end or not.
  int32_t (*begin)(hxs_build *build, const hx_region *region);
  // After the build function.
  int32_t (*end)(hxs_build *build);
  // Before an object is freed.
  void (*release)(hx_prepared *prepared);
  bool refuses_secrets;  // branches or addresses depend on data: secret operands are refused
} hxs_plugin;

// [A] For hx_impl: a region of one operation. On failure *out is untouched and no alias is allowed.
int32_t hxs_prepare(const hxs_plugin *plugin, hx_device *device, const hx_region *region, hx_plan *plan,
                    hx_prepared **out, hx_error *error);
// [A] hx_impl.destroy.
void hxs_destroy(hx_prepared *prepared);

// For plugins that prepare chains of operations as one: what hxs_prepare consists of. hxs_region_check takes any
// number of operations; hxs_prepare_op prepares `op`, whose operands and results are values of the checked region.
int32_t hxs_region_check(const hxs_plugin *plugin, hx_device *device, const hx_region *region, const hx_plan *plan,
                         hx_error *error);
// See hxs_region_check.
int32_t hxs_prepare_op(const hxs_plugin *plugin, hx_device *device, const hx_region *region, const hx_op *op,
                       hx_plan *plan, hx_prepared **out, hx_error *error);
// An object for a checked region, with what all have; `name` lives as long. What is made of it is given to hxs_end.
int32_t hxs_begin(const struct hxs_plugin *plugin, hx_device *device, const hx_region *region, const char *name,
                  hx_prepared **out, hx_error *error);
// The object into *out where the code is HX_OK, its scratch memory and cost into the plan; else it is destroyed and the
// plan allows no result in place. Returns the code.
int32_t hxs_end(hx_prepared *object, int32_t code, hx_plan *plan, hx_prepared **out);
// Operation `index` of a region, and attribute `index` of an operation: a newer host may have made the structs longer.
const hx_op *hxs_region_op(const hx_region *region, uint32_t index);
// Attribute `index` of an operation.
const hx_attr *hxs_op_attr(const hx_op *op, uint32_t index);

// Calls check for every operand, then every result, with the span of the call that belongs to it and a name for
// messages; the first code other than HX_OK ends it and is returned. HX_INVALID where the call has no inputs or
// outputs.
typedef int32_t hxs_span_fn(void *self, const hxs_view *view, hx_span span, const char *what, hx_error *error);
// See hxs_span_fn.
int32_t hxs_call_spans(const hxs_prepared *prepared, const hx_call *call, hxs_span_fn *check, void *self,
                       hx_error *error);

// ---- for build functions

// "rns.add: ..." into the error; returns the code.
int32_t hxs_refuse(const hxs_build *build, int32_t code, const char *format, ...) __attribute__((format(printf, 3, 4)));
// Zeroed memory that lives as long as the prepared object, 64-byte aligned; NULL when there is none.
void *hxs_keep(hxs_prepared *prepared, size_t count, size_t size);
// The same, reporting HX_OUT_OF_MEMORY. out_pointer is the address of a pointer of any type.
int32_t hxs_keep_or_fail(const hxs_build *build, size_t count, size_t size, void *out_pointer);

// Operands and results that the operation has.
int32_t hxs_expect_counts(const hxs_build *build, uint32_t operands_min, uint32_t operands_max, uint32_t results_min,
                          uint32_t results_max);
// The tensor has residues.
int32_t hxs_expect_residues(const hxs_build *build, const hxs_view *view);
// It has so many components.
int32_t hxs_expect_components(const hxs_build *build, const hxs_view *view, uint32_t components);
// It is in this domain.
int32_t hxs_expect_domain(const hxs_build *build, const hxs_view *view, uint32_t domain);
// It has this representation.
int32_t hxs_expect_repr(const hxs_build *build, const hxs_view *view, uint32_t repr);
// The same prime ids, in order.
int32_t hxs_expect_ids(const hxs_build *build, const hxs_view *view, uint32_t count, const uint32_t *ids);
// Rows of the first primes of Q, in order.
int32_t hxs_expect_leading(const hxs_build *build, const hxs_view *view);
// Result 0 has the rows that attribute `ids` lists.
int32_t hxs_expect_listed(const hxs_build *build);
// 32 bytes: dtype HX_U8, log_n 5, one limb and component.
int32_t hxs_expect_seed(const hxs_build *build, const hxs_view *view);
// The batch of `shape`, or none: then it repeats.
int32_t hxs_expect_batch(const hxs_build *build, hxs_view *view, const hxs_view *shape);
// Residues with batch, components, ids, domain and representation of `shape`.
int32_t hxs_expect_like(const hxs_build *build, hxs_view *view, const hxs_view *shape);
// One component, repeated for all of `shape`; the rest alike.
int32_t hxs_expect_factor(const hxs_build *build, hxs_view *view, const hxs_view *shape);
// The result may lie exactly on the operand, if their layouts are the same.
void hxs_allow_alias(const hxs_build *build, uint32_t result, uint32_t operand);

// ---- attributes: HX_INVALID where missing, of another kind, or out of range

// NULL where it is missing.
const hx_attr *hxs_attr_find(const hxs_build *build, const char *name);
// One integer in a range.
int32_t hxs_attr_i64(const hxs_build *build, const char *name, int64_t low, int64_t high, int64_t *out);
// Ascending prime ids below the ring's count, at most HXS_PRIMES_MAX.
int32_t hxs_attr_ids(const hxs_build *build, const char *name, uint32_t *out_ids, uint32_t *out_count);
// nearest: true; truncating: false.
int32_t hxs_attr_rounding(const hxs_build *build, bool *out_nearest);
// Whether an attribute is this text.
bool hxs_attr_is_text(const hx_attr *attr, const char *text);
// `words` constants a row of the view, each below its prime. Borrowed from the region.
int32_t hxs_attr_residues(const hxs_build *build, uint32_t words, const hxs_view *view, const uint64_t **out);

#ifdef __cplusplus
}
#endif

#endif
