// SPDX-License-Identifier: Apache-2.0
// shard{kind=terms}: terms of sums over the ranks, consecutive ones to each.
//
// A rank adds its terms, the ranks' sums are added by hx_shard_sum; what only other ranks' terms read
// is not computed, so a rank needs the keys of its own terms alone.
// Legal for ckks.add of standard residues, and for the sums over Q and P within rotate_sum and rotate_weighted_sum
// (shard_rotations.c): both are exact modulo each prime, so their order is free and the bits are equal.
// Worth it where two terms or more switch keys on their own, which is when the sum is spread; terms are weighed by
// hx_op_row_products of what only they read. Sums within a term of a sum that is spread are not spread again: the
// ranks that do not have the term would not meet in the collective. Sums in regions are spread there.
#include "core/passes/shard_terms.h"

#include "core/ir/table.h"
#include "core/passes/sums.h"
#include "core/passes/work.h"

// One sum that is spread.
typedef struct hx_plan_item {
  hx_sum_t *sum;  // of ciphertexts, or NULL
  hx_ir_op_t *op, *func;
  size_t first, count;  // the rank's leaves of the sum
  bool *contributes;    // by rank
} hx_plan_item_t;

typedef struct hx_terms {
  hx_shard_t *shard;
  hx_rewriter_t *rewriter;
  hx_pointers_t seen;     // operations of the cone: how often a result of theirs is read by it
  hx_pointers_t claimed;  // operations that only terms of spread sums read
  hx_sums_t *blocks;      // sums of every block
  size_t block_count, block_capacity;
  hx_plan_item_t *items;  // what is spread, in the order of the walk
  size_t item_count, item_capacity;
} hx_terms_t;

size_t hx_shard_run(const double *weights, size_t count, uint32_t rank, uint32_t size, size_t *out_first) {
  double total = 0, before = 0;
  size_t first = count, terms = 0;
  for (size_t i = 0; i < count; ++i) total += weights[i];
  for (size_t i = 0; i < count; ++i) {
    const double weight = total > 0 ? weights[i] : 1, sum = total > 0 ? total : (double)count;
    double place = (before + weight / 2) / sum * (double)size;
    if (place > (double)(size - 1)) place = (double)(size - 1);
    before += weight;
    if ((uint32_t)place != rank) continue;
    if (terms++ == 0) first = i;
  }
  *out_first = terms == 0 ? 0 : first;
  return terms;
}

bool *hx_shard_contributors(hx_shard_t *shard, const double *weights, size_t count) {
  bool *contributes = hx_zalloc(shard->size, sizeof *contributes);
  if (contributes == NULL) hx_shard_fail(shard, HX_STATUS_OUT_OF_MEMORY);
  size_t first;
  for (uint32_t r = 0; contributes != NULL && r < shard->size; ++r)
    contributes[r] = hx_shard_run(weights, count, r, shard->size, &first) > 0;
  return contributes;
}

void hx_shard_adopt(hx_rewriter_t *rewriter, const hx_ir_block_t *block, hx_ir_op_t *previous,
                    const hx_ir_op_t *before) {
  for (hx_ir_op_t *op = previous == NULL ? block->first : previous->next; op != NULL && op != before; op = op->next)
    hx_rewriter_adopt(rewriter, op);
  rewriter->changed = true;
}

// ------------------------------------------------------------------ what only a term reads

static uint32_t reads_of(const hx_rewriter_t *rewriter, const hx_ir_op_t *op) {
  uint32_t reads = 0;
  for (size_t i = 0; i < op->result_count; ++i) reads += hx_rewriter_uses(rewriter, op->results[i]);
  return reads;
}

// The operations that are read by nothing but `values` and each other, of one block; *out_products of them, and whether
// one of them switches keys. With `claims` they count as claimed.
static void walk_cone(hx_terms_t *terms, hx_ir_value_t *const *values, size_t count, const hx_ir_block_t *block,
                      bool claims, double *out_products, bool *out_switches) {
  hx_rewriter_t *rewriter = terms->rewriter;
  hx_ir_value_t **stack = NULL;
  size_t capacity = 0, depth = 0;
  *out_products = 0;
  *out_switches = false;
  hx_pointers_deinit(&terms->seen);
  hx_pointers_init(&terms->seen);
  hx_status_t status = hx_grow(&stack, &capacity, count + 1, sizeof(hx_ir_value_t *));
  for (size_t i = 0; i < count && status == HX_STATUS_OK; ++i) stack[depth++] = values[i];
  while (depth > 0 && status == HX_STATUS_OK) {
    hx_ir_op_t *op = hx_rewriter_current(rewriter, stack[--depth])->op;
    if (op == NULL || op->block != block || op->info->effect != HX_EFFECT_PURE || op->region_count > 0) continue;
    const uint32_t known = hx_pointers_get(&terms->seen, op), reads = known == HX_NONE ? 1 : known + 1;
    status = hx_pointers_set(&terms->seen, op, reads);
    if (status != HX_STATUS_OK || reads < reads_of(rewriter, op)) continue;
    hx_rewriter_take(rewriter, op);
    *out_products += hx_op_row_products(op, terms->shard->env->ring);
    *out_switches = *out_switches || hx_op_work(op).switches > 0;
    if (claims) status = hx_pointers_set(&terms->claimed, op, 1);
    if (status == HX_STATUS_OK) status = hx_grow(&stack, &capacity, depth + op->operand_count + 1, sizeof *stack);
    for (size_t i = 0; i < op->operand_count && status == HX_STATUS_OK; ++i) stack[depth++] = op->operands[i];
  }
  hx_free(stack);
  if (status != HX_STATUS_OK) hx_shard_fail(terms->shard, status);
}

