// SPDX-License-Identifier: Apache-2.0
// reuse-transforms - fewer number-theoretic transforms and conversions of representation:
//   cancel: a transform of its inverse is the value itself, in either order (ntt, ckks, montgomery);
//   share: a transform that has been taken of the value, where its result is visible;
//   absorb: from_ntt of an operation that can give coefficients, and to_ntt of one that was asked for them, where
//           nobody else reads its result: the operation gives the other domain (output_domain);
//   delay: sum or difference of two transforms that nobody else reads: the transform of the sum.
// In: a verified program. Keeps: results bit for bit, their types; operations that ask for an implementation.
// Legal because transforms are linear bijections on residues in [0, q), exact in both directions, and every operation
// is defined to have equal values in both domains (CKKS.md).
#include "core/ir/table.h"
#include "core/passes/rewrite.h"

// Transforms and their inverses.
static const struct {
  hx_op_id_t id, inverse;
} pairs[] = {
    {HX_OP_NTT_FORWARD, HX_OP_NTT_INVERSE},
    {HX_OP_NTT_INVERSE, HX_OP_NTT_FORWARD},
    {HX_OP_CKKS_TO_NTT, HX_OP_CKKS_FROM_NTT},
    {HX_OP_CKKS_FROM_NTT, HX_OP_CKKS_TO_NTT},
    {HX_OP_RNS_TO_MONTGOMERY, HX_OP_RNS_FROM_MONTGOMERY},
    {HX_OP_RNS_FROM_MONTGOMERY, HX_OP_RNS_TO_MONTGOMERY},
};

// A transform that is visible here.
typedef struct hx_taken {
  const hx_ir_value_t *of;
  size_t pair;
  uint32_t before;  // what the table said, to be put back when the block ends
} hx_taken_t;

typedef struct hx_reuse {
  hx_rewriter_t rewriter;
  hx_pointers_t visible[HX_COUNT_OF(pairs)];  // value to its transform, a place in `values`
  hx_ir_value_t **values;
  size_t value_count, value_capacity;
  hx_taken_t *taken;
  size_t taken_count, taken_capacity;
} hx_reuse_t;

static bool has_request(const hx_ir_op_t *op) { return hx_attrs_find(op->attrs, "heliox.implementation") != NULL; }

static size_t pair_of(const hx_ir_op_t *op) {
  size_t pair = 0;
  while (pair < HX_COUNT_OF(pairs) && pairs[pair].id != op->info->id) ++pair;
  return has_request(op) ? HX_COUNT_OF(pairs) : pair;
}

// Types that may stand for one another: equal, or open and of one kind.
static bool fits(const hx_type_t *type, const hx_type_t *wanted) {
  return type == wanted || (type->kind == wanted->kind && !hx_type_is_complete(wanted));
}

static hx_ir_value_t *cancel(const hx_reuse_t *reuse, const hx_ir_op_t *op, size_t pair) {
  const hx_ir_op_t *inner = hx_value_op(op->operands[0], pairs[pair].inverse);
  if (inner == NULL || has_request(inner)) return NULL;
  hx_ir_value_t *source = hx_rewriter_current(&reuse->rewriter, inner->operands[0]);
  return fits(source->type, op->results[0]->type) ? source : NULL;
}

static hx_ir_value_t *share(const hx_reuse_t *reuse, const hx_ir_op_t *op, size_t pair) {
  const uint32_t place = hx_pointers_get(&reuse->visible[pair], op->operands[0]);
  if (place == HX_NONE) return NULL;
  hx_ir_value_t *value = hx_rewriter_current(&reuse->rewriter, reuse->values[place]);
  return fits(value->type, op->results[0]->type) ? value : NULL;
}

