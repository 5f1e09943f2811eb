// SPDX-License-Identifier: Apache-2.0
// Moving between bases: every such operation is a stage and a list of targets.
//
// The stage makes rows y_s in scratch memory (or, for mixed_radix, in the result): each an affine combination of one
// operand row, in coefficient domain, and, where `chained`, of the rows y_0 .. y_s-1 before it. The targets make the
// result's rows from them. All that CKKS.md defines by sums of centred residues fits: with h = (d-1)/2 the row
// y + h mod d stands for the centred y, and what h adds is taken off by the constant of each affine map.
#ifndef HX_CPU_BASE_H
#define HX_CPU_BASE_H

#include "ops.h"
#include "run.h"

typedef struct hx_cpu_stage_row {
  uint32_t prime;       // id of the row
  uint32_t limb;        // of the operand
  hx_cpu_affine_t map;  // inputs: y_0 .. y_s-1 where chained, then the operand's row
} hx_cpu_stage_row_t;

typedef enum hx_cpu_target_kind {
  HX_CPU_TARGET_COPY,     // the operand's limb
  HX_CPU_TARGET_CONVERT,  // map of all y
  HX_CPU_TARGET_DIVIDE    // the operand's limb times `scale`, plus map of all y
} hx_cpu_target_kind_t;

typedef struct hx_cpu_target {
  hx_cpu_target_kind_t kind;
  uint32_t limb;  // of the operand; for COPY and DIVIDE
  hx_cpu_factor_t scale;
  hx_cpu_affine_t map;  // DIVIDE in coefficient domain: the operand's limb is its last input, scale its weight
} hx_cpu_target_t;

typedef struct hx_cpu_base {
  bool transform;  // operand and result in ntt domain: rows leave and enter it on the way
  bool chained;
  bool in_result;  // the stage writes the result's rows; there are no targets
  uint32_t stage_count;
  hx_cpu_stage_row_t *stage;
  hx_cpu_target_t *targets;  // [limbs of the result]
  uint64_t part_items;       // batch items whose y rows the scratch memory holds at once
} hx_cpu_base_t;

// The checks that all share (one operand, one result, residues of standard representation, equal batch and
// components, equal domain), and a plan with room for stage_count rows and, unless in_result, the result's targets.
int32_t hx_cpu_base_begin(hx_cpu_build_t *build, uint32_t stage_count, bool in_result, hx_cpu_base_t **out);
// Sets run, scratch and cost once all is filled in.
void hx_cpu_base_end(hx_cpu_build_t *build, hx_cpu_base_t *base);

// Constants for the primes that the stage's rows name.
// y_s = x_s * (D/d_s)^-1 mod d_s, plus h_s where centred: the digits of a fast conversion.
int32_t hx_cpu_base_digits(const hx_cpu_build_t *build, hx_cpu_base_t *base, bool centred);
// The conversion of such centred digits to a prime.
int32_t hx_cpu_base_conversion(const hx_cpu_build_t *build, const hx_cpu_base_t *base, uint32_t prime,
                               hx_cpu_target_t *out);
// A kept prime's row of a division: scale, and the map of all y (`transform` and `chained` of the base count).
int32_t hx_cpu_base_quotient(const hx_cpu_build_t *build, const hx_cpu_base_t *base, uint32_t prime, bool centred,
                             hx_cpu_target_t *out);
// Room for the weights of a map mod a prime id; start is 0.
int32_t hx_cpu_affine_begin(const hx_cpu_build_t *build, uint32_t count, hx_cpu_affine_t *out);
// Constants are given as residues and kept in Montgomery form.
void hx_cpu_affine_set(const hx_cpu_build_t *build, hx_cpu_affine_t *map, uint32_t prime, uint32_t at, uint64_t weight);
void hx_cpu_affine_start(const hx_cpu_build_t *build, hx_cpu_affine_t *map, uint32_t prime, uint64_t start);

#endif
