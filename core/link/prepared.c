// SPDX-License-Identifier: Apache-2.0
// Materials that are prepared when they are bound (core/passes/prepared.h): by a program of one operation, linked to
// the same backend, so that the device that runs the whole also computes them, with the same bits as in every run.
// Where the contents of what is bound change, they are prepared anew before the next run, into the same memory.
#include <stdio.h>
#include <string.h>

#include "core/link/executable.h"
#include "core/passes/prepared.h"

// One linked preparation: from a type to a type.
struct hx_preparation {
  hx_type_t from;
  const hx_type_t *to;  // of the executable's program
  hx_executable_t *executable;
};

void hx_prepared_free(hx_executable_t *exe) {
  for (size_t i = 0; i < exe->material_count; ++i) hx_value_release(exe->materials[i].source);
  for (size_t i = 0; i < exe->preparation_count; ++i) hx_executable_release(exe->preparations[i].executable);
  hx_free(exe->preparations);
}

// home: where it runs, in a backend of several devices; NULL: there is but one.
static hx_status_t write_program(const hx_type_t *from, const hx_type_t *to, hx_str_t purpose, const char *home,
                                 hx_program_t **out, hx_report_t *report) {
  char placed[HX_NAME_MAX + 32] = "";
  if (home != NULL) snprintf(placed, sizeof placed, ", heliox.device = \"%s\"", home);
  hx_text_t type, text;
  hx_text_init(&type);
  hx_text_init(&text);
  hx_status_t status = hx_type_print(from, &type);
  if (status == HX_STATUS_OK && type.failed) status = HX_STATUS_OUT_OF_MEMORY;
  if (status == HX_STATUS_OK) {
    hx_text_printf(&text, "\"builtin.module\"() ({\n\"func.func\"() ({\n^entry(%%p: %s):\n", type.data);
    hx_text_printf(&text, "%%d = \"ckks.level_drop\"(%%p) {depth = %u : i64} : (%s) -> !ckks.plaintext<>\n", to->depth,
                   type.data);
    hx_text_printf(&text,
                   "%%r = \"ckks.prepare_plain\"(%%d) {for = \"%.*s\"%s} : (!ckks.plaintext<>) -> !ckks.plaintext<>\n",
                   (int)purpose.size, purpose.data, placed);
    hx_text_printf(&text,
                   "\"func.return\"(%%r) : (!ckks.plaintext<>) -> ()\n}) {sym_name = \"main\", function_type = (%s) -> "
                   "!ckks.plaintext<>} : () -> ()\n}) {heliox.version = 1 : i64} : () -> ()\n",
                   type.data);
    status = text.failed ? HX_STATUS_OUT_OF_MEMORY : hx_program_parse(hx_str(text.data), "preparation", out, report);
  }
  hx_text_deinit(&type);
  hx_text_deinit(&text);
  return status;
}

static hx_status_t link_preparation(hx_linker_t *linker, const hx_type_t *from, const hx_type_t *to, hx_str_t purpose,
                                    hx_executable_t **out) {
  hx_program_t *program = NULL;
  const hx_executable_t *exe = linker->exe;
  const char *home = exe->site_count > 1 ? exe->device->name : NULL;
  HX_TRY(write_program(from, to, purpose, home, &program, linker->report));
  const hx_link_source_t source = {.program = program, .params = linker->source->params};
  const hx_link_options_t options = {
      .pipeline = "canonicalize", .place_materials = true, .lower_all = linker->options->lower_all};
  const hx_status_t status = hx_link_program(&source, linker->exe->backend, &options, out, linker->report);
  hx_program_release(program);
  return status;
}

