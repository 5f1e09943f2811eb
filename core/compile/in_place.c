// SPDX-License-Identifier: Apache-2.0
// A callable that is called inside a capture: its computation becomes part of the program that is being recorded.
#include <string.h>

#include "core/compile/callable.h"
#include "core/eager/capture.h"
#include "core/passes/passes.h"

typedef struct placing {
  hx_capture_t *capture;
  const hx_callable_source_t *source;
  hx_ir_map_t map;
  hx_report_t *report;
} placing_t;

static hx_status_t no_memory(hx_report_t *report) {
  return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory to put a callable in place");
}

// A public number becomes a constant of the recorded program.
static hx_status_t place_number(const placing_t *placing, const hx_value_t *number, hx_ir_value_t **out) {
  hx_capture_t *capture = placing->capture;
  const hx_type_t *type = hx_program_type(capture->program, &number->type);
  const bool is_real = number->type.kind == HX_TYPE_F64;
  const hx_named_attr_t item = {.name = hx_str("value"),
                                .value = {.kind = is_real ? HX_ATTRIBUTE_FLOAT : HX_ATTRIBUTE_INTEGER,
                                          .integer = is_real ? 0 : hx_value_word(number),
                                          .number = hx_value_get_real(number),
                                          .type = type}};
  hx_attrs_t attrs;
  hx_ir_op_t *op;
  if (type == NULL || hx_program_attrs(capture->program, &item, 1, &attrs) != HX_STATUS_OK ||
      hx_ir_create(capture->program, HX_OP_ARITH_CONSTANT, NULL, 0, &number->type, 1, attrs, 0, &op) != HX_STATUS_OK)
    return no_memory(placing->report);
  hx_ir_insert(capture->block, NULL, op);
  *out = op->results[0];
  return HX_STATUS_OK;
}

static hx_status_t map_inputs(placing_t *placing, const hx_ir_block_t *block, const hx_value_t *const *inputs) {
  for (size_t i = 0; i < block->argument_count; ++i) {
    hx_ir_value_t *operand;
    HX_TRY(hx_value_kind(inputs[i]) == HX_VALUE_NUMBER
               ? place_number(placing, inputs[i], &operand)
               : hx_capture_operand(placing->capture, inputs[i], "a callable in place", &operand, placing->report));
    if (hx_ir_map_set(&placing->map, block->arguments[i], operand) != HX_STATUS_OK) return no_memory(placing->report);
  }
  return HX_STATUS_OK;
}

// What is bound to a symbol inside is data of the recorded program; keys of a key set are found by their names there.
static hx_status_t place_material(placing_t *placing, const hx_ir_op_t *op, bool *out_placed) {
  const hx_str_t symbol = hx_attrs_find(op->attrs, "symbol")->text;  // required: verified
  const hx_callable_source_t *source = placing->source;
  hx_ir_value_t *value = NULL;
  *out_placed = true;
  for (size_t i = 0; i < source->binding_count && value == NULL; ++i) {
    if (hx_str_equal(symbol, hx_str(source->bindings[i].symbol)))
      HX_TRY(hx_capture_operand(placing->capture, source->bindings[i].value, "a callable in place", &value,
                                placing->report));
  }
  for (size_t i = 0; i < source->switch_count && value == NULL; ++i) {
    if (hx_str_equal(symbol, hx_str(source->switches[i].symbol)))
      HX_TRY(hx_capture_switch(placing->capture, source->switches[i].key, &value, placing->report));
  }
  if (value != NULL)
    return hx_ir_map_set(&placing->map, op->results[0], value) == HX_STATUS_OK ? HX_STATUS_OK
                                                                               : no_memory(placing->report);
  *out_placed = false;
  if (op->results[0]->type->kind == HX_TYPE_KEY) return HX_STATUS_OK;
  return hx_report_fail(placing->report, HX_CODE_MATERIAL, "material @%.*s of a callable in place is not bound",
                        (int)symbol.size, symbol.data);
}

