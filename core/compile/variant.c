// SPDX-License-Identifier: Apache-2.0
// From a callable's source and the arguments of a call to a transformed program, and from that to an executable.
#include <string.h>

#include "core/compile/callable.h"
#include "core/passes/passes.h"

#define FRONT_STEPS "inline{only=main},infer-state"

static hx_status_t no_memory(hx_report_t *report) {
  return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory to prepare a callable");
}

// ------------------------------------------------------------------ programs

// What an argument's type says of an input of @main. Open parts take it; known ones must agree.
static hx_status_t specialise_input(hx_program_t *program, hx_ir_value_t *argument, size_t index,
                                    const hx_value_t *value, hx_report_t *report) {
  const char *part;
  if (value->type.kind != argument->type->kind)
    return hx_report_fail(report, HX_CODE_TYPE, "argument %s is a %s, the program wants a %s",
                          program->inputs[index].name, hx_type_kind_name(value->type.kind),
                          hx_type_kind_name(argument->type->kind));
  if (!hx_type_agrees(argument->type, &value->type, &part)) {
    hx_text_t found;
    hx_text_init(&found);
    (void)hx_type_print(&value->type, &found);
    const hx_status_t status =
        hx_report_fail(report, HX_CODE_TYPE, "argument %s has another %s than the program: %s, wanted %s",
                       program->inputs[index].name, part, found.failed ? "?" : found.data, program->inputs[index].type);
    hx_text_deinit(&found);
    return status;
  }
  hx_type_t type;
  hx_type_copy(&type, argument->type);
  hx_type_merge(&type, &value->type);
  const hx_type_t *interned = hx_program_type(program, &type);
  if (interned == NULL) return no_memory(report);
  hx_ir_set_type(program, argument, interned);
  return HX_STATUS_OK;
}

static hx_status_t specialise(hx_program_t *program, const hx_value_t *const *inputs, hx_report_t *report) {
  hx_ir_op_t *func = hx_program_find(program, "main");
  const hx_ir_block_t *block = hx_func_block(func);  // a callable's program has @main: checked when it was made
  hx_status_t first = HX_STATUS_OK;
  for (size_t i = 0; i < block->argument_count; ++i) {
    const hx_status_t status = specialise_input(program, block->arguments[i], i, inputs[i], report);
    if (first == HX_STATUS_OK) first = status;
  }
  HX_TRY(first);
  if (hx_func_refresh_type(program, func) != HX_STATUS_OK) return no_memory(report);
  return hx_program_refresh(program, report);
}

static hx_status_t bind_all(const hx_callable_source_t *source, hx_compilation_t *compilation, hx_report_t *report) {
  for (size_t i = 0; i < source->binding_count; ++i)
    HX_TRY(hx_compilation_bind_material(compilation, source->bindings[i].symbol, source->bindings[i].value, report));
  for (size_t i = 0; i < source->switch_count; ++i)
    HX_TRY(hx_compilation_bind_switch(compilation, source->switches[i].symbol, source->switches[i].key, report));
  return HX_STATUS_OK;
}

hx_status_t hx_callable_source_compile(const hx_callable_source_t *source, const hx_value_t *const *inputs,
                                       hx_compilation_t **out, hx_report_t *report) {
  hx_program_t *program = NULL;
  hx_compilation_t *compilation = NULL;
  if (hx_program_clone(source->program, &program) != HX_STATUS_OK) return no_memory(report);
  hx_status_t status = specialise(program, inputs, report);
  if (status == HX_STATUS_OK) status = hx_compilation_create(program, source->params, &compilation, report);
  if (status == HX_STATUS_OK) status = bind_all(source, compilation, report);
  hx_program_release(program);
  if (status != HX_STATUS_OK) {
    hx_compilation_release(compilation);
    return status;
  }
  *out = compilation;
  return HX_STATUS_OK;
}

// ------------------------------------------------------------------ functions

static hx_status_t check_written(const hx_params_t *params, const hx_input_spec_t *input, size_t index,
                                 const hx_value_t *value, hx_report_t *report) {
  if (input->type == NULL) return HX_STATUS_OK;
  hx_type_t type;
  const char *part;
  HX_TRY(hx_type_parse(hx_str(input->type), hx_params_ring(params), &type, report));
  if (hx_type_agrees(&type, &value->type, &part)) return HX_STATUS_OK;
  return hx_report_fail(report, HX_CODE_TYPE, "argument %zu (%s) has another %s than its specification: %.200s", index,
                        input->name == NULL ? "unnamed" : input->name, part, input->type);
}

