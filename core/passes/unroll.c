// SPDX-License-Identifier: Apache-2.0
// unroll - puts the turns of counted loops one behind the other, so that what sees one block only (hoisting, merged
// sums, shared transforms, the estimator) sees across turns. Option most=N: at most so many operations of one loop, 256
// without it; loops that would give more stay as they are. In: a verified program. Legal where the bounds are
// constants: then every turn runs exactly once, its counter is a constant, and what it carries is what the turn before
// yielded. Keeps: results bit for bit, their order, types; inner loops first, so that an outer one is counted with its
// inner ones unrolled. Results of a loop that has no turn are what it was given. Run a second time it finds the same
// loops too large.
#include "core/passes/passes.h"
#include "core/passes/turns.h"

#define MOST_DEFAULT 256u
#define MOST_MAX 65536u

typedef struct hx_unroller {
  hx_program_t *program;
  const hx_pass_env_t *env;
  uint64_t most;
  uint32_t unrolled;
} hx_unroller_t;

// Operations of one turn, those of inner regions included.
static uint64_t size_of(const hx_ir_block_t *block) {
  uint64_t size = 0;
  for (const hx_ir_op_t *op = block->first; op != NULL; op = op->next) size += hx_ir_count(op);
  return size;
}

// The counter of one turn, in front of the loop.
static hx_status_t add_counter(hx_unroller_t *unroller, hx_ir_op_t *loop, int64_t value, hx_ir_value_t **out) {
  const hx_type_t *type = loop->regions[0]->block->arguments[0]->type;
  const hx_named_attr_t item = {.name = hx_str("value"),
                                .value = {.kind = HX_ATTRIBUTE_INTEGER, .integer = value, .type = type}};
  hx_attrs_t attrs;
  hx_ir_op_t *op;
  HX_TRY(hx_program_attrs(unroller->program, &item, 1, &attrs));
  HX_TRY(hx_ir_build(unroller->program, loop->block, loop, HX_OP_ARITH_CONSTANT, NULL, 0, attrs, 1, unroller->env->ring,
                     unroller->env->report, &op));
  op->line = loop->line;
  op->column = loop->column;
  *out = op->results[0];
  return HX_STATUS_OK;
}

// carried[result_count]: what goes into the turn, then what comes out of it.
static hx_status_t put_turn(hx_unroller_t *unroller, hx_ir_op_t *loop, int64_t counter, hx_ir_value_t **carried) {
  const hx_ir_block_t *block = loop->regions[0]->block;
  hx_ir_value_t *number = NULL;
  HX_TRY(add_counter(unroller, loop, counter, &number));
  hx_ir_map_t map;
  hx_ir_map_init(&map);
  hx_status_t status = hx_ir_map_set(&map, block->arguments[0], number);
  for (size_t i = 0; i < loop->result_count && status == HX_STATUS_OK; ++i)
    status = hx_ir_map_set(&map, block->arguments[i + 1], carried[i]);
  if (status == HX_STATUS_OK)
    status = hx_ir_copy_range(unroller->program, block->first, block->last, &map, loop->block, loop);
  for (size_t i = 0; i < loop->result_count && status == HX_STATUS_OK; ++i)
    carried[i] = hx_ir_map_get(&map, block->last->operands[i]);
  hx_ir_map_deinit(&map);
  return status;
}

static hx_status_t unroll(hx_ir_op_t *op, void *argument) {
  hx_unroller_t *unroller = argument;
  uint64_t turns = 0;
  bool is_exact = false;
  if (op->info->id != HX_OP_SCF_FOR || !hx_loop_turns(op, &turns, &is_exact) || !is_exact) return HX_STATUS_OK;
  const uint64_t size = size_of(op->regions[0]->block);
  if (turns > unroller->most / size) {
    hx_decide(unroller->env, op, "a loop", "a loop, its turns one by one",
              "%llu turns of %llu operations, at most %llu in all", (unsigned long long)turns, (unsigned long long)size,
              (unsigned long long)unroller->most);
    return HX_STATUS_OK;
  }
  int64_t lower = 0, step = 0;
  (void)hx_value_constant(op->operands[0], &lower);  // hx_loop_turns has read them
  (void)hx_value_constant(op->operands[2], &step);
  hx_ir_value_t **carried = hx_zalloc(op->result_count + 1, sizeof(hx_ir_value_t *));
  if (carried == NULL) return HX_STATUS_OUT_OF_MEMORY;
  for (size_t i = 0; i < op->result_count; ++i) carried[i] = op->operands[3 + i];
  hx_status_t status = HX_STATUS_OK;
  for (uint64_t turn = 0; turn < turns && status == HX_STATUS_OK; ++turn)  // below the upper bound: no overflow
    status = put_turn(unroller, op, lower + (int64_t)turn * step, carried);
  for (size_t i = 0; i < op->result_count && status == HX_STATUS_OK; ++i)
    hx_ir_replace_uses(unroller->program, op->results[i], carried[i]);
  hx_free(carried);
  if (status != HX_STATUS_OK) return status;
  hx_decide(unroller->env, op, "its turns one by one", "a loop, its turns one by one", "%llu turns of %llu operations",
            (unsigned long long)turns, (unsigned long long)size);
  hx_ir_remove(op);
  unroller->unrolled += 1;
  return HX_STATUS_OK;
}

hx_status_t hx_pass_unroll(hx_program_t *program, hx_pass_env_t *env, bool *out_changed) {
  hx_unroller_t unroller = {.program = program, .env = env, .most = MOST_DEFAULT};
  const hx_str_t text = hx_pass_option(env, "most");
  uint64_t most = 0;
  for (size_t i = 0; i < text.size; ++i) {
    if (text.data[i] < '0' || text.data[i] > '9' || most > MOST_MAX) most = MOST_MAX + 1;
    if (most <= MOST_MAX) most = 10 * most + (uint64_t)(text.data[i] - '0');
  }
  *out_changed = false;
  if (text.size > 0 && (most == 0 || most > MOST_MAX))
    return hx_report_fail(env->report, HX_CODE_PASS, "unroll: most is '%.*s', a number from 1 to %u is wanted",
                          (int)(text.size < 40 ? text.size : 40), text.data, MOST_MAX);
  if (text.size > 0) unroller.most = most;
  const hx_status_t status = hx_ir_walk_post(program->module, unroll, &unroller);
  *out_changed = unroller.unrolled > 0;
  return status;
}
