// SPDX-License-Identifier: Apache-2.0
// shard{kind=terms}: what its files share.
#ifndef HELIOX_CORE_PASSES_SHARD_TERMS_H
#define HELIOX_CORE_PASSES_SHARD_TERMS_H

#include "core/passes/rewrite.h"
#include "core/passes/shard.h"

// The first and the number of `count` consecutive terms that a rank has: term i goes to the rank in whose share the
// middle of its weight falls. weights: of each term, not negative; all 0 count alike.
size_t hx_shard_run(const double *weights, size_t count, uint32_t rank, uint32_t size, size_t *out_first);

// Which ranks have terms, by rank; freed by hx_free. NULL after a failure.
bool *hx_shard_contributors(hx_shard_t *shard, const double *weights, size_t count);

// rotate_sum and rotate_weighted_sum: the rank's terms are raised, rotated and summed over Q and P; one collective a
// result adds the sums of all ranks, and every rank divides by P. shard->op is the operation; the rewriter's numbers
// follow.
void hx_shard_rotations(hx_shard_t *shard, hx_rewriter_t *rewriter);
// NULL, or why shard->op, one of these two, is left to every rank.
const char *hx_shard_rotations_why_not(const hx_shard_t *shard);

// Results that nobody reads go: steps of rotate_many, groups of rotate_weighted_sum and of weighted sums.
hx_status_t hx_shard_prune(hx_program_t *program, const hx_pass_env_t *env, bool *out_changed);

// Operations that were put in front of `before` behind `previous` (NULL: from the beginning of the block) get numbers.
void hx_shard_adopt(hx_rewriter_t *rewriter, const hx_ir_block_t *block, hx_ir_op_t *previous,
                    const hx_ir_op_t *before);

#endif