static hx_status_t remember(hx_reuse_t *reuse, const hx_ir_op_t *op, size_t pair) {
  HX_TRY(hx_grow(&reuse->values, &reuse->value_capacity, reuse->value_count + 1, sizeof(hx_ir_value_t *)));
  HX_TRY(hx_grow(&reuse->taken, &reuse->taken_capacity, reuse->taken_count + 1, sizeof *reuse->taken));
  reuse->taken[reuse->taken_count++] = (hx_taken_t){
      .of = op->operands[0], .pair = pair, .before = hx_pointers_get(&reuse->visible[pair], op->operands[0])};
  reuse->values[reuse->value_count] = op->results[0];
  return hx_pointers_set(&reuse->visible[pair], op->operands[0], (uint32_t)reuse->value_count++);
}

// ------------------------------------------------------------------ absorb

static bool gives_domains(const hx_ir_op_t *op) {
  for (size_t i = 0; i < HX_OP_ATTRS_MAX && op->info->attrs[i].name != NULL; ++i) {
    if (op->info->attrs[i].rule == HX_RULE_DOMAIN) return !has_request(op);
  }
  return false;
}

static hx_ir_value_t *absorb(hx_reuse_t *reuse, hx_ir_op_t *op) {
  hx_rewriter_t *rewriter = &reuse->rewriter;
  const bool to_ntt = op->info->id == HX_OP_CKKS_TO_NTT;
  hx_ir_op_t *producer = op->operands[0]->op;
  if ((!to_ntt && op->info->id != HX_OP_CKKS_FROM_NTT) || producer == NULL || producer->result_count != 1 ||
      !gives_domains(producer) || hx_rewriter_sole_user(rewriter, producer->results[0]) == NULL ||
      hx_op_output_domain(producer) != (to_ntt ? HX_COEFFICIENT : HX_NTT)) {
    return NULL;
  }
  const hx_attribute_t text = {.kind = HX_ATTRIBUTE_TEXT, .text = hx_str(to_ntt ? "ntt" : "coefficient")};
  hx_named_attr_t items[HX_OP_ATTRS_MAX + 1];
  size_t count = 0;
  for (size_t i = 0; i < producer->attrs.count && count < HX_OP_ATTRS_MAX; ++i) {
    if (!hx_str_equal(producer->attrs.items[i].name, hx_str("output_domain")))
      items[count++] = producer->attrs.items[i];
  }
  if (producer->attrs.count > HX_OP_ATTRS_MAX) return NULL;  // further attributes of the program's own
  if (!to_ntt) items[count++] = (hx_named_attr_t){.name = hx_str("output_domain"), .value = text};
  hx_rewriter_take(rewriter, producer);
  const hx_ir_op_t *built = hx_rewriter_build(rewriter, producer, producer, producer->info->id, producer->operands,
                                              producer->operand_count, items, count, 1);
  return built == NULL ? NULL : built->results[0];
}

// ------------------------------------------------------------------ delay

static bool is_linear(hx_op_id_t id) {
  return id == HX_OP_RNS_ADD || id == HX_OP_RNS_SUB || id == HX_OP_CKKS_ADD || id == HX_OP_CKKS_SUB;
}

static hx_ir_value_t *delay(hx_reuse_t *reuse, hx_ir_op_t *op) {
  hx_rewriter_t *rewriter = &reuse->rewriter;
  if (!is_linear(op->info->id) || op->operands[0] == op->operands[1] || has_request(op)) return NULL;
  hx_ir_value_t *sources[2];
  size_t pair = 0;
  for (size_t i = 0; i < 2; ++i) {
    const hx_ir_op_t *transform = op->operands[i]->op;
    if (transform == NULL || transform->block != op->block) return NULL;
    const size_t own = pair_of(transform);
    if (own == HX_COUNT_OF(pairs) || (i == 1 && own != pair)) return NULL;
    if (hx_rewriter_sole_user(rewriter, op->operands[i]) == NULL) return NULL;
    sources[i] = hx_rewriter_current(rewriter, transform->operands[0]);
    pair = own;
  }
  if (sources[0]->type != sources[1]->type || !hx_type_is_complete(sources[0]->type) ||
      sources[0]->type->kind != op->results[0]->type->kind) {
    return NULL;
  }
  const hx_ir_op_t *sum = hx_rewriter_build(rewriter, op, op, op->info->id, sources, 2, NULL, 0, 1);
  if (sum == NULL) return NULL;
  const hx_ir_op_t *built = hx_rewriter_build(rewriter, op, op, pairs[pair].id, sum->results, 1, NULL, 0, 1);
  return built == NULL ? NULL : built->results[0];
}

