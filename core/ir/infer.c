// SPDX-License-Identifier: Apache-2.0
// Forward inference: state flows from the inputs through every operation; what is written must agree with it.
#include <stdio.h>

#include "core/ir/internal.h"

typedef struct hx_inference {
  hx_program_t *program;
  const hx_ring *ring;
  hx_report_t *report;
  hx_status_t first;  // status of the first fault; out-of-memory wins
  hx_names_t functions;
  hx_ir_op_t **function_ops;
  bool *visited;
  size_t function_capacity, visited_capacity;
  uint32_t depth;
  const hx_type_t **types;  // operand types, then written types
  hx_type_t *results;
  size_t type_capacity, result_capacity;
} hx_inference_t;

static void note(hx_inference_t *inference, hx_status_t status) {
  if (inference->first == HX_STATUS_OK || status == HX_STATUS_OUT_OF_MEMORY) inference->first = status;
}

// A value's new type; what was known stays known.
static void set_type(hx_inference_t *inference, hx_ir_value_t *value, const hx_type_t *type) {
  const hx_type_t *interned = hx_program_type(inference->program, type);
  if (interned == NULL) {
    note(inference, HX_STATUS_OUT_OF_MEMORY);
  } else {
    hx_ir_set_type(inference->program, value, interned);
  }
}

static void tell_difference(hx_inference_t *inference, const hx_ir_op_t *op, const char *what, size_t index,
                            const hx_type_t *found, const char *wanted_by, const hx_type_t *wanted, const char *part) {
  hx_text_t a, b;
  hx_text_init(&a);
  hx_text_init(&b);
  note(inference,
       hx_report_fail_at(inference->report, HX_CODE_TYPE, inference->program->source, op->line, op->column,
                         "%s: %s %zu has type %s, but %s %zu has type %s: they differ in %s", op->info->name, what,
                         index, hx_ir_type_text(found, &a), wanted_by, index, hx_ir_type_text(wanted, &b), part));
  hx_text_deinit(&a);
  hx_text_deinit(&b);
}

// Gives `to` what is known of `from`, where the two agree.
static void flow(hx_inference_t *inference, const hx_ir_op_t *op, const char *what, size_t index, const hx_type_t *from,
                 const char *wanted_by, hx_ir_value_t *to) {
  const char *part;
  if (from == to->type) return;
  if (!hx_ir_types_agree(from, to->type, &part)) {
    tell_difference(inference, op, what, index, from, wanted_by, to->type, part);
    return;
  }
  hx_type_t merged;
  hx_type_copy(&merged, to->type);
  hx_type_merge(&merged, from);
  set_type(inference, to, &merged);
}

static void flow_all(hx_inference_t *inference, const hx_ir_op_t *op, const char *what, hx_ir_value_t *const *from,
                     size_t count, const char *wanted_by, hx_ir_value_t *const *to, size_t to_count) {
  for (size_t i = 0; i < count && i < to_count; ++i) flow(inference, op, what, i, from[i]->type, wanted_by, to[i]);
}

static void infer_block(hx_inference_t *inference, const hx_ir_block_t *block);

static void infer_row(hx_inference_t *inference, hx_ir_op_t *op) {
  const size_t count = op->operand_count + op->result_count;
  hx_status_t status = hx_grow(&inference->types, &inference->type_capacity, count + 1, sizeof(hx_type_t *));
  if (status == HX_STATUS_OK)
    status = hx_grow(&inference->results, &inference->result_capacity, op->result_count + 1, sizeof(hx_type_t));
  if (status != HX_STATUS_OK) {
    note(inference, status);
    return;
  }
  for (size_t i = 0; i < op->operand_count; ++i) inference->types[i] = op->operands[i]->type;
  for (size_t i = 0; i < op->result_count; ++i) inference->types[op->operand_count + i] = op->results[i]->type;
  hx_infer_t call = {.op = op->info,
                     .attrs = op->attrs,
                     .operands = inference->types,
                     .operand_count = op->operand_count,
                     .ring = inference->ring,
                     .results = inference->results,
                     .result_count = op->result_count,
                     .written = inference->types + op->operand_count,
                     .report = inference->report,
                     .source = inference->program->source,
                     .line = op->line,
                     .column = op->column};
  status = hx_op_infer(&call);
  if (status != HX_STATUS_OK) {
    // The written types stay, so that one fault does not bring forth others.
    note(inference, status);
    return;
  }
  for (size_t i = 0; i < op->result_count; ++i) set_type(inference, op->results[i], &inference->results[i]);
}

