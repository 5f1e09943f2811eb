// SPDX-License-Identifier: Apache-2.0
#include "core/passes/sink.h"

typedef struct hx_sink {
  hx_rewriter_t rewriter;
  hx_op_id_t id;
} hx_sink_t;

// The operation to be moved that gives an operand, where this one alone reads it.
static hx_ir_op_t *source_of(const hx_sink_t *sink, const hx_ir_op_t *op, size_t index) {
  hx_ir_op_t *source = hx_value_op(op->operands[index], sink->id);
  const bool is_free = source != NULL && source->block == op->block &&
                       hx_rewriter_sole_user(&sink->rewriter, op->operands[index]) != NULL &&
                       hx_attrs_find(source->attrs, "heliox.implementation") == NULL;
  if (is_free) hx_rewriter_take(&sink->rewriter, source);
  return is_free ? source : NULL;
}

// Both do the same with values of one state.
static bool are_alike(const hx_ir_op_t *a, const hx_ir_op_t *b) {
  if (a == b || a->operand_count != b->operand_count || !hx_attrs_equal(a->attrs, b->attrs)) return false;
  for (size_t i = 1; i < a->operand_count; ++i) {
    if (a->operands[i] != b->operands[i]) return false;
  }
  return a->operands[0]->type == b->operands[0]->type && hx_type_is_complete(a->operands[0]->type);
}

static size_t operand_count_of(const hx_ir_op_t *op) {
  switch (op->info->id) {
    case HX_OP_CKKS_ADD:
    case HX_OP_CKKS_SUB:
      return 2;
    case HX_OP_CKKS_NEG:
    case HX_OP_CKKS_MUL_INTEGER:
      return 1;
    default:
      return 0;
  }
}

static void sink_through(hx_sink_t *sink, hx_ir_op_t *op) {
  hx_rewriter_t *rewriter = &sink->rewriter;
  const size_t count = operand_count_of(op);
  if (count == 0 || hx_attrs_find(op->attrs, "heliox.implementation") != NULL) return;
  hx_ir_op_t *sources[2] = {NULL};
  hx_ir_value_t *operands[2];
  for (size_t i = 0; i < count; ++i) {
    sources[i] = source_of(sink, op, i);
    if (sources[i] == NULL) return;
    operands[i] = sources[i]->operands[0];
  }
  if (count == 2 && !are_alike(sources[0], sources[1])) return;
  const hx_ir_op_t *sum = hx_rewriter_build_like(rewriter, op, op, op->info->id, operands, count, op->attrs, 1);
  if (sum == NULL) return;
  hx_ir_value_t *moved[2] = {sum->results[0], sources[0]->operand_count > 1 ? sources[0]->operands[1] : NULL};
  const size_t moved_count = sources[0]->operand_count > 2 ? 0 : sources[0]->operand_count;
  if (moved_count == 0) {
    rewriter->status = HX_STATUS_INTERNAL;
    return;
  }
  hx_ir_op_t *late =
      hx_rewriter_build_like(rewriter, op, sources[0], sink->id, moved, moved_count, sources[0]->attrs, 1);
  if (late == NULL) return;
  hx_decide(rewriter->env, late, "behind the sum", "before the sum, behind the sum",
            "%s is taken once instead of %zu times", hx_op_info(sink->id)->name, count);
  late->results[0]->name = op->results[0]->name;
  hx_rewriter_replace(rewriter, op->results[0], late->results[0]);
  hx_rewriter_remove(rewriter, op);
  for (size_t i = 0; i < count; ++i) hx_rewriter_remove(rewriter, sources[i]);
}

static void sink_block(hx_rewriter_t *rewriter, hx_ir_block_t *block, void *argument) {
  for (hx_ir_op_t *op = block->first, *next; op != NULL && rewriter->status == HX_STATUS_OK; op = next) {
    next = op->next;
    hx_rewriter_take(rewriter, op);
    sink_through(argument, op);
  }
}

hx_status_t hx_sink_operation(hx_program_t *program, const hx_pass_env_t *env, hx_op_id_t id, bool *out_changed) {
  hx_sink_t sink = {.id = id};
  if (hx_rewriter_init(&sink.rewriter, program, env) == HX_STATUS_OK)
    hx_rewriter_blocks(&sink.rewriter, sink_block, &sink);
  return hx_rewriter_finish(&sink.rewriter, out_changed);
}
