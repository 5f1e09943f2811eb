// SPDX-License-Identifier: Apache-2.0
#include "core/passes/sums.h"

#include "core/ckks/transition.h"
#include "core/passes/keys.h"

static void free_sum(hx_sum_t *sum) {
  hx_free(sum->additions);
  hx_free(sum->leaves);
}

void hx_sums_free(hx_sums_t *sums) {
  for (size_t i = 0; i < sums->count; ++i) free_sum(&sums->items[i]);
  hx_free(sums->items);
  *sums = (hx_sums_t){0};
}

// An addition whose result only another addition of the block reads is part of that one's tree.
static bool is_inner(const hx_rewriter_t *rewriter, const hx_ir_op_t *op) {
  const hx_ir_op_t *user = hx_rewriter_sole_user(rewriter, op->results[0]);
  return user != NULL && user->info->id == HX_OP_CKKS_ADD && user->block == op->block;
}

static bool is_plain_op(const hx_ir_op_t *op) { return hx_attrs_find(op->attrs, "heliox.implementation") == NULL; }

// The rotation that gives a value: source, reduced step and key. A step that is 0 is none.
static void read_rotation(const hx_rewriter_t *rewriter, hx_ir_value_t *value, hx_sum_leaf_t *leaf) {
  leaf->source = value;
  hx_ir_op_t *op = value->op;
  if (op == NULL || !is_plain_op(op)) return;
  if (op->info->id != HX_OP_CKKS_ROTATE && op->info->id != HX_OP_CKKS_ROTATE_MANY) return;
  hx_rewriter_take(rewriter, op);
  const hx_type_t *type = op->operands[0]->type;
  if ((type->known & HX_KNOWN_SLOTS) == 0 || type->slots == 0) return;
  const hx_attribute_t *items = NULL;
  int64_t step = 0;
  if (op->info->id == HX_OP_CKKS_ROTATE) {
    (void)hx_attrs_get_i64(op->attrs, "step", &step);  // required: verified
  } else if (value->index < hx_op_list(op, "steps", &items)) {
    step = items[value->index].integer;
  }
  const uint32_t reduced = hx_rotation_reduce(step, type->slots);
  if (reduced == 0) return;
  leaf->rotation = op;
  leaf->source = op->operands[0];
  leaf->step = reduced;
  size_t key = hx_op_first_key(op);
  if (key == op->operand_count) return;
  // Its key is the one of the first result with this step.
  uint32_t *steps = hx_zalloc(value->index + 2, sizeof *steps);
  if (steps == NULL) return;  // without a key the operation is not merged
  const size_t known = items == NULL ? 0 : hx_rotation_steps(items, value->index + 1, type->slots, steps);
  for (size_t i = 0; i < known && steps[i] != reduced; ++i) ++key;
  hx_free(steps);
  leaf->key = key < op->operand_count ? op->operands[key] : NULL;
}

static void read_leaf(const hx_rewriter_t *rewriter, hx_ir_value_t *value, const hx_ir_block_t *block,
                      hx_sum_leaf_t *leaf) {
  *leaf = (hx_sum_leaf_t){.value = value};
  hx_ir_op_t *product = hx_value_op(value, HX_OP_CKKS_MUL_PLAIN);
  if (product != NULL && is_plain_op(product) && product->block == block &&
      hx_rewriter_sole_user(rewriter, value) != NULL) {
    hx_rewriter_take(rewriter, product);
    leaf->product = product;
    leaf->weight = product->operands[1];
    value = product->operands[0];
  }
  read_rotation(rewriter, value, leaf);
}

// Leaves from left to right, without recursion: a chain of additions may be as long as the program.
static hx_status_t read_tree(const hx_rewriter_t *rewriter, hx_ir_op_t *root, hx_sum_t *sum) {
  hx_ir_value_t **stack = NULL;
  size_t capacity = 0, count = 0;
  hx_status_t status = hx_grow(&stack, &capacity, 1, sizeof(hx_ir_value_t *));
  sum->root = root;
  if (status == HX_STATUS_OK) stack[count++] = root->results[0];
  while (status == HX_STATUS_OK && count > 0) {
    hx_ir_value_t *value = stack[--count];
    hx_ir_op_t *addition = hx_value_op(value, HX_OP_CKKS_ADD);
    const bool is_part = addition != NULL && is_plain_op(addition) &&
                         (addition == root || (addition->block == root->block && is_inner(rewriter, addition)));
    if (!is_part) {
      status = hx_grow(&sum->leaves, &sum->leaf_capacity, sum->leaf_count + 1, sizeof *sum->leaves);
      if (status == HX_STATUS_OK) read_leaf(rewriter, value, root->block, &sum->leaves[sum->leaf_count++]);
      continue;
    }
    hx_rewriter_take(rewriter, addition);
    status = hx_grow(&sum->additions, &sum->addition_capacity, sum->addition_count + 1, sizeof(hx_ir_op_t *));
    if (status == HX_STATUS_OK) sum->additions[sum->addition_count++] = addition;
    if (status == HX_STATUS_OK) status = hx_grow(&stack, &capacity, count + 2, sizeof(hx_ir_value_t *));
    if (status != HX_STATUS_OK) break;
    stack[count++] = addition->operands[1];
    stack[count++] = addition->operands[0];
  }
  hx_free(stack);
  return status;
}

void hx_sums_find(hx_rewriter_t *rewriter, hx_ir_block_t *block, hx_sums_t *out) {
  *out = (hx_sums_t){0};
  for (hx_ir_op_t *op = block->first; op != NULL && rewriter->status == HX_STATUS_OK; op = op->next) {
    if (op->info->id != HX_OP_CKKS_ADD || !is_plain_op(op) || is_inner(rewriter, op)) continue;
    rewriter->status = hx_grow(&out->items, &out->capacity, out->count + 1, sizeof *out->items);
    if (rewriter->status != HX_STATUS_OK) return;
    hx_sum_t *sum = &out->items[out->count++];
    *sum = (hx_sum_t){0};
    rewriter->status = read_tree(rewriter, op, sum);
  }
}

static void remove_unread(hx_rewriter_t *rewriter, hx_ir_op_t *op) {
  if (op == NULL || op->block == NULL) return;
  for (size_t i = 0; i < op->result_count; ++i) {
    if (hx_rewriter_uses(rewriter, op->results[i]) > 0) return;
  }
  hx_rewriter_remove(rewriter, op);
}

void hx_sum_finish(hx_rewriter_t *rewriter, hx_sum_t *sum, hx_ir_value_t *value) {
  hx_ir_op_t *root = sum->root;
  for (size_t i = 0; i < sum->leaf_count && value != NULL; ++i) {
    if (sum->leaves[i].is_taken) continue;
    hx_ir_value_t *const operands[] = {value, sum->leaves[i].value};
    const hx_ir_op_t *addition = hx_rewriter_build(rewriter, root, root, HX_OP_CKKS_ADD, operands, 2, NULL, 0, 1);
    value = addition == NULL ? NULL : addition->results[0];
  }
  if (value == NULL) return;
  if (value->name.size == 0) value->name = root->results[0]->name;
  hx_rewriter_replace(rewriter, root->results[0], value);
  for (size_t i = 0; i < sum->addition_count; ++i) hx_rewriter_remove(rewriter, sum->additions[i]);
  for (size_t i = 0; i < sum->leaf_count; ++i) {
    if (!sum->leaves[i].is_taken) continue;
    remove_unread(rewriter, sum->leaves[i].product);
    remove_unread(rewriter, sum->leaves[i].rotation);
  }
  sum->root = NULL;  // merged
}
