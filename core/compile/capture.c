// SPDX-License-Identifier: Apache-2.0
// From a C function to a compilation: inputs by their specifications, one run with a capturing engine, outputs.
#include <stdio.h>
#include <string.h>

#include "core/compile/compilation.h"
#include "core/eager/capture.h"

#define PORTS_MAX 4096  // inputs, and outputs, of one function

static hx_status_t no_memory(hx_report_t *report) {
  return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory to capture a function");
}

static const char *role_of(const hx_input_spec_t *spec, const hx_type_t *type) {
  if (spec->role != NULL) return spec->role;
  if (spec->number != NULL) return "static";
  return type->kind == HX_TYPE_PLAINTEXT ? "plaintext" : "ciphertext";
}

static bool is_static(const hx_input_spec_t *spec) {
  return spec->number != NULL || (spec->role != NULL && strcmp(spec->role, "static") == 0);
}

// The type that an input's text and the parameters give. A ciphertext is fresh where the text does not say otherwise:
// two components, ntt domain, standard residues, no batch, all slots, depth 0, the default scale.
static hx_status_t input_type(const hx_params_t *params, const hx_input_spec_t *spec, size_t index, hx_type_t *out,
                              hx_report_t *report) {
  const hx_ring *ring = hx_params_ring(params);
  HX_TRY(hx_type_parse(hx_str(spec->type), ring, out, report));
  if (out->kind != HX_TYPE_CIPHERTEXT && out->kind != HX_TYPE_PLAINTEXT)
    return hx_report_fail(report, HX_CODE_TYPE,
                          "input %zu of a captured function has type %.200s; it is a ciphertext, "
                          "a plaintext or a static number",
                          index, spec->type);
  const bool wants_plaintext = spec->role != NULL && strcmp(spec->role, "ciphertext") != 0;
  if (wants_plaintext != (out->kind == HX_TYPE_PLAINTEXT) && spec->role != NULL)
    return hx_report_fail(report, HX_CODE_TYPE, "input %zu has role %.40s, but its type is %.200s", index, spec->role,
                          spec->type);
  hx_type_t fresh;
  hx_type_init(&fresh, out->kind);
  fresh.known = HX_KNOWN_BATCH | HX_KNOWN_COMPONENTS | HX_KNOWN_DEPTH | HX_KNOWN_SCALE | HX_KNOWN_BASIS |
                HX_KNOWN_DOMAIN | HX_KNOWN_REPR | HX_KNOWN_SLOTS;
  fresh.components = out->kind == HX_TYPE_CIPHERTEXT ? 2 : 1;
  fresh.basis = HX_BASIS_Q;
  fresh.domain = HX_NTT;
  fresh.repr = HX_STANDARD;
  fresh.slots = (uint32_t)1 << (ring->log_n - 1);
  hx_scale_copy(&fresh.scale, hx_params_default_scale(params));
  hx_type_merge(out, &fresh);
  hx_type_derive(out, ring);
  return hx_value_check_type(params, out, report);
}

typedef struct capturing {
  hx_capture_t *capture;
  const hx_capture_spec_t *spec;
  hx_value_t **inputs, **outputs;
  hx_report_t *report;
} capturing_t;

static hx_status_t make_inputs(const capturing_t *capturing) {
  const hx_capture_spec_t *spec = capturing->spec;
  const hx_params_t *params = capturing->capture->engine.params;
  for (size_t i = 0; i < spec->input_count; ++i) {
    const hx_input_spec_t *input = &spec->inputs[i];
    if (is_static(input)) {
      if (input->number == NULL || hx_value_kind(input->number) != HX_VALUE_NUMBER)
        return hx_report_fail(capturing->report, HX_CODE_INVALID_ARGUMENT,
                              "input %zu is static, so its number is needed to capture the function", i);
      capturing->inputs[i] = hx_value_retain(input->number);
      continue;
    }
    if (input->type == NULL)
      return hx_report_fail(capturing->report, HX_CODE_INVALID_ARGUMENT, "input %zu has no type", i);
    hx_type_t type;
    HX_TRY(input_type(params, input, i, &type, capturing->report));
    HX_TRY(hx_capture_argument(capturing->capture, &type, &capturing->inputs[i], capturing->report));
  }
  return HX_STATUS_OK;
}

// ------------------------------------------------------------------ the end of @main