// The types of the arguments are those of the captured inputs.
static hx_status_t capture(const hx_callable_source_t *source, const hx_value_t *const *inputs, hx_compilation_t **out,
                           hx_report_t *report) {
  hx_input_spec_t *specs = hx_zalloc(source->input_count + 1, sizeof *specs);
  hx_text_t *texts = hx_zalloc(source->input_count + 1, sizeof *texts);
  hx_status_t status = specs == NULL || texts == NULL ? no_memory(report) : HX_STATUS_OK;
  for (size_t i = 0; i < source->input_count && status == HX_STATUS_OK; ++i) {
    specs[i] = (hx_input_spec_t){.name = source->inputs[i].name, .role = source->inputs[i].role};
    hx_text_init(&texts[i]);
    status = check_written(source->params, &source->inputs[i], i, inputs[i], report);
    if (source->is_static[i]) {
      specs[i].number = inputs[i];
    } else if (status == HX_STATUS_OK) {
      status = hx_type_print(&inputs[i]->type, &texts[i]);
      if (texts[i].failed) status = no_memory(report);
      specs[i].type = texts[i].data;
    }
  }
  if (status == HX_STATUS_OK) {
    const hx_capture_spec_t spec = {.function = source->function,
                                    .argument = source->argument,
                                    .inputs = specs,
                                    .input_count = source->input_count,
                                    .output_count = source->output_count,
                                    .output_names = source->output_names,
                                    .materials = source->names,
                                    .material_count = source->name_count};
    status = hx_capture(source->params, &spec, out, report);
  }
  for (size_t i = 0; texts != NULL && i < source->input_count; ++i) hx_text_deinit(&texts[i]);
  hx_free(texts);
  hx_free(specs);
  return status;
}

// ------------------------------------------------------------------ variants

static hx_status_t transform(const hx_callable_source_t *source, const hx_backend_t *backend, hx_variant_t *variant,
                             hx_report_t *report) {
  const char *pipeline = source->pipeline;
  if (source->choose_pipeline != NULL) pipeline = source->choose_pipeline(source->choose_argument, variant->signature);
  variant->pipeline = hx_strdup(pipeline == NULL ? hx_pipeline_default() : pipeline);
  if (variant->pipeline == NULL) return no_memory(report);
  hx_text_t all;
  hx_text_init(&all);
  hx_text_printf(&all, FRONT_STEPS "%s%s", variant->pipeline[0] == '\0' ? "" : ",", variant->pipeline);
  const hx_transform_options_t options = {.target = backend};
  const hx_status_t status =
      all.failed ? no_memory(report) : hx_compilation_transform_with(variant->compilation, all.data, &options, report);
  hx_text_deinit(&all);
  return status;
}

static hx_status_t fill(const hx_callable_source_t *source, const hx_backend_t *backend,
                        const hx_value_t *const *inputs, hx_variant_t *variant, hx_report_t *report) {
  if (hx_signature_create(inputs, source->is_static, source->input_count, &variant->signature) != HX_STATUS_OK)
    return no_memory(report);
  hx_text_t text;
  hx_text_init(&text);
  hx_signature_print(variant->signature, &text);
  variant->text = hx_text_take(&text);
  if (variant->text == NULL) return no_memory(report);
  HX_TRY(source->function != NULL ? capture(source, inputs, &variant->compilation, report)
                                  : hx_callable_source_compile(source, inputs, &variant->compilation, report));
  if (source->keys != NULL) HX_TRY(hx_compilation_bind_keys(variant->compilation, source->keys, report));
  HX_TRY(transform(source, backend, variant, report));
  for (size_t i = 0; i < source->input_count; ++i)
    variant->input_count += source->is_static == NULL || !source->is_static[i];
  return HX_STATUS_OK;
}

hx_status_t hx_variant_create(const hx_callable_source_t *source, const hx_backend_t *backend,
                              const hx_value_t *const *inputs, hx_variant_t **out, hx_report_t *report) {
  hx_variant_t *variant = hx_zalloc(1, sizeof *variant);
  if (variant == NULL) return no_memory(report);
  atomic_init(&variant->refs, 1);
  const hx_status_t status = fill(source, backend, inputs, variant, report);
  if (status != HX_STATUS_OK) {
    hx_variant_release(variant);
    return status;
  }
  *out = variant;
  return HX_STATUS_OK;
}

hx_variant_t *hx_variant_retain(hx_variant_t *variant) {
  atomic_fetch_add_explicit(&variant->refs, 1, memory_order_relaxed);
  return variant;
}

void hx_variant_release(hx_variant_t *variant) {
  if (variant == NULL || atomic_fetch_sub_explicit(&variant->refs, 1, memory_order_acq_rel) != 1) return;
  hx_signature_release(variant->signature);
  hx_compilation_release(variant->compilation);
  hx_free(variant->text);
  hx_free(variant->pipeline);
  hx_free(variant);
}

// For the strides and secrecy of the arguments. No pass is run; what the backend lacks is lowered while linking.
hx_status_t hx_variant_link(const hx_variant_t *variant, const hx_backend_t *backend, hx_executable_t **out,
                            hx_report_t *report) {
  const hx_signature_t *signature = variant->signature;
  const hx_layout_t **layouts = hx_zalloc(variant->input_count + 1, sizeof *layouts);
  bool *secrets = hx_zalloc(variant->input_count + 1, sizeof *secrets);
  hx_status_t status = layouts == NULL || secrets == NULL ? no_memory(report) : HX_STATUS_OK;
  size_t count = 0;
  for (size_t i = 0; i < signature->count && status == HX_STATUS_OK; ++i) {
    if (signature->arguments[i].is_static) continue;
    layouts[count] = &signature->arguments[i].layout;
    secrets[count++] = signature->arguments[i].secret;
  }
  if (status == HX_STATUS_OK) {
    const hx_link_source_t source = hx_compilation_source(variant->compilation);
    const hx_link_options_t options = {
        .pipeline = "", .place_materials = true, .input_layouts = layouts, .secret_inputs = secrets};
    status = hx_link_program(&source, backend, &options, out, report);
  }
  hx_free((void *)layouts);
  hx_free(secrets);
  return status;
}
