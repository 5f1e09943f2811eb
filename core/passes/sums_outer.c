// SPDX-License-Identifier: Apache-2.0
// Sums of rotations of several values.
#include "core/ir/table.h"
#include "core/passes/sums.h"

// Whether the rotation of a leaf goes when the leaf is merged: nobody else reads it, or its other results are leaves of
// the same sum.
static bool goes(const hx_rewriter_t *rewriter, const hx_sum_t *sum, const hx_sum_leaf_t *leaf) {
  const hx_ir_op_t *op = leaf->rotation;
  for (size_t r = 0; r < op->result_count; ++r) {
    uint32_t own = 0;
    for (size_t i = 0; i < sum->leaf_count; ++i) own += sum->leaves[i].value == op->results[r] ? 1 : 0;
    if (hx_rewriter_uses(rewriter, op->results[r]) != own) return false;
  }
  return true;
}

// Rotations that give ntt domain, whose type is that of the sum.
static bool is_rotated_term(const hx_rewriter_t *rewriter, const hx_sum_t *sum, const hx_sum_leaf_t *leaf) {
  const hx_type_t *type = leaf->value->type;
  return leaf->product == NULL && leaf->rotation != NULL && hx_type_is_complete(type) && type->domain == HX_NTT &&
         type->components == 2 && hx_op_output_domain(leaf->rotation) == HX_NTT &&
         leaf->source->type->batch_rank == sum->root->results[0]->type->batch_rank && goes(rewriter, sum, leaf);
}

// Operands of one rotate_sum have one domain: that of the first source; a plain term has to have it too.
static size_t choose_terms(const hx_rewriter_t *rewriter, hx_sum_t *sum) {
  size_t count = 0, with_key = 0;
  uint32_t domain = 0;
  for (size_t i = 0; i < sum->leaf_count; ++i) {
    hx_sum_leaf_t *leaf = &sum->leaves[i];
    if (!is_rotated_term(rewriter, sum, leaf)) continue;
    if (domain == 0) domain = leaf->source->type->domain;
    if (leaf->source->type->domain != domain) continue;
    leaf->is_taken = true;
    with_key += leaf->key != NULL ? 1 : 0;
    ++count;
  }
  const bool legal = count >= 2 && (with_key == 0 || with_key == count);
  for (size_t i = 0; i < sum->leaf_count; ++i) {
    hx_sum_leaf_t *leaf = &sum->leaves[i];
    if (!legal) leaf->is_taken = false;
    // What is added as it is becomes a step of 0.
    const bool joins = legal && !leaf->is_taken && leaf->product == NULL && domain == HX_NTT &&
                       leaf->value->type == sum->root->results[0]->type;
    if (!joins) continue;
    leaf->rotation = NULL;
    leaf->source = leaf->value;
    leaf->step = 0;
    leaf->is_taken = true;
  }
  return legal ? count : 0;
}

static void merge(hx_rewriter_t *rewriter, hx_sum_t *sum, size_t rotations) {
  hx_ir_op_t *root = sum->root;
  hx_ir_value_t **operands = hx_zalloc(2 * sum->leaf_count + 1, sizeof(hx_ir_value_t *));
  int64_t *steps = hx_zalloc(sum->leaf_count + 1, sizeof *steps);
  if (operands == NULL || steps == NULL) rewriter->status = HX_STATUS_OUT_OF_MEMORY;
  size_t count = 0, keys = 0;
  for (size_t i = 0; i < sum->leaf_count && rewriter->status == HX_STATUS_OK; ++i) {
    if (!sum->leaves[i].is_taken) continue;
    operands[count] = sum->leaves[i].source;
    steps[count++] = sum->leaves[i].step;
  }
  // One key for each distinct step, in order of first use.
  for (size_t i = 0, term = 0; i < sum->leaf_count && rewriter->status == HX_STATUS_OK; ++i) {
    const hx_sum_leaf_t *leaf = &sum->leaves[i];
    if (!leaf->is_taken) continue;
    bool is_new = leaf->step != 0 && leaf->key != NULL;
    for (size_t k = 0; k < term && is_new; ++k) is_new = steps[k] != (int64_t)leaf->step;
    ++term;
    if (is_new) operands[count + keys++] = leaf->key;
  }
  if (rewriter->status == HX_STATUS_OK) {
    const hx_named_attr_t item = {.name = hx_str("steps"), .value = hx_rewriter_list(rewriter, steps, count)};
    const hx_ir_op_t *op =
        hx_rewriter_build(rewriter, root, root, HX_OP_CKKS_ROTATE_SUM, operands, count + keys, &item, 1, 1);
    hx_decide(rewriter->env, root, "rotate_sum", "separate rotations, rotate_sum",
              "a sum of %zu rotations takes one ModDown instead of %zu", rotations, rotations);
    if (op != NULL) hx_sum_finish(rewriter, sum, op->results[0]);
  }
  hx_free(operands);
  hx_free(steps);
}

void hx_sums_merge_rotations(hx_rewriter_t *rewriter, hx_sums_t *sums) {
  for (size_t i = 0; i < sums->count && rewriter->status == HX_STATUS_OK; ++i) {
    const size_t rotations = choose_terms(rewriter, &sums->items[i]);
    if (rotations > 0) merge(rewriter, &sums->items[i], rotations);
  }
}