// Materials inside regions are brought to the recorded program's block too: they are visible everywhere there.
static hx_status_t place_materials(hx_ir_op_t *op, void *argument) {
  placing_t *placing = argument;
  if (op->info->id != HX_OP_MATERIAL_REF) return HX_STATUS_OK;
  bool placed;
  HX_TRY(place_material(placing, op, &placed));
  if (placed) return HX_STATUS_OK;
  hx_ir_op_t *copy;
  if (hx_ir_import_op(placing->capture->program, op, &placing->map, &copy) != HX_STATUS_OK)
    return no_memory(placing->report);
  hx_ir_insert(placing->capture->block, NULL, copy);
  return HX_STATUS_OK;
}

static hx_status_t remove_material(hx_ir_op_t *op, void *argument) {
  (void)argument;
  if (op->info->id == HX_OP_MATERIAL_REF) hx_ir_remove(op);
  return HX_STATUS_OK;
}

// `func` is @main of a copy that is given up afterwards.
static hx_status_t place_body(placing_t *placing, hx_ir_op_t *func, const hx_value_t *const *inputs,
                              hx_value_t **outputs) {
  const hx_ir_block_t *block = hx_func_block(func);
  HX_TRY(map_inputs(placing, block, inputs));
  HX_TRY(hx_ir_walk(func, place_materials, placing));
  (void)hx_ir_walk(func, remove_material, NULL);
  for (const hx_ir_op_t *op = block->first; op != block->last; op = op->next) {
    hx_ir_op_t *copy;
    if (hx_ir_import_op(placing->capture->program, op, &placing->map, &copy) != HX_STATUS_OK)
      return no_memory(placing->report);
    hx_ir_insert(placing->capture->block, NULL, copy);
  }
  uint64_t count = 0;
  bool is_complex = false;
  for (size_t i = 0; i < block->argument_count; ++i) {
    count = inputs[i]->count > count ? inputs[i]->count : count;
    is_complex = is_complex || inputs[i]->is_complex;
  }
  for (size_t i = 0; i < block->last->operand_count; ++i)
    HX_TRY(hx_capture_wrap(placing->capture, hx_ir_map_get(&placing->map, block->last->operands[i]), count, is_complex,
                           &outputs[i], placing->report));
  return HX_STATUS_OK;
}

static hx_status_t place_program(const hx_callable_t *callable, hx_capture_t *capture, const hx_value_t *const *inputs,
                                 hx_value_t **outputs, hx_report_t *report) {
  hx_compilation_t *compilation = NULL;
  HX_TRY(hx_callable_source_compile(callable->source, inputs, &compilation, report));
  placing_t placing = {.capture = capture, .source = callable->source, .report = report};
  hx_ir_map_init(&placing.map);
  hx_status_t status = hx_compilation_transform(compilation, "inline{only=main},infer-state", report);
  if (status == HX_STATUS_OK)
    status = place_body(&placing, hx_program_find(compilation->program, "main"), inputs, outputs);
  hx_ir_map_deinit(&placing.map);
  hx_compilation_release(compilation);
  return status;
}

hx_status_t hx_callable_put_in_place(const hx_callable_t *callable, hx_capture_t *capture,
                                     const hx_value_t *const *inputs, hx_value_t **outputs, hx_report_t *report) {
  const hx_callable_source_t *source = callable->source;
  hx_value_t **made = hx_zalloc(source->output_count + 1, sizeof *made);
  if (made == NULL) return no_memory(report);
  const hx_status_t status = source->function != NULL
                                 ? source->function(&capture->engine, inputs, made, source->argument, report)
                                 : place_program(callable, capture, inputs, made, report);
  for (size_t i = 0; i < source->output_count; ++i) {
    if (status == HX_STATUS_OK) {
      outputs[i] = made[i];
    } else {
      hx_value_release(made[i]);
    }
  }
  hx_free((void *)made);
  return status;
}
