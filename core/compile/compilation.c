// SPDX-License-Identifier: Apache-2.0
// Making, transforming and linking compilations.
#include "core/compile/compilation.h"

#include <string.h>

#include "core/passes/costs.h"
#include "core/passes/target.h"
#include "core/tensor/atomic_file.h"
#include "heliox/emit.h"

static hx_status_t no_memory(hx_report_t *report) {
  return hx_report_fail(report, HX_CODE_OUT_OF_MEMORY, "no memory for a compilation");
}

// ------------------------------------------------------------------ materials of the program

typedef struct lister {
  hx_compilation_t *compilation;
  hx_str_t wanted;  // find: this symbol only
  const hx_ir_op_t *found;
} lister_t;

static hx_str_t symbol_of(const hx_ir_op_t *op) {
  const hx_attribute_t *symbol = hx_attrs_find(op->attrs, "symbol");
  return op->info->id == HX_OP_MATERIAL_REF && symbol != NULL ? symbol->text : (hx_str_t){0};
}

static hx_status_t visit_find(hx_ir_op_t *op, void *argument) {
  lister_t *lister = argument;
  if (op->info->id == HX_OP_MATERIAL_REF && lister->found == NULL && hx_str_equal(symbol_of(op), lister->wanted)) {
    lister->found = op;
  }
  return HX_STATUS_OK;
}

const hx_ir_op_t *hx_compilation_find(const hx_compilation_t *compilation, hx_str_t symbol) {
  lister_t lister = {.wanted = symbol};
  (void)hx_ir_walk(compilation->program->module, visit_find, &lister);
  return lister.found;
}

static const char *role_of(const hx_type_t *type) {
  switch (type->kind) {
    case HX_TYPE_CIPHERTEXT:
      return "ciphertext";
    case HX_TYPE_PLAINTEXT:
      return "plaintext";
    case HX_TYPE_KEY:
      return "key";
    default:
      return "tensor";
  }
}

static hx_status_t visit_list(hx_ir_op_t *op, void *argument) {
  hx_compilation_t *compilation = ((lister_t *)argument)->compilation;
  if (op->info->id != HX_OP_MATERIAL_REF) return HX_STATUS_OK;
  const hx_str_t symbol = symbol_of(op);
  for (size_t i = 0; i < compilation->port_count; ++i) {
    if (hx_str_equal(hx_str(compilation->ports[i].name), symbol)) return HX_STATUS_OK;
  }
  const size_t count = compilation->port_count;
  HX_TRY(hx_grow(&compilation->ports, &compilation->port_capacity, count + 1, sizeof *compilation->ports));
  hx_text_t text;
  hx_text_init(&text);
  hx_status_t status = hx_type_print(op->results[0]->type, &text);
  hx_port_t *port = &compilation->ports[count];
  *port = (hx_port_t){.role = role_of(op->results[0]->type)};
  if (status == HX_STATUS_OK && !text.failed) {
    port->name = hx_arena_str(&compilation->arena, symbol).data;
    port->type = hx_arena_str(&compilation->arena, hx_str(text.data)).data;
  }
  if (port->name == NULL || port->type == NULL) status = HX_STATUS_OUT_OF_MEMORY;
  hx_text_deinit(&text);
  if (status == HX_STATUS_OK) compilation->port_count = count + 1;
  return status;
}

hx_status_t hx_compilation_list_materials(hx_compilation_t *compilation) {
  hx_arena_deinit(&compilation->arena);
  compilation->port_count = 0;
  lister_t lister = {.compilation = compilation};
  return hx_ir_walk(compilation->program->module, visit_list, &lister);
}

size_t hx_compilation_materials(const hx_compilation_t *compilation, const hx_port_t **out_ports) {
  *out_ports = compilation->ports;
  return compilation->port_count;
}

// ------------------------------------------------------------------ life

void hx_compilation_release(hx_compilation_t *compilation) {
  if (compilation == NULL) return;
  for (size_t i = 0; i < compilation->switch_count; ++i) {
    hx_free((char *)(uintptr_t)compilation->switches[i].symbol);
    hx_switch_release((hx_switch_t *)(uintptr_t)compilation->switches[i].key);
  }
  hx_free(compilation->switches);
  for (size_t i = 0; i < compilation->binding_count; ++i) {
    hx_free((char *)(uintptr_t)compilation->bindings[i].symbol);
    hx_value_release(compilation->bindings[i].value);
  }
  hx_free(compilation->bindings);
  hx_free(compilation->ports);
  hx_arena_deinit(&compilation->arena);
  hx_keys_release(compilation->keys);
  hx_params_release(compilation->params);
  hx_program_release(compilation->program);
  hx_free(compilation);
}

