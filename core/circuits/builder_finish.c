// SPDX-License-Identifier: Apache-2.0
// The end of a built program: signature, names of ports, return; and its plaintexts in a compilation.
#include <stdio.h>

#include "core/circuits/builder.h"
#include "core/compile/compilation.h"

static hx_status_t set_signature(hx_builder_t *builder) {
  const size_t count = builder->input_count + builder->output_count;
  const hx_type_t **types = hx_arena_alloc(&builder->program->arena, count * sizeof *types);
  if (types == NULL) return HX_STATUS_OUT_OF_MEMORY;
  for (size_t i = 0; i < builder->input_count; ++i) types[i] = builder->inputs[i].value->type;
  for (size_t i = 0; i < builder->output_count; ++i) types[builder->input_count + i] = builder->outputs[i].value->type;
  const hx_attribute_t signature = {.kind = HX_ATTRIBUTE_TYPE,
                                    .input_count = builder->input_count,
                                    .result_count = builder->output_count,
                                    .types = types};
  return hx_ir_set_attr(builder->program, builder->func, "function_type", &signature);
}

// [{heliox.name = "x"}, ...]
static hx_status_t set_names(hx_builder_t *builder, const char *attribute, const hx_builder_port_t *ports,
                             size_t count) {
  hx_attribute_t *list = hx_arena_alloc(&builder->program->arena, (count + 1) * sizeof *list);
  hx_named_attr_t *items = hx_arena_alloc(&builder->program->arena, (count + 1) * sizeof *items);
  if (list == NULL || items == NULL) return HX_STATUS_OUT_OF_MEMORY;
  for (size_t i = 0; i < count; ++i) {
    items[i] = (hx_named_attr_t){.name = hx_str("heliox.name"),
                                 .value = {.kind = HX_ATTRIBUTE_TEXT, .text = hx_str(ports[i].name)}};
    list[i] = (hx_attribute_t){.kind = HX_ATTRIBUTE_DICT, .dict = &items[i], .count = 1};
  }
  const hx_attribute_t names = {.kind = HX_ATTRIBUTE_LIST, .list = list, .count = count};
  return hx_ir_set_attr(builder->program, builder->func, attribute, &names);
}

static hx_status_t add_return(hx_builder_t *builder) {
  hx_ir_value_t **values = hx_zalloc(builder->output_count, sizeof *values);
  if (values == NULL) return HX_STATUS_OUT_OF_MEMORY;
  for (size_t i = 0; i < builder->output_count; ++i) values[i] = builder->outputs[i].value;
  hx_ir_op_t *ending = NULL;
  const hx_status_t status =
      hx_ir_create(builder->program, HX_OP_RETURN, values, builder->output_count, NULL, 0, (hx_attrs_t){0}, 0, &ending);
  if (status == HX_STATUS_OK) hx_ir_insert(builder->block, NULL, ending);
  hx_free((void *)values);
  return status;
}

hx_status_t hx_builder_finish(hx_builder_t *builder, hx_program_t **out, hx_report_t *report) {
  if (builder == NULL || out == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_builder_finish: builder or out is NULL");
  if (builder->finished)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_builder_finish: the program was handed over already");
  if (builder->output_count == 0)
    return hx_report_fail(report, HX_CODE_OPERANDS, "the program has no output; name one with hx_builder_output");
  builder->finished = true;
  hx_status_t status = set_signature(builder);
  if (status == HX_STATUS_OK && builder->input_count > 0)
    status = set_names(builder, "arg_attrs", builder->inputs, builder->input_count);
  if (status == HX_STATUS_OK) status = set_names(builder, "res_attrs", builder->outputs, builder->output_count);
  if (status == HX_STATUS_OK) status = add_return(builder);
  if (status != HX_STATUS_OK) return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for a program");
  HX_TRY(hx_program_verify(builder->program, report));
  HX_TRY(hx_program_refresh(builder->program, report));
  *out = hx_program_retain(builder->program);
  return HX_STATUS_OK;
}

static hx_status_t bind(hx_compilation_t *compilation, const char *symbol, const hx_type_t *type,
                        const hx_builder_weight_t *weight, hx_report_t *report) {
  char *scale = hx_alloc(HX_SCALE_TEXT_MAX);
  if (scale == NULL) return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for a plaintext");
  (void)hx_scale_print(&type->scale, scale);
  const hx_encode_options_t options = {.slots = type->slots,
                                       .depth = type->depth,
                                       .scale = scale,
                                       .weighted = type->basis == HX_BASIS_QP,
                                       .period = weight->period};
  hx_value_t *value = NULL;
  hx_status_t status =
      hx_encode(compilation->params, weight->values, weight->count, weight->is_complex, &options, &value, report);
  if (status == HX_STATUS_OK) status = hx_compilation_bind_material(compilation, symbol, value, report);
  hx_value_release(value);
  hx_free(scale);
  return status;
}

hx_status_t hx_builder_bind(const hx_builder_t *builder, hx_compilation_t *compilation, hx_report_t *report) {
  if (builder == NULL || compilation == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_builder_bind: builder or compilation is NULL");
  if (!hx_params_same(builder->params, compilation->params))
    return hx_report_fail(report, HX_CODE_PARAMS_DIGEST,
                          "the builder has parameters %.16s..., the compilation %.16s...",
                          hx_params_digest_hex(builder->params), hx_params_digest_hex(compilation->params));
  for (size_t i = 0; i < builder->weight_count; ++i) {
    const hx_builder_weight_t *weight = &builder->weights[i];
    char symbol[32];
    snprintf(symbol, sizeof symbol, "weight%zu", i);
    const hx_ir_op_t *op = hx_compilation_find(compilation, hx_str(symbol));
    if (op != NULL) HX_TRY(bind(compilation, symbol, op->results[0]->type, weight, report));  // else a pass removed it
  }
  return HX_STATUS_OK;
}
