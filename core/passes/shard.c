// SPDX-License-Identifier: Apache-2.0
// shard - a program of one process becomes the program of one rank of `size`; all ranks together give its results, bit
// for bit, on every rank. rank and size are options, so every rank runs the pass for itself and what it needs of keys
// and memory is known exactly behind it (check-keys).
//   kind=batch  items of the first batch axis, consecutive ones to each rank
//   kind=terms  terms of sums: rotations and products that only one sum reads, consecutive ones to each rank
//   kind=limbs  rows: each rank has some primes of every value
// In: a verified program, state inferred; kind=limbs: lowered to primitives, for what is not is left to every rank.
// Keeps: results bit for bit, their types; inputs and materials, which every rank is given whole. Calls are refused
// (inline goes before), so are random operations, whose results would differ from rank to rank, and programs that have
// collectives already.
// Legal because every collective is reached by all ranks alike: control flow is by public numbers, which are the same
// on every rank, and what is gathered or summed is chosen by the program alone. Regions: values that flow into, out of
// and around them are whole on every rank; inside, work is spread as outside.
// One rank: nothing changes. More ranks than there is work: those beyond it bring nothing.
#include "core/passes/shard.h"

#include <string.h>

static hx_status_t read_number(const hx_pass_env_t *env, const char *name, uint32_t low, uint32_t *out) {
  const hx_str_t text = hx_pass_option(env, name);
  uint32_t number = 0;
  bool is_number = text.size > 0 && text.size <= 5;
  for (size_t i = 0; is_number && i < text.size; ++i) {
    is_number = text.data[i] >= '0' && text.data[i] <= '9';
    number = 10 * number + (uint32_t)(text.data[i] - '0');  // at most 99,999
  }
  *out = number;
  if (is_number && number >= low && number <= HX_RANKS_MAX) return HX_STATUS_OK;
  return hx_report_fail(env->report, HX_CODE_PASS, "shard: option %s is '%.*s', a number from %u to %u is wanted", name,
                        (int)text.size, text.size == 0 ? "" : text.data, low, HX_RANKS_MAX);
}

static hx_status_t read_options(const hx_pass_env_t *env, hx_shard_options_t *out) {
  out->kind = hx_pass_option(env, "kind");
  out->group = hx_pass_option(env, "group");
  if (out->group.size == 0) out->group = hx_str("world");
  if (out->kind.size == 0)
    return hx_report_fail(env->report, HX_CODE_PASS, "shard: option kind is missing: limbs, terms or batch");
  HX_TRY(read_number(env, "rank", 0, &out->rank));
  HX_TRY(read_number(env, "size", 1, &out->size));
  if (out->rank < out->size) return HX_STATUS_OK;
  return hx_report_fail(env->report, HX_CODE_PASS, "shard: option rank is %u, but there are %u ranks, from 0",
                        out->rank, out->size);
}

hx_status_t hx_shard_find_group(hx_program_t *program, hx_ir_op_t *func, hx_str_t symbol, hx_ir_value_t **out) {
  hx_ir_block_t *block = hx_func_block(func);
  const hx_named_attr_t items[] = {
      {.name = hx_str("kind"), .value = {.kind = HX_ATTRIBUTE_TEXT, .text = hx_str("process-group")}},
      {.name = hx_str("symbol"), .value = {.kind = HX_ATTRIBUTE_SYMBOL, .text = symbol}}};
  for (hx_ir_op_t *op = block->first; op != NULL; op = op->next) {
    const hx_attribute_t *found = op->info->id == HX_OP_RESOURCE_REF ? hx_attrs_find(op->attrs, "symbol") : NULL;
    if (found == NULL || !hx_str_equal(found->text, symbol)) continue;
    hx_ir_remove(op);
    hx_ir_insert(block, block->first, op);
    *out = op->results[0];
    return HX_STATUS_OK;
  }
  hx_attrs_t attrs;
  hx_type_t type;
  hx_ir_op_t *op;
  hx_type_init(&type, HX_TYPE_HANDLE);
  memcpy(type.name, "process-group", sizeof "process-group");
  HX_TRY(hx_program_attrs(program, items, HX_COUNT_OF(items), &attrs));
  HX_TRY(hx_ir_create(program, HX_OP_RESOURCE_REF, NULL, 0, &type, 1, attrs, 0, &op));
  op->results[0]->name = attrs.items[1].value.text;
  hx_ir_insert(block, block->first, op);
  *out = op->results[0];
  return HX_STATUS_OK;
}

typedef struct hx_shard_check {
  const hx_program_t *program;
  const hx_pass_env_t *env;
} hx_shard_check_t;

static hx_status_t check_op(hx_ir_op_t *op, void *argument) {
  const hx_shard_check_t *check = argument;
  const char *why = op->info->id == HX_OP_CALL ? "calls are not followed; run inline{only=main} before shard"
                    : op->info->effect == HX_EFFECT_RANDOM
                        ? "every rank would draw numbers of its own; encrypt before the program runs"
                    : op->info->effect == HX_EFFECT_COLLECTIVE
                        ? "the program is one rank's already; shard is run once, on a program of one process"
                    : op->info->id == HX_OP_MEMORY_TRANSFER
                        ? "devices are chosen for a rank's program; run place behind shard"
                        : NULL;
  if (why == NULL) return HX_STATUS_OK;
  return hx_report_fail_at(check->env->report, HX_CODE_PASS, check->program->source, op->line, op->column, "%s: %s",
                           op->info->name, why);
}

hx_status_t hx_pass_shard(hx_program_t *program, hx_pass_env_t *env, bool *out_changed) {
  hx_shard_options_t options;
  *out_changed = false;
  HX_TRY(read_options(env, &options));
  HX_TRY(hx_ir_walk(program->module, check_op, &(hx_shard_check_t){program, env}));
  if (options.size == 1) {
    hx_decide(env, NULL, "one process", "one process, parts", "there is one rank: nothing to spread");
    return HX_STATUS_OK;
  }
  if (env->ring == NULL)
    return hx_report_fail(env->report, HX_CODE_PASS, "shard: how work is spread depends on the parameters; give them");
  if (hx_str_equal(options.kind, hx_str("terms"))) return hx_shard_terms(program, env, &options, out_changed);
  const bool is_batch = hx_str_equal(options.kind, hx_str("batch"));
  return hx_shard_spread(program, env, &options, is_batch ? &hx_shard_batch_rules : &hx_shard_limbs_rules, out_changed);
}
