// SPDX-License-Identifier: Apache-2.0
// What base.c has for base_ops.c.
#ifndef HELIOX_SUPPORT_BASE_PLAN_H
#define HELIOX_SUPPORT_BASE_PLAN_H

#include "heliox/support/base.h"

// Room for stage and targets, the latter with their primes.
int32_t hxs_base_room(const hxs_build *build, uint32_t stage_count, uint32_t target_count, const uint32_t *ids,
                      hxs_base *base);
// Room for the weights of a map and one more; start is 0.
int32_t hxs_base_affine(const hxs_build *build, uint32_t count, hxs_affine *out);
// Division by the stage's primes, whose rows are set: in one step, or one after the other where chained. The targets'
// limbs are the caller's.
int32_t hxs_base_division(const hxs_build *build, hxs_base *base, bool centred);

#endif
