// SPDX-License-Identifier: Apache-2.0
// What all operations with a switching key share: one plan, one way through it.
//
// Values (sources) are decomposed into digits once. Then every row of the extended basis is one task: the digits are
// converted to its prime and transformed, and their products with each term's key are summed with one reduction while
// they are in cache. Rows that are dropped (P's, and those of a depth group where a rescale is merged) come first and
// leave ntt domain; each kept row then finishes at once: what the dropped rows stand for is converted, transformed and
// taken off, so neither raised digits nor sums over kept rows ever travel to memory.
#ifndef HX_CPU_SWITCH_H
#define HX_CPU_SWITCH_H

#include "base.h"

#define HX_CPU_SWITCH_BATCH 8u     // most rows of a batch
#define HX_CPU_SWITCH_TOGETHER 4u  // most results that a row's raised digits meet tile by tile

// One key, or none: (c0, c1) itself.
typedef struct hx_cpu_switch_term {
  uint32_t source;      // operand: the ciphertext
  uint32_t key;         // operand; HX_NONE: a step of 0
  uint32_t element;     // of the automorphism; 1: none
  uint32_t *index;      // sums: [n] of the automorphism in ntt domain
  hx_cpu_turn_t turn;   // else, of results there
  uint32_t *key_limbs;  // [extended]
} hx_cpu_switch_term_t;

// Scratch memory of one item, in rows: digits y of each source's active rows; the dropped rows of each result's two
// components; then for each lane its work rows (switch.c).
typedef struct hx_cpu_switch {
  uint32_t active, kept, specials, extended;  // rows: of Q now and in the end, of P, active + specials
  uint32_t digits;
  uint32_t component;     // of a source: the one that is switched; those below it are added to the result
  uint32_t factors;       // 0; or operands 0 to factors - 1 are multiplied (or one squared) to give the source
  uint32_t source_count;  // operands 0 to source_count - 1 (one where factors are multiplied); several: one a term
  uint32_t term_count, result_count;
  bool sums;         // results are sums of all terms over Q and P; else result t is term t
  uint32_t weights;  // sums: operand of the first weight, result by result; HX_NONE: none
  hx_cpu_switch_term_t *terms;
  uint32_t *ids;           // [extended]
  hxs_base *raise;         // [digits]; targets by extended row, kind COPY on the digit's own
  hxs_affine *special;     // [specials] of a row of P to its digit
  hxs_affine *dropped;     // [active - kept], the last row first, from P's digits, those before it, and its own value
  hxs_affine *kept_map;    // [kept] from all of these
  hxs_factor *kept_scale;  // [kept] of the sum
  hxs_factor *rest_scale;  // [kept] of what is added
  hxs_factor *dropped_scale;  // [active - kept] P^-1, the last row first
  hxs_factor *lift;           // [active] P
  uint32_t group;             // digits that are raised together
  uint32_t batch;             // rows of a lane whose conversions are done together
  uint32_t together;          // results that a tile of raised digits meets before the next tile
  uint32_t raised_rows;       // work rows of raised digits
  uint32_t lanes, lane_rows;  // tasks of a loop, and the work rows of each
} hx_cpu_switch_t;

// Checks of a source: residues of standard representation on the first `active` primes of Q, in order.
int32_t hx_cpu_switch_source(const hxs_build *build, hxs_view *a, uint32_t components, uint32_t active,
                             const hxs_view *shape);
// Begins a plan for values with `active` rows of which the last `drops` are divided by, with room for the terms.
int32_t hx_cpu_switch_begin(const hxs_build *build, uint32_t active, uint32_t drops, uint32_t term_count,
                            hx_cpu_switch_t **out);
// Term t: its automorphism, and the key in operand `key` (HX_NONE: none), checked.
int32_t hx_cpu_switch_term(const hxs_build *build, hx_cpu_switch_t *s, uint32_t t, uint32_t key, uint32_t element);
// Constants, scratch and cost; the counts and kinds of the plan are set.
int32_t hx_cpu_switch_end(hxs_build *build, hx_cpu_switch_t *s);

// All terms of a plan from their steps. Keys follow the first `others` operands, one for each distinct step but 0, in
// the order of first use.
int32_t hx_cpu_switch_steps(const hxs_build *build, uint32_t others, hx_cpu_switch_t *s, const int64_t *steps);
int32_t hx_cpu_switch_run(hx_cpu_run_t *run);

#endif
