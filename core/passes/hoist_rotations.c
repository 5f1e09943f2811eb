// SPDX-License-Identifier: Apache-2.0
// hoist-rotations - several rotations of one value in one block become one rotate_many, which decomposes and raises the
// value once for all of them ([HS14]). Equal bits: sigma_g comes last in a rotation (CKKS.md).
// In: a verified program. Keeps: results bit for bit, their types, rotations that ask for an implementation.
// Legal where the rotations have one operand, one output domain, and all of them keys or none of them; the keys are
// defined in front of the first one. Steps of 0 are copies and stay.
#include "core/ckks/transition.h"
#include "core/ir/table.h"
#include "core/passes/keys.h"
#include "core/passes/rewrite.h"

// Rotations of one value with one output domain in one block.
typedef struct hx_hoist_group {
  hx_ir_op_t **ops;
  size_t count, capacity;
  size_t step_count;
} hx_hoist_group_t;

typedef struct hx_hoist {
  hx_pointers_t places[2];  // operand to group, by output domain
  hx_hoist_group_t *groups;
  size_t count, capacity;
} hx_hoist_t;

static size_t step_count(const hx_ir_op_t *op) {
  const hx_attribute_t *items;
  return op->info->id == HX_OP_CKKS_ROTATE ? 1 : hx_op_list(op, "steps", &items);
}

static int64_t step_at(const hx_ir_op_t *op, size_t index) {
  const hx_attribute_t *items;
  int64_t step = 0;
  if (op->info->id == HX_OP_CKKS_ROTATE) {
    (void)hx_attrs_get_i64(op->attrs, "step", &step);  // required: verified
    return step;
  }
  return index < hx_op_list(op, "steps", &items) ? items[index].integer : 0;
}

// A step modulo the slots, where those are known.
static int64_t reduced(const hx_ir_value_t *value, int64_t step) {
  const bool known = (value->type->known & HX_KNOWN_SLOTS) != 0 && value->type->slots > 0;
  return known ? (int64_t)hx_rotation_reduce(step, value->type->slots) : step;
}

static bool is_rotation(const hx_ir_op_t *op) {
  if (op->info->id != HX_OP_CKKS_ROTATE && op->info->id != HX_OP_CKKS_ROTATE_MANY) return false;
  if (hx_attrs_find(op->attrs, "heliox.implementation") != NULL) return false;
  return op->info->id == HX_OP_CKKS_ROTATE_MANY || reduced(op->operands[0], step_at(op, 0)) != 0;
}

static hx_status_t gather(hx_rewriter_t *rewriter, hx_hoist_t *hoist, hx_ir_op_t *op) {
  hx_pointers_t *places = &hoist->places[hx_op_output_domain(op) == HX_NTT ? 0 : 1];
  uint32_t place = hx_pointers_get(places, op->operands[0]);
  if (place == HX_NONE) {
    place = (uint32_t)hoist->count;
    HX_TRY(hx_grow(&hoist->groups, &hoist->capacity, hoist->count + 1, sizeof *hoist->groups));
    hoist->groups[hoist->count++] = (hx_hoist_group_t){0};
    HX_TRY(hx_pointers_set(places, op->operands[0], place));
  }
  hx_hoist_group_t *group = &hoist->groups[place];
  const bool has_keys = hx_op_first_key(op) < op->operand_count;
  if (group->count > 0) {
    const hx_ir_op_t *first = group->ops[0];
    if (has_keys != (hx_op_first_key(first) < first->operand_count)) return HX_STATUS_OK;
    for (size_t i = 1; i < op->operand_count; ++i) {
      if (!hx_rewriter_is_available(rewriter, op->operands[i], first)) return HX_STATUS_OK;
    }
  }
  HX_TRY(hx_grow(&group->ops, &group->capacity, group->count + 1, sizeof(hx_ir_op_t *)));
  group->ops[group->count++] = op;
  group->step_count += step_count(op);
  return HX_STATUS_OK;
}

