// SPDX-License-Identifier: Apache-2.0
// What whole operations with a switching key accept. Every function is for a build function, as those of accept.h.
#ifndef HELIOX_SUPPORT_SWITCHED_H
#define HELIOX_SUPPORT_SWITCHED_H

#include "heliox/support/accept.h"

#ifdef __cplusplus
extern "C" {
#endif

// The first `sources` operands are ciphertexts of `components` on the first primes of Q, standard; the `results`
// results have two components on the same primes, in the same domain. Operands that follow are not looked at.
int32_t hxs_accept_switched(const hxs_build *build, uint32_t sources, uint32_t components, uint32_t results);
// A chain of multiply, relinearize, rescale (three operands, two ciphertexts of two components and a key) or of the
// last two (two operands, three components): the result has two components and lacks the last row of operand 0, which
// is a depth group of its own. HX_UNSUPPORTED where the group is larger.
int32_t hxs_accept_fused(const hxs_build *build);

// ---- several rotations

// One rotation of several.
typedef struct hxs_rotation {
  uint32_t element;  // of the automorphism; 1: a step of 0
  uint32_t key;      // operand; HX_NONE: none
} hxs_rotation;

// Attribute steps: one or more integers. Borrowed from the region.
int32_t hxs_accept_steps(const hxs_build *build, const int64_t **out_steps, uint32_t *out_count);
// [count] from the steps, as long as the prepared object. Keys follow the first `others` operands, one for each
// distinct step but 0, in the order of first use; no operand is left over. Keys themselves are for hxs_accept_key.
int32_t hxs_accept_rotations(const hxs_build *build, uint32_t others, const int64_t *steps, uint32_t count,
                             hxs_rotation **out);
// ckks.rotate_weighted_sum: attribute groups, 1 where it is absent, which is the number of results; *out_others is the
// value and a weight for each step and group.
int32_t hxs_accept_groups(const hxs_build *build, uint32_t steps, uint32_t *out_groups, uint32_t *out_others);
// Operands first to end - 1 as weights: one component in ntt domain, standard, on `ids`; without a batch they repeat.
int32_t hxs_accept_weights(const hxs_build *build, uint32_t first, uint32_t end, uint32_t count, const uint32_t *ids);

#ifdef __cplusplus
}
#endif

#endif
