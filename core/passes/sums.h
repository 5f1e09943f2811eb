// SPDX-License-Identifier: Apache-2.0
// Trees of ckks.add taken apart into their leaves: shared by the files of merge-weighted-sums.
#ifndef HELIOX_CORE_PASSES_SUMS_H
#define HELIOX_CORE_PASSES_SUMS_H

#include "core/passes/rewrite.h"

// One leaf of a sum. What it is a product or rotation of is filled in where it is one.
typedef struct hx_sum_leaf {
  hx_ir_value_t *value;
  hx_ir_op_t *product;    // mul_plain that gives it and is read here alone, or NULL
  hx_ir_op_t *rotation;   // rotate or rotate_many that gives the value (or the product's ciphertext), or NULL
  hx_ir_value_t *source;  // what is rotated; the value (the product's ciphertext) itself without a rotation
  hx_ir_value_t *weight;  // plaintext of the product
  uint32_t step;          // in [0, slots)
  hx_ir_value_t *key;     // of the rotation, or NULL
  bool is_taken;          // by a merged operation
} hx_sum_leaf_t;

typedef struct hx_sum {
  hx_ir_op_t *root;  // the last addition
  hx_ir_op_t **additions;
  size_t addition_count, addition_capacity;
  hx_sum_leaf_t *leaves;
  size_t leaf_count, leaf_capacity;
} hx_sum_t;

typedef struct hx_sums {
  hx_sum_t *items;
  size_t count, capacity;
} hx_sums_t;

// Every maximal tree of ckks.add in a block whose inner sums nobody else reads, in order of their roots.
void hx_sums_find(hx_rewriter_t *rewriter, hx_ir_block_t *block, hx_sums_t *out);
void hx_sums_free(hx_sums_t *sums);
// The sum becomes `value` plus the leaves that are not taken; what nobody reads any more is removed. The additions
// stand in front of the root.
void hx_sum_finish(hx_rewriter_t *rewriter, hx_sum_t *sum, hx_ir_value_t *value);

// Inner steps: sums of plaintext products of rotations of one value (rotate_weighted_sum), or of several values
// (weighted_sum). Outer steps: sums of rotations of several values (rotate_sum).
void hx_sums_merge_rotated(hx_rewriter_t *rewriter, hx_sums_t *sums);
void hx_sums_merge_products(hx_rewriter_t *rewriter, hx_sums_t *sums);
void hx_sums_merge_rotations(hx_rewriter_t *rewriter, hx_sums_t *sums);

#endif
