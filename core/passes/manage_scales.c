// SPDX-License-Identifier: Apache-2.0
// manage-scales - rescales and brings operands to one depth and scale.
//   mode=waterline (default): a product is rescaled as soon as its scale stays at the waterline ([DKS20]);
//   mode=exact: moreover constants of mul_scalar are taken at the scale that leads to the one scale of the next depth
//               (S_0 = waterline, S_d+1 = S_d^2 / primes of the group), so that values of one depth add up ([KPP22]).
// Operands of one depth and other scales meet one depth deeper: one of them is multiplied by 1 at the exact quotient
// and rescaled, the other one drops. Branches meet in the deeper state; a loop begins in the state in which its
// carried values come back, where there is one.
// In: a verified program under parameters. Keeps: messages up to rounding; depths and scales change. Legal where depth
// is left; what cannot be brought together is told by inference at its operation.
#include "core/passes/scales.h"

static void set(hx_mender_t *mender, hx_ir_op_t *op, size_t index, hx_ir_value_t *value) {
  if (value != NULL && value != op->operands[index]) hx_mend_set_operand(mender, op, index, value);
}

// Operands first .. first+count-1 meet at one depth, and at one scale where `scales_too`.
static void meet(hx_mender_t *mender, hx_ir_op_t *op, size_t count, bool scales_too) {
  const hx_ring *ring = mender->rewriter.env->ring;
  size_t deepest = 0;
  bool differ = false;
  for (size_t i = 0; i < count; ++i) {
    if (!hx_scales_knows(op->operands[i]->type)) return;
    const bool is_plain = op->operands[i]->type->kind == HX_TYPE_PLAINTEXT;
    const hx_type_t *best = op->operands[deepest]->type;
    // A plaintext's scale cannot be mended, so the others go to it.
    if (op->operands[i]->type->depth > best->depth || (op->operands[i]->type->depth == best->depth && is_plain))
      deepest = i;
  }
  const hx_type_t *target = op->operands[deepest]->type;
  for (size_t i = 0; i < count; ++i) {
    const hx_type_t *type = op->operands[i]->type;
    differ = differ || (scales_too && type->depth == target->depth && !hx_scale_equal(&type->scale, &target->scale));
  }
  const uint32_t depth = target->depth + (differ ? 1 : 0);
  if (depth > hx_ring_max_depth(ring)) return;
  for (size_t i = 0; i < count; ++i) {
    hx_ir_value_t *value = op->operands[i];
    set(mender, op, i,
        scales_too ? hx_scales_align(mender, op, value, depth, &target->scale)
                   : hx_scales_drop(mender, op, value, depth));
  }
}

// In exact mode a ciphertext goes down to the scale of its new depth, so that the product has that of the next one.
static void meet_product(hx_mender_t *mender, hx_ir_op_t *op) {
  const hx_scales_t *scales = mender->argument;
  const hx_ring *ring = mender->rewriter.env->ring;
  for (size_t i = 0; i < 2 && scales->is_exact; ++i) {
    const hx_type_t *type = op->operands[i]->type, *other = op->operands[1 - i]->type;
    hx_scale_t wanted;
    if (!hx_scales_knows(type) || !hx_scales_knows(other) || type->depth >= other->depth) continue;
    if (type->kind != HX_TYPE_CIPHERTEXT || !hx_scales_at(scales, ring, other->depth, &wanted)) continue;
    set(mender, op, i, hx_scales_align(mender, op, op->operands[i], other->depth, &wanted));
  }
  meet(mender, op, 2, false);
}

// The constant's scale that takes the product to the one scale of the next depth: S_d where the operand has S_d.
static void set_constant_scale(hx_mender_t *mender, hx_ir_op_t *op) {
  const hx_scales_t *scales = mender->argument;
  const hx_type_t *type = op->operands[0]->type;
  hx_scale_t wanted;
  if (!scales->is_exact || !hx_scales_knows(type) || type->depth >= hx_ring_max_depth(mender->rewriter.env->ring))
    return;
  if (!hx_scales_at(scales, mender->rewriter.env->ring, type->depth, &wanted)) return;
  if (!hx_scale_equal(&wanted, &type->scale)) return;
  char *text = hx_arena_alloc(&mender->rewriter.program->arena, HX_SCALE_TEXT_MAX);
  if (text == NULL) {
    mender->rewriter.status = HX_STATUS_OUT_OF_MEMORY;
    return;
  }
  (void)hx_scale_print(&wanted, text);
  const hx_attribute_t *before = hx_attrs_find(op->attrs, "scale");
  if (before != NULL && hx_str_equal(before->text, hx_str(text))) return;
  const hx_attribute_t value = {.kind = HX_ATTRIBUTE_TEXT, .text = hx_str(text)};
  mender->rewriter.status = hx_ir_set_attr(mender->rewriter.program, op, "scale", &value);
  mender->rewriter.changed = true;
}

static size_t ciphertexts_of(const hx_ir_op_t *op) {
  size_t count = 0;
  while (count < op->operand_count && op->operands[count]->type->kind == HX_TYPE_CIPHERTEXT) ++count;
  return count;
}

static void before(hx_mender_t *mender, hx_ir_op_t *op) {
  switch (op->info->id) {
    case HX_OP_CKKS_ADD:
    case HX_OP_CKKS_SUB:
    case HX_OP_CKKS_ADD_PLAIN:
    case HX_OP_CKKS_SUB_PLAIN:
      meet(mender, op, 2, true);
      break;
    case HX_OP_CKKS_MUL:
    case HX_OP_CKKS_MUL_PLAIN:
      meet_product(mender, op);
      break;
    case HX_OP_CKKS_MUL_SCALAR:
      set_constant_scale(mender, op);
      break;
    case HX_OP_CKKS_ROTATE_SUM:
      meet(mender, op, ciphertexts_of(op), true);
      break;
    case HX_OP_CKKS_WEIGHTED_SUM:
      meet(mender, op, op->operand_count, false);
      break;
    default:
      break;
  }
}

static void after(hx_mender_t *mender, hx_ir_op_t *op) { hx_scales_rescale(mender, op, mender->argument); }

static hx_ir_value_t *align(hx_mender_t *mender, hx_ir_op_t *before_op, hx_ir_value_t *value, const hx_type_t *wanted) {
  if (!hx_scales_knows(value->type) || !hx_scales_knows(wanted)) return value;
  hx_ir_value_t *aligned = hx_scales_align(mender, before_op, value, wanted->depth, &wanted->scale);
  return aligned == NULL ? value : aligned;
}

static bool prefers_second(const hx_mender_t *mender, const hx_type_t *first, const hx_type_t *second) {
  (void)mender;
  return hx_scales_knows(first) && hx_scales_knows(second) && second->depth > first->depth;
}

hx_status_t hx_pass_manage_scales(hx_program_t *program, hx_pass_env_t *env, bool *out_changed) {
  static const hx_mend_rules_t rules = {
      .before = before, .after = after, .align = align, .prefers_second = prefers_second, .is_last = true};
  hx_scales_t scales;
  *out_changed = false;
  HX_TRY(hx_scales_init(&scales, program, env));
  scales.is_exact = hx_str_equal(hx_pass_option(env, "mode"), hx_str("exact"));
  hx_decide(env, NULL, scales.is_exact ? "exact" : "waterline", "waterline, exact", "waterline of %.2f bits",
            scales.bits);
  return hx_mend_program(program, env, &rules, &scales, out_changed);
}