// Keys of the group: one for each distinct step that is not 0, in order of first use. An operation has its own in that
// order.
static size_t gather_keys(const hx_hoist_group_t *group, hx_ir_value_t **operands, int64_t *seen) {
  size_t count = 0;
  for (size_t i = 0; i < group->count; ++i) {
    const hx_ir_op_t *op = group->ops[i];
    size_t next = hx_op_first_key(op);
    const size_t own = count;
    for (size_t s = 0; s < step_count(op) && next < op->operand_count; ++s) {
      const int64_t step = reduced(op->operands[0], step_at(op, s));
      bool is_new = step != 0, is_own_new = step != 0;
      for (size_t k = 0; k < s && is_own_new; ++k) is_own_new = reduced(op->operands[0], step_at(op, k)) != step;
      for (size_t k = 0; k < own && is_new; ++k) is_new = seen[k] != step;
      if (!is_own_new) continue;
      hx_ir_value_t *key = op->operands[next++];
      if (!is_new) continue;
      seen[count] = step;
      operands[1 + count++] = key;
    }
  }
  return count;
}

static void merge(hx_rewriter_t *rewriter, hx_hoist_group_t *group) {
  hx_ir_op_t *first = group->ops[0];
  int64_t *steps = hx_zalloc(2 * group->step_count + 1, sizeof *steps);
  hx_ir_value_t **operands = hx_zalloc(group->step_count + 1, sizeof(hx_ir_value_t *));
  if (steps == NULL || operands == NULL) rewriter->status = HX_STATUS_OUT_OF_MEMORY;
  size_t count = 0, keys = 0;
  for (size_t i = 0; i < group->count && rewriter->status == HX_STATUS_OK; ++i) {
    for (size_t s = 0; s < step_count(group->ops[i]); ++s) steps[count++] = step_at(group->ops[i], s);
  }
  hx_named_attr_t items[2] = {
      {.name = hx_str("steps")},
      {.name = hx_str("output_domain"), .value = {.kind = HX_ATTRIBUTE_TEXT, .text = hx_str("coefficient")}}};
  hx_ir_op_t *many = NULL;
  if (rewriter->status == HX_STATUS_OK) {
    items[0].value = hx_rewriter_list(rewriter, steps, count);
    operands[0] = hx_rewriter_current(rewriter, first->operands[0]);
    keys = gather_keys(group, operands, steps + group->step_count);
    many = hx_rewriter_build(rewriter, first, first, HX_OP_CKKS_ROTATE_MANY, operands, 1 + keys, items,
                             hx_op_output_domain(first) == HX_NTT ? 1 : 2, count);
  }
  for (size_t i = 0, result = 0; i < group->count && many != NULL; ++i) {
    hx_ir_op_t *op = group->ops[i];
    for (size_t s = 0; s < op->result_count; ++s, ++result) {
      many->results[result]->name = op->results[s]->name;
      hx_rewriter_replace(rewriter, op->results[s], many->results[result]);
    }
    hx_rewriter_remove(rewriter, op);
  }
  if (many != NULL)
    hx_decide(rewriter->env, many, "one rotate_many", "separate rotations, one rotate_many",
              "%zu rotations of one value share one decompose and ModUp instead of %zu; equal bits", count, count);
  hx_free(steps);
  hx_free(operands);
}

static void hoist_block(hx_rewriter_t *rewriter, hx_ir_block_t *block, void *argument) {
  (void)argument;
  hx_hoist_t hoist = {0};
  for (size_t i = 0; i < 2; ++i) hx_pointers_init(&hoist.places[i]);
  for (hx_ir_op_t *op = block->first; op != NULL && rewriter->status == HX_STATUS_OK; op = op->next) {
    hx_rewriter_take(rewriter, op);
    if (is_rotation(op)) rewriter->status = gather(rewriter, &hoist, op);
  }
  for (size_t i = 0; i < hoist.count; ++i) {
    if (hoist.groups[i].count > 1 && rewriter->status == HX_STATUS_OK) merge(rewriter, &hoist.groups[i]);
    hx_free(hoist.groups[i].ops);
  }
  for (size_t i = 0; i < 2; ++i) hx_pointers_deinit(&hoist.places[i]);
  hx_free(hoist.groups);
}

hx_status_t hx_pass_hoist_rotations(hx_program_t *program, hx_pass_env_t *env, bool *out_changed) {
  hx_rewriter_t rewriter;
  if (hx_rewriter_init(&rewriter, program, env) == HX_STATUS_OK) hx_rewriter_blocks(&rewriter, hoist_block, NULL);
  return hx_rewriter_finish(&rewriter, out_changed);
}