static hx_status_t port_dict(hx_program_t *program, const char *name, const char *role, hx_attribute_t *out) {
  const hx_named_attr_t items[] = {
      {.name = hx_str("heliox.name"), .value = {.kind = HX_ATTRIBUTE_TEXT, .text = hx_str(name)}},
      {.name = hx_str("heliox.role"), .value = {.kind = HX_ATTRIBUTE_TEXT, .text = hx_str(role)}}};
  hx_attrs_t attrs;
  HX_TRY(hx_program_attrs(program, items, role == NULL ? 1 : 2, &attrs));
  *out = (hx_attribute_t){.kind = HX_ATTRIBUTE_DICT, .dict = attrs.items, .count = attrs.count};
  return HX_STATUS_OK;
}

static const char *name_or(const char *name, const char *prefix, size_t index, char room[HX_NAME_MAX]) {
  if (name != NULL) return name;
  snprintf(room, HX_NAME_MAX, "%s%zu", prefix, index);
  return room;
}

// Names and roles of arguments (static inputs are none) and of results.
static hx_status_t set_ports(const capturing_t *capturing, hx_ir_op_t *func) {
  const hx_capture_spec_t *spec = capturing->spec;
  hx_program_t *program = capturing->capture->program;
  hx_attribute_t *dicts = hx_zalloc(spec->input_count + spec->output_count + 1, sizeof *dicts);
  if (dicts == NULL) return HX_STATUS_OUT_OF_MEMORY;
  hx_status_t status = HX_STATUS_OK;
  char room[HX_NAME_MAX];
  size_t count = 0;
  for (size_t i = 0; i < spec->input_count && status == HX_STATUS_OK; ++i) {
    const hx_input_spec_t *input = &spec->inputs[i];
    if (is_static(input)) continue;
    status = port_dict(program, name_or(input->name, "arg", i, room),
                       role_of(input, hx_func_block(func)->arguments[count]->type), &dicts[count]);
    ++count;
  }
  const hx_attribute_t inputs = {.kind = HX_ATTRIBUTE_LIST, .list = dicts, .count = count};
  if (status == HX_STATUS_OK && count > 0) status = hx_ir_set_attr(program, func, "arg_attrs", &inputs);
  for (size_t i = 0; i < spec->output_count && status == HX_STATUS_OK; ++i) {
    const char *name = spec->output_names == NULL ? NULL : spec->output_names[i];
    status = port_dict(program, name_or(name, "result", i, room), NULL, &dicts[i]);
  }
  const hx_attribute_t outputs = {.kind = HX_ATTRIBUTE_LIST, .list = dicts, .count = spec->output_count};
  if (status == HX_STATUS_OK && spec->output_count > 0) status = hx_ir_set_attr(program, func, "res_attrs", &outputs);
  hx_free(dicts);
  return status;
}

static hx_status_t add_return(const capturing_t *capturing) {
  const size_t count = capturing->spec->output_count;
  hx_capture_t *capture = capturing->capture;
  hx_ir_value_t **values = hx_zalloc(count, sizeof(hx_ir_value_t *));
  if (values == NULL) return no_memory(capturing->report);
  hx_status_t status = HX_STATUS_OK;
  for (size_t i = 0; i < count && status == HX_STATUS_OK; ++i) {
    const hx_value_t *output = capturing->outputs[i];
    status = output == NULL || hx_value_kind(output) == HX_VALUE_NUMBER
                 ? hx_report_fail(capturing->report, HX_CODE_INVALID_ARGUMENT,
                                  "the captured function gave no value as output %zu", i)
                 : hx_capture_operand(capture, output, "the captured function's output", &values[i], capturing->report);
  }
  hx_ir_op_t *ending;
  if (status == HX_STATUS_OK) {
    status = hx_ir_create(capture->program, HX_OP_RETURN, values, count, NULL, 0, (hx_attrs_t){0}, 0, &ending);
    if (status == HX_STATUS_OK) hx_ir_insert(capture->block, NULL, ending);
  }
  hx_free((void *)values);
  return status;
}

static hx_status_t end_main(const capturing_t *capturing) {
  hx_program_t *program = capturing->capture->program;
  hx_ir_op_t *func = hx_program_find(program, "main");
  HX_TRY(add_return(capturing));
  hx_status_t status = set_ports(capturing, func);
  if (status == HX_STATUS_OK) status = hx_func_refresh_type(program, func);
  if (status == HX_STATUS_OK) status = hx_program_refresh(program, capturing->report);
  if (status == HX_STATUS_OUT_OF_MEMORY) return no_memory(capturing->report);
  return status == HX_STATUS_OK ? hx_program_verify(program, capturing->report) : status;
}