static void infer_if(hx_inference_t *inference, hx_ir_op_t *op) {
  for (size_t i = 0; i < 2; ++i) {
    const hx_ir_block_t *block = op->regions[i]->block;
    infer_block(inference, block);
    if (block->last != NULL)
      flow_all(inference, block->last, "yielded value", block->last->operands, block->last->operand_count, "result",
               op->results, op->result_count);
  }
}

// Carried values keep their state from one turn to the next.
static void infer_for(hx_inference_t *inference, hx_ir_op_t *op) {
  const hx_ir_block_t *block = op->regions[0]->block;
  hx_ir_value_t *const *arguments = block->arguments + 1;
  const size_t count = block->argument_count - 1;
  flow_all(inference, op, "carried operand", op->operands + 3, op->operand_count - 3, "carried argument", arguments,
           count);
  infer_block(inference, block);
  const hx_ir_op_t *last = block->last;
  flow_all(inference, last, "yielded value", last->operands, last->operand_count, "carried argument", arguments, count);
  flow_all(inference, op, "carried argument", arguments, count, "result", op->results, op->result_count);
}

static void infer_while(hx_inference_t *inference, hx_ir_op_t *op) {
  const hx_ir_block_t *before = op->regions[0]->block;
  const hx_ir_block_t *after = op->regions[1]->block;
  flow_all(inference, op, "carried operand", op->operands, op->operand_count, "argument of the first region",
           before->arguments, before->argument_count);
  infer_block(inference, before);
  const hx_ir_op_t *condition = before->last;
  flow_all(inference, condition, "passed value", condition->operands + 1, condition->operand_count - 1,
           "argument of the second region", after->arguments, after->argument_count);
  infer_block(inference, after);
  const hx_ir_op_t *last = after->last;
  flow_all(inference, last, "yielded value", last->operands, last->operand_count, "argument of the first region",
           before->arguments, before->argument_count);
  flow_all(inference, op, "argument of the second region", after->arguments, after->argument_count, "result",
           op->results, op->result_count);
}

// Both arguments of the combining region, and what it yields, are as the operand.
static void infer_reduce(hx_inference_t *inference, hx_ir_op_t *op) {
  const hx_ir_block_t *block = op->regions[0]->block;
  infer_row(inference, op);
  hx_ir_value_t *const pair[2] = {op->results[0], op->results[0]};
  flow_all(inference, op, "combined operand", pair, 2, "argument of the region", block->arguments,
           block->argument_count);
  infer_block(inference, block);
  const hx_ir_op_t *last = block->last;
  flow_all(inference, last, "yielded value", last->operands, last->operand_count, "result", op->results, 1);
}

static void infer_func(hx_inference_t *inference, hx_ir_op_t *func);

// The first call of a function gives its open arguments their state; later ones have to agree with it.
static void infer_call(hx_inference_t *inference, hx_ir_op_t *op) {
  const hx_attribute_t *callee = hx_attrs_find(op->attrs, "callee");
  const uint32_t id = hx_names_find(&inference->functions, callee->text);
  if (id == HX_NONE) return;  // refused by the verifier
  hx_ir_op_t *func = inference->function_ops[id];
  const hx_ir_block_t *block = hx_func_block(func);
  if (!inference->visited[id]) {
    flow_all(inference, op, "operand", op->operands, op->operand_count, "argument", block->arguments,
             block->argument_count);
    inference->visited[id] = true;
    infer_func(inference, func);
  } else {
    for (size_t i = 0; i < op->operand_count && i < block->argument_count; ++i) {
      const char *part;
      if (!hx_ir_types_agree(op->operands[i]->type, block->arguments[i]->type, &part))
        tell_difference(inference, op, "operand", i, op->operands[i]->type, "argument", block->arguments[i]->type,
                        part);
    }
  }
  const hx_ir_op_t *last = hx_func_return(func);
  flow_all(inference, op, "returned value", last->operands, last->operand_count, "result", op->results,
           op->result_count);
}

