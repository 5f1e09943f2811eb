// SPDX-License-Identifier: Apache-2.0
// prepare-plaintexts - plaintexts in the form that operations take them, made as seldom as possible:
//   added: prepare_plain in front of sums and products of plaintexts in coefficients, and of rotate_weighted_sum's
//          plaintexts on Q;
//   dropped: one that changes nothing (ntt domain on Q already);
//   moved: out of loops, where what is prepared comes from outside;
//   folded: one of a material (or of a level_drop of one) into the reference, which is prepared once when it is bound.
// In: a verified program. Keeps: results bit for bit: preparation is exact (CKKS.md), wherever it happens; contents
// that change in a bound material are prepared anew before the next run. Operations that ask for an implementation
// stay.
#include "core/passes/mend.h"
#include "core/passes/prepared.h"

// ------------------------------------------------------------------ added

static void prepare(hx_mender_t *mender, hx_ir_op_t *op, size_t index, const char *purpose) {
  const hx_named_attr_t item = {.name = hx_str("for"), .value = {.kind = HX_ATTRIBUTE_TEXT, .text = hx_str(purpose)}};
  hx_mend_operand(mender, op, index, HX_OP_CKKS_PREPARE_PLAIN, &item, 1);
}

static bool is_plain_in(const hx_ir_value_t *value, uint32_t domain) {
  const hx_type_t *type = value->type;
  return type->kind == HX_TYPE_PLAINTEXT && (type->known & HX_KNOWN_DOMAIN) != 0 && type->domain == domain;
}

static void add_preparations(hx_mender_t *mender, hx_ir_op_t *op) {
  const bool is_sum = op->info->id == HX_OP_CKKS_ADD_PLAIN || op->info->id == HX_OP_CKKS_SUB_PLAIN;
  const bool is_product = op->info->id == HX_OP_CKKS_MUL_PLAIN || op->info->id == HX_OP_CKKS_WEIGHTED_SUM;
  const bool is_weighted = op->info->id == HX_OP_CKKS_ROTATE_WEIGHTED_SUM;
  for (size_t i = 0; i < op->operand_count && (is_sum || is_product || is_weighted); ++i) {
    const hx_type_t *type = op->operands[i]->type;
    const bool is_on_q = type->kind == HX_TYPE_PLAINTEXT && (type->known & HX_KNOWN_BASIS) != 0 &&
                         type->basis == HX_BASIS_Q && mender->rewriter.env->ring != NULL;
    if (is_weighted && is_on_q) {
      prepare(mender, op, i, "weighted");
    } else if (!is_weighted && is_plain_in(op->operands[i], HX_COEFFICIENT)) {
      prepare(mender, op, i, is_sum ? "add" : "mul");
    }
  }
}

// ------------------------------------------------------------------ dropped, moved

static bool is_preparation(const hx_ir_op_t *op) {
  return op->info->id == HX_OP_CKKS_PREPARE_PLAIN && hx_attrs_find(op->attrs, "heliox.implementation") == NULL;
}

// Operations of one plaintext that may leave a loop: they cost less once than every turn.
static bool is_movable(const hx_ir_op_t *op) {
  if (op->info->id == HX_OP_MATERIAL_REF) return op->results[0]->type->kind == HX_TYPE_PLAINTEXT;
  const bool is_plain = op->info->id == HX_OP_CKKS_LEVEL_DROP || op->info->id == HX_OP_CKKS_TO_NTT;
  return is_preparation(op) || (is_plain && op->operands[0]->type->kind == HX_TYPE_PLAINTEXT);
}

// The outermost loop that the operation may stand in front of.
static hx_ir_op_t *loop_around(const hx_ir_op_t *op) {
  hx_ir_op_t *found = NULL;
  for (hx_ir_op_t *around = op->block->region->op; around != NULL; around = around->block->region->op) {
    if (around->block == NULL || hx_ir_is_isolated(around->info)) break;
    if (op->operand_count > 0 && hx_ir_is_inside(op, around)) {
      const hx_ir_value_t *value = op->operands[0];
      const hx_ir_op_t *owner = value->op != NULL ? value->op : value->block->region->op;
      if (hx_ir_is_inside(owner, around)) break;
    }
    if (around->info->id == HX_OP_SCF_FOR || around->info->id == HX_OP_SCF_WHILE) found = around;
  }
  return found;
}