// The compilation is under the caller's parameters, not under the capturing engine's copy.
static hx_status_t make_compilation(const capturing_t *capturing, const hx_params_t *params, hx_compilation_t **out) {
  const hx_capture_t *capture = capturing->capture;
  hx_compilation_t *compilation = NULL;
  hx_status_t status = hx_compilation_create(capture->program, params, &compilation, capturing->report);
  for (size_t i = 0; i < capture->binding_count && status == HX_STATUS_OK; ++i)
    status = hx_compilation_bind_material(compilation, capture->bindings[i].symbol, capture->bindings[i].value,
                                          capturing->report);
  for (size_t i = 0; i < capture->switch_count && status == HX_STATUS_OK; ++i)
    status = hx_compilation_bind_switch(compilation, capture->switches[i].symbol, capture->switches[i].key,
                                        capturing->report);
  if (status != HX_STATUS_OK) {
    hx_compilation_release(compilation);
    return status;
  }
  *out = compilation;
  return HX_STATUS_OK;
}

static hx_status_t run_capture(const capturing_t *capturing, const hx_params_t *params, hx_compilation_t **out) {
  const hx_capture_spec_t *spec = capturing->spec;
  HX_TRY(make_inputs(capturing));
  HX_TRY(spec->function(&capturing->capture->engine, (const hx_value_t *const *)capturing->inputs, capturing->outputs,
                        spec->argument, capturing->report));
  HX_TRY(end_main(capturing));
  return make_compilation(capturing, params, out);
}

static hx_status_t check_spec(const hx_params_t *params, const hx_capture_spec_t *spec, hx_compilation_t **out,
                              hx_report_t *report) {
  if (params == NULL || spec == NULL || spec->function == NULL || out == NULL ||
      (spec->input_count > 0 && spec->inputs == NULL) || (spec->material_count > 0 && spec->materials == NULL))
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_capture: an argument is NULL");
  if (spec->input_count > PORTS_MAX || spec->output_count > PORTS_MAX)
    return hx_report_fail(report, HX_CODE_LIMIT, "a captured function has at most %d inputs and outputs", PORTS_MAX);
  for (size_t i = 0; i < spec->material_count; ++i) {
    if (spec->materials[i].name == NULL || spec->materials[i].name[0] == '\0' || spec->materials[i].value == NULL)
      return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "material %zu has no name or no value", i);
    for (size_t k = 0; k < i; ++k) {
      if (strcmp(spec->materials[i].name, spec->materials[k].name) == 0)
        return hx_report_fail(report, HX_CODE_SYMBOL_NAME, "two materials are called %.100s", spec->materials[i].name);
    }
  }
  return HX_STATUS_OK;
}

hx_status_t hx_capture(const hx_params_t *params, const hx_capture_spec_t *spec, hx_compilation_t **out,
                       hx_report_t *report) {
  HX_TRY(check_spec(params, spec, out, report));
  capturing_t capturing = {.spec = spec, .report = report};
  HX_TRY(hx_capture_create(params, &capturing.capture, report));
  capturing.capture->names = spec->materials;
  capturing.capture->name_count = spec->material_count;
  capturing.inputs = hx_zalloc(spec->input_count + 1, sizeof(hx_value_t *));
  capturing.outputs = hx_zalloc(spec->output_count + 1, sizeof(hx_value_t *));
  const hx_status_t status =
      capturing.inputs == NULL || capturing.outputs == NULL ? no_memory(report) : run_capture(&capturing, params, out);
  for (size_t i = 0; capturing.inputs != NULL && i < spec->input_count; ++i) hx_value_release(capturing.inputs[i]);
  for (size_t i = 0; capturing.outputs != NULL && i < spec->output_count; ++i) hx_value_release(capturing.outputs[i]);
  hx_free((void *)capturing.inputs);
  hx_free((void *)capturing.outputs);
  capturing.capture->names = NULL;  // borrowed; recorded values that live on hold the capture
  capturing.capture->name_count = 0;
  hx_capture_release(capturing.capture);
  return status;
}