// ------------------------------------------------------------------ the walk

static void visit_op(hx_reuse_t *reuse, hx_ir_op_t *op) {
  hx_rewriter_t *rewriter = &reuse->rewriter;
  const size_t pair = pair_of(op);
  hx_ir_value_t *value = NULL;
  if (pair < HX_COUNT_OF(pairs)) {
    value = cancel(reuse, op, pair);
    if (value == NULL) value = share(reuse, op, pair);
    if (value == NULL) value = absorb(reuse, op);
  } else {
    value = delay(reuse, op);
  }
  if (rewriter->status != HX_STATUS_OK) return;
  if (value != NULL) {
    hx_ir_op_t *source = op->operand_count > 0 ? op->operands[0]->op : NULL;
    if (value->name.size == 0) value->name = op->results[0]->name;
    hx_rewriter_replace(rewriter, op->results[0], value);
    hx_rewriter_remove(rewriter, op);
    // What was absorbed goes at once; transforms that nobody reads now may still be shared, and are left to dve.
    const bool is_absorbed = source != NULL && gives_domains(source) && source->result_count == 1 &&
                             hx_rewriter_uses(rewriter, source->results[0]) == 0;
    if (is_absorbed && pair < HX_COUNT_OF(pairs)) hx_rewriter_remove(rewriter, source);
  } else if (pair < HX_COUNT_OF(pairs)) {
    rewriter->status = remember(reuse, op, pair);
  }
}

static void visit_block(hx_reuse_t *reuse, hx_ir_block_t *block) {
  const size_t mark = reuse->taken_count;
  for (hx_ir_op_t *op = block->first, *next; op != NULL && reuse->rewriter.status == HX_STATUS_OK; op = next) {
    next = op->next;
    hx_rewriter_take(&reuse->rewriter, op);
    for (size_t i = 0; i < op->region_count; ++i) visit_block(reuse, op->regions[i]->block);
    if (op->region_count == 0) visit_op(reuse, op);
  }
  while (reuse->taken_count > mark) {
    const hx_taken_t *taken = &reuse->taken[--reuse->taken_count];
    // Replacing the number of a known pointer takes no memory.
    (void)hx_pointers_set(&reuse->visible[taken->pair], taken->of, taken->before);
  }
}

static hx_status_t reuse_once(hx_program_t *program, const hx_pass_env_t *env, bool *out_changed) {
  hx_reuse_t reuse = {0};
  for (size_t i = 0; i < HX_COUNT_OF(pairs); ++i) hx_pointers_init(&reuse.visible[i]);
  if (hx_rewriter_init(&reuse.rewriter, program, env) == HX_STATUS_OK)
    visit_block(&reuse, program->module->regions[0]->block);
  for (size_t i = 0; i < HX_COUNT_OF(pairs); ++i) hx_pointers_deinit(&reuse.visible[i]);
  hx_free(reuse.values);
  hx_free(reuse.taken);
  return hx_rewriter_finish(&reuse.rewriter, out_changed);
}

// A sum that was delayed may meet the inverse behind it, so it goes on until nothing changes.
hx_status_t hx_pass_reuse_transforms(hx_program_t *program, hx_pass_env_t *env, bool *out_changed) {
  *out_changed = false;
  for (bool changed = true; changed;) {
    HX_TRY(reuse_once(program, env, &changed));
    *out_changed = *out_changed || changed;
  }
  return HX_STATUS_OK;
}
