// SPDX-License-Identifier: Apache-2.0
// pair-rescale - a relinearize whose result one rescale alone reads, and a rns.mod_down likewise, become one prepared
// region: the rescale moves up to stand behind it, the product in front of a relinearize is taken in where nobody else
// reads it, and all get one number in heliox.region. One transform a kept row is saved then (CKKS.md, "What equal bits
// leave free"); a plugin that does not take the region runs its operations one by one.
// In: a verified program. Keeps: results bit for bit, since a region is its operations; types; operations that ask for
// an implementation, are in a region already or are to stay apart. Without a target nothing is known of regions and
// nothing is done, unless option `always` asks for the marks. Legal everywhere in a block: a rescale depends on its
// operand alone, so it may stand anywhere behind it.
#include "core/passes/fuse.h"
#include "core/passes/rewrite.h"

typedef struct hx_pairing {
  hx_rewriter_t rewriter;
  int64_t next;  // number of a region that is not there yet
} hx_pairing_t;

static hx_status_t find_next(hx_ir_op_t *op, void *argument) {
  hx_pairing_t *pairing = argument;
  int64_t number = 0;
  if (hx_attrs_get_i64(op->attrs, "heliox.region", &number) && number >= pairing->next) pairing->next = number + 1;
  return HX_STATUS_OK;
}

static bool is_free(const hx_ir_op_t *op) {
  return hx_attrs_find(op->attrs, HX_REGION_ATTR) == NULL && hx_attrs_find(op->attrs, HX_APART_ATTR) == NULL &&
         hx_attrs_find(op->attrs, "heliox.implementation") == NULL;
}

// The operation that gives operand 0, where this one alone reads it and both stand in one block.
static hx_ir_op_t *source_of(const hx_pairing_t *pairing, const hx_ir_op_t *op) {
  hx_ir_op_t *source = op->operands[0]->op;
  const bool fits = source != NULL && source->block == op->block && is_free(source) &&
                    hx_rewriter_sole_user(&pairing->rewriter, op->operands[0]) != NULL;
  return fits ? source : NULL;
}

static void mark(hx_pairing_t *pairing, hx_ir_op_t *const *ops, size_t count) {
  hx_rewriter_t *rewriter = &pairing->rewriter;
  const hx_attribute_t number = {.kind = HX_ATTRIBUTE_INTEGER, .integer = pairing->next++};
  for (size_t i = 0; i < count && rewriter->status == HX_STATUS_OK; ++i)
    rewriter->status = hx_ir_set_attr(rewriter->program, ops[i], "heliox.region", &number);
  rewriter->changed = true;
  hx_decide(rewriter->env, ops[0], "one region", "separate operations, one region",
            "%s is followed by its rescale: one transform a kept row where the target takes the region",
            ops[count - 2]->info->name);
}

// Whether the target prepares regions of a kind and takes these operations in one.
static bool is_taken(const hx_pairing_t *pairing, const char *kind, hx_ir_op_t *const *ops, size_t count) {
  const hx_pass_env_t *env = pairing->rewriter.env;
  if (hx_pass_option(env, "always").data != NULL) return true;
  for (size_t i = 0; i < count; ++i) {
    if (env->fuses == NULL || !env->fuses(env->fuses_argument, kind, ops[i])) return false;
  }
  return true;
}

static void pair(hx_pairing_t *pairing, hx_ir_op_t *rescale) {
  hx_ir_op_t *ops[3];
  size_t count = 0;
  hx_ir_op_t *division = source_of(pairing, rescale);
  if (division == NULL) return;
  const bool is_whole = rescale->info->id == HX_OP_CKKS_RESCALE;
  if (division->info->id != (is_whole ? HX_OP_CKKS_RELINEARIZE : HX_OP_RNS_MOD_DOWN)) return;
  hx_ir_op_t *product = is_whole ? source_of(pairing, division) : NULL;
  hx_ir_op_t *const chain[] = {product, division, rescale};
  const bool is_product = product != NULL &&
                          (product->info->id == HX_OP_CKKS_MUL || product->info->id == HX_OP_CKKS_SQUARE) &&
                          is_taken(pairing, "multiply-relinearize-rescale", chain, 3);
  if (!is_product && !is_taken(pairing, is_whole ? "relinearize-rescale" : "mod_down-rescale", chain + 1, 2)) return;
  // The operations have to stand one behind the other: the product goes down, the rescale up.
  if (is_product) {
    hx_rewriter_move(&pairing->rewriter, product, division);
    ops[count++] = product;
  }
  if (division->next != rescale && division->next != NULL)
    hx_rewriter_move(&pairing->rewriter, rescale, division->next);
  ops[count++] = division;
  ops[count++] = rescale;
  mark(pairing, ops, count);
}

static void pair_block(hx_rewriter_t *rewriter, hx_ir_block_t *block, void *argument) {
  for (hx_ir_op_t *op = block->first, *next; op != NULL && rewriter->status == HX_STATUS_OK; op = next) {
    next = op->next;
    if ((op->info->id == HX_OP_CKKS_RESCALE || op->info->id == HX_OP_RNS_RESCALE) && is_free(op)) pair(argument, op);
  }
}

hx_status_t hx_pass_pair_rescale(hx_program_t *program, hx_pass_env_t *env, bool *out_changed) {
  hx_pairing_t pairing = {.next = 0};
  if (hx_rewriter_init(&pairing.rewriter, program, env) == HX_STATUS_OK) {
    (void)hx_ir_walk(program->module, find_next, &pairing);
    hx_rewriter_blocks(&pairing.rewriter, pair_block, &pairing);
  }
  return hx_rewriter_finish(&pairing.rewriter, out_changed);
}