static void claim(hx_terms_t *terms, hx_ir_value_t *const *values, size_t count, const hx_ir_block_t *block) {
  double products;
  bool switches;
  walk_cone(terms, values, count, block, true, &products, &switches);
}

static void add_item(hx_terms_t *terms, const hx_plan_item_t *item) {
  const hx_status_t status = hx_grow(&terms->items, &terms->item_capacity, terms->item_count + 1, sizeof *terms->items);
  if (status == HX_STATUS_OK) {
    terms->items[terms->item_count++] = *item;
  } else {
    hx_free(item->contributes);
  }
  hx_shard_fail(terms->shard, status);
}

// ------------------------------------------------------------------ sums of ciphertexts

static const char *why_not(const hx_terms_t *terms, const hx_sum_t *sum, size_t switching) {
  const hx_type_t *type = sum->root->results[0]->type;
  if (!hx_type_is_complete(type)) return "its state is not complete: run infer-state before shard";
  if (type->repr != HX_STANDARD) return "only sums of standard residues are exact over ranks";
  if (switching < 2) return "fewer than two of its terms switch keys on their own";
  if (type->batch_rank > 0 && hx_shard_find_like(terms->shard, type) == NULL)
    return "no input or material has the batch of the sum, of which a rank without terms would make zeros";
  return NULL;
}

static void spread_sum(hx_terms_t *terms, hx_sum_t *sum, size_t first, size_t count, const bool *contributes) {
  hx_shard_t *shard = terms->shard;
  hx_ir_op_t *root = sum->root;
  hx_ir_op_t *previous = root->previous;
  hx_ir_block_t *block = root->block;
  const hx_type_t *type = root->results[0]->type;
  hx_ir_value_t *part = NULL;
  for (size_t i = first; i < first + count; ++i) {
    hx_ir_value_t *const operands[] = {part, hx_rewriter_current(terms->rewriter, sum->leaves[i].value)};
    part = part == NULL ? operands[1] : hx_shard_build(shard, root, HX_OP_CKKS_ADD, operands, 2, NULL, 0, type);
  }
  hx_ir_value_t *reduced = hx_shard_sum(shard, root, type, part, contributes);
  if (reduced == NULL) return;
  reduced->name = root->results[0]->name;
  hx_shard_adopt(terms->rewriter, block, previous, root);
  hx_rewriter_replace(terms->rewriter, root->results[0], reduced);
  for (size_t i = 0; i < sum->addition_count; ++i) hx_rewriter_remove(terms->rewriter, sum->additions[i]);
}

// ------------------------------------------------------------------ what is spread

// The sum's terms weighed; whether it is spread, and then with which run of terms here.
static void plan_sum(hx_terms_t *terms, hx_sum_t *sum) {
  hx_shard_t *shard = terms->shard;
  double *weights = hx_zalloc(sum->leaf_count + 1, sizeof *weights);
  hx_ir_value_t **leaves = hx_zalloc(sum->leaf_count + 1, sizeof(hx_ir_value_t *));
  if (weights == NULL || leaves == NULL) hx_shard_fail(shard, HX_STATUS_OUT_OF_MEMORY);
  shard->op = sum->root;
  size_t switching = 0;
  for (size_t i = 0; i < sum->leaf_count && shard->status == HX_STATUS_OK; ++i) {
    bool switches;
    leaves[i] = sum->leaves[i].value;
    walk_cone(terms, &leaves[i], 1, sum->root->block, false, &weights[i], &switches);
    // A step of rotate_many goes with the term, though others of its steps stay.
    const hx_ir_op_t *rotation = sum->leaves[i].rotation;
    switching += switches || (rotation != NULL && rotation->info->id == HX_OP_CKKS_ROTATE_MANY) ? 1 : 0;
    weights[i] += 1;  // the addition
  }
  const char *why = shard->status == HX_STATUS_OK ? why_not(terms, sum, switching) : "";
  if (why == NULL) {
    hx_plan_item_t item = {.sum = sum, .op = sum->root, .func = shard->func};
    item.contributes = hx_shard_contributors(shard, weights, sum->leaf_count);
    item.count = hx_shard_run(weights, sum->leaf_count, shard->rank, shard->size, &item.first);
    hx_decide(shard->env, sum->root, "spread", "spread, on every rank",
              "rank %u of %u has %zu of %zu terms, from term %zu on", shard->rank, shard->size, item.count,
              sum->leaf_count, item.first);
    add_item(terms, &item);
    claim(terms, leaves, sum->leaf_count, sum->root->block);
  } else if (switching > 0) {
    hx_decide(shard->env, sum->root, "on every rank", "spread, on every rank", "%s", why);
  }
  hx_free(weights);
  hx_free(leaves);
}

