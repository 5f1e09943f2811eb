// SPDX-License-Identifier: Apache-2.0
// Moving between bases: every such operation is a stage and a list of targets.
//
// The stage makes rows y_s (in scratch memory or, for mixed_radix, in the result): each an affine combination of one
// operand row, in coefficient domain, and, where `chained`, of the rows y_0 .. y_s-1 before it. The targets make the
// result's rows from them. All that the operations define by sums of centred residues fits: with h = (d-1)/2 the row
// y + h mod d stands for the centred y, and what h adds is taken off by the constant of each affine map.
//
// The functions below check operands, results and attributes of one operation and compute its constants; running them
// is the plugin's. Constants are residues; hxs_base_to_montgomery brings them into the form of one reduction a sum.
#ifndef HELIOX_SUPPORT_BASE_H
#define HELIOX_SUPPORT_BASE_H

#include "heliox/support/prepare.h"

#ifdef __cplusplus
extern "C" {
#endif

// One row of a stage.
typedef struct hxs_stage_row {
  uint32_t prime;  // id of the row
  uint32_t limb;   // of the operand
  hxs_affine map;  // inputs: y_0 .. y_s-1 where chained, then the operand's row
} hxs_stage_row;

enum {
  HXS_TARGET_COPY = 1,  // the operand's limb
  HXS_TARGET_CONVERT,   // map of all y
  HXS_TARGET_DIVIDE     // the operand's limb times `scale`, plus map of all y
};

// One row of a result.
typedef struct hxs_target {
  uint32_t kind;   // HXS_TARGET_
  uint32_t prime;  // id of the row
  uint32_t limb;   // of the operand; for COPY and DIVIDE
  uint64_t scale;  // for DIVIDE
  hxs_affine map;  // of all y
} hxs_target;

// A plan: a stage and its targets.
typedef struct hxs_base {
  bool transform;         // operand and result in ntt domain: rows leave and enter it on the way
  bool chained;           // each stage row takes the ones before it
  bool in_result;         // the stage writes the result's rows; there are no targets
  uint32_t stage_count;   // of stage
  uint32_t target_count;  // of targets
  hxs_stage_row *stage;   // rows y
  hxs_target *targets;    // by limb of the result
} hxs_base;

// Whole operations: rns.mod_up, rns.mod_down, rns.rescale, rns.center_lift of one limb, rns.mixed_radix and
// rns.extend_exact. All take one operand and one result: residues of standard representation, of equal batch,
// components and domain. *out lives as long as the prepared object.
int32_t hxs_base_mod_up(hxs_build *build, hxs_base **out);
// Rns.mod_down, as hxs_base_mod_up.
int32_t hxs_base_mod_down(hxs_build *build, hxs_base **out);
// Rns.rescale, as hxs_base_mod_up.
int32_t hxs_base_rescale(hxs_build *build, hxs_base **out);
// Rns.center_lift of one limb, as hxs_base_mod_up.
int32_t hxs_base_lift_limb(hxs_build *build, hxs_base **out);
// Rns.mixed_radix, as hxs_base_mod_up.
int32_t hxs_base_mixed_radix(hxs_build *build, hxs_base **out);
// Rns.extend_exact, as hxs_base_mod_up.
int32_t hxs_base_extend_exact(hxs_build *build, hxs_base **out);
// Division by the operand's last `count` rows without a look at attributes: for operations that contain a rescale.
int32_t hxs_base_rescale_rows(hxs_build *build, uint32_t count, bool nearest, hxs_base **out);
// ckks.prepare_plain: operand in either domain, result in ntt domain, which is left to the caller to check. The
// operand's rows are COPY, P's (for weighted sums) are chained. `transform`: the operand is in ntt domain; else all of
// the result's rows still enter it.
int32_t hxs_base_prepare_plain(hxs_build *build, hxs_base **out);

// Parts of switching keys, for plans of their own; the prepared object keeps stage and targets. `ids` are the rows of
// the result, [target_count].
// The digit of `count` primes from row `first` of an operand on the first primes of Q, to all of `ids`; centred. The
// digit's own rows are COPY.
int32_t hxs_base_raise(const hxs_build *build, uint32_t first, uint32_t count, const uint32_t *ids,
                       uint32_t target_count, hxs_base *out);
// Division by all of P, nearest, of the rows of `ids`. `transform` says in which domain, as in hxs_base.
int32_t hxs_base_lower(const hxs_build *build, bool transform, const uint32_t *ids, uint32_t target_count,
                       hxs_base *out);

// Every constant of the maps times 2^w. With fold, a DIVIDE of coefficients gets the operand's limb as the last input
// of its map, with scale as its weight.
void hxs_base_to_montgomery(const hxs_ring *ring, hxs_base *base, bool fold);

#ifdef __cplusplus
}
#endif

#endif