static void infer_block(hx_inference_t *inference, const hx_ir_block_t *block) {
  for (hx_ir_op_t *op = block->first; op != NULL; op = op->next) {
    switch (op->info->id) {
      case HX_OP_SCF_IF:
        infer_if(inference, op);
        break;
      case HX_OP_SCF_FOR:
        infer_for(inference, op);
        break;
      case HX_OP_SCF_WHILE:
        infer_while(inference, op);
        break;
      case HX_OP_DISTRIBUTED_ALL_REDUCE:
        infer_reduce(inference, op);
        break;
      case HX_OP_CALL:
        infer_call(inference, op);
        break;
      default:
        if (op->info->infer != NULL) infer_row(inference, op);
        break;
    }
  }
}

// Arguments are written, so they are checked against the parameters here.
static void infer_arguments(hx_inference_t *inference, const hx_ir_op_t *func) {
  const hx_ir_block_t *block = hx_func_block(func);
  for (size_t i = 0; i < block->argument_count; ++i) {
    hx_type_t type;
    hx_type_copy(&type, block->arguments[i]->type);
    hx_type_derive(&type, inference->ring);
    const hx_place_t place = {.source = inference->program->source, .line = func->line, .column = func->column};
    const hx_status_t status = hx_type_verify(&type, inference->ring, place, inference->report);
    if (status == HX_STATUS_OK) {
      set_type(inference, block->arguments[i], &type);
    } else {
      note(inference, status);
    }
  }
}

// What function_type says of results goes to the returned values; then it follows arguments and returned values.
static hx_status_t update_signature(hx_inference_t *inference, hx_ir_op_t *func) {
  const hx_ir_block_t *block = hx_func_block(func);
  const hx_ir_op_t *last = block->last;
  const hx_attribute_t *written = hx_attrs_find(func->attrs, "function_type");
  for (size_t i = 0; i < last->operand_count; ++i)
    flow(inference, last, "function_type's result", i, written->types[written->input_count + i], "operand",
         last->operands[i]);
  return hx_func_refresh_type(inference->program, func);
}

static void infer_func(hx_inference_t *inference, hx_ir_op_t *func) {
  if (inference->depth >= HX_IR_NESTING_MAX) return;  // refused by the verifier
  ++inference->depth;
  infer_arguments(inference, func);
  infer_block(inference, hx_func_block(func));
  const hx_status_t status = update_signature(inference, func);
  if (status != HX_STATUS_OK) note(inference, status);
  --inference->depth;
}

static hx_status_t list_functions(hx_inference_t *inference) {
  for (hx_ir_op_t *op = inference->program->module->regions[0]->block->first; op != NULL; op = op->next) {
    hx_str_t name;
    uint32_t id;
    if (op->info->id != HX_OP_FUNC || !hx_attrs_get_text(op->attrs, "sym_name", &name)) continue;
    HX_TRY(hx_names_add(&inference->functions, name, &id));
    HX_TRY(hx_grow(&inference->function_ops, &inference->function_capacity, inference->functions.count,
                   sizeof(hx_ir_op_t *)));
    HX_TRY(hx_grow(&inference->visited, &inference->visited_capacity, inference->functions.count, sizeof(bool)));
    inference->function_ops[id] = op;
    inference->visited[id] = false;
  }
  return HX_STATUS_OK;
}

// @main first: its calls give the other functions their arguments' state.
static void infer_functions(hx_inference_t *inference) {
  const uint32_t entry = hx_names_find(&inference->functions, hx_str("main"));
  for (size_t i = 0; i <= inference->functions.count; ++i) {
    const uint32_t id = i == 0 ? entry : (uint32_t)(i - 1);
    if (id == HX_NONE || inference->visited[id]) continue;
    inference->visited[id] = true;
    infer_func(inference, inference->function_ops[id]);
  }
}

hx_status_t hx_program_infer(hx_program_t *program, const hx_ring *ring, hx_report_t *report) {
  hx_inference_t inference = {.program = program, .ring = ring, .report = report};
  hx_names_init(&inference.functions);
  const hx_status_t listed = list_functions(&inference);
  if (listed == HX_STATUS_OK) {
    infer_functions(&inference);
  } else {
    note(&inference, listed);
  }
  hx_names_deinit(&inference.functions);
  hx_free(inference.function_ops);
  hx_free(inference.visited);
  hx_free(inference.types);
  hx_free(inference.results);
  if (inference.first == HX_STATUS_OUT_OF_MEMORY)
    (void)hx_report_fail_at(report, HX_CODE_OUT_OF_MEMORY, program->source, 0, 0,
                            "memory is exhausted while inferring state");
  if (inference.first != HX_STATUS_OK) return inference.first;
  return hx_program_refresh(program, report);
}