static void plan_rotations(hx_terms_t *terms, hx_ir_op_t *op) {
  hx_shard_t *shard = terms->shard;
  shard->op = op;
  const char *why = hx_shard_rotations_why_not(shard);
  if (why != NULL) {
    hx_decide(shard->env, op, "on every rank", "spread, on every rank", "%s", why);
    return;
  }
  add_item(terms, &(hx_plan_item_t){.op = op, .func = shard->func});
  if (op->info->id == HX_OP_CKKS_ROTATE_SUM) claim(terms, op->operands, op->operand_count, op->block);
}

// From the last operation to the first: what reads comes before what is read. Nothing is changed yet, so that every
// rank plans alike.
static void plan_block(hx_rewriter_t *rewriter, hx_ir_block_t *block, void *argument) {
  hx_terms_t *terms = argument;
  hx_ir_op_t *func = block->region->op;
  while (func != NULL && func->info->id != HX_OP_FUNC) func = func->block == NULL ? NULL : func->block->region->op;
  if (func == NULL || terms->shard->status != HX_STATUS_OK) return;  // the module
  terms->shard->func = func;
  const hx_status_t status =
      hx_grow(&terms->blocks, &terms->block_capacity, terms->block_count + 1, sizeof *terms->blocks);
  if (status != HX_STATUS_OK) {
    hx_shard_fail(terms->shard, status);
    return;
  }
  hx_sums_t *sums = &terms->blocks[terms->block_count++];
  hx_sums_find(rewriter, block, sums);
  size_t next = sums->count;
  for (hx_ir_op_t *op = block->last; op != NULL && rewriter->status == HX_STATUS_OK; op = op->previous) {
    const bool is_claimed = hx_pointers_get(&terms->claimed, op) != HX_NONE;
    const bool is_sum = next > 0 && sums->items[next - 1].root == op;
    const bool is_rotations = op->info->id == HX_OP_CKKS_ROTATE_SUM || op->info->id == HX_OP_CKKS_ROTATE_WEIGHTED_SUM;
    if (is_sum) --next;
    if (is_sum && !is_claimed) plan_sum(terms, &sums->items[next]);
    if (is_rotations && !is_claimed) plan_rotations(terms, op);
  }
}

static void carry_out(hx_terms_t *terms) {
  hx_shard_t *shard = terms->shard;
  for (size_t i = 0; i < terms->item_count && shard->status == HX_STATUS_OK; ++i) {
    const hx_plan_item_t *item = &terms->items[i];
    shard->op = item->op;
    shard->func = item->func;
    shard->group = hx_func_block(item->func)->first->results[0];
    if (item->sum != NULL) {
      spread_sum(terms, item->sum, item->first, item->count, item->contributes);
    } else {
      hx_shard_rotations(shard, terms->rewriter);
    }
  }
}

static void free_terms(hx_terms_t *terms) {
  for (size_t i = 0; i < terms->block_count; ++i) hx_sums_free(&terms->blocks[i]);
  for (size_t i = 0; i < terms->item_count; ++i) hx_free(terms->items[i].contributes);
  hx_free(terms->blocks);
  hx_free(terms->items);
  hx_pointers_deinit(&terms->seen);
  hx_pointers_deinit(&terms->claimed);
}

hx_status_t hx_shard_terms(hx_program_t *program, const hx_pass_env_t *env, const hx_shard_options_t *options,
                           bool *out_changed) {
  hx_shard_t shard = {.program = program, .env = env, .rank = options->rank, .size = options->size};
  for (hx_ir_op_t *op = program->module->regions[0]->block->first; op != NULL; op = op->next) {
    if (op->info->id == HX_OP_FUNC) HX_TRY(hx_shard_find_group(program, op, options->group, &shard.group));
  }
  hx_rewriter_t rewriter;
  hx_terms_t terms = {.shard = &shard, .rewriter = &rewriter};
  hx_pointers_init(&terms.seen);
  hx_pointers_init(&terms.claimed);
  if (hx_rewriter_init(&rewriter, program, env) == HX_STATUS_OK) hx_rewriter_blocks(&rewriter, plan_block, &terms);
  if (rewriter.status == HX_STATUS_OK) carry_out(&terms);
  bool changed = false;
  const size_t spread = terms.item_count;
  hx_status_t status = hx_rewriter_finish(&rewriter, &changed);
  free_terms(&terms);
  if (status == HX_STATUS_OK) status = shard.status;
  HX_TRY(status);
  HX_TRY(hx_shard_prune(program, env, &changed));
  hx_decide(env, NULL, "terms", "limbs, terms, batch", "rank %u of %u: %zu sums are spread, %zu collectives",
            options->rank, options->size, spread, shard.collectives);
  *out_changed = true;
  return HX_STATUS_OK;
}