static void clean_block(hx_rewriter_t *rewriter, hx_ir_block_t *block, void *argument) {
  (void)argument;
  for (hx_ir_op_t *op = block->first, *next; op != NULL && rewriter->status == HX_STATUS_OK; op = next) {
    next = op->next;
    hx_rewriter_take(rewriter, op);
    if (!is_movable(op)) continue;
    if (is_preparation(op) && op->operands[0]->type == op->results[0]->type &&
        hx_type_is_complete(op->operands[0]->type)) {
      hx_rewriter_replace(rewriter, op->results[0], op->operands[0]);
      hx_rewriter_remove(rewriter, op);
      continue;
    }
    hx_ir_op_t *loop = loop_around(op);
    if (loop == NULL) continue;
    hx_decide(rewriter->env, op, "before the loop", "in every turn, before the loop",
              "what it reads comes from outside of the loop");
    hx_rewriter_move(rewriter, op, loop);
  }
}

// ------------------------------------------------------------------ folded

// material.ref, or a level_drop of one.
static hx_ir_op_t *material_of(hx_ir_value_t *value) {
  const hx_ir_op_t *drop = hx_value_op(value, HX_OP_CKKS_LEVEL_DROP);
  hx_ir_op_t *ref = hx_value_op(drop == NULL ? value : drop->operands[0], HX_OP_MATERIAL_REF);
  hx_str_t purpose;
  return ref == NULL || hx_material_is_prepared(ref, &purpose) ? NULL : ref;
}

static void fold(hx_rewriter_t *rewriter, hx_ir_op_t *op) {
  hx_ir_op_t *ref = material_of(op->operands[0]);
  const hx_type_t *type = op->results[0]->type;
  if (ref == NULL || !hx_type_is_complete(type) || !hx_type_is_complete(ref->results[0]->type)) return;
  const hx_attribute_t *symbol = hx_attrs_find(ref->attrs, "symbol"), *purpose = hx_attrs_find(op->attrs, "for");
  if (symbol == NULL || purpose == NULL) return;
  const hx_named_attr_t items[] = {{.name = hx_str(HX_PREPARE_ATTR), .value = *purpose},
                                   {.name = hx_str("symbol"), .value = *symbol}};
  hx_attrs_t attrs;
  hx_ir_op_t *folded = NULL;
  rewriter->status = hx_program_attrs(rewriter->program, items, 2, &attrs);
  if (rewriter->status == HX_STATUS_OK)
    rewriter->status = hx_ir_create(rewriter->program, HX_OP_MATERIAL_REF, NULL, 0, type, 1, attrs, 0, &folded);
  if (rewriter->status != HX_STATUS_OK) return;
  folded->line = ref->line;
  folded->column = ref->column;
  folded->results[0]->name = op->results[0]->name;
  hx_ir_insert(ref->block, ref, folded);
  hx_rewriter_adopt(rewriter, folded);
  hx_decide(rewriter->env, op, "once, when it is bound", "in every run, once, when it is bound",
            "@%.*s does not change between runs", (int)symbol->text.size, symbol->text.data);
  hx_rewriter_replace(rewriter, op->results[0], folded->results[0]);
  hx_rewriter_remove(rewriter, op);
}

static void fold_block(hx_rewriter_t *rewriter, hx_ir_block_t *block, void *argument) {
  (void)argument;
  for (hx_ir_op_t *op = block->first, *next; op != NULL && rewriter->status == HX_STATUS_OK; op = next) {
    next = op->next;
    hx_rewriter_take(rewriter, op);
    if (is_preparation(op)) fold(rewriter, op);
  }
}

hx_status_t hx_pass_prepare_plaintexts(hx_program_t *program, hx_pass_env_t *env, bool *out_changed) {
  static const hx_mend_rules_t rules = {.before = add_preparations};
  static void (*const steps[])(hx_rewriter_t *, hx_ir_block_t *, void *) = {clean_block, fold_block};
  HX_TRY(hx_mend_program(program, env, &rules, NULL, out_changed));
  for (size_t i = 0; i < HX_COUNT_OF(steps); ++i) {
    hx_rewriter_t rewriter;
    bool changed = false;
    if (hx_rewriter_init(&rewriter, program, env) == HX_STATUS_OK) hx_rewriter_blocks(&rewriter, steps[i], NULL);
    HX_TRY(hx_rewriter_finish(&rewriter, &changed));
    *out_changed = *out_changed || changed;
  }
  return HX_STATUS_OK;
}