static hx_status_t find_preparation(hx_linker_t *linker, const hx_type_t *from, const hx_type_t *to, hx_str_t purpose,
                                    uint32_t *out) {
  hx_executable_t *exe = linker->exe;
  for (size_t i = 0; i < exe->preparation_count; ++i) {
    *out = (uint32_t)i;
    if (exe->preparations[i].to == to && hx_type_equal(&exe->preparations[i].from, from)) return HX_STATUS_OK;
  }
  const size_t count = exe->preparation_count;
  HX_TRY(hx_grow(&exe->preparations, &exe->preparation_capacity, count + 1, sizeof *exe->preparations));
  struct hx_preparation *made = &exe->preparations[count];
  *made = (struct hx_preparation){.to = to};
  hx_type_copy(&made->from, from);
  HX_TRY(link_preparation(linker, from, to, purpose, &made->executable));
  exe->preparation_count = count + 1;
  *out = (uint32_t)count;
  return HX_STATUS_OK;
}

// Runs a preparation; *value is written where it is there, else made.
static hx_status_t run_preparation(const hx_executable_t *exe, uint32_t preparation, const hx_value_t *source,
                                   hx_value_t **value, hx_report_t *report) {
  hx_value_t *placed = NULL;
  HX_TRY(hx_value_to_device(source, exe->backend, &placed, report));
  const hx_value_t *inputs[] = {placed};
  const hx_status_t status = hx_run(exe->preparations[preparation].executable, inputs, value, report);
  hx_value_release(placed);
  return status;
}

hx_status_t hx_link_prepare_value(hx_linker_t *linker, const hx_ir_op_t *op, hx_value_t *source,
                                  hx_bound_material_t *material) {
  hx_str_t purpose = {0};
  hx_value_t *value = NULL;
  (void)hx_material_is_prepared(op, &purpose);
  material->source_generation = hx_tensor_generation(source->tensor);
  HX_TRY(hx_link_count(linker,
                       find_preparation(linker, &source->type, op->results[0]->type, purpose, &material->preparation)));
  if (linker->fault_count > 0) return HX_STATUS_OK;
  HX_TRY(hx_link_count(linker, run_preparation(linker->exe, material->preparation, source, &value, linker->report)));
  if (value == NULL) return HX_STATUS_OK;
  material->tensor = hx_tensor_retain(value->tensor);
  material->source = hx_value_retain(source);
  hx_value_release(value);
  return HX_STATUS_OK;
}

// The tensor belongs to a value of its own while the preparation writes it: a run writes only into what nobody else
// owns.
static hx_status_t renew(hx_executable_t *exe, hx_bound_material_t *material, hx_report_t *report) {
  const uint64_t generation = hx_tensor_generation(material->source->tensor);
  hx_value_t *value = NULL;
  HX_TRY(hx_value_wrap(exe->params, material->type, material->tensor, false, &value, report));
  hx_tensor_t *tensor = material->tensor;
  hx_tensor_release(tensor);
  const hx_status_t status = run_preparation(exe, material->preparation, material->source, &value, report);
  (void)hx_tensor_retain(tensor);
  hx_value_release(value);
  if (status == HX_STATUS_OK) material->source_generation = generation;
  return status;
}

hx_status_t hx_prepared_refresh(hx_executable_t *exe, hx_report_t *report) {
  if (exe->preparation_count == 0) return HX_STATUS_OK;
  hx_status_t status = HX_STATUS_OK;
  pthread_mutex_lock(&exe->lock);
  for (size_t i = 0; i < exe->material_count && status == HX_STATUS_OK; ++i) {
    hx_bound_material_t *material = &exe->materials[i];
    if (material->source == NULL || hx_tensor_generation(material->source->tensor) == material->source_generation)
      continue;
    // A copy on another device is of what was prepared when it was placed there.
    status = material->placed == NULL
                 ? renew(exe, material, report)
                 : hx_report_fail(report, HX_CODE_MATERIAL,
                                  "material @%s changed after it was prepared and placed on %s: link again",
                                  material->symbol, exe->sites[material->site].device->name);
  }
  pthread_mutex_unlock(&exe->lock);
  return status;
}
