// SPDX-License-Identifier: Apache-2.0
// A program of one operation, linked like any other: where the backend lacks the whole operation it is lowered there.
#include <string.h>

#include "core/eager/engine.h"

static hx_attribute_t text_attribute(const char *text) {
  return (hx_attribute_t){.kind = HX_ATTRIBUTE_TEXT, .text = hx_str(text)};
}

// func.func @main of the operands' types, with an empty block.
static hx_status_t add_function(hx_program_t *program, const hx_type_t *const *types, size_t operand_count,
                                size_t result_count, hx_ir_block_t **out) {
  const hx_named_attr_t items[] = {{.name = hx_str("function_type"),
                                    .value = {.kind = HX_ATTRIBUTE_TYPE,
                                              .input_count = operand_count,
                                              .result_count = result_count,
                                              .types = types}},
                                   {.name = hx_str("sym_name"), .value = text_attribute("main")}};
  hx_attrs_t attrs;
  HX_TRY(hx_program_attrs(program, items, HX_COUNT_OF(items), &attrs));
  hx_ir_op_t *func;
  HX_TRY(hx_ir_create(program, HX_OP_FUNC, NULL, 0, NULL, 0, attrs, 1, &func));
  hx_ir_insert(program->module->regions[0]->block, NULL, func);
  *out = hx_func_block(func);
  for (size_t i = 0; i < operand_count; ++i) {
    hx_ir_value_t *argument;
    HX_TRY(hx_ir_add_argument(program, *out, types[i], &argument));
  }
  return HX_STATUS_OK;
}

#define SWITCH_SYMBOL "switch"

// %key = material.ref {symbol = @switch} : !ckks.key<kind = switch>
static hx_status_t add_switch_reference(hx_program_t *program, hx_ir_block_t *block, hx_ir_value_t **out) {
  const hx_named_attr_t item = {.name = hx_str("symbol"),
                                .value = {.kind = HX_ATTRIBUTE_SYMBOL, .text = hx_str(SWITCH_SYMBOL)}};
  hx_attrs_t attrs;
  HX_TRY(hx_program_attrs(program, &item, 1, &attrs));
  hx_type_t type;
  hx_type_init(&type, HX_TYPE_KEY);
  type.key_kind = HX_KEY_SWITCH;
  hx_ir_op_t *op;
  HX_TRY(hx_ir_create(program, HX_OP_MATERIAL_REF, NULL, 0, &type, 1, attrs, 0, &op));
  hx_ir_insert(block, NULL, op);
  *out = op->results[0];
  return HX_STATUS_OK;
}

static hx_status_t add_body(hx_program_t *program, hx_ir_block_t *block, const hx_engine_call_t *call,
                            const hx_ring *ring, hx_report_t *report) {
  hx_attrs_t attrs;
  HX_TRY(hx_program_attrs(program, call->attrs, call->attr_count, &attrs));
  hx_ir_op_t *op;
  if (call->switch_key != NULL) {
    hx_ir_value_t *operands[2] = {block->arguments[0]};
    HX_TRY(add_switch_reference(program, block, &operands[1]));
    HX_TRY(hx_ir_build(program, block, NULL, call->id, operands, 2, attrs, call->result_count, ring, report, &op));
  } else {
    HX_TRY(hx_ir_build(program, block, NULL, call->id, block->arguments, block->argument_count, attrs,
                       call->result_count, ring, report, &op));
  }
  hx_ir_op_t *ending;
  HX_TRY(hx_ir_create(program, HX_OP_RETURN, op->results, op->result_count, NULL, 0, (hx_attrs_t){0}, 0, &ending));
  hx_ir_insert(block, NULL, ending);
  return hx_program_refresh(program, report);
}

static hx_status_t build(const hx_engine_t *engine, const hx_engine_call_t *call, const hx_type_t *result_types,
                         hx_program_t *program, hx_report_t *report) {
  const size_t count = call->operand_count + call->result_count;
  const hx_type_t **types = hx_zalloc(count, sizeof *types);
  if (types == NULL) return HX_STATUS_OUT_OF_MEMORY;
  hx_status_t status = HX_STATUS_OK;
  for (size_t i = 0; i < count && status == HX_STATUS_OK; ++i) {
    const bool is_operand = i < call->operand_count;
    types[i] = hx_program_type(program, is_operand ? &call->operands[i]->type : &result_types[i - call->operand_count]);
    if (types[i] == NULL) status = HX_STATUS_OUT_OF_MEMORY;
  }
  hx_ir_block_t *block = NULL;
  if (status == HX_STATUS_OK) status = add_function(program, types, call->operand_count, call->result_count, &block);
  if (status == HX_STATUS_OK) status = add_body(program, block, call, hx_params_ring(engine->params), report);
  hx_free((void *)types);
  return status;
}

static hx_status_t link_program(const hx_engine_t *engine, const hx_engine_call_t *call, const hx_program_t *program,
                                hx_executable_t **out, hx_report_t *report) {
  const hx_layout_t **layouts = hx_zalloc(call->operand_count, sizeof *layouts);
  bool *secrets = hx_zalloc(call->operand_count, sizeof *secrets);
  hx_status_t status = HX_STATUS_OUT_OF_MEMORY;
  if (layouts != NULL && secrets != NULL) {
    for (size_t i = 0; i < call->operand_count; ++i) {
      layouts[i] = &call->operands[i]->tensor->layout;
      secrets[i] = call->operands[i]->secret;
    }
    const hx_switch_binding_t binding = {.symbol = SWITCH_SYMBOL, .key = call->switch_key};
    const hx_link_source_t source = {.program = program,
                                     .params = engine->params,
                                     .keys = engine->keys,
                                     .switches = &binding,
                                     .switch_count = call->switch_key != NULL};
    const hx_link_options_t options = {
        .pipeline = "", .place_materials = true, .input_layouts = layouts, .secret_inputs = secrets};
    status = hx_link_program(&source, engine->backend, &options, out, report);
  }
  hx_free((void *)layouts);
  hx_free(secrets);
  return status;
}

hx_status_t hx_engine_link(const hx_engine_t *engine, const hx_engine_call_t *call, const hx_type_t *result_types,
                           hx_executable_t **out, hx_report_t *report) {
  const size_t before = hx_report_count(report);
  hx_program_t *program = NULL;
  hx_status_t status = hx_program_create(hx_op_info(call->id)->name, &program);
  if (status == HX_STATUS_OK) status = build(engine, call, result_types, program, report);
  if (status == HX_STATUS_OK) status = link_program(engine, call, program, out, report);
  hx_program_release(program);
  if (status == HX_STATUS_OUT_OF_MEMORY && hx_report_count(report) == before) {
    return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory to prepare %s", hx_op_info(call->id)->name);
  }
  return status;
}
