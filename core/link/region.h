// SPDX-License-Identifier: Apache-2.0
// The call description of the plugin ABI, made from an operation of the IR whose types are complete.
#ifndef HELIOX_CORE_LINK_REGION_H
#define HELIOX_CORE_LINK_REGION_H

#include "core/ckks/params.h"
#include "core/plugin/plugin.h"
#include "core/tensor/tensor.h"

// One operand or result as it lies in memory.
typedef struct hx_region_value {
  const hx_type_t *type;
  const hx_layout_t *layout;
  const hx_primes_t *primes;  // of the rows
  bool secret, immutable;
} hx_region_value_t;

// A slot of an executable as one (prepare.c).
struct hx_executable;
hx_region_value_t hx_region_value(const struct hx_executable *exe, uint32_t index);

typedef struct hx_region_call {
  const hx_op_info_t *op;
  hx_attrs_t attrs;
  const hx_region_value_t *operands, *results;
  uint32_t operand_count, result_count;
  const hx_resource *resources;  // sources are operand indices
  uint32_t resource_count;
  const hx_ring *ring;
  hx_tables *tables;
  const char *variant;  // NULL: the plugin chooses
} hx_region_call_t;

// A region of one operation. Value ids: operands in order, then results; inputs and outputs are these, in order. Batch
// and component broadcasts become strides of 0. Steps of rotations are taken into [0, slots); value and scale of
// ckks.add_scalar and ckks.mul_scalar become `residues`; no scale, symbol or request crosses.
// All memory is the arena's. Faults (value, scale-range): constants that do not fit.
hx_status_t hx_region_build(hx_arena_t *arena, const hx_region_call_t *call, const hx_region **out,
                            hx_report_t *report);

// One operation of a fused region and the ids of its values.
typedef struct hx_region_part {
  hx_region_call_t call;
  const uint32_t *operand_ids, *result_ids;
} hx_region_part_t;

typedef struct hx_region_whole {
  const hx_region_part_t *parts;
  uint32_t part_count, value_count;
  const uint32_t *inputs, *outputs;
  uint32_t input_count, output_count;
  const hx_ring *ring;
  hx_tables *tables;
} hx_region_whole_t;

// A region of several operations, without resources. *out is NULL where two operations see one value in different ways
// (one repeats its components or its batch): such a region cannot be said.
hx_status_t hx_region_fuse(hx_arena_t *arena, const hx_region_whole_t *whole, const hx_region **out,
                           hx_report_t *report);

// One tensor descriptor, in the arena; NULL on exhaustion.
const hx_tensor_desc *hx_region_desc(hx_arena_t *arena, const hx_region_value_t *value);

#endif