// The parameters that a program names, where the caller gave none.
static hx_status_t named_params(const char *name, hx_params_t **out, hx_report_t *report) {
  if (name[0] == '\0') {
    return hx_report_fail(report, HX_CODE_PARAMS,
                          "the program names no parameters (heliox.params): give a parameter set");
  }
  return hx_params_preset(name, out, report);
}

hx_status_t hx_compilation_name_params(hx_compilation_t *compilation, hx_report_t *report) {
  if (compilation == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_compilation_name_params: the compilation is NULL");
  const hx_attribute_t name = {.kind = HX_ATTRIBUTE_TEXT, .text = hx_str(hx_params_digest_hex(compilation->params))};
  hx_program_t *program = compilation->program;
  return hx_ir_set_attr(program, program->module, "heliox.params", &name) == HX_STATUS_OK ? HX_STATUS_OK
                                                                                          : no_memory(report);
}

// Parameters given for a program that names some: the same set, by name or digest.
static hx_status_t check_named(const char *name, const hx_params_t *params, hx_report_t *report) {
  if (name[0] == '\0' || strcmp(name, hx_params_digest_hex(params)) == 0) return HX_STATUS_OK;
  hx_params_t *preset = NULL;
  const bool is_preset = hx_params_preset(name, &preset, NULL) == HX_STATUS_OK;
  const bool same = is_preset ? hx_params_same(preset, params) : strcmp(name, hx_params_name(params)) == 0;
  hx_params_release(preset);
  if (same) return HX_STATUS_OK;
  return hx_report_fail(
      report, HX_CODE_PARAMS_DIGEST, "the program is written for parameters %s, given are %s (%.16s...)", name,
      hx_params_name(params)[0] == '\0' ? "others" : hx_params_name(params), hx_params_digest_hex(params));
}

hx_status_t hx_compilation_create(const hx_program_t *program, const hx_params_t *params, hx_compilation_t **out,
                                  hx_report_t *report) {
  if (program == NULL || out == NULL) {
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_compilation_create: program or out is NULL");
  }
  const char *name = hx_program_params(program);
  hx_params_t *kept = NULL;
  if (params == NULL) {
    HX_TRY(named_params(name, &kept, report));
  } else {
    HX_TRY(check_named(name, params, report));
    kept = hx_params_retain(params);
  }
  hx_compilation_t *compilation = hx_zalloc(1, sizeof *compilation);
  if (compilation == NULL) {
    hx_params_release(kept);
    return no_memory(report);
  }
  compilation->params = kept;
  hx_arena_init(&compilation->arena);
  hx_status_t status = hx_program_clone(program, &compilation->program);
  if (status == HX_STATUS_OK) status = hx_compilation_list_materials(compilation);
  if (status != HX_STATUS_OK) {
    hx_compilation_release(compilation);
    return status == HX_STATUS_OUT_OF_MEMORY ? no_memory(report) : status;
  }
  *out = compilation;
  return HX_STATUS_OK;
}

const hx_params_t *hx_compilation_params(const hx_compilation_t *compilation) { return compilation->params; }
const hx_program_t *hx_compilation_program(const hx_compilation_t *compilation) { return compilation->program; }

// ------------------------------------------------------------------ passes and linking

// What hx_transform_options watches, called by the runner.
static void tell_pass(void *argument, const hx_pass_event_t *event) {
  const hx_transform_options_t *options = argument;
  options->watch(options->argument, event->pass->name, event->is_over, event->changed, event->program);
}

// The picture of visualize, as a file that appears whole or not at all.
static hx_status_t draw(void *argument, const hx_program_t *program, hx_str_t form, hx_str_t path,
                        hx_report_t *report) {
  (void)argument;
  char name[4096], *text = NULL;
  if (path.size >= sizeof name)
    return hx_report_fail(report, HX_CODE_LIMIT, "visualize: a path of %zu bytes", path.size);
  memcpy(name, path.data, path.size);
  name[path.size] = '\0';
  const hx_emit_form_t wanted = hx_str_equal(form, hx_str("svg"))    ? HX_EMIT_SVG
                                : hx_str_equal(form, hx_str("html")) ? HX_EMIT_HTML
                                                                     : HX_EMIT_DOT;
  HX_TRY(hx_emit(program, wanted, &text, report));
  hx_atomic_file_t file = {0};
  hx_status_t status = hx_atomic_file_open(&file, name, 0644, report);
  if (status == HX_STATUS_OK) status = hx_atomic_file_write(&file, text, strlen(text), report);
  if (status == HX_STATUS_OK) status = hx_atomic_file_commit(&file, true, report);
  hx_atomic_file_abandon(&file);
  hx_text_free(text);
  return status;
}

static const hx_type_t *find_bound(void *argument, hx_str_t symbol) {
  const hx_compilation_t *compilation = argument;
  for (size_t i = 0; i < compilation->binding_count; ++i) {
    if (hx_str_equal(hx_str(compilation->bindings[i].symbol), symbol)) return &compilation->bindings[i].value->type;
  }
  return NULL;
}

hx_status_t hx_compilation_transform_with(hx_compilation_t *compilation, const char *pipeline,
                                          const hx_transform_options_t *options, hx_report_t *report) {
  if (compilation == NULL || pipeline == NULL) {
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_compilation_transform: an argument is NULL");
  }
  if (pipeline[0] == '\0') return HX_STATUS_OK;
  hx_program_t *changed;
  if (hx_program_clone(compilation->program, &changed) != HX_STATUS_OK) return no_memory(report);
  static const hx_transform_options_t none;
  hx_transform_options_t given = options == NULL ? none : *options;
  hx_pass_target_t target = {.backend = given.target, .ring = hx_params_ring(compilation->params)};
  if (given.costs != NULL && given.target != NULL && given.target->device_count > 0 &&
      hx_costs_use(given.costs, given.target->devices[0]->name, given.target->plugins[0]->digest) != HX_STATUS_OK) {
    hx_program_release(changed);
    return no_memory(report);
  }
  const hx_pass_env_t env = {.ring = target.ring,
                             .is_native = given.target == NULL ? NULL : hx_target_is_native,
                             .native_argument = &target,
                             .fuses = given.target == NULL || given.target->device_count == 0 ? NULL : hx_target_fuses,
                             .fuses_argument = &target,
                             .find_material = find_bound,
                             .material_argument = compilation,
                             .costs = given.costs,
                             .draw = draw,
                             .decisions = given.decisions,
                             .watch = given.watch == NULL ? NULL : tell_pass,
                             .watch_argument = &given,
                             .skip = given.skip,
                             .report = report};
  const hx_status_t status = hx_pipeline_run(changed, pipeline, &env);
  if (status != HX_STATUS_OK) {
    hx_program_release(changed);
    return status;
  }
  hx_program_release(compilation->program);
  compilation->program = changed;
  return hx_compilation_list_materials(compilation) == HX_STATUS_OK ? HX_STATUS_OK : no_memory(report);
}

hx_status_t hx_compilation_transform(hx_compilation_t *compilation, const char *pipeline, hx_report_t *report) {
  return hx_compilation_transform_with(compilation, pipeline, NULL, report);
}

hx_link_source_t hx_compilation_source(const hx_compilation_t *compilation) {
  return (hx_link_source_t){.program = compilation->program,
                            .params = compilation->params,
                            .keys = compilation->keys,
                            .bindings = compilation->bindings,
                            .binding_count = compilation->binding_count,
                            .switches = compilation->switches,
                            .switch_count = compilation->switch_count};
}

hx_status_t hx_link(const hx_compilation_t *compilation, const hx_backend_t *backend, const char *pipeline,
                    hx_executable_t **out, hx_report_t *report) {
  if (compilation == NULL || backend == NULL || out == NULL) {
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_link: an argument is NULL");
  }
  const hx_link_source_t source = hx_compilation_source(compilation);
  const hx_link_options_t options = {.pipeline = pipeline, .place_materials = true};
  return hx_link_program(&source, backend, &options, out, report);
}

hx_status_t hx_link_with(const hx_compilation_t *compilation, const hx_backend_t *backend, const char *pipeline,
                         const hx_link_pass_t *passes, size_t pass_count, hx_executable_t **out, hx_report_t *report) {
  if (compilation == NULL || backend == NULL || out == NULL || passes == NULL)
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_link_with: an argument is NULL");
  const hx_link_source_t source = hx_compilation_source(compilation);
  const hx_link_options_t options = {
      .pipeline = pipeline, .place_materials = true, .passes = passes, .pass_count = pass_count};
  return hx_link_program(&source, backend, &options, out, report);
}

hx_status_t hx_link_check(const hx_compilation_t *compilation, const hx_backend_t *backend, const char *pipeline,
                          hx_report_t *report) {
  if (compilation == NULL || backend == NULL) {
    return hx_report_fail(report, HX_CODE_INVALID_ARGUMENT, "hx_link_check: an argument is NULL");
  }
  const hx_link_source_t source = hx_compilation_source(compilation);
  const hx_link_options_t options = {.pipeline = pipeline, .place_materials = true, .check_only = true};
  return hx_link_program(&source, backend, &options, NULL, report);
}
